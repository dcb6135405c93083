//! Ping-pong over two pipes: the cost of one wake-up and one switch each way.

use crate::task_choice::TaskChoice;
use contract::{
    Configured, Description, Error, LaunchSpec, Load, Measurement, Parameter, Problem, Requirement,
    Result, WordChoice, Workload, WorkloadFacts,
};
use model::{CpuList, Direction, Metric, Parameters, Reduction, Sample, Unit};
use rustix::thread::sched_getcpu;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use sys::Machine;
use workload_parts::process::{ChildProcesses, read_full, write_full};
use workload_parts::shared_counters::SharedCounters;

use workload_parts::crew::{Crew, Member};

static DESCRIPTION: Description = Description {
    id: "pipe",
    summary: "Ping-pong of two tasks over two pipes (perf bench sched pipe)",
    doc: "\
**What it is.** Two tasks and two pipes. One writes four bytes and waits for four bytes;
the other answers. One operation is one round: two writes, two reads, two wake-ups.

**What it means.** `time_per_operation` is the time of one round, one value for each tenth
of the run. It is the price of a synchronous hand-over between two tasks.

**What moves it.** Above all where the two run. On one CPU a round is two switches; on two
CPUs it is two inter-processor interrupts and, on an idle machine, two exits from idle,
which in a virtual machine can cost ten times as much. `placement = \"same_cpu\"` or
`\"cross_cpu\"` pins the pair, `free` leaves the choice to the scheduler under test.
`same_cpu_fraction` says how often the sender sat on the receiver's CPU: the four bytes are
the sender's CPU number, so this costs no system call.

**When it lies.** With free placement it is bimodal: runs flip between the two modes, and a
median between them describes neither. Compare within one placement. Each side waits for
the other, so nothing here is a latency under load.

**Reference.** `perf bench sched pipe` (tools/perf/bench/sched-pipe.c), same messages; the
reference prints one mean with the start and the end of its tasks inside, ours is timed by
the writing task. Both tasks are children here, there the parent is one of them.",
};

/// Where the two tasks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placement {
    Free,
    SameCpu,
    CrossCpu,
}

impl WordChoice for Placement {
    const WORDS: &'static [(&'static str, Self)] =
        &[("free", Self::Free), ("same_cpu", Self::SameCpu), ("cross_cpu", Self::CrossCpu)];
}

contract::keys! {
    PARAMETERS;
    LOOPS: u64 = count("loops", 10, 100_000_000, "100_000", "Rounds of one run"),
    PLACEMENT: Placement = choice("placement", "free", "Where the two tasks run"),
    TASKS: TaskChoice = choice("tasks", "process", "Whether tasks are processes or threads"),
}

/// Parts of a run that give one value each.
const PARTS: u64 = 10;
/// Measured on a virtual machine with 2 cores: 2.4 us pinned to one CPU, 5 to 50 us across.
const SAME_CPU_NS: u64 = 3_000;
const CROSS_CPU_NS: u64 = 30_000;
/// Threads that have not finished by then are reported, not waited for.
const LIMIT_NS: u64 = 3_600_000_000_000;

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
        const { &[(LOOPS.name(), "100")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        Ok(Box::new(Pipe {
            loops: LOOPS.of(parameters),
            placement: PLACEMENT.of(parameters),
            tasks: TASKS.of(parameters),
        }))
    }
}

/// The workload, configured.
struct Pipe {
    loops: u64,
    placement: Placement,
    tasks: TaskChoice,
}

impl Configured for Pipe {
    fn metrics(&self) -> Vec<Metric> {
        let mut time = Metric::new(
            "time_per_operation",
            Unit::Nanoseconds,
            Direction::Lower,
            Reduction::Median,
            "Time of one round trip, two wake-ups",
        );
        time.resolution = 1.0;
        let rate = Metric::new(
            "operations_per_second",
            Unit::PerSecond,
            Direction::Higher,
            Reduction::Quotient,
            "Round trips per second",
        );
        let stacked = Metric::new(
            "same_cpu_fraction",
            Unit::Fraction,
            Direction::Higher,
            Reduction::Proportion,
            "Messages whose sender was on the receiver's CPU; it tells the two modes apart",
        );
        vec![time, rate, Metric { is_description: true, ..stacked }]
    }

    fn facts(&self) -> WorkloadFacts {
        let each_ns = match self.placement {
            Placement::SameCpu => SAME_CPU_NS,
            Placement::Free | Placement::CrossCpu => CROSS_CPU_NS,
        };
        let two_cpus = (self.placement == Placement::CrossCpu).then(|| Requirement::cpus(2));
        WorkloadFacts {
            requirements: two_cpus.into_iter().collect(),
            ..WorkloadFacts::closed_loop(self.loops.saturating_mul(each_ns))
        }
    }

    fn prepare(&self, _: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        let loops = self.loops;
        let [ping, pong] = players(loops, pins(self.placement, launch)?)?;
        match self.tasks {
            TaskChoice::Thread => {
                let crew = Crew::assemble(launch, vec![ping, pong])?;
                Ok(Box::new(Threads { crew, loops }))
            }
            TaskChoice::Process => Ok(Box::new(Processes::start(loops, [ping, pong], launch)?)),
        }
    }
}

/// The CPU of each task, where it is pinned.
fn pins(placement: Placement, launch: &LaunchSpec) -> Result<[Option<CpuList>; 2]> {
    let second = match placement {
        Placement::Free => return Ok([None, None]),
        Placement::SameCpu => 0,
        Placement::CrossCpu => 1,
    };
    let allowed = workload_parts::placement::allowed_cpus(launch)?;
    let nth = |index: usize| allowed.iter().nth(index).map(|cpu| std::iter::once(cpu).collect());
    match (nth(0), nth(second)) {
        (Some(first), Some(second)) => Ok([Some(first), Some(second)]),
        _ => Err(Error::usage(
            format!("cannot place the tasks {}", placement.word()),
            format!("the workload may use {} CPU only ({allowed})", allowed.len()),
            "widen the factor affinity, or choose placement = \"same_cpu\"",
        )),
    }
}

/// Both tasks with their ends of the two pipes.
fn players(loops: u64, [first, second]: [Option<CpuList>; 2]) -> Result<[Player; 2]> {
    let pipe = || {
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
            .map_err(|error| Error::environment("cannot make a pipe", error))
    };
    let (forth_reader, forth_writer) = pipe()?;
    let (back_reader, back_writer) = pipe()?;
    let player = |begins, from, to, pin| Player {
        begins,
        loops,
        from: Arc::new(from),
        to: Arc::new(to),
        pin,
        same_cpu: 0,
        part_ns: [0; PARTS as usize],
    };
    Ok([
        player(true, back_reader, forth_writer, first),
        player(false, forth_reader, back_writer, second),
    ])
}

/// One of the two tasks and what it measured.
struct Player {
    begins: bool,
    loops: u64,
    from: Arc<OwnedFd>,
    to: Arc<OwnedFd>,
    pin: Option<CpuList>,
    same_cpu: u64,
    part_ns: [u64; PARTS as usize],
}

impl Player {
    fn place(&self) -> io::Result<()> {
        match &self.pin {
            Some(cpus) => sys::set_affinity(0, cpus),
            None => Ok(()),
        }
    }

    fn play(&mut self) -> io::Result<()> {
        for part in 0..PARTS {
            let rounds = rounds_of(self.loops, part);
            let start_ns = sys::monotonic_ns();
            if self.begins {
                for _ in 0..rounds {
                    self.write()?;
                    self.read()?;
                }
            } else {
                for _ in 0..rounds {
                    self.read()?;
                    self.write()?;
                }
            }
            self.part_ns[usize::try_from(part).unwrap_or(0)] = sys::monotonic_ns() - start_ns;
        }
        Ok(())
    }

    #[inline]
    fn write(&self) -> io::Result<()> {
        let cpu = u32::try_from(sched_getcpu()).unwrap_or(u32::MAX);
        write_full(&self.to, &cpu.to_ne_bytes())
    }

    #[inline]
    fn read(&mut self) -> io::Result<()> {
        let mut message = [0; 4];
        read_full(&self.from, &mut message)?;
        let is_same = u32::from_ne_bytes(message) as usize == sched_getcpu();
        self.same_cpu += u64::from(is_same);
        Ok(())
    }
}

impl Member for Player {
    fn prepare(&mut self) -> Result<(), String> {
        self.place().map_err(|error| format!("cannot pin a task: {error}"))
    }

    fn run(&mut self) -> Result<(), String> {
        self.play().map_err(|error| format!("the ping-pong broke: {error}"))
    }
}

/// How many rounds the nth part has; the last takes the remainder.
fn rounds_of(loops: u64, part: u64) -> u64 {
    loops / PARTS + if part == PARTS - 1 { loops % PARTS } else { 0 }
}

fn measurement(loops: u64, part_ns: &[u64], same_cpu: u64) -> Measurement {
    let values = (0..PARTS)
        .zip(part_ns)
        .map(|(part, ns)| *ns as f64 / rounds_of(loops, part) as f64)
        .collect();
    let total_ns: u64 = part_ns.iter().sum();
    Measurement {
        samples: vec![
            Sample::values("time_per_operation", values),
            Sample::quotient("operations_per_second", loops as f64, total_ns as f64 / 1e9),
            Sample::proportion("same_cpu_fraction", same_cpu, loops * 2),
        ],
        operations: Some(loops),
    }
}

struct Threads {
    crew: Crew<Player>,
    loops: u64,
}

impl Load for Threads {
    fn run(&mut self) -> Result<Measurement> {
        self.crew.open();
        let players = self.crew.collect(LIMIT_NS)?;
        let same_cpu = players.iter().map(|player| player.same_cpu).sum();
        Ok(measurement(self.loops, &players[0].part_ns, same_cpu))
    }
}

/// The processes are reaped inside the run, as the reference does, because
/// getrusage(2) knows a child's switches only once it has been waited for.
struct Processes {
    family: ChildProcesses,
    gate: OwnedFd,
    /// The parts' times, then each task's count of messages on its own CPU.
    results: SharedCounters,
    loops: u64,
}

impl Processes {
    fn start(loops: u64, players: [Player; 2], launch: &LaunchSpec) -> Result<Self> {
        let pipe = || {
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
                .map_err(|error| Error::environment("cannot make a pipe", error))
        };
        let (gate_reader, gate) = pipe()?;
        let (ready, ready_writer) = pipe()?;
        let parts = PARTS as usize;
        let results = SharedCounters::new(parts + 2)?;
        let mut family = ChildProcesses::new()?;
        let [mut ping, mut pong] = players;
        for (index, player) in [&mut ping, &mut pong].into_iter().enumerate() {
            family.fork("a task of the pipe", launch, || {
                player.place()?;
                write_full(&ready_writer, b".")?;
                read_full(&gate_reader, &mut [0])?;
                player.play()?;
                if player.begins {
                    for (result, ns) in results.iter().zip(player.part_ns) {
                        result.store(ns, Ordering::SeqCst);
                    }
                }
                results[parts + index].store(player.same_cpu, Ordering::SeqCst);
                Ok(())
            })?;
        }
        drop(ready_writer);
        let mut load = Self { family, gate, results, loops };
        read_full(&ready, &mut [0; 2]).map_err(|error| {
            let unknown = || Error::environment("cannot hear the tasks", error);
            load.family.early_death().unwrap_or_else(unknown)
        })?;
        Ok(load)
    }
}

impl Load for Processes {
    fn run(&mut self) -> Result<Measurement> {
        write_full(&self.gate, b"..")
            .map_err(|error| Error::environment("cannot release the tasks", error))?;
        self.family.reap()?;
        let results: Vec<u64> =
            self.results.iter().map(|result| result.load(Ordering::SeqCst)).collect();
        let (part_ns, same_cpu) = results.split_at(PARTS as usize);
        Ok(measurement(self.loops, part_ns, same_cpu.iter().sum()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_hold_every_round() {
        for loops in [10, 11, 99_999] {
            let sum: u64 = (0..PARTS).map(|part| rounds_of(loops, part)).sum();
            assert_eq!(sum, loops);
        }
    }
}
