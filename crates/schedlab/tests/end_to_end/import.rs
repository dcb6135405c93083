//! Other people's numbers, from the file to the verdict.

use crate::bench::{Bench, assert_inert, errors};
use report::RENDERERS;
use std::fmt::Write;
use std::path::Path;

/// Three schedulers, one after the other, as a study would write it down.
fn study() -> String {
    let mut text = "scheduler,record_size,operation,run,kBps\n".to_owned();
    // A linear congruential generator: the file is the same everywhere.
    let mut state = 12_345_u64;
    let mut noise = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as f64 / f64::from(1_u32 << 31) - 0.5) * 0.04
    };
    for (scheduler, factor) in [("noop", 1.0), ("deadline", 1.0), ("cfq", 0.8)] {
        for (size, base) in [("8k", 100.0), ("64k", 400.0), ("1m", 900.0)] {
            for run in 1..=5 {
                let of_run = noise();
                for (operation, of_operation) in [("read", 1.0), ("write", 0.5)] {
                    let value = 1000.0 * base * of_operation * factor * (1.0 + of_run + noise());
                    let _ = writeln!(text, "{scheduler},{size},{operation},{run},{value:.2}");
                }
            }
        }
    }
    text
}

const MAPPING: [&str; 8] = [
    "--subject",
    "scheduler",
    "--parameter",
    "record_size,operation",
    "--replicate",
    "record_size,run",
    "--value",
    "kBps:higher",
];

fn import(bench: &Bench, file: &str, more: &[&str]) -> String {
    let arguments: Vec<&str> =
        ["import", "csv", file].into_iter().chain(MAPPING).chain(more.iter().copied()).collect();
    bench.expect(0, &arguments)
}

/// One run of each of two subjects, of which eight parts were measured: `b` takes a tenth more.
fn parts(column: &str) -> String {
    let mut text = format!("who,run,{column},ns\n");
    for (who, base, noise, turn) in [("a", 100.0, 0.002, 5), ("b", 110.0, 0.0023, 3)] {
        for part in 0..8 {
            let value = base * (1.0 + noise * f64::from(part * turn % 8));
            let _ = writeln!(text, "{who},1,{part},{value:.4}");
        }
    }
    text
}

/// Whatever a column is called that tells parts of one execution apart.
#[test]
fn parts_of_one_execution_have_no_verdict_unless_the_user_says_that_they_are_executions() {
    let bench = Bench::new();
    let obstacle = || {
        let json = bench.expect(0, &["show", "last", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        let finding = &report["findings"]["findings"][0];
        let told = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        (told("verdict"), told("obstacle"))
    };
    for column in ["fiber", "host", "lane", "slot", "tenant", "user", "vu"] {
        let file = bench.path().join(format!("{column}.csv")).display().to_string();
        std::fs::write(&file, parts(column)).unwrap();
        let both = format!("run,{column}");
        for replicates in [
            vec!["--replicate", column],
            vec!["--replicate", &both],
            vec!["--block", column],
            Vec::new(),
        ] {
            let import = |more: &[&str]| {
                let usual = ["import", "csv", &file, "--subject", "who", "--value", "ns:lower:ns"];
                let all: Vec<&str> = usual.iter().chain(&replicates).chain(more).copied().collect();
                bench.expect(0, &all)
            };
            let shown = import(&[]);
            let words: Vec<&str> = shown.split_whitespace().collect();
            let told = format!("{column} may tell parts of one execution apart");
            assert!(words.join(" ").contains(&told), "{shown}");
            let withheld = ("inconclusive".to_owned(), "execution_parts".to_owned());
            assert_eq!(obstacle(), withheld, "{column} {replicates:?}");
            assert_eq!(bench.run(&["gate", "last", "--limit", "ns=5%"]).status.code(), Some(5));
            if !replicates.is_empty() {
                import(&["--independent", column]);
                assert_eq!(obstacle(), ("worse".to_owned(), String::new()), "{column}");
            }
        }
    }
}

/// Fourteen nights: `b` takes 1 % less than `a`, and from the eighth on 11 %.
#[test]
fn a_change_of_level_is_found_between_the_imports_on_both_sides() {
    let bench = Bench::new();
    let noise = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3, -0.2, -0.1];
    for night in 0..14_usize {
        let gain = if night < 7 { 0.99 } else { 0.89 };
        let of_night = 1.0 + 0.0013 * ((night * 5 % 7) as f64 - 3.0);
        let mut text = "who,run,ns\n".to_owned();
        for run in 0..10_usize {
            let a = 1000.0 * (1.0 + 0.01 * noise[(run * 3 + night) % 10]);
            let b = a * gain * of_night * (1.0 + 0.003 * noise[(run + night) % 10]);
            let mut rows = [("a", a), ("b", b)];
            if (run * 7 + 5) % 10 < 5 {
                rows.reverse();
            }
            for (who, value) in rows {
                let _ = writeln!(text, "{who},{run},{value:.4}");
            }
        }
        let path = bench.path().join(format!("night-{night:02}.csv"));
        std::fs::write(&path, text).unwrap();
        let file = path.display().to_string();
        let usual = ["import", "csv", &file, "--subject", "who", "--block", "run"];
        bench.expect(0, &[&usual[..], &["--value", "ns:lower:ns"]].concat());
    }
    let text = bench.expect(0, &["history", "ns"]);
    assert!(text.starts_with("imported: ") && text.contains(", 14 campaigns (+"), "{text}");
    assert_eq!(text.matches(" %)  n=10").count(), 14, "each with a level: {text}");
    let series: serde_json::Value =
        serde_json::from_str(&bench.expect(0, &["history", "ns", "--json"])).unwrap();
    let changes = series[0]["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{text}");
    assert!(changes[0]["after"].as_str().unwrap().starts_with("night-06"), "{text}");
    assert!(changes[0]["before"].as_str().unwrap().starts_with("night-07"), "{text}");
    assert!((1.08..1.14).contains(&changes[0]["ratio"].as_f64().unwrap()), "{text}");
}

/// A number that nobody named is no part of the work that subjects share.
#[test]
fn a_column_of_numbers_that_differs_with_the_subject_warns_that_it_may_not_be_the_same_work() {
    let bench = Bench::new();
    let file = bench.path().join("threads.csv").display().to_string();
    for (threads, state, doubts) in [("8", "warned", true), ("4", "not_observed", false)] {
        let mut text = "who,run,threads,ns\n".to_owned();
        for run in 0..8 {
            let a = 100.0 + 0.3 * f64::from(run * 5 % 8);
            let b = 120.0 + 0.37 * f64::from(run * 3 % 8);
            let _ = writeln!(text, "a,a{run},4,{a:.4}\nb,b{run},{threads},{b:.4}");
        }
        std::fs::write(&file, text).unwrap();
        let usual = ["import", "csv", &file, "--subject", "who", "--replicate", "run"];
        bench.expect(0, &[&usual[..], &["--value", "ns:lower:ns"]].concat());
        let json = bench.expect(0, &["show", "last", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        let mut checks = report["checks"].as_array().unwrap().iter();
        let check = checks.find(|check| check["name"] == "same work").unwrap();
        assert_eq!(check["state"], state, "{check}");
        let finding = &report["findings"]["findings"][0];
        let told = finding["doubts"].to_string();
        assert_eq!(told.contains("unlike_settings"), doubts, "{told}");
        assert_eq!(json.contains("threads (a: 4; b: 8)"), doubts);
    }
}

/// Two blocks copied to eight, eight values beside the same times 1.07, and five executions of each
/// subject copied to twenty.
fn copies() -> [String; 3] {
    let measured = [("100.1234", "90.2311"), ("101.3321", "90.9317")];
    let mut blocks = "block,subject,time\n".to_owned();
    for (block, copied) in [0, 1, 1, 0, 1, 0, 0, 1].into_iter().enumerate() {
        let (a, b) = measured[copied];
        let _ = writeln!(blocks, "{block},a,{a}\n{block},b,{b}");
    }
    let mut scaled = "run,subject,time\n".to_owned();
    let values = [99.5675, 99.1704, 100.9212, 100.2846, 98.7131, 101.4478, 99.9023, 100.6359];
    for (run, value) in values.into_iter().enumerate() {
        let (first, second) = if run % 2 == 0 { ("a", "b") } else { ("b", "a") };
        for subject in [first, second] {
            let value = if subject == "b" { value * 1.07 } else { value };
            let _ = writeln!(scaled, "{run},{subject},{value:.4}");
        }
    }
    let mut repeated = "run,subject,time\n".to_owned();
    let measured = [
        ("99.5675", "90.2311"),
        ("99.1704", "91.9317"),
        ("100.9212", "90.7749"),
        ("100.2846", "91.0188"),
        ("98.7131", "89.6402"),
    ];
    for (run, (a, b)) in measured.into_iter().cycle().take(20).enumerate() {
        let both = if run % 2 == 0 { [("a", a), ("b", b)] } else { [("b", b), ("a", a)] };
        for (subject, value) in both {
            let _ = writeln!(repeated, "{run},{subject},{value}");
        }
    }
    [blocks, scaled, repeated]
}

#[test]
fn values_that_stand_twice_have_no_verdict_and_decide_no_gate() {
    let bench = Bench::new();
    let file = bench.path().join("copies.csv").display().to_string();
    for (text, unit) in
        copies().into_iter().zip(["--block=block", "--replicate=run", "--replicate=run"])
    {
        std::fs::write(&file, text).unwrap();
        let usual = ["import", "csv", &file, "--subject", "subject", "--value", "time:lower"];
        let all: Vec<&str> = usual.into_iter().chain([unit]).collect();
        let shown = bench.expect(0, &all);
        assert!(shown.contains("COPIED"), "{shown}");
        let json = bench.expect(0, &["show", "last", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        let finding = &report["findings"]["findings"][0];
        assert_eq!(finding["verdict"], "inconclusive", "{unit}");
        assert_eq!(finding["obstacle"], "copied_values", "{unit}");
        assert_eq!(bench.run(&["gate", "last", "--limit", "time=5%"]).status.code(), Some(5));
    }
}

#[test]
fn a_study_without_blocks_is_judged_by_cell_margin_and_whole_with_its_caveats() {
    let bench = Bench::new();
    let file = bench.path().join("study.csv").display().to_string();
    std::fs::write(&file, study()).unwrap();
    let shown = import(&bench, &file, &["--margin", "10%"]);
    assert!(shown.contains("UNBLOCKED_DESIGN") && shown.contains("ORDER_CONFOUNDED"), "{shown}");
    assert!(!shown.contains("REPLICATE_LEVEL_UNKNOWN"), "{shown}");
    let json = bench.expect(0, &["show", "last", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let families = &report["findings"]["families"];
    // Three pairs of 6 cells, 3 sizes, 2 operations and the whole.
    for (name, count) in [("cells", 18), ("record_size", 9), ("operation", 6), ("overall", 3)] {
        assert_eq!(families[name].as_u64(), Some(count), "{name}");
    }
    let find = |workload: &str, subject: &str, reference: &str| -> serde_json::Value {
        let findings = report["findings"]["findings"].as_array().unwrap();
        let is_it = |finding: &&serde_json::Value| {
            let question = &finding["question"];
            question["workload"] == workload
                && question["subject"] == subject
                && question["reference"] == reference
        };
        findings.iter().find(is_it).unwrap().clone()
    };
    assert_eq!(find("overall", "cfq", "noop")["verdict"], "worse");
    assert_eq!(find("overall", "deadline", "noop")["verdict"], "equivalent");
    assert_eq!(find("overall", "cfq", "noop")["pairs"], 15, "three sizes of five executions");
    assert_eq!(find("record_size:8k", "cfq", "noop")["pairs"], 5);
    let codes = |finding: &serde_json::Value| -> Vec<String> {
        let caveats = finding["caveats"].as_array().unwrap().iter();
        caveats.map(|caveat| caveat["code"].as_str().unwrap().to_owned()).collect()
    };
    for finding in report["findings"]["findings"].as_array().unwrap() {
        assert!(codes(finding).contains(&"UNBLOCKED_DESIGN".to_owned()));
    }
    // What works on a campaign of our own works on it.
    let judged = bench.expect(0, &["judge", "last"]);
    assert_eq!(judged, bench.expect(0, &["show", "last"]));
    let explained = bench.expect(0, &["explain", "overall"]);
    assert!(explained.contains("not collected in blocks"), "{explained}");
    let gate = |limit: &str| bench.run(&["gate", "last", "--limit", limit]).status.code();
    // One subject after the other: that passes no gate, and fails none.
    assert_eq!(gate("overall/kbps=50%"), Some(5));
    assert_eq!(gate("overall/kbps=5%"), Some(5));
    bench.expect(0, &["report", "last", "--format", "csv"]);
    // The report's own command repeats the import.
    let command = report["reproduce"][0].as_str().unwrap().to_owned();
    assert!(command.contains("--margin 10%"), "{command}");
    let mapping = bench.campaign().join("import.toml");
    assert!(command.contains(&*mapping.file_name().unwrap().to_string_lossy()), "{command}");
    let text = std::fs::read_to_string(&mapping).unwrap();
    assert!(text.starts_with("# The mapping of an import, written by `schedlab import csv`"));
    for planning in ["plan", "run"] {
        let refused = bench.run(&[planning, &mapping.display().to_string()]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(errors(&refused).contains("describes an import"), "{}", errors(&refused));
    }
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let again = Bench::new();
    again.expect(0, &words);
    let findings = |bench: &Bench| std::fs::read(bench.campaign().join("findings.json")).unwrap();
    assert_eq!(findings(&again), findings(&bench), "same bytes from the same file");
}

/// A file of a tool that measured this time, or its reciprocal as a rate, in this second of an hour.
type ToolFile = fn(f64, u32) -> String;

fn fio_file(time: f64, second: u32) -> String {
    let (rate, bandwidth, at) = (1e6 / time, 4096e6 / time, 1_715_000_000 + second);
    format!(
        r#"{{"fio version": "fio-3.33", "timestamp": {at}, "jobs": [{{"jobname": "j", "job options": {{"rw": "randread"}},
            "read": {{"total_ios": 9000, "iops": {rate:.3}, "bw_bytes": {bandwidth:.0}}}}}]}}"#
    )
}

fn perf_file(time: f64, second: u32) -> String {
    let (ns, counted) = (1e7 * time, 2_000_000_007 + u64::from(second));
    let (minute, second) = (second / 60, second % 60);
    format!(
        "# started on Sat Nov 21 11:{minute:02}:{second:02} 2026\n\n{ns:.0},ns,duration_time,{counted},100.00,,\n"
    )
}

fn benchmark_file(time: f64, second: u32) -> String {
    let (minute, second, cpu) = (second / 60, second % 60, 0.9 * time);
    format!(
        r#"{{"context": {{"date": "2026-11-21T11:{minute:02}:{second:02}+00:00"}}, "benchmarks": [{{"name": "BM",
            "run_type": "iteration", "real_time": {time}, "cpu_time": {cpu}, "time_unit": "ns"}}]}}"#
    )
}

fn iperf3_file(time: f64, second: u32) -> String {
    let (bytes, at) = (1e11 / time, 1_715_000_000 + second);
    let total = format!(r#"{{"seconds": 10, "bytes": {bytes:.0}}}"#);
    format!(
        r#"{{"start": {{"version": "iperf 3.12", "timestamp": {{"timesecs": {at}}},
            "test_start": {{"protocol": "TCP", "num_streams": 1, "reverse": 0}}}},
            "end": {{"streams": [], "sum_sent": {total}, "sum_received": {total}}}}}"#
    )
}

/// The caveats of the finding of a metric, each with its detail, and how a gate on it ends, of these
/// files: subject, time and second.
fn judged_files(
    format: (&str, &str, ToolFile),
    files: &[(&str, f64, u32)],
) -> (String, Option<i32>) {
    let (format, metric, text) = format;
    let bench = Bench::new();
    let mut words = vec!["import".to_owned(), format.to_owned()];
    for (index, (subject, time, second)) in files.iter().enumerate() {
        let file = bench.path().join(format!("{index}.out"));
        std::fs::write(&file, text(*time, *second)).unwrap();
        words.push(format!("{subject}={}", file.display()));
    }
    bench.expect(0, &words.iter().map(String::as_str).collect::<Vec<_>>());
    let json = bench.expect(0, &["show", "last", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let findings = report["findings"]["findings"].as_array().unwrap();
    let of_metric = findings.iter().find(|one| one["question"]["metric"] == metric).unwrap();
    let gate = bench.run(&["gate", "last", "--limit", &format!("{metric}=5%")]).status.code();
    (of_metric["caveats"].to_string(), gate)
}

/// All of `a` ran before all of `b`, and the files are given by turns; or both ran mixed, and the files
/// are given one subject after the other.
#[test]
fn the_order_of_a_tools_files_is_that_of_the_times_in_them() {
    let formats: [(&str, &str, ToolFile); 4] = [
        ("fio", "iops", fio_file),
        ("perf-stat", "duration_time", perf_file),
        ("google-benchmark", "real_time", benchmark_file),
        ("iperf3", "throughput", iperf3_file),
    ];
    let noise = [0.11, -0.29, 0.32, -0.07, 0.23, -0.37, 0.05, -0.18];
    for format in formats {
        // A drift of 1 % from one execution to the next, and no other difference.
        let drifting = |subject: &'static str, index: usize| {
            let place = if subject == "a" { index } else { noise.len() + index };
            (subject, 100.0 + place as f64 + noise[(3 * place) % 8], 60 * place as u32)
        };
        let by_turns: Vec<(&str, f64, u32)> = (0..noise.len())
            .flat_map(|index| {
                let turn = if index % 2 == 0 { ["a", "b"] } else { ["b", "a"] };
                turn.map(|subject| drifting(subject, index))
            })
            .collect();
        let (caveats, gate) = judged_files(format, &by_turns);
        assert!(caveats.contains("ORDER_CONFOUNDED"), "{}: {caveats}", format.0);
        assert!(caveats.contains("in the order of the times that the files hold"), "{caveats}");
        assert_eq!(gate, Some(5), "{}", format.0);

        // `b` needs 20 % more, in an order that was drawn.
        let mut mixed: Vec<(&str, f64, u32)> = Vec::new();
        for (place, subject) in "abbabaabbaababba".chars().enumerate() {
            let (subject, time) = if subject == 'a' { ("a", 100.0) } else { ("b", 120.0) };
            let noise = noise[place / 2] + 0.031 * place as f64 * f64::from(place as u32 % 2);
            mixed.push((subject, time + noise, 60 * place as u32));
        }
        mixed.sort_by_key(|(subject, ..)| *subject);
        let (caveats, gate) = judged_files(format, &mixed);
        assert!(!caveats.contains("ORDER_CONFOUNDED"), "{}: {caveats}", format.0);
        assert_eq!(gate, Some(3), "{}", format.0);
        // The reference is the subject of the first file, though the other ran first.
        mixed.reverse();
        let (caveats, gate) = judged_files(format, &mixed);
        assert!(!caveats.contains("ORDER_CONFOUNDED"), "{}: {caveats}", format.0);
        assert_eq!(gate, Some(0), "{}", format.0);
    }
}

/// Forty runs of one workload each in the order of their measurement, `SUBJECT WORKLOAD=TIME`: `b` mostly
/// ran the longer one, and is as fast as `a` in both.
const MIX: &str = "\
    a1=98.5884 a1=101.2394 a1=100.2700 b2=110.2386 a1=100.0415 b2=110.4654 b1=100.9956 a1=99.3144 \
    a2=110.5238 b2=111.9472 a1=99.0287 a1=99.2289 b2=111.6767 a2=110.3998 a1=101.1913 b2=111.7652 \
    b2=108.6060 b1=100.3602 b2=108.6862 a2=110.4756 b2=110.7131 b2=109.0880 b2=110.8157 b2=111.2581 \
    b2=109.0684 a1=99.8279 b1=99.1088 b2=111.2436 a1=98.6119 a2=110.0519 b1=99.6620 a2=110.9661 \
    b2=109.6559 a1=101.4393 a1=100.7065 a1=98.1756 a1=101.0780 b1=99.3503 b1=98.7889 a2=112.0119";

/// Which workload a run had is no difference, whether the replicate was said to name it or not.
#[test]
fn runs_of_one_workload_each_are_compared_within_it_whatever_mix_a_subject_has() {
    let bench = Bench::new();
    let file = bench.path().join("mix.csv").display().to_string();
    let mut text = "run,subject,work,time\n".to_owned();
    for (run, row) in MIX.split_whitespace().enumerate() {
        let (place, time) = row.split_once('=').unwrap();
        let (subject, work) = place.split_at(1);
        let _ = writeln!(text, "{run},{subject},w{work},{time}");
    }
    std::fs::write(&file, text).unwrap();
    let judged = |replicate: &str| {
        let usual = ["import", "csv", &file, "--subject", "subject", "--parameter", "work"];
        let more = ["--value", "time:lower:ms", "--replicate", replicate];
        let all: Vec<&str> = usual.iter().chain(&more).copied().collect();
        let told = errors(&bench.run(&all));
        let json = bench.expect(0, &["show", "last", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        let gate = bench.run(&["gate", "last", "--limit", "overall/time=2%"]).status.code();
        (told, report["findings"]["findings"].clone(), gate)
    };
    let (told, found, gate) = judged("run");
    assert!(told.contains("one execution: subject, run; each has one work"), "{told}");
    assert_eq!(found[0]["question"]["workload"], "overall");
    assert_eq!(found[0]["verdict"], "equivalent", "{found}");
    let (_, named, gate_of_named) = judged("run,work");
    assert_eq!((found, gate), (named, gate_of_named));
}

/// Sixteen runs of two subjects in turns, each with so many reads and writes; a write takes three times as
/// long, of either subject.
fn mixed(a: [usize; 2], b: [usize; 2]) -> String {
    let mut text = "run,who,op,time\n".to_owned();
    let mut state = 61_u64;
    let mut noise = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as f64 / f64::from(1_u32 << 31) - 0.5) * 0.02
    };
    for (run, who) in "abbaabbaabbaabba".chars().enumerate() {
        let counts = if who == 'a' { a } else { b };
        for (op, time, count) in [("read", 100.0, counts[0]), ("write", 300.0, counts[1])] {
            for _ in 0..count {
                let _ = writeln!(text, "{run},{who},{op},{:.4}", time * (1.0 + noise()));
            }
        }
    }
    text
}

/// Whether the column of what was measured was named or not.
#[test]
fn a_difference_that_may_be_one_of_the_mix_of_rows_has_no_verdict() {
    let bench = Bench::new();
    let file = bench.path().join("mixed.csv").display().to_string();
    let judged = |rows: String, more: &[&str]| -> Vec<[String; 4]> {
        std::fs::write(&file, rows).unwrap();
        let usual = ["import", "csv", &file, "--subject", "who", "--value", "time:lower:ms"];
        let all: Vec<&str> = usual.iter().chain(more).copied().collect();
        bench.expect(0, &all);
        let json = bench.expect(0, &["show", "last", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        let findings = report["findings"]["findings"].as_array().unwrap();
        let told = |finding: &serde_json::Value| {
            let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            let workload = text(&finding["question"]["workload"]);
            let keys = ["verdict", "obstacle", "reason"].map(|key| text(&finding[key]));
            let [verdict, obstacle, reason] = keys;
            [workload, verdict, obstacle, reason]
        };
        findings.iter().map(told).collect()
    };
    for more in [&["--replicate", "run"][..], &["--replicate", "run", "--parameter", "op"]] {
        let unlike = judged(mixed([9, 1], [1, 9]), more);
        let [_, verdict, obstacle, reason] = &unlike[0];
        assert_eq!((verdict.as_str(), obstacle.as_str()), ("inconclusive", "unequal_mixes"));
        let both = "op read: 90 % of the rows of a, 10 % of those of b";
        assert!(reason.contains(both), "{reason}");
        assert_eq!(bench.run(&["gate", "last", "--limit", "time=5%"]).status.code(), Some(5));
        // Each cell compares like with like.
        for [workload, verdict, ..] in &unlike[1..] {
            assert!(workload.starts_with("op:") && verdict == "equivalent", "{workload} {verdict}");
        }
        let alike = judged(mixed([9, 1], [9, 1]), more);
        let [_, verdict, obstacle, reason] = &alike[0];
        assert_eq!((verdict.as_str(), obstacle.as_str()), ("equivalent", ""), "{reason}");
    }
}

#[test]
fn what_nobody_said_is_a_caveat_and_what_cannot_be_meant_an_error() {
    let bench = Bench::new();
    let path = bench.path().join("few.csv");
    let file = path.display().to_string();
    std::fs::write(&path, "who,ms\na,1\na,2\nb,3\nb,4\n").unwrap();
    let import = |more: &[&str]| {
        let all: Vec<&str> =
            ["import", "csv", &file].into_iter().chain(more.iter().copied()).collect();
        bench.run(&all)
    };
    let output = import(&["--subject", "who", "--value", "ms:lower:ms"]);
    assert_eq!(output.status.code(), Some(0));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    for code in ["FEW_REPLICATES", "REPLICATE_LEVEL_UNKNOWN", "ORDER_CONFOUNDED"] {
        assert!(shown.contains(code), "{code} in {shown}");
    }
    assert!(shown.contains("inconclusive") && shown.contains("2 replicates"), "{shown}");
    for (arguments, said) in [
        (vec!["--subject", "who", "--value", "ms"], "which way `ms` is better"),
        (vec!["--subject", "whom", "--value", "ms:lower"], "there is no column `whom`"),
        (vec!["--value", "ms:lower"], "one subject"),
        (vec!["--subject", "who", "--value", "ms:lower", "--reference", "c"], "no subject `c`"),
        (vec!["--subject", "who"], "no column of values"),
    ] {
        let output = import(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(errors(&output).contains(said), "{said}: {}", errors(&output));
    }
    // A unit of the user's own is told beside the values, and never mixed.
    std::fs::write(&path, "who,rate,u\na,1,kB/s\nb,2,kB/s\n").unwrap();
    let mapping = ["--subject", "who", "--value", "rate:higher", "--unit", "u"];
    let output = import(&mapping);
    assert!(String::from_utf8_lossy(&output.stdout).contains("rate is in kB/s"));
    std::fs::write(&path, "who,rate,u\na,1,kB/s\nb,2,MB/s\n").unwrap();
    let output = import(&mapping);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("line 3: `rate` is in `MB/s` here"), "{}", errors(&output));
    std::fs::write(&path, "who,ms\na,1\nb,NaN\n").unwrap();
    let output = import(&["--subject", "who", "--value", "ms:lower"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("line 3"), "{}", errors(&output));
    let unknown = bench.run(&["import", "xls", &file]);
    assert_eq!(unknown.status.code(), Some(2));
    assert_eq!(std::fs::read_dir(bench.results()).unwrap().count(), 2, "errors leave nothing");
}

/// What can be chosen until it says what is wanted says that it was.
#[test]
fn what_was_chosen_while_the_numbers_were_there_is_told() {
    let bench = Bench::new();
    let path = bench.path().join("three.csv");
    let mut text = "who,ms,mb\n".to_owned();
    for row in 0..6 {
        for (who, ms) in [("a", 10.0), ("b", 10.1), ("c", 12.0)] {
            text += &format!("{who},{},{}\n", ms + 0.01 * f64::from(row * 5 % 7), 3 + row * 2 % 5);
        }
    }
    std::fs::write(&path, text).unwrap();
    let file = path.display().to_string();
    let usual =
        ["import", "csv", &file, "--subject", "who", "--value", "ms:lower", "--value", "mb:lower"];
    let told = |more: &[&str]| {
        let all: Vec<&str> = usual.iter().chain(more).copied().collect();
        bench.expect(0, &all);
        let json = bench.expect(0, &["show", "last", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        let caveats = report["findings"]["caveats"].as_array().unwrap().iter();
        let mut details: Vec<String> = caveats
            .filter(|caveat| caveat["code"] == "POST_HOC_MARGIN")
            .map(|caveat| caveat["detail"].as_str().unwrap().to_owned())
            .collect();
        details.sort();
        details
    };
    assert_eq!(told(&[]), Vec::<String>::new());
    assert_eq!(
        told(&["--margin", "25%", "--alpha", "0.2", "--primary", "ms", "--pairs", "reference"]),
        [
            "a level of 0.2 instead of 0.05 was given together with the data",
            "a margin of 25 % was given together with the data",
            "what is judged was given together with the data: ms; else it is ms, mb",
            "which pairs are compared was given together with the data: those with a, 2 of 3",
        ]
    );
    assert!(bench.expect(0, &["show", "last"]).contains("POST_HOC_MARGIN"));
    let explained = bench.expect(0, &["explain", "b/all/ms"]);
    let explained = explained.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(explained.contains("Something of the question was given when"), "{explained}");
}

/// A usual table has columns that nobody asks for, and subjects of which one is the reference.
#[test]
fn metrics_columns_and_pairs_that_were_chosen_are_told_and_leave_clearly_as_it_is() {
    let bench = Bench::new();
    let path = bench.path().join("usual.csv");
    let noise = [
        ("a", 100.0, [0.13, -0.21, 0.05, 0.29, -0.11, -0.02, 0.17, -0.26, 0.08, -0.14]),
        ("b", 80.0, [0.07, 0.19, -0.23, -0.09, 0.27, -0.16, 0.03, -0.05, 0.22, -0.18]),
        ("c", 120.0, [-0.12, 0.24, 0.16, -0.28, 0.01, 0.21, -0.19, 0.11, -0.07, 0.04]),
    ];
    let orders = [
        [0, 1, 2],
        [2, 0, 1],
        [1, 0, 2],
        [2, 1, 0],
        [0, 2, 1],
        [1, 2, 0],
        [2, 1, 0],
        [0, 1, 2],
        [1, 0, 2],
        [2, 0, 1],
    ];
    let mut text = "who,run,ms,user_cpu\n".to_owned();
    for (run, order) in orders.iter().enumerate() {
        for place in *order {
            let (who, centre, of_runs) = noise[place];
            let used = 41.3 + 7.0 * of_runs[9 - run];
            let _ = writeln!(text, "{who},{run},{:.2},{used:.2}", centre + of_runs[run]);
        }
    }
    std::fs::write(&path, text).unwrap();
    let file = path.display().to_string();
    let usual = ["import", "csv", &file, "--subject", "who", "--block", "run"];
    let values = ["--value", "ms:lower:ms"];
    bench.expect(0, &[&usual[..], &values, &["--pairs", "reference"]].concat());
    let json = bench.expect(0, &["show", "last", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    for code in ["user_cpu", "which pairs are compared"] {
        assert!(json.contains(code), "{code}");
    }
    let findings = report["findings"]["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 2);
    for finding in findings {
        assert_eq!(finding["strength"], "clearly", "{finding}");
    }
}

/// A verdict is the weaker of that with what was given and that with what nobody chose.
#[test]
fn a_margin_or_a_level_that_came_with_the_numbers_buys_no_word() {
    let bench = Bench::new();
    let of_a = [0.13, -0.21, 0.05, 0.29, -0.11, -0.02, 0.17, -0.26, 0.08, -0.14];
    let of_b = [0.07, 0.19, -0.23, -0.09, 0.27, -0.16, 0.03, -0.05, 0.22, -0.18];
    let judged = |centre: f64, more: &[&str]| {
        let mut text = "who,run,ms\n".to_owned();
        for (run, (a, b)) in of_a.iter().zip(of_b).enumerate() {
            let mut rows = [("a", 100.0 + a), ("b", centre + b)];
            if run % 2 == 1 {
                rows.reverse();
            }
            for (who, ms) in rows {
                let _ = writeln!(text, "{who},{run},{ms:.2}");
            }
        }
        let path = bench.path().join("given.csv");
        std::fs::write(&path, text).unwrap();
        let file = path.display().to_string();
        let usual = ["import", "csv", &file, "--subject", "who", "--block", "run"];
        bench.expect(0, &[&usual[..], &["--value", "ms:lower:ms"], more].concat());
        let json = bench.expect(0, &["show", "last", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        let finding = &report["findings"]["findings"][0];
        ["verdict", "strength", "obstacle"]
            .map(|key| finding[key].as_str().unwrap_or_default().to_owned())
    };
    let cases: [(f64, &[&str], [&str; 3]); 7] = [
        (98.4, &["--margin", "0.1%"], ["better", "detectable", ""]),
        (90.0, &["--margin", "0.1%"], ["better", "clearly", ""]),
        (90.0, &["--margin", "50%"], ["inconclusive", "", "given_margin"]),
        (100.1, &["--margin", "50%"], ["equivalent", "", ""]),
        (90.0, &["--margin", "1%"], ["better", "clearly", ""]),
        (90.0, &["--alpha", "0.2"], ["better", "clearly", ""]),
        (90.0, &[], ["better", "clearly", ""]),
    ];
    for (centre, more, expected) in cases {
        assert_eq!(judged(centre, more), expected, "{centre} {more:?}");
    }
    // A limit has an edge of its own.
    judged(90.0, &["--margin", "50%"]);
    assert_eq!(bench.run(&["gate", "last", "--limit", "ms=3%"]).status.code(), Some(0));
}

/// Every number of 240 comparisons against an independent computation
/// (`tests/golden/unblocked/reference.py`), to 1e-9.
#[test]
fn imported_numbers_agree_with_an_independent_reference() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/unblocked");
    let bench = Bench::new();
    import(&bench, &golden.join("study.csv").display().to_string(), &["--margin", "5%"]);
    let json = bench.expect(0, &["show", "last", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let findings = report["findings"]["findings"].as_array().unwrap();
    let expected = std::fs::read_to_string(golden.join("expected.tsv")).unwrap();
    let mut count = 0;
    for line in expected.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let is_it = |finding: &&serde_json::Value| {
            let question = &finding["question"];
            let own = ["family", "workload", "subject", "reference"].map(|key| &question[key]);
            own.iter().zip(&fields).all(|(own, field)| *own == field)
        };
        let effect = &findings.iter().find(is_it).unwrap()["effect"];
        let own = [
            &effect["ratio"],
            &effect["interval"]["low"],
            &effect["interval"]["high"],
            &effect["degrees"],
            &effect["p_difference"],
            &effect["p_equivalence"],
            &effect["adjusted_difference"],
            &effect["adjusted_equivalence"],
        ];
        for (own, field) in own.iter().zip(&fields[4..]) {
            let (own, field) = (own.as_f64().unwrap(), field.parse::<f64>().unwrap());
            assert!((own - field).abs() <= 1e-9 * field.abs(), "{line}: {own}");
        }
        count += 1;
    }
    assert_eq!((count, findings.len()), (240, 240));
}

/// The manual's worked example is what the program says.
#[test]
fn the_manuals_example_is_true() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/manual");
    let text = std::fs::read_to_string(manual.join("statistics.md")).unwrap();
    let bench = Bench::new();
    let file = manual.join("worked-example.csv").display().to_string();
    bench.expect(
        0,
        &[
            "import",
            "csv",
            &file,
            "--subject",
            "subject",
            "--block",
            "block",
            "--value",
            "makespan:lower:ms",
        ],
    );
    let json = bench.expect(0, &["show", "last", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let finding = &report["findings"]["findings"][0];
    let effect = |key: &str| finding["effect"][key].as_f64().unwrap();
    for (number, digits) in [
        (effect("log_mean"), 6),
        (effect("log_sd"), 6),
        (effect("standard_error"), 6),
        (effect("ratio"), 4),
        (effect("p_equivalence"), 4),
    ] {
        let number = format!("{number:.digits$}");
        assert!(text.contains(&number), "{number}");
    }
    assert!((effect("p_difference") / 1.4e-6 - 1.0).abs() < 0.05);
    assert_eq!(finding["verdict"], "better");
    assert_eq!(finding["strength"], "clearly");
    for block in finding["blocks"].as_array().unwrap() {
        let row = format!(
            "| {} | {} | {:.4} |",
            block["reference"].as_f64().unwrap() / 1e6,
            block["subject"].as_f64().unwrap() / 1e6,
            block["log_difference"].as_f64().unwrap()
        );
        assert!(text.contains(&row), "{row}");
    }
}

#[test]
fn a_fixed_order_with_drift_has_no_verdict_however_large_the_difference() {
    let bench = Bench::new();
    let path = bench.path().join("aabb.csv");
    let mut text = "block,who,rate\n".to_owned();
    // All of one, then all of the other, while everything rises by 1 % a row.
    for (row, who) in ["x"; 12].iter().chain(["y"; 12].iter()).enumerate() {
        // No value is another one times a factor.
        let noise = 1.0 + 0.0007 * (row * 37 % 11) as f64;
        let rate = 100.0 * 1.01_f64.powi(row as i32) * noise;
        let _ = writeln!(text, "{},{who},{rate}", row % 12);
    }
    std::fs::write(&path, text).unwrap();
    let file = path.display().to_string();
    let mapping = ["--subject", "who", "--block", "block", "--value", "rate:higher"];
    let arguments: Vec<&str> = ["import", "csv", &file].into_iter().chain(mapping).collect();
    let shown = bench.expect(0, &arguments);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("inconclusive") && shown.contains("was randomised"), "{shown}");
    // Nothing tells when the rows were measured, and no sentence says in which order they were.
    assert!(!shown.contains("every block ran"), "{shown}");
    let gate = bench.run(&["gate", "last", "--limit", "rate=3%"]);
    assert_eq!(gate.status.code(), Some(5), "{}", errors(&gate));
    // The same file twice is no new evidence, and a format that needs blocks says so.
    let twice: Vec<&str> = ["import", "csv", &file, &file].into_iter().chain(mapping).collect();
    assert_eq!(bench.run(&twice).status.code(), Some(2));
}

/// Two files of one subject each, of ten blocks of which each lacks another one: nothing tells whether the
/// blocks ran in a drawn order, or all of one subject before all of the other.
#[test]
fn blocks_in_a_file_for_each_subject_are_never_clear_and_decide_no_gate() {
    let bench = Bench::new();
    let noise = [
        ("a", 3, [0.13, -0.21, 0.05, 0.29, -0.11, -0.02, 0.17, -0.26, 0.08, -0.14]),
        ("b", 7, [0.07, 0.19, -0.23, -0.09, 0.27, -0.16, 0.03, -0.05, 0.22, -0.18]),
    ];
    // By how many percent the rows drift from the first to the last, and what `b` takes more.
    let judged = |drift: f64, effect: f64| {
        let mut row = 0.0;
        let files = noise.map(|(who, lacks, of_runs)| {
            let mut text = "who,block,ms\n".to_owned();
            for (block, of_run) in of_runs.iter().enumerate().filter(|(block, _)| *block != lacks) {
                let more = if who == "b" { effect } else { 0.0 };
                let _ = writeln!(
                    text,
                    "{who},{block},{:.2}",
                    100.0 + of_run + more + drift * row / 17.0
                );
                row += 1.0;
            }
            let path = bench.path().join(format!("{who}.csv"));
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        });
        let usual = ["import", "csv", &files[0], &files[1], "--subject", "who", "--block", "block"];
        bench.expect(0, &[&usual[..], &["--value", "ms:lower:ms"]].concat());
        let json = bench.expect(0, &["show", "last", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        let finding = report["findings"]["findings"][0].clone();
        let caveats = finding["caveats"].to_string();
        for words in
            ["ORDER_CONFOUNDED", "the rows of a come before those of b", "a column of times"]
        {
            assert!(caveats.contains(words), "{words}: {caveats}");
        }
        let gate = bench.run(&["gate", "last", "--limit", "ms=1%"]);
        assert_eq!(gate.status.code(), Some(5), "{}", errors(&gate));
        ["verdict", "strength", "obstacle"]
            .map(|key| finding[key].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(judged(3.0, 0.0), ["inconclusive", "", "drift_in_order"]);
    assert_eq!(judged(0.0, 20.0), ["worse", "detectable", ""]);
}

#[test]
fn names_with_signs_of_our_own_can_be_gated_and_explained() {
    let bench = Bench::new();
    let path = bench.path().join("names.csv");
    let mut text = "who,op=x/y,run,ns\n".to_owned();
    for run in 0..6 {
        let mut both = [("<i>a b", 10), ("c/d", 12)];
        // Neither always follows the other, which would decide no gate.
        both.rotate_left(run % 2);
        for (who, scale) in both {
            for level in ["read/write", "x=1%"] {
                let _ = writeln!(text, "{who},{level},{run},{}", scale * 100 + run * 3 % 7);
            }
        }
    }
    std::fs::write(&path, text).unwrap();
    let file = path.display().to_string();
    bench.expect(
        0,
        &[
            "import",
            "csv",
            &file,
            "--subject",
            "who",
            "--parameter",
            "op=x/y",
            "--replicate",
            "run",
            "--value",
            "ns:lower:ns",
        ],
    );
    let gate = |limit: &str| bench.run(&["gate", "last", "--limit", limit]);
    assert_eq!(gate("op=x/y:read/write/ns=3%").status.code(), Some(3));
    assert_eq!(gate("op=x/y:x=1%/ns=50%").status.code(), Some(0));
    let unknown = gate("op=x/y:nothing/ns=3%");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(errors(&unknown).contains("overall/ns"), "{}", errors(&unknown));
    let told = bench.run(&["explain", "nobody"]);
    // What the error offers can be typed.
    let offered = errors(&told);
    let name = offered.split("choose one of ").nth(1).unwrap().split(", ").next().unwrap();
    bench.expect(0, &["explain", name]);
    let refused = bench.run(&["report", "--format", "benchfmt"]);
    assert_ne!(refused.status.code(), Some(0));
    let page = bench.expect(0, &["show", "--format", "markdown"]);
    assert!(page.contains("&lt;i>a b") && !page.contains("<i>"), "{page}");
}

/// Turns letters round, opens an isolate, hides: what a name in a table may hold.
const TURNED: &str = "\u{202e}\u{2066}\u{200b}\u{e0041}";
/// Sets a clipboard and a title, clears a screen, changes colours (C1).
const HOSTILE: &str = "\u{1b}]52;c;eA==\u{7}\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\u{7f}";

/// A campaign of a table whose names and title are hostile.
fn hostile_import() -> Bench {
    let bench = Bench::new();
    let path = bench.path().join("hostile.csv");
    let mut text = format!("who,size{TURNED},run,ns\n");
    for run in 0..6 {
        let mut both = [("a", 10), ("b", 12)];
        both.rotate_left(run % 2);
        for (who, scale) in both {
            for level in ["8k", "64k"] {
                let value = scale * 100 + run * 3 % 7;
                let _ = writeln!(text, "evil-{who}{TURNED},{level}{TURNED},{run},{value}");
            }
        }
    }
    std::fs::write(&path, text).unwrap();
    let (file, parameter) = (path.display().to_string(), format!("size{TURNED}"));
    let title = format!("Which evil is less?{TURNED}{HOSTILE}");
    let arguments = [
        "import",
        "csv",
        &file,
        "--subject",
        "who",
        "--replicate",
        "run",
        "--value",
        "ns:lower:ns",
    ];
    let more = ["--parameter", &parameter, "--title", &title];
    let output = bench.run(&arguments.into_iter().chain(more).collect::<Vec<_>>());
    assert_inert("import", &output);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    bench
}

#[test]
fn a_terminal_obeys_nothing_that_an_import_says_whatever_command_shows_it() {
    let bench = hostile_import();
    let bundle = bench.path().join("evil.tar.gz").display().to_string();
    let told = |arguments: &[&str]| {
        let output = bench.run(arguments);
        assert_inert(&arguments.join(" "), &output);
        assert!(output.status.code().is_some(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    told(&["bundle", "last", "--output", &bundle]);
    let gate = ["gate", "last", "--limit", "ns=3%", "--format"];
    let [text, junit, github] = ["text", "junit", "github"]
        .map(|format| gate.into_iter().chain([format]).collect::<Vec<_>>());
    let naming: [&[&str]; 8] = [
        &["show", "last"],
        &["show", "last", "-v", "--plots"],
        &["judge", "last"],
        &["explain"],
        &["compare", "last", "last"],
        &text,
        &junit,
        &github,
    ];
    for arguments in naming {
        let told = told(arguments);
        assert!(told.contains("evil-b"), "{arguments:?} does not say what it found: {told}");
    }
    let others: [&[&str]; 12] = [
        &["explain", "nobody"],
        &["gate", "last", "--limit", "nothing=3%"],
        &["history", "ns"],
        &["history", "ns", "--json"],
        &["top", "--once"],
        &["figures", "last", "--list"],
        &["figures", "last", "--list", "--json"],
        // No bundle that is read holds controls, as this one does.
        &["verify", &bundle],
        &["verify", &bundle, "--json"],
        &["show", &bundle],
        &["compare", "last", &bundle],
        &["list"],
    ];
    others.into_iter().for_each(|arguments| drop(told(arguments)));
    // The page is mostly a script of our own; its data are looked at where it is drawn.
    for renderer in RENDERERS.iter().filter(|renderer| renderer.is_text()) {
        let id = renderer.describe().id;
        if id != "html" {
            told(&["report", "last", "--format", id, "--output", "-"]);
        }
    }
}

#[test]
fn who_opens_the_file_of_a_gate_obeys_nothing_of_it() {
    let bench = hostile_import();
    let file = bench.path().join("gate");
    for format in ["text", "junit", "github"] {
        let output = file.display().to_string();
        bench.run(&["gate", "last", "--limit", "ns=3%", "--format", format, "--output", &output]);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("evil-b"), "{format}: {text}");
        let obeyed = text.chars().find(|letter| *letter != '\n' && model::is_obeyed(*letter));
        assert_eq!(obeyed, None, "{format}: {text:?}");
        std::fs::remove_file(&file).unwrap();
    }
}

#[test]
fn a_terminal_obeys_nothing_of_a_file_that_is_refused() {
    let bench = Bench::new();
    for importer in importers::IMPORTERS {
        let id = importer.describe().id;
        let file = bench.path().join(format!("evil-{id}"));
        let between = format!(" {HOSTILE}{TURNED}\n");
        let words = importer.words().join(between.as_str());
        std::fs::write(&file, words).unwrap();
        let output = bench.run(&["import", id, &file.display().to_string()]);
        assert_inert(id, &output);
        assert!(matches!(output.status.code(), Some(1..=2)), "{id}: {}", errors(&output));
    }
}

/// A table of one elevator, as a study keeps it: kB/s of each run, and their mean.
fn elevator(factor: f64, mistake: bool) -> String {
    let mut text = "operation,record,run 1,run 2,run 3,run 4,run 5,mean\n".to_owned();
    // No file has the values of another times a factor.
    let mut number = 0.0;
    let mut own = || {
        number += 12.9898 * factor;
        1.0 + 0.002 * f64::sin(number)
    };
    for (operation, base) in [("Initial write", 60_000.0), ("Random read", 20_000.0)] {
        for (record, more) in [("8k", 1.0), ("16m", 3.0)] {
            let runs: Vec<f64> = [0.99, 1.01, 1.0, 1.005, 0.995]
                .iter()
                .map(|noise| (100.0 * base * more * factor * noise * own()).round() / 100.0)
                .collect();
            let mean = runs.iter().sum::<f64>() / 5.0 + if mistake { 500.0 } else { 0.0 };
            let runs: Vec<String> = runs.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "{operation},{record},{},{mean:.2}", runs.join(","));
        }
    }
    text
}

const ELEVATOR_CLAIMS: &str = r#"
[[claims]]
says = "deadline is better than cfq everywhere"
source = "a study of elevators"
metric = "throughput"
subject = "deadline"
reference = "cfq"
effect = "better"
[[claims]]
says = "noop and deadline read alike at random"
metric = "throughput"
workload = "operation:random_read"
subject = "noop"
reference = "deadline"
effect = "same"
[[claims]]
says = "cfq writes small records best"
metric = "throughput"
workload = "operation:write,record:8k"
subject = "cfq"
reference = "noop"
effect = "better"
"#;

#[test]
fn tables_of_elevators_are_judged_and_so_is_what_was_claimed_of_them() {
    let bench = Bench::new();
    let write = |name: &str, text: &str| {
        let path = bench.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let files = [
        write("noop.csv", &elevator(1.0, false)),
        write("deadline.csv", &elevator(1.01, true)),
        write("cfq.csv", &elevator(0.7, false)),
    ];
    let mapping = write("claims.toml", ELEVATOR_CLAIMS);
    let arguments = ["import", "iozone", &files[0], &files[1], &files[2], "--mapping", &mapping];
    let shown = bench.expect(0, &arguments);
    assert!(shown.contains("CONTRADICTED"), "{shown}");
    let json = bench.expect(0, &["show", "last", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let families = &report["findings"]["families"];
    for (name, count) in [("cells", 12), ("record", 6), ("operation", 6), ("overall", 3)] {
        assert_eq!(families[name], count, "{families}");
    }
    let claims = report["findings"]["claims"].as_array().unwrap();
    let outcomes: Vec<_> = claims.iter().map(|claim| claim["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["confirmed", "confirmed", "refuted"], "{claims:?}");
    // Every cell and no margin: two operations of two sizes.
    assert_eq!(claims[0]["tally"]["confirmed"], 4, "{claims:?}");
    let finding = &report["findings"]["findings"];
    let overall = finding.as_array().unwrap().iter().find(|finding| {
        finding["question"]["family"] == "overall" && finding["question"]["subject"] == "deadline"
    });
    assert_eq!(overall.unwrap()["margin"], 0.1);
}

#[test]
fn a_claim_about_what_was_not_imported_is_named_by_its_line() {
    let bench = Bench::new();
    let write = |name: &str, text: &str| {
        let path = bench.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let files = [write("noop.csv", &elevator(1.0, false)), write("cfq.csv", &elevator(0.7, false))];
    for (old, new, said) in [
        ("\"deadline\"", "\"bfq\"", "no subject is called `bfq`"),
        ("\"throughput\"", "\"througput\"", "did you mean `throughput`?"),
        ("random_read\"", "random_reads\"", "did you mean `operation:random_read`?"),
        ("says", "sayz", "unknown key `sayz` in a claim"),
    ] {
        let text = ELEVATOR_CLAIMS
            .replace("\"deadline\"", "\"noop\"")
            .replace("\"noop\"\nreference = \"noop\"", "\"noop\"\nreference = \"cfq\"");
        let text = if new == "\"bfq\"" {
            ELEVATOR_CLAIMS.replace(old, new)
        } else {
            text.replacen(old, new, 1)
        };
        let mapping = write("claims.toml", &text);
        let output = bench.run(&["import", "iozone", &files[0], &files[1], "--mapping", &mapping]);
        assert_eq!(output.status.code(), Some(2));
        assert!(errors(&output).contains(said), "{}", errors(&output));
    }
}

#[test]
fn a_study_of_two_dimensions_is_a_heat_map_and_a_workbook_that_no_terminal_gets() {
    let bench = Bench::new();
    let file = bench.path().join("study.csv").display().to_string();
    std::fs::write(&file, study()).unwrap();
    let shown = import(&bench, &file, &["--margin", "10%"]);
    let map = shown.split(" by record_size and operation (higher").nth(1).unwrap();
    let sizes: Vec<&str> = map.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(sizes[3..7], ["8k", "64k", "1m", "mean"], "by size, not by name: {map}");
    let written = std::fs::read(bench.campaign().join("report.xlsx")).unwrap();
    assert!(written.starts_with(b"PK"));
    let other = bench.path().join("other.xlsx");
    let path = other.display().to_string();
    bench.expect(0, &["report", "--format", "xlsx", "--output", &path]);
    assert_eq!(std::fs::read(&other).unwrap(), written, "the same report, the same bytes");
    let piped = bench.run(&["show", "--format", "xlsx"]);
    assert_eq!((piped.status.code(), piped.stdout), (Some(0), written));
    // A terminal of our own.
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let side = std::fs::File::options().write(true).open(name.to_str().unwrap()).unwrap();
    for arguments in [&["show", "--format", "xlsx"][..], &["report", "--format", "xlsx", "-o", "-"]]
    {
        let mut command = bench.command(arguments);
        let refused = command.stdout(side.try_clone().unwrap()).output().unwrap();
        assert_eq!(refused.status.code(), Some(2));
        assert!(errors(&refused).contains("--output FILE"), "{}", errors(&refused));
    }
}

/// A simulated campaign, written as a table and imported again, in blocks and then without.
#[test]
fn what_was_simulated_is_simulated_however_often_it_is_written_and_imported() {
    const CODE: &str = "SIMULATED";
    let bench = Bench::new();
    let experiment = bench.experiment("effect", crate::bench::KNOWN_EFFECT);
    bench.expect(0, &["run", &experiment]);
    let written = bench.expect(0, &["show", "last", "--format", "csv"]);
    let import_of = |name: &str, text: &str, replicate: [&str; 2]| {
        let file = bench.path().join(name).display().to_string();
        std::fs::write(&file, text).unwrap();
        let usual = ["import", "csv", &file, "--subject", "subject", "--metric", "source"];
        let more = ["--unit", "unit", "--value", "value:lower"];
        let all: Vec<&str> = usual.iter().chain(&more).chain(&replicate).copied().collect();
        bench.expect(0, &all)
    };
    let is_simulated = || {
        let json = bench.expect(0, &["show", "last", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        report["caveats"].as_array().unwrap().iter().any(|caveat| caveat["code"] == CODE)
    };
    let in_blocks = import_of("blocks.csv", &written, ["--block", "block"]);
    assert!(in_blocks.contains(CODE) && is_simulated(), "{in_blocks}");
    for renderer in RENDERERS.iter().filter(|renderer| renderer.is_text()) {
        let format = renderer.describe().id;
        let report = bench.expect(0, &["show", "last", "--format", format]);
        let is_page = renderer.extension() == "html";
        assert!(is_page || report.contains(CODE), "{format}: {report}");
    }
    import_of("rows.csv", &written, ["--replicate", "block"]);
    assert!(is_simulated());
    let again = bench.expect(0, &["show", "last", "--format", "csv"]);
    assert!(again.starts_with("execution,subject,"), "{again}");
    import_of("again.csv", &again, ["--replicate", "execution"]);
    assert!(is_simulated());
    // A code that nobody knows is told nowhere, and a table with other columns is somebody else's.
    let unknown = written.replace(CODE, "NO_SUCH_CODE");
    let told = import_of("unknown.csv", &unknown, ["--block", "block"]);
    assert!(!told.contains("NO_SUCH_CODE") && !is_simulated(), "{told}");
    let json = bench.expect(0, &["show", "last", "--format", "json"]);
    assert!(!json.contains("NO_SUCH_CODE"), "{json}");
    let foreign = written.replacen("caveats", "remarks", 1);
    import_of("foreign.csv", &foreign, ["--block", "block"]);
    assert!(!is_simulated());
}

/// Ten blocks in which a subject is first and last, or one comes before the other, by a column of times.
#[test]
fn subjects_that_take_turns_inside_a_block_keep_the_order_that_times_tell() {
    let bench = Bench::new();
    for (turns, is_confounded) in [(["abba", "baab"], false), (["abab", "abab"], true)] {
        let mut text = "who,block,at,ms\n".to_owned();
        let rows =
            (0..10).flat_map(|block| turns[block % 2].chars().map(move |subject| (block, subject)));
        for (at, (block, subject)) in rows.enumerate() {
            let ms = if subject == 'b' { 120.0 } else { 100.0 } + (at * 7 % 11) as f64 / 10.0;
            text += &format!("{subject},{block},{},{ms}\n", 1_700_000_000 + 7 * at);
        }
        let file = bench.path().join(format!("{}.csv", turns[0]));
        std::fs::write(&file, text).unwrap();
        let words =
            ["--subject", "who", "--block", "block", "--value", "ms:lower", "--order", "at"];
        let file = file.display().to_string();
        bench.expect(0, &[&["import", "csv", &file], &words[..]].concat());
        let shown = bench.expect(0, &["show"]);
        assert_eq!(shown.contains("ORDER_CONFOUNDED"), is_confounded, "{shown}");
        assert_eq!(shown.contains("clearly worse"), !is_confounded, "{shown}");
    }
}
