//! The sheet of findings: every comparison, controls and the screen included.

use super::super::table::words;
use super::sheet::{Cell, Rows, value};
use super::why_hidden;
use crate::emulated::is_hidden;
use crate::quantities::stored_unit;
use crate::view::Report;
use model::{Finding, Interval, Role};
use rust_xlsxwriter::{Worksheet, XlsxError};
use std::collections::BTreeSet;

const TITLES: [&str; 23] = [
    "workload",
    "metric",
    "subject",
    "reference",
    "role",
    "family",
    "n",
    "effect (ratio, above 1 is better)",
    "interval low",
    "interval high",
    "family interval low",
    "family interval high",
    "p difference",
    "adjusted p difference",
    "adjusted p equivalence",
    "margin",
    "verdict",
    "caveats",
    "reason",
    "subject value",
    "reference value",
    "unit",
    "direction",
];

pub(super) fn write(report: &Report, sheet: &mut Worksheet) -> Result<(), XlsxError> {
    let mut rows = Rows::of(sheet);
    rows.titles(TITLES.map(str::to_owned).into())?;
    for finding in &report.findings.findings {
        rows.row(row(finding, report.hides_absolute))?;
    }
    if let Some(why) = why_hidden(report) {
        rows.skip();
        rows.note(why)?;
    }
    let widths = TITLES.map(|title| title.len().clamp(8, 24));
    rows.widths(&widths)
}

fn row(finding: &Finding, hides_absolute: bool) -> Vec<Cell> {
    let question = &finding.question;
    let effect = finding.effect.as_ref();
    let end = |of: fn(&Interval) -> f64| Cell::from(effect.map(|effect| of(&effect.interval)));
    let family_end =
        |of: fn(&Interval) -> f64| Cell::from(effect.map(|effect| of(&effect.family_interval)));
    let role = match question.role {
        Role::Primary => "primary",
        Role::Control => "control",
        Role::Screen => "screen",
    };
    // A screen points, it never gives a verdict.
    let verdict = if question.role == Role::Screen { String::new() } else { words(finding) };
    let codes: BTreeSet<&str> = finding.caveats.iter().map(|caveat| caveat.code.as_str()).collect();
    let shown = |known: Option<f64>| {
        let is_hidden = is_hidden(finding, hides_absolute);
        known.filter(|_| !is_hidden).map_or(Cell::Empty, |number| value(number, question.unit))
    };
    vec![
        (&question.workload).into(),
        (&question.metric).into(),
        (&question.subject).into(),
        (&question.reference).into(),
        role.into(),
        (&question.family).into(),
        finding.pairs.into(),
        effect.map(|effect| effect.ratio).into(),
        end(|interval| interval.low),
        end(|interval| interval.high),
        family_end(|interval| interval.low),
        family_end(|interval| interval.high),
        effect.and_then(|effect| effect.p_difference).into(),
        effect.and_then(|effect| effect.adjusted_difference).into(),
        effect.and_then(|effect| effect.adjusted_equivalence).into(),
        finding.margin.into(),
        verdict.into(),
        codes.into_iter().collect::<Vec<_>>().join(" ").into(),
        finding.reason.as_ref().into(),
        shown(finding.subject_value),
        shown(finding.reference_value),
        stored_unit(question.unit).into(),
        question.direction.to_string().into(),
    ]
}
