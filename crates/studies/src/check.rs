//! A check: what is computed from a study's tables, and what of it was printed.

use serde::{Deserialize, Serialize};

/// Whose figures a check asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureSource {
    /// Those that the claim rests on.
    Own,
    /// Those that the study prints of the same somewhere else.
    Elsewhere,
}

/// A row of `checks.csv`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Check {
    /// The id of a claim, or `contradiction` and that of one.
    pub(crate) of: String,
    pub(crate) source: FigureSource,
    /// What is computed, and behind a colon by which column.
    pub(crate) measure: String,
    pub(crate) subject: String,
    pub(crate) reference: String,
    /// What the study prints of it; empty where it prints nothing.
    pub(crate) printed: String,
}

/// What a check came to.
#[derive(Debug, Clone, Serialize)]
pub struct CheckOutcome {
    /// Whose figures it asked.
    pub source: FigureSource,
    /// Whether what is claimed holds of them; nothing where the check only tells a size.
    pub holds: Option<bool>,
    /// What was computed from what, in a sentence.
    pub told: String,
}
