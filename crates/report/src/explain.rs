//! Why a finding says what it says, in plain words. No sentence without its number.

use crate::counts;
use crate::effect_words::{EffectWords, interval_in_words, ratio_in_words};
use crate::emulated::is_hidden;
use crate::observed::Provenance;
use crate::quantities::{
    against, bracketed, confidence, digits, direction, effects_found, p_value, percent_digits,
    percent_of_log, value,
};
use crate::verdict_table::words;
use model::{
    Binding, Caveat, CaveatCode, Effect, Finding, Findings, Question, Role, Strength, Verdict,
};
use phrases::{Language, counted, say};

/// Blocks whose differences are all named.
const NAMED_BLOCKS: usize = 40;

/// What a finding is explained by.
#[derive(Debug, Clone, Copy)]
pub struct ExplainContext<'a> {
    /// All findings of the campaign.
    pub findings: &'a Findings,
    /// What verdicts of so few boots cannot show ([`crate::few_boots_of`]): all records are looked
    /// through for it, once for all findings.
    pub few_boots: Option<&'a str>,
    /// Where its numbers come from.
    pub provenance: Provenance,
    /// Whether something of the questions was given together with the numbers of an import
    /// ([`model::Imported::is_given_with_numbers`]).
    pub is_given_with_numbers: bool,
    /// Whether its records' binding to their plan was checked.
    pub binding: Binding,
    /// Warnings about the campaign's files.
    pub store_caveats: &'a [Caveat],
    /// Whether values of an emulated processor are wanted.
    pub is_absolute: bool,
    /// The language.
    pub language: Language,
}

impl<'a> ExplainContext<'a> {
    /// Caveats of the campaign as a whole.
    fn of_campaign(&self) -> impl Iterator<Item = &'a Caveat> {
        self.findings.caveats.iter().chain(self.store_caveats)
    }

    /// Whether plan, experiment or records are not as they were written.
    fn is_evidence_changed(&self) -> bool {
        self.findings.is_evidence_changed
    }

    /// Whether its numbers were not collected in blocks.
    fn is_unblocked(&self) -> bool {
        self.provenance == Provenance::ImportedRows
    }
}

/// Explains one finding, a paragraph for each step from the question to what would
/// change the answer; values of an emulated processor only where they are wanted.
pub fn explain(finding: &Finding, context: &ExplainContext<'_>) -> Vec<String> {
    let ExplainContext { findings, language, .. } = *context;
    let mut paragraphs = vec![question(finding, context), blocks(finding, context)];
    if let Some((effect, told)) = finding.effect.as_ref().zip(EffectWords::of(finding, language)) {
        paragraphs.push(estimate(finding, effect, told, context));
        paragraphs.push(tests(finding, effect, findings, language));
    }
    paragraphs.push(verdict(finding, context));
    paragraphs.extend(companion(finding, language));
    paragraphs.extend(change(finding, language));
    paragraphs.extend(caveats(finding, language));
    paragraphs.extend(caveats_of_campaign(finding, context));
    paragraphs
}

fn level(finding: &Finding, findings: &Findings) -> f64 {
    finding.look.map_or(findings.alpha, |look| look.alpha)
}

/// The margin in percent.
fn margin_words(finding: &Finding) -> String {
    model::large_percent(finding.margin).unwrap_or_else(|| short(100.0 * finding.margin))
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

/// What was asked; that it was asked before is said of records that are bound to their plan
/// (`records.chain`), where nothing was edited since and nothing was given afterwards.
fn question(finding: &Finding, context: &ExplainContext<'_>) -> String {
    let language = context.language;
    let Question { role, subject, reference, workload, metric, .. } = &finding.question;
    let asked =
        match role {
            Role::Control => {
                language.word("The A/A control compares the reference with a second copy of itself")
            }
            Role::Screen => language
                .word("This is a secondary metric: it is screened and never gives a verdict"),
            Role::Primary if context.is_given_with_numbers => {
                language.word("Something of the question was given when the numbers were there")
            }
            Role::Primary if context.provenance.is_imported() => language
                .word("The question is about numbers of others; nothing shows when it was asked"),
            Role::Primary if context.is_evidence_changed() => language
                .word("The question stands in the plan; the evidence is not as it was written"),
            Role::Primary if context.binding != Binding::Checked => {
                language.word("The question stands in the plan")
            }
            Role::Primary => language.word("The question was declared before the run"),
        };
    let code = CaveatCode::PostHocMargin.as_str();
    let asked = match context.is_given_with_numbers && *role == Role::Primary {
        true => format!("{asked}{}", bracketed(code, language)),
        false => asked.to_owned(),
    };
    say!(
        language,
        "{asked}: {subject} against {reference} on {workload} {metric}, where {direction}. A \
         difference inside {margin} % either way counts as none.",
        asked,
        subject,
        reference,
        workload,
        metric,
        direction = direction(finding.question.direction, language),
        margin = margin_words(finding)
    )
}

fn blocks(finding: &Finding, context: &ExplainContext<'_>) -> String {
    let language = context.language;
    if context.is_unblocked() {
        return say!(
            language,
            "The numbers were not collected in blocks. The subject with fewer has \
             {replicates}, each one execution as far as the file tells them apart; their logarithms \
             are compared as two samples, over strata of equal weight.",
            replicates = counts::replicates(finding.pairs, language)
        );
    }
    if finding.blocks.is_empty() {
        return say!(
            language,
            "{count} blocks have a valid value of both: there is nothing to compare.",
            count = finding.pairs
        );
    }
    let differences: Vec<String> = finding
        .blocks
        .iter()
        .take(NAMED_BLOCKS)
        .map(|block| percent_of_log(block.log_difference, language))
        .collect();
    let differences = differences.join(", ");
    let more = finding.blocks.len().saturating_sub(NAMED_BLOCKS);
    let differences = if more > 0 {
        say!(language, "{differences} and {more} more", differences, more)
    } else {
        differences
    };
    let blocks = counted!(language, finding.pairs, "1 block", "{count} blocks");
    let subject = &finding.question.subject;
    let better = finding.blocks.iter().filter(|block| block.log_difference > 0.0).count();
    if context.provenance == Provenance::ImportedBlocks {
        return say!(
            language,
            "{blocks} as the file names them have a value of both. {subject} was the better one in \
             {better} of them. Block by block (+ and × are better): {differences}.",
            blocks,
            subject,
            better,
            differences
        );
    }
    if context.provenance != Provenance::Ran || context.is_evidence_changed() {
        return say!(
            language,
            "{blocks} have a value of both. {subject} was the better one in {better} of them. \
             Block by block (+ and × are better): {differences}.",
            blocks,
            subject,
            better,
            differences
        );
    }
    say!(
        language,
        "In {blocks} both ran, each once. {subject} was the better one in {better} of them. Block \
         by block (+ and × are better): {differences}.",
        blocks,
        subject,
        better,
        differences
    )
}

/// Both values in brackets, and what happened to them where the estimate does not say it.
fn values(
    finding: &Finding,
    change: Option<String>,
    is_hidden: bool,
    language: Language,
) -> String {
    let mut told = Vec::new();
    if is_hidden {
        told.extend(change);
        let hidden = language.word("the values themselves are hidden, --absolute shows them");
        told.push(hidden.to_owned());
    } else if let (Some(subject), Some(reference)) =
        (finding.subject_value, finding.reference_value)
    {
        let unit = finding.question.unit;
        told.push(against(&value(subject, unit), &value(reference, unit), language));
        told.extend(change);
    }
    if told.is_empty() { String::new() } else { bracketed(&told.join(", "), language) }
}

fn estimate(
    finding: &Finding,
    effect: &Effect,
    told: EffectWords,
    context: &ExplainContext<'_>,
) -> String {
    let language = context.language;
    let alpha = level(finding, context.findings);
    let EffectWords { estimate, change, interval } = told;
    let is_hidden = is_hidden(finding, !context.is_absolute);
    let values = values(finding, change, is_hidden, language);
    let together = say!(language, "Together that is {effect}{values}.", effect = estimate, values);
    let what = if context.is_unblocked() {
        language.word("The replicates")
    } else {
        language.word("The blocks")
    };
    let Some(interval) = interval else {
        let spread =
            say!(language, "{what} do not differ from each other, which leaves no interval.", what);
        return format!("{together} {spread}");
    };
    let spread = say!(
        language,
        "{what} differ from each other by {deviation} % (standard deviation), which leaves a \
         {level} % interval of {interval} with {degrees} degrees of freedom.",
        what,
        deviation = percent_digits(effect.log_sd),
        level = confidence(finding.deciding_alpha().unwrap_or(alpha)),
        interval,
        degrees = short(effect.degrees)
    );
    // Bounds of a confidence sequence are as far away on both sides.
    let skewed = match effect.skew {
        _ if effect.is_sequence => return format!("{together} {spread}"),
        0.0 => return format!("{together} {spread}"),
        skew if skew > 0.0 => language.word(
            "Differences are skewed towards better values, and the bound on that side allows for it.",
        ),
        _ => language.word(
            "Differences are skewed towards worse values, and the bound on that side allows for it.",
        ),
    };
    format!("{together} {spread} {skewed}")
}

fn tests(finding: &Finding, effect: &Effect, findings: &Findings, language: Language) -> String {
    let (Some(difference), Some(equivalence)) = (effect.p_difference, effect.p_equivalence) else {
        if findings.is_unfinished {
            return say!(
                language,
                "The campaign is not finished: after {pairs} there is no p, and the \
                 interval holds however often one looks.",
                pairs = counts::pairs(finding.pairs, language)
            );
        }
        if finding.is_sequence() {
            return say!(
                language,
                "The campaign ended before its plan did: after {pairs} there is no p, and \
                 the interval holds at every look together.",
                pairs = counts::pairs(finding.pairs, language)
            );
        }
        return say!(
            language,
            "All {count} blocks gave the same difference, so no test is possible.",
            count = finding.pairs
        );
    };
    let with_adjusted = |p: f64, adjusted: Option<f64>| {
        let p = p_value(p);
        match adjusted.map(p_value) {
            Some(q) if finding.question.role == Role::Screen => format!("{p} (q {q})"),
            Some(adjusted) => {
                let count = findings.family_size(&finding.question);
                let comparisons = counted!(language, count, "1 comparison", "{count} comparisons");
                say!(
                    language,
                    "{p}, corrected for {comparisons} {adjusted}",
                    p,
                    comparisons,
                    adjusted
                )
            }
            None => p,
        }
    };
    say!(
        language,
        "If there were no difference, one this large would turn up with p {difference}. If the \
         difference were {margin} % or more, one this small would turn up with p {equivalence}.",
        difference = with_adjusted(difference, effect.adjusted_difference),
        margin = margin_words(finding),
        equivalence = with_adjusted(equivalence, effect.adjusted_equivalence)
    )
}

/// The verdict, why so, and what limits it.
fn verdict(finding: &Finding, context: &ExplainContext<'_>) -> String {
    let ExplainContext { findings, language, .. } = *context;
    let verdict = say!(
        language,
        "Verdict: {verdict}, because {because}.",
        verdict = words(finding, language),
        because = because(finding, findings, language)
    );
    let look = finding.look.map(|look| {
        say!(
            language,
            "It is the answer of look {number} of {of}, after {blocks} blocks, at its own level \
             of {level}; effects of early stops are overstated.",
            number = look.number,
            of = look.of,
            blocks = look.blocks,
            level = short(look.alpha)
        )
    });
    let told = [Some(verdict), look, context.few_boots.map(str::to_owned)];
    told.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Whether the interval that *clearly* asks for lies beyond the margin.
fn is_beyond(finding: &Finding) -> bool {
    let edge = 1.0 + finding.margin;
    let interval = finding.effect.as_ref().map(|effect| effect.family_interval);
    interval.is_some_and(|interval| interval.low > edge || interval.high < 1.0 / edge)
}

fn because(finding: &Finding, findings: &Findings, language: Language) -> String {
    let level = short(level(finding, findings));
    let margin = margin_words(finding);
    let has_no_test = finding.effect.as_ref().is_some_and(|effect| effect.p_difference.is_none());
    match (finding.verdict, &finding.reason) {
        (Verdict::Better | Verdict::Worse | Verdict::Equivalent, _) if has_no_test => {
            without_test(finding, findings, language)
        }
        (Verdict::Better | Verdict::Worse, _) => {
            if finding.strength == Some(Strength::Clearly) {
                say!(
                    language,
                    "the first p is below {level}, and even the near end of the interval lies \
                     beyond {margin} %",
                    level,
                    margin
                )
            } else if is_beyond(finding) {
                say!(
                    language,
                    "the first p is below {level} and the interval lies beyond {margin} %, but a \
                     caveat says that it may be too narrow or that of something else",
                    level,
                    margin
                )
            } else {
                say!(
                    language,
                    "the first p is below {level}; the interval reaches inside {margin} %, so the \
                     difference may be small",
                    level,
                    margin
                )
            }
        }
        (Verdict::Equivalent, _) => say!(
            language,
            "the second p is below {level}: a difference of {margin} % was ruled out",
            level,
            margin
        ),
        (Verdict::Inconclusive, None) => {
            say!(language, "neither p is below {level}, which is not the same as equal", level)
        }
        (Verdict::Inconclusive, Some(reason)) => say!(
            language,
            "{reason} (level {level}), which is not the same as equal",
            reason,
            level
        ),
        (Verdict::Invalid, None) => {
            counted!(language, finding.pairs, "1 pair is left", "{count} pairs are left")
        }
        (Verdict::Invalid, Some(reason)) => {
            let left =
                counted!(language, finding.pairs, "1 pair is left", "{count} pairs are left");
            format!("{reason}; {left}")
        }
    }
}

/// Why a finding without any p says what it says: by the interval of its family that holds at every
/// look; where nothing varies, by its reason alone.
fn without_test(finding: &Finding, findings: &Findings, language: Language) -> String {
    let known = finding.effect.as_ref().filter(|effect| effect.is_sequence);
    let Some(effect) = known else {
        let none = || language.word("no test is possible").to_owned();
        return finding.reason.clone().unwrap_or_else(none);
    };
    let reason = finding.reason.as_deref().unwrap_or_else(|| {
        language.word("judged by the interval of the family that holds at every look")
    });
    let family = findings.family_size(&finding.question).max(1);
    let level = confidence(findings.alpha / family as f64);
    let interval = interval_in_words(&effect.family_interval, language);
    let margin = margin_words(finding);
    match (finding.verdict, finding.strength) {
        (Verdict::Equivalent, _) => say!(
            language,
            "{reason}; {interval} ({level} %) lies within the margin of {margin} %",
            reason,
            interval,
            level,
            margin
        ),
        (_, Some(Strength::Clearly)) => say!(
            language,
            "{reason}; {interval} ({level} %) lies on one side of no difference, and even its near \
             end beyond {margin} %",
            reason,
            interval,
            level,
            margin
        ),
        _ if is_beyond(finding) => say!(
            language,
            "{reason}; {interval} ({level} %) lies on one side of no difference and beyond {margin} %, \
             but a caveat says that it may be too narrow or that of something else",
            reason,
            interval,
            level,
            margin
        ),
        _ => say!(
            language,
            "{reason}; {interval} ({level} %) lies on one side of no difference and reaches inside \
             {margin} %, so the difference may be small",
            reason,
            interval,
            level,
            margin
        ),
    }
}

fn companion(finding: &Finding, language: Language) -> Option<String> {
    let companion = finding.companion.as_ref()?;
    let effect = ratio_in_words(finding, companion.pseudo_median_ratio, language);
    let p = p_value(companion.p_signed_rank);
    Some(match companion.p_sign_flip {
        None => say!(
            language,
            "By ranks, which a wild block does not move, it is {effect}, signed-rank p {p}: a \
             companion, never the verdict.",
            effect,
            p
        ),
        Some(flip) => say!(
            language,
            "By ranks, which a wild block does not move, it is {effect}, signed-rank p {p}, and \
             exact sign flips p {flip}: a companion, never the verdict.",
            effect,
            p,
            flip = p_value(flip)
        ),
    })
}

fn change(finding: &Finding, language: Language) -> Option<String> {
    let planning = finding.planning.as_ref()?;
    let blocks = |count: Option<u32>| match count {
        None => language.word("more than 10 000 blocks").to_owned(),
        Some(count) => counted!(language, count, "1 block", "{count} blocks"),
    };
    Some(say!(
        language,
        "With this noise {count} blocks find differences {found} in 80 of 100 campaigns. A \
         difference of {margin} % would take {difference}, and showing that there is none \
         {equivalence}.",
        count = finding.pairs,
        found = effects_found(planning.detectable, language),
        margin = margin_words(finding),
        difference = blocks(planning.blocks_for_difference),
        equivalence = blocks(planning.blocks_for_equivalence)
    ))
}

fn caveats(finding: &Finding, language: Language) -> impl Iterator<Item = String> + '_ {
    finding.caveats.iter().map(move |caveat| {
        say!(
            language,
            "{code}: {meaning} Here, with n = {count}: {detail}.",
            code = caveat.code,
            meaning = caveat.code.meaning_in(language.code()),
            count = finding.pairs,
            detail = caveat.detail
        )
    })
}

/// Those of the campaign that the finding does not have itself.
fn caveats_of_campaign(finding: &Finding, context: &ExplainContext<'_>) -> Vec<String> {
    let language = context.language;
    let others = context.of_campaign().filter(|caveat| !finding.caveats.contains(caveat));
    let paragraph = |caveat: &Caveat| {
        say!(
            language,
            "{code}: {meaning} Of the campaign, here with n = {count}: {detail}.",
            code = caveat.code,
            meaning = caveat.code.meaning_in(language.code()),
            count = finding.pairs,
            detail = caveat.detail
        )
    };
    others.map(paragraph).collect()
}
