//! The two samples of one question: their test, the facts that decide, and their warnings.

use crate::failures::failed_unlike;
use crate::pairs::tail;
use crate::quality::{FINEST_THETA, closed_loop, is_drift};
use crate::resolution::{Measurements, Steps};
use crate::rulebook::{ByRanks, Numbers, Raised, SampleNumbers, Signals, Survivors};
use model::{Caveat, CaveatCode, Metric, Question, Reduction, Tail, round_significant as round};
use stats::{MonotoneTrend, TTest, exp, mann_whitney, mean};
use std::collections::BTreeMap;

/// The samples of one question.
pub(super) struct Samples<'a> {
    pub(super) question: Question,
    pub(super) metric: &'a Metric,
    /// Whether the load waited for each answer.
    pub(super) is_closed_loop: bool,
    /// Logarithms of the replicates by stratum: reference and subject.
    pub(super) strata: BTreeMap<Vec<String>, [Vec<f64>; 2]>,
    /// Values of reference and subject as each record has them, as many as show their step.
    pub(super) series: [Vec<f64>; 2],
    pub(super) zeros: usize,
    /// Cells that only one of the two has, each with whose they are.
    pub(super) lonely: Vec<String>,
    /// How the two hold unlike shares of the rows of different workloads.
    pub(super) unlike_mix: Option<String>,
    /// What a record of either says of the emulated processor that ran it.
    pub(super) emulated: Option<Caveat>,
    /// Trials that failed, of reference and subject.
    pub(super) failed: [u64; 2],
    /// Trials with a value, of reference and subject.
    pub(super) completed: [u64; 2],
    /// Fewest events that a quantile was taken from.
    pub(super) events: Option<u64>,
    /// Where in the file each of these replicates begins.
    pub(super) places: BTreeMap<Vec<String>, [Vec<f64>; 2]>,
    /// First and last position in the file by stratum, of reference and subject.
    pub(super) spans: BTreeMap<Vec<String>, [Option<(u64, u64)>; 2]>,
}

impl Samples<'_> {
    /// The estimate, oriented so that above 0 is better.
    pub(super) fn test(&self) -> Option<TTest> {
        let strata: Vec<(&[f64], &[f64])> = self
            .strata
            .values()
            .map(|[reference, subject]| (reference.as_slice(), subject.as_slice()))
            .collect();
        let all = strata.iter().flat_map(|(reference, subject)| reference.iter().chain(*subject));
        let scale = all.fold(0.0, |largest: f64, log| largest.max(log.abs()));
        let test =
            TTest::stratified(&strata)?.allowing_for_skewness(&strata).without_rounding(scale);
        let sign = self.question.direction.sign();
        Some(TTest { mean: sign * test.mean, skew: sign * test.skew, ..test })
    }

    /// The tail-size rule, of a quantile.
    pub(super) fn tail(&self) -> Option<Tail> {
        self.events.and_then(|events| tail(self.metric.reduction, events))
    }

    /// How failures forbid a verdict.
    fn failed_unlike(&self) -> Option<String> {
        let of = |side: usize| [self.failed[side], self.failed[side] + self.completed[side]];
        failed_unlike((&self.question.subject, of(1)), (&self.question.reference, of(0)))
    }

    /// The steps of the values.
    fn steps(&self, theta: f64) -> Steps {
        let [reference, subject] = [0, 1].map(|side| -> Vec<f64> {
            let logs = self.strata.values().flat_map(|sides| &sides[side]);
            logs.map(|log| exp(*log)).collect()
        });
        let series = self.series.each_ref().map(Vec::as_slice);
        let measured = Measurements { values: [&reference, &subject], series, are_imported: true };
        Steps::of(&measured, self.metric, theta)
    }

    /// The largest step of the values as a share of the smallest of them, whatever the margin.
    pub(super) fn known_step(&self) -> Option<f64> {
        self.steps(FINEST_THETA).coarse.map(round)
    }

    /// What survivors alone show: ranks of Mann and Whitney, each failure as the worst result, at a
    /// margin and a level. Ranks of several strata are not one sample; then nothing is shown.
    fn survivors(&self, test: &TTest, at: [f64; 2]) -> Option<Survivors> {
        let failed = self.failed[0] + self.failed[1];
        if failed == 0 {
            return None;
        }
        let ranks = match self.strata.len() {
            1 => ByRanks::of(test, at, |by| self.ranks_moved_by(by)),
            _ => ByRanks::UNTESTED,
        };
        let noun = if failed == 1 { "trial" } else { "trials" };
        Some(ranks.of_survivors(format!("{failed} {noun} failed"), test, at))
    }

    /// p that the subject's values, moved by so much, are like the reference's, and which way they
    /// differ.
    fn ranks_moved_by(&self, by: f64) -> Option<(f64, f64)> {
        let sign = self.question.direction.sign();
        let logs = self.strata.values().flatten().flatten();
        let worst = logs.fold(0.0, |least: f64, log| least.min(sign * log)) - by.abs() - 1.0;
        let with_failures = |side: usize, by: f64| -> Vec<f64> {
            let values = self.strata.values().flat_map(|sides| &sides[side]);
            let failures = std::iter::repeat_n(worst, self.failed[side] as usize);
            values.map(|log| sign * log + by).chain(failures).collect()
        };
        let (reference, subject) = (with_failures(0, 0.0), with_failures(1, by));
        let mut sorted = reference.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        // Pairs in which the subject is above, less those in which it is below.
        let above: f64 = subject
            .iter()
            .map(|one| {
                let less = sorted.partition_point(|other| other.total_cmp(one).is_lt());
                let up_to = sorted.partition_point(|other| other.total_cmp(one).is_le());
                less as f64 - (sorted.len() - up_to) as f64
            })
            .sum();
        Some((mann_whitney(&reference, &subject)?, above))
    }

    /// Replicates of the subject that has fewer.
    pub(super) fn replicates(&self) -> usize {
        let of = |side: usize| self.strata.values().map(|sides| sides[side].len()).sum::<usize>();
        of(0).min(of(1))
    }

    /// Whether one subject came after the other in the file, in each stratum in the same
    /// order.
    pub(super) fn is_one_after_the_other(&self) -> bool {
        let both: Vec<[(u64, u64); 2]> = self
            .spans
            .values()
            .filter_map(|[first, second]| Some([(*first)?, (*second)?]))
            .collect();
        let in_order = both.iter().filter(|[first, second]| first.1 < second.0).count();
        let turned = both.iter().filter(|[first, second]| second.1 < first.0).count();
        !both.is_empty() && (in_order == both.len() || turned == both.len())
    }

    /// The change of the values over the longest series, in the file's order, where they drifted:
    /// the rule of [`crate::quality::drift`] on each subject's own values, summed over subjects and
    /// strata.
    pub(super) fn drift(&self, theta: f64) -> Option<f64> {
        let place = |(index, log): (usize, &f64)| (index as f64, *log);
        let series = |logs: &Vec<f64>| logs.iter().enumerate().map(place).collect::<Vec<_>>();
        let stretches: Vec<Vec<(f64, f64)>> = self.strata.values().flatten().map(series).collect();
        let trend = MonotoneTrend::of(&stretches)?;
        let p = trend.p();
        // The slope of many values takes long, and most have no trend.
        if !is_drift(p, f64::INFINITY, theta) {
            return None;
        }
        let longest = stretches.iter().map(Vec::len).max().unwrap_or(0);
        let change = trend.slope() * (longest as f64 - 1.0);
        is_drift(p, change, theta).then_some(change)
    }

    /// Geometric mean of one side over strata of equal weight.
    pub(super) fn value(&self, side: usize) -> Option<f64> {
        let of_strata: Option<Vec<f64>> =
            self.strata.values().map(|sides| mean(&sides[side])).collect();
        of_strata.and_then(|logs| mean(&logs)).map(|log| round(exp(log)))
    }

    /// The facts of the question, but for those of its order.
    pub(super) fn signals(&self, theta: f64, alpha: f64) -> Signals {
        let steps = self.steps(theta);
        let test = self.test();
        let is_empty = |side: usize| {
            self.completed[side] == 0 && self.strata.values().all(|sides| sides[side].is_empty())
        };
        let sides = [&self.question.reference, &self.question.subject];
        let empty = sides.into_iter().enumerate().find(|(side, _)| is_empty(*side));
        let numbers = SampleNumbers {
            replicates: self.replicates(),
            fewest: self.strata.values().flatten().map(Vec::len).min().unwrap_or(0),
            zeros: self.zeros,
            lonely: self.lonely.clone(),
            without_value: empty.map(|(_, id)| id.clone()),
        };
        Signals {
            is_emulated: self.emulated.is_some(),
            is_odds: self.metric.reduction == Reduction::Proportion && test.is_some(),
            is_degenerate: test.is_some_and(|test| test.is_degenerate()),
            is_coarse: steps.coarse.is_some(),
            hidden: steps.hidden,
            is_step_unknown: steps.is_unknown,
            is_one_constant: steps.is_one_constant,
            is_one_step: steps.is_one,
            unequal_failures: self.failed_unlike(),
            survivors: test.and_then(|test| self.survivors(&test, [theta, alpha])),
            drift: test.and_then(|_| self.drift(theta)),
            tail: self.tail(),
            ..Signals::of(Numbers::Samples(numbers))
        }
    }

    /// The warnings: those that are `told` of noise and of what does not vary, of the design, of
    /// the signals, of steps against this margin on the scale of logarithms, and of every obstacle.
    pub(super) fn caveats(
        &self,
        signals: &Signals,
        raised: &[Raised],
        told: impl IntoIterator<Item = Caveat>,
        theta: f64,
    ) -> Vec<Caveat> {
        let mut caveats = signals.caveats();
        caveats.extend(told);
        caveats.extend(self.emulated.clone());
        caveats.push(Caveat::new(
            CaveatCode::UnblockedDesign,
            format!(
                "{} of the smaller sample, and nothing says that blocks were run",
                model::counted(self.replicates(), "replicate")
            ),
        ));
        if signals.unequal_failures.is_none() && self.failed != [0; 2] {
            let failed = self.failed[0] + self.failed[1];
            let detail = format!("{} failed", model::counted(failed, "trial"));
            caveats.push(Caveat::new(CaveatCode::ConditionalSuccess, detail));
        }
        caveats.extend(closed_loop(self.is_closed_loop, self.metric.reduction));
        if signals.is_coarse || signals.is_step_unknown {
            caveats.extend(self.steps(theta).caveat());
        }
        caveats.extend(raised.iter().filter_map(|one| one.caveat.clone()));
        caveats.sort();
        // Two obstacles may have one caveat.
        caveats.dedup();
        caveats
    }
}
