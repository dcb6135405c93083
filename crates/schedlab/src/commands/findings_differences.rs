//! Where the findings of a bundle are not those that its records give.

use super::excerpts::excerpts;
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use sys::open_regular;

/// What is compared number by number.
pub(super) const FINDINGS: &str = "findings.json";
/// Said of a report that differs.
pub(super) const IS_OTHER: &str = "is not what the records give";
/// Bytes of findings that are compared number by number.
const LONGEST_COMPARED: usize = 8 << 20;
/// Values in them: each is held in 72 bytes beside its key, and two bytes of text are one.
const MOST_COMPARED: usize = 400_000;

/// Where the findings in a file are other ones. As values they need many times the room of their
/// text, so that of long ones it is told that they differ, and not where.
pub(super) fn other_findings(path: &Path, computed: &[u8]) -> Vec<String> {
    let mut packed = Vec::new();
    let read = open_regular(path)
        .and_then(|file| file.take(LONGEST_COMPARED as u64 + 1).read_to_end(&mut packed));
    if let Err(error) = read {
        return vec![format!("{FINDINGS}: {error}")];
    }
    if packed.len().max(computed.len()) > LONGEST_COMPARED {
        return vec![format!(
            "{FINDINGS} {IS_OTHER}: of more than {} MiB it is not told where they differ",
            LONGEST_COMPARED >> 20
        )];
    }
    if [packed.as_slice(), computed].into_iter().any(|text| values_at_most(text) > MOST_COMPARED) {
        return vec![format!(
            "{FINDINGS} {IS_OTHER}: of more than {MOST_COMPARED} values it is not told where they differ"
        )];
    }
    differing(&packed, computed)
}

/// How many values a text of JSON can have: each but the first follows one of these.
fn values_at_most(text: &[u8]) -> usize {
    text.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count() + 1
}

/// Every place where two findings differ, with both values.
fn differing(packed: &[u8], computed: &[u8]) -> Vec<String> {
    let parse = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes);
    match (parse(packed), parse(computed)) {
        (Ok(stored), Ok(computed)) => {
            let mut found = Vec::new();
            compare("", &stored, &computed, &mut found);
            found.extend(store::repeated_keys(FINDINGS, packed));
            found
        }
        (Err(error), _) | (_, Err(error)) => vec![format!("findings.json: {error}")],
    }
}

fn compare(place: &str, packed: &Value, computed: &Value, found: &mut Vec<String>) {
    match (packed, computed) {
        (Value::Object(one), Value::Object(other)) => {
            for (key, value) in one {
                let other = other.get(key).unwrap_or(&Value::Null);
                compare(&format!("{place}/{key}"), value, other, found);
            }
            for (key, value) in other.iter().filter(|(key, _)| !one.contains_key(*key)) {
                compare(&format!("{place}/{key}"), &Value::Null, value, found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (value, other)) in one.iter().zip(other).enumerate() {
                compare(&format!("{place}/{index}"), value, other, found);
            }
        }
        _ if packed == computed => {}
        _ => {
            let [(packed, _), (computed, _)] = excerpts([packed.to_string(), computed.to_string()]);
            found.push(format!(
                "findings.json {place} is {packed}, and the records give {computed}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_named_with_its_place_and_both_values() {
        let packed = br#"{"a": [1, {"b": 2.5, "gone": 1}], "same": "x", "list": [1]}"#;
        let computed = br#"{"a": [1, {"b": 2.25, "new": true}], "same": "x", "list": [1, 2]}"#;
        assert_eq!(
            differing(packed, computed),
            [
                "findings.json /a/1/b is 2.5, and the records give 2.25",
                "findings.json /a/1/gone is 1, and the records give null",
                "findings.json /a/1/new is null, and the records give true",
                "findings.json /list is [1], and the records give [1,2]",
            ]
        );
        assert_eq!(differing(packed, packed), [""; 0]);
        let twice = differing(br#"{"a": 2, "a": 1}"#, br#"{"a": 1}"#);
        assert_eq!(twice, ["findings.json: the key `a` stands twice"]);
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FINDINGS);
        std::fs::write(&file, packed).unwrap();
        assert_eq!(other_findings(&file, computed), differing(packed, computed));
        // Sparse: far more than is held.
        std::fs::File::options().write(true).open(&file).unwrap().set_len(1 << 33).unwrap();
        let told = other_findings(&file, computed);
        assert!(told.len() == 1 && told[0].contains(IS_OTHER), "{told:?}");
        assert_eq!(differing(b"{", computed).len(), 1);
        let many = format!("[{}0]", "0,".repeat(MOST_COMPARED));
        std::fs::write(&file, many).unwrap();
        let told = other_findings(&file, computed);
        assert!(told.len() == 1 && told[0].contains("values it is not told"), "{told:?}");
    }
}
