//! Where in a JSON text a parser stopped, by the names and numbers of what was open there: its own
//! words say what it met, and not in which field.

use crate::json_text::string_length;
use model::{fault_of_line, over_depth};

/// Letters of a place that are told, from its end.
const LONGEST_PLACE: usize = 120;

/// What is open at one place of a text.
enum Open {
    /// An object, and the name whose value is read.
    Object(Option<String>),
    /// A list, and the number of the element that is read.
    List(usize),
}

/// What a parser says of a text, behind the field that it was in:
/// `workloads[0].metrics[1].margin: number out of range at line 3 column 9`.
pub(crate) fn told_with_place(text: &[u8], error: &serde_json::Error) -> String {
    let told = over_depth(error).map_or_else(|| error.to_string(), |over| over.to_string());
    behind_place(text, error, told)
}

/// The same of a line of a file, without its end: the byte of the line is told, and no number of one.
pub(crate) fn told_in_line(line: &[u8], error: &serde_json::Error) -> String {
    behind_place(line, error, fault_of_line(error))
}

fn behind_place(text: &[u8], error: &serde_json::Error, told: String) -> String {
    let place = place(text, error.line(), error.column());
    if place.is_empty() { told } else { format!("{place}: {told}") }
}

/// The place of a line and a column, both from 1 and in bytes; nothing for the document itself.
fn place(text: &[u8], line: usize, column: usize) -> String {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines.take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    let mut place = String::new();
    for open in open_at_end(&text[..before.saturating_add(column).min(text.len())]) {
        match open {
            Open::Object(Some(name)) => {
                place += if place.is_empty() { "" } else { "." };
                place += &name;
            }
            Open::Object(None) => {}
            Open::List(index) => {
                place.push('[');
                place += &index.to_string();
                place.push(']');
            }
        }
    }
    match place.char_indices().rev().nth(LONGEST_PLACE) {
        Some((begin, _)) => format!("…{}", &place[begin..]),
        None => place,
    }
}

/// What is open where a text ends, the outermost first.
fn open_at_end(text: &[u8]) -> Vec<Open> {
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let mut length = 1;
        match (byte, open.last_mut()) {
            (b'"', last) => {
                length = string_length(&text[at..]);
                // Behind a colon it is a value.
                if let Some(Open::Object(name @ None)) = last {
                    let inside = &text[at + 1..at + length];
                    // One without an end has no second sign.
                    let inside = inside.strip_suffix(b"\"").unwrap_or(inside);
                    let letters = String::from_utf8_lossy(inside);
                    let is_shown = |letter: &char| !model::is_obeyed(*letter);
                    *name = Some(letters.chars().filter(is_shown).collect());
                }
            }
            (b'{', _) => open.push(Open::Object(None)),
            (b'[', _) => open.push(Open::List(0)),
            (b'}' | b']', _) => drop(open.pop()),
            (b',', Some(Open::Object(name))) => *name = None,
            (b',', Some(Open::List(index))) => *index += 1,
            _ => {}
        }
        at += length;
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;
    use std::collections::BTreeMap;

    fn told<T: DeserializeOwned>(text: &str) -> String {
        match serde_json::from_str::<T>(text) {
            Ok(_) => String::new(),
            Err(error) => told_with_place(text.as_bytes(), &error),
        }
    }

    #[test]
    fn what_a_number_cannot_be_is_told_with_its_field() {
        type Counts = BTreeMap<String, Vec<BTreeMap<String, u32>>>;
        type Shares = BTreeMap<String, f64>;
        for (text, expected) in [
            (r#"{"a": [{"b": 1}, {"b": 1, "c": -1}]}"#, "a[1].c: invalid value: integer `-1`"),
            ("{\n \"a\": [\n  {\"b\":\n   4294967296}]}", "a[0].b: invalid value"),
            (r#"{"a": [{"b": 1.5, "c": 1}]}"#, "a[0].b: invalid type"),
            (r#"{"a": [], "d": [[]]}"#, "d[0]: invalid type: sequence"),
            (r#"{"a": [{"b": "x"}]}"#, "a[0].b: invalid type: string"),
            ("[]", "invalid type: sequence"),
            ("", "EOF while parsing"),
        ] {
            assert!(told::<Counts>(text).starts_with(expected), "{text}: {}", told::<Counts>(text));
        }
        for (text, expected) in [
            (r#"{"x": 1, "y": 1e999, "z": 1}"#, "y: number out of range"),
            (r#"{"x": NaN}"#, "x: expected value"),
            (r#"{"x": null}"#, "x: invalid type: null"),
            (r#"{"x,{\"[": true}"#, r#"x,{\"[: invalid type: boolean"#),
            (r#"{"x": 1"#, "x: EOF while parsing"),
            (r#"{"half"#, "half: EOF while parsing a string"),
        ] {
            assert!(told::<Shares>(text).starts_with(expected), "{text}: {}", told::<Shares>(text));
        }
    }

    #[test]
    fn what_is_nested_too_deep_is_told_by_the_name_of_the_limit() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(told::<serde_json::Value>(&deep(127)), "");
        let told = told::<serde_json::Value>(&deep(128));
        assert!(told.contains("more than 127 lists and objects"), "{told}");
        assert!(told.contains("limit JSON_DEPTH"), "{told}");
    }

    #[test]
    fn a_long_name_is_cut_and_what_is_no_json_is_no_panic() {
        let text = format!("{{\"{}b\": -1}}", "ä".repeat(1_000));
        let told = told::<BTreeMap<String, u32>>(&text);
        assert!(told.starts_with('…') && told.contains("äb: "), "{told}");
        assert!(told.chars().count() < 250, "{told}");
        for text in ["\"", "}}]]", "{\"", "[,,\"\\", "{,:"] {
            for column in 0..9 {
                place(text.as_bytes(), 1, column);
                place(text.as_bytes(), 7, column);
            }
        }
    }
}
