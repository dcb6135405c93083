//! The file from which a calibration goes on: lines of JSON, first a head that says what the counts
//! depend on, then a line for each cell that was counted. It is replaced as a whole for each cell.

use super::save::save;
use calibrate::{CalibrationCell, Rate};
use contract::{Error, Result};
use model::CALIBRATION_BYTES;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const FORMAT: &str = "schedlab.calibration/1";
/// What to do where a file cannot be gone on from.
const REMEDY: &str =
    "give the same options to the same build, or a file that is not there yet: it begins anew";

/// What the counts depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckpointHead {
    format: String,
    /// Digest of the program's file: one that was built anew may count otherwise.
    program: String,
    /// Simulated campaigns in each cell.
    repetitions: u32,
    /// What the name of a row contains in each cell; all cells when empty.
    only: String,
}

impl CheckpointHead {
    /// That of this program.
    ///
    /// # Errors
    /// When the program's file cannot be read.
    pub(super) fn of(repetitions: u32, only: &str) -> Result<Self> {
        let (program, _) = artefacts::digest::of_file(&assembly::executable())
            .map_err(|error| Error::environment("cannot tell the build of schedlab", error))?;
        Ok(Self { format: FORMAT.to_owned(), program, repetitions, only: only.to_owned() })
    }

    /// In what another head differs.
    fn differences(&self, other: &Self) -> String {
        if other.format != self.format {
            return format!("its format is `{}`, this program reads `{FORMAT}`", other.format);
        }
        let mut told = Vec::new();
        if other.program != self.program {
            told.push("another build of schedlab counted it".to_owned());
        }
        if other.repetitions != self.repetitions {
            let (its, asked) = (other.repetitions, self.repetitions);
            told.push(format!("it has {its} campaigns in each row, and {asked} are asked for"));
        }
        if other.only != self.only {
            let (its, asked) = (rows_of(&other.only), rows_of(&self.only));
            told.push(format!("it is of {its}, and {asked} are asked for"));
        }
        told.join("; ")
    }
}

/// Which rows this chooses.
fn rows_of(only: &str) -> String {
    match only {
        "" => "all rows".to_owned(),
        only => format!("rows whose name contains `{only}`"),
    }
}

/// A cell that was counted.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CountedCell {
    rows: Vec<CountedRow>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CountedRow {
    name: String,
    rate: Rate,
}

/// The counts that a file has.
#[derive(Debug)]
pub(super) struct Checkpoint {
    path: PathBuf,
    /// What is in the file.
    text: String,
    /// By the names of the rows of a cell.
    counts: BTreeMap<Vec<String>, Vec<Rate>>,
    /// Rows of all cells.
    total: usize,
}

impl Checkpoint {
    /// Reads the counts of these cells from a file, and makes it where it is not there. What
    /// follows the last end of a line was cut off by a crash, and is dropped.
    ///
    /// # Errors
    /// When it has another head, or a line that a calibration of these cells does not write;
    /// when it is too long, no plain file, or cannot be read or written. It is then as it was.
    pub(super) fn open(
        path: &Path,
        head: &CheckpointHead,
        cells: &[CalibrationCell],
    ) -> Result<Self> {
        let bytes = read(path)?;
        let mut counts = BTreeMap::new();
        if !bytes.is_empty() {
            counts = counts_in(&bytes, head, cells).map_err(|cause| {
                Error::usage(format!("cannot go on from {}", path.display()), cause, REMEDY)
            })?;
        }
        let mut text = line(head)?;
        for (names, rates) in &counts {
            text.push_str(&line(&counted(names.iter().map(String::as_str), rates))?);
        }
        save(path, text.as_bytes())?;
        let total = cells.iter().map(|cell| cell.names().count()).sum();
        Ok(Self { path: path.to_owned(), text, counts, total })
    }

    /// How many rows are counted.
    pub(super) fn rows(&self) -> usize {
        self.counts.values().map(Vec::len).sum()
    }

    /// `57 of 367 rows are in FILE`.
    pub(super) fn so_far(&self) -> String {
        format!("{} of {} rows are in {}", self.rows(), self.total, self.path.display())
    }

    /// The counts of a cell; none of one that was not counted.
    pub(super) fn counts_of(&self, cell: &CalibrationCell) -> Option<&[Rate]> {
        self.counts.get(&names_of(cell)).map(Vec::as_slice)
    }

    /// Keeps the counts of a cell; they are stored when this returns.
    ///
    /// # Errors
    /// When the file cannot be written. It is then as it was.
    pub(super) fn keep(&mut self, cell: &CalibrationCell, counts: &[Rate]) -> Result<()> {
        self.text.push_str(&line(&counted(cell.names(), counts))?);
        save(&self.path, self.text.as_bytes())?;
        self.counts.insert(names_of(cell), counts.to_vec());
        Ok(())
    }
}

fn names_of(cell: &CalibrationCell) -> Vec<String> {
    cell.names().map(str::to_owned).collect()
}

fn counted<'a>(names: impl Iterator<Item = &'a str>, rates: &[Rate]) -> CountedCell {
    let row = |(name, rate): (&str, &Rate)| CountedRow { name: name.to_owned(), rate: *rate };
    CountedCell { rows: names.zip(rates).map(row).collect() }
}

fn line<T: Serialize>(of: &T) -> Result<String> {
    let text = serde_json::to_string(of);
    let text = text.map_err(|error| Error::environment("cannot encode a checkpoint", error))?;
    Ok(format!("{text}\n"))
}

/// The bytes of a file; none where it is not there.
fn read(path: &Path) -> Result<Vec<u8>> {
    let attempted = || format!("cannot go on from {}", path.display());
    let failed = |error: io::Error| Error::usage(attempted(), error, "name another file");
    let within = |bytes: u64| {
        let checked = CALIBRATION_BYTES.check(bytes);
        checked.map_err(|over| Error::usage(attempted(), over, over.limit.remedy))
    };
    let file = match sys::open_regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.map_err(failed)?,
    };
    within(file.metadata().map_err(failed)?.len())?;
    let mut bytes = Vec::new();
    file.take(CALIBRATION_BYTES.most + 1).read_to_end(&mut bytes).map_err(failed)?;
    // It may have grown meanwhile.
    within(bytes.len() as u64)?;
    Ok(bytes)
}

/// The counts in a file that is not empty, or why it is refused.
fn counts_in(
    bytes: &[u8],
    head: &CheckpointHead,
    cells: &[CalibrationCell],
) -> Result<BTreeMap<Vec<String>, Vec<Rate>>, String> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n');
    let first = lines.next().and_then(|line| serde_json::from_slice(line).ok());
    let first: CheckpointHead = first.ok_or("its first line is not that of a checkpoint")?;
    if first != *head {
        return Err(head.differences(&first));
    }
    let known: BTreeSet<Vec<String>> = cells.iter().map(names_of).collect();
    let mut counts = BTreeMap::new();
    for (number, line) in (2..).zip(lines) {
        let refused = || format!("line {number} is none that this calibration writes");
        let cell: CountedCell = serde_json::from_slice(line).map_err(|_| refused())?;
        let (names, rates): (Vec<String>, Vec<Rate>) =
            cell.rows.into_iter().map(|row| (row.name, row.rate)).unzip();
        let are_rates = rates.iter().all(|rate| rate.hits <= rate.tries);
        if !are_rates || !known.contains(&names) || counts.insert(names, rates).is_some() {
            return Err(refused());
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::ErrorKind;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::fs;
    use std::os::unix::fs::symlink;

    fn head() -> CheckpointHead {
        let text = |text: &str| text.to_owned();
        CheckpointHead {
            format: text(FORMAT),
            program: text("a digest"),
            repetitions: 20,
            only: text("power"),
        }
    }

    /// So many hits in each row of a cell.
    fn counts(cell: &CalibrationCell, hits: u32) -> Vec<Rate> {
        cell.names().map(|_| Rate { hits, tries: 20 }).collect()
    }

    /// A file in which all of these cells are counted, each with one hit more than that before it.
    fn fill(path: &Path, cells: &[CalibrationCell]) {
        let mut checkpoint = Checkpoint::open(path, &head(), cells).unwrap();
        for (hits, cell) in (0..).zip(cells) {
            checkpoint.keep(cell, &counts(cell, hits)).unwrap();
        }
    }

    #[test]
    fn counts_that_were_kept_are_there_when_the_file_is_opened_again() {
        let home = tempfile::tempdir().unwrap();
        let (path, link) = (home.path().join("file"), home.path().join("link"));
        symlink("file", &link).unwrap();
        // An empty file has nothing that could be lost.
        fs::write(&path, "").unwrap();
        let cells = calibrate::cells("power");
        fill(&link, &cells);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 1 + cells.len(), "{text}");
        let again = Checkpoint::open(&link, &head(), &cells).unwrap();
        for (hits, cell) in (0..).zip(&cells) {
            assert_eq!(again.counts_of(cell), Some(counts(cell, hits).as_slice()));
        }
        let rows: usize = cells.iter().map(|cell| cell.names().count()).sum();
        assert_eq!(again.rows(), rows);
        let other = calibrate::cells("naive");
        assert_eq!(again.counts_of(&other[0]), None);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "nothing else is left");
    }

    #[test]
    fn a_last_line_that_was_cut_off_is_dropped_wherever_that_was() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        let cells = calibrate::cells("power");
        let (last, before) = cells.split_last().unwrap();
        fill(&path, before);
        let without = fs::read(&path).unwrap();
        let mut checkpoint = Checkpoint::open(&path, &head(), &cells).unwrap();
        checkpoint.keep(last, &counts(last, 7)).unwrap();
        let whole = fs::read(&path).unwrap();
        for end in (without.len()..whole.len()).step_by(8) {
            fs::write(&path, &whole[..end]).unwrap();
            let mut cut = Checkpoint::open(&path, &head(), &cells).unwrap();
            assert_eq!(cut.counts_of(last), None, "{end} bytes");
            assert!(before.iter().all(|cell| cut.counts_of(cell).is_some()), "{end} bytes");
            cut.keep(last, &counts(last, 7)).unwrap();
            let again = Checkpoint::open(&path, &head(), &cells).unwrap();
            assert_eq!(again.counts_of(last), Some(counts(last, 7).as_slice()), "{end} bytes");
        }
    }

    #[test]
    fn a_file_of_another_head_is_refused_by_what_differs_and_stays_as_it_was() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        let cells = calibrate::cells("power");
        fill(&path, &cells);
        let text = fs::read_to_string(&path).unwrap();
        let other = |other: &str| other.to_owned();
        for (asked, cause) in [
            (
                CheckpointHead { program: other("another"), ..head() },
                "another build of schedlab counted it",
            ),
            (
                CheckpointHead { repetitions: 21, ..head() },
                "it has 20 campaigns in each row, and 21 are asked for",
            ),
            (
                CheckpointHead { only: String::new(), ..head() },
                "it is of rows whose name contains `power`, and all rows are asked for",
            ),
        ] {
            let error = Checkpoint::open(&path, &asked, &cells).unwrap_err();
            assert_eq!((error.kind, error.cause.as_str()), (ErrorKind::Usage, cause));
            assert!(error.attempted.contains("cannot go on from "), "{error}");
            assert_eq!(error.remedy, REMEDY);
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        let later = text.replace(FORMAT, "schedlab.calibration/2");
        fs::write(&path, &later).unwrap();
        let error = Checkpoint::open(&path, &head(), &cells).unwrap_err();
        assert!(error.cause.starts_with("its format is `schedlab.calibration/2`"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), later);
    }

    #[test]
    fn a_file_that_no_calibration_wrote_is_refused_and_stays_as_it_was() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        let cells = calibrate::cells("power");
        let first = line(&head()).unwrap();
        let good = line(&counted(cells[0].names(), &counts(&cells[0], 1))).unwrap();
        let many = line(&counted(cells[0].names(), &[Rate { hits: 21, tries: 20 }])).unwrap();
        let foreign = "its first line is not that of a checkpoint";
        let second = "line 2 is none that this calibration writes";
        for (bytes, cause) in [
            (b"title = \"an experiment\"\n".to_vec(), foreign),
            (b"no end of a line".to_vec(), foreign),
            (b"\n\n".to_vec(), foreign),
            ("[".repeat(100_000).into_bytes(), foreign),
            (vec![0; 4096], foreign),
            (good.clone().into_bytes(), foreign),
            (format!("{first}\n").into_bytes(), second),
            (format!("{first}{}\n", "[".repeat(100_000)).into_bytes(), second),
            ([first.as_bytes(), b"\xff\n"].concat(), second),
            (format!("{first}{many}").into_bytes(), second),
            (format!("{first}{}", good.replace("power", "naive")).into_bytes(), second),
            (format!("{first}{{\"rows\":[]}}\n").into_bytes(), second),
            (format!("{first}{}", good.replace("hits\":1", "hits\":-1")).into_bytes(), second),
            (
                format!("{first}{good}{good}").into_bytes(),
                "line 3 is none that this calibration writes",
            ),
        ] {
            fs::write(&path, &bytes).unwrap();
            let error = Checkpoint::open(&path, &head(), &cells).unwrap_err();
            assert_eq!((error.kind, error.cause.as_str()), (ErrorKind::Usage, cause));
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        fs::write(&path, format!("{first}{good}")).unwrap();
        assert_eq!(Checkpoint::open(&path, &head(), &cells).unwrap().rows(), 1);
    }

    #[test]
    fn what_is_too_long_or_no_plain_file_is_refused_before_it_is_held_or_waited_for() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let refusal = |path: &Path| {
            let error = Checkpoint::open(path, &head(), &[]).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage, "{error}");
            error.cause
        };
        let long = fs::File::create(at("long")).unwrap();
        long.set_len(1 << 30).unwrap();
        let cause = refusal(&at("long"));
        assert!(cause.contains("limit CALIBRATION_BYTES"), "{cause}");
        assert_eq!(long.metadata().unwrap().len(), 1 << 30);
        mknodat(CWD, at("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        assert!(refusal(&at("fifo")).contains("FIFO"));
        assert!(refusal(Path::new("/dev/null")).contains("device"));
        assert!(refusal(home.path()).contains("directory"));
        assert!(Checkpoint::open(&at("nowhere/file"), &head(), &[]).is_err());
    }

    #[test]
    fn the_head_names_this_program_and_what_is_asked_for() {
        let head = CheckpointHead::of(150, "S1").unwrap();
        assert_eq!((head.program.len(), head.repetitions, head.only.as_str()), (64, 150, "S1"));
        assert_eq!(CheckpointHead::of(150, "S1").unwrap(), head);
    }
}
