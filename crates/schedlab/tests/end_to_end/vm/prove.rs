//! The program `prove` in guests: it loads our schedulers, measures and records them.

use super::Guests;
use std::path::PathBuf;
use std::process::{Command, Output};
use testing::Stamp;

pub const KERNEL: &str = "debian:6.18";
/// What its answers are held against: bounds, weights, tolerances, numbers of tries and of draws.
const HELD_AGAINST: [&[u8]; 2] = [include_bytes!("fairness.rs"), include_bytes!("proofs.rs")];

/// The program, built beside the binary under test.
pub fn program() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_BIN_EXE_schedlab")).with_file_name("prove");
    assert!(path.is_file(), "cargo build --package proofs makes {}", path.display());
    path
}

/// Runs it in a guest of its own; what it printed.
///
/// An emulated machine of two processors is sometimes lost when the kernel patches its own code
/// while a scheduler comes or goes (`Oops: int3`, QEMU 7.2), and rarely for other reasons: schedlab
/// then exits with 125 and says that it was the emulator, not the scheduler.
pub fn in_a_guest(vcpus: &str, words: &[&str]) -> Vec<u8> {
    let guests = Guests::new();
    let program = program().display().to_string();
    let mut all = vec!["vm", "exec", KERNEL, "--vcpus", vcpus, "--cmdline", &guests.word];
    all.extend(["--boot-timeout", super::BOOT_TIMEOUT, "--file", &program, "--", &program]);
    all.extend(words);
    let Output { status, stdout, stderr } = guests.command(&all).output().unwrap();
    let told = String::from_utf8_lossy(&stderr);
    if status.code() == Some(125) && told.contains("the emulator lost the guest") {
        testing::emulator_fault(&told);
    }
    assert!(status.success(), "{words:?}: {told}");
    guests.assert_nothing_is_left("after a program in a guest");
    stdout
}

/// Whether something that `prove` shows has to be shown again: it depends on the program, which
/// holds the schedulers' objects and the models, on the kernel, the emulator, on what is asked of
/// the program and on what its answers are held against. The stamp is called as the test is, so
/// that `cargo xtask test` selects those that have one.
pub fn stamp(path: &str, asked: &str) -> Option<Stamp> {
    let name = path.split_once("::").map_or(path, |(_, name)| name);
    let output = |command: &mut Command| command.output().unwrap().stdout;
    let program = std::fs::read(program()).unwrap();
    let kernel = output(&mut Guests::new().command(&["kernels", "show", KERNEL, "--json"]));
    let emulator = output(Command::new(super::QEMU).arg("--version"));
    testing::stamp(name, &inputs(&[&program, &kernel, &emulator, asked.as_bytes()]))
}

/// All that a stamp rests on: what answers, and what the answers are held against.
fn inputs<'i>(answering: &[&'i [u8]]) -> Vec<&'i [u8]> {
    [answering, &HELD_AGAINST[..]].concat()
}

#[test]
fn a_stamp_rests_on_every_bound_that_answers_are_held_against() {
    testing::begin();
    let inputs = inputs(&[b"program", b"kernel"]);
    assert_eq!(inputs[..2], [&b"program"[..], &b"kernel"[..]]);
    let texts: Vec<_> = inputs.iter().map(|input| String::from_utf8_lossy(input)).collect();
    for bound in ["const TRIES: ", "fn expected(", "fn bound_ms(", "const LEAST_DRAWS: "] {
        assert!(texts.iter().any(|text| text.contains(bound)), "{bound}");
    }
}
