//! Monotone trend over the campaign.

use crate::exact::{above_zero, all_finite};
use crate::inversions::{Pairs, inversions};
use crate::moments::median;
use crate::normal::normal_cdf;
use crate::selection::smallest_double;

/// Exact up to here, by enumeration of inversions; the normal approximation beyond.
pub(crate) const MOST_EXACT: usize = 40;
/// Up to so many values all slopes are listed; beyond they are counted.
const MOST_LISTED: usize = 1_000;
/// Longer series are folded to at most this length before their slope is sought.
const LONGEST: usize = 100_000;

/// Two-sided p of no monotone trend (Mann 1945, Kendall 1938). The exact null
/// distribution without ties, the normal approximation with tie correction
/// otherwise. `None` of fewer than four values, all equal, or NaN or infinite ones.
pub fn mann_kendall(values: &[f64]) -> Option<f64> {
    if values.len() < 4 || !all_finite(values) {
        return None;
    }
    let Pairs { falling, .. } = inversions(values);
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = values.len() as f64;
    let mut spread = count * (count - 1.0) * (2.0 * count + 5.0);
    let mut tied = 0;
    for group in sorted.chunk_by(|a, b| a == b) {
        let size = group.len() as f64;
        spread -= size * (size - 1.0) * (2.0 * size + 5.0);
        tied += pairs_of(group.len());
    }
    let score = pairs_of(values.len()) - tied - 2 * falling;
    if tied == 0 && values.len() <= MOST_EXACT {
        return Some(exact_p(values.len(), score));
    }
    if spread <= 0.0 {
        return None;
    }
    let z = (score.abs() - 1).max(0) as f64 / (spread / 18.0).sqrt();
    Some(above_zero((2.0 * normal_cdf(-z)).min(1.0)))
}

fn pairs_of(count: usize) -> i64 {
    let count = count as i64;
    count * (count - 1) / 2
}

/// Number of inversions of a random permutation, by convolution; of several that have
/// nothing to do with each other, their sum.
pub(crate) fn random_inversions(counts: impl IntoIterator<Item = usize>) -> Vec<f64> {
    let mut distribution = vec![1.0];
    for size in counts.into_iter().flat_map(|count| 2..=count) {
        let mut next = vec![0.0; distribution.len() + size - 1];
        for (inversions, probability) in distribution.iter().enumerate() {
            for extra in 0..size {
                next[inversions + extra] += probability / size as f64;
            }
        }
        distribution = next;
    }
    distribution
}

fn exact_p(count: usize, score: i64) -> f64 {
    let distribution = random_inversions([count]);
    let pairs = (count * (count - 1) / 2) as i64;
    let tail: f64 = distribution
        .iter()
        .enumerate()
        .filter(|(inversions, _)| (pairs - 2 * *inversions as i64).abs() >= score.abs())
        .map(|(_, probability)| probability)
        .sum();
    tail.min(1.0)
}

/// Median slope per step (Theil 1950, Sen 1968). Above 1000 values the slopes are
/// not listed but counted (Cole, Salowe, Steiger and Szemeredi 1989), which gives the
/// median but for rounding; above 100 000 consecutive values are first replaced by
/// their medians, as few at a time as needed. `None` of fewer than two values or of
/// NaN or infinite ones.
pub fn theil_sen(values: &[f64]) -> Option<f64> {
    if values.len() < 2 || !all_finite(values) {
        return None;
    }
    if values.len() <= MOST_LISTED {
        return median(&slopes(values));
    }
    let fold = values.len().div_ceil(LONGEST);
    // A shorter last piece would have its centre elsewhere.
    let folded: Vec<f64> = values.chunks_exact(fold).filter_map(median).collect();
    Some(median_slope(&folded)? / fold as f64)
}

fn slopes(values: &[f64]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(values.len() * (values.len() - 1) / 2);
    for (i, first) in values.iter().enumerate() {
        let later = values[i + 1..].iter().zip(1_u32..);
        slopes.extend(later.map(|(second, steps)| (second - first) / f64::from(steps)));
    }
    slopes
}

/// The slope between two values is above s where x_j - s j > x_i - s i: the pairs that
/// rise once the series is tilted by s are counted, and s is bisected.
fn median_slope(values: &[f64]) -> Option<f64> {
    let tilted = |slope: f64| -> Pairs {
        let rest: Vec<f64> =
            values.iter().enumerate().map(|(index, value)| value - slope * index as f64).collect();
        inversions(&rest)
    };
    let steps = values.windows(2).map(|pair| pair[1] - pair[0]);
    let (low, high) = steps.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), step| {
        (low.min(step), high.max(step))
    });
    if !low.is_finite() || !high.is_finite() {
        return None;
    }
    let pairs = pairs_of(values.len());
    // Equal values stay equal under a tilt too small for their digits.
    let level = tilted(0.0);
    let ranked = |rank: i64| {
        if level.falling < rank && rank <= level.falling + level.equal {
            return 0.0;
        }
        smallest_double(low, high, |slope| {
            let Pairs { falling, equal } = tilted(slope);
            falling + equal >= rank
        })
    };
    let below = ranked((pairs + 1) / 2);
    if pairs % 2 == 1 {
        return Some(below);
    }
    Some(f64::midpoint(below, ranked(pairs / 2 + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rising_series_has_the_smallest_p_and_its_slope() {
        let rising: Vec<f64> = (0..6).map(f64::from).collect();
        assert!((mann_kendall(&rising).unwrap() - 2.0 / 720.0).abs() < 1e-12);
        assert_eq!(theil_sen(&rising), Some(1.0));
        assert!(mann_kendall(&[1.0, 3.0, 2.0, 4.0, 1.5, 2.5]).unwrap() > 0.3);
        assert_eq!(mann_kendall(&[1.0; 6]), None);
        assert_eq!(mann_kendall(&[1.0, 2.0]), None);
    }

    #[test]
    fn counted_slopes_have_the_median_of_listed_ones() {
        for count in [50, 51, 333] {
            let values: Vec<f64> =
                (0..count).map(|i| 0.01 * f64::from(i) + libm::sin(f64::from(i) * 2.3)).collect();
            let (listed, counted) = (median(&slopes(&values)), median_slope(&values));
            assert!((listed.unwrap() / counted.unwrap() - 1.0).abs() < 1e-12, "{count}");
        }
        let line: Vec<f64> = (0..250_000).map(|i| 3.0 - 0.5 * f64::from(i)).collect();
        assert!((theil_sen(&line).unwrap() + 0.5).abs() < 1e-12);
        assert_eq!(theil_sen(&[2.0; 2_000]), Some(0.0));
    }
}
