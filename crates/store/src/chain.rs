//! What binds records: each names the digest of the plan that it was made by and that of the record
//! before it, the first that of the text that the plan was made from (docs/method.md#m-evidence).
//! A plan that was changed later, a record that is missing, and two that changed places are seen.

use crate::agreement::beginning;
use crate::compact_json::compact_text;
use crate::documents::{StateDocument, hexadecimal};
use crate::resumptions::flaws_of_resumptions;
use model::{
    Chain, ChainAnchor, Imported, ImportedDesign, LineDigest, Plan, Record, UNBOUND_RECORD_FORMATS,
};
use sha2::{Digest, Sha256};
use std::cell::LazyCell;
use std::sync::Arc;

/// Flaws told one by one.
const TOLD_AT_MOST: usize = 20;
/// Digits of a digest that are told.
const SHORT: usize = 12;

/// What the next record is bound to.
#[derive(Debug, Clone)]
pub(crate) struct Links(Chain);

impl Links {
    /// What the first record is bound to.
    pub(crate) fn root(plan: &Plan, state: &StateDocument, origin: &[u8]) -> Self {
        let previous = state.redaction_of.clone().unwrap_or_else(|| hexadecimal(origin));
        let anchor = ChainAnchor { plan: plan_digest(plan), beginning: None, resumption: None };
        Self(Chain { previous: LineDigest::from(previous.as_str()), anchor: Arc::new(anchor) })
    }

    /// Goes on to what the record after one of this digest is bound to.
    pub(crate) fn follow(&mut self, digest: &LineDigest) {
        self.0.previous.clone_from(digest);
    }

    /// The digest that the next record names.
    pub(crate) fn previous(&self) -> &LineDigest {
        &self.0.previous
    }

    /// What the first record is given; `records` where all there will be are known.
    pub(crate) fn first(&self, plan: &Plan, state: &StateDocument, records: Option<u64>) -> Chain {
        let mut first = self.0.clone();
        first.beginning = Some(beginning(plan, state, records));
        first
    }

    /// What the next record is given.
    pub(crate) fn next(&self) -> Chain {
        self.0.clone()
    }
}

/// The digest of all that decides results in a plan, whatever was appended to it later.
fn plan_digest(plan: &Plan) -> String {
    let decisive = plan.decisive(&plan.digest, Some(plan.seed), 0);
    hexadecimal(format!("[{decisive},{}]", compact_text(&plan.imported)).as_bytes())
}

/// Whether a record names the digest of this very plan: what both say otherwise than each other was then
/// changed in the record.
#[must_use]
pub fn names_plan(record: &Record, plan: &Plan) -> bool {
    record.chain.as_ref().is_some_and(|chain| chain.plan == plan_digest(plan))
}

/// The digest of a record's line, without its line feed.
pub(crate) fn line_digest(line: &[u8]) -> LineDigest {
    LineDigest::Sha256(Sha256::digest(line.strip_suffix(b"\n").unwrap_or(line)).into())
}

/// A record that does not follow what its digest says it was written after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrokenLink {
    /// The line that the record stands in, from 1.
    pub line: usize,
    /// What follows of what is before it.
    pub kind: LinkBreak,
}

/// Why a record does not follow what comes before it, as far as the numbers of the records tell; those
/// of an import are numbers of rows, and tell nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkBreak {
    /// The records that belong between are there, and stand elsewhere.
    OtherOrder,
    /// It is the first one, and the text that the plan was made from is another.
    OtherText,
    /// The record before it was changed after it was written.
    ChangedBefore,
    /// So many records are missing before it.
    Missing(u64),
    /// It was written before one that stands in front of it.
    Misplaced,
    /// Of an import: what it was written after is there, and stands elsewhere.
    Apart,
    /// Of an import: what it was written after is not there as it was.
    ChangedOrMissing,
}

impl LinkBreak {
    /// The same in a sentence about the record that is called so.
    fn told_of(self, name: &str) -> String {
        match self {
            Self::OtherOrder => format!(
                "{name} does not follow the record that it was written after; none is missing, the \
                 order of the records is another"
            ),
            Self::OtherText => {
                format!("{name} was made from another text than that which lies beside it")
            }
            Self::ChangedBefore => {
                format!("the record before {name} was changed after it was written")
            }
            Self::Missing(1) => format!("one record is missing before {name}"),
            Self::Missing(missing) => format!("{missing} records are missing before {name}"),
            Self::Misplaced => format!("{name} is not where it was written"),
            Self::Apart => format!(
                "{name} does not follow the record that it was written after, which stands elsewhere"
            ),
            Self::ChangedOrMissing => {
                format!("what {name} was written after was changed, or is missing")
            }
        }
    }
}

/// The digests of the lines of a campaign's records.
pub(crate) enum LineDigests {
    /// That of each, all of which were read.
    Read(Vec<LineDigest>),
    /// That of the last one. This process has just bound them all, each to the one before it, and the
    /// first alone still says to what.
    Held(Option<LineDigest>),
}

/// The records of a campaign with what is known of their lines.
pub(crate) struct Chained<'a> {
    pub records: &'a [Record],
    pub digests: &'a LineDigests,
    /// The line behind them that is not whole, in a sentence of its own; nothing where the file ends
    /// behind them.
    pub torn: Option<&'a str>,
    /// What they were imported from: a record of many rows has the number of the first one, and those
    /// of a block in which subjects alternate may have the same.
    pub imported: Option<&'a Imported>,
}

/// What there is of the records, by what one of them names that does not follow the one before it.
struct PresentRecords<'a> {
    /// Their numbers, ascending, each once; none of an import.
    sequences: Vec<u64>,
    /// The digests of their lines, ascending; of an import alone.
    digests: Vec<&'a LineDigest>,
}

impl Chained<'_> {
    /// How many records are bound to nothing.
    pub(crate) fn loose(&self) -> usize {
        match self.digests {
            LineDigests::Read(_) => {
                self.records.iter().filter(|record| record.chain.is_none()).count()
            }
            LineDigests::Held(_) => 0,
        }
    }

    /// The digest of each line, where all were read.
    fn of_lines(&self) -> &[LineDigest] {
        match self.digests {
            LineDigests::Read(digests) => digests,
            LineDigests::Held(_) => &[],
        }
    }

    /// The digest of the last line.
    fn of_last(&self) -> Option<&LineDigest> {
        match self.digests {
            LineDigests::Read(digests) => digests.last(),
            LineDigests::Held(last) => last.as_ref(),
        }
    }

    /// What of the records is not as it was written, in one sentence each. Nothing can be said of
    /// records that are not bound.
    pub(crate) fn flaws(&self, root: &Links, state: &StateDocument) -> Vec<String> {
        let mut flaws = Vec::new();
        let mut is_bound = false;
        let mut is_of_plan = true;
        let are_held = matches!(self.digests, LineDigests::Held(_));
        // Of records that are bound to each other nobody asks for them.
        let present = LazyCell::new(|| self.present());
        for (at, record) in self.records.iter().enumerate() {
            let Some(chain) = &record.chain else {
                let is_late = is_bound || !UNBOUND_RECORD_FORMATS.contains(&record.format.as_str());
                if is_late && !are_held {
                    flaws.push(format!(
                        "{} is not bound to the record before it",
                        self.named(at, record)
                    ));
                }
                continue;
            };
            if self.is_broken(at, root) {
                flaws.push(self.link_break(at, &present).told_of(&self.named(at, record)));
            }
            if chain.plan != root.0.plan && is_of_plan {
                is_of_plan = false;
                let [there, named] = told_apart(&root.0.plan, &chain.plan);
                flaws.push(format!(
                    "plan.json is not the plan that the records were made by: its digest is {there}, \
                     and {} names {named}",
                    self.named(at, record)
                ));
            }
            is_bound = true;
        }
        flaws.extend(flaws_of_resumptions(self.records, self.of_lines(), state));
        flaws.extend(self.lost_end(state));
        let more = flaws.len().saturating_sub(TOLD_AT_MOST);
        flaws.truncate(TOLD_AT_MOST);
        // Reports have flaws in order of their words, so each says by itself what it is of.
        match more {
            0 => {}
            1 => flaws.push("1 more flaw of the records is not told by itself".to_owned()),
            more => flaws.push(format!("{more} more flaws of the records are not told one by one")),
        }
        flaws
    }

    /// The first links that are broken, each of which is among the flaws, too.
    pub(crate) fn broken_links(&self, root: &Links) -> Vec<BrokenLink> {
        let present = LazyCell::new(|| self.present());
        let broken = (0..self.records.len()).filter(|at| self.is_broken(*at, root));
        broken
            .take(TOLD_AT_MOST)
            .map(|at| BrokenLink { line: at + 1, kind: self.link_break(at, &present) })
            .collect()
    }

    /// Whether the record at this place names another digest than that of what comes before it.
    fn is_broken(&self, at: usize, root: &Links) -> bool {
        let Some(chain) = &self.records[at].chain else { return false };
        match at.checked_sub(1) {
            Some(before) => self.of_lines().get(before) != Some(&chain.previous),
            None => chain.previous != root.0.previous,
        }
    }

    fn present(&self) -> PresentRecords<'_> {
        if self.imported.is_some() {
            let mut digests: Vec<&LineDigest> = self.of_lines().iter().collect();
            digests.sort_unstable();
            return PresentRecords { sequences: Vec::new(), digests };
        }
        let mut sequences: Vec<u64> = self.records.iter().map(|one| one.sequence).collect();
        sequences.sort_unstable();
        sequences.dedup();
        PresentRecords { sequences, digests: Vec::new() }
    }

    /// What the digest at this place says, which is not that of what comes before. A record is missing
    /// where none of all that are there has its number.
    fn link_break(&self, at: usize, present: &PresentRecords<'_>) -> LinkBreak {
        if self.imported.is_some() {
            return self.link_break_of_import(at, present);
        }
        let sequence = self.records[at].sequence;
        // Somebody else may have written the largest number there is.
        let after = |before: usize| self.records[before].sequence.saturating_add(1);
        let due = at.checked_sub(1).map_or(0, after);
        let below = |number: u64| present.sequences.partition_point(|there| *there < number);
        let there = (below(due.max(sequence)) - below(due)) as u64;
        match sequence.checked_sub(due).map(|missing| missing.saturating_sub(there)) {
            Some(0) if there > 0 => LinkBreak::OtherOrder,
            Some(0) if at == 0 => LinkBreak::OtherText,
            Some(0) => LinkBreak::ChangedBefore,
            Some(missing) => LinkBreak::Missing(missing),
            None => LinkBreak::Misplaced,
        }
    }

    /// The same of an import, by the digests alone.
    fn link_break_of_import(&self, at: usize, present: &PresentRecords<'_>) -> LinkBreak {
        let chain = self.records[at].chain.as_ref();
        let is_first = chain.is_some_and(|chain| chain.beginning.is_some());
        let is_there =
            chain.is_some_and(|chain| present.digests.binary_search(&&chain.previous).is_ok());
        match (is_first, is_there) {
            (true, _) if at == 0 => LinkBreak::OtherText,
            (true, _) => LinkBreak::Misplaced,
            (false, true) => LinkBreak::Apart,
            (false, false) => LinkBreak::ChangedOrMissing,
        }
    }

    /// Whether an ended campaign has all that it had when it ended.
    fn lost_end(&self, state: &StateDocument) -> Option<String> {
        let head = state.head.as_ref()?;
        let count = self.records.len() as u64;
        let is_last = match self.of_last() {
            Some(digest) => *digest == *head.digest,
            None => head.digest.is_empty(),
        };
        if count != head.records {
            let lost = self.lost_numbers(head.records).filter(|_| !is_last);
            return Some(format!(
                "the campaign ended with {}, and {count} are there{}",
                model::counted(head.records, "record"),
                lost.map_or(String::new(), |lost| format!(": {lost}"))
            ));
        }
        let name = self.records.last().map_or_else(
            || "the end".to_owned(),
            |last| format!("{}, the last of {count},", self.named(self.records.len() - 1, last)),
        );
        let there = self.of_last().map(ToString::to_string).unwrap_or_default();
        let [there, named] = told_apart(&there, &head.digest);
        (!is_last).then(|| {
            format!(
                "{name} is not that which the campaign ended with: its digest is {there}, and \
                 state.json names {named}"
            )
        })
    }

    /// Which records of so many are lost behind the last one that is there, by their numbers, and
    /// whether the first of them is torn; nothing where none is lost there, nor of an import whose
    /// records have numbers of rows.
    fn lost_numbers(&self, all: u64) -> Option<String> {
        // Somebody else may have written the largest number there is.
        let whole = self.records.last().map_or(0, |last| last.sequence.saturating_add(1));
        if self.imported.is_some() && whole != self.records.len() as u64 {
            return None;
        }
        let lost = all.checked_sub(whole).filter(|lost| *lost > 0)?;
        let missing = |first: u64| match all - first {
            0 => format!("the last one, number {all}, is missing"),
            more => format!("the last {}, numbers {first} to {all}, are missing", more + 1),
        };
        let next = whole + 1;
        Some(match self.torn {
            None => missing(next),
            Some(torn) if lost == 1 => format!("the last one, number {all}, is torn: {torn}"),
            Some(torn) => format!("{}, and number {next} is torn: {torn}", missing(next + 1)),
        })
    }

    /// A record by its line and by what it is of; one of an import without blocks is of none.
    fn named(&self, at: usize, record: &Record) -> String {
        let is_in_block = self.imported.is_none_or(|from| from.design == ImportedDesign::Blocked);
        let block = if is_in_block {
            format!("block {}, ", u64::from(record.block) + 1)
        } else {
            String::new()
        };
        format!("the record in line {} ({block}{}, {})", at + 1, record.subject, record.workload)
    }
}

/// Two digests that differ, short where that shows it.
fn told_apart<'d>(one: &'d str, other: &'d str) -> [&'d str; 2] {
    let told = [one, other].map(short);
    if told[0] == told[1] { [one, other] } else { told }
}

pub(crate) fn short(digest: &str) -> &str {
    digest.get(..SHORT).unwrap_or(digest)
}

#[cfg(test)]
mod tests {
    use super::{BrokenLink, LinkBreak, names_plan};
    use crate::fixtures::{plan, record};
    use crate::{Campaign, LoadedCampaign, load};
    use model::{Caveat, CaveatCode, ImportFact, ImportedDesign, ImportedOrder, Plan, Record};
    use std::fs;

    /// What is told of six records of which these lines are left, in this order.
    fn told(order: &[usize]) -> Vec<String> {
        let results = tempfile::tempdir().unwrap();
        let mut campaign =
            Campaign::create(results.path(), &plan("demo", "digest"), "", 5, 1).unwrap();
        for sequence in 0..6 {
            campaign.append(&mut record(sequence, vec![1.0])).unwrap();
        }
        let path = campaign.directory().join("records.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let kept: String = order.iter().map(|at| format!("{}\n", lines[*at])).collect();
        fs::write(path, kept).unwrap();
        let loaded = load(campaign.directory()).unwrap();
        loaded.flaws.into_iter().map(|flaw| flaw.detail).collect()
    }

    #[test]
    fn a_record_of_the_largest_number_breaks_its_link_and_nothing_else() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign = Campaign::create(results.path(), &plan("demo", "d"), "", 5, 1).unwrap();
        for sequence in 0..2 {
            campaign.append(&mut record(sequence, vec![1.0])).unwrap();
        }
        let path = campaign.directory().join("records.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let edited = text.replacen("\"sequence\":0,", &format!("\"sequence\":{},", u64::MAX), 1);
        assert_ne!(edited, text);
        fs::write(path, edited).unwrap();
        let loaded = load(campaign.directory()).unwrap();
        let misplaced = BrokenLink { line: 2, kind: LinkBreak::Misplaced };
        assert_eq!(loaded.broken_links, [misplaced], "{:?}", loaded.flaws);
    }

    #[test]
    fn an_import_is_bound_with_its_facts_and_one_of_an_earlier_version_without() {
        let fact = ImportFact::CopiedValues;
        for is_earlier in [true, false] {
            let mut from = ::fixtures::imported(ImportedDesign::Blocked, ImportedOrder::Rows);
            from.caveats.push(Caveat::new(CaveatCode::Copied, "all of b"));
            if !is_earlier {
                from.facts.establish(fact.clone());
            }
            let plan = Plan { imported: Some(from), ..plan("demo", "digest") };
            let results = tempfile::tempdir().unwrap();
            let mut campaign = Campaign::create(results.path(), &plan, "", 5, 1).unwrap();
            campaign.append(&mut record(0, vec![1.0])).unwrap();
            let stored = fs::read_to_string(campaign.directory().join("plan.json")).unwrap();
            assert_eq!(stored.contains("copied_values"), !is_earlier);
            let loaded = load(campaign.directory()).unwrap();
            assert!(loaded.plan.imported.as_ref().unwrap().facts.contain(&fact));
            assert!(names_plan(&loaded.records[0], &loaded.plan), "{:?}", loaded.flaws);
        }
    }

    /// A campaign of four records, ended or not, of which so many lines are kept and so many bytes of
    /// these are cut off at their end.
    fn cut_campaign(is_ended: bool, lines: usize, cut: usize) -> LoadedCampaign {
        let results = tempfile::tempdir().unwrap();
        let mut campaign =
            Campaign::create(results.path(), &plan("demo", "digest"), "", 5, 1).unwrap();
        for sequence in 0..4 {
            campaign.append(&mut record(sequence, vec![1.0])).unwrap();
        }
        if is_ended {
            campaign.mark_finished().unwrap();
        }
        let path = campaign.directory().join("records.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let kept: String = text.split_inclusive('\n').take(lines).collect();
        fs::write(path, &kept[..kept.len() - cut]).unwrap();
        load(campaign.directory()).unwrap()
    }

    #[test]
    fn records_that_are_lost_or_torn_at_the_end_are_named_by_their_numbers() {
        for (lines, cut, words) in [
            (3, 0, "4 records, and 3 are there: the last one, number 4, is missing"),
            (2, 0, "4 records, and 2 are there: the last 2, numbers 3 to 4, are missing"),
            (
                4,
                1,
                "4 records, and 3 are there: the last one, number 4, is torn: line 4 of records",
            ),
            (
                3,
                40,
                "4 records, and 2 are there: the last one, number 4, is missing, and number 3 is \
                 torn: line 3 of records.jsonl ended after ",
            ),
            (0, 0, "4 records, and 0 are there: the last 4, numbers 1 to 4, are missing"),
        ] {
            let flaws = cut_campaign(true, lines, cut).flaws;
            assert_eq!(flaws.len(), 1, "{flaws:?}");
            assert!(flaws[0].detail.contains(words), "{words}: {flaws:?}");
        }
        assert_eq!(cut_campaign(true, 4, 0).flaws, []);
    }

    #[test]
    fn records_of_an_import_are_named_by_no_numbers_of_their_rows() {
        let from = ::fixtures::imported(ImportedDesign::Blocked, ImportedOrder::Rows);
        let plan = Plan { imported: Some(from), ..plan("demo", "digest") };
        for (rows, words) in [
            (1, "20 records, and 3 are there: the last 17, numbers 4 to 20, are missing"),
            (3, "20 records, and 3 are there"),
        ] {
            let results = tempfile::tempdir().unwrap();
            let mut campaign = Campaign::create(results.path(), &plan, "", 5, 1).unwrap();
            let records: Vec<Record> =
                (0..20).map(|number| record(number * rows, vec![1.0])).collect();
            campaign.append_all(&records).unwrap();
            campaign.mark_finished().unwrap();
            let path = campaign.directory().join("records.jsonl");
            let text = fs::read_to_string(&path).unwrap();
            let kept: String = text.split_inclusive('\n').take(3).collect();
            fs::write(path, kept).unwrap();
            let flaws = load(campaign.directory()).unwrap().flaws;
            let is_told = |flaw: &Caveat| flaw.detail.ends_with(words);
            assert!(flaws.iter().any(is_told), "{rows} rows: {flaws:?}");
        }
    }

    #[test]
    fn a_broken_link_of_an_import_is_told_by_digests_and_by_no_numbers_of_rows() {
        let unblocked = ImportedDesign::Unblocked { dimensions: Vec::new(), fixed: Vec::new() };
        // Each record of three rows, and those of two subjects that alternate in a block.
        let cases = [[0, 3, 6, 9, 12, 15], [0, 0, 4, 4, 8, 8]]
            .map(|numbers| [(numbers, ImportedDesign::Blocked), (numbers, unblocked.clone())]);
        for (numbers, design) in cases.into_iter().flatten() {
            let is_blocked = design == ImportedDesign::Blocked;
            let from = ::fixtures::imported(design, ImportedOrder::Rows);
            let plan = Plan { imported: Some(from), ..plan("demo", "digest") };
            let results = tempfile::tempdir().unwrap();
            let mut campaign = Campaign::create(results.path(), &plan, "", 5, 1).unwrap();
            let records: Vec<Record> =
                numbers.iter().map(|number| record(*number, vec![1.0])).collect();
            campaign.append_all(&records).unwrap();
            campaign.mark_finished().unwrap();
            let path = campaign.directory().join("records.jsonl");
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            let told = |lines: &[&str]| {
                fs::write(&path, lines.join("\n") + "\n").unwrap();
                let flaws = load(campaign.directory()).unwrap().flaws.into_iter();
                let told = flaws.map(|flaw| flaw.detail).filter(|one| one.contains("in line "));
                told.collect::<Vec<_>>()
            };
            let name = |line: usize, place: usize| {
                let block = format!("block {}, ", numbers[place] / 2 + 1);
                let block = if is_blocked { block.as_str() } else { "" };
                format!("the record in line {line} ({block}baseline, wakeup)")
            };
            let after =
                |name: String| format!("what {name} was written after was changed, or is missing");
            assert_eq!(told(&lines), [""; 0]);
            let changed = lines[2].replacen("\"seed\":", "\"seed\":1", 1);
            let edited = [lines[0], lines[1], changed.as_str(), lines[3], lines[4], lines[5]];
            assert_eq!(told(&edited), [after(name(4, 3))]);
            assert_eq!(told(&[&lines[..2], &lines[3..]].concat()), [after(name(3, 3))]);
            let apart = |name: String| {
                format!(
                    "{name} does not follow the record that it was written after, which stands \
                     elsewhere"
                )
            };
            let moved = [lines[0], lines[1], lines[3], lines[2], lines[4], lines[5]];
            let expected = [name(3, 3), name(4, 2), name(5, 4)].map(apart);
            assert_eq!(told(&moved), expected);
            let first = [&[lines[1], lines[0]][..], &lines[2..]].concat();
            assert!(told(&first)[1].ends_with("is not where it was written"));
            let origin = campaign.directory().join("import.toml");
            assert!(origin.exists());
            fs::write(origin, "other").unwrap();
            assert!(told(&lines)[0].ends_with("another text than that which lies beside it"));
        }
    }

    #[test]
    fn a_torn_record_of_a_campaign_that_has_not_ended_is_no_flaw_and_told_by_the_one_before_it() {
        let loaded = cut_campaign(false, 4, 7);
        assert_eq!(loaded.flaws, []);
        let told = loaded.unbound.join("\n");
        assert!(told.contains("the record after number 3 is torn: line 4 of records"), "{told}");
        assert_eq!(cut_campaign(false, 3, 0).unbound, [""; 0]);
    }

    #[test]
    fn a_last_record_that_was_changed_is_named_with_both_digests_and_one_in_front_is_not() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign = Campaign::create(results.path(), &plan("demo", "d"), "", 5, 1).unwrap();
        for sequence in 0..3 {
            campaign.append(&mut record(sequence, vec![1.0])).unwrap();
        }
        campaign.mark_finished().unwrap();
        let path = campaign.directory().join("records.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let told = |text: String| {
            fs::write(&path, text).unwrap();
            let flaws = load(campaign.directory()).unwrap().flaws;
            flaws.into_iter().map(|flaw| flaw.detail).collect::<Vec<_>>().join("\n")
        };
        let before = "\"started_unix_ns\":1700000000000000002";
        assert!(text.contains(before), "{text}");
        let changed = told(text.replace(before, "\"started_unix_ns\":1700000000000000009"));
        assert!(
            changed.contains("the record in line 3 (block 2, baseline, wakeup), the last of 3, is")
        );
        assert!(changed.contains(", and state.json names "), "{changed}");
        // Digests that begin alike are told whole.
        let state = campaign.directory().join("state.json");
        let ended = fs::read_to_string(&state).unwrap();
        let document: serde_json::Value = serde_json::from_str(&ended).unwrap();
        let digest = document["head"]["digest"].as_str().unwrap();
        let other = format!("{}zzzz", &digest[..60]);
        fs::write(&state, ended.replace(digest, &other)).unwrap();
        let alike = told(text.clone());
        let words = format!("its digest is {digest}, and state.json names {other}");
        assert!(alike.contains(&words), "{alike}");
        fs::write(&state, ended).unwrap();
        // The last one is there: which is missing, the chain tells.
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        lines.remove(1);
        let removed = told(lines.concat());
        assert!(removed.contains("ended with 3 records, and 2 are there"), "{removed}");
        assert!(!removed.contains("are there: "), "{removed}");
    }

    #[test]
    fn records_in_another_order_are_told_from_missing_ones() {
        assert_eq!(told(&[0, 1, 2, 3, 4, 5]), [""; 0]);
        for order in [[0, 2, 1, 3, 4, 5], [0, 5, 2, 3, 4, 1]] {
            let told = told(&order).join("\n");
            assert!(told.contains("the record in line 2 ("), "{told}");
            assert!(told.contains("none is missing, the order of the records"), "{told}");
            assert!(!told.contains("missing before"), "{told}");
        }
        let missing = told(&[0, 3, 4, 5]);
        assert!(missing[0].contains("2 records are missing before the record in line 2"));
        // One is missing, and another stands elsewhere.
        let both = told(&[0, 3, 1, 4, 5]);
        assert!(both[0].contains("one record is missing before the record in line 2"), "{both:?}");
    }
}
