//! Which subjects are compared with each other, and how a factor groups them.

use crate::{Level, Subject};
use serde::{Deserialize, Serialize};

/// Which subjects are compared with each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparisons {
    /// Each with the reference.
    #[default]
    Reference,
    /// Each with each, so that they can be ranked.
    All,
    /// Each with the reference of its own level of this factor.
    Within(String),
}

impl Comparisons {
    /// Whether it is what plans have that do not say.
    pub fn is_default(&self) -> bool {
        *self == Self::Reference
    }

    /// The pairs of these subjects, each with what it is compared with first. Controls are
    /// nobody's but the reference's own, and not among them.
    pub fn pairs<'a>(&self, subjects: &'a [Subject]) -> Vec<(&'a Subject, &'a Subject)> {
        let arms: Vec<&Subject> = subjects.iter().filter(|subject| !subject.is_control).collect();
        let with = |first: usize| {
            let reference = arms[first];
            arms[first + 1..].iter().map(move |other| (reference, *other))
        };
        match self {
            Self::Reference => (0..arms.len().min(1)).flat_map(with).collect(),
            Self::All => (0..arms.len()).flat_map(with).collect(),
            Self::Within(factor) => {
                groups(subjects, factor).iter().flat_map(Group::pairs).collect()
            }
        }
    }
}

/// The subjects of one level of a factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group<'a> {
    /// The level; absent of subjects that do not set the factor.
    pub level: Option<&'a Level>,
    /// The one that is the plan's reference but for this factor.
    pub reference: Option<&'a Subject>,
    /// The others, in the plan's order.
    pub others: Vec<&'a Subject>,
}

impl<'a> Group<'a> {
    /// What is compared in it: the reference with each of the others.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a Subject, &'a Subject)> + '_ {
        let with = |reference| self.others.iter().map(move |other| (reference, *other));
        self.reference.into_iter().flat_map(with)
    }
}

/// Subjects grouped by their level of a factor, in the order of their first ones. The
/// first subject is the reference of all; controls belong to no group.
pub fn groups<'a>(subjects: &'a [Subject], factor: &str) -> Vec<Group<'a>> {
    let Some(reference) = subjects.first() else { return Vec::new() };
    let elsewhere = reference.levels_but(factor);
    let mut groups: Vec<Group<'a>> = Vec::new();
    for subject in subjects.iter().filter(|subject| !subject.is_control) {
        let level = subject.levels.get(factor);
        let place = groups.iter().position(|group| group.level == level).unwrap_or_else(|| {
            groups.push(Group { level, reference: None, others: Vec::new() });
            groups.len() - 1
        });
        let group = &mut groups[place];
        if group.reference.is_none() && subject.levels_but(factor) == elsewhere {
            group.reference = Some(subject);
        } else {
            group.others.push(subject);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(id: &str, levels: &[(&str, &str)]) -> Subject {
        let level = |(factor, text): &(&str, &str)| ((*factor).to_owned(), Level::canonical(*text));
        let levels = levels.iter().map(level).collect();
        Subject { id: id.to_owned(), levels, is_control: id.ends_with("-again") }
    }

    #[test]
    fn each_group_is_compared_with_what_the_reference_is_elsewhere() {
        let subjects = [
            subject("cfs-1", &[("scheduler", "cfs"), ("vcpus", "1")]),
            subject("cfs-1-again", &[("scheduler", "cfs"), ("vcpus", "1")]),
            subject("bfs-2", &[("scheduler", "bfs"), ("vcpus", "2")]),
            subject("bfs-1", &[("scheduler", "bfs"), ("vcpus", "1")]),
            subject("cfs-2", &[("scheduler", "cfs"), ("vcpus", "2")]),
            subject("bfs-4", &[("scheduler", "bfs"), ("vcpus", "4")]),
        ];
        let found: Vec<(Option<&str>, Option<&str>, Vec<&str>)> = groups(&subjects, "vcpus")
            .iter()
            .map(|group| {
                (
                    group.level.map(Level::as_str),
                    group.reference.map(|subject| subject.id.as_str()),
                    group.others.iter().map(|subject| subject.id.as_str()).collect(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (Some("1"), Some("cfs-1"), vec!["bfs-1"]),
                (Some("2"), Some("cfs-2"), vec!["bfs-2"]),
                (Some("4"), None, vec!["bfs-4"]),
            ]
        );
        assert_eq!(groups(&[], "vcpus"), []);
    }

    #[test]
    fn the_stored_form_of_the_old_kinds_is_a_word() {
        for (kind, text) in [
            (Comparisons::Reference, r#""reference""#),
            (Comparisons::All, r#""all""#),
            (Comparisons::Within("vcpus".to_owned()), r#"{"within":"vcpus"}"#),
        ] {
            assert_eq!(serde_json::to_string(&kind).unwrap(), text);
            assert_eq!(serde_json::from_str::<Comparisons>(text).unwrap(), kind);
        }
    }
}
