//! The records by block, subject and workload; the latest of each counts.

use model::{Outcome, Record};
use std::collections::{BTreeMap, BTreeSet};

/// Records in an order that does not depend on how they came in.
pub(crate) struct Observations<'a> {
    latest: BTreeMap<(u32, &'a str, &'a str), &'a Record>,
    /// Every question asks for them.
    blocks: BTreeSet<u32>,
    /// The subject whose sitting came before that of a trial, in the same boot.
    predecessors: BTreeMap<(u32, &'a str, &'a str), &'a str>,
}

/// The latest record of each trial, by block, subject and workload. An import has hundreds of
/// thousands, of which a map would be several times as large as the order alone.
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

/// What the sitting of each trial followed. A sitting that ran again followed what came before its last
/// run. Of an import each workload may have sittings of its own.
fn predecessors(records: &[Record]) -> BTreeMap<(u32, &str, &str), &str> {
    let mut in_order: Vec<&Record> = records.iter().collect();
    in_order.sort_by_key(|record| record.sequence);
    let (mut predecessors, mut of_sitting) = (BTreeMap::new(), None);
    for two in in_order.windows(2) {
        let [before, after] = [two[0], two[1]];
        if (after.block, &after.subject) != (before.block, &before.subject) {
            let is_known = before.sequence < after.sequence && before.boot_id == after.boot_id;
            of_sitting = is_known.then_some(before.subject.as_str());
        }
        let trial = (after.block, after.subject.as_str(), after.workload.as_str());
        if let Some(before) = of_sitting {
            predecessors.insert(trial, before);
        } else {
            predecessors.remove(&trial);
        }
    }
    predecessors
}

impl<'a> Observations<'a> {
    pub(crate) fn of(records: &'a [Record]) -> Self {
        let mut latest: BTreeMap<_, &Record> = BTreeMap::new();
        for record in records {
            let key = (record.block, record.subject.as_str(), record.workload.as_str());
            let known = latest.entry(key).or_insert(record);
            if record.sequence >= known.sequence {
                *known = record;
            }
        }
        let blocks = latest.keys().map(|(block, _, _)| *block).collect();
        Self { latest, blocks, predecessors: predecessors(records) }
    }

    /// The subject whose sitting ran just before that of this trial, where the machine was not booted
    /// between them and the records say in which order they ran.
    pub(crate) fn predecessor(&self, block: u32, subject: &str, workload: &str) -> Option<&'a str> {
        self.predecessors.get(&(block, subject, workload)).copied()
    }

    /// Every record that counts, by block, subject and workload.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'a Record> + '_ {
        self.latest.values().copied()
    }

    /// The trial, if it ran.
    pub(crate) fn trial(&self, block: u32, subject: &str, workload: &str) -> Option<&'a Record> {
        self.latest.get(&(block, subject, workload)).copied()
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
