//! First come, first served.

use super::Algorithm;
use contract::{Parameter, ParameterKind};

pub(super) static ALGORITHM: Algorithm = Algorithm {
    id: "fifo",
    summary: "first come, first served: one queue, no preemption",
    doc: include_str!("fifo.md"),
    parameters: &[Parameter {
        name: "run_limit",
        // Below a tick nothing changes; above 1 s a hundred tasks come near the kernel's
        // limit of 30 s waiting.
        kind: ParameterKind::Duration { min: 1_000_000, max: 1_000_000_000 },
        default: Some("100ms"),
        summary: "how long a task may run before it goes to the tail",
    }],
    object: object!("fifo"),
};
