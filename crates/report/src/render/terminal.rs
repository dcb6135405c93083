//! The verdict table that a person reads at once.

mod curve;
mod inert;
mod plots;
mod rows;
mod sparkline;

use super::bar::Scale;
use super::grid::TextTable;
use super::table::{effect, groups, level, reference_value, subject_value};
use super::{Page, Renderer, grid, ladder};
use crate::answer::trimmed;
use crate::emulated::WHY_HIDDEN;
use crate::grid::Grid;
use crate::quantities::{duration, p_value};
use crate::standings::{claim, ranks, tally, use_case};
use crate::view::Report;
use crate::wrap::{pieces, wrapped};
use anstyle::{AnsiColor, Style};
use contract::Description;
use inert::{folded, inert};
use model::{Finding, Question, Ranking, Role, Verdict};
use rows::Layout;
use std::collections::BTreeSet;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "terminal",
    summary: "the verdict table for a terminal",
    doc: "Each row: the verdict's symbol, the subject, its value, the effect oriented so that + is \
          better, its unadjusted interval, the same interval drawn against no difference (│) and the \
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

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "txt"
    }

    fn render(&self, report: &Report, page: &Page, output: &mut dyn Write) -> io::Result<()> {
        let judged =
            report.findings.findings.iter().filter(|finding| finding.question.role != Role::Screen);
        let layout = Layout::of(judged.clone(), page.width, report.hides_absolute);
        let mut drawn = Vec::new();
        let mut screen = Screen {
            page,
            layout,
            scale: Scale::of(judged, layout.bar),
            hides_absolute: report.hides_absolute,
            output: &mut drawn,
        };
        screen.heading(report)?;
        screen.verdicts(report)?;
        screen.ladders(report)?;
        screen.grids(report)?;
        screen.standings(report)?;
        screen.failures(report)?;
        if page.is_verbose {
            screen.screened(report)?;
        }
        if page.has_plots {
            screen.plots(report)?;
        }
        screen.caveats(report)?;
        screen.notes(report)?;
        screen.answer(report)?;
        let mut text = String::from_utf8_lossy(&drawn).into_owned();
        if !page.is_unicode {
            // Only our own signs: what the user wrote stays as it was written.
            text = text.replace('×', "x").replace('÷', "1/").replace('\u{fffd}', "?");
        }
        output.write_all(folded(&text, page.width).as_bytes())
    }
}

struct Screen<'a> {
    page: &'a Page,
    layout: Layout,
    scale: Scale,
    hides_absolute: bool,
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
        let text = inert(text);
        if self.page.is_colour { format!("{style}{text}{style:#}") } else { text }
    }

    fn heading(&mut self, report: &Report) -> io::Result<()> {
        let design = &report.design;
        self.paragraph(&report.title, "", BOLD)?;
        if let Some(imported) = &design.imported {
            let text = format!(
                "imported from {} ({}): {} subjects, {} records of {} workloads",
                imported.file,
                imported.format,
                design.subjects,
                design.trials,
                design.workloads.len()
            );
            self.paragraph(&text, "", DIM)?;
            return writeln!(self.output);
        }
        let quick = if design.is_quick { "quick mode, " } else { "" };
        let place = if design.is_simulated() {
            " of simulated time; no real machine".to_owned()
        } else {
            format!("; {} with kernel {}, CPUs {}", design.venue, design.kernel, design.cpus)
        };
        let text = format!(
            "{quick}{} blocks of {} subjects, {} trials in {}{place}; seed {}",
            design.blocks,
            design.subjects,
            design.trials,
            duration(design.duration_ns),
            design.seed
        );
        self.paragraph(&text, "", DIM)?;
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
        let mut has_rows = false;
        for group in groups(&report.findings) {
            if is_cut && is_cell(group.workload, group.metric, group.family) {
                continue;
            }
            let Some(first) = group.findings.first() else { continue };
            if has_rows {
                writeln!(self.output)?;
            }
            has_rows = true;
            let title = format!("{} {}", group.workload, group.metric);
            let about = format!(
                "{}, margin {} %; {} = {}",
                first.question.direction,
                trimmed(100.0 * first.margin),
                first.question.reference,
                reference_value(&group.findings, self.hides_absolute)
            );
            if title.width() + 2 + about.width() <= self.page.width {
                let title = self.styled(&title, BOLD);
                writeln!(self.output, "{title}  {}", self.styled(&about, DIM))?;
            } else {
                self.paragraph(&title, "", BOLD)?;
                self.paragraph(&about, "  ", DIM)?;
            }
            for finding in &group.findings {
                self.row(finding)?;
            }
        }
        if has_rows {
            self.axis()?;
            writeln!(self.output)?;
        }
        if is_cut {
            let heading = format!("{} comparisons of single cells (-v shows all)", cells.len());
            self.paragraph(&heading, "", BOLD)?;
            for line in tally(&cells) {
                self.paragraph(&line, "  ", Style::new())?;
            }
            writeln!(self.output)?;
        }
        self.legend(report, has_rows)
    }

    /// What the numbers and bars above are.
    fn legend(&mut self, report: &Report, has_bars: bool) -> io::Result<()> {
        let design = &report.design;
        let (band, zero) = if self.page.is_unicode { ('░', '│') } else { (':', '|') };
        let mut legend = format!(
            "+ is better. Intervals are {}, unadjusted, each for its row alone; verdicts are corrected for {} \
             (Holm).",
            level(&report.findings),
            design.family_words(),
        );
        if has_bars {
            legend += &format!(
                " Bars share the axis below them: further right is better, {zero} is no difference, \
                 {band} the margin."
            );
        }
        if design.is_unblocked() {
            legend += " n counts the executions of the subject that has fewer.";
        }
        self.paragraph(&legend, "", DIM)?;
        if self.hides_absolute {
            self.paragraph(WHY_HIDDEN, "", DIM)?;
        }
        Ok(())
    }

    /// Ratios along the factor that subjects are compared within.
    fn ladders(&mut self, report: &Report) -> io::Result<()> {
        for drawn in &report.ladders {
            writeln!(self.output)?;
            self.paragraph(&ladder::heading(drawn), "", BOLD)?;
            for line in
                ladder::lines(drawn, self.page.width.saturating_sub(2), self.page.is_unicode)
            {
                let indent = if line.is_empty() { "" } else { "  " };
                writeln!(self.output, "{indent}{}", inert(&line))?;
            }
        }
        if !report.ladders.is_empty() {
            let legend = format!("{} {}", ladder::LEGEND, ladder::OF_CURVES);
            self.paragraph(&legend, "", DIM)?;
        }
        Ok(())
    }

    /// Heat maps and means where workloads and metrics span a table.
    fn grids(&mut self, report: &Report) -> io::Result<()> {
        for drawn in &report.grids {
            writeln!(self.output)?;
            self.paragraph(&grid::heading(drawn), "", BOLD)?;
            let cells = drawn.rows.labels.len() * drawn.columns.labels.len();
            if cells > MOST_GRID_CELLS && !self.page.is_verbose {
                let text = format!("{cells} cells of each comparison (-v shows them)");
                self.paragraph(&text, "  ", Style::new())?;
                continue;
            }
            for comparison in &drawn.comparisons {
                self.paragraph(&grid::pair(comparison), "  ", Style::new())?;
                self.text_table(&TextTable::of_effects(drawn, comparison, self.page.is_unicode))?;
            }
            self.paragraph(grid::LEGEND, "", DIM)?;
            if drawn.comparisons.iter().any(|one| !one.row_ratios.is_empty()) {
                self.paragraph(grid::OF_RATIOS, "", DIM)?;
            }
            let has_means = drawn.subjects.iter().any(|subject| !subject.row_means.is_empty());
            if has_means && !(drawn.is_emulated && self.hides_absolute) {
                self.means(drawn)?;
            }
        }
        Ok(())
    }

    /// Means of each subject by row and by column; arithmetic ones only for who asks.
    fn means(&mut self, drawn: &Grid) -> io::Result<()> {
        let kinds = if self.page.is_verbose { 2 } else { 1 };
        for which in 0..kinds {
            let kind = ["Geometric", "Arithmetic"][which];
            for is_by_row in [true, false] {
                let (axis, other) = if is_by_row {
                    (&drawn.rows, &drawn.columns)
                } else {
                    (&drawn.columns, &drawn.rows)
                };
                let title = format!("{kind} means over {}, by {}", other.name, axis.name);
                self.paragraph(&title, "  ", Style::new())?;
                self.text_table(&TextTable::of_means(drawn, is_by_row, which))?;
            }
        }
        self.paragraph(&grid::of_means(drawn), "", DIM)
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
        for section in
            findings.use_cases.iter().map(|finding| use_case(finding, &findings.findings))
        {
            writeln!(self.output)?;
            self.paragraph(&format!("Use case {}", section.heading), "", BOLD)?;
            for line in &section.lines {
                self.paragraph(line, "  ", Style::new())?;
            }
        }
        if !findings.claims.is_empty() {
            writeln!(self.output, "\n{}", self.styled("Published claims", BOLD))?;
            for finding in &findings.claims {
                self.paragraph(&claim(finding), "  ", Style::new())?;
            }
        }
        let is_cell = |label: &str| {
            let of_cells = findings.findings.iter().filter(|f| f.question.family == CELLS);
            of_cells.into_iter().any(|finding| finding.question.workload == label)
        };
        // Where there are margins, ranks in single cells are too many to read.
        let has_margins = findings.families.len() > 1;
        let is_kept = |ranking: &&Ranking| {
            self.page.is_verbose || !has_margins || !is_cell(&ranking.workload)
        };
        let kept: Vec<&Ranking> = findings.rankings.iter().filter(is_kept).collect();
        let shown = if self.page.is_verbose { kept.len() } else { MOST_RANKINGS };
        let kept_count = kept.len();
        if kept_count > 0 {
            let heading = "Ranks (1 plus the number of subjects shown to be better)";
            writeln!(self.output)?;
            self.paragraph(heading, "", BOLD)?;
        }
        for ranking in kept.into_iter().take(shown) {
            let text = format!("{} {}: {}", ranking.workload, ranking.metric, ranks(ranking));
            self.paragraph(&text, "  ", Style::new())?;
        }
        let more = kept_count.saturating_sub(shown);
        if more > 0 {
            self.paragraph(&format!("and {more} more (-v shows all)"), "  ", DIM)?;
        }
        Ok(())
    }

    fn failures(&mut self, report: &Report) -> io::Result<()> {
        if !report.ejections.is_empty() {
            writeln!(self.output)?;
        }
        for ejections in &report.ejections {
            self.paragraph(&ejections.words(), "", style_of(Verdict::Worse))?;
        }
        for count in
            report.findings.failures.iter().filter(|count| count.failed + count.invalid > 0)
        {
            let invalid = if count.invalid > 0 {
                format!(", {} invalid", count.invalid)
            } else {
                String::new()
            };
            let text = format!(
                "{} on {}: {} of {} trials failed{invalid}",
                count.subject, count.workload, count.failed, count.trials
            );
            writeln!(self.output)?;
            self.paragraph(&text, "", style_of(Verdict::Worse))?;
            for (reason, times) in &count.reasons {
                self.paragraph(&format!("{times} x {reason}"), "  ", Style::new())?;
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
        self.paragraph("Screen of secondary metrics (q-values; never a verdict)", "", BOLD)?;
        for finding in screened {
            let question = &finding.question;
            let name = format!("{} {}, {}", question.workload, question.metric, question.subject);
            let numbers = format!(
                "{:>9}  {:>8}  q {}",
                subject_value(finding, self.hides_absolute),
                effect(finding).0,
                p_value(q_of(finding))
            );
            let room = self.page.width.saturating_sub(35).min(64);
            let name = self.styled(&padded(&shortened(&name, room), room), Style::new());
            writeln!(self.output, "  {name}  {numbers}")?;
        }
        Ok(())
    }

    fn caveats(&mut self, report: &Report) -> io::Result<()> {
        if report.caveats.is_empty() {
            return Ok(());
        }
        writeln!(self.output, "\n{}", self.styled("Caveats", BOLD))?;
        for caveat in &report.caveats {
            self.paragraph(&format!("{}: {}", caveat.code, caveat.meaning), "  ", Style::new())?;
            let shown = if self.page.is_verbose { caveat.places.len() } else { 2 };
            for place in caveat.places.iter().take(shown) {
                self.paragraph(place, "    ", DIM)?;
            }
            if caveat.places.len() > shown {
                self.paragraph(
                    &format!("and {} more (-v shows all)", caveat.places.len() - shown),
                    "    ",
                    DIM,
                )?;
            }
        }
        Ok(())
    }

    fn notes(&mut self, report: &Report) -> io::Result<()> {
        for note in &report.notes {
            self.paragraph(&format!("Note: {note}"), "", DIM)?;
        }
        Ok(())
    }

    fn answer(&mut self, report: &Report) -> io::Result<()> {
        writeln!(self.output)?;
        self.paragraph(&report.answer, "", BOLD)
    }

    /// Text wrapped to the page, each line indented.
    fn paragraph(&mut self, text: &str, indent: &str, style: Style) -> io::Result<()> {
        let room = self.page.width.saturating_sub(indent.width()).max(20);
        // Ends of lines and tabs are blanks to the wrapping; the rest is made visible before it.
        let text = inert(&text.replace(['\n', '\t'], " "));
        for line in wrapped(&text, room) {
            writeln!(self.output, "{indent}{}", self.styled(&line, style))?;
        }
        Ok(())
    }
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
