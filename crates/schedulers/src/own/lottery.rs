//! Lottery scheduling.

use super::Algorithm;
use contract::{Parameter, ParameterKind};

pub(super) static ALGORITHM: Algorithm = Algorithm {
    id: "lottery",
    summary: "lottery: a drawn ticket decides, tickets by nice value, compensation for sleepers",
    doc: include_str!("lottery.md"),
    parameters: &[
        Parameter {
            name: "quantum",
            // Below a tick nothing changes; above 100 ms a hundred tasks come near the
            // kernel's limit of 30 s waiting.
            kind: ParameterKind::Duration { min: 1_000_000, max: 100_000_000 },
            default: Some("10ms"),
            summary: "how long a winner runs",
        },
        Parameter {
            name: "seed",
            kind: ParameterKind::Count { min: 0, max: u64::MAX },
            default: Some("1"),
            summary: "where the random numbers begin",
        },
        Parameter {
            name: "compensation",
            kind: ParameterKind::Flag,
            default: Some("true"),
            summary: "whether one that slept before its quantum was over gets more tickets",
        },
        Parameter {
            name: "without",
            // In the order of `enum ablation` in lottery.bpf.c.
            kind: ParameterKind::Choice(&["none", "draw", "holder"]),
            default: Some("none"),
            summary: "a rule to leave out, to see what it is for",
        },
    ],
    object: object!("lottery"),
};
