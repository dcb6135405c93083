//! The runs behind every primary question, each metric once.

use crate::view::Report;
use model::{Direction, Role, TrialValue, Unit, round_significant as digits};
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
    let orders: BTreeMap<(u32, &str, &str), u64> = report
        .records
        .iter()
        .map(|record| ((record.block, &*record.subject, &*record.workload), record.sequence))
        .collect();
    let subjects: BTreeMap<&str, usize> =
        report.subjects.iter().enumerate().map(|(at, subject)| (&*subject.id, at)).collect();
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
                let order = orders.get(&(value.block, &*value.subject, &*value.workload))?;
                Some((*order, value.block, *subjects.get(&*value.subject)?, digits(value.value)))
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
