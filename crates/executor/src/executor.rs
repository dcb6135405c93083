//! An executor that is open for trials: lock, guardian, journal.

use crate::fingerprint::fingerprint;
use crate::guarded_machine::GuardedMachine;
use crate::long_lived_service::LongLivedProcess;
use crate::trial;
use contract::{Catalogue, Error, ErrorKind, Event, Interrupt, Result};
use model::{Fingerprint, Record, Trial};
use std::path::PathBuf;
use sys::{Machine, SchedExt};

/// What an executor is told about its surroundings.
#[derive(Clone)]
pub struct ExecutorSettings {
    /// The machine under test.
    pub machine: Machine,
    /// Everything that can be named.
    pub catalogue: Catalogue,
    /// This binary, to be executed again in its roles.
    pub executable: PathBuf,
    /// How the guardian is told which machine: words of this binary's command line.
    pub machine_arguments: Vec<String>,
    /// Directory of logs.
    pub logs: PathBuf,
    /// Directory for workloads' files; made, and removed again.
    pub scratch: PathBuf,
    /// What is running, for the message to a process that finds the lock taken.
    pub purpose: String,
}

/// Runs trials on this machine, one at a time.
pub struct Executor {
    /// Its machine is that of the trial: it knows where files and devices of workloads lie.
    pub(crate) settings: ExecutorSettings,
    /// The machine of a trial without a target of its own.
    pub(crate) whole_machine: Machine,
    pub(crate) guarded: GuardedMachine,
    pub(crate) interrupt: Interrupt,
    /// Something could not be put back after a trial: no other one may begin.
    pub(crate) is_incomplete: bool,
    /// Why something that a trial held may still be in force: no other one may begin.
    pub(crate) not_taken_back: Option<Error>,
    /// In charge since the trial began.
    pub(crate) scheduler: SchedExt,
    /// What was started for earlier trials and serves later ones.
    pub(crate) standing: Option<LongLivedProcess>,
}

impl Executor {
    /// Takes the machine under guard.
    ///
    /// # Errors
    /// When another campaign runs here, or leftovers could not be put back, or
    /// somebody else had changed them and the user has not been told yet.
    pub fn open(mut settings: ExecutorSettings, interrupt: &Interrupt) -> Result<Self> {
        let guarded = GuardedMachine::open(settings.clone())?;
        let scheduler = SchedExt::read(&settings.machine);
        let scratch = sys::directory_target(&settings.machine, &settings.scratch);
        settings.machine = settings.machine.with_target(scratch);
        let whole_machine = settings.machine.clone();
        let interrupt = interrupt.clone();
        let (is_incomplete, not_taken_back) = (false, None);
        Ok(Self {
            settings,
            whole_machine,
            guarded,
            interrupt,
            is_incomplete,
            not_taken_back,
            scheduler,
            standing: None,
        })
    }

    /// The machine as it is.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn fingerprint(&self) -> Result<Fingerprint> {
        fingerprint(&self.settings.machine, &self.settings.catalogue)
    }

    /// Runs one trial. The machine is as before when this returns.
    ///
    /// # Errors
    /// When something of an earlier trial could not be put back, a signal came, or
    /// the machine cannot run trials at all. A failed workload is a record.
    pub fn run(&mut self, trial: &Trial, on_event: &mut dyn FnMut(Event)) -> Result<Record> {
        if let Some(error) = self.left() {
            return Err(error);
        }
        if self.guarded.renew_guardian()? {
            on_event(Event::Notice("the guardian was killed; a new one watches".to_owned()));
        }
        trial::run(self, trial, on_event)
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

    /// Ends the session: scratch removed, journal empty, guardian gone, lock released.
    ///
    /// # Errors
    /// When something could not be put back, of the last trial too.
    pub fn close(mut self) -> Result<()> {
        if let Some(standing) = self.standing.take() {
            standing.end();
        }
        match (self.guarded.close(), self.not_taken_back) {
            (Err(error), _) if error.kind == ErrorKind::RestoreIncomplete => Err(error),
            (closed, left) => left.map_or(closed, Err),
        }
    }
}
