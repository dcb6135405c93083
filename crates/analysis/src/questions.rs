//! What is asked: primary comparisons, the A/A control, the screen.

use model::{Metric, Plan, Question, Role, WorkloadPlan};

/// A question with the metric it is about.
pub(crate) struct Asked<'a> {
    pub question: Question,
    pub metric: &'a Metric,
    pub workload: &'a WorkloadPlan,
}

/// Every question of a plan: primary first, then controls, then the screen, each
/// in the plan's order.
pub(crate) fn questions(plan: &Plan) -> Vec<Asked<'_>> {
    let mut asked = Vec::new();
    for role in [Role::Primary, Role::Control, Role::Screen] {
        for workload in &plan.workloads {
            for metric in &workload.metrics {
                asked.extend(of_metric(plan, workload, metric, role));
            }
        }
    }
    asked
}

fn of_metric<'a>(
    plan: &'a Plan,
    workload: &'a WorkloadPlan,
    metric: &'a Metric,
    role: Role,
) -> Vec<Asked<'a>> {
    let is_primary = workload.primary.contains(&metric.id);
    let reference = plan.reference();
    let fits = |is_control: bool| match role {
        Role::Primary => is_primary && !is_control,
        Role::Control => is_primary && is_control,
        Role::Screen => !is_primary && !is_control,
    };
    plan.subjects
        .iter()
        .filter(|subject| {
            subject.id != reference.id && workload.runs_for(subject) && fits(subject.is_control)
        })
        .map(|subject| Asked {
            question: Question {
                workload: workload.label.clone(),
                metric: metric.id.clone(),
                unit: metric.unit,
                direction: metric.direction,
                subject: subject.id.clone(),
                reference: reference.id.clone(),
                role,
            },
            metric,
            workload,
        })
        .collect()
}
