//! The verdicts as Markdown: a table for each question, what was planned, and the companion by
//! ranks.

use super::super::bar::Scale;
use super::super::grid;
use super::{cell, plain};
use crate::answer::in_percent;
use crate::emulated::why_hidden;
use crate::few_boots::few_boots;
use crate::quantities::{
    confidence, direction, effects_found, estimate, interval, p_value, percent, raw_change,
    tells_percentage,
};
use crate::verdict_table::{
    correction, effect, groups, intervals, is_in_percent, judged, look, not_known, percentages,
    reference_value, subject_value, symbol, words,
};
use crate::view::Report;
use model::{Finding, Role};
use phrases::{Language, say};
use std::io::{self, Write};

/// Cells of the bar.
const BAR: usize = 21;

pub(super) fn verdicts(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let language = report.language;
    writeln!(output, "## {}\n", language.word("Verdicts"))?;
    let scale = Scale::of(judged(&report.findings), BAR);
    let alpha = report.design.alpha;
    // It asks all findings, and there may be as many groups.
    let head = head(report);
    for group in groups(&report.findings) {
        let Some(first) = group.findings.first() else { continue };
        let reference = reference_value(&group.findings, report.hides_absolute, language);
        let about = say!(
            language,
            "{direction}, margin {margin} %",
            direction = direction(first.question.direction, language),
            margin = in_percent(first.margin)
        );
        writeln!(
            output,
            "**{} {}** ({about}): {} = {reference}\n",
            plain(group.workload),
            plain(group.metric),
            plain(&first.question.reference)
        )?;
        writeln!(output, "{head}")?;
        writeln!(output, "|---|--:|--:|--:|---|---|---|---|--:|--:|--:|")?;
        for finding in &group.findings {
            row(finding, scale, report, output)?;
        }
        writeln!(output)?;
        for finding in &group.findings {
            for text in [finding.reason.clone(), look(finding, language)].into_iter().flatten() {
                writeln!(output, "- {}: {}", plain(&finding.question.subject), plain(&text))?;
            }
        }
        for finding in &group.findings {
            planning(finding, language, output)?;
            let alpha = finding.look.map_or(alpha, |look| look.alpha);
            companion(finding, alpha, language, output)?;
        }
        writeln!(output)?;
    }
    let of_percentages = percentages(tells_percentages(report), language);
    writeln!(output, "{}{of_percentages}\n", legend(report, scale))?;
    if report.hides_absolute {
        writeln!(output, "{}\n", why_hidden(language))?;
    }
    if let Some(limit) = few_boots(report) {
        writeln!(output, "{limit}\n")?;
    }
    Ok(())
}

/// Whether the page tells an effect in percent: in a table, by ranks, of a use case or in a grid.
fn tells_percentages(report: &Report) -> bool {
    let by_ranks = |finding: &Finding| {
        let companion = finding.companion.as_ref().filter(|_| !finding.is_odds);
        companion.is_some_and(|one| tells_percentage(one.pseudo_median_ratio, &one.interval))
    };
    let of_use_cases = report.findings.use_cases.iter().flat_map(|one| &one.comparisons);
    let mut all = report.findings.findings.iter().chain(of_use_cases);
    all.any(|finding| is_in_percent(finding) || by_ranks(finding))
        || report.grids.iter().any(grid::tells_percentages)
}

/// Titles of the columns.
fn head(report: &Report) -> String {
    let language = report.language;
    let has_looks = report.findings.findings.iter().any(|finding| finding.look.is_some());
    let has_deciding = judged(&report.findings).any(|one| one.deciding_alpha().is_some());
    let interval = if has_deciding {
        language.word("interval").to_owned()
    } else if has_looks {
        language.word("look's interval").to_owned()
    } else {
        say!(language, "{level} % interval", level = confidence(report.design.alpha))
    };
    let pairs = if report.design.is_unblocked() {
        language.word("executions")
    } else {
        language.word("pairs")
    };
    say!(
        language,
        "| subject | value | effect (+ and × are better) | raw change | {interval} | family interval | | \
         verdict | {pairs} | p difference | p equivalence |",
        interval,
        pairs
    )
}

fn legend(report: &Report, scale: Scale) -> String {
    let language = report.language;
    let effects = if report.design.is_unblocked() {
        language.word(
            "Effects are ratios of geometric means over executions, oriented so that + and × are \
             better.",
        )
    } else {
        language.word(
            "Effects are ratios of geometric means over blocks, oriented so that + and × are \
             better.",
        )
    };
    let families = plain(&report.design.family_words(language));
    let mut legend = vec![effects.to_owned()];
    if let Some(intervals) = intervals(&report.findings, judged(&report.findings), language) {
        legend.push(intervals);
        legend.push(say!(language, "The family interval allows for {families}.", families));
    }
    legend.extend(correction(&report.findings, &families, language));
    legend.push(say!(
        language,
        "Bars share one scale, from {low} to {high} (square root of the log ratio): `│` is no \
         difference, `░` the margin, the symbol the estimate.",
        low = percent(1.0 / scale.end(), language),
        high = percent(scale.end(), language)
    ));
    legend.join(" ")
}

fn row(finding: &Finding, scale: Scale, report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let language = report.language;
    let control = match finding.question.role {
        Role::Control => format!(" ({})", language.word("A/A control")),
        Role::Primary | Role::Screen => String::new(),
    };
    let (size, unadjusted) = effect(finding, language);
    let details = finding.effect.as_ref();
    let p = |p: Option<f64>| p.map_or_else(|| not_known(language), p_value);
    writeln!(
        output,
        "| {}{control} | {} | {size} | {} | {unadjusted} | {} | `{}` | {} {} | {} | {} | {} |",
        cell(&finding.question.subject),
        subject_value(finding, report.hides_absolute, language),
        raw_change(finding, language).unwrap_or_else(|| not_known(language)),
        details.map_or(String::new(), |effect| interval(&effect.family_interval, language)),
        scale.draw(finding, true),
        symbol(finding.verdict, true),
        words(finding, language),
        finding.pairs,
        p(details.and_then(|effect| effect.adjusted_difference)),
        p(details.and_then(|effect| effect.adjusted_equivalence)),
    )
}

fn planning(finding: &Finding, language: Language, output: &mut dyn Write) -> io::Result<()> {
    let Some(planning) = &finding.planning else { return Ok(()) };
    let blocks = |count: Option<u32>| match count {
        None => language.word("more than 10 000").to_owned(),
        Some(count) => count.to_string(),
    };
    let found = say!(
        language,
        "these blocks find effects {found} with 80 % power; a difference of the margin's size \
         needs {difference} blocks, equivalence {equivalence}",
        found = effects_found(planning.detectable, language),
        difference = blocks(planning.blocks_for_difference),
        equivalence = blocks(planning.blocks_for_equivalence)
    );
    writeln!(output, "- {}: {found}", plain(&finding.question.subject))
}

/// The rank-based estimate beside the verdict: a reader sees whether both agree.
fn companion(
    finding: &Finding,
    alpha: f64,
    language: Language,
    output: &mut dyn Write,
) -> io::Result<()> {
    let Some(companion) = &finding.companion else { return Ok(()) };
    let flip = companion.p_sign_flip.map_or(String::new(), |p| {
        format!(", {}", say!(language, "sign flips p {p}", p = p_value(p)))
    });
    let (effect, interval) = estimate(companion.pseudo_median_ratio, &companion.interval, language);
    let p = p_value(companion.p_signed_rank);
    let by_ranks = if companion.interval.has_no_width() {
        say!(
            language,
            "by ranks {effect}, no interval, signed-rank p {p}{flip} (a companion, never the verdict)",
            effect,
            p,
            flip
        )
    } else {
        say!(
            language,
            "by ranks {effect}, {level} % interval {interval}, signed-rank p {p}{flip} (a companion, \
             never the verdict)",
            effect,
            level = confidence(alpha),
            interval,
            p,
            flip
        )
    };
    writeln!(output, "- {}: {by_ranks}", plain(&finding.question.subject))
}
