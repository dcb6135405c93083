//! What every venue of the catalogue owes, asked of each by one function.

use super::{Guests, has_guests, of};
use crate::bench::Bench;
use contract::{Footprint, VenueEntry};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const WORKLOADS: &str = r#"
[[workloads]]
use = "messaging"
groups = 1
loops = 10
[[workloads]]
use = "cyclic"
duration = "300ms"
"#;

/// Levels of every kind that a process or this machine can have: subject, factor, level.
const LEVELS: [(&str, &str, &str); 4] = [
    ("nicer", "nice", "5"),
    ("batch", "policy", "batch"),
    ("pinned", "affinity", "0"),
    ("ungrouped", "autogroup", "off"),
];

/// What each subject's records of a workload are made of.
type Shapes = BTreeMap<(String, String), BTreeSet<String>>;

#[test]
fn every_venue_conforms_and_those_that_run_trials_give_records_of_one_shape() {
    let levels = supported();
    let mut of_venues: Vec<(&dyn VenueEntry, Shapes)> = Vec::new();
    for entry in venues::ENTRIES.iter().copied() {
        let Some(brief) = entry.brief() else {
            testing::unsupported(&format!("trials on venue {}", entry.describe().id));
            continue;
        };
        if entry.facts().boots_guests && !has_guests() {
            continue;
        }
        let accepted: Vec<_> = levels
            .iter()
            .copied()
            .filter(|(subject, ..)| is_accepted(entry, &levels, subject))
            .collect();
        of_venues.push((entry, conforms(entry, brief, &accepted)));
    }
    let [(_, on_host), others @ ..] = of_venues.as_slice() else { panic!("there is no venue") };
    for (entry, shapes) in others {
        let venue = entry.describe().id;
        let has_it = |trial: &&(String, String)| is_accepted(*entry, &levels, &trial.0);
        assert!(shapes.keys().eq(on_host.keys().filter(has_it)), "{venue}");
        if !entry.facts().is_simulated {
            for (trial, shape) in shapes {
                assert_alike(&format!("{venue}: {trial:?}"), &on_host[trial], shape);
            }
        }
    }
}

/// Whether a venue takes the level of this subject. Every venue takes the subject without one.
fn is_accepted(entry: &dyn VenueEntry, levels: &[(&str, &str, &str)], subject: &str) -> bool {
    let level = levels.iter().find(|(of, ..)| *of == subject);
    level.is_none_or(|(_, factor, _)| {
        let factor = schedlab::catalogue().factor(factor).unwrap();
        entry.accepts(factor).is_ok()
    })
}

/// Records of a trial have one shape on two machines.
fn assert_alike(what: &str, one: &BTreeSet<String>, other: &BTreeSet<String>) {
    // Of a machine's disturbance each tells what it could read in so short a run, and the
    // first record of a campaign how it began: a guest's boot changes which one is first. That
    // a processor was emulated is a fact of a guest, and no host has one.
    let is_of_shape = |path: &&String| {
        !path.starts_with("/invocations[]/disturbance/")
            && !path.starts_with("/chain/beginning")
            && *path != "/facts"
    };
    let differing: Vec<_> = one.symmetric_difference(other).filter(is_of_shape).collect();
    assert!(differing.is_empty(), "{what}: {differing:?}");
}

/// The levels that can be set on this host too.
fn supported() -> Vec<(&'static str, &'static str, &'static str)> {
    let report = Bench::new().expect(0, &["doctor", "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let works = |factor: &str| {
        checks.iter().any(|check| check["id"] == factor && check["supported"] == true)
    };
    LEVELS
        .into_iter()
        .filter(|(_, factor, _)| {
            let is_supported = works(factor);
            if !is_supported {
                testing::unsupported(factor);
            }
            is_supported
        })
        .collect()
}

/// Runs one plan on a venue and checks what every venue owes; the shapes of its records.
fn conforms(entry: &dyn VenueEntry, brief: &str, levels: &[(&str, &str, &str)]) -> Shapes {
    let (venue, facts) = (entry.describe().id, entry.facts());
    let guests = Guests::new();
    // Autogroup is the whole machine's, and another run of all tests may be here as well.
    let turns_knobs = facts.footprint == Footprint::Knobs;
    let _knobs = turns_knobs.then(|| testing::lock(testing::KNOBS));
    let mut text = format!(
        "title = \"conformance\"\nvenue = \"{venue}\"\nsettle = \"0s\"\nprobes = []\nblocks = 1\n\
         invocations = 2\ncontrol = false\nseed = 9\n{brief}\n[subjects.plain]\n"
    );
    for (subject, factor, level) in levels {
        text += &format!("[subjects.{subject}]\n{factor} = \"{level}\"\n");
    }
    text += WORKLOADS;
    let file = guests.bench.experiment("conformance", &text);
    let (planned, _) = guests.expect(0, &["plan", &file]);
    guests.expect(0, &["run", &file]);
    let records = guests.records();
    let subjects = std::iter::once("plain").chain(levels.iter().map(|(subject, ..)| *subject));
    let mut shapes = Shapes::new();
    for subject in subjects {
        assert!(planned.contains(subject), "{venue}: {planned}");
        for workload in ["messaging", "cyclic"] {
            let found = of(&records, subject, workload);
            let [record] = found[..] else {
                panic!("{venue}: {} records of {subject} and {workload}", found.len())
            };
            owes(venue, record);
            let mut shape = BTreeSet::new();
            collect("", record, &mut shape);
            shapes.insert((subject.to_owned(), workload.to_owned()), shape);
        }
    }
    for (subject, factor, level) in levels {
        for record in of(&records, subject, "") {
            let reading = &record["levels"][*factor];
            if facts.is_simulated {
                // Nothing ran, so nothing was read back.
                assert!(reading.is_null(), "{record}");
                continue;
            }
            let read = [&reading["before"], &reading["after"]];
            assert_eq!(read, [level, level], "{venue}: {record}");
        }
    }
    let sequences: Vec<u64> =
        records.iter().map(|record| record["sequence"].as_u64().unwrap()).collect();
    assert!(sequences.into_iter().eq(0..shapes.len() as u64), "{venue}");
    // Judged again from the records, the findings are the same bytes.
    let findings = guests.bench.campaign().join("findings.json");
    let before = std::fs::read(&findings).unwrap();
    guests.expect(0, &["judge", "last"]);
    assert!(std::fs::read(&findings).unwrap() == before, "{venue}: judged otherwise");
    guests.assert_nothing_is_left(venue);
    shapes
}

/// One record of a trial that went well.
fn owes(venue: &str, record: &Value) {
    assert_eq!(record["outcome"]["kind"], "completed", "{venue}: {record}");
    let invocations = record["invocations"].as_array().unwrap();
    assert_eq!(invocations.len(), 2, "{venue}: {record}");
    for invocation in invocations {
        assert!(!invocation["samples"].as_array().unwrap().is_empty(), "{venue}: {record}");
    }
    assert!(record["duration_ns"].as_u64().unwrap() > 0, "{venue}: {record}");
    assert_ne!(record["fingerprint"], "", "{venue}: {record}");
    let model: model::Record = serde_json::from_value(record.clone()).unwrap();
    assert_eq!(&serde_json::to_value(model).unwrap(), record, "{venue}");
}

/// Left out where there is nothing to tell: how a machine differs from the first fingerprint,
/// what there is to warn of, what was read while a short run lasted.
const MAYBE_EMPTY: [&str; 3] = ["fingerprint_difference", "caveats", "during"];

/// The paths of a value's keys. Beside what may be empty, a guest's record names the kernel
/// among its levels, because the subject does.
fn collect(path: &str, value: &Value, paths: &mut BTreeSet<String>) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                let is_kernel = path == "/levels" && key == "kernel";
                if is_kernel || MAYBE_EMPTY.contains(&key.as_str()) {
                    continue;
                }
                let path = format!("{path}/{key}");
                collect(&path, value, paths);
                paths.insert(path);
            }
        }
        Value::Array(values) => {
            for value in values {
                // Samples are told by what they measure.
                let source = value["source"].as_str().unwrap_or_default();
                collect(&format!("{path}[{source}]"), value, paths);
            }
        }
        _ => {}
    }
}
