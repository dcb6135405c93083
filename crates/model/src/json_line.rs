//! What is wrong with one line of a file as JSON. A parser numbers lines in the text that it is given, so
//! its own words would tell that the fault is in line 1, whichever line of the file that is.

use crate::over_depth;

/// How the words of a parser begin for a text that ends too early.
const ENDS_EARLY: &str = "EOF while parsing ";

/// What a parser says of a line without its end, with the byte of that line and without a number of one.
pub fn fault_of_line(error: &serde_json::Error) -> String {
    if let Some(over) = over_depth(error) {
        return over.to_string();
    }
    let (told, at) = (error.to_string(), error.column());
    let place = format!(" at line {} column {at}", error.line());
    match told.strip_suffix(&place) {
        Some(cause) => match cause.strip_prefix(ENDS_EARLY) {
            Some(part) => format!("it ends after {}, inside {part}", crate::counted(at, "byte")),
            None => format!("{cause} at byte {at}"),
        },
        None => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_fault_is_told_by_its_byte_and_by_no_number_of_a_line() {
        let told = |text: &str| {
            let parsed = serde_json::from_str::<BTreeMap<String, Vec<u32>>>(text);
            fault_of_line(&parsed.unwrap_err())
        };
        assert_eq!(told("hello"), "expected value at byte 1");
        assert_eq!(told("{\"ha"), "it ends after 4 bytes, inside a string");
        assert_eq!(told("{"), "it ends after 1 byte, inside an object");
        assert_eq!(told("{\"a\":[1,2"), "it ends after 9 bytes, inside a list");
        assert!(told("{\"a\":[-1]}").ends_with(" at byte 8"), "{}", told("{\"a\":[-1]}"));
        let deep = serde_json::from_str::<serde_json::Value>(&"[".repeat(200)).unwrap_err();
        assert!(fault_of_line(&deep).contains("limit JSON_DEPTH"), "{}", fault_of_line(&deep));
    }
}
