//! Which trials have a record. A campaign has hundreds of thousands of them, so they are a sorted
//! list of records and no set of names.

use model::Record;
use std::cmp::Ordering;

/// Block, subject and workload.
pub(crate) type TrialName<'a> = (u32, &'a str, &'a str);

/// The trial that a record is of.
pub(crate) fn trial(record: &Record) -> TrialName<'_> {
    (record.block, &record.subject, &record.workload)
}

/// A record of each trial that has any, in the order of the trials. Blocks stand beside the
/// records: most of these are told apart by them.
#[derive(Debug)]
pub(crate) struct RecordedTrials<'a>(Vec<(u32, &'a Record)>);

impl<'a> RecordedTrials<'a> {
    pub(crate) fn of(records: &'a [Record]) -> Self {
        let mut sorted: Vec<(u32, &Record)> =
            records.iter().map(|record| (record.block, record)).collect();
        sorted.sort_unstable_by(|(block, one), (other_block, other)| {
            block.cmp(other_block).then_with(|| trial(one).cmp(&trial(other)))
        });
        sorted.dedup_by(|(_, one), (_, other)| trial(one) == trial(other));
        Self(sorted)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The place of a trial among them; none of one without a record.
    pub(crate) fn place(&self, (block, subject, workload): TrialName<'_>) -> Option<usize> {
        let compared = |(at, record): &(u32, &Record)| {
            let names = || (record.subject.as_str(), record.workload.as_str());
            at.cmp(&block).then_with(|| names().cmp(&(subject, workload)))
        };
        self.0.binary_search_by(compared).ok()
    }

    /// Whether any trial of this block and subject has a record.
    pub(crate) fn has_sitting(&self, block: u32, subject: &str) -> bool {
        let compared = |(at, record): &(u32, &Record)| {
            at.cmp(&block).then_with(|| record.subject.as_str().cmp(subject))
        };
        let first = self.0.partition_point(|entry| compared(entry) == Ordering::Less);
        self.0.get(first).is_some_and(|entry| compared(entry) == Ordering::Equal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Circumstances;
    use std::collections::BTreeSet;

    #[test]
    fn trials_are_found_as_in_a_set_of_their_names() {
        let record = |(block, subject, workload): TrialName<'_>| Record {
            block,
            ..Record::from(Circumstances::of(subject, workload))
        };
        let names = [(2, "b", "w"), (0, "b", "v"), (2, "a", "w"), (0, "b", "v"), (2, "b", "v")];
        let records = names.map(record);
        let recorded = RecordedTrials::of(&records);
        let set = BTreeSet::from(names);
        assert_eq!(recorded.count(), set.len());
        for block in 0..4 {
            for subject in ["", "a", "b", "c"] {
                let has_any = set.iter().any(|name| (name.0, name.1) == (block, subject));
                assert_eq!(recorded.has_sitting(block, subject), has_any, "{block} {subject}");
                for workload in ["u", "v", "w", "x"] {
                    let name = (block, subject, workload);
                    let place = set.iter().position(|known| *known == name);
                    assert_eq!(recorded.place(name), place, "{name:?}");
                }
            }
        }
        let none = RecordedTrials::of(&[]);
        assert!(none.place((0, "a", "w")).is_none() && !none.has_sitting(0, "a"));
    }
}
