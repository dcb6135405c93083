//! Which attempt at an experiment a campaign is, in words: a user who repeats an experiment until it says
//! what is wanted is seen by it.

use crate::view::Report;
use jiff::Timestamp;
use model::{Binding, CaveatCode};
use phrases::{Language, counted, say};

/// What stands at the head of a report: which attempt it is, how often it was resumed, and that its
/// records are bound to nothing, where they are not.
pub(crate) fn attempt(report: &Report) -> Option<String> {
    let unbound = (report.binding == Binding::Absent && !report.records.is_empty())
        .then(|| report.language.word(CaveatCode::EvidenceUnbound.meaning()).to_owned());
    let counted = counted_attempt(report).into_iter().chain(resumed(report));
    let sentences: Vec<String> = counted.chain(unbound).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// How often a run went on with it, where one did.
fn resumed(report: &Report) -> Option<String> {
    let times = report.resumptions;
    (times > 0).then(|| {
        counted!(report.language, times, "It was resumed once.", "It was resumed {count} times.")
    })
}

/// Which attempt it is, as far as anybody counted.
fn counted_attempt(report: &Report) -> Option<String> {
    let language = report.language;
    let is_import = report.design.imported.is_some();
    let Some(attempt) = report.attempt else {
        let unknown = if is_import {
            language.word(
                "Which attempt at this import it is, is unknown: nobody counted, or the count was lost.",
            )
        } else {
            language.word(
                "Which attempt at this experiment it is, is unknown: nobody counted, or the count was lost.",
            )
        };
        return Some(unknown.to_owned());
    };
    let since = Timestamp::from_nanosecond(i128::from(attempt.since_unix_ns)).ok()?;
    let since = since.strftime("%Y-%m-%d").to_string();
    let others = attempt.of_question.saturating_sub(attempt.of_plan);
    let number = attempt.of_plan;
    let own = if is_import {
        say!(
            language,
            "Attempt {number} at this import on this machine, which counts since {since}.",
            number,
            since
        )
    } else {
        say!(
            language,
            "Attempt {number} at this experiment on this machine, which counts since {since}.",
            number,
            since
        )
    };
    match others {
        0 => Some(own),
        _ if is_import => Some(format!("{own} {}", other_imports(others, language))),
        _ => Some(format!("{own} {}", other_campaigns(others, language))),
    }
}

/// Imports that may have been made of the same numbers.
fn other_imports(others: u64, language: Language) -> String {
    counted!(
        language,
        others,
        "1 other import was of this format with two of these subjects, or of one of these files.",
        "{count} other imports were of this format with two of these subjects, or of one of these files."
    )
}

/// Campaigns that asked the same in other words.
fn other_campaigns(others: u64, language: Language) -> String {
    counted!(
        language,
        others,
        "1 other campaign compared two of these subjects by one of these workloads, under whatever names.",
        "{count} other campaigns compared two of these subjects by one of these workloads, under whatever names."
    )
}
