//! What the parts of a trial share.

use super::progress::Progress;
use crate::context::ExecutorContext;
use crate::knobs::Knobs;
use crate::long_lived_service::LongLivedSlot;
use crate::standstill::Standstill;
use crate::trial_resources::TrialResources;
use contract::{Event, Phase};
use model::Trial;
use std::time::Duration;
use sys::SchedExt;

/// How long one wait lasts before signals are looked at.
pub(super) const LONGEST_WAIT: Duration = Duration::from_millis(250);

/// A trial that runs: what it works with, what it holds and what it has seen.
pub(super) struct TrialRun<'e> {
    pub(super) context: &'e mut ExecutorContext,
    pub(super) long_lived: &'e mut LongLivedSlot,
    pub(super) trial: &'e Trial,
    pub(super) on_event: &'e mut dyn FnMut(Event),
    pub(super) knobs: Knobs,
    pub(super) resources: TrialResources,
    /// In charge since the trial began.
    pub(super) scheduler: SchedExt,
    /// What stands still while the invocation runs.
    pub(super) standstill: Standstill,
    pub(super) progress: Progress,
}

impl TrialRun<'_> {
    /// Tells that a phase began.
    pub(super) fn tell(&mut self, phase: Phase) {
        (self.on_event)(Event::TrialPhase(phase));
    }
}

/// The beginning of the names of a trial's files.
pub(super) fn stem(trial: &Trial) -> String {
    format!("{:03}-{}-{}", trial.block + 1, trial.subject.id, trial.workload.label)
}
