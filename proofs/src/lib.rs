//! Our schedulers in real guests, held against what they say of themselves: loads that keep
//! tasks busy, recorded traces, and independent models that replay them.
//!
//! This crate must not know how a scheduler is written: a model ([`models`]) recomputes each
//! decision of a trace ([`trace`]) from what was known then, by the algorithm's published
//! definition. Keys that a scheduler computed are compared with the model's; what a model takes
//! from the trace instead is said in docs/manual/schedulers.md.

pub mod crowd;
pub mod mixed;
pub mod models;
pub mod recording;
pub mod replay;
pub mod shares;
mod spinners;
pub mod survival;
pub mod trace;
pub mod verdict;
pub mod waits;

#[cfg(test)]
mod script;
