//! Results of Google Benchmark (`--benchmark_format=json`): each file is a replicate.

use crate::importer::{ImportFile, Importer};
use crate::mapping::Mapping;
use crate::metrics::unit;
use crate::table::{ImportedRow, ImportedTable};
use crate::time_order::of_date;
use contract::Description;
use model::{CaveatCode, Direction, Reduction, Sample, Unit};
use outputs::Trouble;
use outputs::{Json, JsonNode};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) static ENTRY: Entry = Entry;

static DESCRIPTION: Description = Description {
    id: "google-benchmark",
    summary: "Google Benchmark's JSON: each file is one execution and a replicate",
    doc: "A file is one execution of a benchmark program and one replicate: run it at least five times for each \
          subject, in turns of which each is first as often (a b, b a, …), and give all files in that order, \
          `old=a1.json new=b1.json new=b2.json old=a2.json …`; where every file tells its time (`date`), executions are \
          in that order, whatever that of the files. The dimension `benchmark` \
          is covered by each execution. Repetitions inside an execution share its memory layout, its CPU and its \
          moment; they are averaged inside it (mean of logs) and are no replicates. `real_time` is the headline; \
          `cpu_time`, `items_per_second`, `bytes_per_second` and the counters that `--better NAME=lower` (or \
          `=higher`) declares are kept beside it. Aggregates (mean, median, …) are used only where there are no \
          iterations: then the mean, with SUMMARY_ONLY. A benchmark that reported an error is a failure; one that \
          was skipped is absent.",
};

/// The format.
pub(crate) struct Entry;

/// One entry of the list of benchmarks.
struct Entered<'a> {
    place: JsonNode<'a>,
    benchmark: &'a str,
    /// `mean`, `cv`, …; of an iteration there is none.
    aggregate: Option<&'a str>,
}

impl Importer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "\"benchmarks\": [",
            "\"name\": \"x\"",
            "\"run_name\": \"y\"",
            "\"run_type\": \"iteration\"",
            "\"run_type\": \"aggregate\"",
            "\"aggregate_name\": \"mean\"",
            "\"BigO\"",
            "\"error_occurred\": true",
            "\"skipped\": true",
            "\"real_time\": 1",
            "\"cpu_time\": 1",
            "\"time_unit\": \"ms\"",
            "\"items_per_second\": 3",
            "\"depth\": 3",
            "better = {depth = \"lower\"}",
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
        mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        let json = Json::parse(source.bytes)?;
        table.hold_document(json.held_bytes())?;
        let list = JsonNode::root(&json).member("benchmarks")?;
        table.settings(source.subject, &settings(&JsonNode::root(&json)));
        // Each is read once more below: all of them with their places would be as large as the file.
        let (mut iterated, mut averaged) = (BTreeSet::new(), BTreeSet::new());
        for entry in list.items()?.map(Entered::of) {
            let entry = entry?;
            match entry.aggregate {
                None => iterated.insert(entry.benchmark),
                Some("mean") => averaged.insert(entry.benchmark),
                Some(_) => false,
            };
        }
        table.declare(&["benchmark"], &[])?;
        let execution = table.next_execution();
        table.note_time(&execution, began_ms(&JsonNode::root(&json)));
        let first = table.rows.len();
        for entry in list.items()?.map(Entered::of) {
            let entry = entry?;
            match entry.aggregate {
                None => {}
                Some(_) if iterated.contains(entry.benchmark) => continue,
                // Fits over several benchmarks, not values of one.
                Some("BigO" | "RMS") => continue,
                Some("mean") => {
                    let what = "only the mean of several repetitions";
                    table.notice(CaveatCode::SummaryOnly, what, entry.benchmark);
                }
                Some(_) if averaged.contains(entry.benchmark) => continue,
                Some(other) => {
                    let what =
                        format!("is a {other}, and there is neither an iteration nor a mean");
                    return Err(entry.place.trouble(what));
                }
            }
            entry.append(source, mapping, &execution, table)?;
        }
        if table.rows.len() == first {
            return Err(Trouble::new(
                "no benchmark in it was measured",
                "give a file with results",
            ));
        }
        Ok(())
    }
}

/// When the program began, where the library says so.
fn began_ms(root: &JsonNode<'_>) -> Option<i64> {
    let date = root.optional("context").ok().flatten()?.optional("date").ok().flatten()?;
    of_date(date.text().ok()?)
}

/// What the library says of the machine and of itself, as far as it is no moment's or the program's.
fn settings(root: &JsonNode<'_>) -> BTreeMap<String, String> {
    let Ok(Some(context)) = root.optional("context") else { return BTreeMap::new() };
    let said = |name: &str| context.optional(name).ok().flatten();
    let level = |name: &str| said(name)?.level().ok();
    let flag = |name: &str| said(name)?.boolean().ok().map(|flag| flag.to_string());
    let clock = said("mhz_per_cpu").and_then(|value| value.number().ok());
    let clock = clock.map(|mhz| (mhz / CLOCK_STEP_MHZ).round() * CLOCK_STEP_MHZ);
    let all = [
        ("host_name", level("host_name")),
        ("num_cpus", level("num_cpus")),
        ("library_version", level("library_version")),
        ("library_build_type", level("library_build_type")),
        ("cpu_scaling_enabled", flag("cpu_scaling_enabled")),
        ("aslr_enabled", flag("aslr_enabled")),
        ("mhz_per_cpu", clock.map(|mhz| format!("about {mhz}"))),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

impl<'a> Entered<'a> {
    fn of(place: JsonNode<'a>) -> Result<Self, Trouble> {
        let name = place.member("name")?.text()?;
        let run_name = place.optional("run_name")?.map(|name| name.text()).transpose()?;
        let aggregate = match place.optional("run_type")?.map(|kind| kind.text()).transpose()? {
            Some("iteration") => None,
            Some("aggregate") => Some(place.member("aggregate_name")?.text()?),
            Some(_) => return Err(place.trouble("has a run_type that is not known")),
            // Libraries before 1.5 do not say; their aggregates are called `NAME_mean`.
            None if ["_mean", "_median", "_stddev"].iter().any(|end| name.ends_with(end)) => {
                return Err(
                    place.trouble("does not say whether it is an iteration or an aggregate")
                );
            }
            None => None,
        };
        Ok(Self { place, benchmark: run_name.unwrap_or(name), aggregate })
    }

    fn append(
        &self,
        source: &ImportFile<'_>,
        mapping: &Mapping,
        execution: &str,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        let is_set = |key: &str| match self.place.optional(key)? {
            Some(flag) => flag.boolean(),
            None => Ok(false),
        };
        let text = |key: &str| match self.place.optional(key)? {
            Some(text) => text.text(),
            None => Ok("no reason given"),
        };
        if is_set("skipped")? {
            table.notice(CaveatCode::AbsentValues, "skipped by the program", self.benchmark);
            return Ok(());
        }
        let (samples, failure) = if is_set("error_occurred")? {
            (Vec::new(), Some(text("error_message")?.to_owned()))
        } else {
            (self.samples(mapping, table)?, None)
        };
        let row = ImportedRow {
            subject: source.subject.to_owned(),
            levels: vec![self.benchmark.to_owned()],
            execution: Some(execution.to_owned()),
            block: None,
            samples,
            failure,
        };
        table.push(None, row)
    }

    fn samples(
        &self,
        mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<Vec<Sample>, Trouble> {
        let mut samples = Vec::new();
        let time_unit = self.place.member("time_unit")?;
        let scale = match unit(time_unit.text()?) {
            (Unit::Nanoseconds, scale) => scale,
            _ => return Err(time_unit.trouble("is no unit of time")),
        };
        for name in ["real_time", "cpu_time"] {
            let value = self.place.member(name)?;
            let id = table.metric(name, Unit::Nanoseconds, Direction::Lower, Reduction::Mean)?;
            samples.push(Sample::values(&id, vec![value.scaled(scale)?]));
        }
        table.judge("real_time");
        for name in ["items_per_second", "bytes_per_second"] {
            if let Some(value) = self.place.optional(name)? {
                let id = table.metric(name, Unit::PerSecond, Direction::Higher, Reduction::Mean)?;
                samples.push(Sample::values(&id, vec![value.amount()?]));
            }
        }
        // A mapping may declare very many counters.
        let mut declared: Vec<(&str, JsonNode<'_>)> = self
            .place
            .members()?
            .filter(|(name, value)| mapping.better.contains_key(*name) && !value.is_null())
            .filter(|(name, _)| !KNOWN.contains(name))
            .collect();
        declared.sort_by_key(|(name, _)| *name);
        for (name, value) in declared {
            let Some(direction) = mapping.direction_of(name) else { continue };
            let id = table.metric(name, Unit::Plain, direction, Reduction::Mean)?;
            samples.push(Sample::values(&id, vec![value.number()?]));
        }
        Ok(samples)
    }
}

/// A clock that is read at one moment differs by a part of this from another moment's.
const CLOCK_STEP_MHZ: f64 = 500.0;

/// Metrics whose direction nobody else declares.
const KNOWN: [&str; 4] = ["real_time", "cpu_time", "items_per_second", "bytes_per_second"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MappingDirection as Better;
    use crate::picture::{imported, picture, read, refusal};
    use expect_test::{Expect, expect};

    const FIRST: &[u8] = include_bytes!("../tests/golden/google-benchmark/1.7-repetitions-1.json");
    const SECOND: &[u8] = include_bytes!("../tests/golden/google-benchmark/1.7-repetitions-2.json");
    const AGGREGATES: &[u8] =
        include_bytes!("../tests/golden/google-benchmark/1.7-aggregates-only.json");

    fn check(files: &[(&str, &[u8])], mapping: &Mapping, expected: &Expect) {
        expected.assert_eq(&picture(&read(&ENTRY, files, mapping).unwrap()));
    }

    fn refused(benchmarks: &str) -> String {
        let text = format!("{{\"benchmarks\": {benchmarks}}}");
        refusal(&ENTRY, text.as_bytes(), &Mapping::default())
    }

    /// Where each counter of the mapping is looked for in each entry this ends at the time limit.
    #[test]
    fn counters_that_a_mapping_declares_are_looked_up() {
        let better = (0..100_000).map(|counter| (format!("k{counter}"), Better::Lower)).collect();
        let mapping = Mapping { better, ..Mapping::default() };
        let entry = r#"{"name": "x", "run_type": "iteration", "real_time": 1, "cpu_time": 1, "time_unit": "ns", "k9": null, "k7": 2, "k10": 3}"#;
        let text = format!("{{\"benchmarks\": [{}]}}", vec![entry; 50_000].join(","));
        let table = read(&ENTRY, &[("a", text.as_bytes())], &mapping).unwrap();
        let ids: Vec<&str> = table.metrics.iter().map(|metric| metric.id.as_str()).collect();
        assert_eq!(ids, ["real_time", "cpu_time", "k10", "k7"]);
    }

    #[test]
    fn builds_and_machines_that_differ_are_named() {
        let release = String::from_utf8_lossy(FIRST)
            .replace("\"debug\"", "\"release\"")
            .replace("\"num_cpus\": 2", "\"num_cpus\": 8")
            .replace("\"mhz_per_cpu\": 2596", "\"mhz_per_cpu\": 4000");
        let told = |files: &[(&str, &[u8])]| -> Vec<String> {
            let plan = imported(&ENTRY, files, &Mapping::default()).unwrap().plan;
            let caveats = plan.imported.unwrap().caveats.into_iter();
            let differ = caveats.filter(|caveat| caveat.code == CaveatCode::SettingsDiffer);
            differ.map(|caveat| caveat.detail).collect()
        };
        assert_eq!(told(&[("a", FIRST), ("b", SECOND)]), [""; 0]);
        assert_eq!(
            told(&[("a", FIRST), ("b", release.as_bytes())]),
            ["by the tool's own words: library_build_type (a: debug; b: release), \
                 mhz_per_cpu (a: about 2500; b: about 4000), num_cpus (a: 2; b: 8)"]
        );
    }

    #[test]
    fn each_file_is_an_execution_and_repetitions_are_inside_it() {
        check(
            &[("a", FIRST), ("a", SECOND)],
            &Mapping::default(),
            &expect![[r#"
            dimension benchmark covered
            metric real_time Nanoseconds Lower Mean 0.02 judged
            metric cpu_time Nanoseconds Lower Mean 0.02
            metric items_per_second PerSecond Higher Mean 0.02
            metric bytes_per_second PerSecond Higher Mean 0.02
            a [BM_Sort/64] #0 real_time=157.33783030761495 cpu_time=157.25720704689027 items_per_second=406976578.0649834
            a [BM_Sort/64] #0 real_time=155.60811688457358 cpu_time=155.15813239612064 items_per_second=412482407.5389565
            a [BM_Sort/512] #0 real_time=1611.070668635269 cpu_time=1611.0811892510003 items_per_second=317799005.67148405
            a [BM_Sort/512] #0 real_time=1616.5345908143158 cpu_time=1616.548427672956 items_per_second=316724195.35060334
            a [BM_Copy] #0 real_time=42.30632395218382 cpu_time=42.3068409246192 bytes_per_second=96816493750.93037
            a [BM_Copy] #0 real_time=42.30626046952292 cpu_time=42.30656883551911 bytes_per_second=96817116413.40062
            a [BM_Broken] #0 failed: no such device
            a [BM_Broken] #0 failed: no such device
            a [BM_Sort/64] #8 real_time=158.19070250850862 cpu_time=157.95447394296954 items_per_second=405180039.5543567
            a [BM_Sort/64] #8 real_time=156.91271715991928 cpu_time=156.88176554135254 items_per_second=407950533.82497925
            a [BM_Sort/512] #8 real_time=1596.7339578870383 cpu_time=1596.7504683840755 items_per_second=320651228.9413312
            a [BM_Sort/512] #8 real_time=1601.1902808571078 cpu_time=1601.2019906323183 items_per_second=319759782.33565027
            a [BM_Copy] #8 real_time=43.40118456241939 cpu_time=43.40149630599459 bytes_per_second=94374626421.21542
            a [BM_Copy] #8 real_time=43.677820376643055 cpu_time=43.678100938308546 bytes_per_second=93776970884.91182
            a [BM_Broken] #8 failed: no such device
            a [BM_Broken] #8 failed: no such device
        "#]],
        );
    }

    #[test]
    fn an_execution_is_one_record_of_each_benchmark() {
        let files = [("old", FIRST), ("old", SECOND), ("new", FIRST), ("new", SECOND)];
        let campaign = imported(&ENTRY, &files, &Mapping::default()).unwrap();
        let of_copy = |subject: &str| -> Vec<(u32, usize)> {
            let records = campaign.records.iter().filter(|record| record.subject == subject);
            let records = records.filter(|record| record.workload == "benchmark:BM_Copy");
            records.map(|record| (record.block, record.invocations.len())).collect()
        };
        assert_eq!([of_copy("old"), of_copy("new")], [[(0, 2), (1, 2)], [(0, 2), (1, 2)]]);
    }

    #[test]
    fn aggregates_are_used_only_without_iterations_and_say_so() {
        check(
            &[("a", AGGREGATES)],
            &Mapping::default(),
            &expect![[r#"
            dimension benchmark covered
            metric real_time Nanoseconds Lower Mean 0.02 judged
            metric cpu_time Nanoseconds Lower Mean 0.02
            metric items_per_second PerSecond Higher Mean 0.02
            metric bytes_per_second PerSecond Higher Mean 0.02
            a [BM_Sort/64] #0 real_time=158.14374480950315 cpu_time=157.95027128653396 items_per_second=405192777.8355551
            a [BM_Sort/512] #0 real_time=1581.9483424810417 cpu_time=1581.96584517466 items_per_second=323652301.7489402
            a [BM_Copy] #0 real_time=41.51375276998583 cpu_time=41.50286775488481 bytes_per_second=98766940370.05788
            caveat SUMMARY_ONLY: only the mean of several repetitions: BM_Sort/64, BM_Sort/512, BM_Copy
        "#]],
        );
    }

    #[test]
    fn a_counter_is_a_metric_where_its_direction_is_declared() {
        let better = [("depth".to_owned(), Better::Lower), ("absent".to_owned(), Better::Lower)];
        let mapping = Mapping { better: better.into(), ..Mapping::default() };
        let table = read(&ENTRY, &[("a", AGGREGATES)], &mapping).unwrap();
        let ids: Vec<&str> = table.metrics.iter().map(|metric| metric.id.as_str()).collect();
        assert_eq!(ids, ["real_time", "cpu_time", "items_per_second", "depth", "bytes_per_second"]);
        assert_eq!(table.primary, ["real_time"]);
    }

    #[test]
    fn a_skipped_benchmark_is_absent_and_no_failure() {
        let text = br#"{"benchmarks": [
            {"name": "x", "real_time": 1, "cpu_time": 1, "time_unit": "ms"},
            {"name": "y", "skipped": true, "skip_message": "no"}
        ]}"#;
        check(
            &[("a", text)],
            &Mapping::default(),
            &expect![[r#"
            dimension benchmark covered
            metric real_time Nanoseconds Lower Mean 0.02 judged
            metric cpu_time Nanoseconds Lower Mean 0.02
            a [x] #0 real_time=1000000 cpu_time=1000000
            caveat ABSENT_VALUES: skipped by the program: y
        "#]],
        );
    }

    #[test]
    fn what_is_wrong_is_named_by_its_path() {
        for (benchmarks, cause) in [
            ("[]", "no benchmark in it was measured"),
            ("[{}]", "benchmarks[0] has no `name`"),
            ("[{\"name\": \"x\"}]", "benchmarks[0] has no `time_unit`"),
            (
                "[{\"name\": \"x\", \"time_unit\": \"parsec\"}]",
                "benchmarks[0].time_unit is no unit of time",
            ),
            (
                "[{\"name\": \"x\", \"time_unit\": \"s\", \"real_time\": -1}]",
                "benchmarks[0].real_time is -1, and cannot be negative",
            ),
            (
                "[{\"name\": \"x\", \"time_unit\": \"s\", \"real_time\": 1e305}]",
                "benchmarks[0].real_time is too large",
            ),
            (
                "[{\"name\": \"x_mean\"}]",
                "benchmarks[0] does not say whether it is an iteration or an aggregate",
            ),
            (
                "[{\"name\": \"x\", \"run_type\": \"other\"}]",
                "benchmarks[0] has a run_type that is not known",
            ),
            (
                "[{\"name\": \"x\", \"run_type\": \"aggregate\", \"aggregate_name\": \"cv\"}]",
                "benchmarks[0] is a cv, and there is neither an iteration nor a mean",
            ),
        ] {
            assert_eq!(refused(benchmarks), cause);
        }
    }
}
