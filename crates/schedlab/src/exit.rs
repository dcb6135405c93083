//! Exit codes: the table of docs/exit-codes.md is made of them.

use contract::{Error, ErrorKind};

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    /// Done, whatever the verdict.
    Done,
    /// The tool or its surroundings failed.
    Failure,
    /// The command line or the experiment cannot be meant.
    Usage,
    /// `gate`: a limit was shown to be breached.
    Breached,
    /// `gate`: neither keeping nor breaching was shown; `verify`: not everything was compared.
    Inconclusive,
    /// This machine cannot do it; nothing ran.
    Unsupported,
    /// Finished, but a subject has no valid block of some workload.
    NoValidBlock,
    /// Something could not be put back.
    RestoreIncomplete,
    /// The blocks of one boot ran; the campaign goes on in another.
    AwaitsBoot,
    /// A signal ended it after a clean restore.
    Signal(i32),
    /// `vm exec`: the program's own.
    Program(i32),
}

/// Every code with its meaning, for the manual.
pub const EXIT_CODES: &[(&str, &str)] = &[
    ("0", "done, whatever the verdict"),
    (
        "1",
        "the tool or its surroundings failed; `verify`: something differs, or is bound by nothing",
    ),
    ("2", "usage: the command line or the experiment cannot be meant"),
    ("3", "`gate` only: a limit was shown to be breached"),
    ("4", "unsupported here; nothing ran and nothing was changed"),
    (
        "5",
        "`gate`: neither keeping nor breaching a limit was shown; `verify`: all agrees but reports of another version, which were not compared",
    ),
    ("6", "finished, but a subject has no valid block of some workload"),
    ("7", "something could not be put back; wins over all others"),
    ("8", "`run` only: the blocks of this boot ran; boot the machine and give the same command"),
    ("9", "a fault of schedlab itself, which the message names"),
    (
        "125",
        "`vm exec` and `vm shell` only: schedlab or the guest failed; otherwise the command's own status",
    ),
    ("129, 130, 143", "interrupted by SIGHUP, Ctrl-C or SIGTERM after a clean restore"),
];

impl ExitCode {
    /// `vm exec`: not the program failed, but schedlab or the guest.
    pub(crate) const OUR_FAILURE: i32 = 125;

    /// The status given to the system.
    pub fn number(self) -> u8 {
        match self {
            ExitCode::Done => 0,
            ExitCode::Failure => 1,
            ExitCode::Usage => 2,
            ExitCode::Breached => 3,
            ExitCode::Unsupported => 4,
            ExitCode::Inconclusive => 5,
            ExitCode::NoValidBlock => 6,
            ExitCode::RestoreIncomplete => 7,
            ExitCode::AwaitsBoot => 8,
            ExitCode::Program(status) => u8::try_from(status).unwrap_or(1),
            ExitCode::Signal(signal) => u8::try_from(128 + signal).unwrap_or(1),
        }
    }
}

impl From<&Error> for ExitCode {
    fn from(error: &Error) -> Self {
        match error.kind {
            ErrorKind::Usage => ExitCode::Usage,
            ErrorKind::Environment | ErrorKind::Interrupted => ExitCode::Failure,
            ErrorKind::Unsupported => ExitCode::Unsupported,
            ErrorKind::RestoreIncomplete => ExitCode::RestoreIncomplete,
        }
    }
}
