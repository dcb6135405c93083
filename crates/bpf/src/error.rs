//! What can go wrong between the bytes of an object and an attached program.

use std::fmt;

/// Shorthand for results of this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an object could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The build has no libbpf in it.
    NotBuilt,
    /// The object is not what this crate understands: a mistake of the build, not of the machine.
    Malformed {
        /// Name of the object.
        object: String,
        /// What is wrong with it.
        what: String,
    },
    /// libbpf or the kernel refused.
    Refused {
        /// Name of the object.
        object: String,
        /// `open`, `load`, `attach`, `read`.
        action: &'static str,
        /// Their words.
        cause: String,
    },
}

#[cfg(feature = "libbpf")]
impl Error {
    pub(crate) fn malformed(object: &str, what: impl Into<String>) -> Self {
        Self::Malformed { object: object.to_owned(), what: what.into() }
    }

    pub(crate) fn refused(
        object: &str,
        action: &'static str,
        cause: &(dyn std::error::Error + 'static),
    ) -> Self {
        let mut words = cause.to_string();
        let mut source = cause.source();
        while let Some(deeper) = source {
            let deeper_words = deeper.to_string();
            if !words.contains(&deeper_words) {
                words = format!("{words}: {deeper_words}");
            }
            source = deeper.source();
        }
        Self::Refused { object: object.to_owned(), action, cause: words }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotBuilt => formatter
                .write_str("this build has no BPF (it was built with --no-default-features)"),
            Error::Malformed { object, what } => {
                write!(formatter, "the BPF object {object} is not usable: {what}")
            }
            Error::Refused { object, action, cause } => {
                write!(formatter, "cannot {action} the BPF object {object}: {cause}")
            }
        }
    }
}

impl std::error::Error for Error {}
