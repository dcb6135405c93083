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

    /// Panics where it does not say what is wrong, what to do, and where, as every trouble does.
    pub(crate) fn check(&self) {
        assert!(!self.cause.is_empty() && !self.remedy.is_empty(), "{self:?}");
        assert!(self.line != Some(0), "lines count from 1: {self}");
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
