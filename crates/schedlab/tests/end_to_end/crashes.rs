//! SIGKILL at every journal and knob step: nothing is left behind.

use crate::bench::Bench;
use crate::fake_root;
use std::os::unix::process::ExitStatusExt;

/// Sets seven knobs of every form for one subject and none for the other.
const EXPERIMENT: &str = r#"
title   = "Every knob"
venue   = "host"
blocks  = 1
control = false
settle  = "0s"
seed    = 7
probes  = []

[subjects.tuned]
base_slice     = "1ms"
migration_cost = "100us"
nr_migrate     = "64"
sched_features = "NO_RUN_TO_PARITY"
preempt        = "full"
thp            = "never"
autogroup      = "off"
[subjects.baseline]

[[workloads]]
use = "pipe"
loops = 50
invocations = 1
"#;

/// Kills happen in the first half of a run; more steps than it has end the loop.
const MOST_STEPS: u64 = 400;

#[test]
fn a_kill_at_any_step_leaves_every_knob_as_it_was() {
    let _exclusive = crate::bench::exclusive();
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path(), None);
    let before = fake_root::contents(root.path());
    let mut kills = 0;
    for step in 1..=MOST_STEPS {
        fake_root::set_rules(root.path(), Some(step));
        let bench = Bench::new().on_fake_root(root.path());
        let file = bench.experiment("knobs", EXPERIMENT);
        let output = bench.run(&["run", &file]);
        fake_root::set_rules(root.path(), None);
        if output.status.signal().is_none() {
            assert_eq!(output.status.code(), Some(0), "{}", crate::bench::errors(&output));
            break;
        }
        kills += 1;
        // The guardian restores at once unless it was killed too; a later start does the rest.
        bench.expect(0, &["restore"]);
        bench.expect(0, &["restore", "--check"]);
        assert_eq!(fake_root::contents(root.path()), before, "after a kill at step {step}");
        // The campaign goes on and completes.
        if step % 16 == 0 {
            bench.expect(0, &["run", &file]);
            assert_eq!(bench.record_lines().len(), 2, "step {step}");
            assert_eq!(fake_root::contents(root.path()), before);
        }
    }
    assert!(kills > 40, "only {kills} steps were killed");
    assert!(kills < MOST_STEPS, "the run never completed");
}

#[test]
fn the_fifteen_values_of_the_eevdf_study_are_applied_verified_and_restored() {
    let _exclusive = crate::bench::exclusive();
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path(), None);
    let before = fake_root::contents(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites/eevdf-configs.toml");
    let text = std::fs::read_to_string(suite).unwrap();
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
    let _exclusive = crate::bench::exclusive();
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path(), None);
    let before = fake_root::contents(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    let text = EXPERIMENT.replace("base_slice     = \"1ms\"", "base_slice = \"2s\"");
    let file = bench.experiment("clamped", &text);
    let output = bench.run(&["run", &file, "--set", "blocks=3"]);
    let told = crate::bench::errors(&output);
    assert!(matches!(output.status.code(), Some(2 | 6)), "{told}");
    assert_eq!(fake_root::contents(root.path()), before);
}

#[test]
fn somebody_elses_change_is_left_alone_and_the_run_ends_with_7() {
    let _exclusive = crate::bench::exclusive();
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path(), None);
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
