//! Why a finding says what it says, in plain words. No sentence without its number.

use crate::emulated::is_hidden;
use crate::quantities::{
    confidence, digits, effects_found, interval, p_value, percent, raw_change, value,
};
use crate::render::words;
use model::{CaveatCode, Effect, Finding, Findings, Role, Strength, Verdict};

/// Blocks whose differences are all named.
const NAMED_BLOCKS: usize = 40;

/// Explains one finding, a paragraph for each step from the question to what would
/// change the answer; values of an emulated processor only where they are wanted.
pub fn explain(finding: &Finding, findings: &Findings, is_absolute: bool) -> Vec<String> {
    let mut paragraphs = vec![question(finding), blocks(finding)];
    if let Some(effect) = &finding.effect {
        let alpha = level(finding, findings);
        paragraphs.push(estimate(finding, effect, alpha, is_hidden(finding, !is_absolute)));
        paragraphs.push(tests(finding, effect, findings));
    }
    paragraphs.push(verdict(finding, level(finding, findings)));
    paragraphs.extend(companion(finding));
    paragraphs.extend(change(finding));
    paragraphs.extend(caveats(finding));
    paragraphs
}

fn level(finding: &Finding, findings: &Findings) -> f64 {
    finding.look.map_or(findings.alpha, |look| look.alpha)
}

/// Three significant digits without zeros at their end.
fn short(number: f64) -> String {
    let text = digits(number);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A share in percent, as digits.
fn share(fraction: f64) -> String {
    digits(100.0 * fraction)
}

fn question(finding: &Finding) -> String {
    let question = &finding.question;
    let asked = match question.role {
        Role::Control => "The A/A control compares the reference with a second copy of itself",
        Role::Primary => "The question was declared before the run",
        Role::Screen => "This is a secondary metric: it is screened and never gives a verdict",
    };
    format!(
        "{asked}: {} against {} on {} {}, where {}. A difference inside {} % either way counts as none.",
        question.subject,
        question.reference,
        question.workload,
        question.metric,
        question.direction,
        short(100.0 * finding.margin)
    )
}

fn blocks(finding: &Finding) -> String {
    if is_unblocked(finding) {
        return format!(
            "The numbers were not collected in blocks. The subject with fewer has {} replicates, each one execution; \
             their logarithms are compared as two samples, over strata of equal weight.",
            finding.pairs
        );
    }
    if finding.blocks.is_empty() {
        return format!(
            "{} blocks have a valid value of both: there is nothing to compare.",
            finding.pairs
        );
    }
    let differences: Vec<String> = finding
        .blocks
        .iter()
        .take(NAMED_BLOCKS)
        .map(|block| percent(block.log_difference.exp()))
        .collect();
    let more = finding.blocks.len().saturating_sub(NAMED_BLOCKS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let better = finding.blocks.iter().filter(|block| block.log_difference > 0.0).count();
    format!(
        "In {} both ran, each once. {} was the better one in {better} of them. Block by block \
         (+ is better): {}{more}.",
        if finding.pairs == 1 { "1 block".to_owned() } else { format!("{} blocks", finding.pairs) },
        finding.question.subject,
        differences.join(", ")
    )
}

fn is_unblocked(finding: &Finding) -> bool {
    finding.caveats.iter().any(|caveat| caveat.code == CaveatCode::UnblockedDesign)
}

fn estimate(finding: &Finding, effect: &Effect, alpha: f64, is_hidden: bool) -> String {
    let values = match (finding.subject_value, finding.reference_value) {
        _ if is_hidden => raw_change(finding).map_or(String::new(), |change| {
            format!(" ({change}; the values themselves are hidden, --absolute shows them)")
        }),
        (Some(subject), Some(reference)) => format!(
            " ({} against {}, {})",
            value(subject, finding.question.unit),
            value(reference, finding.question.unit),
            raw_change(finding).unwrap_or_default()
        ),
        _ => String::new(),
    };
    format!(
        "Together that is {}{values}. The {} differ from each other by {} % (standard deviation), which leaves \
         a {} % interval of {} with {} degrees of freedom.",
        percent(effect.ratio),
        if is_unblocked(finding) { "replicates" } else { "blocks" },
        share(effect.log_sd),
        confidence(alpha),
        interval(&effect.interval),
        short(effect.degrees)
    )
}

fn tests(finding: &Finding, effect: &Effect, findings: &Findings) -> String {
    let (Some(difference), Some(equivalence)) = (effect.p_difference, effect.p_equivalence) else {
        if findings.caveats.iter().any(|caveat| caveat.code == CaveatCode::Unfinished) {
            return format!(
                "The campaign is not finished: after {} pairs there is no p, and the interval holds however often one \
                 looks.",
                finding.pairs
            );
        }
        return format!(
            "All {} blocks gave the same difference, so no test is possible.",
            finding.pairs
        );
    };
    let adjusted = |p: Option<f64>| match p {
        Some(p) if finding.question.role == Role::Screen => format!(" (q {})", p_value(p)),
        Some(p) => {
            let count = findings.family_size(&finding.question);
            let noun = if count == 1 { "comparison" } else { "comparisons" };
            format!(", corrected for {count} {noun} {}", p_value(p))
        }
        None => String::new(),
    };
    format!(
        "If there were no difference, one this large would turn up with p {}{}. If the difference were {} % or more, \
         one this small would turn up with p {}{}.",
        p_value(difference),
        adjusted(effect.adjusted_difference),
        short(100.0 * finding.margin),
        p_value(equivalence),
        adjusted(effect.adjusted_equivalence)
    )
}

fn verdict(finding: &Finding, alpha: f64) -> String {
    let level = short(alpha);
    let margin = short(100.0 * finding.margin);
    let look = finding.look.map_or(String::new(), |look| {
        format!(
            " It is the answer of look {} of {}, after {} blocks, at its own level of {}; effects of early stops are \
             overstated.",
            look.number,
            look.of,
            look.blocks,
            short(look.alpha)
        )
    });
    let because = match (finding.verdict, finding.strength) {
        (Verdict::Better | Verdict::Worse, Some(Strength::Clearly)) => format!(
            "the first p is below {level}, and even the near end of the interval lies beyond {margin} %"
        ),
        (Verdict::Better | Verdict::Worse, _) => format!(
            "the first p is below {level}; the interval reaches inside {margin} %, so the difference may be small"
        ),
        (Verdict::Equivalent, _) => {
            format!("the second p is below {level}: a difference of {margin} % was ruled out")
        }
        (Verdict::Inconclusive, _) => finding.reason.clone().map_or_else(
            || format!("neither p is below {level}, which is not the same as equal"),
            |reason| format!("{reason} (level {level}), which is not the same as equal"),
        ),
        (Verdict::Invalid, _) => finding.reason.clone().map_or_else(
            || format!("{} pairs are left", finding.pairs),
            |reason| format!("{reason}; {} pairs are left", finding.pairs),
        ),
    };
    format!("Verdict: {}, because {because}.{look}", words(finding))
}

fn companion(finding: &Finding) -> Option<String> {
    let companion = finding.companion.as_ref()?;
    let flip = companion
        .p_sign_flip
        .map_or(String::new(), |p| format!(", and exact sign flips p {}", p_value(p)));
    Some(format!(
        "By ranks, which a wild block does not move, it is {}, signed-rank p {}{flip}: a companion, never the verdict.",
        percent(companion.pseudo_median_ratio),
        p_value(companion.p_signed_rank)
    ))
}

fn change(finding: &Finding) -> Option<String> {
    let planning = finding.planning.as_ref()?;
    let blocks = |count: Option<u32>| {
        count.map_or("more than 10 000 blocks".to_owned(), |count| format!("{count} blocks"))
    };
    Some(format!(
        "With this noise {} blocks find differences {} in 80 of 100 campaigns. A difference of {} % would \
         take {}, and showing that there is none {}.",
        finding.pairs,
        effects_found(planning.detectable),
        short(100.0 * finding.margin),
        blocks(planning.blocks_for_difference),
        blocks(planning.blocks_for_equivalence)
    ))
}

fn caveats(finding: &Finding) -> impl Iterator<Item = String> + '_ {
    finding.caveats.iter().map(|caveat| {
        let count = finding.pairs;
        format!(
            "{}: {} Here, with n = {count}: {}.",
            caveat.code,
            caveat.code.meaning(),
            caveat.detail
        )
    })
}
