//! Small files that cost by a product: of subjects and rows, of columns and rows, of metrics and
//! metrics, of histograms and their buckets, of bytes and the values or texts that they are.

use super::{Bench, Case, campaign, check, refused, size, text};
use model::Histogram;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

/// A table whose rows are made from their numbers.
fn rows(path: &Path, header: &str, count: usize, row: impl Fn(usize) -> String) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    writeln!(file, "{header}").unwrap();
    for number in 0..count {
        writeln!(file, "{}", row(number)).unwrap();
    }
    file.flush().unwrap();
}

/// Names of so many columns.
fn columns(letter: char, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{letter}{number}")).collect()
}

/// Imports a table, which its limit must refuse.
fn import_refused(bench: &Bench, what: &str, path: &Path, more: &[&str], limit: &str) {
    let file = text(path);
    let named = ["import", "csv", &file, "--subject", "s", "--replicate", "r"];
    let arguments: Vec<&str> = named.into_iter().chain(more.iter().copied()).collect();
    let size_bytes = size(path);
    check(bench, &Case { what, size_bytes, arguments: &arguments, codes: &[2], word: limit });
}

#[test]
fn tables_whose_products_are_large_are_refused_within_their_memory() {
    let bench = Bench::new();
    let path = bench.path().join("table.csv");
    let value = ["--value", "v:lower"];
    rows(&path, "s,r,v", 200_000, |row| format!("s{},{row},{row}", row % 20_000));
    let reference = ["--value", "v:lower", "--pairs", "reference"];
    import_refused(&bench, "many subjects", &path, &reference, "PLAN_SUBJECTS");
    rows(&path, "s,r,v", 100_000, |row| format!("s{},{row},{row}", row % 200));
    import_refused(&bench, "many pairs", &path, &value, "IMPORT_COMPARED_VALUES");
    rows(&path, "s,r,v,p", 480_000, |row| {
        format!("{},{row},{row},p{}", ["a", "b"][row % 2], row / 24)
    });
    let parameter = ["--value", "v:lower", "--parameter", "p"];
    import_refused(&bench, "many combinations", &path, &parameter, "PLAN_WORKLOADS");
    let header = format!("s,r,v,{}", columns('c', 9_000).join(","));
    let empty = ",".repeat(9_000);
    rows(&path, &header, 1_000, |row| format!("{},{row},1{empty}", ["a", "b"][row % 2]));
    import_refused(&bench, "many columns", &path, &value, "IMPORT_FIELDS");
    // Five millions in all, in 10 MB.
    let header = format!("s,r,v,{}", columns('c', 9_900).join(","));
    rows(&path, &header, 500, |row| {
        let digits = (0..9_900).map(|at| format!(",{}", (row * row + 7 * at * row) % 10));
        format!("{},{row},1{}", ["a", "b"][row % 2], digits.collect::<String>())
    });
    import_refused(&bench, "columns of digits", &path, &value, "IMPORT_FIELDS");
    let metrics = columns('m', 990);
    let header = format!("s,r,{}", metrics.join(","));
    let ones = ",1".repeat(990);
    rows(&path, &header, 590, |row| format!("{},{row}{ones}", ["a", "b"][row % 2]));
    let named: Vec<String> = metrics.iter().map(|metric| format!("{metric}:lower")).collect();
    let named: Vec<&str> = named.iter().flat_map(|one| ["--value", one.as_str()]).collect();
    import_refused(&bench, "many metrics", &path, &named, "IMPORT_LOOKUPS");
}

#[test]
fn a_long_value_that_holds_for_many_executions_is_refused_within_its_memory() {
    let bench = Bench::new();
    let path = bench.path().join("bench.txt");
    let file = text(&path);
    for key in ["cpu", "goarch", "pkg"] {
        let header = format!("{key}: {}", "x".repeat(200_000));
        rows(&path, &header, 10_000, |_| "goos: linux\nBenchmarkX 1 1 ns/op".to_owned());
        let what = format!("a long {key}");
        let arguments = ["import", "benchfmt", &file];
        let size_bytes = size(&path);
        let word = "more than 1000 bytes";
        check(&bench, &Case { what: &what, size_bytes, arguments: &arguments, codes: &[2], word });
    }
}

#[test]
fn options_of_all_jobs_times_jobs_are_refused_within_their_memory() {
    let bench = Bench::new();
    let path = bench.path().join("fio.json");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    write!(file, "{{\"global options\":{{\"a\":\"\"").unwrap();
    for number in 0..300_000 {
        write!(file, ",\"{number}\":\"\"").unwrap();
    }
    write!(file, "}},\"jobs\":[{{\"jobname\":\"a\"}}").unwrap();
    for _ in 1..500 {
        write!(file, ",{{\"jobname\":\"a\"}}").unwrap();
    }
    writeln!(file, "]}}").unwrap();
    file.flush().unwrap();
    drop(file);
    let (what, file) = ("options of all jobs", text(&path));
    let (arguments, size_bytes) = (["import", "fio", &file], size(&path));
    let word = "more than 1000 global options";
    check(&bench, &Case { what, size_bytes, arguments: &arguments, codes: &[2], word });
}

#[test]
fn latencies_of_hundreds_of_jobs_are_imported_within_their_memory() {
    let bench = Bench::new();
    let path = bench.path().join("fio.json");
    // So far apart that each lies in other memory of a histogram that is being counted.
    let apart = (0..31).flat_map(|step| [1_280_u64 << step, 1_792 << step]);
    let bins: Vec<String> = apart.map(|latency_ns| format!("\"{latency_ns}\":1")).collect();
    let bins = bins.join(",");
    let job = |number: u32| {
        format!(
            "{{\"jobname\":\"j{number}\",\"read\":{{\"total_ios\":62,\"iops\":1,\"bw\":1,\
             \"clat_ns\":{{\"bins\":{{{bins}}}}}}}}}"
        )
    };
    let jobs: Vec<String> = (0..300).map(job).collect();
    fs::write(&path, format!("{{\"jobs\":[{}]}}\n", jobs.join(","))).unwrap();
    drop(jobs);
    let [one, other] = ["a", "b"].map(|subject| format!("{subject}={}", text(&path)));
    let (arguments, size_bytes) = (["import", "fio", &one, &other], 2 * size(&path));
    let what = "latencies of 300 jobs";
    check(&bench, &Case { what, size_bytes, arguments: &arguments, codes: &[0], word: "b" });
}

#[test]
fn a_plan_of_20_000_subjects_that_are_compared_with_one_is_refused_within_its_memory() {
    let (bench, directory) = campaign();
    let path = directory.join("plan.json");
    let plan = fs::read_to_string(&path).unwrap();
    let (before, after) = plan.split_once("\"subjects\": [").unwrap();
    let mut file = BufWriter::new(File::create(&path).unwrap());
    write!(file, "{before}\"subjects\": [").unwrap();
    for number in 0..20_000 {
        write!(file, "{{\"id\":\"s{number}\",\"levels\":{{}},\"is_control\":false}},").unwrap();
    }
    write!(file, "{after}").unwrap();
    file.flush().unwrap();
    drop(file);
    refused(&bench, "a plan", (&directory, size(&path)), "PLAN_SUBJECTS");
}

/// Writes something so many times between what stands before and behind it.
fn spread(file: &mut impl Write, (before, one, count, behind): (&str, &str, usize, &str)) {
    write!(file, "{before}").unwrap();
    let many = one.repeat(1_000);
    for _ in 0..count / 1_000 {
        write!(file, "{many}").unwrap();
    }
    write!(file, "{}{behind}", one.repeat(count % 1_000)).unwrap();
}

#[test]
fn a_plan_of_a_million_texts_is_refused_within_its_memory() {
    let (bench, directory) = campaign();
    let path = directory.join("plan.json");
    let plan = fs::read_to_string(&path).unwrap();
    let (before, after) = plan.split_once("\"subjects\": [").unwrap();
    for (key, one) in [("options", "\"\","), ("claims", "{},"), ("looks", "1,")] {
        let mut file = BufWriter::new(File::create(&path).unwrap());
        let before = format!("{before}\"{key}\":[");
        // The last one has no comma behind it.
        let behind = format!("{}],\"subjects\": [{after}", one.trim_end_matches(','));
        spread(&mut file, (&before, one, 1_100_000, &behind));
        file.flush().unwrap();
        drop(file);
        refused(&bench, key, (&directory, size(&path)), "PLAN_TEXTS");
    }
}

/// Plans of many blocks, sittings and trials are answered.
pub(super) fn answer_plans() {
    let (bench, directory) = campaign();
    let path = directory.join("plan.json");
    let plan = fs::read_to_string(&path).unwrap();
    let (before, after) = plan.split_once("\"blocks\": [").unwrap();
    // No block of the campaign has this number.
    let first = 1_000_000;
    let of_block = format!("{{\"index\":{first},\"sittings\":[");
    let of_trials = format!("{of_block}{{\"subject\":\"baseline\",\"workloads\":[");
    let sitting = r#"{"subject":"baseline","workloads":[]}"#;
    for (what, begin, one, count, end) in [
        ("sittings", of_block.as_str(), sitting, 1_300_000, "]},"),
        ("trials", of_trials.as_str(), "\"w\"", 1_500_000, "]}]},"),
        ("blocks", "", "", 1_600_000, ""),
    ] {
        let mut file = BufWriter::new(File::create(&path).unwrap());
        write!(file, "{before}\"blocks\": [{begin}").unwrap();
        if one.is_empty() {
            for number in first..first + count {
                write!(file, "{{\"index\":{number},\"sittings\":[]}},").unwrap();
            }
        } else {
            spread(&mut file, ("", &format!("{one},"), count - 1, one));
        }
        write!(file, "{end}{after}").unwrap();
        file.flush().unwrap();
        drop(file);
        for command in ["show", "judge"] {
            let (size_bytes, file) = (size(&path), text(&directory));
            let arguments = [command, &file];
            let codes = &[0, 1, 2, 6];
            check(&bench, &Case { what, size_bytes, arguments: &arguments, codes, word: "" });
        }
    }
}

#[test]
fn a_plan_of_thousands_of_claims_is_refused_within_its_memory() {
    let (bench, directory) = campaign();
    let path = directory.join("plan.json");
    let plan = fs::read_to_string(&path).unwrap();
    let (before, after) = plan.split_once("\"subjects\": [").unwrap();
    let of = |metric: &str| {
        let sides = r#""subject":"faster","reference":"baseline","effect":"better""#;
        format!(r#"{{"says":"x","metric":{metric},{sides}}}"#)
    };
    let one = format!("{},", of(r#""makespan""#));
    let several = format!("[{}\"makespan\"]", "\"m\",".repeat(20_000));
    for (what, count, last, limit) in [
        ("claims", 3_000, of(r#""makespan""#), "PLAN_CLAIMS"),
        ("metrics of a claim", 0, of(&several), "PLAN_CLAIMED"),
    ] {
        let mut file = BufWriter::new(File::create(&path).unwrap());
        let before = format!("{before}\"claims\":[");
        spread(&mut file, (&before, &one, count, &format!("{last}],\"subjects\": [{after}")));
        file.flush().unwrap();
        drop(file);
        refused(&bench, what, (&directory, size(&path)), limit);
    }
}

/// Files of JSON whose lists have millions of elements of some bytes are answered.
pub(super) fn answer_lists_in_json() {
    let bench = Bench::new();
    let path = bench.path().join("lists.json");
    let file = text(&path);
    let command = r#"{"results":[{"command":"a","times":["#;
    for (what, list) in [
        ("google-benchmark", ("{\"benchmarks\":[", "[],", 3_300_000, "[]]}")),
        ("hyperfine", (command, "0.001,", 1_600_000, "1]}]}")),
    ] {
        let mut lists = BufWriter::new(File::create(&path).unwrap());
        spread(&mut lists, list);
        lists.flush().unwrap();
        drop(lists);
        let (size_bytes, arguments) = (size(&path), ["import", what, &file]);
        let codes = &[2];
        check(&bench, &Case { what, size_bytes, arguments: &arguments, codes, word: "cannot" });
    }
}

/// A file of JSON with a list of benchmarks that are made from their numbers.
fn benchmarks(path: &Path, count: usize, object: impl Fn(usize) -> String) {
    let mut objects = BufWriter::new(File::create(path).unwrap());
    write!(objects, "{{\"benchmarks\":[{}", object(0)).unwrap();
    for number in 1..count {
        write!(objects, ",{}", object(number)).unwrap();
    }
    writeln!(objects, "]}}").unwrap();
    objects.flush().unwrap();
}

/// Files of JSON of millions of short members, and one of a long text, are refused.
pub(super) fn refuse_members_in_json() {
    let bench = Bench::new();
    let path = bench.path().join("members.json");
    let file = text(&path);
    let members = |object: usize| -> String {
        let all = columns('m', 1_000).into_iter();
        let all: Vec<String> =
            all.map(|name| format!("\"{name} of object {object} and its name\":\"\"")).collect();
        format!("{{{}}}", all.join(","))
    };
    let benchmark = |number: usize| {
        format!(
            "{{\"name\":\"b{}\",\"time_unit\":\"ns\",\"real_time\":100,\"cpu_time\":99}}",
            number % 500
        )
    };
    let arguments = ["import", "google-benchmark", &file];
    benchmarks(&path, 3_900, members);
    let (what, size_bytes, word) = ("members", size(&path), "JSON_HELD");
    check(&bench, &Case { what, size_bytes, arguments: &arguments, codes: &[2], word });
    benchmarks(&path, 590_000, benchmark);
    let (what, size_bytes, word) = ("rows beside their JSON", size(&path), "IMPORT_HELD");
    check(&bench, &Case { what, size_bytes, arguments: &arguments, codes: &[2], word });
    let long = "x".repeat(1_000);
    let list = ("{\"benchmarks\":[{\"name\":\"\\n", long.as_str(), 180_000, "\"}]}");
    let mut texts = BufWriter::new(File::create(&path).unwrap());
    spread(&mut texts, list);
    texts.flush().unwrap();
    drop(texts);
    for what in ["google-benchmark", "fio", "hyperfine"] {
        let (size_bytes, arguments) = (size(&path), ["import", what, &file]);
        let (codes, word) = (&[2], "JSON_TEXT_BYTES");
        check(&bench, &Case { what, size_bytes, arguments: &arguments, codes, word });
    }
}

/// Binary logs of Gatling of millions of requests, and of millions of texts without a letter, are
/// refused.
pub(super) fn refuse_requests_of_gatling() {
    let bench = Bench::new();
    let path = bench.path().join("simulation.log");
    let file = format!("a={}", text(&path));
    let arguments = ["import", "gatling", &file];
    let number = |number: i32| number.to_be_bytes();
    let written = |text: &str| -> Vec<u8> {
        let length = number(i32::try_from(text.len()).unwrap());
        [&length[..], text.as_bytes(), &[0_u8][..]].concat()
    };
    let mut head = vec![0_u8];
    head.extend([written("3.13.0"), written("sim.X")].concat());
    head.extend(1_700_000_000_000_i64.to_be_bytes());
    // No description, no scenario and no assertion; a request with text 1 as its name and 2, which is
    // empty, as its message.
    head.extend([&[0_u8; 12][..], &[1], &number(0), &number(1), &written("r")].concat());
    head.extend([&number(0)[..], &number(5), &[1], &number(2), &number(0)].concat());
    let request =
        [&[1_u8][..], &number(0), &number(-1), &number(0), &number(5), &[1], &number(-2)].concat();
    let mut log = BufWriter::new(File::create(&path).unwrap());
    log.write_all(&head).unwrap();
    for _ in 0..6_800_000 {
        log.write_all(&request).unwrap();
    }
    log.flush().unwrap();
    let (what, size_bytes, word) = ("requests of Gatling", size(&path), "IMPORT_HELD");
    check(&bench, &Case { what, size_bytes, arguments: &arguments, codes: &[2], word });
    let mut log = BufWriter::new(File::create(&path).unwrap());
    log.write_all(&head).unwrap();
    // Records of a hundred groups each, which are new texts.
    for record in 0..50_000 {
        log.write_all(&[&[3_u8][..], &number(100)].concat()).unwrap();
        for group in 0..100 {
            log.write_all(&[number(3 + 100 * record + group), number(0)].concat()).unwrap();
        }
        log.write_all(&[&[0_u8; 12][..], &[1]].concat()).unwrap();
    }
    log.flush().unwrap();
    let (what, size_bytes) = ("texts of Gatling", size(&path));
    check(&bench, &Case { what, size_bytes, arguments: &arguments, codes: &[2], word });
}

#[test]
fn a_record_of_millions_of_values_is_refused_within_its_memory() {
    // More than a record may have.
    refuse_values(1, 4_500_000, "RECORD_VALUES");
}

/// The values of so many records, so many each, are refused by this limit.
pub(super) fn refuse_values(changed: usize, values: usize, limit: &str) {
    let (bench, directory) = campaign();
    let path = directory.join("records.jsonl");
    let records = fs::read_to_string(&path).unwrap();
    let begin = "\"samples\":[";
    let mut file = BufWriter::new(File::create(&path).unwrap());
    assert!(records.lines().count() >= changed);
    for (number, line) in records.lines().enumerate() {
        let (before, after) = line.split_once(begin).unwrap();
        let before = format!("{before}{begin}{{\"source\":\"x\",\"values\":[");
        let count = if number < changed { values } else { 1 };
        spread(&mut file, (&before, "0,", count, &format!("0]}},{after}\n")));
    }
    file.flush().unwrap();
    drop(file);
    refused(&bench, "records", (&directory, size(&path)), limit);
}

#[test]
fn a_record_of_many_short_differences_is_refused_within_its_memory() {
    let list = ("\"fingerprint_difference\":{", "\"k\":\"\",", 200_000, "\"k\":\"\"},");
    refuse_lists(1, list, "CAMPAIGN_EXPANSION");
}

/// Lists that stand in so many records are refused by this limit.
pub(super) fn refuse_lists(
    changed: usize,
    (begin, one, count, end): (&str, &str, usize, &str),
    limit: &str,
) {
    let (bench, directory) = campaign();
    let path = directory.join("records.jsonl");
    let records = fs::read_to_string(&path).unwrap();
    let mut file = BufWriter::new(File::create(&path).unwrap());
    assert!(records.lines().count() >= changed);
    for (number, line) in records.lines().enumerate() {
        if number >= changed {
            writeln!(file, "{line}").unwrap();
            continue;
        }
        let (before, after) = line.split_once("\"levels\":").unwrap();
        let behind = format!("{end}\"levels\":{after}\n");
        spread(&mut file, (&format!("{before}{begin}"), one, count, &behind));
    }
    file.flush().unwrap();
    drop(file);
    refused(&bench, "records", (&directory, size(&path)), limit);
}

#[test]
fn a_record_of_many_histograms_is_refused_within_its_memory() {
    let (bench, directory) = campaign();
    let path = directory.join("records.jsonl");
    let records = fs::read_to_string(&path).unwrap();
    let mut histogram = Histogram::new();
    let mut value = 1_u64;
    while value < 3_000_000_000_000 {
        histogram.record(value);
        value += (value / 1_500).max(1);
    }
    let one = format!("{{\"source\":\"x\",\"histogram\":{{\"hdr\":\"{}\"}}}},", histogram.encode());
    let (before, after) = records.split_once("\"samples\":[").unwrap();
    let mut file = BufWriter::new(File::create(&path).unwrap());
    write!(file, "{before}\"samples\":[").unwrap();
    // Together less than the longest record.
    for _ in 0..1_000 {
        write!(file, "{one}").unwrap();
    }
    write!(file, "{after}").unwrap();
    file.flush().unwrap();
    drop(file);
    refused(&bench, "a record", (&directory, size(&path)), "RECORD_BUCKETS");
}
