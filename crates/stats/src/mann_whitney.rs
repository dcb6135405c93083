//! The two-sample rank sum test of Mann and Whitney: a naive method's tool here,
//! since it takes every value for a replicate.

use crate::exact::{above_zero, all_finite};
use crate::mann_whitney_null::mann_whitney_distribution;

/// Above this many pairs of values the exact distribution costs more than it tells.
const MOST_EXACT: usize = 2_500;

/// Two-sided p that two samples come from one distribution. Exact for small
/// samples without ties (Mann and Whitney 1947, by their recurrence), else normal
/// with continuity and tie correction (Lehmann, Nonparametrics, 1.2); `None` where
/// a sample is empty, all values are the same, or one is NaN or infinite.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.is_empty() || second.is_empty() || !all_finite(first) || !all_finite(second) {
        return None;
    }
    let mut all: Vec<(f64, bool)> = first.iter().map(|value| (*value, true)).collect();
    all.extend(second.iter().map(|value| (*value, false)));
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let ranked = Ranked::of(&all);
    let (count, other) = (first.len(), second.len());
    let statistic = ranked.sum_of_first - count as f64 * (count as f64 + 1.0) / 2.0;
    if ranked.ties == 0.0 && count * other <= MOST_EXACT {
        return Some(exact(count, other, statistic));
    }
    approximate(count as f64, other as f64, statistic, ranked.ties)
}

struct Ranked {
    /// Sum of the mid-ranks of the first sample.
    sum_of_first: f64,
    /// Sum of t^3 - t over groups of t equal values.
    ties: f64,
}

impl Ranked {
    fn of(sorted: &[(f64, bool)]) -> Self {
        let mut ranked = Self { sum_of_first: 0.0, ties: 0.0 };
        let mut start = 0;
        while start < sorted.len() {
            let group = &sorted[start..];
            let tied = group.iter().take_while(|(value, _)| *value == group[0].0).count();
            let mid_rank = start as f64 + (tied as f64 + 1.0) / 2.0;
            let of_first = group[..tied].iter().filter(|(_, is_first)| *is_first).count();
            ranked.sum_of_first += mid_rank * of_first as f64;
            let size = tied as f64;
            ranked.ties += size * size * size - size;
            start += tied;
        }
        ranked
    }
}

fn exact(count: usize, other: usize, statistic: f64) -> f64 {
    let chances = mann_whitney_distribution(count, other);
    // Without ties the statistic is a whole number.
    let position = statistic.round() as usize;
    let lower: f64 = chances[..=position].iter().sum();
    let upper: f64 = chances[position..].iter().sum();
    (2.0 * lower.min(upper)).min(1.0)
}

fn approximate(count: f64, other: f64, statistic: f64, ties: f64) -> Option<f64> {
    let all = count + other;
    let variance = count * other / 12.0 * ((all + 1.0) - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return None;
    }
    let distance = ((statistic - count * other / 2.0).abs() - 0.5).max(0.0);
    Some(above_zero(libm::erfc(distance / variance.sqrt() / std::f64::consts::SQRT_2).min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy.stats.mannwhitneyu, method "exact" and "asymptotic" (1.17).
    #[test]
    fn p_agrees_with_an_independent_implementation() {
        let first = [1.1, 2.7, 3.3, 4.9, 6.2];
        let second = [5.5, 7.1, 8.4, 9.0, 2.0, 10.3];
        let p = mann_whitney(&first, &second).unwrap();
        assert!((p - EXACT).abs() < 1e-12, "{p}");
        let tied = [1.0, 2.0, 2.0, 3.0, 4.0, 4.0, 4.0, 5.0];
        let others = [2.0, 4.0, 5.0, 6.0, 6.0, 7.0, 8.0];
        let p = mann_whitney(&tied, &others).unwrap();
        assert!((p - TIED).abs() < 1e-12, "{p}");
    }

    const EXACT: f64 = 0.082_251_082_251_082_26;
    const TIED: f64 = 0.029_839_411_362_928_826;

    #[test]
    fn nothing_to_rank_has_no_p() {
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[1.0, 1.0], &[1.0]), None);
    }
}
