//! Formats that this crate reads, as the fuzzer needs them.

/// What was made of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// They were understood.
    Accepted,
    /// It said no.
    Refused,
}

impl Reaction {
    /// Accepted exactly when there is a value.
    pub fn of<T>(value: Option<&T>) -> Self {
        if value.is_some() { Self::Accepted } else { Self::Refused }
    }
}

/// A format that this crate reads.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// kebab-case: the tool and what of it.
    pub name: &'static str,
    /// Words that it is made of.
    pub words: &'static [&'static str],
    /// Reads, and panics where a claim about what was read is broken.
    pub run: fn(&[u8]) -> Reaction,
}
