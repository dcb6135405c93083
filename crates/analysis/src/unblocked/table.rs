//! All imported values with their places, and the questions that they answer.
//!
//! A file has hundreds of thousands of rows, and every pair of subjects asks about them: a value is
//! held once, with numbers in place of names, and the samples of a question are made where they are
//! asked for.

use super::mix::{MixedRows, Mixes};
use super::samples::Samples;
use crate::reduce::{Lack, reduce, series};
use crate::resolution::take;
use crate::trial_facts::emulation;
use model::{
    Caveat, Comparisons, Metric, Outcome, ParameterValue, Plan, Question, Record, Reduction, Role,
    Subject, WorkloadPlan,
};
use stats::{exp, ln};
use std::collections::BTreeMap;

/// One value: a logarithm with its place.
struct Cell {
    /// Place of its record.
    record: u32,
    /// Place of its metric among those of its workload that are judged.
    metric: u32,
    /// Numbers of these in the table.
    subject: u32,
    workload: u32,
    /// NaN of a value that has no logarithm.
    log: f64,
}

/// What one row of an execution measured for a question.
struct ExecutionRow {
    /// Place of the stratum.
    stratum: u32,
    workload: u32,
    replicate: u32,
    /// Rows of the file that it was taken from; a quantile of a merged histogram is one.
    rows: u32,
    sequence: u64,
    log: f64,
}

/// All values.
pub(super) struct Table<'a> {
    plan: &'a Plan,
    records: &'a [Record],
    dimensions: &'a [String],
    /// Metrics of each workload that verdicts are about.
    judged: Vec<Vec<&'a Metric>>,
    /// Whether the load waited for each answer.
    is_closed_loop: bool,
    /// Whether each dimension is fixed by an execution.
    is_fixed: Vec<bool>,
    /// The levels of each workload.
    levels: Vec<Vec<String>>,
    /// Subjects by number.
    subjects: BTreeMap<&'a str, u32>,
    cells: Vec<Cell>,
    /// Events that quantiles were taken from, by the places of these among the values.
    events: BTreeMap<u32, u64>,
    /// Trials without a value, by workload and subject.
    failures: BTreeMap<(u32, u32), u64>,
    /// What records say of the emulated processor that ran a subject.
    emulated: BTreeMap<u32, Caveat>,
}

/// Questions about one metric at the same levels, one for each pair of subjects.
struct Part<'a> {
    metric: &'a Metric,
    label: String,
    /// Places of its values by subject, in the order of the records.
    cells: BTreeMap<u32, Vec<u32>>,
    /// Trials that failed, by subject.
    failed: BTreeMap<u32, u64>,
}

/// The questions that keep the same dimensions.
pub(super) struct Family<'t, 'a> {
    table: &'t Table<'a>,
    name: String,
    parts: Vec<Part<'a>>,
    pairs: Vec<(&'a Subject, &'a Subject)>,
    /// The levels that an execution fixes and the questions do not keep, in order.
    strata: Vec<Vec<String>>,
    /// Of each workload the place of its levels among these.
    stratum_of: Vec<u32>,
    /// Dimensions that an execution covers and the questions do not keep.
    covered: Vec<usize>,
}

impl<'a> Table<'a> {
    pub(super) fn of(
        plan: &'a Plan,
        records: &'a [Record],
        dimensions: &'a [String],
        fixed: &[String],
    ) -> Self {
        let mut workloads: BTreeMap<&str, u32> = BTreeMap::new();
        let mut judged: Vec<Vec<&'a Metric>> = Vec::with_capacity(plan.workloads.len());
        for (number, workload) in (0..).zip(&plan.workloads) {
            workloads.entry(&workload.label).or_insert(number);
            judged.push(primary(workload).collect());
        }
        let mut table = Self {
            plan,
            records,
            dimensions,
            judged,
            is_closed_loop: plan.workloads.iter().any(|workload| workload.is_closed_loop),
            is_fixed: dimensions.iter().map(|name| fixed.contains(name)).collect(),
            levels: plan.workloads.iter().map(|one| levels(one, dimensions)).collect(),
            subjects: BTreeMap::new(),
            cells: Vec::with_capacity(records.len()),
            events: BTreeMap::new(),
            failures: BTreeMap::new(),
            emulated: BTreeMap::new(),
        };
        for (number, record) in (0..).zip(records) {
            let Some(workload) = workloads.get(record.workload.as_str()).copied() else { continue };
            let next = table.subjects.len() as u32;
            let subject = *table.subjects.entry(&record.subject).or_insert(next);
            if !table.emulated.contains_key(&subject)
                && let Some(told) = emulation(record)
            {
                table.emulated.insert(subject, told);
            }
            if record.outcome != Outcome::Completed {
                *table.failures.entry((workload, subject)).or_default() += 1;
                continue;
            }
            for (place, metric) in (0..).zip(&table.judged[workload as usize]) {
                let (log, events) = match reduce(record, metric) {
                    Ok(reduced) => (reduced.scaled, reduced.events),
                    Err(Lack::Zero) => (f64::NAN, None),
                    Err(Lack::Absent) => continue,
                };
                if let Some(events) = events {
                    table.events.insert(table.cells.len() as u32, events);
                }
                table.cells.push(Cell { record: number, metric: place, subject, workload, log });
            }
        }
        table
    }

    /// Every question that keeps these dimensions: metric by metric, level by level,
    /// pair by pair. Claims ask about pairs that the plan does not compare.
    pub(super) fn family(&self, kept: &[usize], pairs_of: &Comparisons) -> Family<'_, 'a> {
        let mut metrics: Vec<&'a Metric> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for metric in self.plan.workloads.iter().flat_map(primary) {
            places.entry(&metric.id).or_insert_with(|| {
                metrics.push(metric);
                metrics.len() - 1
            });
        }
        let mut by_metric: Vec<Vec<u32>> = vec![Vec::new(); metrics.len()];
        for (place, cell) in (0..).zip(&self.cells) {
            by_metric[places[self.metric_of(cell).id.as_str()]].push(place);
        }
        let failed = self.failed(kept);
        let parts = metrics
            .into_iter()
            .zip(by_metric)
            .flat_map(|(metric, cells)| self.parts(kept, metric, &cells, &failed));
        let (strata, stratum_of) = self.strata(kept);
        let is_covered = |index: &usize| !self.is_fixed[*index] && !kept.contains(index);
        Family {
            table: self,
            name: name_of(kept, self.dimensions),
            parts: parts.collect(),
            pairs: pairs(self.plan, pairs_of),
            strata,
            stratum_of,
            covered: (0..self.dimensions.len()).filter(is_covered).collect(),
        }
    }

    /// A part for each combination of levels that is kept, in the order of the records.
    fn parts(
        &self,
        kept: &[usize],
        metric: &'a Metric,
        cells: &[u32],
        failed: &BTreeMap<Vec<&str>, BTreeMap<u32, u64>>,
    ) -> Vec<Part<'a>> {
        let mut parts: Vec<Part<'a>> = Vec::new();
        let mut places: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
        let mut of_workload: Vec<Option<usize>> = vec![None; self.levels.len()];
        for place in cells {
            let cell = &self.cells[*place as usize];
            let part = *of_workload[cell.workload as usize].get_or_insert_with(|| {
                let key = self.key(kept, cell.workload);
                *places.entry(key.clone()).or_insert_with(|| {
                    parts.push(Part {
                        metric,
                        label: self.label(kept, &key),
                        cells: BTreeMap::new(),
                        failed: failed.get(&key).cloned().unwrap_or_default(),
                    });
                    parts.len() - 1
                })
            });
            parts[part].cells.entry(cell.subject).or_default().push(*place);
        }
        parts
    }

    /// The metric of a value.
    fn metric_of(&self, cell: &Cell) -> &'a Metric {
        self.judged[cell.workload as usize][cell.metric as usize]
    }

    /// The levels of a workload that are kept.
    fn key(&self, kept: &[usize], workload: u32) -> Vec<&str> {
        let levels = &self.levels[workload as usize];
        kept.iter().map(|index| levels[*index].as_str()).collect()
    }

    /// Trials that failed, by the levels that are kept and by subject.
    fn failed(&self, kept: &[usize]) -> BTreeMap<Vec<&str>, BTreeMap<u32, u64>> {
        let mut failed: BTreeMap<Vec<&str>, BTreeMap<u32, u64>> = BTreeMap::new();
        for ((workload, subject), count) in &self.failures {
            let of_levels = failed.entry(self.key(kept, *workload)).or_default();
            *of_levels.entry(*subject).or_default() += count;
        }
        failed
    }

    /// The levels that an execution fixes and that are not kept, in order, and of each workload
    /// where its own stand among these.
    fn strata(&self, kept: &[usize]) -> (Vec<Vec<String>>, Vec<u32>) {
        let free: Vec<usize> = (0..self.dimensions.len())
            .filter(|index| self.is_fixed[*index] && !kept.contains(index))
            .collect();
        let of = |levels: &Vec<String>| -> Vec<String> {
            free.iter().map(|index| levels[*index].clone()).collect()
        };
        let of_workloads: Vec<Vec<String>> = self.levels.iter().map(of).collect();
        let mut strata = of_workloads.clone();
        strata.sort();
        strata.dedup();
        let place = |levels: &Vec<String>| strata.partition_point(|known| known < levels) as u32;
        let stratum_of = of_workloads.iter().map(place).collect();
        (strata, stratum_of)
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
}

impl<'a> Family<'_, 'a> {
    /// How many questions there are.
    pub(super) fn len(&self) -> usize {
        self.parts.len() * self.pairs.len()
    }

    /// The question of a number, with its part and the two subjects.
    pub(super) fn question(&self, number: usize) -> Question {
        let (part, (reference, subject)) = self.asked(number);
        Question {
            workload: part.label.clone(),
            metric: part.metric.id.clone(),
            unit: part.metric.unit,
            direction: part.metric.direction,
            subject: subject.id.clone(),
            reference: reference.id.clone(),
            role: Role::Primary,
            family: self.name.clone(),
        }
    }

    fn asked(&self, number: usize) -> (&Part<'a>, (&'a Subject, &'a Subject)) {
        (&self.parts[number / self.pairs.len()], self.pairs[number % self.pairs.len()])
    }

    /// The samples of the question of a number.
    pub(super) fn samples(&self, number: usize) -> Samples<'a> {
        let (part, (reference, subject)) = self.asked(number);
        let sides = [reference, subject].map(|one| self.table.subjects.get(one.id.as_str()));
        let failed = sides.map(|side| side.and_then(|side| part.failed.get(side)).copied());
        let emulated = sides.iter().flatten().find_map(|side| self.table.emulated.get(*side));
        let mut samples = Samples {
            question: self.question(number),
            metric: part.metric,
            is_closed_loop: self.table.is_closed_loop,
            strata: BTreeMap::new(),
            series: [Vec::new(), Vec::new()],
            zeros: 0,
            lonely: Vec::new(),
            unlike_mix: None,
            emulated: emulated.cloned(),
            failed: failed.map(Option::unwrap_or_default),
            completed: [0; 2],
            events: None,
            places: BTreeMap::new(),
            spans: BTreeMap::new(),
        };
        let cells = sides.map(|side| {
            let own = side.and_then(|side| part.cells.get(side));
            own.map_or(&[][..], Vec::as_slice)
        });
        let (mut present, mut mixes) = (BTreeMap::new(), Mixes::default());
        for (side, places) in cells.into_iter().enumerate() {
            let rows = self.rows_of_side(side, places, &mut present, &mut samples);
            self.add_mixes(side, &rows, &mut mixes);
            self.add_executions(side, &rows, &mut samples);
        }
        samples.lonely = self.lonely(&present, [reference, subject]);
        samples.unlike_mix = self.unlike_mix(&mixes, &samples);
        samples
    }

    /// The rows of reference or subject by stratum and replicate.
    fn rows_of_side(
        &self,
        side: usize,
        places: &[u32],
        present: &mut BTreeMap<u32, [bool; 2]>,
        samples: &mut Samples<'a>,
    ) -> Vec<ExecutionRow> {
        let table = self.table;
        let mut rows = Vec::with_capacity(places.len());
        for place in places {
            let cell = &table.cells[*place as usize];
            let (record, metric) = (&table.records[cell.record as usize], table.metric_of(cell));
            samples.completed[side] += 1;
            samples.events = match (samples.events, table.events.get(place).copied()) {
                (Some(fewest), Some(events)) => Some(fewest.min(events)),
                (fewest, events) => fewest.or(events),
            };
            // One that is zero is there as well.
            present.entry(cell.workload).or_default()[side] = true;
            if cell.log.is_nan() {
                samples.zeros += 1;
                continue;
            }
            take_values(&mut samples.series[side], (record, metric), cell.log);
            rows.push(ExecutionRow {
                stratum: self.stratum_of[cell.workload as usize],
                workload: cell.workload,
                replicate: record.block,
                rows: rows_of(record, metric) as u32,
                sequence: record.sequence,
                log: cell.log,
            });
        }
        // Sums are taken in the order of the records: a stable sort keeps it. Most rows are sorted.
        let place = |row: &ExecutionRow| (row.stratum, row.replicate);
        if !rows.is_sorted_by_key(place) {
            rows.sort_by_key(place);
        }
        rows
    }

    /// Combinations of levels that only one of the two has, each with whose they are.
    fn lonely(&self, present: &BTreeMap<u32, [bool; 2]>, both: [&Subject; 2]) -> Vec<String> {
        let mut by_levels: BTreeMap<&[String], [bool; 2]> = BTreeMap::new();
        for (workload, sides) in present {
            let known = by_levels.entry(&self.table.levels[*workload as usize]).or_default();
            known.iter_mut().zip(sides).for_each(|(known, side)| *known |= side);
        }
        let all: Vec<usize> = (0..self.table.dimensions.len()).collect();
        let of_one = by_levels.into_iter().filter(|(_, sides)| sides[0] != sides[1]);
        let named = of_one.map(|(levels, sides)| {
            let key: Vec<&str> = levels.iter().map(String::as_str).collect();
            format!("{} of {}", self.table.label(&all, &key), both[usize::from(sides[1])].id)
        });
        named.collect()
    }

    /// Rows of one side by stratum and replicate: a mean of logarithms for each execution.
    fn add_executions(&self, side: usize, rows: &[ExecutionRow], samples: &mut Samples<'a>) {
        for of_stratum in rows.chunk_by(|one, other| one.stratum == other.stratum) {
            let stratum = &self.strata[of_stratum[0].stratum as usize];
            let executions = || of_stratum.chunk_by(|one, other| one.replicate == other.replicate);
            let number = executions().count();
            let (mut means, mut places) = (Vec::with_capacity(number), Vec::with_capacity(number));
            for execution in executions() {
                let (mut sum, mut count, mut begins) = (0.0, 0.0, u64::MAX);
                for row in execution {
                    sum += f64::from(row.rows) * row.log;
                    count += f64::from(row.rows);
                    begins = begins.min(row.sequence);
                }
                means.push(sum / count);
                places.push(begins as f64);
            }
            let sequences = || of_stratum.iter().map(|row| row.sequence);
            let span = sequences().min().zip(sequences().max());
            samples.spans.entry(stratum.clone()).or_default()[side] = span;
            samples.places.entry(stratum.clone()).or_default()[side] = places;
            samples.strata.entry(stratum.clone()).or_default()[side] = means;
        }
    }

    /// Adds what executions of one side hold of what they cover, of rows by stratum and replicate.
    fn add_mixes(&self, side: usize, rows: &[ExecutionRow], mixes: &mut Mixes) {
        if self.covered.is_empty() {
            return;
        }
        let place = |row: &ExecutionRow| (row.stratum, row.replicate);
        for execution in rows.chunk_by(|one, other| place(one) == place(other)) {
            let of_workload = |row: &ExecutionRow| MixedRows {
                workload: row.workload,
                rows: f64::from(row.rows),
                log: row.log,
            };
            mixes.add(execution[0].stratum, side, execution.iter().map(of_workload));
        }
    }

    /// How executions of the two subjects hold unlike shares of what they cover.
    fn unlike_mix(&self, mixes: &Mixes, samples: &Samples<'_>) -> Option<String> {
        if self.covered.is_empty() {
            return None;
        }
        let names = |workload: u32| self.covered_levels(workload);
        let both = [samples.question.reference.as_str(), &samples.question.subject];
        mixes.unlike(ln(1.0 + samples.metric.margin), both, &names)
    }

    /// The levels of a workload that executions cover: each, and all together.
    fn covered_levels(&self, workload: u32) -> Vec<String> {
        let levels = &self.table.levels[workload as usize];
        let name = |index: &usize| format!("{} {}", self.table.dimensions[*index], levels[*index]);
        let mut names: Vec<String> = self.covered.iter().map(name).collect();
        if names.len() > 1 {
            names.push(names.join(" with "));
        }
        names
    }
}

/// Takes the values that a logarithm was reduced from, or itself where it is one of them.
fn take_values(all: &mut Vec<f64>, (record, metric): (&Record, &Metric), log: f64) {
    let values = series(record, metric);
    if values.is_empty() {
        take(all, std::iter::once(exp(log)));
    }
    for values in values {
        take(all, values.iter().copied());
    }
}

/// Rows of a record that hold the metric: each was an invocation of its own.
fn rows_of(record: &Record, metric: &Metric) -> usize {
    if matches!(metric.reduction, Reduction::Quantile(_)) {
        return 1;
    }
    let samples = record.invocations.iter().flat_map(|invocation| &invocation.samples);
    samples.filter(|sample| sample.source == metric.source).count().max(1)
}

/// The metrics of a workload that verdicts are about.
fn primary(workload: &WorkloadPlan) -> impl Iterator<Item = &Metric> {
    workload.metrics.iter().filter(|metric| workload.primary.contains(&metric.id))
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
fn pairs<'a>(plan: &'a Plan, comparisons: &Comparisons) -> Vec<(&'a Subject, &'a Subject)> {
    // Within a factor all are compared: subjects of an import set none.
    let comparisons = match comparisons {
        Comparisons::Within(_) => &Comparisons::All,
        other => other,
    };
    comparisons.pairs(&plan.subjects)
}

/// The name of a family.
pub(super) fn name_of(kept: &[usize], dimensions: &[String]) -> String {
    if kept.len() == dimensions.len() {
        return "cells".to_owned();
    }
    if kept.is_empty() {
        return "overall".to_owned();
    }
    let names: Vec<&str> = kept.iter().map(|index| dimensions[*index].as_str()).collect();
    names.join("+")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, record};
    use model::{Direction, Sample};

    #[test]
    fn a_question_has_the_values_of_its_own_two_subjects_and_no_others() {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Mean)];
        let mut plan = plan(&["a", "b", "c"], metrics, 0);
        plan.comparisons = Comparisons::All;
        let value = |subject: &str| match subject {
            "a" => 1.0,
            "b" => 10.0,
            _ => 100.0,
        };
        let mut records = Vec::new();
        for block in 0..3 {
            for subject in ["c", "a", "b"] {
                let samples = vec![vec![Sample::values("m", vec![value(subject)])]];
                let mut one = record(block, subject, "w", samples);
                one.sequence = records.len() as u64;
                records.push(one);
            }
        }
        let table = Table::of(&plan, &records, &[], &[]);
        let family = table.family(&[], &plan.comparisons);
        assert_eq!(family.len(), 3);
        for number in 0..family.len() {
            let samples = family.samples(number);
            let question = family.question(number);
            assert_eq!(samples.question, question);
            let sides = &samples.strata[&Vec::<String>::new()];
            let asked = [&question.reference, &question.subject];
            for (logs, subject) in sides.iter().zip(asked) {
                let is_own = |log: &f64| (log - ln(value(subject))).abs() < 1e-12;
                assert!(logs.len() == 3 && logs.iter().all(is_own), "{question:?}: {logs:?}");
            }
            assert_eq!(samples.completed, [3, 3]);
        }
        // Of one subject alone there is no more than its reference.
        let two = table.family(&[], &Comparisons::Reference);
        assert_eq!(two.len(), 2);
    }
}
