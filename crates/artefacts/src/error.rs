//! The error of this crate: what was attempted, why it failed, what to do.

use std::fmt;
use std::path::Path;

/// Shorthand for results of this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The user asked for something that cannot be meant.
    Usage,
    /// A file, a program or the archive failed.
    Environment,
    /// This machine cannot do it, and nothing was changed.
    Unsupported,
}

/// A failure a person can act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Which kind.
    pub kind: ErrorKind,
    /// What was attempted: `cannot fetch debian:6.12`.
    pub attempted: String,
    /// Why it failed: the system's words, the path.
    pub cause: String,
    /// What to do next; empty where nothing is known.
    pub remedy: String,
}

impl Error {
    /// A failure of the given kind. Ends of lines in its texts are written out: a name of a page of
    /// the cache makes no line that passes for one of ours.
    pub fn new(
        kind: ErrorKind,
        attempted: impl Into<String>,
        cause: impl fmt::Display,
        remedy: impl Into<String>,
    ) -> Self {
        let on_one_line = |text: String| text.replace('\n', "\\n");
        Self {
            kind,
            attempted: on_one_line(attempted.into()),
            cause: on_one_line(cause.to_string()),
            remedy: on_one_line(remedy.into()),
        }
    }

    /// A file, a program or the archive failed.
    pub fn environment(attempted: impl Into<String>, cause: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Environment, attempted, cause, "")
    }

    /// This machine cannot do it.
    pub fn unsupported(
        attempted: impl Into<String>,
        cause: impl fmt::Display,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(ErrorKind::Unsupported, attempted, cause, remedy)
    }

    /// It cannot be meant.
    pub fn usage(
        attempted: impl Into<String>,
        cause: impl fmt::Display,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(ErrorKind::Usage, attempted, cause, remedy)
    }

    /// A file could not be read, written, made or removed.
    pub fn file(action: &str, path: &Path, cause: impl fmt::Display) -> Self {
        Self::environment(format!("cannot {action} {}", path.display()), cause)
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
