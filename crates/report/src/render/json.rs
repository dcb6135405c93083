//! The whole view model.

use super::{Page, Renderer};
use crate::checks::{Check, checks};
use crate::grid::Grid;
use crate::observed::places_are_known;
use crate::view::{Meanings, Report};
use contract::Description;
use model::{Findings, Record, RecordWithoutFacts, Records};
use serde::ser::{Error, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::io::{self, Write};

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "json",
    summary: "the whole report, raw records included, as schedlab.report/18",
    doc: "The versioned view model that every other format is drawn from. Histograms are HDR V2 \
          deflate in base64; effects are oriented ratios: above 1 is better. Of an import, what its \
          file does not tell is absent: seeds, times, boots, the position in a block whose order is \
          not known, and without blocks the block, in whose place stands `execution`.",
};

/// The view model, and what was checked of it.
#[derive(Serialize)]
struct ReportWithChecks<'r> {
    #[serde(flatten)]
    report: &'r Report,
    checks: Vec<Check>,
}

/// The same of an import. Its records and findings are stored with a zero or nothing in each field
/// that a file of others does not have; here such a field is absent.
struct ImportedReport<'r> {
    report: &'r Report,
    /// All of it but the lists that have something for each row or comparison ([`without_long_lists`]):
    /// as values they would be many times as large.
    fields: Map<String, Value>,
    checks: Vec<Check>,
}

impl<'r> ImportedReport<'r> {
    fn of(report: &'r Report, checks: Vec<Check>) -> serde_json::Result<Self> {
        let mut fields = into_fields(value_of(&without_long_lists(report))?);
        if let Some(findings) = fields.get_mut("findings").and_then(Value::as_object_mut) {
            findings.shift_remove("seed");
        }
        Ok(Self { report, fields, checks })
    }
}

impl Serialize for ImportedReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut whole = serializer.serialize_map(None)?;
        for (key, value) in &self.fields {
            match (key.as_str(), value) {
                ("records", _) => whole.serialize_entry(key, &ImportedRecords(self.report))?,
                ("values", _) => whole.serialize_entry(key, &ImportedValues(self.report))?,
                ("grids", _) => whole.serialize_entry(key, &self.report.grids)?,
                ("findings", Value::Object(fields)) => {
                    whole
                        .serialize_entry(key, &ImportedFindings { report: self.report, fields })?;
                }
                _ => whole.serialize_entry(key, value)?,
            }
        }
        whole.serialize_entry("checks", &self.checks)?;
        whole.end()
    }
}

/// A report with nothing in its longest lists, but with one element where a field would be left out of
/// one that is empty, so that all fields are in their places.
fn without_long_lists(report: &Report) -> Report {
    let grid = |grid: &Grid| Grid {
        measure: grid.measure.clone(),
        unit: grid.unit,
        direction: grid.direction,
        rows: grid.rows.clone(),
        columns: grid.columns.clone(),
        questions: Vec::new(),
        subjects: Vec::new(),
        comparisons: Vec::new(),
        is_emulated: grid.is_emulated,
    };
    Report {
        format: report.format.clone(),
        language: report.language,
        campaign: report.campaign.clone(),
        title: report.title.clone(),
        answer: report.answer.clone(),
        attempt: report.attempt,
        design: report.design.clone(),
        subjects: report.subjects.clone(),
        workload_subjects: report.workload_subjects.clone(),
        findings: without_findings(&report.findings),
        ladders: report.ladders.clone(),
        grids: report.grids.first().map(grid).into_iter().collect(),
        breakdowns: report.breakdowns.clone(),
        ejections: report.ejections.clone(),
        caveats: report.caveats.clone(),
        environment: report.environment.clone(),
        differences: report.differences.clone(),
        notes: report.notes.clone(),
        reproduce: report.reproduce.clone(),
        plan_digest: report.plan_digest.clone(),
        units: report.units.clone(),
        hides_absolute: report.hides_absolute,
        is_simulated: report.is_simulated,
        values: report.values.first().cloned().into_iter().collect(),
        records: Records::default(),
        binding: report.binding,
        shares_few_boots: report.shares_few_boots,
        resumptions: report.resumptions,
        against_by_store: report.against_by_store.clone(),
        // No format stores them.
        meanings: Meanings::default(),
    }
}

fn without_findings(findings: &Findings) -> Findings {
    Findings {
        format: findings.format.clone(),
        plan_digest: findings.plan_digest.clone(),
        seed: findings.seed,
        alpha: findings.alpha,
        gate_alpha: findings.gate_alpha,
        is_unfinished: findings.is_unfinished,
        is_evidence_changed: findings.is_evidence_changed,
        families: findings.families.clone(),
        findings: Vec::new(),
        rankings: findings.rankings.clone(),
        use_cases: findings.use_cases.clone(),
        claims: findings.claims.clone(),
        trends: findings.trends.clone(),
        failures: findings.failures.clone(),
        against: findings.against.clone(),
        caveats: findings.caveats.clone(),
    }
}

/// What was found of an import.
struct ImportedFindings<'r> {
    report: &'r Report,
    /// All of it but the comparisons.
    fields: &'r Map<String, Value>,
}

impl Serialize for ImportedFindings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut whole = serializer.serialize_map(None)?;
        for (key, value) in self.fields {
            if key == "findings" {
                whole.serialize_entry(key, &self.report.findings.findings)?;
            } else {
                whole.serialize_entry(key, value)?;
            }
        }
        whole.end()
    }
}

/// The values of an import, one after the other, as its records.
struct ImportedValues<'r>(&'r Report);

impl Serialize for ImportedValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_unblocked = self.0.design.is_unblocked();
        let mut all = serializer.serialize_seq(Some(self.0.values.len()))?;
        for value in &self.0.values {
            let mut fields = into_fields(serde_json::to_value(value).map_err(S::Error::custom)?);
            if is_unblocked {
                name_execution(&mut fields);
            }
            all.serialize_element(&fields)?;
        }
        all.end()
    }
}

/// The records of an import, one after the other: there may be millions.
struct ImportedRecords<'r>(&'r Report);

impl Serialize for ImportedRecords<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let records = &self.0.records;
        let mut all = serializer.serialize_seq(Some(records.len()))?;
        for record in records {
            all.serialize_element(&known_fields(record, self.0).map_err(S::Error::custom)?)?;
        }
        all.end()
    }
}

/// What an import tells of one record.
fn known_fields(record: &Record, report: &Report) -> serde_json::Result<Map<String, Value>> {
    let mut fields = into_fields(serde_json::to_value(RecordWithoutFacts(record))?);
    for never in ["started_unix_ns", "duration_ns", "seed"] {
        fields.shift_remove(never);
    }
    if record.boot_id.is_empty() {
        fields.shift_remove("boot_id");
    }
    if record.fingerprint.is_empty() {
        fields.shift_remove("fingerprint");
    }
    let is_unblocked = report.design.is_unblocked();
    if is_unblocked || !places_are_known(report) {
        fields.shift_remove("position");
    }
    if is_unblocked {
        name_execution(&mut fields);
    }
    Ok(fields)
}

/// Without blocks the number that is stored as that of a block is that of an execution.
fn name_execution(fields: &mut Map<String, Value>) {
    if let Some(number) = fields.shift_remove("block") {
        fields.insert("execution".to_owned(), number);
    }
}

/// A report as a value, by way of the text that is written of every other report: serialisers that make
/// values of all its parts would take as long again to compile.
fn value_of(report: &Report) -> serde_json::Result<Value> {
    let mut text = Vec::new();
    serde_json::to_writer_pretty(WrittenOut(&mut text), report)?;
    serde_json::from_slice(&text)
}

fn into_fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "json"
    }

    fn is_for_programs(&self) -> bool {
        true
    }

    fn render(&self, report: &Report, _page: &Page, output: &mut dyn Write) -> io::Result<()> {
        let (checks, written_out) = (checks(report), WrittenOut(&mut *output));
        if report.design.imported.is_some() {
            serde_json::to_writer_pretty(written_out, &ImportedReport::of(report, checks)?)?;
        } else {
            serde_json::to_writer_pretty(written_out, &ReportWithChecks { report, checks })?;
        }
        writeln!(output)
    }
}

/// Writes out what would be obeyed instead of shown (`\u202e`): the same data, and nothing that
/// turns a terminal or an editor round. serde_json hands over whole pieces of strings.
struct WrittenOut<'a>(&'a mut dyn Write);

impl Write for WrittenOut<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.0.write_all(model::written_out(text).as_bytes())?,
            Err(_) => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
