//! The step that values were measured in (docs/method.md#m-resolution): a clock that ticks, a tool
//! that prints few digits.

use model::{Metric, Reduction};
use stats::{ln, mean};
use std::collections::BTreeSet;

/// Fewer values show no step.
const LEAST_VALUES: usize = 8;
/// How far a multiple may lie from a whole number: what is left of digits that were printed.
const TOLERANCE: f64 = 1e-3;

/// What steps forbid.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Steps {
    /// The step as a share of the smallest value, where it is too coarse against the margin to
    /// claim equivalence.
    pub coarse: Option<f64>,
    /// Whether the difference of such values is no larger than one step.
    pub is_one: bool,
}

impl Steps {
    /// Those of the values of two subjects: the declared step where it exceeds a quarter of the
    /// margin, an inferred one where it exceeds half of it.
    pub(crate) fn of(reference: &[f64], subject: &[f64], metric: &Metric, theta: f64) -> Self {
        let all: Vec<f64> = reference.iter().chain(subject).copied().collect();
        let smallest = all.iter().copied().fold(f64::INFINITY, f64::min);
        let declared = metric.resolution;
        // Of shares one event is the step, and their own scale knows it.
        let inferred = match metric.reduction {
            Reduction::Proportion => None,
            _ => inferred_step(&all),
        };
        let step = inferred.unwrap_or(0.0).max(declared);
        let is_coarse = declared / smallest > theta / 4.0
            || inferred.is_some_and(|step| ln(1.0 + step / smallest) > theta / 2.0);
        if !is_coarse {
            return Self::default();
        }
        let change = mean(subject).zip(mean(reference)).map(|(one, other)| (one - other).abs());
        let is_one = change.is_some_and(|change| change <= step * (1.0 + TOLERANCE));
        Self { coarse: Some(step / smallest), is_one }
    }
}

/// The largest step of which all values are multiples; none of values that are none of any step
/// that is large enough to matter.
fn inferred_step(values: &[f64]) -> Option<f64> {
    let is_value = |value: &f64| value.is_finite() && *value > 0.0;
    if values.len() < LEAST_VALUES || !values.iter().all(is_value) {
        return None;
    }
    // Positive values are in the order of their bits.
    let distinct: BTreeSet<u64> = values.iter().map(|value| value.to_bits()).collect();
    let distinct: Vec<f64> = distinct.into_iter().map(f64::from_bits).collect();
    let step = distinct
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .filter(|gap| *gap > TOLERANCE * TOLERANCE * distinct[0])
        .fold(f64::INFINITY, f64::min);
    if !step.is_finite() {
        return None;
    }
    let is_multiple = |value: &f64| {
        let times = value / step;
        (times - times.round()).abs() <= TOLERANCE * times.max(1.0).sqrt()
    };
    distinct.iter().all(is_multiple).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::metric;
    use model::Direction;

    fn steps(reference: &[f64], subject: &[f64], margin: f64) -> Steps {
        let metric = metric("m", Direction::Lower, Reduction::Median);
        Steps::of(reference, subject, &metric, ln(1.0 + margin))
    }

    #[test]
    fn a_step_is_found_whatever_it_is_and_none_in_values_without_one() {
        let scaled = |unit: f64| -> Vec<f64> {
            [10.0, 11.0, 10.0, 12.0, 11.0, 10.0, 13.0, 12.0].map(|one| one * unit).into()
        };
        for unit in [1.0, 0.01, 4e6, 1.0 / 3.0] {
            let step = inferred_step(&scaled(unit)).unwrap();
            assert!((step / unit - 1.0).abs() < 1e-9, "{unit}: {step}");
        }
        let smooth = [10.113, 11.027, 10.431, 12.318, 11.904, 10.777, 13.009, 12.555];
        assert_eq!(inferred_step(&smooth), None);
        assert_eq!(inferred_step(&[10.0; 8]), None, "they do not vary");
        assert_eq!(inferred_step(&[1.0, 2.0, 3.0]), None, "too few");
        assert_eq!(inferred_step(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), None);
    }

    #[test]
    fn steps_beyond_half_the_margin_are_coarse_and_a_difference_of_one_is_none() {
        let reference = [100.0, 101.0, 100.0, 102.0, 101.0, 100.0];
        let one_more = reference.map(|value| value + 1.0);
        let many_more = reference.map(|value| value + 9.0);
        assert_eq!(steps(&reference, &one_more, 0.05), Steps::default(), "1 % of 5 %");
        let coarse = steps(&reference, &one_more, 0.01);
        assert_eq!((coarse.coarse, coarse.is_one), (Some(0.01), true));
        assert!(!steps(&reference, &many_more, 0.01).is_one);
    }
}
