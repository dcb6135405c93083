//! Guests that panic, hang, run out of memory or lose their QEMU, knobs that the guest's
//! kernel does not take, and a full disk: each is recorded, and the campaign goes on.

use super::{Guests, has_guests, kill, of, wait_until};
use crate::bench::{Bench, errors};
use crate::fake_root;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What the test waits for on the console.
const CUE: &str = "the cue to kill QEMU";

/// A kernel that halts (reboot(2), LINUX_REBOOT_CMD_HALT) answers nothing any more, and unlike a
/// task that spins it takes no processor from other tests until it is given up. Beside other guests
/// an emulated processor takes more than a second to start a program, so the time limit is longer
/// than that.
const FAULTS: &str = r#"
files = ["/usr/bin/perl", "/bin/sleep", "/usr/bin/tail"]
[subjects.one]
[subjects.other]
nr_migrate = 8

[[workloads]]
label = "before"
use = "command"
run = ["/bin/sleep", "0.1"]

[[workloads]]
label = "panic"
use = "command"
subjects = ["one"]
run = ["/bin/sh", "-c", "echo c >/proc/sysrq-trigger"]

[[workloads]]
label = "hang"
use = "command"
subjects = ["one"]
time_limit = "8s"
run = ["/usr/bin/perl", "-e", "syscall(169, 0xfee1dead, 0x28121969, 0xcdef0123, 0)"]

[[workloads]]
label = "greedy"
use = "command"
run = ["/bin/sh", "-c", "tail /dev/zero"]

[[workloads]]
label = "exhausted"
use = "command"
subjects = ["one"]
run = ["/bin/sh", "-c", "echo 2 >/proc/sys/vm/panic_on_oom; tail /dev/zero"]

[[workloads]]
label = "killed"
use = "command"
subjects = ["one"]
run = ["/bin/sh", "-c", "echo the cue to kill QEMU >/dev/console; sleep 60"]

[[workloads]]
label = "after"
use = "command"
run = ["/bin/sleep", "0.1"]
"#;

#[test]
fn a_panic_a_hang_an_exhausted_memory_and_a_killed_qemu_are_failed_trials() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let file = guests.experiment("blocks = 1\nvcpus = 1\nkernel = \"debian:6.1\"", FAULTS);
    let mut command = guests.command(&["run", &file]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the cue", || guests.consoles().contains(CUE));
    let machines = guests.machines();
    let [machine] = machines[..] else { panic!("{machines:?}") };
    kill(machine, rustix::process::Signal::KILL);
    let output = child.wait_with_output().unwrap();
    let told = errors(&output);
    assert_eq!(output.status.code(), Some(6), "{told}");
    assert!(told.contains("no valid block for: one on panic"), "{told}");
    let records = guests.records();
    for (workload, signs) in [
        ("panic", &["the machine ended", "Kernel panic - not syncing: sysrq triggered crash"][..]),
        ("hang", &["did not answer"]),
        ("greedy", &["exit code 137", "Killed"]),
        ("exhausted", &["the machine ended", "Kernel panic - not syncing: Out of memory"]),
        ("killed", &["the machine ended", "signal: 9", CUE]),
    ] {
        let found = of(&records, "", workload);
        assert!(!found.is_empty(), "{workload}: {told}");
        for record in found {
            assert_eq!(record["outcome"]["kind"], "failed", "{record}");
            let reason = record["outcome"]["reason"].as_str().unwrap();
            for sign in signs {
                assert!(reason.contains(sign), "{workload}: {reason}");
            }
        }
    }
    for workload in ["before", "after"] {
        let found = of(&records, "", workload);
        assert_eq!(found.len(), 2, "{workload}");
        for record in found {
            assert_eq!(record["outcome"]["kind"], "completed", "{record}");
        }
    }
    // Whatever followed the loss of a guest ran in another.
    for pair in records.windows(2) {
        let lost = ["panic", "hang", "exhausted", "killed"];
        if lost.contains(&pair[0]["workload"].as_str().unwrap()) {
            assert_ne!(pair[0]["boot_id"], pair[1]["boot_id"], "{pair:?}");
        }
    }
    guests.assert_nothing_is_left("after faults");
}

/// Real files of the kernel that clamp and refuse what is written, in the place of two knobs:
/// `nr_requests` is at least 4 (block/blk-sysfs.c), the other at most 100
/// (kernel/events/core.c).
const BROKEN_KNOBS: &str = r#"
modules = ["null_blk gb=1"]
files = ["/bin/mount"]
[subjects.breaks]
[subjects.clamped]
nr_migrate = 1
[subjects.refused]
migration_cost = "100us"
[[workloads]]
label = "break"
use = "command"
subjects = ["breaks"]
run = ["/bin/sh", "-c", "mount --bind /sys/block/nullb0/queue/nr_requests /sys/kernel/debug/sched/nr_migrate && mount --bind /proc/sys/kernel/perf_cpu_time_max_percent /sys/kernel/debug/sched/migration_cost_ns"]
[[workloads]]
label = "short"
use = "pipe"
loops = 50
"#;

#[test]
fn a_knob_that_the_guest_clamps_or_refuses_is_told_as_on_the_host() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let file = guests.experiment("blocks = 1\nseed = 1\nkernel = \"debian:6.12\"", BROKEN_KNOBS);
    let (_, told) = guests.expect(6, &["run", &file]);
    let records = guests.records();
    let broken = of(&records, "breaks", "break");
    assert!(!broken.is_empty());
    for block in broken {
        // This seed runs it first in its boot: the others meet what it broke.
        assert_eq!(
            (&block["outcome"]["kind"], &block["position"]),
            (&"completed".into(), &0.into())
        );
    }
    let [clamped, refused] = ["clamped", "refused"].map(|subject| {
        let found = of(&records, subject, "short");
        assert!(!found.is_empty(), "{subject}");
        for record in &found {
            assert_eq!(record["outcome"]["rule"], "LEVEL_NOT_SET", "{record}");
        }
        found[0]["outcome"]["detail"].as_str().unwrap().to_owned()
    });
    assert!(refused.contains("cannot write") && refused.contains("Invalid argument"), "{refused}");
    assert!(told.contains("clamped") && told.contains(&clamped), "{told}");
    // On a machine of files that clamps, the record tells the same in the same words.
    let on_host = clamped_on_host();
    assert_eq!(on_host["rule"], "LEVEL_NOT_SET");
    assert_eq!(pattern(on_host["detail"].as_str().unwrap()), pattern(&clamped));
    guests.assert_nothing_is_left("after broken knobs");
}

/// The outcome of a trial on the venue `host` whose knob is clamped.
fn clamped_on_host() -> Value {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    let text = "title = \"clamped\"\nvenue = \"host\"\nblocks = 1\ncontrol = false\nsettle = \"0s\"\n\
                probes = []\n[subjects.plain]\n[subjects.clamped]\nbase_slice = \"900ms\"\n\
                [[workloads]]\nuse = \"pipe\"\nloops = 50\ninvocations = 1\n";
    bench.expect(6, &["run", &bench.experiment("clamped", text)]);
    let records: Vec<Value> =
        bench.record_lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    of(&records, "clamped", "")[0]["outcome"].clone()
}

/// A detail without what differs between two knobs: names, values and paths.
fn pattern(detail: &str) -> String {
    let is_own = |word: &&str| word.contains(['/', '_']) || word.contains(char::is_numeric);
    detail.split(' ').filter(|word| !is_own(word)).collect::<Vec<_>>().join(" ")
}

/// Room for what a campaign reserves for its next record, and little more.
const SIZE: &str = "size=12m";

/// A file system in memory, as long as this lives.
pub(super) struct Mounted<'p>(&'p Path);

impl<'p> Mounted<'p> {
    /// Of a size as tmpfs takes it; none without the right to mount.
    pub(super) fn at(path: &'p Path, size: &str) -> Option<Self> {
        std::fs::create_dir(path).unwrap();
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", size, "none"]).arg(path).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success()).then_some(Self(path))
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0).status();
    }
}

#[test]
fn a_disk_that_fills_up_ends_the_campaign_with_all_its_records_and_it_goes_on_later() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let results = guests.bench.results();
    let Some(_mounted) = Mounted::at(&results, SIZE) else {
        testing::skip("a small disk of one's own needs the right to mount");
        return;
    };
    // Records with histograms: some are longer than a page of the file system.
    let mut text = "[subjects.one]\n[subjects.other]\nnice = \"5\"\n".to_owned();
    for label in ["first", "second", "third"] {
        text += &format!(
            "[[workloads]]\nlabel = \"{label}\"\nuse = \"cyclic\"\nduration = \"200ms\"\n"
        );
    }
    let file = guests.experiment("blocks = 1\nvcpus = 1\nkernel = \"debian:6.1\"", &text);
    let mut command = guests.command(&["run", &file]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("a record", || guests.record_count() >= 1);
    // Whatever is free, and becomes free.
    let filler = results.join("filler");
    let mut filling = std::fs::File::create(&filler).unwrap();
    while child.try_wait().unwrap().is_none() {
        while std::io::Write::write_all(&mut filling, &[0; 4096]).is_ok() {}
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    let told = errors(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("No space left"), "{told}");
    assert_eq!(guests.machines(), Vec::<i32>::new());
    let kept = guests.record_count();
    assert!((1..6).contains(&kept), "{kept} records");
    drop(filling);
    std::fs::remove_file(filler).unwrap();
    let (_, told) = guests.expect(0, &["run", &file]);
    assert!(told.contains("going on with"), "{told}");
    for record in guests.records() {
        assert_eq!(record["outcome"]["kind"], "completed", "{record}");
    }
    guests.assert_nothing_is_left("after a full disk");
}
