//! Which trials are still to run, and which blocks must run again.

use model::{Block, Outcome, Plan, Record};
use std::collections::BTreeSet;

/// Blocks run again for invalid sittings, at most this share of the planned ones
/// (STATISTICS 2.8).
const REPEAT_SHARE: f64 = 0.2;
/// Trials of a subject whose level could not be set before it is given up.
const HOPELESS_AFTER: usize = 2;
/// The executor's rule for a level that is not in force when a run begins.
const LEVEL_NOT_SET: &str = "LEVEL_NOT_SET";

/// What the records so far say about the trials to come.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    done: BTreeSet<(u32, String, String)>,
    /// Blocks with a trial that broke a rule, and whose.
    invalid: BTreeSet<(u32, String)>,
    repeated: usize,
    planned: usize,
}

impl Schedule {
    pub(crate) fn of(plan: &Plan, planned_blocks: usize, records: &[Record]) -> Self {
        let mut schedule = Self {
            planned: planned_blocks,
            repeated: plan.blocks.len().saturating_sub(planned_blocks),
            ..Self::default()
        };
        for record in records {
            schedule.note(record);
        }
        schedule
    }

    pub(crate) fn note(&mut self, record: &Record) {
        self.done.insert((record.block, record.subject.clone(), record.workload.clone()));
        if matches!(record.outcome, Outcome::Invalid { .. }) {
            self.invalid.insert((record.block, record.subject.clone()));
        }
    }

    pub(crate) fn is_done(&self, block: u32, subject: &str, workload: &str) -> bool {
        self.done.contains(&(block, subject.to_owned(), workload.to_owned()))
    }

    pub(crate) fn done_count(&self) -> usize {
        self.done.len()
    }

    /// Whether this finished block must run again, and may: not for a subject that
    /// was given up, whose trials would break the same rule.
    pub(crate) fn must_repeat(&self, block: &Block, records: &[Record]) -> bool {
        let cap = ((self.planned as f64 * REPEAT_SHARE).ceil() as usize).max(1);
        let is_worth_it = |(index, subject): &(u32, String)| {
            *index == block.index && !is_hopeless(records, subject)
        };
        self.repeated < cap && self.invalid.iter().any(is_worth_it)
    }

    pub(crate) fn note_repeat(&mut self) {
        self.repeated += 1;
    }

    /// Blocks that were cut off in another boot: their subjects cannot be paired
    /// with what would run now.
    pub(crate) fn cut_off_blocks(plan: &Plan, records: &[Record], boot_id: &str) -> Vec<u32> {
        let is_cut_off = |block: &&Block| {
            let of_block: Vec<&Record> =
                records.iter().filter(|record| record.block == block.index).collect();
            let has_run = |subject: &str, workload: &str| {
                of_block
                    .iter()
                    .any(|record| record.subject == subject && record.workload == workload)
            };
            // What was given up is not to come.
            let mut due =
                block.sittings.iter().filter(|sitting| !is_hopeless(records, &sitting.subject));
            of_block.iter().any(|record| record.boot_id != boot_id)
                && due.any(|sitting| {
                    sitting.workloads.iter().any(|workload| !has_run(&sitting.subject, workload))
                })
        };
        plan.blocks.iter().filter(is_cut_off).map(|block| block.index).collect()
    }
}

/// Whether nothing but refusals was ever recorded for this subject.
pub(crate) fn is_hopeless(records: &[Record], subject: &str) -> bool {
    let mut of_subject = records.iter().filter(|record| record.subject == subject).peekable();
    let count = records.iter().filter(|record| record.subject == subject).count();
    of_subject.peek().is_some()
        && count >= HOPELESS_AFTER
        && of_subject.all(
            |record| matches!(&record.outcome, Outcome::Invalid { rule, .. } if rule == LEVEL_NOT_SET),
        )
}
