//! Errors of what venues are made of.

use contract::{Error, ErrorKind};

/// An error of what was fetched, in this crate's words.
pub fn artefact_error(error: artefacts::Error) -> Error {
    let kind = match error.kind {
        artefacts::ErrorKind::Usage => ErrorKind::Usage,
        artefacts::ErrorKind::Environment => ErrorKind::Environment,
        artefacts::ErrorKind::Unsupported => ErrorKind::Unsupported,
    };
    Error { kind, attempted: error.attempted, cause: error.cause, remedy: error.remedy }
}
