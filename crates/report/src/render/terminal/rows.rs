//! The verdict table's rows, and the axis that their bars share.

use super::super::bar::Scale;
use super::{DIM, Screen, padded, padded_left, shortened, style_of};
use crate::verdict_table::{effect, look, subject_value, symbol, words};
use anstyle::Style;
use model::{Finding, Role};
use phrases::Language;
use std::io;
use unicode_width::UnicodeWidthStr;

/// Cells of a bar: where a row stands on one line, the fewest that still show something, and
/// those beyond which nothing more is seen.
const BAR: usize = 21;
const SHORTEST_BAR: usize = 11;
const LONGEST_BAR: usize = 41;
/// Columns before the numbers of a row of several lines.
const INDENT: usize = 6;
/// A name longer than this goes on a line of its own.
const LONGEST_NAME: usize = 24;

/// Widths of the table's columns, from what stands in them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    name: usize,
    value: usize,
    size: usize,
    interval: usize,
    verdict: usize,
    /// Cells of the bars.
    pub(super) bar: usize,
    shape: Shape,
}

/// How a row fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    OneLine,
    /// Name and verdict, then numbers and bar.
    TwoLines,
    /// Name and verdict, numbers, bar.
    Stacked,
}

impl Layout {
    pub(super) fn of<'a>(
        findings: impl Iterator<Item = &'a Finding>,
        width: usize,
        hides_absolute: bool,
        language: Language,
    ) -> Self {
        let [mut name, mut value, mut size, mut interval, mut verdict] = [0; 5];
        for finding in findings {
            let (effect, ends) = effect(finding, language);
            name = name.max(named(finding).width().min(LONGEST_NAME));
            value = value.max(subject_value(finding, hides_absolute, language).width());
            size = size.max(effect.width());
            interval = interval.max(ends.width());
            verdict = verdict.max(words(finding, language).width());
        }
        // Two blanks between columns; `n=` and up to four digits.
        let numbers = value + size + interval + 6;
        let with_name = 4 + name + 2 + numbers + 2 + verdict + 2 + 6;
        let (shape, room) = if with_name + BAR <= width {
            (Shape::OneLine, width - with_name)
        } else if INDENT + numbers + SHORTEST_BAR <= width {
            (Shape::TwoLines, width - INDENT - numbers)
        } else {
            (Shape::Stacked, width.saturating_sub(INDENT).max(3))
        };
        let name = name.min(width.saturating_sub(14 + verdict));
        Self { name, value, size, interval, verdict, bar: room.min(LONGEST_BAR), shape }
    }

    /// The column in which bars begin.
    fn bar_column(&self) -> usize {
        let numbers = self.value + self.size + self.interval + 6;
        match self.shape {
            Shape::OneLine => 4 + self.name + 2 + numbers,
            Shape::TwoLines => INDENT + numbers,
            Shape::Stacked => INDENT,
        }
    }
}

/// The subject, and whether it is the control.
fn named(finding: &Finding) -> String {
    match finding.question.role {
        Role::Control => format!("{} (A/A)", finding.question.subject),
        Role::Primary | Role::Screen => finding.question.subject.clone(),
    }
}

impl Screen<'_> {
    pub(super) fn row(&mut self, finding: &Finding) -> io::Result<()> {
        let Layout { name, verdict, shape, .. } = self.layout;
        let style = style_of(finding.verdict);
        let sign = self.styled(symbol(finding.verdict, self.page.is_unicode), style);
        let is_control = finding.question.role == Role::Control;
        let label = named(finding);
        let is_long = label.width() > name;
        let end = format!(
            "{}  n={}",
            self.styled(&padded(&words(finding, self.language), verdict), style),
            finding.pairs
        );
        let shown = if is_control { DIM } else { Style::new() };
        if is_long {
            let room = self.page.width.saturating_sub(4);
            writeln!(self.output, "  {sign} {}", self.styled(&shortened(&label, room), shown))?;
        }
        let first = if is_long { String::new() } else { label };
        let first = self.styled(&padded(&first, name), shown);
        let sign = if is_long { " ".to_owned() } else { sign };
        if shape == Shape::OneLine {
            let numbers = self.styled(&self.numbers(finding), shown);
            writeln!(self.output, "  {sign} {first}  {numbers}  {end}")?;
        } else {
            writeln!(self.output, "  {sign} {first}  {end}")?;
            if finding.effect.is_some() || finding.subject_value.is_some() {
                self.below(finding, shown)?;
            }
        }
        for text in [finding.reason.clone(), look(finding, self.language)].into_iter().flatten() {
            self.paragraph(&text, "      ", DIM)?;
        }
        Ok(())
    }

    /// Numbers and bar in columns.
    fn numbers(&self, finding: &Finding) -> String {
        let Layout { value, size, interval, .. } = self.layout;
        let (effect, ends) = effect(finding, self.language);
        format!(
            "{}  {}  {}  {}",
            padded_left(&subject_value(finding, self.hides_absolute, self.language), value),
            padded_left(&effect, size),
            padded(&ends, interval),
            self.scale.draw(finding, self.page.is_unicode)
        )
    }

    /// What stands below name and verdict.
    fn below(&mut self, finding: &Finding, shown: Style) -> io::Result<()> {
        if self.layout.shape == Shape::TwoLines {
            let numbers = self.numbers(finding);
            let numbers = self.styled(numbers.trim_end(), shown);
            return writeln!(self.output, "      {numbers}");
        }
        let (effect, ends) = effect(finding, self.language);
        let value = subject_value(finding, self.hides_absolute, self.language);
        let ends = if ends.is_empty() { ends } else { format!(" ({ends})") };
        self.paragraph(&format!("{value}, {effect}{ends}"), "      ", shown)?;
        let bar = self.scale.draw(finding, self.page.is_unicode);
        writeln!(self.output, "      {}", self.styled(bar.trim_end(), shown))
    }

    /// The axis of all bars above.
    pub(super) fn axis(&mut self) -> io::Result<()> {
        let from = self.layout.bar_column();
        for line in axis(&self.scale, from, self.page.width, self.page.is_unicode) {
            writeln!(self.output, "{}", self.styled(&line, DIM))?;
        }
        Ok(())
    }
}

/// A ruler below the bars, which begin in column `from`, and a line of labels below it. Labels
/// that would touch each other are left out, those in the middle last.
pub(super) fn axis(scale: &Scale, from: usize, width: usize, is_unicode: bool) -> [String; 2] {
    let [line, tick, zero, left, right] =
        if is_unicode { ['─', '┴', '┼', '└', '┘'] } else { ['-', '+', '+', '+', '+'] };
    let ticks = scale.ticks();
    let last = scale.cells() - 1;
    let mut ruler: Vec<char> = vec![line; scale.cells()];
    let mut labels = vec![' '; width];
    for (cell, label) in ticks {
        ruler[cell] = match cell {
            0 => left,
            cell if cell == last => right,
            cell if cell == last / 2 => zero,
            _ => tick,
        };
        let length = label.chars().count();
        let start = (from + cell).saturating_sub(length / 2).min(width.saturating_sub(length));
        let end = (start + length).min(width);
        let free = start.saturating_sub(1)..(end + 1).min(width);
        if labels[free].iter().all(|known| *known == ' ') {
            for (place, letter) in labels[start..end].iter_mut().zip(label.chars()) {
                *place = letter;
            }
        }
    }
    let ruler: String = ruler.into_iter().collect();
    let labels: String = labels.into_iter().collect();
    [format!("{}{ruler}", " ".repeat(from)), labels.trim_end().to_owned()]
}
