//! Which trials are still to run, and which blocks must run again.

use model::{Block, Outcome, Plan, Record, Sitting, Trial};
use std::collections::BTreeSet;

/// Blocks run again for invalid sittings, at most this share of the planned ones
/// (docs/method.md#m-order).
const REPEAT_SHARE: f64 = 0.2;
/// Refusals of a subject before it is given up.
const HOPELESS_AFTER: usize = 2;
/// The executor's rule for a level that is not in force when a run begins.
const LEVEL_NOT_SET: &str = "LEVEL_NOT_SET";
/// A venue's rule for a machine that does not boot.
const NOT_BOOTED: &str = "NOT_BOOTED";

/// What the records so far say about the trials to come.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    done: BTreeSet<(u32, String, String)>,
    /// Blocks with a trial that broke a rule, and whose.
    invalid: BTreeSet<(u32, String)>,
    repeated: usize,
    planned: usize,
    /// Blocks that do not go on, and why.
    cut_off: Vec<(u32, &'static str)>,
}

impl Schedule {
    pub(crate) fn of(
        plan: &Plan,
        planned_blocks: usize,
        records: &[Record],
        boot_id: &str,
    ) -> Self {
        let mut schedule = Self {
            planned: planned_blocks,
            repeated: plan.blocks.len().saturating_sub(planned_blocks),
            cut_off: cut_off_blocks(plan, records, boot_id),
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

    /// Whether a trial is still to run: it has no record, and its subject was not given up.
    pub(crate) fn is_due(&self, trial: &Trial, records: &[Record]) -> bool {
        !self.is_done(trial.block, &trial.subject.id, &trial.workload.label)
            && !is_hopeless(records, &trial.subject.id)
    }

    /// Whether any of these is.
    pub(crate) fn has_due(&self, trials: &[Trial], records: &[Record]) -> bool {
        trials.iter().any(|trial| self.is_due(trial, records))
    }

    pub(crate) fn done_count(&self) -> usize {
        self.done.len()
    }

    /// Blocks that were cut off before now, and what did it: they run again as a whole.
    pub(crate) fn cut_off(&self) -> &[(u32, &'static str)] {
        &self.cut_off
    }

    pub(crate) fn is_cut_off(&self, block: &Block) -> bool {
        self.cut_off.iter().any(|(index, _)| *index == block.index)
    }

    /// How many trials are still to run: none of a block that was cut off, and none of a
    /// subject that was given up.
    pub(crate) fn due_count(&self, plan: &Plan, records: &[Record]) -> usize {
        let given_up: BTreeSet<&str> = plan
            .subjects
            .iter()
            .map(|subject| subject.id.as_str())
            .filter(|subject| is_hopeless(records, subject))
            .collect();
        let is_due = |block: &Block, sitting: &Sitting, workload: &str| {
            !given_up.contains(sitting.subject.as_str())
                && !self.is_done(block.index, &sitting.subject, workload)
        };
        let due_of = |block: &Block| {
            let due = |sitting: &Sitting| {
                sitting.workloads.iter().filter(|workload| is_due(block, sitting, workload)).count()
            };
            block.sittings.iter().map(due).sum::<usize>()
        };
        plan.blocks.iter().filter(|block| !self.is_cut_off(block)).map(due_of).sum()
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
}

/// Blocks that were cut off inside a boot, and what did it: their subjects cannot be paired
/// with what would run now.
fn cut_off_blocks(plan: &Plan, records: &[Record], boot_id: &str) -> Vec<(u32, &'static str)> {
    let cut_off = |block: &Block| {
        let of_block: Vec<&Record> =
            records.iter().filter(|record| record.block == block.index).collect();
        let why = if block.boot_count() > 0 {
            is_boot_cut_off(block, &of_block, records).then_some(BOOT_CUT_OFF)
        } else {
            is_rebooted(block, &of_block, records, boot_id).then_some(REBOOTED)
        };
        why.map(|why| (block.index, why))
    };
    plan.blocks.iter().filter_map(cut_off).collect()
}

/// How many parts of a campaign that is spread over several boots ran, where this block belongs to
/// the next one and the machine is still booted as it was for an earlier one.
pub(crate) fn awaits_boot(
    plan: &Plan,
    planned_blocks: usize,
    block: &Block,
    records: &[Record],
    boot_id: &str,
) -> Option<u32> {
    let boots = plan.boots?;
    // Blocks that run again stand behind those that were planned, in the last part.
    let part_of = |block: u32| {
        let index = (block as usize).min(planned_blocks.saturating_sub(1));
        (index * boots as usize / planned_blocks.max(1)) as u32
    };
    let part = part_of(block.index);
    let is_of_earlier = |record: &Record| record.boot_id == boot_id && part_of(record.block) < part;
    records.iter().any(is_of_earlier).then_some(part)
}

const REBOOTED: &str = "a reboot cut it off";
const BOOT_CUT_OFF: &str = "one of its boots was cut off";

/// Whether the machine was rebooted since a part of the block ran, and a part is due.
fn is_rebooted(block: &Block, of_block: &[&Record], records: &[Record], boot_id: &str) -> bool {
    !boot_id.is_empty()
        && of_block.iter().any(|record| record.boot_id != boot_id)
        && has_due(block.sittings.iter(), of_block, records)
}

/// Whether one of the block's boots ran some of its trials and not all: what would run
/// now would be another boot. A block that ended between two boots goes on.
fn is_boot_cut_off(block: &Block, of_block: &[&Record], records: &[Record]) -> bool {
    let numbers: BTreeSet<Option<u32>> =
        block.sittings.iter().map(|sitting| sitting.boot).collect();
    numbers.into_iter().any(|number| {
        let of_boot = || block.sittings.iter().filter(move |sitting| sitting.boot == number);
        let has_begun = of_boot()
            .any(|sitting| of_block.iter().any(|record| record.subject == sitting.subject));
        has_begun && has_due(of_boot(), of_block, records)
    })
}

/// Whether a trial of these sittings is still to come; what was given up is not.
fn has_due<'s>(
    mut sittings: impl Iterator<Item = &'s Sitting>,
    of_block: &[&Record],
    records: &[Record],
) -> bool {
    let has_run = |subject: &str, workload: &str| {
        of_block.iter().any(|record| record.subject == subject && record.workload == workload)
    };
    sittings.any(|sitting| {
        !is_hopeless(records, &sitting.subject)
            && sitting.workloads.iter().any(|workload| !has_run(&sitting.subject, workload))
    })
}

/// Whether nothing but refusals was ever recorded for this subject, more than once: the
/// trials that share a boot which never came count as one.
pub(crate) fn is_hopeless(records: &[Record], subject: &str) -> bool {
    let mut refusals = 0;
    let mut blocks_not_booted = BTreeSet::new();
    for record in records.iter().filter(|record| record.subject == subject) {
        match &record.outcome {
            Outcome::Invalid { rule, .. } if rule == LEVEL_NOT_SET => refusals += 1,
            Outcome::Invalid { rule, .. } if rule == NOT_BOOTED => {
                blocks_not_booted.insert(record.block);
            }
            _ => return false,
        }
    }
    refusals + blocks_not_booted.len() >= HOPELESS_AFTER
}
