//! Whether what a sitting leaves behind for the next one was sought, where drift and order were.

use super::state::{CheckState, not_observed, passed};
use crate::observed::{Extent, followed_by_least, has_predecessors, predecessor_tested};
use crate::view::Report;
use model::Role;
use phrases::{Language, noted, say};
use std::collections::BTreeSet;

/// Blocks that the test needs of two subjects, each with what ran before both
/// (docs/method.md#m-carry-over): its four degrees of freedom, the mean and one covariate.
const LEAST_OF_TWO: usize = 6;
/// The same of more subjects, which have a covariate more.
const LEAST_OF_MORE: usize = 7;

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
    let (tested, least) = (predecessor_tested(report), least(report));
    let detail = if followed < least {
        too_few(tested, followed, least, report.language)
    } else {
        without_test(tested, followed, report.language)
    };
    (CheckState::NotObserved, detail)
}

/// Why the comparison with the fewest such blocks was not tested.
fn too_few(tested: Extent, count: usize, least: usize, language: Language) -> String {
    let Extent { seen, of: all } = tested;
    match (seen, all) {
        (_, 1) => say!(
            language,
            "0 of 1 comparison was tested for what ran before: the test needs {least} blocks whose \
             records show what ran before both subjects, and this comparison has {count} of them",
            least,
            count
        ),
        (1, all) => say!(
            language,
            "1 of {all} comparisons was tested for what ran before: the test needs {least} blocks \
             whose records show what ran before both subjects, and one that was not tested has \
             {count} of them",
            all,
            least,
            count
        ),
        (seen, all) => say!(
            language,
            "{seen} of {all} comparisons were tested for what ran before: the test needs {least} \
             blocks whose records show what ran before both subjects, and one that was not tested \
             has {count} of them",
            seen,
            all,
            least,
            count
        ),
    }
}

/// What is said where none lacks such blocks: findings of an earlier version have no such test.
fn without_test(tested: Extent, count: usize, language: Language) -> String {
    let Extent { seen, of: all } = tested;
    match (seen, all) {
        (_, 1) => say!(
            language,
            "0 of 1 comparison was tested for what ran before: its finding holds no such test, \
             although its records show what ran before both subjects in {count} blocks",
            count
        ),
        (1, all) => say!(
            language,
            "1 of {all} comparisons was tested for what ran before: the other findings hold no such \
             test, although their records show what ran before both subjects in {count} blocks or \
             more",
            all,
            count
        ),
        (0, all) => say!(
            language,
            "0 of {all} comparisons were tested for what ran before: their findings hold no such \
             test, although their records show what ran before both subjects in {count} blocks or \
             more",
            all,
            count
        ),
        (seen, all) => say!(
            language,
            "{seen} of {all} comparisons were tested for what ran before: the other findings hold \
             no such test, although their records show what ran before both subjects in {count} \
             blocks or more",
            seen,
            all,
            count
        ),
    }
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
