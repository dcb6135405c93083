//! Results of fio (`--output-format=json` or `json+`): each file is a replicate.

use crate::importer::{ImportFile, Importer};
use crate::mapping::Mapping;
use crate::percentile;
use crate::table::{ImportedRow, ImportedTable};
use crate::tool_settings::with_version;
use contract::Description;
use model::{CaveatCode, Direction, Histogram, Metric, Reduction, Sample, Unit};
use outputs::fio::{FioLatency, FioReport, FioStream, PERCENTILES, Traffic};
use outputs::{Percentile, Trouble};

pub(crate) static ENTRY: Entry = Entry;

static DESCRIPTION: Description = Description {
    id: "fio",
    summary: "fio's json or json+: rates and completion latencies of each job, each file a replicate",
    doc: "A file is one execution of fio and one replicate; where every file tells when its results were written (`timestamp_ms`, or \
          `timestamp`), executions are in that order, whatever that of the files. The dimensions `job` (its name) and `direction` (read, write \
          or trim, where it did any I/O) are covered by each execution. `iops` and `bandwidth` (bytes in a second) are \
          totals over time. Latencies come from the bins of json+ as a distribution, or else as the percentiles that \
          fio printed; of those, one with fewer than ten I/Os beyond it is left out (INSUFFICIENT_TAIL). With \
          `lat_percentiles=1` they are `lat` instead of `clat`. Entries of one name and group (`numjobs` without \
          `group_reporting`) ran at the same time and are taken together: rates are added and bins merged, but \
          printed percentiles cannot be combined and are left out (SUMMARY_ONLY). A job that reports an error is a \
          failure; read `iops` of a job that ended early with care. Without `rate_process` fio waits for its \
          queue: the load is closed-loop.",
};

const LEFT_OUT: &str = "fewer than 10 I/Os lie beyond these percentiles, which were left out";
const TOO_FEW: &str = "fewer than 10 I/Os lie beyond these percentiles of a distribution";

/// The format.
pub(crate) struct Entry;

impl Importer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "\"jobs\": [",
            "{\"jobname\": \"a\"",
            "\"groupid\": 1",
            "\"error\": 5",
            "\"read\": {",
            "\"write\": {",
            "\"total_ios\": 9",
            "\"iops\": 1",
            "\"bw\": 1",
            "\"bw_bytes\": 1",
            "\"clat_ns\": {",
            "\"lat_ns\": {",
            "\"bins\": {\"5\": 500}",
            "\"percentile\": {\"99.000000\": 5}",
            "\"N\": 5000",
            "\"job options\": {\"rw\": \"randrw\"}",
            "\"rate_process\"",
            "fio: \n",
            "{",
            "}",
            "[",
            "]",
            ",",
            "null",
            "-1",
            "1e308",
        ]
    }

    fn most_bytes(&self) -> &'static model::ReaderLimit {
        &model::IMPORT_JSON_BYTES
    }

    fn read(
        &self,
        source: &ImportFile<'_>,
        _mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        let report = FioReport::parse(source.bytes)?;
        table.declare(&["job", "direction"], &[])?;
        for job in &report.idle {
            let item = format!("{} {job}", source.subject);
            table.notice(CaveatCode::AbsentValues, "jobs that did no I/O", &item);
        }
        let settings = with_version(&report.settings, report.version.as_deref());
        table.settings(source.subject, &settings);
        table.is_closed_loop |= report.is_closed_loop;
        let execution = table.next_execution();
        let written_ms = report.written_unix_ms.and_then(|ms| i64::try_from(ms).ok());
        table.note_time(&execution, written_ms);
        for stream in report.streams {
            let levels = vec![stream.job.clone(), stream.direction.name().to_owned()];
            let label = label(source.subject, &stream);
            let (samples, failure) = match stream.outcome {
                Err(error) => (Vec::new(), Some(format!("fio reported error {error}"))),
                Ok(traffic) => (samples(traffic, &label, table)?, None),
            };
            let row = ImportedRow {
                subject: source.subject.to_owned(),
                levels,
                execution: Some(execution.clone()),
                block: None,
                samples,
                failure,
            };
            table.push(None, row)?;
        }
        Ok(())
    }
}

fn label(subject: &str, stream: &FioStream) -> String {
    format!("{subject} {} {}", stream.job, stream.direction.name())
}

fn samples(
    traffic: Traffic,
    label: &str,
    table: &mut ImportedTable,
) -> Result<Vec<Sample>, Trouble> {
    let mut samples = Vec::new();
    for (name, summary, value) in [
        ("iops", "I/Os in a second", traffic.rate),
        ("bandwidth", "bytes in a second", traffic.bandwidth),
    ] {
        let (higher, mean) = (Direction::Higher, Reduction::Mean);
        let id = table.know(Metric::new(name, Unit::PerSecond, higher, mean, summary))?;
        samples.push(Sample::values(&id, vec![value]));
    }
    table.judge("iops");
    samples.extend(match traffic.latency {
        FioLatency::Absent => Vec::new(),
        FioLatency::Distribution { name, histogram } => {
            distribution_sample(histogram, name, label, table)?
        }
        FioLatency::Printed { name, count, values } => {
            printed_samples(count, &values, name, label, table)?
        }
        FioLatency::Uncombinable => {
            let what = "percentiles of several entries of a job, which cannot be combined";
            table.notice(CaveatCode::SummaryOnly, what, label);
            Vec::new()
        }
    });
    Ok(samples)
}

/// One sample that every percentile shares. A percentile that no distribution supports
/// becomes no metric.
fn distribution_sample(
    histogram: Histogram,
    name: &str,
    label: &str,
    table: &mut ImportedTable,
) -> Result<Vec<Sample>, Trouble> {
    if histogram.clamped() > 0 {
        table.notice(CaveatCode::Clamped, "latencies of more than an hour", label);
    }
    for percentile in PERCENTILES {
        if !percentile.has_tail(histogram.count()) {
            let item = format!("{label} {}", percentile.name());
            table.notice(CaveatCode::InsufficientTail, TOO_FEW, &item);
            continue;
        }
        let metric =
            percentile::metric(percentile, name, Reduction::Quantile(percentile.quantile()));
        let id = table.know(Metric { source: name.to_owned(), resolution: 1.0, ..metric })?;
        judge(percentile, &id, table);
    }
    Ok(vec![Sample::histogram(name, histogram)])
}

fn printed_samples(
    count: u64,
    values: &[(Percentile, f64)],
    name: &str,
    label: &str,
    table: &mut ImportedTable,
) -> Result<Vec<Sample>, Trouble> {
    let mut samples = Vec::new();
    for (percentile, value_ns) in values {
        if !percentile.has_tail(count) {
            let item = format!("{label} {}", percentile.name());
            table.notice(CaveatCode::InsufficientTail, LEFT_OUT, &item);
            continue;
        }
        let id = table.know(percentile::metric(*percentile, name, Reduction::Mean))?;
        judge(*percentile, &id, table);
        samples.push(Sample::values(&id, vec![*value_ns]));
    }
    Ok(samples)
}

fn judge(percentile: Percentile, id: &str, table: &mut ImportedTable) {
    if [Percentile::whole(50), Percentile::whole(99)].contains(&percentile) {
        table.judge(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{picture, read, refusal, settings_that_differ};
    use expect_test::{Expect, expect};

    macro_rules! golden {
        ($name:literal) => {
            &include_bytes!(concat!("../tests/golden/fio/", $name, ".json"))[..]
        };
    }

    fn check(files: &[(&str, &[u8])], expected: &Expect) {
        expected.assert_eq(&picture(&read(&ENTRY, files, &Mapping::default()).unwrap()));
    }

    fn refused(jobs: &str) -> String {
        refusal(&ENTRY, format!("{{\"jobs\": {jobs}}}").as_bytes(), &Mapping::default())
    }

    fn job(name: &str, latency: &str) -> String {
        format!(
            r#"{{"jobname": "{name}", "read": {{"total_ios": 9, "iops": 2.5, "bw": 4, {latency}}}}}"#
        )
    }

    #[test]
    fn options_that_differ_are_named_and_names_of_files_are_none() {
        let idle = golden!("randread_4k_psync_direct__idle");
        let text = String::from_utf8_lossy(idle);
        let told = |changes: &[(&str, &str)]| {
            let mut other = text.to_string();
            for (from, to) in changes {
                assert!(other.contains(from), "{from}");
                other = other.replace(from, to);
            }
            settings_that_differ(&ENTRY, &[("a", idle), ("b", other.as_bytes())])
        };
        assert_eq!(told(&[("/data/testfile", "/data/other")]), [""; 0]);
        assert_eq!(
            told(&[("\"bs\" : \"4k\"", "\"bs\" : \"64k\""), ("\"direct\" : \"1\",", "")]),
            ["by the tool's own words: rr bs (a: 4k; b: 64k), rr direct (a: 1; b: not said)"]
        );
        // The same size and time in other units are the same work.
        let units = [
            ("\"size\" : \"128m\"", "\"size\" : \"131072k\""),
            ("\"bs\" : \"4k\"", "\"bs\" : \"4096\""),
            ("\"runtime\" : \"1\"", "\"runtime\" : \"1000ms\""),
        ];
        assert_eq!(told(&units), [""; 0]);
        assert_eq!(
            told(&[("\"size\" : \"128m\"", "\"size\" : \"131073k\"")]),
            ["by the tool's own words: rr size (a: 128m; b: 131073k)"]
        );
        assert_eq!(
            told(&[("fio-3.33", "fio-3.38")]),
            ["by the tool's own words: version (a: fio-3.33; b: fio-3.38)"]
        );
        // What was run beside it is no setting of fio.
        let load = golden!("randread_4k_psync_direct__load");
        assert_eq!(settings_that_differ(&ENTRY, &[("idle", idle), ("load", load)]), [""; 0]);
    }

    #[test]
    fn devices_that_differ_are_named_and_files_of_other_names_are_not() {
        let options = |filename: &str| {
            let read = r#""read": {"total_ios": 9, "iops": 2.5, "bw": 4}"#;
            let named = match filename {
                "" => String::new(),
                name => format!(r#", "filename": "{name}""#),
            };
            let job = |options: &str| {
                format!(r#"{{"jobname": "rr", "job options": {{"rw": "read"{options}}}, {read}}}"#)
            };
            let of_job = format!(r#"{{"jobs": [{}]}}"#, job(&named));
            let all = format!(r#"{{"direct": "1"{named}}}"#);
            let of_all = format!(r#"{{"global options": {all}, "jobs": [{}]}}"#, job(""));
            [of_job, of_all]
        };
        let told = |one: &str, other: &str| {
            let pairs = options(one).into_iter().zip(options(other));
            let told = pairs.map(|(one, other)| {
                let files = [("a", one.as_bytes()), ("b", other.as_bytes())];
                settings_that_differ(&ENTRY, &files)
            });
            let [of_job, of_all] = <[Vec<String>; 2]>::try_from(told.collect::<Vec<_>>()).unwrap();
            assert_eq!(of_job, of_all);
            of_job.join("; ")
        };
        for (one, other) in [
            ("/dev/sda", "/dev/sda"),
            ("/data/a", "/data/b"),
            ("/data/a", ""),
            ("/dev/shm/a", "/dev/shm/b"),
            ("/data/dev/sda", "/data/dev/sdb"),
        ] {
            assert_eq!(told(one, other), "", "{one} {other}");
        }
        let of = |a: &str, b: &str| format!("by the tool's own words: rr devices (a: {a}; b: {b})");
        assert_eq!(told("/dev/sda", "/dev/sdb"), of("/dev/sda", "/dev/sdb"));
        assert_eq!(told("/dev/sda", "/data/a"), of("/dev/sda", "none named"));
        assert_eq!(told("/dev/sda", ""), of("/dev/sda", "none named"));
        assert_eq!(told("/data/a:/dev/sda", "/data/a"), of("/data/a:/dev/sda", "none named"));
    }

    #[test]
    fn each_file_is_an_execution_and_printed_percentiles_need_a_tail() {
        let idle = golden!("randread_4k_psync_direct__idle");
        let load = golden!("randread_4k_psync_direct__load");
        check(
            &[("idle", idle), ("load", load)],
            &expect![[r#"
                dimension job covered
                dimension direction covered
                metric iops PerSecond Higher Mean 0.02 judged
                metric bandwidth PerSecond Higher Mean 0.02
                metric clat_p50 Nanoseconds Lower Mean 0.02 judged
                metric clat_p90 Nanoseconds Lower Mean 0.05
                metric clat_p99 Nanoseconds Lower Mean 0.05 judged
                metric clat_p999 Nanoseconds Lower Mean 0.1
                closed loop
                idle [rr, read] #0 iops=11150.849151 bandwidth=45673878 clat_p50=72192 clat_p90=100864 clat_p99=254976 clat_p999=4079616
                load [rr, read] #1 iops=890.10989 bandwidth=3645890 clat_p50=69120 clat_p90=3751936
                caveat INSUFFICIENT_TAIL: fewer than 10 I/Os lie beyond these percentiles, which were left out: load rr read p99, load rr read p999
            "#]],
        );
    }

    #[test]
    fn bins_are_a_distribution_that_all_percentiles_share() {
        check(
            &[("a", golden!("randread_4k_iouring_qd8__idle"))],
            &expect![[r#"
            dimension job covered
            dimension direction covered
            metric iops PerSecond Higher Mean 0.02 judged
            metric bandwidth PerSecond Higher Mean 0.02
            metric clat_p50 Nanoseconds Lower Quantile(0.5) 0.02 judged
            metric clat_p90 Nanoseconds Lower Quantile(0.9) 0.05
            metric clat_p99 Nanoseconds Lower Quantile(0.99) 0.05 judged
            metric clat_p999 Nanoseconds Lower Quantile(0.999) 0.1
            closed loop
            a [rr, read] #0 iops=37815.55334 bandwidth=154892506 clat=n37929 p50:127551 p99:3000319
        "#]],
        );
    }

    #[test]
    fn every_direction_that_did_io_is_a_row() {
        check(
            &[("a", golden!("randrw_libaio"))],
            &expect![[r#"
                dimension job covered
                dimension direction covered
                metric iops PerSecond Higher Mean 0.02 judged
                metric bandwidth PerSecond Higher Mean 0.02
                metric clat_p50 Nanoseconds Lower Mean 0.02 judged
                metric clat_p90 Nanoseconds Lower Mean 0.05
                metric clat_p99 Nanoseconds Lower Mean 0.05 judged
                metric clat_p999 Nanoseconds Lower Mean 0.1
                closed loop
                a [rw, read] #0 iops=21582.417582 bandwidth=88401582 clat_p50=86528 clat_p90=130560 clat_p99=284672 clat_p999=4046848
                a [rw, write] #0 iops=9229.77023 bandwidth=37805138 clat_p50=104960 clat_p90=166912 clat_p99=987136
                caveat INSUFFICIENT_TAIL: fewer than 10 I/Os lie beyond these percentiles, which were left out: a rw write p999
            "#]],
        );
    }

    #[test]
    fn grouped_jobs_are_one_entry() {
        check(
            &[("a", golden!("two_jobs_group"))],
            &expect![[r#"
            dimension job covered
            dimension direction covered
            metric iops PerSecond Higher Mean 0.02 judged
            metric bandwidth PerSecond Higher Mean 0.02
            metric clat_p50 Nanoseconds Lower Mean 0.02 judged
            metric clat_p90 Nanoseconds Lower Mean 0.05
            metric clat_p99 Nanoseconds Lower Mean 0.05 judged
            metric clat_p999 Nanoseconds Lower Mean 0.1
            closed loop
            a [a, read] #0 iops=13076.923077 bandwidth=53563076 clat_p50=80384 clat_p90=118272 clat_p99=1236992 clat_p999=6979584
        "#]],
        );
    }

    #[test]
    fn entries_of_one_job_are_added_and_their_bins_merged() {
        check(
            &[("a", golden!("two_jobs_ungrouped_jsonplus"))],
            &expect![[r#"
                dimension job covered
                dimension direction covered
                metric iops PerSecond Higher Mean 0.02 judged
                metric bandwidth PerSecond Higher Mean 0.02
                metric clat_p50 Nanoseconds Lower Quantile(0.5) 0.02 judged
                metric clat_p90 Nanoseconds Lower Quantile(0.9) 0.05
                metric clat_p99 Nanoseconds Lower Quantile(0.99) 0.05 judged
                a [a, read] #0 iops=3960.108616 bandwidth=16220604 clat=n3970 p50:42783 p99:122431
                caveat INSUFFICIENT_TAIL: fewer than 10 I/Os lie beyond these percentiles of a distribution: a a read p999
            "#]],
        );
    }

    #[test]
    fn printed_percentiles_of_several_entries_are_never_combined() {
        check(
            &[("a", golden!("two_jobs_ungrouped"))],
            &expect![[r#"
                dimension job covered
                dimension direction covered
                metric iops PerSecond Higher Mean 0.02 judged
                metric bandwidth PerSecond Higher Mean 0.02
                closed loop
                a [a, read] #0 iops=56888.888888 bandwidth=233016888
                caveat SUMMARY_ONLY: percentiles of several entries of a job, which cannot be combined: a a read
            "#]],
        );
    }

    #[test]
    fn a_job_with_an_error_is_a_failure_and_success_is_what_fio_says() {
        check(
            &[("a", golden!("failed_job")), ("b", golden!("err"))],
            &expect![[r#"
                dimension job covered
                dimension direction covered
                metric iops PerSecond Higher Mean 0.02 judged
                metric bandwidth PerSecond Higher Mean 0.02
                metric clat_p50 Nanoseconds Lower Mean 0.02 judged
                metric clat_p90 Nanoseconds Lower Mean 0.05
                closed loop
                a [bad, read] #0 failed: fio reported error 1
                b [e, read] #1 iops=85333.333333 bandwidth=349525333 clat_p50=9280 clat_p90=12224
                caveat INSUFFICIENT_TAIL: fewer than 10 I/Os lie beyond these percentiles, which were left out: b e read p99, b e read p999
            "#]],
        );
    }

    #[test]
    fn a_load_with_its_own_clock_is_not_closed() {
        let closed = |jobs: &str, global: &str| {
            let text = format!("{{\"global options\": {global}, \"jobs\": [{jobs}]}}");
            read(&ENTRY, &[("a", text.as_bytes())], &Mapping::default()).unwrap().is_closed_loop
        };
        let plain = job("a", "\"x\": 1");
        let clocked = plain.replacen('{', "{\"job options\": {\"rate_process\": \"poisson\"}, ", 1);
        assert!(closed(&plain, "{}"));
        assert!(!closed(&clocked, "{}"));
        assert!(!closed(&plain, "{\"rate_process\": \"poisson\"}"));
        assert!(closed(&format!("{plain}, {}", clocked.replace("\"a\"", "\"b\"")), "{}"));
    }

    #[test]
    fn a_distribution_and_printed_percentiles_are_not_mixed() {
        let bins = job("a", r#""clat_ns": {"bins": {"5": 5000}}"#);
        let printed = job("b", r#""clat_ns": {"N": 5000, "percentile": {"50.0": 3}}"#);
        let found = refused(&format!("[{bins}, {printed}]"));
        assert_eq!(found, "`clat_p50` is summarised in another way than before");
    }

    #[test]
    fn latencies_of_more_than_an_hour_are_counted_and_told() {
        let text = format!(
            "{{\"jobs\": [{}]}}",
            job("a", r#""clat_ns": {"bins": {"9000000000000": 50}}"#)
        );
        check(
            &[("a", text.as_bytes())],
            &expect![[r#"
                dimension job covered
                dimension direction covered
                metric iops PerSecond Higher Mean 0.02 judged
                metric bandwidth PerSecond Higher Mean 0.02
                metric clat_p50 Nanoseconds Lower Quantile(0.5) 0.02 judged
                closed loop
                a [a, read] #0 iops=2.5 bandwidth=4096 clat=n50 p50:3601330077695 p99:3601330077695
                caveat CLAMPED: latencies of more than an hour: a a read
                caveat INSUFFICIENT_TAIL: fewer than 10 I/Os lie beyond these percentiles of a distribution: a a read p90, a a read p99, a a read p999
            "#]],
        );
    }

    #[test]
    fn what_the_parser_says_is_what_the_user_reads() {
        assert_eq!(refused("[{}]"), "jobs[0] has no `jobname`");
        let text = job("a", r#""clat_ns": {"percentile": {}}"#);
        assert_eq!(refused(&format!("[{text}]")), "jobs[0].read.clat_ns has no `N`");
    }
}
