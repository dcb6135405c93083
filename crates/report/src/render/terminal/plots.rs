//! Small plots on request: percentile curves of latencies, and metrics run by run.

use super::{BOLD, DIM, Screen, curve, sparkline};
use crate::distributions::histograms;
use crate::emulated::mark;
use crate::observed::Provenance;
use crate::series::series;
use crate::view::Report;
use anstyle::Style;
use model::Histogram;
use phrases::say;
use std::io;

/// More plots of a kind than this are told by their number: the page has all of them.
const MOST_PLOTS: usize = 16;

impl Screen<'_> {
    pub(super) fn plots(&mut self, report: &Report) -> io::Result<()> {
        self.curves(report)?;
        self.sparklines(report)
    }

    fn curves(&mut self, report: &Report) -> io::Result<()> {
        let found = histograms(report);
        let more = found.len().saturating_sub(MOST_PLOTS);
        let mut has_curves = false;
        for ((workload, source), by_subject) in found.into_iter().take(MOST_PLOTS) {
            let label = &report.design.workloads[workload];
            let Some(unit) = report.units.get(label).and_then(|units| units.get(source)) else {
                continue;
            };
            let subject = |(at, runs): (usize, Vec<Vec<&Histogram>>)| curve::Subject {
                name: &report.subjects[at].id,
                pooled: Histogram::merged(runs.iter().flatten().copied()),
                is_reference: report.subjects[at].is_reference,
            };
            let subjects: Vec<curve::Subject<'_>> = by_subject.into_iter().map(subject).collect();
            let hides = report.hides_absolute;
            let language = self.language;
            let lines = curve::lines(&subjects, *unit, hides, self.page, language);
            if lines.is_empty() {
                continue;
            }
            let of =
                if hides { language.word(", as ratios to the reference's median") } else { "" };
            let heading = say!(
                language,
                "{workload} {metric} by percentile{of}",
                workload = label,
                metric = source,
                of
            );
            self.plot(&format!("{}{heading}", mark(hides, language)), &lines)?;
            has_curves = true;
        }
        if has_curves {
            self.paragraph(self.language.word(curve::LEGEND), "", DIM)?;
        }
        self.further(more)
    }

    /// Of imports there are none, as there is no such figure on the page: no file shows that its values
    /// were measured in the order in which they would stand here.
    fn sparklines(&mut self, report: &Report) -> io::Result<()> {
        if Provenance::of(report).is_imported() {
            return Ok(());
        }
        let found = series(report);
        for series in found.iter().take(MOST_PLOTS).filter(|series| !series.value.is_empty()) {
            let (heading, lines) = sparkline::lines(report, series, self.page);
            self.plot(&heading, &lines)?;
        }
        if found.iter().any(|series| !series.value.is_empty()) {
            self.paragraph(self.language.word(sparkline::LEGEND), "", DIM)?;
        }
        self.further(found.len().saturating_sub(MOST_PLOTS))
    }

    fn plot(&mut self, heading: &str, lines: &[String]) -> io::Result<()> {
        writeln!(self.output)?;
        self.paragraph(heading, "", BOLD)?;
        for line in lines {
            let line = self.styled(line, Style::new());
            writeln!(self.output, "  {line}")?;
        }
        Ok(())
    }

    /// How many are not shown here, where there are more.
    pub(super) fn further(&mut self, more: usize) -> io::Result<()> {
        if more == 0 {
            return Ok(());
        }
        let text = say!(self.language, "and {count} more, which report.html shows", count = more);
        self.paragraph(&text, "", DIM)
    }
}
