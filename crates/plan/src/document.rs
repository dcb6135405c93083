//! The experiment's text as a tree in which every key and value knows its place.

use crate::problems::Problems;
use crate::problems::position;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Longest experiment that is read: far above any real one, and a bound on the
/// time that reading takes.
const TEXT_LIMIT: usize = 1 << 20;

/// Where something was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SourceLocation {
    /// Bytes of the experiment's text.
    Span {
        /// First byte.
        start: usize,
        /// Byte after the last.
        end: usize,
    },
    /// An option of the command line.
    Option(String),
}

impl SourceLocation {
    /// First byte, where it is in the text.
    pub(crate) fn start(&self) -> Option<usize> {
        match self {
            SourceLocation::Span { start, .. } => Some(*start),
            SourceLocation::Option(_) => None,
        }
    }
}

/// A value and its place.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// Where the value is.
    pub(crate) place: SourceLocation,
    /// The value.
    pub(crate) value: Value,
}

/// What may be written.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// A quoted text, or bare text of an option.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number with a point, as written.
    Float(String),
    /// true or false.
    Flag(bool),
    /// A date or time; no key takes one.
    Date,
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

/// A table in the order it was written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    /// Keys and values.
    pub(crate) entries: Vec<Entry>,
}

/// One key of a table.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The key.
    pub(crate) key: String,
    /// Where the key is.
    pub(crate) place: SourceLocation,
    /// Its value.
    pub(crate) node: Node,
}

impl Table {
    /// The entry of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The entry of a key, to be changed.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.key == key)
    }
}

impl Node {
    /// What the value is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The text of a value that is one word: texts, numbers, true and false.
    pub(crate) fn scalar(&self) -> Option<String> {
        match &self.value {
            Value::Text(text) | Value::Float(text) => Some(text.clone()),
            Value::Integer(number) => Some(number.to_string()),
            Value::Flag(flag) => Some(flag.to_string()),
            Value::Date | Value::List(_) | Value::Table(_) => None,
        }
    }
}

/// Reads the text. A slip inside one line (a duplicate key, a text without
/// quotes) is reported and the rest is read all the same; a bracket that is
/// never closed leaves no rest worth reading.
pub(crate) fn read(text: &str, problems: &mut Problems) -> Option<Table> {
    if text.len() > TEXT_LIMIT {
        let cause = format!("the experiment is longer than {} KiB", TEXT_LIMIT >> 10);
        problems.report(&SourceLocation::Span { start: 0, end: 0 }, cause);
        return None;
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
    slips.dedup_by_key(|(start, _, _)| position(text, *start).0);
    let is_readable = slips.iter().all(|slip| is_within_line(text, slip));
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

/// Whether the slip spoils its own line only: the line is wrong even alone, or
/// it merely repeats a key.
fn is_within_line(text: &str, (start, _, message): &(usize, usize, &str)) -> bool {
    let (line, _) = position(text, *start);
    let alone = text.lines().nth(line - 1).unwrap_or_default();
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
    let mut entries: Vec<(usize, Entry)> = table
        .iter()
        .map(|(key, value)| {
            let span = key.span();
            let place = SourceLocation::Span { start: span.start, end: span.end };
            let key = key.get_ref().to_string();
            (span.start, Entry { key, place, node: convert(value, text) })
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
