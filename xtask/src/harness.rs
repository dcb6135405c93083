//! Programs of the workspace that measure or search: the quality bars, fidelity, mutation of what
//! parsers read.

use crate::cargo::Cargo;
use crate::install;
use crate::problems::{CommandResult, Problems};
use std::path::PathBuf;
use std::process::Command;

/// How much is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// All of it, by a release.
    Whole,
    /// Seconds of it, by what tests were built with: it shows that the command still works.
    Smoke,
}

impl Scale {
    /// As a command's flag says.
    pub fn of(is_smoke: bool) -> Self {
        if is_smoke { Self::Smoke } else { Self::Whole }
    }
}

/// The smallest measure of each, for smoke runs.
const SMOKE_BAR: &str = "listing";
const SMOKE_CELL: &str = "net, request";
/// How a program ends that needs what this machine or its user lacks.
const CANNOT_RUN_HERE: i32 = 77;

/// Reads every corpus and mutates it for some seconds.
pub fn fuzz(
    cargo: &Cargo,
    scale: Scale,
    seconds: u64,
    seed: u64,
    targets: &[String],
) -> CommandResult {
    let seconds = if scale == Scale::Smoke { 1 } else { seconds };
    let amounts = [format!("--seconds={seconds}"), format!("--seed={seed}")];
    run(cargo, scale, "fuzz", amounts.into_iter().chain(targets.iter().cloned()))
}

/// Holds the native workloads against their references.
pub fn fidelity(cargo: &Cargo, scale: Scale, only: Option<&str>) -> CommandResult {
    measure(cargo, scale, "fidelity", only.or((scale == Scale::Smoke).then_some(SMOKE_CELL)))
}

/// Measures the quality bars.
pub fn bars(cargo: &Cargo, scale: Scale, only: Option<&str>) -> CommandResult {
    measure(cargo, scale, "bars", only.or((scale == Scale::Smoke).then_some(SMOKE_BAR)))
}

/// A program that measures what it is given as the product.
fn measure(cargo: &Cargo, scale: Scale, package: &str, only: Option<&str>) -> CommandResult {
    let mut words = vec![format!("--binary={}", product(cargo, scale)?.display())];
    words.extend(only.map(|only| format!("--only={only}")));
    words.extend((scale == Scale::Smoke).then(|| "--smoke".to_owned()));
    run(cargo, scale, package, words)
}

/// The product, as it is measured.
pub fn product(cargo: &Cargo, scale: Scale) -> Result<PathBuf, Problems> {
    match scale {
        Scale::Whole => install::build(cargo, install::RELEASE),
        Scale::Smoke => Ok(cargo.built("schedlab")),
    }
}

/// A program of the workspace, with these words.
pub fn run(
    cargo: &Cargo,
    scale: Scale,
    package: &str,
    words: impl IntoIterator<Item = String>,
) -> CommandResult {
    if scale == Scale::Smoke {
        let mut command = Command::new(cargo.built(package));
        return smoke(command.args(words).current_dir(cargo.root()));
    }
    let run = ["run", "--quiet", "--locked", "--package", package, "--"].map(str::to_owned);
    cargo.run(run.into_iter().chain(words))
}

/// Runs a program; one that cannot run here has said what it needs, and is told as skipped.
fn smoke(command: &mut Command) -> CommandResult {
    let name = command.get_program().display().to_string();
    let status = command.status();
    if status.as_ref().is_ok_and(|status| status.code() == Some(CANNOT_RUN_HERE)) {
        let skipped = format!("{name} needs what is missing here, above");
        // As in tests (crates/testing): where all can run, one that does not is a failure.
        if std::env::var("SCHEDLAB_SKIPS").is_ok_and(|skips| skips == "refused") {
            return Err(Problems::one(skipped));
        }
        println!("test: SKIPPED: {skipped}");
        return Ok(());
    }
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Problems::one(format!("`{name}` ended with {status}"))),
        Err(error) => Err(Problems::one(format!("cannot start `{name}`: {error}"))),
    }
}
