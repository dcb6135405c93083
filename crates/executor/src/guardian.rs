//! The guardian: this binary in another role, waiting for the executor to end.
//!
//! It holds the read end of a pipe. When the executor is gone, even by SIGKILL,
//! the pipe ends and the guardian restores from the journal. After an orderly
//! end the journal is empty and it has nothing to do. It inherits the machine's
//! lock, so nobody starts a campaign while it is still restoring.

use crate::journal::Journal;
use crate::lock::Lock;
use crate::permitted_changes::PermittedChanges;
use crate::restore::restore;
use contract::{Catalogue, Error, Result};
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};
use sys::Machine;

/// The role's name on the command line.
pub const GUARDIAN_ROLE: &str = "__guardian";

/// How long an orderly end waits for the guardian to go.
const END_PATIENCE: Duration = Duration::from_secs(10);

/// The executor's end of the guardian.
#[derive(Debug)]
pub(crate) struct Guardian {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl Guardian {
    /// Starts the guardian. `arguments` tell it which machine, in the words of
    /// this binary's command line.
    pub(crate) fn start(
        executable: &Path,
        arguments: &[String],
        lock: &Lock,
        log: &Path,
    ) -> Result<Self> {
        let attempted = "cannot start the guardian";
        let log =
            File::options().create(true).append(true).open(log).map_err(|error| {
                Error::environment(format!("cannot open {}", log.display()), error)
            })?;
        let lock = lock.descriptor().as_raw_fd();
        let mut command = Command::new(executable);
        command
            .arg(GUARDIAN_ROLE)
            .args(arguments)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::from(log));
        // SAFETY: fcntl(2) is async-signal-safe; the descriptor is open in the
        // parent for the whole call to spawn.
        unsafe {
            command.pre_exec(move || {
                let lock = BorrowedFd::borrow_raw(lock);
                let flags = fcntl_getfd(lock)?;
                fcntl_setfd(lock, flags.difference(FdFlags::CLOEXEC))?;
                Ok(())
            });
        }
        let mut child = command.spawn().map_err(|error| Error::environment(attempted, error))?;
        let pipe = child.stdin.take();
        tracing::debug!(pid = child.id(), "the guardian was started");
        Ok(Self { child, pipe })
    }

    /// Whether it still watches; one that was killed restores nothing.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Lets the guardian go after an orderly end and waits for it. One that was
    /// killed has nothing to do any more.
    pub(crate) fn dismiss(mut self) -> Result<()> {
        self.pipe = None;
        let deadline = Instant::now() + END_PATIENCE;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() || status.signal().is_some() => return Ok(()),
                Ok(Some(status)) => return Err(Error::environment("the guardian failed", status)),
                Ok(None) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(2))
                }
                Ok(None) => {
                    return Err(Error::environment("the guardian does not end", "waited 10 s"));
                }
                Err(error) => {
                    return Err(Error::environment("cannot wait for the guardian", error));
                }
            }
        }
    }
}

/// Serves the role. Returns the exit code.
pub fn serve_guardian(machine: &Machine, catalogue: &Catalogue) -> i32 {
    ignore_terminal_signals();
    let mut sink = [0_u8; 64];
    let mut input = std::io::stdin().lock();
    // Ends when the last write end of the pipe is closed, however that came about.
    while matches!(input.read(&mut sink), Ok(count) if count > 0) {}
    tracing::debug!("the executor's end of the pipe is closed");
    let outcome = Journal::open(machine, PermittedChanges::of(catalogue))
        .and_then(|mut journal| restore(machine, &mut journal, true, &[]));
    match outcome {
        Ok(report) if report.is_empty() => 0,
        Ok(report) => {
            log(&format!("restored after the executor ended: {report:?}"));
            i32::from(!report.is_complete())
        }
        Err(error) => {
            log(&error.to_string());
            1
        }
    }
}

fn log(line: &str) {
    // The log is for people; there is nobody to tell when it cannot be written.
    let _ = writeln!(std::io::stderr(), "guardian: {}", model::legible_lines(line));
}

/// A Ctrl-C or a closed terminal is meant for the executor.
fn ignore_terminal_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: SIG_IGN is a valid disposition for these signals.
        unsafe {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
}
