//! fio, the flexible I/O tester.

mod arguments;
mod job_file;

use crate::program_stub::ProgramStub;
use contract::shared_names;
use contract::{
    Configured, Description, Error, ErrorKind, LaunchSpec, Load, Measurement, Parameter, Problem,
    ProgramFile, Requirement, Result, WordChoice, Workload, WorkloadFacts,
};
use model::{
    Caveat, CaveatCode, Direction as Better, Histogram, Metric, Parameters, Reduction, Sample, Unit,
};
use outputs::fio::{FioLatency, FioReport, IoDirection, Traffic, version};
use rustix::fs::{Advice, fadvise};
use std::io::Read;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use sys::{Machine, Termination};
use workload_parts::nanoseconds::S;
use workload_parts::program::{ForkedProgram, ProgramEnvironment, WHERE_OUTPUT_IS, answer_of};
use workload_parts::storage::data_location::{self, DataLocation};
use workload_parts::storage::pattern::Pattern;
use workload_parts::storage::target::{WorkloadFiles, is_aligned};
use workload_parts::storage::transfer::{lay_out, unwritable};
use workload_parts::storage::{self, MARGIN, direct, free_space};

static DESCRIPTION: Description = Description {
    id: "fio",
    summary: "Reads and writes by fio: bytes and I/Os in a second, and how long each took",
    doc: r#"**What it is.** Runs fio 3 on the target of the trial, with jobs of these parameters or
with your own `job_file`, and reads its json+.

**What it means.** `read_throughput` and `write_throughput` are bytes, `read_iops` and
`write_iops` I/Os in a second, over all jobs. `read_latency` and `write_latency` are the
time from giving an I/O to the kernel until it is done, of every single I/O: the elevator,
the device and what else stood in the queue.

**What moves it.** The number of I/Os in the queue above all: an elevator chooses among those
that wait, and one stream at `queue_depth = 1` gives it nothing to choose. Then whether
blocks are sequential, their size, the device and its own cache. Files are laid out before
the run and are no part of it, and of a device what is read is written before; each job has a
file, or on a device a region, of `size`.

**When it lies.** Without `direct` it is the page cache that is measured (a buffered run ends
with fsync(2), so that writes are at least paid for), and `libaio` waits for each I/O.
`queue_depth` times `jobs` I/Os wait at most: the load is closed-loop, a slow device is
asked less often, and its tail looks better than users would find it. A virtual machine's
disk may be the memory of its host. The order of offsets is that of `random_seed`; with 0 it
is the trial's, so that it differs between blocks and not between subjects.

**Your own jobs.** `job_file` is given to fio as it is; `rw` then says which directions are
reported, and `duration` about how long it takes. It runs in the target's directory, and
`${SCHEDLAB_TARGET}` in it is the directory or the device. Nothing else is written to: what
names files (`filename`, `directory`, `opendir`, logs, a section's own name) must be
`${SCHEDLAB_TARGET}`, begin with `${SCHEDLAB_TARGET}/`, or be relative without `..`; on a
device each job's `filename` is `${SCHEDLAB_TARGET}`. `include`, replays (`read_iolog`), what
runs programs as root (`exec_prerun`, `exec_postrun`, engines that are no part of fio) and
what changes the machine (`ioscheduler`, `cgroup`) are refused. Its jobs must run at the same
time (no `stonewall`): rates of jobs that ran one after the other have no sum. On a device
they read what is there: of a new one that is nothing but zeros, without any I/O below it.

**Reference.** fio's own documentation (HOWTO, "Output"); the numbers are fio's."#,
};

/// Which I/O is done; the words are fio's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IoPattern {
    Read,
    Write,
    RandRead,
    RandWrite,
    RandRw,
    Rw,
}

impl WordChoice for IoPattern {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("read", Self::Read),
        ("write", Self::Write),
        ("randread", Self::RandRead),
        ("randwrite", Self::RandWrite),
        ("randrw", Self::RandRw),
        ("rw", Self::Rw),
    ];
}

/// How I/Os are given to the kernel; the words are fio's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IoEngine {
    Psync,
    IoUring,
    Libaio,
}

impl WordChoice for IoEngine {
    const WORDS: &'static [(&'static str, Self)] =
        &[("psync", Self::Psync), ("io_uring", Self::IoUring), ("libaio", Self::Libaio)];
}

contract::keys! {
    PARAMETERS;
    RW: IoPattern = choice("rw", "randread", "Which I/O is done"),
    BLOCK_SIZE: u64 = size("block_size", 512, 64 << 20, "4k", "Bytes of one I/O"),
    SIZE: u64 = size(
        "size",
        1 << 20,
        1 << 40,
        "256M",
        "Bytes of each job's file, or its region on a device",
    ),
    ENGINE: IoEngine = choice("engine", "libaio", "How I/Os are given to the kernel"),
    QUEUE_DEPTH: u64 = count(
        "queue_depth",
        1,
        4096,
        "16",
        "I/Os of each job that are under way at once",
    ),
    JOBS: u64 = count("jobs", 1, 256, "1", "Jobs, each a process"),
    DIRECT: bool = flag("direct", "true", "Whether the page cache is left out (O_DIRECT)"),
    DURATION: u64 = length(
        0,
        24 * 3600 * S,
        "5s",
        "How long it runs; 0: until all of `size` was done once",
    ),
    RANDOM_SEED: u64 = count(
        "random_seed",
        0,
        u64::MAX >> 1,
        "0",
        "Seed of the offsets; 0: the trial's",
    ),
    JOB_FILE: str = text(
        shared_names::JOB_FILE,
        "",
        "A job file of your own instead of these parameters",
    ),
}

/// fio's json+ has a line for each distinct latency; this is far above any real one.
const OUTPUT_LIMIT: u64 = 256 << 20;
/// Longest file of jobs that is read.
const LONGEST_JOB_FILE: u64 = 1 << 20;
/// Bytes of a record of what lies on a device before the jobs read it.
const FILLING: u64 = 4096;
/// Below this version json+ has other fields.
const OLDEST: u32 = 3;

/// Stands for fio in tests.
pub(crate) const STUB: ProgramStub = ProgramStub {
    program: "fio",
    version: Some(("--version", "fio-3.33")),
    parameters: &[(DIRECT.name(), "false"), (SIZE.name(), "1M")],
};

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
        const { &[(DURATION.name(), "20ms"), (SIZE.name(), "1M"), (RW.name(), "randrw")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        let jobs = Jobs::of(parameters);
        let problems = jobs.problems();
        if problems.is_empty() { Ok(Box::new(jobs)) } else { Err(problems) }
    }
}

/// What was declared.
#[derive(Debug, Clone)]
struct Jobs {
    pattern: IoPattern,
    block_bytes: u64,
    /// Of each job's file or region.
    size_bytes: u64,
    engine: IoEngine,
    queue_depth: u64,
    jobs: u64,
    is_direct: bool,
    /// None: until all was done once.
    duration_ns: Option<u64>,
    /// Of the offsets; none: the trial's.
    random_seed: Option<u64>,
    /// The user's jobs in place of these.
    file: Option<String>,
}

impl Jobs {
    fn of(parameters: &Parameters) -> Self {
        Self {
            pattern: RW.of(parameters),
            block_bytes: BLOCK_SIZE.of(parameters),
            size_bytes: SIZE.of(parameters),
            engine: ENGINE.of(parameters),
            queue_depth: QUEUE_DEPTH.of(parameters),
            jobs: JOBS.of(parameters),
            is_direct: DIRECT.of(parameters),
            duration_ns: Some(DURATION.of(parameters)).filter(|ns| *ns > 0),
            random_seed: Some(RANDOM_SEED.of(parameters)).filter(|seed| *seed > 0),
            file: Some(JOB_FILE.of(parameters)).filter(|path| !path.is_empty()).map(str::to_owned),
        }
    }

    /// All that cannot be meant.
    fn problems(&self) -> Vec<Problem> {
        if let Some(file) = &self.file {
            // What cannot be read is told by the requirements; what the target is, when it exists.
            let text = job_text(file).unwrap_or_default();
            let problems = job_file::problems(&String::from_utf8_lossy(&text), false);
            return problems.into_iter().map(|why| format!("{file}, {why}").into()).collect();
        }
        let mut problems: Vec<Problem> = Vec::new();
        if self.engine == IoEngine::Psync && self.queue_depth > 1 {
            problems.push(
                "psync does one I/O after the other: use queue_depth = 1 and more jobs, or another engine"
                    .into(),
            );
        }
        if self.block_bytes > self.size_bytes {
            problems.push("an I/O of block_size does not fit into a file of size".into());
        }
        if self.is_direct && !(is_aligned(self.block_bytes) && is_aligned(self.size_bytes)) {
            problems.push("direct I/O needs block_size and size in multiples of 512".into());
        }
        problems
    }

    fn directions(&self) -> Vec<IoDirection> {
        match self.pattern {
            IoPattern::Read | IoPattern::RandRead => vec![IoDirection::Read],
            IoPattern::Write | IoPattern::RandWrite => vec![IoDirection::Write],
            IoPattern::RandRw | IoPattern::Rw => vec![IoDirection::Read, IoDirection::Write],
        }
    }

    /// Of all jobs.
    fn bytes(&self) -> u64 {
        self.size_bytes.saturating_mul(self.jobs)
    }

    /// What fio is started with on this target, whose files are made by now.
    fn words(
        &self,
        machine: &Machine,
        launch: &LaunchSpec,
        target: &WorkloadFiles,
    ) -> Result<Vec<String>> {
        if let Some(file) = &self.file {
            return Ok(arguments::of_file(&checked_copy(file, target, &launch.scratch)?));
        }
        if !target.is_device() {
            let layout = arguments::layout(self, launch, target);
            answer_of(machine, &layout, "cannot lay out the files of fio")?;
        } else if self.directions().contains(&IoDirection::Read) {
            fill_device(self, launch)?;
        }
        Ok(arguments::own(self, launch, target))
    }
}

impl Configured for Jobs {
    fn metrics(&self) -> Vec<Metric> {
        self.directions().into_iter().flat_map(metrics_of).collect()
    }

    fn facts(&self) -> WorkloadFacts {
        let once_ns = storage::expected_ns(self.bytes()).saturating_add(S);
        let own_ns = self.duration_ns.unwrap_or(once_ns);
        let mut requirements = vec![Requirement::program("fio", "fio")];
        match &self.file {
            Some(file) => requirements.push(is_file(file.clone())),
            None => {
                requirements.push(free_space::requirement(self.jobs, self.size_bytes));
                requirements.extend(self.is_direct.then(direct::requirement));
            }
        }
        let file = self.file.iter().map(PathBuf::from).map(ProgramFile::File);
        let fio = ProgramFile::Program("fio".to_owned());
        WorkloadFacts {
            requirements,
            programs: [fio].into_iter().chain(file).collect(),
            ..WorkloadFacts::closed_loop(own_ns.saturating_add(once_ns))
        }
    }

    fn prepare(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        check_version(machine)?;
        let is_own = self.file.is_none();
        let target = WorkloadFiles::prepare(launch, if is_own { self.bytes() } else { 0 })?;
        if is_own && self.is_direct {
            target.check_direct()?;
        }
        let words = self.words(machine, launch, &target)?;
        // Notes that jobs write down beside a device vanish with the trial.
        let directory = if target.is_device() { &launch.scratch } else { target.path() };
        let surroundings = ProgramEnvironment {
            directory: Some(directory.to_owned()),
            variables: vec![("SCHEDLAB_TARGET", target.path().display().to_string())],
        };
        let program = ForkedProgram::start(machine, &words, surroundings, OUTPUT_LIMIT, launch)?;
        Ok(Box::new(Fio {
            program,
            directions: self.directions(),
            changed_level: None,
            clamped: 0,
            host_cache: data_location::host_cache(launch),
            _target: target,
        }))
    }
}

/// The user's jobs are there.
fn is_file(path: String) -> Requirement {
    Requirement::check(format!("the job file {path}"), move |_| {
        if Path::new(&path).is_file() {
            return Ok(());
        }
        Err((format!("{path} is not a file"), "check the spelling".to_owned()))
    })
}

fn metrics_of(direction: IoDirection) -> Vec<Metric> {
    let name = direction.name();
    let rate = |what: &str, unit, summary: String| {
        let id = format!("{name}_{what}");
        let metric = Metric::new(id, unit, Better::Higher, Reduction::Mean, summary);
        Metric { margin: MARGIN, ..metric }
    };
    let done = if direction == IoDirection::Read { "read" } else { "written" };
    let mut metrics = vec![
        rate("throughput", Unit::BytesPerSecond, format!("Bytes {done} in a second, by all jobs")),
        rate("iops", Unit::PerSecond, format!("Blocks {done} in a second, by all jobs")),
    ];
    let summary = format!("Time of a {name} from its submission until it is done");
    let latencies = Metric::latency_quantiles(&format!("{name}_latency"), &summary);
    metrics.extend(latencies.into_iter().map(|metric| Metric { margin: MARGIN, ..metric }));
    metrics
}

/// Writes what the jobs may read: of blocks that were never written a device, or the file system
/// below a loop device, answers zeros without any I/O. fio lays out files of its own accord.
fn fill_device(jobs: &Jobs, launch: &LaunchSpec) -> Result<()> {
    let (jobs, size) = (jobs.jobs, jobs.size_bytes);
    let place = DataLocation::open(launch, jobs, size)?;
    for job in 0..jobs {
        // Through the page cache: fio's sizes need not be whole blocks of the device.
        let region = place.region(job, size, FILLING, false)?;
        let pattern = Pattern::new(launch.seed, u32::try_from(job).unwrap_or(u32::MAX));
        lay_out(&region, pattern, FILLING, size)
            .map_err(|failed| unwritable(jobs.saturating_mul(size), &failed))?;
        let advised = fadvise(&region.file, region.start, NonZeroU64::new(size), Advice::DontNeed);
        advised.map_err(|error| Error::environment("cannot drop the cached pages", error))?;
    }
    Ok(())
}

/// The text of a job file, which an experiment of somebody else names: it may be no device, and no FIFO,
/// for which nobody waits.
fn job_text(path: &str) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    sys::open_regular(Path::new(path))?.take(LONGEST_JOB_FILE + 1).read_to_end(&mut text)?;
    if text.len() as u64 > LONGEST_JOB_FILE {
        let cause = format!("it is longer than {LONGEST_JOB_FILE} bytes");
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, cause));
    }
    Ok(text)
}

/// The job file as it was when it was looked at: it cannot change between that and the run.
fn checked_copy(job_file: &str, target: &WorkloadFiles, scratch: &Path) -> Result<PathBuf> {
    let unreadable = |error| Error::environment(format!("cannot read {job_file}"), error);
    let text = job_text(job_file).map_err(unreadable)?;
    let problems = job_file::problems(&String::from_utf8_lossy(&text), target.is_device());
    if !problems.is_empty() {
        let attempted = format!("cannot run the jobs of {job_file}");
        return Err(Error::usage(attempted, problems.join("; "), "correct these lines"));
    }
    let copy = scratch.join("jobs-of-user");
    std::fs::write(&copy, text)
        .map_err(|error| Error::environment(format!("cannot write {}", copy.display()), error))?;
    std::path::absolute(&copy)
        .map_err(|error| Error::environment(format!("cannot find {}", copy.display()), error))
}

/// Asks fio for its version.
fn check_version(machine: &Machine) -> Result<()> {
    let words = ["fio", "--version"].map(str::to_owned);
    let answer = answer_of(machine, &words, "cannot ask fio for its version")?;
    if version(&answer).is_some_and(|(major, _)| major >= OLDEST) {
        return Ok(());
    }
    let said: String = answer.trim().chars().take(60).collect();
    let cause = format!("it says `{said}`, and fio 3 or later is understood");
    Err(Error::unsupported("cannot use this fio", cause, "install fio 3: apt-get install fio"))
}

struct Fio {
    program: ForkedProgram,
    directions: Vec<IoDirection>,
    changed_level: Option<String>,
    clamped: u64,
    host_cache: Option<Caveat>,
    _target: WorkloadFiles,
}

impl Load for Fio {
    fn changed_level(&self) -> Option<String> {
        self.changed_level.clone()
    }

    fn caveats(&self) -> Vec<Caveat> {
        let detail = format!("{} I/Os took more than an hour", self.clamped);
        let clamped = (self.clamped > 0).then(|| Caveat::new(CaveatCode::Clamped, detail));
        self.host_cache.iter().cloned().chain(clamped).collect()
    }

    fn run(&mut self) -> Result<Measurement> {
        let run = self.program.run()?;
        self.changed_level.clone_from(&run.changed_level);
        if run.termination != Termination::Exited(0) {
            return Err(failed(format!("{}{}", run.termination, run.last_lines())));
        }
        let report = FioReport::parse(run.stdout.as_bytes()).map_err(failed)?;
        let (samples, operations) = samples(&report, &self.directions).map_err(failed)?;
        let counts = samples.iter().map(|sample| match &sample.data {
            model::SampleData::Histogram(histogram) => histogram.clamped(),
            _ => 0,
        });
        self.clamped = counts.sum();
        Ok(Measurement { samples, operations: Some(operations) })
    }
}

fn failed(cause: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Environment, "fio failed", cause, WHERE_OUTPUT_IS)
}

/// What was measured for each direction, and how many I/Os that were; or why it is nothing.
fn samples(report: &FioReport, wanted: &[IoDirection]) -> Result<(Vec<Sample>, u64), String> {
    if let Some(job) = report.idle.first() {
        return Err(format!("the job {job} did no I/O"));
    }
    let group = report.streams.first().map(|stream| stream.group);
    if let Some(other) = report.streams.iter().find(|stream| Some(stream.group) != group) {
        return Err(format!(
            "the job {} may have run after others, whose rates have no sum with its own",
            other.job
        ));
    }
    let mut streams = report.streams.iter();
    if let Some(other) = streams.find(|stream| !wanted.contains(&stream.direction)) {
        let name = other.direction.name();
        return Err(format!("the job {} did {name}s, which `rw` does not name", other.job));
    }
    let (mut samples, mut operations) = (Vec::new(), 0_u64);
    for direction in wanted {
        let name = direction.name();
        let (mut bytes, mut rate, mut latency) = (0.0, 0.0, Histogram::new());
        for stream in report.streams.iter().filter(|stream| stream.direction == *direction) {
            let traffic = stream.outcome.as_ref();
            let traffic = traffic
                .map_err(|code| format!("the job {} ended with error {code}", stream.job))?;
            bytes += traffic.bandwidth;
            rate += traffic.rate;
            latency.merge(distribution(traffic, &stream.job)?);
            operations = operations.saturating_add(traffic.completed);
        }
        // fio counts time in milliseconds: what took less has no rate.
        if !(bytes > 0.0 && rate > 0.0 && bytes.is_finite() && rate.is_finite()) {
            return Err(format!(
                "no rate of {name}s: it did none, or took less than a millisecond"
            ));
        }
        samples.push(Sample::values(&format!("{name}_throughput"), vec![bytes]));
        samples.push(Sample::values(&format!("{name}_iops"), vec![rate]));
        samples.push(Sample::histogram(&format!("{name}_latency"), latency));
    }
    Ok((samples, operations))
}

fn distribution<'t>(traffic: &'t Traffic, job: &str) -> Result<&'t Histogram, String> {
    match &traffic.latency {
        FioLatency::Distribution { histogram, .. } if histogram.count() > 0 => Ok(histogram),
        _ => Err(format!("the job {job} reports no latency of each I/O")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, more: &str, parts: &str) -> String {
        format!(r#"{{"jobname": "{name}", {more} {parts}}}"#)
    }

    fn part(direction: &str, iops: &str) -> String {
        format!(
            r#""{direction}": {{"total_ios": 30, "iops": {iops}, "bw_bytes": 4096, "lat_ns": {{"bins": {{"5000": 20, "9000": 10}}}}}}"#
        )
    }

    fn of(jobs: &[String], wanted: &[IoDirection]) -> Result<(Vec<Sample>, u64), String> {
        let text = format!("{{\"jobs\": [{}]}}", jobs.join(", "));
        let report = FioReport::parse(text.as_bytes()).map_err(|trouble| trouble.to_string())?;
        samples(&report, wanted)
    }

    #[test]
    fn a_file_of_jobs_is_no_device_and_no_longer_than_is_read() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("jobs");
        let path = path.to_str().unwrap();
        std::fs::write(path, "[a]\n").unwrap();
        assert_eq!(job_text(path).unwrap(), b"[a]\n");
        // Sparse: it reads as zeros and takes no room.
        std::fs::File::create(path).unwrap().set_len(3 << 30).unwrap();
        assert!(job_text(path).is_err());
        assert!(job_text("/dev/zero").is_err());
    }

    #[test]
    fn jobs_that_ran_together_are_added_up() {
        let jobs = [job("a", "", &part("read", "2.5")), job("b", "", &part("read", "4"))];
        let (samples, operations) = of(&jobs, &[IoDirection::Read]).unwrap();
        assert_eq!(operations, 60);
        assert_eq!(samples[0], Sample::values("read_throughput", vec![8192.0]));
        assert_eq!(samples[1], Sample::values("read_iops", vec![6.5]));
        let model::SampleData::Histogram(histogram) = &samples[2].data else { panic!("no bins") };
        assert_eq!((samples[2].source.as_str(), histogram.count()), ("read_latency", 60));
    }

    #[test]
    fn what_is_missing_or_failed_is_never_zero() {
        let read = part("read", "2.5");
        let both = [IoDirection::Read, IoDirection::Write];
        for (jobs, wanted, cause) in [
            (vec![job("a", "", &read)], &both[..], "no rate of writes"),
            (
                vec![job("a", "", &read)],
                &both[1..],
                "the job a did reads, which `rw` does not name",
            ),
            (vec![job("a", "", &part("read", "0"))], &both[..1], "no rate of reads"),
            (vec![job("a", "\"error\": 5,", &read)], &both[..1], "the job a ended with error 5"),
            (
                vec![job("a", "", &read), job("b", "\"groupid\": 1,", &read)],
                &both[..1],
                "the job b may have run after others",
            ),
            (
                vec![job("a", "", &read), job("b", "", &part("read", "1").replace("30", "0"))],
                &both[..1],
                "the job b did no I/O",
            ),
            (
                vec![job("a", "", &read.replace("bins", "percentile"))],
                &both[..1],
                "jobs[0].read.lat_ns has no `N`",
            ),
            (
                vec![job("a", "", &read.replace("lat_ns", "none"))],
                &both[..1],
                "the job a reports no latency of each I/O",
            ),
        ] {
            let found = of(&jobs, wanted).unwrap_err();
            assert!(found.starts_with(cause), "{found}");
        }
    }
}
