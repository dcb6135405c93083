//! The text of a journal: an entry a line, each with its number and a checksum, so that a
//! damaged or lost line is known and costs no other one.
//!
//! `NUMBER CHECKSUM ENTRY`: the number counts lines from 1, the checksum is the CRC-32 (IEEE
//! 802.3, eight hexadecimal digits) of `NUMBER ENTRY`, and the entry is JSON. Journals of earlier
//! versions have the entries alone.

use crate::journal_entry::JournalEntry;

/// What a journal's text says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalText {
    /// Every line that is as it was written.
    pub entries: Vec<JournalEntry>,
    /// Lines that are not, or are not there, and why; what they said is unknown.
    pub damaged: Vec<String>,
    /// The number of the last line; the next one has the next.
    pub last_number: u64,
}

impl JournalText {
    /// Whether nothing is left to put back, and nothing is unknown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.damaged.is_empty()
    }
}

/// The line of an entry, with its end.
///
/// # Errors
/// When it cannot be encoded.
pub fn journal_line(number: u64, entry: &JournalEntry) -> serde_json::Result<String> {
    let text = serde_json::to_string(entry)?;
    Ok(numbered(number, &text) + "\n")
}

/// The text of a whole journal.
///
/// # Errors
/// When an entry cannot be encoded.
pub fn journal_text(entries: &[JournalEntry]) -> serde_json::Result<String> {
    (1..).zip(entries).map(|(number, entry)| journal_line(number, entry)).collect()
}

/// Reads the text of a journal. A last line without an end is a torn append, announces a change
/// that was never made, and is dropped; every other line that is damaged or missing is told.
#[must_use]
pub fn parse_journal(text: &str) -> JournalText {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut read = JournalText::default();
    let mut has_numbers = false;
    // Each took a number, whichever it was.
    let mut unread = 0;
    for (index, line) in whole.split('\n').enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match parse_line(line, has_numbers) {
            Ok((Some(number), _)) if number <= read.last_number => {
                read.damaged.push(format!("line {}: number {number} comes again", index + 1));
            }
            Ok((number, entry)) => {
                has_numbers |= number.is_some();
                let expected = read.last_number + 1 + unread;
                let number = number.unwrap_or(expected);
                if number > expected {
                    let last = number - 1;
                    read.damaged.push(format!("numbers {expected} to {last} are not there"));
                }
                (read.last_number, unread) = (number, 0);
                read.entries.push(entry);
            }
            Err(why) => {
                unread += 1;
                read.damaged.push(format!("line {}: {why}", index + 1));
            }
        }
    }
    read.last_number += unread;
    read
}

/// A line's number, where it has one, and its entry.
fn parse_line(line: &str, has_numbers: bool) -> Result<(Option<u64>, JournalEntry), String> {
    let entry = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
    if line.starts_with('{') {
        if has_numbers {
            return Err("it has neither number nor checksum".to_owned());
        }
        return Ok((None, entry(line)?));
    }
    let mut parts = line.splitn(3, ' ');
    let number = parts.next().and_then(|number| number.parse::<u64>().ok());
    let text = parts.nth(1).unwrap_or_default();
    match number {
        // The largest could not be followed by another.
        Some(number) if number < u64::MAX / 2 && line == numbered(number, text) => {
            Ok((Some(number), entry(text)?))
        }
        _ => Err("its checksum does not match".to_owned()),
    }
}

fn numbered(number: u64, text: &str) -> String {
    let checksum = crc32fast::hash(format!("{number} {text}").as_bytes());
    format!("{number} {checksum:08x} {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(count: i32) -> Vec<JournalEntry> {
        (0..count).map(|group| JournalEntry::Group { group: group + 77 }).collect()
    }

    #[test]
    fn every_good_line_is_used_whichever_other_one_is_damaged() {
        let written = entries(5);
        let text = journal_text(&written).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let read = parse_journal(&String::from_utf8_lossy(&bytes));
                let line = text[..at].matches('\n').count();
                let is_end = text.as_bytes()[at] == b'\n';
                let good = written
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| *index != line && !(is_end && *index == line + 1));
                for (_, entry) in good {
                    assert!(read.entries.contains(entry), "{at} {bit}: {read:?}");
                }
                // The end of the last line makes it a torn one.
                let is_told = !read.damaged.is_empty() || at + 1 == text.len();
                assert!(is_told, "{at} {bit}: {}", lines[line]);
            }
        }
    }

    #[test]
    fn lost_repeated_and_foreign_lines_are_told() {
        let text = journal_text(&entries(4)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let joined = |lines: &[&str]| parse_journal(&(lines.join("\n") + "\n"));
        let lost = joined(&[lines[0], lines[3]]);
        assert_eq!((lost.entries.len(), lost.last_number), (2, 4));
        assert_eq!(lost.damaged, ["numbers 2 to 3 are not there"]);
        assert_eq!(joined(&lines[1..]).damaged, ["numbers 1 to 1 are not there"]);
        let again = joined(&[lines[0], lines[1], lines[1], lines[2]]);
        assert_eq!((again.entries.len(), again.damaged.len()), (3, 1));
        let foreign = joined(&[lines[0], r#"{"entry":"group","group":5}"#, lines[1]]);
        assert_eq!((foreign.entries.len(), foreign.damaged.len()), (2, 1));
        let damaged = joined(&[lines[0], "garbage", lines[2], lines[3]]);
        assert_eq!((damaged.entries.len(), damaged.damaged.len()), (3, 1));
    }

    #[test]
    fn the_text_of_an_earlier_version_is_read_and_goes_on_with_numbers() {
        let old = "{\"entry\":\"group\",\"group\":77}\n{oops\n{\"entry\":\"group\",\"group\":78}\n";
        let read = parse_journal(old);
        assert_eq!((read.entries, read.last_number), (entries(2), 3));
        assert!(read.damaged[0].starts_with("line 2"), "{:?}", read.damaged);
        let line = journal_line(4, &JournalEntry::Group { group: 79 }).unwrap();
        let read = parse_journal(&format!("{old}{line}"));
        assert_eq!((read.entries, read.damaged.len()), (entries(3), 1));
    }

    #[test]
    fn a_torn_end_is_no_damage() {
        let text = journal_text(&entries(3)).unwrap();
        for length in 0..text.len() {
            let read = parse_journal(&text[..length]);
            assert_eq!(read.entries.len(), text[..length].matches('\n').count());
            assert_eq!(read.damaged, Vec::<String>::new());
        }
    }
}
