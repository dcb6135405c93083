//! Quantiles of every source of single events.

use crate::distributions::{histograms, quantiles};
use crate::view::Report;
use model::{Histogram, Unit};
use serde::Serialize;

/// Steps for each nine, and the last one: five nines.
const STEPS_FOR_NINE: u32 = 6;
const LAST_STEP: u32 = 30;

/// All curves of a campaign.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(super) struct Curves {
    /// Shares, rising: the columns of every row below.
    probabilities: Vec<f64>,
    of: Vec<Curve>,
}

/// One latency.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
struct Curve {
    workload: String,
    source: String,
    unit: Unit,
    /// In the plan's order.
    subjects: Vec<SubjectCurve>,
}

/// The quantiles of one subject.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
struct SubjectCurve {
    subject: String,
    /// Values in all.
    count: u64,
    /// Of all runs together; null where fewer than ten values lie beyond.
    pooled: Vec<Option<u64>>,
    /// Of each run.
    runs: Vec<Vec<Option<u64>>>,
}

/// The curves of every source of single events; none where there is no such source.
pub(super) fn curves(report: &Report) -> Option<Curves> {
    let probabilities = probabilities();
    let mut of = Vec::new();
    for ((workload, source), by_subject) in histograms(report) {
        let label = &report.design.workloads[workload];
        let Some(unit) = report.units.get(label).and_then(|units| units.get(source)) else {
            continue;
        };
        let subjects = by_subject.into_iter().map(|(subject, runs)| {
            let whole = |run: &Vec<&Histogram>| Histogram::merged(run.iter().copied());
            let runs: Vec<Histogram> = runs.iter().map(whole).collect();
            let pooled = Histogram::merged(&runs);
            SubjectCurve {
                subject: report.subjects[subject].id.clone(),
                count: pooled.count(),
                pooled: quantiles(&pooled, &probabilities),
                runs: runs.iter().map(|run| quantiles(run, &probabilities)).collect(),
            }
        });
        let subjects = subjects.collect();
        of.push(Curve {
            workload: label.clone(),
            source: source.to_owned(),
            unit: *unit,
            subjects,
        });
    }
    (!of.is_empty()).then_some(Curves { probabilities, of })
}

fn probabilities() -> Vec<f64> {
    let of = |step: u32| 1.0 - 10_f64.powf(-f64::from(step) / f64::from(STEPS_FOR_NINE));
    let mut all: Vec<f64> = (0..=LAST_STEP).map(of).collect();
    all.extend([0.01, 0.05, 0.1, 0.25, 0.5, 0.75]);
    all.sort_by(f64::total_cmp);
    all
}
