//! A value of a factor.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A value of a factor in its canonical spelling, as the factor's parser wrote
/// it: two levels are the same exactly when their text is (`750us`, never also
/// `0.75ms`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct Level(String);

impl Level {
    /// Wraps text that is canonical already; only a factor's parser knows.
    pub fn canonical(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The canonical spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
