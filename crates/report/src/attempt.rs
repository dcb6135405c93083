//! Which attempt at an experiment a campaign is, in words: a user who repeats an experiment until it says
//! what is wanted is seen by it.

use crate::view::Report;
use jiff::Timestamp;
use model::{Binding, CaveatCode};
use phrases::{counted, say};

/// What stands at the head of a report: which attempt it is, and that its records are bound to
/// nothing, where they are not.
pub(crate) fn attempt(report: &Report) -> Option<String> {
    let unbound = (report.binding == Binding::Absent && !report.records.is_empty())
        .then(|| report.language.word(CaveatCode::EvidenceUnbound.meaning()).to_owned());
    let sentences: Vec<String> = counted_attempt(report).into_iter().chain(unbound).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Which attempt it is, as far as anybody counted.
fn counted_attempt(report: &Report) -> Option<String> {
    let language = report.language;
    if report.design.imported.is_some() {
        let nobody = language.word(
            "Imports are not counted: nobody knows how many files, or parts of them, were tried.",
        );
        return Some(nobody.to_owned());
    }
    let Some(attempt) = report.attempt else {
        let unknown = language.word(
            "Which attempt at this experiment it is, is unknown: nobody counted, or the count was lost.",
        );
        return Some(unknown.to_owned());
    };
    let since = Timestamp::from_nanosecond(i128::from(attempt.since_unix_ns)).ok()?;
    let since = since.strftime("%Y-%m-%d").to_string();
    let others = attempt.of_question.saturating_sub(attempt.of_plan);
    let own = say!(
        language,
        "Attempt {number} at this experiment on this machine, which counts since {since}.",
        number = attempt.of_plan,
        since
    );
    if others == 0 {
        return Some(own);
    }
    let others = counted!(
        language,
        others,
        "1 other campaign compared two of these subjects by one of these workloads, under whatever names.",
        "{count} other campaigns compared two of these subjects by one of these workloads, under whatever names."
    );
    Some(format!("{own} {others}"))
}
