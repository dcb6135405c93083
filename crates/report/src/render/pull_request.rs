//! The verdict in the space that a comment on a pull request has.

use super::inert::write_inert;
use super::markdown::{cell, commands, plain, plan_digest};
use super::{Page, Renderer};
use crate::attempt::attempt;
use crate::few_boots::few_boots;
use crate::origin::origin;
use crate::validity::by_state;
use crate::verdict_table::{
    effect, is_in_percent, judged, percentages, signs_and_reading, symbol, words,
};
use crate::view::Report;
use contract::Description;
use model::{Finding, Verdict};
use phrases::{counted, say};
use std::io::{self, Write};

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "pull-request",
    summary: "answer, verdicts and caveats as short Markdown, for a comment on a change",
    doc: "The answer, one row for each comparison with what was decided first, and folded below \
          them what was checked, the caveats and how to reproduce it. Between them stand how many \
          blocks and trials it rests on, where they ran, and which attempt it is.",
};

/// More rows than this are told by their number.
const MOST_ROWS: usize = 20;

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "pr.md"
    }

    fn render(&self, report: &Report, _page: &Page, output: &mut dyn Write) -> io::Result<()> {
        let mut drawn = Vec::new();
        draw(report, &mut drawn)?;
        write_inert(&drawn, output)
    }
}

fn draw(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "**{}** {}\n", plain(&report.title), plain(&report.answer))?;
    let shown = shown(report);
    rows(report, &shown, output)?;
    let language = report.language;
    let families = plain(&report.design.family_words(language));
    let legend = signs_and_reading(&report.findings, shown.iter().copied(), &families, language);
    let is_in_percent = shown.iter().any(|finding| is_in_percent(finding));
    writeln!(output, "{legend}{}\n", percentages(is_in_percent, language))?;
    if let Some(limit) = few_boots(report) {
        writeln!(output, "{limit}\n")?;
    }
    writeln!(output, "{}\n", plain(&origin(report, language)))?;
    if let Some(attempt) = attempt(report) {
        writeln!(output, "{}\n", plain(&attempt))?;
    }
    let summary = language.word("Validity");
    writeln!(output, "<details><summary>{summary}</summary>\n")?;
    for line in by_state(report) {
        writeln!(output, "- {}", plain(&line))?;
    }
    writeln!(output, "\n</details>\n")?;
    if !report.caveats.is_empty() {
        let codes: Vec<&str> = report.caveats.iter().map(|one| one.code.as_str()).collect();
        let summary = say!(language, "Caveats: {codes}", codes = codes.join(", "));
        writeln!(output, "<details><summary>{}</summary>\n", plain(&summary))?;
        for caveat in &report.caveats {
            writeln!(output, "- `{}`: {}", plain(&caveat.code), plain(&caveat.meaning))?;
            if let Some(place) = caveat.places.first() {
                writeln!(output, "  {}", plain(place))?;
            }
        }
        writeln!(output, "\n</details>\n")?;
    }
    let summary = language.word("How to reproduce");
    writeln!(output, "<details><summary>{summary}</summary>\n")?;
    commands(report, output)?;
    writeln!(output, "\n{}", plan_digest(report))?;
    writeln!(output, "\n</details>")
}

/// The findings that have a row: what was decided first.
fn shown(report: &Report) -> Vec<&Finding> {
    let mut rows: Vec<&Finding> = judged(&report.findings).collect();
    rows.sort_by_key(|finding| match finding.verdict {
        Verdict::Better | Verdict::Worse => 0,
        Verdict::Invalid => 1,
        Verdict::Equivalent | Verdict::Inconclusive => 2,
    });
    rows.truncate(MOST_ROWS);
    rows
}

fn rows(report: &Report, shown: &[&Finding], output: &mut dyn Write) -> io::Result<()> {
    let language = report.language;
    writeln!(
        output,
        "{}",
        language.word("| | workload, metric | subject | against | effect | interval | verdict |")
    )?;
    writeln!(output, "|---|---|---|---|--:|---|---|")?;
    for finding in shown {
        let question = &finding.question;
        let (change, interval) = effect(finding, language);
        writeln!(
            output,
            "| {} | {} {} | {} | {} | {change} | {interval} | {} |",
            symbol(finding.verdict, true),
            cell(&question.workload),
            cell(&question.metric),
            cell(&question.subject),
            cell(&question.reference),
            words(finding, language)
        )?;
    }
    writeln!(output)?;
    let more = judged(&report.findings).count() - shown.len();
    if more > 0 {
        let text = counted!(
            language,
            more,
            "1 more row is in the report.",
            "{count} more rows are in the report."
        );
        writeln!(output, "{text}\n")?;
    }
    Ok(())
}
