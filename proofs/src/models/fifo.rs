//! First come, first served, with a limit on how long a task may run.

use super::arrival::Arrival;
use crate::trace::OrderedTrace;
use crate::verdict::{Rejection, ReplaySummary};

pub(super) fn replay(trace: &OrderedTrace) -> Result<ReplaySummary, Rejection> {
    Arrival::replay(trace, trace.parameter("run_limit")?)
}
