//! The design's estimator: one-sample t on paired log differences.

use crate::moments::{mean, standard_deviation};
use crate::student::{t_cdf, t_quantile};

/// One-sample t of differences d: mean, standard error, tests (STATISTICS 2.4).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedT {
    /// Mean difference.
    pub mean: f64,
    /// Standard deviation of the differences.
    pub standard_deviation: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Degrees of freedom.
    pub degrees: f64,
}

impl PairedT {
    /// From at least two differences.
    pub fn of(differences: &[f64]) -> Option<Self> {
        Self::with_effective_count(differences, differences.len() as f64)
    }

    /// The same with fewer effective observations, for correlated differences:
    /// the standard error and the degrees follow `count` (STATISTICS 2.13, AUTOCORR).
    pub fn with_effective_count(differences: &[f64], count: f64) -> Option<Self> {
        let standard_deviation = standard_deviation(differences)?;
        if count <= 1.0 {
            return None;
        }
        Some(Self {
            mean: mean(differences)?,
            standard_deviation,
            standard_error: standard_deviation / count.sqrt(),
            degrees: count - 1.0,
        })
    }

    /// Whether all differences are the same, so that no test is possible.
    pub fn is_degenerate(&self) -> bool {
        self.standard_error <= f64::EPSILON * self.mean.abs()
    }

    /// Confidence interval of the mean at level 1 - `alpha`.
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let half = t_quantile(1.0 - alpha / 2.0, self.degrees) * self.standard_error;
        (self.mean - half, self.mean + half)
    }

    /// Two-sided p of mean 0; `None` of a degenerate sample.
    pub fn p_difference(&self) -> Option<f64> {
        let t = (self.mean / self.standard_error).abs();
        (!self.is_degenerate()).then(|| (2.0 * t_cdf(-t, self.degrees)).min(1.0))
    }

    /// p of |mean| >= `theta` by two one-sided tests (Schuirmann 1987); `None`
    /// of a degenerate sample.
    pub fn p_equivalence(&self, theta: f64) -> Option<f64> {
        let below = t_cdf(-(self.mean + theta) / self.standard_error, self.degrees);
        let above = t_cdf((self.mean - theta) / self.standard_error, self.degrees);
        (!self.is_degenerate()).then(|| below.max(above))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fixture of STATISTICS 2.8: nine blocks at +3 %, one at -25 %.
    #[test]
    fn one_wild_block_makes_nine_good_ones_say_nothing() {
        let mut differences = vec![1.03_f64.ln(); 9];
        differences.push(0.75_f64.ln());
        let p = PairedT::of(&differences).unwrap().p_difference().unwrap();
        assert!((p - 0.947_076_045_079_666).abs() < 1e-9, "{p}");
    }

    /// scipy.stats.ttest_1samp([1, 2, 3, 4, 5.5], 0).
    #[test]
    fn p_and_interval_agree_with_an_independent_implementation() {
        let test = PairedT::of(&[1.0, 2.0, 3.0, 4.0, 5.5]).unwrap();
        assert!((test.mean / test.standard_error - 3.969_143_277_919_775).abs() < 1e-9);
        assert!((test.p_difference().unwrap() - 0.016_550_539_701_028).abs() < 1e-12);
        // The interval's end is where its own test is just at the level.
        let (low, _) = test.interval(0.05);
        let at_end = PairedT { mean: test.mean - low, ..test };
        assert!((at_end.p_difference().unwrap() - 0.05).abs() < 1e-9);
    }

    #[test]
    fn equivalence_needs_evidence_and_its_edge_is_never_equivalent() {
        let near_zero = [0.001, -0.002, 0.0015, -0.0005, 0.0008, -0.0012];
        let theta = 1.02_f64.ln();
        assert!(PairedT::of(&near_zero).unwrap().p_equivalence(theta).unwrap() < 1e-4);
        let at_edge: Vec<f64> = near_zero.iter().map(|value| value + theta).collect();
        assert!(PairedT::of(&at_edge).unwrap().p_equivalence(theta).unwrap() > 0.4);
    }

    #[test]
    fn identical_differences_have_no_p() {
        let test = PairedT::of(&[0.01; 6]).unwrap();
        assert!(test.is_degenerate());
        assert_eq!((test.p_difference(), test.p_equivalence(0.02)), (None, None));
        assert_eq!(PairedT::of(&[0.1]), None);
    }
}
