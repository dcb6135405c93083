//! The report as a workbook, for readers who calculate on.

mod chart;
mod effects;
mod findings;
mod grids;
mod names;
mod sheet;
mod subjects;

use super::{Page, Renderer};
use crate::emulated::why_hidden as why;
use crate::view::Report;
use contract::Description;
use names::Names;
use phrases::noted;
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Workbook, Worksheet, XlsxError};
use std::io::{self, Write};

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "xlsx",
    summary: "a workbook: the runs of each subject, findings, effects, means, heat maps, raw values",
    doc: "One sheet for each subject with every run and their means, by cell of a grid or by workload \
          and metric; then `findings`; `effects`, the primary ones with a chart whose error bars are \
          their intervals; where workloads and metrics span a table, its means by row and \
          by column (`size table` and `operation table` of record sizes and operations), each with a \
          chart, and `heat map`, coloured by verdict; and `raw`, a row for each trial and metric. Values are in the unit that \
          stands beside them. It opens on `findings`. Text stays text, whatever it begins with. It is binary: write it to a \
          file or a pipe.",
};

/// Sheets that are not named after subjects.
const FINDINGS: &str = noted!("findings");
const EFFECTS: &str = noted!("effects");
const HEAT_MAP: &str = noted!("heat map");
const RAW: &str = noted!("raw");

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "xlsx"
    }

    fn is_text(&self) -> bool {
        false
    }

    fn render(&self, report: &Report, _page: &Page, output: &mut dyn Write) -> io::Result<()> {
        output.write_all(&workbook(report).map_err(io::Error::other)?)
    }
}

fn workbook(report: &Report) -> Result<Vec<u8>, XlsxError> {
    let mut workbook = Workbook::new();
    // The library would ask the clock: the same report gives the same bytes.
    let created = ExcelDateTime::from_ymd(2000, 1, 1)?;
    let properties = DocProperties::new()
        .set_title(sheet::limited(&report.title))
        .set_subject(sheet::limited(&report.campaign))
        .set_creation_datetime(&created);
    workbook.set_properties(&properties);
    let fixed = [FINDINGS, EFFECTS, HEAT_MAP, RAW].map(|name| report.language.word(name));
    let mut names = Names::reserving(&fixed);
    let [findings, effects, heat_map, raw] = fixed;
    for subject in &report.subjects {
        let sheet = long_sheet(&mut workbook).set_name(names.next(&subject.id))?;
        subjects::write(report, subject, sheet)?;
    }
    // It opens on what was found, not on the runs before it.
    findings::write(report, long_sheet(&mut workbook).set_name(findings)?.set_active(true))?;
    if !effects::primary(report).is_empty() {
        effects::write(report, workbook.add_worksheet().set_name(effects)?)?;
    }
    for grid in &report.grids {
        for is_by_row in [true, false] {
            if let Some(title) = grids::title(grid, is_by_row, report.language) {
                let sheet = workbook.add_worksheet().set_name(names.next(&title))?;
                grids::write_means(report, grid, is_by_row, sheet)?;
            }
        }
    }
    if !report.grids.is_empty() {
        grids::write_heat(report, long_sheet(&mut workbook).set_name(heat_map)?)?;
    }
    subjects::write_raw(report, long_sheet(&mut workbook).set_name(raw)?)?;
    workbook.save_to_buffer()
}

/// A sheet whose rows are written to a file without a name, one after the other: a campaign may have
/// millions of values, and a cell in memory takes more than a hundred bytes. Charts need cells that are
/// held.
fn long_sheet(workbook: &mut Workbook) -> &mut Worksheet {
    workbook.add_worksheet_with_low_memory()
}

/// What stands where values of an emulated processor would.
fn why_hidden(report: &Report) -> Option<&'static str> {
    report.hides_absolute.then(|| why(report.language))
}
