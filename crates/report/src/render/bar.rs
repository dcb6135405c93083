//! An interval drawn in a line of text, against no difference and the margin.

use crate::quantities::{is_factor, percent};
use crate::verdict_table::symbol;
use model::Finding;
use phrases::Language;

/// Effects beyond a factor of ten run off the end.
const FURTHEST: f64 = std::f64::consts::LN_10;
/// A scale reaches at least 5 %, so that noise around zero looks small.
const NEAREST: f64 = 0.05;

/// The scale that all bars of a report share, so that they can be compared.
/// Log ratios are drawn by their signed square root: a margin of 2 % stays
/// visible beside an effect of a factor of three.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    /// The log ratio at either end.
    reach: f64,
    /// Cells; odd, so that one of them is zero.
    cells: usize,
}

impl Scale {
    /// A scale on which every interval and margin of these findings shows.
    pub(super) fn of<'a>(findings: impl Iterator<Item = &'a Finding>, cells: usize) -> Self {
        let mut reach = NEAREST;
        for finding in findings {
            reach = reach.max(2.0 * finding.margin.ln_1p());
            if let Some(interval) = finding.shown_interval() {
                for end in [interval.low, interval.high] {
                    let size = end.ln().abs();
                    reach = reach.max(if size.is_finite() { size } else { FURTHEST });
                }
            }
        }
        Self { reach: reach.min(FURTHEST), cells: cells - usize::from(cells.is_multiple_of(2)) }
    }

    /// The oriented ratio at the right end.
    pub(super) fn end(&self) -> f64 {
        self.reach.exp()
    }

    /// Cells of a bar.
    pub(super) fn cells(&self) -> usize {
        self.cells
    }

    /// Cells with what they stand for, those to be labelled first before the others: both ends,
    /// no difference, then steps that lie between.
    pub(super) fn ticks(&self) -> Vec<(usize, String)> {
        let mut ticks = vec![
            (0, coarse(1.0 / self.end())),
            (self.cells - 1, coarse(self.end())),
            (self.cells / 2, "0".to_owned()),
        ];
        for ratio in [2.0, 0.5, 1.1, 0.9, 1.01, 0.99] {
            let cell = self.cell(ratio);
            let is_between = cell > 0 && cell < self.cells - 1 && cell != self.cells / 2;
            if is_between && ratio.ln().abs() < self.reach {
                ticks.push((cell, coarse(ratio)));
            }
        }
        ticks
    }

    /// The cell of an oriented ratio; the last one where it lies beyond.
    fn cell(&self, ratio: f64) -> usize {
        let half = (self.cells / 2) as f64;
        let log = log_of(ratio);
        let share = (log.abs() / self.reach).sqrt().min(1.0);
        (half + (share * half).round().copysign(log)) as usize
    }

    /// Whether a ratio lies beyond the end on the side of `sign`.
    fn is_beyond(&self, ratio: f64, sign: f64) -> bool {
        log_of(ratio) * sign > self.reach * (1.0 + 1e-9)
    }

    /// The bar of one finding; its verdict's symbol stands at the estimate.
    pub(super) fn draw(&self, finding: &Finding, is_unicode: bool) -> String {
        let [band, zero, line, cross, left, right] = if is_unicode {
            ['░', '│', '─', '┼', '├', '┤']
        } else {
            [':', '|', '-', '+', '[', ']']
        };
        let middle = self.cells / 2;
        let mut cells = vec![' '; self.cells];
        let from = self.cell(1.0 / (1.0 + finding.margin));
        let to = self.cell(1.0 + finding.margin);
        cells[from..=to].fill(band);
        cells[middle] = zero;
        if let Some((effect, interval)) = finding.effect.as_ref().zip(finding.shown_interval()) {
            // Of one without a width the estimate alone is drawn.
            if !interval.has_no_width() {
                let low = self.cell(interval.low);
                let high = self.cell(interval.high);
                cells[low..=high].fill(line);
                if (low..=high).contains(&middle) {
                    cells[middle] = cross;
                }
                cells[low] = left;
                cells[high] = right;
            }
            if self.is_beyond(interval.low, -1.0) {
                cells[0] = '<';
            }
            if self.is_beyond(interval.high, 1.0) {
                cells[self.cells - 1] = '>';
            }
            // The estimate stays visible beside an arrow.
            let is_inside =
                !self.is_beyond(effect.ratio, -1.0) && !self.is_beyond(effect.ratio, 1.0);
            let estimate = self.cell(effect.ratio);
            let estimate = if is_inside { estimate } else { estimate.clamp(1, self.cells - 2) };
            let mark = symbol(finding.verdict, is_unicode).chars().next();
            cells[estimate] = mark.unwrap_or(cross);
        }
        cells.into_iter().collect()
    }
}

/// A change in whole percent where it is that large.
fn coarse(ratio: f64) -> String {
    let change = 100.0 * (ratio - 1.0);
    if is_factor(ratio) || change.abs() < 0.95 {
        // Ends of a scale have no words.
        return percent(ratio, Language::default());
    }
    format!("{change:+.0} %")
}

fn log_of(ratio: f64) -> f64 {
    if ratio > 0.0 { ratio.ln() } else { f64::NEG_INFINITY }
}
