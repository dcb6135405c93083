//! Grids in words and as columns of text: what every text renderer shows of them.

use crate::emulated::mark;
use crate::grid::{Grid, GridComparison, GridEffect, GridMean, GridRatio, GridSubject};
use crate::quantities::{against, direction, percent, tells_percentage, value};
use crate::verdict_table::{not_known, symbol, symbols};
use model::{Direction, Findings, Interval, Unit, Verdict};
use phrases::{Language, noted, say};
use unicode_width::UnicodeWidthStr;

/// What the numbers of heat maps are.
const OF_CELLS: &str = noted!(
    "Each cell is the change in percent (× and ÷ from two-fold on), turned so that + and × are better."
);
/// What the means of heat maps are.
const OF_RATIOS: &str =
    noted!("The row and column `mean` are geometric means of the ratios, without a verdict.");
/// The same where one of these or other means lacks a cell.
const OF_PARTIAL_RATIOS: &str = noted!(
    "The row and column `mean` are geometric means of the ratios, without a verdict; (6/7) says \
     that one of seven cells is missing."
);

/// What the numbers and symbols of a grid's heat maps are.
pub(super) fn legend(grid: &Grid, findings: &Findings, language: Language) -> String {
    let symbols = symbols(findings, grid.findings(findings), language);
    format!("{} {symbols}", language.word(OF_CELLS))
}

/// Stands where a subject has no valid value.
pub(super) fn missing(language: Language) -> String {
    language.word("missing").to_owned()
}

/// Title of what summarises a row or a column.
pub(super) fn mean(language: Language) -> &'static str {
    language.word("mean")
}

/// What the means of a grid's heat maps are.
pub(super) fn of_ratios(grid: &Grid, language: Language) -> &'static str {
    let ratios = |one: &GridComparison| {
        let mut all = one.row_ratios.iter().chain(&one.column_ratios).flatten();
        all.any(|mean| mean.cells < mean.of)
    };
    let means = |one: &GridSubject| {
        let mut all = one.row_means.iter().chain(&one.column_means).flatten();
        all.any(GridMean::is_partial)
    };
    let is_partial = grid.comparisons.iter().any(ratios) || grid.subjects.iter().any(means);
    language.word(if is_partial { OF_PARTIAL_RATIOS } else { OF_RATIOS })
}

/// What the means that are shown are, and which of them may be read.
pub(super) fn of_means(grid: &Grid, has_arithmetic: bool, language: Language) -> &'static str {
    if !has_arithmetic {
        return language.word(
            "Geometric means give each cell the same weight, whatever its scale; their ratios are \
             the means of the ratios. They are no verdict.",
        );
    }
    let is_speed = grid.direction == Direction::Higher
        && matches!(grid.unit, Unit::PerSecond | Unit::BytesPerSecond);
    if is_speed {
        language.word(
            "Geometric means give each cell the same weight, whatever its scale; their ratios are \
             the means of the ratios. The arithmetic mean follows the fastest cells and is given \
             for comparison with published tables only. Neither is a verdict.",
        )
    } else {
        language.word(
            "Geometric means give each cell the same weight, whatever its scale; their ratios are \
             the means of the ratios. The arithmetic mean follows the largest cells and is given \
             for comparison with published tables only. Neither is a verdict.",
        )
    }
}

/// `throughput by record and operation (higher is better)`.
pub(super) fn heading(grid: &Grid, language: Language) -> String {
    let heading = say!(
        language,
        "{measure} by {rows} and {columns} ({direction})",
        measure = grid.measure,
        rows = grid.rows.name,
        columns = grid.columns.name,
        direction = direction(grid.direction, language)
    );
    format!("{}{heading}", mark(grid.is_emulated, language))
}

/// `bfq against mq-deadline`.
pub(super) fn pair(comparison: &GridComparison, language: Language) -> String {
    let pair = against(&comparison.subject, &comparison.reference, language);
    if comparison.is_control { format!("{pair} ({})", language.word("A/A control")) } else { pair }
}

/// `▲ +12.3`, or why there is no number.
pub(super) fn heat(effect: &GridEffect, is_unicode: bool, language: Language) -> String {
    let number =
        effect.ratio.map_or_else(|| not_known(language), |ratio| bare_percent(ratio, language));
    format!("{} {number}", symbol(effect.verdict, is_unicode))
}

/// A mean ratio; how many cells it is over where some are missing.
pub(super) fn heat_mean(mean: Option<&GridRatio>, language: Language) -> String {
    let Some(mean) = mean else { return not_known(language) };
    format!("{}{}", bare_percent(mean.ratio, language), over(mean.cells, mean.of))
}

/// The geometric and the arithmetic mean; how many cells they are over where some are
/// missing.
pub(super) fn means(mean: Option<&GridMean>, unit: Unit, language: Language) -> [String; 2] {
    let Some(mean) = mean else { return [missing(language), missing(language)] };
    [mean.geometric, mean.arithmetic]
        .map(|number| format!("{}{}", value(number, unit), over(mean.cells, mean.of)))
}

fn over(cells: usize, of: usize) -> String {
    if cells < of { format!(" ({cells}/{of})") } else { String::new() }
}

fn bare_percent(ratio: f64, language: Language) -> String {
    let text = percent(ratio, language);
    text.strip_suffix(" %").map(str::to_owned).unwrap_or(text)
}

/// Whether a change of values, of a cell or on average, is told in percent.
pub(super) fn tells_percentages(grid: &Grid) -> bool {
    let is_told = |ratio: f64| tells_percentage(ratio, &Interval { low: ratio, high: ratio });
    grid.comparisons.iter().any(|one| {
        let mut cells = one.cells.iter().flatten().flatten().filter(|cell| !cell.is_odds);
        let mut means = one.row_ratios.iter().chain(&one.column_ratios).flatten();
        cells.any(|cell| cell.ratio.is_some_and(is_told)) || means.any(|mean| is_told(mean.ratio))
    })
}

/// Text with the verdict that colours it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) verdict: Option<Verdict>,
}

impl Piece {
    fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), verdict: None }
    }

    /// Behind blanks, up to so many columns.
    fn right(self, width: usize) -> Self {
        let blanks = " ".repeat(width.saturating_sub(self.text.width()));
        Self { text: blanks + &self.text, ..self }
    }
}

/// Columns of text beside row labels.
pub(super) struct TextTable<'a> {
    corner: &'a str,
    labels: Vec<&'a str>,
    columns: Vec<(String, Vec<Piece>)>,
}

impl<'a> TextTable<'a> {
    /// The heat map of a comparison, with the means of its ratios where there are any.
    pub(super) fn of_effects(
        grid: &'a Grid,
        comparison: &GridComparison,
        is_unicode: bool,
        language: Language,
    ) -> Self {
        let has_means = !comparison.row_ratios.is_empty();
        let mut columns: Vec<(String, Vec<Piece>)> = Vec::new();
        for (index, title) in grid.columns.labels.iter().enumerate() {
            let cell = |row: &Vec<Option<GridEffect>>| {
                row[index].as_ref().map_or(Piece::plain(""), |effect| Piece {
                    text: heat(effect, is_unicode, language),
                    verdict: Some(effect.verdict),
                })
            };
            let mut cells: Vec<Piece> = comparison.cells.iter().map(cell).collect();
            if has_means {
                let mean = comparison.column_ratios[index].as_ref();
                cells.push(Piece::plain(heat_mean(mean, language)));
            }
            columns.push((title.clone(), cells));
        }
        let mut labels: Vec<&str> = grid.rows.labels.iter().map(String::as_str).collect();
        if has_means {
            let ratios = comparison.row_ratios.iter();
            let mut cells: Vec<Piece> =
                ratios.map(|mean| Piece::plain(heat_mean(mean.as_ref(), language))).collect();
            cells.push(Piece::plain(""));
            columns.push((mean(language).to_owned(), cells));
            labels.push(mean(language));
        }
        Self { corner: &grid.rows.name, labels, columns }
    }

    /// Means of each subject over rows or over columns: 0 the geometric, 1 the arithmetic.
    /// A control's say nothing that its heat map does not.
    pub(super) fn of_means(
        grid: &'a Grid,
        is_by_row: bool,
        which: usize,
        language: Language,
    ) -> Self {
        let axis = if is_by_row { &grid.rows } else { &grid.columns };
        let column = |subject: &GridSubject| {
            let of = if is_by_row { &subject.row_means } else { &subject.column_means };
            let cell = |mean: &Option<GridMean>| {
                let [geometric, arithmetic] = means(mean.as_ref(), grid.unit, language);
                Piece::plain(if which == 0 { geometric } else { arithmetic })
            };
            (subject.subject.clone(), of.iter().map(cell).collect())
        };
        Self {
            corner: &axis.name,
            labels: axis.labels.iter().map(String::as_str).collect(),
            columns: grid.subjects.iter().filter(|one| !one.is_control).map(column).collect(),
        }
    }

    /// As many columns beside each other as fit; long titles stand on several lines.
    pub(super) fn lines(&self, width: usize) -> Vec<Vec<Piece>> {
        let label = self.labels.iter().map(|text| text.width());
        let label = label.chain([self.corner.width()]).max().unwrap_or(0);
        let total: usize =
            self.columns.iter().map(|one| 2 + width_of(one, &[one.0.as_str()])).sum();
        let is_split = label + total > width;
        let titles: Vec<Vec<&str>> =
            self.columns.iter().map(|(title, _)| title_lines(title, is_split)).collect();
        let widths: Vec<usize> =
            self.columns.iter().zip(&titles).map(|(one, title)| width_of(one, title)).collect();
        let mut lines: Vec<Vec<Piece>> = Vec::new();
        let mut from = 0;
        while from < self.columns.len() {
            let mut used = label;
            let fits = |width_of_column: &&usize| {
                used += 2 + **width_of_column;
                used <= width
            };
            let count = widths[from..].iter().take_while(fits).count().max(1);
            if !lines.is_empty() {
                lines.push(Vec::new());
            }
            let chosen = from..from + count;
            lines.extend(self.beside(
                label,
                &titles[chosen.clone()],
                &widths[chosen.clone()],
                from,
            ));
            from = chosen.end;
        }
        lines
    }

    /// The lines of some columns from `first` on.
    fn beside(
        &self,
        label: usize,
        titles: &[Vec<&str>],
        widths: &[usize],
        first: usize,
    ) -> Vec<Vec<Piece>> {
        let height = titles.iter().map(Vec::len).max().unwrap_or(1);
        let mut lines = Vec::new();
        for level in 0..height {
            let is_last = level + 1 == height;
            let corner = if is_last { self.corner } else { "" };
            let mut line = vec![Piece::plain(corner).right(label)];
            for (title, width) in titles.iter().zip(widths) {
                // Short titles stand at the bottom.
                let text = (level + title.len()).checked_sub(height).map_or("", |at| title[at]);
                line.push(Piece::plain(text).right(2 + width));
            }
            lines.push(line);
        }
        for (row, text) in self.labels.iter().enumerate() {
            let mut line = vec![Piece::plain(*text).right(label)];
            let columns = self.columns.iter().skip(first).zip(widths);
            line.extend(columns.map(|((_, cells), width)| cells[row].clone().right(2 + width)));
            lines.push(line);
        }
        lines
    }
}

fn title_lines(title: &str, is_split: bool) -> Vec<&str> {
    if is_split { title.split_inclusive('_').collect() } else { vec![title] }
}

fn width_of((_, cells): &(String, Vec<Piece>), title: &[&str]) -> usize {
    let cells = cells.iter().map(|piece| piece.text.width());
    cells.chain(title.iter().map(|text| text.width())).max().unwrap_or(0)
}
