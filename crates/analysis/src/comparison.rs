//! One question: its pairs, its estimate, its p-values, before any correction.

use crate::absent_runs::absent_in_blocks;
use crate::block_order::in_blocks;
use crate::carry_over::{Predecessors, Whole, predecessors};
use crate::comparable::unequal_work;
use crate::failures::{CountsByName, unequal_failures};
use crate::fragility::skewed;
use crate::observations::Observations;
use crate::order_origin::OrderOrigin;
use crate::pairs::{Pairs, pairs, tail};
use crate::pooled::{Pooled, pooled};
use crate::position::p_order;
use crate::quality::{
    drift, excessive_correlation, few_distinct_values, known_step, noisy, obstacles,
    reference_change, steps, warnings, widened,
};
use crate::questions::Asked;
use crate::ratios::{interval_between, ratio_of};
use crate::resolution::Steps;
use crate::rulebook::{ByRanks, Numbers, PairNumbers, Signals, Survivors, Unchosen};
use crate::steadiness::not_steady;
use crate::trial_facts::{
    copied, doubts, fixed_order, is_order_chosen, is_order_known, parts, unchosen,
};
use model::{
    BlockEffect, Caveat, Companion, DecidingInterval, Diagnostics, Direction, Effect, Interval,
    Plan, Planning, Reduction, Role, round_significant as round,
};
use stats::{
    SignedRank, TTest, blocks_for_difference, blocks_for_equivalence, detectable_effect, exp,
    lag_one, ln, mann_kendall, mean, sign_flip, von_neumann,
};

/// A question answered as far as it can be alone.
pub(crate) struct Comparison<'a> {
    pub asked: Asked<'a>,
    pub pairs: Pairs,
    pub test: Option<TTest>,
    pub theta: f64,
    /// What nobody chose, where an import was given another margin or level.
    pub unchosen: Option<Unchosen>,
    /// The facts that decide what may be said of it.
    pub signals: Signals,
    /// What warns of its numbers and decides nothing.
    pub caveats: Vec<Caveat>,
    /// Told as long as equivalence was not shown.
    pub noise: Option<Caveat>,
    /// The percentiles of all blocks together, where these were asked for.
    pub pooled: Option<Pooled>,
    /// The step of a primary question's values, whatever the margin.
    pub known_step: Option<f64>,
}

/// What a campaign gathered before any of its questions is answered.
#[derive(Clone, Copy)]
pub(crate) struct Gathered<'a> {
    pub plan: &'a Plan,
    pub observations: &'a Observations<'a>,
    pub counts: &'a CountsByName<'a>,
}

impl<'a> Comparison<'a> {
    pub(crate) fn of(asked: Asked<'a>, gathered: Gathered<'_>, alpha: f64) -> Self {
        let observations = gathered.observations;
        let mut pairs = pairs(observations, &asked);
        if !is_order_known(gathered.plan) {
            pairs.places.clear();
        }
        let theta = ln(1.0 + asked.metric.margin);
        let unchosen = unchosen(gathered.plan, asked.metric, alpha);
        // No margin that is wider by choice hides a step or a drift.
        let strict = unchosen.map_or(theta, |usual| usual.theta.min(theta));
        let mut caveats = Vec::new();
        let (mut test, caveat) = widened(&pairs.differences);
        caveats.extend(caveat);
        let scaled = pairs.reference.iter().chain(&pairs.subject);
        let scale = scaled.fold(0.0, |largest: f64, log| largest.max(log.abs()));
        test = test.map(|test| test.without_rounding(scale));
        let is_pooled = asked.workload.pooled.contains(&asked.metric.id);
        let pooled = is_pooled.then(|| pooled(observations, &asked, &pairs)).flatten();
        if let Some(pooled) = &pooled {
            test = Some(pooled.test);
            pairs.tail = tail(asked.metric.reduction, pooled.events);
        }
        let is_judged = asked.question.role != Role::Screen;
        let judged = test.as_ref().filter(|_| is_judged);
        let noise = judged.and_then(|test| noisy(test, pairs.differences.len(), theta, alpha));
        let are_imported = gathered.plan.imported.is_some();
        let known_step = known_step(&pairs, &asked, are_imported);
        let steps = steps(&pairs, &asked, strict, are_imported);
        let correlation = excessive_correlation(&pairs.differences).filter(|_| pooled.is_none());
        let is_told = judged.is_some() || (is_judged && correlation.is_some());
        if is_told {
            let origin = OrderOrigin::of(gathered.plan);
            caveats.extend(warnings(&pairs, &asked, &steps, origin));
        }
        let question = &asked.question;
        let trials = pairs.blocks.iter().flat_map(|block| {
            [&question.reference, &question.subject]
                .map(|subject| observations.completed(block.block, subject, &question.workload))
        });
        let direction = asked.metric.direction;
        caveats.extend(not_steady(trials.flatten(), &asked.metric.source, direction, strict));
        let is_pooled = pooled.is_some();
        let facts = Measured { pairs: &pairs, test: test.as_ref(), correlation, is_pooled, steps };
        let signals = signals(&asked, gathered, &facts, strict);
        caveats.extend(signals.caveats());
        for caveat in of_records(&pairs.caveats) {
            if !caveats.iter().any(|known| known.code == caveat.code) {
                caveats.push(caveat);
            }
        }
        Self { asked, pairs, test, theta, unchosen, signals, caveats, noise, pooled, known_step }
    }

    /// p of no difference; none where a verdict cannot be.
    pub(crate) fn p_difference(&self) -> Option<f64> {
        self.test.and_then(|test| test.p_difference())
    }

    /// p of a difference as large as the margin.
    pub(crate) fn p_equivalence(&self) -> Option<f64> {
        self.test.and_then(|test| test.p_equivalence(self.theta))
    }

    /// The same of a difference as large as the margin that nobody chose: that of the metric
    /// itself where another was given.
    pub(crate) fn p_unchosen_equivalence(&self) -> Option<f64> {
        let theta = self.unchosen.map_or(self.theta, |usual| usual.theta);
        self.test.and_then(|test| test.p_equivalence(theta))
    }

    /// Geometric means of reference and subject over the pairs; of shares, plain means.
    pub(crate) fn values(&self) -> (Option<f64>, Option<f64>) {
        if self.pairs.hides_value() {
            return (None, None);
        }
        if let Some(pooled) = &self.pooled {
            return (Some(pooled.reference), Some(pooled.subject));
        }
        if self.asked.metric.reduction == Reduction::Proportion {
            let of = |value: fn(&BlockEffect) -> f64| {
                mean(&self.pairs.blocks.iter().map(value).collect::<Vec<_>>()).map(round)
            };
            return (of(|block| block.reference), of(|block| block.subject));
        }
        let centre = |logs: &[f64]| mean(logs).map(|log| round(exp(log)));
        (centre(&self.pairs.reference), centre(&self.pairs.subject))
    }

    /// The estimate with both intervals; the adjusted p-values come later.
    pub(crate) fn effect(&self, alpha: f64, family_size: usize) -> Option<Effect> {
        let test = self.test.as_ref().filter(|_| !self.pairs.hides_value())?;
        let direction = self.asked.metric.direction;
        Some(effect_of(test, direction, self.theta, [alpha, alpha / family_size.max(1) as f64]))
    }

    /// The figures behind the warnings; the verdicts without each replicate come later.
    pub(crate) fn diagnostics(&self) -> Option<Diagnostics> {
        if self.asked.question.role == Role::Screen || self.pooled.is_some() {
            return None;
        }
        let pairs = &self.pairs;
        let test = self.test.as_ref().filter(|test| !test.is_degenerate());
        Some(Diagnostics {
            theta: round(self.theta),
            t: test.map(|test| round(test.mean / test.standard_error)),
            lag_one: lag_one(&pairs.differences).map(round),
            von_neumann: von_neumann(&pairs.differences).map(round),
            p_trend: mann_kendall(&pairs.reference).map(round),
            reference_change: reference_change(&pairs.reference).map(round),
            p_order: p_order(pairs).map(round),
            p_predecessor: self.signals.p_predecessor.map(round),
            left_out: Vec::new(),
        })
    }

    /// How tests of another kind disagree with the t of the blocks.
    pub(crate) fn skewed(&self, alpha: f64) -> Option<Caveat> {
        let test = self.test.as_ref().filter(|_| self.pooled.is_none())?;
        let differences = &self.pairs.differences;
        let usual = self.unchosen.filter(|usual| usual.alpha != alpha);
        skewed(test, differences, alpha).or_else(|| skewed(test, differences, usual?.alpha))
    }

    pub(crate) fn ranks(&self, alpha: f64) -> Option<SignedRank> {
        SignedRank::of(&self.pairs.differences, alpha)
    }

    pub(crate) fn companion(&self, alpha: f64) -> Option<Companion> {
        // A screen gives no verdict that a companion could shake.
        let is_paired = self.pooled.is_none();
        if !is_paired || self.pairs.hides_value() || self.asked.question.role == Role::Screen {
            return None;
        }
        let ranks = self.ranks(alpha)?;
        Some(Companion {
            pseudo_median_ratio: ratio_of(ranks.pseudo_median),
            interval: interval_between(ranks.low, ranks.high),
            p_signed_rank: round(ranks.p),
            p_sign_flip: sign_flip(&self.pairs.differences).map(round),
        })
    }

    /// What these blocks can show, and what more would take, at the level that
    /// Holm's procedure leaves in the worst case.
    pub(crate) fn planning(&self, alpha: f64, family_size: usize) -> Option<Planning> {
        let test = self.test.as_ref().filter(|test| !test.is_degenerate())?;
        let alpha = alpha / family_size.max(1) as f64;
        let blocks = u32::try_from(self.pairs.differences.len()).ok()?;
        let margin = self.theta / test.standard_deviation;
        Some(Planning {
            detectable: round(
                exp(detectable_effect(blocks, alpha) * test.standard_deviation) - 1.0,
            ),
            blocks_for_difference: blocks_for_difference(margin, alpha),
            blocks_for_equivalence: blocks_for_equivalence(margin, alpha),
        })
    }
}

/// What a question's records reduced to.
struct Measured<'a> {
    pairs: &'a Pairs,
    test: Option<&'a TTest>,
    /// The lag-one correlation that leaves no verdict; with it there may be no test.
    correlation: Option<f64>,
    is_pooled: bool,
    steps: Steps,
}

/// The facts of a question.
fn signals(
    asked: &Asked<'_>,
    gathered: Gathered<'_>,
    measured: &Measured<'_>,
    theta: f64,
) -> Signals {
    let Asked { question, metric, .. } = asked;
    let Measured { pairs, test, correlation, is_pooled, steps } = *measured;
    let is_asked = question.role != Role::Screen;
    let is_judged = is_asked && test.is_some();
    let numbers = pair_numbers(pairs, is_pooled);
    let before = if is_judged {
        let whole = Whole { test, is_pooled, theta };
        predecessors(gathered.plan, gathered.observations, pairs, question, whole)
    } else {
        Predecessors::default()
    };
    let in_order = test
        .filter(|_| is_judged)
        .map(|test| in_blocks(gathered.plan, gathered.observations, pairs, asked, test, theta));
    let in_order = in_order.unwrap_or_default();
    let mut fixed_order = fixed_order(gathered.plan);
    if fixed_order.is_empty() {
        fixed_order.extend(in_order.confounded);
    }
    let absent_runs = absent_in_blocks(gathered.plan, gathered.observations, asked);
    Signals {
        is_emulated: pairs.is_emulated,
        is_odds: metric.reduction == Reduction::Proportion && test.is_some(),
        is_degenerate: test.is_some_and(TTest::is_degenerate),
        is_coarse: steps.coarse.is_some(),
        hidden: steps.hidden,
        is_step_unknown: steps.is_unknown,
        is_one_constant: steps.is_one_constant,
        is_one_step: steps.is_one,
        has_few_distinct_values: few_distinct_values(pairs).is_some(),
        unequal_failures: unequal_failures(
            gathered.counts,
            &question.workload,
            &question.subject,
            &question.reference,
        ),
        survivors: survivors(measured, [theta, gathered.plan.alpha]),
        unequal_work: unequal_work(gathered.observations, asked),
        drift: (is_judged || (is_asked && correlation.is_some()))
            .then(|| drift(&pairs.reference, theta))
            .flatten(),
        origin: OrderOrigin::of(gathered.plan),
        fixed_order,
        doubts: doubts(gathered.plan, &question.metric, absent_runs.is_some()),
        absent_runs,
        is_order_chosen: is_order_chosen(gathered.plan),
        parts: parts(gathered.plan),
        copied: copied(gathered.plan, question),
        raised: obstacles(pairs, asked, gathered.plan),
        by_drift: in_order.by_drift,
        p_predecessor: before.p,
        carry_over: before.carry_over,
        order_alone: before.order_alone,
        hiding_order: before.hiding_order,
        least_beside: before.least_beside,
        correlation: is_asked.then_some(correlation).flatten(),
        tail: pairs.tail.clone(),
        ..Signals::of(Numbers::Pairs(numbers))
    }
}

/// How many pairs there are, and what is missing from them.
fn pair_numbers(pairs: &Pairs, is_pooled: bool) -> PairNumbers {
    PairNumbers {
        pairs: pairs.blocks.len(),
        replicates: pairs.differences.len(),
        zeros: pairs.zeros,
        absent: pairs.absent,
        invalid: pairs.invalid,
        is_pooled,
    }
}

/// What survivors alone show: Wilcoxon's signed ranks over all blocks, each failure as the worst result
/// (Lachin 1999), at a margin and a level.
fn survivors(measured: &Measured<'_>, [theta, alpha]: [f64; 2]) -> Option<Survivors> {
    let Measured { pairs, test, is_pooled, .. } = *measured;
    let test = test.filter(|_| pairs.failed > 0)?;
    let moved_by = |by: f64| {
        let differences = pairs.blocks.iter().map(|block| block.log_difference + by);
        let worst = 1.0 + differences.clone().fold(0.0, |largest: f64, one| largest.max(one.abs()));
        let failures = pairs.failures.iter().map(|sign| sign * worst);
        let ranks = SignedRank::of(&differences.chain(failures).collect::<Vec<_>>(), alpha)?;
        Some((ranks.p, ranks.pseudo_median))
    };
    let ranks =
        if is_pooled { ByRanks::UNTESTED } else { ByRanks::of(test, [theta, alpha], moved_by) };
    Some(ranks.of_survivors(lacking(pairs.failed), test, [theta, alpha]))
}

/// What is told of so many blocks, one or more, of which a trial failed.
pub(crate) fn lacking(blocks: usize) -> String {
    match blocks {
        1 => "1 block lacks a trial that failed".to_owned(),
        _ => format!("{blocks} blocks lack a trial that failed"),
    }
}

/// Each code of these caveats once, with how many trials have it.
fn of_records(all: &[Caveat]) -> Vec<Caveat> {
    let mut told: Vec<Caveat> = Vec::new();
    for caveat in all {
        if told.iter().all(|known| known.code != caveat.code) {
            let count = all.iter().filter(|other| other.code == caveat.code).count();
            let detail = if count == 1 {
                format!("in one trial: {}", caveat.detail)
            } else {
                format!("in {count} trials; first: {}", caveat.detail)
            };
            told.push(Caveat::new(caveat.code, detail));
        }
    }
    told
}

/// What a test says, with its intervals at these two levels and both p; the adjusted ones come later.
pub(crate) fn effect_of(
    test: &TTest,
    direction: Direction,
    theta: f64,
    [alpha, of_family]: [f64; 2],
) -> Effect {
    Effect {
        log_mean: round(test.mean),
        log_sd: round(test.standard_deviation),
        standard_error: round(test.standard_error),
        degrees: round(test.degrees),
        skew: round(test.skew),
        ratio: ratio_of(test.mean),
        raw_ratio: ratio_of(direction.sign() * test.mean),
        interval: interval(test, alpha),
        family_interval: interval(test, of_family),
        p_difference: test.p_difference().map(round),
        p_equivalence: test.p_equivalence(theta).map(round),
        adjusted_difference: None,
        adjusted_equivalence: None,
        deciding: None,
        is_sequence: false,
    }
}

/// The interval that lies within the margin where equivalence is shown at this level.
pub(crate) fn deciding(test: &TTest, level: f64) -> DecidingInterval {
    DecidingInterval { interval: interval(test, 2.0 * level), alpha: round(2.0 * level) }
}

pub(crate) fn interval(test: &TTest, alpha: f64) -> Interval {
    let (low, high) = test.interval(alpha);
    interval_between(low, high)
}
