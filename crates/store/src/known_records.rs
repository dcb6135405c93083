//! What a machine remembers of the records of a campaign that ran on it, held against those that are
//! there (docs/method.md#m-evidence). Digests have no secret: only a machine or a user with a
//! copy of the first ones can tell that all of them were computed again.

use crate::chain::short;
use crate::documents::Head;
use crate::load::LoadedCampaign;

/// How many records a machine knew of a campaign, and the digest of the last of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownRecords(Head);

impl KnownRecords {
    pub(crate) fn new(head: Head) -> Self {
        Self(head)
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.0.records
    }

    /// What the records that are there say against it, in one sentence. Those of a redaction are
    /// others, so that only their number is compared.
    pub fn contradiction(&self, loaded: &LoadedCampaign) -> Option<String> {
        let (known, found) = (self.0.records, loaded.records.len() as u64);
        if known > found {
            return Some(format!(
                "records were removed: this machine knew {known}, and {found} are there"
            ));
        }
        let last = usize::try_from(known).ok()?.checked_sub(1)?;
        let of_last = loaded.last_digest.as_ref().filter(|_| known == found);
        let there = loaded.digests.get(last).or(of_last).filter(|_| loaded.redaction.is_none())?;
        (*there != *self.0.digest).then(|| {
            format!(
                "the first {known} of {found} records are not those that this machine knew: the \
                 digest of the last of them is {}, and was {}",
                short(&there.to_string()),
                short(&self.0.digest)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::KnownRecords;
    use crate::chain::line_digest;
    use crate::documents::Head;
    use crate::fixtures::{plan, record};
    use crate::{Attempts, Campaign, HeldRecords, load, load_held};
    use model::{Sample, SampleData};
    use std::fs;
    use std::path::{Path, PathBuf};

    /// A campaign of four records, which the machine knows, with a fifth that it does not know.
    fn known(home: &Path, attempts: &Attempts) -> PathBuf {
        let mut campaign =
            Campaign::create(&home.join("results"), &plan("demo", "digest"), "", 5, 1).unwrap();
        for sequence in 0..5 {
            campaign.append(&mut record(sequence, vec![1.0])).unwrap();
            if sequence == 3 {
                campaign.keep_count(attempts).unwrap();
            }
        }
        campaign.directory().to_owned()
    }

    /// Doubles the values of every record, and computes every digest again that a reader follows.
    fn forge(directory: &Path) {
        let path = directory.join("records.jsonl");
        let mut lines = Vec::new();
        for mut record in load(directory).unwrap().records.iter().cloned() {
            record.invocations[0].samples[0] = Sample::values("time", vec![2.0]);
            if let Some(before) = lines.last() {
                record.chain.as_mut().unwrap().previous = line_digest(String::as_bytes(before));
            }
            lines.push(serde_json::to_string(&record).unwrap());
        }
        fs::write(path, lines.join("\n") + "\n").unwrap();
    }

    #[test]
    fn records_whose_digests_were_computed_again_are_not_those_that_the_machine_knew() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(home.path());
        let directory = known(home.path(), &attempts);
        let told = || {
            let known = attempts.known_records(&directory).unwrap();
            assert_eq!(known.count(), 4);
            let loaded = load(&directory).unwrap();
            assert_eq!(loaded.flaws, [], "nothing but the machine knows");
            known.contradiction(&loaded)
        };
        assert_eq!(told(), None);
        forge(&directory);
        let told = told().unwrap();
        assert!(told.contains("the first 4 of 5 records are not those"), "{told}");
    }

    #[test]
    fn records_that_are_held_are_held_against_what_the_machine_knew_of_the_last_one() {
        let home = tempfile::tempdir().unwrap();
        let mut campaign = Campaign::create(home.path(), &plan("held", "d"), "", 5, 1).unwrap();
        let mut records: Vec<_> = (0..3).map(|number| record(number, vec![1.0])).collect();
        for record in &mut records {
            // What holds a histogram is read again.
            let samples = &mut record.invocations[0].samples;
            samples.retain(|one| !matches!(one.data, SampleData::Histogram(_)));
        }
        let stored = campaign.append_all(&records).unwrap();
        let held = HeldRecords::new(records, stored);
        let loaded = load_held(campaign.directory(), held).unwrap();
        assert!(loaded.digests.is_empty(), "they are held, and were not read");
        let last = loaded.last_digest.as_ref().unwrap().to_string();
        let told = |digest: &str| {
            let known = KnownRecords::new(Head { records: 3, digest: digest.into(), end: None });
            known.contradiction(&loaded)
        };
        assert_eq!(told(&last), None);
        let told = told(&"0".repeat(64)).unwrap();
        assert!(told.contains("the first 3 of 3 records are not those"), "{told}");
    }
}
