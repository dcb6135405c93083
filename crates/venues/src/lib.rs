//! Where trials run: this host, throw-away virtual machines, or the seeded
//! simulator.
//!
//! This crate must not know which factors, workloads or probes exist; it opens
//! sessions that run trials of a plan and answers what a plan lacks.

mod host;
mod programs;
mod sim;
mod vm;

pub use host::{Host, HostSettings};
pub use sim::{SIM_EFFECT, SIM_SCENARIOS, Sim, SimEffect};
pub use vm::{
    CommandLine, Execution, GuestCost, InputSource, KernelFactor, Origin, Streams, Vcpus, Vm,
    VmHost, VmPrerequisite, artefact_error, execute, guest_cost, inspect, snapshot,
};

/// Every venue, for listings.
pub static DESCRIPTIONS: &[&contract::Description] =
    &[&host::DESCRIPTION, &vm::DESCRIPTION, &sim::DESCRIPTION];
