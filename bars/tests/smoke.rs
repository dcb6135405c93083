//! Every measure of the quality bars runs to its end, beside other tests, on whatever build.

#![allow(clippy::unwrap_used, reason = "a failing step of a test should panic")]

use std::path::Path;
use std::process::Command;

#[test]
fn every_measure_of_the_bars_runs_to_its_end() {
    let bars = Path::new(env!("CARGO_BIN_EXE_bars"));
    let binary = bars.with_file_name("schedlab");
    assert!(binary.is_file(), "cargo build --package schedlab makes {}", binary.display());
    let _machine = testing::share(testing::MACHINE);
    let output = Command::new(bars).arg("--smoke").arg("--binary").arg(binary).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{told}");
    assert!(text.lines().count() > 10 && text.lines().all(|line| line.ends_with("not measured")));
}
