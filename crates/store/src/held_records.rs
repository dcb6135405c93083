//! Records that this process has stored and still holds: an import is judged by them, and does not
//! read again what it wrote.

use model::{Chain, LineDigest, Record, SampleData};

/// What was stored of records that were appended at once.
#[derive(Debug)]
pub struct StoredRecords {
    /// What binds the first one; absent where there is none.
    pub(crate) first: Option<Chain>,
    /// The digest of the last one's line.
    pub(crate) last: Option<LineDigest>,
}

/// All records of a campaign, which were appended at once. They are bound in their lines; of those
/// that are held the first alone says to what.
#[derive(Debug)]
pub struct HeldRecords {
    pub(crate) records: Vec<Record>,
    /// The digest of the last one's line.
    pub(crate) last: Option<LineDigest>,
}

impl HeldRecords {
    /// These records, of which this was stored.
    pub fn new(mut records: Vec<Record>, stored: StoredRecords) -> Self {
        if let Some(first) = records.first_mut() {
            first.chain = stored.first.map(Box::new);
        }
        Self { records, last: stored.last }
    }
}

/// Whether none of these records holds a histogram, so that they are judged as they are held. One that
/// was recorded has room for every value, and is small once it was read.
pub fn are_small(records: &[Record]) -> bool {
    let invocations = records.iter().flat_map(|record| &record.invocations);
    invocations
        .flat_map(|invocation| &invocation.samples)
        .all(|sample| !matches!(sample.data, SampleData::Histogram(_)))
}

#[cfg(test)]
mod tests {
    use super::{HeldRecords, are_small};
    use crate::fixtures::{plan, record};
    use crate::{Campaign, load, load_held};
    use model::{Record, Sample, SampleData};

    /// Loads these records as they are held and as they were stored.
    fn check(edit: fn(&mut Record), is_held: bool) {
        let results = tempfile::tempdir().unwrap();
        let mut campaign =
            Campaign::create(results.path(), &plan("held", "d"), "text", 5, 1).unwrap();
        let values = |number: u64| vec![-0.0, 0.1 + number as f64, 1e300 / 7.0];
        let mut records: Vec<Record> = (0..40).map(|n| record(n, values(n))).collect();
        records.iter_mut().for_each(edit);
        let stored = campaign.append_all(&records).unwrap();
        campaign.mark_finished().unwrap();
        assert_eq!(are_small(&records), is_held);
        let held = HeldRecords::new(records, stored);
        let place = held.records.as_ptr();
        let kept = load_held(campaign.directory(), held).unwrap();
        assert_eq!(kept.records.as_ptr() == place, is_held, "whether they were read again");
        let mut read = load(campaign.directory()).unwrap();
        if is_held {
            // Of what binds them this is left.
            read.last_digest = read.digests.pop();
            read.digests.clear();
            read.records.iter_mut().skip(1).for_each(|record| record.chain = None);
        }
        // Whatever a campaign has is told by this, and no two numbers that differ alike.
        assert_eq!(format!("{kept:?}"), format!("{read:?}"));
        assert_eq!(kept.flaws, []);
    }

    #[test]
    fn a_campaign_whose_records_are_held_is_what_it_is_when_all_is_read() {
        check(
            |record| {
                let samples = &mut record.invocations[0].samples;
                samples.retain(|one| !matches!(one.data, SampleData::Histogram(_)));
                samples.push(Sample::values("other", vec![1.0]));
            },
            true,
        );
        check(|_| {}, false);
    }
}
