//! The complete report as Markdown.

mod grids;
mod over_time;
mod verdicts;

use super::inert::write_inert;
use super::{Page, Renderer, ladder};
use crate::attempt::attempt;
use crate::breakdown;
use crate::checks::checks;
use crate::counts;
use crate::emulated::{hidden, is_hidden};
use crate::failure_reasons::ToldReasons;
use crate::ladder::LadderCell;
use crate::observed::{has_drawn_order, has_fingerprints, unset};
use crate::quantities::{fails, p_value, percent_of_log, value, versus};
use crate::rankings::{claim, ranks, use_case};
use crate::verdict_table::{effect, has_test, not_known, reference_value, subject_value, symbol};
use crate::view::Report;
use contract::Description;
use model::{Finding, Role};
use phrases::{Language, counted, say};
use std::io::{self, Write};

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "markdown",
    summary: "the complete report, to read or to paste",
    doc: "Answer, verdicts, design, every pair of blocks of the primary questions, the screen of \
          secondary metrics, caveats with their meanings, environment, and how to reproduce it.",
};

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "md"
    }

    fn render(&self, report: &Report, _page: &Page, output: &mut dyn Write) -> io::Result<()> {
        let mut drawn = Vec::new();
        draw(report, &mut drawn)?;
        write_inert(&drawn, output)
    }
}

fn draw(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "# {}\n\n{}\n", plain(&report.title), plain(&report.answer))?;
    if let Some(attempt) = attempt(report) {
        writeln!(output, "{attempt}\n")?;
    }
    verdicts::verdicts(report, output)?;
    ladders(report, output)?;
    grids::grids(report, output)?;
    breakdowns(report, output)?;
    standings(report, output)?;
    over_time::over_time(report, output)?;
    failures(report, output)?;
    validity(report, output)?;
    caveats(report, output)?;
    design(report, output)?;
    blocks(report, output)?;
    screen(report, output)?;
    environment(report, output)?;
    writeln!(output, "## {}\n", report.language.word("How to reproduce"))?;
    commands(report, output)?;
    writeln!(output, "\n{}", plan_digest(report))
}

/// The commands that give it again, as a block of code. An end of a line in one of them would end
/// the block: what stands behind it would be markup.
pub(super) fn commands(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    for line in &report.reproduce {
        writeln!(output, "    {}", model::inert_text(line))?;
    }
    Ok(())
}

/// What the commands have to give again. It comes from a file, and a backtick in it would end the
/// code.
pub(super) fn plan_digest(report: &Report) -> String {
    let digest = model::inert_text(&report.plan_digest).replace('`', "'");
    format!("{}: `{digest}`", report.language.word("plan digest"))
}

/// Ratios along the factor that subjects are compared within.
fn ladders(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let Some(first) = report.ladders.first() else { return Ok(()) };
    let language = report.language;
    let title = say!(language, "Ratios by {factor}", factor = first.factor);
    writeln!(output, "## {}\n\n{}\n", plain(&title), ladder::legend(report, language))?;
    for drawn in &report.ladders {
        let titles: Vec<String> = drawn.workloads.iter().map(|label| cell(label)).collect();
        writeln!(output, "**{}**\n", plain(&ladder::heading(drawn, language)))?;
        writeln!(output, "| {} | {} |", cell(&drawn.factor), titles.join(" | "))?;
        writeln!(output, "|--:|{}", "--:|".repeat(titles.len()))?;
        for rung in &drawn.rungs {
            let cells: Vec<String> =
                rung.cells.iter().map(|cell| ratio(cell.as_ref(), language)).collect();
            writeln!(output, "| {} | {} |", cell(rung.level.as_str()), cells.join(" | "))?;
        }
        writeln!(output)?;
    }
    Ok(())
}

/// Where the time of round trips goes.
fn breakdowns(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let language = report.language;
    for drawn in &report.breakdowns {
        writeln!(output, "## {}\n", plain(&drawn.heading(language)))?;
        let titles = [
            language.word("subject"),
            language.word("part"),
            language.word("mean"),
            language.word("share of the whole"),
        ];
        writeln!(output, "| {} |\n|---|---|--:|--:|", titles.join(" | "))?;
        for divided in &drawn.subjects {
            for part in &divided.parts {
                let mean = part.mean.words(drawn.unit, language);
                let share = format!("{} %", model::percent(part.share, 0));
                let (subject, name) = (cell(&divided.subject), cell(&part.name));
                writeln!(output, "| {subject} | {name} | {mean} | {share} |")?;
            }
        }
        writeln!(output)?;
        let has_intervals = drawn.has_intervals();
        for sentence in drawn.sentences(language) {
            writeln!(output, "{}  ", plain(&sentence))?;
        }
        writeln!(output, "\n{}\n", breakdown::legend(has_intervals, language))?;
    }
    Ok(())
}

/// `0.71 (0.65-0.78) ▲`.
fn ratio(cell: Option<&LadderCell>, language: Language) -> String {
    let Some(cell) = cell else { return String::new() };
    let (ratio, interval) = ladder::numbers(cell, language);
    let interval = if interval.is_empty() { interval } else { format!(" ({interval})") };
    format!("{ratio}{interval} {}", symbol(cell.verdict, true))
}

/// Ranks, use cases and claims.
fn standings(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let findings = &report.findings;
    let language = report.language;
    if !findings.use_cases.is_empty() {
        let mut comparisons = findings.use_cases.iter().flat_map(|one| &one.comparisons);
        let means = if comparisons.any(has_test) {
            language.word(
                "Weighted geometric means over the workloads of a block, each use case for itself; \
                 p-values are adjusted by Holm over all of them.",
            )
        } else {
            language.word(
                "Weighted geometric means over the workloads of a block, each use case for itself.",
            )
        };
        writeln!(output, "## {}\n\n{means}\n", language.word("Use cases"))?;
        for finding in &findings.use_cases {
            let section = use_case(finding, findings, language);
            writeln!(output, "**{}**\n", plain(&section.heading))?;
            for line in &section.lines {
                writeln!(output, "- {}", plain(line))?;
            }
            writeln!(output)?;
        }
    }
    if !findings.claims.is_empty() {
        writeln!(output, "## {}\n", language.word("Published claims"))?;
        for finding in &findings.claims {
            writeln!(output, "- {}", plain(&claim(finding, language)))?;
        }
        writeln!(output)?;
    }
    if !findings.rankings.is_empty() {
        writeln!(
            output,
            "## {}\n\n{}\n\n{}\n|---|---|---|",
            language.word("Ranks"),
            language.word(
                "A rank is 1 plus the number of subjects shown to be better; subjects that are not \
                 told apart share it."
            ),
            language.word("| workload | metric | ranks |")
        )?;
        for ranking in &findings.rankings {
            writeln!(
                output,
                "| {} | {} | {} |",
                cell(&ranking.workload),
                cell(&ranking.metric),
                cell(&ranks(ranking, language))
            )?;
        }
        writeln!(output)?;
    }
    Ok(())
}

/// Text that a page must not take for markup of its own: names come from files. What could run,
/// fetch, link or call somebody cannot (`CommonMark` 0.31; GitHub's mentions and references to
/// issues are no part of it, and only a sign without width keeps them from being found). No more of it
/// is drawn than a reader could go through.
pub(super) fn plain(text: &str) -> String {
    let text = model::bounded_text(text);
    let mut plain = String::with_capacity(text.len());
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        let is_inside_a_word = before.is_alphanumeric() && next.is_alphanumeric();
        match letter {
            '<' => plain += "&lt;",
            '&' if next == '#' || next.is_alphabetic() => plain += "&amp;",
            '\n' | '\r' => plain.push(' '),
            '\\' | '`' | '*' => plain.extend(['\\', letter]),
            '_' if !is_inside_a_word => plain += "\\_",
            '~' if next == '~' => plain += "\\~",
            '(' | ':' | '[' if before == ']' => plain.extend(['\\', letter]),
            '@' if next.is_alphanumeric() => plain += "@&#8203;",
            '#' if next.is_ascii_digit() => plain += "#&#8203;",
            letter => plain.push(letter),
        }
        before = letter;
    }
    plain
}

/// Text inside a table cell.
pub(super) fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
}

fn failures(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let language = report.language;
    let failed: Vec<_> =
        report.findings.failures.iter().filter(|count| count.failed + count.invalid > 0).collect();
    if failed.is_empty() {
        return Ok(());
    }
    writeln!(
        output,
        "## {}\n\n{}\n|---|---|--:|--:|--:|---|--:|--:|---|",
        language.word("Failures"),
        language.word("| subject | workload | trials | failed | p | | invalid | p | reasons |")
    )?;
    let p = |p: Option<f64>| p.map_or_else(|| not_known(language), p_value);
    for count in failed {
        let known = ToldReasons::of(&count.reasons);
        let told = known.told.iter().map(|(reason, times)| format!("{times} x {}", cell(reason)));
        let reasons: Vec<String> = told.chain(known.others(language)).collect();
        writeln!(
            output,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            cell(&count.subject),
            cell(&count.workload),
            count.trials,
            count.failed,
            p(count.adjusted_failure.or(count.p_failure)),
            fails(count, language),
            count.invalid,
            p(count.p_invalid),
            reasons.join("; ")
        )?;
    }
    writeln!(output)?;
    for ejections in &report.ejections {
        writeln!(output, "{}\n", plain(&ejections.words(language)))?;
    }
    Ok(())
}

/// Whether it may be believed.
fn validity(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let language = report.language;
    writeln!(
        output,
        "## {}\n\n{}\n|---|---|---|",
        language.word("Validity"),
        language.word("| what was checked | | what was seen |")
    )?;
    for check in checks(report) {
        let (state, seen) = (check.state.word(language), cell(&check.detail));
        writeln!(output, "| {} | {state} | {seen} |", cell(&check.name))?;
    }
    writeln!(output)
}

fn caveats(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    if report.caveats.is_empty() {
        return Ok(());
    }
    writeln!(output, "## {}\n", report.language.word("Caveats"))?;
    for caveat in &report.caveats {
        writeln!(output, "- **{}**: {}", caveat.code, caveat.meaning)?;
        for place in &caveat.places {
            writeln!(output, "  - {}", plain(place))?;
        }
    }
    writeln!(output)
}

/// What its blocks are, without their number.
fn kind_of_blocks(report: &Report) -> &'static str {
    let (design, language) = (&report.design, report.language);
    let is_one = (design.blocks, design.planned_blocks) == (Some(1), None);
    match (has_drawn_order(report), is_one) {
        (true, true) => language.word("randomised block"),
        (true, false) => language.word("randomised blocks"),
        (false, true) => language.word("block"),
        (false, false) => language.word("blocks"),
    }
}

fn design(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let design = &report.design;
    let language = report.language;
    writeln!(output, "## {}\n", language.word("Design"))?;
    if let Some(imported) = &design.imported {
        let text = say!(
            language,
            "Imported from {file} ({format}, SHA-256 {digest}): {subjects}, {records} of {workloads}; \
             family of {families} at level {alpha}.",
            file = imported.file,
            format = imported.format,
            digest = imported.digest,
            subjects = counts::subjects(design.subjects, language),
            records = counts::records(design.trials, language),
            workloads = counts::workloads(design.workloads.len(), language),
            families = design.family_words(language),
            alpha = design.alpha
        );
        writeln!(output, "{}\n", plain(&text))?;
        return notes(report, output);
    }
    let kind = kind_of_blocks(report);
    let subjects = counts::subjects(design.subjects, language);
    if report.is_simulated {
        let text = say!(
            language,
            "{blocks} {kind} of {subjects}{quick}; workloads {workloads}; {trials}: nothing ran; \
             seed {seed}; family of {families} at level {alpha}.",
            blocks = design.block_count(language),
            kind,
            subjects,
            quick = if design.is_quick { language.word(", quick mode") } else { "" },
            workloads = design.workloads.join(", "),
            trials =
                counted!(language, design.trials, "1 simulated trial", "{count} simulated trials"),
            seed = design.seed_words(language),
            families = design.family_words(language),
            alpha = design.alpha
        );
        writeln!(output, "{}\n", plain(&text))?;
        levels(report, output)?;
        return notes(report, output);
    }
    let text = say!(
        language,
        "{blocks} {kind} of {subjects}{quick}; workloads {workloads}; {trials} in {duration} over \
         {boots} on {venue} with kernel {kernel}; seed {seed}; family of {families} at level {alpha}.",
        blocks = design.block_count(language),
        kind,
        subjects,
        quick = if design.is_quick { language.word(", quick mode") } else { "" },
        workloads = design.workloads.join(", "),
        trials = counts::trials(design.trials as u64, language),
        duration = design.duration_words(language),
        boots = design.boot_words(language),
        venue = design.venue,
        kernel = design.kernel,
        seed = design.seed_words(language),
        families = design.family_words(language),
        alpha = design.alpha
    );
    writeln!(output, "{}\n", plain(&text))?;
    levels(report, output)?;
    notes(report, output)
}

fn levels(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let language = report.language;
    writeln!(output, "{}\n|---|---|", language.word("| subject | levels |"))?;
    for subject in &report.subjects {
        let levels: Vec<String> =
            subject.levels.iter().map(|(id, level)| format!("{id} = {level}")).collect();
        let role = match (subject.is_reference, subject.is_control) {
            (true, _) => format!(" ({})", language.word("reference")),
            (_, true) => format!(" ({})", language.word("A/A control")),
            _ => String::new(),
        };
        let levels = if levels.is_empty() { unset(report).to_owned() } else { levels.join(", ") };
        writeln!(output, "| {}{role} | {} |", cell(&subject.id), cell(&levels))?;
    }
    Ok(())
}

fn notes(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    for note in &report.notes {
        let note = say!(report.language, "Note: {note}", note);
        writeln!(output, "\n{}", plain(&note))?;
    }
    writeln!(output)
}

fn blocks(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let language = report.language;
    let judged =
        report.findings.findings.iter().filter(|finding| finding.question.role == Role::Primary);
    for finding in judged.filter(|finding| !finding.blocks.is_empty()) {
        let question = &finding.question;
        let title = say!(
            language,
            "Blocks of {workload} {metric}, {subjects}",
            workload = question.workload,
            metric = question.metric,
            subjects = versus(question, language)
        );
        let columns = say!(
            language,
            "| block | {reference} | {subject} | effect |",
            reference = cell(&question.reference),
            subject = cell(&question.subject)
        );
        writeln!(
            output,
            "<details><summary>{}</summary>\n\n{columns}\n|--:|--:|--:|--:|",
            plain(&title)
        )?;
        let shown = |number: f64| {
            if is_hidden(finding, report.hides_absolute) {
                hidden(language)
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
                percent_of_log(block.log_difference, language)
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
    let language = report.language;
    writeln!(
        output,
        "## {}\n\n{}\n\n{}\n|---|---|---|--:|--:|--:|--:|",
        language.word("Screen of secondary metrics"),
        language.word("Benjamini-Hochberg q-values; a screen points, it never gives a verdict."),
        language.word("| workload | metric | subject | reference | subject | effect | q |")
    )?;
    for finding in screened {
        let question = &finding.question;
        let (size, _) = effect(finding, language);
        let q = finding.effect.as_ref().and_then(|effect| effect.adjusted_difference);
        writeln!(
            output,
            "| {} | {} | {} | {} | {} | {size} | {} |",
            cell(&question.workload),
            cell(&question.metric),
            cell(&question.subject),
            reference_value(&[finding], report.hides_absolute, language),
            subject_value(finding, report.hides_absolute, language),
            q.map_or_else(|| not_known(language), p_value)
        )?;
    }
    writeln!(output)
}

fn environment(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    if report.design.imported.is_some() {
        // Nobody knows the machine.
        return Ok(());
    }
    let language = report.language;
    writeln!(
        output,
        "## {}\n\n{}\n|---|---|",
        language.word("Environment"),
        language.word("| key | value |")
    )?;
    for (key, text) in &report.environment.0 {
        writeln!(output, "| {} | {} |", cell(key), cell(text))?;
    }
    writeln!(output)?;
    if report.differences.is_empty() {
        let changed = if has_fingerprints(report) {
            language.word("Nothing of it changed between trials.")
        } else {
            language.word("Whether it changed between trials was not observed.")
        };
        return writeln!(output, "{changed}\n");
    }
    writeln!(
        output,
        "{}\n\n{}\n|---|---|---|",
        language.word("What differed before or after trials:"),
        language.word("| key | subject | values |")
    )?;
    for (key, by_subject) in &report.differences {
        for (subject, values) in by_subject {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let (key, subject) = (cell(key), cell(subject));
            writeln!(output, "| {key} | {subject} | {} |", cell(&values.join("; ")))?;
        }
    }
    writeln!(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup_and_call_nobody() {
        for (text, expected) in [
            ("latency_p50 [0.6, 0.8] 12 % (+3)", "latency_p50 [0.6, 0.8] 12 % (+3)"),
            ("![x](https://x.org/a.png)", "![x]\\(https://x.org/a.png)"),
            ("[a][b] [b]: /x", "[a]\\[b] [b]\\: /x"),
            ("<img src=x> & &lt; &#64;", "&lt;img src=x> & &amp;lt; &amp;#&#8203;64;"),
            ("@team at a@b.org", "@&#8203;team at a@&#8203;b.org"),
            ("#12 closes #x", "#&#8203;12 closes #x"),
            (
                "`code` *bold* __init__ ~~gone~~",
                "\\`code\\` \\*bold\\* \\_\\_init\\_\\_ \\~~gone\\~~",
            ),
            ("a\nb\r\\", "a b \\\\"),
        ] {
            assert_eq!(plain(text), expected);
        }
        assert_eq!(cell("a|b"), "a\\|b");
    }
}
