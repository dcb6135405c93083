//! An experiment's text as a tree in which every key and value knows its place.

/// Where something was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceLocation {
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
    pub fn start(&self) -> Option<usize> {
        match self {
            SourceLocation::Span { start, .. } => Some(*start),
            SourceLocation::Option(_) => None,
        }
    }
}

/// A value and its place.
#[derive(Debug, Clone)]
pub struct Node {
    /// Where the value is.
    pub place: SourceLocation,
    /// The value.
    pub value: Value,
}

/// What may be written.
#[derive(Debug, Clone)]
pub enum Value {
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
pub struct Table {
    /// Keys and values.
    pub entries: Vec<TreeEntry>,
}

/// One key of a table.
#[derive(Debug, Clone)]
pub struct TreeEntry {
    /// The key.
    pub key: String,
    /// Where the key is.
    pub place: SourceLocation,
    /// Its value.
    pub node: Node,
}

impl Table {
    /// The entry of a key.
    pub fn get(&self, key: &str) -> Option<&TreeEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The entry of a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut TreeEntry> {
        self.entries.iter_mut().find(|entry| entry.key == key)
    }
}

impl Node {
    /// What the value is, in words.
    pub fn kind(&self) -> &'static str {
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
    pub fn scalar(&self) -> Option<String> {
        match &self.value {
            Value::Text(text) | Value::Float(text) => Some(text.clone()),
            Value::Integer(number) => Some(number.to_string()),
            Value::Flag(flag) => Some(flag.to_string()),
            Value::Date | Value::List(_) | Value::Table(_) => None,
        }
    }
}
