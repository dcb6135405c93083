//! The report as one page of HTML that reaches nothing.

use super::{Page, Renderer};
use crate::checks::{Check, checks};
use crate::ejections::Ejections;
use crate::evidence::{Curve, Series, curves, series};
use crate::grid::Grid;
use crate::ladder::Ladder;
use crate::view::{CaveatView, Design, Report, SubjectView};
use contract::Description;
use model::{Findings, Fingerprint};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
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

/// The findings; of an emulated processor without any value, which would be that of no real one.
fn shown(report: &Report) -> Cow<'_, Findings> {
    if !report.hides_absolute {
        return Cow::Borrowed(&report.findings);
    }
    let mut findings = report.findings.clone();
    for finding in &mut findings.findings {
        finding.reference_value = None;
        finding.subject_value = None;
        finding.blocks.clear();
    }
    Cow::Owned(findings)
}

/// Format of what the page is given.
const PAGE_FORMAT: &str = "schedlab.page/1";

/// A report without what is drawn from summaries.
#[derive(Serialize)]
struct Facts<'r> {
    campaign: &'r str,
    title: &'r str,
    answer: &'r str,
    design: &'r Design,
    subjects: &'r [SubjectView],
    findings: &'r Findings,
    ladders: &'r [Ladder],
    grids: &'r [Grid],
    ejections: &'r [Ejections],
    caveats: &'r [CaveatView],
    environment: &'r Fingerprint,
    differences: &'r BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
    notes: &'r [String],
    reproduce: &'r [String],
    hides_absolute: bool,
}

#[derive(Serialize)]
struct Data<'r> {
    format: &'static str,
    report: Facts<'r>,
    checks: Vec<Check>,
    curves: Vec<Curve>,
    series: Vec<Series>,
}

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "html"
    }

    fn render(&self, report: &Report, _page: &Page, output: &mut dyn Write) -> io::Result<()> {
        let findings = shown(report);
        let data = Data {
            format: PAGE_FORMAT,
            report: Facts {
                campaign: &report.campaign,
                title: &report.title,
                answer: &report.answer,
                design: &report.design,
                subjects: &report.subjects,
                findings: &findings,
                ladders: &report.ladders,
                grids: &report.grids,
                ejections: &report.ejections,
                caveats: &report.caveats,
                environment: &report.environment,
                differences: &report.differences,
                notes: &report.notes,
                reproduce: &report.reproduce,
                hides_absolute: report.hides_absolute,
            },
            checks: checks(report),
            curves: if report.hides_absolute { Vec::new() } else { curves(report) },
            series: if report.hides_absolute { Vec::new() } else { series(report) },
        };
        output.write_all(web::page_with(&serde_json::to_string(&data)?).as_bytes())
    }
}
