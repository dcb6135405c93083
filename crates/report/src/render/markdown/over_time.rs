//! How metrics went over a soak campaign, as a table.

use super::{cell, plain};
use crate::over_time::{OF_CHANGES, adjusted_p, cells, change, changes, heading, legend, outcome};
use crate::view::Report;
use model::Trend;
use std::io::{self, Write};

pub(super) fn over_time(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let trends = &report.findings.trends;
    if trends.is_empty() {
        return Ok(());
    }
    let language = report.language;
    writeln!(
        output,
        "## {}\n\n{} {}\n\n{}\n|---|---|---|---|--:|--:|--:|--:|---|",
        heading(trends, language),
        legend(&report.findings, language),
        language.word(OF_CHANGES),
        language.word(
            "| workload | metric | subject | what | slope an hour | interval | over all | p | level |"
        )
    )?;
    for trend in trends {
        let (slope, interval) = cells(trend, report.hides_absolute, language);
        let all = trend.slope.as_ref().map_or_else(String::new, |slope| change(slope, language));
        writeln!(
            output,
            "| {} | {} | {} | {} | {slope} | {interval} | {all} | {} | {} |",
            cell(&trend.workload),
            cell(&trend.metric),
            cell(&trend.subject),
            outcome(trend.outcome, language),
            adjusted_p(trend),
            changes(trend, language)
        )?;
    }
    writeln!(output)?;
    let is_limited = |trend: &&Trend| trend.reason.is_some() || !trend.caveats.is_empty();
    for trend in trends.iter().filter(is_limited) {
        let details =
            trend.caveats.iter().map(|caveat| format!("{}: {}", caveat.code, caveat.detail));
        let all: Vec<String> = trend.reason.iter().cloned().chain(details).collect();
        let Trend { workload, metric, subject, .. } = trend;
        let line = format!("{workload} {metric}, {subject}: {}", all.join("; "));
        writeln!(output, "- {}", plain(&line))?;
    }
    writeln!(output)
}
