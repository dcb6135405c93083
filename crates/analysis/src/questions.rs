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
            let asks = |arm| workload.runs_for(arm) && workload.measures(&metric.id, arm);
            asks(subject) && asks(reference) && fits(subject.is_control)
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
    // The control is a twin of the reference alone.
    let controls = plan.subjects.iter().filter(|subject| subject.is_control);
    let twins = controls.map(|control| (plan.reference(), control));
    plan.comparisons.pairs(&plan.subjects).into_iter().chain(twins).collect()
}

/// Every pair of subjects, the earlier one first, controls left out.
pub(crate) fn every_pair(plan: &Plan) -> Vec<(&Subject, &Subject)> {
    Comparisons::All.pairs(&plan.subjects)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, records};
    use crate::judge;
    use model::{Direction, Level, Parameters, Reduction, Variant, Verdict};

    /// `cfs` and `bfs` with one and two processors, and the reference again.
    fn grouped() -> Plan {
        let ids = ["cfs-1", "cfs-1-again", "cfs-2", "bfs-1", "bfs-2"];
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let mut plan = plan(&ids, metrics, 8);
        for subject in &mut plan.subjects {
            let (scheduler, cpus) = subject.id.split_once('-').unwrap_or_default();
            for (factor, level) in [("scheduler", scheduler), ("vcpus", &cpus[..1])] {
                subject.levels.insert(factor.to_owned(), Level::canonical(level));
            }
        }
        Plan { comparisons: Comparisons::Within("vcpus".to_owned()), ..plan }
    }

    #[test]
    fn within_a_factor_each_is_compared_with_the_reference_of_its_level() {
        let asked: Vec<(String, String, Role)> = questions(&grouped())
            .into_iter()
            .map(|asked| (asked.question.subject, asked.question.reference, asked.question.role))
            .collect();
        let pair = |a: &str, b: &str, role| (a.to_owned(), b.to_owned(), role);
        assert_eq!(
            asked,
            [
                pair("bfs-1", "cfs-1", Role::Primary),
                pair("bfs-2", "cfs-2", Role::Primary),
                pair("cfs-1-again", "cfs-1", Role::Control),
            ]
        );
    }

    #[test]
    fn a_metric_that_a_subject_has_not_is_asked_of_those_that_have_it() {
        let one = |id: &str| metric(id, Direction::Lower, Reduction::Median);
        let mut plan = plan(&["local", "handed", "twice"], vec![one("time"), one("handoff")], 6);
        for (id, metrics) in [
            ("local", &["time"][..]),
            ("handed", &["time", "handoff"]),
            ("twice", &["time", "handoff"]),
        ] {
            let variant = Variant {
                parameters: Parameters::default(),
                metrics: metrics.iter().map(|id| (*id).to_owned()).collect(),
                expected_ns: 0,
            };
            plan.workloads[0].variants.insert(id.to_owned(), variant);
        }
        plan.workloads[0].primary = vec!["time".to_owned()];
        let handoffs = |plan: &Plan| -> Vec<(String, String)> {
            let all = questions(plan).into_iter().map(|asked| asked.question);
            let own = all.filter(|question| question.metric == "handoff");
            own.map(|question| (question.reference, question.subject)).collect()
        };
        assert_eq!(handoffs(&plan), [], "the reference has none");
        let all = Plan { comparisons: Comparisons::All, ..plan };
        assert_eq!(handoffs(&all), [("handed".to_owned(), "twice".to_owned())]);
    }

    #[test]
    fn what_the_levels_of_the_factor_do_is_no_part_of_any_answer() {
        let noise = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];
        let mut all = Vec::new();
        for (turn, (id, centre)) in [
            ("cfs-1", 100.0),
            ("cfs-1-again", 100.0),
            ("cfs-2", 50.0),
            ("bfs-1", 80.0),
            ("bfs-2", 60.0),
        ]
        .into_iter()
        .enumerate()
        {
            let values: Vec<f64> = (0..8)
                .map(|block| centre * (1.0 + 0.004 * noise[(block + 3 * turn) % 8]))
                .collect();
            all.extend(records(id, &values));
        }
        let findings = judge(&grouped(), &all);
        assert_eq!(findings.families[DECLARED_FAMILY], 3, "one family, the control included");
        let verdicts: Vec<Verdict> = findings.findings.iter().map(|found| found.verdict).collect();
        assert_eq!(verdicts, [Verdict::Better, Verdict::Worse, Verdict::Equivalent]);
        assert_eq!(findings.rankings, [], "not every pair was compared");
    }
}
