//! `[use_cases.NAME]`: what the subjects are wanted for, as weights over workloads.

use crate::names::is_kebab;
use crate::workloads::{self, Planned};
use contract::document::{ExperimentProblems, SourceLocation, Table, TreeEntry, values};
use model::{UseCase, Weight};

/// Weights are written with two or three digits; their sum may be off by as much.
const SUM_TOLERANCE: f64 = 0.005;
/// More than this nobody reads.
const USE_CASE_LIMIT: usize = 16;

/// Reads all use cases.
pub(crate) fn read(
    table: &Table,
    workloads: &[Planned],
    problems: &mut ExperimentProblems,
) -> Vec<UseCase> {
    if !workloads::are_all_read(table, workloads) {
        return Vec::new();
    }
    let Some(entry) = table.get("use_cases") else { return Vec::new() };
    let Some(cases) = values::table(&entry.node, "`use_cases`", problems) else {
        return Vec::new();
    };
    if cases.entries.len() > USE_CASE_LIMIT {
        let cause = format!(
            "{} use cases; the limit EXPERIMENT_USE_CASES is {USE_CASE_LIMIT}",
            cases.entries.len()
        );
        problems.report(&entry.place, cause);
    }
    cases.entries.iter().filter_map(|case| use_case(case, workloads, problems)).collect()
}

fn use_case(
    case: &TreeEntry,
    workloads: &[Planned],
    problems: &mut ExperimentProblems,
) -> Option<UseCase> {
    if !is_kebab(&case.key) {
        problems
            .report(&case.place, format!("`{}` is not a name of a use case", case.key))
            .hint("use lower-case letters, digits and single dashes: web-server, batch, desktop");
    }
    let weighted = values::table(&case.node, "a use case", problems)?;
    let before = problems.len();
    let mut weights: Vec<Weight> = Vec::new();
    for entry in &weighted.entries {
        let share = values::number(&entry.node, &entry.key, 0.0..=1.0, problems);
        let named = component(&entry.key, &entry.place, workloads, problems);
        if let (Some(weight), Some((workload, metric))) = (share, named) {
            if weights.iter().any(|known| known.workload == workload && known.metric == metric) {
                let cause = format!("{workload} {metric} is weighed twice");
                problems.report(&entry.place, cause);
            }
            weights.push(Weight { workload, metric, weight });
        }
    }
    if problems.len() > before {
        return None;
    }
    weights.retain(|weight| weight.weight > 0.0);
    let sum: f64 = weights.iter().map(|weight| weight.weight).sum();
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        problems
            .report(&case.place, format!("the weights of `{}` add up to {sum:.3}", case.key))
            .hint("they must add up to 1");
        return None;
    }
    // Written as 0.33 three times, and meant as thirds.
    for weight in &mut weights {
        weight.weight /= sum;
    }
    Some(UseCase { id: case.key.clone(), weights })
}

/// `WORKLOAD` means its first primary metric; `WORKLOAD/METRIC` any primary one.
fn component(
    name: &str,
    place: &SourceLocation,
    workloads: &[Planned],
    problems: &mut ExperimentProblems,
) -> Option<(String, String)> {
    let (label, metric) = name.split_once('/').unwrap_or((name, ""));
    let labels = || workloads.iter().map(|workload| workload.plan.label.as_str());
    let Some(workload) = workloads.iter().find(|workload| workload.plan.label == label) else {
        problems
            .report(place, format!("no workload is called `{label}`"))
            .near(label, labels())
            .hint(format!("workloads are {}", labels().collect::<Vec<_>>().join(", ")));
        return None;
    };
    let primary = &workload.plan.primary;
    let found = if metric.is_empty() {
        primary.first()
    } else {
        primary.iter().find(|known| *known == metric)
    };
    if found.is_none() {
        problems
            .report(place, format!("`{metric}` is not a primary metric of `{label}`"))
            .near(metric, primary.iter().map(String::as_str))
            .hint(format!("its primary metrics are {}", primary.join(", ")));
    }
    if let Some(metric) = found.filter(|metric| workload.plan.pooled.contains(metric)) {
        problems
            .report(
                place,
                format!("`{metric}` is pooled over all blocks, so no block has a value to weigh"),
            )
            .hint("weigh another metric, or take it out of `pooled`");
        return None;
    }
    found.map(|metric| (label.to_owned(), metric.clone()))
}
