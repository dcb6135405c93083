//! Experiment text to plan.
//!
//! This crate must not know the machine: it is pure, without I/O, clock or
//! environment, and its only randomness comes from a given seed. The same text,
//! options, seed and catalogue give the same plan everywhere.

mod boots;
mod claims;
mod digest;
mod document;
mod imported;
mod levels;
mod limits;
mod line_index;
mod margins;
mod names;
mod one_line;
mod order;
mod overrides;
mod pace;
mod planning;
mod problem;
mod problems;
mod quick;
mod random;
mod reboots;
mod schema;
mod settable;
mod settings;
mod subjects;
mod template;
mod toml_text;
mod use_cases;
mod venue;
mod williams;
mod within_factor;
mod workloads;

pub use imported::claims as claims_of_import;
pub use levels::Resolve;
pub use names::kebab as name_of;
pub use one_line::{OneLine, one_line};
pub use order::{repeat_block, trial_seed, trials};
pub use planning::{PlanRequest, plan};
pub use problem::{ExperimentProblem, render_problems};
pub use schema::schema;
pub use template::template;
