//! `cargo xtask ui`: the page of reports, from web/ into the one file that crates/web embeds.

use crate::cargo::{Cargo, succeed};
use crate::problems::{CommandResult, Problems};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

/// Builds the page; the modules it is made with are installed where they are not those of the
/// lock file.
pub fn build(cargo: &Cargo) -> CommandResult {
    let web = cargo.root().join("web");
    fetch(cargo)?;
    let bundle = web.join("dist/index.html");
    let before = fs::read(&bundle).ok().zip(modified(&bundle));
    npm(&web, &["run", "--silent", "build"])?;
    // The same page is no reason to build the binary anew.
    if let Some((page, time)) = before
        && fs::read(&bundle).is_ok_and(|built| built == page)
    {
        File::options()
            .append(true)
            .open(&bundle)
            .and_then(|file| file.set_modified(time))
            .map_err(|error| Problems::one(format!("cannot date {}: {error}", bundle.display())))?;
    }
    Ok(())
}

/// Tests the page: its figures and texts alone, then the built page in a browser.
pub fn test(cargo: &Cargo) -> CommandResult {
    build(cargo)?;
    npm(&cargo.root().join("web"), &["run", "--silent", "test"])
}

/// Installs the modules that the page is made with.
pub fn fetch(cargo: &Cargo) -> CommandResult {
    let web = cargo.root().join("web");
    let installed = modified(&web.join("node_modules/.package-lock.json"));
    if installed.is_some() && installed >= modified(&web.join("package-lock.json")) {
        return Ok(());
    }
    npm(&web, &["ci", "--no-audit", "--no-fund"])
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|file| file.modified()).ok()
}

fn npm(web: &Path, arguments: &[&str]) -> CommandResult {
    succeed(Command::new("npm").args(arguments).current_dir(web)).map_err(|problems| {
        Problems::one(format!(
            "{problems}the page needs node 20.19 or later with npm: `./setup --page` installs them, \
             and prints where"
        ))
    })
}
