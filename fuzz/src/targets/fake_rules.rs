//! The rules of a machine made of files.

use super::{OwnTarget, Reaction};

pub const TARGET: OwnTarget = OwnTarget {
    name: "fake-rules",
    words: &["\"rules\"", "\"path\"", "/sys/kernel/debug/sched/base_slice_ns", "{", "}", "[", "]"],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    Reaction::of(serde_json::from_slice::<sys::FakeRules>(bytes).ok().as_ref())
}
