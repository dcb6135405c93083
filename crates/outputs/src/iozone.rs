//! What iozone prints: text of its throughput mode (`-t`) and of its tables (`-a`), and
//! the binary report of `-b`.
//!
//! Versions 3.414, 3.429 and 3.489 differ in blanks and capitals (`KB/sec`, `kB/sec`,
//! `Kbytes/sec`, `kBytes/sec`), which are therefore not looked at. Its kilobyte has 1024
//! bytes.

mod columns;
mod excel;
mod text;

use crate::format::{Format, Reaction};
use crate::trouble::Trouble;
use std::collections::BTreeMap;

/// Bytes of what iozone calls KB or kB.
pub const KILOBYTE: u64 = 1024;
/// Below this part of its work by the slowest process a sum over processes is that of the fast
/// ones, and is told.
pub const LEAST_SHARE: f64 = 0.5;
/// More measurements than this nobody makes.
const MOST_CELLS: usize = 100_000;
/// A rate beyond this, in kilobytes or operations in a second, is no machine's.
const LARGEST_RATE: f64 = 1e12;
/// Larger than any file or record, in kilobytes.
const LARGEST_SIZE: u64 = 1 << 43;

/// What a program does with a file, in the order in which iozone does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// A new file is written.
    Write,
    /// The file is written again.
    Rewrite,
    /// The file is read.
    Read,
    /// The file is read again.
    Reread,
    /// The file is read from its end to its beginning.
    ReverseRead,
    /// Every so many records one is read.
    StrideRead,
    /// Records are read in random order.
    RandomRead,
    /// Some processes read, others write, in random order.
    Mixed,
    /// Records are written in random order.
    RandomWrite,
    /// One record is written over and over.
    RecordRewrite,
    /// pwrite(2).
    Pwrite,
    /// pread(2).
    Pread,
    /// fwrite(3) of a new file.
    Fwrite,
    /// fwrite(3) again.
    Refwrite,
    /// fread(3).
    Fread,
    /// fread(3) again.
    Refread,
}

/// Ids, and what else each is called where only letters and digits count.
const NAMES: [(Operation, &str, &[&str]); 16] = [
    (Operation::Write, "write", &["initialwrite", "initialwriters", "writer"]),
    (Operation::Rewrite, "rewrite", &["rewriters", "rewriter"]),
    (Operation::Read, "read", &["readers", "reader"]),
    (Operation::Reread, "reread", &["rereaders", "rereader"]),
    (Operation::ReverseRead, "reverse_read", &["reversereaders", "backwardread", "bkwdread"]),
    (Operation::StrideRead, "stride_read", &["stridereaders"]),
    (Operation::RandomRead, "random_read", &["randomreaders"]),
    (Operation::Mixed, "mixed", &["mixedworkload"]),
    (Operation::RandomWrite, "random_write", &["randomwriters"]),
    (Operation::RecordRewrite, "record_rewrite", &[]),
    (Operation::Pwrite, "pwrite", &["pwritewriters"]),
    (Operation::Pread, "pread", &["preadreaders"]),
    (Operation::Fwrite, "fwrite", &["fwriters"]),
    (Operation::Refwrite, "refwrite", &["refwriters", "frewrite"]),
    (Operation::Fread, "fread", &["freaders"]),
    (Operation::Refread, "refread", &["refreaders", "freread"]),
];

impl Operation {
    /// Its id: `random_read`.
    pub fn id(self) -> &'static str {
        NAMES.iter().find(|(operation, ..)| *operation == self).map_or("", |(_, id, _)| id)
    }

    /// The operation of an id, or of what iozone and people who quote it write:
    /// `Initial write`, `random readers`, `Re-read`. Capitals, blanks and signs do not count.
    pub fn of_label(label: &str) -> Option<Self> {
        let plain = |text: &str| -> String {
            text.chars()
                .filter(char::is_ascii_alphanumeric)
                .map(|c| c.to_ascii_lowercase())
                .collect()
        };
        let label = plain(label);
        let found = NAMES
            .iter()
            .find(|(_, id, others)| plain(id) == label || others.contains(&label.as_str()));
        found.map(|(operation, ..)| *operation)
    }
}

/// What a rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateUnit {
    /// Bytes in a second.
    BytesPerSecond,
    /// Operations in a second (`-O`); each moves one record.
    OperationsPerSecond,
}

/// How iozone was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Several processes or threads at once (`-t`), one record size.
    Throughput {
        /// How many; none where the report does not tell (`-b`).
        processes: Option<u64>,
    },
    /// One process; a row for each size of file and record.
    Table,
}

/// What one execution of iozone measured.
#[derive(Debug, Clone, PartialEq)]
pub struct IozoneReport {
    /// `3.414`, where the report tells.
    pub version: Option<String>,
    /// When it began (`Fri Nov 20 20:52:01 2026`, local time), where the report tells.
    pub began: Option<String>,
    /// How it was run.
    pub mode: Mode,
    /// What its rates count.
    pub unit: RateUnit,
    /// What it measured, in its order; never none.
    pub cells: Vec<IozoneRate>,
    /// Lines of its heading that say how it was run (`file size set to`), each by its words before
    /// the first number.
    pub settings: BTreeMap<String, String>,
}

/// One rate.
#[derive(Debug, Clone, PartialEq)]
pub struct IozoneRate {
    /// What was done.
    pub operation: Operation,
    /// Size of a record in bytes.
    pub record_bytes: u64,
    /// Size of a file in bytes, where the report tells.
    pub file_bytes: Option<u64>,
    /// In the report's unit: finite and above zero. Of several processes, their sum.
    pub rate: f64,
    /// The part of its file (0 to 1) that the slowest process had done when the first was
    /// ready, at which iozone stops them all; of one process, and where it is not told, none.
    pub least_share: Option<f64>,
}

impl IozoneReport {
    /// Reads what iozone printed, or wrote with `-b`.
    ///
    /// # Errors
    /// When it is neither, is cut off, holds two tests, or a number is missing, zero, not
    /// finite or not believable; with its line or cell.
    pub fn parse(bytes: &[u8]) -> Result<Self, Trouble> {
        if excel::is_one(bytes) { excel::parse(bytes) } else { text::parse(bytes) }
    }

    /// Whether these bytes look like iozone's: its banner, or the beginning of what `-b` writes.
    pub fn is_likely(bytes: &[u8]) -> bool {
        excel::is_one(bytes) || text::is_one(bytes)
    }

    fn push(&mut self, cell: IozoneRate) -> Result<(), String> {
        let is_same = |known: &IozoneRate| {
            (known.operation, known.record_bytes, known.file_bytes)
                == (cell.operation, cell.record_bytes, cell.file_bytes)
        };
        if self.cells.len() >= MOST_CELLS {
            return Err(format!("more than {MOST_CELLS} measurements (limit IOZONE_MEASUREMENTS)"));
        }
        // Only neighbours in a table share sizes, so looking back a row is enough there.
        if self.cells.iter().rev().take(4 * NAMES.len()).any(is_same) {
            return Err(format!("{} is given a second time", cell.operation.id()));
        }
        self.cells.push(cell);
        Ok(())
    }
}

/// Major and minor number of what `iozone -v` prints: `Version $Revision: 3.414 $`.
pub fn version(answer: &str) -> Option<(u32, u32)> {
    let mut words = answer.split_whitespace();
    words.find(|word| word.eq_ignore_ascii_case("$revision:"))?;
    let (major, minor) = words.next()?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// A number in plain digits.
fn plain_number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|number: &f64| is_plain && number.is_finite())
}

/// A rate as printed, in kilobytes or operations in a second; why it is none.
fn rate(number: f64) -> Result<f64, String> {
    if number.is_finite() && number > 0.0 && number <= LARGEST_RATE {
        return Ok(number);
    }
    Err(format!("{number} is no rate of a machine that did something"))
}

/// A size in kilobytes, as bytes.
fn size_bytes(text: &str) -> Result<u64, String> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let kilobytes: Option<u64> = text.parse().ok().filter(|_| is_plain);
    kilobytes
        .filter(|size| (1..=LARGEST_SIZE).contains(size))
        .map(|size| size * KILOBYTE)
        .ok_or_else(|| format!("`{}` is no size in kilobytes", shown(text)))
}

/// The beginning of something, for an error.
fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The text and the binary report of iozone.
pub(crate) const FORMAT: Format = Format {
    name: "iozone-excel",
    words: &[
        "\x09\0\x04\0\x02\0\x10\0",
        "\x0a\0\0\0",
        "\x04\0\x08\x01",
        "\x03\0\x0f\0",
        "\x02\0\x09\0",
        "  Initial write ",
        "Record size = 8 kBytes ",
        "Output is in kBytes/sec",
        "\0\0\0",
    ],
    run,
};

/// A rate that is read is one.
fn run(bytes: &[u8]) -> Reaction {
    let report = IozoneReport::parse(bytes);
    match &report {
        Ok(report) => {
            assert!(!report.cells.is_empty(), "a report without numbers");
            for cell in &report.cells {
                assert!(cell.rate.is_finite() && cell.rate > 0.0, "{cell:?}");
                assert!(cell.record_bytes > 0 && cell.file_bytes != Some(0), "{cell:?}");
                assert!(cell.least_share.is_none_or(|share| (0.0..=1.0).contains(&share)));
            }
        }
        Err(trouble) => trouble.check(),
    }
    Reaction::of(report.ok().as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_found_by_its_id_and_by_what_iozone_calls_it() {
        for (operation, id, others) in NAMES {
            assert_eq!(Operation::of_label(id), Some(operation));
            assert_eq!(operation.id(), id);
            for other in others {
                assert_eq!(Operation::of_label(other), Some(operation), "{other}");
            }
        }
        for (label, id) in [
            ("  Initial write ", "write"),
            ("1", ""),
            ("Re-read", "reread"),
            ("Reverse Read", "reverse_read"),
            ("random readers", "random_read"),
            ("", ""),
        ] {
            assert_eq!(Operation::of_label(label).map_or("", Operation::id), id, "{label}");
        }
    }

    #[test]
    fn a_version_is_read_or_none() {
        for (answer, expected) in [
            (
                "\n  'Iozone' Filesystem Benchmark Program\n\n Version $Revision: 3.414 $\n",
                Some((3, 414)),
            ),
            ("Version $Revision: 3.506 $", Some((3, 506))),
            ("Version 3.414", None),
            ("$Revision: three $", None),
        ] {
            assert_eq!(version(answer), expected, "{answer}");
        }
    }

    #[test]
    fn sizes_and_rates_are_plain_and_believable() {
        assert_eq!(size_bytes("8"), Ok(8192));
        for text in ["", "0", "-1", "8k", "+8", "99999999999999999999", "9999999999999999"] {
            assert!(size_bytes(text).is_err(), "{text}");
        }
        for number in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e13] {
            assert!(rate(number).is_err(), "{number}");
        }
        assert_eq!(plain_number("76372.73"), Some(76372.73));
        for text in ["", ".", "nan", "inf", "1e9", "-3", "1.2.3"] {
            assert_eq!(plain_number(text), None, "{text}");
        }
    }
}
