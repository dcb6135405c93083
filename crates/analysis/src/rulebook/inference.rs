//! What the statistics say by themselves, in the order of docs/method.md#m-verdict.

use model::{Finding, Strength, Verdict};
use stats::TTest;

/// What is said of an equivalence where the test of a difference shows one as well. It is left out
/// where an obstacle takes that test away.
pub(super) const SMALL_DIFFERENCE: &str = "a difference is there, but inside the margin";

/// What is told of a difference that is shown where the equivalence is shown only by itself.
pub(crate) const INSIDE_BY_ITSELF: &str =
    "a difference was shown, and by itself that it lies inside the margin: neither counts";

/// What an inference rests on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence<'a> {
    /// The t of the replicates; absent of fewer than two.
    pub test: Option<&'a TTest>,
    /// Adjusted p of no difference.
    pub difference: Option<f64>,
    /// Adjusted p of a difference as large as the margin.
    pub equivalence: Option<f64>,
    /// Logarithm of one plus the margin.
    pub theta: f64,
    /// Level of the family.
    pub alpha: f64,
    /// How many questions the family has.
    pub family: usize,
}

/// A statistical outcome, before anything is forbidden.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Inference {
    pub verdict: Verdict,
    pub strength: Option<Strength>,
    pub reason: Option<String>,
}

impl Inference {
    fn inconclusive(reason: &str) -> Self {
        Self { verdict: Verdict::Inconclusive, strength: None, reason: Some(reason.to_owned()) }
    }
}

/// Equivalent first, then better or worse, else inconclusive.
pub(crate) fn infer(evidence: &Evidence<'_>) -> Inference {
    let Some(test) = evidence.test else {
        return Inference::inconclusive("neighbouring blocks are too much alike for any test");
    };
    if test.is_degenerate() {
        return degenerate(test, evidence.theta);
    }
    let is_below = |p: Option<f64>| p.is_some_and(|p| p < evidence.alpha);
    let is_different = is_below(evidence.difference);
    if is_below(evidence.equivalence) {
        let reason = is_different.then(|| SMALL_DIFFERENCE.to_owned());
        return Inference { verdict: Verdict::Equivalent, strength: None, reason };
    }
    if !is_different {
        return Inference::inconclusive("neither a difference nor equivalence was shown");
    }
    // "Clearly" may be wrong nowhere in the family, so the family's interval decides it.
    let (low, high) = test.interval(evidence.alpha / evidence.family.max(1) as f64);
    let (verdict, is_clear) = if test.mean > 0.0 {
        (Verdict::Better, low > evidence.theta)
    } else {
        (Verdict::Worse, high < -evidence.theta)
    };
    let strength = Some(if is_clear { Strength::Clearly } else { Strength::Detectable });
    Inference { verdict, strength, reason: None }
}

/// All differences are the same: no p, and equivalence only inside the margin.
fn degenerate(test: &TTest, theta: f64) -> Inference {
    if test.mean.abs() < theta {
        let reason = Some(
            "the replicates do not vary, and their difference is inside the margin".to_owned(),
        );
        return Inference { verdict: Verdict::Equivalent, strength: None, reason };
    }
    Inference::inconclusive("the replicates do not vary; no test is possible")
}

/// Takes the verdict of a difference among claims that an equivalence test at the whole level
/// contains: equivalence comes before difference, and the correction for the other claims took the
/// equivalence alone.
pub(crate) fn leave_open_inside(finding: &mut Finding, alpha: f64) {
    let is_different = matches!(finding.verdict, Verdict::Better | Verdict::Worse);
    let p_equivalence = finding.effect.as_ref().and_then(|effect| effect.p_equivalence);
    if is_different && p_equivalence.is_some_and(|p| p < alpha) {
        finding.verdict = Verdict::Inconclusive;
        finding.strength = None;
        finding.reason = Some(INSIDE_BY_ITSELF.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(differences: &[f64], margin: f64) -> (Verdict, Option<Strength>) {
        of_family(differences, margin, 1)
    }

    fn of_family(differences: &[f64], margin: f64, family: usize) -> (Verdict, Option<Strength>) {
        let test = TTest::of(differences);
        let theta = (1.0 + margin).ln();
        let inference = infer(&Evidence {
            test: test.as_ref(),
            difference: test.and_then(|test| test.p_difference()),
            equivalence: test.and_then(|test| test.p_equivalence(theta)),
            theta,
            alpha: 0.05,
            family,
        });
        (inference.verdict, inference.strength)
    }

    /// A mean of 0.0235 with a standard error of 0.0007 on five degrees: 0.0217 is the low end at
    /// 95 % and 0.0185 at that of 63 comparisons, about a margin of ln 1.02 = 0.0198.
    #[test]
    fn clearly_is_said_by_the_interval_of_the_family() {
        for sign in [1.0, -1.0] {
            let differences = [0.001, -0.001, 0.002, -0.002, 0.0015, -0.0015]
                .map(|noise| sign * (0.0235 + noise));
            let of = |family| of_family(&differences, 0.02, family).1;
            assert_eq!(of(1), Some(Strength::Clearly));
            assert_eq!(of(63), Some(Strength::Detectable));
        }
    }

    #[test]
    fn the_order_is_equivalent_then_different_then_inconclusive() {
        let around = |centre: f64| {
            [0.001, -0.001, 0.002, -0.002, 0.0015, -0.0015].map(|noise| centre + noise)
        };
        assert_eq!(verdict(&around(0.0), 0.02), (Verdict::Equivalent, None));
        assert_eq!(verdict(&around(0.005), 0.02), (Verdict::Equivalent, None));
        assert_eq!(verdict(&around(0.10), 0.02), (Verdict::Better, Some(Strength::Clearly)));
        assert_eq!(verdict(&around(-0.10), 0.02), (Verdict::Worse, Some(Strength::Clearly)));
        assert_eq!(verdict(&around(0.0195), 0.02), (Verdict::Better, Some(Strength::Detectable)));
        assert_eq!(verdict(&[0.3, -0.2, 0.1, -0.4, 0.2, 0.0], 0.02), (Verdict::Inconclusive, None));
    }

    #[test]
    fn identical_differences_are_equivalent_inside_the_margin_only() {
        assert_eq!(verdict(&[0.0; 6], 0.02).0, Verdict::Equivalent);
        assert_eq!(verdict(&[0.5; 6], 0.02).0, Verdict::Inconclusive);
    }
}
