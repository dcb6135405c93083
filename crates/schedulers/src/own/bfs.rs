//! The Brain Fuck Scheduler as published.

use super::Algorithm;
use contract::{Parameter, ParameterKind};

pub(super) static ALGORITHM: Algorithm = Algorithm {
    id: "bfs",
    summary: "BFS: one queue, earliest effective virtual deadline first",
    doc: include_str!("bfs.md"),
    parameters: &[
        Parameter {
            name: "rr_interval",
            // The limits of BFS itself: 1 to 1000 ms (sched-BFS.txt).
            kind: ParameterKind::Duration { min: 1_000_000, max: 1_000_000_000 },
            default: Some("6ms"),
            summary: "how long a task runs before its deadline is renewed, and the unit of deadlines",
        },
        Parameter {
            name: "without",
            // In the order of `enum ablation` in bfs.bpf.c.
            kind: ParameterKind::Choice(&["none", "deadline", "preemption", "sticky", "idle"]),
            default: Some("none"),
            summary: "a rule to leave out, to see what it is for",
        },
    ],
    object: object!("bfs"),
};
