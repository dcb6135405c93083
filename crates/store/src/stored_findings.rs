//! Findings of a campaign that is not open: they are stored without writing anything else of it.

use crate::campaign::take_lock;
use crate::json_file::replace_json;
use contract::{Error, Result};
use model::Findings;
use std::path::Path;
use sys::{Files, HostFiles};

/// What is left to do where nothing can be stored.
const SHOWN: &str = "`schedlab show` gives the verdict and stores nothing";

/// Stores `findings.json` in the directory of a campaign. `records.jsonl` is not opened: findings
/// rest on what was read, also where nobody can write records any more.
///
/// # Errors
/// When another process has the campaign open, or the findings cannot be written.
pub fn save_findings(directory: &Path, findings: &Findings) -> Result<()> {
    let stored = take_lock(&HostFiles, directory).and_then(|_lock| {
        HostFiles.sweep_drafts(directory);
        replace_json(&HostFiles, directory, "findings.json", findings)
    });
    stored.map_err(|error| {
        let attempted = format!("cannot store the findings of {}", directory.display());
        let cause = format!("{}: {}", error.attempted, error.cause);
        let remedy = match error.remedy.as_str() {
            "" => SHOWN.to_owned(),
            remedy => format!("{remedy}; {SHOWN}"),
        };
        Error::new(error.kind, attempted, cause, remedy)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{plan, record};
    use crate::{Campaign, load, load_findings};
    use std::fs;
    use std::time::SystemTime;

    #[test]
    fn what_a_killed_process_left_of_a_report_goes_when_findings_are_stored() {
        let results = tempfile::tempdir().unwrap();
        let campaign = Campaign::create(results.path(), &plan("demo", "d"), "", 1, 1).unwrap();
        let directory = campaign.directory().to_owned();
        drop(campaign);
        let left = directory.join(sys::draft_name("report.md".as_ref(), 7));
        let file = fs::File::create(&left).unwrap();
        file.set_modified(SystemTime::now() - 2 * sys::GRACE_PERIOD).unwrap();
        save_findings(&directory, &::fixtures::findings(Vec::new())).unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn findings_are_stored_and_what_a_crash_left_in_the_records_is_only_read() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign = Campaign::create(results.path(), &plan("demo", "d"), "", 1, 1).unwrap();
        campaign.append(&mut record(0, vec![1.0])).unwrap();
        let directory = campaign.directory().to_owned();
        let findings = ::fixtures::findings(Vec::new());
        let error = save_findings(&directory, &findings).unwrap_err();
        assert!(error.cause.contains("another process is running it"), "{error}");
        assert!(error.remedy.contains("schedlab show"), "{error}");
        assert_eq!(load_findings(&directory).unwrap(), None);
        drop(campaign);
        let path = directory.join("records.jsonl");
        let torn = fs::read_to_string(&path).unwrap() + "{\"torn";
        fs::write(&path, &torn).unwrap();
        save_findings(&directory, &findings).unwrap();
        assert!(load_findings(&directory).unwrap().is_some());
        assert_eq!(fs::read_to_string(&path).unwrap(), torn);
        assert_eq!(load(&directory).unwrap().caveats.len(), 1);
    }
}
