//! Results of fio (`--output-format=json` or `json+`): each file is a replicate.

use crate::importer::{Importer, Source};
use crate::json::{Json, Place};
use crate::mapping::Mapping;
use crate::percentile::Percentile;
use crate::table::{Row, Table};
use crate::trouble::Trouble;
use contract::Description;
use model::{CaveatCode, Direction, Histogram, Metric, Reduction, Sample, Unit};

pub(crate) static ENTRY: Entry = Entry;

static DESCRIPTION: Description = Description {
    id: "fio",
    summary: "fio's json or json+: rates and completion latencies of each job, each file a replicate",
    doc: "A file is one execution of fio and one replicate. The dimensions `job` (its name) and `direction` (read, write \
          or trim, where it did any I/O) are covered by each execution. `iops` and `bandwidth` (bytes in a second) are \
          totals over time. Latencies come from the bins of json+ as a distribution, or else as the percentiles that \
          fio printed; of those, one with fewer than ten I/Os beyond it is left out (INSUFFICIENT_TAIL). With \
          `lat_percentiles=1` they are `lat` instead of `clat`. Entries of one name and group (`numjobs` without \
          `group_reporting`) ran at the same time and are taken together: rates are added and bins merged, but \
          printed percentiles cannot be combined and are left out (SUMMARY_ONLY). A job that reports an error is a \
          failure; read `iops` of a job that ended early with care. Without `rate_process` fio waits for its \
          queue: the load is closed-loop.",
};

/// Directions of I/O that fio reports.
const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
/// Percentiles that are imported.
const PERCENTILES: [Percentile; 4] =
    [Percentile::whole(50), Percentile::whole(90), Percentile::whole(99), Percentile::P999];
/// More jobs than this in one file are hostile; a distribution takes a quarter of a megabyte.
const MOST_JOBS: usize = 500;
/// More I/Os than this take years; below it sums of counts do not overflow.
const MOST_EVENTS: u64 = 1 << 53;
const LEFT_OUT: &str = "fewer than 10 I/Os lie beyond these percentiles, which were left out";
const TOO_FEW: &str = "fewer than 10 I/Os lie beyond these percentiles of a distribution";

/// The format.
pub(crate) struct Entry;

/// All entries of one name, group and direction.
struct Stream<'a> {
    subject: &'a str,
    job: &'a str,
    direction: &'static str,
    /// The entries' parts for this direction; more than one where `numjobs` were not grouped.
    parts: Vec<Place<'a>>,
    error: Option<i64>,
}

/// What is known about a latency.
enum Latency {
    Distribution(Histogram),
    Printed { count: u64, values: Vec<(Percentile, f64)> },
}

impl Importer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn read(
        &self,
        source: &Source<'_>,
        _mapping: &Mapping,
        table: &mut Table,
    ) -> Result<(), Trouble> {
        let json = Json::parse(without_notes(source.bytes))?;
        let root = Place::root(&json);
        let jobs = root.member("jobs")?.items()?;
        if jobs.len() > MOST_JOBS {
            let cause = format!("more than {MOST_JOBS} jobs");
            return Err(Trouble::new(cause, "let fio report groups (group_reporting)"));
        }
        table.declare(&["job", "direction"], &[])?;
        let streams = streams(source.subject, &root, &jobs, table)?;
        let execution = table.next_execution();
        for stream in &streams {
            let failure = stream.error.map(|error| format!("fio reported error {error}"));
            let samples = match failure {
                Some(_) => Vec::new(),
                None => stream.samples(table)?,
            };
            let row = Row {
                subject: source.subject.to_owned(),
                levels: vec![stream.job.to_owned(), stream.direction.to_owned()],
                execution: Some(execution.clone()),
                block: None,
                samples,
                failure,
            };
            table.push(None, row)?;
        }
        if streams.is_empty() {
            return Err(Trouble::new("no job in it did any I/O", "give a file with results"));
        }
        Ok(())
    }
}

/// Skips the lines that fio writes before its JSON.
fn without_notes(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    while rest.starts_with(b"fio:") || rest.starts_with(b"note:") {
        let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
        rest = &rest[end..];
    }
    rest
}

/// Entries by name and direction, in the order of the file.
fn streams<'a>(
    subject: &'a str,
    root: &Place<'a>,
    jobs: &[Place<'a>],
    table: &mut Table,
) -> Result<Vec<Stream<'a>>, Trouble> {
    let mut streams: Vec<Stream<'_>> = Vec::new();
    let mut groups: Vec<(&str, u64)> = Vec::new();
    for job in jobs {
        let name = job.member("jobname")?.text()?;
        let group = job.optional("groupid")?.map_or(Ok(0), |group| group.count())?;
        match groups.iter().find(|(known, _)| *known == name) {
            Some((_, known)) if *known != group => {
                let what = format!("is called {name} like a job of another group");
                return Err(job.trouble(what));
            }
            Some(_) => {}
            None => groups.push((name, group)),
        }
        let error = job.optional("error")?.map_or(Ok(0), |error| error.code())?;
        let error = (error != 0).then_some(error);
        let directions = active(root, job, error.is_some())?;
        if directions.is_empty() {
            table.notice(
                CaveatCode::AbsentValues,
                "jobs that did no I/O",
                &format!("{subject} {name}"),
            );
        }
        table.is_closed_loop |= option(root, job, "rate_process")?.is_none();
        for (direction, part) in directions {
            let known = streams
                .iter_mut()
                .find(|stream| (stream.job, stream.direction) == (name, direction));
            match known {
                Some(stream) => {
                    stream.parts.push(part);
                    stream.error = stream.error.or(error);
                }
                None => {
                    streams.push(Stream { subject, job: name, direction, parts: vec![part], error })
                }
            }
        }
    }
    Ok(streams)
}

/// The directions in which a job did any I/O; of one that failed before it did, those
/// it was asked for.
fn active<'a>(
    root: &Place<'a>,
    job: &Place<'a>,
    is_failed: bool,
) -> Result<Vec<(&'static str, Place<'a>)>, Trouble> {
    let mut active = Vec::new();
    for direction in DIRECTIONS {
        if let Some(part) = job.optional(direction)?
            && part.member("total_ios")?.count()? > 0
        {
            active.push((direction, part));
        }
    }
    if active.is_empty() && is_failed {
        // `read` is what fio does where nothing is said.
        let asked = option(root, job, "rw")?.map_or(Ok("read"), |asked| asked.text())?;
        let is_mixed = asked.contains("rw") || asked.contains("readwrite");
        active.extend(
            DIRECTIONS
                .into_iter()
                .filter(|name| asked.contains(name) || (is_mixed && *name != "trim"))
                .map(|name| (name, job.clone())),
        );
    }
    Ok(active)
}

/// An option of a job, or of all jobs.
fn option<'a>(root: &Place<'a>, job: &Place<'a>, name: &str) -> Result<Option<Place<'a>>, Trouble> {
    for (place, key) in [(job, "job options"), (root, "global options")] {
        if let Some(options) = place.optional(key)?
            && let Some(found) = options.optional(name)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

impl Stream<'_> {
    fn samples(&self, table: &mut Table) -> Result<Vec<Sample>, Trouble> {
        let (mut iops, mut bandwidth) = (0.0, 0.0);
        for part in &self.parts {
            iops += part.member("iops")?.amount()?;
            bandwidth += match part.optional("bw_bytes")? {
                Some(bytes) => bytes.amount()?,
                None => part.member("bw")?.scaled(1024.0)?,
            };
        }
        let mut samples = Vec::new();
        for (name, summary, value) in
            [("iops", "I/Os in a second", iops), ("bandwidth", "bytes in a second", bandwidth)]
        {
            if !value.is_finite() {
                return Err(self.parts[0].trouble(format_args!("has too large a sum of {name}")));
            }
            let id = table.know(Metric::new(
                name,
                Unit::PerSecond,
                Direction::Higher,
                Reduction::Mean,
                summary,
            ))?;
            samples.push(Sample::values(&id, vec![value]));
        }
        table.judge("iops");
        samples.extend(self.latencies(table)?);
        Ok(samples)
    }

    fn latencies(&self, table: &mut Table) -> Result<Vec<Sample>, Trouble> {
        let mut name = None;
        let mut known: Option<Latency> = None;
        for part in &self.parts {
            let Some((found, place)) = latency_of(part)? else { continue };
            if *name.get_or_insert(found) != found {
                return Err(place.trouble("is another latency than that of the entry before"));
            }
            known = match (known, Latency::of(&place)?) {
                (None, latency) => Some(latency),
                (Some(Latency::Distribution(mut merged)), Latency::Distribution(other)) => {
                    merged.merge(&other);
                    Some(Latency::Distribution(merged))
                }
                _ => {
                    let what = "percentiles of several entries of a job, which cannot be combined";
                    table.notice(CaveatCode::SummaryOnly, what, &self.label());
                    return Ok(Vec::new());
                }
            };
        }
        let (Some(name), Some(latency)) = (name, known) else { return Ok(Vec::new()) };
        latency.samples(name, &self.label(), table)
    }

    fn label(&self) -> String {
        format!("{} {} {}", self.subject, self.job, self.direction)
    }
}

/// Completion latency, or total latency where its percentiles were asked for.
fn latency_of<'a>(part: &Place<'a>) -> Result<Option<(&'static str, Place<'a>)>, Trouble> {
    for (name, key) in [("clat", "clat_ns"), ("lat", "lat_ns")] {
        if let Some(place) = part.optional(key)?
            && (place.optional("percentile")?.is_some() || place.optional("bins")?.is_some())
        {
            return Ok(Some((name, place)));
        }
    }
    if part.optional("clat")?.is_some() {
        return Err(part.trouble("has `clat` in microseconds, as fio 2 wrote it"));
    }
    Ok(None)
}

impl Latency {
    fn of(place: &Place<'_>) -> Result<Self, Trouble> {
        if let Some(bins) = place.optional("bins")? {
            return Self::distribution(&bins);
        }
        let count = place.member("N")?.count()?;
        let mut values = Vec::new();
        for (key, value) in place.member("percentile")?.members()? {
            let percentile = Percentile::parse(key);
            let Some(percentile) = percentile.filter(|known| PERCENTILES.contains(known)) else {
                continue;
            };
            if values.iter().any(|(known, _)| *known == percentile) {
                return Err(value.trouble("is a percentile that is given twice"));
            }
            values.push((percentile, value.amount()?));
        }
        Ok(Self::Printed { count, values })
    }

    fn distribution(bins: &Place<'_>) -> Result<Self, Trouble> {
        let mut histogram = Histogram::new();
        let mut events = 0_u64;
        for (key, place) in bins.members()? {
            let value =
                key.parse::<u64>().map_err(|_| place.trouble("has no nanoseconds as key"))?;
            let count = place.count()?;
            events += count;
            if events > MOST_EVENTS {
                return Err(place.trouble("makes more I/Os than can be"));
            }
            histogram.record_many(value, count);
        }
        Ok(Self::Distribution(histogram))
    }

    fn samples(self, name: &str, label: &str, table: &mut Table) -> Result<Vec<Sample>, Trouble> {
        match self {
            Self::Distribution(histogram) => distribution_sample(histogram, name, label, table),
            Self::Printed { count, values } => printed_samples(count, &values, name, label, table),
        }
    }
}

/// One sample that every percentile shares. A percentile that no distribution supports
/// becomes no metric.
fn distribution_sample(
    histogram: Histogram,
    name: &str,
    label: &str,
    table: &mut Table,
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
        let metric = percentile.metric(name, Reduction::Quantile(percentile.quantile()));
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
    table: &mut Table,
) -> Result<Vec<Sample>, Trouble> {
    let mut samples = Vec::new();
    for (percentile, value_ns) in values {
        if !percentile.has_tail(count) {
            let item = format!("{label} {}", percentile.name());
            table.notice(CaveatCode::InsufficientTail, LEFT_OUT, &item);
            continue;
        }
        let id = table.know(percentile.metric(name, Reduction::Mean))?;
        judge(*percentile, &id, table);
        samples.push(Sample::values(&id, vec![*value_ns]));
    }
    Ok(samples)
}

fn judge(percentile: Percentile, id: &str, table: &mut Table) {
    if [Percentile::whole(50), Percentile::whole(99)].contains(&percentile) {
        table.judge(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{picture, read, refusal};
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
    fn what_is_wrong_is_named_by_its_path() {
        for (jobs, cause) in [
            ("[]", "no job in it did any I/O"),
            ("{}", "jobs is no list"),
            ("[{}]", "jobs[0] has no `jobname`"),
            ("[{\"jobname\": \"a\", \"read\": {}}]", "jobs[0].read has no `total_ios`"),
            (
                "[{\"jobname\": \"a\"}, {\"jobname\": \"a\", \"groupid\": 1}]",
                "jobs[1] is called a like a job of another group",
            ),
            (
                "[{\"jobname\": \"a\", \"read\": {\"total_ios\": 1, \"iops\": -1}}]",
                "jobs[0].read.iops is -1, and cannot be negative",
            ),
        ] {
            assert_eq!(refused(jobs), cause);
        }
        for (latency, cause) in [
            (r#""clat": {"mean": 3}"#, " has `clat` in microseconds, as fio 2 wrote it"),
            (r#""clat_ns": {"bins": {"x": 1}}"#, ".clat_ns.bins.x has no nanoseconds as key"),
            (r#""clat_ns": {"bins": {"1": -1}}"#, ".clat_ns.bins.1 is no count"),
            (r#""clat_ns": {"bins": {"1": 9e99}}"#, ".clat_ns.bins.1 is no count"),
            (
                r#""clat_ns": {"bins": {"1": 9007199254740992, "2": 1}}"#,
                ".clat_ns.bins.2 makes more I/Os than can be",
            ),
            (r#""clat_ns": {"percentile": {}}"#, ".clat_ns has no `N`"),
            (
                r#""clat_ns": {"N": 99, "percentile": {"50.0": "x"}}"#,
                ".clat_ns.percentile.50.0 is no number",
            ),
            (
                r#""clat_ns": {"N": 99, "percentile": {"50.0": 1, "50": 1}}"#,
                ".clat_ns.percentile.50 is a percentile that is given twice",
            ),
        ] {
            let found = refused(&format!("[{}]", job("a", latency)));
            assert_eq!(found, format!("jobs[0].read{cause}"));
        }
    }
}
