//! The tests of the workspace by tier: cargo-nextest runs them (`.config/nextest.toml`), this says
//! what was skipped, what needed no proof, what the emulator failed and what was slow.

mod guide;
mod proved;
mod summary;

pub use guide::{Guide, page};

use crate::cargo::{Cargo, output, succeed};
use crate::problems::{CommandResult, Problems};
use crate::step_stamp::StepStamp;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Where proofs find and leave their stamps (crates/testing); below the target directory.
const STAMPS: (&str, &str) = ("SCHEDLAB_STAMPS", "target/tests/stamps");
/// Where tests tell that the emulator failed them, for their repetition (crates/testing).
const FAULTS: (&str, &str) = ("SCHEDLAB_FAULTS", "target/tests/faults");

/// Tests that rest on the project's files: no guest, no server. Those of `quick` and what it leaves out
/// for its time, schedules of faults, the calibration, and kills on a machine of files, but none of a
/// crate that asks the machine for devices, users or counters. One that lacks a program or a privilege skips, and then
/// no stamp is left.
const OF_FILES: &str = "not (binary_id(assembly::workloads) + binary_id(schedlab::end_to_end) \
    + binary(smoke) + package(=build-user) + package(=builds) + package(=probes) \
    + package(=storage) + package(=sys)) \
    + (binary_id(schedlab::end_to_end) & test(/^(sim|log|suites|import|bundle\
    |compare|evidence|undo|reboots|calibration|crashes)::/))";
/// What they rest on beside these: the compiler, the kernel, and what the user may do.
const PROGRAMS_OF_FILES: &[&[&str]] = &[&["rustc", "--version"], &["uname", "-a"], &["id", "-u"]];

/// When a test runs; a tier contains those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// `cargo xtask quick`: no privilege, no guest, no other program.
    Quick,
    /// `make test`.
    Test,
    /// `cargo xtask nightly`.
    Nightly,
}

impl Tier {
    /// The profile of nextest.
    fn profile(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Test => "default",
            Self::Nightly => "nightly",
        }
    }
}

/// Which tests, and how.
#[derive(Debug, Clone)]
pub struct Wish {
    /// All tests up to this tier.
    pub tier: Tier,
    /// Only those whose names contain one of these, whatever their tier; none: all.
    pub names: Vec<String>,
    /// Variables that tests get.
    pub variables: Vec<(String, String)>,
    /// Whether they are built as a release is.
    pub is_release: bool,
    /// Whether proofs run although nothing that they depend on has changed.
    pub is_anew: bool,
    /// Only list.
    pub is_list: bool,
    /// Whether what they print is shown while they run, one at a time; the summary then lacks what
    /// they did not do.
    pub is_shown: bool,
}

impl Wish {
    /// All tests of a tier.
    pub fn of(tier: Tier) -> Self {
        Self {
            tier,
            names: Vec::new(),
            variables: Vec::new(),
            is_release: false,
            is_anew: tier == Tier::Nightly,
            is_list: false,
            is_shown: false,
        }
    }

    /// The stamp of tests that need not be repeated; none where all of them are wanted, or a few.
    fn stamp(&self, root: &Path) -> Option<StepStamp> {
        let may_skip = self.tier == Tier::Test && self.names.is_empty() && !self.is_anew;
        let stamp = || StepStamp::of_project(root, "tests of files", PROGRAMS_OF_FILES).ok();
        may_skip.then(stamp).flatten()
    }
}

/// Builds all tests, and the programs that they start.
pub fn build(cargo: &Cargo) -> CommandResult {
    let mut command = cargo.command(["nextest", "run", "--workspace", "--locked", "--no-run"]);
    succeed(&mut command).map_err(|problems| explained(problems, &command))
}

/// Says what changed files need beside the quick tests.
pub fn advise(cargo: &Cargo) -> CommandResult {
    let guide = Guide::read(cargo.root())?;
    for change in guide.needs(&changed(cargo.root())) {
        println!("changed: {}; it is tested by: {}", change.touches, change.run);
    }
    Ok(())
}

/// All tests of every tier, `BINARY TEST` in each line; `arguments` choose some.
pub fn list(cargo: &Cargo, arguments: &[&str]) -> Result<String, Problems> {
    let mut command = cargo.command(["nextest", "list", "--workspace", "--locked"]);
    command.args(["--ignore-default-filter", "--message-format", "oneline"]).args(arguments);
    output(&mut command)
}

/// Tests that are marked as ignored and are none: other tests start them in a process of theirs.
const ROLES: &[&str] = &["vm::corruption::stand_in_for_qemu"];

/// An ignored test is passed over in silence, so there is none.
fn refuse_ignored(cargo: &Cargo) -> CommandResult {
    let ignored = ignored(&list(cargo, &["--run-ignored", "only"])?);
    let told =
        |test| format!("{test} would never run: a test that cannot run says so (testing::skip)");
    Problems::outcome(ignored.into_iter().map(told).collect())
}

/// The tests of a list of those that are ignored: `BINARY TEST` in each line.
fn ignored(list: &str) -> Vec<String> {
    let is_role = |line: &str| ROLES.iter().any(|role| line.ends_with(role));
    list.lines().filter(|line| line.contains(' ') && !is_role(line)).map(str::to_owned).collect()
}

/// Builds and runs tests, and prints what became of them.
pub fn test(cargo: &Cargo, wish: &Wish) -> CommandResult {
    run(cargo, wish).map(|_| ())
}

/// The same, and returns the tests that skipped, each as `BINARY TEST`; none of those that are
/// shown while they run.
pub fn run(cargo: &Cargo, wish: &Wish) -> Result<Vec<String>, Problems> {
    let profile = wish.tier.profile();
    let mut command = cargo.command(["nextest", if wish.is_list { "list" } else { "run" }]);
    command.args(["--workspace", "--locked", "--profile", profile]);
    if wish.is_release {
        command.arg("--release");
    }
    if !wish.names.is_empty() {
        command.arg("--ignore-default-filter").args(&wish.names);
    }
    if wish.is_list {
        return succeed(&mut command).map(|()| Vec::new());
    }
    if wish.names.is_empty() {
        refuse_ignored(cargo)?;
    }
    let root = cargo.root();
    let stamp = wish.stamp(root);
    if wish.tier == Tier::Test && wish.names.is_empty() {
        let is_fresh = stamp.as_ref().is_some_and(StepStamp::is_fresh);
        // Of what is repeated whatever its stamps say, the proofs of a night are none.
        let proved = match wish.is_anew {
            true => Vec::new(),
            false => proved::tests(&root.join(STAMPS.1)),
        };
        let selected = selected(&proved, is_fresh);
        command.args(["--ignore-default-filter", "--filterset", &selected]);
    }
    let _ = std::fs::remove_dir_all(root.join(FAULTS.1));
    // A soak's release is not what tests are built as: its stamp would let them be repeated.
    if !wish.is_release {
        let anew = if wish.is_anew { "anew:" } else { "" };
        command.env(STAMPS.0, format!("{anew}{}", root.join(STAMPS.1).display()));
    }
    command.args(wish.is_shown.then_some("--no-capture"));
    command
        .args(["--no-tests", "fail"])
        .env(FAULTS.0, root.join(FAULTS.1))
        .envs(wish.variables.iter().map(|(name, value)| (name, value)));
    let report = root.join("target/nextest").join(profile).join("junit.xml");
    let _ = std::fs::remove_file(&report);
    let start = Instant::now();
    let outcome = succeed(&mut command).map_err(|problems| explained(problems, &command));
    let printed = summary::print(&report, start.elapsed().as_secs_f64());
    let skipped = outcome.and(printed)?;
    let Some(stamp) = stamp else { return Ok(skipped) };
    let of_files = list(cargo, &["--filterset", OF_FILES])?;
    leave(stamp, &of_files, &skipped);
    Ok(skipped)
}

/// Leaves the stamp of a list of tests, which all passed. One of them that skipped showed nothing:
/// without a stamp it is tried again.
fn leave(stamp: StepStamp, of_files: &str, skipped: &[String]) {
    if !skipped.iter().any(|test| of_files.lines().any(|line| line == test)) {
        stamp.leave();
    }
}

/// The tests of `make test` as nextest selects them, and a line about each kind that is more or
/// less than usual.
fn selected(proved: &[String], are_files_fresh: bool) -> String {
    let mut selected = "default()".to_owned();
    if !proved.is_empty() {
        println!(
            "tests: {} of nightly's proofs were shown here before: each is repeated if what it depends on has changed",
            proved.len()
        );
        selected = format!("({selected} + {})", proved::filter(proved));
    }
    if are_files_fresh {
        println!(
            "tests: those that rest on the project's files passed with the same ones, and are not repeated"
        );
        selected = format!("{selected} - ({OF_FILES})");
    }
    selected
}

/// What is missing where nextest is.
fn explained(problems: Problems, command: &Command) -> Problems {
    let has_nextest = Command::new(command.get_program())
        .args(["nextest", "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    if has_nextest {
        return problems;
    }
    Problems::one(format!(
        "{problems}tests are run by cargo-nextest: `./setup --tools` installs it"
    ))
}

/// Files that differ from the upstream branch, or are not committed.
fn changed(root: &Path) -> Vec<String> {
    let lines = |arguments: &[&str]| -> Vec<String> {
        let output = Command::new("git").args(arguments).current_dir(root).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        text.unwrap_or_default().lines().map(str::to_owned).collect()
    };
    let mut paths = lines(&["diff", "--name-only", "HEAD"]);
    paths.extend(lines(&["diff", "--name-only", "@{upstream}...HEAD"]));
    paths.extend(lines(&["ls-files", "--others", "--exclude-standard"]));
    paths.sort();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step_stamp::StepInputs;

    #[test]
    fn an_ignored_test_is_told_unless_others_start_it() {
        let list = "assembly::workloads pipe_keeps_its_placement\n\
            schedlab::end_to_end vm::corruption::stand_in_for_qemu\n";
        assert_eq!(ignored(list), ["assembly::workloads pipe_keeps_its_placement"]);
        assert_eq!(ignored(""), Vec::<String>::new());
    }

    #[test]
    fn a_run_in_which_a_test_of_files_skipped_leaves_no_stamp() {
        const NO_INPUTS: StepInputs = StepInputs { files: &[], programs: &[] };
        let root = tempfile::tempdir().unwrap();
        let stamp = || StepStamp::of(root.path(), "tests of files", &NO_INPUTS).unwrap();
        let of_files = "plan tests::one\nplan tests::other\n";
        leave(stamp(), of_files, &["sys tests::device".to_owned(), "plan tests::other".to_owned()]);
        assert!(!stamp().is_fresh(), "one of them skipped");
        leave(stamp(), of_files, &["sys tests::device".to_owned()]);
        assert!(stamp().is_fresh(), "another skipped");
    }

    #[test]
    fn tests_of_files_are_those_of_one_user_and_ask_the_machine_for_nothing() {
        assert!(PROGRAMS_OF_FILES.contains(&["id", "-u"].as_slice()));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let (left_out, _) = OF_FILES.split_once("+ (binary_id").unwrap();
        for package in ["build-user", "builds", "probes", "storage", "sys"] {
            assert!(left_out.contains(&format!("package(={package})")), "{package}");
            assert!(root.join("crates").join(package).join("Cargo.toml").exists(), "{package}");
        }
        let (_, modules) = OF_FILES.split_once("/^(").unwrap();
        for module in modules.split_once(')').unwrap().0.split('|') {
            let file = root.join(format!("crates/schedlab/tests/end_to_end/{module}.rs"));
            assert!(file.exists(), "{module}");
        }
    }
}
