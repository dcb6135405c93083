//! Exact companions of the t estimate: Wilcoxon's signed rank with the
//! Hodges-Lehmann pseudo-median, and the sign-flip permutation test.

use crate::exact::{above_zero, all_finite};
use crate::normal::normal_quantile;
use crate::signed_rank_null::signed_rank_distribution;
use crate::walsh::WalshAverages;

/// Above this many values the rank sum is normal to three digits, and its exact
/// distribution takes cubic time.
const MOST_EXACT: usize = 60;
/// Above this many values the exact sign-flip distribution is not enumerated.
const MOST_FLIPS: usize = 16;

/// Hodges-Lehmann estimate with its exact signed-rank interval and p
/// (Hollander and Wolfe, Nonparametric Statistical Methods, 3.1-3.3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// Median of the Walsh averages.
    pub pseudo_median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end; both are infinite where the level cannot be reached (n < 6 at 5 %).
    pub high: f64,
    /// Two-sided p, exact up to 60 values. Zeros are dropped; tied ranks are averaged, and the
    /// distribution is that of the ranks as they are.
    pub p: f64,
}

impl SignedRank {
    /// At level 1 - `alpha`; `None` of no values, of NaN or infinite ones, or of an
    /// `alpha` outside (0, 1).
    pub fn of(values: &[f64], alpha: f64) -> Option<Self> {
        let is_level = alpha > 0.0 && alpha < 1.0;
        if !is_level || !all_finite(values) {
            return None;
        }
        let walsh = WalshAverages::of(values)?;
        let pseudo_median = walsh.median();
        let (low, high) = interval(&walsh, values.len(), alpha);
        Some(Self { pseudo_median, low, high, p: p_value(values) })
    }
}

/// The k-th smallest and largest Walsh averages, k - 1 being the largest count
/// with P(W <= k - 1) <= alpha / 2 under the untied null distribution.
fn interval(walsh: &WalshAverages, count: usize, alpha: f64) -> (f64, f64) {
    if count > MOST_EXACT {
        return approximate_interval(walsh, count, alpha);
    }
    let mut below = 0.0;
    let mut excluded = 0;
    for chance in signed_rank_distribution(count) {
        below += chance;
        if below > alpha / 2.0 {
            break;
        }
        excluded += 1;
    }
    ends(walsh, excluded)
}

/// The same with the normal approximation of the rank sum (Hollander and Wolfe, 3.3).
fn approximate_interval(walsh: &WalshAverages, count: usize, alpha: f64) -> (f64, f64) {
    let count = count as f64;
    let spread = (count * (count + 1.0) * (2.0 * count + 1.0) / 24.0).sqrt();
    let below = walsh.count() as f64 / 2.0 + normal_quantile(alpha / 2.0) * spread;
    ends(walsh, below.floor().max(1.0) as u64)
}

fn ends(walsh: &WalshAverages, excluded: u64) -> (f64, f64) {
    match excluded {
        0 => (f64::NEG_INFINITY, f64::INFINITY),
        _ => (walsh.ranked(excluded), walsh.ranked(walsh.count() + 1 - excluded)),
    }
}

fn p_value(values: &[f64]) -> f64 {
    let mut nonzero: Vec<f64> = values.iter().copied().filter(|value| *value != 0.0).collect();
    if nonzero.is_empty() {
        return 1.0;
    }
    nonzero.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let doubled = doubled_ranks(&nonzero);
    let positive: usize =
        nonzero.iter().zip(&doubled).filter(|(value, _)| **value > 0.0).map(|(_, rank)| rank).sum();
    if nonzero.len() > MOST_EXACT {
        approximate_p(&doubled, positive)
    } else {
        exact_p(&doubled, positive)
    }
}

fn exact_p(doubled: &[usize], positive: usize) -> f64 {
    let distribution = rank_sum_distribution(doubled);
    let lower: f64 = distribution[..=positive].iter().sum();
    let upper: f64 = distribution[positive..].iter().sum();
    (2.0 * lower.min(upper)).min(1.0)
}

/// Sums of the ranks and of their squares give the moments, ties included.
fn approximate_p(doubled: &[usize], positive: usize) -> f64 {
    let mean = doubled.iter().sum::<usize>() as f64 / 2.0;
    let squares: f64 = doubled.iter().map(|rank| (*rank as f64) * (*rank as f64)).sum();
    let spread = squares.sqrt() / 2.0;
    let distance = ((positive as f64 - mean).abs() - 1.0).max(0.0);
    above_zero(libm::erfc(distance / spread / std::f64::consts::SQRT_2).min(1.0))
}

/// Twice the mid-ranks of values sorted by magnitude: integers even with ties.
fn doubled_ranks(sorted: &[f64]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(sorted.len());
    let mut start = 0;
    while start < sorted.len() {
        let tied =
            sorted[start..].iter().take_while(|value| value.abs() == sorted[start].abs()).count();
        // Ranks start+1 ..= start+tied; twice their mean is first plus last.
        ranks.extend(std::iter::repeat_n(2 * start + tied + 1, tied));
        start += tied;
    }
    ranks
}

/// P(sum of a random subset of ranks = s), by convolution.
fn rank_sum_distribution(ranks: &[usize]) -> Vec<f64> {
    let mut distribution = vec![0.0; ranks.iter().sum::<usize>() + 1];
    distribution[0] = 1.0;
    for rank in ranks {
        for sum in (0..distribution.len()).rev() {
            let with = if sum >= *rank { distribution[sum - rank] } else { 0.0 };
            distribution[sum] = f64::midpoint(distribution[sum], with);
        }
    }
    distribution
}

/// Exact two-sided p of mean 0 under random signs; `None` above 16 values, of none, or
/// of NaN or infinite ones, or where their sum is beyond the largest number.
pub fn sign_flip(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.len() > MOST_FLIPS || !all_finite(values) {
        return None;
    }
    let observed = values.iter().sum::<f64>().abs();
    if !observed.is_finite() {
        return None;
    }
    // A sum that equals the observed one but for rounding counts as extreme.
    let threshold = observed * (1.0 - 1e-12);
    // Every sum is one of the first half's and one of the second's (Horowitz and Sahni 1974).
    let (first, second) = values.split_at(values.len() / 2);
    let (first, second) = (sums_of_signs(first), sums_of_signs(second));
    let extreme: usize = first
        .iter()
        .map(|one| {
            let above = second.len() - second.partition_point(|other| one + other < threshold);
            let below = second.partition_point(|other| one + other <= -threshold);
            // Where all sums are 0 each is both.
            (above + below).min(second.len())
        })
        .sum();
    Some(extreme as f64 / (first.len() * second.len()) as f64)
}

/// The sums of these values under all patterns of signs, ascending.
fn sums_of_signs(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        sums = sums.iter().flat_map(|sum| [sum - value, sum + value]).collect();
    }
    sums.sort_unstable_by(f64::total_cmp);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, by enumerating every sign pattern of the mid-ranks.
    fn slow_p(values: &[f64]) -> f64 {
        let mut nonzero: Vec<f64> = values.iter().copied().filter(|value| *value != 0.0).collect();
        nonzero.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
        let ranks: Vec<f64> = nonzero
            .iter()
            .map(|value| {
                let less = nonzero.iter().filter(|other| other.abs() < value.abs()).count() as f64;
                let same = nonzero.iter().filter(|other| other.abs() == value.abs()).count() as f64;
                less + (same + 1.0) / 2.0
            })
            .collect();
        let observed: f64 =
            nonzero.iter().zip(&ranks).filter(|(v, _)| **v > 0.0).map(|(_, r)| r).sum();
        let patterns = 1_u32 << nonzero.len();
        let sums = (0..patterns).map(|pattern| {
            ranks
                .iter()
                .enumerate()
                .filter(|(i, _)| pattern >> i & 1 == 1)
                .map(|(_, r)| r)
                .sum::<f64>()
        });
        let sums: Vec<f64> = sums.collect();
        let share = |count: usize| count as f64 / f64::from(patterns);
        let lower = share(sums.iter().filter(|sum| **sum <= observed).count());
        let upper = share(sums.iter().filter(|sum| **sum >= observed).count());
        (2.0 * lower.min(upper)).min(1.0)
    }

    proptest! {
        #[test]
        fn the_exact_p_is_that_of_enumeration(values in prop::collection::vec(-5_i32..=5, 1..10)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            if values.iter().any(|value| *value != 0.0) {
                prop_assert!((p_value(&values) - slow_p(&values)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn six_values_are_the_fewest_that_reach_five_percent() {
        assert!(SignedRank::of(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.05).unwrap().p > 0.05);
        let six = SignedRank::of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.05).unwrap();
        assert!((six.p - 2.0 / 64.0).abs() < 1e-12);
        assert_eq!((six.low, six.high, six.pseudo_median), (1.0, 6.0, 3.5));
        let five = SignedRank::of(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.05).unwrap();
        assert!(five.low.is_infinite() && five.high.is_infinite());
        assert_eq!(SignedRank::of(&[], 0.05), None);
    }

    #[test]
    fn the_normal_approximation_agrees_with_the_exact_distribution_where_it_takes_over() {
        let doubled: Vec<usize> = (1..=MOST_EXACT).map(|rank| 2 * rank).collect();
        let half: usize = doubled.iter().sum::<usize>() / 2;
        for distance in [0, 100, 300, 500, 700, 900] {
            let (exact, near) =
                (exact_p(&doubled, half + distance), approximate_p(&doubled, half + distance));
            assert!((exact - near).abs() < 0.005, "{distance}: {exact} {near}");
        }
        let values: Vec<f64> = (0..MOST_EXACT).map(|i| libm::sin(i as f64 * 1.7) + 0.1).collect();
        let walsh = WalshAverages::of(&values).unwrap();
        let (exact, near) =
            (interval(&walsh, MOST_EXACT, 0.05), approximate_interval(&walsh, MOST_EXACT, 0.05));
        assert!(
            (exact.0 - near.0).abs() < 0.01 && (exact.1 - near.1).abs() < 0.01,
            "{exact:?} {near:?}"
        );
    }

    #[test]
    fn sign_flips_of_one_sign_are_as_rare_as_they_can_be() {
        assert_eq!(sign_flip(&[1.0; 6]), Some(2.0 / 64.0));
        assert_eq!(sign_flip(&[1.0, -1.0]), Some(1.0));
        assert_eq!(sign_flip(&[0.0; 17]), None);
        assert_eq!(sign_flip(&[]), None);
    }
}
