//! One number for each block of a metric and subject, by when its trial began, and in
//! stretches between which what outlives trials began anew.

use crate::observations::Observations;
use crate::pairs::tail;
use crate::reduce::{Lack, reduce};
use crate::rulebook::LEAST_BEYOND;
use crate::trial_facts::{emulation, is_resumed};
use model::{Caveat, Metric, Outcome, Plan, Record, Subject, WorkloadPlan};
use std::collections::BTreeSet;

/// Nanoseconds of an hour.
const HOUR_NS: f64 = 3.6e12;

/// One metric of one subject over a campaign.
#[derive(Debug, Clone)]
pub(crate) struct Series<'a> {
    pub workload: &'a WorkloadPlan,
    pub metric: &'a Metric,
    pub subject: &'a Subject,
    /// In the order in which their trials ran.
    pub points: Vec<Point>,
    /// Why no test of it is allowed, whatever the numbers.
    pub lack: Option<&'static str>,
    /// What its records say of the processor that ran them.
    pub emulated: Option<Caveat>,
}

/// One block's value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub block: u32,
    /// Since the campaign's first trial.
    pub hours: f64,
    pub stretch: u32,
    pub value: f64,
    /// Its logarithm, or of a share the logit.
    pub scaled: f64,
}

impl Series<'_> {
    /// Times and values, stretch by stretch.
    pub(crate) fn stretches(&self) -> Vec<Vec<(f64, f64)>> {
        let stretches = self.points.chunk_by(|one, next| one.stretch == next.stretch);
        let of = |points: &[Point]| points.iter().map(|one| (one.hours, one.value)).collect();
        stretches.map(of).collect()
    }
}

/// Every series of a plan's metrics; none where records have no times, as imported ones, and none
/// of a metric that no trial of a subject reported. What only describes a run (the age of a
/// process) has no series either: nobody wants it to stay.
pub(crate) fn series<'a>(
    plan: &'a Plan,
    observations: &Observations<'_>,
    records: &[Record],
) -> Vec<Series<'a>> {
    let begun = records.iter().filter(|record| record.started_unix_ns > 0);
    let Some(begin_ns) = begun.map(|record| record.started_unix_ns).min() else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for workload in &plan.workloads {
        let breaks = Breaks::of(records, &workload.label);
        for metric in workload.metrics.iter().filter(|metric| !metric.is_description) {
            let subjects = plan.subjects.iter().filter(|subject| {
                workload.runs_for(subject) && workload.measures(&metric.id, subject)
            });
            for subject in subjects {
                let empty = Series {
                    workload,
                    metric,
                    subject,
                    points: Vec::new(),
                    lack: None,
                    emulated: None,
                };
                let series = filled(empty, observations, &breaks, begin_ns);
                let has_any = !series.points.is_empty() || series.lack.is_some();
                all.extend(has_any.then_some(series));
            }
        }
    }
    all
}

fn filled<'a>(
    mut series: Series<'a>,
    observations: &Observations<'_>,
    breaks: &Breaks,
    begin_ns: u64,
) -> Series<'a> {
    let (subject, workload) = (&series.subject.id, &series.workload.label);
    let own = |block| observations.completed(block, subject, workload);
    let mut trials: Vec<&Record> = observations.blocks().filter_map(own).collect();
    trials.sort_by_key(|record| record.sequence);
    for record in trials.into_iter().filter(|record| record.started_unix_ns > 0) {
        series.emulated = series.emulated.or_else(|| emulation(record));
        let reduced = match reduce(record, series.metric) {
            Ok(reduced) => reduced,
            Err(Lack::Zero) => {
                series.lack = Some("a value was zero or negative: a change of it has no size");
                continue;
            }
            Err(Lack::Absent) => continue,
        };
        let tail = reduced.events.and_then(|events| tail(series.metric.reduction, events));
        if tail.is_some_and(|tail| tail.beyond < LEAST_BEYOND) {
            series.lack = Some("too few samples lie beyond the percentile");
            continue;
        }
        series.points.push(Point {
            block: record.block,
            hours: (record.started_unix_ns - begin_ns) as f64 / HOUR_NS,
            stretch: breaks.before(record.sequence),
            value: reduced.value,
            scaled: reduced.scaled,
        });
    }
    series
}

/// The records before which a stretch ends: those of a campaign that went on after an
/// interruption, and those that follow a trial of the workload without a result, which ends
/// what outlives trials.
struct Breaks(BTreeSet<u64>);

impl Breaks {
    fn of(records: &[Record], workload: &str) -> Self {
        let resumed = records.iter().filter(|record| is_resumed(record));
        let ended = records
            .iter()
            .filter(|record| record.workload == workload && record.outcome != Outcome::Completed);
        let first = resumed.map(|record| record.sequence);
        Self(first.chain(ended.map(|record| record.sequence + 1)).collect())
    }

    /// How many stretches ended before the record of that number.
    fn before(&self, sequence: u64) -> u32 {
        u32::try_from(self.0.range(..=sequence).count()).unwrap_or(u32::MAX)
    }
}
