//! What a model has to say of a trace.

use crate::trace::{OrderedEvent, Unusable};
use std::collections::BTreeMap;
use std::fmt;

/// How often a rule could be checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// The rule applied, and what it demands is certain.
    pub decided: u64,
    /// It may have applied: operations overlapped, or the begin was not seen.
    pub undecided: u64,
}

/// A trace that a model accepts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplaySummary {
    /// By rule.
    pub counts: BTreeMap<&'static str, Count>,
    /// Numbers of the trace as a whole: draws counted, p values in millionths.
    pub figures: BTreeMap<&'static str, u64>,
}

/// A decision that no order of overlapping operations allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The rule's name.
    pub rule: &'static str,
    /// The operation.
    pub event: OrderedEvent,
    /// What the rule demands.
    pub expected: String,
}

/// Why a trace is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// It lacks something.
    Unusable(Unusable),
    /// A rule was broken.
    Violation(Box<Violation>),
    /// All of it fits, and a rule was never put to the test.
    Vacuous(&'static str),
    /// All decisions fit, and their distribution does not.
    Improbable(String),
}

/// Counts as a model goes on.
#[derive(Debug, Default)]
pub struct Tally {
    summary: ReplaySummary,
}

/// The end of a model at the first violation.
pub type ModelResult = Result<(), Box<Violation>>;

impl Tally {
    /// A rule that applied: whether what was done is right.
    ///
    /// # Errors
    /// It is not.
    pub fn check(
        &mut self,
        rule: &'static str,
        is_right: bool,
        event: &OrderedEvent,
        expected: impl FnOnce() -> String,
    ) -> ModelResult {
        if !is_right {
            return Err(Box::new(Violation { rule, event: *event, expected: expected() }));
        }
        self.summary.counts.entry(rule).or_default().decided += 1;
        Ok(())
    }

    /// A rule that may have applied.
    pub fn undecided(&mut self, rule: &'static str) {
        self.summary.counts.entry(rule).or_default().undecided += 1;
    }

    /// A number that is the model's own.
    pub fn figure(&mut self, name: &'static str, value: u64) {
        self.summary.figures.insert(name, value);
    }

    /// The end: each of these rules must have been put to the test.
    ///
    /// # Errors
    /// One was not.
    pub fn finish(self, rules: &[&'static str]) -> Result<ReplaySummary, Rejection> {
        let of = |rule: &str| self.summary.counts.get(rule).copied().unwrap_or_default();
        match rules.iter().find(|rule| of(rule).decided == 0) {
            Some(rule) => Err(Rejection::Vacuous(rule)),
            None => Ok(self.summary),
        }
    }
}

impl ReplaySummary {
    /// All checks that were certain.
    pub fn decided(&self) -> u64 {
        self.counts.values().map(|count| count.decided).sum()
    }
}

impl fmt::Display for ReplaySummary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (rule, count) in &self.counts {
            let Count { decided, undecided } = count;
            writeln!(formatter, "{rule}: {decided} right, {undecided} undecided")?;
        }
        for (name, value) in &self.figures {
            writeln!(formatter, "{name}: {value}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: expected {}; {}", self.rule, self.expected, self.event)
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unusable(unusable) => unusable.fmt(formatter),
            Self::Violation(violation) => violation.fmt(formatter),
            Self::Vacuous(rule) => write!(formatter, "vacuous: `{rule}` was never put to the test"),
            Self::Improbable(why) => write!(formatter, "improbable: {why}"),
        }
    }
}

impl std::error::Error for Rejection {}

impl From<Unusable> for Rejection {
    fn from(unusable: Unusable) -> Self {
        Self::Unusable(unusable)
    }
}

impl From<Box<Violation>> for Rejection {
    fn from(violation: Box<Violation>) -> Self {
        Self::Violation(violation)
    }
}
