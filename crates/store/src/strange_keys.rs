//! Keys of stored documents that this version would not write: readers pass over what they do not
//! know, and what is passed over is bound to nothing.

use crate::documents::{EnvironmentDocument, StateDocument};
use crate::durable::read_limited;
use model::{DOCUMENT_BYTES, PLAN_BYTES, Plan, RECORD_BYTES, ReaderLimit, Record};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Keys told one by one.
const TOLD_AT_MOST: usize = 20;
/// Characters of a key's place that are told.
const LONGEST_PLACE: usize = 120;

/// The keys of a campaign's documents that this version would not write, in one sentence each.
/// A key without a value (`null`, `false`, 0 or nothing in it) is none: documents of earlier versions
/// hold such. Nothing is told of a document that cannot be read: [`crate::load`] does.
pub fn unknown_keys(directory: &Path) -> Vec<String> {
    let mut told = in_document::<Plan>(directory, "plan.json", &PLAN_BYTES);
    told.extend(in_document::<StateDocument>(directory, "state.json", &DOCUMENT_BYTES));
    told.extend(in_document::<EnvironmentDocument>(directory, "environment.json", &DOCUMENT_BYTES));
    told.extend(in_records(&directory.join("records.jsonl")));
    let more = told.len().saturating_sub(TOLD_AT_MOST);
    told.truncate(TOLD_AT_MOST);
    if more > 0 {
        told.push(format!("and {more} more keys that this version would not write"));
    }
    told
}

fn in_document<T: DeserializeOwned + Serialize>(
    directory: &Path,
    name: &str,
    limit: &'static ReaderLimit,
) -> Vec<String> {
    let Ok(text) = read_limited(&directory.join(name), limit) else { return Vec::new() };
    match serde_json::from_slice::<T>(&text) {
        Ok(read) => strange_keys(name, &text, &read),
        Err(_) => Vec::new(),
    }
}

fn in_records(path: &Path) -> Vec<String> {
    let Ok(file) = File::open(path) else { return Vec::new() };
    let mut reader = BufReader::new(file);
    let (mut told, mut number) = (Vec::new(), 0);
    while told.len() <= TOLD_AT_MOST {
        let mut line = Vec::new();
        number += 1;
        let limited = &mut reader.by_ref().take(RECORD_BYTES.most + 1);
        let Ok(length) = limited.read_until(b'\n', &mut line) else { break };
        if length == 0 || length as u64 > RECORD_BYTES.most {
            break;
        }
        if let Ok(record) = serde_json::from_slice::<Record>(&line) {
            told.extend(strange_keys(&format!("records.jsonl, line {number}"), &line, &record));
        }
    }
    told
}

/// The keys in a text that the document which was read from it would not be written with.
pub(crate) fn strange_keys<T: Serialize>(name: &str, text: &[u8], read: &T) -> Vec<String> {
    // By way of the text, for which serializers exist already.
    let written = serde_json::to_vec(read).and_then(|text| serde_json::from_slice::<Value>(&text));
    let (Ok(stored), Ok(written)) = (serde_json::from_slice::<Value>(text), written) else {
        return Vec::new();
    };
    let mut places = Vec::new();
    compare(&mut Vec::new(), &stored, &written, &mut places);
    places.iter().map(|place| sentence(name, place)).collect()
}

/// A key is somebody's text: it is cut, and cannot talk to a terminal.
fn sentence(name: &str, place: &str) -> String {
    let place: String = place.chars().take(LONGEST_PLACE).collect();
    format!("{name}: this version writes no key `{}`", place.escape_debug())
}

fn compare(place: &mut Vec<String>, stored: &Value, written: &Value, places: &mut Vec<String>) {
    match (stored, written) {
        (Value::Object(stored), Value::Object(written)) => {
            for (key, value) in stored {
                place.push(key.clone());
                match written.get(key) {
                    Some(written) => compare(place, value, written, places),
                    None if is_empty(value) => {}
                    None => places.push(place.join("/")),
                }
                place.pop();
            }
        }
        (Value::Array(stored), Value::Array(written)) if stored.len() == written.len() => {
            for (at, (value, written)) in stored.iter().zip(written).enumerate() {
                place.push(at.to_string());
                compare(place, value, written, places);
                place.pop();
            }
        }
        _ => {}
    }
}

/// Whether a value says nothing.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is_true) => !is_true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Campaign;
    use crate::fixtures::{fingerprint, plan, record};
    use std::fs;

    #[test]
    fn each_key_that_no_version_writes_is_named_with_its_place() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign =
            Campaign::create(results.path(), &plan("demo", "digest"), "", 5, 1).unwrap();
        campaign.save_fingerprint(&fingerprint("6.12")).unwrap();
        for sequence in 0..2 {
            campaign.append(&mut record(sequence, vec![1.0])).unwrap();
        }
        campaign.mark_finished().unwrap();
        let directory = campaign.directory().to_owned();
        assert_eq!(unknown_keys(&directory), [""; 0]);
        let edit = |name: &str, from: &str, to: &str| {
            let path = directory.join(name);
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains(from), "{name}: {from}");
            fs::write(path, text.replacen(from, to, 1)).unwrap();
        };
        edit("plan.json", "\"title\":", "\"audited\": \"yes\", \"sim\": null, \"title\":");
        edit("plan.json", "\"label\":", "\"weight\": 3, \"label\":");
        edit("state.json", "\"state\":", "\"reason\": \"all ran\", \"state\":");
        edit("environment.json", "\"digest\":", "\"owner\": [1], \"digest\":");
        edit("records.jsonl", "\"sequence\":1,", "\"sequence\":1,\"note\":\"good\",");
        let told = unknown_keys(&directory);
        let expected = [
            "plan.json: this version writes no key `audited`",
            "plan.json: this version writes no key `workloads/0/weight`",
            "state.json: this version writes no key `reason`",
            "environment.json: this version writes no key `owner`",
            "records.jsonl, line 2: this version writes no key `note`",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn documents_of_earlier_versions_hold_none() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        assert_eq!(unknown_keys(&golden.join("import-named-experiment")), [""; 0]);
    }
}
