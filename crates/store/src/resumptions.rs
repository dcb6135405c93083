//! Runs that went on with a campaign: each is named in `state.json` and by the first record that it
//! stored (docs/method.md#m-evidence).

use crate::documents::{Head, StateDocument};
use model::{LineDigest, Record, Resumption};

/// What a run that goes on finds: records with these digests, where the machine knew of those that
/// `known` ends.
pub(crate) fn resumption(
    (boot_id, unix_ns): (&str, u64),
    digests: &[LineDigest],
    known: Option<Head>,
) -> Resumption {
    let is_there = |head: &Head| {
        let at = usize::try_from(head.records).ok().and_then(|count| count.checked_sub(1));
        at.is_none_or(|at| digests.get(at).is_some_and(|digest| *digest == *head.digest))
    };
    Resumption {
        boot_id: boot_id.to_owned(),
        unix_ns,
        records: digests.len() as u64,
        digest: digests.last().map(LineDigest::to_string).unwrap_or_default(),
        known: known.filter(|head| !is_there(head)).map(|head| head.records),
    }
}

/// What speaks against the runs that went on, in one sentence each.
pub(crate) fn flaws_of_resumptions(
    records: &[Record],
    digests: &[LineDigest],
    state: &StateDocument,
) -> Vec<String> {
    let mut flaws = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let told = record.chain.as_ref().and_then(|chain| chain.resumption.as_ref());
        let Some(resumption) = told else { continue };
        let is_before = match at.checked_sub(1) {
            Some(before) => digests[before] == *resumption.digest,
            None => resumption.digest.is_empty(),
        };
        if resumption.records != at as u64 || !is_before {
            flaws.push(format!(
                "the record in line {} is the first of a run that went on after {} records, and {at} \
                 are before it",
                at + 1,
                resumption.records
            ));
        }
        if !state.resumptions.contains(resumption) {
            flaws.push(format!(
                "state.json does not name the run that went on with the record in line {}",
                at + 1
            ));
        }
    }
    flaws.extend(state.resumptions.iter().filter_map(|one| removed(one, records.len() as u64)));
    flaws
}

/// Whether a run found, or left, more records than are there.
fn removed(resumption: &Resumption, count: u64) -> Option<String> {
    let found = resumption.records;
    match resumption.known {
        Some(known) if known > found => Some(format!(
            "records were removed before a run went on: the machine knew {known}, and {found} were \
             there"
        )),
        Some(known) => Some(format!(
            "the first {known} of {found} records are not those that the machine knew when a run \
             went on"
        )),
        None if found > count => {
            Some(format!("a run went on after {found} records, and {count} are there"))
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{plan, record};
    use crate::{Attempts, Campaign, LoadedCampaign, load};
    use model::Record;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// A campaign of this many records, which the machine knows.
    fn interrupted(home: &Path, attempts: &Attempts, count: u64) -> PathBuf {
        let mut campaign =
            Campaign::create(&home.join("results"), &plan("demo", "digest"), "", 5, 1).unwrap();
        for sequence in 0..count {
            campaign.append(&mut record(sequence, vec![1.0])).unwrap();
        }
        campaign.keep_count(attempts).unwrap();
        campaign.directory().to_owned()
    }

    /// Goes on with it up to this many records.
    fn go_on(directory: &Path, attempts: &Attempts, count: u64, unix_ns: u64) {
        let mut campaign = Campaign::open(directory).unwrap();
        campaign.resume("boot", unix_ns, Some(attempts)).unwrap();
        for sequence in campaign.record_count()..count {
            campaign.append(&mut record(sequence, vec![2.0])).unwrap();
        }
        campaign.keep_count(attempts).unwrap();
    }

    fn cut(directory: &Path, count: usize) {
        let path = directory.join("records.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let kept: String = text.lines().take(count).map(|line| format!("{line}\n")).collect();
        fs::write(path, kept).unwrap();
    }

    fn told(loaded: &LoadedCampaign) -> Vec<&str> {
        loaded.flaws.iter().map(|flaw| flaw.detail.as_str()).collect()
    }

    #[test]
    fn each_run_that_goes_on_is_counted_in_the_state_and_in_the_chain() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(home.path());
        let directory = interrupted(home.path(), &attempts, 2);
        go_on(&directory, &attempts, 3, 7);
        // One that has nothing left to run is counted too.
        go_on(&directory, &attempts, 3, 8);
        let mut campaign = Campaign::open(&directory).unwrap();
        campaign.mark_finished().unwrap();
        let loaded = load(&directory).unwrap();
        assert_eq!(told(&loaded), [""; 0]);
        let counted: Vec<u64> = loaded.resumptions.iter().map(|one| one.records).collect();
        assert_eq!(counted, [2, 3]);
        let marked = |record: &Record| record.chain.as_ref().unwrap().resumption.is_some();
        let marks: Vec<bool> = loaded.records.iter().map(marked).collect();
        assert_eq!(marks, [false, false, true]);
        let path = directory.join("state.json");
        let text = fs::read_to_string(&path).unwrap();
        let mut state: serde_json::Value = serde_json::from_str(&text).unwrap();
        state.as_object_mut().unwrap().remove("resumptions").unwrap();
        fs::write(&path, state.to_string()).unwrap();
        let loaded = load(&directory).unwrap();
        let told = told(&loaded).join("\n");
        assert!(told.contains("does not name the run that went on with the record in line 3"));
        assert!(told.contains("are not those that it ended with"), "{told}");
    }

    #[test]
    fn records_that_were_cut_off_and_run_again_are_told() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(home.path());
        let directory = interrupted(home.path(), &attempts, 4);
        assert_eq!(attempts.known_records(&directory).unwrap().count(), 4);
        cut(&directory, 2);
        go_on(&directory, &attempts, 4, 7);
        let removed =
            "records were removed before a run went on: the machine knew 4, and 2 were there";
        assert_eq!(told(&load(&directory).unwrap()), [removed]);
        // Nor does it help that as many are there again.
        go_on(&directory, &attempts, 6, 8);
        assert_eq!(told(&load(&directory).unwrap())[0], removed);
        assert_eq!(attempts.known_records(&directory).unwrap().count(), 6);
    }

    #[test]
    fn all_records_may_be_cut_off_and_other_ones_put_there() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(home.path());
        let directory = interrupted(home.path(), &attempts, 2);
        cut(&directory, 0);
        go_on(&directory, &attempts, 1, 7);
        let told_of = |directory: &Path| told(&load(directory).unwrap()).join("\n");
        assert!(told_of(&directory).contains("the machine knew 2, and 0 were there"));
        // The machine still knows the two, and another record is in the place of the second.
        go_on(&directory, &attempts, 2, 8);
        go_on(&directory, &attempts, 3, 9);
        let told = told_of(&directory);
        assert!(told.contains("the first 2 of 2 records are not those"), "{told}");
    }

    #[test]
    fn a_tail_that_was_cut_after_a_run_went_on_is_told_without_the_machine() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(home.path());
        let directory = interrupted(home.path(), &attempts, 3);
        go_on(&directory, &attempts, 4, 7);
        cut(&directory, 2);
        let loaded = load(&directory).unwrap();
        assert_eq!(told(&loaded), ["a run went on after 3 records, and 2 are there"]);
    }
}
