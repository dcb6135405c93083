//! Fisher's exact test of a two-by-two table.

use statrs::function::factorial::ln_binomial;

/// Two-sided p that `a` of `a_total` and `b` of `b_total` have the same
/// probability: the sum of all tables no likelier than this one (Fisher 1922).
/// `None` where a total is 0 or smaller than its part.
pub fn fisher_exact(a: u64, a_total: u64, b: u64, b_total: u64) -> Option<f64> {
    if a_total == 0 || b_total == 0 || a > a_total || b > b_total {
        return None;
    }
    let hits = a + b;
    let log_all = ln_binomial(a_total + b_total, hits);
    let probability = |count: u64| {
        libm::exp(ln_binomial(a_total, count) + ln_binomial(b_total, hits - count) - log_all)
    };
    let observed = probability(a);
    let least = hits.saturating_sub(b_total);
    let most = hits.min(a_total);
    // Tables that tie but for rounding count as no likelier.
    let sum: f64 = (least..=most).map(probability).filter(|p| *p <= observed * (1.0 + 1e-7)).sum();
    Some(sum.min(1.0))
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
}
