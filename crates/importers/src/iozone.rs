//! Results of iozone: its text, its binary report, and tables that people make of them.

mod study;
mod workbook;
mod xml_tags;

use crate::importer::{ImportFile, Importer};
use crate::mapping::Mapping;
use crate::table::{ImportedRow, ImportedTable};
use crate::time_order::of_ctime;
use crate::tool_settings::with_version;
use contract::Description;
use model::{CaveatCode, Direction, Metric, Reduction, Sample, format_size};
use outputs::Trouble;
use outputs::iozone::{IozoneRate, IozoneReport, LEAST_SHARE, Mode, RateUnit};

pub(crate) static ENTRY: Entry = Entry;

static DESCRIPTION: Description = Description {
    id: "iozone",
    summary: "iozone's text (-t, -a), its report of -b, or a table (.csv, .tsv, .xlsx) of operations, records and runs",
    doc: "What a file is, is seen from its content. (1) The text of iozone, throughput mode (`-t`) or a table (`-a`), is \
          one execution and one replicate; give each execution its file, several of one subject as `noop=1.txt \
          noop=2.txt`; where every file tells when it began (`Run began:`), executions are in that order, whatever \
          that of the files. (2) So is the binary report that iozone writes with `-b FILE`; it has no sizes of files and no \
          number of processes, so that it is not mixed with text. (3) A table has the header `operation,record,run \
          1,run 2,...` and, if wanted, `mean` as its last column; a row for each operation and size of record \
          (`random_read,8k,...`), in kB/s of 1024 bytes as iozone prints them. The subject is the file's stem or \
          `noop=FILE`; in a workbook (.xlsx) each sheet is a subject of the sheet's name. A run is an execution that \
          covers every operation of its size of record; all sizes have the same operations. A mean that does not \
          follow from its runs is told (CONTRADICTED) and never used. `throughput` is in bytes in a second, summed \
          over processes; with `-O` it is `operation_rate`. The dimensions are `operation` (write, rewrite, read, \
          reread, reverse_read, random_read, random_write, ...) and `record`, and `processes` or `size` where text \
          tells them. iozone stops all processes when the first is ready, so where one had done less than half of its \
          work by then, the sum is one of unequal work (UNEQUAL_SHARES). A number that is missing, zero or not finite \
          is an error. Without `-I` (O_DIRECT) these are rates of the page cache, which no elevator sees.",
};

/// A rate of I/O that differs by less does not matter (docs/method.md#m-margin).
const MARGIN: f64 = 0.10;
const UNEQUAL: &str =
    "the slowest process had done less than half of its work when all were stopped";
/// How a compound file begins, as Excel 97 to 2003 wrote.
const COMPOUND: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0];

/// The format.
pub(crate) struct Entry;

impl Importer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "\tIozone: Performance Test of File I/O\n",
            "OPS Mode.",
            "Output is in kBytes/sec\n",
            "\tThroughput test with 2 processes\n",
            "\tEach process writes a 64 kByte file in 8 kByte records\n",
            "\tChildren see throughput for  2 random readers = 5.00 kB/sec\n",
            "\tMin throughput per process = 0.00 kB/sec\n",
            "\tMin xfer = 64.00 kB\n",
            "kB  reclen   write rewrite    read    reread    read   write    read  rewrite     read\n",
            "\"  Initial write \"  5.00\n",
            "\"Throughput report",
            "iozone test complete.\n",
            "operation,record,run 1,run 2,mean\n",
            "read,8k,1,2,1.5\n",
            "\t",
            ",",
            "16m",
            "0",
            "nan",
            "\x09\0\x04\0\x02\0\x10\0",
            "\x0a\0\0\0",
            "\x03\0\x0f\0",
            "PK\x03\x04",
            "-1",
            "1e308",
        ]
    }

    fn read(
        &self,
        source: &ImportFile<'_>,
        _mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        table.is_closed_loop = true;
        if workbook::is_one(source.bytes) {
            for study in workbook::studies(source.bytes)? {
                study.append(table)?;
            }
            return Ok(());
        }
        if source.bytes.starts_with(COMPOUND) {
            let remedy = "save it as .xlsx, or each sheet as .csv";
            return Err(Trouble::new("it is a workbook of Excel 97 to 2003", remedy));
        }
        if IozoneReport::is_likely(source.bytes) {
            return report(source, &IozoneReport::parse(source.bytes)?, table);
        }
        study::of_text(source)?.append(table)
    }
}

/// What iozone itself wrote: one execution.
fn report(
    source: &ImportFile<'_>,
    report: &IozoneReport,
    table: &mut ImportedTable,
) -> Result<(), Trouble> {
    match report.mode {
        Mode::Throughput { processes: Some(_) } => {
            table.declare(&["operation", "record", "processes"], &["record", "processes"])?;
        }
        Mode::Throughput { processes: None } => {
            table.declare(&["operation", "record"], &["record"])?;
        }
        Mode::Table => table.declare(&["operation", "record", "size"], &[])?,
    }
    let settings = with_version(&report.settings, report.version.as_deref());
    table.settings(source.subject, &settings);
    let metric = metric(report.unit, table)?;
    let execution = table.next_execution();
    table.note_time(&execution, report.began.as_deref().and_then(of_ctime));
    for cell in &report.cells {
        let levels = levels(report.mode, cell);
        if cell.least_share.is_some_and(|share| share < LEAST_SHARE) {
            let item = format!("{} {}", source.subject, levels.join(" "));
            table.notice(CaveatCode::UnequalShares, UNEQUAL, &item);
        }
        let row = ImportedRow {
            subject: source.subject.to_owned(),
            levels,
            execution: Some(execution.clone()),
            block: None,
            samples: vec![Sample::values(&metric, vec![cell.rate])],
            failure: None,
        };
        table.push(None, row)?;
    }
    Ok(())
}

fn levels(mode: Mode, cell: &IozoneRate) -> Vec<String> {
    let mut levels = vec![cell.operation.id().to_owned(), format_size(cell.record_bytes)];
    match mode {
        Mode::Throughput { processes } => levels.extend(processes.map(|count| count.to_string())),
        Mode::Table => levels.extend(cell.file_bytes.map(format_size)),
    }
    levels
}

/// Makes the metric known; all files of an import have the same.
fn metric(unit: RateUnit, table: &mut ImportedTable) -> Result<String, Trouble> {
    let (id, unit, summary) = match unit {
        RateUnit::BytesPerSecond => {
            ("throughput", model::Unit::BytesPerSecond, "bytes in a second, all processes together")
        }
        RateUnit::OperationsPerSecond => (
            "operation_rate",
            model::Unit::PerSecond,
            "operations in a second, all processes together",
        ),
    };
    if let Some(other) = table.metrics.iter().find(|known| known.id != id) {
        let cause = format!("it holds {id}, and the files before it {}", other.id);
        return Err(Trouble::new(cause, "import files of one kind together (with or without -O)"));
    }
    let metric = Metric::new(id, unit, Direction::Higher, Reduction::Mean, summary);
    table.know(Metric { margin: MARGIN, ..metric })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{picture, read, refusal, settings_that_differ};
    use expect_test::{Expect, expect};

    macro_rules! golden {
        ($name:literal) => {
            &include_bytes!(concat!("../../outputs/tests/golden/iozone/", $name))[..]
        };
    }

    fn check(files: &[(&str, &[u8])], expected: &Expect) {
        expected.assert_eq(&picture(&read(&ENTRY, files, &Mapping::default()).unwrap()));
    }

    #[test]
    fn file_size_and_direct_io_of_the_heading_are_named_and_files_and_caches_are_not() {
        let direct = golden!("t1_r8k_s32m_I_R__idle.txt");
        let text = String::from_utf8_lossy(direct);
        let told = |changes: &[(&str, &str)]| {
            let mut other = text.to_string();
            for (from, to) in changes {
                assert!(other.contains(from), "{from}");
                other = other.replace(from, to);
            }
            settings_that_differ(&ENTRY, &[("a", direct), ("b", other.as_bytes())])
        };
        let machine =
            [("/data/test/ioz.t", "/data/x"), ("size set to 1024 Kbytes", "size set to 9 Kbytes")];
        assert_eq!(told(&machine), [""; 0]);
        assert_eq!(
            told(&[("$Revision: 3.414 $", "$Revision: 3.506 $"), ("64 bit mode", "32 bit mode")]),
            [
                "by the tool's own words: compiled for (a: 64 bit mode.; b: 32 bit mode.), version (a: 3.414; b: 3.506)"
            ]
        );
        assert_eq!(
            told(&[("File size set to 32768 KB", "File size set to 65536 KB")]),
            ["by the tool's own words: file size set to (a: 32768 kb; b: 65536 kb)"]
        );
        assert_eq!(
            told(&[("O_DIRECT feature enabled", "")]),
            ["by the tool's own words: o_direct feature enabled (a: yes; b: not said)"]
        );
    }

    #[test]
    fn each_text_is_an_execution_that_covers_its_operations() {
        let files =
            [("noop", golden!("t1_r8k_s32m_I_R__idle.txt")), ("noop", golden!("t2_r64k_I.txt"))];
        check(
            &files,
            &expect![[r#"
            dimension operation covered
            dimension record fixed
            dimension processes fixed
            metric throughput BytesPerSecond Higher Mean 0.1 judged
            closed loop
            noop [write, 8k, 1] #0 throughput=124215828.48
            noop [rewrite, 8k, 1] #0 throughput=72086282.24
            noop [read, 8k, 1] #0 throughput=99133829.12
            noop [reread, 8k, 1] #0 throughput=121373470.72
            noop [reverse_read, 8k, 1] #0 throughput=105616691.2
            noop [random_read, 8k, 1] #0 throughput=70540380.16
            noop [random_write, 8k, 1] #0 throughput=72061665.28
            noop [write, 64k, 2] #7 throughput=1061128417.28
            noop [rewrite, 64k, 2] #7 throughput=885602723.84
            noop [read, 64k, 2] #7 throughput=669011517.44
            noop [reread, 64k, 2] #7 throughput=657286778.88
            noop [random_read, 64k, 2] #7 throughput=825240227.84
            noop [random_write, 64k, 2] #7 throughput=751789056
        "#]],
        );
    }

    #[test]
    fn a_table_of_one_execution_has_a_size_of_file() {
        check(
            &[("a", golden!("normal_R_I_multi.txt"))],
            &expect![[r#"
            dimension operation covered
            dimension record covered
            dimension size covered
            metric throughput BytesPerSecond Higher Mean 0.1 judged
            closed loop
            a [write, 4k, 4M] #0 throughput=73515008
            a [rewrite, 4k, 4M] #0 throughput=94411776
            a [read, 4k, 4M] #0 throughput=66429952
            a [reread, 4k, 4M] #0 throughput=58852352
            a [write, 8k, 4M] #0 throughput=86323200
            a [rewrite, 8k, 4M] #0 throughput=108876800
            a [read, 8k, 4M] #0 throughput=99531776
            a [reread, 8k, 4M] #0 throughput=87975936
            a [write, 16k, 4M] #0 throughput=166619136
            a [rewrite, 16k, 4M] #0 throughput=144995328
            a [read, 16k, 4M] #0 throughput=159679488
            a [reread, 16k, 4M] #0 throughput=186082304
            a [write, 4k, 8M] #0 throughput=44599296
            a [rewrite, 4k, 8M] #0 throughput=54424576
            a [read, 4k, 8M] #0 throughput=39918592
            a [reread, 4k, 8M] #0 throughput=47711232
            a [write, 8k, 8M] #0 throughput=77280256
            a [rewrite, 8k, 8M] #0 throughput=74205184
            a [read, 8k, 8M] #0 throughput=82966528
            a [reread, 8k, 8M] #0 throughput=75158528
            a [write, 16k, 8M] #0 throughput=109888512
            a [rewrite, 16k, 8M] #0 throughput=140941312
            a [read, 16k, 8M] #0 throughput=145853440
            a [reread, 16k, 8M] #0 throughput=163918848
        "#]],
        );
    }

    #[test]
    fn operations_in_a_second_are_another_metric_and_idle_processes_are_told() {
        check(
            &[("a", golden!("t2_threads_ops.txt"))],
            &expect![[r#"
            dimension operation covered
            dimension record fixed
            dimension processes fixed
            metric operation_rate PerSecond Higher Mean 0.1 judged
            closed loop
            a [write, 16k, 2] #0 operation_rate=207030.16
            a [rewrite, 16k, 2] #0 operation_rate=311825.78
            a [random_read, 16k, 2] #0 operation_rate=289945.99
            a [random_write, 16k, 2] #0 operation_rate=242878.41
            caveat UNEQUAL_SHARES: the slowest process had done less than half of its work when all were stopped: a write 16k 2, a rewrite 16k 2, a random_read 16k 2, a random_write 16k 2
        "#]],
        );
    }

    #[test]
    fn the_binary_report_is_read() {
        check(
            &[("a", golden!("t1_r8k.xls"))],
            &expect![[r#"
            dimension operation covered
            dimension record fixed
            metric throughput BytesPerSecond Higher Mean 0.1 judged
            closed loop
            a [write, 8k] #0 throughput=78205672
            a [rewrite, 8k] #0 throughput=74982024
            a [read, 8k] #0 throughput=76307960
            a [reread, 8k] #0 throughput=91588184
            a [reverse_read, 8k] #0 throughput=143579264
            a [random_read, 8k] #0 throughput=58195824
            a [random_write, 8k] #0 throughput=67848720
        "#]],
        );
    }

    #[test]
    fn files_of_two_shapes_are_refused() {
        let both = |first: &[u8], second: &[u8]| {
            let files = [("a", first), ("b", second)];
            read(&ENTRY, &files, &Mapping::default()).unwrap_err().cause
        };
        assert_eq!(
            both(golden!("t2_r64k_I.txt"), golden!("t1_r8k.xls")),
            "its parameters are operation, record, and those of the files before it operation, record, processes"
        );
        assert_eq!(
            both(golden!("t2_r64k_I.txt"), golden!("t2_threads_ops.txt")),
            "it holds operation_rate, and the files before it throughput"
        );
    }

    #[test]
    fn what_is_no_such_file_is_refused() {
        for (bytes, cause) in [
            (&b""[..], "it is empty"),
            (b"a,b\n1,2\n", "line 1: its columns are a, b"),
            (COMPOUND, "it is a workbook of Excel 97 to 2003"),
            (b"PK\x03\x04", "it is no workbook that can be opened"),
            (&golden!("t2_r64k_I.txt")[..3000], "it is cut off"),
            (&golden!("t1_r8k.xls")[..300], "it is cut off at byte"),
        ] {
            let found = refusal(&ENTRY, bytes, &Mapping::default());
            assert!(found.starts_with(cause), "{found}");
        }
    }
}
