//! `records.jsonl`: one record on each line, read up to the last complete one.

use crate::chain::line_digest;
use crate::durable::{parse_line, unreadable};
use crate::record_weight::ReckonedParts;
use contract::{Error, ErrorKind, Result};
use model::{
    CAMPAIGN_BUCKETS, CAMPAIGN_VALUES, Caveat, CaveatCode, CountedNumbers, LineDigest, OverLimit,
    RECORD_BYTES, RECORD_FORMATS, RECORDS, Record, SharedParts, counting_numbers,
};
use std::io::{self, BufRead, BufReader, Read, SeekFrom};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, available_parallelism};
use sys::{FileAccess, Files, HostFiles, OpenFile};

/// Text that is held while it is parsed.
const BATCH_BYTES: usize = 8 << 20;
/// Fewer lines for each thread are not worth its start.
const LEAST_SHARE: usize = 8;

/// What a records file holds.
pub struct Scan {
    /// Every complete record, in order; none where they are not kept.
    pub records: Vec<Record>,
    /// The digest of each one's line.
    pub digests: Vec<LineDigest>,
    /// Whether the last one is bound, or there is none.
    pub is_bound: bool,
    /// Length of the complete lines in bytes.
    pub complete_bytes: u64,
    /// Length of the last of them in bytes; 0 where there is none.
    pub last_bytes: u64,
    /// The warning where something follows them.
    pub torn: Option<Caveat>,
    /// What is held of numbers: of these records, and of those before them.
    pub counted: CountedNumbers,
    /// What is reckoned for what these records list, and those before them.
    pub(crate) parts: ReckonedParts,
}

/// Reads all complete records. A line counts as complete when its line feed is
/// there: `append` writes it last and acknowledges nothing before.
pub fn scan_on(files: &dyn Files, path: &Path) -> Result<Scan> {
    scan_behind(files, path, &ReadPosition::default(), Kept::Records)
}

/// The same for a reader that asks how many there are and what the last one is bound to: each is
/// parsed, and none is held, so that a caller that loaded them holds them once.
pub fn scan_digests_on(files: &dyn Files, path: &Path) -> Result<Scan> {
    scan_behind(files, path, &ReadPosition::default(), Kept::Digests)
}

/// The same of a file that is open, whatever has its name meanwhile.
pub fn scan_digests(file: &mut dyn OpenFile, path: &Path) -> Result<Scan> {
    scan_file(file, path, &ReadPosition::default(), Kept::Digests)
}

/// What of records is held when all are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// All of them, with the digests of their lines.
    Records,
    /// The digests alone.
    Digests,
}

/// How much of a growing file of records was read already.
#[derive(Debug, Clone, Default)]
pub struct ReadPosition {
    bytes: u64,
    records: usize,
    /// The numbers in them, which the reader holds.
    counted: CountedNumbers,
    /// What else is reckoned for them.
    parts: ReckonedParts,
}

impl ReadPosition {
    /// The records that a campaign completed since the last call.
    ///
    /// # Errors
    /// Like [`crate::load`].
    pub fn read(&mut self, directory: &Path) -> Result<Vec<Record>> {
        let path = directory.join("records.jsonl");
        let scanned = scan_behind(&HostFiles, &path, self, Kept::Records)?;
        self.bytes += scanned.complete_bytes;
        self.records += scanned.records.len();
        self.counted = scanned.counted;
        self.parts = scanned.parts;
        Ok(scanned.records)
    }
}

fn scan_behind(files: &dyn Files, path: &Path, read: &ReadPosition, kept: Kept) -> Result<Scan> {
    let mut file = files.open(path, FileAccess::Read).map_err(|error| unreadable(path, &error))?;
    scan_file(&mut *file, path, read, kept)
}

fn scan_file(
    file: &mut dyn OpenFile,
    path: &Path,
    read: &ReadPosition,
    kept: Kept,
) -> Result<Scan> {
    io::Seek::seek(file, SeekFrom::Start(read.bytes)).map_err(|error| unreadable(path, &error))?;
    let mut reader = BufReader::new(file);
    let mut scan = Scan {
        records: Vec::new(),
        digests: Vec::new(),
        is_bound: true,
        complete_bytes: 0,
        last_bytes: 0,
        torn: None,
        counted: read.counted,
        parts: read.parts,
    };
    let mut parts = SharedParts::default();
    loop {
        let first = read.records + scan.digests.len() + 1;
        let batch = batch(&mut reader, path, first, &mut scan.parts)?;
        let held = HeldNumbers::of(scan.counted, scan.parts);
        for (mut record, digest) in parsed(&batch.lines, path, first, &held)? {
            scan.digests.push(digest);
            scan.is_bound = record.chain.is_some();
            if kept == Kept::Records {
                parts.share(&mut record);
                // This one and those that came before hold it, and no other record does.
                if Arc::strong_count(&record.circumstances) <= 2 {
                    scan.parts.add_circumstances();
                }
                scan.records.push(record);
            }
        }
        // Of records that are not kept nothing is held behind their batch.
        if kept == Kept::Records {
            scan.counted = held.counted();
        }
        if let Some(last) = batch.lines.last() {
            scan.last_bytes = last.len() as u64;
        }
        scan.complete_bytes += batch.lines.iter().map(|line| line.len() as u64).sum::<u64>();
        if batch.is_last {
            scan.torn = batch.torn;
            return Ok(scan);
        }
    }
}

/// How many numbers the records of a campaign hold, which several threads read, beside what is reckoned
/// for what they list.
struct HeldNumbers {
    parts: ReckonedParts,
    buckets: AtomicU64,
    values: AtomicU64,
}

impl HeldNumbers {
    fn of(CountedNumbers { buckets, values }: CountedNumbers, parts: ReckonedParts) -> Self {
        Self { parts, buckets: AtomicU64::new(buckets), values: AtomicU64::new(values) }
    }

    /// Adds those of one record, unless there are too many.
    fn add(&self, read: CountedNumbers) -> Result<(), OverLimit> {
        let sum = |held: &AtomicU64, more: u64| {
            held.fetch_add(more, Ordering::Relaxed).saturating_add(more)
        };
        let buckets = sum(&self.buckets, read.buckets);
        let values = sum(&self.values, read.values);
        CAMPAIGN_BUCKETS.check(buckets)?;
        CAMPAIGN_VALUES.check(values)?;
        self.parts.check_with(CountedNumbers { buckets, values })
    }

    fn counted(self) -> CountedNumbers {
        CountedNumbers { buckets: self.buckets.into_inner(), values: self.values.into_inner() }
    }
}

/// Complete lines, as many as are held at once.
#[derive(Default)]
struct Batch {
    lines: Vec<Vec<u8>>,
    /// Whether the file ends behind them.
    is_last: bool,
    /// The warning where something follows them.
    torn: Option<Caveat>,
}

/// Reads complete lines, each of which is weighed before any of them is parsed.
fn batch(
    reader: &mut BufReader<&mut dyn OpenFile>,
    path: &Path,
    first: usize,
    parts: &mut ReckonedParts,
) -> Result<Batch> {
    let broken = |error: io::Error| unreadable(path, &error);
    let mut batch = Batch::default();
    let mut bytes = 0;
    while bytes < BATCH_BYTES {
        let number = first + batch.lines.len();
        let mut line = Vec::new();
        let limited = &mut reader.take(RECORD_BYTES.most + 1);
        let length = limited.read_until(b'\n', &mut line).map_err(broken)?;
        if length == 0 {
            batch.is_last = true;
            break;
        }
        RECORD_BYTES
            .check(length as u64)
            .and_then(|()| RECORDS.check(number as u64))
            .map_err(|over| too_large(path, number, over))?;
        if is_torn(&line) && reader.fill_buf().map_err(broken)?.is_empty() {
            batch.torn = Some(torn(number, length));
            batch.is_last = true;
            break;
        }
        parts.add_line(&line).map_err(|over| too_large(path, number, over))?;
        bytes += length;
        batch.lines.push(line);
    }
    let last = (first + batch.lines.len()).saturating_sub(1);
    parts.check_expansion().map_err(|over| too_large(path, last, over))?;
    Ok(batch)
}

/// The records of lines with the digests of these, of many on all CPUs at once: most of a large
/// campaign's loading is histograms. Of several broken ones the first is named. Their filled buckets
/// and values are added to those that are held.
fn parsed(
    lines: &[Vec<u8>],
    path: &Path,
    first: usize,
    held: &HeldNumbers,
) -> Result<Vec<(Record, LineDigest)>> {
    let of = |(number, lines): (usize, &[Vec<u8>])| -> Result<Vec<(Record, LineDigest)>> {
        // What a thread reads is small before it hands it on.
        let mut parts = SharedParts::default();
        let parse = |(at, line): (usize, &Vec<u8>)| {
            let number = number + at;
            let (record, read) = counting_numbers(|| parsed_line(&lines[at..], number, path));
            let mut record = record?;
            held.add(read).map_err(|over| too_large(path, number, over))?;
            parts.share(&mut record);
            Ok((record, line_digest(line)))
        };
        lines.iter().enumerate().map(parse).collect()
    };
    let threads = available_parallelism().map_or(1, usize::from).min(lines.len() / LEAST_SHARE);
    if threads < 2 {
        return of((first, lines));
    }
    let share = lines.len().div_ceil(threads);
    thread::scope(|scope| {
        let shares = (first..).step_by(share).zip(lines.chunks(share));
        let threads: Vec<_> = shares.map(|share| scope.spawn(move || of(share))).collect();
        let mut records = Vec::with_capacity(lines.len());
        for thread in threads {
            let found = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            records.extend(found?);
        }
        Ok(records)
    })
}

/// The record of the first of these lines; where there is none, it is read once more to say why.
fn parsed_line(lines: &[Vec<u8>], number: usize, path: &Path) -> Result<Record> {
    let Some(line) = lines.first().filter(|line| !is_empty(line)) else {
        return Err(empty(lines, number, path));
    };
    let is_known = |record: &Record| RECORD_FORMATS.contains(&record.format.as_str());
    match serde_json::from_slice::<Record>(line).ok().filter(is_known) {
        Some(record) => Ok(record),
        None => {
            let place = format!("line {number} of {}", path.display());
            // It is read once more, for the place of what is wrong.
            counting_numbers(|| parse_line(line, &place, &RECORD_FORMATS)).0
        }
    }
}

fn is_empty(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

/// Tells of the first of these lines, and those behind it, that they are empty.
fn empty(lines: &[Vec<u8>], number: usize, path: &Path) -> Error {
    let last = number + lines.iter().take_while(|line| is_empty(line)).count().max(1) - 1;
    let why = if last > number {
        format!("lines {number} to {last} are empty, and each line holds a record")
    } else {
        format!("line {number} is empty, and each line holds a record")
    };
    Error::new(
        ErrorKind::Environment,
        format!("cannot understand {}", path.display()),
        why,
        "no version writes an empty line: bring the file back from a copy of the campaign",
    )
}

/// A power cut may leave blocks of zeros that were never written, even before
/// a line feed that was; JSON text has no zero byte.
fn is_torn(line: &[u8]) -> bool {
    line.last() != Some(&b'\n') || line.contains(&0)
}

fn torn(number: usize, length: usize) -> Caveat {
    Caveat::new(
        CaveatCode::TornRecord,
        format!(
            "line {number} of records.jsonl ended after {} and was dropped",
            model::counted(length, "byte")
        ),
    )
}

fn too_large(path: &Path, number: usize, over: OverLimit) -> Error {
    let attempted = format!("cannot understand line {number} of {}", path.display());
    Error::new(ErrorKind::Environment, attempted, over, over.limit.remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Campaign;
    use crate::fixtures::{plan, record};
    use proptest::prelude::*;
    use std::fs::{self, File};

    fn scan(path: &Path) -> Result<Scan> {
        scan_on(&HostFiles, path)
    }

    fn finite() -> impl Strategy<Value = f64> {
        any::<f64>().prop_filter("stored values are numbers", |value| value.is_finite())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn any_records_come_back_and_any_cut_costs_only_what_it_cut(
            values in prop::collection::vec(prop::collection::vec(finite(), 0..9), 1..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let results = tempfile::tempdir().unwrap();
            let mut campaign =
                Campaign::create(results.path(), &plan("cut", "d"), "", 1, 1).unwrap();
            let mut written: Vec<Record> = (0..).zip(values).map(|(n, of)| record(n, of)).collect();
            for record in &mut written {
                campaign.append(record).unwrap();
            }
            let path = campaign.directory().join("records.jsonl");
            drop(campaign);
            prop_assert_eq!(&scan(&path).unwrap().records, &written);

            let whole = fs::read(&path).unwrap();
            let length = cut.index(whole.len());
            fs::write(&path, &whole[..length]).unwrap();
            let complete = whole[..length].iter().filter(|byte| **byte == b'\n').count();
            let found = scan(&path).unwrap();
            prop_assert_eq!(&found.records, &written[..complete]);
            prop_assert_eq!(found.torn.is_some(), found.complete_bytes < length as u64);
        }
    }

    #[test]
    fn many_lines_come_back_in_order_and_the_first_broken_one_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("records.jsonl");
        let written: Vec<Record> = (0..500).map(|n| record(n, vec![n as f64])).collect();
        let mut lines: Vec<String> =
            written.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
        let found = |lines: &[String]| {
            fs::write(&path, lines.join("\n") + "\n").unwrap();
            scan(&path).map(|scan| scan.records).map_err(|error| error.to_string())
        };
        assert_eq!(found(&lines).unwrap(), written);
        for broken in [480, 130] {
            lines[broken].truncate(9);
            let error = found(&lines).unwrap_err();
            assert!(error.contains(&format!("line {} of", broken + 1)), "{error}");
        }
    }

    #[test]
    fn a_growing_file_is_read_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("records.jsonl");
        let line = |n| format!("{}\n", serde_json::to_string(&record(n, vec![1.0])).unwrap());
        let mut tail = ReadPosition::default();
        let mut count = |text: &str| {
            fs::write(&path, text).unwrap();
            tail.read(directory.path()).unwrap().len()
        };
        let (first, second) = (line(0), line(1));
        assert_eq!(count(&first), 1);
        assert_eq!(count(&format!("{first}{}", &second[..9])), 0, "half a record is none");
        assert_eq!(count(&format!("{first}{second}")), 1);
        assert_eq!(count(&format!("{first}{second}")), 0);
    }

    #[test]
    fn buckets_of_a_growing_file_are_counted_over_all_of_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("records.jsonl");
        let mut tail = ReadPosition::default();
        let mut text = String::new();
        let mut grown = |number: u64, tail: &mut ReadPosition| {
            text += &(serde_json::to_string(&record(number, vec![1.0])).unwrap() + "\n");
            fs::write(&path, &text).unwrap();
            tail.read(directory.path()).map(|records| records.len())
        };
        assert_eq!(grown(0, &mut tail).unwrap(), 1);
        let each = tail.counted.buckets;
        assert!(each > 0, "a record has a histogram");
        assert_eq!(grown(1, &mut tail).unwrap(), 1);
        assert_eq!(tail.counted.buckets, 2 * each);
        // As after many more: what one call reads is little, and all of it is too much.
        tail.counted.buckets = CAMPAIGN_BUCKETS.most - each;
        assert_eq!(grown(2, &mut tail).unwrap(), 1);
        let error = grown(3, &mut tail).unwrap_err().to_string();
        assert!(error.contains("CAMPAIGN_BUCKETS") && error.contains("line 4"), "{error}");
    }

    #[test]
    fn records_beyond_their_limit_are_refused_by_its_name_over_all_of_a_growing_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("records.jsonl");
        let line = serde_json::to_string(&record(0, vec![1.0])).unwrap() + "\n";
        // As after all but one that there may be.
        let most = usize::try_from(RECORDS.most).unwrap();
        let mut tail = ReadPosition { records: most - 1, ..ReadPosition::default() };
        fs::write(&path, &line).unwrap();
        assert_eq!(tail.read(directory.path()).unwrap().len(), 1);
        fs::write(&path, line.repeat(2)).unwrap();
        let error = tail.read(directory.path()).unwrap_err().to_string();
        assert!(error.contains("line 600001"), "{error}");
        assert!(error.contains("more than 600000 records (limit RECORDS)"), "{error}");
    }

    #[test]
    fn zeros_of_a_power_cut_are_torn_at_the_end_and_damage_in_the_middle() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("records.jsonl");
        let line = serde_json::to_string(&record(0, vec![1.0])).unwrap();
        for (text, records) in [
            (format!("{line}\n\0\0\0"), Some(1)),
            (format!("{line}\n\0\0\0\n"), Some(1)),
            (format!("{line}\n\0\0\0\n{line}\n"), None),
            (format!("{line}\n\n{line}\n"), None),
            (String::new(), Some(0)),
        ] {
            fs::write(&path, &text).unwrap();
            let found = scan(&path).map(|scan| scan.records.len()).ok();
            assert_eq!(found, records, "{text:?}");
        }
    }

    #[test]
    fn empty_lines_are_called_empty_and_a_fault_is_told_by_the_number_of_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("records.jsonl");
        let line = serde_json::to_string(&record(0, vec![1.0])).unwrap();
        for (text, cause) in [
            (format!("\n{line}\n"), "line 1 is empty, and each line holds a record"),
            (format!("{line}\n\n{line}\n"), "line 2 is empty, and each line holds a record"),
            (format!("{line}\n \t\r\n"), "line 2 is empty, and each line holds a record"),
            (
                format!("{line}\n\n\n\n{line}\n"),
                "lines 2 to 4 are empty, and each line holds a record",
            ),
            (format!("{line}\nhello\n"), "expected value at byte 1"),
            (format!("{line}\n{{\"half\n"), "half: it ends after 6 bytes, inside a string"),
        ] {
            fs::write(&path, &text).unwrap();
            let error = scan(&path).err().unwrap();
            assert_eq!(error.cause, cause, "{text}");
            let is_told = error.cause.contains("empty") || error.attempted.contains("line 2 of ");
            assert!(is_told, "{error}");
        }
    }

    #[test]
    fn who_asks_for_digests_alone_holds_no_record_and_learns_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("records.jsonl");
        let mut text = String::new();
        for number in 0..30 {
            text += &(serde_json::to_string(&record(number, vec![number as f64])).unwrap() + "\n");
        }
        fs::write(&path, text + "{").unwrap();
        let (whole, digests) = (scan(&path).unwrap(), scan_digests_on(&HostFiles, &path).unwrap());
        assert_eq!((whole.records.len(), digests.records.len()), (30, 0));
        assert_eq!(whole.digests, digests.digests);
        assert_eq!(whole.complete_bytes, digests.complete_bytes);
        assert_eq!(whole.torn, digests.torn);
        assert!(whole.torn.is_some() && !whole.is_bound && !digests.is_bound);
    }

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_the_memory() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("records.jsonl");
        // Sparse: reads as zeros without an end.
        File::create(&path).unwrap().set_len(RECORD_BYTES.most + 2).unwrap();
        let error = scan(&path).err().unwrap().to_string();
        assert!(error.contains("line 1") && error.contains("limit RECORD_BYTES"), "{error}");
    }
}
