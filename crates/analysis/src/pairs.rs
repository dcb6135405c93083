//! Complete pairs of blocks, and what is missing from them.

use crate::observations::Observations;
use crate::questions::Asked;
use crate::reduce::{Lack, Reduced, reduce, series};
use crate::resolution::take;
use crate::rulebook::LEAST_BEYOND;
use crate::trial_facts;
use model::{BlockEffect, Caveat, Outcome, Record, Reduction, Tail};
use stats::{exp, mean};
use std::collections::{BTreeMap, BTreeSet};

/// Fewer expected events beyond a percentile are not even shown (docs/method.md#m-quantiles).
pub(crate) const LEAST_SHOWN: f64 = 2.0;
/// From this many boots on, the boot is the replicate where blocks share one.
pub(crate) const LEAST_BOOTS: usize = 5;

/// The pairs of one question.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pairs {
    /// Every complete pair, by block.
    pub blocks: Vec<BlockEffect>,
    /// The reference's values on the scale that differences are taken on, by pair:
    /// the logarithm, or of a share the logit.
    pub reference: Vec<f64>,
    /// The subject's, likewise.
    pub subject: Vec<f64>,
    /// The values of reference and subject that these were reduced from, as many as show their step;
    /// empty where each is one value.
    pub series: [Vec<f64>; 2],
    /// The places of subject and reference in their block, by pair; empty where they are not known.
    pub places: Vec<[u32; 2]>,
    /// The boot of each pair.
    pub boots: Vec<String>,
    /// The replicates' differences: those of blocks, or of boots.
    pub differences: Vec<f64>,
    /// Blocks in which a value was zero.
    pub zeros: usize,
    /// Blocks in which a completed trial has no such sample.
    pub absent: usize,
    /// Blocks that lack a trial of either, because it failed.
    pub failed: usize,
    /// What each of these says where a failure is the worst result: -1 where the subject failed
    /// alone, 1 where the reference did, 0 where both did.
    pub failures: Vec<f64>,
    /// Blocks that lack a trial of either, because it broke a rule.
    pub invalid: usize,
    /// The tail-size rule, of a quantile.
    pub tail: Option<Tail>,
    /// Events above the range of a histogram.
    pub clamped: u64,
    /// Caveats of the records that the pairs come from.
    pub caveats: Vec<Caveat>,
    /// Whether an emulated processor ran any trial of either.
    pub is_emulated: bool,
    /// Whether a probe that acts on every event was attached in any trial of the pairs.
    pub is_observed: bool,
}

impl Pairs {
    /// Whether the tail is too short even to show the value.
    pub(crate) fn hides_value(&self) -> bool {
        self.tail.as_ref().is_some_and(|tail| tail.beyond < LEAST_SHOWN)
    }
}

/// Collects the pairs of a question.
pub(crate) fn pairs(observations: &Observations<'_>, asked: &Asked<'_>) -> Pairs {
    let mut pairs = Pairs::default();
    let question = &asked.question;
    let mut least_events: Option<u64> = None;
    for block in observations.blocks() {
        let find = |subject: &str| observations.completed(block, subject, &question.workload);
        let (Some(reference), Some(subject)) = (find(&question.reference), find(&question.subject))
        else {
            pairs.note_gap(observations, block, asked);
            continue;
        };
        let reduced = (reduce(reference, asked.metric), reduce(subject, asked.metric));
        let (reference_value, subject_value) = match reduced {
            (Ok(reference_value), Ok(subject_value)) => (reference_value, subject_value),
            (Err(Lack::Zero), _) | (_, Err(Lack::Zero)) => {
                pairs.zeros += 1;
                pairs.note_emulated([reference, subject]);
                continue;
            }
            _ => {
                pairs.absent += 1;
                pairs.note_emulated([reference, subject]);
                continue;
            }
        };
        let events = [reference_value.events, subject_value.events].into_iter().flatten().min();
        least_events = match (least_events, events) {
            (Some(least), Some(events)) => Some(least.min(events)),
            (least, events) => least.or(events),
        };
        let clamped = reference_value.clamped.saturating_add(subject_value.clamped);
        pairs.clamped = pairs.clamped.saturating_add(clamped);
        for (record, of_side) in [reference, subject].into_iter().zip(&mut pairs.series) {
            take(of_side, series(record, asked.metric).concat().into_iter());
            pairs.caveats.extend(record.caveats.iter().cloned());
            pairs.is_emulated |= trial_facts::is_emulated(record);
            pairs.is_observed |= trial_facts::is_observed(record);
        }
        pairs.places.push([subject.position, reference.position]);
        pairs.boots.push(reference.boot_id.clone());
        pairs.reference.push(reference_value.scaled);
        pairs.subject.push(subject_value.scaled);
        pairs.blocks.push(effect(block, reference_value, subject_value, asked));
    }
    pairs.tail = least_events.and_then(|events| tail(asked.metric.reduction, events));
    pairs.differences = replicates(&pairs.blocks, &pairs.boots);
    pairs
}

impl Pairs {
    /// A trial without a value counts in what is said too: as a failure, or as one that
    /// reported nothing.
    fn note_emulated<'r>(&mut self, trials: impl IntoIterator<Item = &'r Record>) {
        let emulated: Vec<Caveat> = trials.into_iter().filter_map(trial_facts::emulation).collect();
        self.is_emulated |= !emulated.is_empty();
        self.caveats.extend(emulated);
    }

    fn note_gap(&mut self, observations: &Observations<'_>, block: u32, asked: &Asked<'_>) {
        let question = &asked.question;
        let trials = [&question.reference, &question.subject]
            .map(|subject| observations.trial(block, subject, &question.workload));
        self.note_emulated(trials.into_iter().flatten());
        let outcomes = trials.map(|trial| trial.map(|record| &record.outcome));
        let has =
            |wanted: fn(&Outcome) -> bool| outcomes.iter().flatten().any(|outcome| wanted(outcome));
        if has(|outcome| matches!(outcome, Outcome::Invalid { .. })) {
            self.invalid += 1;
        } else if has(|outcome| matches!(outcome, Outcome::Failed { .. })) {
            self.failed += 1;
            let [reference, subject] = outcomes.map(|outcome| {
                f64::from(u8::from(matches!(outcome, Some(Outcome::Failed { .. }))))
            });
            self.failures.push(reference - subject);
        }
    }
}

fn effect(block: u32, reference: Reduced, subject: Reduced, asked: &Asked<'_>) -> BlockEffect {
    let sign = asked.metric.direction.sign();
    BlockEffect {
        block,
        reference: reference.value,
        subject: subject.value,
        log_difference: sign * (subject.scaled - reference.scaled),
    }
}

/// The tail-size rule for so many events.
pub(crate) fn tail(reduction: Reduction, events: u64) -> Option<Tail> {
    let Reduction::Quantile(quantile) = reduction else { return None };
    let beyond = events as f64 * (1.0 - quantile);
    let highest = 1.0 - LEAST_BEYOND / events as f64;
    let supported = (beyond < LEAST_BEYOND && highest > 0.0).then_some(highest);
    Some(Tail { beyond, supported })
}

/// The log differences of parts added up by their weights, in the blocks that hold every part, with
/// the boots of these blocks.
pub(crate) fn weighted(parts: &[(f64, &Pairs)]) -> (Vec<BlockEffect>, Vec<String>) {
    let (mut blocks, mut boots) = (Vec::new(), Vec::new());
    let Some((_, first)) = parts.first() else { return (blocks, boots) };
    for (block, boot) in first.blocks.iter().zip(&first.boots) {
        let of_block = |part: &Pairs| {
            let own = part.blocks.iter().find(|pair| pair.block == block.block);
            own.map(|pair| pair.log_difference)
        };
        let added: Option<Vec<f64>> =
            parts.iter().map(|(weight, part)| Some(weight * of_block(part)?)).collect();
        let Some(added) = added else { continue };
        let log_difference: f64 = added.iter().sum();
        blocks.push(BlockEffect {
            block: block.block,
            reference: 1.0,
            subject: exp(log_difference),
            log_difference,
        });
        boots.push(boot.clone());
    }
    (blocks, boots)
}

/// Blocks that share a boot are one replicate, once there are boots enough; on a
/// host that never reboots, the time slots within the boot are the replicates.
pub(crate) fn replicates(blocks: &[BlockEffect], boots: &[String]) -> Vec<f64> {
    let distinct: BTreeSet<&String> = boots.iter().collect();
    if distinct.len() < LEAST_BOOTS || distinct.len() == blocks.len() {
        return blocks.iter().map(|block| block.log_difference).collect();
    }
    let mut by_boot: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (block, boot) in blocks.iter().zip(boots) {
        // In order of first appearance, so that drift stays visible.
        let first = boots.iter().position(|other| other == boot).unwrap_or(0);
        by_boot.entry(first).or_default().push(block.log_difference);
    }
    by_boot.values().filter_map(|differences| mean(differences)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The differences of blocks that ran in these boots; that of a block is its index.
    fn of_boots(boots: &[&str]) -> Vec<f64> {
        let effect = |block: u32| BlockEffect {
            block,
            reference: 1.0,
            subject: 1.0,
            log_difference: f64::from(block),
        };
        let blocks: Vec<BlockEffect> = (0..boots.len() as u32).map(effect).collect();
        let boots: Vec<String> = boots.iter().map(|boot| (*boot).to_owned()).collect();
        replicates(&blocks, &boots)
    }

    #[test]
    fn blocks_of_one_boot_are_one_replicate_where_there_are_five_boots() {
        let five = ["e", "e", "d", "d", "c", "c", "b", "b", "a", "a"];
        assert_eq!(of_boots(&five), [0.5, 2.5, 4.5, 6.5, 8.5], "in the order of their blocks");
        let unequal = ["a", "b", "c", "d", "e", "e", "e", "a"];
        assert_eq!(of_boots(&unequal), [3.5, 1.0, 2.0, 3.0, 5.0], "each boot counts alike");
        // Fewer boots are too few for a verdict, and a boot of each block is one already.
        let four = ["a", "a", "b", "b", "c", "c", "d", "d"];
        assert_eq!(of_boots(&four), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        assert_eq!(of_boots(&["a"; 6]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(of_boots(&["a", "b", "c", "d", "e"]), [0.0, 1.0, 2.0, 3.0, 4.0]);
    }
}
