//! What wrk prints: each file is a replicate.

use crate::importer::{ImportFile, Importer};
use crate::mapping::Mapping;
use crate::percentile;
use crate::table::{ImportedRow, ImportedTable};
use contract::Description;
use model::{CaveatCode, Direction, Metric, Reduction, Sample, Unit};
use outputs::wrk::{Errors, PERCENTILES, Time, WrkFailure, WrkReport};
use outputs::{Percentile, Trouble};

pub(crate) static ENTRY: Entry = Entry;

static DESCRIPTION: Description = Description {
    id: "wrk",
    summary: "wrk's text: latency percentiles (--latency) and answers in a second, each file a replicate",
    doc: "A file is what one execution of wrk 4.1 printed, and one replicate. `latency` are the percentiles that \
          --latency prints, without which there are none (SUMMARY_ONLY); one with fewer than ten answers beyond it is \
          left out (INSUFFICIENT_TAIL). `answers_per_second` are answers in time with a status below 400, `failed` is \
          the share of all others, broken connections included, and `throughput` what was read in a second. A \
          connection sends its next request when the one before is answered: the load is closed-loop, and a service \
          that stalls is asked less. wrk makes up for that by latencies of its own between a slow one and the usual \
          distance of two answers, leaves out answers that came after its timeout, and counts wrong answers as any \
          others: its percentiles are those of no request that was sent (CLOSED_LOOP). A number has two digits after \
          its point, which is coarse where its unit is large (QUANTISED). A file of a wrk that did not run is refused \
          with what it said.",
};

/// Those that are judged.
const JUDGED: [Percentile; 2] = [Percentile::whole(50), Percentile::whole(99)];
const NAME: &str = "latency";
/// wrk measures whole microseconds; what it prints is coarser where it is long.
const RESOLUTION_NS: f64 = 1_000.0;

/// The format.
pub(crate) struct Entry;

impl Importer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "Running 1s test @ http://127.0.0.1:8099/\n",
            "  Latency Distribution\n",
            "     75%   45.00us\n",
            "  50 requests in 1.10s, 8.55MB read\n",
            "  Socket errors: connect 4, read 1, write 3, timeout 2\n",
            "  Non-2xx or 3xx responses: 3\n",
            "Requests/sec:    45.45\n",
            "Transfer/sec:      7.77PB\n",
            "0.92ms",
            "0.00us",
            "-1",
        ]
    }

    fn read(
        &self,
        source: &ImportFile<'_>,
        _mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        let remedy = "give what wrk printed";
        let text =
            std::str::from_utf8(source.bytes).map_err(|_| Trouble::new("it is no text", remedy))?;
        let report = WrkReport::parse(text).map_err(|failure| match failure {
            WrkFailure::Unreadable(trouble) => trouble,
            WrkFailure::Reported(said) => {
                Trouble::new(format!("wrk did not run: {said}"), "leave this file out")
            }
        })?;
        table.declare(&[], &[])?;
        let settings = [
            ("threads", report.threads.to_string()),
            ("connections", report.connections.to_string()),
            ("duration", report.duration.clone()),
            ("path", path(&report.url).to_owned()),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value)).into();
        table.settings(source.subject, &settings);
        table.is_closed_loop = true;
        let (samples, failure) = if report.right() == 0 {
            (Vec::new(), Some(format!("none of {} requests got a right answer", report.asked())))
        } else {
            (samples(&report, source.subject, table)?, None)
        };
        let row = ImportedRow {
            subject: source.subject.to_owned(),
            levels: Vec::new(),
            execution: Some(table.next_execution()),
            block: None,
            samples,
            failure,
        };
        table.push(None, row)
    }
}

/// What of a server was asked for: the server itself may be what is compared.
fn path(url: &str) -> &str {
    let server = url.split_once("://").map_or(url, |(_, rest)| rest);
    server.find('/').map_or("/", |begins| &server[begins..])
}

fn samples(
    report: &WrkReport,
    label: &str,
    table: &mut ImportedTable,
) -> Result<Vec<Sample>, Trouble> {
    let mut samples = percentiles(report, label, table)?;
    let (right, asked) = (report.right(), report.asked());
    if right < asked {
        let what =
            "requests failed, of which wrong answers are in the latencies and others are not";
        let item = format!("{label} ({})", failures(report));
        table.notice(CaveatCode::ConditionalSuccess, what, &item);
    }
    let (higher, lower) = (Direction::Higher, Direction::Lower);
    for (id, unit, better, summary, value) in [
        (
            "answers_per_second",
            Unit::PerSecond,
            higher,
            "right answers in a second",
            right as f64 / report.seconds,
        ),
        (
            "failed",
            Unit::Fraction,
            lower,
            "failures as a part of all requests",
            (asked - right) as f64 / asked as f64,
        ),
        ("throughput", Unit::BytesPerSecond, higher, "bytes read in a second", report.transfer),
    ] {
        let id = table.know(Metric::new(id, unit, better, Reduction::Mean, summary))?;
        samples.push(Sample::values(&id, vec![value]));
    }
    table.judge("answers_per_second");
    Ok(samples)
}

fn percentiles(
    report: &WrkReport,
    label: &str,
    table: &mut ImportedTable,
) -> Result<Vec<Sample>, Trouble> {
    let times = report.latency.and_then(|latency| latency.percentiles);
    let Some(times) = times else {
        let what = "only a mean latency is given, and left out: percentiles come with --latency";
        table.notice(CaveatCode::SummaryOnly, what, label);
        return Ok(Vec::new());
    };
    let what = "only percentiles are given, not the latencies they were taken from";
    table.notice(CaveatCode::SummaryOnly, what, label);
    let what =
        "each connection waits for its answer, and wrk adds latencies that it takes for missed";
    table.notice(CaveatCode::ClosedLoop, what, label);
    // What wrk adds makes them more, but no request more.
    let count = report.answers - report.errors.timeout;
    let mut samples = Vec::new();
    for (percentile, Time { ns, step_ns }) in PERCENTILES.into_iter().zip(times) {
        let metric = percentile::metric(percentile, NAME, Reduction::Mean);
        let item = format!("{label} {}", metric.id);
        if !percentile.has_tail(count) {
            let what = "fewer than 10 answers lie beyond these percentiles, which were left out";
            table.notice(CaveatCode::InsufficientTail, what, &item);
            continue;
        }
        let (value_ns, step_ns) = (ns as f64, step_ns as f64);
        if step_ns > value_ns * metric.margin / 4.0 {
            let what = "two digits after the point are coarse for these";
            table.notice(CaveatCode::Quantised, what, &item);
        }
        let id = table.know(Metric { resolution: RESOLUTION_NS, ..metric })?;
        samples.push(Sample::values(&id, vec![value_ns]));
        if JUDGED.contains(&percentile) {
            table.judge(&id);
        }
    }
    Ok(samples)
}

fn failures(report: &WrkReport) -> String {
    let Errors { connect, read, write, timeout } = report.errors;
    let counts = [
        ("wrong", report.wrong),
        ("late", timeout),
        ("not connected", connect),
        ("not read", read),
        ("not written", write),
    ];
    let told = counts.iter().filter(|(_, count)| *count > 0);
    told.map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{picture, read, refusal, settings_that_differ};
    use expect_test::{Expect, expect};

    macro_rules! golden {
        ($name:literal) => {
            include_bytes!(concat!("../../outputs/tests/golden/wrk/", $name, ".txt"))
        };
    }

    fn check(files: &[(&str, &[u8])], expected: &Expect) {
        expected.assert_eq(&picture(&read(&ENTRY, files, &Mapping::default()).unwrap()));
    }

    #[test]
    fn each_file_is_an_execution_of_percentiles_and_rates() {
        check(
            &[("idle", golden!("t1_c10__idle")), ("load", golden!("t1_c10__load"))],
            &expect![[r#"
                metric latency_p50 Nanoseconds Lower Mean 0.02 judged
                metric latency_p75 Nanoseconds Lower Mean 0.05
                metric latency_p90 Nanoseconds Lower Mean 0.05
                metric latency_p99 Nanoseconds Lower Mean 0.05 judged
                metric answers_per_second PerSecond Higher Mean 0.02 judged
                metric failed Fraction Lower Mean 0.02
                metric throughput BytesPerSecond Higher Mean 0.02
                closed loop
                idle [] #0 latency_p50=45000 latency_p75=62000 latency_p90=102000 latency_p99=3100000 answers_per_second=127283.37 failed=0 throughput=8147435.52
                load [] #1 latency_p50=63000 latency_p75=1380000 latency_p90=3290000 latency_p99=6760000 answers_per_second=52837.16000000001 failed=0 throughput=3376414.72
                caveat SUMMARY_ONLY: only percentiles are given, not the latencies they were taken from: idle, load
                caveat CLOSED_LOOP: each connection waits for its answer, and wrk adds latencies that it takes for missed: idle, load
            "#]],
        );
    }

    #[test]
    fn another_number_of_connections_is_named_however_often_it_was_used() {
        let few: &[u8] = golden!("t1_c10__idle");
        let text = String::from_utf8_lossy(few);
        let heading = "1 threads and 10 connections";
        assert!(text.contains(heading));
        let many = text.replace(heading, "4 threads and 400 connections");
        let (again, many): (&[u8], &[u8]) = (golden!("t1_c10__load"), many.as_bytes());
        let told = |files: &[(&str, &[u8])]| settings_that_differ(&ENTRY, files);
        assert_eq!(told(&[("a", few), ("b", again)]), [""; 0]);
        assert_eq!(
            told(&[("a", few), ("b", many)]),
            ["by the tool's own words: connections (a: 10; b: 400), threads (a: 1; b: 4)"]
        );
        // How long and what was asked for is named; which server was asked is not.
        let heading = text.lines().find(|line| line.starts_with("Running ")).unwrap();
        let with = |heading_of_b: &str| text.replace(heading, heading_of_b);
        let elsewhere = with("Running 7s test @ http://10.0.0.2:8080/other");
        let told_of = told(&[("a", few), ("b", elsewhere.as_bytes())]).join("");
        assert!(told_of.contains("duration (a: "), "{told_of}");
        assert!(told_of.contains("; b: 7s), path (a: "), "{told_of}");
        assert!(told_of.ends_with("; b: /other)"), "{told_of}");
        // One of three is not two of three, though both had both.
        let mixed = [("a", few), ("a", few), ("a", many), ("b", few), ("b", many), ("b", many)];
        let connections = "connections (a: 10 in 2 of 3 and 400 in 1 of 3; \
                           b: 10 in 1 of 3 and 400 in 2 of 3)";
        let told = told(&mixed);
        assert!(told[0].contains(connections), "{told:?}");
    }

    #[test]
    fn without_latency_only_rates_are_left() {
        check(
            &[("a", golden!("nolat_t1_c1"))],
            &expect![[r#"
            metric answers_per_second PerSecond Higher Mean 0.02 judged
            metric failed Fraction Lower Mean 0.02
            metric throughput BytesPerSecond Higher Mean 0.02
            closed loop
            a [] #0 answers_per_second=69576.77 failed=0 throughput=4456448
            caveat SUMMARY_ONLY: only a mean latency is given, and left out: percentiles come with --latency: a
        "#]],
        );
    }

    #[test]
    fn a_percentile_needs_ten_answers_beyond_it() {
        check(
            &[("a", golden!("minute"))],
            &expect![[r#"
            metric latency_p50 Nanoseconds Lower Mean 0.02 judged
            metric latency_p75 Nanoseconds Lower Mean 0.05
            metric latency_p90 Nanoseconds Lower Mean 0.05
            metric latency_p99 Nanoseconds Lower Mean 0.05 judged
            metric answers_per_second PerSecond Higher Mean 0.02 judged
            metric failed Fraction Lower Mean 0.02
            metric throughput BytesPerSecond Higher Mean 0.02
            closed loop
            a [] #0 latency_p50=44000000 latency_p75=44060000 latency_p90=47990000 latency_p99=48150000 answers_per_second=22.34 failed=0 throughput=2590.72
            caveat SUMMARY_ONLY: only percentiles are given, not the latencies they were taken from: a
            caveat CLOSED_LOOP: each connection waits for its answer, and wrk adds latencies that it takes for missed: a
        "#]],
        );
    }

    #[test]
    fn a_run_without_a_right_answer_is_a_failure() {
        check(
            &[
                ("wrong", golden!("non2xx")),
                ("late", golden!("timeout")),
                ("broken", golden!("drop")),
                ("right", golden!("t2_c50")),
            ],
            &expect![[r#"
                metric latency_p50 Nanoseconds Lower Mean 0.02 judged
                metric latency_p75 Nanoseconds Lower Mean 0.05
                metric latency_p90 Nanoseconds Lower Mean 0.05
                metric latency_p99 Nanoseconds Lower Mean 0.05 judged
                metric answers_per_second PerSecond Higher Mean 0.02 judged
                metric failed Fraction Lower Mean 0.02
                metric throughput BytesPerSecond Higher Mean 0.02
                closed loop
                wrong [] #0 failed: none of 48 requests got a right answer
                late [] #1 failed: none of 4 requests got a right answer
                broken [] #2 failed: none of 1479 requests got a right answer
                right [] #3 latency_p50=254000 latency_p75=1500000 latency_p90=3000000 latency_p99=51510000 answers_per_second=78747.72999999998 failed=0 throughput=5043650.56
                caveat SUMMARY_ONLY: only percentiles are given, not the latencies they were taken from: right
                caveat CLOSED_LOOP: each connection waits for its answer, and wrk adds latencies that it takes for missed: right
            "#]],
        );
    }

    #[test]
    fn failures_are_a_part_of_all_that_was_asked() {
        let text = String::from_utf8(golden!("t2_c50").to_vec()).unwrap();
        let errors = "  Socket errors: connect 0, read 200, write 0, timeout 49\n";
        let wrong = "  Non-2xx or 3xx responses: 100\nRequests/sec:";
        let text = text.replace("Requests/sec:", &format!("{errors}{wrong}"));
        check(
            &[("a", text.as_bytes())],
            &expect![[r#"
            metric latency_p50 Nanoseconds Lower Mean 0.02 judged
            metric latency_p75 Nanoseconds Lower Mean 0.05
            metric latency_p90 Nanoseconds Lower Mean 0.05
            metric latency_p99 Nanoseconds Lower Mean 0.05 judged
            metric answers_per_second PerSecond Higher Mean 0.02 judged
            metric failed Fraction Lower Mean 0.02
            metric throughput BytesPerSecond Higher Mean 0.02
            closed loop
            a [] #0 latency_p50=254000 latency_p75=1500000 latency_p90=3000000 latency_p99=51510000 answers_per_second=78605.42230488411 failed=0.004222574439510714 throughput=5043650.56
            caveat SUMMARY_ONLY: only percentiles are given, not the latencies they were taken from: a
            caveat CLOSED_LOOP: each connection waits for its answer, and wrk adds latencies that it takes for missed: a
            caveat CONDITIONAL_SUCCESS: requests failed, of which wrong answers are in the latencies and others are not: a (100 wrong 49 late 200 not read)
        "#]],
        );
    }

    #[test]
    fn a_time_just_below_a_unit_is_coarse() {
        let text = String::from_utf8(golden!("t2_c50").to_vec()).unwrap();
        let text = text.replace("254.00us", "  0.92ms");
        let table = read(&ENTRY, &[("a", text.as_bytes())], &Mapping::default()).unwrap();
        let quantised = table.caveats.iter().find(|caveat| caveat.code == CaveatCode::Quantised);
        let detail = "two digits after the point are coarse for these: a latency_p50";
        assert_eq!(quantised.unwrap().detail, detail);
    }

    #[test]
    fn a_wrk_that_did_not_run_measured_nothing() {
        let refused = |bytes: &[u8]| refusal(&ENTRY, bytes, &Mapping::default());
        let reason = "unable to connect to 127.0.0.1:8096 Connection refused";
        assert_eq!(refused(golden!("refused")), format!("wrk did not run: {reason}"));
        assert_eq!(refused(b"\xff"), "it is no text");
        assert_eq!(refused(b""), "no line of a run that began");
    }
}
