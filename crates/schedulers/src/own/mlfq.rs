//! Multi-level feedback queue.

use super::Algorithm;
use contract::{Parameter, ParameterKind};

pub(super) static ALGORITHM: Algorithm = Algorithm {
    id: "mlfq",
    summary: "multi-level feedback: tasks sink as they use CPU time, and are lifted now and then",
    doc: include_str!("mlfq.md"),
    parameters: &[
        Parameter {
            name: "levels",
            kind: ParameterKind::Count { min: 2, max: 8 },
            default: Some("3"),
            summary: "how many queues there are",
        },
        Parameter {
            name: "quantum",
            // The eighth level has 128 times as much: 12.8 s at most.
            kind: ParameterKind::Duration { min: 1_000_000, max: 100_000_000 },
            default: Some("8ms"),
            summary: "quantum and allotment at the top; each level below has twice as much",
        },
        Parameter {
            name: "boost",
            kind: ParameterKind::Duration { min: 10_000_000, max: 10_000_000_000 },
            default: Some("500ms"),
            summary: "how often all tasks are moved to the top",
        },
        Parameter {
            name: "without",
            kind: ParameterKind::Choice(&["none", "boost", "allotment", "preemption"]),
            default: Some("none"),
            summary: "a rule that is left out: the boost, allotments that outlast sleep, preemption",
        },
    ],
    object: object!("mlfq"),
};
