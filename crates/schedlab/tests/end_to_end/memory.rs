//! How much memory the binary needs for what somebody else wrote: at most 64 MB, its own code
//! included, and twenty times the size of the input, and never more than 512 MB; and how much
//! processor time for at most 10 MB of it: 10 s (docs/adr/0040-limits-of-readers-have-names.md).
//!
//! The kernel counts pages of code that were executed, and a binary that was built without
//! optimisation has several times as much of it as one that is delivered. Of such a binary that is
//! left out which it needs to list its catalogue, and so far as this is no more than 64 MB. A release
//! is held to the bound with its code. What the kernel reserves and nobody touched counts for neither,
//! so that the bound is on resident memory and not on address space (RLIMIT_AS, RLIMIT_DATA).
//!
//! Processor time is what the binary and the kernel for it used, and not how long it took: other
//! tests run beside this one. A binary that was not optimised is given ten times as much, which is a
//! guess and no measurement: what grows with a square is beyond that, too.
//!
//! The kernel counts the largest resident set of a child from that of the process that starts it, so
//! inputs are written piece by piece and never held here.

mod blocks;
mod products;
mod workbooks;

use crate::bench::{Bench, KNOWN_EFFECT};
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// What the binary may have of itself.
const FREE_BYTES: u64 = 64 << 20;
/// What is left out at most of code that was not optimised.
const MOST_CODE_BYTES: u64 = 64 << 20;
/// For each byte of the input.
const FACTOR: u64 = 20;
/// Whatever the input.
const MOST_BYTES: u64 = 512 << 20;
/// Of so many bytes of input the processor time is bounded.
const MOST_TIMED_BYTES: u64 = 10_000_000;
/// What a binary that was optimised may use of processors for it.
const MOST_CPU_TIME: Duration = Duration::from_secs(10);
/// So many times as much for one that was not.
const UNOPTIMISED: u32 = 10;
/// 2 MB of one kind.
const LARGE: usize = 2 << 20;

/// A header of HdrHistogram's V2 that declares 4 GiB of counts, and nothing behind it.
const DECLARES_4_GIB: &str = "HISTE/////8AAAAAAAAAAwAAAAAAAAABAAADRjC4oAA/8AAAAAAAAA==";

/// An input, what is done with it, and what comes of that.
struct Case<'a> {
    what: &'a str,
    size_bytes: u64,
    arguments: &'a [&'a str],
    /// Exit codes that are an answer.
    codes: &'a [i32],
    /// Stands in what is told.
    word: &'a str,
}

/// Runs the binary, and holds its answer, its memory and its time against what they may be.
fn check(bench: &Bench, case: &Case<'_>) {
    let path = bench.path().join("told");
    let told = File::create(&path).unwrap();
    let mut command = bench.command(case.arguments);
    command.stdin(Stdio::null()).stdout(told.try_clone().unwrap()).stderr(told);
    let (status, usage) = sys::wait_with_usage(command.spawn().unwrap()).unwrap();
    let mut told = Vec::new();
    File::open(&path).unwrap().take(1 << 16).read_to_end(&mut told).unwrap();
    let told = String::from_utf8_lossy(&told);
    let Case { what, size_bytes, arguments, codes, word } = case;
    let is_answer = status.code().is_some_and(|code| codes.contains(&code));
    assert!(is_answer, "{what}: {arguments:?} ended with {status}\n{told}");
    assert!(told.contains(word), "{what}: {told}");
    let most = (FREE_BYTES + FACTOR * size_bytes).min(MOST_BYTES);
    let code_bytes = code_bytes(bench);
    let needed = usage.peak_bytes.saturating_sub(code_bytes);
    let [needed_mb, code_mb, most_mb] = [needed, code_bytes, most].map(|bytes| bytes >> 20);
    let time_s = usage.cpu_time.as_secs_f64();
    println!("{what}: {needed_mb} MB beside {code_mb} MB of code, of {most_mb} MB; {time_s:.2} s");
    assert!(
        needed <= most,
        "{what}: {needed} bytes beside {code_bytes} of code, and {most} are enough\n{told}"
    );
    let longest = most_cpu_time(*size_bytes);
    let is_in_time = longest.is_none_or(|longest| usage.cpu_time <= longest);
    assert!(is_in_time, "{what}: {time_s} s of processors, and {longest:?} are enough\n{told}");
}

/// What the binary may use of processors for so many bytes; nothing is asked of more than 10 MB.
fn most_cpu_time(size_bytes: u64) -> Option<Duration> {
    let factor = if cfg!(debug_assertions) { UNOPTIMISED } else { 1 };
    (size_bytes <= MOST_TIMED_BYTES).then_some(MOST_CPU_TIME * factor)
}

/// What is left out of the binary's memory for code that was not optimised: what it has when it lists
/// its catalogue. Nothing of a release.
fn code_bytes(bench: &Bench) -> u64 {
    static LISTING: OnceLock<u64> = OnceLock::new();
    if !cfg!(debug_assertions) {
        return 0;
    }
    *LISTING.get_or_init(|| {
        let mut command = bench.command(&["list"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let (status, usage) = sys::wait_with_usage(command.spawn().unwrap()).unwrap();
        assert!(status.success(), "{status}");
        usage.peak_bytes.min(MOST_CODE_BYTES)
    })
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

/// Numbers from 0 to 1 of a linear congruential generator: a file is the same everywhere.
fn noises() -> impl Iterator<Item = f64> {
    let mut state = 12_345_u64;
    std::iter::repeat_with(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    })
}

/// A tidy table of two subjects in turns; 24 bytes in each row, as people write them.
fn table(path: &Path, rows: usize) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    writeln!(file, "scheduler,run,latency_us").unwrap();
    for (row, noise) in (0..rows).zip(noises()) {
        let subject = ["baseline", "modified"][row % 2];
        writeln!(file, "{subject},{:06},{:.4}", row / 2, 100.0 + 10.0 * noise).unwrap();
    }
    file.flush().unwrap();
}

fn import_table(rows: usize) -> Bench {
    let bench = Bench::new();
    let path = bench.path().join("table.csv");
    table(&path, rows);
    let file = text(&path);
    let named = ["--subject", "scheduler", "--replicate", "run", "--value", "latency_us:lower:us"];
    let arguments: Vec<&str> = ["import", "csv", &file].into_iter().chain(named).collect();
    let case = Case {
        what: "a table",
        size_bytes: size(&path),
        arguments: &arguments,
        codes: &[0],
        word: "modified",
    };
    check(&bench, &case);
    let records = bench.campaign().join("records.jsonl");
    let again = Case {
        what: "its campaign",
        size_bytes: size(&records),
        arguments: &["judge", "last"],
        ..case
    };
    check(&bench, &again);
    bench
}

#[test]
fn a_table_of_many_rows_is_imported_and_judged_within_its_memory() {
    import_table(50_000);
}

/// A table of two subjects in turns; four bytes in each row.
fn table_of_digits(path: &Path, rows: usize) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    writeln!(file, "s,v").unwrap();
    for row in 0..rows {
        writeln!(file, "{},{}", ["a", "b"][row % 2], 1 + row * row / 7 % 9).unwrap();
    }
    file.flush().unwrap();
}

/// A table of two subjects in turns; nine bytes in each row, as short as those of honest files are.
fn table_of_short_rows(path: &Path, rows: usize) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    writeln!(file, "s,v").unwrap();
    for (row, noise) in (0..rows).zip(noises()) {
        writeln!(file, "{},{:.3}", ["a", "b"][row % 2], 10.0 + 80.0 * noise).unwrap();
    }
    file.flush().unwrap();
}

#[test]
fn rows_of_four_bytes_are_imported_or_refused_within_their_memory() {
    let bench = Bench::new();
    let path = bench.path().join("digits.csv");
    let file = text(&path);
    let arguments = ["import", "csv", &file, "--subject", "s", "--value", "v:lower"];
    table_of_digits(&path, 120_000);
    let case = Case {
        what: "rows of four bytes",
        size_bytes: size(&path),
        arguments: &arguments,
        codes: &[0],
        word: "b",
    };
    check(&bench, &case);
    for (rows, word) in [(500_000, "IMPORT_EXPANSION"), (1_750_000, "IMPORT_ROWS")] {
        table_of_digits(&path, rows);
        let what = format!("{rows} rows of four bytes");
        let size_bytes = size(&path);
        check(&bench, &Case { what: &what, size_bytes, codes: &[2], word, ..case });
    }
}

mod whole {
    use super::*;

    /// 10 MB of one kind.
    const WHOLE: usize = 10_000_000;

    #[test]
    fn records_of_more_values_than_a_campaign_may_have_are_refused_within_their_memory() {
        products::refuse_values(11, 2_000_000, "CAMPAIGN_VALUES");
    }

    #[test]
    fn lists_of_millions_in_json_are_answered_within_their_memory() {
        products::answer_lists_in_json();
    }

    #[test]
    fn json_of_millions_of_short_members_is_refused_within_its_memory() {
        products::refuse_members_in_json();
    }

    #[test]
    fn gatling_logs_of_millions_of_requests_or_texts_are_refused_within_their_memory() {
        products::refuse_requests_of_gatling();
    }

    #[test]
    fn records_of_more_caveats_than_a_campaign_may_have_are_refused_within_their_memory() {
        let one = r#"{"code":"NOISY","detail":"x"},"#;
        let list = ("\"caveats\":[", one, 60_000, r#"{"code":"NOISY","detail":"x"}],"#);
        products::refuse_lists(11, list, "CAMPAIGN_PARTS");
    }

    #[test]
    fn a_plan_of_a_million_blocks_sittings_or_trials_is_answered_within_its_memory() {
        products::answer_plans();
    }

    #[test]
    fn a_table_of_half_a_million_rows_is_imported_and_judged_within_its_memory() {
        import_table(500_000);
    }

    #[test]
    fn a_table_of_a_hundred_thousand_blocks_is_imported_and_judged_within_its_memory() {
        for different in [1_000, 100_000] {
            blocks::import_blocks(100_000, different);
        }
    }

    #[test]
    fn a_campaign_of_half_a_million_records_is_redacted_within_its_memory() {
        let bench = import_table(500_000);
        let bundle = text(&bench.path().join("redacted.tar.gz"));
        let case = Case {
            what: "a redaction of many records",
            size_bytes: size(&bench.campaign().join("records.jsonl")),
            arguments: &["bundle", "last", "--redact", "--output", &bundle],
            codes: &[0],
            word: "it is redacted",
        };
        check(&bench, &case);
    }

    #[test]
    fn a_report_of_half_a_million_records_is_written_as_json_within_its_memory() {
        let bench = import_table(500_000);
        let case = Case {
            what: "a report of many records as JSON",
            size_bytes: size(&bench.campaign().join("records.jsonl")),
            arguments: &["show", "last", "--format", "json"],
            codes: &[0],
            word: "schedlab.report/",
        };
        check(&bench, &case);
    }

    #[test]
    fn half_a_million_rows_of_nine_bytes_are_imported_within_their_memory() {
        let bench = Bench::new();
        let path = bench.path().join("short.csv");
        let file = text(&path);
        let arguments = ["import", "csv", &file, "--subject", "s", "--value", "v:lower"];
        let rows = 500_000;
        table_of_short_rows(&path, rows);
        let size_bytes = size(&path);
        assert_eq!(size_bytes, 4 + 9 * rows as u64);
        let what = "rows of nine bytes";
        let case = Case { what, size_bytes, arguments: &arguments, codes: &[0], word: "b" };
        check(&bench, &case);
        table_of_digits(&path, 230_000);
        let (what, size_bytes) = ("as many rows of four bytes as there may be", size(&path));
        check(&bench, &Case { what, size_bytes, ..case });
    }

    #[test]
    fn rows_of_few_bytes_are_answered_within_their_memory() {
        let bench = Bench::new();
        let path = bench.path().join("short");
        let file = text(&path);
        let patterns: [(&str, &[u8], &[u8]); 6] = [
            ("rows of a table", b"s,v\n", b"a,1\n"),
            ("rows of a table with tabs", b"s\tv\n", b"a\t1\n"),
            ("rows of one column", b"v\n", b"1\n"),
            ("digits", b"", b"12\n"),
            ("words", b"", b"a 1\n"),
            ("ends of lines", b"x\n", b"\r\n"),
        ];
        for importer in importers::IMPORTERS {
            let id = importer.describe().id;
            for (name, begin, pattern) in patterns {
                repeated(&path, begin, pattern, WHOLE);
                let what = format!("{name} as {id}");
                let mut arguments = vec!["import", id, &file];
                if ["csv", "tsv"].contains(&id) {
                    arguments.extend(["--value", "v:lower"]);
                }
                let case = Case {
                    what: &what,
                    size_bytes: size(&path),
                    arguments: &arguments,
                    codes: &[2],
                    word: "cannot",
                };
                check(&bench, &case);
            }
        }
    }
}

/// Examples of an import format that have to be read, as the fuzzer has them: the mapping's line, and
/// then files.
fn examples(id: &str) -> Vec<String> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut examples = Vec::new();
    for entry in fs::read_dir(corpus.join(format!("import-{id}"))).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("ok-") {
            let bytes = fs::read(&path).unwrap();
            let (_, files) = bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').unwrap());
            examples.push(String::from_utf8_lossy(files).into_owned());
        }
    }
    examples
}

#[test]
fn more_json_than_is_held_is_refused_by_its_limit_before_it_is_read() {
    let bench = Bench::new();
    let path = bench.path().join("large.json");
    // Sparse: it reads as zeros and takes no room.
    File::create(&path).unwrap().set_len(model::IMPORT_JSON_BYTES.most + 1).unwrap();
    let file = text(&path);
    let mut asked = Vec::new();
    for importer in importers::IMPORTERS {
        let id = importer.describe().id;
        let examples = examples(id);
        assert!(!examples.is_empty(), "fuzz/corpus/import-{id} has no `ok-*` input");
        // A format that has files without any object is none of JSON alone.
        let is_json = examples.iter().all(|files| files.contains("\n{"));
        let limit = importer.most_bytes().name;
        assert_eq!(
            limit == "IMPORT_JSON_BYTES",
            is_json,
            "`most_bytes` of {id} in crates/importers/src is {limit}; all `ok-*` inputs in \
             fuzz/corpus/import-{id} are JSON: {is_json}"
        );
        if !is_json {
            continue;
        }
        // As if it were empty: not even a part of it is held.
        let case = Case {
            what: id,
            size_bytes: 0,
            arguments: &["import", id, &file],
            codes: &[2],
            word: "IMPORT_JSON_BYTES",
        };
        check(&bench, &case);
        asked.push(id);
    }
    assert!(asked.contains(&"fio") && asked.contains(&"hyperfine"), "{asked:?}");
}

#[test]
fn more_bytes_than_an_import_may_have_are_refused_by_their_limit_before_they_are_read() {
    let bench = Bench::new();
    let [small, large] = ["small", "large"].map(|name| bench.path().join(name));
    fs::write(&small, "xx").unwrap();
    // Together a byte too many. Sparse: it reads as zeros and takes no room.
    File::create(&large).unwrap().set_len(model::IMPORT_BYTES.most - 1).unwrap();
    let [small, large] = [small, large].map(|path| text(&path));
    let mut asked = 0;
    for importer in importers::IMPORTERS {
        let id = importer.describe().id;
        if importer.most_bytes() != &model::IMPORT_BYTES {
            continue;
        }
        let mut arguments = vec!["import", id, &small, &large];
        if ["csv", "tsv"].contains(&id) {
            arguments.extend(["--value", "v:lower"]);
        }
        // As if they were empty: not even a part of the second is held.
        let case = Case {
            what: id,
            size_bytes: 0,
            arguments: &arguments,
            codes: &[2],
            word: "IMPORT_BYTES",
        };
        check(&bench, &case);
        asked += 1;
    }
    assert!(asked > 1, "{asked}");
}

/// Writes so much of a pattern.
fn repeated(path: &Path, begin: &[u8], pattern: &[u8], bytes: usize) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    file.write_all(begin).unwrap();
    for _ in 0..bytes / pattern.len() {
        file.write_all(pattern).unwrap();
    }
    file.flush().unwrap();
}

#[test]
fn every_importer_answers_large_and_deep_input_within_its_memory() {
    let bench = Bench::new();
    let path = bench.path().join("hostile");
    let file = text(&path);
    let other = bench.path().join("other");
    fs::write(&other, "x\n").unwrap();
    let other = format!("b={}", text(&other));
    let patterns: [(&str, &[u8], &[u8]); 9] = [
        ("one line", b"", b"x"),
        ("brackets", b"", b"["),
        ("braces", b"", b"{\"a\":"),
        ("fields", b"s,v\na,1\n", b",1"),
        ("short lines", b"", b"1\n"),
        ("empty lines", b"Running \n", b"\n"),
        ("separators", b"", b","),
        ("lists of one", b"[", b"[0],"),
        ("objects of one", b"[", b"{\"a\":0},"),
    ];
    for importer in importers::IMPORTERS {
        let id = importer.describe().id;
        for (name, begin, pattern) in patterns {
            repeated(&path, begin, pattern, LARGE);
            let what = format!("{name} as {id}");
            let mut arguments = vec!["import", id, &file, &other];
            if ["csv", "tsv"].contains(&id) {
                arguments.extend(["--value", "v:lower"]);
            }
            let case = Case {
                what: &what,
                size_bytes: size(&path),
                arguments: &arguments,
                codes: &[2],
                word: "cannot",
            };
            check(&bench, &case);
        }
    }
}

#[test]
fn a_line_of_millions_of_columns_or_words_is_answered_within_its_memory() {
    let bench = Bench::new();
    let path = bench.path().join("line");
    let first = format!("a={}", text(&path));
    let other = bench.path().join("other");
    fs::write(&other, "x\n").unwrap();
    let other = format!("b={}", text(&other));
    let run = "RUN\tsim.X\tx\t1700000000000\t \t3.10.3\nREQUEST\t";
    let banner = "Iozone: Performance Test of File I/O\n";
    let end = "\tr\t1700000000001\t1700000000002\tOK\t \n";
    let patterns: [(&str, &str, &[u8], &str); 3] = [
        ("gatling", run, b"\t", "\n"),
        ("gatling", run, b"g,", end),
        ("iozone", banner, b"w ", "\n"),
    ];
    for (id, begin, pattern, end) in patterns {
        repeated(&path, begin.as_bytes(), pattern, 64 << 20);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(end.as_bytes()).unwrap();
        let case = Case {
            what: id,
            size_bytes: size(&path),
            arguments: &["import", id, &first, &other],
            codes: &[2],
            word: "cannot",
        };
        check(&bench, &case);
    }
}

#[test]
fn experiments_and_mappings_of_any_depth_are_answered_within_their_memory() {
    let bench = Bench::new();
    let path = bench.path().join("deep.toml");
    let file = text(&path);
    let patterns: [(&str, &[u8], &[u8], usize); 4] = [
        ("brackets", b"a = ", b"[", 1 << 18),
        ("tables", b"a = ", b"{b=", 1 << 18),
        ("keys", b"a", b".a", 1 << 18),
        ("too much", b"a = 1\n", b"#\n", LARGE),
    ];
    for (name, begin, pattern, bytes) in patterns {
        repeated(&path, begin, pattern, bytes);
        for arguments in [
            &["plan", &file][..],
            &["import", "csv", &file, "--mapping", &file, "--value", "v:lower"],
        ] {
            let what = format!("{name} as {}", arguments[0]);
            let size_bytes = size(&path);
            check(&bench, &Case { what: &what, size_bytes, arguments, codes: &[2], word: "" });
        }
    }
}

#[test]
fn experiments_of_a_megabyte_of_slips_or_values_are_answered_within_their_memory() {
    let bench = Bench::new();
    let path = bench.path().join("slips.toml");
    let file = text(&path);
    let (slip, limit) = ("this is not TOML", "limit EXPERIMENT_WORDS");
    let patterns: [(&str, &[u8], &[u8], &str); 9] = [
        ("signs", b"", b"=\n", limit),
        ("brackets", b"", b"[\n", limit),
        ("quotes", b"", b"\"\n", limit),
        ("the same key", b"", b"a=1\n", limit),
        ("numbers", b"x=[", b"1,", limit),
        ("lists", b"x=[", b"[],", limit),
        ("ends of lines", b"", b"\r", ""),
        ("letters of a terminal", b"#", b"\x1b", slip),
        ("escapes", b"x=\"", b"\\q", slip),
    ];
    for (name, begin, pattern, word) in patterns {
        repeated(&path, begin, pattern, 1_040_000);
        let (size_bytes, arguments) = (size(&path), &["plan", &file][..]);
        check(&bench, &Case { what: name, size_bytes, arguments, codes: &[2], word });
        // As much of it as has all its slips told.
        repeated(&path, begin, pattern, 65_000);
        let size_bytes = size(&path);
        check(&bench, &Case { what: name, size_bytes, arguments, codes: &[2], word: "" });
    }
}

#[test]
fn an_experiment_of_unknown_keys_is_answered_within_its_time() {
    let bench = Bench::new();
    let path = bench.path().join("keys.toml");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    for number in 0..99_000 {
        writeln!(file, "k{number}=1").unwrap();
    }
    file.flush().unwrap();
    drop(file);
    let (what, size_bytes, file) = ("unknown keys", size(&path), text(&path));
    let (arguments, word) = (&["plan", &file][..], "more; correct these first");
    check(&bench, &Case { what, size_bytes, arguments, codes: &[2], word });
}

/// A bench with a campaign of the simulator, and where it lies.
fn campaign() -> (Bench, PathBuf) {
    let bench = Bench::new();
    let file = bench.experiment("effect", KNOWN_EFFECT);
    bench.expect(0, &["run", &file]);
    let directory = bench.campaign();
    (bench, directory)
}

/// Every way to read a campaign or a bundle, each of which must refuse it.
fn refused(bench: &Bench, what: &str, (path, size_bytes): (&Path, u64), word: &str) {
    let file = text(path);
    let mut ways = vec![vec!["show", &file], vec!["report", &file, "--output", "-"]];
    if path.is_dir() {
        ways.push(vec!["judge", &file]);
    } else {
        ways.push(vec!["verify", &file]);
    }
    for arguments in ways {
        let what = format!("{what}: {}", arguments[0]);
        check(
            bench,
            &Case { what: &what, size_bytes, arguments: &arguments, codes: &[1, 2], word },
        );
    }
}

#[test]
fn a_histogram_that_declares_4_gib_is_refused_within_its_memory() {
    let (bench, directory) = campaign();
    let path = directory.join("records.jsonl");
    let records = fs::read_to_string(&path).unwrap();
    // In every record: each was allocated, once for each thread that reads.
    let sample = format!(
        "\"samples\":[{{\"source\":\"x\",\"histogram\":{{\"hdr\":\"{DECLARES_4_GIB}\"}}}},"
    );
    let hostile = records.replace("\"samples\":[", &sample);
    assert!(hostile.len() > records.len());
    fs::write(&path, &hostile).unwrap();
    refused(&bench, "a histogram", (&directory, hostile.len() as u64), "HISTOGRAM_COUNTS");
}

#[test]
fn a_plan_of_400_000_subjects_is_refused_within_its_memory() {
    let (bench, directory) = campaign();
    let path = directory.join("plan.json");
    let plan = fs::read_to_string(&path).unwrap();
    let (before, after) = plan.split_once("\"subjects\": [").unwrap();
    let mut file = BufWriter::new(File::create(&path).unwrap());
    write!(file, "{before}\"subjects\": [").unwrap();
    for number in 0..400_000 {
        write!(file, "{{\"id\":\"s{number}\",\"levels\":{{}},\"is_control\":false}},").unwrap();
    }
    write!(file, "{after}").unwrap();
    file.flush().unwrap();
    drop(file);
    refused(&bench, "a plan", (&directory, size(&path)), "PLAN_SUBJECTS");
    // The same as a bundle, which is far smaller: the plan is given up before it is held.
    let bundle = packed(&bench, &directory);
    refused(&bench, "a bundle of it", (&bundle, size(&bundle)), "PLAN_SUBJECTS");
}

#[test]
fn a_record_without_end_is_refused_within_its_memory() {
    let (bench, directory) = campaign();
    let path = directory.join("records.jsonl");
    // Sparse: it reads as zeros and takes no room.
    File::options().write(true).open(&path).unwrap().set_len(4 << 30).unwrap();
    refused(&bench, "a line", (&directory, 4 << 30), "RECORD_BYTES");
}

/// A campaign's directory as a bundle whose manifest fits, whatever is in it.
fn packed(bench: &Bench, directory: &Path) -> PathBuf {
    let whole = bench.path().join("whole.tar.gz");
    let (other, _) = campaign();
    other.expect(0, &["bundle", "last", "--output", &text(&whole)]);
    let home = bench.path().join("unpacked");
    fs::create_dir(&home).unwrap();
    tool("tar", &home, &["-xzf", &text(&whole)]);
    let manifest = home.join("manifest.json");
    let mut document: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    let files = document["files"].as_object_mut().unwrap();
    files.retain(|name, _| directory.join(name).exists());
    let names: Vec<String> = files.keys().cloned().collect();
    for name in &names {
        fs::copy(directory.join(name), home.join(name)).unwrap();
        let sum = tool("sha256sum", &home, &[name]);
        files[name] = serde_json::json!({ "size": size(&home.join(name)), "sha256": sum[..64] });
    }
    fs::write(&manifest, document.to_string()).unwrap();
    let target = bench.path().join("hostile.tar.gz");
    let words = ["--format=ustar", "-czf", &text(&target), "manifest.json"];
    let names = names.iter().map(String::as_str);
    tool("tar", &home, &words.into_iter().chain(names).collect::<Vec<_>>());
    target
}

fn tool(program: &str, directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The header of an archive's entry (POSIX.1-1988, ustar).
fn header(name: &str, kind: u8, size_bytes: u64) -> [u8; 512] {
    let mut header = [0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{size_bytes:011o}").as_bytes());
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar\x0000");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
    header[154] = 0;
    header
}

/// An archive behind gzip: a manifest that names these files, then one entry of so many equal bytes.
fn archive(path: &Path, names: &[&str], (name, kind, bytes): (&str, u8, u64)) {
    let target = File::create(path).unwrap();
    let mut packer =
        Command::new("gzip").arg("-1").stdin(Stdio::piped()).stdout(target).spawn().unwrap();
    let mut input = packer.stdin.take().unwrap();
    let files: serde_json::Map<String, serde_json::Value> = names
        .iter()
        .map(|name| {
            ((*name).to_owned(), serde_json::json!({ "size": bytes, "sha256": "0".repeat(64) }))
        })
        .collect();
    let manifest = serde_json::json!({
        "format": "schedlab.bundle/2",
        "campaign": "hostile",
        "schedlab": "0.1.0",
        "files": files,
    })
    .to_string();
    input.write_all(&header("manifest.json", b'0', manifest.len() as u64)).unwrap();
    input.write_all(manifest.as_bytes()).unwrap();
    input.write_all(&vec![0; manifest.len().next_multiple_of(512) - manifest.len()]).unwrap();
    input.write_all(&header(name, kind, bytes)).unwrap();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..bytes >> 20 {
        input.write_all(&piece).unwrap();
    }
    input.write_all(&[0; 1024]).unwrap();
    drop(input);
    assert!(packer.wait().unwrap().success());
}

#[test]
fn archives_of_long_names_extended_headers_and_one_line_are_answered_within_their_memory() {
    let bench = Bench::new();
    let path = bench.path().join("hostile.tar.gz");
    for (what, kind) in [("a long name", b'L'), ("a header", b'x'), ("a global header", b'g')] {
        archive(&path, &["plan.json"], ("long", kind, 256 << 20));
        refused(&bench, what, (&path, size(&path)), "");
    }
    archive(&path, &["records.jsonl"], ("records.jsonl", b'0', 256 << 20));
    refused(&bench, "one line", (&path, size(&path)), "");
}
