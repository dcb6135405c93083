//! `cargo xtask fmt`: every Rust file, also those that a macro declares as modules, which
//! `cargo fmt` does not see.

use crate::cargo::{Cargo, succeed};
use crate::problems::{CommandResult, Problems};
use crate::tidy;
use std::process::Command;

/// Formats all code, or finds what is not.
pub fn format(cargo: &Cargo, is_check: bool) -> CommandResult {
    let files = tidy::texts(cargo.root())
        .map_err(|error| Problems::one(format!("cannot read the workspace: {error}")))?;
    let program = std::env::var_os("RUSTFMT").unwrap_or_else(|| "rustfmt".into());
    let mut command = Command::new(program);
    command.current_dir(cargo.root());
    if is_check {
        command.arg("--check");
    }
    command.args(files.into_iter().map(|file| file.path).filter(|path| tidy::is_rust(path)));
    succeed(&mut command)
}
