//! Descriptive intervals of one sitting: of a proportion and of a quantile.

use crate::beta::beta_regularized;
use crate::exact::all_finite;
use crate::normal::normal_quantile;
use crate::selection::select;

/// Wilson's score interval of a proportion at level 1 - `alpha` (Wilson 1927): the
/// roots x of n (k/n - x)^2 = z^2 x (1 - x), taken so that the smaller does not cancel.
/// `None` of no trials, more successes than trials, or `alpha` outside (0, 1).
pub fn wilson_interval(successes: u64, trials: u64, alpha: f64) -> Option<(f64, f64)> {
    if trials == 0 || successes > trials || !(alpha > 0.0 && alpha < 1.0) {
        return None;
    }
    let z = -normal_quantile(alpha / 2.0);
    let square = z * z;
    let n = trials as f64;
    let low = |part: u64| {
        let (k, rest) = (part as f64, (trials - part) as f64);
        let root = z * (square + 4.0 * k * (rest / n)).sqrt();
        2.0 * k * (k / n) / (2.0 * k + square + root)
    };
    Some((low(successes), 1.0 - low(trials - successes)))
}

/// Distribution-free interval of the quantile `q` at level 1 - `alpha` by order
/// statistics (Hahn and Meeker 1991, 5.2): the largest l with P(Bin(n, q) < l) <=
/// alpha/2 and the smallest u with P(Bin(n, q) >= u) <= alpha/2. An end is infinite
/// where the sample is too small for it. `None` of no values, NaN or infinite ones,
/// or `q` or `alpha` outside (0, 1).
pub fn quantile_interval(values: &[f64], q: f64, alpha: f64) -> Option<(f64, f64)> {
    let is_level = |level: f64| level > 0.0 && level < 1.0;
    if values.is_empty() || !all_finite(values) || !is_level(q) || !is_level(alpha) {
        return None;
    }
    let count = values.len();
    // P(Bin(n, q) >= k) = I_q(k, n - k + 1), and the mirror image for the other tail.
    let at_least = |k: usize, share: f64| beta_regularized(share, k as f64, (count - k + 1) as f64);
    let smallest = |share: f64| {
        let (mut low, mut high) = (0, count + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if at_least(middle, share) <= alpha / 2.0 { high = middle } else { low = middle }
        }
        high
    };
    let (upper, lower_from_top) = (smallest(q), smallest(1.0 - q));
    let mut values = values.to_vec();
    let mut ranked = |rank: usize| select(&mut values, rank - 1);
    let high = if upper > count { f64::INFINITY } else { ranked(upper) };
    let low = match lower_from_top {
        rank if rank > count => f64::NEG_INFINITY,
        rank => ranked(count + 1 - rank),
    };
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R: binom::binom.wilson(8, 10), (0, 10).
    #[test]
    fn wilson_agrees_with_an_independent_implementation() {
        let (low, high) = wilson_interval(8, 10, 0.05).unwrap();
        assert!((low - 0.490_162_471_5).abs() < 1e-9 && (high - 0.943_317_848_5).abs() < 1e-9);
        let (low, high) = wilson_interval(0, 10, 0.05).unwrap();
        assert!(low == 0.0 && (high - 0.277_532_799_6).abs() < 1e-9, "{high}");
        assert_eq!(wilson_interval(10, 10, 0.05).unwrap().1, 1.0);
        assert_eq!(wilson_interval(1, 0, 0.05), None);
    }

    #[test]
    fn the_median_of_ten_lies_between_the_second_and_the_ninth() {
        let values: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        assert_eq!(quantile_interval(&values, 0.5, 0.05), Some((2.0, 9.0)));
        let (low, high) = quantile_interval(&values[..5], 0.5, 0.05).unwrap();
        assert!(low.is_infinite() && high.is_infinite(), "five cannot reach 95 %");
        assert_eq!(quantile_interval(&[], 0.5, 0.05), None);
        assert_eq!(quantile_interval(&[f64::NAN], 0.5, 0.05), None);
    }
}
