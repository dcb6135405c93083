//! Where a trial stands.

use serde::{Deserialize, Serialize};

/// Phases of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// A machine is being booted for this trial and those that share its boot.
    Booting,
    /// What outlives trials is being started and warmed up.
    Starting,
    /// The rest before the first trial of a sitting, with every level as it was found.
    Resting,
    /// Levels are being set and read back.
    Setting,
    /// The pause before the first invocation.
    Settling,
    /// The workload prepares.
    Preparing {
        /// Which invocation, from 0.
        invocation: u32,
    },
    /// The timed window.
    Running {
        /// Which invocation, from 0.
        invocation: u32,
    },
    /// Levels are being put back.
    Restoring,
}
