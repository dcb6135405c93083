//! First come, first served, with a limit on how long a task may run.

use super::arrival::Arrival;
use crate::trace::Trace;
use crate::verdict::{Rejection, Summary};

pub(super) fn replay(trace: &Trace) -> Result<Summary, Rejection> {
    Arrival::replay(trace, trace.parameter("run_limit")?)
}
