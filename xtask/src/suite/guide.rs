//! What a change needs, and where each guarantee is tested: `xtask/tests.toml`, and the page that
//! is made from it.

use crate::problems::Problems;
use serde::Deserialize;
use std::fmt::Write;
use std::path::Path;

/// The file, below the workspace.
const FILE: &str = "xtask/tests.toml";

/// What a change below a path needs beside the quick tier.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Beginnings of paths, relative to the workspace.
    paths: Vec<String>,
    /// What it touches, in a word or two.
    pub touches: String,
    /// The command that tests it.
    pub run: String,
}

/// A guarantee of the product, and where it is tested.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Guarantee {
    /// One sentence.
    states: String,
    /// The tests or steps, as a command selects them.
    tests: String,
    /// `quick`, `test` or `nightly`.
    tier: String,
    /// About how long it takes on two processors without KVM.
    takes: String,
}

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guide {
    #[serde(rename = "change", default)]
    changes: Vec<Change>,
    #[serde(rename = "guarantee", default)]
    guarantees: Vec<Guarantee>,
}

impl Guide {
    /// Reads the file of a workspace.
    pub fn read(root: &Path) -> Result<Self, Problems> {
        let path = root.join(FILE);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Problems::one(format!("cannot read {}: {error}", path.display())))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, Problems> {
        toml::from_str(text).map_err(|error| Problems::one(format!("{FILE}: {error}")))
    }

    /// What changed files need, each once.
    pub fn needs<'g>(&'g self, changed: &[String]) -> Vec<&'g Change> {
        let is_touched = |change: &&Change| {
            let begins = |path: &String| change.paths.iter().any(|begin| path.starts_with(begin));
            changed.iter().any(begins)
        };
        self.changes.iter().filter(is_touched).collect()
    }
}

/// `docs/tests.md`.
pub fn page(guide: &Guide) -> String {
    let mut text = String::from(
        "# Where each guarantee is tested\n\n\
         Written by `cargo xtask docs` from `xtask/tests.toml`. Times are those of two processors \
         without KVM; those of `nightly` are estimates. `quick` is `cargo xtask quick`, `test` is \
         `make test` and contains it, `nightly` is `cargo xtask nightly` and contains both. A proof \
         of `nightly` that succeeded leaves a stamp below `target/tests/stamps`, and `make test` has it from \
         then on: it is told and not repeated until `prove`, which holds the schedulers' objects, \
         the kernel, QEMU or what the tests hold the answers against changes, and repeated then; without \
         a stamp, in a fresh clone, only the short ones run. Neither are the tests of the page and of the \
         bank repeated while their files and programs are the same, nor the documentation while no file of \
         the project and no compiler is another. The same holds of tests that rest on these, the kernel and \
         the user: `quick` without `build-user`, `builds`, `probes`, `storage` and `sys`, which ask the \
         machine for devices, users or counters; what tries all combinations (`.config/nextest.toml`), \
         schedules of faults, `calibration::` and `crashes::`. Other programs that such tests start are not compared, and a run in which one of them skips leaves no \
         stamp of them. `nightly` and `--anew` repeat all.\n\n\
         | guarantee | tests | tier | takes |\n|---|---|---|---|\n",
    );
    for Guarantee { states, tests, tier, takes } in &guide.guarantees {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "| {states} | {tests} | {tier} | {takes} |");
    }
    text.push_str("\n## What a change needs\n\n| below | touches | run |\n|---|---|---|\n");
    for Change { paths, touches, run } in &guide.changes {
        let paths: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
        let _ = writeln!(text, "| {} | {touches} | `{run}` |", paths.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        [[change]]
        paths = ["web/", "crates/web/"]
        touches = "the page"
        run = "cargo xtask ui --test"
        [[guarantee]]
        states = "Nothing is lost"
        tests = "`crashes::`"
        tier = "quick"
        takes = "20 s"
    "#;

    #[test]
    fn changed_paths_name_what_they_need_once() {
        let guide = Guide::parse(TEXT).unwrap();
        let changed = ["web/src/a.ts", "web/src/b.ts", "docs/tests.md"].map(str::to_owned);
        let needs = guide.needs(&changed);
        assert_eq!(needs.len(), 1);
        assert_eq!(needs[0].touches, "the page");
        assert!(guide.needs(&["docs/web/".to_owned()]).is_empty());
        assert!(Guide::parse("[[change]]\npaths = []\nspeed = 1").is_err());
    }

    #[test]
    fn every_crate_begins_with_a_path_of_a_change() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let guide = Guide::read(root).unwrap();
        let workspace = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
        let workspace: toml::Table = toml::from_str(&workspace).unwrap();
        let members = workspace["workspace"]["members"].as_array().unwrap();
        let mut crates = Vec::new();
        for member in members.iter().map(|member| member.as_str().unwrap()) {
            let Some(parent) = member.strip_suffix('*') else {
                crates.push(format!("{member}/"));
                continue;
            };
            for entry in root.join(parent).read_dir().unwrap() {
                let path = entry.unwrap().path();
                if path.join("Cargo.toml").exists() {
                    crates.push(format!("{parent}{}/", path.file_name().unwrap().display()));
                }
            }
        }
        crates.retain(|one| guide.needs(std::slice::from_ref(one)).is_empty());
        assert_eq!(crates, [""; 0], "no change in {FILE} is below these");
    }

    #[test]
    fn pages_and_dependencies_are_below_a_path_of_a_change() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let guide = Guide::read(root).unwrap();
        for path in ["Cargo.lock", "docs/method.md", "README.md", "setup"] {
            assert!(!guide.needs(&[path.to_owned()]).is_empty(), "{path}");
        }
        assert!(guide.needs(&["LICENSE".to_owned()]).is_empty());
    }

    #[test]
    fn what_is_run_is_a_command_and_each_test_stands_apart() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let guide = Guide::read(root).unwrap();
        let makefile = std::fs::read_to_string(root.join("Makefile")).unwrap();
        let commands = guide.changes.iter().flat_map(|change| change.run.split(" && "));
        for command in commands.filter(|command| command.starts_with("make ")) {
            let target = command.rsplit(' ').next().unwrap();
            assert!(makefile.contains(&format!("\n{target}:\n")), "{command}");
        }
        for Guarantee { tests, .. } in &guide.guarantees {
            let mut names = tests.split('`').skip(1).step_by(2).filter(|name| name.contains("::"));
            assert!(names.all(|name| !name.contains(", ")), "{tests}");
        }
    }

    /// How the names of tests begin that a filter of nextest chooses by regular expressions.
    fn beginnings(filter: &str) -> Vec<String> {
        let patterns = filter.split("test(/^").skip(1).filter_map(|rest| rest.split("/)").next());
        let spelled = |pattern: &str| -> Vec<String> {
            let Some((before, rest)) = pattern.split_once('(') else {
                return vec![pattern.to_owned()];
            };
            let (group, after) = rest.split_once(')').unwrap();
            group.split('|').map(|one| format!("{before}{one}{after}")).collect()
        };
        patterns.flat_map(spelled).collect()
    }

    #[test]
    fn each_guarantee_has_the_tier_that_its_end_to_end_tests_are_in() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let guide = Guide::read(root).unwrap();
        let tiers = std::fs::read_to_string(root.join(".config/nextest.toml")).unwrap();
        let tiers: toml::Table = toml::from_str(&tiers).unwrap();
        let filter = |profile: &str| tiers["profile"][profile]["default-filter"].as_str().unwrap();
        // What `quick` takes stands in brackets; what it leaves out of that comes after them.
        let quick = beginnings(filter("quick").split("\n)").next().unwrap());
        let of_night = beginnings(filter("default"));
        let is_end_to_end = |name: &&str| {
            name.split_once("::").is_some_and(|(module, _)| {
                root.join(format!("crates/schedlab/tests/end_to_end/{module}.rs")).exists()
            })
        };
        let mut checked = 0;
        for Guarantee { tests, tier, .. } in &guide.guarantees {
            assert!(["quick", "test", "nightly"].contains(&tier.as_str()), "{tests}: {tier}");
            // A command of the night says itself which tests it starts, and some run by day as well.
            if tests.contains("cargo xtask") {
                continue;
            }
            for name in tests.split('`').skip(1).step_by(2).filter(is_end_to_end) {
                let is_among =
                    |begins: &[String]| begins.iter().any(|begin| name.starts_with(begin));
                let found = match (is_among(&of_night), is_among(&quick)) {
                    (true, _) => "nightly",
                    (false, true) => "quick",
                    (false, false) => "test",
                };
                assert_eq!(found, tier, "{name}");
                checked += 1;
            }
        }
        assert!(checked > 30, "only {checked} names were checked");
    }

    #[test]
    fn the_page_has_a_row_for_each_guarantee_and_each_path() {
        let page = page(&Guide::parse(TEXT).unwrap());
        assert!(page.contains("| Nothing is lost | `crashes::` | quick | 20 s |\n"));
        assert!(page.contains("| `web/`, `crates/web/` | the page | `cargo xtask ui --test` |\n"));
    }
}
