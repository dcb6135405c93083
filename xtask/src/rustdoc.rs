//! The documentation of the libraries, from what tests were built with.
//!
//! `cargo doc` has every dependency checked once more, which takes longer than all documentation.
//! `cargo test --doc` calls rustdoc with what is built already, to test examples; this program
//! stands in for rustdoc there, and asks it for documentation instead. A night runs `cargo doc`,
//! which also documents programs.

use crate::cargo::{Cargo, succeed};
use crate::harness::Scale;
use crate::parallel;
use crate::problems::{CommandResult, Problems};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Where documentation goes, of a process that stands in for rustdoc.
const OUTPUT: &str = "SCHEDLAB_RUSTDOC_OUTPUT";
/// Where such a process leaves what it was asked for: cargo asks for one library after the other,
/// which would keep one processor busy.
const CALLS: &str = "calls";
/// What says that examples are tested, and of what follows these one is theirs.
const OF_TESTS: [&str; 3] = ["--test-run-directory", "--test-args", "--test-runtool"];
/// The package that a smoke run of `cargo doc` documents.
const SMOKE: &str = "stats";

/// One call of rustdoc.
#[derive(Serialize, Deserialize)]
struct Call {
    arguments: Vec<String>,
    directory: PathBuf,
    /// A crate's source may read any that cargo or its build script set.
    variables: Vec<(String, String)>,
}

/// Documents every library; a warning is a failure.
pub fn document(cargo: &Cargo) -> CommandResult {
    let failed = |error: String| Problems::one(format!("cannot document: {error}"));
    let own = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let output = cargo.root().join("target/tests/doc");
    let calls = output.join(CALLS);
    let _ = std::fs::remove_dir_all(&calls);
    std::fs::create_dir_all(&calls).map_err(|error| failed(error.to_string()))?;
    let mut command = cargo.command(["test", "--doc", "--quiet", "--workspace", "--locked"]);
    succeed(command.env("RUSTDOC", own).env(OUTPUT, &output))?;
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read(entry.map_err(|error| failed(error.to_string()))?.path());
        let text = text.map_err(|error| failed(error.to_string()))?;
        serde_json::from_slice::<Call>(&text).map_err(|error| failed(error.to_string()))
    };
    let found = std::fs::read_dir(&calls).map_err(|error| failed(error.to_string()))?;
    let all = found.map(read).collect::<Result<Vec<Call>, Problems>>()?;
    if all.is_empty() {
        return Err(failed("cargo asked for no library".to_owned()));
    }
    run_all(all)
}

/// Calls rustdoc so often, as many at a time as there are processors.
fn run_all(calls: Vec<Call>) -> CommandResult {
    let job = |call: Call| {
        move || {
            let mut command = Command::new("rustdoc");
            command.args(call.arguments).current_dir(call.directory);
            // What stands in for rustdoc would stand in for it again.
            succeed(command.envs(call.variables).env_remove(OUTPUT))
        }
    };
    Problems::of_all(parallel::all(calls.into_iter().map(job).collect::<Vec<_>>())?)
}

/// What cargo doc says of every crate, programs too; in a smoke run, of one that has few
/// dependencies.
pub fn document_all(cargo: &Cargo, scale: Scale) -> CommandResult {
    let mut command = cargo.command(["doc", "--quiet", "--no-deps", "--locked"]);
    command.args(match scale {
        Scale::Whole => ["--workspace"].as_slice(),
        Scale::Smoke => &["--package", SMOKE],
    });
    succeed(command.env("RUSTDOCFLAGS", "-D warnings"))
}

/// Where cargo calls this program for rustdoc: what became of that.
pub fn stand_in() -> Option<ExitCode> {
    let output = PathBuf::from(std::env::var_os(OUTPUT)?);
    let given: Vec<OsString> = std::env::args_os().skip(1).collect();
    let is_done = if given.iter().any(|word| word == "--test") {
        note(&given, &output).is_ok()
    } else {
        // Cargo asks for its version.
        Command::new("rustdoc").args(&given).status().is_ok_and(|status| status.success())
    };
    Some(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Leaves a call for [`document`].
fn note(given: &[OsString], output: &Path) -> std::io::Result<()> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let readable = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let call = Call {
        arguments: arguments(given, output).iter().map(text).collect(),
        directory: std::env::current_dir()?,
        variables: std::env::vars_os().filter_map(readable).collect(),
    };
    std::fs::write(
        output.join(CALLS).join(format!("{}.json", std::process::id())),
        serde_json::to_vec(&call)?,
    )
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

    fn passed_on(given: &str) -> String {
        let given: Vec<OsString> = given.split(' ').map(OsString::from).collect();
        let words = arguments(&given, Path::new("out"));
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_test_of_examples_becomes_documentation() {
        assert_eq!(
            passed_on(
                "--crate-name a --test src/lib.rs --test-run-directory . -L d --test-args -q"
            ),
            "--crate-name a src/lib.rs -L d -D warnings --out-dir out"
        );
        assert_eq!(passed_on("-vV"), "-vV");
    }
}
