//! The guardian: this binary in another role, waiting for the executor to end.
//!
//! It holds the read end of a pipe, through which it gets a copy of the journal. When the executor
//! is gone, even by SIGKILL, the pipe ends and the guardian restores from the journal; where that
//! is not as the executor left it, or cannot be read, from its copy. After an orderly end the
//! journal is empty and it has nothing to do. It inherits the machine's lock, so nobody starts a
//! campaign while it is still restoring.

use crate::executor_settings::ExecutorSettings;
use crate::journal::Journal;
use crate::journal_copy::JournalCopy;
use crate::journal_entry::JournalEntry;
use crate::journal_text::JournalText;
use crate::lock::Lock;
use crate::permitted_changes::PermittedChanges;
use crate::restore::{RestoreReport, restore, restore_unwritten};
use contract::{Error, Result, TrialCatalogue};
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::io::{BufRead, Write};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use sys::Machine;

/// The role's name on the command line.
pub const GUARDIAN_ROLE: &str = "__guardian";

/// The name of its log, in the directory of the logs.
pub const GUARDIAN_LOG: &str = "guardian.log";

/// How long an orderly end waits for the guardian to go.
const END_PATIENCE: Duration = Duration::from_secs(10);

/// The executor's end of a guardian.
pub trait Guardian: Send {
    /// Whether it still watches; one that was killed restores nothing.
    fn is_alive(&mut self) -> bool;

    /// Waits for it after an orderly end, when its pipe is closed. One that was killed has nothing
    /// to do any more.
    ///
    /// # Errors
    /// When it failed, or does not end.
    fn dismiss(self: Box<Self>) -> Result<()>;
}

/// Starts guardians: processes, or what a simulator has in their place.
pub trait StartGuardian: Send + Sync {
    /// Starts one, which inherits the lock. Also returns the pipe that it copies the journal from,
    /// until whose end it watches.
    ///
    /// # Errors
    /// When it cannot be started.
    fn start(&self, settings: &ExecutorSettings, lock: &Lock) -> Result<(Box<dyn Guardian>, File)>;
}

/// Starts this binary in the role of a guardian.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StartProcess;

impl StartGuardian for StartProcess {
    fn start(&self, settings: &ExecutorSettings, lock: &Lock) -> Result<(Box<dyn Guardian>, File)> {
        let log = settings.logs.join(GUARDIAN_LOG);
        let (process, pipe) =
            GuardianProcess::start(&settings.executable, &settings.machine_arguments, lock, &log)?;
        Ok((Box::new(process), pipe))
    }
}

/// A guardian that is a process of its own.
#[derive(Debug)]
struct GuardianProcess {
    child: Child,
}

impl GuardianProcess {
    /// Starts it. `arguments` tell it which machine, in the words of this binary's command line.
    fn start(
        executable: &Path,
        arguments: &[String],
        lock: &Lock,
        log: &Path,
    ) -> Result<(Self, File)> {
        let attempted = "cannot start the guardian";
        let log = sys::append_to(log)
            .map_err(|error| Error::environment(format!("cannot open {}", log.display()), error))?;
        let lock = lock.descriptor().map(|descriptor| descriptor.as_raw_fd());
        let lock = lock.ok_or_else(|| Error::environment(attempted, "the lock is simulated"))?;
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
        let pipe = child.stdin.take().map(|pipe| File::from(OwnedFd::from(pipe)));
        let pipe = pipe.ok_or_else(|| Error::environment(attempted, "it has no pipe"))?;
        tracing::debug!(pid = child.id(), "the guardian was started");
        Ok((Self { child }, pipe))
    }
}

impl Guardian for GuardianProcess {
    fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    fn dismiss(mut self: Box<Self>) -> Result<()> {
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
pub fn serve_guardian(machine: &Machine, catalogue: &TrialCatalogue) -> i32 {
    ignore_terminal_signals();
    raise_processor_limit();
    match guard(machine, PermittedChanges::of(catalogue), std::io::stdin().lock()) {
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

/// What a guardian does: copies the journal until the end of these messages, then puts back what
/// their writer left.
///
/// # Errors
/// When the machine does not tell its boot, or the journal cannot be read and nothing was copied.
pub fn guard(
    machine: &Machine,
    permitted: PermittedChanges,
    messages: impl BufRead,
) -> Result<RestoreReport> {
    // Ends when the last write end of the pipe is closed, however that came about.
    let copy = JournalCopy::follow(machine, messages);
    tracing::debug!("the executor's end of the pipe is closed");
    match copy.of_lost(machine) {
        Some(text) => put_back_from(&text, machine, permitted),
        None => match Journal::open(machine, permitted.clone()) {
            Ok(mut journal) => restore(machine, &mut journal, true, &[]),
            Err(error) => put_back_unopened(&copy, error, machine, &permitted),
        },
    }
}

/// Restores where the journal cannot be opened: from what can be read of it, which may have a line
/// that its writer ended before it told, else from the copy.
fn put_back_unopened(
    copy: &JournalCopy,
    why: Error,
    machine: &Machine,
    permitted: &PermittedChanges,
) -> Result<RestoreReport> {
    let copied = copy.known();
    let text = match (Journal::read(machine), copied) {
        (Ok(text), copied) if !text.is_empty() || copied.is_none() => text,
        (_, Some(copied)) => copied,
        (_, None) => return Err(why),
    };
    log(&why.one_line());
    restore_unwritten(machine, &text, permitted, true, &why)
}

/// Restores from the copy. A new journal takes its place where one can be written, and tells the
/// next start what happened to the one before.
fn put_back_from(
    copy: &JournalText,
    machine: &Machine,
    permitted: PermittedChanges,
) -> Result<RestoreReport> {
    let path = Journal::path(machine);
    let line = format!(
        "{}: it was deleted, replaced or damaged while a campaign ran; what it announced was put back from a copy",
        path.display()
    );
    log(&line);
    let renewed = Journal::open(machine, permitted.clone())
        .and_then(|mut journal| journal.replace(&copy.entries).map(|()| journal));
    match renewed {
        Ok(mut journal) => {
            let report = restore(machine, &mut journal, true, &[])?;
            if let Err(error) = journal.append(&JournalEntry::LeftAlone { line, id: None }) {
                log(&error.one_line());
            }
            Ok(report)
        }
        Err(error) => {
            log(&error.one_line());
            restore_unwritten(machine, copy, &permitted, true, &error)
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

/// The limit of processor time (`ulimit -t`) is inherited, and the kernel ends a process that reaches
/// it. It is lifted, or where only root may lift it, raised as far as it may be.
fn raise_processor_limit() {
    let unlimited = Rlimit { current: None, maximum: None };
    if setrlimit(Resource::Cpu, unlimited).is_err() {
        let maximum = getrlimit(Resource::Cpu).maximum;
        // Where this is refused, too, the limit is as it was.
        let _ = setrlimit(Resource::Cpu, Rlimit { current: maximum, maximum });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changed_knob::{KNOB, announced, changed_machine, permitted};
    use crate::failing_files::{FailingFiles, PrivateStep};
    use crate::journal_text::{journal_text, parse_journal};
    use std::fs;
    use std::io::{BufReader, Seek};
    use std::sync::atomic::{AtomicU32, Ordering};

    /// The machine, and what the journal held of it.
    fn changed(root: &Path) -> (Machine, JournalText) {
        (changed_machine(root), parse_journal(&journal_text(&announced()).unwrap()))
    }

    #[test]
    fn what_a_lost_journal_announced_is_put_back_from_the_copy_and_told() {
        let root = tempfile::tempdir().unwrap();
        let (machine, text) = changed(root.path());
        let permitted = permitted();
        let report = put_back_from(&text, &machine, permitted.clone()).unwrap();
        assert_eq!(report.restored.len(), 1, "{report:?}");
        assert_eq!(machine.read(KNOB).unwrap(), "old\n");
        let told = crate::restore::pending(&machine, &permitted).unwrap();
        assert!(told[0].contains("deleted, replaced or damaged"), "{told:?}");
    }

    #[test]
    fn where_no_journal_can_be_written_the_copy_is_enough() {
        let root = tempfile::tempdir().unwrap();
        let (machine, text) = changed(root.path());
        // A stranger's in its place is kept as it is.
        fs::write(machine.runtime(), "a file").unwrap();
        let permitted = permitted();
        let report = put_back_from(&text, &machine, permitted).unwrap();
        assert_eq!(report.restored.len(), 1, "{report:?}");
        assert_eq!(machine.read(KNOB).unwrap(), "old\n");
        assert_eq!(fs::read_to_string(machine.runtime()).unwrap(), "a file");
    }

    #[test]
    fn a_journal_that_cannot_be_opened_when_the_executor_is_gone_leaves_nothing_changed() {
        // Opened to write, or read once more after it was held against the copy.
        for failing in [PrivateStep::Append, PrivateStep::Read] {
            let root = tempfile::tempdir().unwrap();
            let (machine, text) = changed(root.path());
            let permitted = permitted();
            let mut messages = tempfile::tempfile().unwrap();
            let mut journal = Journal::open(&machine, permitted.clone()).unwrap();
            journal.copy_to(messages.try_clone().unwrap());
            journal.replace(&text.entries).unwrap();
            // Their writer is killed.
            drop(journal);
            messages.rewind().unwrap();
            // When it began to copy, when the journal was replaced, and when its writer was gone.
            let left = AtomicU32::new(3);
            let unlucky = FailingFiles::on(&machine, move |step, name| {
                let is_meant = step == failing && name == Journal::FILE;
                let is_early = step == PrivateStep::Read
                    && left
                        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1))
                        .is_ok();
                (is_meant && !is_early).then_some(libc::EIO)
            });
            let report = guard(&unlucky, permitted.clone(), BufReader::new(messages)).unwrap();
            assert_eq!(machine.read(KNOB).unwrap(), "old\n", "{failing:?}");
            assert_eq!((report.restored.len(), report.failed.len()), (1, 0), "{report:?}");
            let why = report.unwritten.as_ref().unwrap();
            assert!(why.contains(Journal::FILE), "it is told: {why}");
            let told = crate::restore::pending(&machine, &permitted).unwrap();
            assert_eq!(told, Vec::<String>::new(), "all is back");
        }
    }
}
