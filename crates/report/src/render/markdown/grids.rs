//! The grids of a campaign as Markdown: heat maps, values, means over rows and columns.

use super::super::grid::{
    heading, heat, heat_mean, legend, mean, means, missing, of_means, of_ratios, pair,
};
use super::{cell, plain};
use crate::grid::{Axis, Grid, GridComparison, GridEffect, GridMean, GridSubject};
use crate::quantities::{estimate, value};
use crate::verdict_table::symbol;
use crate::view::Report;
use phrases::{Language, say};
use std::io::{self, Write};

pub(super) fn grids(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let language = report.language;
    for grid in &report.grids {
        writeln!(
            output,
            "## {}\n\n{}{}",
            capitalised(&heading(grid, language)),
            legend(grid, &report.findings, language),
            of_intervals(grid, language)
        )?;
        let has_means = grid.comparisons.iter().any(|one| !one.row_ratios.is_empty());
        writeln!(output, "{}\n", if has_means { of_ratios(grid, language) } else { "" })?;
        for comparison in &grid.comparisons {
            heat_map(grid, comparison, language, output)?;
        }
        if grid.is_emulated && report.hides_absolute {
            continue;
        }
        for subject in &grid.subjects {
            values(grid, subject, language, output)?;
        }
        if grid.subjects.iter().any(|subject| !subject.row_means.is_empty()) {
            mean_table(grid, true, language, output)?;
            mean_table(grid, false, language, output)?;
            writeln!(output, "{}\n", of_means(grid, true, language))?;
        }
    }
    Ok(())
}

/// What the intervals of its cells are, in a sentence with a blank before it, where one has any.
fn of_intervals(grid: &Grid, language: Language) -> String {
    let cells = grid.comparisons.iter().flat_map(|one| one.cells.iter().flatten().flatten());
    let mut intervals = cells.filter_map(|cell| cell.ratio.and(cell.interval));
    if intervals.any(|interval| !interval.has_no_width()) {
        format!(" {}", language.word("Intervals are for each cell alone."))
    } else {
        String::new()
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = plain(text);
    if let Some(first) = letters.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    letters
}

/// A table's head: the corner, then titles of numbers.
fn head(corner: &str, titles: &[String], output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "| {} | {} |", cell(corner), titles.join(" | "))?;
    writeln!(output, "|--:|{}", "--:|".repeat(titles.len()))
}

fn titles(axis: &Axis) -> Vec<String> {
    axis.labels.iter().map(|label| cell(label)).collect()
}

fn heat_map(
    grid: &Grid,
    comparison: &GridComparison,
    language: Language,
    output: &mut dyn Write,
) -> io::Result<()> {
    writeln!(output, "**{}**\n", plain(&pair(comparison, language)))?;
    let has_means = !comparison.row_ratios.is_empty();
    let mut titles = titles(&grid.columns);
    if has_means {
        titles.push(mean(language).to_owned());
    }
    head(&grid.rows.name, &titles, output)?;
    for (row, label) in grid.rows.labels.iter().enumerate() {
        let mut cells: Vec<String> = comparison.cells[row]
            .iter()
            .map(|effect| with_interval(effect.as_ref(), language))
            .collect();
        cells.extend(comparison.row_ratios.get(row).map(|mean| heat_mean(mean.as_ref(), language)));
        writeln!(output, "| {} | {} |", cell(label), cells.join(" | "))?;
    }
    if has_means {
        let ratios = comparison.column_ratios.iter();
        let cells: Vec<String> = ratios.map(|mean| heat_mean(mean.as_ref(), language)).collect();
        writeln!(output, "| {} | {} | |", mean(language), cells.join(" | "))?;
    }
    writeln!(output)
}

fn with_interval(effect: Option<&GridEffect>, language: Language) -> String {
    let Some(effect) = effect else { return String::new() };
    let Some((ratio, ends)) = effect.ratio.zip(effect.interval) else {
        return heat(effect, true, language);
    };
    let (size, ends) = estimate(ratio, &ends, language);
    let [size, ends] = [&size, &ends].map(|text| text.strip_suffix(" %").unwrap_or(text));
    format!("{} {size} ({ends})", symbol(effect.verdict, true))
}

fn values(
    grid: &Grid,
    subject: &GridSubject,
    language: Language,
    output: &mut dyn Write,
) -> io::Result<()> {
    let control = if subject.is_control {
        format!(" ({})", language.word("A/A control"))
    } else {
        String::new()
    };
    let what = if subject.row_means.is_empty() {
        language.word("means over its runs")
    } else {
        language.word("geometric means over its runs")
    };
    writeln!(output, "**{}{control}**: {what}\n", plain(&subject.subject))?;
    head(&grid.rows.name, &titles(&grid.columns), output)?;
    for ((label, row), questions) in
        grid.rows.labels.iter().zip(&subject.cells).zip(&grid.questions)
    {
        let shown = row.iter().zip(questions).map(|(found, question)| match (found, question) {
            (Some(found), _) => value(found.mean, grid.unit),
            (None, Some(_)) => missing(language),
            (None, None) => String::new(),
        });
        let cells: Vec<String> = shown.collect();
        writeln!(output, "| {} | {} |", cell(label), cells.join(" | "))?;
    }
    writeln!(output)
}

/// The geometric and the arithmetic means of every subject.
fn mean_table(
    grid: &Grid,
    is_by_row: bool,
    language: Language,
    output: &mut dyn Write,
) -> io::Result<()> {
    let (axis, other) =
        if is_by_row { (&grid.rows, &grid.columns) } else { (&grid.columns, &grid.rows) };
    let title = say!(
        language,
        "**By {axis}**: means over {other}",
        axis = plain(axis.noun()),
        other = plain(&other.name)
    );
    writeln!(output, "{title}\n")?;
    let names = grid.subjects.iter().map(|subject| cell(&subject.subject));
    let titles: Vec<String> = names
        .flat_map(|name| {
            [
                say!(language, "{subject}, geometric", subject = name),
                say!(language, "{subject}, arithmetic", subject = name),
            ]
        })
        .collect();
    head(&axis.name, &titles, output)?;
    for (index, label) in axis.labels.iter().enumerate() {
        let of = |subject: &GridSubject| -> Option<GridMean> {
            let means = if is_by_row { &subject.row_means } else { &subject.column_means };
            means.get(index).copied().flatten()
        };
        let cells: Vec<String> = grid
            .subjects
            .iter()
            .flat_map(|subject| means(of(subject).as_ref(), grid.unit, language))
            .collect();
        writeln!(output, "| {} | {} |", cell(label), cells.join(" | "))?;
    }
    writeln!(output)
}
