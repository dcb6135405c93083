//! Monotone trend over the campaign.

use crate::moments::median;
use statrs::distribution::{ContinuousCDF, Normal};

/// Exact up to here, by enumeration of inversions; the normal approximation beyond.
const MOST_EXACT: usize = 40;

/// Two-sided p of no monotone trend (Mann 1945, Kendall 1938). The exact null
/// distribution without ties, the normal approximation with tie correction
/// otherwise. `None` of fewer than four values or all equal.
pub fn mann_kendall(values: &[f64]) -> Option<f64> {
    if values.len() < 4 {
        return None;
    }
    let mut score = 0_i64;
    let mut ties = false;
    for (index, first) in values.iter().enumerate() {
        for second in &values[index + 1..] {
            score += i64::from(second > first) - i64::from(second < first);
            ties |= second == first;
        }
    }
    if !ties && values.len() <= MOST_EXACT {
        return Some(exact_p(values.len(), score));
    }
    let count = values.len() as f64;
    let mut spread = count * (count - 1.0) * (2.0 * count + 5.0);
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    for group in sorted.chunk_by(|a, b| a == b) {
        let size = group.len() as f64;
        spread -= size * (size - 1.0) * (2.0 * size + 5.0);
    }
    if spread <= 0.0 {
        return None;
    }
    let z = (score.abs() - 1).max(0) as f64 / (spread / 18.0).sqrt();
    let normal = Normal::new(0.0, 1.0).ok()?;
    Some((2.0 * normal.cdf(-z)).min(1.0))
}

/// Number of inversions of a random permutation, by convolution.
fn exact_p(count: usize, score: i64) -> f64 {
    let mut distribution = vec![1.0];
    for size in 2..=count {
        let mut next = vec![0.0; distribution.len() + size - 1];
        for (inversions, probability) in distribution.iter().enumerate() {
            for extra in 0..size {
                next[inversions + extra] += probability / size as f64;
            }
        }
        distribution = next;
    }
    let pairs = (count * (count - 1) / 2) as i64;
    let tail: f64 = distribution
        .iter()
        .enumerate()
        .filter(|(inversions, _)| (pairs - 2 * *inversions as i64).abs() >= score.abs())
        .map(|(_, probability)| probability)
        .sum();
    tail.min(1.0)
}

/// Median slope per step (Theil 1950, Sen 1968); `None` of fewer than two values.
pub fn theil_sen(values: &[f64]) -> Option<f64> {
    let mut slopes = Vec::new();
    for (i, first) in values.iter().enumerate() {
        for (j, second) in values.iter().enumerate().skip(i + 1) {
            slopes.push((second - first) / (j - i) as f64);
        }
    }
    median(&slopes)
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
}
