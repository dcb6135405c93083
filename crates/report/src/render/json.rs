//! The whole view model.

use super::{Page, Renderer};
use crate::checks::{Check, checks};
use crate::observed::places_are_known;
use crate::view::Report;
use contract::Description;
use model::{Record, Records};
use serde::ser::{Error, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::io::{self, Write};

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "json",
    summary: "the whole report, raw records included, as schedlab.report/16",
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
    /// All of it but the records.
    fields: Map<String, Value>,
    checks: Vec<Check>,
}

impl<'r> ImportedReport<'r> {
    fn of(report: &'r Report, checks: Vec<Check>) -> serde_json::Result<Self> {
        let without_records = Report { records: Records::default(), ..report.clone() };
        let mut fields = into_fields(serde_json::to_value(&without_records)?);
        if let Some(findings) = fields.get_mut("findings").and_then(Value::as_object_mut) {
            findings.shift_remove("seed");
        }
        let values = fields.get_mut("values").and_then(Value::as_array_mut);
        if let Some(values) = values.filter(|_| report.design.is_unblocked()) {
            values.iter_mut().filter_map(Value::as_object_mut).for_each(name_execution);
        }
        Ok(Self { report, fields, checks })
    }
}

impl Serialize for ImportedReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut whole = serializer.serialize_map(None)?;
        for (key, value) in &self.fields {
            if key == "records" {
                whole.serialize_entry(key, &ImportedRecords(self.report))?;
            } else {
                whole.serialize_entry(key, value)?;
            }
        }
        whole.serialize_entry("checks", &self.checks)?;
        whole.end()
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
    let mut fields = into_fields(serde_json::to_value(record)?);
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
