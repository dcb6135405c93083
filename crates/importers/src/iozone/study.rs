//! Tables as a study writes them down: a row for each operation and size of record, a
//! column for each run. kB/s, as iozone prints them.

use super::metric;
use crate::importer::ImportFile;
use crate::metrics::number;
use crate::table::{ImportedRow, ImportedTable};
use crate::tidy;
use csv::StringRecord;
use model::{CaveatCode, Sample, format_size, parse_size};
use outputs::Trouble;
use outputs::iozone::{KILOBYTE, Operation, RateUnit};
use std::collections::{BTreeMap, BTreeSet};

/// More runs than this nobody makes.
const MOST_RUNS: usize = 1000;
/// No machine has this many kB/s.
const LARGEST: f64 = 1e12;
const LAYOUT: &str =
    "the header is operation,record,run 1,run 2,... and, if wanted, mean at its end";
const CORRECT: &str = "correct it, or remove the row";
const CONTRADICTED: &str = "means that do not follow from their runs, which count";

/// The table of one subject, read row by row. A file may have millions of rows; those of no table
/// are not kept.
pub(super) struct Study {
    subject: String,
    /// The sheet's name, where it is one of a workbook's.
    name: Option<String>,
    /// The number of the header, from 1, and what it says.
    header: Option<(u64, Columns)>,
    lines: Vec<Line>,
}

/// Which column is what.
struct Columns {
    runs: usize,
    has_mean: bool,
}

/// One row, understood.
struct Line {
    place: u64,
    operation: Operation,
    record_bytes: u64,
    runs: Vec<f64>,
    /// What its mean is and should be, where they differ.
    contradiction: Option<String>,
}

impl Study {
    /// That of a subject, and of the sheet of this name.
    pub(super) fn of(subject: String, name: Option<String>) -> Self {
        Self { subject, name, header: None, lines: Vec::new() }
    }

    /// Takes the next row with its number; the first is the header.
    pub(super) fn row(&mut self, place: u64, cells: &[&str]) -> Result<(), Trouble> {
        let Some((_, columns)) = &self.header else {
            let columns = Columns::find(cells);
            let columns = columns.map_err(|cause| self.trouble(place, &cause, LAYOUT))?;
            self.header = Some((place, columns));
            return Ok(());
        };
        let line = columns.line(place, cells);
        let line = line.map_err(|cause| self.trouble(place, &cause, CORRECT))?;
        self.lines.push(line);
        Ok(())
    }

    fn trouble(&self, row: u64, cause: &str, remedy: &str) -> Trouble {
        match &self.name {
            Some(name) => Trouble::new(format!("sheet {name}, row {row}: {cause}"), remedy),
            None => Trouble::at(row, cause, remedy),
        }
    }

    /// Appends its runs, each an execution for each size of record.
    pub(super) fn append(&self, table: &mut ImportedTable) -> Result<(), Trouble> {
        self.complete()?;
        table.declare(&["operation", "record"], &["record"])?;
        let metric = metric(RateUnit::BytesPerSecond, table)?;
        let first = table.next_execution();
        for line in &self.lines {
            let levels = vec![line.operation.id().to_owned(), format_size(line.record_bytes)];
            if let Some(said) = &line.contradiction {
                let item = format!("{} {} ({said})", self.subject, levels.join(" "));
                table.notice(CaveatCode::Contradicted, CONTRADICTED, &item);
            }
            for (run, value) in (1..).zip(&line.runs) {
                let row = ImportedRow {
                    subject: self.subject.clone(),
                    levels: levels.clone(),
                    execution: Some(format!("{first}.{run}")),
                    block: None,
                    samples: vec![Sample::values(&metric, vec![value * KILOBYTE as f64])],
                    failure: None,
                };
                table.push(Some(line.place), row)?;
            }
        }
        Ok(())
    }

    /// Each operation of each size is there, and once: otherwise a run would not cover what
    /// the others cover.
    fn complete(&self) -> Result<(), Trouble> {
        let Some((header, _)) = &self.header else {
            return Err(Trouble::new("it is empty", LAYOUT));
        };
        let mut seen: BTreeMap<u64, BTreeSet<Operation>> = BTreeMap::new();
        for line in &self.lines {
            if !seen.entry(line.record_bytes).or_default().insert(line.operation) {
                let record = format_size(line.record_bytes);
                let cause = format!("{} of {record} is given a second time", line.operation.id());
                return Err(self.trouble(line.place, &cause, CORRECT));
            }
        }
        let all: BTreeSet<Operation> = seen.values().flatten().copied().collect();
        for (record, operations) in &seen {
            if let Some(missing) = all.difference(operations).next() {
                let of = self.name.as_deref();
                let of = of.map_or(String::new(), |name| format!("sheet {name}: "));
                let cause = format!("{of}there is no {} of {}", missing.id(), format_size(*record));
                return Err(Trouble::new(cause, "give every operation for every size of record"));
            }
        }
        if self.lines.is_empty() {
            return Err(self.trouble(*header, "there is a header and no row", LAYOUT));
        }
        Ok(())
    }
}

/// A table separated by commas, or by tabs where its header has one.
pub(super) fn of_text(source: &ImportFile<'_>) -> Result<Study, Trouble> {
    let bytes = source.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source.bytes);
    let header = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let delimiter = if header.contains(&b'\t') { b'\t' } else { b',' };
    tidy::check_columns(bytes, delimiter)?;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .trim(csv::Trim::All)
        .has_headers(false)
        .from_reader(bytes);
    let mut study = Study::of(source.subject.to_owned(), None);
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| tidy::broken(bytes, &error))? {
        let line = record.position().map_or(1, |position| tidy::line(bytes, position));
        study.row(line, &record.iter().collect::<Vec<&str>>())?;
    }
    Ok(study)
}

impl Columns {
    fn find(header: &[&str]) -> Result<Self, String> {
        let name = |column: usize| header[column].trim().to_lowercase();
        let end = header.iter().rposition(|name| !name.trim().is_empty());
        let end = end.map_or(0, |last| last + 1);
        let has_mean = end > 0 && name(end - 1) == "mean";
        let runs = end.saturating_sub(2 + usize::from(has_mean));
        let are_runs = runs > 0 && (1..=runs).all(|run| name(1 + run) == format!("run {run}"));
        if are_runs && name(0) == "operation" && name(1) == "record" {
            if runs > MOST_RUNS {
                let limit = format!("more than {MOST_RUNS} runs (limit IOZONE_RUNS)");
                return Err(format!("{limit}: it has {runs}"));
            }
            return Ok(Self { runs, has_mean });
        }
        let shown =
            (0..end.min(12)).map(|column| name(column).chars().take(20).collect::<String>());
        Err(format!("its columns are {}", shown.collect::<Vec<_>>().join(", ")))
    }

    fn line(&self, place: u64, cells: &[&str]) -> Result<Line, String> {
        let width = 2 + self.runs + usize::from(self.has_mean);
        if let Some(extra) = cells.iter().skip(width).find(|cell| !cell.is_empty()) {
            let extra: String = extra.chars().take(40).collect();
            return Err(format!("`{extra}` stands behind the last column"));
        }
        let cell = |column: usize| cells.get(column).map_or("", |cell| cell.trim());
        let operation = Operation::of_label(cell(0)).ok_or_else(|| {
            let shown: String = cell(0).chars().take(40).collect();
            format!("`{shown}` is no operation of iozone's")
        })?;
        let runs = (1..=self.runs).map(|run| rate(cell(1 + run), &format!("run {run}")));
        let record_bytes = record(cell(1))?;
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        let mean = self.has_mean.then(|| rate(cell(2 + self.runs), "mean")).transpose()?;
        let contradiction = mean.and_then(|mean| contradiction(mean, &runs));
        let runs = runs.into_iter().map(|(_, value)| value).collect();
        Ok(Line { place, operation, record_bytes, runs, contradiction })
    }
}

/// A size with its unit: a bare number could be bytes or kilobytes.
fn record(text: &str) -> Result<u64, String> {
    let has_unit = text.ends_with(|last: char| last.is_ascii_alphabetic());
    let size = parse_size(text).ok().filter(|size| has_unit && *size > 0);
    size.ok_or_else(|| {
        let shown: String = text.chars().take(40).collect();
        format!("`{shown}` is no size of a record with its unit, such as 8k or 16m")
    })
}

/// kB/s as written.
fn rate<'a>(text: &'a str, what: &str) -> Result<(&'a str, f64), String> {
    let rate = number(text, 1, what).map_err(|trouble| trouble.cause)?;
    if rate > 0.0 && rate <= LARGEST {
        return Ok((text, rate));
    }
    Err(format!("{what} is {rate}, which is no rate of a machine that did something"))
}

/// What a mean is and should be, where they differ by more than rounding explains; it and the runs
/// with what they are written as.
fn contradiction((text, written): (&str, f64), runs: &[(&str, f64)]) -> Option<String> {
    let mean = runs.iter().map(|(_, value)| value).sum::<f64>() / runs.len() as f64;
    let of_runs = runs.iter().map(|(text, _)| half_a_step(text)).fold(0.0, f64::max);
    let allowed = half_a_step(text) + of_runs + 1e-9 * mean;
    let differs = (written - mean).abs() > allowed;
    differs.then(|| format!("{text} written; {mean:.2} of the runs"))
}

/// Half of the last digit that was written: what rounding may have taken.
fn half_a_step(text: &str) -> f64 {
    let digits = text
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.bytes().take_while(u8::is_ascii_digit).count());
    0.5 * 10_f64.powi(-i32::try_from(digits).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::ENTRY;
    use super::{Columns, MOST_RUNS};
    use crate::Mapping;
    use crate::picture::{campaign, imported, picture, read, refusal};
    use expect_test::expect;

    const NOOP: &str = "operation,record,run 1,run 2,mean\n\
        Random read,8k,71270,71290.5,71280.25\n\
        Initial write,8k,100,102,110\n\
        random_read,16m,1000,1001,1000.5\n\
        write,16m,2000,2000,2000\n";

    #[test]
    fn a_run_is_an_execution_of_its_size_of_record_and_a_wrong_mean_is_told() {
        let files = [("noop", NOOP.as_bytes())];
        expect![[r#"
            dimension operation covered
            dimension record fixed
            metric throughput BytesPerSecond Higher Mean 0.1 judged
            closed loop
            noop [random_read, 8k] #0.1 throughput=72980480
            noop [random_read, 8k] #0.2 throughput=73001472
            noop [write, 8k] #0.1 throughput=102400
            noop [write, 8k] #0.2 throughput=104448
            noop [random_read, 16M] #0.1 throughput=1024000
            noop [random_read, 16M] #0.2 throughput=1025024
            noop [write, 16M] #0.1 throughput=2048000
            noop [write, 16M] #0.2 throughput=2048000
            caveat CONTRADICTED: means that do not follow from their runs, which count: noop write 8k (110 written; 101.00 of the runs)
        "#]].assert_eq(&picture(&read(&ENTRY, &files, &Mapping::default()).unwrap()));
    }

    #[test]
    fn elevators_become_subjects_whose_runs_are_numbered_by_size_of_record() {
        let cfq = NOOP.replace("71270", "60000").replace(",110", ",101").replace(',', "\t");
        let files = [("noop", NOOP.as_bytes()), ("cfq", cfq.as_bytes())];
        let found = imported(&ENTRY, &files, &Mapping::default()).unwrap();
        expect![[r#"
            subjects noop; cfq
            workloads operation:random_read,record:8k; operation:write,record:8k; operation:random_read,record:16M; operation:write,record:16M
            unblocked over ["operation", "record"], fixed ["record"]
            caveat CONTRADICTED: means that do not follow from their runs, which count: noop write 8k (110 written; 101.00 of the runs), cfq random_read 8k (71280.25 written; 65645.25 of the runs)
            0 noop operation:random_read,record:8k replicate 0 position 0: throughput=72980480
            1 noop operation:random_read,record:8k replicate 1 position 0: throughput=73001472
            2 noop operation:write,record:8k replicate 0 position 0: throughput=102400
            3 noop operation:write,record:8k replicate 1 position 0: throughput=104448
            4 noop operation:random_read,record:16M replicate 0 position 0: throughput=1024000
            5 noop operation:random_read,record:16M replicate 1 position 0: throughput=1025024
            6 noop operation:write,record:16M replicate 0 position 0: throughput=2048000
            7 noop operation:write,record:16M replicate 1 position 0: throughput=2048000
            8 cfq operation:random_read,record:8k replicate 0 position 0: throughput=61440000
            9 cfq operation:random_read,record:8k replicate 1 position 0: throughput=73001472
            10 cfq operation:write,record:8k replicate 0 position 0: throughput=102400
            11 cfq operation:write,record:8k replicate 1 position 0: throughput=104448
            12 cfq operation:random_read,record:16M replicate 0 position 0: throughput=1024000
            13 cfq operation:random_read,record:16M replicate 1 position 0: throughput=1025024
            14 cfq operation:write,record:16M replicate 0 position 0: throughput=2048000
            15 cfq operation:write,record:16M replicate 1 position 0: throughput=2048000
        "#]].assert_eq(&campaign(&found));
    }

    #[test]
    fn means_may_be_rounded() {
        let caveat = |runs: &str, mean: &str| {
            let text = format!("operation,record,run 1,run 2,run 3,mean\nread,8k,{runs},{mean}\n");
            let table = read(&ENTRY, &[("a", text.as_bytes())], &Mapping::default()).unwrap();
            table.caveats.first().map(|caveat| caveat.detail.clone())
        };
        for (runs, mean) in [
            ("1,2,3", "2"),
            ("100,100,101", "100"),
            ("100,100,101", "100.33"),
            ("100.4,100.4,100.4", "100"),
            ("0.1,0.2,0.3", "0.2"),
            ("0.1,0.2,0.3", "0.19999999999999998"),
        ] {
            assert_eq!(caveat(runs, mean), None, "{runs} {mean}");
        }
        for (runs, mean) in [("100,100,101", "102"), ("100.00,100.00,101.00", "100.4")] {
            assert!(caveat(runs, mean).unwrap().contains(mean), "{runs} {mean}");
        }
    }

    #[test]
    fn more_runs_than_anybody_makes_are_refused_by_the_name_of_the_limit() {
        let header = |runs: usize| -> String {
            let runs: String = (1..=runs).map(|run| format!(",run {run}")).collect();
            format!("operation,record{runs}")
        };
        let found = |runs: usize| {
            let header = header(runs);
            Columns::find(&header.split(',').collect::<Vec<_>>()).map(|columns| columns.runs)
        };
        assert_eq!(found(MOST_RUNS), Ok(MOST_RUNS));
        let told = "more than 1000 runs (limit IOZONE_RUNS): it has 1001";
        assert_eq!(found(MOST_RUNS + 1), Err(told.to_owned()));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        for (old, new, cause) in [
            (
                "record,run 1",
                "size,run 1",
                "line 1: its columns are operation, size, run 1, run 2, mean",
            ),
            ("run 2", "run 3", "line 1: its columns are operation, record, run 1, run 3, mean"),
            ("71270", "", "line 2: run 1 is empty, which is not zero"),
            ("71270", "0", "line 2: run 1 is 0, which is no rate of a machine that did something"),
            (
                "71270",
                "-5",
                "line 2: run 1 is -5, which is no rate of a machine that did something",
            ),
            ("71270", "NaN", "line 2: run 1 is `NaN`, which is no finite number"),
            ("71270", "1e300", "line 2: run 1 is 1000"),
            (",8k,100,102,110", ",8k,100,102", "line 3: it has 4 fields, and the header 5"),
            (",8k,100,102,110", ",8k,100,102,", "line 3: mean is empty, which is not zero"),
            (
                "Random read,8k",
                "Random reed,8k",
                "line 2: `Random reed` is no operation of iozone's",
            ),
            (
                "Random read,8k",
                "Random read,8",
                "line 2: `8` is no size of a record with its unit, such as 8k or 16m",
            ),
            (
                "Initial write,8k",
                "random read,8k",
                "line 3: random_read of 8k is given a second time",
            ),
            ("write,16m,2000,2000,2000\n", "", "there is no write of 16M"),
        ] {
            assert!(NOOP.contains(old), "{old}");
            let found = refusal(&ENTRY, NOOP.replacen(old, new, 1).as_bytes(), &Mapping::default());
            assert!(found.starts_with(cause), "{found}");
        }
        let header = NOOP.lines().next().unwrap();
        let found = refusal(&ENTRY, header.as_bytes(), &Mapping::default());
        assert_eq!(found, "line 1: there is a header and no row");
        let found = refusal(&ENTRY, b"operation,record,run 1\nread,8k,\xff\n", &Mapping::default());
        assert_eq!(found, "line 2: it is not UTF-8");
    }
}
