//! Where trials run: this host, or the seeded simulator.
//!
//! This crate must not know which factors, workloads or probes exist; it opens
//! sessions that run trials of a plan and answers what a plan lacks.

mod host;
mod programs;
mod sim;

pub use host::{Host, HostSettings, factor_needs, no_sched_ext};
pub use sim::{SIM_EFFECT, SIM_SCENARIOS, Sim, SimEffect};

/// Every venue, for listings.
pub static DESCRIPTIONS: &[&contract::Description] = &[&host::DESCRIPTION, &sim::DESCRIPTION];
