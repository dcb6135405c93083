//! Round robin: as fifo, with a quantum. A task that blocked comes back with a whole one,
//! which fifo has as well, because its limit is on running without blocking.

use super::arrival::Arrival;
use crate::trace::OrderedTrace;
use crate::verdict::{Rejection, ReplaySummary};

pub(super) fn replay(trace: &OrderedTrace) -> Result<ReplaySummary, Rejection> {
    Arrival::replay(trace, trace.parameter("quantum")?)
}
