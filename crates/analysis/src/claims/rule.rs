//! What one comparison says of a claim: the table of docs/method.md#m-claims.

use model::{ClaimOutcome, ClaimedEffect, Direction, Verdict};
use stats::ln;

/// What was measured of a comparison, the claim's way round. Logarithms are of the value, in the
/// metric's own direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    /// The verdict among all claims.
    pub verdict: Verdict,
    /// Ends of the interval that holds for all claims together, which decides sizes.
    pub low: f64,
    /// The other end.
    pub high: f64,
    /// Logarithm of one plus the margin.
    pub theta: f64,
    /// Whether more of the value is better.
    pub direction: Direction,
}

impl Measured {
    fn contains(&self, log: f64) -> bool {
        self.low <= log && log <= self.high
    }

    /// Whether the verdict is that of a change of this sign.
    pub(super) fn goes_with(&self, log: f64) -> bool {
        let is_better = (log > 0.0) == (self.direction == Direction::Higher);
        self.verdict == if is_better { Verdict::Better } else { Verdict::Worse }
    }

    /// Whether the interval alone shows the verdict.
    pub(super) fn shows_verdict(&self) -> bool {
        match self.verdict {
            Verdict::Equivalent => -self.theta < self.low && self.high < self.theta,
            Verdict::Better | Verdict::Worse => !self.contains(0.0),
            Verdict::Inconclusive | Verdict::Invalid => true,
        }
    }

    /// Whether the interval is narrow enough to tell a size from half and from twice of it.
    fn is_narrow_at(&self, log: f64) -> bool {
        !self.contains(log / 2.0) && !self.contains(log * 2.0)
    }
}

/// What a comparison says of a claimed effect.
pub(super) fn outcome(claimed: ClaimedEffect, measured: &Measured) -> ClaimOutcome {
    match claimed {
        ClaimedEffect::Better => of_direction(measured.verdict, Verdict::Better),
        ClaimedEffect::Worse => of_direction(measured.verdict, Verdict::Worse),
        ClaimedEffect::Same => of_direction(measured.verdict, Verdict::Equivalent),
        ClaimedEffect::Change(fraction) => of_size(fraction, measured),
    }
}

/// What stands of a comparison's outcome among those of all claims, where this is its outcome among
/// those of its own claim alone. Intervals of more claims are wider and looks answer later, so a
/// size may be held that was excluded, and another answer may come first. Others may take an
/// answer or soften it; they never turn it round, and never give one.
pub(super) fn settled(alone: ClaimOutcome, together: ClaimOutcome) -> ClaimOutcome {
    match (alone, together) {
        (one, other) if one == other => other,
        (one, other) if one.is_refuted() && other.is_refuted() => other,
        (ClaimOutcome::RefutedAndImmaterial, ClaimOutcome::Immaterial) => together,
        _ => ClaimOutcome::Undecided,
    }
}

fn of_direction(verdict: Verdict, wanted: Verdict) -> ClaimOutcome {
    match verdict {
        Verdict::Inconclusive | Verdict::Invalid => ClaimOutcome::Undecided,
        seen if seen == wanted => ClaimOutcome::Confirmed,
        _ => ClaimOutcome::Refuted,
    }
}

fn of_size(fraction: f64, measured: &Measured) -> ClaimOutcome {
    let size = ln(1.0 + fraction);
    match measured.verdict {
        Verdict::Inconclusive | Verdict::Invalid => ClaimOutcome::Undecided,
        _ if measured.goes_with(size) => {
            match (measured.contains(size), measured.is_narrow_at(size)) {
                (false, _) => ClaimOutcome::RefutedInSize,
                (true, true) => ClaimOutcome::Confirmed,
                (true, false) => ClaimOutcome::Undecided,
            }
        }
        Verdict::Equivalent if size.abs() < measured.theta => {
            if measured.contains(size) {
                ClaimOutcome::Immaterial
            } else {
                ClaimOutcome::RefutedAndImmaterial
            }
        }
        // The direction is refuted. The size is not, as long as the interval holds it.
        _ if measured.contains(size) => ClaimOutcome::Undecided,
        _ => ClaimOutcome::Refuted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A margin of 5 %, more is better, and an interval in percent.
    fn of(claimed: ClaimedEffect, verdict: Verdict, percents: [f64; 2]) -> ClaimOutcome {
        let [low, high] = percents.map(|percent: f64| (1.0 + percent / 100.0).ln());
        let theta = 1.05_f64.ln();
        outcome(claimed, &Measured { verdict, low, high, theta, direction: Direction::Higher })
    }

    /// The table of the method's page, row by row.
    #[test]
    fn every_case_has_its_outcome() {
        use ClaimOutcome::{
            Confirmed, Immaterial, Refuted, RefutedAndImmaterial, RefutedInSize, Undecided,
        };
        use Verdict::{Better, Equivalent, Inconclusive, Invalid, Worse};
        let size = |percent: f64| ClaimedEffect::Change(percent / 100.0);
        for (claimed, verdict, percents, expected) in [
            (ClaimedEffect::Better, Better, [1.0, 9.0], Confirmed),
            (ClaimedEffect::Better, Worse, [-9.0, -1.0], Refuted),
            (ClaimedEffect::Better, Equivalent, [-1.0, 1.0], Refuted),
            (ClaimedEffect::Better, Inconclusive, [-1.0, 9.0], Undecided),
            (ClaimedEffect::Better, Invalid, [1.0, 9.0], Undecided),
            (ClaimedEffect::Worse, Worse, [-9.0, -1.0], Confirmed),
            (ClaimedEffect::Same, Equivalent, [-1.0, 1.0], Confirmed),
            (ClaimedEffect::Same, Better, [1.0, 9.0], Refuted),
            (ClaimedEffect::Same, Worse, [-9.0, -1.0], Refuted),
            (ClaimedEffect::Same, Inconclusive, [-1.0, 9.0], Undecided),
            // The direction holds: the interval tells the size.
            (size(20.0), Better, [15.0, 25.0], Confirmed),
            (size(20.0), Better, [22.0, 30.0], RefutedInSize),
            (size(20.0), Better, [5.0, 19.0], RefutedInSize),
            (size(20.0), Better, [1.0, 50.0], Undecided),
            (size(20.0), Better, [9.0, 25.0], Undecided),
            (size(20.0), Better, [15.0, 45.0], Undecided),
            (size(-20.0), Worse, [-24.0, -16.0], Confirmed),
            (size(-20.0), Worse, [-15.0, -6.0], RefutedInSize),
            (size(2.0), Better, [1.5, 3.0], Confirmed),
            // It does not.
            (size(20.0), Worse, [-30.0, -10.0], Refuted),
            (size(20.0), Equivalent, [-2.0, 2.0], Refuted),
            (size(-99.0), Equivalent, [-2.0, 2.0], Refuted),
            (size(20.0), Worse, [-60.0, 30.0], Undecided),
            // Of so many claims that the interval of all of them holds what is beyond the margin.
            (size(6.0), Equivalent, [-6.5, 6.5], Undecided),
            (size(6.0), Equivalent, [-5.5, 5.5], Refuted),
            (size(20.0), Inconclusive, [-5.0, 9.0], Undecided),
            // A size below the margin, which "equivalent" alone does not confirm.
            (size(3.0), Equivalent, [1.0, 4.0], Immaterial),
            (size(3.0), Equivalent, [-1.0, 1.0], RefutedAndImmaterial),
            (size(3.0), Inconclusive, [-1.0, 6.0], Undecided),
            (size(3.0), Worse, [-9.0, -1.0], Refuted),
        ] {
            assert_eq!(
                of(claimed, verdict, percents),
                expected,
                "{claimed:?} {verdict:?} {percents:?}"
            );
        }
    }

    #[test]
    fn other_claims_take_an_answer_or_soften_it_and_never_give_one() {
        use ClaimOutcome::{Confirmed, Immaterial, RefutedAndImmaterial, Undecided};
        for alone in ClaimOutcome::ALL {
            assert_eq!(settled(alone, alone), alone);
            assert_eq!(settled(alone, Undecided), Undecided);
            assert_eq!(settled(Undecided, alone), Undecided, "nothing is given");
            for together in ClaimOutcome::ALL {
                let found = settled(alone, together);
                let is_kept = found == alone || (alone.is_refuted() && found.is_refuted());
                let is_softer = alone == RefutedAndImmaterial && found == Immaterial;
                assert!(is_kept || is_softer || found == Undecided, "{alone:?} {together:?}");
                assert!(found != Confirmed || together == Confirmed);
            }
        }
    }

    #[test]
    fn less_is_a_gain_where_less_is_better() {
        let measured = Measured {
            verdict: Verdict::Better,
            low: 0.76_f64.ln(),
            high: 0.84_f64.ln(),
            theta: 1.05_f64.ln(),
            direction: Direction::Lower,
        };
        assert_eq!(outcome(ClaimedEffect::Change(-0.2), &measured), ClaimOutcome::Confirmed);
        assert_eq!(outcome(ClaimedEffect::Change(0.2), &measured), ClaimOutcome::Refuted);
    }
}
