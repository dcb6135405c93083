//! Ways in which a journal is damaged behind its writer's back, and what its reader must say of it.

use crate::random::Random;
use executor::parse_journal;

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

/// What can be damaged of a text of lines: all up to the end of its last whole line. Without that
/// end, or without that line, it is a text of which less was written.
fn whole_lines(text: &[u8]) -> Option<usize> {
    text.iter().rposition(|byte| *byte == b'\n').filter(|length| *length > 0)
}

/// The text with one damage, and which; nothing where there is nothing to damage.
pub(crate) fn damaged(text: &[u8], random: &mut Random) -> Option<(Vec<u8>, Damage)> {
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
    let bytes = match damage {
        Damage::Flip => {
            let (at, bit) = place_of_flip(lines, random);
            let mut bytes = lines.to_owned();
            bytes[at] ^= 1 << bit;
            bytes
        }
        Damage::LostLine => {
            let mut split = split;
            split.remove(random.below(split.len() - 1));
            split.join(&b'\n')
        }
        Damage::LineAgain => {
            let mut split = split;
            let line = random.below(split.len());
            let to = line + 1 + random.below(split.len() - line);
            split.insert(to, split[line]);
            split.join(&b'\n')
        }
        Damage::Exchange => {
            let mut split = split;
            let first = random.below(split.len() - 1);
            split.swap(first, first + 1);
            split.join(&b'\n')
        }
        Damage::Blanks => split.join(&b' '),
        Damage::Zeros => {
            let first = random.below(length);
            let end = length.min(first + 1 + random.below(MOST_ZEROS));
            let mut bytes = lines.to_owned();
            bytes[first..end].fill(0);
            bytes
        }
    };
    Some(([&bytes[..], rest].concat(), damage))
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

/// What a reader keeps to itself of damage between these texts, the first of which has none: that
/// something is damaged, or that an entry is none that was written there (invariant 2 of
/// ARCHITECTURE.md). Nothing where it tells.
pub(crate) fn unseen(before: &[u8], after: &[u8]) -> Option<String> {
    let read = |bytes: &[u8]| parse_journal(&String::from_utf8_lossy(bytes));
    let (before, after) = (read(before), read(after));
    if !before.damaged.is_empty() {
        return None;
    }
    let mut written = before.entries.iter();
    let invented = after.entries.iter().find(|entry| !written.any(|one| one == *entry));
    if let Some(entry) = invented {
        return Some(format!("a damaged journal says what it did not: {entry:?}"));
    }
    after.damaged.is_empty().then(|| "a damaged journal is read as whole".to_owned())
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
            let (bytes, damage) = found.unwrap();
            assert_ne!(bytes, text.as_bytes(), "{damage:?}");
            assert!(bytes.ends_with(b"\n7 half a line"), "{damage:?}");
            if !seen.contains(&damage) {
                seen.push(damage);
            }
        }
        assert_eq!(seen.len(), 6, "{seen:?}");
        assert_eq!(damaged(b"half a line", &mut Random::new(1)), None);
    }
}
