//! What a machine lacks.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A need that is not met: not broken, but unsupported here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What is needed.
    pub what: String,
    /// Why it is not there, with the kernel's answer.
    pub why: String,
    /// What would help.
    pub remedy: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.what, self.why)
    }
}
