//! How long a guest may take for an answer.

use contract::Phase;
use model::Trial;
use std::time::Duration;

/// How long a guest may take for what needs no workload.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// How long setting levels may take: the slowest published scheduler takes a minute to load
/// on an emulated processor.
const HOLDING_PATIENCE: Duration = Duration::from_secs(300);
/// How long what outlives trials may take to stand; its workload has a limit of its own.
const STARTING_PATIENCE: Duration = Duration::from_secs(3 * 3600);
/// A run's time limit is the guest's own to keep; a guest that is late by this much hangs.
const LATE: Duration = Duration::from_secs(30);

/// Until the next answer of a trial that is in this phase.
pub(crate) fn patience_for(phase: Phase, trial: &Trial) -> Duration {
    match phase {
        Phase::Preparing { .. } | Phase::Running { .. } => {
            Duration::from_nanos(trial.workload.time_limit_ns) + LATE
        }
        Phase::Resting => Duration::from_nanos(trial.rest_ns) + PATIENCE,
        Phase::Settling => Duration::from_nanos(trial.settle_ns) + PATIENCE,
        // A scheduler comes into charge here, and leaves.
        Phase::Setting | Phase::Restoring => HOLDING_PATIENCE,
        Phase::Booting => PATIENCE,
        Phase::Starting => STARTING_PATIENCE,
    }
}
