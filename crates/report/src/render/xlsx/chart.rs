//! The chart beside a sheet of means: a line for each subject over steps that are numbers, bars
//! over those that are not.

use super::sheet::{Cell, Rows, limited, value};
use crate::grid::{Grid, GridMean, GridSubject};
use crate::premises::origins;
use crate::quantities::stored_unit;
use crate::view::Report;
use phrases::say;
use rust_xlsxwriter::{Chart, ChartLegendPosition, ChartMarker, ChartType, Worksheet, XlsxError};

/// Drawn so large, in pixels.
const WIDTH: u32 = 760;
const HEIGHT: u32 = 380;

/// What a chart draws: a block of a sheet, with labels in its first column and a column for each
/// subject.
pub(super) struct Source<'g> {
    report: &'g Report,
    grid: &'g Grid,
    is_by_row: bool,
    subjects: Vec<&'g GridSubject>,
    /// The row of its titles.
    row: u32,
}

impl<'g> Source<'g> {
    /// Writes the geometric means over all cells; one over some of them only would be a point
    /// that cannot be held against its neighbours.
    pub(super) fn write(
        rows: &mut Rows<'_>,
        report: &'g Report,
        grid: &'g Grid,
        is_by_row: bool,
    ) -> Result<Self, XlsxError> {
        let subjects: Vec<_> = grid.subjects.iter().filter(|subject| !subject.is_control).collect();
        let language = report.language;
        rows.note(language.word("Geometric means over all cells, as the chart draws them:"))?;
        let axis = if is_by_row { &grid.rows } else { &grid.columns };
        let row = rows.next();
        let mut titles = vec![axis.name.clone()];
        titles.extend(subjects.iter().map(|subject| subject.subject.clone()));
        rows.titles(titles)?;
        for (index, label) in axis.labels.iter().enumerate() {
            let mut cells = vec![Cell::from(label)];
            cells.extend(subjects.iter().map(|subject| {
                let means = if is_by_row { &subject.row_means } else { &subject.column_means };
                let mean = means.get(index).copied().flatten();
                mean.filter(|mean: &GridMean| !mean.is_partial())
                    .map_or(Cell::Empty, |mean| value(mean.geometric, grid.unit))
            }));
            rows.row(cells)?;
        }
        Ok(Self { report, grid, is_by_row, subjects, row })
    }

    /// Draws it right of this column.
    pub(super) fn insert(&self, sheet: &mut Worksheet, column: u16) -> Result<(), XlsxError> {
        let axis = if self.is_by_row { &self.grid.rows } else { &self.grid.columns };
        let is_line = !axis.numbers.is_empty();
        let mut chart = Chart::new(if is_line { ChartType::Line } else { ChartType::Column });
        let name = sheet.name();
        let first = self.row + 1;
        let last = self.row + u32::try_from(axis.labels.len()).unwrap_or(0);
        for (subject, column) in self.subjects.iter().zip(1..) {
            let series = chart.add_series();
            series
                .set_name(label(&limited(&subject.subject)).as_str())
                .set_categories((name.as_str(), first, 0, last, 0))
                .set_values((name.as_str(), first, column, last, column));
            if is_line {
                series.set_marker(ChartMarker::new().set_automatic());
            }
        }
        let shown = say!(self.report.language, "Geometric mean by {axis}", axis = axis.name);
        chart.title().set_name(title(&shown, self.report).as_str());
        chart.x_axis().set_name(label(&axis.name).as_str());
        chart.y_axis().set_name(stored_unit(self.grid.unit)).set_min(0.0);
        chart.legend().set_position(ChartLegendPosition::Bottom);
        chart.set_width(WIDTH).set_height(HEIGHT);
        sheet.insert_chart(0, column + 1, &chart)?;
        Ok(())
    }
}

/// The title of a chart: what it shows, and where its numbers come from, unless they were measured.
/// A chart may leave its workbook.
pub(super) fn title(shown: &str, report: &Report) -> String {
    let origins = origins(report);
    if origins.is_empty() {
        return label(shown);
    }
    label(&format!("{shown}. {}", origins.join(" ")))
}

/// A text that stays one: `costs!A1` would be taken for a cell of a sheet that does not exist,
/// which a blank behind it prevents.
fn label(text: &str) -> String {
    let text = model::inert(text);
    if text.contains('!') { format!("{text} ") } else { text.into_owned() }
}
