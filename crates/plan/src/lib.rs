//! Experiment text to plan.
//!
//! This crate must not know the machine: it is pure, without I/O, clock or
//! environment, and its only randomness comes from a given seed. The same text,
//! options, seed and catalogue give the same plan everywhere.

mod digest;
mod document;
mod margins;
mod names;
mod order;
mod overrides;
mod planning;
mod problem;
mod problems;
mod settings;
mod subjects;
mod values;
mod workloads;

pub use order::{repeat_block, trial_seed, trials};
pub use planning::{Request, plan};
pub use problem::{Problem, render_problems};
