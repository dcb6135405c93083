//! What is asked: primary comparisons, the A/A control, the screen.

use model::{Comparisons, DECLARED_FAMILY, Metric, Plan, Question, Role, Subject, WorkloadPlan};

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
    let fits = |is_control: bool| match role {
        Role::Primary => is_primary && !is_control,
        Role::Control => is_primary && is_control,
        Role::Screen => !is_primary && !is_control,
    };
    compared(plan)
        .into_iter()
        .filter(|(reference, subject)| {
            let run = workload.runs_for(subject) && workload.runs_for(reference);
            run && fits(subject.is_control)
        })
        .map(|(reference, subject)| Asked {
            question: Question {
                workload: workload.label.clone(),
                metric: metric.id.clone(),
                unit: metric.unit,
                direction: metric.direction,
                subject: subject.id.clone(),
                reference: reference.id.clone(),
                role,
                family: DECLARED_FAMILY.to_owned(),
            },
            metric,
            workload,
        })
        .collect()
}

/// Pairs of subjects that are compared, each with what it is compared with first.
fn compared(plan: &Plan) -> Vec<(&Subject, &Subject)> {
    let reference = plan.reference();
    let others = plan.subjects.iter().filter(|subject| subject.id != reference.id);
    let with_reference = others.map(|subject| (reference, subject));
    match plan.comparisons {
        Comparisons::Reference => with_reference.collect(),
        Comparisons::All => {
            // The control is a twin of the reference alone.
            let controls = with_reference.filter(|(_, subject)| subject.is_control);
            every_pair(plan).into_iter().chain(controls).collect()
        }
    }
}

/// Every pair of subjects, the earlier one first, controls left out.
pub(crate) fn every_pair(plan: &Plan) -> Vec<(&Subject, &Subject)> {
    let subjects: Vec<&Subject> =
        plan.subjects.iter().filter(|subject| !subject.is_control).collect();
    let pairs = subjects.iter().enumerate().flat_map(|(index, first)| {
        subjects[index + 1..].iter().map(move |second| (*first, *second))
    });
    pairs.collect()
}
