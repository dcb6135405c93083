//! The rulebook: facts about a question (signals) raise obstacles, the strongest obstacle is the
//! cap, and the cap turns a statistical outcome into the verdict (docs/method.md#m-verdict).
//!
//! Every kind of comparison is decided here and nowhere else: paired subjects, workloads, use
//! cases, imported samples, campaigns ended on purpose. Caveats are derived from signals and
//! obstacles and are never read: a caveat that is dropped changes no verdict.

mod inference;
mod obstacles;
mod signals;

pub(crate) use inference::{Evidence, Inference, infer};
pub(crate) use obstacles::{Basis, LEAST_BEYOND, LEAST_PAIRS, Raised, obstacles};
pub(crate) use signals::{Numbers, PairNumbers, SampleNumbers, Signals};

use model::{Caveat, Finding, Forbidden, Obstacle, Strength, Verdict};

/// The most that may be said of a question, with the obstacle that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cap {
    /// Whatever the statistics say.
    Nothing,
    /// A difference, but no equivalence.
    NoEquivalence(Obstacle),
    /// No verdict.
    NoVerdict(Obstacle),
    /// The comparison is invalid.
    Invalid(Obstacle),
}

/// The cap of these obstacles: that of the strongest.
pub(crate) fn cap(obstacles: &[Obstacle]) -> Cap {
    let Some(strongest) = obstacles.iter().min() else { return Cap::Nothing };
    match strongest.forbids() {
        Forbidden::AnyAnswer => Cap::Invalid(*strongest),
        Forbidden::EveryVerdict => Cap::NoVerdict(*strongest),
        Forbidden::Equivalence => Cap::NoEquivalence(*strongest),
    }
}

impl Cap {
    /// The verdict that is left of an outcome, and the obstacle where it decided.
    fn applied(self, outcome: Verdict) -> (Verdict, Option<Obstacle>) {
        match self {
            Self::Invalid(obstacle) => (Verdict::Invalid, Some(obstacle)),
            Self::NoVerdict(obstacle) => (Verdict::Inconclusive, Some(obstacle)),
            Self::NoEquivalence(obstacle) if outcome == Verdict::Equivalent => {
                (Verdict::Inconclusive, Some(obstacle))
            }
            Self::NoEquivalence(_) | Self::Nothing => (outcome, None),
        }
    }
}

/// A verdict with what decided it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ruling {
    pub verdict: Verdict,
    pub strength: Option<Strength>,
    pub reason: Option<String>,
    /// The obstacle that decided, where one did.
    pub obstacle: Option<Obstacle>,
    /// What is told of it beside the reason.
    pub caveat: Option<Caveat>,
}

impl Ruling {
    /// Whether an obstacle forbids every verdict.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.obstacle.is_some_and(Obstacle::forbids_every_verdict)
    }
}

/// The verdict on a statistical outcome under these obstacles.
pub(crate) fn rule(inference: Inference, raised: &[Raised]) -> Ruling {
    let obstacles: Vec<Obstacle> = raised.iter().map(|one| one.obstacle).collect();
    let (verdict, obstacle) = cap(&obstacles).applied(inference.verdict);
    let Some(decisive) = raised.iter().find(|one| Some(one.obstacle) == obstacle) else {
        let Inference { verdict, strength, reason } = inference;
        return Ruling { verdict, strength, reason, obstacle: None, caveat: None };
    };
    Ruling {
        verdict,
        strength: None,
        reason: Some(decisive.reason.clone()),
        obstacle,
        caveat: decisive.caveat.clone(),
    }
}

/// Adds an obstacle to a finding that has its verdict, by the same rule: a stronger obstacle that
/// decided before it stays the reason.
pub(crate) fn impose(finding: &mut Finding, raised: &Raised) {
    if finding.obstacle.is_some_and(|known| known < raised.obstacle) {
        return;
    }
    let outcome = Inference {
        verdict: finding.verdict,
        strength: finding.strength,
        reason: finding.reason.take(),
    };
    let ruling = rule(outcome, std::slice::from_ref(raised));
    finding.verdict = ruling.verdict;
    finding.strength = ruling.strength;
    finding.reason = ruling.reason;
    finding.obstacle = ruling.obstacle.or(finding.obstacle);
    if let Some(caveat) = ruling.caveat.filter(|caveat| !finding.caveats.contains(caveat)) {
        finding.caveats.push(caveat);
        finding.caveats.sort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CaveatCode;

    /// Every statistical outcome.
    const OUTCOMES: [(Verdict, Option<Strength>); 6] = [
        (Verdict::Better, Some(Strength::Clearly)),
        (Verdict::Better, Some(Strength::Detectable)),
        (Verdict::Worse, Some(Strength::Clearly)),
        (Verdict::Worse, Some(Strength::Detectable)),
        (Verdict::Equivalent, None),
        (Verdict::Inconclusive, None),
    ];

    fn outcome((verdict, strength): (Verdict, Option<Strength>)) -> Inference {
        Inference { verdict, strength, reason: Some("by its numbers".to_owned()) }
    }

    fn raised(obstacle: Obstacle) -> Raised {
        Raised::told(obstacle, format!("{obstacle:?}"), CaveatCode::Noisy, "told")
    }

    #[test]
    fn each_obstacle_leaves_of_each_outcome_what_it_does_not_forbid() {
        use Obstacle::{
            ChangedEvidence, CoarseSteps, Component, DriftInOrder, FailedControl,
            FewDistinctValues, FewPairs, FewPooledBlocks, FewReplicates, LoneReplicate,
            NoValidBlock, NothingToCompare, ObservedLatency, ShortTail, UnequalFailures,
            UnequalMixes, UnequalWork, ZeroValue,
        };
        use Verdict::{Better, Equivalent, Inconclusive, Invalid, Worse};
        let as_it_is = [Better, Better, Worse, Worse, Equivalent, Inconclusive];
        let without_equivalence = [Better, Better, Worse, Worse, Inconclusive, Inconclusive];
        let table = [
            (ObservedLatency, [Invalid; 6]),
            (NoValidBlock, [Invalid; 6]),
            (ChangedEvidence, [Inconclusive; 6]),
            (FailedControl, [Inconclusive; 6]),
            (UnequalFailures, [Inconclusive; 6]),
            (ZeroValue, [Inconclusive; 6]),
            (NothingToCompare, [Inconclusive; 6]),
            (UnequalMixes, [Inconclusive; 6]),
            (FewReplicates, [Inconclusive; 6]),
            (FewPooledBlocks, [Inconclusive; 6]),
            (DriftInOrder, [Inconclusive; 6]),
            (UnequalWork, [Inconclusive; 6]),
            (ShortTail, [Inconclusive; 6]),
            (LoneReplicate, [Inconclusive; 6]),
            (Component, [Inconclusive; 6]),
            (FewPairs, [Inconclusive; 6]),
            (CoarseSteps, without_equivalence),
            (FewDistinctValues, without_equivalence),
        ];
        assert_eq!(table.map(|(obstacle, _)| obstacle), Obstacle::ALL, "each has a row");
        for (obstacle, expected) in table {
            for (given, expected) in OUTCOMES.into_iter().zip(expected) {
                let ruling = rule(outcome(given), &[raised(obstacle)]);
                let place = format!("{obstacle:?} on {given:?}");
                assert_eq!(ruling.verdict, expected, "{place}");
                let decides = obstacle.forbids_every_verdict() || given.0 != expected;
                assert_eq!(ruling.obstacle, decides.then_some(obstacle), "{place}");
                assert_eq!(ruling.strength, given.1.filter(|_| !decides), "{place}");
                let reason =
                    if decides { format!("{obstacle:?}") } else { "by its numbers".into() };
                assert_eq!(ruling.reason, Some(reason), "{place}");
                assert_eq!(ruling.caveat.is_some(), decides, "{place}");
            }
        }
        let free: Vec<Verdict> =
            OUTCOMES.into_iter().map(|given| rule(outcome(given), &[]).verdict).collect();
        assert_eq!(free, as_it_is);
    }

    #[test]
    fn of_several_obstacles_the_strongest_decides_whatever_their_order() {
        for one in Obstacle::ALL {
            for other in Obstacle::ALL {
                assert_eq!(cap(&[*one, *other]), cap(&[*other, *one]));
                assert_eq!(cap(&[*one, *other]), cap(&[*one.min(other)]));
                let both = [raised(*one), raised(*other)];
                for given in OUTCOMES {
                    let ruling = rule(outcome(given), &both);
                    let alone = rule(outcome(given), &[raised(*one.min(other))]);
                    assert_eq!(ruling, alone, "{one:?} and {other:?} on {given:?}");
                }
            }
        }
        assert_eq!(cap(&[]), Cap::Nothing);
    }
}
