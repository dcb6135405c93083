//! Two campaigns side by side: what both asked, what one asked, and how they differ otherwise.
//! Nothing is judged across them: what differs between campaigns was not drawn by lot.

use crate::observed::Provenance;
use crate::quantities::confidence;
use crate::view::{Report, SubjectView};
use model::{Finding, Role};
use phrases::{Language, say};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Two campaigns, matched. Each finding of either is in exactly one of the lists.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison<'a> {
    /// The campaigns.
    pub campaigns: [&'a Report; 2],
    /// How the question was put.
    pub design: Facts,
    /// The machine when each began.
    pub environment: Facts,
    /// What both asked and at least one gave a verdict on, in the first one's order.
    pub shared: Vec<[&'a Finding; 2]>,
    /// Secondary metrics of both.
    pub screened: Vec<[&'a Finding; 2]>,
    /// What only one asked, secondary metrics included.
    pub single: [Vec<&'a Finding>; 2],
}

/// Facts that two campaigns tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Those on which they do not agree.
    pub differing: Vec<Fact>,
    /// How many are the same.
    pub alike: usize,
}

/// What each campaign says; nothing where it does not tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its name.
    pub name: String,
    /// Its value in each campaign.
    pub values: [Option<String>; 2],
}

/// Puts two campaigns beside each other.
pub fn compare<'a>(one: &'a Report, other: &'a Report) -> Comparison<'a> {
    let (pairs, single) = matched(&one.findings.findings, &other.findings.findings);
    let is_screen = |pair: &[&Finding; 2]| pair.iter().all(|one| one.question.role == Role::Screen);
    let (screened, shared) = pairs.into_iter().partition(is_screen);
    let both = subjects_of_both(one, other);
    let environment = |report: &Report| report.environment.0.clone().into_iter().collect();
    Comparison {
        campaigns: [one, other],
        design: facts(with_levels(one, &both), with_levels(other, &both)),
        environment: facts(environment(one), environment(other)),
        shared,
        screened,
        single,
    }
}

/// Findings about the same question in pairs, and those of one side alone. Where a side asked
/// the same twice, the first goes with the first.
fn matched<'a>(
    one: &'a [Finding],
    other: &'a [Finding],
) -> (Vec<[&'a Finding; 2]>, [Vec<&'a Finding>; 2]) {
    let mut waiting: BTreeMap<[&str; 4], VecDeque<usize>> = BTreeMap::new();
    for (place, finding) in other.iter().enumerate() {
        waiting.entry(key(finding)).or_default().push_back(place);
    }
    let (mut pairs, mut single) = (Vec::new(), [Vec::new(), Vec::new()]);
    for finding in one {
        match waiting.get_mut(&key(finding)).and_then(VecDeque::pop_front) {
            Some(place) => pairs.push([finding, &other[place]]),
            None => single[0].push(finding),
        }
    }
    let left: BTreeSet<usize> = waiting.into_values().flatten().collect();
    single[1] = left.into_iter().map(|place| &other[place]).collect();
    (pairs, single)
}

fn key(finding: &Finding) -> [&str; 4] {
    let question = &finding.question;
    [&question.workload, &question.metric, &question.subject, &question.reference]
}

/// What differs of two lists of names and values, in the first one's order.
fn facts(one: Vec<(String, String)>, other: Vec<(String, String)>) -> Facts {
    let mut rest: BTreeMap<String, String> = other.iter().cloned().collect();
    let mut facts = Facts::default();
    for (name, value) in one {
        let values = [Some(value), rest.remove(&name)];
        if values[0] == values[1] {
            facts.alike += 1;
        } else {
            facts.differing.push(Fact { name, values });
        }
    }
    let untold = other.into_iter().filter(|(name, _)| rest.contains_key(name));
    let only = untold.map(|(name, value)| Fact { name, values: [None, Some(value)] });
    facts.differing.extend(only);
    facts
}

/// Names of subjects whose levels can be compared.
fn subjects_of_both<'a>(one: &'a Report, other: &Report) -> BTreeSet<&'a str> {
    let names = one.subjects.iter().map(|subject| subject.id.as_str());
    names.filter(|name| other.subjects.iter().any(|subject| subject.id == *name)).collect()
}

/// How a campaign was designed, with the levels of these subjects.
fn with_levels(report: &Report, subjects: &BTreeSet<&str>) -> Vec<(String, String)> {
    let levels = report.subjects.iter().filter(|one| subjects.contains(one.id.as_str()));
    let levels = levels.map(|subject| {
        let name = say!(report.language, "levels of {subject}", subject = subject.id);
        (name, listed(&levels_of(subject), report.language))
    });
    design(report).into_iter().chain(levels).collect()
}

/// How a campaign was designed, but for its subjects' levels. The seed is left out: it decides
/// the order, and no result should hang on it.
pub(crate) fn design(report: &Report) -> Vec<(String, String)> {
    let language = report.language;
    let design = &report.design;
    let is_quick = if design.is_quick { language.word("yes") } else { language.word("no") };
    let ids: Vec<&str> = report.subjects.iter().map(|subject| subject.id.as_str()).collect();
    let caveats: Vec<&str> = report.caveats.iter().map(|caveat| caveat.code.as_str()).collect();
    let origin = Provenance::of(report);
    let is_emulated = report.findings.findings.iter().any(|finding| finding.is_emulated);
    let numbers = match &design.imported {
        None if origin == Provenance::Simulated => {
            language.word("simulated: nothing ran").to_owned()
        }
        None if is_emulated => language.word("measured on an emulated processor").to_owned(),
        None => language.word("measured").to_owned(),
        Some(from) => say!(
            language,
            "imported from {file} ({format})",
            file = from.file,
            format = from.format
        ),
    };
    let of_a_machine = |told: String| match origin {
        Provenance::Ran => told,
        _ => language.word("not observed").to_owned(),
    };
    let facts = [
        (language.word("venue"), design.venue.clone()),
        (language.word("kernel"), design.kernel.clone()),
        (language.word("CPUs"), design.cpus.clone()),
        (language.word("blocks"), design.block_count(language)),
        (language.word("trials"), design.trials.to_string()),
        (language.word("boots"), of_a_machine(design.boot_count(language))),
        (language.word("time of trials"), of_a_machine(design.duration_words(language))),
        (language.word("workloads"), design.workloads.join(", ")),
        (language.word("subjects"), ids.join(", ")),
        (language.word("confidence"), format!("{} %", confidence(design.alpha))),
        (language.word("quick mode"), is_quick.to_owned()),
        (language.word("numbers"), numbers),
        (language.word("caveats"), listed(&caveats, language)),
    ];
    facts.map(|(name, value)| (name.to_owned(), value)).into()
}

fn levels_of(subject: &SubjectView) -> Vec<String> {
    let level = |(factor, level): (&String, &model::Level)| format!("{factor}={}", level.as_str());
    subject.levels.iter().map(level).collect()
}

fn listed<T: AsRef<str>>(words: &[T], language: Language) -> String {
    if words.is_empty() {
        return language.word("none").to_owned();
    }
    words.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(facts: &[(&str, &str)]) -> Vec<(String, String)> {
        facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn facts_that_agree_are_counted_and_the_others_are_told_in_order() {
        let found = facts(
            list(&[("venue", "vm"), ("blocks", "6"), ("kernel", "6.12"), ("old", "x")]),
            list(&[("new", "y"), ("kernel", "6.18"), ("venue", "vm"), ("blocks", "6")]),
        );
        assert_eq!(found.alike, 2);
        let told = found.differing.iter().map(|fact| {
            let [one, other] = &fact.values;
            (fact.name.as_str(), one.as_deref(), other.as_deref())
        });
        let expected = [
            ("kernel", Some("6.12"), Some("6.18")),
            ("old", Some("x"), None),
            ("new", None, Some("y")),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }
}
