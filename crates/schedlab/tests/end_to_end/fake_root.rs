//! A machine of files that behaves as kernel 6.12 does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use sys::{FakeRule, FakeRules};

/// Every file a test may change, with its text.
pub const FILES: [(&str, &str); 14] = [
    ("/proc/sys/kernel/osrelease", "6.12.48-test"),
    ("/proc/sys/kernel/version", "#1 SMP"),
    ("/proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555"),
    ("/proc/sys/kernel/sched_autogroup_enabled", "1"),
    ("/sys/devices/system/cpu/online", "0-1"),
    ("/sys/devices/system/cpu/present", "0-1"),
    (CPU1, "1"),
    (BASE_SLICE, "2000000"),
    ("/sys/kernel/debug/sched/migration_cost_ns", "500000"),
    ("/sys/kernel/debug/sched/nr_migrate", "32"),
    ("/sys/kernel/debug/sched/features", "PLACE_LAG RUN_TO_PARITY NO_HRTICK"),
    ("/sys/kernel/debug/sched/preempt", "none (voluntary) full"),
    ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"),
    (REFUSED, "on"),
];

const CPU1: &str = "/sys/devices/system/cpu/cpu1/online";
const BASE_SLICE: &str = "/sys/kernel/debug/sched/base_slice_ns";
/// The knob that this kernel refuses to open.
pub const REFUSED: &str = "/sys/devices/system/cpu/smt/control";
/// The longest base slice this kernel keeps.
pub const LONGEST_SLICE_NS: u64 = 500_000_000;

/// What happens at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Nothing.
    None,
    /// The first process that takes that many steps is killed.
    FirstDies(u64),
    /// Every process that takes that many steps is killed, the guardian too.
    EachDies(u64),
    /// The journal of every process that takes that many steps finds no space left.
    JournalFull(u64),
}

/// Makes the machine.
pub fn make(root: &Path) {
    for (path, text) in FILES {
        let path = root.join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }
    set_rules(root, Fate::None);
}

/// Writes the kernel's rules, for processes that start from now on.
pub fn set_rules(root: &Path, fate: Fate) {
    let choices = |words: &[&str]| FakeRule::Choice {
        choices: words.iter().map(|word| (*word).to_owned()).collect(),
    };
    let by_value = |texts: [(&str, &str); 2]| -> BTreeMap<String, String> {
        texts.into_iter().map(|(value, text)| (value.to_owned(), text.to_owned())).collect()
    };
    let files = BTreeMap::from([
        (BASE_SLICE.to_owned(), FakeRule::Clamp { low: 100_000, high: LONGEST_SLICE_NS }),
        ("/sys/kernel/debug/sched/features".to_owned(), FakeRule::Flags),
        (
            "/sys/kernel/mm/transparent_hugepage/enabled".to_owned(),
            choices(&["always", "madvise", "never"]),
        ),
        ("/sys/kernel/debug/sched/preempt".to_owned(), choices(&["none", "voluntary", "full"])),
        // Coming back, the slice is the kernel's default and not what it was.
        (
            CPU1.to_owned(),
            FakeRule::Rescale {
                others: BTreeMap::from([
                    (
                        "/sys/devices/system/cpu/online".to_owned(),
                        by_value([("0", "0"), ("1", "0-1")]),
                    ),
                    (BASE_SLICE.to_owned(), by_value([("0", "700000"), ("1", "1400000")])),
                ]),
            },
        ),
        (REFUSED.to_owned(), FakeRule::Refuse),
    ]);
    let rules = FakeRules { files, ..FakeRules::default() };
    let rules = match fate {
        Fate::None => rules,
        Fate::FirstDies(step) => FakeRules { kill_at_step: Some(step), is_one_kill: true, ..rules },
        Fate::EachDies(step) => FakeRules { kill_at_step: Some(step), ..rules },
        Fate::JournalFull(step) => FakeRules { full_from_step: Some(step), ..rules },
    };
    fs::write(root.join(FakeRules::FILE), serde_json::to_string(&rules).unwrap()).unwrap();
    // A process that died last time no longer counts.
    let _ = fs::remove_file(root.join(FakeRules::KILLED));
}

/// The text of every file.
pub fn contents(root: &Path) -> BTreeMap<&'static str, String> {
    let read = |path: &str| {
        fs::read_to_string(root.join(path.trim_start_matches('/'))).unwrap().trim().to_owned()
    };
    FILES.iter().map(|(path, _)| (*path, read(path))).collect()
}
