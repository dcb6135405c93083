//! Workloads whose requests cross sockets: a gateway with its generator, and the network between
//! two sides.
//!
//! This crate must not know what joins two machines, what starts a workload or what is set around
//! it. Each file holds one workload.

pub use gateway::cost::{GeneratorCost, gateway_generator_cost};
pub use net::{NetServer, network_run_asked_for, network_stream_as_answered};

contract::catalog!(dyn contract::Workload: gateway, net);
