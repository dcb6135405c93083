//! Welch's t for two independent samples.

use crate::moments::{mean, variance};
use crate::student::t_cdf;

/// Two-sided p of equal means (Welch 1947, Satterthwaite's degrees); `None`
/// where a sample has fewer than two values or neither varies.
pub fn welch(a: &[f64], b: &[f64]) -> Option<f64> {
    let part_a = variance(a)? / a.len() as f64;
    let part_b = variance(b)? / b.len() as f64;
    let sum = part_a + part_b;
    if sum <= 0.0 {
        return None;
    }
    let degrees = sum * sum
        / (part_a * part_a / (a.len() as f64 - 1.0) + part_b * part_b / (b.len() as f64 - 1.0));
    let t = (mean(a)? - mean(b)?) / sum.sqrt();
    Some((2.0 * t_cdf(-t.abs(), degrees)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy.stats.ttest_ind([1,2,3,4], [2,4,6,8,10], equal_var=False), scipy 1.17.
    #[test]
    fn p_agrees_with_an_independent_implementation() {
        let p = welch(&[1.0, 2.0, 3.0, 4.0], &[2.0, 4.0, 6.0, 8.0, 10.0]).unwrap();
        assert!((p - 0.069_133_593_192_392).abs() < 1e-12, "{p}");
        assert_eq!(welch(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(welch(&[1.0, 1.0], &[1.0, 1.0]), None);
    }
}
