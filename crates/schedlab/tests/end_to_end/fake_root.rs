//! A machine of files that behaves as kernel 6.12 does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use sys::{FakeRule, FakeRules};

/// Every file a test may change, with its text.
pub const FILES: [(&str, &str); 13] = [
    ("/proc/sys/kernel/osrelease", "6.12.48-test"),
    ("/proc/sys/kernel/version", "#1 SMP"),
    ("/proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555"),
    ("/proc/sys/kernel/sched_autogroup_enabled", "1"),
    ("/sys/devices/system/cpu/online", "0-1"),
    ("/sys/devices/system/cpu/present", "0-1"),
    ("/sys/devices/system/cpu/cpu1/online", "1"),
    ("/sys/kernel/debug/sched/base_slice_ns", "2800000"),
    ("/sys/kernel/debug/sched/migration_cost_ns", "500000"),
    ("/sys/kernel/debug/sched/nr_migrate", "32"),
    ("/sys/kernel/debug/sched/features", "PLACE_LAG RUN_TO_PARITY NO_HRTICK"),
    ("/sys/kernel/debug/sched/preempt", "none (voluntary) full"),
    ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"),
];

/// Makes the machine. `kill_at_step` kills whatever process of ours takes that
/// many journal and knob steps.
pub fn make(root: &Path, kill_at_step: Option<u64>) {
    for (path, text) in FILES {
        let path = root.join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }
    set_rules(root, kill_at_step);
}

/// Writes the kernel's rules.
pub fn set_rules(root: &Path, kill_at_step: Option<u64>) {
    let choices = |words: &[&str]| FakeRule::Choice {
        choices: words.iter().map(|word| (*word).to_owned()).collect(),
    };
    let files = BTreeMap::from([
        (
            "/sys/kernel/debug/sched/base_slice_ns".to_owned(),
            FakeRule::Clamp { low: 100_000, high: 1_000_000_000 },
        ),
        ("/sys/kernel/debug/sched/features".to_owned(), FakeRule::Flags),
        (
            "/sys/kernel/mm/transparent_hugepage/enabled".to_owned(),
            choices(&["always", "madvise", "never"]),
        ),
        ("/sys/kernel/debug/sched/preempt".to_owned(), choices(&["none", "voluntary", "full"])),
    ]);
    let rules = FakeRules { files, kill_at_step };
    fs::write(root.join(FakeRules::FILE), serde_json::to_string(&rules).unwrap()).unwrap();
}

/// The text of every file.
pub fn contents(root: &Path) -> BTreeMap<&'static str, String> {
    let read = |path: &str| {
        fs::read_to_string(root.join(path.trim_start_matches('/'))).unwrap().trim().to_owned()
    };
    FILES.iter().map(|(path, _)| (*path, read(path))).collect()
}
