//! What Gatling keeps of a run: the log of every request, or a summary of it; each file is a
//! replicate.

use crate::importer::{ImportFile, Importer};
use crate::mapping::Mapping;
use crate::metrics::metric_id;
use crate::percentile;
use crate::table::{ImportedRow, ImportedTable};
use contract::Description;
use model::{CaveatCode, Direction, Histogram, Metric, Reduction, Sample, Unit};
use outputs::gatling::{GatlingSummary, Log, PERCENTILES, RequestGroup, RequestStatistics};
use outputs::{Percentile, Trouble};
use std::ops::Range;

pub(crate) static ENTRY: Entry = Entry;

static DESCRIPTION: Description = Description {
    id: "gatling",
    summary: "Gatling's simulation.log or stats.json: latencies of each request, each file a replicate",
    doc: "A file is one execution of Gatling and one replicate: `simulation.log`, text of 3.9 to 3.12 or binary of 3.13 \
          to 3.15, or the `stats.json` or `global_stats.json` that older versions make of it. Where every file is a log, executions are in the order in \
          which their logs say that they began, whatever that of the files. `latency` is the time \
          from sending a request to its answer, of all requests with a right answer, and `KIND_latency` that of one \
          name, groups included (`cart / list` is `cart_list`); `failed` and `KIND_failed` are the shares of failures, \
          `answers_per_second` the right answers from the first request to the last answer. The whole run is counted, ramps and warm-up included: where its \
          median moves by more than a tenth from one third of it to another, NOT_STEADY says so. Times are whole \
          milliseconds, which is coarse for most services (QUANTISED). Of a log a percentile with fewer than ten \
          requests beyond it becomes no metric (INSUFFICIENT_TAIL); a summary has only percentiles, taken for the 50th, \
          75th, 95th and 99th, and `gatling.conf` may have asked for others (SUMMARY_ONLY). A failure has no latency; \
          requests that could not be made, and those of users who had not ended when the log did, are in no number \
          (CONDITIONAL_SUCCESS). No file says whether users arrived by a clock or waited for each other: the load is \
          taken for closed-loop.",
};

/// Percentiles of a log that become metrics.
const QUANTILES: [Percentile; 6] = [
    Percentile::whole(50),
    Percentile::whole(75),
    Percentile::whole(90),
    Percentile::whole(95),
    Percentile::whole(99),
    Percentile::P999,
];
/// Those that are judged, of all requests together.
const JUDGED: [Percentile; 2] = [Percentile::whole(50), Percentile::whole(99)];
const NS_PER_MS: f64 = 1e6;
/// Medians of parts of a run that differ by more than this, and by more than one step, are not
/// those of a steady one.
const STEADY: f64 = 1.1;
/// A median of fewer says nothing.
const FEWEST: usize = 20;
const FAILED: &str = "requests failed, whose times are in no latency";
const UNMADE: &str = "requests that Gatling could not make are in no number";
const OPEN: &str =
    "users had not ended when the log did, and what they had asked for last is in no number";
const SILENT: &str = "requests without one right answer";
const COARSE: &str = "whole milliseconds are coarse for these";
const UNSTEADY: &str = "the median moved from third to third of the run, which is counted whole";
const TOO_FEW: &str = "fewer than 10 requests lie beyond these percentiles of a distribution";
const LEFT_OUT: &str = "fewer than 10 requests lie beyond these percentiles, which were left out";
const TAKEN: &str = "only percentiles are given, and taken for the 50th 75th 95th and 99th, which \
                     gatling.conf may have changed";

/// The format.
pub(crate) struct Entry;

impl Importer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "REQUEST\t\tlist\t1795554545129\t1795554545139\tOK\t \n",
            "REQUEST\tcart\tlist\t1795554545129\t1795554545139\tKO\tgone\n",
            "USER\ta\tSTART\t1795554545129\n",
            "RUN\tsim.Sim\tsim\t1795554545129\t \t3.10.3\n",
            "\x01\0\0\0\0\0\0\0\x01\0\0\0\x04list\0\0\0\0\x05\0\0\0\x09\x01\0\0\0\x02\0\0\0\0",
            "\"type\": \"REQUEST\"",
            "\"type\": \"GROUP\"",
            "\"name\": \"a\"",
            "\"path\": \"a / b\"",
            "\"stats\": {",
            "\"contents\": {\"a\": {",
            "\"numberOfRequests\": {\"total\": 50, \"ok\": 40, \"ko\": 10}",
            "\"percentiles1\": {\"ok\": 5, \"ko\": 5}",
            "\"meanResponseTime\": {\"ok\": 5, \"ko\": 5}",
            "\"meanNumberOfRequestsPerSecond\": {\"ok\": 5.5, \"ko\": 0.5}",
            "{",
            "}",
            ",",
            "null",
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
        let bytes = source.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source.bytes);
        let label = source.subject;
        let execution = table.next_execution();
        let (samples, failure) = if bytes.trim_ascii_start().starts_with(b"{") {
            let summary = GatlingSummary::parse(bytes)?;
            begin(table)?;
            table.note_time(&execution, None);
            of_summary(&summary, label, table)?
        } else {
            let log = Log::parse_beside(bytes, table.held_beside(source.bytes.len()))?;
            begin(table)?;
            table.note_time(&execution, i64::try_from(log.started_unix_ms).ok());
            let said = [("simulation", &log.simulation), ("version", &log.version)];
            let said = said.map(|(name, value)| (name.to_owned(), value.clone()));
            table.settings(label, &said.into());
            of_log(&log, label, table)?
        };
        let row = ImportedRow {
            subject: label.to_owned(),
            levels: Vec::new(),
            execution: Some(execution),
            block: None,
            samples,
            failure,
        };
        table.push(None, row)
    }
}

/// What was measured, or why nothing was.
type Outcome = (Vec<Sample>, Option<String>);

fn begin(table: &mut ImportedTable) -> Result<(), Trouble> {
    table.declare(&[], &[])?;
    table.is_closed_loop = true;
    Ok(())
}

fn none_asked() -> Trouble {
    Trouble::new("it has no request", "leave this file out")
}

fn none_right(failed: u64) -> Outcome {
    (Vec::new(), Some(format!("none of {failed} requests got a right answer")))
}

fn of_log(log: &Log, label: &str, table: &mut ImportedTable) -> Result<Outcome, Trouble> {
    let Some(span_ms) = log.span_ms() else { return Err(none_asked()) };
    let kinds = log.kinds(0..u64::MAX);
    notice_failures(log, &kinds, label, table);
    let latency = Histogram::merged(kinds.iter().map(|kind| &kind.latency));
    let failed: u64 = kinds.iter().map(RequestGroup::failed).sum();
    if latency.count() == 0 {
        return Ok(none_right(failed));
    }
    notice_drift(log, &span_ms, label, table);
    let mut samples = Vec::new();
    let all = Part { name: None, label };
    let seconds = (span_ms.end - span_ms.start) as f64 / 1e3;
    let answers = latency.count();
    samples.push(all.distribution(latency, table)?);
    if seconds > 0.0 {
        samples.push(all.rate(answers as f64 / seconds, table)?);
    } else {
        let what = "answers in a second of a run that took none";
        table.notice(CaveatCode::AbsentValues, what, label);
    }
    samples.push(all.failed(failed, answers, table)?);
    for kind in kinds {
        let (failed, answers) = (kind.failed(), kind.latency.count());
        let part = Part { name: Some(&kind.name), label };
        if answers > 0 {
            samples.push(part.distribution(kind.latency, table)?);
        } else {
            table.notice(CaveatCode::AbsentValues, SILENT, &format!("{label} {}", kind.name));
        }
        samples.push(part.failed(failed, answers, table)?);
    }
    Ok((samples, None))
}

/// What is in no latency, and why.
fn notice_failures(log: &Log, kinds: &[RequestGroup], label: &str, table: &mut ImportedTable) {
    let code = CaveatCode::ConditionalSuccess;
    for kind in kinds {
        let first = kind.failures.iter().max_by_key(|(_, count)| **count);
        if let Some((message, count)) = first {
            let item = format!("{label} {} ({count} times {message})", kind.name);
            table.notice(code, FAILED, &item);
        }
    }
    if let Some(first) = log.errors.first() {
        let item = format!("{label} ({} like: {})", log.errors.len(), first.message);
        table.notice(code, UNMADE, &item);
    }
    if log.users_ended < log.users_began {
        let left = log.users_began - log.users_ended;
        table.notice(code, OPEN, &format!("{label} ({left} of {})", log.users_began));
    }
}

/// Whether the thirds of a run resemble each other.
fn notice_drift(log: &Log, span_ms: &Range<u64>, label: &str, table: &mut ImportedTable) {
    let third_ms = (span_ms.end - span_ms.start) / 3;
    let bounds_ms = [0, span_ms.start + third_ms, span_ms.end - third_ms, u64::MAX];
    let medians = bounds_ms.windows(2).filter_map(|ends| median_ms(log, ends[0]..ends[1]));
    let medians: Vec<u64> = medians.collect();
    let least = medians.iter().copied().min().unwrap_or(0);
    let most = medians.iter().copied().max().unwrap_or(0);
    if most - least > 1 && most as f64 > least as f64 * STEADY {
        let told: Vec<String> = medians.iter().map(u64::to_string).collect();
        let item = format!("{label} ({} ms)", told.join(" "));
        table.notice(CaveatCode::NotSteady, UNSTEADY, &item);
    }
}

/// The median of right answers to what was asked within a window; none of too few.
fn median_ms(log: &Log, window_ms: Range<u64>) -> Option<u64> {
    let right = log.requests.iter().filter(|request| request.failure.is_none());
    let asked = right.filter(|request| window_ms.contains(&request.start_ms));
    let mut took_ms: Vec<u64> = asked.map(|request| request.end_ms - request.start_ms).collect();
    took_ms.sort_unstable();
    (took_ms.len() >= FEWEST).then(|| took_ms[(took_ms.len() - 1) / 2])
}

fn of_summary(
    summary: &GatlingSummary,
    label: &str,
    table: &mut ImportedTable,
) -> Result<Outcome, Trouble> {
    let RequestStatistics { ok, failed, .. } = &summary.all;
    let failures = failed.map_or(0, |figures| figures.count);
    let Some(right) = ok else {
        return if failures == 0 { Err(none_asked()) } else { Ok(none_right(failures)) };
    };
    table.notice(CaveatCode::SummaryOnly, TAKEN, label);
    if failures > 0 {
        table.notice(CaveatCode::ConditionalSuccess, FAILED, &format!("{label} ({failures})"));
    }
    let all = Part { name: None, label };
    let mut samples = all.figures(&summary.all, table)?;
    samples.insert(samples.len() - 1, all.rate(right.rate, table)?);
    for kind in &summary.kinds {
        samples.extend(Part { name: Some(&kind.name), label }.figures(kind, table)?);
    }
    Ok((samples, None))
}

/// All requests, or those of one name.
struct Part<'a> {
    name: Option<&'a str>,
    label: &'a str,
}

impl Part<'_> {
    /// The id of a metric of this part.
    fn id(&self, what: &str) -> String {
        let Some(name) = self.name else { return what.to_owned() };
        let id = metric_id(&name.replace(['/', '%'], " "));
        let digit = if id.starts_with(|c: char| c.is_ascii_digit()) { "request_" } else { "" };
        format!("{digit}{id}_{what}")
    }

    /// Tells parts apart whose ids would be one.
    fn summary(&self, what: &str) -> String {
        self.name.map_or_else(|| what.to_owned(), |name| format!("{what} of `{name}`"))
    }

    /// One sample that every percentile shares.
    fn distribution(
        &self,
        latency: Histogram,
        table: &mut ImportedTable,
    ) -> Result<Sample, Trouble> {
        let source = self.id("latency");
        if latency.clamped() > 0 {
            let what = "latencies of more than an hour";
            table.notice(CaveatCode::Clamped, what, &format!("{} {source}", self.label));
        }
        for percentile in QUANTILES {
            if !percentile.has_tail(latency.count()) {
                self.notice(CaveatCode::InsufficientTail, TOO_FEW, percentile, table);
                continue;
            }
            let value_ns = latency.quantile(percentile.quantile()).unwrap_or(0) as f64;
            let reduction = Reduction::Quantile(percentile.quantile());
            self.percentile(percentile, reduction, value_ns, table)?;
        }
        Ok(Sample::histogram(&source, latency))
    }

    /// Percentiles as printed, and the share of failures last.
    fn figures(
        &self,
        stated: &RequestStatistics,
        table: &mut ImportedTable,
    ) -> Result<Vec<Sample>, Trouble> {
        let mut samples = Vec::new();
        match stated.ok {
            None => {
                let item = format!("{} {}", self.label, stated.name);
                table.notice(CaveatCode::AbsentValues, SILENT, &item);
            }
            Some(right) => {
                for (percentile, ms) in PERCENTILES.into_iter().zip(right.percentiles_ms) {
                    if !percentile.has_tail(right.count) {
                        self.notice(CaveatCode::InsufficientTail, LEFT_OUT, percentile, table);
                        continue;
                    }
                    let value_ns = ms as f64 * NS_PER_MS;
                    let id = self.percentile(percentile, Reduction::Mean, value_ns, table)?;
                    samples.push(Sample::values(&id, vec![value_ns]));
                }
            }
        }
        let count =
            |figures: Option<outputs::gatling::ResponseTimes>| figures.map_or(0, |all| all.count);
        samples.push(self.failed(count(stated.failed), count(stated.ok), table)?);
        Ok(samples)
    }

    /// Makes a percentile known whose value here is `value_ns`.
    fn percentile(
        &self,
        percentile: Percentile,
        reduction: Reduction,
        value_ns: f64,
        table: &mut ImportedTable,
    ) -> Result<String, Trouble> {
        let source = self.id("latency");
        let metric = percentile::metric(percentile, &source, reduction);
        if NS_PER_MS > value_ns * metric.margin / 4.0 {
            self.notice(CaveatCode::Quantised, COARSE, percentile, table);
        }
        let source = if reduction == Reduction::Mean { metric.id.clone() } else { source };
        let summary = self.summary(&format!("latency {}", percentile.name()));
        let id = table.know(Metric { source, resolution: NS_PER_MS, summary, ..metric })?;
        if self.name.is_none() && JUDGED.contains(&percentile) {
            table.judge(&id);
        }
        Ok(id)
    }

    fn rate(&self, rate: f64, table: &mut ImportedTable) -> Result<Sample, Trouble> {
        let (unit, higher) = (Unit::PerSecond, Direction::Higher);
        let (id, summary) =
            (self.id("answers_per_second"), self.summary("right answers in a second"));
        let id = table.know(Metric::new(id, unit, higher, Reduction::Mean, summary))?;
        Ok(Sample::values(&id, vec![rate]))
    }

    /// At least one failed or was answered.
    fn failed(
        &self,
        failed: u64,
        right: u64,
        table: &mut ImportedTable,
    ) -> Result<Sample, Trouble> {
        let (unit, lower) = (Unit::Fraction, Direction::Lower);
        let (id, summary) = (self.id("failed"), self.summary("failures as a part of all requests"));
        let id = table.know(Metric::new(id, unit, lower, Reduction::Mean, summary))?;
        let all = failed.saturating_add(right).max(1);
        Ok(Sample::values(&id, vec![failed as f64 / all as f64]))
    }

    fn notice(
        &self,
        code: CaveatCode,
        what: &str,
        percentile: Percentile,
        table: &mut ImportedTable,
    ) {
        let item = format!("{} {}_{}", self.label, self.id("latency"), percentile.name());
        table.notice(code, what, &item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{picture, read, refusal, settings_that_differ};
    use expect_test::{Expect, expect};
    use std::fmt::Write as _;

    macro_rules! golden {
        ($name:literal) => {
            include_bytes!(concat!("../../outputs/tests/golden/gatling/", $name))
        };
    }

    fn check(files: &[(&str, &[u8])], expected: &Expect) {
        expected.assert_eq(&picture(&read(&ENTRY, files, &Mapping::default()).unwrap()));
    }

    fn refused(bytes: &[u8]) -> String {
        refusal(&ENTRY, bytes, &Mapping::default())
    }

    /// A log of requests `(name, start, end, status)`.
    fn log(requests: impl IntoIterator<Item = (&'static str, u64, u64, &'static str)>) -> String {
        let mut text = "RUN\tS\ts\t1000\t \t3.10.3\n".to_owned();
        for (name, start_ms, end_ms, status) in requests {
            let (start, end) = (1000 + start_ms, 1000 + end_ms);
            let _ = writeln!(text, "REQUEST\t\t{name}\t{start}\t{end}\t{status}\tx");
        }
        text
    }

    #[test]
    fn another_simulation_and_another_version_are_named() {
        let text = String::from_utf8(golden!("small-3.10.3.log").to_vec()).unwrap();
        let (small, binary): (&[u8], &[u8]) = (text.as_bytes(), golden!("small-3.15.1.log"));
        let other = text.replace("sim.SmallSim", "sim.LargeSim");
        let told = |files: &[(&str, &[u8])]| settings_that_differ(&ENTRY, files);
        assert_eq!(told(&[("a", small), ("b", small)]), [""; 0]);
        assert_eq!(
            told(&[("a", small), ("b", other.as_bytes())]),
            ["by the tool's own words: simulation (a: sim.SmallSim; b: sim.LargeSim)"]
        );
        assert_eq!(
            told(&[("a", small), ("b", binary)]),
            ["by the tool's own words: version (a: 3.10.3; b: 3.15.1)"]
        );
    }

    #[test]
    fn a_binary_log_is_a_distribution_of_each_kind_and_of_all() {
        check(
            &[("a", golden!("head-3.15.1.log"))],
            &expect![[r#"
            metric latency_p50 Nanoseconds Lower Quantile(0.5) 0.02 judged
            metric latency_p75 Nanoseconds Lower Quantile(0.75) 0.05
            metric latency_p90 Nanoseconds Lower Quantile(0.9) 0.05
            metric latency_p95 Nanoseconds Lower Quantile(0.95) 0.05
            metric latency_p99 Nanoseconds Lower Quantile(0.99) 0.05 judged
            metric answers_per_second PerSecond Higher Mean 0.02
            metric failed Fraction Lower Mean 0.02
            metric balance_latency_p50 Nanoseconds Lower Quantile(0.5) 0.02
            metric balance_latency_p75 Nanoseconds Lower Quantile(0.75) 0.05
            metric balance_latency_p90 Nanoseconds Lower Quantile(0.9) 0.05
            metric balance_latency_p95 Nanoseconds Lower Quantile(0.95) 0.05
            metric balance_failed Fraction Lower Mean 0.02
            metric create_latency_p50 Nanoseconds Lower Quantile(0.5) 0.02
            metric create_latency_p75 Nanoseconds Lower Quantile(0.75) 0.05
            metric create_failed Fraction Lower Mean 0.02
            metric history_latency_p50 Nanoseconds Lower Quantile(0.5) 0.02
            metric history_latency_p75 Nanoseconds Lower Quantile(0.75) 0.05
            metric history_latency_p90 Nanoseconds Lower Quantile(0.9) 0.05
            metric history_failed Fraction Lower Mean 0.02
            metric transfer_latency_p50 Nanoseconds Lower Quantile(0.5) 0.02
            metric transfer_latency_p75 Nanoseconds Lower Quantile(0.75) 0.05
            metric transfer_latency_p90 Nanoseconds Lower Quantile(0.9) 0.05
            metric transfer_latency_p95 Nanoseconds Lower Quantile(0.95) 0.05
            metric transfer_failed Fraction Lower Mean 0.02
            closed loop
            a [] #0 latency=n1545 p50:111017983 p99:720371711 answers_per_second=116.68302998262972 failed=0 balance_latency=n861 p50:85000191 p99:499122175 balance_failed=0 create_latency=n86 p50:118030335 p99:612368383 create_failed=0 history_latency=n172 p50:109051903 p99:717225983 history_failed=0 transfer_latency=n426 p50:195035135 p99:1418723327 transfer_failed=0
            caveat CONDITIONAL_SUCCESS: users had not ended when the log did, and what they had asked for last is in no number: a (54 of 1594)
            caveat NOT_STEADY: the median moved from third to third of the run, which is counted whole: a (62 86 147 ms)
            caveat QUANTISED: whole milliseconds are coarse for these: a latency_p50, a balance_latency_p50, a create_latency_p50, a history_latency_p50, a transfer_latency_p50
            caveat INSUFFICIENT_TAIL: fewer than 10 requests lie beyond these percentiles of a distribution: a latency_p999, a balance_latency_p99, a balance_latency_p999, a create_latency_p90, a create_latency_p95, a create_latency_p99, a create_latency_p999, a history_latency_p95, a history_latency_p99, a history_latency_p999, a transfer_latency_p99, a transfer_latency_p999
        "#]],
        );
    }

    #[test]
    fn logs_of_two_versions_are_replicates_of_the_same_metrics() {
        check(
            &[("binary", golden!("small-3.15.1.log")), ("text", golden!("small-3.10.3.log"))],
            &expect![[r#"
                metric latency_p50 Nanoseconds Lower Quantile(0.5) 0.02 judged
                metric answers_per_second PerSecond Higher Mean 0.02
                metric failed Fraction Lower Mean 0.02
                metric shop_small_list_failed Fraction Lower Mean 0.02
                metric shop_small_cart_berweisung_5_failed Fraction Lower Mean 0.02
                metric get_missing_id_failed Fraction Lower Mean 0.02
                metric drop_failed Fraction Lower Mean 0.02
                metric slow_one_failed Fraction Lower Mean 0.02
                closed loop
                binary [] #0 latency=n36 p50:45023231 p99:187039743 answers_per_second=18.009004502251123 failed=0.4 shop_small_list_latency=n12 p50:3000319 p99:187039743 shop_small_list_failed=0 shop_small_cart_berweisung_5_latency=n12 p50:44007423 p99:48005119 shop_small_cart_berweisung_5_failed=0 get_missing_id_failed=1 drop_failed=1 slow_one_latency=n12 p50:123011071 p99:129040383 slow_one_failed=0
                text [] #1 latency=n36 p50:44007423 p99:133038079 answers_per_second=17.578125 failed=0.4 shop_small_list_latency=n12 p50:4001791 p99:84017151 shop_small_list_failed=0 shop_small_cart_berweisung_5_latency=n12 p50:43024383 p99:47022079 shop_small_cart_berweisung_5_failed=0 get_missing_id_failed=1 drop_failed=1 slow_one_latency=n12 p50:123011071 p99:133038079 slow_one_failed=0
                caveat CONDITIONAL_SUCCESS: requests failed, whose times are in no latency: binary GET /missing/{id} (12 times status.find.is(200),found 404), binary drop (12 times i.g.h.c.i.PrematureCloseException: Premature close), text GET /missing/{id} (12 times status.find.is(200),but actually found 404), text drop (12 times j.i.IOException: Premature close)
                caveat CONDITIONAL_SUCCESS: requests that Gatling could not make are in no number: binary (12 like: never: No attribute named 'undefined' is defined), text (12 like: never: Failed to build request: No attribute named 'undefined' is defined)
                caveat QUANTISED: whole milliseconds are coarse for these: binary latency_p50, text latency_p50
                caveat INSUFFICIENT_TAIL: fewer than 10 requests lie beyond these percentiles of a distribution: binary latency_p75, binary latency_p90, binary latency_p95, binary latency_p99, binary latency_p999, binary shop_small_list_latency_p50, binary shop_small_list_latency_p75, binary shop_small_list_latency_p90, binary shop_small_list_latency_p95, binary shop_small_list_latency_p99, binary shop_small_list_latency_p999, binary shop_small_cart_berweisung_5_latency_p50, …
                caveat ABSENT_VALUES: requests without one right answer: binary GET /missing/{id}, binary drop, text GET /missing/{id}, text drop
            "#]],
        );
    }

    #[test]
    fn a_summary_has_percentiles_and_no_distribution() {
        check(
            &[
                ("a", golden!("ko-3.10.3.stats.json")),
                ("b", golden!("ko-3.10.3.global_stats.json")),
            ],
            &expect![[r#"
                metric latency_p50 Nanoseconds Lower Mean 0.02 judged
                metric latency_p75 Nanoseconds Lower Mean 0.05
                metric latency_p95 Nanoseconds Lower Mean 0.05
                metric failed Fraction Lower Mean 0.02
                metric answers_per_second PerSecond Higher Mean 0.02
                metric create_latency_p50 Nanoseconds Lower Mean 0.02
                metric create_latency_p75 Nanoseconds Lower Mean 0.05
                metric create_failed Fraction Lower Mean 0.02
                metric balance_latency_p50 Nanoseconds Lower Mean 0.02
                metric balance_failed Fraction Lower Mean 0.02
                metric transfer_failed Fraction Lower Mean 0.02
                metric history_latency_p50 Nanoseconds Lower Mean 0.02
                metric history_latency_p75 Nanoseconds Lower Mean 0.05
                metric history_failed Fraction Lower Mean 0.02
                closed loop
                a [] #0 latency_p50=6549000000 latency_p75=6920000000 latency_p95=7474000000 answers_per_second=10.185185185185185 failed=0.9068428184281843 create_latency_p50=6563000000 create_latency_p75=6909000000 create_failed=0.5182926829268293 balance_latency_p50=6738000000 balance_failed=0.9780487804878049 transfer_failed=0.998780487804878 history_latency_p50=6480000000 history_latency_p75=6888000000 history_failed=0.5152439024390244
                b [] #1 latency_p50=6549000000 latency_p75=6920000000 latency_p95=7474000000 answers_per_second=10.185185185185185 failed=0.9068428184281843
                caveat SUMMARY_ONLY: only percentiles are given, and taken for the 50th 75th 95th and 99th, which gatling.conf may have changed: a, b
                caveat CONDITIONAL_SUCCESS: requests failed, whose times are in no latency: a (2677), b (2677)
                caveat INSUFFICIENT_TAIL: fewer than 10 requests lie beyond these percentiles, which were left out: a latency_p99, a create_latency_p95, a create_latency_p99, a balance_latency_p75, a balance_latency_p95, a balance_latency_p99, a transfer_latency_p50, a transfer_latency_p75, a transfer_latency_p95, a transfer_latency_p99, a history_latency_p95, a history_latency_p99, …
            "#]],
        );
    }

    #[test]
    fn a_run_whose_median_moves_is_not_steady() {
        let requests = |took_ms: fn(u64) -> u64| {
            log((0..300).map(move |i| ("a", 10 * i, 10 * i + took_ms(i), "OK")))
        };
        let settling = requests(|i| if i < 100 { 400 } else { 300 });
        let steady = requests(|i| 300 + i % 5);
        let short = requests(|i| if i < 100 { 2 } else { 1 });
        check(
            &[
                ("settling", settling.as_bytes()),
                ("steady", steady.as_bytes()),
                ("short", short.as_bytes()),
            ],
            &expect![[r#"
                metric latency_p50 Nanoseconds Lower Quantile(0.5) 0.02 judged
                metric latency_p75 Nanoseconds Lower Quantile(0.75) 0.05
                metric latency_p90 Nanoseconds Lower Quantile(0.9) 0.05
                metric latency_p95 Nanoseconds Lower Quantile(0.95) 0.05
                metric answers_per_second PerSecond Higher Mean 0.02
                metric failed Fraction Lower Mean 0.02
                metric a_latency_p50 Nanoseconds Lower Quantile(0.5) 0.02
                metric a_latency_p75 Nanoseconds Lower Quantile(0.75) 0.05
                metric a_latency_p90 Nanoseconds Lower Quantile(0.9) 0.05
                metric a_latency_p95 Nanoseconds Lower Quantile(0.95) 0.05
                metric a_failed Fraction Lower Mean 0.02
                closed loop
                settling [] #0 latency=n300 p50:300154879 p99:400031743 answers_per_second=91.1854103343465 failed=0 a_latency=n300 p50:300154879 p99:400031743 a_failed=0
                steady [] #1 latency=n300 p50:302252031 p99:304087039 answers_per_second=91.07468123861567 failed=0 a_latency=n300 p50:302252031 p99:304087039 a_failed=0
                short [] #2 latency=n300 p50:1000447 p99:2000895 answers_per_second=100.30090270812437 failed=0 a_latency=n300 p50:1000447 p99:2000895 a_failed=0
                caveat NOT_STEADY: the median moved from third to third of the run, which is counted whole: settling (400 300 300 ms)
                caveat INSUFFICIENT_TAIL: fewer than 10 requests lie beyond these percentiles of a distribution: settling latency_p99, settling latency_p999, settling a_latency_p99, settling a_latency_p999, steady latency_p99, steady latency_p999, steady a_latency_p99, steady a_latency_p999, short latency_p99, short latency_p999, short a_latency_p99, short a_latency_p999
                caveat QUANTISED: whole milliseconds are coarse for these: short latency_p50, short latency_p75, short latency_p90, short latency_p95, short a_latency_p50, short a_latency_p75, short a_latency_p90, short a_latency_p95
            "#]],
        );
    }

    #[test]
    fn a_run_without_a_right_answer_is_a_failure() {
        let wrong = log([("a", 0, 5, "KO"), ("b", 1, 7, "KO")]);
        let instant = log([("a", 3, 3, "OK")]);
        check(
            &[("wrong", wrong.as_bytes()), ("instant", instant.as_bytes())],
            &expect![[r#"
            metric failed Fraction Lower Mean 0.02 judged
            metric a_failed Fraction Lower Mean 0.02 judged
            closed loop
            wrong [] #0 failed: none of 2 requests got a right answer
            instant [] #1 latency=n1 p50:0 p99:0 failed=0 a_latency=n1 p50:0 p99:0 a_failed=0
            caveat CONDITIONAL_SUCCESS: requests failed, whose times are in no latency: wrong a (1 times x), wrong b (1 times x)
            caveat INSUFFICIENT_TAIL: fewer than 10 requests lie beyond these percentiles of a distribution: instant latency_p50, instant latency_p75, instant latency_p90, instant latency_p95, instant latency_p99, instant latency_p999, instant a_latency_p50, instant a_latency_p75, instant a_latency_p90, instant a_latency_p95, instant a_latency_p99, instant a_latency_p999
            caveat ABSENT_VALUES: answers in a second of a run that took none: instant
        "#]],
        );
    }

    #[test]
    fn names_become_ids_that_are_told_apart_or_refused() {
        let id = |name: &str| Part { name: Some(name), label: "" }.id("latency");
        for (name, expected) in [
            ("transfer", "transfer_latency"),
            ("cart / list", "cart_list_latency"),
            ("GET /accounts/{id}", "get_accounts_id_latency"),
            ("100% cpu", "request_100_cpu_latency"),
            ("404", "request_404_latency"),
            ("송금", "value_latency"),
        ] {
            assert_eq!(id(name), expected);
        }
        let row = |name| (0..30).map(move |i| (name, i, i + 1, "OK"));
        let told = refused(log(row("a b").chain(row("a/b"))).as_bytes());
        let both = "`latency p50 of `a/b`` and `latency p50 of `a b`` would both be called";
        assert_eq!(told, format!("{both} a_b_latency_p50"));
    }

    #[test]
    fn what_has_no_request_or_is_of_another_kind_is_refused() {
        assert_eq!(refused(golden!("head-3.10.3.log")), "it has no request");
        assert_eq!(refused(b"{}"), "the file has no `numberOfRequests`");
        let tab = refused(golden!("tab-in-a-name-3.10.3.log"));
        assert!(tab.starts_with("line 24: is a record REQUEST of 8 columns"), "{tab}");
        let files: [(&str, &[u8]); 2] =
            [("a", golden!("head-3.15.1.log")), ("b", golden!("ko-3.10.3.stats.json"))];
        let trouble = read(&ENTRY, &files, &Mapping::default()).unwrap_err();
        assert_eq!(trouble.cause, "`latency p50` is summarised in another way than before");
    }
}
