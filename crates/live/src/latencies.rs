//! Percentiles of each finished trial, over the last of them.

use crate::live_campaign::{LatencyPoint, LatencySeries};
use model::{Histogram, Outcome, Plan, Record, SampleData};
use std::collections::BTreeMap;

/// Trials shown; earlier ones are dropped.
const MOST_POINTS: usize = 600;
/// Fewest values beyond a percentile that is shown (docs/method.md#m-quantiles).
const LEAST_BEYOND: f64 = 10.0;

/// Percentiles so far, in the order of workloads and sources as they first came.
#[derive(Debug, Default)]
pub(crate) struct Latencies(Vec<LatencySeries>);

impl Latencies {
    /// Takes in a record.
    pub(crate) fn note(&mut self, plan: &Plan, record: &Record) {
        if record.outcome != Outcome::Completed {
            return;
        }
        let mut by_source: BTreeMap<&str, Vec<&Histogram>> = BTreeMap::new();
        for sample in record.invocations.iter().flat_map(|invocation| &invocation.samples) {
            if let SampleData::Histogram(histogram) = &sample.data {
                by_source.entry(&sample.source).or_default().push(histogram);
            }
        }
        for (source, parts) in by_source {
            if let Some(latency) = self.of(plan, &record.workload, source) {
                latency.points.push(point(record, &parts));
                let surplus = latency.points.len().saturating_sub(MOST_POINTS);
                latency.points.drain(..surplus);
            }
        }
    }

    fn of(&mut self, plan: &Plan, workload: &str, source: &str) -> Option<&mut LatencySeries> {
        let is_it = |one: &LatencySeries| one.workload == workload && one.source == source;
        if let Some(place) = self.0.iter().position(is_it) {
            return self.0.get_mut(place);
        }
        let metrics = &plan.workload(workload)?.metrics;
        let unit = metrics.iter().find(|metric| metric.source == source)?.unit;
        self.0.push(LatencySeries {
            workload: workload.to_owned(),
            source: source.to_owned(),
            unit,
            points: Vec::new(),
        });
        self.0.last_mut()
    }

    /// All of them.
    pub(crate) fn all(&self) -> &[LatencySeries] {
        &self.0
    }
}

fn point(record: &Record, parts: &[&Histogram]) -> LatencyPoint {
    let count: f64 = parts.iter().map(|part| part.count() as f64).sum();
    let quantile = |share: f64| {
        let is_supported = (1.0 - share) * count >= LEAST_BEYOND;
        Histogram::quantile_of(parts, share).filter(|_| is_supported)
    };
    LatencyPoint {
        order: record.sequence,
        at_ms: record.started_unix_ns / 1_000_000,
        subject: record.subject.clone(),
        p50: quantile(0.5),
        p99: quantile(0.99),
        p999: quantile(0.999),
    }
}
