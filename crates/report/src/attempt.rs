//! Which attempt at an experiment a campaign is, in words: a user who repeats an experiment until it says
//! what is wanted is seen by it.

use crate::view::Report;
use jiff::Timestamp;
use model::{Attempt, Binding, CaveatCode};
use phrases::{Language, counted, say};

/// What stands in place of a count that nobody knows, where programs read it.
const UNKNOWN: &str = "unknown";

/// What stands at the head of a report: which attempt it is, how often it was resumed, and that its
/// records are bound to nothing, where they are not.
pub(crate) fn attempt(report: &Report) -> Option<String> {
    let meaning = || CaveatCode::EvidenceUnbound.meaning_in(report.language.code()).to_owned();
    let unbound = is_unbound(report).then(meaning);
    joined(attempt_and_resumptions(report).into_iter().chain(unbound))
}

/// Which attempt it is, and how often it was resumed.
pub(crate) fn attempt_and_resumptions(report: &Report) -> Option<String> {
    joined(counted_attempt(report).into_iter().chain(resumed(report)))
}

/// Whether there are records, and nothing binds them to the plan and to each other.
pub(crate) fn is_unbound(report: &Report) -> bool {
    report.binding == Binding::Absent && !report.records.is_empty()
}

fn joined(sentences: impl Iterator<Item = String>) -> Option<String> {
    let sentences: Vec<String> = sentences.collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// How often a run went on with it, where one did.
fn resumed(report: &Report) -> Option<String> {
    let times = report.resumptions;
    (times > 0).then(|| {
        counted!(report.language, times, "It was resumed once.", "It was resumed {count} times.")
    })
}

/// Which attempt it is, as far as anybody counted, and what the others were.
fn counted_attempt(report: &Report) -> Option<String> {
    let own = numbered(report)?;
    let others = report.attempt.map_or(0, |attempt| related(attempt) - attempt.of_plan);
    match others {
        0 => Some(own),
        _ if is_import(report) => Some(format!("{own} {}", other_imports(others, report.language))),
        _ => Some(format!("{own} {}", other_campaigns(others, report.language))),
    }
}

/// Which attempt it is, by both counts, as far as anybody counted.
pub(crate) fn numbered(report: &Report) -> Option<String> {
    let language = report.language;
    let Some(attempt) = report.attempt else {
        let unknown = if is_import(report) {
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
    let (number, own) = (related(attempt), attempt.of_plan);
    Some(if is_import(report) {
        say!(
            language,
            "Attempt {number} with these subjects or files on this machine, which counts since {since}; attempt {own} at this very import.",
            number,
            since,
            own
        )
    } else {
        say!(
            language,
            "Attempt {number} with these subjects and workloads on this machine, which counts since {since}; attempt {own} at this very plan.",
            number,
            since,
            own
        )
    })
}

/// The same two counts for formats that programs read: that of these subjects and workloads, and
/// that of this very plan; `unknown` where nobody counted.
pub(crate) fn attempt_fields(report: &Report) -> [String; 2] {
    let told = |count: fn(Attempt) -> u64| {
        report.attempt.map_or_else(|| UNKNOWN.to_owned(), |attempt| count(attempt).to_string())
    };
    [told(related), told(|attempt| attempt.of_plan)]
}

/// Campaigns with these subjects and workloads. An earlier version did not count each campaign of
/// the same plan among them.
fn related(attempt: Attempt) -> u64 {
    attempt.of_question.max(attempt.of_plan)
}

fn is_import(report: &Report) -> bool {
    report.design.imported.is_some()
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
        "1 other campaign compared two subjects that differ as two of these do, by one of these workloads, under whatever names.",
        "{count} other campaigns compared two subjects that differ as two of these do, by one of these workloads, under whatever names."
    )
}
