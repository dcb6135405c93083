//! `cargo xtask fmt`: every Rust file, also those that a macro declares as modules, which
//! `cargo fmt` does not see.

use crate::cargo::{Cargo, check, succeed};
use crate::problems::{CommandResult, Problems};
use crate::{parallel, tidy};
use std::path::PathBuf;
use std::process::Command;

/// Formats all code, or finds what is not.
pub fn format(cargo: &Cargo, is_check: bool) -> CommandResult {
    let files = tidy::texts(cargo.root())
        .map_err(|error| Problems::one(format!("cannot read the workspace: {error}")))?;
    let paths: Vec<PathBuf> =
        files.into_iter().map(|file| file.path).filter(|path| tidy::is_rust(path)).collect();
    if is_check {
        return unformatted(cargo, &paths);
    }
    // One process: a file is also formatted as a module of another, and two would write it at once.
    succeed(rustfmt(cargo).args(&paths))
}

/// Finds what of these files is not formatted, on all processors.
fn unformatted(cargo: &Cargo, paths: &[PathBuf]) -> CommandResult {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = paths.chunks(paths.len().div_ceil(processors).max(1));
    let jobs = parts.map(|part| move || check(rustfmt(cargo).arg("--check").args(part)));
    Problems::of_all(parallel::all(jobs.collect::<Vec<_>>())?)
}

fn rustfmt(cargo: &Cargo) -> Command {
    let program = std::env::var_os("RUSTFMT").unwrap_or_else(|| "rustfmt".into());
    let mut command = Command::new(program);
    command.current_dir(cargo.root());
    command
}
