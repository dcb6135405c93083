//! All imported values with their places, and the questions that they answer.

use super::name_of;
use super::samples::Samples;
use crate::questions::every_pair;
use crate::reduce::{Lack, reduce, series};
use crate::resolution::take;
use model::{
    Comparisons, Metric, Outcome, ParameterValue, Plan, Question, Record, Reduction, Role, Subject,
    WorkloadPlan,
};
use stats::exp;
use std::collections::BTreeMap;

/// One value: a logarithm with its place.
struct Cell<'a> {
    subject: &'a str,
    metric: &'a str,
    levels: Vec<String>,
    replicate: u32,
    sequence: u64,
    log: Result<f64, Lack>,
    /// The values that it was reduced from; none where it is one of them.
    series: Vec<&'a [f64]>,
    /// Rows of the file that it was taken from; a quantile of a merged histogram is one.
    rows: usize,
    /// Events that a quantile was taken from.
    events: Option<u64>,
}

/// A trial without a value.
struct Failure<'a> {
    subject: &'a str,
    levels: Vec<String>,
}

/// What one execution measured for a question.
#[derive(Default)]
struct Execution {
    /// Sum of the logarithms of its rows, and how many rows there are.
    sum: f64,
    rows: f64,
    /// Position of its first row in the file.
    begins: Option<u64>,
}

/// All values.
pub(super) struct Table<'a> {
    plan: &'a Plan,
    dimensions: &'a [String],
    /// Whether each dimension is fixed by an execution.
    is_fixed: Vec<bool>,
    cells: Vec<Cell<'a>>,
    failures: Vec<Failure<'a>>,
}

impl<'a> Table<'a> {
    pub(super) fn of(
        plan: &'a Plan,
        records: &'a [Record],
        dimensions: &'a [String],
        fixed: &[String],
    ) -> Self {
        let levels: BTreeMap<&str, Vec<String>> = plan
            .workloads
            .iter()
            .map(|workload| (workload.label.as_str(), levels(workload, dimensions)))
            .collect();
        let (mut cells, mut failures) = (Vec::new(), Vec::new());
        for record in records {
            let Some(workload) = plan.workload(&record.workload) else { continue };
            if record.outcome != Outcome::Completed {
                let levels = levels[workload.label.as_str()].clone();
                failures.push(Failure { subject: &record.subject, levels });
                continue;
            }
            let primary =
                workload.metrics.iter().filter(|metric| workload.primary.contains(&metric.id));
            for metric in primary {
                let reduced = reduce(record, metric);
                if reduced == Err(Lack::Absent) {
                    continue;
                }
                cells.push(Cell {
                    subject: &record.subject,
                    metric: &metric.id,
                    levels: levels[workload.label.as_str()].clone(),
                    replicate: record.block,
                    sequence: record.sequence,
                    log: reduced.map(|reduced| reduced.scaled),
                    series: series(record, metric),
                    rows: rows(record, metric),
                    events: reduced.ok().and_then(|reduced| reduced.events),
                });
            }
        }
        let is_fixed = dimensions.iter().map(|name| fixed.contains(name)).collect();
        Self { plan, dimensions, is_fixed, cells, failures }
    }

    /// Every question that keeps these dimensions: metric by metric, level by level,
    /// pair by pair.
    pub(super) fn family(&self, kept: &[usize]) -> Vec<Samples<'a>> {
        let name = name_of(kept, self.dimensions);
        let mut metrics: Vec<&'a Metric> = Vec::new();
        for workload in &self.plan.workloads {
            for metric in workload.metrics.iter().filter(|m| workload.primary.contains(&m.id)) {
                if metrics.iter().all(|known| known.id != metric.id) {
                    metrics.push(metric);
                }
            }
        }
        let mut family = Vec::new();
        for metric in metrics {
            // In the order in which the plan first has them.
            let mut by_levels: Vec<(Vec<&str>, Vec<&Cell<'a>>)> = Vec::new();
            let mut places: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
            for cell in self.cells.iter().filter(|cell| cell.metric == metric.id) {
                let key: Vec<&str> =
                    kept.iter().map(|index| cell.levels[*index].as_str()).collect();
                let place = *places.entry(key.clone()).or_insert_with(|| {
                    by_levels.push((key, Vec::new()));
                    by_levels.len() - 1
                });
                by_levels[place].1.push(cell);
            }
            for (key, cells) in &by_levels {
                let label = self.label(kept, key);
                for (reference, subject) in pairs(self.plan) {
                    let question = Question {
                        workload: label.clone(),
                        metric: metric.id.clone(),
                        unit: metric.unit,
                        direction: metric.direction,
                        subject: subject.id.clone(),
                        reference: reference.id.clone(),
                        role: Role::Primary,
                        family: name.clone(),
                    };
                    family.push(self.samples(question, metric, kept, key, cells));
                }
            }
        }
        family
    }

    fn label(&self, kept: &[usize], key: &[&str]) -> String {
        if let (true, Some(only)) = (self.dimensions.is_empty(), self.plan.workloads.first()) {
            return only.label.clone();
        }
        if kept.is_empty() {
            return "overall".to_owned();
        }
        let parts: Vec<String> = kept
            .iter()
            .zip(key)
            .map(|(index, level)| format!("{}:{level}", self.dimensions[*index]))
            .collect();
        parts.join(",")
    }

    fn samples(
        &self,
        question: Question,
        metric: &'a Metric,
        kept: &[usize],
        key: &[&str],
        cells: &[&Cell<'a>],
    ) -> Samples<'a> {
        let mut samples = Samples {
            question,
            metric,
            is_closed_loop: self.plan.workloads.iter().any(|workload| workload.is_closed_loop),
            strata: BTreeMap::new(),
            series: [Vec::new(), Vec::new()],
            zeros: 0,
            lonely: 0,
            failed: [0; 2],
            completed: [0; 2],
            events: None,
            places: BTreeMap::new(),
            spans: BTreeMap::new(),
        };
        for failure in &self.failures {
            let is_here =
                kept.iter().zip(key).all(|(index, level)| failure.levels[*index] == *level);
            if let Some(side) = samples.side(failure.subject).filter(|_| is_here) {
                samples.failed[side] += 1;
            }
        }
        // Executions by stratum, subject and replicate.
        let mut executions: BTreeMap<(Vec<String>, usize, u32), Execution> = BTreeMap::new();
        let mut present: BTreeMap<&[String], [bool; 2]> = BTreeMap::new();
        for cell in cells {
            let Some(side) = samples.side(cell.subject) else { continue };
            samples.completed[side] += 1;
            samples.events = match (samples.events, cell.events) {
                (Some(fewest), Some(events)) => Some(fewest.min(events)),
                (fewest, events) => fewest.or(events),
            };
            let Ok(log) = cell.log else {
                samples.zeros += 1;
                continue;
            };
            if cell.series.is_empty() {
                take(&mut samples.series[side], std::iter::once(exp(log)));
            }
            for values in &cell.series {
                take(&mut samples.series[side], values.iter().copied());
            }
            present.entry(&cell.levels).or_default()[side] = true;
            let stratum = self.stratum(kept, cell);
            let spans = samples.spans.entry(stratum.clone()).or_default();
            let span = spans[side].get_or_insert((cell.sequence, cell.sequence));
            *span = (span.0.min(cell.sequence), span.1.max(cell.sequence));
            let execution = executions.entry((stratum, side, cell.replicate)).or_default();
            execution.sum += cell.rows as f64 * log;
            execution.rows += cell.rows as f64;
            let begins = execution.begins.get_or_insert(cell.sequence);
            *begins = cell.sequence.min(*begins);
        }
        samples.lonely = present.values().filter(|sides| sides[0] != sides[1]).count();
        for ((stratum, side, _), execution) in executions {
            let begins = execution.begins.unwrap_or_default() as f64;
            samples.places.entry(stratum.clone()).or_default()[side].push(begins);
            let mean = execution.sum / execution.rows;
            samples.strata.entry(stratum).or_default()[side].push(mean);
        }
        samples
    }

    /// The levels that an execution fixes and the question does not keep.
    fn stratum(&self, kept: &[usize], cell: &Cell<'_>) -> Vec<String> {
        let free = (0..self.dimensions.len())
            .filter(|index| self.is_fixed[*index] && !kept.contains(index));
        free.map(|index| cell.levels[index].clone()).collect()
    }
}

/// Rows of a record that hold the metric: each was an invocation of its own.
fn rows(record: &Record, metric: &Metric) -> usize {
    if matches!(metric.reduction, Reduction::Quantile(_)) {
        return 1;
    }
    let samples = record.invocations.iter().flat_map(|invocation| &invocation.samples);
    samples.filter(|sample| sample.source == metric.source).count().max(1)
}

fn levels(workload: &WorkloadPlan, dimensions: &[String]) -> Vec<String> {
    dimensions
        .iter()
        .map(|name| match workload.parameters.0.get(name) {
            Some(ParameterValue::Text(text)) => text.clone(),
            _ => String::new(),
        })
        .collect()
}

/// Pairs of subjects, the one compared with first.
fn pairs(plan: &Plan) -> Vec<(&Subject, &Subject)> {
    let mut pairs = every_pair(plan);
    if plan.comparisons == Comparisons::Reference {
        pairs.retain(|(first, _)| first.id == plan.reference().id);
    }
    pairs
}
