//! Round robin: as fifo, with a quantum. A task that blocked comes back with a whole one,
//! which fifo has as well, because its limit is on running without blocking.

use super::arrival::Arrival;
use crate::trace::Trace;
use crate::verdict::{Rejection, Summary};

pub(super) fn replay(trace: &Trace) -> Result<Summary, Rejection> {
    Arrival::replay(trace, trace.parameter("quantum")?)
}
