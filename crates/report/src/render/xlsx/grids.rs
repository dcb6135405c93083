//! The sheets of grids: means by row and by column, and heat maps.

use super::super::grid::{heading, mean as mean_title, of_means, pair};
use super::chart;
use super::sheet::{Cell, Rows, value};
use super::why_hidden;
use crate::grid::{Grid, GridComparison, GridEffect, GridMean, GridRatio};
use crate::quantities::stored_unit;
use crate::verdict_table::{NO_VERDICT_YET, is_corrected, symbol, verdict as word_of};
use crate::view::Report;
use model::Verdict;
use phrases::{Language, say};
use rust_xlsxwriter::{Color, Format, Worksheet, XlsxError};

/// Changes as signed percentages.
const PERCENT: &str = "+0.0%;-0.0%;0.0%";

/// The name of a sheet of means; none where nothing may be averaged.
pub(super) fn title(grid: &Grid, is_by_row: bool, language: Language) -> Option<String> {
    let has_means = grid.subjects.iter().any(|subject| !subject.row_means.is_empty());
    let axis = if is_by_row { &grid.rows } else { &grid.columns };
    has_means.then(|| say!(language, "{axis} table", axis = axis.noun()))
}

/// Means over the columns for each row, or over the rows for each column.
pub(super) fn write_means(
    report: &Report,
    grid: &Grid,
    is_by_row: bool,
    sheet: &mut Worksheet,
) -> Result<(), XlsxError> {
    let language = report.language;
    let mut rows = Rows::of(sheet, report.language);
    if let Some(why) = why_hidden(report) {
        return rows.note(why);
    }
    let (axis, other) =
        if is_by_row { (&grid.rows, &grid.columns) } else { (&grid.columns, &grid.rows) };
    let mut titles = vec![axis.name.clone()];
    for subject in &grid.subjects {
        let columns = [
            language.word("geometric mean"),
            language.word("arithmetic mean"),
            language.word("cells"),
        ];
        titles.extend(columns.map(|what| format!("{}: {what}", subject.subject)));
    }
    let width = titles.len();
    rows.titles(titles)?;
    for (index, label) in axis.labels.iter().enumerate() {
        let mut cells = vec![Cell::from(label)];
        for subject in &grid.subjects {
            let means = if is_by_row { &subject.row_means } else { &subject.column_means };
            cells.extend(mean(means.get(index).copied().flatten(), grid, language));
        }
        rows.row(cells)?;
    }
    rows.skip();
    rows.note(&say!(
        language,
        "{heading}: means over {other}, in {unit}.",
        heading = heading(grid, language),
        other = other.name,
        unit = stored_unit(grid.unit)
    ))?;
    rows.note(of_means(grid, true, language))?;
    rows.note(language.word(
        "Where the number of cells says `6 of 7`, the mean is over those 6 and cannot be held \
         against one over 7.",
    ))?;
    rows.skip();
    let chart = chart::Source::write(&mut rows, report, grid, is_by_row)?;
    rows.widths(&vec![20; width])?;
    chart.insert(sheet, u16::try_from(width).unwrap_or(u16::MAX))
}

/// A mean over some of the cells only is grey and slanted.
fn mean(mean: Option<GridMean>, grid: &Grid, language: Language) -> [Cell; 3] {
    let Some(mean) = mean else { return [Cell::Empty, Cell::Empty, Cell::Empty] };
    let numbers = [mean.geometric, mean.arithmetic].map(|number| value(number, grid.unit));
    let [geometric, arithmetic] = if mean.is_partial() {
        numbers.map(|cell| match cell {
            Cell::Formatted(number, format) => Cell::Formatted(number, partial(format)),
            Cell::Number(number) => Cell::Formatted(number, partial(Format::new())),
            other => other,
        })
    } else {
        numbers
    };
    let cells = say!(language, "{count} of {all}", count = mean.cells, all = mean.of);
    [geometric, arithmetic, Cell::from(cells)]
}

fn partial(format: Format) -> Format {
    format.set_italic().set_font_color(Color::Gray)
}

/// The heat maps of every grid and comparison, one below the other.
pub(super) fn write_heat(report: &Report, sheet: &mut Worksheet) -> Result<(), XlsxError> {
    let mut rows = Rows::of(sheet, report.language);
    let language = report.language;
    rows.note(&heat_note(report))?;
    let legend = [
        Verdict::Better,
        Verdict::Worse,
        Verdict::Equivalent,
        Verdict::Inconclusive,
        Verdict::Invalid,
    ];
    rows.row(
        legend.map(|verdict| Cell::FormattedText(word(verdict, language), fill(verdict))).into(),
    )?;
    let mut width = legend.len();
    for grid in &report.grids {
        for comparison in &grid.comparisons {
            rows.skip();
            let title = format!("{}: {}", heading(grid, language), pair(comparison, language));
            rows.heading(&title)?;
            heat_map(grid, comparison, language, &mut rows)?;
        }
        width = width.max(grid.columns.labels.len() + 2);
    }
    rows.widths(&vec![16; width])
}

/// What numbers and colours of the heat maps are.
fn heat_note(report: &Report) -> String {
    let language = report.language;
    let mut shown = report.grids.iter().flat_map(|grid| grid.findings(&report.findings));
    let colours = if report.findings.is_unfinished {
        language.word(NO_VERDICT_YET)
    } else if shown.any(is_corrected) {
        language.word("The colour is the verdict, corrected for all comparisons of its family.")
    } else {
        language.word("The colour is the verdict.")
    };
    [
        language.word("Effects as changes, turned so that + is better."),
        colours,
        language.word("Means are those of the ratios, without a verdict."),
    ]
    .join(" ")
}

fn heat_map(
    grid: &Grid,
    comparison: &GridComparison,
    language: Language,
    rows: &mut Rows<'_>,
) -> Result<(), XlsxError> {
    let has_means = !comparison.row_ratios.is_empty();
    let mut titles = vec![grid.rows.name.clone()];
    titles.extend(grid.columns.labels.iter().cloned());
    if has_means {
        titles.push(mean_title(language).to_owned());
    }
    rows.titles(titles)?;
    for (row, label) in grid.rows.labels.iter().enumerate() {
        let mut cells = vec![Cell::from(label)];
        cells.extend(comparison.cells[row].iter().map(|effect| heat(effect.as_ref())));
        cells.extend(comparison.row_ratios.get(row).map(|mean| mean_heat(*mean)));
        rows.row(cells)?;
    }
    if has_means {
        let mut cells = vec![Cell::from(mean_title(language))];
        cells.extend(comparison.column_ratios.iter().map(|mean| mean_heat(*mean)));
        rows.row(cells)?;
    }
    Ok(())
}

/// A change in its verdict's colour; nothing where there is no estimate.
fn heat(effect: Option<&GridEffect>) -> Cell {
    let Some(effect) = effect else { return Cell::Empty };
    effect.ratio.map_or(Cell::Empty, |ratio| {
        let format = fill(effect.verdict).set_num_format(PERCENT);
        Cell::Formatted(model::round_significant(ratio - 1.0), format)
    })
}

fn mean_heat(mean: Option<GridRatio>) -> Cell {
    let Some(mean) = mean else { return Cell::Empty };
    let format = Format::new().set_num_format(PERCENT);
    let format = if mean.cells < mean.of { partial(format) } else { format };
    Cell::Formatted(model::round_significant(mean.ratio - 1.0), format)
}

/// `▲ better`.
fn word(verdict: Verdict, language: Language) -> String {
    format!("{} {}", symbol(verdict, true), word_of(verdict, language))
}

/// Blue is better, orange worse, grey the same: told apart by the colour-blind, too, and
/// decided ones by their bold type without any colour.
fn fill(verdict: Verdict) -> Format {
    let format = Format::new();
    match verdict {
        Verdict::Better => format.set_background_color(Color::RGB(0x007A_B8DE)).set_bold(),
        Verdict::Worse => format.set_background_color(Color::RGB(0x00E8_9B64)).set_bold(),
        Verdict::Equivalent => format.set_background_color(Color::RGB(0x00E3_E5E9)),
        Verdict::Inconclusive => format,
        Verdict::Invalid => format.set_font_color(Color::Gray).set_italic(),
    }
}
