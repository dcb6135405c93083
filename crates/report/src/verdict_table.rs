//! The verdict table: what its rows say, apart from how they are drawn.

use crate::emulated::{hidden, is_hidden, mark};
use crate::quantities::{confidence, estimate, tells_percentage, value};
use model::{Finding, Findings, Role, Strength, Verdict};
use phrases::{Language, noted, say};
use std::collections::BTreeMap;

/// What percentages are percentages of.
const OF_PERCENTAGES: &str = noted!(
    "Percentages are of the reference's value; effects of what is better lower are of the subject's: \
     +10 % says that the reference has 10 % more."
);

/// What is said in place of how verdicts are corrected while a campaign goes on.
pub(crate) const NO_VERDICT_YET: &str = noted!("There is no verdict before the campaign's end.");

/// Findings about one workload and metric.
pub(crate) struct Group<'a> {
    pub workload: &'a str,
    pub metric: &'a str,
    pub family: &'a str,
    pub findings: Vec<&'a Finding>,
}

/// Primary questions by workload, metric and what is compared with, each with its
/// control last.
pub(crate) fn groups(findings: &Findings) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places = BTreeMap::new();
    for finding in &findings.findings {
        if finding.question.role == Role::Screen {
            continue;
        }
        let model::Question { workload, metric, reference, family, .. } = &finding.question;
        let key = (workload.as_str(), metric.as_str(), reference.as_str(), family.as_str());
        let place = *places.entry(key).or_insert_with(|| {
            groups.push(Group { workload, metric, family, findings: Vec::new() });
            groups.len() - 1
        });
        groups[place].findings.push(finding);
    }
    groups
}

/// A verdict in one word.
pub(crate) fn verdict(verdict: Verdict, language: Language) -> &'static str {
    match verdict {
        Verdict::Better => language.word("better"),
        Verdict::Worse => language.word("worse"),
        Verdict::Equivalent => language.word("equivalent"),
        Verdict::Inconclusive => language.word("inconclusive"),
        Verdict::Invalid => language.word("invalid"),
    }
}

/// The verdict in words.
pub(crate) fn words(finding: &Finding, language: Language) -> String {
    let word = match (finding.strength, finding.verdict) {
        (Some(Strength::Clearly), Verdict::Better) => language.word("clearly better"),
        (Some(Strength::Clearly), Verdict::Worse) => language.word("clearly worse"),
        (_, verdict) => self::verdict(verdict, language),
    };
    format!("{}{word}", mark(finding.is_emulated, language))
}

/// The verdict as a symbol.
pub(crate) fn symbol(verdict: Verdict, is_unicode: bool) -> &'static str {
    match (verdict, is_unicode) {
        (Verdict::Better, true) => "▲",
        (Verdict::Worse, true) => "▼",
        (Verdict::Equivalent, true) => "≈",
        (Verdict::Invalid, true) => "✕",
        (Verdict::Better, false) => "^",
        (Verdict::Worse, false) => "v",
        (Verdict::Equivalent, false) => "=",
        (Verdict::Invalid, false) => "x",
        (Verdict::Inconclusive, _) => "?",
    }
}

/// Stands where there is no number.
pub(crate) fn not_known(language: Language) -> String {
    language.word("n/a").to_owned()
}

/// The subject's value, or why there is none.
pub(crate) fn subject_value(finding: &Finding, hides_absolute: bool, language: Language) -> String {
    if is_hidden(finding, hides_absolute) {
        return hidden(language);
    }
    finding
        .subject_value
        .map_or_else(|| not_known(language), |number| value(number, finding.question.unit))
}

/// The reference's value.
pub(crate) fn reference_value(
    findings: &[&Finding],
    hides_absolute: bool,
    language: Language,
) -> String {
    if findings.iter().any(|finding| is_hidden(finding, hides_absolute)) {
        return hidden(language);
    }
    let known = findings
        .iter()
        .find_map(|finding| finding.reference_value.map(|number| (number, finding.question.unit)));
    known.map_or_else(|| not_known(language), |(number, unit)| value(number, unit))
}

/// The effect, of a share that of its odds, and its unadjusted interval, on one scale; of an equivalence
/// that which decided it, with its level.
pub(crate) fn effect(finding: &Finding, language: Language) -> (String, String) {
    let Some((effect, shown)) = finding.effect.as_ref().zip(finding.shown_interval()) else {
        return (language.word("no estimate").to_owned(), String::new());
    };
    let (size, ends) = estimate(effect.ratio, &shown, language);
    let size = if finding.is_odds { say!(language, "odds {change}", change = size) } else { size };
    let ends = match finding.deciding_alpha().filter(|_| !shown.has_no_width()) {
        Some(alpha) => format!("{ends} ({} %)", confidence(alpha)),
        None => ends,
    };
    (size, ends)
}

/// When an adaptive campaign answered it, and the level of the interval that is shown of it: of an
/// equivalence that which decided it, else the look's.
pub(crate) fn look(finding: &Finding, language: Language) -> Option<String> {
    let look = finding.look?;
    Some(say!(
        language,
        "look {number} of {of}, after {blocks} blocks: its interval is {level} %; early stops \
         overstate effects",
        number = look.number,
        of = look.of,
        blocks = look.blocks,
        level = confidence(finding.deciding_alpha().unwrap_or(look.alpha))
    ))
}

/// The findings that have a row in tables of verdicts.
pub(crate) fn judged(findings: &Findings) -> impl Iterator<Item = &Finding> {
    findings.findings.iter().filter(|finding| finding.question.role != Role::Screen)
}

/// How the numbers of these rows are read: what their intervals are, and how verdicts are corrected;
/// nothing where there is neither.
pub(crate) fn reading<'f>(
    findings: &Findings,
    rows: impl Iterator<Item = &'f Finding>,
    families: &str,
    language: Language,
) -> Option<String> {
    let told = [intervals(findings, rows, language), correction(findings, families, language)];
    told.into_iter().flatten().reduce(|one, other| format!("{one} {other}"))
}

/// Which signs are better, and how the numbers of these rows are read.
pub(crate) fn signs_and_reading<'f>(
    findings: &Findings,
    rows: impl Iterator<Item = &'f Finding>,
    families: &str,
    language: Language,
) -> String {
    let signs = language.word("+ and × are better.");
    match reading(findings, rows, families, language) {
        Some(told) => format!("{signs} {told}"),
        None => signs.to_owned(),
    }
}

/// What the intervals of these rows are, in one sentence, where one of them has any: an equivalence is
/// shown with the interval that decided it, and that has a level of its own
/// (docs/method.md#m-verdict).
pub(crate) fn intervals<'f>(
    findings: &Findings,
    rows: impl Iterator<Item = &'f Finding>,
    language: Language,
) -> Option<String> {
    let (deciding, others): (Vec<&Finding>, Vec<&Finding>) = rows
        .filter(|finding| finding.shown_interval().is_some_and(|shown| !shown.has_no_width()))
        .partition(|finding| finding.deciding_alpha().is_some());
    let level = level(findings.alpha, &others, language);
    match (deciding.is_empty(), others.is_empty()) {
        (true, true) => None,
        (true, false) => Some(say!(
            language,
            "Intervals are {level}, unadjusted, each for its row alone.",
            level
        )),
        (false, false) => Some(say!(
            language,
            "Intervals are {level}, unadjusted, each for its row alone; one that showed an \
             equivalence has its own level beside it.",
            level
        )),
        (false, true) => Some(
            language
                .word(
                    "Each interval is the one that showed an equivalence, at the level beside it.",
                )
                .to_owned(),
        ),
    }
}

/// Whether the effect of a finding is told in percent of values: that of a share is one of its odds,
/// and says so.
pub(crate) fn is_in_percent(finding: &Finding) -> bool {
    let told = finding.effect.as_ref().zip(finding.shown_interval());
    !finding.is_odds && told.is_some_and(|(effect, shown)| tells_percentage(effect.ratio, &shown))
}

/// What percentages are percentages of, in one sentence with a blank before it; nothing where no
/// effect is told by one. Effects are oriented, so of a metric that is better lower they are ratios of
/// the reference's value to the subject's.
pub(crate) fn percentages(is_told: bool, language: Language) -> String {
    if is_told { format!(" {}", language.word(OF_PERCENTAGES)) } else { String::new() }
}

/// Whether a test was made of a difference; an interval that holds at every look has none.
pub(crate) fn has_test(finding: &Finding) -> bool {
    finding.effect.as_ref().is_some_and(|effect| effect.p_difference.is_some())
}

/// Whether something of it was corrected for its family: a test, or an interval that holds at every
/// look.
pub(crate) fn is_corrected(finding: &Finding) -> bool {
    has_test(finding) || finding.is_sequence()
}

/// What the symbols beside these findings are, in one sentence. While a campaign goes on it has no
/// verdict, and where nothing was tested nothing was corrected.
pub(crate) fn symbols<'f>(
    findings: &Findings,
    mut shown: impl Iterator<Item = &'f Finding>,
    language: Language,
) -> &'static str {
    if findings.is_unfinished {
        return language.word(NO_VERDICT_YET);
    }
    if shown.any(is_corrected) {
        return language
            .word("The symbol is the verdict, corrected for all comparisons of its family.");
    }
    language.word("The symbol is the verdict.")
}

/// How verdicts are corrected for their families, in one sentence: tests by Holm, intervals that
/// hold at every look by Bonferroni (docs/method.md#m-sequence). Nothing where there are neither tests
/// nor such intervals: nothing was corrected. While a campaign goes on it has no verdict.
pub(crate) fn correction(
    findings: &Findings,
    families: &str,
    language: Language,
) -> Option<String> {
    if findings.is_unfinished {
        return Some(language.word(NO_VERDICT_YET).to_owned());
    }
    match (judged(findings).any(Finding::is_sequence), judged(findings).any(has_test)) {
        (false, false) => None,
        (false, true) => {
            Some(say!(language, "Verdicts are corrected for {families} (Holm).", families))
        }
        (true, false) => {
            Some(say!(language, "Verdicts are corrected for {families} (Bonferroni).", families))
        }
        (true, true) => Some(say!(
            language,
            "Verdicts are corrected for {families} (Holm; those of intervals that hold at every look \
             Bonferroni).",
            families
        )),
    }
}

/// The level of the unadjusted intervals of these rows.
fn level(alpha: f64, rows: &[&Finding], language: Language) -> String {
    let level = confidence(alpha);
    let has_sequence = rows.iter().any(|finding| finding.is_sequence());
    if rows.iter().any(|finding| finding.look.is_some()) {
        if has_sequence {
            return say!(
                language,
                "of each row's look; of a row without one {level} % at every look together",
                level
            );
        }
        return language.word("of each row's look").to_owned();
    }
    if has_sequence {
        return say!(language, "{level} % at every look together", level);
    }
    format!("{level} %")
}
