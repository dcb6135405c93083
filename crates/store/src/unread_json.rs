//! What a walk over JSON text leaves uncounted where it ends early.
//!
//! A parser passes over what it has no field for, and there it reads on behind what ends a walk: a
//! number beyond all floats, half a surrogate pair, bytes that are no UTF-8, deep lists.

use serde::de::IgnoredAny;

/// A value has a byte at least, and one that parts it from the next.
const LEAST_BYTES: u64 = 2;

/// The most values that a parser may still hold of a text of which this is how a walk ended.
pub(crate) fn most_unread(text: &[u8], walked: Result<(), serde_json::Error>) -> u64 {
    let at = |error: &serde_json::Error| (error.line(), error.column());
    match walked {
        Err(stopped) if !stopped.is_eof() => {
            let passed_over = serde_json::from_slice::<IgnoredAny>(text);
            let is_read_on = passed_over.map_or_else(|error| at(&error) > at(&stopped), |_| true);
            if is_read_on { text.len() as u64 / LEAST_BYTES } else { 0 }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn unread(text: &[u8]) -> u64 {
        most_unread(text, serde_json::from_slice::<Value>(text).map(drop))
    }

    #[test]
    fn what_only_a_parser_passes_over_is_unread_and_what_ends_both_is_not() {
        for read in ["{\"a\":[1,2]}", "", "{\"a\":[1,", "{\"a\":[1,!]}", "{\"a\":trux}", "{a:1}"] {
            assert_eq!(unread(read.as_bytes()), 0, "{read}");
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
        for text in [
            b"{\"a\":1e999}".as_slice(),
            b"{\"a\":\"\\ud800\"}",
            b"{\"a\":\"\xff\"}",
            b"{\"a\":1e999,\"b\":[1,!]}",
            deep.as_bytes(),
        ] {
            assert_eq!(unread(text), text.len() as u64 / 2, "{}", String::from_utf8_lossy(text));
        }
    }
}
