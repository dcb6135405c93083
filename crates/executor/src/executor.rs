//! An executor that is open for trials: lock, guardian, journal.

use crate::context::ExecutorContext;
use crate::executor_settings::ExecutorSettings;
use crate::fingerprint::fingerprint;
use crate::guarded_machine::GuardedMachine;
use crate::guardian::StartGuardian;
use crate::long_lived_service::LongLivedSlot;
use crate::trial;
use contract::{ErrorKind, Event, Interrupt, Result};
use model::{Fingerprint, Record, Trial};
use std::sync::Arc;

/// Runs trials on this machine, one at a time.
pub struct Executor {
    context: ExecutorContext,
    long_lived: LongLivedSlot,
}

impl Executor {
    /// Takes the machine under guard.
    ///
    /// # Errors
    /// When another campaign runs here, or leftovers could not be put back, or
    /// somebody else had changed them and the user has not been told yet.
    pub fn open(settings: ExecutorSettings, interrupt: &Interrupt) -> Result<Self> {
        let guarded = GuardedMachine::open(settings.clone())?;
        Ok(Self::on(guarded, settings, interrupt))
    }

    /// The same with guardians of this kind.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(
        settings: ExecutorSettings,
        interrupt: &Interrupt,
        start: Arc<dyn StartGuardian>,
    ) -> Result<Self> {
        let guarded = GuardedMachine::open_with(settings.clone(), start)?;
        Ok(Self::on(guarded, settings, interrupt))
    }

    fn on(guarded: GuardedMachine, settings: ExecutorSettings, interrupt: &Interrupt) -> Self {
        let context = ExecutorContext::new(guarded, settings, interrupt);
        Self { context, long_lived: LongLivedSlot::default() }
    }

    /// The machine as it is.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn fingerprint(&self) -> Result<Fingerprint> {
        fingerprint(self.context.machine(), self.context.catalogue())
    }

    /// Runs one trial. The machine is as before when this returns.
    ///
    /// # Errors
    /// When something of an earlier trial could not be put back, a signal came, or
    /// the machine cannot run trials at all. A failed workload is a record.
    pub fn run(&mut self, trial: &Trial, on_event: &mut dyn FnMut(Event)) -> Result<Record> {
        if let Some(error) = self.context.left() {
            return Err(error);
        }
        if self.context.renew_guardian()? {
            on_event(Event::Notice("the guardian was killed; a new one watches".to_owned()));
        }
        trial::run(&mut self.context, &mut self.long_lived, trial, on_event)
    }

    /// Ends the session: scratch removed, journal empty, guardian gone, lock released.
    ///
    /// # Errors
    /// When something could not be put back, of the last trial too.
    pub fn close(mut self) -> Result<()> {
        self.long_lived.end();
        let (closed, not_taken_back) = self.context.close();
        match (closed, not_taken_back) {
            (Err(error), _) if error.kind == ErrorKind::RestoreIncomplete => Err(error),
            (closed, left) => left.map_or(closed, Err),
        }
    }
}
