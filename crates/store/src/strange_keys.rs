//! Keys of stored documents that this version would not write, or not twice: readers pass over what
//! they do not know, and what is passed over is bound to nothing.

use crate::documents::{EnvironmentDocument, StateDocument};
use crate::durable::read_limited;
use crate::json_text::JsonText;
use crate::plan_sizes;
use crate::record_weight;
use model::{
    DOCUMENT_BYTES, PLAN_BYTES, Plan, RECORD_BYTES, ReaderLimit, Record, counting_numbers,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Keys told one by one.
const TOLD_AT_MOST: usize = 20;
/// Characters of a key's place that are told.
const LONGEST_PLACE: usize = 120;

/// The keys of a campaign's documents that this version would not write, or that stand twice, in one
/// sentence each; and each list in place of an object, of which a reader takes the fields in order.
/// A key without a value (`null`, `false`, 0 or nothing in it) is none: documents of earlier versions
/// hold such. Nothing is told of a document that cannot be read: [`crate::load`] does.
pub fn unknown_keys(directory: &Path) -> Vec<String> {
    let mut strange = StrangeKeys::default();
    strange.in_plan(directory);
    strange.in_document::<StateDocument>(directory, "state.json", &DOCUMENT_BYTES);
    strange.in_document::<EnvironmentDocument>(directory, "environment.json", &DOCUMENT_BYTES);
    strange.in_records(&directory.join("records.jsonl"));
    strange.sentences()
}

/// The keys in a text that the document which was read from it would not be written with, in one
/// sentence each.
pub(crate) fn strange_keys<T: Serialize>(name: &str, text: &[u8], read: &T) -> Vec<String> {
    let mut strange = StrangeKeys::default();
    strange.note(name, text, read);
    strange.sentences()
}

/// The keys that stand twice in one object of a text, in one sentence each. Of these a reader takes the
/// last, and a person may see the first.
pub fn repeated_keys(name: &str, text: &[u8]) -> Vec<String> {
    let mut strange = StrangeKeys::default();
    // Compared with itself it has no other strange keys.
    strange.note_written(name, text, &String::from_utf8_lossy(text));
    strange.sentences()
}

/// What is strange at a place of a text.
#[derive(Debug, Clone, Copy)]
enum Strangeness {
    /// A key that this version does not write.
    Unknown,
    /// A key that stands there before.
    Repeated,
    /// A list where this version writes an object.
    List,
}

/// Keys that were found: so many of them are held as are told.
#[derive(Debug, Default)]
struct StrangeKeys {
    told: Vec<String>,
    more: usize,
}

impl StrangeKeys {
    /// Those of a plan. One beyond a limit is not held: [`crate::load`] says of which.
    fn in_plan(&mut self, directory: &Path) {
        let name = "plan.json";
        let Ok(text) = read_limited(&directory.join(name), &PLAN_BYTES) else { return };
        if plan_sizes::check(&text).is_ok() {
            self.in_text::<Plan>(name, &text);
        }
    }

    fn in_document<T: DeserializeOwned + Serialize>(
        &mut self,
        directory: &Path,
        name: &str,
        limit: &'static ReaderLimit,
    ) {
        let Ok(text) = read_limited(&directory.join(name), limit) else { return };
        self.in_text::<T>(name, &text);
    }

    fn in_records(&mut self, path: &Path) {
        let Ok(file) = sys::open_regular(path) else { return };
        let mut reader = BufReader::new(file);
        let mut number = 0;
        while self.more == 0 {
            let mut line = Vec::new();
            number += 1;
            let limited = &mut reader.by_ref().take(RECORD_BYTES.most + 1);
            let Ok(length) = limited.read_until(b'\n', &mut line) else { break };
            if length == 0 || length as u64 > RECORD_BYTES.most {
                break;
            }
            let name = format!("records.jsonl, line {number}");
            // What has more numbers than a record may, or lists more than a campaign may, is not held.
            if record_weight::check_line(&line).is_ok() {
                counting_numbers(|| self.in_text::<Record>(&name, &line));
            }
        }
    }

    fn in_text<T: DeserializeOwned + Serialize>(&mut self, name: &str, text: &[u8]) {
        if let Ok(read) = serde_json::from_slice::<T>(text) {
            self.note(name, text, &read);
        }
    }

    /// Compares a text with what its document is written as after it was read. Both stay text: as
    /// values they would be twenty times as large.
    fn note<T: Serialize>(&mut self, name: &str, text: &[u8], read: &T) {
        if let Ok(written) = serde_json::to_string(read) {
            self.note_written(name, text, &written);
        }
    }

    fn note_written(&mut self, name: &str, text: &[u8], written: &str) {
        // A parser does not look whether what it passes over is UTF-8.
        let stored = String::from_utf8_lossy(text);
        let mut place = Vec::new();
        self.compare((name, &mut place), JsonText::of(&stored), JsonText::of(written));
    }

    fn compare(
        &mut self,
        (name, place): (&str, &mut Vec<String>),
        stored: JsonText<'_>,
        written: JsonText<'_>,
    ) {
        if stored.is_object() && written.is_object() {
            let known: BTreeMap<_, _> = written.members().collect();
            let mut seen = BTreeSet::new();
            for (key, value) in stored.members() {
                let is_repeated = !seen.insert(key.clone());
                place.push(key.into_owned());
                match place.last().and_then(|key| known.get(key.as_str())) {
                    _ if is_repeated => self.push(name, place, Strangeness::Repeated),
                    Some(written) => self.compare((name, &mut *place), value, *written),
                    None if is_empty(value) => {}
                    None => self.push(name, place, Strangeness::Unknown),
                }
                place.pop();
            }
        } else if stored.is_list() && written.is_object() {
            self.push(name, place, Strangeness::List);
        } else if stored.is_list()
            && written.is_list()
            && stored.elements().count() == written.elements().count()
        {
            let elements = stored.elements().zip(written.elements()).enumerate();
            // What is neither has no keys.
            for (at, (value, written)) in
                elements.filter(|(_, (value, _))| value.is_object() || value.is_list())
            {
                place.push(at.to_string());
                self.compare((name, &mut *place), value, written);
                place.pop();
            }
        }
    }

    fn push(&mut self, name: &str, place: &[String], strangeness: Strangeness) {
        if self.told.len() < TOLD_AT_MOST {
            self.told.push(sentence(name, &place.join("/"), strangeness));
        } else {
            self.more += 1;
        }
    }

    fn sentences(mut self) -> Vec<String> {
        if self.more > 0 {
            let more = self.more;
            self.told.push(format!("and {more} more keys that this version would not write"));
        }
        self.told
    }
}

/// A key is somebody's text: it is cut, and cannot talk to a terminal.
fn sentence(name: &str, place: &str, strangeness: Strangeness) -> String {
    let place: String = place.chars().take(LONGEST_PLACE).collect();
    let place = place.escape_debug();
    match strangeness {
        Strangeness::Unknown => format!("{name}: this version writes no key `{place}`"),
        Strangeness::Repeated => format!("{name}: the key `{place}` stands twice"),
        Strangeness::List => format!("{name}: this version writes no list as `{place}`"),
    }
}

/// Whether a value says nothing.
fn is_empty(value: JsonText<'_>) -> bool {
    match value.as_str() {
        "null" | "false" | "\"\"" => true,
        _ if value.is_object() => value.members().next().is_none(),
        _ if value.is_list() => value.elements().next().is_none(),
        number => number.parse::<f64>() == Ok(0.0),
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
    fn of_more_keys_than_are_told_the_rest_is_counted() {
        let key = |number: usize| format!("\"k{number}\": 1");
        let keys = |count: usize| {
            let all: Vec<String> = (0..count).map(key).collect();
            let text =
                format!("{{{}, \"zero\": -0.0, \"none\": [ ], \"no\": {{}}}}", all.join(", "));
            strange_keys("x", text.as_bytes(), &serde_json::json!({}))
        };
        assert_eq!(keys(20).len(), 20);
        let told = keys(1_000);
        assert_eq!((told.len(), told[19].as_str()), (21, "x: this version writes no key `k19`"));
        assert_eq!(told[20], "and 980 more keys that this version would not write");
    }

    #[test]
    fn bytes_that_are_no_utf_8_hide_no_key() {
        let told = |text: &[u8]| strange_keys("x", text, &serde_json::json!({"a": {"b": 1}}));
        let expected =
            ["x: this version writes no key `note`", "x: this version writes no key `c`"];
        assert_eq!(told(b"{\"note\": \"\xff\", \"a\": {\"b\": 1}, \"c\": 1}"), expected);
        assert_eq!(told(b"{\"a\": {\"b\": 1}, \"none\": null}"), [""; 0]);
    }

    #[test]
    fn a_key_that_stands_twice_is_named_with_its_place_whatever_its_values_are() {
        let text = br#"{"a": {"b": 2, "\u0062": 1}, "c": [{"d": 0}, {"d": 0, "d": 0}]}"#;
        let read: serde_json::Value = serde_json::from_slice(text).unwrap();
        let expected = ["x: the key `a/b` stands twice", "x: the key `c/1/d` stands twice"];
        assert_eq!(strange_keys("x", text, &read), expected);
        assert_eq!(repeated_keys("x", text), expected);
        assert_eq!(repeated_keys("x", br#"{"a": {"b": 1}, "b": [{"a": 1}, {"a": 1}]}"#), [""; 0]);
    }

    #[test]
    fn a_list_where_this_version_writes_an_object_is_named_and_one_of_lists_is_not() {
        let read = serde_json::json!({"a": [{"b": 1}, [2]]});
        let expected = ["x: this version writes no list as `a/0`"];
        assert_eq!(strange_keys("x", br#"{"a": [[{"note": "good"}], [2]]}"#, &read), expected);
        assert_eq!(strange_keys("x", br#"{"a": [{"b": 1}, [2]]}"#, &read), [""; 0]);
    }

    #[test]
    fn documents_of_earlier_versions_hold_none() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        assert_eq!(unknown_keys(&golden.join("import-named-experiment")), [""; 0]);
    }
}
