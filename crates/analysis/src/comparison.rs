//! One question: its pairs, its estimate, its p-values, before any correction.

use crate::comparable::not_comparable;
use crate::observations::Observations;
use crate::pairs::{Pairs, pairs, tail};
use crate::pooled::{Pooled, pooled};
use crate::quality::{p_order, reference_change, warnings, widened};
use crate::questions::Asked;
use crate::steadiness::not_steady;
use model::{
    BlockEffect, Caveat, CaveatCode, Companion, Diagnostics, Effect, Interval, Planning, Reduction,
    Role, round_significant as round,
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
    pub caveats: Vec<Caveat>,
    /// The percentiles of all blocks together, where these were asked for.
    pub pooled: Option<Pooled>,
}

impl<'a> Comparison<'a> {
    pub(crate) fn of(asked: Asked<'a>, observations: &Observations<'_>, alpha: f64) -> Self {
        let mut pairs = pairs(observations, &asked);
        let theta = ln(1.0 + asked.metric.margin);
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
        caveats.extend(not_comparable(observations, &asked));
        if asked.metric.reduction == Reduction::Proportion && test.is_some() {
            let detail = "differences between blocks are differences of logits".to_owned();
            caveats.push(Caveat::new(CaveatCode::OddsRatio, detail));
        }
        let is_judged = asked.question.role != Role::Screen;
        if let Some(test) = test.as_ref().filter(|_| is_judged) {
            caveats.extend(warnings(&pairs, &asked, test, theta, alpha));
        }
        let question = &asked.question;
        let trials = pairs.blocks.iter().flat_map(|block| {
            [&question.reference, &question.subject]
                .map(|subject| observations.completed(block.block, subject, &question.workload))
        });
        let direction = asked.metric.direction;
        caveats.extend(not_steady(trials.flatten(), &asked.metric.source, direction, theta));
        for caveat in &pairs.caveats {
            if !caveats.iter().any(|known| known.code == caveat.code) {
                let count = pairs.caveats.iter().filter(|other| other.code == caveat.code).count();
                caveats.push(Caveat::new(
                    caveat.code,
                    if count == 1 {
                        format!("in one trial: {}", caveat.detail)
                    } else {
                        format!("in {count} trials; first: {}", caveat.detail)
                    },
                ));
            }
        }
        Self { asked, pairs, test, theta, caveats, pooled }
    }

    /// p of no difference; none where a verdict cannot be.
    pub(crate) fn p_difference(&self) -> Option<f64> {
        self.test.and_then(|test| test.p_difference())
    }

    /// p of a difference as large as the margin.
    pub(crate) fn p_equivalence(&self) -> Option<f64> {
        self.test.and_then(|test| test.p_equivalence(self.theta))
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
        let ratio = exp(test.mean);
        let sign = self.asked.metric.direction.sign();
        Some(Effect {
            log_mean: round(test.mean),
            log_sd: round(test.standard_deviation),
            standard_error: round(test.standard_error),
            degrees: round(test.degrees),
            ratio: round(ratio),
            raw_ratio: round(exp(sign * test.mean)),
            interval: interval(test, alpha),
            family_interval: interval(test, alpha / family_size.max(1) as f64),
            p_difference: self.p_difference().map(round),
            p_equivalence: self.p_equivalence().map(round),
            adjusted_difference: None,
            adjusted_equivalence: None,
        })
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
            left_out: Vec::new(),
        })
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
            pseudo_median_ratio: round(exp(ranks.pseudo_median)),
            interval: Interval { low: round(exp(ranks.low)), high: round(exp(ranks.high)) },
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

pub(crate) fn interval(test: &TTest, alpha: f64) -> Interval {
    let (low, high) = test.interval(alpha);
    Interval { low: round(exp(low)), high: round(exp(high)) }
}
