//! Questions and records to findings.
//!
//! This crate must not know how records came about or how findings are shown.
//! It is pure and total: the same plan and records give the same findings,
//! whatever the order of the records. The method is that of docs/method.md:
//! one number for each block and subject, the t of paired log differences,
//! equivalence before difference, Holm over the declared family.

mod absent_runs;
mod block_order;
mod carry_over;
mod claims;
mod comparable;
mod comparison;
mod comparison_labels;
mod confounders;
mod controls;
mod evidence;
mod failures;
mod family;
mod file_order;
mod fragility;
mod gate;
mod judge;
mod judgement;
mod live;
mod looks;
mod observations;
mod order_origin;
mod over_time;
mod paired;
mod pairs;
mod pilot;
mod pooled;
mod position;
mod quality;
mod questions;
mod ranking;
mod ratios;
mod reduce;
mod resolution;
mod rulebook;
mod steadiness;
mod sum_order;
mod sums;
mod trends;
mod trial_facts;
mod unblocked;
mod use_cases;
mod values;
mod whole_steps;
mod without_each;

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod manual_examples;

pub use confounders::name_confounders;
pub use evidence::withhold;
pub use gate::{GateLimit, GateOutcome, GateResult, gate};
pub use judge::{ended, judge};
pub use judgement::shares_few_boots;
pub use live::live;
pub use looks::answered_at;
pub use pilot::pilot;
pub use trends::trends;
pub use values::values;
