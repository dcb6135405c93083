//! `cargo xtask mutants`: what must survive a crash is broken a line at a time, and the simulator of
//! faults alone has to notice (docs/adr/0046-one-seam-for-faults-of-files.md).
//!
//! cargo-mutants makes the mutants and tries them, as `.cargo/mutants.toml` says. Nothing else needs
//! it: `./setup --night` installs it.

use crate::cargo::Cargo;
use crate::harness::Scale;
use crate::problems::{CommandResult, Problems};
use serde::Deserialize;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

const CONFIGURATION: &str = ".cargo/mutants.toml";
/// What became of each mutant, below the directory that the configuration names.
const OUTCOMES: &str = "mutants.out/outcomes.json";
const MISSING: &str = "cargo-mutants is not here: `./setup --night` installs it";
/// Schedules of campaigns for each mutant, unless somebody says how many; as many as mutants that
/// were made by hand had.
const SCHEDULES: (&str, &str) = ("SCHEDLAB_FAULT_SCHEDULES", "2000");
/// A schedule that does not end is a mutant that was noticed; the tests take a minute or less.
const TEST_SECONDS: &str = "300";
/// All mutants take many hours: a night has one of so many parts, by its date.
const NIGHTS: u64 = 20;
const DAY_SECONDS: u64 = 86_400;
/// Of all mutants that can be built, in percent.
const LEAST_CAUGHT: u64 = 90;
/// How cargo-mutants ends when it tried all: each was caught, some were missed, some did not end.
const TRIED: [i32; 3] = [0, 2, 3];

/// One of several parts of all mutants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 0.
    index: u64,
    count: u64,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(index, count)| {
            let (index, count) = (index.parse().ok()?, count.parse().ok()?);
            (index < count).then_some(Self { index, count })
        });
        numbers.ok_or_else(|| "it is K/N, with K from 0 and below N".to_owned())
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.index, self.count)
    }
}

/// What of the configuration is looked at.
#[derive(Deserialize)]
struct Configuration {
    examine_globs: Vec<String>,
    test_package: Vec<String>,
    output: PathBuf,
}

/// How many mutants came to what.
#[derive(Debug, Deserialize)]
struct Outcomes {
    total_mutants: u64,
    caught: u64,
    timeout: u64,
    missed: u64,
}

/// The part of a night. Where cargo-mutants is not installed, that is said.
pub fn of_night(cargo: &Cargo, scale: Scale) -> CommandResult {
    if scale == Scale::Whole && is_installed(cargo) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let index = now.as_secs() / DAY_SECONDS % NIGHTS;
        return mutants(cargo, scale, Some(Shard { index, count: NIGHTS }));
    }
    smoke(cargo)
}

/// Makes all mutants, or those of a part, and tries each. A smoke run looks whether the
/// configuration names what is there.
pub fn mutants(cargo: &Cargo, scale: Scale, shard: Option<Shard>) -> CommandResult {
    if scale == Scale::Smoke {
        return smoke(cargo);
    }
    let configuration = configuration(cargo.root())?;
    if !is_installed(cargo) {
        return Err(Problems::one(MISSING));
    }
    // cargo-mutants would try the tests of the packages that it breaks, and not those that are asked.
    let mut command = cargo.command(["mutants", "--workspace", "--no-shuffle", "--baseline=skip"]);
    command.args(["--timeout", TEST_SECONDS]);
    if let Some(shard) = shard {
        command.arg("--shard").arg(shard.to_string());
    }
    let mut unbroken = cargo.command(["test", "--locked", "--lib"]);
    for package in &configuration.test_package {
        unbroken.args(["--package", package]);
    }
    if std::env::var_os(SCHEDULES.0).is_none() {
        command.env(SCHEDULES.0, SCHEDULES.1);
        unbroken.env(SCHEDULES.0, SCHEDULES.1);
    }
    let status = unbroken
        .status()
        .map_err(|error| Problems::one(format!("cannot start the tests: {error}")))?;
    if !status.success() {
        return Err(Problems::one("tests fail before anything is broken: no mutant was tried"));
    }
    let status = command
        .status()
        .map_err(|error| Problems::one(format!("cannot start cargo mutants: {error}")))?;
    if !status.code().is_some_and(|code| TRIED.contains(&code)) {
        return Err(Problems::one(format!("cargo mutants did not try all: {status}")));
    }
    let path = cargo.root().join(&configuration.output).join(OUTCOMES);
    let outcomes: Outcomes = fs::read_to_string(&path)
        .map_err(|error| error.to_string())
        .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
        .map_err(|error| Problems::one(format!("cannot read {}: {error}", path.display())))?;
    judged(&outcomes, shard)
}

fn smoke(cargo: &Cargo) -> CommandResult {
    configuration(cargo.root())?;
    if !is_installed(cargo) {
        // Also where skips are refused: only nights need it.
        println!("test: UNSUPPORTED HERE: {MISSING}");
    }
    Ok(())
}

fn is_installed(cargo: &Cargo) -> bool {
    let mut command = cargo.command(["mutants", "--version"]);
    command.stdin(Stdio::null()).output().is_ok_and(|output| output.status.success())
}

/// The configuration, all of whose files and packages are there: mutants of a file that was renamed
/// would be missed by nobody.
fn configuration(root: &Path) -> Result<Configuration, Problems> {
    let failed = |error: String| Problems::one(format!("{CONFIGURATION}: {error}"));
    let text = fs::read_to_string(root.join(CONFIGURATION));
    let text = text.map_err(|error| failed(error.to_string()))?;
    let configuration: Configuration =
        toml::from_str(&text).map_err(|error| failed(error.to_string()))?;
    let globs = configuration.examine_globs.iter().filter(|glob| !is_there(root, glob));
    let mut absent: Vec<String> =
        globs.map(|glob| format!("{CONFIGURATION}: there is no {glob}")).collect();
    let is_package = |name: &str| root.join("crates").join(name).join("Cargo.toml").is_file();
    let packages = configuration.test_package.iter().filter(|name| !is_package(name));
    absent.extend(packages.map(|name| format!("{CONFIGURATION}: there is no package {name}")));
    Problems::outcome(absent)?;
    Ok(configuration)
}

/// Whether there is a file of this name, in which one `*` may stand for a part of its last name.
fn is_there(root: &Path, glob: &str) -> bool {
    let (folder, pattern) = glob.rsplit_once('/').unwrap_or(("", glob));
    let Some((begin, end)) = pattern.split_once('*') else { return root.join(glob).is_file() };
    let names = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .any(|name| name.strip_prefix(begin).is_some_and(|rest| rest.ends_with(end)))
}

/// A part is told, and all together have to reach the limit: a part has few.
fn judged(outcomes: &Outcomes, shard: Option<Shard>) -> CommandResult {
    let Outcomes { total_mutants, caught, timeout, missed } = outcomes;
    // A schedule that does not end is noticed, too.
    let noticed = caught + timeout;
    let built = noticed + missed;
    let part = shard.map_or(String::new(), |shard| format!(" in part {shard}"));
    println!(
        "mutants: {total_mutants}{part}, {built} of which can be built; the simulator notices \
         {noticed} ({} %), {timeout} of them by not ending",
        (noticed * 100).checked_div(built).unwrap_or_default()
    );
    if *total_mutants == 0 {
        return Err(Problems::one("there is no mutant"));
    }
    if shard.is_none() && noticed * 100 < LEAST_CAUGHT * built {
        return Err(Problems::one(format!(
            "{missed} of {built} mutants are not noticed by the simulator of faults, and \
             {LEAST_CAUGHT} % have to be: see missed.txt beside outcomes.json"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, lchown, symlink};
    use std::process::{Command, Output};

    /// Tells a version of cargo-mutants, if it has one, and compiles nothing.
    const CARGO: &str = "#!/bin/sh\ncase $1 in\n\
        mutants) [ -e \"$0.version\" ] && echo \"cargo-mutants $(cat \"$0.version\")\" ;;\n\
        install) echo \"$*\" >>\"$0.told\"; [ -e \"$0.able\" ] && echo 27.1.0 >\"$0.version\" ;;\n\
        esac\n";
    /// New enough, and tells no directory of its own: nothing is compiled by another user.
    const RUSTC: &str = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'rustc 99.0.0'\n";

    /// What `./setup --night` has cargo install where this version of cargo-mutants is there, and how
    /// it ends.
    fn set_up(version: Option<&str>, is_able: bool) -> (String, Output) {
        let home = tempfile::tempdir().unwrap();
        let bin = home.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for (name, text) in [("cargo", CARGO), ("rustc", RUSTC)] {
            fs::write(bin.join(name), text).unwrap();
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        if let Some(version) = version {
            fs::write(bin.join("cargo.version"), version).unwrap();
        }
        if is_able {
            fs::write(bin.join("cargo.able"), "").unwrap();
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut setup = Command::new(root.join("setup"));
        setup.arg("--night").stdin(Stdio::null()).env_clear();
        setup.env("PATH", std::env::var_os("PATH").unwrap());
        let output = setup.env("HOME", home.path()).env("CARGO_HOME", home.path());
        let output = output.env("CXX", "sh").output().unwrap();
        (fs::read_to_string(bin.join("cargo.told")).unwrap_or_default(), output)
    }

    #[test]
    fn the_set_up_of_a_night_compiles_cargo_mutants_where_none_is_new_enough() {
        for version in [None, Some("25.3.1")] {
            let (told, output) = set_up(version, true);
            assert!(output.status.success(), "{output:?}");
            assert!(output.stdout.is_empty(), "{output:?}");
            assert!(told.starts_with("install --quiet --locked cargo-mutants@"), "{told}");
            assert_eq!(told.lines().count(), 1, "{told}");
            let (_, output) = set_up(version, false);
            assert_eq!(output.status.code(), Some(4), "{output:?}");
        }
        for version in ["26.0.0", "27.1.0", "100.0.0"] {
            let (told, output) = set_up(Some(version), false);
            assert!(output.status.success(), "{output:?}");
            assert_eq!(told, "", "{version} is new enough");
        }
    }

    /// Runs a function of `setup` with these arguments, where the build user's rights are the caller's.
    fn call(function: &str, arguments: &[&Path]) -> Output {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let setup = fs::read_to_string(root.join("setup")).unwrap();
        let (_, begin) = setup.split_once(&format!("\n{function}() {{\n")).unwrap();
        let (body, _) = begin.split_once("\n}\n").unwrap();
        let script =
            format!("unprivileged() {{ \"$@\"; }}\n{function}() {{\n{body}\n}}\n{function} \"$@\"");
        let mut shell = Command::new("sh");
        shell.args(["-euc", &script, "sh"]).args(arguments).output().unwrap()
    }

    /// How what the build user left is put into a directory.
    fn take_over(from: &Path, directory: &Path) -> Output {
        call("take_over", &[from, directory, Path::new("cargo-mutants")])
    }

    #[test]
    fn nothing_is_compiled_where_others_could_put_something_in_its_place() {
        let home = tempfile::tempdir().unwrap();
        let (above, below) = (home.path().join("above"), home.path().join("above/below"));
        let link = home.path().join("link");
        fs::create_dir_all(&below).unwrap();
        symlink(&below, &link).unwrap();
        let set_mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let is_safe = |path: &Path| {
            let output = call("is_safe", &[path]);
            assert_eq!(String::from_utf8_lossy(&output.stderr), "");
            output.status.success()
        };
        for (mode, expected) in [(0o755, true), (0o777, false), (0o1777, true), (0o757, false)] {
            set_mode(&below, mode);
            assert_eq!([&below, &link].map(|path| is_safe(path)), [expected; 2], "{mode:o}");
        }
        set_mode(&below, 0o755);
        set_mode(&above, 0o777);
        assert!(!is_safe(&below) && !is_safe(&link), "it could be moved away");
        set_mode(&above, 0o755);
        assert!(is_safe(&below) && !is_safe(&home.path().join("absent")));
        // Only root gives a directory away.
        if lchown(&below, Some(65_534), None).is_ok() {
            assert!(!is_safe(&below) && is_safe(&above), "it is another user's");
        }
    }

    #[test]
    fn what_is_compiled_is_written_through_no_link_and_appears_whole_or_not_at_all() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let bin = at("bin");
        fs::create_dir(&bin).unwrap();
        fs::write(at("made"), "program").unwrap();
        fs::write(at("other"), "as it was").unwrap();
        let names = ["cargo-mutants", "cargo-mutants.next", ".cargo-mutants.next"];
        for name in names {
            symlink(at("other"), bin.join(name)).unwrap();
        }
        let output = take_over(&at("made"), &bin);
        assert!(output.status.success(), "{output:?}");
        let made = bin.join("cargo-mutants");
        assert_eq!(fs::read_to_string(&made).unwrap(), "program");
        let found = made.symlink_metadata().unwrap();
        assert!(found.is_file() && found.permissions().mode() & 0o777 == 0o755, "{found:?}");
        assert_eq!(fs::read_to_string(at("other")).unwrap(), "as it was");
        // What cannot be read, and a directory in its place.
        assert!(!take_over(&at("absent"), &bin).status.success());
        assert_eq!(fs::read_to_string(&made).unwrap(), "program");
        fs::remove_file(&made).unwrap();
        fs::create_dir(&made).unwrap();
        assert!(!take_over(&at("made"), &bin).status.success());
        assert_eq!(fs::read_dir(&made).unwrap().count(), 0);
        assert_eq!(fs::read_dir(&bin).unwrap().count(), names.len(), "nothing is left");
    }

    #[test]
    fn a_part_is_a_number_below_how_many_there_are() {
        assert_eq!("3/20".parse::<Shard>(), Ok(Shard { index: 3, count: 20 }));
        for text in ["20/20", "1", "a/2", "-1/2", "1/0", ""] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        assert_eq!("0/1".parse::<Shard>().unwrap().to_string(), "0/1");
    }

    #[test]
    fn nine_in_ten_of_all_mutants_that_can_be_built_have_to_be_noticed() {
        let outcome = |caught, timeout, missed, shard| {
            judged(&Outcomes { total_mutants: 100, caught, timeout, missed }, shard)
        };
        assert!(outcome(80, 10, 10, None).is_ok());
        assert!(outcome(80, 9, 11, None).is_err());
        // What cannot be built says nothing.
        assert!(outcome(9, 0, 1, None).is_ok());
        let part = Some(Shard { index: 0, count: 20 });
        assert!(outcome(1, 0, 9, part).is_ok());
        let none = Outcomes { total_mutants: 0, caught: 0, timeout: 0, missed: 0 };
        assert!(judged(&none, part).is_err());
    }

    #[test]
    fn a_file_or_package_that_the_configuration_names_and_that_is_gone_is_told() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let found = || match configuration(root.path()) {
            Ok(_) => String::new(),
            Err(problems) => problems.to_string(),
        };
        assert!(found().starts_with(CONFIGURATION));
        let text = "examine_globs = [\"crates/a/src/b*.rs\", \"crates/a/src/c.rs\"]\n\
            test_package = [\"sim\"]\noutput = \"target\"\n";
        write(CONFIGURATION, text);
        let told = "there is no crates/a/src/b*.rs\nthere is no crates/a/src/c.rs\n\
            there is no package sim\n";
        assert_eq!(found().replace(&format!("{CONFIGURATION}: "), ""), told);
        write("crates/a/src/b_text.rs", "");
        write("crates/a/src/c.rs", "");
        write("crates/sim/Cargo.toml", "");
        assert_eq!(found(), "");
    }
}
