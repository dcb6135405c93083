//! An executor that is open for trials: lock, guardian, journal.

use crate::fingerprint::fingerprint;
use crate::guardian::Guardian;
use crate::journal::{Journal, JournalEntry, sync_directory};
use crate::lock::Lock;
use crate::restore::{acknowledge, restore};
use crate::trial;
use contract::{Catalogue, Error, ErrorKind, Event, Interrupt, Result};
use model::{Fingerprint, Record, Trial};
use std::path::PathBuf;
use sys::{Machine, SchedExt};

/// What an executor is told about its surroundings.
#[derive(Clone)]
pub struct Settings {
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
    /// What is running, for whoever meets the lock.
    pub purpose: String,
}

/// Runs trials on this machine, one at a time.
pub struct Executor {
    pub(crate) settings: Settings,
    pub(crate) journal: Journal,
    pub(crate) interrupt: Interrupt,
    pub(crate) mark: String,
    /// What stays in the journal between trials.
    pub(crate) header: [JournalEntry; 2],
    /// Something could not be put back after a trial: no other one may begin.
    pub(crate) is_incomplete: bool,
    /// In charge when the session began: every trial must run under it.
    pub(crate) scheduler: SchedExt,
    guardian: Guardian,
    lock: Lock,
}

impl Executor {
    /// Takes the lock, puts back what an earlier run may still have left, starts
    /// the guardian.
    ///
    /// # Errors
    /// When another campaign runs here, or leftovers could not be put back, or
    /// somebody else had changed them and the user has not been told yet.
    pub fn open(settings: Settings, interrupt: &Interrupt) -> Result<Self> {
        let machine = &settings.machine;
        let lock = Lock::acquire(machine, &settings.purpose)?;
        let mut journal = Journal::open(machine)?;
        let leftovers = restore(machine, &mut journal, false, &[])?;
        acknowledge(&mut journal, &leftovers, &[])?;
        leftovers.into_result()?;
        make_directory(&settings.logs)?;
        let guardian = start_guardian(&settings, &lock)?;
        let scheduler = SchedExt::read(machine);
        let mark = format!("SCHEDLAB_MARK={}", random_hex()?);
        let header = [
            JournalEntry::Session { boot_id: machine.boot_id()?, mark: mark.clone() },
            JournalEntry::Directory { path: settings.scratch.clone() },
        ];
        journal.replace(&header)?;
        make_directory(&settings.scratch)?;
        Ok(Self {
            settings,
            journal,
            interrupt: interrupt.clone(),
            mark,
            header,
            is_incomplete: false,
            scheduler,
            guardian,
            lock,
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
        if self.is_incomplete {
            return Err(Error::new(
                ErrorKind::RestoreIncomplete,
                "cannot run another trial",
                "something of the last one could not be put back",
                "`schedlab restore --check` lists it",
            ));
        }
        if !self.guardian.is_alive() {
            on_event(Event::Notice("the guardian was killed; a new one watches".to_owned()));
            self.guardian = start_guardian(&self.settings, &self.lock)?;
        }
        trial::run(self, trial, on_event)
    }

    /// Ends the session: scratch removed, journal empty, guardian gone, lock released.
    ///
    /// # Errors
    /// When something could not be put back.
    pub fn close(mut self) -> Result<()> {
        let report = restore(&self.settings.machine, &mut self.journal, true, &[])?;
        acknowledge(&mut self.journal, &report, &[])?;
        let dismissed = self.guardian.dismiss();
        report.into_result()?;
        dismissed
    }
}

fn start_guardian(settings: &Settings, lock: &Lock) -> Result<Guardian> {
    let log = settings.logs.join("guardian.log");
    Guardian::start(&settings.executable, &settings.machine_arguments, lock, &log)
}

fn make_directory(path: &PathBuf) -> Result<()> {
    std::fs::create_dir_all(path)
        .map_err(|error| Error::environment(format!("cannot make {}", path.display()), error))?;
    path.parent().map_or(Ok(()), sync_directory)
}

fn random_hex() -> Result<String> {
    let mut bytes = [0_u8; 12];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Error::environment("cannot draw random bytes", error))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
