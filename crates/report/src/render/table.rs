//! The verdict table: what its rows say, apart from how they are drawn.

use crate::emulated::{HIDDEN, is_hidden, mark};
use crate::quantities::{confidence, interval, percent, value};
use model::{CaveatCode, Finding, Findings, Role, Strength, Verdict};
use std::collections::BTreeMap;

/// Findings about one workload and metric.
pub(super) struct Group<'a> {
    pub workload: &'a str,
    pub metric: &'a str,
    pub family: &'a str,
    pub findings: Vec<&'a Finding>,
}

/// Primary questions by workload, metric and what is compared with, each with its
/// control last.
pub(super) fn groups(findings: &Findings) -> Vec<Group<'_>> {
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

/// The verdict in words.
pub(crate) fn words(finding: &Finding) -> String {
    let strength = match finding.strength {
        Some(Strength::Clearly) => "clearly ",
        _ => "",
    };
    let word = match finding.verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Invalid => "invalid",
    };
    format!("{}{strength}{word}", mark(finding.is_emulated()))
}

/// The verdict as a symbol.
pub(super) fn symbol(verdict: Verdict, is_unicode: bool) -> &'static str {
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

/// The subject's value, or why there is none.
pub(super) fn subject_value(finding: &Finding, hides_absolute: bool) -> String {
    if is_hidden(finding, hides_absolute) {
        return HIDDEN.to_owned();
    }
    finding.subject_value.map_or("n/a".to_owned(), |number| value(number, finding.question.unit))
}

/// The reference's value.
pub(super) fn reference_value(findings: &[&Finding], hides_absolute: bool) -> String {
    if findings.iter().any(|finding| is_hidden(finding, hides_absolute)) {
        return HIDDEN.to_owned();
    }
    let known = findings
        .iter()
        .find_map(|finding| finding.reference_value.map(|number| (number, finding.question.unit)));
    known.map_or("n/a".to_owned(), |(number, unit)| value(number, unit))
}

/// The effect and its unadjusted interval.
pub(super) fn effect(finding: &Finding) -> (String, String) {
    match &finding.effect {
        Some(effect) => (percent(effect.ratio), interval(&effect.interval)),
        None => ("no estimate".to_owned(), String::new()),
    }
}

/// When an adaptive campaign answered it, and the level of its interval.
pub(crate) fn look(finding: &Finding) -> Option<String> {
    let look = finding.look?;
    Some(format!(
        "look {} of {}, after {} blocks: its interval is {} %; early stops overstate effects",
        look.number,
        look.of,
        look.blocks,
        confidence(look.alpha)
    ))
}

/// The level of the unadjusted intervals.
pub(super) fn level(findings: &Findings) -> String {
    if findings.findings.iter().any(|finding| finding.look.is_some()) {
        return "of each row's look".to_owned();
    }
    let is_live = findings.caveats.iter().any(|caveat| caveat.code == CaveatCode::Unfinished);
    let at_once = if is_live { " at every look together" } else { "" };
    format!("{} %{at_once}", confidence(findings.alpha))
}
