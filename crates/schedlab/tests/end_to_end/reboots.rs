//! Campaigns that are spread over several boots, on a machine of files whose boot changes.

use crate::bench::{Bench, errors};
use crate::fake_root;
use serde_json::Value;
use std::collections::BTreeMap;

const SPREAD: &str = r#"
title = "Does a boot matter?"
venue = "host"
blocks = 5
boots = 5
control = false
settle = "0s"
probes = []
[subjects.plain]
[subjects.other]
base_slice = "3ms"
[[workloads]]
use = "pipe"
loops = 50
invocations = 1
"#;

#[test]
fn the_same_command_goes_on_after_each_boot_and_boots_are_replicates() {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    let file = bench.experiment("spread", SPREAD);
    let planned = bench.expect(0, &["plan", &file]);
    assert!(planned.contains("its blocks are spread over 5 boots"), "{planned}");
    let boot_id = root.path().join("proc/sys/kernel/random/boot_id");
    for boot in 1..5 {
        std::fs::write(&boot_id, format!("{boot:08}-2222-3333-4444-555555555555\n")).unwrap();
        for _again in 0..2 {
            let output = bench.run(&["run", &file]);
            assert_eq!(output.status.code(), Some(8), "{}", errors(&output));
            assert!(errors(&output).contains("Boot the machine"), "{}", errors(&output));
            assert_eq!(bench.record_lines().len(), 2 * boot, "nothing runs twice in a boot");
        }
    }
    let told = bench.expect(0, &["show", "last"]);
    assert!(told.contains("4 complete pairs so far"), "{told}");
    std::fs::write(&boot_id, "00000005-2222-3333-4444-555555555555\n").unwrap();
    bench.expect(0, &["run", &file]);
    let records: Vec<Value> =
        bench.record_lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut boots: BTreeMap<&str, u64> = BTreeMap::new();
    for record in &records {
        *boots.entry(record["boot_id"].as_str().unwrap()).or_default() += 1;
    }
    assert_eq!(boots.into_values().collect::<Vec<_>>(), [2; 5]);
    let findings: Value =
        serde_json::from_slice(&std::fs::read(bench.campaign().join("findings.json")).unwrap())
            .unwrap();
    let codes: Vec<&Value> =
        findings["caveats"].as_array().unwrap().iter().map(|caveat| &caveat["code"]).collect();
    assert!(!codes.contains(&&Value::from("SINGLE_BOOT")), "{codes:?}");
}

#[test]
fn boots_are_refused_where_no_trial_runs_on_the_machine_itself() {
    let bench = Bench::new();
    for (from, to, cause) in [
        ("venue = \"host\"", "venue = \"sim\"", "no trial runs on it here"),
        ("boots = 5", "boots = 6", "each boot runs a block at least"),
        ("blocks = 5", "duration = \"24h\"", "`boots` and `duration` exclude each other"),
    ] {
        let text = SPREAD.replace(from, to).replace("base_slice = \"3ms\"", "");
        let file = bench.experiment("refused", &text);
        let output = bench.run(&["plan", &file]);
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        assert!(errors(&output).contains(cause), "{}", errors(&output));
    }
}
