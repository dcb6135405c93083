//! The report as one page of HTML that reaches nothing.

use super::{Page, Renderer};
use crate::page::page_json;
use crate::view::Report;
use contract::Description;
use std::io::{self, Write};

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "html",
    summary: "one page with figures that opens from disk and reaches nothing",
    doc: "The answer first, then what convinces a sceptic: validity checks, effects with their \
          intervals, distributions, every run, the environment and what differed in it. Every \
          figure has its numbers as a table, and as CSV and SVG to take away. The page is one file; \
          its own policy forbids it to reach anything.",
};

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "html"
    }

    fn render(&self, report: &Report, _page: &Page, output: &mut dyn Write) -> io::Result<()> {
        output.write_all(web::page_with(&page_json(report)?)?.as_bytes())
    }
}
