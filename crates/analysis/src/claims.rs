//! What new data say of published claims.
//!
//! Each comparison that a claim asks for is judged among those of all claims; what it says of the
//! claim is decided by its verdict and, of a size, by its interval (the rule of
//! docs/method.md#m-claims). A claim about several comparisons is confirmed where each of them
//! confirms it, and refuted by one of them; one without a finding leaves it open.

mod about;
mod basis;
mod combined;
mod conjunction;
mod cross_workload;
mod family;
mod judged;
mod parts;
mod rule;
mod sentence;
mod subjects;

pub(crate) use about::ClaimsAbout;
pub(crate) use basis::ClaimEvidence;
pub(crate) use family::{ClaimedFindings, cap, decide_differences, findings};

use crate::comparison_labels::{ComparisonLabel, in_words};
use conjunction::together;
use judged::Judged;
use model::{Claim, ClaimFinding, ClaimOutcome, ClaimTally, ClaimedEffect, Plan, Question};
use parts::{KnownFindings, LEFT_OUT, parts};
use sentence::{Scale, word};
use std::collections::BTreeSet;

/// Why claims across workloads stay open where nothing tests them.
const UNTESTED: &str = "it compares within blocks, in campaigns that ran to their planned end";

/// What is told of every claim of an import.
const GIVEN_AT_IMPORT: &str = "; the claim was given at import, when the data were there";

/// Judges every claim of a plan.
pub(crate) fn claims(plan: &Plan, evidence: ClaimEvidence<'_>) -> Vec<ClaimFinding> {
    let known = KnownFindings::of(plan, evidence);
    plan.claims.iter().enumerate().map(|claim| of_claim(plan, claim, evidence, &known)).collect()
}

fn of_claim<'a>(
    plan: &Plan,
    (index, claim): (usize, &Claim),
    evidence: ClaimEvidence<'a>,
    known: &KnownFindings<'a>,
) -> ClaimFinding {
    let mut parts = parts(plan, (index, claim), evidence, known);
    if claim.is_single() {
        parts.truncate(1);
    }
    let is_emulated =
        parts.iter().any(|part| part.finding.is_ok_and(|(finding, _)| finding.is_emulated));
    let judged: Vec<Judged> =
        parts.into_iter().map(|part| Judged::of(plan, (index, claim), part, evidence)).collect();
    let (outcome, mut reason, tally) = match judged.as_slice() {
        [] => {
            let is_of_blocks = claim.is_across_workloads() || claim.is_combined();
            let why = match is_of_blocks && !evidence.basis.has_tests_in_blocks() {
                true => UNTESTED,
                false if plan.is_quick => LEFT_OUT,
                false => "the question was not asked",
            };
            (ClaimOutcome::Undecided, why.to_owned(), None)
        }
        [only] => (only.outcome, format!("{}; {}", only.reason, only.grounds), None),
        several => {
            let of_each: Vec<ClaimOutcome> = several.iter().map(|one| one.outcome).collect();
            let outcome = together(&of_each, claim.shape.over);
            let decisive = decisive(claim.effect, outcome, several);
            let reason = format!("{}{decisive}", in_each(plan, several));
            (outcome, reason, Some(tally(several)))
        }
    };
    if outcome != ClaimOutcome::Undecided {
        for reservation in reservations(&judged) {
            reason.push_str("; ");
            reason.push_str(reservation);
        }
    }
    if plan.imported.is_some() {
        reason.push_str(GIVEN_AT_IMPORT);
    }
    ClaimFinding { claim: claim.clone(), outcome, reason, tally, is_emulated }
}

/// What the comparisons that say something of the claim may tell besides the subjects, each once.
fn reservations(judged: &[Judged]) -> BTreeSet<&'static str> {
    let decided = judged.iter().filter(|one| one.outcome != ClaimOutcome::Undecided);
    decided.flat_map(|one| one.reservations.iter().copied()).collect()
}

fn tally(judged: &[Judged]) -> ClaimTally {
    let count =
        |is_one: fn(ClaimOutcome) -> bool| judged.iter().filter(|one| is_one(one.outcome)).count();
    ClaimTally {
        confirmed: count(|outcome| outcome == ClaimOutcome::Confirmed),
        refuted: count(ClaimOutcome::is_refuted),
        undecided: count(ClaimOutcome::is_open),
    }
}

/// How several comparisons ended, with their numbers and where each kind was.
fn in_each(plan: &Plan, judged: &[Judged]) -> String {
    let questions: Vec<&Question> = judged.iter().map(|one| &one.question).collect();
    let places = ComparisonLabel::of_each(plan, &questions);
    let mut clauses: Vec<String> = Vec::new();
    for wanted in ClaimOutcome::ALL {
        let word = word(wanted);
        let is_chosen: Vec<bool> = judged.iter().map(|one| one.outcome == wanted).collect();
        let total = judged.len();
        match is_chosen.iter().filter(|is_chosen| **is_chosen).count() {
            0 => {}
            all if all == total => clauses.push(format!("{word} in all {total} comparisons")),
            some => {
                let of_total = if clauses.is_empty() {
                    format!(" of {total} comparisons")
                } else {
                    String::new()
                };
                clauses.push(format!(
                    "{word} in {some}{of_total} ({})",
                    in_words(&places, &is_chosen)
                ));
            }
        }
    }
    format!("{}{}{}", clauses.join(", "), unjudged(judged), measured(judged))
}

/// The comparison that the claim's outcome hangs on, with its interval: the least difference of
/// those that confirm a direction or a size and the largest of those that confirm that there is
/// none, the first that refutes, or the first that leaves open.
fn decisive(claimed: ClaimedEffect, outcome: ClaimOutcome, judged: &[Judged]) -> String {
    let size = |one: &Judged| one.log.map_or(0.0, f64::abs);
    let by_size = |one: &&Judged, other: &&Judged| size(one).total_cmp(&size(other));
    let mut alike = judged.iter().filter(|one| one.outcome == outcome);
    let (words, found) = match (outcome, claimed) {
        (ClaimOutcome::Confirmed, ClaimedEffect::Same) => ("most in", alike.max_by(by_size)),
        (ClaimOutcome::Confirmed, _) => ("least in", alike.min_by(by_size)),
        _ => {
            let is_of_kind = |one: &&Judged| match outcome.is_refuted() {
                true => one.outcome.is_refuted(),
                false => one.outcome.is_open(),
            };
            let found = alike.next().or_else(|| judged.iter().find(is_of_kind));
            (if outcome.is_refuted() { "refuted by" } else { "open in" }, found)
        }
    };
    let told = |one: &Judged| format!("; {words} {}: {}", one.grounds, one.reason);
    found.map_or_else(String::new, told)
}

/// How many comparisons have no finding, and why the first has none.
fn unjudged(judged: &[Judged]) -> String {
    let mut without = judged.iter().filter_map(|one| one.unjudged);
    let Some(why) = without.next() else { return String::new() };
    format!("; {} of these without a finding: {why}", 1 + without.count())
}

/// From the least to the most that was measured.
fn measured(judged: &[Judged]) -> String {
    let mut logs: Vec<f64> = judged.iter().filter_map(|one| one.log).collect();
    logs.sort_by(f64::total_cmp);
    let scale = Scale::of(&logs);
    match logs.as_slice() {
        [] => String::new(),
        [only] => format!("; measured {} of the value", scale.change(*only)),
        [least, .., most] => {
            format!("; measured {} of the value", scale.range([*least, *most]))
        }
    }
}

#[cfg(test)]
mod tests;
