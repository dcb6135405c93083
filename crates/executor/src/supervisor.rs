//! Processes that hold something for a trial: started in a group of their own, journalled,
//! and ended with the executor.

use crate::executor_settings::ExecutorSettings;
use crate::guarded_machine::GuardedMachine;
use crate::journal::Journal;
use crate::journal_entry::JournalEntry;
use contract::{Error, HolderProcess, Interrupt, Program, Result, Supervisor, is_log_line};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use sys::Termination;

/// Pause between two looks at a process that is waited for.
const INTERVAL: Duration = Duration::from_millis(20);
/// As many lines of a log as an error can use.
const LAST_LINES: usize = 3;
/// Longer lines are cut.
const LINE_BYTES: usize = 300;
/// As much of a log as is read for its last lines.
const TAIL_BYTES: u64 = 16 << 10;

/// Starts processes that hold something, for one trial.
pub(crate) struct TrialSupervisor<'e> {
    executable: &'e Path,
    search_path: &'e str,
    log: PathBuf,
    mark: String,
    journal: &'e mut Journal,
    interrupt: &'e Interrupt,
}

impl<'e> TrialSupervisor<'e> {
    /// What they write goes into `log`.
    pub(crate) fn new(
        settings: &'e ExecutorSettings,
        log: PathBuf,
        guarded: &'e mut GuardedMachine,
        interrupt: &'e Interrupt,
    ) -> Self {
        let (executable, search_path) = (&*settings.executable, settings.machine.search_path());
        let mark = guarded.mark().to_owned();
        Self { executable, search_path, log, mark, journal: guarded.journal(), interrupt }
    }

    fn command(&self, program: &Program, arguments: &[OsString]) -> Command {
        let (file, role) = match program {
            Program::Own(role) => (self.executable, Some(*role)),
            Program::File(path) => (path.as_path(), None),
        };
        let (name, value) = self.mark.split_once('=').unwrap_or((&self.mark, ""));
        let mut command = Command::new(file);
        command.args(role).args(arguments).env(name, value).env("PATH", self.search_path);
        command.process_group(0);
        // SAFETY: signal(2) and sigprocmask(2) are async-signal-safe and allocate nothing.
        unsafe {
            command.pre_exec(|| {
                sys::reset_signal_dispositions();
                Ok(())
            });
        }
        command
    }
}

impl Supervisor for TrialSupervisor<'_> {
    fn start(
        &mut self,
        program: &Program,
        arguments: &[OsString],
    ) -> Result<Box<dyn HolderProcess>> {
        let opened = sys::append_to(&self.log);
        let logs = opened.and_then(|log| Ok((log.try_clone()?, log)));
        let (output, errors) = logs.map_err(|error| {
            Error::environment(format!("cannot open {}", self.log.display()), error)
        })?;
        let mut command = self.command(program, arguments);
        command.stdin(Stdio::piped()).stdout(output).stderr(errors);
        let child = command.spawn().map_err(|error| {
            Error::environment(
                format!("cannot start {}", command.get_program().to_string_lossy()),
                error,
            )
        })?;
        tracing::debug!(pid = child.id(), ?command, "a holder process was started");
        let started = SupervisedProcess { child, log: self.log.clone(), ended: None };
        // A crash before this line leaves a process that carries our mark.
        self.journal.append(&JournalEntry::Group { group: started.group() })?;
        Ok(Box::new(started))
    }

    fn pause(&mut self) -> Result<()> {
        std::thread::sleep(INTERVAL);
        self.interrupt.check()
    }
}

struct SupervisedProcess {
    child: Child,
    log: PathBuf,
    ended: Option<Termination>,
}

impl HolderProcess for SupervisedProcess {
    fn group(&self) -> i32 {
        self.child.id().cast_signed()
    }

    fn ended(&mut self) -> Option<String> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten().map(Termination::from);
        }
        self.ended.map(|how| how.to_string())
    }

    fn last_lines(&self) -> String {
        let text = tail(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !is_log_line(line))
            .collect();
        // A program that complains says what for first, and then how it is used.
        let is_error = |line: &&str| line.get(..5).is_some_and(|w| w.eq_ignore_ascii_case("error"));
        let begin = lines.iter().rposition(is_error);
        let last = &lines[begin.unwrap_or_else(|| lines.len().saturating_sub(LAST_LINES))..];
        let cut =
            last.iter().take(LAST_LINES).map(|line| &line[..line.floor_char_boundary(LINE_BYTES)]);
        cut.collect::<Vec<_>>().join("; ")
    }

    fn terminate(&mut self) {
        // One that ended already is what is wanted.
        if let (None, Some(pid)) = (self.ended(), Pid::from_raw(self.group())) {
            let _ = kill_process(pid, Signal::TERM);
        }
        drop(self.child.stdin.take());
    }
}

impl Drop for SupervisedProcess {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(self.group()) {
            // An empty group is what is wanted.
            let _ = kill_process_group(group, Signal::KILL);
        }
        // Reaping a child that was reaped already fails, and that is fine.
        let _ = self.child.wait();
    }
}

/// The end of a file, as far as it is text.
fn tail(path: &Path) -> std::io::Result<String> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_log_three_short_lines_are_quoted_whatever_a_scheduler_wrote() {
        let home = tempfile::tempdir().unwrap();
        let log = home.path().join("held.log");
        let long = format!("evil\u{1b}[2J\u{202e}{}", "é".repeat(LINE_BYTES));
        std::fs::write(&log, format!("{long}\n").repeat(200) + "\u{feff}\n\n").unwrap();
        let mut command = Command::new("/bin/true");
        let child = command.process_group(0).stdin(Stdio::piped()).spawn().unwrap();
        let process = SupervisedProcess { child, log, ended: None };
        let words = process.last_lines();
        let lines: Vec<&str> = words.split("; ").collect();
        assert_eq!(lines.len(), LAST_LINES, "{words:?}");
        assert!(lines.iter().all(|line| line.len() <= LINE_BYTES), "{words:?}");
        assert!(lines[0].starts_with("evil") && !words.contains('\n'), "{words:?}");
    }
}
