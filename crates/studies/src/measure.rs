//! What checks compute.

use crate::check::Check;
use crate::figure::{Agreement, PrintedFigure};
use crate::row_selector::RowSelector;
use crate::study::Study;
use crate::table::Cells;

/// Microseconds in a second.
const PER_SECOND: f64 = 1e6;

/// What was computed.
pub(crate) struct Measured {
    pub(crate) holds: Option<bool>,
    pub(crate) told: String,
}

/// Two groups of cells, and how a sentence names them.
struct Pair<'s> {
    subject: Cells<'s>,
    one: f64,
    other: f64,
    told: String,
}

/// Computes what a check asks.
pub(crate) fn measured(check: &Check, study: &Study) -> Result<Measured, String> {
    let (name, column) = check.measure.split_once(':').unwrap_or((&check.measure, ""));
    match name {
        "better" | "worse" => direction(check, study, name == "better"),
        "best" => rank(check, study, column, true, true),
        "worst" => rank(check, study, column, false, true),
        "not_best" => rank(check, study, column, true, false),
        "never_best" => never_best(check, study, column),
        "rising" => rising(check, study, column),
        "same" => same(check, study),
        "favours" => favours(check, study),
        _ => number(check, study, name),
    }
}

fn pair<'s>(check: &Check, study: &'s Study) -> Result<Pair<'s>, String> {
    let (subject, reference) =
        (RowSelector::of(&check.subject)?, RowSelector::of(&check.reference)?);
    let cells = study.cells(&subject)?;
    let (one, other) = (cells.mean()?, study.cells(&reference)?.mean()?);
    let [alike, left, right] = subject.apart(&reference);
    let told = format!("{alike}: {left} {}, {right} {}", shown(one), shown(other));
    Ok(Pair { subject: cells, one, other, told })
}

/// Whether the one is better than the other, or worse.
fn direction(check: &Check, study: &Study, is_better: bool) -> Result<Measured, String> {
    let Pair { subject, one, other, told } = pair(check, study)?;
    let holds =
        if is_better { subject.is_better(one, other)? } else { subject.is_better(other, one)? };
    let word = if is_better { "better" } else { "worse" };
    let verb = if holds { "is" } else { "is not" };
    Ok(Measured { holds: Some(holds), told: format!("{told}: the first {verb} {word}") })
}

/// The means of a group and of those that differ from it in this column alone, that of the group
/// first.
fn groups(check: &Check, study: &Study, column: &str) -> Result<Vec<(String, f64)>, String> {
    let selector = RowSelector::of(&check.subject)?;
    let own = study.cells(&selector)?;
    let at = own.table.column(column)?;
    let own_name = own.rows[0][at].clone();
    let all = study.cells(&selector.without(column))?;
    let mut found = vec![(own_name.clone(), own.mean()?)];
    let mut names: Vec<&String> = all.rows.iter().map(|row| &row[at]).collect();
    names.sort_unstable();
    names.dedup();
    for name in names.into_iter().filter(|name| **name != own_name) {
        let rows = all.rows.iter().filter(|row| row[at] == *name).copied().collect();
        found.push((name.clone(), Cells { table: all.table, rows }.mean()?));
    }
    Ok(found)
}

/// Whether a group is the best, or the worst, of those that differ from it in a column; or is not.
fn rank(
    check: &Check,
    study: &Study,
    column: &str,
    is_best: bool,
    is_claimed: bool,
) -> Result<Measured, String> {
    let selector = RowSelector::of(&check.subject)?;
    let own = study.cells(&selector)?;
    let found = groups(check, study, column)?;
    let mut is_first = true;
    for (_, other) in &found[1..] {
        let beats = if is_best {
            own.is_better(found[0].1, *other)?
        } else {
            own.is_better(*other, found[0].1)?
        };
        is_first &= beats;
    }
    let list: Vec<String> =
        found.iter().map(|(name, mean)| format!("{name} {}", shown(*mean))).collect();
    let word = if is_best { "best" } else { "worst" };
    let verb = if is_first { "is" } else { "is not" };
    let told = format!(
        "{}: {}: {} {verb} the {word}",
        selector.without(column),
        list.join(", "),
        found[0].0
    );
    Ok(Measured { holds: Some(is_first == is_claimed), told })
}

/// Whether no cell of a group is the best of those that differ from it in a column.
fn never_best(check: &Check, study: &Study, column: &str) -> Result<Measured, String> {
    let selector = RowSelector::of(&check.subject)?;
    let own = study.cells(&selector)?;
    let at = own.table.column(column)?;
    let all = study.cells(&selector.without(column))?;
    let mut best = 0;
    for row in &own.rows {
        let cell = own.table.cell_without(row, at);
        let figure = Cells { table: own.table, rows: vec![*row] }.mean()?;
        let mut is_best = true;
        for other in &all.rows {
            if other[at] != row[at] && own.table.cell_without(other, at) == cell {
                let other = Cells { table: own.table, rows: vec![*other] }.mean()?;
                is_best &= own.is_better(figure, other)?;
            }
        }
        best += usize::from(is_best);
    }
    let told = format!("{selector}: the best in {best} of {} cells", own.rows.len());
    Ok(Measured { holds: Some(best == 0), told })
}

/// Whether figures rise from each row to the next.
fn rising(check: &Check, study: &Study, column: &str) -> Result<Measured, String> {
    let selector = RowSelector::of(&check.subject)?;
    let cells = study.cells(&selector)?;
    let at = cells.table.column(column)?;
    let figures = cells.figures()?;
    let holds = figures.windows(2).all(|two| two[0] < two[1]);
    let ends = (&cells.rows[0][at], &cells.rows[cells.rows.len() - 1][at]);
    let verb = if holds { "rises at each step" } else { "does not rise at each step" };
    Ok(Measured {
        holds: Some(holds),
        told: format!("{selector}: {verb} from {} to {}", ends.0, ends.1),
    })
}

/// Whether two places print one figure.
fn same(check: &Check, study: &Study) -> Result<Measured, String> {
    let selector = RowSelector::of(&check.subject)?;
    let one = study.cells(&selector)?.mean()?;
    let (holds, other) = if check.reference.is_empty() {
        let agreement = PrintedFigure::of(&check.printed)?.agrees(one);
        (agreement != Agreement::Other, format!("another place prints {}", check.printed))
    } else {
        let reference = RowSelector::of(&check.reference)?;
        let other = study.cells(&reference)?.mean()?;
        let change = shown_change((one / other - 1.0) * 100.0);
        (one == other, format!("{reference}: {} (the first is {change} %)", shown(other)))
    };
    Ok(Measured { holds: Some(holds), told: format!("{selector}: {}, {other}", shown(one)) })
}

/// Whether a study's own words favour this one.
fn favours(check: &Check, study: &Study) -> Result<Measured, String> {
    let selector = RowSelector::of(&check.subject)?;
    let cells = study.cells(&selector)?;
    let favoured = &cells.rows[0][cells.table.column("favoured")?];
    let holds = favoured.starts_with(&check.printed);
    Ok(Measured { holds: Some(holds), told: format!("{selector}: its words favour {favoured}") })
}

/// A number, held against what is printed of it.
fn number(check: &Check, study: &Study, name: &str) -> Result<Measured, String> {
    let single = || -> Result<(f64, String), String> {
        let selector = RowSelector::of(&check.subject)?;
        let one = study.cells(&selector)?.mean()?;
        Ok((one, format!("{selector}: {}", shown(one))))
    };
    let of_pair = |number: fn(f64, f64) -> f64| -> Result<(f64, String), String> {
        let Pair { one, other, told, .. } = pair(check, study)?;
        Ok((number(one, other), told))
    };
    let ((value, told), before, behind) = match name {
        "value" => (single()?, "", ""),
        "mean" => (single()?, "a mean of ", ""),
        "failures" => {
            let (one, told) = single()?;
            ((100.0 - one, told), "failed ", " %")
        }
        "change" => (of_pair(|one, other| (one / other - 1.0) * 100.0)?, "", " %"),
        "difference" => (of_pair(|one, other| one - other)?, "a difference of ", ""),
        "times" => (of_pair(|one, other| one / other)?, "", " times"),
        "times_worse" => (of_pair(|one, other| one / other)?, "", " times the time"),
        "times_better" => (of_pair(|one, other| other / one)?, "", " times as fast"),
        "fewer_failures" => (
            of_pair(|one, other| (1.0 - (100.0 - one) / (100.0 - other)) * 100.0)?,
            "",
            " % fewer failures",
        ),
        "in_flight" => {
            (of_pair(|one, other| one * other / PER_SECOND)?, "by Little's law ", " in flight")
        }
        _ => return Err("there is no such measure".to_owned()),
    };
    let computed = if name == "change" { shown_change(value) } else { shown(value) };
    let told = format!("{told}: {before}{computed}{behind}");
    if check.printed.is_empty() {
        return Ok(Measured { holds: None, told });
    }
    let agreement = PrintedFigure::of(&check.printed)?.agrees(value);
    let printed = match agreement {
        Agreement::Rounded => format!("printed as {}", check.printed),
        Agreement::Cut => format!("printed as {}, cut and not rounded", check.printed),
        Agreement::Other => format!("but {} is printed", check.printed),
    };
    let holds = agreement != Agreement::Other;
    Ok(Measured { holds: Some(holds), told: format!("{told}, {printed}") })
}

/// A number with as many digits as a reader needs.
fn shown(number: f64) -> String {
    let digits = match number.abs() {
        size if size >= 100.0 => 2,
        size if size >= 1.0 => 3,
        _ => 4,
    };
    let text = format!("{number:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A change in percent, with its sign.
fn shown_change(percent: f64) -> String {
    format!("{percent:+.2}")
}
