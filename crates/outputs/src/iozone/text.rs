//! The text that iozone prints.

use super::columns::Columns;
use super::{
    IozoneRate, IozoneReport, KILOBYTE, Mode, Operation, RateUnit, plain_number, rate, shown,
    size_bytes,
};
use crate::json::line_of;
use crate::trouble::Trouble;
use std::collections::BTreeMap;

const REMEDY: &str = "give the output of iozone -t or iozone -a as it was printed";
/// The banner is one of the first lines, the caller's own words aside.
const LOOKED_AT: usize = 4096;
const BANNER: &str = "iozone: performance test of file i/o";
/// The last thing that iozone says about its measurements.
const COMPLETE: &str = "iozone test complete";

pub(super) fn is_one(bytes: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(LOOKED_AT)]);
    start.to_ascii_lowercase().contains(BANNER)
}

/// Lines of the heading that say nothing of how it was run, or what stands beside every number.
const NO_SETTINGS: [&str; 8] = [
    "command line",
    "time resolution",
    "processor cache",
    "file stride",
    "output is",
    "excel chart",
    "record size",
    "each ",
];
/// No heading has so many lines.
const MOST_SETTINGS: usize = 40;
/// No line that is understood has so many words; of one with millions no more are held.
const MOST_WORDS: usize = 16;

/// What was read so far.
struct Reader {
    report: IozoneReport,
    /// Whether its heading has come to how it was run.
    has_begun: bool,
    has_mode: bool,
    record_bytes: Option<u64>,
    file_bytes: Option<u64>,
    processes: Option<u64>,
    phase: Option<Phase>,
    columns: Option<Columns>,
    is_repeating: bool,
    repeated: usize,
    is_complete: bool,
}

/// A phase of the throughput mode that is being read.
struct Phase {
    line: u64,
    operation: Operation,
    rate: f64,
    /// The lowest and the mean rate of a process.
    lowest: Option<f64>,
    mean: Option<f64>,
}

impl Phase {
    /// Whether a process did nothing before the first was ready. It is then left out of the
    /// lowest rate, which becomes that of another and may be above the mean.
    fn has_idle_process(&self) -> bool {
        let is_above = |(lowest, mean): (f64, f64)| lowest > mean * 1.001;
        self.lowest == Some(0.0) || self.lowest.zip(self.mean).is_some_and(is_above)
    }
}

/// The first words of a line.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().take(MOST_WORDS).collect()
}

pub(super) fn parse(bytes: &[u8]) -> Result<IozoneReport, Trouble> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Trouble::at(line_of(bytes, error.valid_up_to()), "it is not UTF-8", REMEDY)
    })?;
    if !is_one(bytes) {
        return Err(Trouble::new("it does not begin as iozone's output does", REMEDY));
    }
    let mut reader = Reader {
        report: IozoneReport {
            version: None,
            began: None,
            mode: Mode::Table,
            unit: RateUnit::BytesPerSecond,
            cells: Vec::new(),
            settings: BTreeMap::new(),
        },
        has_begun: false,
        has_mode: false,
        record_bytes: None,
        file_bytes: None,
        processes: None,
        phase: None,
        columns: None,
        is_repeating: false,
        repeated: 0,
        is_complete: false,
    };
    for (number, line) in (1..).zip(text.lines()) {
        reader.line(number, line).map_err(|cause| Trouble::at(number, cause, REMEDY))?;
    }
    reader.end()
}

impl Reader {
    fn line(&mut self, number: u64, line: &str) -> Result<(), String> {
        let trimmed = line.trim();
        let lower = trimmed.to_ascii_lowercase();
        if self.is_complete || trimmed.is_empty() {
            // Below it are matrices of the same numbers, and remarks.
            return Ok(());
        }
        if lower.starts_with(COMPLETE) {
            self.is_complete = true;
        } else if self.is_repeating {
            self.repetition(trimmed)?;
        } else if let Some(columns) = Columns::of(line) {
            self.mode(Mode::Table)?;
            self.columns = Some(columns);
        } else if self.columns.is_some() {
            self.row(line)?;
        } else if self.has_mode {
            self.throughput(number, trimmed, &lower)?;
        } else {
            self.heading(trimmed, &lower)?;
        }
        Ok(())
    }

    /// What iozone says before it begins.
    fn heading(&mut self, line: &str, lower: &str) -> Result<(), String> {
        let words = words(lower);
        if self.has_begun {
            self.setting(lower);
        }
        match words.as_slice() {
            ["run", "began:", ..] => {
                self.has_begun = true;
                self.report.began = line.split_once(':').map(|(_, when)| when.trim().to_owned());
            }
            ["version", "$revision:", version, ..] => {
                self.report.version = Some((*version).to_owned());
            }
            ["compiled", "for", ..] => self.setting(lower),
            ["ops", "mode.", ..] => self.report.unit = RateUnit::OperationsPerSecond,
            ["microseconds/op", "mode.", ..] => {
                let cause = "its output is in microseconds for an operation, which is no rate";
                return Err(cause.to_owned());
            }
            ["output", "is", "in", unit, ..] if *unit != "kbytes/sec" => {
                return Err(format!("its output is in `{}`", shown(line)));
            }
            ["throughput", "test", "with", count, ..] => {
                let count: Option<u64> = count.parse().ok().filter(|count| *count > 0);
                let count = count.ok_or_else(|| format!("`{}` has no count", shown(line)))?;
                self.processes = Some(count);
                self.mode(Mode::Throughput { processes: Some(count) })?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Keeps a line of the heading that says how it was run.
    fn setting(&mut self, line: &str) {
        let is_of_the_machine = NO_SETTINGS.iter().any(|other| line.starts_with(other));
        if is_of_the_machine || self.report.settings.len() >= MOST_SETTINGS {
            return;
        }
        let digit = line.find(|letter: char| letter.is_ascii_digit()).unwrap_or(line.len());
        let (name, value) = line.split_at(digit);
        let value = if value.is_empty() { "yes" } else { value };
        self.report.settings.insert(shown(name.trim()), shown(value));
    }

    fn mode(&mut self, mode: Mode) -> Result<(), String> {
        if std::mem::replace(&mut self.has_mode, true) {
            return Err("a second test begins: give each a file of its own".to_owned());
        }
        self.report.mode = mode;
        Ok(())
    }

    fn row(&mut self, line: &str) -> Result<(), String> {
        let Some(columns) = &mut self.columns else { return Ok(()) };
        let row = columns.row(line, self.report.unit == RateUnit::BytesPerSecond)?;
        for (operation, rate) in row.rates {
            self.report.push(IozoneRate {
                operation,
                record_bytes: row.record_bytes,
                file_bytes: Some(row.file_bytes),
                rate,
                least_share: None,
            })?;
        }
        Ok(())
    }

    fn throughput(&mut self, number: u64, line: &str, lower: &str) -> Result<(), String> {
        let words = words(lower);
        match words.as_slice() {
            ["throughput", "test", "with", ..] => return self.mode(self.report.mode),
            ["each", _, "writes", "a", file, unit, "file", "in", record, "kbyte", "records"]
                if *unit == "kbyte" =>
            {
                self.file_bytes = Some(size_bytes(file)?);
                self.record_bytes = Some(size_bytes(record)?);
            }
            ["children", "see", "throughput", "for", count, ..] => {
                self.close()?;
                self.phase = Some(self.phase(number, line, count)?);
            }
            [which @ ("min" | "avg"), "throughput", "per", ..] => {
                self.of_a_process(which, lower)?
            }
            ["min", "xfer", ..] => self.shortest(lower)?,
            [first, ..] if first.starts_with("\"throughput") => {
                self.close()?;
                self.is_repeating = true;
            }
            _ => {}
        }
        Ok(())
    }

    /// `Children see throughput for 2 random readers = 805898.66 KB/sec`.
    fn phase(&self, number: u64, line: &str, count: &str) -> Result<Phase, String> {
        if count.parse().ok() != self.processes {
            return Err(format!("{} processes, in a test with others", shown(count)));
        }
        let (what, value) = line.split_once('=').ok_or("the line is cut off")?;
        let label = words(what).get(5..).unwrap_or_default().join(" ");
        let operation = Operation::of_label(&label)
            .ok_or_else(|| format!("`{}` is no operation", shown(&label)))?;
        let rate = rate(self.value(value)?).map(|rate| rate * self.scale())?;
        Ok(Phase { line: number, operation, rate, lowest: None, mean: None })
    }

    /// What a printed rate is multiplied by to be in the report's unit.
    fn scale(&self) -> f64 {
        match self.report.unit {
            RateUnit::BytesPerSecond => KILOBYTE as f64,
            RateUnit::OperationsPerSecond => 1.0,
        }
    }

    /// A rate as printed, behind which stands the report's unit.
    fn value(&self, text: &str) -> Result<f64, String> {
        let wanted = match self.report.unit {
            RateUnit::BytesPerSecond => "kb/sec",
            RateUnit::OperationsPerSecond => "ops/sec",
        };
        let words = words(text);
        let [number, unit] = words.as_slice() else {
            return Err("the line is cut off".to_owned());
        };
        if !unit.eq_ignore_ascii_case(wanted) {
            return Err(format!("`{}` where {wanted} was expected", shown(unit)));
        }
        plain_number(number).ok_or_else(|| format!("`{}` is no number", shown(number)))
    }

    /// `Min throughput per process = 516230.56 KB/sec`.
    fn of_a_process(&mut self, which: &str, lower: &str) -> Result<(), String> {
        let (_, value) = lower.split_once('=').ok_or("the line is cut off")?;
        let value = self.value(value)?;
        let phase = self.phase.as_mut().ok_or("it belongs to no operation")?;
        match which {
            "min" => phase.lowest = Some(value),
            _ => phase.mean = Some(value),
        }
        Ok(())
    }

    /// `Min xfer = 16384.00 KB`: the last line of a phase.
    fn shortest(&mut self, lower: &str) -> Result<(), String> {
        let phase = self.phase.take().ok_or("it belongs to no operation")?;
        let missing = || "no line `Each process writes …` before it".to_owned();
        let record_bytes = self.record_bytes.ok_or_else(missing)?;
        let file_bytes = self.file_bytes.ok_or_else(missing)?;
        let (_, value) = lower.split_once('=').ok_or("the line is cut off")?;
        let words = words(value);
        let (number, bytes) = match words.as_slice() {
            [number, "kb"] => (*number, KILOBYTE as f64),
            [number, "ops"] => (*number, record_bytes as f64),
            _ => return Err("the line is cut off".to_owned()),
        };
        let parsed = plain_number(number);
        let parsed = parsed.ok_or_else(|| format!("`{}` is no number", shown(number)))?;
        // `-O` counts whole operations: of a file that is no multiple, one more than fits.
        let share = (parsed * bytes / file_bytes as f64).min(1.0);
        let share = if phase.has_idle_process() { 0.0 } else { share };
        self.report.push(IozoneRate {
            operation: phase.operation,
            record_bytes,
            file_bytes: Some(file_bytes),
            rate: phase.rate,
            least_share: self.processes.filter(|count| *count > 1).map(|_| share),
        })
    }

    fn close(&self) -> Result<(), String> {
        match &self.phase {
            Some(phase) => {
                Err(format!("the operation of line {} has no line `Min xfer`", phase.line))
            }
            None => Ok(()),
        }
    }

    /// The rates once more (`-R`): `"  Initial write "   76372.73`.
    fn repetition(&mut self, line: &str) -> Result<(), String> {
        let Some((label, number)) = line.strip_prefix('"').and_then(|rest| rest.split_once('"'))
        else {
            return Err(format!("`{}` is no line of the report", shown(line)));
        };
        let number = number.trim();
        if number.is_empty() {
            return Ok(());
        }
        let operation = Operation::of_label(label)
            .ok_or_else(|| format!("`{}` is no operation", shown(label)))?;
        let known = self.report.cells.iter().find(|cell| cell.operation == operation);
        let known = known.ok_or_else(|| format!("{} was not measured above", operation.id()))?;
        let scale = self.scale();
        let parsed = plain_number(number);
        let parsed = parsed.ok_or_else(|| format!("`{}` is no number", shown(number)))?;
        // Both are printed with two digits after the point.
        if (parsed * scale - known.rate).abs() > 0.02 * scale {
            return Err(format!("{} is {number} here and was another above", operation.id()));
        }
        self.repeated += 1;
        Ok(())
    }

    fn end(self) -> Result<IozoneReport, Trouble> {
        if !self.is_complete {
            let cause = "it is cut off: iozone did not say that its test was complete";
            return Err(Trouble::new(cause, "run it to its end, and give all it printed"));
        }
        self.close().map_err(|cause| Trouble::new(cause, REMEDY))?;
        if self.report.cells.is_empty() {
            return Err(Trouble::new("it holds no throughput", REMEDY));
        }
        if self.is_repeating && self.repeated != self.report.cells.len() {
            let cause = "its report does not repeat every operation that was measured";
            return Err(Trouble::new(cause, REMEDY));
        }
        Ok(self.report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::fmt::Write;

    macro_rules! golden {
        ($name:literal) => {
            include_str!(concat!("../../tests/golden/iozone/", $name, ".txt"))
        };
    }

    fn check(text: &str, expected: &Expect) {
        let report = IozoneReport::parse(text.as_bytes()).unwrap();
        let version = report.version.as_deref().unwrap_or("?");
        let mut picture = format!("{version} {:?} {:?}\n", report.mode, report.unit);
        for cell in &report.cells {
            let (record, file) = (model::format_size(cell.record_bytes), cell.file_bytes);
            let file = file.map_or("?".to_owned(), model::format_size);
            let rate = match report.unit {
                RateUnit::BytesPerSecond => cell.rate / 1024.0,
                RateUnit::OperationsPerSecond => cell.rate,
            };
            let id = cell.operation.id();
            let _ = write!(picture, "{id} {record} of {file}: {rate:.2}");
            if let Some(share) = cell.least_share {
                let _ = write!(picture, ", {:.1} % by the slowest", 100.0 * share);
            }
            picture.push('\n');
        }
        expected.assert_eq(&picture);
    }

    fn refused(text: &str) -> String {
        let trouble = IozoneReport::parse(text.as_bytes()).unwrap_err();
        assert!(!trouble.remedy.is_empty());
        trouble.to_string()
    }

    #[test]
    fn one_process_is_read() {
        check(
            golden!("t1_r8k_s32m_I_R__idle"),
            &expect![[r#"
            3.414 Throughput { processes: Some(1) } BytesPerSecond
            write 8k of 32M: 121304.52
            rewrite 8k of 32M: 70396.76
            read 8k of 32M: 96810.38
            reread 8k of 32M: 118528.78
            reverse_read 8k of 32M: 103141.30
            random_read 8k of 32M: 68887.09
            random_write 8k of 32M: 70372.72
        "#]],
        );
    }

    #[test]
    fn the_slowest_of_several_processes_is_told() {
        check(
            golden!("t2_r64k_I"),
            &expect![[r#"
            3.414 Throughput { processes: Some(2) } BytesPerSecond
            write 64k of 16M: 1036258.22, 99.6 % by the slowest
            rewrite 64k of 16M: 864846.41, 90.6 % by the slowest
            read 64k of 16M: 653331.56, 97.3 % by the slowest
            reread 64k of 16M: 641881.62, 77.3 % by the slowest
            random_read 64k of 16M: 805898.66, 83.6 % by the slowest
            random_write 64k of 16M: 734169.00, 77.3 % by the slowest
        "#]],
        );
    }

    #[test]
    fn operations_in_a_second_are_no_bytes() {
        check(
            golden!("t2_threads_ops"),
            &expect![[r#"
                3.414 Throughput { processes: Some(2) } OperationsPerSecond
                write 16k of 8M: 207030.16, 0.0 % by the slowest
                rewrite 16k of 8M: 311825.78, 0.0 % by the slowest
                random_read 16k of 8M: 289945.99, 12.1 % by the slowest
                random_write 16k of 8M: 242878.41, 0.0 % by the slowest
            "#]],
        );
    }

    #[test]
    fn a_table_has_a_row_for_each_size() {
        check(
            golden!("normal_8m"),
            &expect![[r#"
            3.414 Table BytesPerSecond
            write 8k of 8M: 2760304.00
            rewrite 8k of 8M: 3901055.00
            read 8k of 8M: 6127127.00
            reread 8k of 8M: 5855636.00
            random_read 8k of 8M: 1470199.00
            random_write 8k of 8M: 4126896.00
        "#]],
        );
        check(
            golden!("normal_R_I_multi"),
            &expect![[r#"
            3.414 Table BytesPerSecond
            write 4k of 4M: 71792.00
            rewrite 4k of 4M: 92199.00
            read 4k of 4M: 64873.00
            reread 4k of 4M: 57473.00
            write 8k of 4M: 84300.00
            rewrite 8k of 4M: 106325.00
            read 8k of 4M: 97199.00
            reread 8k of 4M: 85914.00
            write 16k of 4M: 162714.00
            rewrite 16k of 4M: 141597.00
            read 16k of 4M: 155937.00
            reread 16k of 4M: 181721.00
            write 4k of 8M: 43554.00
            rewrite 4k of 8M: 53149.00
            read 4k of 8M: 38983.00
            reread 4k of 8M: 46593.00
            write 8k of 8M: 75469.00
            rewrite 8k of 8M: 72466.00
            read 8k of 8M: 81022.00
            reread 8k of 8M: 73397.00
            write 16k of 8M: 107313.00
            rewrite 16k of 8M: 137638.00
            read 16k of 8M: 142435.00
            reread 16k of 8M: 160077.00
        "#]],
        );
    }

    /// The words of 3.489, whose blanks and capitals differ.
    #[test]
    fn spelling_does_not_count() {
        let old = golden!("t2_r64k_I");
        let new = old
            .replace("$Revision: 3.414 $", "$Revision: 3.489 $")
            .replace("KB/sec", "kB/sec")
            .replace("Kbyte", "kByte")
            .replace(" KB", " kB")
            .replace(" \t", "\t\t  ");
        let (mut new, old) =
            (IozoneReport::parse(new.as_bytes()).unwrap(), IozoneReport::parse(old.as_bytes()));
        assert_eq!(new.version.replace("3.414".to_owned()).as_deref(), Some("3.489"));
        assert_eq!(Ok(new), old);
    }

    #[test]
    fn every_part_of_an_output_is_refused() {
        for text in [golden!("t2_r64k_I"), golden!("normal_R_I_multi"), golden!("t2_threads_ops")] {
            let complete = text.find("iozone test complete").unwrap();
            for (end, _) in text[..complete].char_indices() {
                assert!(IozoneReport::parse(&text.as_bytes()[..end]).is_err(), "{end}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        let text = golden!("t2_r64k_I");
        let with = |old: &str, new: &str| {
            assert!(text.contains(old), "{old}");
            refused(&text.replacen(old, new, 1))
        };
        for (old, new, cause) in [
            (
                "= 1036258.22 KB/sec",
                "=       0.00 KB/sec",
                "line 30: 0 is no rate of a machine that did something",
            ),
            ("= 1036258.22 KB/sec", "=        nan KB/sec", "line 30: `nan` is no number"),
            ("= 1036258.22 KB/sec", "= 1036258.22", "line 30: the line is cut off"),
            (
                "= 1036258.22 KB/sec",
                "= 1036258.22 ops/sec",
                "line 30: `ops/sec` where kb/sec was expected",
            ),
            ("2 rewriters \t=", "3 rewriters \t=", "line 37: 3 processes, in a test with others"),
            ("2 rewriters \t=", "2 dancers \t=", "line 37: `dancers` is no operation"),
            ("2 rewriters \t=", "2 initial writers \t=", "line 42: write is given a second time"),
            ("in 64 Kbyte", "in 0 Kbyte", "line 28: `0` is no size in kilobytes"),
            (
                "\tMin xfer",
                "\tMean xfer",
                "line 37: the operation of line 30 has no line `Min xfer`",
            ),
            (
                "\"           Read \"  653331.56",
                "\"           Read \"  653331.66",
                "line 82: read is 653331.66 here and was another above",
            ),
            (
                "\"           Read \"  653331.56",
                "",
                "its report does not repeat every operation that was measured",
            ),
            ("Iozone:", "Ozone:", "it does not begin as iozone's output does"),
            (
                "Output is in Kbytes/sec",
                "Output is in Mbytes/sec",
                "line 22: its output is in `Output is in Mbytes/sec`",
            ),
        ] {
            assert_eq!(with(old, new), cause);
        }
        let trouble =
            IozoneReport::parse(b"\tIozone: Performance Test of File I/O\n\xff").unwrap_err();
        assert_eq!(trouble.to_string(), "line 2: it is not UTF-8");
    }
}
