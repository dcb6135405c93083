//! The rulebook: facts about a question (signals) raise obstacles, and the strongest that forbids a
//! statistical outcome turns it into the verdict (docs/method.md#m-verdict).
//!
//! Every kind of comparison is decided here and nowhere else: paired subjects, workloads, use
//! cases, imported samples, claims, campaigns ended on purpose. What never gives a verdict is not
//! asked here: a screened metric, and a campaign that is not finished. Caveats are derived from
//! signals and obstacles and are never read: a caveat that is dropped changes no verdict.

mod choice;
mod inference;
mod obstacles;
mod raised;
mod signals;

pub(crate) use choice::{Unchosen, owed_to_choice};
#[cfg(test)]
pub(crate) use inference::INSIDE_BY_ITSELF;
pub(crate) use inference::{Evidence, Inference, infer, leave_open_inside};
pub(crate) use obstacles::{Basis, LEAST_BEYOND, LevelsLeft, obstacles, stopping};
pub(crate) use raised::Raised;
pub(crate) use signals::{
    ByRanks, CarryOver, Hiding, Numbers, PairNumbers, SampleNumbers, Signals, Survivors,
};

use inference::SMALL_DIFFERENCE;
use model::{Caveat, CaveatCode, Finding, Forbidden, Obstacle, Strength, Verdict};

/// The verdict that an obstacle leaves of an outcome, where it decides.
fn decided(obstacle: Obstacle, outcome: Verdict) -> Option<Verdict> {
    match (obstacle.forbids(), outcome) {
        (Forbidden::AnyAnswer, _) => Some(Verdict::Invalid),
        (Forbidden::EveryVerdict, _)
        | (Forbidden::Difference, Verdict::Better | Verdict::Worse)
        | (Forbidden::Equivalence, Verdict::Equivalent) => Some(Verdict::Inconclusive),
        (Forbidden::Difference | Forbidden::Equivalence, _) => None,
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
    /// The same with no difference that is clear, where how far one lies beyond the margin is not
    /// sure.
    #[must_use]
    pub(crate) fn clear_unless(self, is_unclear: bool) -> Self {
        let strength =
            self.strength.map(|known| if is_unclear { Strength::Detectable } else { known });
        Self { strength, ..self }
    }

    /// Whether an obstacle forbids every verdict.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.obstacle.is_some_and(Obstacle::forbids_every_verdict)
    }
}

/// The verdict on a statistical outcome under these obstacles.
pub(crate) fn rule(inference: Inference, raised: &[Raised]) -> Ruling {
    let mut strongest_first: Vec<&Raised> = raised.iter().collect();
    strongest_first.sort_by_key(|one| one.obstacle);
    let deciding = strongest_first
        .into_iter()
        .find_map(|one| Some((one, decided(one.obstacle, inference.verdict)?)));
    let Some((decisive, verdict)) = deciding else {
        let Inference { verdict, strength, reason } = inference;
        // The difference that it speaks of is one that an obstacle forbids.
        let is_withheld = raised.iter().any(|one| one.obstacle.forbids() == Forbidden::Difference);
        let reason = reason.filter(|told| !is_withheld || told != SMALL_DIFFERENCE);
        return Ruling { verdict, strength, reason, obstacle: None, caveat: None };
    };
    Ruling {
        verdict,
        strength: None,
        reason: Some(decisive.reason.clone()),
        obstacle: Some(decisive.obstacle),
        caveat: decisive.caveat.clone(),
    }
}

/// The obstacles that stand beside what decided, the strongest first; none where every verdict is
/// forbidden.
pub(crate) fn further(ruling: &Ruling, raised: &[Raised]) -> Vec<Obstacle> {
    if ruling.is_forbidden() {
        return Vec::new();
    }
    let is_other = |one: &Obstacle| Some(*one) != ruling.obstacle;
    let mut further: Vec<Obstacle> =
        raised.iter().map(|one| one.obstacle).filter(is_other).collect();
    further.sort_unstable();
    further.dedup();
    further
}

/// What is told of replicates that do not vary. Where every verdict on pairs or on a sum is
/// forbidden, what forbids it is told alone.
pub(crate) fn degenerate_caveat(signals: &Signals, ruling: &Ruling) -> Option<Caveat> {
    let detail = match &signals.numbers {
        Numbers::Samples(_) => "the replicates do not vary",
        Numbers::Pairs(_) | Numbers::Sum { .. } if ruling.is_forbidden() => return None,
        Numbers::Pairs(numbers) if numbers.is_pooled => {
            "no block changes the difference of the percentiles of all together"
        }
        Numbers::Pairs(_) | Numbers::Sum { .. } => "every block gave the same difference",
    };
    signals.is_degenerate.then(|| Caveat::new(CaveatCode::Degenerate, detail))
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
    if finding.is_forbidden() {
        finding.further_obstacles.clear();
    }
    if let Some(caveat) = ruling.caveat.filter(|caveat| !finding.caveats.contains(caveat)) {
        finding.note_caveat(caveat);
        finding.caveats.sort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Doubt;

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
        Raised::with_caveat(obstacle, format!("{obstacle:?}"), CaveatCode::Noisy, "told")
    }

    #[test]
    fn each_obstacle_leaves_of_each_outcome_what_it_does_not_forbid() {
        use Verdict::{Better, Equivalent, Inconclusive, Invalid, Worse};
        let as_it_is = [Better, Better, Worse, Worse, Equivalent, Inconclusive];
        let without_equivalence = [Better, Better, Worse, Worse, Inconclusive, Inconclusive];
        let without_difference =
            [Inconclusive, Inconclusive, Inconclusive, Inconclusive, Equivalent, Inconclusive];
        for obstacle in Obstacle::ALL.iter().copied() {
            let expected = match obstacle.forbids() {
                Forbidden::AnyAnswer => [Invalid; 6],
                Forbidden::EveryVerdict => [Inconclusive; 6],
                Forbidden::Difference => without_difference,
                Forbidden::Equivalence => without_equivalence,
            };
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
    fn no_equivalence_speaks_of_a_difference_that_an_obstacle_takes_back() {
        let small = || Inference {
            verdict: Verdict::Equivalent,
            strength: None,
            reason: Some(SMALL_DIFFERENCE.to_owned()),
        };
        assert_eq!(rule(small(), &[]).reason.as_deref(), Some(SMALL_DIFFERENCE));
        for obstacle in Obstacle::ALL {
            let ruling = rule(small(), &[raised(*obstacle)]);
            assert_ne!(ruling.reason.as_deref(), Some(SMALL_DIFFERENCE), "{obstacle:?}");
            if obstacle.forbids() == Forbidden::Difference {
                assert_eq!((ruling.verdict, ruling.reason), (Verdict::Equivalent, None));
            }
        }
    }

    #[test]
    fn what_is_not_sure_takes_the_word_clearly_and_no_verdict() {
        let numbers = || Numbers::Samples(SampleNumbers::default());
        let fixed = Signals { fixed_order: vec!["a, b".to_owned()], ..Signals::of(numbers()) };
        let unlike = Signals { doubts: vec![Doubt::UnlikeSettings], ..Signals::of(numbers()) };
        let unknown = Signals { doubts: vec![Doubt::UnknownReplicates], ..Signals::of(numbers()) };
        let chosen = Signals { is_order_chosen: true, ..Signals::of(numbers()) };
        for (signals, is_unclear) in [
            (Signals::of(numbers()), false),
            (fixed, true),
            (unlike, true),
            (unknown, true),
            (chosen, true),
        ] {
            assert_eq!(signals.is_unclear(), is_unclear, "{signals:?}");
            for given in OUTCOMES {
                let ruling = rule(outcome(given), &[]).clear_unless(signals.is_unclear());
                assert_eq!((ruling.verdict, ruling.obstacle), (given.0, None));
                let weakened = given.1.map(|_| Strength::Detectable);
                assert_eq!(ruling.strength, if is_unclear { weakened } else { given.1 });
            }
        }
    }

    #[test]
    fn what_does_not_vary_is_told_and_beside_what_forbids_every_verdict_of_samples_alone() {
        let pairs = |is_pooled| {
            Numbers::Pairs(PairNumbers { is_pooled, pairs: 12, ..PairNumbers::default() })
        };
        let samples = Numbers::Samples(SampleNumbers::default());
        let sum = Numbers::Sum { replicates: 12, component: None };
        let one = Some("every block gave the same difference");
        let pooled = Some("no block changes the difference of the percentiles of all together");
        let replicates = Some("the replicates do not vary");
        for (numbers, free, forbidden) in [
            (pairs(false), one, None),
            (pairs(true), pooled, None),
            (sum, one, None),
            (samples, replicates, replicates),
        ] {
            let told = |signals: &Signals, all: &[Raised]| {
                degenerate_caveat(signals, &rule(outcome(OUTCOMES[0]), all)).map(|caveat| {
                    assert_eq!(caveat.code, CaveatCode::Degenerate);
                    caveat.detail
                })
            };
            let varied = Signals::of(numbers);
            let same = Signals { is_degenerate: true, ..varied.clone() };
            assert_eq!(told(&same, &[]).as_deref(), free, "{same:?}");
            let one_step = [raised(Obstacle::OneStep)];
            assert_eq!(told(&same, &one_step).as_deref(), free, "{same:?}");
            let failed = [raised(Obstacle::FailedControl)];
            assert_eq!(told(&same, &failed).as_deref(), forbidden, "{same:?}");
            assert_eq!(told(&varied, &[]), None, "{varied:?}");
        }
    }

    #[test]
    fn obstacles_that_did_not_decide_stand_beside_the_one_that_did() {
        use Obstacle::{CoarseSteps, FailedControl, OneStep, SurvivorsOnly};
        let all = [CoarseSteps, SurvivorsOnly, OneStep, CoarseSteps].map(raised);
        let of = |given: (Verdict, Option<Strength>), all: &[Raised]| {
            further(&rule(outcome(given), all), all)
        };
        let [better, .., equivalent, open] = OUTCOMES;
        assert_eq!(of(better, &all), [OneStep, CoarseSteps]);
        assert_eq!(of(equivalent, &all), [SurvivorsOnly, OneStep]);
        assert_eq!(of(open, &all), [SurvivorsOnly, OneStep, CoarseSteps]);
        assert_eq!(of(open, &[raised(FailedControl), raised(OneStep)]), []);
    }

    #[test]
    fn of_several_obstacles_the_strongest_decides_whatever_their_order() {
        for one in Obstacle::ALL {
            for other in Obstacle::ALL {
                for given in OUTCOMES {
                    let ruling = rule(outcome(given), &[raised(*one), raised(*other)]);
                    assert_eq!(ruling, rule(outcome(given), &[raised(*other), raised(*one)]));
                    let strong = rule(outcome(given), &[raised(*one.min(other))]);
                    let weak = rule(outcome(given), &[raised(*one.max(other))]);
                    // One that does not forbid this outcome leaves it to the other.
                    let expected = if strong.obstacle.is_some() { strong } else { weak };
                    assert_eq!(ruling, expected, "{one:?} and {other:?} on {given:?}");
                }
            }
        }
    }
}
