//! One number for each block and subject (docs/method.md#m-reduction).

use model::{Histogram, Metric, Record, Reduction, SampleData};
use stats::{exp, ln, mean, median};

/// What a trial's samples reduce to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reduced {
    /// The number, finite; positive unless it is a share.
    pub value: f64,
    /// Its logarithm, or of a share the logit: differences are taken on this scale.
    pub scaled: f64,
    /// Events it was taken from, of a quantile.
    pub events: Option<u64>,
    /// Events above the histogram's range.
    pub clamped: u64,
}

/// Why there is no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lack {
    /// The trial has no sample of the metric's source.
    Absent,
    /// The number is zero or negative, so it has no logarithm.
    Zero,
}

/// The values that a trial's number is reduced from; none where it has one or is no mean of values.
pub(crate) fn series<'r>(record: &'r Record, metric: &'r Metric) -> Vec<&'r [f64]> {
    let samples = record.invocations.iter().flat_map(|invocation| &invocation.samples);
    let own = samples.filter(|sample| sample.source == metric.source);
    let values = own.filter_map(|sample| match &sample.data {
        SampleData::Values(values) => Some(&**values),
        _ => None,
    });
    let values: Vec<&[f64]> = values.collect();
    if values.iter().map(|values| values.len()).sum::<usize>() > 1 { values } else { Vec::new() }
}

/// Reduces a completed trial.
pub(crate) fn reduce(record: &Record, metric: &Metric) -> Result<Reduced, Lack> {
    let samples: Vec<&SampleData> = record
        .invocations
        .iter()
        .flat_map(|invocation| &invocation.samples)
        .filter(|sample| sample.source == metric.source)
        .map(|sample| &sample.data)
        .collect();
    match metric.reduction {
        Reduction::Median => positive(over_invocations(&samples, median)?),
        Reduction::Mean => positive(over_invocations(&samples, mean)?),
        Reduction::Quotient => positive(quotient(&samples)?),
        Reduction::Proportion => share(&samples),
        Reduction::Quantile(quantile) => joint_quantile(&samples, quantile),
    }
}

/// A number whose logarithm is compared.
fn positive(value: f64) -> Result<Reduced, Lack> {
    if value.is_finite() && value > 0.0 {
        Ok(Reduced { value, scaled: ln(value), events: None, clamped: 0 })
    } else {
        Err(Lack::Zero)
    }
}

/// Each invocation's centre, combined by the mean of logs.
fn over_invocations(
    samples: &[&SampleData],
    centre: fn(&[f64]) -> Option<f64>,
) -> Result<f64, Lack> {
    let mut logs = Vec::with_capacity(samples.len());
    for sample in samples {
        if let SampleData::Values(values) = sample {
            let value = centre(values).ok_or(Lack::Absent)?;
            if value <= 0.0 || !value.is_finite() {
                return Err(Lack::Zero);
            }
            logs.push(ln(value));
        }
    }
    mean(&logs).map(exp).ok_or(Lack::Absent)
}

/// Total work over total time; never the mean of ratios.
fn quotient(samples: &[&SampleData]) -> Result<f64, Lack> {
    let (mut above, mut below, mut is_present) = (0.0, 0.0, false);
    for sample in samples {
        if let SampleData::Quotient { numerator, denominator } = sample {
            above += numerator;
            below += denominator;
            is_present = true;
        }
    }
    match (is_present, below > 0.0) {
        (false, _) => Err(Lack::Absent),
        (true, false) => Err(Lack::Zero),
        (true, true) => Ok(above / below),
    }
}

/// A share, compared by its logit (docs/method.md#m-shares). Half an event is added on
/// either side, so that none and all have one (Haldane 1956, Anscombe 1956).
fn share(samples: &[&SampleData]) -> Result<Reduced, Lack> {
    // Whatever each of them counts, the sum over invocations is theirs.
    let (mut hits, mut tries) = (0_u128, 0_u128);
    for sample in samples {
        if let SampleData::Proportion { successes, attempts } = sample {
            hits += u128::from(*successes);
            tries += u128::from(*attempts);
        }
    }
    if tries == 0 || hits > tries {
        return Err(Lack::Absent);
    }
    let scaled = ln((hits as f64 + 0.5) / ((tries - hits) as f64 + 0.5));
    Ok(Reduced { value: hits as f64 / tries as f64, scaled, events: None, clamped: 0 })
}

/// The histogram of a source, merged over a trial's invocations.
pub(crate) fn histogram(record: &Record, source: &str) -> Option<Histogram> {
    let samples = record.invocations.iter().flat_map(|invocation| &invocation.samples);
    let own: Vec<&SampleData> =
        samples.filter(|sample| sample.source == source).map(|sample| &sample.data).collect();
    match *histograms(&own) {
        [] => None,
        // One is shared, not copied.
        [only] => Some(only.clone()),
        ref several => Some(Histogram::merged(several.iter().copied())),
    }
}

fn histograms<'r>(samples: &[&'r SampleData]) -> Vec<&'r Histogram> {
    let of = |sample: &&'r SampleData| match sample {
        SampleData::Histogram(histogram) => Some(&**histogram),
        _ => None,
    };
    samples.iter().filter_map(of).collect()
}

/// The quantile of all invocations' histograms together; percentiles are never averaged.
fn joint_quantile(samples: &[&SampleData], quantile: f64) -> Result<Reduced, Lack> {
    let parts = histograms(samples);
    let value = Histogram::quantile_of(&parts, quantile).ok_or(Lack::Absent)?;
    let reduced = positive(value as f64)?;
    let events = parts.iter().map(|part| part.count()).fold(0, u64::saturating_add);
    let clamped = parts.iter().map(|part| part.clamped()).fold(0, u64::saturating_add);
    Ok(Reduced { events: Some(events), clamped, ..reduced })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, record_with};
    use model::{Direction, Sample};

    fn value(reduction: Reduction, samples: Vec<Vec<Sample>>) -> Result<f64, Lack> {
        let metric = metric("m", Direction::Lower, reduction);
        reduce(&record_with(samples), &metric).map(|reduced| reduced.value)
    }

    #[test]
    fn invocations_combine_by_the_mean_of_logs_of_their_medians() {
        let samples = vec![
            vec![Sample::values("m", vec![1.0, 1.0, 90.0])],
            vec![Sample::values("m", vec![4.0, 4.0, 4.0])],
        ];
        assert!((value(Reduction::Median, samples.clone()).unwrap() - 2.0).abs() < 1e-12);
        let means = (92.0_f64 / 3.0 * 4.0).sqrt();
        assert!((value(Reduction::Mean, samples).unwrap() - means).abs() < 1e-9);
    }

    #[test]
    fn rates_are_total_work_over_total_time() {
        let samples =
            vec![vec![Sample::quotient("m", 100.0, 1.0)], vec![Sample::quotient("m", 100.0, 3.0)]];
        assert_eq!(value(Reduction::Quotient, samples), Ok(50.0));
    }

    #[test]
    fn a_missing_source_is_not_zero_and_zero_has_no_logarithm() {
        let other = vec![vec![Sample::values("other", vec![1.0])]];
        assert_eq!(value(Reduction::Median, other.clone()), Err(Lack::Absent));
        assert_eq!(value(Reduction::Quotient, other), Err(Lack::Absent));
        assert_eq!(
            value(Reduction::Median, vec![vec![Sample::values("m", vec![0.0])]]),
            Err(Lack::Zero)
        );
        assert_eq!(
            value(Reduction::Quotient, vec![vec![Sample::quotient("m", 0.0, 5.0)]]),
            Err(Lack::Zero)
        );
        assert_eq!(
            value(Reduction::Quantile(0.5), vec![vec![Sample::histogram("m", Histogram::new())]]),
            Err(Lack::Absent)
        );
    }

    #[test]
    fn shares_of_none_and_all_have_a_logit() {
        let metric = metric("m", Direction::Lower, Reduction::Proportion);
        let reduced = |hits: u64| {
            let samples = vec![vec![Sample::proportion("m", hits, 100)]];
            reduce(&record_with(samples), &metric).unwrap()
        };
        assert_eq!([reduced(0).value, reduced(100).value], [0.0, 1.0]);
        assert!((reduced(0).scaled + 201.0_f64.ln()).abs() < 1e-12);
        assert!((reduced(0).scaled + reduced(100).scaled).abs() < 1e-12);
        assert!(reduced(50).scaled.abs() < 1e-12);
    }

    #[test]
    fn a_share_of_the_largest_counts_there_are_is_theirs() {
        let metric = metric("m", Direction::Lower, Reduction::Proportion);
        let whole = vec![Sample::proportion("m", u64::MAX / 2, u64::MAX)];
        let reduced = reduce(&record_with(vec![whole.clone(), whole]), &metric).unwrap();
        assert_eq!(reduced.value, 0.5);
        assert!(reduced.scaled.abs() < 1e-12, "{}", reduced.scaled);
    }

    #[test]
    fn events_of_the_largest_counts_there_are_stay_as_many_as_are_counted() {
        let metric = metric("m", Direction::Lower, Reduction::Quantile(0.5));
        let mut most = Histogram::new();
        most.record_many(u64::MAX, u64::MAX);
        let invocation = vec![Sample::histogram("m", most)];
        let record = record_with(vec![invocation.clone(), invocation]);
        let reduced = reduce(&record, &metric).unwrap();
        assert_eq!((reduced.events, reduced.clamped), (Some(u64::MAX), u64::MAX));
        assert_eq!(histogram(&record, "m").unwrap().clamped(), u64::MAX);
    }

    #[test]
    fn quantiles_come_from_the_merged_histogram() {
        let mut fast = Histogram::new();
        fast.record_many(100, 99);
        let mut slow = Histogram::new();
        slow.record_many(10_000, 1);
        let samples = vec![vec![Sample::histogram("m", fast)], vec![Sample::histogram("m", slow)]];
        assert_eq!(value(Reduction::Quantile(0.99), samples), Ok(100.0));
    }
}
