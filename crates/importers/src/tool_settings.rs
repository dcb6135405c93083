//! What a tool says of how it was run, compared between subjects.

use crate::shown::{both_ends, contrasted};
use std::collections::{BTreeMap, BTreeSet};

/// Characters that are told of a value, and of the name of a setting or subject.
const LONGEST_VALUE: usize = 60;
const LONGEST_NAME: usize = 40;
/// Settings that are compared.
const MOST_SETTINGS: usize = 1_000;
/// Stands for a setting that the tool does not name in a file.
const NOT_SAID: &str = "not said";

/// What the version of a tool is called among its settings.
const VERSION: &str = "version";

/// What stands for an option without a value.
const GIVEN: &str = "yes";

/// The options of a command line by name, so that the one that differs is told and not all of them:
/// `--msg-size=64`, `-t 2`, `--full-rtt`.
pub(crate) fn options<'a>(words: impl Iterator<Item = &'a str>) -> BTreeMap<String, String> {
    let is_value = |word: &&str| *word == "-" || !word.starts_with('-');
    let mut options = BTreeMap::new();
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some(both) => both,
            None => (word, words.next_if(is_value).unwrap_or(GIVEN)),
        };
        options.insert(name.to_owned(), value.to_owned());
    }
    options
}

/// Settings with the version of the tool, which is one of them: another one may measure in another
/// way.
pub(crate) fn with_version(
    settings: &BTreeMap<String, String>,
    version: Option<&str>,
) -> BTreeMap<String, String> {
    let mut settings = settings.clone();
    settings.extend(version.map(|version| (VERSION.to_owned(), version.to_owned())));
    settings
}

/// How often each value stands in the files of a subject.
type ValueCounts = BTreeMap<String, usize>;

/// Settings by name, subject and value.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ToolSettings {
    values: BTreeMap<String, BTreeMap<String, ValueCounts>>,
    /// Executions of each subject of which the tool states any.
    executions: BTreeMap<String, usize>,
}

impl ToolSettings {
    /// Adds those of one execution of a subject.
    pub(crate) fn add(&mut self, subject: &str, settings: &BTreeMap<String, String>) {
        if settings.is_empty() {
            return;
        }
        *self.executions.entry(subject.to_owned()).or_default() += 1;
        for (name, value) in settings {
            if self.values.len() >= MOST_SETTINGS && !self.values.contains_key(name) {
                continue;
            }
            let of_name = self.values.entry(name.clone()).or_default();
            let counts = of_name.entry(subject.to_owned()).or_default();
            *counts.entry(value.clone()).or_default() += 1;
        }
    }

    /// Each setting that two subjects do not have as often, with both.
    pub(crate) fn differences(&self) -> Vec<String> {
        let mut told = Vec::new();
        for (name, by_subject) in &self.values {
            let of = |(subject, executions): (&String, &usize)| {
                let counts = by_subject.get(subject).cloned().unwrap_or_default();
                (subject.clone(), Mix::of(counts, *executions))
            };
            let mixes: Vec<(String, Mix)> = self.executions.iter().map(of).collect();
            let Some((first, of_first)) = mixes.first() else { continue };
            if let Some((other, mix)) = mixes.iter().find(|(_, mix)| !mix.is_alike(of_first)) {
                told.push(told_difference(name, [(first, of_first), (other, mix)]));
            }
        }
        told
    }
}

/// A setting with its values of two subjects: of long ones the part in which they differ.
fn told_difference(name: &str, [(first, one), (second, other)]: [(&String, &Mix); 2]) -> String {
    let name = both_ends(name, LONGEST_NAME);
    let [first, second] = contrasted(first, second, LONGEST_NAME);
    let [one, other] = contrasted(&one.told(), &other.told(), LONGEST_VALUE);
    format!("{name} ({first}: {one}; {second}: {other})")
}

/// The values of one setting in the executions of one subject.
struct Mix {
    counts: ValueCounts,
    executions: usize,
}

impl Mix {
    fn of(mut counts: ValueCounts, executions: usize) -> Self {
        let silent = executions.saturating_sub(counts.values().sum());
        if silent > 0 {
            counts.insert(NOT_SAID.to_owned(), silent);
        }
        Self { counts, executions }
    }

    /// Whether each value has the same share of the executions.
    fn is_alike(&self, other: &Self) -> bool {
        let values: BTreeSet<&String> = self.counts.keys().chain(other.counts.keys()).collect();
        values.into_iter().all(|value| {
            let of = |mix: &Self| mix.counts.get(value).copied().unwrap_or(0);
            of(self) * other.executions == of(other) * self.executions
        })
    }

    fn told(&self) -> String {
        let told = |(value, count): (&String, &usize)| match self.counts.len() {
            1 => value.clone(),
            _ => format!("{value} in {count} of {}", self.executions),
        };
        self.counts.iter().map(told).collect::<Vec<_>>().join(" and ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What differs among executions; each item is a subject, its connections, and how many have
    /// them. An empty text stands for a tool that does not tell its connections.
    fn differences(all: &[(&str, &str, usize)]) -> Vec<String> {
        let mut settings = ToolSettings::default();
        for (subject, connections, count) in all {
            let mut of_one = BTreeMap::from([("threads".to_owned(), "2".to_owned())]);
            if !connections.is_empty() {
                of_one.insert("connections".to_owned(), (*connections).to_owned());
            }
            (0..*count).for_each(|_| settings.add(subject, &of_one));
        }
        settings.differences()
    }

    #[test]
    fn long_values_that_differ_at_their_end_are_told_with_it() {
        let disk = "/dev/disk/by-id/nvme-".to_owned() + &"0".repeat(150);
        let (one, other) = (format!("{disk}-1"), format!("{disk}-2"));
        let told = differences(&[("a", one.as_str(), 5), ("b", other.as_str(), 5)]);
        let zeros = "0".repeat(58);
        assert_eq!(told, [format!("connections (a: …{zeros}-1; b: …{zeros}-2)")]);
    }

    #[test]
    fn options_are_told_apart_with_their_values() {
        let line = "-m 1 --msg-size=64 --full-rtt -t 2 -j - --rps 50";
        let told: Vec<(String, String)> = options(line.split_whitespace()).into_iter().collect();
        let told: Vec<(&str, &str)> =
            told.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(
            told,
            [
                ("--full-rtt", "yes"),
                ("--msg-size", "64"),
                ("--rps", "50"),
                ("-j", "-"),
                ("-m", "1"),
                ("-t", "2")
            ]
        );
    }

    #[test]
    fn settings_are_alike_where_each_has_the_same_share_of_the_executions() {
        assert_eq!(differences(&[("a", "100", 5), ("b", "100", 7)]), [""; 0]);
        let mixed = [("a", "100", 5), ("a", "400", 5), ("b", "100", 2), ("b", "400", 2)];
        assert_eq!(differences(&mixed), [""; 0]);
        assert_eq!(
            differences(&[("a", "100", 9), ("a", "400", 1), ("b", "100", 1), ("b", "400", 9)]),
            [
                "connections (a: 100 in 9 of 10 and 400 in 1 of 10; b: 100 in 1 of 10 and 400 in 9 of 10)"
            ]
        );
        assert_eq!(
            differences(&[("a", "100", 5), ("b", "400", 5)]),
            ["connections (a: 100; b: 400)"]
        );
        assert_eq!(
            differences(&[("a", "100", 5), ("b", "", 5)]),
            ["connections (a: 100; b: not said)"]
        );
    }
}
