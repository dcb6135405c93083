//! What others have published, and what new data say of it.

use crate::{Level, Subject};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What somebody has published about a subject, or about all subjects of a level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The claim in a person's words.
    pub says: String,
    /// Where it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Workload label; absent where it is about every workload that asks the metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// Labels of workloads that are compared inside each subject, of those that it runs each
    /// with the one before it; empty where subjects are compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<String>,
    /// Metric id, or several.
    pub metric: ClaimedMetrics,
    /// What it is about.
    pub subject: Claimed,
    /// What that was compared with; where workloads are, the same as the subject.
    pub reference: Claimed,
    /// What was claimed.
    pub effect: ClaimedEffect,
    /// How the comparisons that it is about are put together.
    #[serde(flatten)]
    pub shape: ClaimShape,
}

/// How a claim puts its comparisons together: each for itself, where nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClaimShape {
    /// Subjects of which each is compared with the next; empty where two sides are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// Over what it has to hold.
    #[serde(skip_serializing_if = "ClaimedOver::is_default")]
    pub over: ClaimedOver,
    /// Two places between which the difference of the sides is claimed to turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<ClaimedTurn>,
}

/// Over what a claim about several comparisons has to hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimedOver {
    /// Over every one of them.
    #[default]
    Every,
    /// Over more than half of them.
    Most,
    /// Over the mean of their log ratios in each block.
    Overall,
}

impl ClaimedOver {
    fn is_default(&self) -> bool {
        *self == Self::Every
    }
}

/// Where the difference of two sides is claimed to turn: better means that the subject gains from
/// the first place to the second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedTurn {
    /// A factor of the subjects, or `workload`.
    pub of: String,
    /// Two of its levels, or labels of two workloads.
    pub levels: [String; 2],
}

impl Claim {
    /// Whether one number is made of its comparisons in each block.
    pub fn is_combined(&self) -> bool {
        self.shape.over == ClaimedOver::Overall || self.shape.turns.is_some()
    }

    /// Whether it names one comparison; else it is about all that fit.
    pub fn is_single(&self) -> bool {
        let is_named = |side: &Claimed| matches!(side, Claimed::Subject(_));
        self.shape.order.is_empty()
            && self.workload.is_some()
            && matches!(self.metric, ClaimedMetrics::One(_))
            && is_named(&self.subject)
            && is_named(&self.reference)
    }

    /// Whether it compares workloads inside each subject rather than subjects.
    pub fn is_across_workloads(&self) -> bool {
        !self.workloads.is_empty()
    }

    /// Whether it speaks of these two, its subject first. Where both sides are levels,
    /// the two differ in nothing but the factors that both name: what else differs would be
    /// part of the answer.
    pub fn speaks_of(&self, subject: &Subject, reference: &Subject) -> bool {
        if !self.shape.order.is_empty() {
            let mut steps = self.shape.order.windows(2);
            return steps.any(|two| two[0] == subject.id && two[1] == reference.id);
        }
        let is_fitting = self.subject.includes(subject) && self.reference.includes(reference);
        let (Claimed::Levels(own), Claimed::Levels(others)) = (&self.subject, &self.reference)
        else {
            return is_fitting;
        };
        let is_named = |factor: &String| own.contains_key(factor) && others.contains_key(factor);
        let factors = subject.levels.keys().chain(reference.levels.keys());
        let mut unnamed = factors.filter(|factor| !is_named(factor));
        let is_alike =
            unnamed.all(|factor| subject.levels.get(factor) == reference.levels.get(factor));
        is_fitting && is_alike
    }
}

/// What a claim speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ClaimedMetrics {
    /// The metric of this id.
    One(String),
    /// Each of these.
    Several(Vec<String>),
}

impl ClaimedMetrics {
    /// The ids.
    pub fn ids(&self) -> &[String] {
        match self {
            Self::One(id) => std::slice::from_ref(id),
            Self::Several(ids) => ids,
        }
    }

    /// Whether it speaks of this one.
    pub fn includes(&self, id: &str) -> bool {
        self.ids().iter().any(|known| known == id)
    }
}

impl From<&str> for ClaimedMetrics {
    fn from(id: &str) -> Self {
        Self::One(id.to_owned())
    }
}

impl fmt::Display for ClaimedMetrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.ids().join(", "))
    }
}

/// One side of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Claimed {
    /// The subject of this id.
    Subject(String),
    /// Every subject that has these levels, by factor id; none of them means every subject.
    Levels(BTreeMap<String, Level>),
}

impl Claimed {
    /// Whether a subject is meant; a control never is.
    pub fn includes(&self, subject: &Subject) -> bool {
        match self {
            Self::Subject(id) => subject.id == *id,
            Self::Levels(levels) => {
                let has =
                    |(factor, level): (&String, &Level)| subject.levels.get(factor) == Some(level);
                !subject.is_control && levels.iter().all(has)
            }
        }
    }
}

impl From<&str> for Claimed {
    fn from(id: &str) -> Self {
        Self::Subject(id.to_owned())
    }
}

impl fmt::Display for Claimed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Subject(id) => formatter.write_str(id),
            Self::Levels(levels) if levels.is_empty() => formatter.write_str("every subject"),
            Self::Levels(levels) => {
                let one = |(factor, level): (&String, &Level)| format!("{factor} {level}");
                formatter.write_str(&levels.iter().map(one).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// The effect that a claim claims.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimedEffect {
    /// Better, by an amount that is not said.
    Better,
    /// Worse, by an amount that is not said.
    Worse,
    /// No difference that matters.
    Same,
    /// The metric's value changes by this fraction: 0.45 is 45 % more.
    Change(f64),
}

/// A published claim and what this campaign says of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimFinding {
    /// The claim.
    pub claim: Claim,
    /// What became of it.
    pub outcome: ClaimOutcome,
    /// Why, in one sentence with its numbers.
    pub reason: String,
    /// How its comparisons ended, where it is about more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tally: Option<ClaimTally>,
    /// Whether the numbers are those of an emulated processor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_emulated: bool,
}

/// What new data say of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ClaimOutcome {
    /// It was shown again, its size too where it has one.
    Confirmed,
    /// The other direction was shown, or that no difference matters where one was claimed.
    Refuted,
    /// Its direction was shown again, and its size is excluded.
    RefutedInSize,
    /// The claimed size lies within the margin, and so was measured: the difference is of no
    /// consequence, whatever its size.
    Immaterial,
    /// The same, and the claimed size is excluded.
    RefutedAndImmaterial,
    /// The data say neither.
    Undecided,
}

impl ClaimOutcome {
    /// From good to bad to open.
    pub const ALL: [Self; 6] = [
        Self::Confirmed,
        Self::Immaterial,
        Self::RefutedInSize,
        Self::RefutedAndImmaterial,
        Self::Refuted,
        Self::Undecided,
    ];

    /// Whether the claim as it was printed does not hold.
    pub fn is_refuted(self) -> bool {
        matches!(self, Self::Refuted | Self::RefutedInSize | Self::RefutedAndImmaterial)
    }

    /// Whether the data neither confirm nor refute it.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Undecided | Self::Immaterial)
    }
}

/// How many comparisons of a claim ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimTally {
    /// Those that show it again.
    pub confirmed: usize,
    /// Those that exclude it.
    pub refuted: usize,
    /// Those that say neither.
    pub undecided: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(levels: &[(&str, &str)]) -> BTreeMap<String, Level> {
        let level = |(factor, text): &(&str, &str)| ((*factor).to_owned(), Level::canonical(*text));
        levels.iter().map(level).collect()
    }

    fn subject(own: &[(&str, &str)]) -> Subject {
        Subject { id: "x".to_owned(), levels: levels(own), is_control: false }
    }

    #[test]
    fn levels_mean_subjects_that_differ_in_nothing_else() {
        let claim = Claim {
            says: String::new(),
            source: None,
            workload: None,
            workloads: Vec::new(),
            metric: "m".into(),
            subject: Claimed::Levels(levels(&[("scheduler", "bfs")])),
            reference: Claimed::Levels(levels(&[("scheduler", "cfs")])),
            effect: ClaimedEffect::Better,
            shape: ClaimShape::default(),
        };
        let bfs = |cpus: &str| subject(&[("scheduler", "bfs"), ("vcpus", cpus)]);
        let cfs = |cpus: &str| subject(&[("scheduler", "cfs"), ("vcpus", cpus)]);
        assert!(claim.speaks_of(&bfs("2"), &cfs("2")));
        assert!(!claim.speaks_of(&bfs("2"), &cfs("1")), "processors would be part of it");
        assert!(!claim.speaks_of(&cfs("2"), &bfs("2")));
        let control = Subject { is_control: true, ..bfs("2") };
        assert!(!claim.speaks_of(&control, &cfs("2")));
        let by_id = Claim { reference: "x".into(), ..claim };
        assert!(by_id.speaks_of(&bfs("2"), &cfs("1")), "an id is what it is");
    }

    #[test]
    fn a_claim_about_one_comparison_is_stored_as_it_ever_was() {
        let text = r#"{"says":"b is faster","workload":"w","metric":"m","subject":"b","reference":"a","effect":"better"}"#;
        let claim: Claim = serde_json::from_str(text).unwrap();
        assert!(claim.is_single());
        assert_eq!(serde_json::to_string(&claim).unwrap(), text);
        let wide = r#"{"says":"x","metric":"m","subject":{"scheduler":"bfs"},"reference":"a","effect":{"change":0.45}}"#;
        let claim: Claim = serde_json::from_str(wide).unwrap();
        assert!(!claim.is_single());
        assert_eq!(serde_json::to_string(&claim).unwrap(), wide);
        let across = r#"{"says":"x","workloads":["w-1","w-2"],"metric":["m","n"],"subject":{},"reference":{},"effect":"same"}"#;
        let claim: Claim = serde_json::from_str(across).unwrap();
        assert!(claim.is_across_workloads() && !claim.is_single());
        assert!(claim.metric.includes("n") && !claim.metric.includes("w-1"));
        assert_eq!(claim.subject.to_string(), "every subject");
        assert_eq!(serde_json::to_string(&claim).unwrap(), across);
    }
}
