//! The histograms behind a report's latencies, and how far into their tails values support.

use crate::view::Report;
use model::{Histogram, Outcome, SampleData};
use std::collections::BTreeMap;

/// Fewest values beyond a quantile that is drawn (docs/method.md#m-quantiles).
pub(crate) const LEAST_BEYOND: f64 = 10.0;

/// The histograms of each run, by place of the workload and the source's name, then by place of
/// the subject. They stay where they are: a campaign has thousands, and a merged one has room
/// for every value.
pub(crate) type RunHistograms<'r> =
    BTreeMap<(usize, &'r str), BTreeMap<usize, Vec<Vec<&'r Histogram>>>>;

pub(crate) fn histograms(report: &Report) -> RunHistograms<'_> {
    let workloads: BTreeMap<&str, usize> =
        report.design.workloads.iter().enumerate().map(|(at, label)| (&**label, at)).collect();
    let subjects: BTreeMap<&str, usize> =
        report.subjects.iter().enumerate().map(|(at, subject)| (&*subject.id, at)).collect();
    let mut found = RunHistograms::new();
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

/// Of those shares beyond which enough values lie.
pub(crate) fn quantiles(of: &Histogram, probabilities: &[f64]) -> Vec<Option<u64>> {
    let count = of.count() as f64;
    let is_supported = |share: &f64| (1.0 - share) * count >= LEAST_BEYOND;
    // They rise, so the supported ones come first.
    let supported: Vec<f64> = probabilities.iter().copied().take_while(is_supported).collect();
    let mut values = Histogram::quantiles_of(&[of], &supported);
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
        let probabilities = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];
        let all = quantiles(&histogram, &probabilities);
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
        assert!(quantiles(&Histogram::new(), &[0.5, 0.99]).iter().all(Option::is_none));
    }
}
