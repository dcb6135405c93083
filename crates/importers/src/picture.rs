//! What an importer makes of files, drawn compactly for tests.

use crate::{Assembled, ImportFile, ImportSettings, ImportedTable, Importer, Mapping, Trouble};
use model::{CaveatCode, Comparisons, DecidingFacts, ImportedDesign, Sample, SampleData};
use std::fmt::Write;

/// Reads files of `(subject, bytes)` into one table; an execution counts those of its subject.
pub(crate) fn read(
    importer: &dyn Importer,
    files: &[(&str, &[u8])],
    mapping: &Mapping,
) -> Result<ImportedTable, Trouble> {
    let mut table = ImportedTable::default();
    for (index, (subject, bytes)) in files.iter().enumerate() {
        let execution = 1 + files[..index].iter().filter(|(earlier, _)| earlier == subject).count();
        importer.read(&ImportFile { subject, execution, bytes }, mapping, &mut table)?;
    }
    Ok(table)
}

/// What is told of settings that the subjects of these files do not share.
pub(crate) fn settings_that_differ(
    importer: &dyn Importer,
    files: &[(&str, &[u8])],
) -> Vec<String> {
    let mut table = read(importer, files, &Mapping::default()).unwrap();
    table.compare_settings();
    let caveats = table.caveats.into_iter();
    let differ = caveats.filter(|caveat| caveat.code == CaveatCode::SettingsDiffer);
    differ.map(|caveat| caveat.detail).collect()
}

/// Why files are refused: `line: cause`.
pub(crate) fn refusal(importer: &dyn Importer, bytes: &[u8], mapping: &Mapping) -> String {
    let trouble = read(importer, &[("a", bytes)], mapping).unwrap_err();
    assert!(!trouble.remedy.is_empty(), "{trouble}");
    trouble.to_string()
}

/// Dimensions, metrics, rows and caveats, a line each.
pub(crate) fn picture(table: &ImportedTable) -> String {
    let mut text = String::new();
    for name in &table.dimensions {
        let kind = if table.fixed.contains(name) { "fixed" } else { "covered" };
        let _ = writeln!(text, "dimension {name} {kind}");
    }
    for metric in &table.metrics {
        let is_judged = table.primary.is_empty() || table.primary.contains(&metric.id);
        let _ = writeln!(
            text,
            "metric {} {:?} {:?} {:?} {}{}",
            metric.id,
            metric.unit,
            metric.direction,
            metric.reduction,
            metric.margin,
            if is_judged { " judged" } else { "" }
        );
    }
    if table.is_closed_loop {
        let _ = writeln!(text, "closed loop");
    }
    for row in &table.rows {
        let execution = row.execution.as_deref().unwrap_or("?");
        let _ = write!(text, "{} [{}] #{execution}", row.subject, row.levels.join(", "));
        samples(&mut text, &row.samples);
        if let Some(failure) = &row.failure {
            let _ = write!(text, " failed: {failure}");
        }
        text.push('\n');
    }
    for caveat in &table.caveats {
        let _ = writeln!(text, "caveat {}: {}", caveat.code, caveat.detail);
    }
    text
}

fn samples(text: &mut String, samples: &[Sample]) {
    for sample in samples {
        let _ = match &sample.data {
            SampleData::Values(values) if values.len() == 1 => {
                write!(text, " {}={}", sample.source, values[0])
            }
            SampleData::Values(values) => write!(text, " {}={values:?}", sample.source),
            SampleData::Histogram(histogram) => write!(
                text,
                " {}=n{} p50:{:?} p99:{:?}",
                sample.source,
                histogram.count(),
                histogram.quantile(0.5).unwrap_or(0),
                histogram.quantile(0.99).unwrap_or(0)
            ),
            other => write!(text, " {}={other:?}", sample.source),
        };
    }
}

/// Settings that decide nothing.
pub(crate) fn settings() -> ImportSettings {
    ImportSettings {
        name: "test".to_owned(),
        title: "Test".to_owned(),
        files: "file".to_owned(),
        reference: None,
        comparisons: Comparisons::All,
        margin: None,
        alpha: 0.05,
    }
}

/// Imports files of `(subject, bytes)` as a campaign.
pub(crate) fn imported(
    importer: &dyn Importer,
    files: &[(&str, &[u8])],
    mapping: &Mapping,
) -> Result<Assembled, (usize, Trouble)> {
    let sources: Vec<ImportFile<'_>> =
        files.iter().map(|(subject, bytes)| ImportFile { subject, execution: 1, bytes }).collect();
    let campaign = crate::import(importer, &sources, mapping, &settings())?;
    facts_are_said(&campaign);
    Ok(campaign)
}

/// Each fact has the caveat that says it, and each caveat that says one has its fact.
fn facts_are_said(campaign: &Assembled) {
    let of_import = campaign.plan.imported.as_ref().unwrap();
    assert_eq!(of_import.facts, DecidingFacts::of_caveats(&of_import.caveats));
    for record in &campaign.records {
        assert_eq!(record.facts, DecidingFacts::of_caveats(&record.caveats));
    }
}

/// Subjects, workloads and design of a plan, and its records, a line each.
pub(crate) fn campaign(campaign: &Assembled) -> String {
    let plan = &campaign.plan;
    let mut text = String::new();
    let subjects: Vec<&str> = plan.subjects.iter().map(|subject| subject.id.as_str()).collect();
    let workloads: Vec<&str> = plan.workloads.iter().map(|load| load.label.as_str()).collect();
    let _ = writeln!(text, "subjects {}\nworkloads {}", subjects.join("; "), workloads.join("; "));
    if let Some(imported) = &plan.imported {
        let _ = match &imported.design {
            ImportedDesign::Blocked => writeln!(text, "blocked"),
            ImportedDesign::Unblocked { dimensions, fixed } => {
                writeln!(text, "unblocked over {dimensions:?}, fixed {fixed:?}")
            }
        };
        for caveat in &imported.caveats {
            let _ = writeln!(text, "caveat {}: {}", caveat.code, caveat.detail);
        }
    }
    for block in &plan.blocks {
        let order: Vec<&str> =
            block.sittings.iter().map(|sitting| sitting.subject.as_str()).collect();
        let _ = writeln!(text, "block {}: {}", block.index, order.join(", "));
    }
    for record in &campaign.records {
        let _ = write!(
            text,
            "{} {} {} replicate {} position {}:",
            record.sequence, record.subject, record.workload, record.block, record.position
        );
        for invocation in &record.invocations {
            samples(&mut text, &invocation.samples);
        }
        text.push('\n');
    }
    text
}
