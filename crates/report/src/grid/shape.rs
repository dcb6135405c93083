//! Which workloads and metrics of a plan span a grid.

use super::{Axis, CellQuestion, Cells, ValueKind};
use model::{Direction, Metric, ParameterValue, Plan, Reduction, Unit, WorkloadPlan};
use std::collections::BTreeSet;

/// A grid without its numbers.
pub(super) struct Shape {
    pub(super) measure: String,
    pub(super) unit: Unit,
    pub(super) direction: Direction,
    pub(super) kind: ValueKind,
    pub(super) rows: Axis,
    pub(super) columns: Axis,
    pub(super) questions: Cells<CellQuestion>,
}

/// Every shape of a plan.
pub(super) fn shapes(plan: &Plan) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for class in classes(plan) {
        match varying(&class).as_slice() {
            [only] => shapes.extend(of_metrics(&class, only)),
            [first, second] => shapes.extend(of_parameters(&class, [first, second])),
            _ => {}
        }
    }
    shapes
}

/// Workloads that are alike but for their parameters.
fn classes(plan: &Plan) -> Vec<Vec<&WorkloadPlan>> {
    let is_alike = |a: &WorkloadPlan, b: &WorkloadPlan| {
        a.uses == b.uses && a.primary == b.primary && a.background == b.background
    };
    let mut classes: Vec<Vec<&WorkloadPlan>> = Vec::new();
    for workload in &plan.workloads {
        match classes.iter_mut().find(|class| is_alike(class[0], workload)) {
            Some(class) => class.push(workload),
            None => classes.push(vec![workload]),
        }
    }
    classes
}

/// Names of the parameters that are not the same everywhere.
fn varying<'a>(class: &[&'a WorkloadPlan]) -> Vec<&'a str> {
    let mut names: Vec<&str> =
        class.iter().flat_map(|one| one.parameters.0.keys()).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let first = |name: &str| class.first().and_then(|one| one.parameters.0.get(name));
    names.retain(|name| class.iter().any(|one| one.parameters.0.get(*name) != first(name)));
    names
}

/// The axis of a parameter, and the place of each workload on it.
fn axis(class: &[&WorkloadPlan], name: &str) -> Option<(Axis, Vec<usize>)> {
    let values: Option<Vec<&ParameterValue>> =
        class.iter().map(|one| one.parameters.0.get(name)).collect();
    Axis::of(name, &values?)
}

/// Rows are the values of one parameter, columns are metrics of one unit and direction.
/// Quantiles and shares are left out: a row of several percentiles has no sensible mean.
fn of_metrics(class: &[&WorkloadPlan], name: &str) -> Vec<Shape> {
    let Some((rows, places)) = axis(class, name) else { return Vec::new() };
    if rows.labels.len() < class.len() {
        return Vec::new();
    }
    let mut groups: Vec<Vec<&Metric>> = Vec::new();
    for metric in primary(class).filter(|metric| kind(metric).is_averaged()) {
        let is_alike =
            |other: &&Metric| (other.unit, other.direction) == (metric.unit, metric.direction);
        match groups.iter_mut().find(|group| group.iter().all(is_alike)) {
            Some(group) => group.push(metric),
            None => groups.push(vec![metric]),
        }
    }
    let shape = |group: Vec<&Metric>| {
        let ids: Vec<&str> = group.iter().map(|metric| metric.id.as_str()).collect();
        let (labels, common) = without_common_words(&ids);
        let column = if common.is_empty() { "metric" } else { "operation" };
        let mut questions: Cells<CellQuestion> = vec![vec![None; ids.len()]; class.len()];
        for (workload, row) in class.iter().zip(&places) {
            for (column, id) in ids.iter().enumerate() {
                questions[*row][column] = Some(question(workload, id));
            }
        }
        Shape {
            measure: if common.is_empty() { "value".to_owned() } else { common },
            unit: group[0].unit,
            direction: group[0].direction,
            kind: ValueKind::Averaged,
            rows: rows.clone(),
            columns: Axis::of_names(column, labels),
            questions,
        }
    };
    groups.into_iter().filter(|group| group.len() > 1).map(shape).collect()
}

/// Rows and columns are the values of two parameters, numbers down and names across. One
/// shape for each metric; none where most combinations are not there.
fn of_parameters(class: &[&WorkloadPlan], names: [&str; 2]) -> Vec<Shape> {
    let [Some(first), Some(second)] = names.map(|name| axis(class, name)) else {
        return Vec::new();
    };
    let weight = |axis: &Axis| (!axis.numbers.is_empty(), axis.labels.len());
    let is_turned = weight(&second.0) > weight(&first.0);
    let ((rows, downs), (columns, acrosses)) =
        if is_turned { (second, first) } else { (first, second) };
    if 2 * class.len() <= rows.labels.len() * columns.labels.len() {
        return Vec::new();
    }
    let mut workloads: Cells<&WorkloadPlan> =
        vec![vec![None; columns.labels.len()]; rows.labels.len()];
    for ((workload, down), across) in class.iter().zip(downs).zip(acrosses) {
        if workloads[down][across].replace(workload).is_some() {
            return Vec::new();
        }
    }
    let shape = |metric: &Metric| {
        let cell = |workload: &Option<&WorkloadPlan>| workload.map(|one| question(one, &metric.id));
        let row = |row: &Vec<Option<&WorkloadPlan>>| row.iter().map(cell).collect();
        Shape {
            measure: metric.id.clone(),
            unit: metric.unit,
            direction: metric.direction,
            kind: kind(metric),
            rows: rows.clone(),
            columns: columns.clone(),
            questions: workloads.iter().map(row).collect(),
        }
    };
    primary(class).map(shape).collect()
}

fn question(workload: &WorkloadPlan, metric: &str) -> CellQuestion {
    CellQuestion { workload: workload.label.clone(), metric: metric.to_owned() }
}

/// The primary metrics in the order they are asked, each once however often a plan names it.
fn primary<'a>(class: &[&'a WorkloadPlan]) -> impl Iterator<Item = &'a Metric> {
    let declared = class.first().copied();
    let find = |(workload, id): (&'a WorkloadPlan, &'a String)| {
        workload.metrics.iter().find(|metric| metric.id == *id)
    };
    let mut seen = BTreeSet::new();
    declared
        .into_iter()
        .flat_map(|workload| workload.primary.iter().map(move |id| (workload, id)))
        .filter(move |(_, id)| seen.insert(*id))
        .filter_map(find)
}

fn kind(metric: &Metric) -> ValueKind {
    match metric.reduction {
        Reduction::Quantile(_) => ValueKind::Quantile,
        Reduction::Proportion => ValueKind::Share,
        Reduction::Median | Reduction::Mean | Reduction::Quotient => ValueKind::Averaged,
    }
}

/// Names without the words that all begin or end with, and those words:
/// `read_throughput`, `write_throughput` are `read` and `write` of `throughput`.
fn without_common_words(ids: &[&str]) -> (Vec<String>, String) {
    let mut names: Vec<Vec<&str>> = ids.iter().map(|id| id.split('_').collect()).collect();
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    while let Some(word) = common(&names, |name| name.last().copied()) {
        behind.insert(0, word);
        for name in &mut names {
            name.pop();
        }
    }
    while let Some(word) = common(&names, |name| name.first().copied()) {
        before.push(word);
        for name in &mut names {
            name.remove(0);
        }
    }
    before.extend(behind);
    (names.iter().map(|name| name.join("_")).collect(), before.join("_"))
}

/// The word that all names have there, as long as each keeps another one.
fn common<'a>(
    names: &[Vec<&'a str>],
    word: impl Fn(&[&'a str]) -> Option<&'a str>,
) -> Option<&'a str> {
    let first = word(names.first()?)?;
    let is_common = names.iter().all(|name| name.len() > 1 && word(name) == Some(first));
    is_common.then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_name_the_measure_and_the_others_the_operations() {
        for (ids, labels, common) in [
            (
                &["write_throughput", "random_read_throughput"][..],
                &["write", "random_read"][..],
                "throughput",
            ),
            (&["io_read_rate", "io_write_rate"], &["read", "write"], "io_rate"),
            (&["wall", "user"], &["wall", "user"], ""),
            (&["rate", "read_rate"], &["rate", "read_rate"], ""),
        ] {
            let (found, measure) = without_common_words(ids);
            assert_eq!(
                (found.as_slice(), measure.as_str()),
                (labels.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>().as_slice(), common)
            );
        }
    }

    #[test]
    fn a_metric_that_a_plan_names_primary_several_times_is_asked_once() {
        let workload = r#"{"label":"w","uses":"w","parameters":{},"invocations":1,"metrics":[],"primary":[],"background":null,"subjects":[],"expected_ns":1,"time_limit_ns":1,"is_closed_loop":false}"#;
        let (unit, direction) = (Unit::Nanoseconds, Direction::Lower);
        let workload = WorkloadPlan {
            metrics: vec![Metric::new("time", unit, direction, Reduction::Median, "for tests")],
            primary: vec!["time".to_owned(); 3],
            ..serde_json::from_str(workload).unwrap()
        };
        let found: Vec<&str> = primary(&[&workload]).map(|metric| metric.id.as_str()).collect();
        assert_eq!(found, ["time"]);
    }
}
