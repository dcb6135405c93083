//! Ways in which the records of a campaign, or what they were made from, are damaged behind its
//! writer's back, and which links of their chain a reader must name for each: which record, and why it
//! does not follow what is before it.

use crate::machine::SimulatedMachine;
use crate::random::Random;
use std::path::Path;
use store::{BrokenLink, LinkBreak, load_on};

/// What the simulator's records say of how long they took.
const LENGTH: &str = "\"duration_ns\":1,";
/// The same when somebody changed it.
const OTHER_LENGTH: &str = "\"duration_ns\":2,";

/// How a campaign is damaged. Lines are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordDamage {
    /// So many lines from the first one on are not there; those behind them are.
    LostLines { first: usize, count: usize },
    /// A line and the next one change places.
    Exchange { first: usize },
    /// A line comes again, in front of another one or at the end.
    LineAgain { line: usize, before: usize },
    /// A number of a line is another.
    Change { line: usize },
    /// The text that the plan was made from is another.
    OtherText,
}

impl RecordDamage {
    /// One of a campaign of so many records, which are two at least.
    fn drawn(count: usize, random: &mut Random) -> Self {
        match random.below(5) {
            0 => {
                let first = random.below(count - 1);
                Self::LostLines { first, count: random.below(count - 1 - first) + 1 }
            }
            1 => Self::Exchange { first: random.below(count - 1) },
            2 => {
                let line = random.below(count);
                Self::LineAgain { line, before: line + 1 + random.below(count - line) }
            }
            3 => Self::Change { line: random.below(count) },
            _ => Self::OtherText,
        }
    }

    /// The lines with it.
    fn of<'l>(self, mut lines: Vec<&'l str>, changed: &'l mut String) -> Vec<&'l str> {
        match self {
            Self::LostLines { first, count } => drop(lines.drain(first..first + count)),
            Self::Exchange { first } => lines.swap(first, first + 1),
            Self::LineAgain { line, before } => lines.insert(before, lines[line]),
            Self::Change { line } => {
                *changed = lines[line].replacen(LENGTH, OTHER_LENGTH, 1);
                lines[line] = changed.as_str();
            }
            Self::OtherText => {}
        }
        lines
    }

    /// What must be named where a campaign of so many records, numbered as their lines, has it.
    fn named(self, count: usize) -> Vec<BrokenLink> {
        // By the place of the line in what is left.
        let all = match self {
            Self::LostLines { first, count } => vec![(first, LinkBreak::Missing(count as u64))],
            Self::Exchange { first } => vec![
                (first, LinkBreak::OtherOrder),
                (first + 1, LinkBreak::Misplaced),
                (first + 2, LinkBreak::OtherOrder),
            ],
            // What follows its own copy follows the same line.
            Self::LineAgain { line, before } if before == line + 1 => {
                vec![(before, LinkBreak::Misplaced)]
            }
            Self::LineAgain { before, .. } => {
                vec![(before, LinkBreak::Misplaced), (before + 1, LinkBreak::OtherOrder)]
            }
            Self::Change { line } => vec![(line + 1, LinkBreak::ChangedBefore)],
            Self::OtherText => vec![(0, LinkBreak::OtherText)],
        };
        let left = match self {
            Self::LostLines { count: lost, .. } => count - lost,
            Self::LineAgain { .. } => count + 1,
            Self::Exchange { .. } | Self::Change { .. } | Self::OtherText => count,
        };
        let there = all.into_iter().filter(|(place, _)| *place < left);
        there.map(|(place, kind)| BrokenLink { line: place + 1, kind }).collect()
    }
}

/// Damages a campaign that has ended, and holds what is named of it against what must be. It is as
/// before when this returns.
pub(crate) fn check(machine: &SimulatedMachine, directory: &Path, random: &mut Random) {
    let files = ["records.jsonl", "experiment.toml"].map(|name| directory.join(name));
    let files = files.each_ref().map(|path| machine.state().disk.file(path));
    let [Some(records), Some(origin)] = files else {
        return machine.blame("a campaign lacks its records or its experiment");
    };
    let bytes = |file: usize| machine.state().disk.bytes(file).to_owned();
    let before = [(records, bytes(records)), (origin, bytes(origin))];
    let text = String::from_utf8_lossy(&before[0].1).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let count = lines.len();
    if count < 2 {
        return;
    }
    let damage = RecordDamage::drawn(count, random);
    if damage == RecordDamage::OtherText {
        machine.state().disk.exchange(origin, b"title = \"another\"\n".to_vec());
    } else {
        let mut changed = String::new();
        let damaged = damage.of(lines, &mut changed).join("\n") + "\n";
        machine.state().disk.exchange(records, damaged.into_bytes());
    }
    let loaded = machine.undisturbed(|| load_on(&*machine.files(), directory));
    for (file, bytes) in before {
        machine.state().disk.exchange(file, bytes);
    }
    let wanted = damage.named(count);
    match loaded {
        Ok(loaded) if loaded.broken_links == wanted && !loaded.flaws.is_empty() => {}
        Ok(loaded) => machine.blame(format!(
            "{damage:?} of {count} records must be named as {wanted:?}, and is as {:?}: {:?}",
            loaded.broken_links, loaded.flaws
        )),
        Err(error) => machine.blame(format!("{damage:?} of {count} records: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::discriminant;

    #[test]
    fn every_damage_is_drawn_and_changes_the_lines() {
        let written: Vec<String> = (0..4).map(|number| format!("{{{LENGTH}{number}}}")).collect();
        let mut seen = Vec::new();
        for seed in 0..200 {
            let damage = RecordDamage::drawn(written.len(), &mut Random::new(seed));
            let lines: Vec<&str> = written.iter().map(String::as_str).collect();
            let mut changed = String::new();
            let damaged = damage.of(lines.clone(), &mut changed);
            assert_eq!(damaged == lines, damage == RecordDamage::OtherText, "{damage:?}");
            assert!(damage.named(lines.len()).iter().all(|link| link.line <= damaged.len()));
            if !seen.contains(&discriminant(&damage)) {
                seen.push(discriminant(&damage));
            }
        }
        assert_eq!(seen.len(), 5);
    }
}
