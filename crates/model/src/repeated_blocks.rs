//! Blocks that were added to a plan while it ran, each to run another one again.

use crate::{Block, Plan, RepeatedBlock};
use std::collections::BTreeSet;

impl Plan {
    /// Adds a block that runs another one again, the index of which is `original`, and tells people
    /// why in a note.
    pub fn run_again(&mut self, block: Block, original: u32, cause: &str) {
        if self.repeated_blocks.is_empty() {
            self.repeated_blocks = self.repeated_blocks_of_notes();
        }
        self.repeated_blocks.push(RepeatedBlock { index: block.index, runs_again: original });
        self.blocks.push(block);
        self.notes.push(format!("{}: {cause}", repeat_note(original)));
        self.oldest_format().clone_into(&mut self.format);
    }

    /// Indices of the blocks that run again under another one.
    pub fn blocks_run_again(&self) -> BTreeSet<u32> {
        if self.repeated_blocks.is_empty() {
            return self.blocks_of_notes().collect();
        }
        self.repeated_blocks.iter().map(|one| one.runs_again).collect()
    }

    /// Indices of the blocks that notes say run again, in their order. Plans before the twelfth
    /// format told it by notes alone.
    pub fn blocks_of_notes(&self) -> impl Iterator<Item = u32> {
        self.notes.iter().filter_map(|note| noted_block(note))
    }

    /// What a version that told it by notes alone had added: as many blocks as notes, behind those
    /// that were planned.
    fn repeated_blocks_of_notes(&self) -> Vec<RepeatedBlock> {
        let originals: Vec<u32> = self.blocks_of_notes().collect();
        let planned = self.blocks.len().saturating_sub(originals.len());
        let added = self.blocks.iter().skip(planned).zip(originals);
        added.map(|(block, runs_again)| RepeatedBlock { index: block.index, runs_again }).collect()
    }
}

/// The beginning of the note; people count blocks from 1.
fn repeat_note(original: u32) -> String {
    format!("block {} runs again at the end, in a new order", u64::from(original) + 1)
}

/// The index of the block of which a note says that it runs again under another number.
fn noted_block(note: &str) -> Option<u32> {
    let (number, _) = note.strip_prefix("block ")?.split_once(' ')?;
    let index = number.parse::<u32>().ok()?.checked_sub(1)?;
    note.starts_with(&repeat_note(index)).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::PLAN;
    use crate::{PLAN_FORMAT, REPEATED_PLAN_FORMAT};

    fn plan(blocks: u32) -> Plan {
        let mut plan: Plan = serde_json::from_str(PLAN).unwrap();
        plan.blocks = (0..blocks).map(block).collect();
        plan.notes.clear();
        plan
    }

    fn block(index: u32) -> Block {
        Block { index, sittings: Vec::new() }
    }

    #[test]
    fn a_block_that_runs_again_is_told_by_a_field_whatever_becomes_of_its_note() {
        let mut plan = plan(3);
        assert!(plan.blocks_run_again().is_empty());
        plan.run_again(block(3), 1, "it was cut off");
        assert_eq!(plan.format, REPEATED_PLAN_FORMAT);
        assert_eq!(plan.notes, ["block 2 runs again at the end, in a new order: it was cut off"]);
        plan.notes = vec!["block 3 runs again at the end, in a new order: told".to_owned()];
        for notes in [plan.notes.clone(), Vec::new()] {
            plan.notes = notes;
            assert_eq!(plan.blocks_run_again(), BTreeSet::from([1]));
        }
    }

    #[test]
    fn blocks_that_an_earlier_version_ran_again_are_told_by_its_notes_and_go_into_the_field() {
        let mut plan = plan(3);
        plan.notes = ["seed drawn: 4", &repeat_note(2), &repeat_note(0)].map(str::to_owned).into();
        plan.blocks.extend([3, 4].map(block));
        assert_eq!(plan.blocks_run_again(), BTreeSet::from([0, 2]));
        assert_eq!(plan.oldest_format(), PLAN_FORMAT);
        assert!(!serde_json::to_string(&plan).unwrap().contains("repeated_blocks"));
        plan.run_again(block(5), 1, "told");
        let pairs: Vec<(u32, u32)> =
            plan.repeated_blocks.iter().map(|one| (one.index, one.runs_again)).collect();
        assert_eq!(pairs, [(3, 2), (4, 0), (5, 1)]);
    }

    #[test]
    fn a_note_names_the_block_that_runs_again_and_no_other_does() {
        for index in [0, 1, 10, 4_000_000_000] {
            let note = format!("{}: it was cut off", repeat_note(index));
            assert_eq!(noted_block(&note), Some(index), "{note}");
        }
        for other in ["", "block", "block 1", "block 0 runs again at the end, in a new order"] {
            assert_eq!(noted_block(other), None, "{other}");
        }
        let twice = repeat_note(1).replace("block 2", "block +2");
        assert_eq!(noted_block(&twice), None, "{twice}");
    }
}
