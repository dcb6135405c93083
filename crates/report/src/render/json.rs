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
        serde_json::to_writer_pretty(&mut *output, &whole)?;
        writeln!(output)
    }
}
