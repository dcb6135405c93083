//! Names of sheets: spreadsheets take at most 31 characters, some of them not at all, and
//! none twice, whatever its case (Microsoft, "Rename a worksheet").

use std::collections::BTreeSet;

/// Longest name, in the units of UTF-16 that spreadsheets count.
const LONGEST: usize = 31;

/// The names that are taken.
pub(super) struct Names(BTreeSet<String>);

impl Names {
    /// Keeps some names for sheets of a fixed name; `history` is a spreadsheet's own.
    pub(super) fn reserving(names: &[&str]) -> Self {
        let taken = names.iter().chain(&["history"]).map(|name| name.to_lowercase());
        Self(taken.collect())
    }

    /// The nearest name to `wanted` that is free and allowed.
    pub(super) fn next(&mut self, wanted: &str) -> String {
        let replaced: String = wanted
            .chars()
            .map(|c| if "[]:*?/\\".contains(c) || model::is_obeyed(c) { '_' } else { c })
            .collect();
        let trimmed = replaced.trim().trim_matches('\'');
        let plain = if trimmed.is_empty() { "sheet" } else { trimmed };
        let mut number = 1_usize;
        loop {
            let suffix = if number == 1 { String::new() } else { format!(" ({number})") };
            let name = format!("{}{suffix}", cut(plain, LONGEST - suffix.len()));
            if self.0.insert(name.to_lowercase()) {
                return name;
            }
            number += 1;
        }
    }
}

/// At most so many units of UTF-16, without an apostrophe or blank at the end.
fn cut(text: &str, room: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += c.len_utf16();
        used > room
    });
    text[..end.map_or(text.len(), |(at, _)| at)].trim_end_matches(['\'', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_allowed_and_unique() {
        let mut names = Names::reserving(&["findings", "raw"]);
        let long = "a-subject-with-a-name-that-nobody-should-give";
        for (wanted, name) in [
            ("bfq", "bfq"),
            ("BFQ", "BFQ (2)"),
            ("raw", "raw (2)"),
            ("History", "History (2)"),
            ("a/b[c]:*?\\d", "a_b_c_____d"),
            ("'quoted'", "quoted"),
            ("", "sheet"),
            (long, "a-subject-with-a-name-that-nobo"),
            (long, "a-subject-with-a-name-that- (2)"),
            // An astral character counts twice.
            ("0123456789012345678901234567890", "0123456789012345678901234567890"),
            ("012345678901234567890123456789🦀", "012345678901234567890123456789"),
        ] {
            let found = names.next(wanted);
            assert_eq!(found, name, "{wanted}");
            assert!(found.encode_utf16().count() <= LONGEST);
            assert!(rust_xlsxwriter::utility::check_sheet_name(&found).is_ok(), "{found}");
        }
    }
}
