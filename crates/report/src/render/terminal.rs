//! The verdict table that a person reads at once.

use super::table::{bar, effect, groups, reference_value, subject_value, symbol, words};
use super::{Page, Renderer};
use crate::answer::trimmed;
use crate::quantities::{duration, p_value, percent};
use crate::view::Report;
use anstyle::{AnsiColor, Style};
use contract::Description;
use model::{Finding, Role, Verdict};
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "terminal",
    summary: "the verdict table for a terminal",
    doc: "Each row: the verdict's symbol, the subject, its value, the effect oriented so that + is \
          better, its unadjusted 95 % interval, the same interval drawn against no difference (│) and \
          the equivalence margin (┊), the verdict, and the number of complete pairs of blocks.",
};

/// From this width a row fits on one line.
const WIDE: usize = 100;
/// Cells of the bar.
const BAR: usize = 21;

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "txt"
    }

    fn render(&self, report: &Report, page: &Page, output: &mut dyn Write) -> io::Result<()> {
        let mut screen = Screen { page, output };
        screen.heading(report)?;
        screen.verdicts(report)?;
        screen.failures(report)?;
        if page.is_verbose {
            screen.screened(report)?;
        }
        screen.caveats(report)?;
        screen.notes(report)?;
        screen.answer(report)
    }
}

struct Screen<'a> {
    page: &'a Page,
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
        if self.page.is_colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    fn heading(&mut self, report: &Report) -> io::Result<()> {
        let design = &report.design;
        let title = self.styled(&report.title, BOLD);
        writeln!(self.output, "{title}")?;
        let quick = if design.is_quick { "quick mode, " } else { "" };
        let text = format!(
            "{quick}{} blocks of {} subjects, {} trials in {}; {} with kernel {}, CPUs {}; seed {}",
            design.blocks,
            design.subjects,
            design.trials,
            duration(design.duration_ns),
            design.venue,
            design.kernel,
            design.cpus,
            design.seed
        );
        self.paragraph(&text, "", DIM)?;
        writeln!(self.output)
    }

    fn verdicts(&mut self, report: &Report) -> io::Result<()> {
        for group in groups(&report.findings) {
            let Some(first) = group.findings.first() else { continue };
            let title = self.styled(&format!("{} {}", group.workload, group.metric), BOLD);
            let about = format!(
                "{}, margin {} %; {} = {}",
                first.question.direction,
                trimmed(100.0 * first.margin),
                first.question.reference,
                reference_value(&group.findings)
            );
            writeln!(self.output, "{title}  {}", self.styled(&about, DIM))?;
            for finding in &group.findings {
                self.row(finding)?;
            }
            writeln!(self.output)?;
        }
        let legend = format!(
            "+ is better. Intervals are 95 %, unadjusted; verdicts are corrected for {} comparisons (Holm).",
            report.design.family_size
        );
        self.paragraph(&legend, "", DIM)
    }

    fn row(&mut self, finding: &Finding) -> io::Result<()> {
        let style = style_of(finding.verdict);
        let sign = self.styled(symbol(finding.verdict, self.page.is_unicode), style);
        let is_control = finding.question.role == Role::Control;
        let name = if is_control {
            format!("{} (A/A)", finding.question.subject)
        } else {
            finding.question.subject.clone()
        };
        let verdict = self.styled(&padded(&words(finding), 16), style);
        let (size, interval) = effect(finding);
        let drawn = bar(finding, BAR, self.page.is_unicode);
        let pairs = format!("n={}", finding.pairs);
        let value = subject_value(finding);
        if self.page.width >= WIDE {
            let name = padded(&name, 20);
            writeln!(
                self.output,
                "  {sign} {name} {value:>9} {size:>8}  {interval:<18}{drawn}  {verdict} {pairs}"
            )?;
        } else {
            writeln!(self.output, "  {sign} {} {verdict} {pairs}", padded(&name, 26))?;
            writeln!(self.output, "      {value} {size}  {interval}")?;
            writeln!(self.output, "      {drawn}")?;
        }
        if let Some(reason) = &finding.reason {
            self.paragraph(reason, "      ", DIM)?;
        }
        Ok(())
    }

    fn failures(&mut self, report: &Report) -> io::Result<()> {
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
            let text = self.styled(&text, style_of(Verdict::Worse));
            writeln!(self.output, "\n{text}")?;
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
        let title = self.styled("Screen of secondary metrics (q-values; never a verdict)", BOLD);
        writeln!(self.output, "\n{title}")?;
        for finding in screened {
            let question = &finding.question;
            let ratio = finding.effect.as_ref().map_or(1.0, |effect| effect.ratio);
            let name = format!("{} {}", question.workload, question.metric);
            writeln!(
                self.output,
                "  {} {} {:>9} {:>9}  q {}",
                padded(&name, 44),
                padded(&question.subject, 16),
                subject_value(finding),
                percent(ratio),
                p_value(q_of(finding))
            )?;
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
        let mut line = String::new();
        for word in text.split_whitespace() {
            if !line.is_empty() && line.width() + 1 + word.width() > room {
                writeln!(self.output, "{indent}{}", self.styled(&line, style))?;
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        writeln!(self.output, "{indent}{}", self.styled(&line, style))
    }
}

fn q_of(finding: &Finding) -> f64 {
    finding.effect.as_ref().and_then(|effect| effect.adjusted_difference).unwrap_or(1.0)
}

/// `text` followed by blanks up to `width` columns.
fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}
