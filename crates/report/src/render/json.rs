//! The whole view model.

use super::{Page, Renderer};
use crate::checks::{Check, checks};
use crate::view::Report;
use contract::Description;
use serde::Serialize;
use std::io::{self, Write};

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "json",
    summary: "the whole report, raw records included, as schedlab.report/16",
    doc: "The versioned view model that every other format is drawn from. Histograms are HDR V2 \
          deflate in base64; effects are oriented ratios: above 1 is better.",
};

/// The view model, and what was checked of it.
#[derive(Serialize)]
struct ReportWithChecks<'r> {
    #[serde(flatten)]
    report: &'r Report,
    checks: Vec<Check>,
}

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "json"
    }

    fn render(&self, report: &Report, _page: &Page, output: &mut dyn Write) -> io::Result<()> {
        let whole = ReportWithChecks { report, checks: checks(report) };
        serde_json::to_writer_pretty(WrittenOut(&mut *output), &whole)?;
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
