//! The two samples of one question: their test, their warnings, and what forbids a
//! verdict.

use crate::failures::failed_unlike;
use crate::pairs::{LEAST_BEYOND, tail};
use crate::verdict::{Decision, LEAST_PAIRS};
use model::{Caveat, CaveatCode, Metric, Question, Reduction, Tail, round_significant as round};
use stats::{TTest, exp, mean};
use std::collections::BTreeMap;

/// The samples of one question.
pub(super) struct Samples<'a> {
    pub(super) question: Question,
    pub(super) metric: &'a Metric,
    /// Whether the load waited for each answer.
    pub(super) is_closed_loop: bool,
    /// Logarithms of the replicates by stratum: reference and subject.
    pub(super) strata: BTreeMap<Vec<String>, [Vec<f64>; 2]>,
    pub(super) zeros: usize,
    /// Cells that only one of the two has.
    pub(super) lonely: usize,
    /// Trials that failed, of reference and subject.
    pub(super) failed: [u64; 2],
    /// Trials with a value, of reference and subject.
    pub(super) completed: [u64; 2],
    /// Fewest events that a quantile was taken from.
    pub(super) events: Option<u64>,
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
        let test = TTest::stratified(&strata)?.without_rounding(scale);
        Some(TTest { mean: self.question.direction.sign() * test.mean, ..test })
    }

    /// 0 of the reference, 1 of the subject.
    pub(super) fn side(&self, id: &str) -> Option<usize> {
        [&self.question.reference, &self.question.subject].iter().position(|own| *own == id)
    }

    /// The tail-size rule, of a quantile.
    pub(super) fn tail(&self) -> Option<Tail> {
        self.events.and_then(|events| tail(self.metric.reduction, events))
    }

    /// The caveat of failures that forbid a verdict.
    fn failed_unlike(&self) -> Option<Caveat> {
        let of = |side: usize| [self.failed[side], self.failed[side] + self.completed[side]];
        failed_unlike((&self.question.subject, of(1)), (&self.question.reference, of(0)))
    }

    /// Replicates of the subject that has fewer.
    pub(super) fn replicates(&self) -> usize {
        let of = |side: usize| self.strata.values().map(|sides| sides[side].len()).sum::<usize>();
        of(0).min(of(1))
    }

    /// Whether one subject came after the other in the file, in each stratum in the same
    /// order.
    fn is_one_after_the_other(&self) -> bool {
        let both: Vec<[(u64, u64); 2]> = self
            .spans
            .values()
            .filter_map(|[first, second]| Some([(*first)?, (*second)?]))
            .collect();
        let in_order = both.iter().filter(|[first, second]| first.1 < second.0).count();
        let turned = both.iter().filter(|[first, second]| second.1 < first.0).count();
        !both.is_empty() && (in_order == both.len() || turned == both.len())
    }

    /// Geometric mean of one side over strata of equal weight.
    pub(super) fn value(&self, side: usize) -> Option<f64> {
        let of_strata: Option<Vec<f64>> =
            self.strata.values().map(|sides| mean(&sides[side])).collect();
        of_strata.and_then(|logs| mean(&logs)).map(|log| round(exp(log)))
    }

    pub(super) fn caveats(&self) -> Vec<Caveat> {
        let question = &self.question;
        let mut caveats = vec![Caveat::new(
            CaveatCode::UnblockedDesign,
            format!(
                "{} replicates of the smaller sample, and nothing says that blocks were run",
                self.replicates()
            ),
        )];
        if self.is_one_after_the_other() {
            let detail = format!(
                "in the file's order all values of {} and all of {} follow each other, in each of {} strata",
                question.reference,
                question.subject,
                self.spans.len()
            );
            caveats.push(Caveat::new(CaveatCode::OrderConfounded, detail));
        }
        match self.failed_unlike() {
            Some(caveat) => caveats.push(caveat),
            None if self.failed != [0; 2] => {
                let detail = format!("{} trials failed", self.failed[0] + self.failed[1]);
                caveats.push(Caveat::new(CaveatCode::ConditionalSuccess, detail));
            }
            None => {}
        }
        if let Some(tail) = self.tail().filter(|tail| tail.beyond < LEAST_BEYOND) {
            let detail = format!("{:.1} samples beyond it in the smallest trial", tail.beyond);
            caveats.push(Caveat::new(CaveatCode::InsufficientTail, detail));
        }
        let is_tail = matches!(self.metric.reduction, Reduction::Quantile(_));
        if is_tail && self.is_closed_loop {
            caveats.push(Caveat::new(CaveatCode::ClosedLoop, "the load waits for each answer"));
        }
        if self.zeros > 0 {
            let detail = format!("{} values are zero or negative", self.zeros);
            caveats.push(Caveat::new(CaveatCode::ZeroValue, detail));
        }
        if self.lonely > 0 {
            let detail = format!("{} cells have values of one subject only", self.lonely);
            caveats.push(Caveat::new(CaveatCode::AbsentValues, detail));
        }
        let count = self.replicates();
        let fewest = self.strata.values().flatten().map(Vec::len).min().unwrap_or(0);
        if count < LEAST_PAIRS || fewest < 2 {
            let noun = if count == 1 { "replicate" } else { "replicates" };
            let detail = format!("{count} {noun}, in one stratum {fewest}");
            caveats.push(Caveat::new(CaveatCode::FewReplicates, detail));
        }
        if self.test().is_some_and(|test| test.is_degenerate()) {
            caveats.push(Caveat::new(CaveatCode::Degenerate, "the replicates do not vary"));
        }
        caveats.sort();
        caveats
    }

    /// What forbids a verdict.
    pub(super) fn obstacle(&self) -> Option<Decision> {
        if let Some(caveat) = self.failed_unlike() {
            return Some(Decision::inconclusive(format!("failures come first: {}", caveat.detail)));
        }
        let empty = |side: usize| self.strata.values().all(|sides| sides[side].is_empty());
        for (side, id) in [(0, &self.question.reference), (1, &self.question.subject)] {
            if empty(side) && self.zeros == 0 {
                return Some(Decision::inconclusive(format!("there is no value of {id}")));
            }
        }
        if self.zeros > 0 {
            let reason =
                format!("{} values are zero or negative: a ratio is not defined", self.zeros);
            return Some(Decision::inconclusive(reason));
        }
        if self.lonely > 0 {
            let reason =
                format!("{} cells have values of one subject only: the mixes differ", self.lonely);
            return Some(Decision::inconclusive(reason));
        }
        let fewest = self.strata.values().flatten().map(Vec::len).min().unwrap_or(0);
        if self.replicates() < LEAST_PAIRS {
            let count = self.replicates();
            let noun = if count == 1 { "replicate" } else { "replicates" };
            let reason = format!("{count} {noun}; a verdict needs {LEAST_PAIRS}");
            return Some(Decision::inconclusive(reason));
        }
        if let Some(tail) = self.tail().filter(|tail| tail.beyond < LEAST_BEYOND) {
            let reason = format!(
                "{:.1} samples beyond it in the smallest trial, {LEAST_BEYOND} are needed",
                tail.beyond
            );
            return Some(Decision::inconclusive(reason));
        }
        (fewest < 2).then(|| {
            Decision::inconclusive("a stratum has one replicate, which says nothing about noise")
        })
    }
}
