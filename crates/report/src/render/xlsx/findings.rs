//! The sheet of findings: every comparison, controls and the screen included.

use super::sheet::{Cell, Rows, value};
use super::why_hidden;
use crate::attempt::attempt;
use crate::emulated::is_hidden;
use crate::few_boots::few_boots;
use crate::origin::origin;
use crate::quantities::{direction, stored_unit};
use crate::verdict_table::words;
use crate::view::Report;
use model::{Finding, Interval, Role};
use phrases::noted;
use rust_xlsxwriter::{Worksheet, XlsxError};
use std::collections::BTreeSet;
use unicode_width::UnicodeWidthStr;

const TITLES: [&str; 24] = [
    noted!("workload"),
    noted!("metric"),
    noted!("subject"),
    noted!("reference"),
    noted!("role"),
    noted!("family"),
    noted!("n"),
    noted!("effect (ratio, above 1 is better)"),
    noted!("interval low"),
    noted!("interval high"),
    noted!("family interval low"),
    noted!("family interval high"),
    noted!("p difference"),
    noted!("adjusted p difference"),
    noted!("adjusted p equivalence"),
    noted!("margin"),
    noted!("verdict"),
    noted!("caveats"),
    noted!("reason"),
    noted!("subject value"),
    noted!("reference value"),
    noted!("unit"),
    noted!("direction"),
    noted!("level of the interval"),
];

pub(super) fn write(report: &Report, sheet: &mut Worksheet) -> Result<(), XlsxError> {
    let mut rows = Rows::of(sheet, report.language);
    let titles = TITLES.map(|title| report.language.word(title));
    rows.titles(titles.map(str::to_owned).into())?;
    for finding in &report.findings.findings {
        rows.row(row(finding, report))?;
    }
    rows.skip();
    if let Some(limit) = few_boots(report) {
        rows.note(&limit)?;
    }
    rows.note(&origin(report, report.language))?;
    for text in attempt(report).iter().map(String::as_str).chain(why_hidden(report)) {
        rows.note(text)?;
    }
    let widths = titles.map(|title| title.width().clamp(8, 24));
    rows.widths(&widths)
}

fn row(finding: &Finding, report: &Report) -> Vec<Cell> {
    let language = report.language;
    let question = &finding.question;
    let effect = finding.effect.as_ref();
    let shown_interval = finding.shown_interval();
    let family_interval = effect.map(|effect| effect.family_interval);
    // One without a width is told as none in the column of its lower end.
    let low = |interval: Option<Interval>| match interval {
        Some(interval) if interval.has_no_width() => Cell::from(language.word("no interval")),
        interval => Cell::from(interval.map(|interval| interval.low)),
    };
    let wide = |interval: Option<Interval>| interval.filter(|interval| !interval.has_no_width());
    let high =
        |interval: Option<Interval>| Cell::from(wide(interval).map(|interval| interval.high));
    let role = match question.role {
        Role::Primary => language.word("primary"),
        Role::Control => language.word("control"),
        Role::Screen => language.word("screen"),
    };
    // A screen points, it never gives a verdict.
    let verdict =
        if question.role == Role::Screen { String::new() } else { words(finding, language) };
    let codes: BTreeSet<&str> = finding.caveats.iter().map(|caveat| caveat.code.as_str()).collect();
    let shown = |known: Option<f64>| {
        let is_hidden = is_hidden(finding, report.hides_absolute);
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
        low(shown_interval),
        high(shown_interval),
        low(family_interval),
        high(family_interval),
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
        direction(question.direction, language).into(),
        wide(shown_interval)
            .map(|_| model::round_significant(1.0 - report.findings.shown_alpha(finding)))
            .into(),
    ]
}
