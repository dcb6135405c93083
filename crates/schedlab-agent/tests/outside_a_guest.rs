//! The program outside of a guest. That this test exists also makes `cargo test --workspace`
//! build the program, which the end-to-end tests look for beside `schedlab`.

#![allow(clippy::unwrap_used, reason = "a failing step of a test should panic")]

#[test]
fn the_agent_refuses_to_run_outside_of_a_guest() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_schedlab-agent")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("schedlab puts this into its guests"), "{told}");
}
