//! What all code of an executor shares: the machine as the trial sees it, its journal and mark,
//! the request to stop, and what the last trial left.

use crate::change::Refusal;
use crate::child::{Marking, padding};
use crate::executor_settings::ExecutorSettings;
use crate::guarded_machine::GuardedMachine;
use crate::journal::Journal;
use crate::journal_entry::JournalEntry;
use crate::restore::{RestoreReport, restore};
use crate::supervisor::TrialSupervisor;
use crate::undo::UndoChecks;
use contract::{Error, ErrorKind, Factor, Interrupt, Result, TrialCatalogue};
use model::{Level, StorageTarget};
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::Machine;

/// A guarded machine and what an executor was told of it.
pub(crate) struct ExecutorContext {
    /// Its machine is that of the trial: it knows where files and devices of workloads lie.
    settings: ExecutorSettings,
    /// The machine of a trial without a target of its own.
    whole_machine: Machine,
    guarded: GuardedMachine,
    interrupt: Interrupt,
    /// Something could not be put back after a trial: no other one may begin.
    is_incomplete: bool,
    /// Why something that a trial held may still be in force: no other one may begin.
    not_taken_back: Option<Error>,
    undo_checks: UndoChecks,
}

impl ExecutorContext {
    /// That of a machine which was taken under guard with these settings.
    pub(crate) fn new(
        guarded: GuardedMachine,
        mut settings: ExecutorSettings,
        interrupt: &Interrupt,
    ) -> Self {
        let scratch = sys::directory_target(&settings.machine, &settings.scratch);
        settings.machine = settings.machine.with_target(scratch);
        let whole_machine = settings.machine.clone();
        let interrupt = interrupt.clone();
        Self {
            settings,
            whole_machine,
            guarded,
            interrupt,
            is_incomplete: false,
            not_taken_back: None,
            undo_checks: UndoChecks::default(),
        }
    }

    /// The machine as the trial sees it.
    pub(crate) fn machine(&self) -> &Machine {
        &self.settings.machine
    }

    /// Everything that its trials can name.
    pub(crate) fn catalogue(&self) -> &TrialCatalogue {
        &self.settings.catalogue
    }

    /// A file among the logs.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.logs().join(name)
    }

    /// The directory of logs.
    pub(crate) fn logs(&self) -> &Path {
        &self.settings.logs
    }

    /// A place among the files of workloads.
    pub(crate) fn scratch(&self, name: &str) -> PathBuf {
        self.settings.scratch.join(name)
    }

    /// What was changed on this machine and must be put back.
    pub(crate) fn journal(&mut self) -> &mut Journal {
        self.guarded.journal()
    }

    /// How long something may stand still in a trial.
    pub(crate) fn longest_standstill(&self) -> Duration {
        self.settings.longest_standstill
    }

    /// The machine beside its journal, for code that changes it.
    pub(crate) fn machine_and_journal(&mut self) -> (&Machine, &mut Journal) {
        (&self.settings.machine, self.guarded.journal())
    }

    /// Finds out whether what these levels change on a machine can be undone, before any of it is
    /// changed.
    ///
    /// # Errors
    /// A level of which that is not known, or why the journal cannot be written.
    pub(crate) fn check_undo(
        &mut self,
        machine: &Machine,
        levels: &[(&'static dyn Factor, Level)],
    ) -> Result<(), Refusal> {
        self.undo_checks.check(levels, machine, self.guarded.journal())
    }

    /// `NAME=value` in the environment of every process of a trial.
    pub(crate) fn mark(&self) -> &str {
        self.guarded.mark()
    }

    /// What distinguishes its trials' control groups.
    pub(crate) fn group_name(&self) -> &str {
        self.guarded.group_name()
    }

    /// How a process of the trial is started; a seed makes its environment longer or not.
    pub(crate) fn marking<'a>(&'a self, log: &'a Path, seed: Option<u64>) -> Marking<'a> {
        Marking { padding: seed.map_or(0, padding), ..self.marking_as(self.mark(), log) }
    }

    /// How a process that outlives trials is started, with a mark of its own.
    pub(crate) fn marking_as<'a>(&'a self, mark: &'a str, log: &'a Path) -> Marking<'a> {
        Marking { executable: &self.settings.executable, mark, log, padding: 0 }
    }

    /// Starts processes that hold something of the machine for the trial; what they write goes
    /// into `log`.
    pub(crate) fn supervised(&mut self, log: PathBuf) -> (&Machine, TrialSupervisor<'_>) {
        let Self { settings, guarded, interrupt, .. } = self;
        (&settings.machine, TrialSupervisor::new(settings, log, guarded, interrupt))
    }

    /// Whether the user wants the run to go on.
    ///
    /// # Errors
    /// The signal that asks for its end.
    pub(crate) fn check_interrupt(&self) -> Result<()> {
        self.interrupt.check()
    }

    /// The trial works on this from now on.
    pub(crate) fn enter_target(&mut self, target: StorageTarget) {
        self.settings.machine = self.whole_machine.clone().with_target(target);
    }

    /// The trial's target is no longer used.
    pub(crate) fn leave_target(&mut self) {
        self.settings.machine = self.whole_machine.clone();
    }

    /// Starts a new guardian where the one that watched was killed; whether it did.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn renew_guardian(&mut self) -> Result<bool> {
        self.guarded.renew_guardian()
    }

    /// Puts the machine back; `long_lived` stays in the journal, beside what always does.
    ///
    /// # Errors
    /// When the journal cannot be read or written.
    pub(crate) fn restore(&mut self, long_lived: Vec<JournalEntry>) -> Result<RestoreReport> {
        let kept = self.guarded.kept(long_lived);
        restore(&self.settings.machine, self.guarded.journal(), true, &kept)
    }

    /// Notes what a trial left after all was put back and given back.
    pub(crate) fn note_left(&mut self, report: &RestoreReport, taken_back: Result<()>) {
        self.is_incomplete = !report.is_complete();
        self.not_taken_back = taken_back.err();
    }

    /// Why something that the last trial held may still be in force.
    pub(crate) fn not_taken_back(&self) -> Option<&Error> {
        self.not_taken_back.as_ref()
    }

    /// What is still there of the last trial.
    pub(crate) fn left(&self) -> Option<Error> {
        let incomplete = || {
            Error::new(
                ErrorKind::RestoreIncomplete,
                "cannot run another trial",
                "something of the last one could not be put back",
                "`schedlab restore --check` lists it",
            )
        };
        self.not_taken_back.clone().or_else(|| self.is_incomplete.then(incomplete))
    }

    /// Ends the guard, and says what the last trial held that may still be in force.
    pub(crate) fn close(self) -> (Result<()>, Option<Error>) {
        (self.guarded.close(), self.not_taken_back)
    }
}

/// Makes a directory for files of a workload.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn make_scratch(machine: &Machine, path: &Path) -> Result<()> {
    let made = machine.files().make_directories(path);
    made.map_err(|error| Error::environment(format!("cannot make {}", path.display()), error))
}
