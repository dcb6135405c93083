//! `cargo xtask bank`: the Java application in apps/bank, built and tested without the network
//! once everything it needs was fetched: by a user without privileges where root builds, and from
//! artefacts that its lock file names (crates/build-user).

use crate::cargo::Cargo;
use crate::harness::Scale;
use crate::problems::{CommandResult, Problems};
use artefacts::programs::Programs;
use build_user::{BuildUser, BuildVariables, LockedMaven, NOT_FETCHED, TreeBuild, TreeCommand};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The application.
const SOURCE: &str = "apps/bank";
/// Names every artefact that it is built of, tested with, and built by.
const LOCK: &str = "maven.lock";
/// What Maven is told always: no colours, nothing but warnings.
const ALWAYS: [&str; 2] = ["--batch-mode", "--quiet"];
/// One small test makes Maven fetch what runs tests, too.
const FETCH: [&str; 3] = ["-Dtest=MoneyTest", "-Dsurefire.failIfNoSpecifiedTests=false", "package"];
/// Builds and tests all of it.
const TEST: [&str; 1] = ["package"];
/// Neither builds nor fetches anything.
const SMOKE: [&str; 1] = ["--version"];
/// Where Maven keeps what it fetched for this user; what of it the lock file names need not be
/// fetched again.
const OF_CALLER: &str = ".m2/repository";
/// Lines of the log that a failure shows.
const SHOWN: usize = 60;

/// Tests the application without the network; what was never fetched is fetched first.
pub fn test(cargo: &Cargo) -> CommandResult {
    let bank = Bank::find(cargo)?;
    if let Err(why) = bank.offline(&TEST) {
        if !read(&bank.log()).contains(NOT_FETCHED) {
            return Err(why);
        }
        bank.fetch()?;
        bank.offline(&TEST)?;
    }
    let (tests, skipped) = counted(&bank.source, &bank.tree().outputs())?;
    println!("bank: {tests} tests passed, {skipped} skipped");
    Ok(())
}

/// Fetches what the application is built of and tested with, where its repository lacks any of it.
/// What it builds and tests for that is little.
pub fn fetch(cargo: &Cargo) -> CommandResult {
    let source = cargo.root().join(SOURCE);
    let fetched = source.join("target/fetched");
    let inputs: Vec<PathBuf> = poms(&source).chain([source.join(LOCK)]).collect();
    let is_newer = |at: SystemTime| inputs.iter().all(|input| Some(at) >= modified(input));
    if modified(&fetched).is_some_and(is_newer) {
        return Ok(());
    }
    let bank = Bank::find(cargo)?;
    bank.maven.sweep().map_err(Problems::one)?;
    if let Some(home) = std::env::var_os("HOME") {
        bank.maven.seed(&Path::new(&home).join(OF_CALLER)).map_err(Problems::one)?;
    }
    if bank.offline(&FETCH).is_err() {
        eprintln!("bank: fetching what it is built of");
        bank.fetch()?;
    }
    let cannot = |error| Problems::one(format!("cannot write {}: {error}", fetched.display()));
    fs::create_dir_all(source.join("target")).and_then(|()| fs::write(&fetched, "")).map_err(cannot)
}

/// Writes the lock file anew, from what a build and its tests ask for.
///
/// A smoke run fetches nothing and writes nothing: it starts Maven as that would, and compares the
/// lock file with what would be written of what was fetched before.
pub fn lock(cargo: &Cargo, scale: Scale) -> CommandResult {
    let bank = Bank::find(cargo)?;
    if scale == Scale::Smoke {
        bank.run(bank.maven.fetching(&bank.program, &words(&SMOKE), bank.tree()))?;
        let count = bank.maven.compare_lock().map_err(Problems::one)?;
        println!("bank: {LOCK} names {count} artefacts that were fetched before, as it would anew");
        return match count {
            0 => Err(Problems::one("nothing was fetched before")),
            _ => Ok(()),
        };
    }
    bank.run(bank.maven.fetching(&bank.program, &words(&TEST), bank.tree()))?;
    let count = bank.maven.write_lock().map_err(Problems::one)?;
    println!("bank: {LOCK} names {count} artefacts; read what changed before you commit it");
    Ok(())
}

/// The application, and how it is built.
struct Bank {
    source: PathBuf,
    program: PathBuf,
    maven: LockedMaven,
    user: Option<BuildUser>,
}

impl Bank {
    fn find(cargo: &Cargo) -> Result<Self, Problems> {
        let source = cargo.root().join(SOURCE);
        let programs = Programs::new(&std::env::var("PATH").unwrap_or_default());
        let remedy = "`./setup --tools` installs it, and a JDK";
        let program = programs.need("mvn", "cannot build the bank", remedy);
        let program = program.map_err(Problems::one)?;
        let maven = LockedMaven::of(&source).map_err(Problems::one)?;
        let missing = || Problems::one(format!("{SOURCE}/{LOCK} is missing"));
        let maven = maven.ok_or_else(missing)?;
        let variables = BuildVariables::of(std::env::vars_os());
        let user = BuildUser::find(&programs, &variables).unwrap_or_else(|why| {
            eprintln!("bank: it is built as root, with every plugin of Maven: {why}");
            None
        });
        Ok(Self { source, program, maven, user })
    }

    fn tree(&self) -> TreeBuild<'_> {
        TreeBuild { directory: &self.source, user: self.user.as_ref() }
    }

    fn log(&self) -> PathBuf {
        self.source.join("target/test.log")
    }

    /// Builds from what was fetched before.
    fn offline(&self, goals: &[&str]) -> CommandResult {
        self.run(self.maven.offline(&self.program, &words(goals), self.tree()))
    }

    /// Fetches, and takes what the lock file names.
    fn fetch(&self) -> CommandResult {
        self.run(self.maven.fetching(&self.program, &words(&FETCH), self.tree()))?;
        self.maven.accept().map(drop).map_err(Problems::one)
    }

    /// Runs Maven to its end; a failure shows the end of its log.
    fn run(&self, prepared: artefacts::Result<TreeCommand>) -> CommandResult {
        let mut prepared = prepared.map_err(Problems::one)?;
        let log = self.log();
        let cannot = |error: std::io::Error| {
            Problems::one(format!("cannot write {}: {error}", log.display()))
        };
        if let Some(directory) = log.parent() {
            fs::create_dir_all(directory).map_err(cannot)?;
        }
        let output = File::create(&log).map_err(cannot)?;
        let errors = output.try_clone().map_err(cannot)?;
        let how = match prepared.command.stdout(output).stderr(errors).status() {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => format!("mvn ended with {status}"),
            Err(error) => format!("cannot start mvn: {error}"),
        };
        let text = read(&log);
        let lines: Vec<&str> = text.lines().collect();
        let end = lines[lines.len().saturating_sub(SHOWN)..].join("\n");
        Err(Problems::one(format!(
            "{end}\n{how}; the bank needs Maven and a JDK of 17 or later: `./setup --tools` \
             installs them; all that it said is in {}",
            log.display()
        )))
    }
}

/// What Maven is told, with what it is told always.
fn words(goals: &[&str]) -> Vec<String> {
    ALWAYS.iter().chain(goals).map(|word| (*word).to_owned()).collect()
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

fn read(log: &Path) -> String {
    String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned()
}

/// Tests that ran and tests that were skipped, from Surefire's summaries below the `target` of each
/// module. A run that tested nothing is a failure.
fn counted(source: &Path, targets: &[PathBuf]) -> Result<(u64, u64), Problems> {
    let (mut tests, mut skipped) = (0, 0);
    for summary in summaries(targets) {
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

fn summaries(targets: &[PathBuf]) -> Vec<PathBuf> {
    let reports = targets.iter().map(|target| target.join("surefire-reports"));
    let files = reports.flat_map(|reports| fs::read_dir(reports).into_iter().flatten().flatten());
    let files = files.map(|file| file.path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "txt")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted_in(summaries: &[(&str, &str)]) -> Result<(u64, u64), Problems> {
        let directory = tempfile::tempdir().unwrap();
        let mut targets = Vec::new();
        for (module, text) in summaries {
            let target = directory.path().join(module).join("target");
            let reports = target.join("surefire-reports");
            targets.push(target);
            fs::create_dir_all(&reports).unwrap();
            fs::write(reports.join("org.example.T.txt"), text).unwrap();
        }
        counted(directory.path(), &targets)
    }

    #[test]
    fn tests_are_counted_and_none_is_a_failure() {
        let line = "---\nTests run: 5, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 2 s\n";
        assert_eq!(counted_in(&[("a", line), ("b", line)]).unwrap(), (8, 2));
        assert!(counted_in(&[]).unwrap_err().to_string().contains("no test"));
        assert!(counted_in(&[("a", "Tests run: many, Skipped: 0\n")]).is_err());
    }
}
