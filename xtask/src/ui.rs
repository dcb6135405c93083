//! `cargo xtask ui`: the page of reports, from web/ into the two files that crates/web embeds.

use crate::cargo::{Cargo, succeed};
use crate::problems::{CommandResult, Problems};
use std::process::Command;

/// Builds the page, and installs the modules for it where they are not those of the lock file.
pub fn build(cargo: &Cargo) -> CommandResult {
    script(cargo, &[])
}

/// Installs the modules that the page is made with.
pub fn fetch(cargo: &Cargo) -> CommandResult {
    script(cargo, &["--fetch"])
}

/// Tests the page: its figures and texts alone, then the built page in a browser.
pub fn test(cargo: &Cargo) -> CommandResult {
    build(cargo)?;
    succeed(
        Command::new("npm").args(["run", "--silent", "test"]).current_dir(cargo.root().join("web")),
    )
}

fn script(cargo: &Cargo, arguments: &[&str]) -> CommandResult {
    succeed(Command::new("node").arg(cargo.root().join("web/build.mjs")).args(arguments)).map_err(
        |problems| {
            Problems::one(format!(
                "{problems}the page needs node 20.19 or later with npm: `./setup --page` installs \
                 them, and prints where"
            ))
        },
    )
}
