//! The complete report as Markdown.

mod grids;

use super::bar::Scale;
use super::table::{effect, groups, level, look, reference_value, subject_value, symbol, words};
use super::{Page, Renderer, ladder};
use crate::answer::trimmed;
use crate::emulated::{HIDDEN, WHY_HIDDEN, is_hidden};
use crate::ladder::LadderCell;
use crate::quantities::{
    confidence, duration, effects_found, interval, p_value, percent, raw_change, value,
};
use crate::standings::{claim, ranks, use_case};
use crate::view::Report;
use contract::Description;
use model::{Finding, Role};
use std::io::{self, Write};

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "markdown",
    summary: "the complete report, to read or to paste",
    doc: "Answer, verdicts, design, every pair of blocks of the primary questions, the screen of \
          secondary metrics, caveats with their meanings, environment, and how to reproduce it.",
};

/// Cells of the bar.
const BAR: usize = 21;

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "md"
    }

    fn render(&self, report: &Report, _page: &Page, output: &mut dyn Write) -> io::Result<()> {
        writeln!(output, "# {}\n\n{}\n", plain(&report.title), plain(&report.answer))?;
        verdicts(report, output)?;
        ladders(report, output)?;
        grids::grids(report, output)?;
        standings(report, output)?;
        failures(report, output)?;
        caveats(report, output)?;
        design(report, output)?;
        blocks(report, output)?;
        screen(report, output)?;
        environment(report, output)?;
        writeln!(output, "## How to reproduce\n")?;
        for line in &report.reproduce {
            writeln!(output, "    {line}")?;
        }
        Ok(())
    }
}

/// Ratios along the factor that subjects are compared within.
fn ladders(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let Some(first) = report.ladders.first() else { return Ok(()) };
    writeln!(output, "## Ratios by {}\n\n{}\n", first.factor, ladder::LEGEND)?;
    for drawn in &report.ladders {
        let titles: Vec<String> = drawn.workloads.iter().map(|label| cell(label)).collect();
        writeln!(output, "**{}**\n", plain(&ladder::heading(drawn)))?;
        writeln!(output, "| {} | {} |", drawn.factor, titles.join(" | "))?;
        writeln!(output, "|--:|{}", "--:|".repeat(titles.len()))?;
        for rung in &drawn.rungs {
            let cells: Vec<String> = rung.cells.iter().map(|cell| ratio(cell.as_ref())).collect();
            writeln!(output, "| {} | {} |", cell(rung.level.as_str()), cells.join(" | "))?;
        }
        writeln!(output)?;
    }
    Ok(())
}

/// `0.71 (0.65-0.78) ▲`.
fn ratio(cell: Option<&LadderCell>) -> String {
    let Some(cell) = cell else { return String::new() };
    let (ratio, interval) = ladder::numbers(cell);
    let interval = if interval.is_empty() { interval } else { format!(" ({interval})") };
    format!("{ratio}{interval} {}", symbol(cell.verdict, true))
}

/// Ranks, use cases and claims.
fn standings(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let findings = &report.findings;
    if !findings.use_cases.is_empty() {
        writeln!(
            output,
            "## Use cases\n\nWeighted geometric means over the workloads of a block, each use case for itself; \
             p-values are adjusted by Holm over all of them.\n"
        )?;
        for section in
            findings.use_cases.iter().map(|finding| use_case(finding, &findings.findings))
        {
            writeln!(output, "**{}**\n", plain(&section.heading))?;
            for line in &section.lines {
                writeln!(output, "- {}", plain(line))?;
            }
            writeln!(output)?;
        }
    }
    if !findings.claims.is_empty() {
        writeln!(output, "## Published claims\n")?;
        for finding in &findings.claims {
            writeln!(output, "- {}", plain(&claim(finding)))?;
        }
        writeln!(output)?;
    }
    if !findings.rankings.is_empty() {
        writeln!(
            output,
            "## Ranks\n\nA rank is 1 plus the number of subjects shown to be better; subjects that are not told \
             apart share it.\n\n| workload | metric | ranks |\n|---|---|---|"
        )?;
        for ranking in &findings.rankings {
            writeln!(
                output,
                "| {} | {} | {} |",
                cell(&ranking.workload),
                ranking.metric,
                cell(&ranks(ranking))
            )?;
        }
        writeln!(output)?;
    }
    Ok(())
}

/// Text that a page must not take for markup of its own: names come from files.
pub(super) fn plain(text: &str) -> String {
    text.replace('<', "&lt;").replace('\n', " ")
}

/// Text inside a table cell.
pub(super) fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
}

fn verdicts(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "## Verdicts\n")?;
    let judged =
        report.findings.findings.iter().filter(|finding| finding.question.role != Role::Screen);
    let scale = Scale::of(judged, BAR);
    let alpha = report.design.alpha;
    let findings_have_looks = report.findings.findings.iter().any(|finding| finding.look.is_some());
    for group in groups(&report.findings) {
        let Some(first) = group.findings.first() else { continue };
        writeln!(
            output,
            "**{} {}** ({}, margin {} %): {} = {}\n",
            plain(group.workload),
            group.metric,
            first.question.direction,
            trimmed(100.0 * first.margin),
            plain(&first.question.reference),
            reference_value(&group.findings, report.hides_absolute)
        )?;
        writeln!(
            output,
            "| subject | value | effect (+ is better) | raw change | {} interval | family interval | | verdict | {} | p difference | p equivalence |",
            if findings_have_looks {
                "look's".to_owned()
            } else {
                format!("{} %", confidence(alpha))
            },
            if report.design.is_unblocked() { "executions" } else { "pairs" }
        )?;
        writeln!(output, "|---|--:|--:|--:|---|---|---|---|--:|--:|--:|")?;
        for finding in &group.findings {
            row(finding, scale, report.hides_absolute, output)?;
        }
        writeln!(output)?;
        for finding in &group.findings {
            for text in [finding.reason.clone(), look(finding)].into_iter().flatten() {
                writeln!(output, "- {}: {}", plain(&finding.question.subject), plain(&text))?;
            }
        }
        for finding in &group.findings {
            planning(finding, output)?;
            companion(finding, finding.look.map_or(alpha, |look| look.alpha), output)?;
        }
        writeln!(output)?;
    }
    writeln!(
        output,
        "Effects are ratios of geometric means over blocks, oriented so that + is better. Intervals are {}, \
         unadjusted and each for its row alone; the family interval allows for {}; p-values are \
         adjusted by Holm. Bars share one scale, from {} to {} (square root of the log ratio): `│` is no difference, \
         `░` the margin, the symbol the estimate.\n",
        level(&report.findings),
        report.design.family_words(),
        percent(1.0 / scale.end()),
        percent(scale.end())
    )?;
    if report.hides_absolute {
        writeln!(output, "{WHY_HIDDEN}\n")?;
    }
    Ok(())
}

fn row(
    finding: &Finding,
    scale: Scale,
    hides_absolute: bool,
    output: &mut dyn Write,
) -> io::Result<()> {
    let control = if finding.question.role == Role::Control { " (A/A control)" } else { "" };
    let (size, unadjusted) = effect(finding);
    let details = finding.effect.as_ref();
    let p = |p: Option<f64>| p.map_or("n/a".to_owned(), p_value);
    writeln!(
        output,
        "| {}{control} | {} | {size} | {} | {unadjusted} | {} | `{}` | {} {} | {} | {} | {} |",
        cell(&finding.question.subject),
        subject_value(finding, hides_absolute),
        raw_change(finding).unwrap_or_else(|| "n/a".to_owned()),
        details.map_or(String::new(), |effect| interval(&effect.family_interval)),
        scale.draw(finding, true),
        symbol(finding.verdict, true),
        words(finding),
        finding.pairs,
        p(details.and_then(|effect| effect.adjusted_difference)),
        p(details.and_then(|effect| effect.adjusted_equivalence)),
    )
}

fn planning(finding: &Finding, output: &mut dyn Write) -> io::Result<()> {
    let Some(planning) = &finding.planning else { return Ok(()) };
    let blocks =
        |count: Option<u32>| count.map_or("more than 10 000".to_owned(), |count| count.to_string());
    writeln!(
        output,
        "- {}: these blocks find effects {} with 80 % power; a difference of the margin's size needs {} \
         blocks, equivalence {}",
        plain(&finding.question.subject),
        effects_found(planning.detectable),
        blocks(planning.blocks_for_difference),
        blocks(planning.blocks_for_equivalence)
    )
}

/// The rank-based estimate beside the verdict: a reader sees whether both agree.
fn companion(finding: &Finding, alpha: f64, output: &mut dyn Write) -> io::Result<()> {
    let Some(companion) = &finding.companion else { return Ok(()) };
    let flip =
        companion.p_sign_flip.map_or(String::new(), |p| format!(", sign flips p {}", p_value(p)));
    writeln!(
        output,
        "- {}: by ranks {}, {} % interval {}, signed-rank p {}{flip} (a companion, never the verdict)",
        plain(&finding.question.subject),
        percent(companion.pseudo_median_ratio),
        confidence(alpha),
        interval(&companion.interval),
        p_value(companion.p_signed_rank)
    )
}

fn failures(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let failed: Vec<_> =
        report.findings.failures.iter().filter(|count| count.failed + count.invalid > 0).collect();
    if failed.is_empty() {
        return Ok(());
    }
    writeln!(
        output,
        "## Failures\n\n| subject | workload | trials | failed | p | invalid | p | reasons |\n|---|---|--:|--:|--:|--:|--:|---|"
    )?;
    for count in failed {
        let reasons: Vec<String> = count
            .reasons
            .iter()
            .map(|(reason, times)| format!("{times} x {}", cell(reason)))
            .collect();
        writeln!(
            output,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            cell(&count.subject),
            cell(&count.workload),
            count.trials,
            count.failed,
            count.p_failure.map_or("n/a".to_owned(), p_value),
            count.invalid,
            count.p_invalid.map_or("n/a".to_owned(), p_value),
            reasons.join("; ")
        )?;
    }
    writeln!(output)?;
    for ejections in &report.ejections {
        writeln!(output, "{}\n", plain(&ejections.words()))?;
    }
    Ok(())
}

fn caveats(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    if report.caveats.is_empty() {
        return Ok(());
    }
    writeln!(output, "## Caveats\n")?;
    for caveat in &report.caveats {
        writeln!(output, "- **{}**: {}", caveat.code, caveat.meaning)?;
        for place in &caveat.places {
            writeln!(output, "  - {}", plain(place))?;
        }
    }
    writeln!(output)
}

fn design(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let design = &report.design;
    let quick = if design.is_quick { ", quick mode" } else { "" };
    if let Some(imported) = &design.imported {
        writeln!(
            output,
            "## Design\n\nImported from {} ({}, SHA-256 {}): {} subjects, {} records of {} workloads; family of {} \
             at level {}.\n",
            imported.file,
            imported.format,
            imported.digest,
            design.subjects,
            design.trials,
            design.workloads.len(),
            design.family_words(),
            design.alpha
        )?;
        return notes(report, output);
    }
    writeln!(
        output,
        "## Design\n\n{} randomised blocks of {} subjects{quick}; workloads {}; {} trials in {} over {} on {} with \
         kernel {}; seed {}; family of {} at level {}.\n",
        design.blocks,
        design.subjects,
        design.workloads.join(", "),
        design.trials,
        duration(design.duration_ns),
        if design.boots == 1 { "1 boot".to_owned() } else { format!("{} boots", design.boots) },
        design.venue,
        design.kernel,
        design.seed,
        design.family_words(),
        design.alpha
    )?;
    writeln!(output, "| subject | levels |\n|---|---|")?;
    for subject in &report.subjects {
        let levels: Vec<String> =
            subject.levels.iter().map(|(id, level)| format!("{id} = {level}")).collect();
        let role = match (subject.is_reference, subject.is_control) {
            (true, _) => " (reference)",
            (_, true) => " (A/A control)",
            _ => "",
        };
        let levels =
            if levels.is_empty() { "as the machine is".to_owned() } else { levels.join(", ") };
        writeln!(output, "| {}{role} | {} |", cell(&subject.id), cell(&levels))?;
    }
    notes(report, output)
}

fn notes(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    for note in &report.notes {
        writeln!(output, "\nNote: {}", plain(note))?;
    }
    writeln!(output)
}

fn blocks(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let judged =
        report.findings.findings.iter().filter(|finding| finding.question.role == Role::Primary);
    for finding in judged.filter(|finding| !finding.blocks.is_empty()) {
        let question = &finding.question;
        writeln!(
            output,
            "<details><summary>Blocks of {} {}, {} against {}</summary>\n\n| block | {} | {} | effect |\n|--:|--:|--:|--:|",
            plain(&question.workload),
            question.metric,
            plain(&question.subject),
            plain(&question.reference),
            cell(&question.reference),
            cell(&question.subject)
        )?;
        let shown = |number: f64| {
            if is_hidden(finding, report.hides_absolute) {
                HIDDEN.to_owned()
            } else {
                value(number, question.unit)
            }
        };
        for block in &finding.blocks {
            writeln!(
                output,
                "| {} | {} | {} | {} |",
                block.block + 1,
                shown(block.reference),
                shown(block.subject),
                percent(block.log_difference.exp())
            )?;
        }
        writeln!(output, "\n</details>\n")?;
    }
    Ok(())
}

fn screen(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let screened: Vec<&Finding> = report
        .findings
        .findings
        .iter()
        .filter(|finding| finding.question.role == Role::Screen && finding.effect.is_some())
        .collect();
    if screened.is_empty() {
        return Ok(());
    }
    writeln!(
        output,
        "## Screen of secondary metrics\n\nBenjamini-Hochberg q-values; a screen points, it never gives a verdict.\n\n\
         | workload | metric | subject | reference | subject | effect | q |\n|---|---|---|--:|--:|--:|--:|"
    )?;
    for finding in screened {
        let question = &finding.question;
        let (size, _) = effect(finding);
        let q = finding.effect.as_ref().and_then(|effect| effect.adjusted_difference);
        writeln!(
            output,
            "| {} | {} | {} | {} | {} | {size} | {} |",
            cell(&question.workload),
            question.metric,
            cell(&question.subject),
            reference_value(&[finding], report.hides_absolute),
            subject_value(finding, report.hides_absolute),
            q.map_or("n/a".to_owned(), p_value)
        )?;
    }
    writeln!(output)
}

fn environment(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    if report.design.imported.is_some() {
        // Nobody knows the machine.
        return Ok(());
    }
    writeln!(output, "## Environment\n\n| key | value |\n|---|---|")?;
    for (key, text) in &report.environment.0 {
        writeln!(output, "| {key} | {} |", cell(text))?;
    }
    writeln!(output)?;
    if report.differences.is_empty() {
        return writeln!(output, "Nothing of it changed between trials.\n");
    }
    writeln!(
        output,
        "What differed before or after trials:\n\n| key | subject | values |\n|---|---|---|"
    )?;
    for (key, by_subject) in &report.differences {
        for (subject, values) in by_subject {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            writeln!(output, "| {key} | {} | {} |", cell(subject), cell(&values.join("; ")))?;
        }
    }
    writeln!(output)
}
