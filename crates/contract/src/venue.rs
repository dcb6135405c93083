//! Where trials run.

use crate::{Description, Event, Interrupt, Missing, Result};
use model::{Fingerprint, Plan, Record, Trial};
use std::path::Path;

/// A place that can run trials.
pub trait Venue {
    /// Name and explanation.
    fn describe(&self) -> &'static Description;

    /// Puts back what an interrupted run left, before anything is judged by it;
    /// returns what was put back, in words.
    ///
    /// # Errors
    /// When the venue is in use, or something could not be put back.
    fn recover(&self) -> Result<Vec<String>>;

    /// Everything the plan needs that is not there, each thing once. Changes nothing.
    fn missing(&self, plan: &Plan) -> Vec<Missing>;

    /// What a campaign must find unchanged to go on: `kernel.release`, and the
    /// digest of every program of the user's. Part of the session's fingerprint.
    ///
    /// # Errors
    /// When it cannot be read.
    fn identity(&self, plan: &Plan) -> Result<Fingerprint>;

    /// Opens a session for a plan whose needs are met. Logs go below `workspace/logs`,
    /// files of the workload below `workspace/scratch`, which is removed again.
    ///
    /// # Errors
    /// When the venue is in use, or cannot be opened.
    fn open(
        &self,
        plan: &Plan,
        workspace: &Path,
        interrupt: &Interrupt,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Box<dyn VenueSession>>;
}

/// An open venue.
pub trait VenueSession {
    /// Makes ready for a trial, and for those that share its boot: a machine boots here. One
    /// that does not boot becomes the trial's record.
    ///
    /// # Errors
    /// When the venue is lost, or a signal asked to stop.
    fn prepare(&mut self, trial: &Trial, on_event: &mut dyn FnMut(Event)) -> Result<()> {
        let _ = (trial, on_event);
        Ok(())
    }

    /// The machine as it is; empty where it is gone.
    ///
    /// # Errors
    /// When it cannot be read.
    fn fingerprint(&mut self) -> Result<Fingerprint>;

    /// Runs one trial; the machine is as before when it returns. A workload that
    /// fails is a record; an error means the venue is lost, or a signal came.
    /// The record's `sequence`, `fingerprint` and its difference are the caller's.
    ///
    /// # Errors
    /// When the venue is lost, restore was incomplete, or a signal asked to stop.
    fn run(&mut self, trial: &Trial, on_event: &mut dyn FnMut(Event)) -> Result<Record>;

    /// Ends the session, everything put back.
    ///
    /// # Errors
    /// When something could not be put back.
    fn close(self: Box<Self>) -> Result<()>;
}
