//! The step that values were measured in (docs/method.md#m-resolution): a clock that ticks, a tool
//! that prints few digits.

use model::{Metric, Reduction};
use stats::{ln, mean};

/// Fewer values show no step.
const LEAST_VALUES: usize = 8;
/// How far a multiple may lie from a whole number: what is left of digits that were printed.
const TOLERANCE: f64 = 1e-3;
/// Where so large a share of the values stands more than once, the others show no step.
const LEAST_TIED: f64 = 0.8;
/// A step is the smallest gap between values, or such a part of it.
const MOST_PARTS: u32 = 4;
/// Of a longer series so many values show its step.
const MOST_VALUES: usize = 2_000;

/// Values of two subjects: what they reduce to, and the series that they were reduced from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measurements<'a> {
    pub reference: &'a [f64],
    pub subject: &'a [f64],
    /// Every value of both; empty where none was reduced from several.
    pub series: &'a [f64],
}

/// What steps forbid.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Steps {
    /// The step as a share of the smallest value, where it is too coarse against the margin to
    /// claim equivalence.
    pub coarse: Option<f64>,
    /// Whether the difference of such values is no larger than one step.
    pub is_one: bool,
}

/// Values that lie one or several steps apart, wherever they begin.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Grid {
    step: f64,
    /// The step as a share of the smallest value.
    share: f64,
    /// Whether they are one over such values: rates of a clock that ticks.
    is_reciprocal: bool,
}

impl Steps {
    /// Those of the values of two subjects: the declared step where it exceeds a quarter of the
    /// margin, an inferred one where it exceeds half of it.
    pub(crate) fn of(values: &Measurements<'_>, metric: &Metric, theta: f64) -> Self {
        let Measurements { reference, subject, series } = *values;
        let all: Vec<f64> = reference.iter().chain(subject).copied().collect();
        let smallest = all.iter().copied().fold(f64::INFINITY, f64::min);
        let declared = metric.resolution;
        // Of shares one event is the step, and their own scale knows it.
        let inferred = match metric.reduction {
            Reduction::Proportion => None,
            _ => coarser(Grid::of(&all), Grid::of(series)),
        };
        let inferred = inferred.filter(|grid| ln(1.0 + grid.share) > theta / 2.0);
        let of_declared = Grid { step: declared, share: declared / smallest, is_reciprocal: false };
        let declared = (of_declared.share > theta / 4.0).then_some(of_declared);
        let Some(grid) = coarser(inferred, declared) else { return Self::default() };
        let change = grid.mean(subject).zip(grid.mean(reference));
        let change = change.map(|(one, other)| (one - other).abs());
        let is_one = change.is_some_and(|change| change <= grid.step * (1.0 + TOLERANCE));
        Self { coarse: Some(grid.share), is_one }
    }
}

fn coarser(one: Option<Grid>, other: Option<Grid>) -> Option<Grid> {
    match (one, other) {
        (Some(one), Some(other)) if other.share > one.share => Some(other),
        (one, other) => one.or(other),
    }
}

impl Grid {
    /// That of values, or of one over them.
    fn of(values: &[f64]) -> Option<Self> {
        let is_value = |value: &f64| value.is_finite() && *value > 0.0;
        if values.len() < LEAST_VALUES || !values.iter().all(is_value) {
            return None;
        }
        let of = |mut values: Vec<f64>, is_reciprocal| {
            values.sort_by(f64::total_cmp);
            let step = step(&repeated(&values))?;
            Some(Self { step, share: step / values[0], is_reciprocal })
        };
        let reciprocals = values.iter().map(|value| 1.0 / value).collect();
        coarser(of(values.to_vec(), false), of(reciprocals, true))
    }

    /// The mean of values as the grid has them.
    fn mean(&self, values: &[f64]) -> Option<f64> {
        let as_it_has = |value: &f64| if self.is_reciprocal { 1.0 / value } else { *value };
        mean(&values.iter().map(as_it_has).collect::<Vec<_>>())
    }
}

/// The distinct ones of sorted values; where nearly all stand more than once, those that do.
fn repeated(sorted: &[f64]) -> Vec<f64> {
    let mut distinct: Vec<(f64, usize)> = Vec::new();
    for value in sorted {
        match distinct.last_mut() {
            Some((last, count)) if value - *last <= TOLERANCE * TOLERANCE * value => *count += 1,
            _ => distinct.push((*value, 1)),
        }
    }
    let told = || distinct.iter().filter(|(_, count)| *count > 1);
    let tied: usize = told().map(|(_, count)| count).sum();
    // A value that nearly all have shows no step without the others.
    let is_tied = tied as f64 >= LEAST_TIED * sorted.len() as f64 && told().count() > 1;
    let is_told = |(_, count): &&(f64, usize)| !is_tied || *count > 1;
    distinct.iter().filter(is_told).map(|(value, _)| *value).collect()
}

/// The largest step that all of these lie apart by; none of values that do not vary, or lie apart by
/// no step that is large enough to matter.
fn step(distinct: &[f64]) -> Option<f64> {
    let gap =
        distinct.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, |a, b| a.min(b));
    if !gap.is_finite() {
        return None;
    }
    let is_step = |step: &f64| {
        distinct.iter().all(|value| {
            let times = (value - distinct[0]) / step;
            (times - times.round()).abs() <= TOLERANCE * times.max(1.0).sqrt()
        })
    };
    (1..=MOST_PARTS).map(|parts| gap / f64::from(parts)).find(is_step)
}

/// Takes values of a series as far as they are needed to show its step.
pub(crate) fn take(series: &mut Vec<f64>, values: impl Iterator<Item = f64>) {
    let left = MOST_VALUES.saturating_sub(series.len());
    series.extend(values.take(left));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::metric;
    use model::Direction;

    const TICKS: [f64; 12] =
        [10.0, 11.0, 10.0, 12.0, 11.0, 10.0, 13.0, 12.0, 11.0, 12.0, 10.0, 11.0];
    const SMOOTH: [f64; 8] = [10.113, 11.027, 10.431, 12.318, 11.904, 10.777, 13.009, 12.555];

    fn steps(reference: &[f64], subject: &[f64], series: &[f64], margin: f64) -> Steps {
        let metric = metric("m", Direction::Lower, Reduction::Median);
        Steps::of(&Measurements { reference, subject, series }, &metric, ln(1.0 + margin))
    }

    fn inferred(values: &[f64]) -> Option<f64> {
        Grid::of(values).map(|grid| grid.step)
    }

    #[test]
    fn a_step_is_found_whatever_it_is_and_none_in_values_without_one() {
        for unit in [1.0, 0.01, 4e6, 1.0 / 3.0] {
            let step = inferred(&TICKS.map(|one| one * unit)).unwrap();
            assert!((step / unit - 1.0).abs() < 1e-9, "{unit}: {step}");
        }
        assert_eq!(inferred(&SMOOTH), None);
        assert_eq!(inferred(&[10.0; 8]), None, "they do not vary");
        assert_eq!(inferred(&[1.0, 2.0, 3.0]), None, "too few");
        assert_eq!(inferred(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), None);
        // No two values are neighbours.
        let gaps = [20.0, 22.0, 20.0, 25.0, 22.0, 25.0, 20.0, 22.0];
        assert_eq!(inferred(&gaps), Some(1.0));
    }

    #[test]
    fn a_step_is_found_in_rates_beside_an_offset_and_beside_odd_values() {
        let margin = 0.02;
        let is_coarse = |values: &[f64]| {
            let (reference, subject) = values.split_at(values.len() / 2);
            steps(reference, subject, &[], margin).coarse.is_some()
        };
        assert!(is_coarse(&TICKS));
        assert!(is_coarse(&TICKS.map(|ticks| 1e6 / ticks)), "rates");
        let printed = TICKS.map(|ticks| (1e6 / ticks * 1e5).round() / 1e5);
        assert!(is_coarse(&printed), "rates of few digits");
        assert!(is_coarse(&TICKS.map(|ticks| ticks + 3.37)), "an offset");
        let mut odd = TICKS;
        odd[2] = 10.137;
        assert!(is_coarse(&odd), "a value that is no multiple");
        let mut nearly = [3.0; 12];
        nearly[5] = 4.0;
        assert!(is_coarse(&nearly), "one value that is another");
        assert!(!is_coarse(&SMOOTH));
        assert!(!is_coarse(&SMOOTH.map(|value| 1.0 / value)));
        assert!(!is_coarse(&TICKS.map(|ticks| 1000.0 + ticks)), "a step of 0.1 %");
    }

    #[test]
    fn the_series_shows_the_step_that_a_mean_hides() {
        let means = |values: &[f64]| -> Vec<f64> {
            values
                .chunks(3)
                .map(|three| stats::exp(three.iter().map(|v| ln(*v)).sum::<f64>() / 3.0))
                .collect()
        };
        let (reference, subject) = TICKS.split_at(6);
        let (reference, subject) = (means(reference), means(subject));
        assert_eq!(steps(&reference, &subject, &[], 0.02), Steps::default(), "too few means");
        let of_series = steps(&reference, &subject, &TICKS, 0.02);
        assert_eq!((of_series.coarse, of_series.is_one), (Some(0.1), true));
    }

    #[test]
    fn steps_beyond_half_the_margin_are_coarse_and_a_difference_of_one_is_none() {
        let reference = [100.0, 101.0, 100.0, 102.0, 101.0, 100.0];
        let one_more = reference.map(|value| value + 1.0);
        let many_more = reference.map(|value| value + 9.0);
        assert_eq!(steps(&reference, &one_more, &[], 0.05), Steps::default(), "1 % of 5 %");
        let coarse = steps(&reference, &one_more, &[], 0.01);
        assert_eq!((coarse.coarse, coarse.is_one), (Some(0.01), true));
        assert!(!steps(&reference, &many_more, &[], 0.01).is_one);
    }
}
