//! SIGKILL at every journal and knob step: nothing is left behind.
//!
//! Each step is tried once in `make test`: of three that follow each other, one is killed and the
//! guardian restores, one is killed with the guardian, and at one the journal has no more space. A
//! night does all three at every step.

use crate::bench::{Bench, wait_until};
use crate::fake_root::{self, Fate};
use rustix::process::{Resource, Rlimit, prlimit, setrlimit};
use std::collections::BTreeMap;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Sets eight knobs of every form for one subject, one that the kernel clamps for
/// another, and none for the reference.
const EXPERIMENT: &str = r#"
title   = "Every knob"
venue   = "host"
blocks  = 1
control = false
settle  = "0s"
seed    = 7
probes  = []

[subjects.baseline]
[subjects.tuned]
base_slice     = "1ms"
migration_cost = "100us"
nr_migrate     = "64"
sched_features = "NO_RUN_TO_PARITY"
preempt        = "full"
thp            = "never"
autogroup      = "off"
online_cpus    = "0"
[subjects.clamped]
base_slice     = "900ms"
thp            = "always"

[[workloads]]
use = "pipe"
loops = 50
invocations = 1
"#;

/// More steps than a run has.
const MOST_STEPS: u64 = 600;

#[test]
fn after_a_kill_at_any_step_the_guardian_alone_puts_every_knob_back() {
    guardian_alone((1..=MOST_STEPS).step_by(3));
}

#[test]
fn after_a_kill_of_the_guardian_too_the_next_start_puts_every_knob_back() {
    next_start((2..=MOST_STEPS).step_by(3));
}

#[test]
fn a_journal_without_space_leaves_nothing_changed_and_the_run_says_so() {
    without_space((3..=MOST_STEPS).step_by(3));
}

mod whole {
    use super::{MOST_STEPS, guardian_alone, next_start, without_space};

    #[test]
    fn the_guardian_alone_puts_every_knob_back_after_the_other_kills() {
        guardian_alone((1..=MOST_STEPS).filter(|step| step % 3 != 1));
    }

    #[test]
    fn the_next_start_puts_every_knob_back_after_the_other_kills() {
        next_start((1..=MOST_STEPS).filter(|step| step % 3 != 2));
    }

    #[test]
    fn a_journal_without_space_leaves_nothing_changed_at_the_other_steps() {
        without_space((1..=MOST_STEPS).filter(|step| step % 3 != 0));
    }
}

fn guardian_alone(steps: impl Iterator<Item = u64>) {
    let kills = kill_at(steps, Fate::FirstDies, |bench, root, before, step| {
        assert_eq!(&fake_root::contents(root), before, "after a kill at step {step}");
        bench.expect(0, &["restore", "--check"]);
    });
    assert!(kills > 30, "only {kills} steps were killed");
}

fn next_start(steps: impl Iterator<Item = u64>) {
    let kills = kill_at(steps, Fate::EachDies, |bench, root, before, step| {
        bench.expect(0, &["restore"]);
        bench.expect(0, &["restore", "--check"]);
        assert_eq!(&fake_root::contents(root), before, "after kills at step {step}");
    });
    assert!(kills > 30, "only {kills} steps were killed");
}

/// Kills a run at each of these steps in turn until one completes; returns how often.
fn kill_at(
    steps: impl Iterator<Item = u64>,
    fate: fn(u64) -> Fate,
    check: impl Fn(&Bench, &Path, &BTreeMap<&'static str, String>, u64),
) -> usize {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let before = fake_root::contents(root.path());
    for (kills, step) in steps.enumerate() {
        fake_root::set_rules(root.path(), fate(step));
        let bench = Bench::new().on_fake_root(root.path());
        let file = bench.experiment("knobs", EXPERIMENT);
        let output = bench.run(&["run", &file]);
        // The guardian reads the rules when it starts, which may be after the kill.
        bench.wait_for_guardian();
        fake_root::set_rules(root.path(), Fate::None);
        if output.status.signal().is_none() {
            assert_eq!(output.status.code(), Some(6), "{}", crate::bench::errors(&output));
            assert_eq!(fake_root::contents(root.path()), before);
            return kills;
        }
        check(&bench, root.path(), &before, step);
        // The campaign goes on and completes; only the clamped subject has no valid trial.
        if kills % 8 == 7 {
            bench.expect(6, &["run", &file]);
            let kept = bench.record_lines();
            let completed =
                kept.iter().filter(|line| line.contains("\"kind\":\"completed\"")).count();
            assert!(completed >= 2, "step {step}: {kept:?}");
            assert_eq!(fake_root::contents(root.path()), before);
        }
    }
    panic!("the run never completed");
}

/// Runs with a journal that is full from each of these steps on, until one completes.
fn without_space(steps: impl Iterator<Item = u64>) {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let before = fake_root::contents(root.path());
    let mut refused = 0;
    for step in steps {
        fake_root::set_rules(root.path(), Fate::JournalFull(step));
        let bench = Bench::new().on_fake_root(root.path());
        let file = bench.experiment("knobs", EXPERIMENT);
        let output = bench.run(&["run", &file]);
        bench.wait_for_guardian();
        assert_eq!(fake_root::contents(root.path()), before, "no space from step {step} on");
        fake_root::set_rules(root.path(), Fate::None);
        if output.status.code() == Some(6) {
            break;
        }
        refused += 1;
        let told = crate::bench::errors(&output);
        assert_eq!(output.status.code(), Some(1), "step {step}: {told}");
        assert!(told.contains("No space left"), "step {step}: {told}");
        bench.expect(0, &["restore"]);
        bench.expect(0, &["restore", "--check"]);
    }
    assert!((20..MOST_STEPS / 2).contains(&refused), "{refused} steps without space");
}

/// Starts a run of ten minutes and returns when it has taken a CPU offline.
fn start_without_a_cpu(bench: &Bench, root: &Path) -> Child {
    start_prepared(bench, root, |_| {})
}

/// The same of a command that is prepared so.
fn start_prepared(bench: &Bench, root: &Path, prepare: impl FnOnce(&mut Command)) -> Child {
    let slow = "title = \"slow\"\nvenue = \"host\"\nblocks = 1\ncontrol = false\nsettle = \"0s\"\nprobes = []\n\
                online_cpus = \"0\"\n[subjects.a]\n[subjects.b]\nthp = \"never\"\n\
                [[workloads]]\nuse = \"command\"\nrun = [\"/bin/sleep\", \"600\"]\ninvocations = 1\n";
    let file = bench.experiment("slow", slow);
    let mut command = bench.command(&["run", &file]);
    prepare(&mut command);
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    wait_until("a CPU goes offline", || {
        fake_root::contents(root)["/sys/devices/system/cpu/online"] == "0"
    });
    child
}

#[test]
fn a_journal_that_is_deleted_before_a_kill_is_put_back_by_the_guardian_and_told_once() {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let before = fake_root::contents(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    let mut child = start_without_a_cpu(&bench, root.path());
    // From here on nothing is announced until the workload ends.
    let events = bench.campaign().join("logs/events.jsonl");
    wait_until("the workload runs", || {
        let text = std::fs::read_to_string(&events).unwrap_or_default();
        text.contains("{\"running\":{\"invocation\"")
    });
    std::fs::remove_file(bench.path().join("run/journal.jsonl")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    bench.wait_for_guardian();
    assert_eq!(fake_root::contents(root.path()), before);
    bench.expect(7, &["restore", "--check"]);
    let told = bench.expect(7, &["restore"]);
    assert!(told.contains("deleted, replaced or damaged"), "{told}");
    bench.expect(0, &["restore", "--check"]);
}

#[test]
fn a_limit_on_the_size_of_files_ends_no_guardian() {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let before = fake_root::contents(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    let mut child = start_without_a_cpu(&bench, root.path());
    // The journal is as long as a file may be: what restoring writes down there brings the signal.
    let length = std::fs::metadata(bench.path().join("run/journal.jsonl")).unwrap().len();
    let limit = Rlimit { current: Some(length), maximum: Some(length) };
    prlimit(Some(bench.guardian().unwrap()), Resource::Fsize, limit).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    bench.wait_for_guardian();
    assert_eq!(fake_root::contents(root.path()), before);
    bench.expect(0, &["restore"]);
    bench.expect(0, &["restore", "--check"]);
    assert_eq!(fake_root::contents(root.path()), before);
}

#[test]
fn a_limit_on_processor_time_ends_no_guardian_before_it_has_to() {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let before = fake_root::contents(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    let limit = Rlimit { current: Some(1_000), maximum: Some(2_000) };
    let mut child = start_prepared(&bench, root.path(), |command| {
        // SAFETY: setrlimit(2) is async-signal-safe, and allocates nothing.
        unsafe { command.pre_exec(move || Ok(setrlimit(Resource::Cpu, limit)?)) };
    });
    let path = format!("/proc/{}/limits", bench.guardian().unwrap().as_raw_nonzero());
    // Raised to the other limit, or lifted with it.
    wait_until("the guardian raises its limit", || {
        let limits = std::fs::read_to_string(&path).unwrap();
        let line = limits.lines().find_map(|line| line.strip_prefix("Max cpu time")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        words[0] == words[1]
    });
    child.kill().unwrap();
    child.wait().unwrap();
    bench.wait_for_guardian();
    assert_eq!(fake_root::contents(root.path()), before);
}

#[test]
fn a_start_puts_leftovers_back_before_it_judges_what_is_missing() {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let before = fake_root::contents(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    let mut child = start_without_a_cpu(&bench, root.path());
    // The guardian first: nobody is left to restore anything.
    bench.kill_guardian();
    child.kill().unwrap();
    child.wait().unwrap();
    bench.wait_for_guardian();
    assert_ne!(fake_root::contents(root.path()), before);
    let needs_both = "title = \"both\"\nvenue = \"host\"\nblocks = 1\ncontrol = false\nsettle = \"0s\"\nprobes = []\n\
                      [subjects.a]\n[subjects.b]\naffinity = \"1\"\n[[workloads]]\nuse = \"pipe\"\nloops = 50\ninvocations = 1\n";
    let file = bench.experiment("both", needs_both);
    let shown = bench.expect(0, &["plan", &file]);
    assert!(shown.contains("first puts back"), "{shown}");
    let output = bench.run(&["run", &file]);
    assert_eq!(output.status.code(), Some(0), "{}", crate::bench::errors(&output));
    assert!(crate::bench::errors(&output).contains("put back what an earlier run left"));
    assert_eq!(fake_root::contents(root.path()), before);
}

#[test]
fn a_knob_that_is_refused_at_open_is_unsupported_and_nothing_is_changed() {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let before = fake_root::contents(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    let text = EXPERIMENT.replace("online_cpus    = \"0\"", "smt = \"off\"");
    let output = bench.run(&["run", &bench.experiment("refused", &text)]);
    assert_eq!(output.status.code(), Some(4), "{}", crate::bench::errors(&output));
    assert!(crate::bench::errors(&output).contains(fake_root::REFUSED));
    assert_eq!(fake_root::contents(root.path()), before);
}

#[test]
fn the_fifteen_values_of_the_eevdf_study_are_applied_verified_and_restored() {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let before = fake_root::contents(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    let text = crate::bench::eevdf_suite_on_the_host();
    let end = text.find("[[workloads]]").unwrap();
    let short = "[[workloads]]\nuse = \"pipe\"\nloops = 50\ninvocations = 1\n";
    let file = bench.experiment("eevdf", &format!("{}{short}", &text[..end]));
    bench.expect(
        0,
        &["run", &file, "--set", "blocks=1", "--set", "settle=0s", "--set", "probes=[]"],
    );
    assert_eq!(fake_root::contents(root.path()), before);
    let expected = [
        ("baseline", ["2.25ms", "500us", "32"]),
        ("low-latency", ["750us", "100us", "64"]),
        ("high-throughput", ["6ms", "2ms", "8"]),
        ("balanced", ["1.5ms", "750us", "24"]),
        ("minimal-migration", ["2.25ms", "5ms", "4"]),
    ];
    let records: Vec<serde_json::Value> =
        bench.record_lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (subject, levels) in expected {
        let record = records.iter().find(|record| record["subject"] == subject).unwrap();
        for (factor, level) in ["base_slice", "migration_cost", "nr_migrate"].iter().zip(levels) {
            for moment in ["before", "after"] {
                assert_eq!(record["levels"][factor][moment], level, "{subject} {factor} {moment}");
            }
        }
    }
}

#[test]
fn a_level_the_kernel_clamps_makes_its_subject_invalid_and_the_run_6() {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let before = fake_root::contents(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    let file = bench.experiment("clamped", EXPERIMENT);
    let output = bench.run(&["run", &file, "--set", "blocks=3"]);
    let told = crate::bench::errors(&output);
    assert_eq!(output.status.code(), Some(6), "{told}");
    assert!(told.contains("no valid block for: clamped"), "{told}");
    assert!(told.contains(&fake_root::LONGEST_SLICE_NS.to_string()), "{told}");
    let records = bench.record_lines();
    let of = |subject: &str, kind: &str| {
        let (subject, kind) =
            (format!("\"subject\":\"{subject}\""), format!("\"kind\":\"{kind}\""));
        records.iter().filter(|line| line.contains(&subject) && line.contains(&kind)).count()
    };
    // One refusal may be chance, so its block runs again; after two it is given up.
    assert_eq!([of("clamped", "invalid"), of("clamped", "completed")], [2, 0]);
    assert_eq!([of("baseline", "completed"), of("tuned", "completed")], [4, 4]);
    assert_eq!(fake_root::contents(root.path()), before);
}

#[test]
fn somebody_elses_change_is_left_alone_and_the_run_ends_with_7() {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    let knob = root.path().join("sys/kernel/debug/sched/nr_migrate");
    let text = format!(
        "title = \"intruder\"\nvenue = \"host\"\nblocks = 1\ncontrol = false\nprobes = []\nsettle = \"0s\"\n\
         [subjects.tuned]\nnr_migrate = \"64\"\n[subjects.baseline]\n\
         [[workloads]]\nuse = \"command\"\nrun = [\"/bin/sh\", \"-c\", \"if grep -q 64 {0}; then echo 48 > {0}; fi\"]\ninvocations = 1\n",
        knob.display()
    );
    let file = bench.experiment("intruder", &text);
    let output = bench.run(&["run", &file]);
    assert_eq!(output.status.code(), Some(7), "{}", crate::bench::errors(&output));
    assert_eq!(std::fs::read_to_string(knob).unwrap().trim(), "48");
    assert!(crate::bench::errors(&output).contains("nr_migrate"));
}
