//! Signals for the processes we start.

/// Gives every signal its default disposition and unblocks all of them: a
/// launcher that ignores SIGQUIT (nohup, a non-interactive shell's `&`) would
/// otherwise pass that on through exec, and some tools then never stop.
pub fn reset_signal_dispositions() {
    for signal in 1..=libc::SIGRTMAX() {
        if signal == libc::SIGKILL || signal == libc::SIGSTOP {
            continue;
        }
        // SAFETY: SIG_DFL is always a valid disposition; numbers the C library
        // keeps for itself answer EINVAL, which is what is wanted.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
    // SAFETY: an empty set is initialised by sigemptyset before it is used.
    unsafe {
        let mut empty = std::mem::zeroed();
        libc::sigemptyset(&raw mut empty);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const empty, std::ptr::null_mut());
    }
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Termination {
    /// exit(2) with this code.
    Exited(i32),
    /// Killed by this signal.
    Signalled(i32),
}

impl std::fmt::Display for Termination {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Termination::Exited(code) => write!(formatter, "exit code {code}"),
            Termination::Signalled(signal) => write!(formatter, "signal {signal}"),
        }
    }
}

impl From<std::process::ExitStatus> for Termination {
    fn from(status: std::process::ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt;
        match (status.code(), status.signal()) {
            (Some(code), _) => Termination::Exited(code),
            (None, signal) => Termination::Signalled(signal.unwrap_or(0)),
        }
    }
}
