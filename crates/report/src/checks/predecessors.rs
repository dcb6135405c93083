//! Whether what a sitting leaves behind for the next one was sought, where drift and order were.

use super::state::{CheckState, not_observed, passed};
use crate::observed::{followed_by_least, has_predecessors, predecessor_tested};
use crate::view::Report;
use model::Role;
use phrases::{counted, noted, say};
use std::collections::BTreeSet;

/// Blocks that the test needs of two subjects, each with what ran before both
/// (docs/method.md#m-carry-over): its four degrees of freedom, the mean and one covariate.
const LEAST_OF_TWO: usize = 6;
/// The same of more subjects, which have a covariate more.
const LEAST_OF_MORE: usize = 7;
/// Said where the one comparison has blocks enough.
const ONE_WITHOUT_TEST: &str = noted!(
    "0 of 1 comparison was tested for what ran before; its finding holds no such test, in however \
     many blocks"
);

/// A pass where each comparison was tested, else why not: no result stands beside *not observed*.
pub(super) fn state(report: &Report) -> (CheckState, String) {
    if !has_predecessors(report) {
        return not_observed(
            report,
            noted!("the records show of no sitting what ran before it in the same boot"),
        );
    }
    let Some(followed) = followed_by_least(report) else {
        return passed(
            report,
            noted!(
                "no drift, no effect of the order or of what ran before and no likeness of \
                 neighbouring blocks was found"
            ),
        );
    };
    let language = report.language;
    let (tested, least) = (predecessor_tested(report), least(report));
    let blocks = counted!(language, followed, "1 block", "{count} blocks");
    let detail = match (followed < least, tested.of) {
        (true, 1) => say!(
            language,
            "0 of 1 comparison was tested for what ran before: of one the records show it for both \
             subjects in {blocks}, and the test needs {least}",
            blocks,
            least
        ),
        (true, all) => say!(
            language,
            "{seen} of {all} comparisons were tested for what ran before: of one the records show \
             it for both subjects in {blocks}, and the test needs {least}",
            seen = tested.seen,
            all,
            blocks,
            least
        ),
        (false, 1) => language.word(ONE_WITHOUT_TEST).to_owned(),
        (false, all) => say!(
            language,
            "{seen} of {all} comparisons were tested for what ran before; of the others the \
             findings hold no such test, in however many blocks",
            seen = tested.seen,
            all
        ),
    };
    (CheckState::NotObserved, detail)
}

/// How many such blocks the test needs; a twin counts as the reference.
fn least(report: &Report) -> usize {
    let findings = report.findings.findings.iter();
    let of_twins = findings.filter(|finding| finding.question.role == Role::Control);
    let twins: BTreeSet<&str> = of_twins.map(|finding| finding.question.subject.as_str()).collect();
    match report.subjects.len().saturating_sub(twins.len()) {
        ..=2 => LEAST_OF_TWO,
        _ => LEAST_OF_MORE,
    }
}
