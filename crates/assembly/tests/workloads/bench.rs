//! What cases share: a process of their own, a machine, and ways to read what was measured.

use super::*;

/// Runs a case in a process of its own and checks that it has cleaned up. Tests that turn knobs of
/// the machine are waited for here, once, before the case's own time begins: no case takes the lock.
pub fn in_child(case: fn()) -> Result<(), String> {
    let _machine = testing::share(testing::MACHINE);
    // SAFETY: this process has one thread; the child only runs the case and ends.
    let child = unsafe { libc::fork() };
    assert_ne!(child, -1, "fork failed");
    if child == 0 {
        // SAFETY: alarm(2) ends a child that is stuck.
        unsafe { libc::alarm(LIMIT_S) };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            case();
            nothing_is_left();
        }));
        // SAFETY: the child ends here without running the parent's destructors.
        unsafe { libc::_exit(i32::from(outcome.is_err())) };
    }
    let mut status = 0;
    // SAFETY: `status` is a valid place for the child's status.
    let reaped = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(reaped, child);
    if status == 0 { Ok(()) } else { Err(format!("FAILED (wait status {status:#x})")) }
}

pub fn nothing_is_left() {
    // SAFETY: a null status is allowed.
    let other = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) };
    assert_eq!(other, -1, "a child process is left");
    // A joined thread leaves /proc a moment after it has let its joiner go.
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    for _ in 0..10_000 {
        if threads() == 1 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("{} threads are left", threads());
}

/// Every case runs like this one: nobody could begin to turn knobs of the machine.
pub fn cases_share_the_machine() {
    assert!(testing::try_lock(testing::MACHINE).is_none());
    // Others may hold it too: this process has it open since before it was forked.
    let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let mut paths = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    assert!(paths.any(|path| path.to_string_lossy().contains(testing::MACHINE)));
}

/// Lets this case run before its neighbours, where the user may: what is held to a rate falls below it
/// where two complete runs of the tests share two processors.
pub fn run_before_neighbours() {
    // SAFETY: setpriority(2) takes numbers only.
    let _ = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -15) };
}

/// What the first of a few looks sees that sees what is expected, else the last one: others may have
/// taken the CPUs meanwhile.
pub fn look_until<T>(mut look: impl FnMut() -> T, is_expected: impl Fn(&T) -> bool) -> T {
    let mut seen = look();
    for _ in 1..MOST_RUNS {
        if is_expected(&seen) {
            break;
        }
        seen = look();
    }
    seen
}

pub fn workload(id: &str) -> &'static dyn Workload {
    assembly::catalogue().workloads.iter().copied().find(|entry| entry.describe().id == id).unwrap()
}

/// The declared defaults with these values in their place.
pub fn parameters(id: &str, settings: &[(&str, &str)]) -> Parameters {
    Parameter::values(workload(id).parameters(), settings)
        .unwrap_or_else(|problems| panic!("{id}: {}", Problem::joined(&problems)))
}

/// The workload with these parameters.
pub fn configured(id: &str, parameters: &Parameters) -> contract::Result<Box<dyn Configured>> {
    let told = |problems: Vec<Problem>| {
        Error::usage(format!("cannot configure {id}"), Problem::joined(&problems), "")
    };
    workload(id).configure(parameters).map_err(told)
}

/// What cannot be meant.
pub fn conflicts(id: &str, parameters: &Parameters) -> Vec<String> {
    let problems = workload(id).configure(parameters).err().unwrap_or_default();
    problems.iter().map(ToString::to_string).collect()
}

/// What is known of it before it runs.
pub fn facts(id: &str, parameters: &Parameters) -> WorkloadFacts {
    configured(id, parameters).unwrap().facts()
}

/// What neighbours of a test disturb: the regime of a scenario is a share of time, sockperf's
/// conversation ends for good where a full buffer drops one datagram, and a gateway that loses its
/// CPU between the end of a stage and the begin of the next fails, as the stages no longer add up.
const DISTURBED: [&str; 3] = ["gateway", "scenario", "sockperf"];
/// So often that is tried.
const MOST_RUNS: u32 = 5;

/// A machine, a launch and the directory both live in.
pub struct TestMachine {
    pub machine: Machine,
    pub launch: LaunchSpec,
    directories: Vec<tempfile::TempDir>,
}

impl TestMachine {
    pub fn new() -> Self {
        // Beside the build, because /tmp may be a memory file system.
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let launch = LaunchSpec {
            seed: 7,
            scratch: directory.path().to_owned(),
            log: directory.path().join("log"),
            ..LaunchSpec::default()
        };
        let machine =
            Machine::host(directory.path()).with_search_path("/usr/local/bin:/usr/bin:/bin");
        Self { machine, launch, directories: vec![directory] }
    }

    /// Keeps a directory for as long as the place.
    pub fn keep(&mut self, directory: tempfile::TempDir) {
        self.directories.push(directory);
    }

    pub fn prepare(&self, id: &str, parameters: &Parameters) -> contract::Result<Box<dyn Load>> {
        assert_eq!(conflicts(id, parameters), Vec::<String>::new());
        for need in facts(id, parameters).requirements {
            need.met(&self.machine).unwrap();
        }
        configured(id, parameters).and_then(|one| one.prepare(&self.machine, &self.launch))
    }

    /// Runs once, verifies, and checks that every metric has its data and
    /// every datum its metric. What neighbours of this test disturb runs again ([`DISTURBED`]).
    pub fn run(&self, id: &str, parameters: &Parameters) -> Measurement {
        let most = if DISTURBED.contains(&id) { MOST_RUNS } else { 1 };
        let mut failures = Vec::new();
        for _ in 0..most {
            match self.run_once(id, parameters) {
                Ok(measurement) => return measurement,
                Err(why) => failures.push(why),
            }
        }
        panic!("{id} {parameters:?}: {failures:?}")
    }

    fn run_once(&self, id: &str, parameters: &Parameters) -> Result<Measurement, String> {
        let mut load = self.prepare(id, parameters).unwrap();
        let before = usage();
        let start_ns = sys::monotonic_ns();
        let measurement = load.run().map_err(|error| error.to_string())?;
        let wall_ns = sys::monotonic_ns() - start_ns;
        let after = usage();
        let report = RunReport {
            wall_ns,
            operations: measurement.operations,
            usage: Usage {
                user_ns: after.0 - before.0,
                voluntary_switches: after.1 - before.1,
                ..Usage::default()
            },
        };
        load.verify(&report)?;
        let declared: BTreeSet<String> = configured(id, parameters)
            .unwrap()
            .metrics()
            .into_iter()
            .map(|metric| metric.source)
            .collect();
        let given: BTreeSet<String> =
            measurement.samples.iter().map(|sample| sample.source.to_string()).collect();
        assert_eq!(declared, given, "{id}");
        Ok(measurement)
    }
}

/// CPU time and voluntary switches of this process and its reaped children.
pub fn usage() -> (u64, u64) {
    let mut sum = (0, 0);
    for who in [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN] {
        // SAFETY: all bytes zero are a valid rusage.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is a valid place for the answer.
        assert_eq!(unsafe { libc::getrusage(who, &raw mut usage) }, 0);
        let ns = |time: libc::timeval| (time.tv_sec * 1_000_000_000 + time.tv_usec * 1_000) as u64;
        sum.0 += ns(usage.ru_utime) + ns(usage.ru_stime);
        sum.1 += usage.ru_nvcsw as u64;
    }
    sum
}

pub fn data<'a>(measurement: &'a Measurement, source: &str) -> &'a SampleData {
    let sample = measurement.samples.iter().find(|sample| sample.source == source);
    &sample.unwrap_or_else(|| panic!("no {source}")).data
}

pub fn values<'a>(measurement: &'a Measurement, source: &str) -> &'a [f64] {
    let SampleData::Values(values) = data(measurement, source) else { panic!("{source}") };
    values
}

pub fn histogram_count(measurement: &Measurement, source: &str) -> u64 {
    let SampleData::Histogram(histogram) = data(measurement, source) else { panic!("{source}") };
    histogram.count()
}

pub fn quotient(measurement: &Measurement, source: &str) -> (f64, f64) {
    let SampleData::Quotient { numerator, denominator } = data(measurement, source) else {
        panic!("{source}")
    };
    (*numerator, *denominator)
}

pub fn proportion(measurement: &Measurement, source: &str) -> (u64, u64) {
    let SampleData::Proportion { successes, attempts } = data(measurement, source) else {
        panic!("{source}")
    };
    (*successes, *attempts)
}
