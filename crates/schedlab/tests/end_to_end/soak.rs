//! Soak campaigns on the simulator: planned, run, interrupted, judged and shown.

use crate::bench::{Bench, errors};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Everything gets slower and larger, by 8 % over the campaign, for both subjects alike.
const DRIFTING: &str = r#"
title    = "Does it leak?"
venue    = "sim"
duration = "8s"
every    = "200ms"
seed     = 7

[subjects.baseline]
[subjects.other]
sim_effect = "0.1%"

[[workloads]]
use = "command"
run = "true"

[sim]
scenario = "S5"
"#;

fn report(bench: &Bench) -> serde_json::Value {
    serde_json::from_str(&bench.expect(0, &["show", "last", "--format", "json"])).unwrap()
}

#[test]
fn a_leak_is_found_told_everywhere_and_judged_again_alike() {
    let bench = Bench::new();
    let file = bench.experiment("soak", DRIFTING);
    let planned = bench.expect(0, &["plan", &file]);
    assert!(planned.contains("a block begins every 200ms: the first at once"), "{planned}");
    assert!(planned.contains("in 40 blocks"), "{planned}");
    let begun = Instant::now();
    let output = bench.run(&["run", &file]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{shown}\n{}", errors(&output));
    assert!(begun.elapsed() >= Duration::from_millis(39 * 200), "{:?}", begun.elapsed());
    // A busy machine may have no time for pauses.
    let told = errors(&output);
    assert!(told.contains("block 2 of 40 begins "), "{told}");
    assert!(shown.contains("Over time: 40 blocks in "), "{shown}");
    assert!(shown.contains("LEAK: Memory grew while the campaign went on"), "{shown}");
    assert!(shown.contains("DEGRADATION: A metric got worse"), "{shown}");
    let report = report(&bench);
    assert_eq!(report["format"], "schedlab.report/19");
    assert!(report["answer"].as_str().unwrap().contains("command max_rss of baseline leaks"));
    let trends = report["findings"]["trends"].as_array().unwrap();
    let of = |metric: &str, subject: &str| {
        trends.iter().find(|one| one["metric"] == metric && one["subject"] == subject).unwrap()
    };
    for subject in ["baseline", "baseline-again", "other"] {
        let leak = of("max_rss", subject);
        assert_eq!(leak["outcome"], "leak", "{leak}");
        assert_eq!(leak["points"].as_array().unwrap().len(), 40);
        assert!(leak["slope"]["interval"]["low"].as_f64().unwrap() > 0.0, "{leak}");
    }
    let markdown = std::fs::read_to_string(bench.campaign().join("report.md")).unwrap();
    assert!(markdown.contains("## Over time: 40 blocks in "), "{markdown}");
    assert!(markdown.contains("| command | max_rss | baseline | leak |"), "{markdown}");
    // The same records give the same findings and reports.
    let findings = || std::fs::read(bench.campaign().join("findings.json")).unwrap();
    let (first, text) = (findings(), bench.expect(0, &["show", "last"]));
    bench.expect(0, &["judge", "last"]);
    assert_eq!((findings(), bench.expect(0, &["show", "last"])), (first, text));
}

#[test]
fn a_campaign_without_a_duration_has_the_formats_and_sections_that_it_had() {
    let bench = Bench::new();
    let text = DRIFTING.replace("duration = \"8s\"\nevery    = \"200ms\"", "blocks = 8");
    let file = bench.experiment("fixed", &text);
    let shown = bench.expect(0, &["run", &file]);
    assert!(!shown.contains("Over time"), "{shown}");
    let read = |name: &str| std::fs::read_to_string(bench.campaign().join(name)).unwrap();
    assert!(
        read("plan.json").contains("\"schedlab.plan/3\"") && !read("plan.json").contains("pace")
    );
    let findings = read("findings.json");
    assert!(findings.contains("\"schedlab.findings/16\"") && !findings.contains("trends"));
    assert!(read("records.jsonl").contains("\"started_unix_ns\":0"), "the simulator has no clock");
    assert_eq!(report(&bench)["format"], "schedlab.report/18");
}

#[test]
fn a_pause_ends_at_once_and_the_same_command_goes_on_with_the_next_block() {
    let bench = Bench::new();
    let text = DRIFTING.replace("\"8s\"", "\"24h\"").replace("\"200ms\"", "\"1h\"");
    let file = bench.experiment("long", &text);
    for (block, records) in [(2, 3), (3, 6)] {
        let mut command = bench.command(&["run", &file]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
        let wanted = format!("block {block} of 24 begins in ");
        let line = told.by_ref().map(Result::unwrap).find(|line| line.contains(&wanted));
        assert!(line.is_some(), "it ended before its pause");
        let pid = rustix::process::Pid::from_child(&child);
        let begun = Instant::now();
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let rest: Vec<String> = told.map(Result::unwrap).collect();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
        assert!(begun.elapsed() < Duration::from_secs(600), "no hour");
        assert!(rest.iter().any(|line| line.contains("The same command goes on")), "{rest:?}");
        assert_eq!(bench.record_lines().len(), records);
    }
    let marked: Vec<bool> =
        bench.record_lines().iter().map(|line| line.contains("\"INTERRUPTED\"")).collect();
    assert_eq!(marked, [false, false, false, true, false, false]);
    let shown = bench.expect(0, &["show", "last"]);
    assert!(shown.contains("no test of a trend holds at every look"), "{shown}");
}

#[test]
fn quick_takes_no_hours_and_says_what_it_leaves_out() {
    let bench = Bench::new();
    let text = DRIFTING.replace("\"8s\"", "\"24h\"").replace("\"200ms\"", "\"1h\"");
    let file = bench.experiment("quick", &text);
    let begun = Instant::now();
    let shown = bench.expect(0, &["run", &file, "--quick"]).replace('\n', " ");
    assert!(begun.elapsed() < Duration::from_secs(600), "{:?}", begun.elapsed());
    assert!(shown.contains("what takes hours to show cannot show"), "{shown}");
    assert!(shown.contains("Over time: 6 blocks in "), "{shown}");
    // A pilot has its own blocks, whatever the experiment says of its time.
    let piloted = bench.expect(0, &["plan", &file, "--pilot"]);
    assert!(!piloted.is_empty());
}

#[test]
fn a_soak_campaign_is_packed_verified_and_refused_where_its_format_is_unknown() {
    let bench = Bench::new();
    let text = DRIFTING.replace("\"8s\"", "\"600ms\"").replace("\"200ms\"", "\"100ms\"");
    let file = bench.experiment("short", &text);
    bench.expect(0, &["run", &file]);
    bench.expect(0, &["bundle", "last", "--output", "soak.schedlab.tar.gz"]);
    bench.expect(0, &["verify", "soak.schedlab.tar.gz"]);
    let plan = bench.campaign().join("plan.json");
    let text = std::fs::read_to_string(&plan).unwrap();
    assert!(text.contains("\"schedlab.plan/4\""), "{text}");
    std::fs::write(&plan, text.replace("schedlab.plan/4", "schedlab.plan/99")).unwrap();
    let refused = bench.run(&["show", "last"]);
    assert_eq!(refused.status.code(), Some(1), "{}", errors(&refused));
    // As a version left it that knew no pace: an ordinary campaign of so many blocks.
    let mut aged: serde_json::Value = serde_json::from_str(&text).unwrap();
    aged["format"] = "schedlab.plan/3".into();
    aged.as_object_mut().unwrap().remove("pace");
    std::fs::write(&plan, aged.to_string()).unwrap();
    bench.expect(0, &["judge", "last"]);
    assert!(!bench.expect(0, &["show", "last"]).contains("Over time"));
}
