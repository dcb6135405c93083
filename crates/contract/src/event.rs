//! The one event stream of a campaign: terminal, log and dashboard read it.

use model::{Outcome, Phase, Plan, Record};
use std::path::PathBuf;

/// Something that happened in a campaign.
#[derive(Debug, Clone)]
pub enum Event {
    /// A campaign has its directory; machines may have to be booted before it begins.
    CampaignOpened {
        /// Where its records will lie.
        directory: PathBuf,
    },
    /// A campaign begins or goes on.
    CampaignStarted {
        /// What will run.
        plan: Box<Plan>,
        /// Trials that earlier runs of this campaign recorded already.
        trials_done: usize,
        /// Trials to come, as far as can be told now.
        trials_left: usize,
    },
    /// A trial begins.
    TrialStarted {
        /// Block index.
        block: u32,
        /// Subject id.
        subject: String,
        /// Workload label.
        workload: String,
        /// Trials to come, this one among them.
        trials_left: usize,
    },
    /// The trial entered a phase.
    TrialPhase(Phase),
    /// A trial ended and its record is on disk.
    TrialFinished {
        /// Its record.
        record: Box<Record>,
    },
    /// A block must run again after an invalid sitting.
    BlockRepeated {
        /// The block that broke a rule.
        block: u32,
        /// The index of its repetition.
        again: u32,
    },
    /// Something a person should read now.
    Notice(String),
    /// The campaign is complete, or stopped.
    CampaignFinished {
        /// Trials recorded in all.
        trials: usize,
        /// How the last one ended, if any ran.
        last: Option<Outcome>,
    },
}
