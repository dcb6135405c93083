//! The error every room returns: what was attempted, why it failed, what to do.

use model::on_one_line;
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

/// A failure a person can act on. What it quotes of others, as a name of a cache, a lock holder's
/// words or a path, has the ends of its lines written out: no quoted text makes a line that passes
/// for one of ours.
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

    /// A failure of the given kind. Ends of lines in its texts are written out.
    pub fn new(
        kind: ErrorKind,
        attempted: impl Into<String>,
        cause: impl fmt::Display,
        remedy: impl Into<String>,
    ) -> Self {
        Self::of_texts(kind, &attempted.into(), &cause.to_string(), &remedy.into())
    }

    fn of_texts(kind: ErrorKind, attempted: &str, cause: &str, remedy: &str) -> Self {
        Self {
            kind,
            attempted: on_one_line(attempted),
            cause: on_one_line(cause),
            remedy: on_one_line(remedy),
        }
    }

    /// The same with a list below its cause, one line for each of these.
    #[must_use]
    pub fn with_list(mut self, items: impl IntoIterator<Item = String>) -> Self {
        for item in items {
            self.cause.push_str("\n  - ");
            self.cause.push_str(&on_one_line(&item));
        }
        self
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_that_an_error_quotes_makes_a_line_of_its_own() {
        let name = "debian:6.12\nFORGED";
        let error = Error::usage(
            format!("cannot find {name}"),
            format!("the nearest is {name}"),
            format!("write {name}"),
        );
        let told = error.to_string();
        assert_eq!(told.lines().count(), 2, "the remedy has a line of its own: {told}");
        assert_eq!(told.matches("debian:6.12\\nFORGED").count(), 3, "{told}");
        assert_eq!(error.one_line().lines().count(), 1);
    }

    #[test]
    fn each_item_of_a_list_is_one_line() {
        let error = Error::unsupported("cannot run a", "things are missing:", "install them");
        let told = error.with_list(["one\n  - FORGED".to_owned(), "two".to_owned()]).to_string();
        let expected = [
            "cannot run a: things are missing:",
            "  - one\\n  - FORGED",
            "  - two",
            "  install them",
        ];
        assert_eq!(told.lines().collect::<Vec<_>>(), expected);
    }
}
