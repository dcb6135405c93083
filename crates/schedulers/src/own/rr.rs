//! Round robin.

use super::Algorithm;
use contract::{Parameter, ParameterKind};

pub(super) static ALGORITHM: Algorithm = Algorithm {
    id: "rr",
    summary: "round robin: one queue, equal quanta, nice ignored",
    doc: include_str!("rr.md"),
    parameters: &[Parameter {
        name: "quantum",
        // Below a tick nothing changes; at 1 s thirty tasks for each CPU reach the 30 s that
        // the kernel lets a task wait (SCX_WATCHDOG_MAX_TIMEOUT, kernel/sched/ext.c, 6.12).
        kind: ParameterKind::Duration { min: 1_000_000, max: 1_000_000_000 },
        default: Some("10ms"),
        summary: "how long a task may run before it goes to the tail",
    }],
    object: object!("rr"),
};
