//! What forbids an answer to a question, whatever its numbers say.

use crate::CaveatCode;
use serde::{Deserialize, Serialize};

/// Fewer replicates give no verdict (docs/method.md#m-verdict).
pub const LEAST_REPLICATES: usize = 5;

macro_rules! obstacles {
    ($($variant:ident $forbidden:ident $meaning:literal,)*) => {
        /// A fact that forbids an answer, the strongest first: where several stand in the way of
        /// one question, the first of them decides and gives the reason.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum Obstacle {
            $(#[doc = $meaning] $variant,)*
        }

        impl Obstacle {
            /// Every obstacle, the strongest first.
            pub const ALL: &'static [Obstacle] = &[$(Obstacle::$variant,)*];

            /// What it forbids.
            pub fn forbids(self) -> Forbidden {
                match self { $(Obstacle::$variant => Forbidden::$forbidden,)* }
            }
        }
    };
}

// Each says which signal raises it; what it forbids stands beside its name.
obstacles! {
    ObservedLatency AnyAnswer "A latency was measured while a probe that acts on every event was attached. Forbids any answer: the comparison is invalid.",
    NoValidBlock AnyAnswer "Blocks broke validity rules, and none is left to pair. Forbids any answer: the comparison is invalid.",
    ChangedEvidence EveryVerdict "The plan, the experiment or the records are not as they were written. Forbids every verdict.",
    CopiedValues EveryVerdict "Of an import, values of either subject stand twice, under another subject, in another block or in another execution. Forbids every verdict.",
    FailedControl EveryVerdict "The A/A control of a workload and metric that the question rests on was judged better or worse than its twin. Forbids every verdict.",
    UnequalFailures EveryVerdict "The subjects failed or broke validity rules at different rates, or one failed often. Forbids every verdict.",
    ZeroValue EveryVerdict "A value was zero or negative, so that a ratio is not defined. Forbids every verdict.",
    NothingToCompare EveryVerdict "No block has a value of both subjects, or one has no value at all. Forbids every verdict.",
    UnequalMixes EveryVerdict "Of an import, the numbers of the subjects hold unlike shares of rows of different kinds, or without blocks some workloads have values of one subject only, so that the two means are over different mixes. Forbids every verdict.",
    ExecutionParts EveryVerdict "Of an import, what counts as executions may be parts of one, and nobody said that each is an execution for itself. Forbids every verdict.",
    FewReplicates EveryVerdict "Without blocks, the subject that has fewer replicates has less than five. Forbids every verdict.",
    FewPooledBlocks EveryVerdict "A percentile of all blocks together rests on fewer than ten of them. Forbids every verdict.",
    DriftInOrder EveryVerdict "The reference drifted while the order was not randomised: the drift may be the difference. Forbids every verdict.",
    UnequalWork EveryVerdict "The subjects did not do the same work while their latencies were measured. Forbids every verdict.",
    CarryOver EveryVerdict "The values depend on what came before, and beside that dependence no difference in this direction is shown. Forbids every verdict.",
    CorrelatedBlocks EveryVerdict "The differences of neighbouring blocks, or without blocks neighbouring executions of a subject, resemble each other by more than a test allows for. Forbids every verdict.",
    ShortTail EveryVerdict "Fewer than ten samples lie beyond the percentile in the smallest trial. Forbids every verdict.",
    LoneReplicate EveryVerdict "Without blocks, a stratum has one replicate, which says nothing about noise. Forbids every verdict.",
    Component EveryVerdict "A component of the use case gives no verdict by itself. Forbids every verdict.",
    FewPairs EveryVerdict "Fewer than five pairs of blocks, or of boots where blocks share them, are complete. Forbids every verdict.",
    SurvivorsOnly Difference "Trials failed, and a test that counts each failure as the worst result does not show the difference. Forbids better and worse.",
    DriftAlone Difference "Of an import, the order of the executions is not mixed, and beside a drift no such difference is shown. Forbids better and worse.",
    OrderAlone Difference "Less than half of the difference is left beside what sittings may leave behind for the next, or what is left is not shown, or one subject alone feels what came before and no such difference is shown without that. Forbids better and worse.",
    OneStep Difference "The values' steps are coarse against the margin, and the difference is no larger than one of them, or one subject never varies, nothing tells its step, and the difference is less than two-fold. Forbids better and worse.",
    GivenLevel Difference "Of an import, a level looser than 0.05 was given together with the numbers, and at 0.05 no difference is shown. Forbids better and worse.",
    HidingFailures Equivalence "Trials failed, and a test that counts each failure as the worst result does not show the difference to lie inside the margin, or to be no worse than it. Forbids equivalence.",
    HidingDrift Equivalence "Of an import, the order of the executions is not mixed while values drifted, and beside that no equivalence is shown. Forbids equivalence.",
    HidingOrder Equivalence "All blocks together show the difference to lie inside the margin, or to be no worse than it, and what is left beside what came before does not, or of one subject that alone feels it what is left without that. Forbids equivalence.",
    CoarseSteps Equivalence "The declared step of the values is more than a quarter of the margin, or an inferred one more than half of it, of either subject, or all values of one or of both are the same and nothing else tells their step. Forbids equivalence.",
    FewDistinctValues Equivalence "The metric took few distinct values, and an interval that holds at every look decides. Forbids equivalence.",
    GivenMargin Equivalence "Of an import, a margin or a level was given together with the numbers, and at those that nobody chose no equivalence is shown. Forbids equivalence.",
}

/// How much an obstacle forbids, the most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Forbidden {
    /// The comparison is invalid.
    AnyAnswer,
    /// Better, worse and equivalent: it stays inconclusive.
    EveryVerdict,
    /// Better and worse: what would be, stays inconclusive.
    Difference,
    /// Equivalent: what would be, stays inconclusive.
    Equivalence,
}

impl Obstacle {
    /// Whether it leaves no claim at all: neither a verdict, nor that a limit was kept, nor that a
    /// published claim holds. More blocks of the same kind would change nothing, but for their
    /// number.
    pub fn forbids_every_verdict(self) -> bool {
        self.forbids() <= Forbidden::EveryVerdict
    }

    /// The obstacle that a caveat tells by itself, with no other beside it.
    pub fn of_caveat(code: CaveatCode) -> Option<Self> {
        match code {
            CaveatCode::AaFail => Some(Obstacle::FailedControl),
            CaveatCode::DifferentialFailure => Some(Obstacle::UnequalFailures),
            CaveatCode::ZeroValue => Some(Obstacle::ZeroValue),
            CaveatCode::FewReplicates => Some(Obstacle::FewReplicates),
            CaveatCode::UnequalMix => Some(Obstacle::UnequalMixes),
            CaveatCode::NotComparable => Some(Obstacle::UnequalWork),
            CaveatCode::InsufficientTail => Some(Obstacle::ShortTail),
            CaveatCode::FewBlocks => Some(Obstacle::FewPairs),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_obstacle_comes_first_and_the_order_is_that_of_what_is_forbidden() {
        assert!(Obstacle::ALL.is_sorted());
        assert!(Obstacle::ALL.iter().map(|obstacle| obstacle.forbids()).is_sorted());
        let weak: Vec<Obstacle> =
            Obstacle::ALL.iter().copied().filter(|one| !one.forbids_every_verdict()).collect();
        assert_eq!(
            weak,
            [
                Obstacle::SurvivorsOnly,
                Obstacle::DriftAlone,
                Obstacle::OrderAlone,
                Obstacle::OneStep,
                Obstacle::GivenLevel,
                Obstacle::HidingFailures,
                Obstacle::HidingDrift,
                Obstacle::HidingOrder,
                Obstacle::CoarseSteps,
                Obstacle::FewDistinctValues,
                Obstacle::GivenMargin
            ]
        );
    }

    #[test]
    fn the_manual_tells_of_each_warning_that_forbids_every_verdict_that_it_does() {
        const MANUAL: &str = include_str!("../../../docs/manual/statistics.md");
        let (_, warnings) = MANUAL.split_once("## Warnings about quality").unwrap();
        let (rules, rest) = warnings.split_once("What each of these withholds:").unwrap();
        let always = rest.lines().find(|line| line.ends_with("| every verdict |")).unwrap();
        for code in CaveatCode::ALL {
            let name = format!("`{code}`");
            let is_forbidding = Obstacle::of_caveat(*code).is_some();
            if rules.contains(&format!("\n| {name}")) {
                assert_eq!(always.contains(&name), is_forbidding, "{code}");
            }
        }
        let drift = rules.lines().find(|line| line.starts_with("| `DRIFT`")).unwrap();
        assert!(drift.contains("p < 0.05 and"), "a slope alone is no drift");
    }
}
