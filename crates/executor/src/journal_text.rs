//! The text of a journal: an entry a line, each with its number and a checksum, so that a
//! damaged or lost line is known and costs no other one.
//!
//! `NUMBER CHECKSUM ENTRY`: the number counts lines from 1, the checksum is the CRC-32 (IEEE
//! 802.3, eight hexadecimal digits) of `NUMBER ENTRY`, and the entry is JSON. Journals of earlier
//! versions have the entries alone.

use crate::journal_damage::JournalDamage;
use crate::journal_entry::JournalEntry;
use model::fault_of_line;
use serde::de::IgnoredAny;
use std::collections::BTreeSet;

/// Hexadecimal digits of a checksum.
const CHECKSUM_DIGITS: usize = 8;
/// Decimal digits of the largest number.
const NUMBER_DIGITS: usize = 20;

/// What a journal's text says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalText {
    /// Every line that is as it was written.
    pub entries: Vec<JournalEntry>,
    /// Lines that are not, or are not there, and why; what they said is unknown. Lines in a row
    /// that are damaged alike are one, and of very many more than a few are told by their number.
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

/// Reads the text of a journal. An append that was torn announces a change that was never made, and
/// is dropped: a last line without an end that is the beginning of one that could have been
/// written. Every other line that is damaged, missing or not in its place is told; all that are as they were
/// written are used in the order of their numbers, whatever stands between them.
#[must_use]
pub fn parse_journal(text: &str) -> JournalText {
    Lines::of(text).read()
}

/// The length of a journal without the torn append at its end, and whether its last line then has
/// its end.
pub(crate) fn whole_length(bytes: &[u8]) -> (usize, bool) {
    let last = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let is_torn = Lines::of(&String::from_utf8_lossy(bytes)).is_torn;
    let length = if is_torn { last } else { bytes.len() };
    (length, length == last)
}

/// A line that is as it was written.
struct GoodLine {
    number: u64,
    entry: JournalEntry,
    /// Damaged lines right before it: each took a number, whichever it was.
    unread_before: u64,
}

/// The lines of a journal as they stand in it.
#[derive(Default)]
struct Lines {
    good: Vec<GoodLine>,
    /// Their numbers, each with a checksum of its entry and the place of the line: very many may have
    /// one number.
    numbers: BTreeSet<(u64, u32, usize)>,
    damage: JournalDamage,
    has_numbers: bool,
    /// The largest number so far.
    largest: u64,
    /// Damaged lines since the last good one.
    unread: u64,
    is_torn: bool,
}

impl Lines {
    fn of(text: &str) -> Self {
        let mut lines = Self::default();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            match line.strip_suffix('\n') {
                Some(line) => lines.add(index + 1, line),
                None => lines.add_last(index + 1, line),
            }
        }
        lines
    }

    /// The last line, where it has no end.
    fn add_last(&mut self, index: usize, line: &str) {
        self.is_torn = is_torn(line, self.largest + self.unread + 1, self.has_numbers);
        if !self.is_torn {
            self.add(index, line);
        }
    }

    fn add(&mut self, index: usize, line: &str) {
        match parse_line(line, self.has_numbers) {
            Ok((number, entry)) => {
                self.has_numbers |= number.is_some();
                let number = number.unwrap_or(self.largest + 1 + self.unread);
                self.add_good(index, number, entry);
            }
            Err(why) => self.add_damaged(index, line, &why),
        }
    }

    fn add_good(&mut self, index: usize, number: u64, entry: JournalEntry) {
        let checksum = checksum_of(&entry);
        if number <= self.largest {
            let (first, last) = ((number, checksum, 0), (number, checksum, usize::MAX));
            let mut alike = self.numbers.range(first..=last);
            if alike.any(|(.., place)| self.good[*place].entry == entry) {
                self.damage.add_line(index, format!("number {number} comes again"));
                return;
            }
            self.damage.add_line(index, format!("number {number} is not in its place"));
        }
        self.largest = self.largest.max(number);
        let unread_before = std::mem::take(&mut self.unread);
        self.numbers.insert((number, checksum, self.good.len()));
        self.good.push(GoodLine { number, entry, unread_before });
    }

    /// A line that is not as it was written may hold others that are.
    fn add_damaged(&mut self, index: usize, line: &str, why: &str) {
        let (found, is_all) = good_lines_in(line);
        if found.is_empty() {
            self.damage.add_line(index, why.to_owned());
        } else {
            let rest = "what else stands there is not as it was written";
            self.damage.add_line(index, format!("it holds {} good ones; {rest}", found.len()));
        }
        for (number, entry) in found {
            self.has_numbers = true;
            self.add_good(index, number, entry);
        }
        self.unread += u64::from(!is_all);
    }

    fn read(self) -> JournalText {
        let Self { mut good, mut damage, largest, unread, .. } = self;
        good.sort_by_key(|line| line.number);
        let mut last = 0;
        for line in &good {
            let expected = last + 1 + line.unread_before;
            if line.number > expected {
                let before = line.number - 1;
                damage.add(format!("numbers {expected} to {before} are not there"));
            }
            last = line.number;
        }
        let entries = good.into_iter().map(|line| line.entry).collect();
        JournalText { entries, damaged: damage.into_told(), last_number: largest + unread }
    }
}

/// Whether a last line without an end is the beginning of the line of this number. An append that a
/// kill or a full disk tore off holds no zero byte; what a cut of power left may, and is told.
fn is_torn(line: &str, number: u64, has_numbers: bool) -> bool {
    let is_begun = |text: &str| {
        text.starts_with('{')
            && serde_json::from_slice::<IgnoredAny>(text.as_bytes())
                .is_err_and(|error| error.is_eof())
    };
    if line.starts_with('{') {
        return !has_numbers && is_begun(line);
    }
    let number = format!("{number} ");
    let Some(rest) = line.strip_prefix(&number) else { return number.starts_with(line) };
    let checksum = rest.split(' ').next().unwrap_or_default();
    if !checksum.bytes().all(is_checksum_digit) {
        return false;
    }
    match rest[checksum.len()..].strip_prefix(' ') {
        None => checksum.len() <= CHECKSUM_DIGITS,
        Some(entry) => checksum.len() == CHECKSUM_DIGITS && (entry.is_empty() || is_begun(entry)),
    }
}

/// The lines with a number and a matching checksum within this text, whatever stands between them;
/// and whether nothing but separators does.
fn good_lines_in(text: &str) -> (Vec<(u64, JournalEntry)>, bool) {
    let (mut found, mut rest) = (Vec::new(), text);
    let mut is_all = true;
    let is_blank = |text: &str| text.chars().all(char::is_whitespace);
    while let Some(at) = next_number(rest) {
        let (before, line) = rest.split_at(at);
        is_all = is_all && is_blank(before);
        if let Some((length, entry)) = good_line_at(line) {
            found.push(entry);
            rest = &line[length..];
        } else {
            // Its first letter is a digit.
            is_all = false;
            rest = &line[1..];
        }
    }
    let is_all = is_all && is_blank(rest) && !found.is_empty();
    (found, is_all)
}

/// Where the next line could begin: at digits with a blank behind them, no more than a number has.
fn next_number(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let begin = from + bytes[from..].iter().position(u8::is_ascii_digit)?;
        let digits = bytes[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = begin + digits;
        if bytes.get(end) == Some(&b' ') {
            return Some(begin.max(end.saturating_sub(NUMBER_DIGITS)));
        }
        from = end;
    }
}

/// The line with a matching checksum at the beginning of this text, and its length in bytes.
fn good_line_at(text: &str) -> Option<(usize, (u64, JournalEntry))> {
    // No more than a line of ours has: this is asked at every letter of a damaged one.
    let digits = text.bytes().take(NUMBER_DIGITS + 1).take_while(u8::is_ascii_digit).count();
    let (number, rest) = (&text[..digits], text[digits..].strip_prefix(' ')?);
    let begin = rest.bytes().take(CHECKSUM_DIGITS + 1);
    let checksum = begin.take_while(|byte| is_checksum_digit(*byte)).count();
    if digits == 0 || checksum != CHECKSUM_DIGITS {
        return None;
    }
    let entry = rest[CHECKSUM_DIGITS..].strip_prefix(' ').filter(|entry| entry.starts_with('{'))?;
    let mut values =
        serde_json::Deserializer::from_slice(entry.as_bytes()).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    let length = number.len() + 1 + CHECKSUM_DIGITS + 1 + values.byte_offset();
    match parse_line(&text[..length], true) {
        Ok((Some(number), entry)) => Some((length, (number, entry))),
        _ => None,
    }
}

fn is_checksum_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// A line's number, where it has one, and its entry.
fn parse_line(line: &str, has_numbers: bool) -> Result<(Option<u64>, JournalEntry), String> {
    let entry = |text: &str| {
        serde_json::from_slice(text.as_bytes())
            .map_err(|error| format!("its entry cannot be read: {}", fault_of_line(&error)))
    };
    if line.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
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

/// What equal entries have alike, however their lines are spelled.
fn checksum_of(entry: &JournalEntry) -> u32 {
    // What was read can be encoded.
    crc32fast::hash(&serde_json::to_vec(entry).unwrap_or_default())
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
                let good = written.iter().enumerate().filter(|(index, _)| is_end || *index != line);
                for (_, entry) in good {
                    assert!(read.entries.contains(entry), "{at} {bit}: {read:?}");
                }
                assert!(!read.damaged.is_empty(), "{at} {bit}: {}", lines[line]);
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

    /// Where each is compared with all that have its number this ends at the time limit.
    #[test]
    fn very_many_lines_of_one_number_are_all_used_and_looked_up() {
        let written = entries(300_000);
        let lines = written.iter().chain(&written[..2]);
        let text: String = lines.map(|entry| journal_line(1, entry).unwrap()).collect();
        let read = parse_journal(&text);
        assert!(read.entries == written, "{} entries", read.entries.len());
        assert!(!read.damaged.is_empty(), "each but the first is out of its place");
    }

    #[test]
    fn empty_lines_are_called_empty_and_a_fault_is_told_by_no_line_of_its_own() {
        let entries = entries(2);
        let text = journal_text(&entries).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let read = parse_journal(&format!("{}\n\n \t\n{}\n", lines[0], lines[1]));
        assert_eq!(read.entries, entries);
        assert_eq!(read.damaged[0], "each of lines 2 to 3: it is empty");
        let unnumbered = parse_journal("{\"ha\n{\"entry\":\"group\",\"group\":5}\n");
        assert_eq!(unnumbered.entries.len(), 1);
        let told = "line 1: its entry cannot be read: it ends after 4 bytes, inside a string";
        assert_eq!(unnumbered.damaged[0], told);
    }

    #[test]
    fn of_very_many_damaged_lines_few_are_told_and_every_good_one_is_used() {
        let text = journal_text(&entries(3)).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let bad = "x\n".repeat(1_000_000);
        let read = parse_journal(&[lines[0], &bad, lines[1], &bad, lines[2]].concat());
        assert_eq!(read.entries, entries(3));
        assert_eq!(
            read.damaged,
            [
                "each of lines 2 to 1000001: its checksum does not match",
                "each of lines 1000003 to 2000002: its checksum does not match",
            ]
        );
        // Each is damaged in another way than the one before.
        let mixed = "x\n{\n".repeat(50_000);
        let read = parse_journal(&[&mixed, lines[0], &mixed, lines[1], lines[2]].concat());
        assert_eq!(read.entries, entries(3));
        assert_eq!(read.damaged.len(), 21, "{:?}", read.damaged);
        let others = &read.damaged[20];
        assert_eq!(others, "199980 more places are damaged or not there");
    }

    #[test]
    fn a_line_of_digits_and_lines_that_all_come_again_are_answered_at_once() {
        for letter in ["1", "a"] {
            let long = letter.repeat(1_000_000);
            let read = parse_journal(&format!("{long}\n1 {long}\n"));
            assert_eq!((read.entries.len(), read.damaged.len()), (0, 1), "{letter}");
        }
        let text = journal_text(&entries(20_000)).unwrap();
        let read = parse_journal(&(text.clone() + &text));
        assert_eq!((read.entries.len(), read.damaged.len()), (20_000, 21));
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
    fn a_torn_end_is_no_damage_and_a_whole_line_without_its_end_is_used() {
        let text = journal_text(&entries(3)).unwrap();
        for length in 0..text.len() {
            let read = parse_journal(&text[..length]);
            let is_whole = text[length..].starts_with('\n');
            let count = text[..length].matches('\n').count() + usize::from(is_whole);
            assert_eq!(read.entries.len(), count, "{length}");
            assert_eq!(read.damaged, Vec::<String>::new(), "{length}");
            let last = text[..length].rfind('\n').map_or(0, |end| end + 1);
            let kept = if is_whole { length } else { last };
            assert_eq!(whole_length(&text.as_bytes()[..length]), (kept, kept == last));
        }
        let read = parse_journal("{\"entry\":\"group\",\"group\":77}\n{\"entry\":\"gro");
        assert_eq!((read.entries, read.damaged), (entries(1), Vec::new()));
    }

    #[test]
    fn bytes_at_the_end_that_no_append_can_have_left_are_told_and_cost_no_good_line() {
        let text = journal_text(&entries(3)).unwrap();
        let last = text.trim_end().rfind('\n').unwrap() + 1;
        for end in ["\0", "   ", "garbage", "4 zz", "9 0000", "4 000000000", "4 00000000 [", "{"] {
            let read = parse_journal(&(text.clone() + end));
            assert_eq!((read.entries, read.damaged.len()), (entries(3), 1), "{end:?}");
            let (length, is_ended) = whole_length((text.clone() + end).as_bytes());
            assert_eq!((length, is_ended), (text.len() + end.len(), false), "{end:?}");
        }
        for at in last..text.len() {
            let zeros = text[..at].to_owned() + &"\0".repeat(text.len() - at);
            let read = parse_journal(&zeros);
            assert_eq!(read.damaged.len(), 1, "{at}: {read:?}");
            let count = if at + 1 == text.len() { 3 } else { 2 };
            assert_eq!(read.entries, entries(count), "{at}");
        }
        for other in ["\0", "\u{fffd}"] {
            let read = parse_journal(&other.repeat(512));
            assert_eq!((read.entries.len(), read.damaged.len()), (0, 1), "{other:?}");
        }
    }

    #[test]
    fn good_lines_are_used_in_the_order_of_numbers_whatever_stands_between_them() {
        let text = journal_text(&entries(4)).unwrap();
        for end in [" ", "\r", "\r\n", "\0", ""] {
            let read = parse_journal(&text.replace('\n', end));
            assert_eq!((read.entries, read.last_number >= 4), (entries(4), true), "{end:?}");
            assert!(!read.damaged.is_empty(), "{end:?}");
        }
        // A line's number ends where other digits stand right before it, however many.
        for count in [1, 19, 20, 100] {
            let before = "7".repeat(count);
            let read = parse_journal(&format!("{before} {before}{text}"));
            assert_eq!((read.entries, read.damaged.len()), (entries(4), 1), "{count}");
        }
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        lines.reverse();
        let read = parse_journal(&lines.concat());
        assert_eq!((read.entries, read.damaged.len(), read.last_number), (entries(4), 3, 4));
    }
}
