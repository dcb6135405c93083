//! Stored plans: what is read is written so that it reads the same.

use super::{OwnTarget, Reaction};
use model::Plan;

pub const TARGET: OwnTarget = OwnTarget {
    name: "plan-json",
    words: &[
        "\"format\"",
        "schedlab.plan/2",
        "\"within\"",
        "\"subjects\"",
        "\"workloads\"",
        "\"blocks\"",
        "null",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    let plan = serde_json::from_slice::<Plan>(bytes).ok();
    if let Some(plan) = &plan {
        let text = serde_json::to_vec(plan).unwrap_or_default();
        assert_eq!(serde_json::from_slice::<Plan>(&text).ok().as_ref(), Some(plan));
    }
    Reaction::of(plan.as_ref())
}
