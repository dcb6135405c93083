//! Whether a campaign may be believed: what was checked, and how it came out.

use crate::view::Report;
use model::{CaveatCheck, CaveatCode, Finding, Role, Verdict};
use phrases::{noted, say};
use serde::Serialize;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "CheckState"))]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Check {
    /// What, in a few words.
    pub name: String,
    /// How it came out.
    pub state: CheckState,
    /// What was seen, in one sentence.
    pub detail: String,
    /// The caveats that speak against it.
    #[serde(skip)]
    pub caveats: Vec<&'static str>,
}

/// Checks that a caveat answers, their names, and what is said where no caveat speaks against it.
const BY_CAVEATS: &[(CaveatCheck, &str, &str)] = &[
    (CaveatCheck::SameWork, noted!("same work"), noted!("every subject did what the others did")),
    (
        CaveatCheck::Design,
        noted!("design"),
        noted!("runs of all subjects in blocks of random order"),
    ),
    (
        CaveatCheck::OrderAndDrift,
        noted!("order and drift"),
        noted!("no drift, no effect of the order, blocks independent"),
    ),
    (
        CaveatCheck::QuietMachine,
        noted!("quiet machine"),
        noted!("no foreign load, no stolen time, no throttling"),
    ),
    (
        CaveatCheck::EnoughData,
        noted!("enough data"),
        noted!("enough blocks and samples for what is asked"),
    ),
    (
        CaveatCheck::RobustVerdicts,
        noted!("robust verdicts"),
        noted!("no verdict hangs on one block or one method"),
    ),
    (
        CaveatCheck::RealHardware,
        noted!("real device and processor"),
        noted!("a real processor and a real device were measured"),
    ),
];

/// Every check, in the order in which a sceptic asks.
pub fn checks(report: &Report) -> Vec<Check> {
    let language = report.language;
    let mut checks = vec![control(report), trials(report)];
    checks.extend(BY_CAVEATS.iter().map(|(check, name, good)| {
        let codes = CaveatCode::ALL.iter().filter(|code| code.check() == *check);
        let told: Vec<&'static str> = codes
            .map(|code| code.as_str())
            .filter(|code| report.caveats.iter().any(|caveat| caveat.code == *code))
            .collect();
        let state = if told.is_empty() { CheckState::Passed } else { CheckState::Warned };
        let detail = if told.is_empty() { language.word(good).to_owned() } else { told.join(", ") };
        Check { name: language.word(name).to_owned(), state, detail, caveats: told }
    }));
    checks
}

/// So many margins an interval may be wide for silence to say something: a difference of a few
/// margins would then have been told.
const WIDEST_MARGINS: f64 = 4.0;

/// Whether a difference that matters would have been told: silence says something only then.
fn could_differ(finding: &Finding) -> bool {
    let Some(effect) = &finding.effect else { return false };
    let width = (effect.interval.high / effect.interval.low).ln();
    let is_narrow = width <= WIDEST_MARGINS * finding.margin.ln_1p();
    match finding.verdict {
        Verdict::Better | Verdict::Worse | Verdict::Equivalent => true,
        Verdict::Inconclusive => is_narrow && !finding.is_forbidden() && !effect.does_not_vary(),
        Verdict::Invalid => false,
    }
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
    // A campaign that can go on decides nothing.
    let is_judged =
        report.findings.caveats.iter().all(|caveat| caveat.code != CaveatCode::Unfinished);
    let able = controls.iter().filter(|finding| is_judged && could_differ(finding)).count();
    let language = report.language;
    let (state, detail) = match (controls.len(), differ) {
        (0, _) => {
            (CheckState::NotApplicable, language.word("the campaign has no control").to_owned())
        }
        (all, 0) if able == 0 => (
            CheckState::Warned,
            say!(language, "too little data to tell a twin apart in any of {all} comparisons", all),
        ),
        (all, 0) if able < all => (
            CheckState::Passed,
            say!(
                language,
                "not told apart from its twin in {able} comparisons; {rest} have too little data for it",
                able,
                rest = all - able
            ),
        ),
        (all, 0) => (
            CheckState::Passed,
            say!(language, "not told apart from its twin in {all} comparisons", all),
        ),
        (all, differ) => (
            CheckState::Failed,
            say!(
                language,
                "told apart from its twin in {differ} of {all} comparisons",
                differ,
                all
            ),
        ),
    };
    Check { name: language.word("A/A control").to_owned(), state, detail, caveats: Vec::new() }
}

/// Trials that failed or broke a rule: the level was not in force, a scheduler left.
fn trials(report: &Report) -> Check {
    let language = report.language;
    let counts = &report.findings.failures;
    let (failed, invalid): (u64, u64) = counts
        .iter()
        .fold((0, 0), |(failed, invalid), count| (failed + count.failed, invalid + count.invalid));
    let all: u64 = counts.iter().map(|count| count.trials).sum();
    let (state, detail) = if all == 0 {
        (CheckState::NotApplicable, language.word("no trial ran").to_owned())
    } else if failed + invalid == 0 {
        (
            CheckState::Passed,
            say!(language, "every level was read back in force in all {all} trials", all),
        )
    } else {
        (
            CheckState::Warned,
            say!(
                language,
                "{failed} of {all} trials failed and {invalid} broke a rule",
                failed,
                all,
                invalid
            ),
        )
    };
    Check { name: language.word("trials").to_owned(), state, detail, caveats: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_caveat_is_left_out_of_what_is_checked() {
        let is_checked = |code: &&CaveatCode| {
            BY_CAVEATS.iter().any(|(check, ..)| *check == code.check())
                || code.check() == CaveatCheck::Elsewhere
        };
        assert!(CaveatCode::ALL.iter().all(|code| is_checked(&code)));
    }
}
