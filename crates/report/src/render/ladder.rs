//! Ladders drawn: tables of ratios by level and workload, and a curve under each column.

use crate::emulated::mark;
use crate::ladder::{Ladder, LadderCell, Rung};
use crate::quantities::{digits, direction};
use crate::verdict_table::{not_known, symbol, symbols};
use crate::view::Report;
use model::{LARGEST_RATIO, LEAST_RATIO};
use phrases::{Language, noted, say};
use unicode_width::UnicodeWidthStr;

/// Lines of a curve.
const HEIGHT: usize = 5;
/// Columns between two levels of a curve, at most.
const STEP: usize = 4;
/// A curve reaches at least 5 %, so that noise around no difference looks small.
const NEAREST: f64 = 0.05;
/// Ratios beyond a factor of a hundred run off the curve.
const FURTHEST: f64 = 2.0 * std::f64::consts::LN_10;

/// What the numbers of ladders are.
const OF_NUMBERS: &str = noted!(
    "Ratios are the subject's value over the reference's, not turned round: which way is better \
     stands above each."
);

/// What their intervals are.
const OF_INTERVALS: &str = noted!(
    "Each interval is for its number alone; that of an equivalence is the one that decided it."
);

/// What the curves are.
pub(super) const OF_CURVES: &str =
    noted!("Curves show the levels from left to right, on one logarithmic scale for each table.");

/// `response_time_p50 by vcpus: lab:bfs / lab:cfs (lower is better)`.
pub(super) fn heading(ladder: &Ladder, language: Language) -> String {
    let of_odds = cells(ladder).any(|cell| cell.is_odds);
    let of_odds = if of_odds { language.word(", ratios of odds") } else { "" };
    let by = say!(language, "{metric} by {factor}", metric = ladder.metric, factor = ladder.factor);
    format!(
        "{}{by}: {} / {} ({}{of_odds})",
        mark(ladder.is_emulated(), language),
        ladder.subject,
        ladder.reference,
        direction(ladder.direction, language)
    )
}

/// What the numbers and symbols of a report's ladders are.
pub(super) fn legend(report: &Report, language: Language) -> String {
    let Report { ladders, findings, .. } = report;
    let mut ratios = ladders.iter().flat_map(cells).filter_map(|cell| cell.ratio.as_ref());
    let mut legend = vec![language.word(OF_NUMBERS)];
    if ratios.any(|found| !found.interval.has_no_width()) {
        legend.push(language.word(OF_INTERVALS));
    }
    let shown = ladders.iter().flat_map(|ladder| ladder.findings(findings));
    legend.push(symbols(findings, shown, language));
    legend.join(" ")
}

fn cells(ladder: &Ladder) -> impl Iterator<Item = &LadderCell> {
    ladder.rungs.iter().flat_map(|rung| &rung.cells).flatten()
}

/// The ratio and its interval.
pub(super) fn numbers(cell: &LadderCell, language: Language) -> (String, String) {
    match &cell.ratio {
        None => (not_known(language), String::new()),
        Some(found) if found.interval.has_no_width() => {
            (multiple(found.ratio), language.word("no interval").to_owned())
        }
        Some(found) => {
            let end = |end: f64| if end.is_finite() { multiple(end) } else { "…".to_owned() };
            let interval = format!("{}-{}", end(found.interval.low), end(found.interval.high));
            (multiple(found.ratio), interval)
        }
    }
}

/// A ratio in few letters; nought is an unbounded end.
fn multiple(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= LARGEST_RATIO => ">1e300".to_owned(),
        ratio if ratio > 0.0 && ratio <= LEAST_RATIO => "<1e-300".to_owned(),
        ratio => digits(ratio),
    }
}

/// A ladder as lines of text, as many columns beside each other as fit.
pub(super) fn lines(
    ladder: &Ladder,
    width: usize,
    is_unicode: bool,
    language: Language,
) -> Vec<String> {
    let levels = ladder.rungs.iter().map(|rung| rung.level.as_str().width());
    let label = levels.chain([ladder.factor.width(), 5]).max().unwrap_or(0);
    let scale = Curve::of(ladder);
    let columns: Vec<Column> = (0..ladder.workloads.len())
        .map(|index| Column::of(ladder, index, &scale, is_unicode, language))
        .collect();
    let mut lines = Vec::new();
    let mut rest = columns.as_slice();
    while !rest.is_empty() {
        let mut used = label;
        let fits = |column: &&Column| {
            used += 1 + column.width;
            used <= width
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (beside, further) = rest.split_at(count);
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(drawn(ladder, label, &scale, beside));
        rest = further;
    }
    lines
}

/// The lines of some columns beside each other. The symbols stand out to the left of the
/// numbers, so one blank between columns is enough.
fn drawn(ladder: &Ladder, label: usize, scale: &Curve, columns: &[Column]) -> Vec<String> {
    let line = |first: &str, texts: Vec<&str>| {
        let mut line = format!("{}{first}", " ".repeat(label.saturating_sub(first.width())));
        for (column, text) in columns.iter().zip(texts) {
            let blank = " ".repeat(column.width.saturating_sub(text.width()));
            line += &format!(" {text}{blank}");
        }
        line.trim_end().to_owned()
    };
    let mut lines =
        vec![line(&ladder.factor, columns.iter().map(|column| column.title.as_str()).collect())];
    for (index, rung) in ladder.rungs.iter().enumerate() {
        let [ratios, intervals] = [0, 1].map(|part| {
            columns.iter().map(|column| column.rows[index][part].as_str()).collect::<Vec<_>>()
        });
        lines.push(line(rung.level.as_str(), ratios));
        lines.push(line("", intervals));
    }
    for row in 0..HEIGHT {
        let texts = columns.iter().map(|column| column.curve[row].as_str()).collect();
        lines.push(line(&scale.label(row), texts));
    }
    lines
}

/// One workload's cells and its curve.
struct Column {
    title: String,
    /// The ratio and the interval of each rung.
    rows: Vec<[String; 2]>,
    curve: Vec<String>,
    width: usize,
}

impl Column {
    fn of(
        ladder: &Ladder,
        index: usize,
        scale: &Curve,
        is_unicode: bool,
        language: Language,
    ) -> Self {
        let rows: Vec<[String; 2]> = ladder
            .rungs
            .iter()
            .map(|rung| {
                let Some(cell) = rung.cells.get(index).and_then(Option::as_ref) else {
                    return ["-".to_owned(), String::new()];
                };
                let (ratio, interval) = numbers(cell, language);
                let interval = if is_unicode { interval } else { interval.replace('…', "...") };
                [format!("{} {ratio}", symbol(cell.verdict, is_unicode)), format!("  {interval}")]
            })
            .collect();
        let title = ladder.workloads[index].clone();
        let texts = rows.iter().flatten().map(|text| text.width());
        let width = texts.chain([title.width()]).max().unwrap_or(0);
        let curve = scale.draw(&ladder.rungs, index, width, is_unicode);
        Self { title, rows, curve, width }
    }
}

/// The scale that all curves of a ladder share: logarithms of ratios, with no difference
/// always on it.
struct Curve {
    low: f64,
    high: f64,
}

impl Curve {
    fn of(ladder: &Ladder) -> Self {
        let logs = cells(ladder).filter_map(log_of);
        let (low, high) = logs.fold((0.0, 0.0), |(low, high): (f64, f64), log| {
            (low.min(log.max(-FURTHEST)), high.max(log.min(FURTHEST)))
        });
        if high - low < NEAREST {
            Self { low: -NEAREST, high: NEAREST }
        } else {
            Self { low, high }
        }
    }

    /// The line of a logarithm, from the top.
    fn row(&self, log: f64) -> usize {
        let share = (self.high - log.clamp(self.low, self.high)) / (self.high - self.low);
        (share * (HEIGHT - 1) as f64).round() as usize
    }

    /// What stands beside a line: no difference, and the ends.
    fn label(&self, row: usize) -> String {
        if row == self.row(0.0) {
            return "1".to_owned();
        }
        match row {
            0 => digits(self.high.exp()),
            row if row == HEIGHT - 1 => digits(self.low.exp()),
            _ => String::new(),
        }
    }

    fn draw(&self, rungs: &[Rung], column: usize, width: usize, is_unicode: bool) -> Vec<String> {
        let (point, level) = if is_unicode { ('●', '┄') } else { ('*', '-') };
        let step = (width.saturating_sub(3) / rungs.len().max(2).saturating_sub(1)).clamp(1, STEP);
        let room = (2 + step * rungs.len().saturating_sub(1) + 1).min(width.max(1));
        let mut rows = vec![vec![' '; room]; HEIGHT];
        rows[self.row(0.0)].fill(level);
        for (index, rung) in rungs.iter().enumerate() {
            let cell = rung.cells.get(column).and_then(Option::as_ref);
            let place = (1 + step * index).min(room - 1);
            if let Some(log) = cell.and_then(log_of) {
                rows[self.row(log)][place] = point;
            }
        }
        rows.into_iter().map(|row| row.into_iter().collect()).collect()
    }
}

fn log_of(cell: &LadderCell) -> Option<f64> {
    let log = cell.ratio.as_ref()?.ratio.ln();
    (!log.is_nan()).then_some(log)
}
