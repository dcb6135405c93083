//! Ways in which a journal is damaged behind its writer's back, and what its reader must say of it.

use crate::random::Random;
use executor::{JournalText, parse_journal};
use std::ops::Range;

/// What the marks of sessions begin with.
const MARK: &[u8] = b"SCHEDLAB_MARK";
/// Bytes in a row that read as zeros, at most.
const MOST_ZEROS: usize = 96;

/// How bytes are damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damage {
    /// A bit is another.
    Flip,
    /// A line is not there, nor its end.
    LostLine,
    /// A line comes again, right behind itself or further on.
    LineAgain,
    /// Bytes in a row are zeros.
    Zeros,
    /// Two lines in a row change places.
    Exchange,
    /// Ends of lines are blanks.
    Blanks,
}

/// What a reader must make of a damage: its words for it, and the place of the entry that it lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reading {
    told: String,
    lacks: Option<usize>,
}

/// A text with one damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DamagedText {
    pub(crate) bytes: Vec<u8>,
    pub(crate) damage: Damage,
    /// Nothing where the damage made one line of two, or two of one.
    reading: Option<Reading>,
}

/// What can be damaged of a text of lines: all up to the end of its last whole line. Without that
/// end, or without that line, it is a text of which less was written.
fn whole_lines(text: &[u8]) -> Option<usize> {
    text.iter().rposition(|byte| *byte == b'\n').filter(|length| *length > 0)
}

/// The text with one damage; nothing where there is nothing to damage.
pub(crate) fn damaged(text: &[u8], random: &mut Random) -> Option<DamagedText> {
    let length = whole_lines(text)?;
    let (lines, rest) = text.split_at(length);
    let split: Vec<&[u8]> = lines.split(|byte| *byte == b'\n').collect();
    let damages = [
        Damage::Flip,
        Damage::Flip,
        Damage::LostLine,
        Damage::LineAgain,
        Damage::Zeros,
        Damage::Exchange,
        Damage::Blanks,
    ];
    let damage = match *random.pick(&damages) {
        // The last one is not missed, and there is no other, nor an end between two.
        Damage::LostLine | Damage::Exchange | Damage::Blanks if split.len() < 2 => {
            Damage::LineAgain
        }
        damage => damage,
    };
    let (bytes, reading) = match damage {
        Damage::Flip => {
            let (at, bit) = place_of_flip(lines, random);
            let mut bytes = lines.to_owned();
            bytes[at] ^= 1 << bit;
            let reading = reading_of_bytes(lines, &bytes, at..at + 1);
            (bytes, reading)
        }
        Damage::Zeros => {
            let first = random.below(length);
            let end = length.min(first + 1 + random.below(MOST_ZEROS));
            let mut bytes = lines.to_owned();
            bytes[first..end].fill(0);
            let reading = reading_of_bytes(lines, &bytes, first..end);
            (bytes, reading)
        }
        damage => {
            let (bytes, reading) = with_other_lines(split, damage, random);
            (bytes, Some(reading))
        }
    };
    Some(DamagedText { bytes: [&bytes[..], rest].concat(), damage, reading })
}

/// Lines of which one is lost, comes again or stands elsewhere, or all of which are one.
fn with_other_lines(
    mut split: Vec<&[u8]>,
    damage: Damage,
    random: &mut Random,
) -> (Vec<u8>, Reading) {
    let all = split.len();
    let mut lacks = None;
    let told = match damage {
        Damage::LostLine => {
            let lost = random.below(all - 1);
            split.remove(lost);
            lacks = Some(lost);
            format!("numbers {0} to {0} are not there", lost + 1)
        }
        Damage::Exchange => {
            let first = random.below(all - 1);
            split.swap(first, first + 1);
            format!("line {}: number {} is not in its place", first + 2, first + 1)
        }
        Damage::Blanks => {
            let rest = "what else stands there is not as it was written";
            let told = format!("line 1: it holds {all} good ones; {rest}");
            return (split.join(&b' '), Reading { told, lacks });
        }
        Damage::LineAgain | Damage::Flip | Damage::Zeros => {
            let line = random.below(all);
            let to = line + 1 + random.below(all - line);
            split.insert(to, split[line]);
            format!("line {}: number {} comes again", to + 1, line + 1)
        }
    };
    (split.join(&b'\n'), Reading { told, lacks })
}

/// What must be made of a line of which these bytes are others.
fn reading_of_bytes(before: &[u8], after: &[u8], place: Range<usize>) -> Option<Reading> {
    let has_end = |bytes: &[u8]| bytes.contains(&b'\n');
    if has_end(&before[place.clone()]) || has_end(&after[place.clone()]) {
        return None;
    }
    let line = before[..place.start].iter().filter(|byte| **byte == b'\n').count();
    let told = format!("line {}: its checksum does not match", line + 1);
    Some(Reading { told, lacks: Some(line) })
}

/// A byte and a bit of it; in half of the cases one that makes another digit of a digit, which is
/// as good a text. Lines with the mark of a session, which is random, have none: a schedule is the
/// same again.
pub(crate) fn place_of_flip(text: &[u8], random: &mut Random) -> (usize, usize) {
    let lines = text.split(|byte| *byte == b'\n');
    let is_same_again = |line: &&[u8]| !line.windows(MARK.len()).any(|part| part == MARK);
    let numbers = lines.filter(is_same_again).flat_map(|line| line.split(|b| !b.is_ascii_digit()));
    let numbers: Vec<&[u8]> = numbers.filter(|number| !number.is_empty()).collect();
    if !numbers.is_empty() && random.one_in(2) {
        let number = *random.pick(&numbers);
        let begins = number.as_ptr().addr() - text.as_ptr().addr();
        return (begins + random.below(number.len()), 0);
    }
    (random.below(text.len()), random.below(8))
}

/// What a reader keeps to itself of damage of this text, which has none: that something is damaged,
/// or that an entry is none that was written there (invariant 2 of ARCHITECTURE.md); or what it
/// tells in other words, or uses otherwise. Nothing where it tells.
pub(crate) fn unseen(before: &[u8], damaged: &DamagedText) -> Option<String> {
    let read = |bytes: &[u8]| parse_journal(&String::from_utf8_lossy(bytes));
    let (before, after) = (read(before), read(&damaged.bytes));
    if !before.damaged.is_empty() {
        return None;
    }
    let mut written = before.entries.iter();
    let invented = after.entries.iter().find(|entry| !written.any(|one| one == *entry));
    if let Some(entry) = invented {
        return Some(format!("a damaged journal says what it did not: {entry:?}"));
    }
    if after.damaged.is_empty() {
        return Some("a damaged journal is read as whole".to_owned());
    }
    let Reading { told, lacks } = damaged.reading.clone()?;
    let kept = before.entries.iter().enumerate().filter(|(place, _)| Some(*place) != lacks);
    let wanted = JournalText {
        entries: kept.map(|(_, entry)| entry.clone()).collect(),
        damaged: vec![told],
        last_number: before.last_number,
    };
    (after != wanted).then(|| format!("a damaged journal is read as {after:?}, not as {wanted:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use executor::{JournalEntry, journal_text};

    #[test]
    fn every_damage_changes_the_text_and_spares_what_was_not_whole() {
        let entries: Vec<_> = (2..8).map(|group| JournalEntry::Group { group }).collect();
        let text = journal_text(&entries).unwrap() + "7 half a line";
        let mut seen = Vec::new();
        for seed in 0..400 {
            let found = damaged(text.as_bytes(), &mut Random::new(seed));
            let found = found.unwrap();
            let damage = found.damage;
            assert_ne!(found.bytes, text.as_bytes(), "{damage:?}");
            assert!(found.bytes.ends_with(b"\n7 half a line"), "{damage:?}");
            if !seen.contains(&damage) {
                seen.push(damage);
            }
        }
        assert_eq!(seen.len(), 6, "{seen:?}");
        assert_eq!(damaged(b"half a line", &mut Random::new(1)), None);
    }
}
