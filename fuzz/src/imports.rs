//! Files of other tools, imported as a campaign. The first line of an input is the
//! mapping as TOML, with `;` for the end of a line; what follows is two files,
//! divided by a line `----`, or one that two subjects share.

use crate::Reaction;
use importers::{Assembled, ImportFile, ImportSettings, Importer, Mapping};
use model::{Comparisons, Histogram, ImportedDesign, Outcome, Plan, Record, SampleData, Unit};
use std::collections::BTreeSet;

const DIVIDER: &str = "\n----\n";
/// Words of every import beside those of its format: of its mapping and between its files.
pub(crate) const WORDS: &[&str] = &[DIVIDER, ";"];

/// Imports with one format, and checks what every campaign promises.
pub(crate) fn import(importer: &dyn Importer, bytes: &[u8]) -> Reaction {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return Reaction::Refused };
    let Ok(mapping) = std::str::from_utf8(&bytes[..end]) else { return Reaction::Refused };
    let Ok(mapping) = Mapping::from_toml(&mapping.replace(';', "\n")) else {
        return Reaction::Refused;
    };
    let sources = sources(&bytes[end + 1..]);
    let import = || importers::import(importer, &sources, &mapping, &settings());
    let imported = import();
    match &imported {
        Ok(campaign) => {
            check(campaign);
            assert!(import().as_ref() == Ok(campaign), "importing is not pure");
        }
        Err((file, trouble)) => {
            assert!(*file < sources.len(), "file {file} was not given");
            assert!(!trouble.cause.is_empty() && !trouble.remedy.is_empty(), "{trouble:?}");
            assert!(trouble.line != Some(0), "lines count from 1: {trouble}");
        }
    }
    Reaction::of(imported.ok().as_ref())
}

fn sources(bytes: &[u8]) -> [ImportFile<'_>; 2] {
    let divided = bytes.windows(DIVIDER.len()).position(|window| window == DIVIDER.as_bytes());
    let (first, second) = match divided {
        Some(place) => (&bytes[..place], &bytes[place + DIVIDER.len()..]),
        None => (bytes, bytes),
    };
    [("first", first), ("second", second)].map(|(subject, bytes)| ImportFile {
        subject,
        execution: 1,
        bytes,
    })
}

fn settings() -> ImportSettings {
    ImportSettings {
        name: "fuzz".to_owned(),
        title: "Fuzz".to_owned(),
        files: "fuzz".to_owned(),
        reference: None,
        comparisons: Comparisons::All,
        margin: None,
        alpha: 0.05,
    }
}

fn check(campaign: &Assembled) {
    let plan = &campaign.plan;
    assert!(plan.subjects.len() >= 2, "nothing to compare");
    let subjects: BTreeSet<&str> =
        plan.subjects.iter().map(|subject| subject.id.as_str()).collect();
    assert_eq!(subjects.len(), plan.subjects.len(), "two subjects of one name");
    let labels: BTreeSet<&str> =
        plan.workloads.iter().map(|workload| workload.label.as_str()).collect();
    assert_eq!(labels.len(), plan.workloads.len(), "two workloads of one name");
    for workload in &plan.workloads {
        let metrics: BTreeSet<&str> =
            workload.metrics.iter().map(|metric| metric.id.as_str()).collect();
        assert_eq!(metrics.len(), workload.metrics.len(), "two metrics of one name");
        assert!(workload.primary.iter().all(|id| metrics.contains(id.as_str())));
    }
    let mut replicates = BTreeSet::new();
    for record in &campaign.records {
        assert!(subjects.contains(record.subject.as_str()), "{} is no subject", record.subject);
        let key = (record.subject.as_str(), record.workload.as_str(), record.block);
        assert!(replicates.insert(key), "{key:?} is there twice: one of them would be lost");
        check_record(plan, record);
    }
    let text = serde_json::to_string(plan).unwrap_or_default();
    assert_eq!(serde_json::from_str::<Plan>(&text).ok().as_ref(), Some(plan));
}

fn check_record(plan: &Plan, record: &Record) {
    let Some(workload) = plan.workload(&record.workload) else {
        panic!("{} is no workload", record.workload)
    };
    let has_failure = record.invocations.iter().any(|invocation| invocation.failure.is_some());
    assert_eq!(record.outcome != Outcome::Completed, has_failure);
    for sample in record.invocations.iter().flat_map(|invocation| &invocation.samples) {
        let mut metrics =
            workload.metrics.iter().filter(|metric| metric.source == sample.source).peekable();
        let is_known = metrics.peek().is_some();
        match &sample.data {
            SampleData::Values(values) => {
                assert!(is_known, "{} belongs to no metric", sample.source);
                assert!(values.iter().all(|value| value.is_finite()), "{values:?}");
                let is_plain = metrics.all(|metric| metric.unit == Unit::Plain);
                assert!(is_plain || values.iter().all(|value| *value >= 0.0), "{values:?}");
            }
            // A distribution may support no percentile.
            SampleData::Histogram(histogram) => assert_counts(histogram),
            other => panic!("{other:?} comes from no format"),
        }
    }
    if plan.imported.as_ref().map(|imported| &imported.design) == Some(&ImportedDesign::Blocked) {
        let sittings = &plan.blocks[record.block as usize].sittings;
        assert_eq!(sittings[record.position as usize].subject, record.subject);
    }
}

fn assert_counts(histogram: &Histogram) {
    assert_eq!(histogram.quantile(0.5).is_some(), histogram.count() > 0);
    assert!(histogram.clamped() <= histogram.count());
}
