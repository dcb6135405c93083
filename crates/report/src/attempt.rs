//! Which attempt at an experiment a campaign is, in words: a user who repeats an experiment until it says
//! what is wanted is seen by it.

use crate::view::Report;
use jiff::Timestamp;
use phrases::{counted, say};

/// The sentence; none of numbers that somebody else measured.
pub(crate) fn attempt(report: &Report) -> Option<String> {
    let language = report.language;
    if report.design.imported.is_some() {
        return None;
    }
    let Some(attempt) = report.attempt else {
        let nobody = language.word("Nobody counted which attempt at this experiment it is.");
        return Some(nobody.to_owned());
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
        "1 other campaign compared these subjects by these workloads.",
        "{count} other campaigns compared these subjects by these workloads."
    );
    Some(format!("{own} {others}"))
}
