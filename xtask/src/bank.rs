//! `cargo xtask bank`: the Java application in apps/bank, built and tested without the network
//! once everything it needs was fetched.

use crate::cargo::{Cargo, succeed};
use crate::problems::{CommandResult, Problems};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// What Maven is told always: no colours, nothing but warnings.
const ALWAYS: [&str; 2] = ["--batch-mode", "--quiet"];
/// One small test makes Maven fetch what runs tests, too.
const FETCH: [&str; 3] = ["-Dtest=MoneyTest", "-Dsurefire.failIfNoSpecifiedTests=false", "package"];
/// What Maven says where something was never fetched.
const NOT_FETCHED: &str = "offline mode";
/// Lines of the log that a failure shows.
const SHOWN: usize = 60;

/// Tests the application without the network; what was never fetched is fetched first.
pub fn test(cargo: &Cargo) -> CommandResult {
    let source = cargo.root().join("apps/bank");
    let log = source.join("target/test.log");
    if let Err(why) = offline(&source, &log) {
        if !read(&log).contains(NOT_FETCHED) {
            return Err(why);
        }
        fetch(cargo)?;
        offline(&source, &log)?;
    }
    let (tests, skipped) = counted(&source)?;
    println!("bank: {tests} tests passed, {skipped} skipped");
    Ok(())
}

/// Fetches what the application is built of and tested with, where Maven's repository lacks any of
/// it. What it builds and tests for that is little.
pub fn fetch(cargo: &Cargo) -> CommandResult {
    let source = cargo.root().join("apps/bank");
    let fetched = source.join("target/fetched");
    if modified(&fetched).is_some_and(|at| poms(&source).all(|pom| Some(at) >= modified(&pom))) {
        return Ok(());
    }
    let mut offline = maven(&source);
    offline.arg("--offline").args(FETCH).stdin(Stdio::null());
    let is_there = offline.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !is_there.is_ok_and(|status| status.success()) {
        eprintln!("bank: fetching what it is built of");
        succeed(maven(&source).args(FETCH))?;
    }
    let cannot = |error| Problems::one(format!("cannot write {}: {error}", fetched.display()));
    fs::create_dir_all(source.join("target")).and_then(|()| fs::write(&fetched, "")).map_err(cannot)
}

/// The descriptions of the application and of its modules.
fn poms(source: &Path) -> impl Iterator<Item = PathBuf> {
    let modules = fs::read_dir(source).into_iter().flatten().flatten();
    let modules = modules.map(|entry| entry.path().join("pom.xml"));
    std::iter::once(source.join("pom.xml")).chain(modules).filter(|pom| pom.is_file())
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|file| file.modified()).ok()
}

fn maven(source: &Path) -> Command {
    let mut command = Command::new("mvn");
    command.args(ALWAYS).current_dir(source);
    command
}

fn offline(source: &Path, log: &Path) -> CommandResult {
    let cannot =
        |error: std::io::Error| Problems::one(format!("cannot write {}: {error}", log.display()));
    if let Some(directory) = log.parent() {
        fs::create_dir_all(directory).map_err(cannot)?;
    }
    let output = File::create(log).map_err(cannot)?;
    let errors = output.try_clone().map_err(cannot)?;
    let mut command = maven(source);
    command.args(["--offline", "package"]).stdin(Stdio::null()).stdout(output).stderr(errors);
    let how = match command.status() {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("mvn ended with {status}"),
        Err(error) => format!("cannot start mvn: {error}"),
    };
    let text = read(log);
    let lines: Vec<&str> = text.lines().collect();
    let end = lines[lines.len().saturating_sub(SHOWN)..].join("\n");
    Err(Problems::one(format!(
        "{end}\n{how}; the bank needs Maven and a JDK of 17 or later: `./setup --tools` installs \
         them; all that it said is in {}",
        log.display()
    )))
}

fn read(log: &Path) -> String {
    String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned()
}

/// Tests that ran and tests that were skipped, from Surefire's summaries. A run that tested
/// nothing is a failure.
fn counted(source: &Path) -> Result<(u64, u64), Problems> {
    let (mut tests, mut skipped) = (0, 0);
    for summary in summaries(source) {
        let text = read(&summary);
        let Some(line) = text.lines().find(|line| line.starts_with("Tests run: ")) else {
            continue;
        };
        let number = |label: &str| {
            let after = line.split(label).nth(1)?.split(',').next()?;
            after.trim().parse::<u64>().ok()
        };
        let unreadable = || Problems::one(format!("{}: {line}", summary.display()));
        let ran = number("Tests run: ").ok_or_else(unreadable)?;
        let passed_over = number("Skipped: ").ok_or_else(unreadable)?;
        tests += ran - passed_over;
        skipped += passed_over;
    }
    if tests == 0 {
        return Err(Problems::one(format!("no test of {} ran", source.display())));
    }
    Ok((tests, skipped))
}

fn summaries(source: &Path) -> Vec<PathBuf> {
    let modules = fs::read_dir(source).into_iter().flatten().flatten();
    let reports = modules.map(|module| module.path().join("target/surefire-reports"));
    let files = reports.flat_map(|reports| fs::read_dir(reports).into_iter().flatten().flatten());
    let files = files.map(|file| file.path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "txt")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted_in(summaries: &[(&str, &str)]) -> Result<(u64, u64), Problems> {
        let directory = tempfile::tempdir().unwrap();
        for (module, text) in summaries {
            let reports = directory.path().join(module).join("target/surefire-reports");
            fs::create_dir_all(&reports).unwrap();
            fs::write(reports.join("org.example.T.txt"), text).unwrap();
        }
        counted(directory.path())
    }

    #[test]
    fn tests_are_counted_and_none_is_a_failure() {
        let line = "---\nTests run: 5, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 2 s\n";
        assert_eq!(counted_in(&[("a", line), ("b", line)]).unwrap(), (8, 2));
        assert!(counted_in(&[]).unwrap_err().to_string().contains("no test"));
        assert!(counted_in(&[("a", "Tests run: many, Skipped: 0\n")]).is_err());
    }
}
