//! The verdict table: what its rows say, apart from how they are drawn.

use crate::quantities::{interval, percent, value};
use model::{Finding, Findings, Role, Strength, Verdict};

/// Half the bar's width in margins: effects beyond are drawn as an arrow.
const MARGINS_SHOWN: f64 = 4.0;

/// Findings about one workload and metric.
pub(super) struct Group<'a> {
    pub workload: &'a str,
    pub metric: &'a str,
    pub findings: Vec<&'a Finding>,
}

/// Primary questions by workload and metric, each with its control last.
pub(super) fn groups(findings: &Findings) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for finding in &findings.findings {
        if finding.question.role == Role::Screen {
            continue;
        }
        let (workload, metric) =
            (finding.question.workload.as_str(), finding.question.metric.as_str());
        match groups.iter_mut().find(|group| group.workload == workload && group.metric == metric) {
            Some(group) => group.findings.push(finding),
            None => groups.push(Group { workload, metric, findings: vec![finding] }),
        }
    }
    groups
}

/// The verdict in words.
pub(super) fn words(finding: &Finding) -> String {
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
    format!("{strength}{word}")
}

/// The verdict as a symbol.
pub(super) fn symbol(verdict: Verdict, is_unicode: bool) -> &'static str {
    match (verdict, is_unicode) {
        (Verdict::Better, true) => "▲",
        (Verdict::Worse, true) => "▼",
        (Verdict::Equivalent, true) => "≈",
        (Verdict::Invalid, true) => "✕",
        (Verdict::Better, false) => "+",
        (Verdict::Worse, false) => "-",
        (Verdict::Equivalent, false) => "=",
        (Verdict::Invalid, false) => "x",
        (Verdict::Inconclusive, _) => "?",
    }
}

/// The subject's value, or why there is none.
pub(super) fn subject_value(finding: &Finding) -> String {
    finding.subject_value.map_or("n/a".to_owned(), |number| value(number, finding.question.unit))
}

/// The reference's value.
pub(super) fn reference_value(findings: &[&Finding]) -> String {
    let known = findings
        .iter()
        .find_map(|finding| finding.reference_value.map(|number| (number, finding.question.unit)));
    known.map_or("n/a".to_owned(), |(number, unit)| value(number, unit))
}

/// The effect and its unadjusted interval.
pub(super) fn effect(finding: &Finding) -> (String, String) {
    match &finding.effect {
        Some(effect) => (percent(effect.ratio), interval(&effect.interval)),
        None => ("n/a".to_owned(), String::new()),
    }
}

/// The interval against no difference and the margin, `width` cells wide (odd).
/// The scale is the margin's: its ends stand at a quarter of each side.
pub(super) fn bar(finding: &Finding, width: usize, is_unicode: bool) -> String {
    let [empty, edge, zero, line, point, left, right] = if is_unicode {
        ['·', '┊', '│', '━', '●', '◀', '▶']
    } else {
        ['.', ':', '|', '=', 'o', '<', '>']
    };
    let middle = (width / 2) as f64;
    let mut cells = vec![empty; width];
    let theta = (1.0 + finding.margin).ln();
    let cell = |log: f64| middle + log / theta * middle / MARGINS_SHOWN;
    let last = (width - 1) as f64;
    let clamped = |position: f64| position.round().clamp(0.0, last) as usize;
    cells[clamped(cell(theta))] = edge;
    cells[clamped(cell(-theta))] = edge;
    cells[width / 2] = zero;
    let Some(effect) = &finding.effect else { return cells.into_iter().collect() };
    let (low, high) = (cell(effect.interval.low.ln()), cell(effect.interval.high.ln()));
    for slot in &mut cells[clamped(low)..=clamped(high)] {
        *slot = line;
    }
    cells[clamped(cell(effect.log_mean))] = point;
    if low < -0.5 {
        cells[0] = left;
    }
    if high > last + 0.5 {
        cells[width - 1] = right;
    }
    cells.into_iter().collect()
}
