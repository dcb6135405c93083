//! Which signals raise which obstacle, with the reason in words and the caveat that tells it.

use super::raised::Raised;
use super::signals::{Numbers, PairNumbers, SampleNumbers, Signals, Survivors};
use model::{CaveatCode, InSum, LEAST_REPLICATES, Obstacle, Tail};

/// Fewer blocks make a jackknife of too few values (docs/method.md#m-pooled).
const LEAST_POOLED_BLOCKS: usize = 10;
/// Fewer expected events beyond a percentile give no verdict (docs/method.md#m-quantiles).
pub(crate) const LEAST_BEYOND: f64 = 10.0;

/// Cells told by name.
const MOST_NAMED: usize = 3;

/// What steps forbid, where they are seen.
const TOO_COARSE: &str = "the metric's steps are too coarse to claim equivalence";

/// What an outcome rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Tests of a fixed number of blocks.
    Tests,
    /// Intervals that hold at every look.
    Sequence,
}

/// The levels that the correction for a family leaves for one of its questions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LevelsLeft {
    pub difference: f64,
    pub equivalence: f64,
}

impl LevelsLeft {
    /// Of intervals that hold at every look: no test of another kind does.
    pub(crate) const NONE: Self = Self::both(0.0);

    pub(crate) const fn both(level: f64) -> Self {
        Self { difference: level, equivalence: level }
    }

    /// The same of a level that is smaller by this factor.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { difference: self.difference * factor, equivalence: self.equivalence * factor }
    }
}

/// Every obstacle that these signals raise.
pub(crate) fn obstacles(signals: &Signals, basis: Basis, left: LevelsLeft) -> Vec<Raised> {
    let mut raised = match &signals.numbers {
        Numbers::Pairs(numbers) => of_pairs(signals, numbers),
        Numbers::Samples(numbers) => of_samples(signals, numbers),
        Numbers::Sum { replicates, component } => {
            let component = component.as_ref();
            let component = component.map(|why| Raised::silent(Obstacle::Component, why));
            let of_sum = component.into_iter().chain(few_pairs(*replicates));
            let of_sum = of_sum.chain(drift_in_order(signals)).chain(of_drift(signals));
            of_sum.chain(of_neighbours(signals)).collect()
        }
    };
    if let Some(detail) = &signals.unequal_failures {
        let reason = format!("failures come first: {detail}");
        let code = CaveatCode::DifferentialFailure;
        raised.push(Raised::with_caveat(Obstacle::UnequalFailures, reason, code, detail));
    }
    if !signals.parts.is_empty() {
        let reason = format!(
            "{} may tell parts of one execution apart, which are no replicates: nobody said that each was \
             an execution of its own",
            signals.parts.join(", ")
        );
        raised.push(Raised::silent(Obstacle::ExecutionParts, reason));
    }
    if !signals.copied.is_empty() {
        let reason = format!(
            "values of {} stand twice (COPIED), and a copy shows nothing that its original does not",
            signals.copied.join(" and ")
        );
        raised.push(Raised::silent(Obstacle::CopiedValues, reason));
    }
    raised.extend(signals.raised.iter().cloned());
    raised.extend(signals.survivors.iter().flat_map(|survivors| of_survivors(survivors, left)));
    if let Some(hiding) = &signals.hiding_order {
        let level = match basis {
            Basis::Tests => left.equivalence,
            Basis::Sequence => hiding.alpha,
        };
        if hiding.p >= level {
            let reason = format!("the order may hide a difference: {}", hiding.detail);
            raised.push(Raised::silent(Obstacle::HidingOrder, reason));
        }
    }
    raised.extend(of_steps(signals));
    if signals.has_few_distinct_values && basis == Basis::Sequence {
        raised.push(Raised::silent(Obstacle::FewDistinctValues, TOO_COARSE));
    }
    raised
}

/// What ranks of all trials, each failure as the worst result, do not show of what survivors show.
fn of_survivors(survivors: &Survivors, left: LevelsLeft) -> Vec<Raised> {
    let Survivors { detail, p_difference, p_inside, .. } = survivors;
    let with_failures = format!("{detail}, and with each failure as the worst result");
    let mut raised = Vec::new();
    if *p_difference >= left.difference {
        let reason = format!("{with_failures} no such difference is shown");
        raised.push(Raised::silent(Obstacle::SurvivorsOnly, reason));
    }
    if *p_inside >= left.equivalence {
        let reason = format!("{with_failures} it is not shown to lie inside the margin");
        raised.push(Raised::silent(Obstacle::HidingFailures, reason));
    }
    raised
}

/// What steps are too coarse for, or not known for.
fn of_steps(signals: &Signals) -> Vec<Raised> {
    let mut raised = Vec::new();
    if signals.is_one_step {
        let reason = match signals.is_one_constant {
            true => {
                "all values of one subject are the same, so their step may be as large as the difference"
            }
            false => "the difference is no larger than one step of the values",
        };
        raised.push(Raised::silent(Obstacle::OneStep, reason));
    }
    let reason = match (signals.is_one_constant, signals.is_coarse, signals.is_step_unknown) {
        (true, ..) => {
            "all values of one subject are the same, so nothing shows that their steps are fine enough to claim equivalence"
        }
        (false, true, _) => TOO_COARSE,
        (false, false, true) => {
            "all values are the same, so nothing shows that their steps are fine enough to claim equivalence"
        }
        (false, false, false) => return raised,
    };
    raised.push(Raised::silent(Obstacle::CoarseSteps, reason));
    raised
}

/// Why a part leaves a sum that it belongs to, to which this level is left, without a verdict.
pub(crate) fn stopping(signals: &Signals, level: f64) -> Option<String> {
    let raised = obstacles(signals, Basis::Tests, LevelsLeft::both(level)).into_iter();
    let stopping = raised.filter(|one| one.obstacle.in_sum() == InSum::Stopping);
    stopping.min_by_key(|one| one.obstacle).map(|one| one.reason)
}

fn of_pairs(signals: &Signals, numbers: &PairNumbers) -> Vec<Raised> {
    let mut raised = Vec::new();
    if numbers.zeros > 0 {
        let detail = format!("in {} a value was zero", model::counted(numbers.zeros, "block"));
        let reason = format!("{detail}: a ratio is not defined");
        raised.push(Raised::with_caveat(
            Obstacle::ZeroValue,
            reason,
            CaveatCode::ZeroValue,
            detail,
        ));
    }
    if numbers.pairs == 0 {
        raised.push(nothing_to_pair(numbers));
    }
    if numbers.is_pooled && numbers.pairs < LEAST_POOLED_BLOCKS {
        let detail = format!(
            "{}; a percentile of all blocks together needs {LEAST_POOLED_BLOCKS}",
            model::counted(numbers.pairs, "block")
        );
        let (obstacle, code) = (Obstacle::FewPooledBlocks, CaveatCode::FewBlocks);
        raised.push(Raised::with_caveat(obstacle, detail.clone(), code, detail));
    }
    raised.extend(drift_in_order(signals));
    raised.extend(of_drift(signals));
    if let Some(detail) = &signals.unequal_work {
        let reason = format!("not the same work: {detail}");
        raised.push(Raised::silent(Obstacle::UnequalWork, reason));
    }
    raised.extend(of_neighbours(signals));
    raised.extend(signals.tail.as_ref().and_then(|tail| {
        let advice = tail.supported.map_or(String::new(), |quantile| {
            format!("; these samples support up to the {:.4}th percentile", 100.0 * quantile)
        });
        let reason = format!("{}, 10 are needed{advice}", too_few_beyond(tail)?);
        let (obstacle, code) = (Obstacle::ShortTail, CaveatCode::InsufficientTail);
        Some(Raised::with_caveat(obstacle, reason.clone(), code, reason))
    }));
    raised.extend(few_pairs(numbers.replicates));
    raised
}

/// What of the differences may be due to what came before.
fn of_neighbours(signals: &Signals) -> Vec<Raised> {
    let mut raised = Vec::new();
    if let Some(carried) = signals.carry_over.as_ref().filter(|one| !one.shows_the_same) {
        let reason = format!("{}; beside that none is shown", carried.detail);
        raised.push(Raised::silent(Obstacle::CarryOver, reason));
    }
    if let Some(left) = &signals.order_alone {
        let reason = format!("the difference may be one of the order: {left}");
        raised.push(Raised::with_caveat(Obstacle::OrderAlone, reason, CaveatCode::CarryOver, left));
    }
    if let Some(correlation) = signals.correlation {
        let reason = format!(
            "neighbouring blocks resemble each other (lag-one correlation {correlation:.2}): the difference is that of a time, and another time has another"
        );
        raised.push(Raised::silent(Obstacle::CorrelatedBlocks, reason));
    }
    raised
}

fn nothing_to_pair(numbers: &PairNumbers) -> Raised {
    if numbers.invalid > 0 {
        let blocks = model::counted(numbers.invalid, "block");
        let reason = format!("{blocks} broke a validity rule and none is left");
        return Raised::silent(Obstacle::NoValidBlock, reason);
    }
    let reason = match numbers.absent {
        0 => "no block has both subjects",
        _ => "the metric was not reported",
    };
    Raised::silent(Obstacle::NothingToCompare, reason)
}

fn few_pairs(replicates: usize) -> Option<Raised> {
    (replicates < LEAST_REPLICATES).then(|| {
        let detail = model::counted(replicates, "complete pair");
        let reason = format!("{detail} of blocks; a verdict needs {LEAST_REPLICATES}");
        Raised::with_caveat(Obstacle::FewPairs, reason, CaveatCode::FewBlocks, detail)
    })
}

/// How many samples lie beyond a percentile, where they are too few for a verdict.
fn too_few_beyond(tail: &Tail) -> Option<String> {
    (tail.beyond < LEAST_BEYOND)
        .then(|| format!("{:.1} samples beyond it in the smallest trial", tail.beyond))
}

/// A drift of the reference where nothing shows that the order was randomised.
fn drift_in_order(signals: &Signals) -> Option<Raised> {
    let reason = "nothing shows that the order was randomised, and the reference drifted: the drift may be the difference";
    (signals.drift.is_some() && !signals.fixed_order.is_empty())
        .then(|| Raised::silent(Obstacle::DriftInOrder, reason))
}

/// What a drift may be of the difference of subjects that do not take turns.
fn of_drift(signals: &Signals) -> Vec<Raised> {
    let mut raised = Vec::new();
    let [makes, hides] = signals.by_drift;
    if makes {
        let reason = "in the order of the import the subjects do not take turns, and beside a drift no difference is shown";
        raised.push(Raised::silent(Obstacle::DriftAlone, reason));
    }
    if hides {
        let reason = "in the order of the import the subjects do not take turns while values drifted, and beside that no equivalence is shown";
        raised.push(Raised::silent(Obstacle::HidingDrift, reason));
    }
    raised
}

/// Cells of one subject alone, of which the first are named.
fn lonely_cells(cells: &[String]) -> Option<Raised> {
    let mut named = cells.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
    if cells.len() > MOST_NAMED {
        named.push_str(", ..");
    }
    let detail = match cells.len() {
        0 => return None,
        1 => format!("a cell has values of one subject only ({named})"),
        count => format!("{count} cells have values of one subject only ({named})"),
    };
    let reason = format!("{detail}: the mixes differ");
    let code = CaveatCode::AbsentValues;
    Some(Raised::with_caveat(Obstacle::UnequalMixes, reason, code, detail))
}

fn of_samples(signals: &Signals, numbers: &SampleNumbers) -> Vec<Raised> {
    let mut raised = Vec::new();
    if numbers.zeros > 0 {
        let detail = match numbers.zeros {
            1 => "1 value is zero or negative".to_owned(),
            zeros => format!("{zeros} values are zero or negative"),
        };
        let reason = format!("{detail}: a ratio is not defined");
        raised.push(Raised::with_caveat(
            Obstacle::ZeroValue,
            reason,
            CaveatCode::ZeroValue,
            detail,
        ));
    }
    if let Some(subject) = &numbers.without_value {
        let reason = format!("there is no value of {subject}");
        raised.push(Raised::silent(Obstacle::NothingToCompare, reason));
    }
    raised.extend(of_drift(signals));
    if let Some(correlation) = signals.correlation {
        let reason = format!(
            "neighbouring executions of a subject resemble each other (lag-one correlation {correlation:.2}): the difference is that of a time, and another time has another"
        );
        raised.push(Raised::silent(Obstacle::CorrelatedBlocks, reason));
    }
    raised.extend(lonely_cells(&numbers.lonely));
    let noun = if numbers.replicates == 1 { "replicate" } else { "replicates" };
    let counted = format!("{} {noun}", numbers.replicates);
    let detail = format!("{counted}, in one stratum {}", numbers.fewest);
    let few = |obstacle, reason: String| {
        Raised::with_caveat(obstacle, reason, CaveatCode::FewReplicates, detail.clone())
    };
    if numbers.replicates < LEAST_REPLICATES {
        let reason = format!("{counted}; a verdict needs {LEAST_REPLICATES}");
        raised.push(few(Obstacle::FewReplicates, reason));
    }
    if numbers.fewest < 2 {
        let reason = "a stratum has one replicate, which says nothing about noise";
        raised.push(few(Obstacle::LoneReplicate, reason.to_owned()));
    }
    raised.extend(signals.tail.as_ref().and_then(|tail| {
        let detail = too_few_beyond(tail)?;
        let reason = format!("{detail}, {LEAST_BEYOND} are needed");
        let (obstacle, code) = (Obstacle::ShortTail, CaveatCode::InsufficientTail);
        Some(Raised::with_caveat(obstacle, reason, code, detail))
    }));
    raised
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_obstacle_that_its_origin_raises_stops_a_sum_where_its_place_is_to() {
        let enough = PairNumbers { pairs: 10, replicates: 10, ..PairNumbers::default() };
        let signals = |raised| Signals { raised, ..Signals::of(Numbers::Pairs(enough.clone())) };
        assert_eq!(stopping(&signals(Vec::new()), 0.05), None);
        for obstacle in Obstacle::ALL.iter().copied() {
            let told = stopping(&signals(vec![Raised::silent(obstacle, "its reason")]), 0.05);
            let is_stopping = obstacle.in_sum() == InSum::Stopping;
            assert_eq!(told.as_deref(), is_stopping.then_some("its reason"), "{obstacle:?}");
        }
    }
}
