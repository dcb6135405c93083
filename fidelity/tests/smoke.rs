//! Every workload that is held against a reference, and every reference, still answers.

#![allow(clippy::unwrap_used, reason = "a failing step of a test should panic")]

use std::path::Path;
use std::process::Command;

/// How it ends where it needs what this machine or its user lacks.
const CANNOT_RUN_HERE: i32 = 77;

#[test]
fn every_workload_and_every_reference_of_fidelity_answers() {
    let fidelity = Path::new(env!("CARGO_BIN_EXE_fidelity"));
    let binary = fidelity.with_file_name("schedlab");
    assert!(binary.is_file(), "cargo build --package schedlab makes {}", binary.display());
    let _machine = testing::share(testing::MACHINE);
    let output =
        Command::new(fidelity).arg("--smoke").arg("--binary").arg(binary).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(CANNOT_RUN_HERE) {
        return testing::skip(&told);
    }
    assert!(output.status.success(), "{text}\n{told}");
    for reference in ["hackbench", "perf", "cyclictest", "fio", "iperf3", "sockperf"] {
        assert!(text.contains(&format!(", {reference} ")), "{reference} is not in\n{text}");
    }
}
