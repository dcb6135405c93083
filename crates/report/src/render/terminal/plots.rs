//! Small plots for whoever asks: percentile curves of latencies, and metrics run by run.

use super::{BOLD, DIM, Screen, curve, sparkline};
use crate::distributions::histograms;
use crate::emulated::mark;
use crate::series::series;
use crate::view::Report;
use anstyle::Style;
use model::Histogram;
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
            let lines = curve::lines(&subjects, *unit, report.hides_absolute, self.page);
            if lines.is_empty() {
                continue;
            }
            let of =
                if report.hides_absolute { ", as ratios to the reference's median" } else { "" };
            let mark = mark(report.hides_absolute);
            self.plot(&format!("{mark}{label} {source} by percentile{of}"), &lines)?;
            has_curves = true;
        }
        if has_curves {
            self.paragraph(curve::LEGEND, "", DIM)?;
        }
        self.further(more)
    }

    fn sparklines(&mut self, report: &Report) -> io::Result<()> {
        let found = series(report);
        for series in found.iter().take(MOST_PLOTS).filter(|series| !series.value.is_empty()) {
            let (heading, lines) = sparkline::lines(report, series, self.page);
            self.plot(&heading, &lines)?;
        }
        if found.iter().any(|series| !series.value.is_empty()) {
            self.paragraph(sparkline::LEGEND, "", DIM)?;
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

    fn further(&mut self, more: usize) -> io::Result<()> {
        if more == 0 {
            return Ok(());
        }
        self.paragraph(&format!("and {more} more, which report.html shows"), "", DIM)
    }
}
