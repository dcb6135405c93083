//! Every page that comes from the catalogue is what it would be written as. That this test exists
//! also makes nextest build the program, which `cargo xtask docs --check` starts.

#![allow(clippy::unwrap_used, reason = "a failing step of a test should panic")]

use std::path::Path;
use std::process::Command;

#[test]
fn every_generated_page_is_fresh() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut manual = Command::new(env!("CARGO_BIN_EXE_manual"));
    let output = manual.arg("check").current_dir(workspace).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
