//! Earliest eligible virtual deadline first.

use super::Algorithm;
use contract::{Parameter, ParameterKind};

pub(super) static ALGORITHM: Algorithm = Algorithm {
    id: "eevdf",
    summary: "earliest eligible virtual deadline first: a queue for each CPU, lag kept",
    doc: include_str!("eevdf.md"),
    parameters: &[
        Parameter {
            name: "slice",
            // What Linux allows a task that asks for a slice of its own (`__setparam_fair`,
            // kernel/sched/fair.c, 6.18: 0.1 to 100 ms).
            kind: ParameterKind::Duration { min: 100_000, max: 100_000_000 },
            default: Some("3ms"),
            summary: "how much service each request asks for",
        },
        Parameter {
            name: "balance_interval",
            kind: ParameterKind::Duration { min: 1_000_000, max: 1_000_000_000 },
            default: Some("16ms"),
            summary: "how often a busy CPU compares its load with the others'",
        },
        Parameter {
            name: "without",
            kind: ParameterKind::Choice(&["none", "eligibility", "preemption", "lag"]),
            default: Some("none"),
            summary: "a rule that is left out: eligibility, preemption by woken tasks, lag kept in sleep",
        },
    ],
    object: object!("eevdf"),
};
