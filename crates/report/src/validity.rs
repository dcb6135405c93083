//! The checks of a report as text: what passed, what speaks against it, what was not shown, and what
//! nobody observed.

use crate::checks::{Check, CheckState, checks};
use crate::quantities::bracketed;
use crate::view::Report;

/// What a reader asks for first: what speaks against the campaign.
const ORDER: [CheckState; 6] = [
    CheckState::Failed,
    CheckState::Warned,
    CheckState::NotShown,
    CheckState::NotObserved,
    CheckState::Passed,
    CheckState::NotApplicable,
];

/// A line for each state: the checks that have it, with what was seen where that is not all well.
pub(crate) fn by_state(report: &Report) -> Vec<String> {
    let language = report.language;
    let checks = checks(report);
    let line = |state: CheckState| {
        let is_well = matches!(state, CheckState::Passed | CheckState::NotApplicable);
        let own = checks.iter().filter(|check| check.state == state);
        let named: Vec<String> = own
            .map(|check| match is_well {
                true => check.name.clone(),
                false => format!("{}{}", check.name, bracketed(&check.detail, language)),
            })
            .collect();
        let parted = if is_well { ", " } else { "; " };
        (!named.is_empty()).then(|| format!("{}: {}", state.word(language), named.join(parted)))
    };
    ORDER.into_iter().filter_map(line).collect()
}

/// A line for each check, with what was seen.
pub(crate) fn by_check(report: &Report) -> Vec<String> {
    let line = |check: Check| {
        format!("{}: {}: {}", check.state.word(report.language), check.name, check.detail)
    };
    checks(report).into_iter().map(line).collect()
}
