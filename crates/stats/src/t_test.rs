//! The design's estimator: an estimate, its standard error and Student's t.

use crate::jackknife::jackknife;
use crate::moments::{mean, standard_deviation, variance};
use crate::student::{t_cdf, t_quantile};

/// An estimate that is t-distributed around its truth, with its tests
/// (docs/method.md#m-estimate).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TTest {
    /// The estimated difference.
    pub mean: f64,
    /// Standard deviation of the replicates: of paired differences, or pooled over
    /// samples that have no pairs.
    pub standard_deviation: f64,
    /// Standard error of the estimate.
    pub standard_error: f64,
    /// Degrees of freedom.
    pub degrees: f64,
    /// Skewness of the estimate over 6: of paired differences theirs over 6 √n, without pairs the third
    /// cumulants of the samples' means. Of samples of at least ten replicates whose skewness exceeds
    /// its standard error; else 0. On the side of its sign bounds lie further out
    /// (docs/method.md#m-skew).
    pub skew: f64,
}

/// Beyond this quantile the allowance for skewness no longer grows: it is a correction of second
/// order, and would be larger than what it corrects.
const LARGEST_CORRECTED: f64 = 2.5;

impl TTest {
    /// One-sample t of at least two paired differences.
    pub fn of(differences: &[f64]) -> Option<Self> {
        Self::with_effective_count(differences, differences.len() as f64)
    }

    /// The same with fewer effective observations, for correlated differences:
    /// the standard error and the degrees follow `count` (docs/method.md#m-warnings, AUTOCORR).
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
            skew: noticeable_skewness(differences) / (6.0 * count.sqrt()),
        })
    }

    /// Welch's t for samples without pairs, over strata of equal weight
    /// (docs/method.md#m-unblocked): the mean over K strata of mean(second) - mean(first),
    /// its variance the sum of s^2/n over K^2, the degrees Satterthwaite's (1946) from the
    /// same terms. One stratum is Welch's test (1947). `None` where a sample has fewer than two
    /// values, or there is no stratum.
    pub fn stratified(strata: &[(&[f64], &[f64])]) -> Option<Self> {
        let count = strata.len() as f64;
        let (mut sum, mut error, mut squares, mut spread) = (0.0, 0.0, 0.0, 0.0);
        let mut most_degrees = 0.0;
        for (first, second) in strata {
            sum += mean(second)? - mean(first)?;
            for sample in [first, second] {
                let size = sample.len() as f64;
                let variance = variance(sample)?;
                let part = variance / size / (count * count);
                error += part;
                squares += part * part / (size - 1.0);
                spread += variance;
                most_degrees += size - 1.0;
            }
        }
        (count > 0.0).then(|| Self {
            mean: sum / count,
            standard_deviation: (spread / (2.0 * count)).sqrt(),
            standard_error: error.sqrt(),
            degrees: if squares > 0.0 { error * error / squares } else { most_degrees },
            skew: 0.0,
        })
    }

    /// The test of [`Self::stratified`] of these strata with bounds that lie further out on the side
    /// of a long tail (docs/method.md#m-skew). The third cumulant of the estimate is the sum of
    /// ±G1 s^3/n^2 over K^3, in which a sample has its part where its skewness is noticeable.
    pub fn allowing_for_skewness(self, strata: &[(&[f64], &[f64])]) -> Self {
        let part = |sample: &[f64]| {
            let size = sample.len() as f64;
            let deviation = standard_deviation(sample).unwrap_or(0.0);
            noticeable_skewness(sample) * deviation * deviation * deviation / (size * size)
        };
        let third: f64 = strata.iter().map(|(first, second)| part(second) - part(first)).sum();
        let scale = strata.len() as f64 * self.standard_error;
        let skew = third / (6.0 * scale * scale * scale);
        Self { skew: if skew.is_finite() { skew } else { 0.0 }, ..self }
    }

    /// An estimate of all blocks together, with the estimates that leave out one of
    /// them: their [`jackknife`] error and one degree fewer than blocks. `None` of fewer
    /// than two.
    pub fn jackknife(estimate: f64, leave_one_out: &[f64]) -> Option<Self> {
        let count = leave_one_out.len() as f64;
        let standard_error = jackknife(leave_one_out)?;
        Some(Self {
            mean: estimate,
            standard_deviation: standard_error * count.sqrt(),
            standard_error,
            degrees: count - 1.0,
            skew: 0.0,
        })
    }

    /// The same where the replicates were taken from numbers of this size: what varies by
    /// no more than their rounding does not vary.
    pub fn without_rounding(self, scale: f64) -> Self {
        if self.standard_deviation <= ROUNDING * f64::EPSILON * scale.abs() {
            return Self { standard_deviation: 0.0, standard_error: 0.0, skew: 0.0, ..self };
        }
        self
    }

    /// Whether the replicates do not vary, so that no test is possible.
    pub fn is_degenerate(&self) -> bool {
        self.standard_error <= f64::EPSILON * self.mean.abs()
    }

    /// Confidence interval of the difference at level 1 - `alpha`.
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let quantile = t_quantile(1.0 - alpha / 2.0, self.degrees);
        let allowed = allowance(self.skew, quantile);
        let low = quantile - allowed.min(0.0);
        let high = quantile + allowed.max(0.0);
        (self.mean - low * self.standard_error, self.mean + high * self.standard_error)
    }

    /// The quantile of Student's t whose upper tail is the p of [`Self::p_above`]; no number of a
    /// degenerate sample.
    pub fn quantile_above(&self, limit: f64) -> f64 {
        quantile_at((self.mean - limit) / self.standard_error, -self.skew)
    }

    /// The same of [`Self::p_below`].
    pub fn quantile_below(&self, limit: f64) -> f64 {
        quantile_at((limit - self.mean) / self.standard_error, self.skew)
    }

    /// One-sided p of a difference of `limit` or less, never 0; `None` of a degenerate sample.
    pub fn p_above(&self, limit: f64) -> Option<f64> {
        let quantile = self.quantile_above(limit);
        (!self.is_degenerate()).then(|| positive(t_cdf(-quantile, self.degrees)))
    }

    /// One-sided p of a difference of `limit` or more, never 0; `None` of a degenerate sample.
    pub fn p_below(&self, limit: f64) -> Option<f64> {
        let quantile = self.quantile_below(limit);
        (!self.is_degenerate()).then(|| positive(t_cdf(-quantile, self.degrees)))
    }

    /// Two-sided p of no difference, never 0; `None` of a degenerate sample.
    pub fn p_difference(&self) -> Option<f64> {
        let one_sided = if self.mean < 0.0 { self.p_below(0.0) } else { self.p_above(0.0) };
        one_sided.map(|p| positive(2.0 * p))
    }

    /// p of a difference of `theta` or more, never 0, by two one-sided tests (Schuirmann 1987); `None`
    /// of a degenerate sample.
    pub fn p_equivalence(&self, theta: f64) -> Option<f64> {
        Some(self.p_above(-theta)?.max(self.p_below(theta)?))
    }
}

/// How many standard errors a bound at this quantile lies further out for skewness: Johnson's (1978)
/// modified t at the quantile instead of at t.
fn allowance(skew: f64, quantile: f64) -> f64 {
    let corrected = quantile.min(LARGEST_CORRECTED);
    skew * (1.0 + 2.0 * corrected * corrected)
}

/// The quantile whose bound lies so many standard errors from the mean: the inverse of
/// q + [`allowance`] of q.
fn quantile_at(distance: f64, skew: f64) -> f64 {
    if skew <= 0.0 || distance <= 0.0 {
        return distance;
    }
    let beyond = distance - allowance(skew, LARGEST_CORRECTED);
    if beyond >= LARGEST_CORRECTED {
        return beyond;
    }
    let left = distance - skew;
    if left <= 0.0 { 0.0 } else { 2.0 * left / (1.0 + (1.0 + 8.0 * skew * left).sqrt()) }
}

/// Fewer replicates cannot tell skewness from chance: an allowance would cost more than it gains.
const FEWEST_SKEWED: usize = 10;

/// The sample's skewness G1, where it exceeds its standard error in normal samples of this size
/// (Joanes and Gill 1998); else 0, and 0 of few.
fn noticeable_skewness(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let Some(centre) = mean(values).filter(|_| values.len() >= FEWEST_SKEWED) else { return 0.0 };
    let (mut m2, mut m3) = (0.0, 0.0);
    for value in values {
        let distance = value - centre;
        m2 += distance * distance;
        m3 += distance * distance * distance;
    }
    (m2, m3) = (m2 / count, m3 / count);
    let skewness = (count * (count - 1.0)).sqrt() / (count - 2.0) * m3 / (m2 * m2.sqrt());
    if skewness.is_finite() && skewness.abs() > skewness_error(count) { skewness } else { 0.0 }
}

/// The standard error of the skewness of so many normal values.
pub(crate) fn skewness_error(count: f64) -> f64 {
    (6.0 * count * (count - 1.0) / ((count - 2.0) * (count + 1.0) * (count + 3.0))).sqrt()
}

/// Roundings that a difference of two logarithms and its mean may gather.
const ROUNDING: f64 = 16.0;

/// A p-value that underflowed is as small as a number can be, not impossible.
fn positive(p: f64) -> f64 {
    p.clamp(f64::MIN_POSITIVE, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fixture of docs/method.md#m-fragility: nine blocks at +3 %, one at -25 %.
    #[test]
    fn one_wild_block_makes_nine_good_ones_say_nothing() {
        let mut differences = vec![1.03_f64.ln(); 9];
        differences.push(0.75_f64.ln());
        let p = TTest::of(&differences).unwrap().p_difference().unwrap();
        assert!((p - 0.947_076_045_079_666).abs() < 1e-9, "{p}");
    }

    /// scipy.stats.ttest_1samp([1, 2, 3, 4, 5.5], 0).
    #[test]
    fn p_and_interval_agree_with_an_independent_implementation() {
        let test = TTest::of(&[1.0, 2.0, 3.0, 4.0, 5.5]).unwrap();
        assert!((test.mean / test.standard_error - 3.969_143_277_919_775).abs() < 1e-9);
        assert!((test.p_difference().unwrap() - 0.016_550_539_701_028).abs() < 1e-12);
        // The interval's end is where its own test is just at the level.
        let (low, _) = test.interval(0.05);
        let at_end = TTest { mean: test.mean - low, ..test };
        assert!((at_end.p_difference().unwrap() - 0.05).abs() < 1e-9);
    }

    /// scipy.stats.skew(bias=False) of the second sample, G1 = 2.7197; the first is symmetric.
    #[test]
    fn a_skewed_sample_without_pairs_has_a_bound_further_out_on_its_side() {
        let skewed = [0.1, 0.2, 0.15, 0.05, 0.12, 0.18, 0.9, 0.11, 0.3, 0.08];
        let even = [0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.6, 0.7, 0.8, 0.9];
        let of = |strata: &[(&[f64], &[f64])]| {
            TTest::stratified(strata).unwrap().allowing_for_skewness(strata)
        };
        let test = of(&[(&even, &skewed)]);
        let [of_even, of_skewed] = [&even, &skewed].map(|sample| variance(sample).unwrap() / 10.0);
        let third = 2.719_739_644 * of_skewed * of_skewed.sqrt() / 10.0_f64.sqrt();
        let error = of_even + of_skewed;
        let expected = third / (6.0 * error * error.sqrt());
        assert!((test.skew - expected).abs() < 1e-6, "{} {expected}", test.skew);
        let turned = of(&[(&skewed, &even)]);
        assert_eq!(turned.skew.to_bits(), (-test.skew).to_bits());
        // Two strata of the same samples: the sum of two over 2^3, beside an error of half.
        let twice = of(&[(&even, &skewed), (&even, &skewed)]);
        assert!((twice.skew - test.skew / 2.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(of(&[(&even[..9], &skewed[..9])]).skew, 0.0);
        assert_eq!(of(&[(&[1.0; 12], &[1.0; 12])]).skew, 0.0);
    }

    /// scipy.stats.skew(bias=False): G1 = 2.7197, its error 0.6870; G1/(6 √10) = 0.14334; at
    /// t(0.975; 9) = 2.26216 the upper bound lies 0.14334 (1 + 2 t²) standard errors further out.
    #[test]
    fn skewed_replicates_have_a_bound_further_out_on_the_side_of_their_tail() {
        let values = [0.1, 0.2, 0.15, 0.05, 0.12, 0.18, 0.9, 0.11, 0.3, 0.08];
        let test = TTest::of(&values).unwrap();
        assert!((test.skew - 0.143_342_865_304_458_9).abs() < 1e-9, "{}", test.skew);
        let plain = TTest { skew: 0.0, ..test };
        let ((low, high), (plain_low, plain_high)) = (test.interval(0.05), plain.interval(0.05));
        assert_eq!(low.to_bits(), plain_low.to_bits());
        let further = (high - plain_high) / test.standard_error;
        assert!((further - 1.610_415_530_635_658_3).abs() < 1e-8, "{further}");
        // The mirror image has its mirror image, and both ends are where their tests are at the level.
        let mirrored = TTest::of(&values.map(|value| -value)).unwrap();
        let (other_low, other_high) = mirrored.interval(0.05);
        assert!((other_low + high).abs() < 1e-12 && (other_high + low).abs() < 1e-12);
        for (alpha, end) in [(0.2, 1), (0.05, 1), (0.05, 0), (0.001, 1), (0.6, 1)] {
            let (low, high) = test.interval(alpha);
            let p = if end == 1 { test.p_below(high) } else { test.p_above(low) };
            assert!((p.unwrap() - alpha / 2.0).abs() < 1e-9, "{alpha}: {p:?}");
        }
        assert_eq!(test.p_difference(), plain.p_difference(), "its tail lies away from 0");
        let towards = TTest { mean: -test.mean, ..test };
        assert!(towards.p_difference() > plain.p_difference());
    }

    #[test]
    fn p_falls_as_the_limit_goes_further_and_symmetric_replicates_have_no_skew() {
        let values = [0.1, 0.2, 0.15, 0.05, 0.12, 0.18, 0.9, 0.11, 0.3, 0.08];
        let test = TTest::of(&values).unwrap();
        let mut before = 2.0;
        for step in 0..2000 {
            let p = test.p_below(-1.0 + f64::from(step) * 0.002).unwrap();
            assert!(p <= before && p > 0.0, "step {step}: {p} after {before}");
            before = p;
        }
        let symmetric: Vec<f64> = (0..12).map(f64::from).collect();
        assert_eq!(TTest::of(&symmetric).unwrap().skew, 0.0);
        assert_eq!(TTest::of(&values[..9]).unwrap().skew, 0.0, "few cannot tell");
        assert_eq!(TTest::of(&[1.0, 2.0]).unwrap().skew, 0.0);
        assert_eq!(TTest::of(&[0.3; 17]).unwrap().without_rounding(0.3).skew, 0.0);
    }

    #[test]
    fn equivalence_needs_evidence_and_its_edge_is_never_equivalent() {
        let near_zero = [0.001, -0.002, 0.0015, -0.0005, 0.0008, -0.0012];
        let theta = 1.02_f64.ln();
        assert!(TTest::of(&near_zero).unwrap().p_equivalence(theta).unwrap() < 1e-4);
        let at_edge: Vec<f64> = near_zero.iter().map(|value| value + theta).collect();
        assert!(TTest::of(&at_edge).unwrap().p_equivalence(theta).unwrap() > 0.4);
    }

    /// scipy.stats.ttest_ind([1,2,3,4], [2,4,6,8,10], equal_var=False), scipy 1.17.
    #[test]
    fn one_stratum_is_the_test_of_welch() {
        let test = TTest::stratified(&[(&[1.0, 2.0, 3.0, 4.0], &[2.0, 4.0, 6.0, 8.0, 10.0])]);
        let p = test.and_then(|test| test.p_difference()).unwrap();
        assert!((p - 0.069_133_593_192_392).abs() < 1e-12, "{p}");
        assert_eq!(TTest::stratified(&[(&[1.0], &[1.0, 2.0])]), None);
        assert_eq!(TTest::stratified(&[]), None);
    }

    /// By hand: differences 1 and 3; variances 1 and 1, 4 and 4; n = 3 and 3, 2 and 2.
    #[test]
    fn strata_count_alike_whatever_their_sizes() {
        let test = TTest::stratified(&[
            (&[0.0, 1.0, 2.0], &[1.0, 2.0, 3.0]),
            (&[0.0, 2.0 * 2.0_f64.sqrt()], &[3.0, 3.0 + 2.0 * 2.0_f64.sqrt()]),
        ])
        .unwrap();
        assert!((test.mean - 2.0).abs() < 1e-12);
        let parts = [1.0 / 3.0, 1.0 / 3.0, 2.0, 2.0].map(|part: f64| part / 4.0);
        let variance: f64 = parts.iter().sum();
        assert!((test.standard_error - variance.sqrt()).abs() < 1e-12);
        let squares: f64 =
            parts.iter().zip([2.0, 2.0, 1.0, 1.0]).map(|(part, df)| part * part / df).sum();
        assert!((test.degrees - variance * variance / squares).abs() < 1e-9);
    }

    #[test]
    fn the_jackknife_of_a_mean_is_its_own_standard_error() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.5];
        let mean = |left_out: usize| {
            let rest = values.iter().enumerate().filter(|(index, _)| *index != left_out);
            rest.map(|(_, value)| value).sum::<f64>() / 4.0
        };
        let leave_one_out: Vec<f64> = (0..5).map(mean).collect();
        let jackknife = TTest::jackknife(3.1, &leave_one_out).unwrap();
        let direct = TTest::of(&values).unwrap();
        assert!((jackknife.standard_error - direct.standard_error).abs() < 1e-12);
        assert!((jackknife.standard_deviation - direct.standard_deviation).abs() < 1e-12);
        assert_eq!(TTest::jackknife(1.0, &[1.0]), None);
    }

    #[test]
    fn what_varies_by_rounding_alone_does_not_vary() {
        let logs: Vec<f64> = (1..8).map(|i| crate::ln(100.0 * f64::from(i))).collect();
        let differences: Vec<f64> =
            logs.iter().zip(1..8).map(|(log, i)| crate::ln(110.0 * f64::from(i)) - log).collect();
        let test = TTest::of(&differences).unwrap();
        assert!(test.without_rounding(7.0).is_degenerate());
        assert_eq!(test.without_rounding(7.0).p_difference(), None);
        assert!(!TTest::of(&[0.1, 0.2, 0.3]).unwrap().without_rounding(7.0).is_degenerate());
    }

    #[test]
    fn a_p_that_underflows_is_not_zero() {
        let test = TTest {
            mean: 1e3,
            standard_deviation: 1.0,
            standard_error: 1e-9,
            degrees: 900.0,
            skew: 0.0,
        };
        assert!(test.p_difference().unwrap() > 0.0);
        assert!(test.p_equivalence(1.0).unwrap() <= 1.0);
    }

    #[test]
    fn identical_differences_have_no_p() {
        let test = TTest::of(&[0.01; 6]).unwrap();
        assert!(test.is_degenerate());
        assert_eq!((test.p_difference(), test.p_equivalence(0.02)), (None, None));
        assert_eq!(TTest::of(&[0.1]), None);
    }
}
