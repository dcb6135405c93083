//! The comparisons that claims ask for: any pair of subjects, and workloads inside each subject,
//! each comparison once. Together they are one family for Holm; the declared family neither pays
//! for them nor hears of them (docs/method.md#m-claims).

use super::subjects::{SUBJECTS, of_subjects};
use super::{combined, cross_workload};
use crate::comparison::{Comparison, Gathered, interval};
use crate::controls::{FailedControls, RestsOn};
use crate::failures::failures;
use crate::family::holm_levels;
use crate::observations::Observations;
use crate::paired::judge_family;
use crate::questions::Asked;
use model::{
    Claim, DecidingInterval, Finding, Plan, Question, Record, Verdict, round_significant as round,
};
use stats::TTest;

/// A finding for every comparison that a claim asks for, at the plan's level: of an adaptive
/// campaign that of a look.
pub(crate) fn findings(plan: &Plan, records: &[Record]) -> Vec<Finding> {
    if plan.claims.is_empty() {
        return Vec::new();
    }
    let alpha = plan.alpha;
    let observations = Observations::of(records);
    let counts = failures(plan, &observations);
    let gathered = Gathered { plan, observations: &observations, counts: &counts };
    let mut asked: Vec<Asked<'_>> = Vec::new();
    let is_of_pairs = |claim: &&Claim| !claim.is_across_workloads() && !claim.is_combined();
    for claim in plan.claims.iter().filter(is_of_pairs) {
        for one in of_subjects(plan, claim) {
            if asked.iter().all(|known| !is_alike(&known.question, &one.question)) {
                asked.push(one);
            }
        }
    }
    let mut comparisons: Vec<Comparison<'_>> =
        asked.into_iter().map(|one| Comparison::of(one, gathered, alpha)).collect();
    comparisons.extend(cross_workload::comparisons(plan, records, alpha));
    comparisons.extend(combined::comparisons(plan, gathered));
    let mut findings = judge_family(&comparisons, alpha);
    let tests: Vec<Option<TTest>> = comparisons.iter().map(|comparison| comparison.test).collect();
    decide_differences(&mut findings, &tests, alpha);
    findings
}

/// Gives each difference of a family of claims the interval that showed it: at one minus the level
/// that Holm's procedure left for it, where the interval at alpha / k may hold no difference. Only
/// claims quote it; their findings are not stored.
pub(crate) fn decide_differences(findings: &mut [Finding], tests: &[Option<TTest>], alpha: f64) {
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
pub(crate) fn cap(plan: &Plan, findings: &mut [Finding], failed: &FailedControls) {
    for (index, claim) in plan.claims.iter().enumerate().filter(|(_, claim)| claim.is_combined()) {
        let parts = combined::rests_on(plan, claim);
        let own = findings.iter_mut().filter(|finding| combined::is_of(&finding.question, index));
        own.for_each(|finding| failed.cap(finding, RestsOn::Components(&parts)));
    }
    let is_combined = |finding: &Finding| {
        (0..plan.claims.len()).any(|index| combined::is_of(&finding.question, index))
    };
    for finding in findings.iter_mut().filter(|finding| !is_combined(finding)) {
        let rests_on = match finding.question.family == SUBJECTS {
            true => RestsOn::Workload,
            false => RestsOn::BothWorkloads,
        };
        failed.cap(finding, rests_on);
    }
}

/// Whether two questions compare the same, either way round.
pub(super) fn is_alike(one: &Question, other: &Question) -> bool {
    let is_same_pair = (one.subject == other.subject && one.reference == other.reference)
        || (one.subject == other.reference && one.reference == other.subject);
    is_same_pair && one.workload == other.workload && one.metric == other.metric
}
