//! How each test is run: `xtask/tests.toml`, a list of rules by the beginning of a test's name.
//!
//! All rules that match a test apply, later ones over earlier ones. A rule that matches no test is
//! refused: the test was renamed, and would run without its rule.

use crate::problems::Problems;
use serde::Deserialize;
use std::path::Path;

/// The file of rules, below the workspace.
pub const FILE: &str = "xtask/tests.toml";

/// When a test runs; a tier contains those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// `cargo xtask quick`: no privilege, no guest, no other program.
    Quick,
    /// `make test`.
    Test,
    /// `cargo xtask nightly`.
    Nightly,
}

/// How one test is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The first tier it is part of.
    pub tier: Tier,
    /// How many processors it keeps busy; so many of this machine's it waits for.
    pub cpus: usize,
    /// After so many seconds it is ended, and has failed.
    pub limit_s: u64,
    /// Tests of one group run one after the other.
    pub group: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Beginnings of names: package, target unless it is the library, path.
    tests: Vec<String>,
    tier: Option<Tier>,
    cpus: Option<usize>,
    limit_s: Option<u64>,
    group: Option<String>,
}

/// What a change below a path needs beside the quick tier.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Beginnings of paths, relative to the workspace.
    pub paths: Vec<String>,
    /// What is tested by it, in a word or two.
    pub touches: String,
    /// The command that tests it.
    pub run: String,
}

/// A guarantee of the product, and the tests that hold it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guarantee {
    /// One sentence.
    pub states: String,
    /// Beginnings of names of tests, or steps (`step:ui`).
    pub tests: Vec<String>,
}

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    #[serde(rename = "rule")]
    entries: Vec<Entry>,
    /// The map from paths to tests.
    #[serde(rename = "change", default)]
    pub changes: Vec<Change>,
    /// Where each guarantee is tested.
    #[serde(rename = "guarantee", default)]
    pub guarantees: Vec<Guarantee>,
}

impl Rules {
    /// Reads the file of a workspace.
    pub fn read(root: &Path) -> Result<Self, Problems> {
        let path = root.join(FILE);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Problems::one(format!("cannot read {}: {error}", path.display())))?;
        Self::parse(&text)
    }

    /// From the file's text.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        toml::from_str(text).map_err(|error| Problems::one(format!("{FILE}: {error}")))
    }

    /// How a test is run.
    pub fn of(&self, name: &str) -> Rule {
        let mut rule = Rule { tier: Tier::Quick, cpus: 1, limit_s: 60, group: None };
        let matching = |entry: &&Entry| entry.tests.iter().any(|begin| name.starts_with(begin));
        for entry in self.entries.iter().filter(matching) {
            rule.tier = entry.tier.unwrap_or(rule.tier);
            rule.cpus = entry.cpus.unwrap_or(rule.cpus);
            rule.limit_s = entry.limit_s.unwrap_or(rule.limit_s);
            rule.group = entry.group.clone().or(rule.group);
        }
        rule
    }

    /// Beginnings of names that no test has.
    pub fn unused(&self, names: &[&str]) -> Vec<String> {
        let rules = self.entries.iter().flat_map(|entry| &entry.tests);
        let guarantees = self.guarantees.iter().flat_map(|guarantee| &guarantee.tests);
        rules
            .chain(guarantees.filter(|begin| !begin.starts_with("step:")))
            .filter(|begin| !names.iter().any(|name| name.starts_with(begin.as_str())))
            .map(|begin| format!("{FILE}: no test's name begins with `{begin}`"))
            .collect()
    }

    /// What changed files need, each once.
    pub fn needs<'r>(&'r self, changed: &[String]) -> Vec<&'r Change> {
        let is_touched = |change: &&Change| {
            let begins = |path: &String| change.paths.iter().any(|begin| path.starts_with(begin));
            changed.iter().any(begins)
        };
        self.changes.iter().filter(is_touched).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        [[rule]]
        tests = ["schedlab::end_to_end::"]
        tier = "test"
        limit_s = 90
        [[rule]]
        tests = ["schedlab::end_to_end::vm::", "schedlab::end_to_end::bank::"]
        cpus = 2
        group = "guests"
        [[rule]]
        tests = ["schedlab::end_to_end::vm::external"]
        tier = "nightly"
        [[change]]
        paths = ["web/", "crates/web/"]
        touches = "the page"
        run = "cargo xtask ui --test"
    "#;

    #[test]
    fn later_rules_apply_over_earlier_ones() {
        let rules = Rules::parse(TEXT).unwrap();
        let unit = rules.of("stats::t::tests::a");
        assert_eq!((unit.tier, unit.cpus, unit.limit_s), (Tier::Quick, 1, 60));
        let external = rules.of("schedlab::end_to_end::vm::external::all");
        assert_eq!((external.tier, external.cpus, external.limit_s), (Tier::Nightly, 2, 90));
        assert_eq!(external.group.as_deref(), Some("guests"));
        assert!(Tier::Quick < Tier::Test && Tier::Test < Tier::Nightly);
    }

    #[test]
    fn a_rule_for_no_test_is_named() {
        let rules = Rules::parse(TEXT).unwrap();
        let names = ["schedlab::end_to_end::vm::external::all"];
        assert_eq!(
            rules.unused(&names),
            [format!("{FILE}: no test's name begins with `schedlab::end_to_end::bank::`")]
        );
    }

    #[test]
    fn changed_paths_name_what_they_need_once() {
        let rules = Rules::parse(TEXT).unwrap();
        let changed = ["web/src/a.ts", "web/src/b.ts", "docs/x.md"].map(str::to_owned);
        let needs = rules.needs(&changed);
        assert_eq!(needs.len(), 1);
        assert_eq!(needs[0].touches, "the page");
        assert!(Rules::parse("[[rule]]\ntests = []\nspeed = 1").is_err());
    }
}
