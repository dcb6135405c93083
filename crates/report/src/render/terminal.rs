//! The verdict table that a person reads at once.

mod comparison;
mod curve;
mod inert;
mod legend;
mod over_time;
mod plots;
mod rows;
mod sparkline;
mod validity;

use super::bar::Scale;
use super::grid::TextTable;
use super::{Page, Renderer, grid, ladder};
use crate::answer::in_percent;
use crate::attempt::attempt;
use crate::breakdown::{self, Breakdown};
use crate::counts;
use crate::failure_reasons::ToldReasons;
use crate::grid::Grid;
use crate::origin::origin;
use crate::quantities::{direction, fails, p_value};
use crate::rankings::{claim, ranks, tally, use_case};
use crate::verdict_table::{effect, groups, judged, reference_value, subject_value};
use crate::view::Report;
use crate::wrap::{pieces, wrapped};
use anstyle::{AnsiColor, Style};
use contract::Description;
use inert::{finished, inert};
use model::{Finding, Question, Ranking, Role, Verdict};
use phrases::{Language, say};
use rows::Layout;
use std::collections::BTreeSet;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "terminal",
    summary: "the verdict table for a terminal",
    doc: "Each row: the verdict's symbol, the subject, its value, the effect oriented so that + is \
          better, its interval (of an equivalence that which decided it, with its level, else the unadjusted one), the same interval drawn against no difference (│) and the \
          equivalence margin (░) with the verdict's symbol at the estimate, the verdict, and the number \
          of complete pairs of blocks. All bars share the axis below the last: right is better. A row \
          that does not fit goes on several lines. `schedlab show --plots` adds percentile curves of \
          latencies and every run of primary metrics as a sparkline.",
};

/// The family of single cells of imported numbers.
const CELLS: &str = "cells";
/// More rows of single cells than this are told by their number.
const MOST_CELLS: usize = 12;
/// A grid of more cells than this is told by their number.
const MOST_GRID_CELLS: usize = 400;
/// More rankings than this are told by their number.
const MOST_RANKINGS: usize = 24;
/// More pairs of subjects than this, of single cells, are told by their number.
const MOST_PAIRS: usize = 24;
/// More rows of one kind than this are told by their number, whatever is asked for: report.html has
/// all. Nobody reads more in a terminal, and 40,000 take ten seconds.
const MOST_ROWS: usize = 2_000;

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "txt"
    }

    fn render(&self, report: &Report, page: &Page, output: &mut dyn Write) -> io::Result<()> {
        let rows = || judged(&report.findings);
        let layout = Layout::of(rows(), page.width, report.hides_absolute, report.language);
        let mut drawn = Vec::new();
        let mut screen = Screen {
            page,
            layout,
            scale: Scale::of(rows(), layout.bar),
            hides_absolute: report.hides_absolute,
            language: report.language,
            output: &mut drawn,
        };
        screen.heading(report)?;
        screen.verdicts(report)?;
        screen.ladders(report)?;
        screen.grids(report)?;
        screen.breakdowns(report)?;
        screen.standings(report)?;
        screen.over_time(report)?;
        screen.failures(report)?;
        if page.is_verbose {
            screen.screened(report)?;
        }
        if page.has_plots {
            screen.plots(report)?;
        }
        screen.validity(report)?;
        screen.caveats(report)?;
        screen.notes(report)?;
        screen.answer(report)?;
        output.write_all(finished(&drawn, page).as_bytes())
    }
}

struct Screen<'a> {
    page: &'a Page,
    layout: Layout,
    scale: Scale,
    hides_absolute: bool,
    language: Language,
    output: &'a mut dyn Write,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

fn style_of(verdict: Verdict) -> Style {
    let colour = match verdict {
        Verdict::Better => AnsiColor::Green,
        Verdict::Worse => AnsiColor::Red,
        Verdict::Equivalent => AnsiColor::Cyan,
        Verdict::Inconclusive => AnsiColor::Yellow,
        Verdict::Invalid => AnsiColor::Magenta,
    };
    Style::new().fg_color(Some(colour.into()))
}

impl Screen<'_> {
    fn styled(&self, text: &str, style: Style) -> String {
        styled(self.page, text, style)
    }

    fn heading(&mut self, report: &Report) -> io::Result<()> {
        self.paragraph(&report.title, "", BOLD)?;
        self.paragraph(&origin(report, self.language), "", DIM)?;
        if let Some(attempt) = attempt(report) {
            self.paragraph(&attempt, "", DIM)?;
        }
        writeln!(self.output)
    }

    fn verdicts(&mut self, report: &Report) -> io::Result<()> {
        let of_grids = questions(report);
        let is_cell = |workload: &str, metric: &str, family: &str| {
            family == CELLS || of_grids.contains(&(workload, metric))
        };
        let all = &report.findings.findings;
        let cells: Vec<&Finding> = all
            .iter()
            .filter(|finding| {
                let Question { workload, metric, family, role, .. } = &finding.question;
                *role != Role::Screen && is_cell(workload, metric, family)
            })
            .collect();
        // Too many to read one by one, and their margins or the heat maps say the same.
        let is_cut = cells.len() > MOST_CELLS && !self.page.is_verbose;
        let (mut printed, mut left, mut more) = (Vec::new(), MOST_ROWS, 0);
        for group in groups(&report.findings) {
            if is_cut && is_cell(group.workload, group.metric, group.family) {
                continue;
            }
            let rows = &group.findings[..group.findings.len().min(left)];
            left -= rows.len();
            more += group.findings.len() - rows.len();
            let Some(first) = rows.first() else { continue };
            if !printed.is_empty() {
                writeln!(self.output)?;
            }
            printed.extend_from_slice(rows);
            let title = format!("{} {}", group.workload, group.metric);
            let about = say!(
                self.language,
                "{direction}, margin {margin} %; {reference} = {value}",
                direction = direction(first.question.direction, self.language),
                margin = in_percent(first.margin),
                reference = first.question.reference,
                value = reference_value(&group.findings, self.hides_absolute, self.language)
            );
            if title.width() + 2 + about.width() <= self.page.width {
                let title = self.styled(&title, BOLD);
                writeln!(self.output, "{title}  {}", self.styled(&about, DIM))?;
            } else {
                self.paragraph(&title, "", BOLD)?;
                self.paragraph(&about, "  ", DIM)?;
            }
            for finding in rows {
                self.row(finding)?;
            }
        }
        if !printed.is_empty() {
            self.axis()?;
            self.further(more)?;
            writeln!(self.output)?;
        }
        if is_cut {
            self.cells(&cells)?;
        }
        self.legend(report, &printed)
    }

    /// How comparisons of single cells ended, pair by pair.
    fn cells(&mut self, cells: &[&Finding]) -> io::Result<()> {
        let heading = say!(
            self.language,
            "{count} comparisons of single cells (-v shows all)",
            count = cells.len()
        );
        self.paragraph(&heading, "", BOLD)?;
        let lines = tally(cells, self.language);
        for line in lines.iter().take(MOST_PAIRS) {
            self.paragraph(line, "  ", Style::new())?;
        }
        self.further(lines.len().saturating_sub(MOST_PAIRS))?;
        writeln!(self.output)
    }

    /// Ratios along the factor that subjects are compared within.
    fn ladders(&mut self, report: &Report) -> io::Result<()> {
        let language = self.language;
        let width = self.page.width.saturating_sub(2);
        for drawn in &report.ladders {
            writeln!(self.output)?;
            self.paragraph(&ladder::heading(drawn, language), "", BOLD)?;
            for line in ladder::lines(drawn, width, self.page.is_unicode, language) {
                let indent = if line.is_empty() { "" } else { "  " };
                writeln!(self.output, "{indent}{}", inert(&line))?;
            }
        }
        if !report.ladders.is_empty() {
            let ratios = ladder::legend(report, language);
            let legend = format!("{ratios} {}", language.word(ladder::OF_CURVES));
            self.paragraph(&legend, "", DIM)?;
        }
        Ok(())
    }

    /// Where the time of round trips goes.
    fn breakdowns(&mut self, report: &Report) -> io::Result<()> {
        let language = self.language;
        for drawn in &report.breakdowns {
            writeln!(self.output)?;
            self.paragraph(&drawn.heading(language), "", BOLD)?;
            for divided in &drawn.subjects {
                self.paragraph(&divided.line(drawn.unit), "  ", Style::new())?;
            }
            self.paragraph(&drawn.sentences(language).join(" "), "", Style::new())?;
        }
        if !report.breakdowns.is_empty() {
            let has_intervals = report.breakdowns.iter().any(Breakdown::tells_intervals);
            self.paragraph(breakdown::legend(has_intervals, language), "", DIM)?;
        }
        Ok(())
    }

    /// Whether a grid is drawn, and not only told by the number of its cells.
    fn draws(&self, grid: &Grid) -> bool {
        cells_of(grid) <= MOST_GRID_CELLS || self.page.is_verbose
    }

    /// Heat maps and means where workloads and metrics span a table.
    fn grids(&mut self, report: &Report) -> io::Result<()> {
        let language = self.language;
        for drawn in &report.grids {
            writeln!(self.output)?;
            self.paragraph(&grid::heading(drawn, language), "", BOLD)?;
            if !self.draws(drawn) {
                let text = say!(
                    language,
                    "{count} cells of each comparison (-v shows them)",
                    count = cells_of(drawn)
                );
                self.paragraph(&text, "  ", Style::new())?;
                continue;
            }
            for comparison in &drawn.comparisons {
                self.paragraph(&grid::pair(comparison, language), "  ", Style::new())?;
                let is_unicode = self.page.is_unicode;
                let table = TextTable::of_effects(drawn, comparison, is_unicode, language);
                self.text_table(&table)?;
            }
            self.paragraph(&grid::legend(drawn, &report.findings, language), "", DIM)?;
            if drawn.comparisons.iter().any(|one| !one.row_ratios.is_empty()) {
                self.paragraph(grid::of_ratios(drawn, language), "", DIM)?;
            }
            let has_means = drawn.subjects.iter().any(|subject| !subject.row_means.is_empty());
            if has_means && !(drawn.is_emulated && self.hides_absolute) {
                self.means(drawn)?;
            }
        }
        Ok(())
    }

    /// Means of each subject by row and by column; arithmetic ones only on request.
    fn means(&mut self, drawn: &Grid) -> io::Result<()> {
        let kinds = if self.page.is_verbose { 2 } else { 1 };
        let language = self.language;
        for which in 0..kinds {
            for is_by_row in [true, false] {
                let (axis, other) = if is_by_row {
                    (&drawn.rows, &drawn.columns)
                } else {
                    (&drawn.columns, &drawn.rows)
                };
                let (other, axis) = (&other.name, &axis.name);
                let title = if which == 0 {
                    say!(language, "Geometric means over {other}, by {axis}", other, axis)
                } else {
                    say!(language, "Arithmetic means over {other}, by {axis}", other, axis)
                };
                self.paragraph(&title, "  ", Style::new())?;
                self.text_table(&TextTable::of_means(drawn, is_by_row, which, language))?;
            }
        }
        self.paragraph(grid::of_means(drawn, kinds == 2, language), "", DIM)
    }

    fn text_table(&mut self, table: &TextTable<'_>) -> io::Result<()> {
        for line in table.lines(self.page.width.saturating_sub(4)) {
            let drawn: String = line
                .iter()
                .map(|piece| {
                    piece.verdict.map_or_else(
                        || inert(&piece.text),
                        |verdict| self.styled(&piece.text, style_of(verdict)),
                    )
                })
                .collect();
            writeln!(self.output, "{}", format!("    {drawn}").trim_end())?;
        }
        Ok(())
    }

    /// Use cases, claims and ranks.
    fn standings(&mut self, report: &Report) -> io::Result<()> {
        let findings = &report.findings;
        let language = self.language;
        for finding in &findings.use_cases {
            let section = use_case(finding, findings, language);
            writeln!(self.output)?;
            let heading = say!(language, "Use case {heading}", heading = section.heading);
            self.paragraph(&heading, "", BOLD)?;
            for line in &section.lines {
                self.paragraph(line, "  ", Style::new())?;
            }
        }
        if !findings.claims.is_empty() {
            writeln!(self.output, "\n{}", self.styled(language.word("Published claims"), BOLD))?;
            for finding in &findings.claims {
                self.paragraph(&claim(finding, language), "  ", Style::new())?;
            }
        }
        let questions = findings.findings.iter().map(|finding| &finding.question);
        let of_cells = questions.filter(|question| question.family == CELLS);
        let cells: BTreeSet<&str> = of_cells.map(|question| question.workload.as_str()).collect();
        // Where there are margins, ranks in single cells are too many to read.
        let has_margins = findings.families.len() > 1;
        let is_kept = |ranking: &&Ranking| {
            self.page.is_verbose || !has_margins || !cells.contains(ranking.workload.as_str())
        };
        let kept: Vec<&Ranking> = findings.rankings.iter().filter(is_kept).collect();
        let shown = if self.page.is_verbose { MOST_ROWS } else { MOST_RANKINGS };
        let kept_count = kept.len();
        if kept_count > 0 {
            let heading = language.word("Ranks (1 plus the number of subjects shown to be better)");
            writeln!(self.output)?;
            self.paragraph(heading, "", BOLD)?;
        }
        for ranking in kept.into_iter().take(shown) {
            let ranks = ranks(ranking, language);
            let text = format!("{} {}: {ranks}", ranking.workload, ranking.metric);
            self.paragraph(&text, "  ", Style::new())?;
        }
        let more = kept_count.saturating_sub(shown);
        if more > 0 {
            self.more(more, "  ")?;
        }
        Ok(())
    }

    fn failures(&mut self, report: &Report) -> io::Result<()> {
        if !report.ejections.is_empty() {
            writeln!(self.output)?;
        }
        for ejections in &report.ejections {
            self.paragraph(&ejections.words(self.language), "", style_of(Verdict::Worse))?;
        }
        for count in
            report.findings.failures.iter().filter(|count| count.failed + count.invalid > 0)
        {
            let invalid = if count.invalid > 0 {
                say!(self.language, ", {count} invalid", count = count.invalid)
            } else {
                String::new()
            };
            let mut text = say!(
                self.language,
                "{subject} on {workload}: {failed} of {trials} failed{invalid}",
                subject = count.subject,
                workload = count.workload,
                failed = count.failed,
                trials = counts::trials(count.trials, self.language),
                invalid
            );
            let fails = fails(count, self.language);
            if !fails.is_empty() {
                text = format!("{text}; {fails}");
            }
            writeln!(self.output)?;
            self.paragraph(&text, "", style_of(Verdict::Worse))?;
            let reasons = ToldReasons::of(&count.reasons);
            for (reason, times) in &reasons.told {
                self.paragraph(&format!("{times} x {reason}"), "  ", Style::new())?;
            }
            if let Some(others) = reasons.others(self.language) {
                self.paragraph(&others, "  ", DIM)?;
            }
        }
        Ok(())
    }

    fn screened(&mut self, report: &Report) -> io::Result<()> {
        let mut screened: Vec<&Finding> = report
            .findings
            .findings
            .iter()
            .filter(|finding| finding.question.role == Role::Screen && finding.effect.is_some())
            .collect();
        if screened.is_empty() {
            return Ok(());
        }
        screened.sort_by(|a, b| q_of(a).total_cmp(&q_of(b)));
        writeln!(self.output)?;
        let language = self.language;
        let heading = language.word("Screen of secondary metrics (q-values; never a verdict)");
        self.paragraph(heading, "", BOLD)?;
        for finding in screened.iter().take(MOST_ROWS) {
            let question = &finding.question;
            let name = format!("{} {}, {}", question.workload, question.metric, question.subject);
            let numbers = format!(
                "{}  {}  q {}",
                padded_left(&subject_value(finding, self.hides_absolute, language), 9),
                padded_left(&effect(finding, language).0, 8),
                p_value(q_of(finding))
            );
            let room = self.page.width.saturating_sub(35).min(64);
            let name = self.styled(&padded(&shortened(&name, room), room), Style::new());
            writeln!(self.output, "  {name}  {numbers}")?;
        }
        self.further(screened.len().saturating_sub(MOST_ROWS))
    }

    fn caveats(&mut self, report: &Report) -> io::Result<()> {
        if report.caveats.is_empty() {
            return Ok(());
        }
        writeln!(self.output, "\n{}", self.styled(self.language.word("Caveats"), BOLD))?;
        for caveat in &report.caveats {
            self.paragraph(&format!("{}: {}", caveat.code, caveat.meaning), "  ", Style::new())?;
            let shown = if self.page.is_verbose { MOST_ROWS } else { 2 };
            for place in caveat.places.iter().take(shown) {
                self.paragraph(place, "    ", DIM)?;
            }
            if caveat.places.len() > shown {
                self.more(caveat.places.len() - shown, "    ")?;
            }
        }
        Ok(())
    }

    fn notes(&mut self, report: &Report) -> io::Result<()> {
        for note in &report.notes {
            self.paragraph(&say!(self.language, "Note: {note}", note), "", DIM)?;
        }
        Ok(())
    }

    fn answer(&mut self, report: &Report) -> io::Result<()> {
        writeln!(self.output)?;
        self.paragraph(&report.answer, "", BOLD)
    }

    /// How many are not shown, and what shows them.
    fn more(&mut self, more: usize, indent: &str) -> io::Result<()> {
        if self.page.is_verbose {
            return self.further(more);
        }
        let text = say!(self.language, "and {count} more (-v shows all)", count = more);
        self.paragraph(&text, indent, DIM)
    }

    fn paragraph(&mut self, text: &str, indent: &str, style: Style) -> io::Result<()> {
        paragraph(self.output, self.page, text, indent, style)
    }
}

fn styled(page: &Page, text: &str, style: Style) -> String {
    let text = inert(text);
    if page.is_colour { format!("{style}{text}{style:#}") } else { text }
}

/// Text wrapped to the page, each line indented.
fn paragraph(
    output: &mut dyn Write,
    page: &Page,
    text: &str,
    indent: &str,
    style: Style,
) -> io::Result<()> {
    let room = page.width.saturating_sub(indent.width()).max(20);
    for line in lines(text, room) {
        writeln!(output, "{indent}{}", styled(page, &line, style))?;
    }
    Ok(())
}

/// Lines of at most `room` columns. Ends of lines and tabs are blanks to the wrapping; the rest
/// is made visible before it.
fn lines(text: &str, room: usize) -> Vec<String> {
    wrapped(&inert(&text.replace(['\n', '\t'], " ")), room)
}

/// Cells of each comparison of a grid.
fn cells_of(grid: &Grid) -> usize {
    grid.rows.labels.len() * grid.columns.labels.len()
}

/// What the cells of grids ask: workloads and metrics.
fn questions(report: &Report) -> BTreeSet<(&str, &str)> {
    let cells = report.grids.iter().flat_map(|grid| grid.questions.iter().flatten().flatten());
    cells.map(|cell| (cell.workload.as_str(), cell.metric.as_str())).collect()
}

/// At most `room` columns of a name; a cut one ends in two dots.
fn shortened(name: &str, room: usize) -> String {
    match pieces(name, room).as_slice() {
        [_, _, ..] => {
            let kept = pieces(name, room.saturating_sub(2)).swap_remove(0);
            format!("{kept}..")
        }
        _ => name.to_owned(),
    }
}

fn q_of(finding: &Finding) -> f64 {
    finding.effect.as_ref().and_then(|effect| effect.adjusted_difference).unwrap_or(1.0)
}

/// `text` followed by blanks up to `width` columns.
fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// `text` behind blanks up to `width` columns.
fn padded_left(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}
