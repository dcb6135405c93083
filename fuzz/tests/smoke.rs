//! Every corpus is read, and mutated for some seconds. A longer run: `cargo xtask fuzz`.

#![allow(clippy::unwrap_used, reason = "a failing step of a test should panic")]

use std::process::Command;

/// Of wall-clock time, shared by all targets.
const SECONDS: &str = "10";

#[test]
fn no_corpus_and_no_mutation_of_it_breaks_a_parser() {
    let mut fuzz = Command::new(env!("CARGO_BIN_EXE_fuzz"));
    let output = fuzz.args(["--seconds", SECONDS, "--seed", "1"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{told}");
}
