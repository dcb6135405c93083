//! Whether a campaign may be believed: what was checked, and how it came out.

use crate::view::Report;
use model::{CaveatCode, Role, Verdict};
use serde::Serialize;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing is wrong.
    Passed,
    /// Read the detail before believing.
    Warned,
    /// What was found cannot be trusted.
    Failed,
    /// The campaign does not ask it.
    NotApplicable,
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What, in a few words.
    pub name: String,
    /// How it came out.
    pub state: State,
    /// What was seen, in one sentence.
    pub detail: String,
}

/// Checks that a caveat answers: their names, the codes that speak against them, and what is
/// said where none does.
const BY_CAVEATS: &[(&str, &[CaveatCode], &str)] = &[
    (
        "same work",
        &[
            CaveatCode::NotComparable,
            CaveatCode::DefaultsDiffer,
            CaveatCode::DifferentialFailure,
            CaveatCode::ConditionalSuccess,
        ],
        "every subject did what the others did",
    ),
    (
        "design",
        &[
            CaveatCode::UnblockedDesign,
            CaveatCode::OrderConfounded,
            CaveatCode::ReplicateLevelUnknown,
            CaveatCode::SummaryOnly,
            CaveatCode::Contradicted,
        ],
        "runs of all subjects in blocks of random order",
    ),
    (
        "order and drift",
        &[CaveatCode::Drift, CaveatCode::OrderEffect, CaveatCode::Autocorr],
        "no drift, no effect of the order, blocks independent",
    ),
    (
        "quiet machine",
        &[
            CaveatCode::Interference,
            CaveatCode::Steal,
            CaveatCode::Throttle,
            CaveatCode::Overcommit,
            CaveatCode::ObserverCost,
        ],
        "no foreign load, no stolen time, no throttling",
    ),
    (
        "enough data",
        &[
            CaveatCode::FewBlocks,
            CaveatCode::FewReplicates,
            CaveatCode::FewBoots,
            CaveatCode::InsufficientTail,
            CaveatCode::Noisy,
            CaveatCode::StoppedEarly,
            CaveatCode::Unfinished,
        ],
        "enough blocks and samples for what is asked",
    ),
    (
        "robust verdicts",
        &[
            CaveatCode::Fragile,
            CaveatCode::Outlier,
            CaveatCode::Bimodal,
            CaveatCode::Quantised,
            CaveatCode::NotSteady,
        ],
        "no verdict hangs on one block or one method",
    ),
    (
        "real device and processor",
        &[CaveatCode::HostCacheSuspected, CaveatCode::Tcg, CaveatCode::Simulated],
        "a real processor and a real device were measured",
    ),
];

/// Every check, in the order in which a sceptic asks.
pub fn checks(report: &Report) -> Vec<Check> {
    let mut checks = vec![control(report), trials(report)];
    checks.extend(BY_CAVEATS.iter().map(|(name, codes, good)| {
        let told: Vec<&str> = codes
            .iter()
            .map(|code| code.as_str())
            .filter(|code| report.caveats.iter().any(|caveat| caveat.code == *code))
            .collect();
        let state = if told.is_empty() { State::Passed } else { State::Warned };
        let detail = if told.is_empty() { (*good).to_owned() } else { told.join(", ") };
        Check { name: (*name).to_owned(), state, detail }
    }));
    checks
}

/// The A/A control must not be told apart from its twin.
fn control(report: &Report) -> Check {
    let findings = report.findings.findings.iter();
    let controls: Vec<_> =
        findings.filter(|finding| finding.question.role == Role::Control).collect();
    let differ = controls
        .iter()
        .filter(|finding| matches!(finding.verdict, Verdict::Better | Verdict::Worse))
        .count();
    let (state, detail) = match (controls.len(), differ) {
        (0, _) => (State::NotApplicable, "the campaign has no control".to_owned()),
        (all, 0) => (State::Passed, format!("not told apart from its twin in {all} comparisons")),
        (all, differ) => {
            (State::Failed, format!("told apart from its twin in {differ} of {all} comparisons"))
        }
    };
    Check { name: "A/A control".to_owned(), state, detail }
}

/// Trials that failed or broke a rule: the level was not in force, a scheduler left.
fn trials(report: &Report) -> Check {
    let counts = &report.findings.failures;
    let (failed, invalid): (u64, u64) = counts
        .iter()
        .fold((0, 0), |(failed, invalid), count| (failed + count.failed, invalid + count.invalid));
    let all: u64 = counts.iter().map(|count| count.trials).sum();
    let (state, detail) = if all == 0 {
        (State::NotApplicable, "no trial ran".to_owned())
    } else if failed + invalid == 0 {
        (State::Passed, format!("every level was read back in force in all {all} trials"))
    } else {
        (State::Warned, format!("{failed} of {all} trials failed and {invalid} broke a rule"))
    };
    Check { name: "trials".to_owned(), state, detail }
}
