//! An executor that is open for trials: lock, guardian, journal.

use crate::change::Refusal;
use crate::context::ExecutorContext;
use crate::executor_settings::ExecutorSettings;
use crate::fingerprint::fingerprint;
use crate::guarded_machine::GuardedMachine;
use crate::guardian::StartGuardian;
use crate::knobs::Knobs;
use crate::long_lived_service::LongLivedSlot;
use crate::needs::with_target;
use crate::trial;
use crate::undo::REMEDY;
use contract::{Error, ErrorKind, Event, Interrupt, Result};
use model::{Fingerprint, Record, Subject, Trial};
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

    /// Finds out whether what these subjects change can be undone, before anything is changed:
    /// known limits are checked, and each other present value is written back once. Files that are
    /// there only in a trial, as those of a device that it makes, are left to it.
    ///
    /// # Errors
    /// Of kind `Unsupported` where that is not known of a change; the session is then closed. Of
    /// kind `RestoreIncomplete` where a value that was written back is another one now.
    pub fn able_to_undo(mut self, subjects: &[Subject]) -> Result<Self> {
        let checked = subjects.iter().try_for_each(|subject| self.check_undo(subject));
        let Err(refused) = checked else { return Ok(self) };
        match self.close() {
            Err(left) if left.kind == ErrorKind::RestoreIncomplete => Err(left),
            _ => Err(refused),
        }
    }

    fn check_undo(&mut self, subject: &Subject) -> Result<()> {
        let catalogue = self.context.catalogue();
        let knobs = Knobs::of(catalogue, subject)?;
        let machine = with_target(self.context.machine(), catalogue, subject);
        self.context.check_undo(&machine, knobs.system()).map_err(|refusal| match refusal {
            Refusal::NotInForce(why) => {
                Error::unsupported(format!("cannot set the levels of {}", subject.id), why, REMEDY)
            }
            Refusal::Lost(error) => error,
        })
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
