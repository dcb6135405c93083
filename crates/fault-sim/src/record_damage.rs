//! Ways in which the records of a campaign, or what they were made from, are damaged behind its
//! writer's back, and what a reader must tell of each: which record does not follow what is before
//! it and why, which are missing at the end, and by which digests.

use crate::machine::SimulatedMachine;
use crate::random::Random;
use model::{Binding, Plan, Record};
use std::path::Path;
use store::{BrokenLink, LinkBreak, LoadedCampaign, load_on, names_plan};

/// What the simulator's records say of how long they took.
const LENGTH: &str = "\"duration_ns\":1,";
/// The same when somebody changed it.
const OTHER_LENGTH: &str = "\"duration_ns\":2,";
/// Digits of a digest that are told.
const TOLD_DIGITS: usize = 12;
/// What the flaws that are told of runs which went on have, and no other.
const OF_RUNS: &str = " run ";

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
    /// So many lines are there, and half of the next one where it is torn.
    LostEnd { kept: usize, is_torn: bool },
    /// The text that the plan was made from is another.
    OtherText,
}

impl RecordDamage {
    /// One of a campaign of so many records, which are two at least.
    fn drawn(count: usize, random: &mut Random) -> Self {
        match random.below(6) {
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
            4 => Self::LostEnd { kept: random.below(count), is_torn: random.one_in(2) },
            _ => Self::OtherText,
        }
    }

    /// The text of these lines with it.
    fn text_of(self, written: &[&str]) -> String {
        let changed: String;
        let mut lines = written.to_vec();
        match self {
            Self::LostLines { first, count } => drop(lines.drain(first..first + count)),
            Self::Exchange { first } => lines.swap(first, first + 1),
            Self::LineAgain { line, before } => lines.insert(before, written[line]),
            Self::Change { line } => {
                changed = lines[line].replacen(LENGTH, OTHER_LENGTH, 1);
                lines[line] = changed.as_str();
            }
            Self::LostEnd { kept, .. } => lines.truncate(kept),
            Self::OtherText => {}
        }
        let whole: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let torn = match self {
            Self::LostEnd { kept, is_torn: true } => &written[kept][..torn_bytes(written[kept])],
            _ => "",
        };
        whole + torn
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
            Self::LostEnd { .. } => Vec::new(),
            Self::OtherText => vec![(0, LinkBreak::OtherText)],
        };
        let left = match self {
            Self::LostLines { count: lost, .. } => count - lost,
            Self::LineAgain { .. } => count + 1,
            Self::LostEnd { kept, .. } => kept,
            Self::Exchange { .. } | Self::Change { .. } | Self::OtherText => count,
        };
        let there = all.into_iter().filter(|(place, _)| *place < left);
        there.map(|(place, kind)| BrokenLink { line: place + 1, kind }).collect()
    }

    /// The sentences that must be told of it, but those about runs that went on. `written` are the
    /// lines of the campaign that has it, and the last of them had this digest.
    fn told(self, written: &[&str], last: &str, damaged: &LoadedCampaign) -> Vec<String> {
        let records = &damaged.records;
        let of_link = |link: BrokenLink| {
            let record = records.get(link.line - 1)?;
            Some(words_of(link.kind, &name_of(link.line, record)))
        };
        let links = self.named(written.len()).into_iter().filter_map(of_link);
        links.chain(self.told_of_end(written, last, damaged)).collect()
    }

    /// The same of the end alone.
    fn told_of_end(self, written: &[&str], last: &str, damaged: &LoadedCampaign) -> Option<String> {
        let (count, there) = (written.len(), damaged.records.len());
        let ended = format!("the campaign ended with {count} records, and {there} are there");
        match self {
            Self::LostLines { .. } => Some(ended),
            // The last one of all is a copy of another, behind which all others seem to be lost.
            Self::LineAgain { line, before } if before == count && line + 1 < count => {
                Some(format!("{ended}: {}", missing(line + 2, count)))
            }
            Self::LineAgain { .. } => Some(ended),
            Self::LostEnd { kept, is_torn: false } => {
                Some(format!("{ended}: {}", missing(kept + 1, count)))
            }
            Self::LostEnd { kept, is_torn: true } => {
                let (number, bytes) = (kept + 1, torn_bytes(written[kept]));
                let torn = format!(
                    "line {number} of records.jsonl ended after {bytes} bytes and was dropped"
                );
                Some(if number == count {
                    format!("{ended}: the last one, number {count}, is torn: {torn}")
                } else {
                    let missing = missing(number + 1, count);
                    format!("{ended}: {missing}, and number {number} is torn: {torn}")
                })
            }
            Self::Change { line: changed } | Self::Exchange { first: changed }
                if changed + usize::from(matches!(self, Self::Exchange { .. })) + 1 == count =>
            {
                let name = name_of(count, damaged.records.last()?);
                let there = damaged.digests.last()?.to_string();
                let [there, named] = [there.as_str(), last].map(|digest| &digest[..TOLD_DIGITS]);
                Some(format!(
                    "{name}, the last of {count}, is not that which the campaign ended with: its \
                     digest is {there}, and state.json names {named}"
                ))
            }
            Self::Change { .. } | Self::Exchange { .. } | Self::OtherText => None,
        }
    }
}

/// Bytes that are left of a line that is torn.
fn torn_bytes(line: &str) -> usize {
    line.len() / 2
}

/// A record as flaws name it.
fn name_of(line: usize, record: &Record) -> String {
    let block = record.block + 1;
    format!("the record in line {line} (block {block}, {}, {})", record.subject, record.workload)
}

/// What is told of a link.
fn words_of(kind: LinkBreak, name: &str) -> String {
    match kind {
        LinkBreak::OtherOrder => format!(
            "{name} does not follow the record that it was written after; none is missing, the \
             order of the records is another"
        ),
        LinkBreak::OtherText => {
            format!("{name} was made from another text than that which lies beside it")
        }
        LinkBreak::ChangedBefore => {
            format!("the record before {name} was changed after it was written")
        }
        LinkBreak::Missing(1) => format!("one record is missing before {name}"),
        LinkBreak::Missing(missing) => format!("{missing} records are missing before {name}"),
        LinkBreak::Misplaced => format!("{name} is not where it was written"),
        LinkBreak::Apart | LinkBreak::ChangedOrMissing => format!("{name} is no import's"),
    }
}

/// What is told of records that are missing from this number on, of so many.
fn missing(first: usize, all: usize) -> String {
    if first == all {
        return format!("the last one, number {all}, is missing");
    }
    format!("the last {}, numbers {first} to {all}, are missing", all + 1 - first)
}

/// Damages a campaign that has ended, and holds what is told of it against what must be. It is as
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
    let written: Vec<&str> = text.lines().collect();
    let count = written.len();
    let load = || machine.undisturbed(|| load_on(&*machine.files(), directory));
    let whole = match load() {
        Ok(whole) => whole,
        Err(error) => return machine.blame(format!("the campaign is lost: {error}")),
    };
    check_binding(machine, &whole);
    let last = whole.digests.last().map(ToString::to_string).unwrap_or_default();
    if count < 2 || last.len() < TOLD_DIGITS {
        return;
    }
    let damage = RecordDamage::drawn(count, random);
    if damage == RecordDamage::OtherText {
        machine.state().disk.exchange(origin, b"title = \"another\"\n".to_vec());
    } else {
        machine.state().disk.exchange(records, damage.text_of(&written).into_bytes());
    }
    let loaded = load();
    for (file, bytes) in before {
        machine.state().disk.exchange(file, bytes);
    }
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(error) => return machine.blame(format!("{damage:?} of {count} records: {error}")),
    };
    let wanted = damage.named(count);
    if loaded.broken_links != wanted {
        machine.blame(format!(
            "{damage:?} of {count} records must be named as {wanted:?}, and is as {:?}: {:?}",
            loaded.broken_links, loaded.flaws
        ));
    }
    let wanted = damage.told(&written, &last, &loaded);
    let flaws = loaded.flaws.iter().map(|flaw| flaw.detail.as_str());
    let told: Vec<&str> = flaws.filter(|flaw| !flaw.contains(OF_RUNS)).collect();
    if told != wanted {
        machine.blame(format!(
            "{damage:?} of {count} records must be told as {wanted:?}, and is as {told:?}"
        ));
    }
}

/// Records that nobody touched are bound to their plan, and to no other.
fn check_binding(machine: &SimulatedMachine, whole: &LoadedCampaign) {
    let other = Plan { seed: whole.plan.seed.wrapping_add(1), ..whole.plan.clone() };
    let names = |record: &Record| names_plan(record, &whole.plan) && !names_plan(record, &other);
    // The others name the same plan, or there is a flaw.
    let is_bound = whole.records.first().is_none_or(names);
    if whole.binding != Binding::Checked || !is_bound {
        machine.blame("records that nobody touched are not bound to their plan");
    }
    if whole.flaws.is_empty() && !whole.unbound.is_empty() {
        machine.blame(format!("something of an ended campaign is not bound: {:?}", whole.unbound));
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
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let damaged = damage.text_of(&lines);
            assert_eq!(damaged == text, damage == RecordDamage::OtherText, "{damage:?}");
            let left = damaged.lines().count();
            assert!(damage.named(lines.len()).iter().all(|link| link.line <= left));
            if !seen.contains(&discriminant(&damage)) {
                seen.push(discriminant(&damage));
            }
        }
        assert_eq!(seen.len(), 6);
    }
}
