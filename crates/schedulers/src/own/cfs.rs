//! The completely fair scheduler of Linux 2.6.23 to 6.5.

use super::Algorithm;
use contract::{Parameter, ParameterKind};

pub(super) static ALGORITHM: Algorithm = Algorithm {
    id: "cfs",
    summary: "completely fair: a queue for each CPU, least virtual run time first",
    doc: include_str!("cfs.md"),
    parameters: &[
        Parameter {
            name: "latency",
            // The limits are those of /proc/sys/kernel/sched_latency_ns (kernel/sysctl.c, 5.10).
            kind: ParameterKind::Duration { min: 100_000, max: 1_000_000_000 },
            default: Some("6ms"),
            summary: "in which time each runnable task of a CPU runs once",
        },
        Parameter {
            name: "min_granularity",
            kind: ParameterKind::Duration { min: 100_000, max: 1_000_000_000 },
            default: Some("750us"),
            summary: "the shortest slice",
        },
        Parameter {
            name: "wakeup_granularity",
            kind: ParameterKind::Duration { min: 0, max: 1_000_000_000 },
            default: Some("7ms"),
            summary: "how far ahead a running task of weight 1024 must be to be preempted",
        },
        Parameter {
            name: "balance_interval",
            kind: ParameterKind::Duration { min: 1_000_000, max: 1_000_000_000 },
            default: Some("16ms"),
            summary: "how often a busy CPU compares its load with the others'",
        },
        Parameter {
            name: "without",
            kind: ParameterKind::Choice(&["none", "granularity", "balance", "sleeper"]),
            default: Some("none"),
            summary: "a rule that is left out: preemption by woken tasks, balancing, credit of sleepers",
        },
    ],
    object: object!("cfs"),
};
