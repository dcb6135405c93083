//! How a check comes out, and what is said where nobody looked.

use crate::view::Report;
use phrases::{Language, noted};
use serde::Serialize;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "CheckState"))]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// It was made, and nothing is wrong.
    Passed,
    /// Read the detail before believing.
    Warned,
    /// What was found cannot be trusted.
    Failed,
    /// It was looked at, and what was seen shows neither that it is so nor that it is not.
    NotShown,
    /// The records do not show that anybody looked.
    NotObserved,
    /// The campaign does not ask it.
    NotApplicable,
}

impl CheckState {
    /// The state in a text.
    pub(crate) fn word(self, language: Language) -> &'static str {
        language.word(match self {
            Self::Passed => noted!("passed"),
            Self::Warned => noted!("warning"),
            Self::Failed => noted!("failed"),
            Self::NotShown => noted!("not shown"),
            Self::NotObserved => noted!("not observed"),
            Self::NotApplicable => noted!("not asked"),
        })
    }
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Check {
    /// What, in a few words.
    pub name: String,
    /// How it came out.
    pub state: CheckState,
    /// What was seen, in one sentence.
    pub detail: String,
}

pub(super) const NO_TRIAL: &str = noted!("no trial ran");
pub(super) const NOTHING_RAN: &str = noted!("nothing ran: the numbers are simulated");

pub(super) fn passed(report: &Report, words: &'static str) -> (CheckState, String) {
    (CheckState::Passed, report.language.word(words).to_owned())
}

pub(super) fn not_observed(report: &Report, words: &'static str) -> (CheckState, String) {
    (CheckState::NotObserved, report.language.word(words).to_owned())
}
