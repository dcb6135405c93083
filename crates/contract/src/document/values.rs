//! Values of keys, checked: each reader reports what is wrong and answers `None`.

use super::problems::ExperimentProblems;
use super::tree::{Node, Table, Value};
use std::ops::RangeInclusive;

/// A text.
pub fn text<'n>(node: &'n Node, what: &str, problems: &mut ExperimentProblems) -> Option<&'n str> {
    if let Value::Text(text) = &node.value {
        return Some(text);
    }
    let cause = format!("`{what}` takes a text, not {}", node.kind());
    problems.report(&node.place, cause);
    None
}

/// A text, or a list of texts.
pub fn texts<'n>(
    node: &'n Node,
    what: &str,
    problems: &mut ExperimentProblems,
) -> Option<Vec<(&'n str, &'n Node)>> {
    match &node.value {
        Value::Text(text) => Some(vec![(text, node)]),
        Value::List(items) => {
            let before = problems.len();
            let texts: Vec<_> = items
                .iter()
                .filter_map(|item| text(item, what, problems).map(|text| (text, item)))
                .collect();
            (problems.len() == before).then_some(texts)
        }
        _ => {
            let cause = format!("`{what}` takes a text or a list of texts, not {}", node.kind());
            problems.report(&node.place, cause);
            None
        }
    }
}

/// A table.
pub fn table<'n>(
    node: &'n Node,
    what: &str,
    problems: &mut ExperimentProblems,
) -> Option<&'n Table> {
    if let Value::Table(table) = &node.value {
        return Some(table);
    }
    let cause = format!("{what} is a table, not {}", node.kind());
    problems.report(&node.place, cause);
    None
}

/// A whole number within limits.
pub fn count(
    node: &Node,
    what: &str,
    limits: RangeInclusive<u64>,
    problems: &mut ExperimentProblems,
) -> Option<u64> {
    let Value::Integer(number) = node.value else {
        let cause = format!("`{what}` takes a whole number, not {}", node.kind());
        problems.report(&node.place, cause);
        return None;
    };
    let within = u64::try_from(number).ok().filter(|number| limits.contains(number));
    if within.is_none() {
        let cause = format!("`{what}` is {number}, outside {} to {}", limits.start(), limits.end());
        problems.report(&node.place, cause);
    }
    within
}

/// true or false.
pub fn flag(node: &Node, what: &str, problems: &mut ExperimentProblems) -> Option<bool> {
    if let Value::Flag(flag) = node.value {
        return Some(flag);
    }
    let cause = format!("`{what}` is true or false, not {}", node.kind());
    problems.report(&node.place, cause);
    None
}

/// A number within limits, with or without a point.
pub fn number(
    node: &Node,
    what: &str,
    limits: RangeInclusive<f64>,
    problems: &mut ExperimentProblems,
) -> Option<f64> {
    let is_number = matches!(node.value, Value::Integer(_) | Value::Float(_));
    let written = node.scalar().filter(|_| is_number);
    let Some(number) = written.and_then(|written| written.replace('_', "").parse::<f64>().ok())
    else {
        let cause = format!("`{what}` takes a number, not {}", node.kind());
        problems.report(&node.place, cause);
        return None;
    };
    if !limits.contains(&number) {
        let cause = format!("`{what}` is {number}, outside {} to {}", limits.start(), limits.end());
        problems.report(&node.place, cause);
        return None;
    }
    Some(number)
}

/// A duration with its unit, in nanoseconds.
pub fn duration(
    node: &Node,
    what: &str,
    limits: RangeInclusive<u64>,
    problems: &mut ExperimentProblems,
) -> Option<u64> {
    let parsed = match &node.value {
        Value::Text(text) => model::parse_duration(text).map_err(|error| error.to_string()),
        Value::Integer(_) | Value::Float(_) => {
            Err("a duration needs its unit, such as `100ms`".to_owned())
        }
        _ => Err(format!("a duration is a text such as `100ms`, not {}", node.kind())),
    };
    match parsed {
        Ok(duration_ns) if limits.contains(&duration_ns) => return Some(duration_ns),
        Ok(duration_ns) => {
            let shown = model::format_duration;
            let cause = format!(
                "`{what}` is {}, outside {} to {}",
                shown(duration_ns),
                shown(*limits.start()),
                shown(*limits.end())
            );
            problems.report(&node.place, cause);
        }
        Err(cause) => {
            problems.report(&node.place, format!("`{what}`: {cause}"));
        }
    }
    None
}

/// A margin: a percentage above zero, at most 100 %, as a fraction.
pub fn margin(node: &Node, problems: &mut ExperimentProblems) -> Option<f64> {
    let parsed = match &node.value {
        Value::Text(text) => model::parse_percent(text).map_err(|error| error.to_string()),
        _ => Err("a margin is a percentage in quotes, such as \"5%\"".to_owned()),
    };
    match parsed {
        Ok(margin) if margin > 0.0 && margin <= 1.0 => return Some(margin),
        Ok(_) => {
            problems.report(&node.place, "a margin lies above 0% and is at most 100%");
        }
        Err(cause) => {
            problems.report(&node.place, cause);
        }
    }
    None
}
