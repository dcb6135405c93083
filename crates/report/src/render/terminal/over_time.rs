//! How metrics went over a soak campaign: a line of words and a line of signs for each.

use super::sparkline::signs;
use super::{BOLD, DIM, Screen, style_of};
use crate::over_time::{OF_CHANGES, heading, is_hidden, is_told, legend, primary, words};
use crate::quantities::value;
use crate::view::Report;
use anstyle::Style;
use model::{Trend, Verdict};
use phrases::{counted, say};
use std::io;
use unicode_width::UnicodeWidthStr;

impl Screen<'_> {
    /// Trends of a soak campaign.
    pub(super) fn over_time(&mut self, report: &Report) -> io::Result<()> {
        let trends = &report.findings.trends;
        if trends.is_empty() {
            return Ok(());
        }
        let language = self.language;
        writeln!(self.output)?;
        self.paragraph(&heading(trends, language), "", BOLD)?;
        let is_verbose = self.page.is_verbose;
        let primary = primary(&report.findings);
        let (told, left_out): (Vec<&Trend>, Vec<&Trend>) =
            trends.iter().partition(|trend| is_verbose || is_told(trend, &primary));
        for of_metric in told
            .chunk_by(|one, next| (&one.workload, &one.metric) == (&next.workload, &next.metric))
        {
            let Some(first) = of_metric.first() else { continue };
            self.paragraph(&format!("{} {}", first.workload, first.metric), "  ", Style::new())?;
            for trend in of_metric {
                let text = words(trend, self.hides_absolute, language);
                let is_bad = trend.outcome.is_bad();
                let style = if is_bad { style_of(Verdict::Worse) } else { Style::new() };
                self.paragraph(&format!("{}: {text}", trend.subject), "    ", style)?;
                self.signs(trend)?;
            }
        }
        if !left_out.is_empty() {
            let text = counted!(
                language,
                left_out.len(),
                "and one more without a trend (-v shows all)",
                "and {count} more without a trend (-v shows all)"
            );
            self.paragraph(&text, "  ", DIM)?;
        }
        let mut notes = Vec::new();
        if trends.iter().any(|trend| trend.slope.is_some()) {
            notes.push(legend(&report.findings, language));
        }
        if trends.iter().any(|trend| !trend.changes.is_empty()) {
            notes.push(language.word(OF_CHANGES).to_owned());
        }
        if notes.is_empty() { Ok(()) } else { self.paragraph(&notes.join(" "), "", DIM) }
    }

    /// The values as signs, from the lowest to the highest.
    fn signs(&mut self, trend: &Trend) -> io::Result<()> {
        const INDENT: &str = "      ";
        let values: Vec<f64> = trend.points.iter().map(|point| point.value).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if low >= high {
            return Ok(());
        }
        let ends = if is_hidden(trend, self.hides_absolute) {
            String::new()
        } else {
            let (low, high) = (value(low, trend.unit), value(high, trend.unit));
            say!(self.language, "{low} to {high}", low, high)
        };
        let room = self.page.width.saturating_sub(INDENT.width() + 2 + ends.width()).max(8);
        let drawn = signs(&values, low, high, room, self.page.is_unicode);
        let line = self.styled(format!("{drawn}  {ends}").trim_end(), Style::new());
        writeln!(self.output, "{INDENT}{line}")
    }
}
