//! `cargo xtask docs`: pages, schema and tables that come from the catalogue, and the page of
//! tests, which comes from `xtask/tests.toml`.

use crate::cargo::{Cargo, succeed};
use crate::problems::{CommandResult, Problems};
use crate::suite::{Guide, page};
use std::process::Command;

/// Where the page of tests is.
const TESTS: &str = "docs/tests.md";

/// Writes all of them.
pub fn write(cargo: &Cargo) -> CommandResult {
    let path = cargo.root().join(TESTS);
    let text = page(&Guide::read(cargo.root())?);
    std::fs::write(&path, text)
        .map_err(|error| Problems::one(format!("cannot write {}: {error}", path.display())))?;
    cargo.run(["run", "--quiet", "--locked", "--package", "manual", "--", "docs"])
}

/// Fails when one is not what it would be written as; the programs were built before.
pub fn check(cargo: &Cargo) -> CommandResult {
    let path = cargo.root().join(TESTS);
    let is_fresh = std::fs::read_to_string(&path)
        .is_ok_and(|text| Guide::read(cargo.root()).is_ok_and(|guide| page(&guide) == text));
    let stale = || Problems::one(format!("{TESTS} is stale: cargo xtask docs"));
    let tests = if is_fresh { Ok(()) } else { Err(stale()) };
    let mut manual = Command::new(cargo.built("manual"));
    tests.and(succeed(manual.arg("check").current_dir(cargo.root())))
}
