//! The experiment's text as a tree in which every key and value knows its place.

use crate::line_index::LineIndex;
use contract::document::{
    ExperimentProblems, Node, SourceLocation, Table, TreeEntry, Value, check_size,
};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Of a longer text one slip is told and not all: the parser holds each of them, which is hundreds of
/// bytes for one.
const MOST_RECOVERED: usize = 64 << 10;

/// Reads the text. A slip inside one line (a duplicate key, a text without
/// quotes) is reported and the rest is read all the same; a bracket that is
/// never closed leaves no rest worth reading.
pub(crate) fn read(text: &str, problems: &mut ExperimentProblems) -> Option<Table> {
    if let Err(over) = check_size(text) {
        let begin = SourceLocation::Span { start: 0, end: 0 };
        problems.report(&begin, over.to_string()).hint(over.limit.remedy);
        return None;
    }
    if text.len() > MOST_RECOVERED {
        return read_long(text, problems);
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut slips: Vec<(usize, usize, &str)> = errors
        .iter()
        .map(|error| {
            let span = error.span().unwrap_or(0..0);
            (span.start, span.end, error.message())
        })
        .collect();
    slips.sort_unstable();
    let lines = LineIndex::of(text);
    slips.dedup_by_key(|(start, _, _)| lines.number(*start));
    let is_readable = slips.iter().all(|slip| is_within_line(&lines, slip));
    slips.truncate(if is_readable { slips.len() } else { 1 });
    for (start, end, message) in slips {
        let cause = format!("this is not TOML: {message}");
        let found = problems.report(&SourceLocation::Span { start, end }, cause).own_line();
        if !is_readable {
            found.hint("everything after this could not be read; fix it and look again");
        }
    }
    is_readable.then(|| convert_table(table.get_ref(), text))
}

/// The same of a text of which the first slip ends the reading.
fn read_long(text: &str, problems: &mut ExperimentProblems) -> Option<Table> {
    match DeTable::parse(text) {
        Ok(table) => Some(convert_table(table.get_ref(), text)),
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let place = SourceLocation::Span { start: span.start, end: span.end };
            let cause = format!("this is not TOML: {}", error.message());
            problems.report(&place, cause).own_line().hint(format!(
                "of a text of more than {} KiB one slip is told; fix it and look again",
                MOST_RECOVERED >> 10
            ));
            None
        }
    }
}

/// Whether the slip spoils its own line only: the line is wrong even alone, or
/// it merely repeats a key.
fn is_within_line(lines: &LineIndex<'_>, (start, _, message): &(usize, usize, &str)) -> bool {
    let alone = lines.line(lines.number(*start));
    let is_assignment = alone.contains('=') || alone.trim_start().starts_with('[');
    let is_multi_line = alone.contains("\"\"\"") || alone.contains("'''");
    *message == "duplicate key"
        || (is_assignment
            && !is_multi_line
            && has_balanced_brackets(alone)
            && DeTable::parse(alone).is_err())
}

/// Whether brackets opened in the line are closed in it.
fn has_balanced_brackets(line: &str) -> bool {
    let count = |wanted: char| line.chars().filter(|character| *character == wanted).count();
    count('[') == count(']') && count('{') == count('}')
}

fn convert_table(table: &DeTable<'_>, text: &str) -> Table {
    let mut entries: Vec<(usize, TreeEntry)> = table
        .iter()
        .map(|(key, value)| {
            let span = key.span();
            let place = SourceLocation::Span { start: span.start, end: span.end };
            let key = key.get_ref().to_string();
            (span.start, TreeEntry { key, place, node: convert(value, text) })
        })
        .collect();
    // The parser sorts keys by name; people number them by line.
    entries.sort_by_key(|(start, _)| *start);
    Table { entries: entries.into_iter().map(|(_, entry)| entry).collect() }
}

fn convert(value: &Spanned<DeValue<'_>>, text: &str) -> Node {
    let span = value.span();
    let written = || text.get(span.clone()).unwrap_or_default().to_owned();
    let converted = match value.get_ref() {
        DeValue::String(string) => Value::Text(string.to_string()),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
            .map_or_else(|_| Value::Float(written()), Value::Integer),
        DeValue::Float(float) => Value::Float(float.as_str().to_owned()),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(list) => Value::List(list.iter().map(|item| convert(item, text)).collect()),
        DeValue::Table(table) => Value::Table(convert_table(table, text)),
    };
    Node { place: SourceLocation::Span { start: span.start, end: span.end }, value: converted }
}

/// The value of an option: as TOML where it is a TOML value, else as text.
pub(crate) fn option_value(text: &str, place: &SourceLocation) -> Node {
    let parsed = format!("value = {text}");
    let value = DeTable::parse(&parsed)
        .ok()
        .map(|table| convert_table(table.get_ref(), &parsed))
        .filter(|table| table.entries.len() == 1)
        .and_then(|mut table| table.entries.pop())
        .map(|entry| entry.node.value)
        .filter(|value| !matches!(value, Value::Date))
        .unwrap_or_else(|| Value::Text(text.to_owned()));
    let mut node = Node { place: place.clone(), value };
    move_to(&mut node, place);
    node
}

fn move_to(node: &mut Node, place: &SourceLocation) {
    node.place = place.clone();
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| move_to(item, place)),
        Value::Table(table) => {
            for entry in &mut table.entries {
                entry.place = place.clone();
                move_to(&mut entry.node, place);
            }
        }
        _ => {}
    }
}
