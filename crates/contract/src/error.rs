//! The error every room returns: what was attempted, why it failed, what to do.

use std::fmt;
use sys::MachineError;

/// Shorthand for results of this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure, hence which exit code (docs/exit-codes.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The user asked for something that cannot be meant: exit 2.
    Usage,
    /// The tool or its surroundings failed: exit 1.
    Environment,
    /// This machine cannot do it and nothing ran: exit 4.
    Unsupported,
    /// A signal ended it after a clean restore: exit 130 or 143.
    Interrupted,
    /// Something could not be put back: exit 7, wins over all others.
    RestoreIncomplete,
}

/// A failure a person can act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Which kind.
    pub kind: ErrorKind,
    /// What was attempted: `cannot set base_slice to 750us`.
    pub attempted: String,
    /// Why it failed: the kernel's words, the path.
    pub cause: String,
    /// What to do next; empty where nothing is known.
    pub remedy: String,
}

impl Error {
    /// Everything on one line, as a record's reason.
    pub fn one_line(&self) -> String {
        let remedy =
            if self.remedy.is_empty() { String::new() } else { format!("; {}", self.remedy) };
        format!("{}: {}{remedy}", self.attempted, self.cause)
    }

    /// A failure of the given kind.
    pub fn new(
        kind: ErrorKind,
        attempted: impl Into<String>,
        cause: impl fmt::Display,
        remedy: impl Into<String>,
    ) -> Self {
        Self { kind, attempted: attempted.into(), cause: cause.to_string(), remedy: remedy.into() }
    }

    /// A failure of the tool or its surroundings, without a known remedy.
    pub fn environment(attempted: impl Into<String>, cause: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Environment, attempted, cause, "")
    }

    /// Something this machine cannot do.
    pub fn unsupported(
        attempted: impl Into<String>,
        cause: impl fmt::Display,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(ErrorKind::Unsupported, attempted, cause, remedy)
    }

    /// Something that cannot be meant.
    pub fn usage(
        attempted: impl Into<String>,
        cause: impl fmt::Display,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(ErrorKind::Usage, attempted, cause, remedy)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.attempted, self.cause)?;
        if !self.remedy.is_empty() {
            write!(formatter, "\n  {}", self.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

impl From<MachineError> for Error {
    fn from(error: MachineError) -> Self {
        let kind = if error.is_refused() || error.is_absent() {
            ErrorKind::Unsupported
        } else {
            ErrorKind::Environment
        };
        let attempted = format!("cannot {} {}", error.action, error.path.display());
        Self::new(kind, attempted, error.source, "")
    }
}
