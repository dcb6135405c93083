//! Fisher's exact test of a two-by-two table.

use crate::exact::above_zero;

/// Larger totals are refused: too many tables would be within reach of the likeliest.
const LARGEST: u64 = 1_000_000_000_000;

/// Two-sided p that `a` of `a_total` and `b` of `b_total` have the same
/// probability: the sum of all tables no likelier than this one (Fisher 1922).
/// Every table is weighed against the likeliest by ratios of neighbours, so that no
/// difference of logarithms loses digits; never 0. `None` where a total is 0, smaller
/// than its part, or the totals
/// add up to more than 10^12.
pub fn fisher_exact(a: u64, a_total: u64, b: u64, b_total: u64) -> Option<f64> {
    if a_total == 0 || b_total == 0 || a > a_total || b > b_total {
        return None;
    }
    if a_total.saturating_add(b_total) > LARGEST {
        return None;
    }
    let tables = Tables { first: a_total as f64, second: b_total as f64, hits: (a + b) as f64 };
    let least = (a + b).saturating_sub(b_total);
    let most = (a + b).min(a_total);
    let mode = tables.mode().clamp(least as f64, most as f64);
    let observed = a as f64;
    let rises = tables.weights(mode, least as f64, -1.0, observed);
    let falls = tables.weights(mode, most as f64, 1.0, observed);
    let own = if observed < mode { rises } else { falls };
    // Tables that tie but for rounding count as no likelier.
    let limit = own.observed * (1.0 + 1e-7);
    let mut extreme = if limit >= 1.0 { 1.0 } else { 0.0 };
    for (end, direction) in [(least as f64, -1.0), (most as f64, 1.0)] {
        extreme += tables.sum_within(mode, end, direction, limit);
    }
    Some(above_zero((extreme / (1.0 + rises.sum + falls.sum)).min(1.0)))
}

/// All tables with the margins of one.
#[derive(Clone, Copy)]
struct Tables {
    first: f64,
    second: f64,
    hits: f64,
}

/// Weights to one side of the mode, whose own is 1.
#[derive(Clone, Copy)]
struct Side {
    sum: f64,
    /// Weight of the observed table, 1 where it is not on this side.
    observed: f64,
}

impl Tables {
    /// The likeliest count (Johnson, Kemp and Kotz 2005, 6.2).
    fn mode(self) -> f64 {
        ((self.hits + 1.0) * (self.first + 1.0) / (self.first + self.second + 2.0)).floor()
    }

    /// Weight of the next table in a direction over that of this one.
    fn ratio(self, count: f64, direction: f64) -> f64 {
        let Self { first, second, hits } = self;
        if direction > 0.0 {
            (first - count) * (hits - count) / ((count + 1.0) * (second - hits + count + 1.0))
        } else {
            count * (second - hits + count) / ((first - count + 1.0) * (hits - count + 1.0))
        }
    }

    fn weights(self, mode: f64, end: f64, direction: f64, observed: f64) -> Side {
        let mut side = Side { sum: 0.0, observed: 1.0 };
        let (mut count, mut weight) = (mode, 1.0);
        let is_here = (observed - mode) * direction > 0.0;
        while count != end && weight > f64::MIN_POSITIVE {
            weight *= self.ratio(count, direction);
            count += direction;
            side.sum += weight;
            if count == observed {
                side.observed = weight;
            }
        }
        // The weight vanished before the observed table was reached.
        if is_here && (observed - count) * direction > 0.0 {
            side.observed = 0.0;
        }
        side
    }

    /// Weights not above `limit`, to one side of the mode.
    fn sum_within(self, mode: f64, end: f64, direction: f64, limit: f64) -> f64 {
        let (mut count, mut weight, mut sum) = (mode, 1.0, 0.0);
        while count != end && weight > f64::MIN_POSITIVE {
            weight *= self.ratio(count, direction);
            count += direction;
            if weight <= limit {
                sum += weight;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy.stats.fisher_exact.
    #[test]
    fn p_agrees_with_an_independent_implementation() {
        assert!((fisher_exact(8, 10, 1, 6).unwrap() - 0.034_965_034_965).abs() < 1e-9);
        assert!((fisher_exact(0, 6, 6, 6).unwrap() - 2.0 / 924.0).abs() < 1e-12);
        assert!((fisher_exact(3, 6, 3, 6).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(fisher_exact(0, 0, 1, 2), None);
    }

    #[test]
    fn one_table_is_certain_and_an_impossible_difference_has_a_p() {
        assert_eq!(fisher_exact(0, 5, 0, 9), Some(1.0));
        assert_eq!(fisher_exact(5, 5, 9, 9), Some(1.0));
        assert_eq!(fisher_exact(500_000, 500_000, 0, 500_000), Some(f64::MIN_POSITIVE));
        assert_eq!(fisher_exact(1, u64::MAX, 1, 2), None);
    }
}
