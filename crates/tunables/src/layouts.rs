//! Machines of files in the layouts of real kernels, for the tests of this crate.

use contract::{Factor, Knob, SystemKnob};
use model::{Level, StorageKind, StorageTarget};
use std::collections::BTreeMap;
use sys::{FakeRule, FakeRules, Machine};

const DEBUG: &str = "/sys/kernel/debug/sched";
const SYSCTL: &str = "/proc/sys/kernel/sched";

/// A machine of files; they vanish with it.
pub(crate) struct FakeMachine {
    machine: Machine,
    _directory: tempfile::TempDir,
}

impl std::ops::Deref for FakeMachine {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

pub(crate) struct Layout {
    target: Option<StorageTarget>,
    directory: tempfile::TempDir,
    rules: BTreeMap<String, FakeRule>,
}

impl Layout {
    /// An empty machine of this release.
    pub(crate) fn new(release: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let layout = Self { target: None, directory, rules: BTreeMap::new() };
        layout.file("/proc/sys/kernel/osrelease", release)
    }

    /// The scheduler settings of a Debian kernel with two CPUs, as dumped from one.
    pub(crate) fn kernel(series: &str) -> Self {
        let layout = Self::new(&format!("{series}.0-cloud-amd64"))
            .file("/sys/devices/system/cpu/online", "0-1")
            .file("/sys/devices/system/cpu/present", "0-1")
            .file("/sys/devices/system/cpu/cpu1/online", "1")
            .file("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")
            .choices("/sys/kernel/mm/transparent_hugepage/enabled", &["always", "madvise", "never"])
            .file(&format!("{SYSCTL}_autogroup_enabled"), "1");
        match series {
            "5.10" => layout
                .file(&format!("{SYSCTL}_latency_ns"), "12000000")
                .file(&format!("{SYSCTL}_min_granularity_ns"), "1500000")
                .file(&format!("{SYSCTL}_wakeup_granularity_ns"), "2000000")
                .file(&format!("{SYSCTL}_migration_cost_ns"), "500000")
                .file(&format!("{SYSCTL}_nr_migrate"), "32")
                .flags(
                    "/sys/kernel/debug/sched_features",
                    "GENTLE_FAIR_SLEEPERS NO_NEXT_BUDDY WAKEUP_PREEMPTION",
                ),
            "6.1" => layout
                .file(&format!("{DEBUG}/latency_ns"), "12000000")
                .file(&format!("{DEBUG}/min_granularity_ns"), "1500000")
                .file(&format!("{DEBUG}/wakeup_granularity_ns"), "2000000")
                .debugfs("none [voluntary] full", &["none", "voluntary", "full"])
                .flags(
                    &format!("{DEBUG}/features"),
                    "GENTLE_FAIR_SLEEPERS NO_NEXT_BUDDY WAKEUP_PREEMPTION",
                ),
            "6.6" | "6.12" => {
                layout.debugfs("none (voluntary) full", &["none", "voluntary", "full"]).eevdf()
            }
            _ => layout
                .debugfs("none voluntary full (lazy)", &["none", "voluntary", "full", "lazy"])
                .eevdf(),
        }
    }

    fn eevdf(self) -> Self {
        self.file(&format!("{DEBUG}/base_slice_ns"), "1400000").flags(
            &format!("{DEBUG}/features"),
            "PLACE_LAG RUN_TO_PARITY NO_NEXT_BUDDY WAKEUP_PREEMPTION",
        )
    }

    fn debugfs(self, preempt: &str, choices: &[&str]) -> Self {
        self.file(&format!("{DEBUG}/migration_cost_ns"), "500000")
            .file(&format!("{DEBUG}/nr_migrate"), "32")
            .file(&format!("{DEBUG}/preempt"), preempt)
            .choices(&format!("{DEBUG}/preempt"), choices)
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        let file = self.directory.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, format!("{text}\n")).unwrap();
        self
    }

    pub(crate) fn without(self, path: &str) -> Self {
        std::fs::remove_file(self.directory.path().join(path.trim_start_matches('/'))).unwrap();
        self
    }

    fn flags(self, path: &str, text: &str) -> Self {
        self.file(path, text).rule(path, FakeRule::Flags)
    }

    /// Where files and devices of workloads lie.
    pub(crate) fn target(mut self, target: StorageTarget) -> Self {
        self.target = Some(target);
        self
    }

    /// A directory on a disk, for them.
    pub(crate) fn on_disk(self, device: &str) -> Self {
        self.target(StorageTarget {
            kind: StorageKind::Directory,
            path: "/data".to_owned(),
            device: Some(device.to_owned()),
            size_bytes: 0,
            is_made: false,
            cached_by: None,
            identity: None,
        })
    }

    pub(crate) fn choices(self, path: &str, choices: &[&str]) -> Self {
        let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        self.rule(path, FakeRule::Choice { choices })
    }

    pub(crate) fn rule(mut self, path: &str, rule: FakeRule) -> Self {
        self.rules.insert(path.to_owned(), rule);
        self
    }

    pub(crate) fn machine(self) -> FakeMachine {
        let rules = FakeRules { files: self.rules, ..FakeRules::default() };
        let root = self.directory.path().to_owned();
        std::fs::create_dir_all(root.join("proc")).unwrap();
        std::fs::write(root.join(FakeRules::FILE), serde_json::to_string(&rules).unwrap()).unwrap();
        let machine = Machine::fake(&root, root.join("run")).unwrap();
        let machine = match self.target {
            Some(target) => machine.with_target(target),
            None => machine,
        };
        FakeMachine { machine, _directory: self.directory }
    }
}

pub(crate) fn system(factor: &dyn Factor) -> &dyn SystemKnob {
    match factor.knob() {
        Knob::System(knob) => knob,
        _ => panic!("{} is not a knob of the machine", factor.describe().id),
    }
}

/// Sets a level as the executor does and returns the files written.
pub(crate) fn set(factor: &dyn Factor, machine: &Machine, text: &str) -> Vec<String> {
    let level = factor.parse(text).unwrap();
    let settings = system(factor).settings(machine, &level).unwrap();
    for setting in &settings {
        setting.file.write(machine, &setting.value).unwrap();
    }
    settings.into_iter().map(|setting| setting.file.path).collect()
}

/// Sets a level, reads it back, restores what was there and reads that back.
pub(crate) fn round_trip(factor: &dyn Factor, machine: &Machine, text: &str) {
    let wanted: Level = factor.parse(text).unwrap();
    for need in factor.requires(&wanted) {
        assert_eq!(need.met(machine), Ok(()), "{text}");
    }
    let knob = system(factor);
    let before = knob.current(machine).unwrap();
    let settings = knob.settings(machine, &wanted).unwrap();
    let is_declared =
        |path: &str| knob.writes().iter().any(|pattern| contract::is_file_of(pattern, path));
    assert!(settings.iter().all(|setting| is_declared(&setting.file.path)), "{settings:?}");
    let old: Vec<_> = settings.iter().map(|setting| setting.file.read(machine).unwrap()).collect();
    let not_undone: Vec<_> =
        old.iter().filter_map(|value| factor.undo_check().refusal(value)).collect();
    assert!(not_undone.is_empty(), "{text}: {not_undone:?}");
    set(factor, machine, text);
    assert_eq!(knob.read_back(machine, &wanted).unwrap(), wanted);
    for (setting, old) in settings.iter().zip(&old) {
        setting.file.write(machine, old).unwrap();
    }
    assert_eq!(knob.current(machine).unwrap(), before, "restored after {text}");
}

/// The first unmet need's reason and remedy.
pub(crate) fn missing(
    factor: &dyn Factor,
    machine: &Machine,
    text: &str,
) -> Option<(String, String)> {
    let level = factor.parse(text).unwrap();
    factor
        .requires(&level)
        .iter()
        .find_map(|need| need.met(machine).err())
        .map(|missing| (missing.why, missing.remedy))
}

/// Launches a thread with a level on the real kernel and reads it back from
/// another one; says so and returns where the machine does not allow it.
pub(crate) fn launch_round_trip(factor: &dyn Factor, text: &str) {
    let Knob::Launch(knob) = factor.knob() else { panic!("not a knob of a process") };
    let machine = Machine::host("/nonexistent");
    let level = factor.parse(text).unwrap();
    if let Some(missing) = factor.requires(&level).iter().find_map(|need| need.met(&machine).err())
    {
        testing::unsupported(&format!("{text}: {missing}"));
        return;
    }
    let mut launch = contract::LaunchSpec::default();
    knob.contribute(&machine, &level, &mut launch).unwrap();
    let (say_id, hear_id) = std::sync::mpsc::channel();
    let (say_end, hear_end) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        launch.apply().unwrap();
        launch.enter_task().unwrap();
        // SAFETY: gettid takes no argument and cannot fail.
        let id = unsafe { libc::syscall(libc::SYS_gettid) };
        say_id.send(i32::try_from(id).unwrap()).unwrap();
        let _ = hear_end.recv();
    });
    let id = hear_id.recv().expect("the level could not be applied");
    let read = knob.read_back(&machine, &[id], &level);
    let other = knob.read_back(&machine, &[id], &Level::canonical("something else"));
    drop(say_end);
    thread.join().unwrap();
    assert_eq!(read.unwrap(), level);
    assert_eq!(other.unwrap(), level, "the reading must not repeat what was wanted");
    // Joining returns a moment before the kernel forgets the thread.
    let is_forgotten = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        knob.read_back(&machine, &[id], &level).is_err()
    });
    assert!(is_forgotten, "a thread that is gone was read");
}
