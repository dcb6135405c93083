//! What figures are drawn from, made small: quantiles instead of histograms, and each run's
//! value by order. A page must stay light whatever was recorded.

use crate::view::Report;
use model::{Direction, Histogram, Outcome, Role, SampleData, Unit};
use serde::Serialize;
use std::collections::BTreeMap;

/// Fewest values beyond a quantile that is drawn (STATISTICS 2.10).
const LEAST_BEYOND: f64 = 10.0;

/// Quantiles of one latency: of all runs of a subject together, and of each.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// Workload label.
    pub workload: String,
    /// The source of the samples.
    pub source: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Shares, rising.
    pub probabilities: Vec<f64>,
    /// In the plan's order.
    pub subjects: Vec<SubjectCurve>,
}

/// One subject's quantiles.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SubjectCurve {
    /// Subject id.
    pub subject: String,
    /// Values in all.
    pub count: u64,
    /// Of the merged histogram; absent where fewer than ten values lie beyond.
    pub pooled: Vec<Option<u64>>,
    /// Of each run.
    pub runs: Vec<Vec<Option<u64>>>,
}

/// Every run of one metric, in the order in which they were made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Workload label.
    pub workload: String,
    /// Metric id.
    pub metric: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// The runs.
    pub runs: Vec<Run>,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// Its number in the campaign as it ran.
    pub order: u64,
    /// Index of its block.
    pub block: u32,
    /// Subject id.
    pub subject: String,
    /// Its value.
    pub value: f64,
}

/// Six steps for each nine, up to five nines.
fn probabilities() -> Vec<f64> {
    let steps = 30_u32;
    let of = |step: u32| 1.0 - 10_f64.powf(-f64::from(step) / 6.0);
    let mut all: Vec<f64> = (0..=steps).map(of).collect();
    all.extend([0.25, 0.5, 0.75]);
    all.sort_by(f64::total_cmp);
    all
}

fn quantiles(histogram: &Histogram, probabilities: &[f64]) -> Vec<Option<u64>> {
    let count = histogram.count() as f64;
    let supported = |share: f64| (1.0 - share) * count >= LEAST_BEYOND;
    probabilities
        .iter()
        .map(|share| supported(*share).then(|| histogram.quantile(*share)).flatten())
        .collect()
}

/// The curves of every source of single events.
pub fn curves(report: &Report) -> Vec<Curve> {
    let probabilities = probabilities();
    let mut found: BTreeMap<(usize, &str), BTreeMap<usize, Vec<Histogram>>> = BTreeMap::new();
    let place = |labels: &[String], label: &str| labels.iter().position(|known| known == label);
    let subjects: Vec<String> =
        report.subjects.iter().map(|subject| subject.id.clone()).collect();
    for record in report.records.iter().filter(|record| record.outcome == Outcome::Completed) {
        let (Some(workload), Some(subject)) = (
            place(&report.design.workloads, &record.workload),
            place(&subjects, &record.subject),
        ) else {
            continue;
        };
        let mut merged: BTreeMap<&str, Histogram> = BTreeMap::new();
        for sample in record.invocations.iter().flat_map(|invocation| &invocation.samples) {
            if let SampleData::Histogram(histogram) = &sample.data {
                merged.entry(&sample.source).or_default().merge(histogram);
            }
        }
        for (source, histogram) in merged {
            let of_source = found.entry((workload, source)).or_default();
            of_source.entry(subject).or_default().push(histogram);
        }
    }
    found
        .into_iter()
        .filter_map(|((workload, source), by_subject)| {
            let label = &report.design.workloads[workload];
            let unit = *report.units.get(label)?.get(source)?;
            let curve = |(subject, runs): (usize, Vec<Histogram>)| {
                let mut pooled = Histogram::new();
                runs.iter().for_each(|run| pooled.merge(run));
                SubjectCurve {
                    subject: subjects[subject].clone(),
                    count: pooled.count(),
                    pooled: quantiles(&pooled, &probabilities),
                    runs: runs.iter().map(|run| quantiles(run, &probabilities)).collect(),
                }
            };
            Some(Curve {
                workload: label.clone(),
                source: source.to_owned(),
                unit,
                probabilities: probabilities.clone(),
                subjects: by_subject.into_iter().map(curve).collect(),
            })
        })
        .collect()
}

/// The runs behind every primary question, each metric once.
pub fn series(report: &Report) -> Vec<Series> {
    let mut orders: BTreeMap<(u32, &str, &str), u64> = BTreeMap::new();
    for record in &report.records {
        orders.insert((record.block, &record.subject, &record.workload), record.sequence);
    }
    let mut found: Vec<Series> = Vec::new();
    for finding in &report.findings.findings {
        let question = &finding.question;
        let is_known = |series: &Series| {
            series.workload == question.workload && series.metric == question.metric
        };
        if question.role != Role::Primary || found.iter().any(is_known) {
            continue;
        }
        let of_metric = report.values.iter().filter(|value| {
            value.workload == question.workload && value.metric == question.metric
        });
        let mut runs: Vec<Run> = of_metric
            .filter_map(|value| {
                let key = (value.block, value.subject.as_str(), value.workload.as_str());
                Some(Run {
                    order: *orders.get(&key)?,
                    block: value.block,
                    subject: value.subject.clone(),
                    value: value.value,
                })
            })
            .collect();
        runs.sort_by_key(|run| run.order);
        if !runs.is_empty() {
            found.push(Series {
                workload: question.workload.clone(),
                metric: question.metric.clone(),
                unit: question.unit,
                direction: question.direction,
                runs,
            });
        }
    }
    found
}
