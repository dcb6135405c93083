//! The comparisons of subjects that a claim is about, whether the plan compares them or not.

use crate::questions::{Asked, every_pair};
use model::{Claim, Plan, Question, Role};

/// The name of the comparisons of subjects.
pub(super) const SUBJECTS: &str = "claims";

/// The questions of a claim about subjects, its own way round.
pub(super) fn of_subjects<'a>(plan: &'a Plan, claim: &Claim) -> Vec<Asked<'a>> {
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
