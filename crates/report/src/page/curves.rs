//! Quantiles of every source of single events.

use crate::view::Report;
use model::{Histogram, Outcome, SampleData, Unit};
use serde::Serialize;
use std::collections::BTreeMap;

/// Fewest values beyond a quantile that is drawn (STATISTICS 2.10).
const LEAST_BEYOND: f64 = 10.0;
/// Steps for each nine, and the last one: five nines.
const STEPS_FOR_NINE: u32 = 6;
const LAST_STEP: u32 = 30;

/// All curves of a campaign.
#[derive(Serialize)]
pub(super) struct Curves {
    /// Shares, rising: the columns of every row below.
    probabilities: Vec<f64>,
    of: Vec<Curve>,
}

/// One latency.
#[derive(Serialize)]
struct Curve {
    workload: String,
    source: String,
    unit: Unit,
    /// In the plan's order.
    subjects: Vec<SubjectCurve>,
}

#[derive(Serialize)]
struct SubjectCurve {
    subject: String,
    /// Values in all.
    count: u64,
    /// Of all runs together; null where fewer than ten values lie beyond.
    pooled: Vec<Option<u64>>,
    /// Of each run.
    runs: Vec<Vec<Option<u64>>>,
}

/// The histograms of each run, by place of the workload and the source's name, then by place of
/// the subject. They stay where they are: a campaign has thousands, and a merged one has room
/// for every value.
type Found<'r> = BTreeMap<(usize, &'r str), BTreeMap<usize, Vec<Vec<&'r Histogram>>>>;

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
            let pooled = Histogram::merged(runs.iter().flatten().copied());
            SubjectCurve {
                subject: report.subjects[subject].id.clone(),
                count: pooled.count(),
                pooled: quantiles(&[&pooled], &probabilities),
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

fn histograms(report: &Report) -> Found<'_> {
    let workloads: BTreeMap<&str, usize> =
        report.design.workloads.iter().enumerate().map(|(at, label)| (&**label, at)).collect();
    let subjects: BTreeMap<&str, usize> =
        report.subjects.iter().enumerate().map(|(at, subject)| (&*subject.id, at)).collect();
    let mut found = Found::new();
    for record in report.records.iter().filter(|record| record.outcome == Outcome::Completed) {
        let (Some(workload), Some(subject)) =
            (workloads.get(&*record.workload), subjects.get(&*record.subject))
        else {
            continue;
        };
        let mut of_run: BTreeMap<&str, Vec<&Histogram>> = BTreeMap::new();
        for sample in record.invocations.iter().flat_map(|invocation| &invocation.samples) {
            if let SampleData::Histogram(histogram) = &sample.data {
                of_run.entry(&sample.source).or_default().push(histogram);
            }
        }
        for (source, run) in of_run {
            let of_source = found.entry((*workload, source)).or_default();
            of_source.entry(*subject).or_default().push(run);
        }
    }
    found
}

fn probabilities() -> Vec<f64> {
    let of = |step: u32| 1.0 - 10_f64.powf(-f64::from(step) / f64::from(STEPS_FOR_NINE));
    let mut all: Vec<f64> = (0..=LAST_STEP).map(of).collect();
    all.extend([0.01, 0.05, 0.1, 0.25, 0.5, 0.75]);
    all.sort_by(f64::total_cmp);
    all
}

/// Of several histograms together, of those shares beyond which enough values lie.
fn quantiles(parts: &[&Histogram], probabilities: &[f64]) -> Vec<Option<u64>> {
    let count: f64 = parts.iter().map(|part| part.count() as f64).sum();
    let is_supported = |share: &f64| (1.0 - share) * count >= LEAST_BEYOND;
    // They rise, so the supported ones come first.
    let supported: Vec<f64> = probabilities.iter().copied().take_while(is_supported).collect();
    let mut values = Histogram::quantiles_of(parts, &supported);
    values.resize(probabilities.len(), None);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_drawn_where_enough_values_lie_beyond_it() {
        let mut histogram = Histogram::new();
        (1..=5_000).for_each(|step| histogram.record(step * step * 7));
        let probabilities = probabilities();
        let all = quantiles(&[&histogram], &probabilities);
        for (share, found) in probabilities.iter().zip(&all) {
            let is_supported = (1.0 - share) * 5_000.0 >= 10.0;
            let expected = is_supported.then(|| histogram.quantile(*share)).flatten();
            assert_eq!(*found, expected, "{share}");
        }
        assert!(all.last().unwrap().is_none(), "fewer than ten values lie beyond five nines");
        assert!(all[0].is_some());
    }

    #[test]
    fn nothing_recorded_is_no_value() {
        assert!(quantiles(&[&Histogram::new()], &probabilities()).iter().all(Option::is_none));
    }
}
