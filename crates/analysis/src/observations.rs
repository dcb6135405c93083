//! The records by block, subject and workload; the latest of each counts.

use model::{Outcome, Record};
use std::collections::{BTreeMap, BTreeSet};

/// Records in an order that does not depend on how they came in.
pub(crate) struct Observations<'a> {
    latest: BTreeMap<(u32, &'a str, &'a str), &'a Record>,
    /// Every question asks for them.
    blocks: BTreeSet<u32>,
    /// The subject whose sitting came before that of a block and subject, in the same boot.
    predecessors: BTreeMap<(u32, &'a str), &'a str>,
}

/// What each sitting followed. A sitting that ran again followed what came before its last run.
fn predecessors(records: &[Record]) -> BTreeMap<(u32, &str), &str> {
    let mut in_order: Vec<&Record> = records.iter().collect();
    in_order.sort_by_key(|record| record.sequence);
    let mut predecessors = BTreeMap::new();
    for two in in_order.windows(2) {
        let [before, after] = [two[0], two[1]];
        let key = (after.block, after.subject.as_str());
        if key == (before.block, before.subject.as_str()) {
            continue;
        }
        let is_known = before.sequence < after.sequence && before.boot_id == after.boot_id;
        if is_known {
            predecessors.insert(key, before.subject.as_str());
        } else {
            predecessors.remove(&key);
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

    /// The subject whose sitting ran just before this one, where the machine was not booted
    /// between them and the records say in which order they ran.
    pub(crate) fn predecessor(&self, block: u32, subject: &str) -> Option<&'a str> {
        self.predecessors.get(&(block, subject)).copied()
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
    pub(crate) fn blocks_and_boots(&self, subject: &str) -> (usize, usize) {
        let own = || self.all().filter(|record| record.subject == subject);
        let blocks: BTreeSet<u32> = own().map(|record| record.block).collect();
        let boots: BTreeSet<&str> = own().map(|record| record.boot_id.as_str()).collect();
        (blocks.len(), boots.len())
    }
}
