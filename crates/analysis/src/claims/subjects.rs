//! The comparisons of subjects that a claim is about, whether the plan compares them or not.

use crate::questions::Asked;
use model::{Claim, Plan, Question, Role, Subject};

/// The name of the comparisons of subjects.
pub(super) const SUBJECTS: &str = "claims";

/// The questions of a claim about subjects, its own way round.
pub(super) fn of_subjects<'a>(plan: &'a Plan, claim: &Claim) -> Vec<Asked<'a>> {
    let pairs = claim.pairs(&plan.subjects);
    let mut asked = Vec::new();
    for workload in &plan.workloads {
        let wanted = claim.metrics_of(workload);
        for metric in &workload.metrics {
            if !wanted.contains(metric.id.as_str()) {
                continue;
            }
            let runs = |arm: &Subject| workload.runs_for(arm) && workload.measures(&metric.id, arm);
            for &(reference, subject) in &pairs {
                if !runs(subject) || !runs(reference) {
                    continue;
                }
                let question = Question {
                    workload: workload.label.clone(),
                    metric: metric.id.clone(),
                    unit: metric.unit,
                    direction: metric.direction,
                    subject: subject.id.clone(),
                    reference: reference.id.clone(),
                    role: Role::Primary,
                    family: SUBJECTS.to_owned(),
                };
                asked.push(Asked { question, metric, workload });
            }
        }
    }
    asked
}
