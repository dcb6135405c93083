//! The comparisons that claims ask for: any pair of subjects, and workloads inside each subject,
//! each comparison once. Together they are one family for Holm; the declared family neither pays
//! for them nor hears of them (docs/method.md#m-claims).
//!
//! One claim may take another's answer, and may not turn it round. So the comparisons of each claim
//! are judged a second time, as the family of a plan that has no other claim, and a difference that
//! by itself lies inside the margin is left open where the correction takes the equivalence alone.

use super::subjects::{SUBJECTS, of_subjects};
use super::{combined, cross_workload};
use crate::comparison::{Comparison, Gathered, interval};
use crate::controls::{FailedControls, RestsOn};
use crate::failures::{by_name, failures};
use crate::family::holm_levels;
use crate::observations::Observations;
use crate::paired::judge_members;
use crate::questions::Asked;
use crate::rulebook::leave_open_inside;
use model::{
    Claim, DecidingInterval, Finding, Plan, Question, Record, Verdict, round_significant as round,
};
use stats::TTest;
use std::collections::{BTreeMap, BTreeSet};

/// The findings of what claims ask for.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClaimedFindings {
    /// Every comparison of every claim once, judged as one family.
    pub together: Vec<Finding>,
    /// The comparisons of each claim, by its place in the plan, judged as the family of a plan that
    /// has no other claim.
    pub alone: Vec<Vec<Finding>>,
}

impl ClaimedFindings {
    /// All findings, to be changed.
    pub(crate) fn every_mut(&mut self) -> impl Iterator<Item = &mut Finding> {
        self.together.iter_mut().chain(self.alone.iter_mut().flatten())
    }
}

/// A finding for every comparison that a claim asks for, at the plan's level: of an adaptive
/// campaign that of a look.
pub(crate) fn findings(plan: &Plan, records: &[Record]) -> ClaimedFindings {
    if plan.claims.is_empty() {
        return ClaimedFindings::default();
    }
    let alpha = plan.alpha;
    let observations = Observations::of(records);
    let counts = failures(plan, &observations);
    let by_name = by_name(&counts);
    let gathered = Gathered { plan, observations: &observations, counts: &by_name };
    let mut comparisons: Vec<Comparison<'_>> =
        asked(plan).into_iter().map(|one| Comparison::of(one, gathered, alpha)).collect();
    comparisons.extend(cross_workload::comparisons(plan, records, alpha));
    comparisons.extend(combined::comparisons(plan, gathered));
    let together = judged(&comparisons.iter().collect::<Vec<_>>(), alpha);
    let of_claim = |(index, claim): (usize, &Claim)| {
        let own = members(plan, (index, claim), &comparisons);
        // Without another claim the two families are one.
        if own.len() == comparisons.len() { together.clone() } else { judged(&own, alpha) }
    };
    let alone = plan.claims.iter().enumerate().map(of_claim).collect();
    ClaimedFindings { together, alone }
}

/// The comparisons of subjects that claims ask for, each once and with the earlier subject of the
/// plan for its reference: no claim decides which way round another is answered.
fn asked(plan: &Plan) -> Vec<Asked<'_>> {
    let subjects = plan.subjects.iter().enumerate();
    let places: BTreeMap<&str, usize> =
        subjects.map(|(place, subject)| (subject.id.as_str(), place)).collect();
    let place = |id: &str| places.get(id).copied();
    let mut known: BTreeSet<[String; 4]> = BTreeSet::new();
    let mut asked: Vec<Asked<'_>> = Vec::new();
    let is_of_pairs = |claim: &&Claim| !claim.is_across_workloads() && !claim.is_combined();
    for claim in plan.claims.iter().filter(is_of_pairs) {
        for mut one in of_subjects(plan, claim) {
            let question = &mut one.question;
            if place(&question.subject) < place(&question.reference) {
                std::mem::swap(&mut question.subject, &mut question.reference);
            }
            if known.insert(alike(&one.question).map(str::to_owned)) {
                asked.push(one);
            }
        }
    }
    asked
}

/// The comparisons that one claim asks for.
fn members<'c, 'a>(
    plan: &Plan,
    (index, claim): (usize, &Claim),
    comparisons: &'c [Comparison<'a>],
) -> Vec<&'c Comparison<'a>> {
    let is_of_pairs = !claim.is_combined() && !claim.is_across_workloads();
    let pairs = if is_of_pairs { of_subjects(plan, claim) } else { Vec::new() };
    let own: BTreeSet<[&str; 4]> = pairs.iter().map(|pair| alike(&pair.question)).collect();
    let across = cross_workload::spoken_of(plan, claim);
    let is_own = |question: &Question| {
        if is_of_pairs {
            question.family == SUBJECTS && own.contains(&alike(question))
        } else if claim.is_combined() {
            combined::is_of(question, index)
        } else {
            cross_workload::is_about(claim, &across, question)
        }
    };
    comparisons.iter().filter(|one| is_own(&one.asked.question)).collect()
}

/// Judges a family of claims.
fn judged(family: &[&Comparison<'_>], alpha: f64) -> Vec<Finding> {
    let mut findings = judge_members(family, alpha);
    let tests: Vec<Option<TTest>> = family.iter().map(|member| member.test).collect();
    decide_differences(&mut findings, &tests, alpha);
    findings
}

/// Gives each difference of a family of claims the interval that showed it: at one minus the level
/// that Holm's procedure left for it, where the interval at alpha / k may hold no difference. Only
/// claims quote it; their findings are not stored.
///
/// A difference that by itself lies inside the margin is left open. Equivalence comes before
/// difference, and Holm's procedure may leave the difference and take the equivalence: then one
/// more claim would turn *equivalent* into *better*.
pub(crate) fn decide_differences(findings: &mut [Finding], tests: &[Option<TTest>], alpha: f64) {
    for finding in findings.iter_mut() {
        leave_open_inside(finding, alpha);
    }
    let p_values: Vec<Option<f64>> =
        tests.iter().map(|test| test.and_then(|test| test.p_difference())).collect();
    let levels = holm_levels(&p_values, alpha);
    for ((finding, test), level) in findings.iter_mut().zip(tests).zip(levels) {
        let is_shown = matches!(finding.verdict, Verdict::Better | Verdict::Worse);
        let test = test.filter(|test| is_shown && !test.is_degenerate());
        if let (Some(effect), Some(test)) = (&mut finding.effect, test) {
            let interval = interval(&test, level);
            effect.deciding = Some(DecidingInterval { interval, alpha: round(level) });
        }
    }
}

/// Takes the answers that rest on a failed control.
pub(crate) fn cap(plan: &Plan, claimed: &mut ClaimedFindings, failed: &FailedControls) {
    for (index, claim) in plan.claims.iter().enumerate().filter(|(_, claim)| claim.is_combined()) {
        let parts = combined::rests_on(plan, claim);
        let own = claimed.every_mut().filter(|finding| combined::is_of(&finding.question, index));
        own.for_each(|finding| failed.cap(finding, RestsOn::Components(&parts)));
    }
    let is_combined = |finding: &Finding| {
        combined::claim_of(&finding.question).is_some_and(|index| index < plan.claims.len())
    };
    for finding in claimed.every_mut().filter(|finding| !is_combined(finding)) {
        let rests_on = match finding.question.family == SUBJECTS {
            true => RestsOn::Workload,
            false => RestsOn::BothWorkloads,
        };
        failed.cap(finding, rests_on);
    }
}

/// What two questions have alike that compare the same, either way round.
pub(super) fn alike(question: &Question) -> [&str; 4] {
    let mut pair = [question.subject.as_str(), question.reference.as_str()];
    pair.sort_unstable();
    [question.workload.as_str(), question.metric.as_str(), pair[0], pair[1]]
}

#[cfg(test)]
mod tests;
