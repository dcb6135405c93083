//! What went wrong with a file of a machine.

use std::io;
use std::path::PathBuf;

/// An I/O error with its path and what was attempted.
#[derive(Debug)]
pub struct MachineError {
    /// `read`, `write`, `open for writing`, …
    pub action: &'static str,
    /// The file.
    pub path: PathBuf,
    /// The kernel's answer.
    pub source: io::Error,
}

impl std::fmt::Display for MachineError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "cannot {} {}: {}", self.action, self.path.display(), self.source)
    }
}

impl std::error::Error for MachineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl MachineError {
    /// Whether the file does not exist: the kernel lacks the feature.
    pub fn is_absent(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }

    /// Whether reading or writing failed (EIO): what the file holds is not known, and may be later.
    pub fn is_failure(&self) -> bool {
        self.source.raw_os_error() == Some(libc::EIO)
    }

    /// Whether the kernel refused (EPERM or EACCES).
    pub fn is_refused(&self) -> bool {
        self.source.kind() == io::ErrorKind::PermissionDenied
    }
}
