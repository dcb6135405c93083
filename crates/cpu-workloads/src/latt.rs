//! The latt benchmark of the CFS/BFS study: clients woken in bursts to
//! compress data; how soon they answer and how soon they are done.

use contract::{
    Configured, Description, Error, LaunchSpec, Load, Measurement, Parameter, Problem, Result,
    WordChoice, Workload, WorkloadFacts,
};
use flate2::{Compress, Compression, FlushCompress, Status};
use model::{Direction, Histogram, Metric, Parameters, Reduction, Sample, Unit};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::event::{PollFd, PollFlags, poll};
use std::io;
use std::os::fd::OwnedFd;
use sys::Machine;
use workload_parts::instant::{sleep_for, timespec};
use workload_parts::nanoseconds::{MS, S};
use workload_parts::process::{ChildProcesses, read_full, write_full};

static DESCRIPTION: Description = Description {
    id: "latt",
    summary: "Clients woken at random times to compress data (the CFS/BFS study)",
    doc: "\
**What it is.** `clients` processes wait on a pipe. The parent sleeps for a random time
between `min_sleep` and `max_sleep`, then writes to every client back to back; each client
notes when it runs, compresses `work` KiB of generated data, notes when it is done, and
answers. The parent waits for all answers and begins the next round until `duration` is over.

**What it means.** `response_time` runs from just before a client's byte is written until it
runs: the wake-up. `turnaround_time` runs until its work is done; `work_time` is the part
between. These are the study's words for latt's \"wakeup\" and \"wakeup + work\".

`migrations_per_answer` counts how often clients were moved to another CPU, as the kernel
counts it (/proc/PID/sched); where it does not tell, there is no value.

**What moves it.** Wake-up preemption and placement, time slices (clients beyond the number
of CPUs wait for one another), load balancing of a burst, and the cost of the compression.

**When it lies.** It measures fork-join bursts, not isolated wake-ups: the last client's
response contains the parent's earlier writes, and a woken client may preempt the parent.
Work contends only because all clients are woken at once. A study's run of three seconds
with sleeps of 100 to 600 ms has a handful of rounds: percentiles beyond p90 mean nothing.

**Reference.** latt-0.1 (J. Axboe, 2009). Its sleep is usleep(min + max x rand), so its
default range is 100 to 600 ms, not to 500; ours is the range that is written. Its
compressor is the system's zlib, ours is `flate2` (miniz_oxide) at the same level 7 with reused
buffers: `work_time` differs by a constant factor, so compare schedulers, not tools.
`preset = \"cfs-bfs-study\"` sets the study's values: sleeps of 100 to 600 ms, 64 KiB, three
seconds (its load was `sleep 3`, no other load), and leaves the number of clients.",
};

/// Values that are set together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preset {
    None,
    CfsBfsStudy,
}

impl WordChoice for Preset {
    const WORDS: &'static [(&'static str, Self)] =
        &[("none", Self::None), ("cfs-bfs-study", Self::CfsBfsStudy)];
}

contract::keys! {
    PARAMETERS;
    CLIENTS: u64 = count("clients", 1, 1024, "8", "Processes that are woken"),
    WORK: u64 = size("work", 0, 64 << 20, "64k", "Data each client compresses in a round"),
    MIN_SLEEP: u64 = duration("min_sleep", 0, 10 * S, "10ms", "Shortest sleep between rounds"),
    MAX_SLEEP: u64 = duration("max_sleep", 0, 10 * S, "50ms", "Longest sleep between rounds"),
    DURATION: u64 = length(10 * MS, 3600 * S, "3s", "How long rounds are begun"),
    PRESET: Preset = choice("preset", "none", "Values that replace the four above"),
}

/// What the preset sets.
const REPLACED: [Parameter; 4] =
    [WORK.declared(), MIN_SLEEP.declared(), MAX_SLEEP.declared(), DURATION.declared()];
/// zlib's level in latt.
const LEVEL: u32 = 7;
/// A burst that is not answered by then counts as a failure.
const ANSWER_LIMIT_NS: u64 = 120 * S;
/// A client's answer: when it ran and when it was done.
const ANSWER_BYTES: usize = 16;

/// The workload.
pub(crate) struct Entry;

impl Workload for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn brief(&self) -> &'static [(&'static str, &'static str)] {
        const { &[(DURATION.name(), "20ms"), (CLIENTS.name(), "2")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        let schedule = Schedule::of(parameters);
        let mut problems = given_beside_preset(parameters);
        if schedule.min_sleep_ns > schedule.max_sleep_ns {
            problems.push(Problem::from(format!(
                "min_sleep {} is longer than max_sleep {}",
                model::format_duration(schedule.min_sleep_ns),
                model::format_duration(schedule.max_sleep_ns)
            )));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Box::new(Latt { clients: CLIENTS.of(parameters), schedule }))
    }
}

/// The workload, configured.
struct Latt {
    clients: u64,
    schedule: Schedule,
}

impl Configured for Latt {
    fn metrics(&self) -> Vec<Metric> {
        let mut metrics =
            Metric::latency_quantiles("response_time", "Time until a woken client runs");
        metrics.extend(Metric::latency_quantiles(
            "turnaround_time",
            "Time until a woken client has done its work",
        ));
        metrics.extend(Metric::latency_quantiles("work_time", "Time a client's work took"));
        metrics.push(Metric::new(
            "rounds_per_second",
            Unit::PerSecond,
            Direction::Higher,
            Reduction::Quotient,
            "Bursts answered per second, sleeps included",
        ));
        metrics.push(Metric::new(
            "migrations_per_answer",
            Unit::PerOperation,
            Direction::Lower,
            Reduction::Quotient,
            "Moves of clients to another CPU, for each answer",
        ));
        metrics
    }

    fn facts(&self) -> WorkloadFacts {
        let schedule = &self.schedule;
        WorkloadFacts::closed_loop(schedule.duration_ns + schedule.max_sleep_ns + 100 * MS)
    }

    fn prepare(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        Ok(Box::new(Bursts::start(machine, self.schedule.clone(), self.clients, launch)?))
    }
}

/// Parameters that the preset would silently replace.
fn given_beside_preset(parameters: &Parameters) -> Vec<Problem> {
    match PRESET.of(parameters) {
        Preset::None => return Vec::new(),
        Preset::CfsBfsStudy => {}
    }
    let is_given = |parameter: &&Parameter| {
        let default = parameter.default.and_then(|text| parameter.parse(text).ok());
        parameters.0.get(parameter.name) != default.as_ref()
    };
    let problem = |parameter: &Parameter| {
        format!("`preset` replaces `{}`: leave one of them out", parameter.name).into()
    };
    REPLACED.iter().filter(is_given).map(problem).collect()
}

/// When clients are woken and what they do.
#[derive(Debug, Clone)]
struct Schedule {
    work_bytes: usize,
    min_sleep_ns: u64,
    max_sleep_ns: u64,
    duration_ns: u64,
}

impl Schedule {
    fn of(parameters: &Parameters) -> Self {
        match PRESET.of(parameters) {
            Preset::CfsBfsStudy => Self {
                work_bytes: 64 << 10,
                min_sleep_ns: 100 * MS,
                max_sleep_ns: 600 * MS,
                duration_ns: 3 * S,
            },
            Preset::None => Self {
                work_bytes: usize::try_from(WORK.of(parameters)).unwrap_or(usize::MAX),
                min_sleep_ns: MIN_SLEEP.of(parameters),
                max_sleep_ns: MAX_SLEEP.of(parameters),
                duration_ns: DURATION.of(parameters),
            },
        }
    }

    fn sleep_ns(&self, random: &mut ChaCha8Rng) -> u64 {
        let span = u128::from(self.max_sleep_ns - self.min_sleep_ns) + 1;
        let part = (u128::from(random.next_u64()) * span) >> 64;
        self.min_sleep_ns + u64::try_from(part).unwrap_or(0)
    }
}

/// The compression a client does; all of its memory is allocated once.
struct Work {
    data: Vec<u8>,
    output: Vec<u8>,
    compressor: Compress,
}

impl Work {
    fn new(bytes: usize) -> Self {
        // Deflate grows incompressible data by five bytes for each stored block of 16 KiB.
        let output = vec![1; bytes + bytes / 1024 + 1024];
        let data = vec![1; bytes];
        Self { data, output, compressor: Compress::new(Compression::new(LEVEL), true) }
    }

    /// Fills the data with 15-bit values of a linear congruential generator, as
    /// latt does, and compresses it.
    fn perform(&mut self) -> io::Result<()> {
        if self.data.is_empty() {
            return Ok(());
        }
        let mut state: u32 = 1;
        for word in self.data.chunks_exact_mut(4) {
            // The constants of the C standard's example of rand (ISO C 7.24.2).
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            word.copy_from_slice(&((state >> 16) & 0x7fff).to_ne_bytes());
        }
        self.compressor.reset();
        let status = self
            .compressor
            .compress(&self.data, &mut self.output, FlushCompress::Finish)
            .map_err(io::Error::other)?;
        if status == Status::StreamEnd {
            Ok(())
        } else {
            Err(io::Error::other("the compressor wants more room"))
        }
    }
}

/// One client's pipes, as the parent holds them.
struct Client {
    pid: i32,
    wake: OwnedFd,
    answer: OwnedFd,
}

struct Bursts {
    machine: Machine,
    family: ChildProcesses,
    clients: Vec<Client>,
    written_ns: Vec<u64>,
    random: ChaCha8Rng,
    schedule: Schedule,
    response: Histogram,
    turnaround: Histogram,
    work: Histogram,
    /// Of all clients before the first burst, where the kernel tells.
    migrations: Option<u64>,
}

impl Bursts {
    fn start(
        machine: &Machine,
        schedule: Schedule,
        clients: u64,
        launch: &LaunchSpec,
    ) -> Result<Self> {
        workload_parts::process::allow_open_files(clients * 2 + 64)?;
        let mut bursts = Self {
            machine: machine.clone(),
            family: ChildProcesses::new()?,
            clients: Vec::new(),
            written_ns: Vec::new(),
            random: ChaCha8Rng::seed_from_u64(launch.seed),
            schedule,
            response: Histogram::new(),
            turnaround: Histogram::new(),
            work: Histogram::new(),
            migrations: None,
        };
        for _ in 0..clients {
            bursts.start_client(launch)?;
        }
        for client in &bursts.clients {
            read_full(&client.answer, &mut [0; ANSWER_BYTES]).map_err(|error| {
                let unknown = || Error::environment("a client did not get ready", error);
                bursts.family.early_death().unwrap_or_else(unknown)
            })?;
        }
        bursts.migrations = bursts.migrations_so_far();
        Ok(bursts)
    }

    fn migrations_so_far(&self) -> Option<u64> {
        self.clients.iter().map(|client| self.machine.migrations(client.pid)).sum()
    }

    fn start_client(&mut self, launch: &LaunchSpec) -> Result<()> {
        let pipe = || {
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
                .map_err(|error| Error::environment("cannot make a pipe", error))
        };
        let (wake_reader, wake) = pipe()?;
        let (answer, answer_writer) = pipe()?;
        let work_bytes = self.schedule.work_bytes;
        // A client ends when its wake pipe closes, so it must hold no writing
        // end of its own or of an earlier client.
        let mut wake = Some(wake);
        let mut earlier = std::mem::take(&mut self.clients);
        let pid = self.family.fork("a task of latt", launch, || {
            wake = None;
            earlier.clear();
            let mut work = Work::new(work_bytes);
            work.perform()?;
            write_full(&answer_writer, &[0; ANSWER_BYTES])?;
            serve(&wake_reader, &answer_writer, &mut work)
        })?;
        self.clients = earlier;
        self.clients.extend(wake.map(|wake| Client { pid, wake, answer }));
        self.written_ns.push(0);
        Ok(())
    }

    /// One burst: wakes all clients back to back, then collects their answers.
    fn burst(&mut self) -> Result<()> {
        for (client, written_ns) in self.clients.iter().zip(&mut self.written_ns) {
            *written_ns = sys::monotonic_ns();
            write_full(&client.wake, b".")
                .map_err(|error| Error::environment("cannot wake a client", error))?;
        }
        for (client, written_ns) in self.clients.iter().zip(&self.written_ns) {
            let mut answer = [0; ANSWER_BYTES];
            let mut readable = [PollFd::new(&client.answer, PollFlags::IN)];
            let waited = poll(&mut readable, Some(&timespec(ANSWER_LIMIT_NS)));
            if waited == Ok(0) {
                return Err(Error::environment("a client did not answer", "it took two minutes"));
            }
            read_full(&client.answer, &mut answer).map_err(|error| {
                let unknown = || Error::environment("a client did not answer", error);
                self.family.early_death().unwrap_or_else(unknown)
            })?;
            let (began, done) = answer.split_at(8);
            let began_ns = u64::from_ne_bytes(began.try_into().unwrap_or_default());
            let done_ns = u64::from_ne_bytes(done.try_into().unwrap_or_default());
            self.response.record(began_ns.saturating_sub(*written_ns));
            self.turnaround.record(done_ns.saturating_sub(*written_ns));
            self.work.record(done_ns.saturating_sub(began_ns));
        }
        Ok(())
    }
}

/// A client's life: until its wake pipe is closed.
fn serve(wake: &OwnedFd, answers: &OwnedFd, work: &mut Work) -> io::Result<()> {
    let mut byte = [0];
    loop {
        match read_full(wake, &mut byte) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
        let began_ns = sys::monotonic_ns();
        work.perform()?;
        let done_ns = sys::monotonic_ns();
        let mut answer = [0; ANSWER_BYTES];
        answer[..8].copy_from_slice(&began_ns.to_ne_bytes());
        answer[8..].copy_from_slice(&done_ns.to_ne_bytes());
        write_full(answers, &answer)?;
    }
}

impl Load for Bursts {
    fn run(&mut self) -> Result<Measurement> {
        let start_ns = sys::monotonic_ns();
        let end_ns = start_ns + self.schedule.duration_ns;
        let mut rounds = 0_u64;
        while rounds == 0 || sys::monotonic_ns() < end_ns {
            sleep_for(self.schedule.sleep_ns(&mut self.random));
            self.burst()?;
            rounds += 1;
        }
        let elapsed_ns = sys::monotonic_ns() - start_ns;
        let entries = rounds * self.clients.len() as u64;
        let migrations = self.migrations.zip(self.migrations_so_far());
        let migrations = migrations.map(|(before, now)| {
            let moves = now.saturating_sub(before) as f64;
            Sample::quotient("migrations_per_answer", moves, entries as f64)
        });
        // Closing the wake pipes ends the clients. They are reaped here because
        // getrusage(2) knows a child's times only once it has been waited for.
        self.clients.clear();
        self.family.reap()?;
        if self.response.count() != entries {
            return Err(Error::environment(
                "the bursts are incomplete",
                format!("{} of {entries} answers were counted", self.response.count()),
            ));
        }
        let samples = vec![
            Sample::histogram("response_time", std::mem::take(&mut self.response)),
            Sample::histogram("turnaround_time", std::mem::take(&mut self.turnaround)),
            Sample::histogram("work_time", std::mem::take(&mut self.work)),
            Sample::quotient("rounds_per_second", rounds as f64, elapsed_ns as f64 / 1e9),
        ];
        Ok(Measurement {
            samples: samples.into_iter().chain(migrations).collect(),
            operations: Some(entries),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_stay_in_their_range_and_follow_the_seed() {
        let schedule =
            Schedule { work_bytes: 0, min_sleep_ns: 10, max_sleep_ns: 12, duration_ns: 1 };
        let sleeps = |seed| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            (0..64).map(|_| schedule.sleep_ns(&mut random)).collect::<Vec<u64>>()
        };
        assert_eq!(sleeps(7), sleeps(7));
        assert_ne!(sleeps(7), sleeps(8));
        for expected in 10..=12 {
            assert!(sleeps(7).contains(&expected));
        }
        assert!(sleeps(7).iter().all(|sleep| (10..=12).contains(sleep)));
    }

    #[test]
    fn work_compresses_the_same_data_every_time() {
        let mut work = Work::new(64 << 10);
        work.perform().unwrap();
        let first = (work.compressor.total_out(), work.output.clone());
        assert!(first.0 > 1024);
        work.perform().unwrap();
        assert_eq!((work.compressor.total_out(), work.output.clone()), first);
    }
}
