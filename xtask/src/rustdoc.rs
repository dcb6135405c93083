//! The documentation of the libraries, from what tests were built with.
//!
//! `cargo doc` has every dependency checked once more, which takes longer than all documentation.
//! `cargo test --doc` calls rustdoc with what is built already, to test examples; this program
//! stands in for rustdoc there, and asks it for documentation instead. A night runs `cargo doc`,
//! which also documents programs.

use crate::cargo::{Cargo, succeed};
use crate::problems::{CommandResult, Problems};
use cargo_metadata::{Metadata, Package, Target};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode};

/// Where documentation goes, of a process that stands in for rustdoc.
const OUTPUT: &str = "SCHEDLAB_RUSTDOC_OUTPUT";
/// What says that examples are tested, and of what follows these one is theirs.
const OF_TESTS: [&str; 3] = ["--test-run-directory", "--test-args", "--test-runtool"];

/// Documents every library; a warning is a failure.
pub fn document(cargo: &Cargo) -> CommandResult {
    let own = std::env::current_exe()
        .map_err(|error| Problems::one(format!("cannot stand in for rustdoc: {error}")))?;
    let libraries = libraries(&cargo.metadata()?);
    // Cargo calls rustdoc for one library after the other, which keeps one processor busy.
    let half = libraries.len().div_ceil(2);
    let document = |names: &[String]| {
        let mut command = cargo.command(["test", "--doc", "--quiet", "--locked"]);
        command.args(names.iter().flat_map(|name| ["--package", name.as_str()]));
        succeed(command.env("RUSTDOC", &own).env(OUTPUT, cargo.root().join("target/tests/doc")))
    };
    let (first, second) = libraries.split_at(half);
    let outcomes = std::thread::scope(|scope| {
        let beside = scope.spawn(|| document(second));
        let outcome = document(first);
        let panicked = || Err(Problems::one("documenting panicked"));
        [outcome, beside.join().unwrap_or_else(|_| panicked())]
    });
    Problems::of_all(outcomes)
}

/// The packages of the workspace that have a library. Every other one by name: neighbours are of
/// one size more often than the halves of the alphabet.
fn libraries(metadata: &Metadata) -> Vec<String> {
    let has_library = |package: &&Package| package.targets.iter().any(Target::is_lib);
    let packages = metadata.workspace_packages();
    let mut names: Vec<String> =
        packages.into_iter().filter(has_library).map(|package| package.name.to_string()).collect();
    names.sort();
    let every_other = |first: usize| names.iter().skip(first).step_by(2).cloned();
    every_other(0).chain(every_other(1)).collect()
}

/// What cargo doc says of every crate, programs too.
pub fn document_all(cargo: &Cargo) -> CommandResult {
    let mut command = cargo.command(["doc", "--quiet", "--workspace", "--no-deps", "--locked"]);
    succeed(command.env("RUSTDOCFLAGS", "-D warnings"))
}

/// Where cargo calls this program for rustdoc: what became of that.
pub fn stand_in() -> Option<ExitCode> {
    let output = std::env::var_os(OUTPUT)?;
    let given: Vec<OsString> = std::env::args_os().skip(1).collect();
    let status = Command::new("rustdoc").args(arguments(&given, Path::new(&output))).status();
    let is_done = status.is_ok_and(|status| status.success());
    Some(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What documents a library whose examples would be tested; anything else as it was given.
fn arguments(given: &[OsString], output: &Path) -> Vec<OsString> {
    if !given.iter().any(|word| word == "--test") {
        return given.to_vec();
    }
    let mut words = given.iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if OF_TESTS.iter().any(|of_tests| word == of_tests) {
            words.next();
        } else if word != "--test" {
            kept.push(word.clone());
        }
    }
    let further = ["-D", "warnings", "--out-dir"].map(OsStr::new);
    kept.extend(further.into_iter().chain([output.as_os_str()]).map(OsStr::to_owned));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(given: &str) -> String {
        let given: Vec<OsString> = given.split(' ').map(OsString::from).collect();
        let words = arguments(&given, Path::new("out"));
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_test_of_examples_becomes_documentation() {
        assert_eq!(
            told("--crate-name a --test src/lib.rs --test-run-directory . -L d --test-args -q"),
            "--crate-name a src/lib.rs -L d -D warnings --out-dir out"
        );
        assert_eq!(told("-vV"), "-vV");
    }
}
