//! Where trials run: each venue is a file, such as this host or throw-away virtual machines.
//!
//! This crate must not know which factors, workloads or probes exist; it opens
//! sessions that run trials of a plan and answers what a plan lacks.

mod errors;
mod host_settings;
mod programs;
mod refusals;

// The first one is where an experiment runs that names no venue.
contract::catalog!(dyn contract::VenueEntry: host, vm, sim);

pub use errors::artefact_error;
pub use host::Host;
pub use host_settings::HostSettings;
pub use sim::{SIM_EFFECT, Sim, SimEffect};
pub use vm::{
    CommandLine, Execution, GuestCost, InputSource, KernelFactor, Origin, Streams, Vcpus, Vm,
    VmHost, execute, guest_cost, inspect, snapshot,
};
