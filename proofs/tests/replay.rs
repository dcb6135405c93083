//! The program replays what it is given and says what is wrong with it. That this test
//! exists also has cargo build the program, which other tests take into guests.

#![allow(clippy::unwrap_used, reason = "a failing step of a test should panic")]

use schedulers::own::trace::Trace;
use std::process::Command;

fn refusal(bytes: &[u8]) -> String {
    let directory = std::env::temp_dir().join(format!("prove-{}", std::process::id()));
    std::fs::write(&directory, bytes).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_prove")).arg("replay").arg(&directory).output();
    std::fs::remove_file(&directory).unwrap();
    let output = output.unwrap();
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_trace_that_proves_nothing_is_refused_with_the_reason() {
    let mut trace = Trace { choice: "fifo".to_owned(), ..Trace::default() };
    let bytes = |trace: &Trace| {
        let mut bytes = Vec::new();
        trace.write(&mut bytes).unwrap();
        bytes
    };
    assert!(refusal(&bytes(&trace)).contains("vacuous"), "nobody decided anything");
    trace.lost = 1;
    assert!(refusal(&bytes(&trace)).contains("1 events found the buffer full"));
    assert!(refusal(b"something else").contains("cannot read the trace"));
}
