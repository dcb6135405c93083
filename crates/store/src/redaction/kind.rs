//! What is replaced, by its kind.

/// What a text was before it became a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A network or mail address, or a URL.
    Address,
    /// A word of a command line.
    Argument,
    /// A command line.
    Command,
    /// A file that numbers were imported from.
    File,
    /// A host's name.
    Host,
    /// A boot id, a serial number, a UUID, a digest of something foreign.
    Identifier,
    /// A word of a kernel's command line.
    KernelWord,
    /// What a program or a guest's console said.
    Output,
    /// A path, home directories among them.
    Path,
    /// Where a metric is found in a program's output.
    Pattern,
    /// A program of somebody else that was seen.
    Program,
    /// A user's name.
    User,
    /// What was named with `--redact-word`.
    Word,
}

impl Kind {
    /// Part of its placeholders: `redacted-user-1`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Address => "address",
            Kind::Argument => "argument",
            Kind::Command => "command",
            Kind::File => "file",
            Kind::Host => "host",
            Kind::Identifier => "id",
            Kind::KernelWord => "kernel-word",
            Kind::Output => "output",
            Kind::Path => "path",
            Kind::Pattern => "pattern",
            Kind::Program => "program",
            Kind::User => "user",
            Kind::Word => "word",
        }
    }

    /// Many of them, in words.
    pub(super) fn plural(self) -> &'static str {
        match self {
            Kind::Address => "addresses",
            Kind::Argument => "words of command lines",
            Kind::Command => "command lines",
            Kind::File => "file names",
            Kind::Host => "host names",
            Kind::Identifier => "identifiers",
            Kind::KernelWord => "words of kernel command lines",
            Kind::Output => "messages of programs",
            Kind::Path => "paths",
            Kind::Pattern => "patterns of metrics",
            Kind::Program => "programs of others",
            Kind::User => "user names",
            Kind::Word => "words that were asked for",
        }
    }
}
