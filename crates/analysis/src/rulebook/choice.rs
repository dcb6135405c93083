//! What an import's answer owes to a margin or a level that came with its numbers: a verdict is the
//! weaker of the two at what was given and at what nobody chose (docs/method.md#m-given).

use super::inference::{Evidence, infer};
use super::raised::Raised;
use model::{Obstacle, Strength, Verdict, round_significant as round};
use stats::exp;

/// The margin and the level that nobody chose, of a question of an import for which another of
/// either was given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unchosen {
    /// Logarithm of one plus the margin.
    pub theta: f64,
    /// Level of the family.
    pub alpha: f64,
}

/// What an answer owes to a choice.
#[derive(Debug, Default)]
pub(crate) struct OwedToChoice {
    /// The obstacles in the way of what nothing but the choice shows.
    pub raised: Vec<Raised>,
    /// Whether a difference is not clear at what nobody chose.
    pub is_unclear: bool,
}

/// What the evidence at the given margin and level shows that is not shown at those that nobody
/// chose, where p of an equivalence is `equivalence`, adjusted for the family.
pub(crate) fn owed_to_choice(
    given: &Evidence<'_>,
    unchosen: Option<Unchosen>,
    equivalence: Option<f64>,
) -> OwedToChoice {
    let Some(Unchosen { theta, alpha }) = unchosen else { return OwedToChoice::default() };
    let usual = Evidence { theta, alpha, equivalence, ..*given };
    let [with_choice, without] = [infer(given), infer(&usual)];
    let shows_difference =
        |evidence: &Evidence<'_>| evidence.difference.is_some_and(|p| p < evidence.alpha);
    let mut raised = Vec::new();
    if shows_difference(given) && !shows_difference(&usual) {
        let reason = format!(
            "a level of {} was given together with the data, and at {alpha} no difference is shown",
            given.alpha
        );
        raised.push(Raised::silent(Obstacle::GivenLevel, reason));
    }
    if with_choice.verdict == Verdict::Equivalent && without.verdict != Verdict::Equivalent {
        let margin = round(100.0 * (exp(theta) - 1.0));
        let reason = format!(
            "the margin or the level was given together with the data, and with a margin of \
             {margin:.3} % and a level of {alpha}, which nobody chose, no equivalence is shown"
        )
        .replace(".000 %", " %");
        raised.push(Raised::silent(Obstacle::GivenMargin, reason));
    }
    OwedToChoice { raised, is_unclear: without.strength != Some(Strength::Clearly) }
}

#[cfg(test)]
mod tests {
    use super::super::rule;
    use super::*;
    use model::Verdict::{Better, Equivalent, Inconclusive};
    use stats::{TTest, ln};

    /// The verdict on eight differences around this percentage, judged with this margin and level
    /// where 2 % and 0.05 are what nobody chose.
    fn verdict(percent: f64, margin: f64, alpha: f64) -> (Verdict, Option<Strength>) {
        let noise = [0.3, -0.3, 0.1, -0.1, 0.2, -0.2, 0.15, -0.15];
        let differences = noise.map(|noise| ln(1.0 + (percent + noise) / 100.0));
        let test = TTest::of(&differences);
        let p_within = |margin: f64| test.and_then(|test| test.p_equivalence(ln(1.0 + margin)));
        let given = Evidence {
            test: test.as_ref(),
            difference: test.and_then(|test| test.p_difference()),
            equivalence: p_within(margin),
            theta: ln(1.0 + margin),
            alpha,
            family: 1,
        };
        let unchosen = Unchosen { theta: ln(1.02), alpha: 0.05 };
        let owed = owed_to_choice(&given, Some(unchosen), p_within(0.02));
        let ruling = rule(infer(&given), &owed.raised).clear_unless(owed.is_unclear);
        (ruling.verdict, ruling.strength)
    }

    #[test]
    fn a_verdict_is_the_weaker_of_that_with_a_choice_and_that_without() {
        let (clear, detectable) = (Some(Strength::Clearly), Some(Strength::Detectable));
        for (percent, margin, expected) in [
            // A margin that is next to nothing makes nothing clear.
            (1.5, 0.001, (Better, detectable)),
            (2.0, 0.001, (Better, detectable)),
            (10.0, 0.001, (Better, clear)),
            // A wide one makes nothing equivalent.
            (10.0, 0.5, (Inconclusive, None)),
            (0.1, 0.5, (Equivalent, None)),
            // What is wider takes the word by itself.
            (10.0, 0.2, (Inconclusive, None)),
            (30.0, 0.25, (Better, clear)),
            // A stricter one takes nothing.
            (0.1, 0.01, (Equivalent, None)),
            (10.0, 0.01, (Better, clear)),
        ] {
            assert_eq!(verdict(percent, margin, 0.05), expected, "{percent} with {margin}");
        }
    }

    #[test]
    fn a_looser_level_shows_nothing_and_a_stricter_one_loses_nothing() {
        // The adjusted p decide; the differences say the direction alone.
        let judged = |alpha: f64, difference: f64, equivalence: f64| {
            let differences = [0.03, -0.01, 0.02, -0.005, 0.025, 0.0];
            let test = TTest::of(&differences);
            let given = Evidence {
                test: test.as_ref(),
                difference: Some(difference),
                equivalence: Some(equivalence),
                theta: ln(1.02),
                alpha,
                family: 1,
            };
            let unchosen = Unchosen { theta: ln(1.02), alpha: 0.05 };
            let owed = owed_to_choice(&given, Some(unchosen), Some(equivalence));
            let ruling = rule(infer(&given), &owed.raised);
            (ruling.verdict, ruling.obstacle)
        };
        assert_eq!(judged(0.2, 0.1, 0.9), (Inconclusive, Some(Obstacle::GivenLevel)));
        assert_eq!(judged(0.2, 0.9, 0.1), (Inconclusive, Some(Obstacle::GivenMargin)));
        assert_eq!(judged(0.2, 0.04, 0.9), (Better, None));
        assert_eq!(judged(0.001, 0.0001, 0.9), (Better, None));
        assert_eq!(judged(0.001, 0.04, 0.9), (Inconclusive, None), "by its numbers");
    }

    #[test]
    fn what_nobody_chose_owes_nothing() {
        let given = Evidence {
            test: None,
            difference: Some(0.001),
            equivalence: None,
            theta: 0.001,
            alpha: 0.5,
            family: 1,
        };
        let owed = owed_to_choice(&given, None, None);
        assert!(owed.raised.is_empty() && !owed.is_unclear);
    }
}
