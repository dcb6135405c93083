//! The rules of a machine made of files.

use super::{FuzzTarget, Reaction};

pub const TARGET: FuzzTarget = FuzzTarget {
    name: "fake-rules",
    words: &["\"rules\"", "\"path\"", "/sys/kernel/debug/sched/base_slice_ns", "{", "}", "[", "]"],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    Reaction::of(serde_json::from_slice::<sys::FakeRules>(bytes).ok().as_ref())
}
