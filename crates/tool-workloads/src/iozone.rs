//! iozone in throughput mode.

mod phases;

use crate::program_stub::ProgramStub;
use contract::{
    Configured, Description, Error, ErrorKind, LaunchSpec, Load, Measurement, Parameter, Problem,
    ProgramFile, Requirement, Result, Workload, WorkloadFacts,
};
use model::{Caveat, CaveatCode, Direction, Metric, Parameters, Reduction, Sample, Unit};
use outputs::iozone::{IozoneReport, KILOBYTE, LEAST_SHARE, Mode, Operation, version};
use phases::Phases;
use std::path::{Path, PathBuf};
use sys::{Machine, Termination};
use workload_parts::program::{ForkedProgram, ProgramEnvironment, WHERE_OUTPUT_IS, answer_of};
use workload_parts::storage::target::WorkloadFiles;
use workload_parts::storage::{self, MARGIN, data_location, direct, free_space};

static DESCRIPTION: Description = Description {
    id: "iozone",
    summary: "Processes that write, read and jump about in a file each, by iozone",
    doc: r#"**What it is.** Runs `iozone -t`: each of `processes` has a file of `size` bytes that it goes
through in records, operation after operation: write, rewrite, read, reread, reverse_read,
random_read, random_write. Files are made for each invocation and removed after it.

**What it means.** `<operation>_throughput`: bytes in a second, summed over processes, each
of which times its own loop ("Children see throughput").

**What moves it.** With `direct` the size of a record and the number of processes: a stream of
one process leaves nothing in the queue that an elevator could sort, so that four or more
are needed to tell elevators apart. Without it the size of the memory.

**When it lies.** When the first process is ready all others are stopped: of unequal
processes the sum is that of the fast ones, and one that had done less than half by then is
told (UNEQUAL_SHARES). Without `direct` neither fsync(2) nor close(2) is timed and numbers
are those of the page cache. Random offsets are a permutation with a constant seed: the
same order in every run. iozone sleeps two seconds around each operation, which is in no
number but in the time that this takes. `reread` and `rewrite` find what caches of the
device kept.

**Artefact.** The report of `-b` (a workbook of Excel 2) lies beside the log, `.xls`.

**Reference.** iozone 3.4 to 3.5 itself; the published studies of I/O elevators used
`-R -i 0 -i 1 -i 2 -i 3 -I -r RECORD -s SIZE -t 1 -b FILE`."#,
};

contract::keys! {
    PARAMETERS;
    RECORD: u64 = size("record", 1 << 10, 16 << 20, "64k", "Bytes of one read or write"),
    SIZE: u64 = size("size", 64 << 10, 1 << 40, "16M", "Bytes of each process's file"),
    PROCESSES: u64 = count("processes", 1, 256, "4", "Processes, each with a file of its own"),
    DIRECT: bool = flag("direct", "true", "Whether the page cache is left out (O_DIRECT)"),
    OPERATIONS: [String] = words(
        "operations",
        "write rewrite read reread reverse_read random_read random_write",
        "What is reported; what it needs is done too",
    ),
}

/// Its text is a hundredth of it.
const OUTPUT_LIMIT: u64 = 16 << 20;
/// An operation with the sleeps around it; measured with 3.414 on a virtual machine with
/// 2 cores: 26 s for seven.
const PHASE_NS: u64 = 3_700_000_000;
/// The versions that are understood: 3.400 up to 3.599.
const VERSIONS: (u32, std::ops::Range<u32>) = (3, 400..600);
const HOW_TO_GET: &str =
    "install it: Debian has it in non-free (apt-get install iozone3), its source is at iozone.org";

/// Stands for iozone in tests.
pub(crate) const STUB: ProgramStub = ProgramStub {
    program: "iozone",
    version: Some(("-v", "Version $Revision: 3.489 $")),
    parameters: &[(DIRECT.name(), "false"), (SIZE.name(), "64k"), (PROCESSES.name(), "1")],
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
        const { &[(SIZE.name(), "64k"), (DIRECT.name(), "false")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        Ok(Box::new(IozoneSettings::of(parameters)?))
    }
}

/// What was declared.
#[derive(Debug)]
struct IozoneSettings {
    record_bytes: u64,
    /// Of each process's file.
    size_bytes: u64,
    processes: u64,
    is_direct: bool,
    phases: Phases,
}

impl IozoneSettings {
    /// # Errors
    /// All that cannot be meant.
    fn of(parameters: &Parameters) -> Result<Self, Vec<Problem>> {
        let (phases, problems) = Phases::of(OPERATIONS.of(parameters));
        let mut problems: Vec<Problem> = problems.into_iter().map(Problem::from).collect();
        let (record_bytes, size_bytes) = (RECORD.of(parameters), SIZE.of(parameters));
        if !record_bytes.is_multiple_of(KILOBYTE) || !size_bytes.is_multiple_of(record_bytes) {
            problems.push("size needs to be records, and record kilobytes, without rest".into());
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self {
            record_bytes,
            size_bytes,
            processes: PROCESSES.of(parameters),
            is_direct: DIRECT.of(parameters),
            phases,
        })
    }

    /// Of all files.
    fn bytes(&self) -> u64 {
        self.size_bytes.saturating_mul(self.processes)
    }
}

impl Configured for IozoneSettings {
    fn metrics(&self) -> Vec<Metric> {
        let metric = |operation: &Operation| {
            let id = operation.id();
            let metric = Metric::new(
                source(*operation),
                Unit::BytesPerSecond,
                Direction::Higher,
                Reduction::Mean,
                format!("Bytes in a second of {id}, by all processes"),
            );
            Metric { margin: MARGIN, ..metric }
        };
        self.phases.reported.iter().map(metric).collect()
    }

    fn facts(&self) -> WorkloadFacts {
        let program = Requirement::check("the program iozone", |machine| {
            if machine.program("iozone").is_some() {
                return Ok(());
            }
            Err(("iozone is not on PATH".to_owned(), HOW_TO_GET.to_owned()))
        });
        let room = free_space::requirement(self.processes, self.size_bytes);
        let direct = self.is_direct.then(direct::requirement);
        let each_ns = PHASE_NS.saturating_add(storage::expected_ns(self.bytes()));
        WorkloadFacts {
            requirements: [program, room].into_iter().chain(direct).collect(),
            programs: vec![ProgramFile::Program("iozone".to_owned())],
            ..WorkloadFacts::closed_loop(each_ns.saturating_mul(self.phases.count()))
        }
    }

    fn prepare(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        check_version(machine)?;
        let processes = self.processes;
        let target = WorkloadFiles::prepare(launch, self.bytes())?;
        if target.is_device() && processes > 1 {
            return Err(Error::usage(
                format!("cannot run iozone on {}", target.path().display()),
                format!("its {processes} processes would write over each other"),
                "use processes = 1 on a device, or files in a directory",
            ));
        }
        if self.is_direct {
            target.check_direct()?;
        }
        let report = launch.scratch.join("report.xls");
        let words = arguments(self, &target, &report);
        // What iozone itself may drop lies with its files.
        let directory =
            if target.is_device() { launch.scratch.clone() } else { target.path().to_owned() };
        let surroundings =
            ProgramEnvironment { directory: Some(directory), ..ProgramEnvironment::default() };
        let program = ForkedProgram::start(machine, &words, surroundings, OUTPUT_LIMIT, launch)?;
        let log = launch.log.clone();
        let run = Iozone {
            program,
            reported: self.phases.reported.clone(),
            processes,
            report,
            log,
            changed_level: None,
            unequal: Vec::new(),
            host_cache: data_location::host_cache(launch),
            _target: target,
        };
        Ok(Box::new(run))
    }
}

fn source(operation: Operation) -> String {
    format!("{}_throughput", operation.id())
}

/// What iozone is started with, word by word.
fn arguments(settings: &IozoneSettings, target: &WorkloadFiles, report: &Path) -> Vec<String> {
    let mut words = vec!["iozone".to_owned(), "-R".to_owned()];
    for test in &settings.phases.tests {
        words.extend(["-i".to_owned(), test.to_string()]);
    }
    if settings.is_direct {
        words.push("-I".to_owned());
    }
    if target.is_device() {
        // It unlinks what it has measured, and a node is not ours to remove.
        words.push("-w".to_owned());
    }
    let kilobytes = |bytes: u64| format!("{}k", bytes / KILOBYTE);
    let (record, size) = (kilobytes(settings.record_bytes), kilobytes(settings.size_bytes));
    let processes = settings.processes;
    words.extend(["-r".to_owned(), record, "-s".to_owned(), size]);
    words.extend(["-t".to_owned(), processes.to_string(), "-b".to_owned()]);
    words.push(report.display().to_string());
    words.push("-F".to_owned());
    if target.is_device() {
        words.push(target.path().display().to_string());
    } else {
        let file = |number: u64| target.path().join(format!("file-{number}")).display().to_string();
        words.extend((1..=processes).map(file));
    }
    words
}

/// Asks iozone for its version.
fn check_version(machine: &Machine) -> Result<()> {
    let words = ["iozone", "-v"].map(str::to_owned);
    let answer = answer_of(machine, &words, "cannot ask iozone for its version")?;
    let (major, minors) = VERSIONS;
    let found = version(&answer);
    if found.is_some_and(|(own, minor)| own == major && minors.contains(&minor)) {
        return Ok(());
    }
    let said: String = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    let said: String = said.chars().take(100).collect();
    let cause = format!("it says `{said}`, and 3.4 to 3.5 are understood");
    Err(Error::unsupported("cannot use this iozone", cause, HOW_TO_GET))
}

struct Iozone {
    program: ForkedProgram,
    reported: Vec<Operation>,
    processes: u64,
    report: PathBuf,
    log: PathBuf,
    changed_level: Option<String>,
    unequal: Vec<String>,
    host_cache: Option<Caveat>,
    _target: WorkloadFiles,
}

impl Load for Iozone {
    fn changed_level(&self) -> Option<String> {
        self.changed_level.clone()
    }

    fn caveats(&self) -> Vec<Caveat> {
        let caveat = |detail: &String| Caveat::new(CaveatCode::UnequalShares, detail.clone());
        self.host_cache.iter().cloned().chain(self.unequal.iter().map(caveat)).collect()
    }

    fn run(&mut self) -> Result<Measurement> {
        let run = self.program.run()?;
        self.changed_level.clone_from(&run.changed_level);
        if run.termination != Termination::Exited(0) {
            return Err(failed(format!("{}{}", run.termination, run.last_lines())));
        }
        let report = IozoneReport::parse(run.stdout.as_bytes()).map_err(failed)?;
        keep(&self.report, &self.log)?;
        let samples = samples(&report, &self.reported, self.processes).map_err(failed)?;
        self.unequal = unequal(&report);
        Ok(Measurement { samples, operations: None })
    }
}

fn failed(cause: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Environment, "iozone failed", cause, WHERE_OUTPUT_IS)
}

/// Puts the binary report beside the log, under a name that no earlier one has.
fn keep(report: &Path, log: &Path) -> Result<()> {
    let beside = (1_u32..).map(|number| log.with_extension(format!("{number}.xls")));
    let Some(free) = beside.into_iter().find(|path| !path.exists()) else { return Ok(()) };
    std::fs::copy(report, &free).map(drop).map_err(|error| {
        Error::environment(format!("cannot keep iozone's report as {}", free.display()), error)
    })
}

fn samples(
    report: &IozoneReport,
    wanted: &[Operation],
    processes: u64,
) -> Result<Vec<Sample>, String> {
    if report.mode != (Mode::Throughput { processes: Some(processes) }) {
        return Err(format!("it did not run with {processes} processes in throughput mode"));
    }
    if report.unit != outputs::iozone::RateUnit::BytesPerSecond {
        return Err("its rates are not in bytes".to_owned());
    }
    let sample = |operation: &Operation| {
        let cell = report.cells.iter().find(|cell| cell.operation == *operation);
        let cell = cell.ok_or_else(|| format!("it has no throughput of {}", operation.id()))?;
        Ok(Sample::values(&source(*operation), vec![cell.rate]))
    };
    wanted.iter().map(sample).collect()
}

fn unequal(report: &IozoneReport) -> Vec<String> {
    let told = |cell: &outputs::iozone::IozoneRate| {
        let share = cell.least_share.filter(|share| *share < LEAST_SHARE)?;
        let id = cell.operation.id();
        Some(format!("{id}: the slowest process had done {:.0} % of its file", 100.0 * share))
    };
    report.cells.iter().filter_map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! golden {
        ($name:literal) => {
            include_bytes!(concat!("../../outputs/tests/golden/iozone/", $name, ".txt"))
        };
    }

    fn settings(given: &[(&str, &str)]) -> Result<IozoneSettings, Vec<Problem>> {
        IozoneSettings::of(&Parameter::values(PARAMETERS, given)?)
    }

    fn words(given: &[(&str, &str)], target: &WorkloadFiles) -> String {
        let settings = settings(given).unwrap();
        arguments(&settings, target, Path::new("/scratch/report.xls")).join(" ")
    }

    #[test]
    fn the_words_are_those_of_the_study() {
        let directory = tempfile::tempdir().unwrap();
        let target = WorkloadFiles::Directory(directory.path().join("own"));
        let files = directory.path().join("own/file-").display().to_string();
        assert_eq!(
            words(&[("processes", "2"), ("record", "8k"), ("size", "32M")], &target),
            format!(
                "iozone -R -i 0 -i 1 -i 2 -i 3 -I -r 8k -s 32768k -t 2 -b /scratch/report.xls -F {files}1 {files}2"
            )
        );
        assert_eq!(
            words(&[("processes", "1"), ("direct", "false"), ("operations", "reread")], &target),
            format!("iozone -R -i 0 -i 1 -r 64k -s 16384k -t 1 -b /scratch/report.xls -F {files}1")
        );
    }

    #[test]
    fn a_device_is_never_unlinked() {
        let device = WorkloadFiles::Device(PathBuf::from("/dev/loop3"));
        let found = words(&[("processes", "1"), ("operations", "random_read")], &device);
        assert_eq!(
            found,
            "iozone -R -i 0 -i 2 -I -w -r 64k -s 16384k -t 1 -b /scratch/report.xls -F /dev/loop3"
        );
    }

    #[test]
    fn sleeps_are_part_of_the_plan() {
        let expected_ns = |given: &[(&str, &str)]| settings(given).unwrap().facts().expected_ns;
        let (all, few) = (expected_ns(&[]), expected_ns(&[("operations", "write")]));
        let each_ns = PHASE_NS + storage::expected_ns(64 << 20);
        assert_eq!((all, few), (7 * each_ns, 2 * each_ns));
    }

    #[test]
    fn what_cannot_be_meant_is_named() {
        for (given, word) in [
            (&[("operations", "reed")][..], "`reed` is no operation of iozone's throughput mode"),
            (&[("operations", "read read")], "read is named twice"),
            (&[("record", "48k"), ("size", "100k")], "without rest"),
            (&[("record", "1536B"), ("size", "150k")], "without rest"),
        ] {
            let problems = Problem::joined(&settings(given).unwrap_err());
            assert!(problems.contains(word), "{problems}");
        }
    }

    #[test]
    fn each_operation_has_its_rate_and_what_is_missing_is_never_zero() {
        let report = IozoneReport::parse(golden!("t2_r64k_I")).unwrap();
        let wanted = [Operation::Write, Operation::RandomRead];
        let found = samples(&report, &wanted, 2).unwrap();
        assert_eq!(
            found,
            [
                Sample::values("write_throughput", vec![1_036_258.22 * 1024.0]),
                Sample::values("random_read_throughput", vec![805_898.66 * 1024.0]),
            ]
        );
        let missing = samples(&report, &[Operation::ReverseRead], 2).unwrap_err();
        assert_eq!(missing, "it has no throughput of reverse_read");
        let other = samples(&report, &wanted, 3).unwrap_err();
        assert_eq!(other, "it did not run with 3 processes in throughput mode");
        let operations = IozoneReport::parse(golden!("t2_threads_ops")).unwrap();
        let found = samples(&operations, &wanted, 2).unwrap_err();
        assert_eq!(found, "its rates are not in bytes");
        assert_eq!(unequal(&report), Vec::<String>::new());
        assert_eq!(unequal(&operations).len(), 4);
        assert!(unequal(&operations)[2].contains("12 %"));
    }

    #[test]
    fn every_report_is_kept_under_a_name_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("report.xls"), "first").unwrap();
        keep(&at("report.xls"), &at("trial.log")).unwrap();
        std::fs::write(at("report.xls"), "second").unwrap();
        keep(&at("report.xls"), &at("trial.log")).unwrap();
        assert_eq!(std::fs::read_to_string(at("trial.1.xls")).unwrap(), "first");
        assert_eq!(std::fs::read_to_string(at("trial.2.xls")).unwrap(), "second");
        assert!(keep(&at("none.xls"), &at("trial.log")).is_err());
    }
}
