//! What is replaced, by its kind.

/// What a text was before it became a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretKind {
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
    /// Settings of a tool, values of columns that nobody named, or of a plan that was edited.
    Setting,
    /// A user's name.
    User,
    /// What was named with `--redact-word`.
    Word,
}

impl SecretKind {
    /// Every kind.
    pub(super) const ALL: [Self; 14] = [
        Self::Address,
        Self::Argument,
        Self::Command,
        Self::File,
        Self::Host,
        Self::Identifier,
        Self::KernelWord,
        Self::Output,
        Self::Path,
        Self::Pattern,
        Self::Program,
        Self::Setting,
        Self::User,
        Self::Word,
    ];

    /// Part of its placeholders: `redacted-user-1`.
    pub(super) fn name(self) -> &'static str {
        match self {
            SecretKind::Address => "address",
            SecretKind::Argument => "argument",
            SecretKind::Command => "command",
            SecretKind::File => "file",
            SecretKind::Host => "host",
            SecretKind::Identifier => "id",
            SecretKind::KernelWord => "kernel-word",
            SecretKind::Output => "output",
            SecretKind::Path => "path",
            SecretKind::Pattern => "pattern",
            SecretKind::Program => "program",
            SecretKind::Setting => "setting",
            SecretKind::User => "user",
            SecretKind::Word => "word",
        }
    }

    /// Many of them, in words.
    pub(super) fn plural(self) -> &'static str {
        match self {
            SecretKind::Address => "addresses",
            SecretKind::Argument => "words of command lines",
            SecretKind::Command => "command lines",
            SecretKind::File => "file names",
            SecretKind::Host => "host names",
            SecretKind::Identifier => "identifiers",
            SecretKind::KernelWord => "words of kernel command lines",
            SecretKind::Output => "messages of programs",
            SecretKind::Path => "paths",
            SecretKind::Pattern => "patterns of metrics",
            SecretKind::Program => "programs of others",
            SecretKind::Setting => "settings of tools",
            SecretKind::User => "user names",
            SecretKind::Word => "words that were asked for",
        }
    }
}
