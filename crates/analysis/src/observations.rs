//! The records by block, subject and workload; the latest of each counts. An import has hundreds of
//! thousands, of which maps would be several times as large as sorted lists.

use model::{Outcome, Record};
use std::collections::{BTreeMap, BTreeSet};

/// Records in an order that does not depend on how they came in.
pub(crate) struct Observations<'a> {
    /// The latest record of each trial, in the order of the trials. Blocks stand beside the records:
    /// most of these are told apart by them.
    latest: Vec<(u32, &'a Record)>,
    /// Every question asks for them.
    blocks: Vec<u32>,
    /// Of each trial the subject whose sitting came before its own, in the same boot.
    predecessors: Vec<Option<&'a str>>,
}

/// The latest record of each trial, by block, subject and workload.
pub(crate) fn latest(records: &[Record]) -> Vec<&Record> {
    let subjects = ranks(records.iter().map(|record| record.subject.as_str()));
    let workloads = ranks(records.iter().map(|record| record.workload.as_str()));
    let place = |(at, record): (u32, &Record)| {
        let names = (subjects[record.subject.as_str()], workloads[record.workload.as_str()]);
        ((record.block, names), record.sequence, at)
    };
    let mut places: Vec<_> = (0..).zip(records).map(place).collect();
    places.sort_unstable();
    let of_trials = places.chunk_by(|one, other| one.0 == other.0);
    of_trials.filter_map(|all| all.last()).map(|(.., at)| &records[*at as usize]).collect()
}

/// Of each name its place among all in order.
fn ranks<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, u32> {
    let all: BTreeSet<&str> = names.collect();
    all.into_iter().zip(0..).collect()
}

impl<'a> Observations<'a> {
    pub(crate) fn of(records: &'a [Record]) -> Self {
        let latest: Vec<(u32, &Record)> =
            latest(records).into_iter().map(|record| (record.block, record)).collect();
        let mut blocks: Vec<u32> = latest.iter().map(|(block, _)| *block).collect();
        blocks.dedup();
        blocks.shrink_to_fit();
        let predecessors = vec![None; latest.len()];
        let mut observations = Self { latest, blocks, predecessors };
        observations.note_predecessors(records);
        observations
    }

    /// Notes what the sitting of each trial followed. A sitting that ran again followed what came
    /// before its last run. Of an import each workload may have sittings of its own.
    fn note_predecessors(&mut self, records: &'a [Record]) {
        let mut in_order: Vec<&Record> = records.iter().collect();
        in_order.sort_by_key(|record| record.sequence);
        let mut of_sitting = None;
        for two in in_order.windows(2) {
            let [before, after] = [two[0], two[1]];
            if (after.block, &after.subject) != (before.block, &before.subject) {
                let is_known = before.sequence < after.sequence && before.boot_id == after.boot_id;
                of_sitting = is_known.then_some(before.subject.as_str());
            }
            if let Some(place) = self.place(after.block, &after.subject, &after.workload) {
                self.predecessors[place] = of_sitting;
            }
        }
    }

    /// The place of a trial among those that ran.
    fn place(&self, block: u32, subject: &str, workload: &str) -> Option<usize> {
        let compared = |(at, record): &(u32, &Record)| {
            let names = || (record.subject.as_str(), record.workload.as_str());
            at.cmp(&block).then_with(|| names().cmp(&(subject, workload)))
        };
        self.latest.binary_search_by(compared).ok()
    }

    /// The subject whose sitting ran just before that of this trial, where the machine was not booted
    /// between them and the records say in which order they ran.
    pub(crate) fn predecessor(&self, block: u32, subject: &str, workload: &str) -> Option<&'a str> {
        self.place(block, subject, workload).and_then(|place| self.predecessors[place])
    }

    /// Every record that counts, by block, subject and workload.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'a Record> + '_ {
        self.latest.iter().map(|(_, record)| *record)
    }

    /// The trial, if it ran.
    pub(crate) fn trial(&self, block: u32, subject: &str, workload: &str) -> Option<&'a Record> {
        self.place(block, subject, workload).map(|place| self.latest[place].1)
    }

    /// The trial, if it completed.
    pub(crate) fn completed(
        &self,
        block: u32,
        subject: &str,
        workload: &str,
    ) -> Option<&'a Record> {
        self.trial(block, subject, workload).filter(|record| record.outcome == Outcome::Completed)
    }

    /// Blocks in which anything ran.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks.iter().copied()
    }

    /// In how many blocks and in how many boots this subject ran. Subjects of different
    /// kernels never share a boot: all boots together say nothing about repetition.
    pub(crate) fn blocks_and_boots(&self, subject: &str) -> (usize, Option<usize>) {
        let own = || self.all().filter(|record| record.subject == subject);
        let blocks: BTreeSet<u32> = own().map(|record| record.block).collect();
        let boots: BTreeSet<&str> = own().map(|record| record.boot_id.as_str()).collect();
        (blocks.len(), (!boots.contains("")).then_some(boots.len()))
    }

    /// Whether all of it ran in one boot, which every record names.
    pub(crate) fn is_one_boot(&self) -> bool {
        let boots: BTreeSet<&str> = self.all().map(|record| record.boot_id.as_str()).collect();
        boots.len() == 1 && !boots.contains("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::record;

    #[test]
    fn what_a_trial_followed_is_the_sitting_before_its_own_in_its_workload() {
        // Both workloads in each sitting of a block, and in the next one workload after the other.
        let trials = [
            (0, "a", "v"),
            (0, "a", "w"),
            (0, "b", "v"),
            (0, "b", "w"),
            (1, "b", "x"),
            (1, "a", "x"),
            (1, "a", "y"),
            (1, "b", "y"),
        ];
        let one = |(sequence, (block, subject, workload)): (usize, &(u32, &str, &str))| {
            let mut one = record(*block, subject, workload, Vec::new());
            one.sequence = sequence as u64;
            "one".clone_into(&mut one.boot_id);
            one
        };
        let records: Vec<Record> = trials.iter().enumerate().map(one).collect();
        let observations = Observations::of(&records);
        let found: Vec<Option<&str>> = trials
            .iter()
            .map(|(block, subject, workload)| observations.predecessor(*block, subject, workload))
            .collect();
        let (a, b) = (Some("a"), Some("b"));
        assert_eq!(found, [None, None, a, a, b, b, b, a]);
    }
}
