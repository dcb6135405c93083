//! What the store does with the host's own files alone: it follows a campaign that grows, looks for
//! keys that no version writes, and replaces a document.

use crate::stored_campaign::{MOMENT, plan, record};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use store::{Campaign, ReadPosition, replace, unknown_keys};

/// A campaign without records in this directory.
fn made(results: &Path) -> Campaign {
    let (unix_ns, unique) = MOMENT;
    Campaign::create(results, &plan(2), "text", unix_ns, unique).unwrap()
}

#[test]
fn a_campaign_that_grows_is_read_from_where_it_was_read_before() {
    let results = tempfile::tempdir().unwrap();
    let mut campaign = made(results.path());
    let directory = campaign.directory().to_owned();
    let path = directory.join("records.jsonl");
    let mut position = ReadPosition::default();
    let mut numbers = || {
        let records = position.read(&directory)?;
        Ok::<_, contract::Error>(records.iter().map(|record| record.sequence).collect::<Vec<_>>())
    };
    for appended in [0..0, 0..2, 2..3, 3..3] {
        for number in appended.clone() {
            campaign.append(&mut record(number)).unwrap();
        }
        assert_eq!(numbers().unwrap(), appended.map(u64::from).collect::<Vec<_>>());
    }
    drop(campaign);
    let add = |text: &str| {
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    add("{");
    assert_eq!(numbers().unwrap(), [0_u64; 0], "it is not complete");
    add("}\n");
    let error = numbers().unwrap_err();
    assert_eq!(error.attempted, format!("cannot understand line 4 of {}", path.display()));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let remedy = "look who put it there; give a file, or bring it back from a copy";
    assert_eq!(numbers().unwrap_err().remedy, remedy);
}

#[test]
fn a_document_is_replaced_and_a_key_that_no_version_writes_is_told() {
    let results = tempfile::tempdir().unwrap();
    let directory = made(results.path()).directory().to_owned();
    assert_eq!(unknown_keys(&directory), [""; 0]);
    let path = directory.join("state.json");
    let text = fs::read_to_string(&path).unwrap().replacen('{', "{\"strange\": 1,", 1);
    replace(&directory, "state.json", text.as_bytes()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert_eq!(unknown_keys(&directory), ["state.json: this version writes no key `strange`"]);
}
