//! Signals: plain facts about one question, gathered once from the plan, its records and what
//! they reduce to. They hold whatever the numbers say; nothing else raises an obstacle. One that
//! rests on a fact of its own stands among them, as its origin words it.

use super::raised::Raised;
use crate::order_origin::OrderOrigin;
use model::{Caveat, CaveatCode, Doubt, Tail, round_significant as round};
use stats::{TTest, exp};

/// The facts about one question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Signals {
    /// How many numbers there are, and what is missing from them.
    pub numbers: Numbers,
    /// An emulated processor ran a trial of either subject.
    pub is_emulated: bool,
    /// The effect is a ratio of odds.
    pub is_odds: bool,
    /// The replicates do not vary.
    pub is_degenerate: bool,
    /// The values' step, declared or inferred, is coarse against the margin.
    pub is_coarse: bool,
    /// Up to which share of the smallest value a difference may be one of the steps: that of a coarse
    /// one, or all of it where one subject's step is not known; else 0.
    pub hidden: f64,
    /// All values of a subject are the same, and nothing else tells their step.
    pub is_step_unknown: bool,
    /// That is so of one subject, and not of both together.
    pub is_one_constant: bool,
    /// The difference is no larger than what the steps may be of it.
    pub is_one_step: bool,
    /// The metric took few distinct values.
    pub has_few_distinct_values: bool,
    /// How the subjects failed, or broke validity rules, at different rates or often.
    pub unequal_failures: Option<String>,
    /// What trials of either subject failed, where not so many that it forbids every verdict.
    pub survivors: Option<Survivors>,
    /// How the subjects' work differed while their latencies were measured.
    pub unequal_work: Option<String>,
    /// The reference's drift over the campaign, or without blocks that of each subject's values in
    /// the file's order, on the scale of logarithms.
    pub drift: Option<f64>,
    /// What tells the order of blocks or executions.
    pub origin: OrderOrigin,
    /// What says that the order was not randomised, or that none is known; empty where nothing does.
    pub fixed_order: Vec<String>,
    /// What is not sure of how imported numbers came about.
    pub doubts: Vec<Doubt>,
    /// How many runs of an import one subject lacks, where the other does not lack as many; that is one
    /// of the doubts.
    pub absent_runs: Option<String>,
    /// Of an import, the order of rows was chosen together with the numbers, and neither times nor the
    /// file support it.
    pub is_order_chosen: bool,
    /// Columns of an import that count as executions and may tell parts of one apart.
    pub parts: Vec<String>,
    /// Of an import, those of the subjects of which values stand twice.
    pub copied: Vec<String>,
    /// Obstacles that stand whatever basis and level an outcome has, as their origin words them.
    pub raised: Vec<Raised>,
    /// Of an import whose executions are not mixed in order: whether a drift may be the difference, and
    /// whether one may hide it.
    pub by_drift: [bool; 2],
    /// p that it does not matter what came before; none where that was not tested. It decides nothing
    /// by itself.
    pub p_predecessor: Option<f64>,
    /// How the values depend on what came before.
    pub carry_over: Option<CarryOver>,
    /// What is left of the difference beside what came before, where that is less than half of it.
    pub order_alone: Option<String>,
    /// How what came before may hide a difference.
    pub hiding_order: Option<Hiding>,
    /// The least that the difference may be beside what came before, where that may hide one.
    pub least_beside: Option<f64>,
    /// The lag-one correlation of the replicates' differences, where no test allows for so much.
    pub correlation: Option<f64>,
    /// The tail-size rule, of a quantile.
    pub tail: Option<Tail>,
}

/// Trials failed, so that the values are those of survivors (docs/method.md#m-failures).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Survivors {
    /// How many failed.
    pub detail: String,
    /// p of the difference, in the same direction, where each failure counts as the worst result.
    pub p_difference: f64,
    /// The same of a difference inside the margin, or no worse than it, as far as the values of
    /// survivors show one; else 0.
    pub p_inside: f64,
    /// The least that the difference may be by these ranks, one-sided at the plan's level, as a
    /// logarithm; [`f64::MIN`] where nothing tests it.
    pub least: f64,
}

/// p of what ranks show where each failure counts as the worst result; 1 where nothing tests it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByRanks {
    /// Of a difference in the direction of that of survivors.
    pub difference: f64,
    /// Of one that is no worse than the margin.
    pub no_worse: f64,
    /// Of one that is no better than it.
    pub no_better: f64,
    /// The least difference that they do not exclude at the level, as a logarithm.
    pub least: f64,
}

/// A factor of sixteen: ranks that show no less show nothing.
const MOST_MOVED: f64 = 4.0 * std::f64::consts::LN_2;
/// How often the room between two moves is halved: to a ten-thousandth.
const HALVINGS: u32 = 16;

impl ByRanks {
    /// Of ranks of which nothing tests anything.
    pub(crate) const UNTESTED: Self =
        Self { difference: 1.0, no_worse: 1.0, no_better: 1.0, least: f64::MIN };

    /// Of what ranks say of the values moved by so much: the two-sided p, and which way they differ. The
    /// test is that of survivors, the margin a logarithm, the level that of the plan.
    pub(crate) fn of(
        test: &TTest,
        [theta, alpha]: [f64; 2],
        moved_by: impl Fn(f64) -> Option<(f64, f64)>,
    ) -> Self {
        let one_sided = |by: f64| {
            moved_by(by)
                .map_or(1.0, |(p, way)| if way * by > 0.0 { p / 2.0 } else { 1.0 - p / 2.0 })
        };
        let is_above = |by: f64| moved_by(by).is_some_and(|(p, way)| way > 0.0 && p / 2.0 < alpha);
        let same = moved_by(0.0).filter(|(_, way)| way * test.mean > 0.0);
        Self {
            difference: same.map_or(1.0, |(p, _)| p),
            no_worse: one_sided(theta),
            no_better: one_sided(-theta),
            least: least(is_above),
        }
    }

    /// What they say of what the test of survivors shows at this margin and level.
    pub(crate) fn of_survivors(
        self,
        detail: String,
        test: &TTest,
        [theta, alpha]: [f64; 2],
    ) -> Survivors {
        // What does not vary is inside the margin or is not.
        let is_shown = |p: Option<f64>| p.map_or_else(|| test.mean.abs() < theta, |p| p < alpha);
        let shown = [
            (is_shown(test.p_equivalence(theta)), self.no_worse.max(self.no_better)),
            (is_shown(test.p_above(-theta)), self.no_worse),
        ];
        let of_shown = shown.into_iter().filter(|(is_shown, _)| *is_shown).map(|(_, p)| p);
        let p_inside = of_shown.fold(0.0, f64::max);
        Survivors { detail, p_difference: self.difference, p_inside, least: self.least }
    }
}

/// The least difference that ranks do not exclude, which show that the values moved by so much lie above
/// those of the reference.
fn least(is_above: impl Fn(f64) -> bool) -> f64 {
    let [mut not, mut shown] = [-MOST_MOVED, MOST_MOVED];
    if !is_above(shown) {
        return f64::MIN;
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(not, shown);
        if is_above(middle) {
            shown = middle;
        } else {
            not = middle;
        }
    }
    -shown
}

/// What of the margin all blocks together show may be owed to what came before.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hiding {
    /// What is left without what came before.
    pub detail: String,
    /// p of the same by what is left.
    pub p: f64,
    /// The level that an interval holds which holds at every look.
    pub alpha: f64,
}

impl Hiding {
    /// The one of two by which less is shown.
    pub(crate) fn surest(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter().chain(other).reduce(|one, other| if other.p > one.p { other } else { one })
    }
}

/// The values of a pair depend on what came before (docs/method.md#m-carry-over).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CarryOver {
    /// How sure that is.
    pub detail: String,
    /// Whether the difference is shown, in the same direction, beside that dependence.
    pub shows_the_same: bool,
}

/// How many numbers a comparison has, by its design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Pairs of blocks.
    Pairs(PairNumbers),
    /// Samples without blocks.
    Samples(SampleNumbers),
    /// The sum over the components of a use case.
    Sum {
        /// Blocks, or boots, that hold every component.
        replicates: usize,
        /// The first component that gives no verdict, and why.
        component: Option<String>,
    },
}

/// How many pairs of blocks there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PairNumbers {
    /// Complete pairs.
    pub pairs: usize,
    /// Replicates: the pairs, or the boots that they share.
    pub replicates: usize,
    /// Blocks in which a value was zero.
    pub zeros: usize,
    /// Blocks in which a completed trial did not report the metric.
    pub absent: usize,
    /// Blocks that lack a trial because it broke a rule.
    pub invalid: usize,
    /// Whether the percentile is one of all blocks together.
    pub is_pooled: bool,
}

/// How many values there are without blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SampleNumbers {
    /// Replicates of the subject that has fewer.
    pub replicates: usize,
    /// Fewest replicates of a subject in a stratum.
    pub fewest: usize,
    /// Values that are zero or negative.
    pub zeros: usize,
    /// Cells that have values of one subject only, each with whose they are.
    pub lonely: Vec<String>,
    /// A subject without any value.
    pub without_value: Option<String>,
}

impl Signals {
    /// No facts but these numbers.
    pub(crate) fn of(numbers: Numbers) -> Self {
        Self {
            numbers,
            is_emulated: false,
            is_odds: false,
            is_degenerate: false,
            is_coarse: false,
            hidden: 0.0,
            is_step_unknown: false,
            is_one_constant: false,
            is_one_step: false,
            has_few_distinct_values: false,
            unequal_failures: None,
            survivors: None,
            unequal_work: None,
            drift: None,
            origin: OrderOrigin::default(),
            fixed_order: Vec::new(),
            doubts: Vec::new(),
            absent_runs: None,
            is_order_chosen: false,
            parts: Vec::new(),
            copied: Vec::new(),
            raised: Vec::new(),
            by_drift: [false; 2],
            p_predecessor: None,
            carry_over: None,
            order_alone: None,
            hiding_order: None,
            least_beside: None,
            correlation: None,
            tail: None,
        }
    }

    /// The least that the difference may be beside what came before and with each failure as the worst
    /// result, where either is asked.
    pub(crate) fn least_beside(&self) -> Option<f64> {
        let with_failures = self.survivors.as_ref().map(|survivors| survivors.least);
        self.least_beside.into_iter().chain(with_failures).reduce(f64::min).map(round)
    }

    /// Whether no difference is clear, whatever the numbers say: how far it lies beyond the margin is
    /// not sure.
    pub(crate) fn is_unclear(&self) -> bool {
        !self.fixed_order.is_empty() || !self.doubts.is_empty() || self.is_order_chosen
    }

    /// The caveats that tell these facts whatever is decided.
    pub(crate) fn caveats(&self) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        if self.is_odds {
            let what = match self.numbers {
                Numbers::Pairs(_) | Numbers::Sum { .. } => "blocks",
                Numbers::Samples(_) => "replicates",
            };
            let detail = format!("differences between {what} are differences of logits");
            caveats.push(Caveat::new(CaveatCode::OddsRatio, detail));
        }
        if let Some(detail) = &self.absent_runs {
            caveats.push(Caveat::new(CaveatCode::AbsentValues, detail));
        }
        if let Some(detail) = &self.unequal_work {
            caveats.push(Caveat::new(CaveatCode::NotComparable, detail));
        }
        if let Some(change) = self.drift {
            let percent = model::signed_percent(exp(change) - 1.0, 1);
            let in_order = self.origin.in_order();
            let detail = match (&self.numbers, self.origin) {
                (Numbers::Samples(_), _) => {
                    format!("a subject's values change by {percent} % {in_order}")
                }
                (Numbers::Pairs(_) | Numbers::Sum { .. }, OrderOrigin::Measured) => {
                    format!("the reference changed by {percent} % over the campaign")
                }
                (Numbers::Pairs(_) | Numbers::Sum { .. }, _) => {
                    format!("the reference changes by {percent} % over the blocks, {in_order}")
                }
            };
            caveats.push(Caveat::new(CaveatCode::Drift, detail));
        }
        if let Some(carried) = &self.carry_over {
            caveats.push(Caveat::new(CaveatCode::CarryOver, &carried.detail));
        }
        let in_order = self.fixed_order.iter();
        caveats.extend(in_order.map(|detail| Caveat::new(CaveatCode::OrderConfounded, detail)));
        caveats
    }
}
