//! Results of schbench (`-j`): each file is a replicate of summary percentiles.

use crate::importer::{ImportFile, Importer};
use crate::mapping::Mapping;
use crate::percentile;
use crate::table::{ImportedRow, ImportedTable};
use crate::tool_settings::options;
use contract::Description;
use model::{CaveatCode, Direction, Reduction, Sample, Unit};
use outputs::Trouble;
use outputs::{Json, JsonNode, Percentile};
use std::collections::BTreeMap;

pub(crate) static ENTRY: Entry = Entry;

static DESCRIPTION: Description = Description {
    id: "schbench",
    summary: "schbench -j: wakeup and request latency percentiles, each file a replicate",
    doc: "A file is one execution of schbench and one replicate. It may be the JSON alone (`-j FILE`) or JSON followed \
          by the text that schbench also writes (`-j -`). `wakeup_latency_pNN` and `request_latency_pNN` are the \
          percentiles as printed, in microseconds; `rps` is the average of requests per second. The JSON does not \
          say how many latencies a percentile was taken from, so that nobody can tell whether its tail had samples \
          (SUMMARY_ONLY); where the text that follows tells, a percentile of fewer than ten samples beyond it is left \
          out (INSUFFICIENT_TAIL). schbench is closed-loop: a worker that waits sends no request.",
};

/// The latencies it reports, and how its text calls them.
const LATENCIES: [(&str, &str); 2] =
    [("wakeup_latency", "Wakeup Latencies"), ("request_latency", "Request Latencies")];
/// The one that is judged.
const P99: Percentile = Percentile::whole(99);
const LEFT_OUT: &str = "fewer than 10 samples lie beyond these percentiles, which were left out";
const TAKEN: &str = "only percentiles are given, not the latencies they were taken from";
const UNCHECKED: &str = "only percentiles are given, and not of how many latencies: whether their tail has samples \
                         could not be checked";
/// Whole microseconds.
const RESOLUTION_NS: f64 = 1_000.0;

/// The format.
pub(crate) struct Entry;

impl Importer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "\"int\": {",
            "\"wakeup_latency_pct99.0\": 5",
            "\"request_latency_pct50.0\": 5",
            "\"average_rps\": 5",
            "average rps: 5\n",
            "Wakeup Latencies percentiles (usec) runtime 3 (s) (1730 total samples)\n",
            "total samples)",
            "(",
            "{",
            "}",
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
        let (json, text) = Json::parse_first(source.bytes)?;
        let values = JsonNode::root(&json).member("int")?;
        table.settings(source.subject, &settings(&JsonNode::root(&json)));
        // Signs in place of bytes that are no text would be three times as long.
        let text = std::str::from_utf8(text).map_err(|_| {
            Trouble::new("what follows its JSON is no text", "give the output of schbench -j alone")
        })?;
        table.declare(&[], &[])?;
        table.is_closed_loop = true;
        let mut samples = Vec::new();
        for (latency, title) in LATENCIES {
            let count = total_samples(text, title);
            samples.extend(percentiles(&values, latency, count, source.subject, table)?);
        }
        if let Some(rps) = requests_per_second(&values, text)? {
            let id = table.metric("rps", Unit::PerSecond, Direction::Higher, Reduction::Mean)?;
            samples.push(Sample::values(&id, vec![rps]));
            table.judge(&id);
        }
        if samples.is_empty() {
            let cause = "it has neither a percentile that may be used nor requests per second";
            return Err(Trouble::new(cause, "give a longer run of schbench -j"));
        }
        let row = ImportedRow {
            subject: source.subject.to_owned(),
            levels: Vec::new(),
            execution: Some(table.next_execution()),
            block: None,
            samples,
            failure: None,
        };
        table.push(None, row)
    }
}

/// The options that schbench says it was started with, but for the file that it wrote to, and where.
fn settings(root: &JsonNode<'_>) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    let Ok(Some(said)) = root.optional("normal") else { return settings };
    let text = |key: &str| said.optional(key).ok().flatten()?.text().ok();
    if let Some(line) = text("cmdline") {
        settings = options(line.split_whitespace().skip(1));
        settings.retain(|name, _| !matches!(name.as_str(), "-j" | "--json"));
    }
    settings.extend(text("hostname").map(|host| ("host".to_owned(), host.to_owned())));
    settings
}

/// The percentiles of one latency that may be used, given how many it was taken from.
fn percentiles(
    values: &JsonNode<'_>,
    latency: &str,
    count: Option<u64>,
    subject: &str,
    table: &mut ImportedTable,
) -> Result<Vec<Sample>, Trouble> {
    let mut samples: Vec<Sample> = Vec::new();
    for (key, place) in values.members()? {
        let percent = key.strip_prefix(latency).and_then(|key| key.strip_prefix("_pct"));
        let Some(percent) = percent.filter(|_| !place.is_null()) else { continue };
        let percentile = Percentile::parse(percent)
            .ok_or_else(|| place.trouble("has a key that names no percentile"))?;
        let what = if count.is_some() { TAKEN } else { UNCHECKED };
        table.notice(CaveatCode::SummaryOnly, what, latency);
        let mut metric = percentile::metric(percentile, latency, Reduction::Mean);
        metric.resolution = RESOLUTION_NS;
        if count.is_some_and(|count| !percentile.has_tail(count)) {
            let item = format!("{subject} {}", metric.id);
            table.notice(CaveatCode::InsufficientTail, LEFT_OUT, &item);
            continue;
        }
        let id = table.know(metric)?;
        if samples.iter().any(|known| known.source == id) {
            return Err(place.trouble("is a percentile that is given twice"));
        }
        samples.push(Sample::values(&id, vec![place.count()? as f64 * 1e3]));
        if percentile == P99 {
            table.judge(&id);
        }
    }
    Ok(samples)
}

/// The average over the run: of the JSON, or else of the text after it.
fn requests_per_second(values: &JsonNode<'_>, text: &str) -> Result<Option<f64>, Trouble> {
    if let Some(place) = values.optional("average_rps")? {
        return Ok(Some(place.amount()?));
    }
    let Some(written) =
        text.lines().filter_map(|line| line.strip_prefix("average rps:")).next_back()
    else {
        return Ok(None);
    };
    let number = written.trim().parse::<f64>().ok().filter(|rps| rps.is_finite() && *rps >= 0.0);
    let wrong = || Trouble::new("the average rps of its text is no number", "remove the text");
    number.ok_or_else(wrong).map(Some)
}

/// How many latencies the last report of the text was made from.
fn total_samples(text: &str, title: &str) -> Option<u64> {
    let report = text.lines().rfind(|line| line.starts_with(title))?;
    let (_, counted) = report.rsplit_once('(')?;
    counted.strip_suffix(" total samples)")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{picture, read, refusal, settings_that_differ};
    use expect_test::{Expect, expect};

    const IDLE: &[u8] = include_bytes!("../tests/golden/schbench/m1_t2_default__idle.txt");
    const LOAD: &[u8] = include_bytes!("../tests/golden/schbench/m1_t2_default__load.txt");
    const FEW: &[u8] = include_bytes!("../tests/golden/schbench/m1_t2_rps50__idle.txt");
    const PIPE: &[u8] = include_bytes!("../tests/golden/schbench/pipe_json.json");
    const JSON: &[u8] = include_bytes!("../tests/golden/schbench/rps50_json.json");

    fn check(files: &[(&str, &[u8])], expected: &Expect) {
        expected.assert_eq(&picture(&read(&ENTRY, files, &Mapping::default()).unwrap()));
    }

    fn refused(int: &str) -> String {
        refusal(&ENTRY, format!("{{\"int\": {int}}}").as_bytes(), &Mapping::default())
    }

    #[test]
    fn another_number_of_threads_and_another_host_are_named_and_another_file_is_not() {
        let text = String::from_utf8_lossy(JSON);
        let told = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            let other = text.replace(from, to);
            settings_that_differ(&ENTRY, &[("a", JSON), ("b", other.as_bytes())])
        };
        assert_eq!(told("-j -", "-j other.json"), [""; 0]);
        assert_eq!(told("-t 2", "-t 8"), ["by the tool's own words: -t (a: 2; b: 8)"]);
        assert_eq!(told("-R 50 ", ""), ["by the tool's own words: -R (a: 50; b: not said)"]);
        assert_eq!(
            told("\"hostname\": \"lab\"", "\"hostname\": \"other\""),
            ["by the tool's own words: host (a: lab; b: other)"]
        );
    }

    #[test]
    fn bytes_behind_the_json_that_are_no_text_are_refused() {
        let cause = refusal(&ENTRY, b"{\"int\": {}}\xff\n", &Mapping::default());
        assert!(cause.contains("what follows its JSON is no text"), "{cause}");
    }

    #[test]
    fn each_file_is_an_execution_of_summary_percentiles() {
        check(
            &[("idle", IDLE), ("load", LOAD)],
            &expect![[r#"
                metric wakeup_latency_p20 Nanoseconds Lower Mean 0.02
                metric wakeup_latency_p50 Nanoseconds Lower Mean 0.02
                metric wakeup_latency_p90 Nanoseconds Lower Mean 0.05
                metric wakeup_latency_p99 Nanoseconds Lower Mean 0.05 judged
                metric request_latency_p20 Nanoseconds Lower Mean 0.02
                metric request_latency_p50 Nanoseconds Lower Mean 0.02
                metric request_latency_p90 Nanoseconds Lower Mean 0.05
                metric request_latency_p99 Nanoseconds Lower Mean 0.05 judged
                metric rps PerSecond Higher Mean 0.02 judged
                closed loop
                idle [] #0 wakeup_latency_p20=1000 wakeup_latency_p50=2000 wakeup_latency_p90=101000 wakeup_latency_p99=4808000 request_latency_p20=2940000 request_latency_p50=2996000 request_latency_p90=3300000 request_latency_p99=7128000 rps=577.33
                load [] #1 wakeup_latency_p20=3000 wakeup_latency_p50=31000 wakeup_latency_p90=5032000 request_latency_p20=2916000 request_latency_p50=3028000 request_latency_p90=7128000 rps=324.67
                caveat SUMMARY_ONLY: only percentiles are given, not the latencies they were taken from: wakeup_latency, request_latency
                caveat INSUFFICIENT_TAIL: fewer than 10 samples lie beyond these percentiles, which were left out: idle wakeup_latency_p999, idle request_latency_p999, load wakeup_latency_p99, load wakeup_latency_p999, load request_latency_p99, load request_latency_p999
            "#]],
        );
    }

    #[test]
    fn json_alone_has_percentiles_whose_tail_nobody_can_check() {
        check(
            &[("pipe", PIPE), ("rps", JSON)],
            &expect![[r#"
                metric wakeup_latency_p20 Nanoseconds Lower Mean 0.02
                metric wakeup_latency_p50 Nanoseconds Lower Mean 0.02
                metric wakeup_latency_p90 Nanoseconds Lower Mean 0.05
                metric wakeup_latency_p99 Nanoseconds Lower Mean 0.05 judged
                metric wakeup_latency_p999 Nanoseconds Lower Mean 0.1
                metric request_latency_p20 Nanoseconds Lower Mean 0.02
                metric request_latency_p50 Nanoseconds Lower Mean 0.02
                metric request_latency_p90 Nanoseconds Lower Mean 0.05
                metric request_latency_p99 Nanoseconds Lower Mean 0.05 judged
                metric request_latency_p999 Nanoseconds Lower Mean 0.1
                closed loop
                pipe [] #0 wakeup_latency_p20=1000 wakeup_latency_p50=1000 wakeup_latency_p90=3000 wakeup_latency_p99=21000 wakeup_latency_p999=51000
                rps [] #1 wakeup_latency_p20=10000 wakeup_latency_p50=11000 wakeup_latency_p90=869376000 wakeup_latency_p99=869376000 wakeup_latency_p999=869376000 request_latency_p20=2972000 request_latency_p50=6120000 request_latency_p90=10672000 request_latency_p99=25696000 request_latency_p999=34240000
                caveat SUMMARY_ONLY: only percentiles are given, and not of how many latencies: whether their tail has samples could not be checked: wakeup_latency, request_latency
            "#]],
        );
    }

    #[test]
    fn a_percentile_without_a_tail_is_left_out_where_the_text_tells() {
        check(
            &[("a", FEW)],
            &expect![[r#"
                metric request_latency_p20 Nanoseconds Lower Mean 0.02
                metric request_latency_p50 Nanoseconds Lower Mean 0.02
                metric request_latency_p90 Nanoseconds Lower Mean 0.05
                metric rps PerSecond Higher Mean 0.02 judged
                closed loop
                a [] #0 request_latency_p20=3004000 request_latency_p50=4616000 request_latency_p90=12752000 rps=50
                caveat SUMMARY_ONLY: only percentiles are given, not the latencies they were taken from: wakeup_latency, request_latency
                caveat INSUFFICIENT_TAIL: fewer than 10 samples lie beyond these percentiles, which were left out: a wakeup_latency_p20, a wakeup_latency_p50, a wakeup_latency_p90, a wakeup_latency_p99, a wakeup_latency_p999, a request_latency_p99, a request_latency_p999
            "#]],
        );
    }

    #[test]
    fn the_average_of_the_json_comes_before_that_of_the_text() {
        let text = b"{\"int\": {\"average_rps\": 7.5}}average rps: 9.00";
        let table = read(&ENTRY, &[("a", text)], &Mapping::default()).unwrap();
        assert_eq!(table.rows[0].samples, [Sample::values("rps", vec![7.5])]);
    }

    #[test]
    fn what_is_wrong_is_named_by_its_path() {
        for (int, cause) in [
            ("{}", "it has neither a percentile that may be used nor requests per second"),
            ("3", "int is no object"),
            ("{\"wakeup_latency_pct50.0\": -1}", "int.wakeup_latency_pct50.0 is no count"),
            ("{\"wakeup_latency_pct50.0\": 1.5}", "int.wakeup_latency_pct50.0 is no count"),
            (
                "{\"wakeup_latency_pctx\": 1}",
                "int.wakeup_latency_pctx has a key that names no percentile",
            ),
            (
                "{\"wakeup_latency_pct50.0\": 1, \"wakeup_latency_pct50\": 1}",
                "int.wakeup_latency_pct50 is a percentile that is given twice",
            ),
            ("{\"average_rps\": \"x\"}", "int.average_rps is no number"),
        ] {
            assert_eq!(refused(int), cause);
        }
        let text = b"{\"int\": {}}\naverage rps: inf\n";
        let cause = refusal(&ENTRY, text, &Mapping::default());
        assert_eq!(cause, "the average rps of its text is no number");
    }
}
