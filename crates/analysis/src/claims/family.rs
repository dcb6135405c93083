//! The comparisons that claims ask for: any pair of subjects, and workloads inside each subject,
//! each comparison once. Together they are one family for Holm; the declared family neither pays
//! for them nor hears of them (docs/method.md#m-claims).

use super::cross_workload;
use crate::comparison::{Comparison, Gathered};
use crate::controls::{FailedControls, RestsOn};
use crate::failures::failures;
use crate::observations::Observations;
use crate::paired::judge_family;
use crate::questions::{Asked, every_pair};
use model::{Claim, Finding, Plan, Question, Record, Role};

/// The name of the comparisons of subjects.
pub(super) const SUBJECTS: &str = "claims";

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
    for claim in plan.claims.iter().filter(|claim| !claim.is_across_workloads()) {
        for one in of_subjects(plan, claim) {
            if asked.iter().all(|known| !is_alike(&known.question, &one.question)) {
                asked.push(one);
            }
        }
    }
    let mut comparisons: Vec<Comparison<'_>> =
        asked.into_iter().map(|one| Comparison::of(one, gathered, alpha)).collect();
    comparisons.extend(cross_workload::comparisons(plan, records, alpha));
    judge_family(&comparisons, alpha)
}

/// Takes the answers that rest on a failed control.
pub(crate) fn cap(findings: &mut [Finding], failed: &FailedControls) {
    for finding in findings {
        let rests_on = match finding.question.family == SUBJECTS {
            true => RestsOn::Workload,
            false => RestsOn::BothWorkloads,
        };
        failed.cap(finding, rests_on);
    }
}

/// The questions of a claim about subjects, its own way round.
fn of_subjects<'a>(plan: &'a Plan, claim: &Claim) -> Vec<Asked<'a>> {
    let mut asked = Vec::new();
    for workload in &plan.workloads {
        if claim.workload.as_ref().is_some_and(|label| *label != workload.label) {
            continue;
        }
        let is_meant = |id: &String| claim.metric.includes(id) && workload.primary.contains(id);
        for metric in workload.metrics.iter().filter(|metric| is_meant(&metric.id)) {
            let pairs = every_pair(plan).into_iter();
            let both_ways = pairs.flat_map(|(one, other)| [(one, other), (other, one)]);
            let meant = both_ways.filter(|(reference, subject)| {
                let runs = |arm| workload.runs_for(arm) && workload.measures(&metric.id, arm);
                claim.speaks_of(subject, reference) && runs(subject) && runs(reference)
            });
            asked.extend(meant.map(|(reference, subject)| Asked {
                question: Question {
                    workload: workload.label.clone(),
                    metric: metric.id.clone(),
                    unit: metric.unit,
                    direction: metric.direction,
                    subject: subject.id.clone(),
                    reference: reference.id.clone(),
                    role: Role::Primary,
                    family: SUBJECTS.to_owned(),
                },
                metric,
                workload,
            }));
        }
    }
    asked
}

/// Whether two questions compare the same, either way round.
fn is_alike(one: &Question, other: &Question) -> bool {
    let ends = |question: &Question| {
        let mut ends = [question.subject.clone(), question.reference.clone()];
        ends.sort();
        ends
    };
    one.workload == other.workload && one.metric == other.metric && ends(one) == ends(other)
}
