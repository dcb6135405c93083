//! Ratios of logarithms as findings hold them: the exponential of what two values differ by may be
//! more than a number holds, and no file has an infinite one (docs/method.md#m-estimate).

use model::{Interval, LARGEST_RATIO, LEAST_RATIO, bounded_ratio, round_significant as round};
use stats::exp;

/// The ratio of a logarithm.
pub(crate) fn ratio_of(log: f64) -> f64 {
    round(bounded_ratio(exp(log)))
}

/// The interval between two logarithms. An end that is further out than ratios are held is unbounded,
/// so that both ends are one number only where the logarithms are.
pub(crate) fn interval_between(low: f64, high: f64) -> Interval {
    let mut interval = Interval { low: ratio_of(low), high: ratio_of(high) };
    if low < high {
        if exp(low) < LEAST_RATIO {
            interval.low = 0.0;
        }
        if exp(high) > LARGEST_RATIO {
            interval.high = f64::INFINITY;
        }
    }
    interval
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::effect_of;
    use model::Direction;
    use stats::TTest;

    #[test]
    fn a_difference_that_no_number_holds_keeps_a_ratio_and_an_interval() {
        let logs = [1_380.0, 1_381.0, 1_382.0, 1_381.5, 1_380.5];
        let effect = |logs: &[f64]| {
            let test = TTest::of(logs).unwrap();
            effect_of(&test, Direction::Lower, 0.02, [0.05, 0.01])
        };
        let better = effect(&logs);
        assert_eq!((better.ratio, better.raw_ratio), (LARGEST_RATIO, LEAST_RATIO));
        for interval in [better.interval, better.family_interval] {
            assert_eq!(interval, Interval { low: LARGEST_RATIO, high: f64::INFINITY });
            assert!(!interval.has_no_width());
        }
        let worse = effect(&logs.map(|log| -log));
        assert_eq!((worse.ratio, worse.raw_ratio), (LEAST_RATIO, LARGEST_RATIO));
        assert_eq!(worse.interval, Interval { low: 0.0, high: LEAST_RATIO });
        assert!(effect(&[1_381.0; 5]).interval.has_no_width());
    }

    #[test]
    fn what_numbers_hold_is_as_it_was() {
        let interval = interval_between(-0.25, 0.5);
        assert_eq!(interval, Interval { low: round(exp(-0.25)), high: round(exp(0.5)) });
        let unbounded = interval_between(f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(unbounded, Interval { low: 0.0, high: f64::INFINITY });
    }
}
