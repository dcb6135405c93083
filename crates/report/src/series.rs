//! The runs behind every primary question, each metric once.

use crate::view::Report;
use model::{Direction, Record, Role, TrialValue, Unit, round_significant as digits};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Every run of one metric, in the order in which they were made; a column for each fact.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct Series {
    pub(crate) workload: String,
    pub(crate) metric: String,
    pub(crate) unit: Unit,
    pub(crate) direction: Direction,
    /// Numbers in the campaign as it ran.
    pub(crate) order: Vec<u64>,
    /// Indices of blocks.
    pub(crate) block: Vec<u32>,
    /// Places among the report's subjects.
    pub(crate) subject: Vec<usize>,
    pub(crate) value: Vec<f64>,
}

pub(crate) fn series(report: &Report) -> Vec<Series> {
    let subjects: BTreeMap<&str, usize> =
        report.subjects.iter().enumerate().map(|(at, subject)| (&*subject.id, at)).collect();
    let orders = Orders::of(report, &subjects);
    let mut values: BTreeMap<(&str, &str), Vec<&TrialValue>> = BTreeMap::new();
    for value in &report.values {
        values.entry((&value.workload, &value.metric)).or_default().push(value);
    }
    let mut known: BTreeSet<(&str, &str)> = BTreeSet::new();
    let primary = report.findings.findings.iter().map(|finding| &finding.question);
    primary
        .filter(|question| question.role == Role::Primary)
        .filter_map(|question| {
            let key = (&*question.workload, &*question.metric);
            let of_metric = values.get(&key).filter(|_| known.insert(key))?;
            let run = |value: &&TrialValue| {
                let subject = *subjects.get(&*value.subject)?;
                let order = orders.get(value.block, subject, &value.workload)?;
                Some((order, value.block, subject, digits(value.value)))
            };
            let mut runs: Vec<_> = of_metric.iter().filter_map(run).collect();
            runs.sort_by_key(|(order, ..)| *order);
            Some(Series {
                workload: question.workload.clone(),
                metric: question.metric.clone(),
                unit: question.unit,
                direction: question.direction,
                order: runs.iter().map(|run| run.0).collect(),
                block: runs.iter().map(|run| run.1).collect(),
                subject: runs.iter().map(|run| run.2).collect(),
                value: runs.iter().map(|run| run.3).collect(),
            })
        })
        .collect()
}

/// The number of each trial in the campaign as it ran. An import has hundreds of thousands, of
/// which a map by names would be several times as large.
struct Orders<'r> {
    workloads: BTreeMap<&'r str, u32>,
    /// Block, subject and workload by number, with the number of the trial.
    sorted: Vec<([u32; 3], u64)>,
}

impl<'r> Orders<'r> {
    fn of(report: &'r Report, subjects: &BTreeMap<&str, usize>) -> Self {
        let names: BTreeSet<&str> = report.values.iter().map(|value| &*value.workload).collect();
        let workloads: BTreeMap<&str, u32> = names.into_iter().zip(0..).collect();
        let order = |record: &Record| {
            let subject = *subjects.get(&*record.subject)? as u32;
            let workload = *workloads.get(&*record.workload)?;
            Some(([record.block, subject, workload], record.sequence))
        };
        let mut sorted: Vec<([u32; 3], u64)> = report.records.iter().filter_map(order).collect();
        // Of a trial that ran again the last record counts, and stays the last.
        sorted.sort_by_key(|(trial, _)| *trial);
        Self { workloads, sorted }
    }

    fn get(&self, block: u32, subject: usize, workload: &str) -> Option<u64> {
        let trial = [block, subject as u32, *self.workloads.get(workload)?];
        let behind = self.sorted.partition_point(|(known, _)| *known <= trial);
        let (known, order) = self.sorted.get(behind.checked_sub(1)?)?;
        (*known == trial).then_some(*order)
    }
}
