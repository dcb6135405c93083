//! The Harrell-Davis quantile, for small exact samples (docs/method.md#m-numerics).

use crate::beta::Beta;
use crate::exact::all_finite;

/// Weights below this share of the whole are left out.
const NEGLIGIBLE: f64 = 1e-18;

/// The quantile `q` as a mean of all order statistics with the weights
/// I_{i/n}(a, b) - I_{(i-1)/n}(a, b), a = (n + 1) q, b = (n + 1)(1 - q) (Harrell and
/// Davis 1982). The smallest and largest value at q = 0 and 1; `None` of no values,
/// NaN or infinite ones, or `q` outside [0, 1].
pub fn harrell_davis(values: &[f64], q: f64) -> Option<f64> {
    if values.is_empty() || !all_finite(values) || !(0.0..=1.0).contains(&q) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = sorted.len();
    let n = count as f64;
    let (a, b) = ((n + 1.0) * q, (n + 1.0) * (1.0 - q));
    if q == 0.0 || count == 1 {
        return Some(sorted[0]);
    }
    if q == 1.0 {
        return Some(sorted[count - 1]);
    }
    // Below the middle lower tails are differenced, above it upper ones, so that no
    // weight is a difference of two numbers near one.
    let beta = Beta::new(a, b);
    let at = |index: usize| beta.at(index as f64 / n, (count - index) as f64 / n);
    let middle = ((q * n) as usize).clamp(1, count - 1);
    let (mut sum, mut whole) = (0.0, 0.0);
    let mut tail = at(middle).lower();
    for index in (0..middle).rev() {
        let next = if index == 0 { 0.0 } else { at(index).lower() };
        sum += (tail - next) * sorted[index];
        whole += tail - next;
        tail = next;
        if tail < NEGLIGIBLE {
            break;
        }
    }
    let mut tail = at(middle).upper();
    for (index, value) in sorted.iter().enumerate().skip(middle) {
        let next = if index + 1 == count { 0.0 } else { at(index + 1).upper() };
        sum += (tail - next) * value;
        whole += tail - next;
        tail = next;
        if tail < NEGLIGIBLE {
            break;
        }
    }
    let quantile = sum / whole;
    quantile.is_finite().then(|| quantile.clamp(sorted[0], sorted[count - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy.stats.mstats.hdquantiles([1, 2, 4, 8, 16], [.5, .9]) (1.17).
    #[test]
    fn quantiles_agree_with_an_independent_implementation() {
        let values = [16.0, 1.0, 4.0, 8.0, 2.0];
        assert!((harrell_davis(&values, 0.5).unwrap() - MEDIAN).abs() < 1e-12);
        assert!((harrell_davis(&values, 0.9).unwrap() - NINETY).abs() < 1e-12);
    }

    const MEDIAN: f64 = 5.040_32;
    const NINETY: f64 = 14.590_375_336_216_637;

    #[test]
    fn the_ends_are_the_extremes_and_nonsense_is_none() {
        assert_eq!(harrell_davis(&[3.0, 1.0, 2.0], 0.0), Some(1.0));
        assert_eq!(harrell_davis(&[3.0, 1.0, 2.0], 1.0), Some(3.0));
        assert_eq!(harrell_davis(&[5.0], 0.3), Some(5.0));
        assert_eq!(harrell_davis(&[5.0; 9], 0.3), Some(5.0));
        assert_eq!(harrell_davis(&[], 0.5), None);
        assert_eq!(harrell_davis(&[1.0, f64::INFINITY], 0.5), None);
        assert_eq!(harrell_davis(&[1.0, 2.0], 1.5), None);
    }
}
