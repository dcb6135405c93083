//! The runs behind every primary question, each metric once.

use crate::view::Report;
use model::{Direction, Role, Unit, metric_runs};
use serde::Serialize;
use std::collections::BTreeSet;

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
    let primary = || {
        let questions = report.findings.findings.iter().map(|finding| &finding.question);
        questions.filter(|question| question.role == Role::Primary)
    };
    let asked: BTreeSet<(&str, &str)> =
        primary().map(|question| (&*question.workload, &*question.metric)).collect();
    let subjects: Vec<&str> = report.subjects.iter().map(|subject| &*subject.id).collect();
    let mut runs = metric_runs(&asked, &subjects, &report.values, &report.records);
    primary()
        .filter_map(|question| {
            // Each once, though several subjects are compared in it.
            let runs = runs.remove(&(&*question.workload, &*question.metric))?;
            Some(Series {
                workload: question.workload.clone(),
                metric: question.metric.clone(),
                unit: question.unit,
                direction: question.direction,
                order: runs.order,
                block: runs.block,
                subject: runs.subject,
                value: runs.value,
            })
        })
        .collect()
}
