//! What is wrong with a file, and where.

use std::fmt;

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Line from 1, where one is to blame.
    pub line: Option<u64>,
    /// What is wrong.
    pub cause: String,
    /// What to do about it.
    pub remedy: String,
}

impl Trouble {
    /// Trouble with the whole file.
    pub fn new(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { line: None, cause: cause.into(), remedy: remedy.into() }
    }

    /// Trouble with one line.
    pub fn at(line: u64, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { line: Some(line), cause: cause.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(formatter, "line {line}: ")?;
        }
        formatter.write_str(&self.cause)
    }
}

impl std::error::Error for Trouble {}
