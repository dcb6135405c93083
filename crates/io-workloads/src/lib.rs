//! Workloads that read and write files and devices.
//!
//! This crate must not know how a target is made, what starts a workload or what is set around it.
//! Each file holds one workload.

pub use io::cost::io_transfer_cost;

contract::catalog!(dyn contract::Workload: io, io_mix, io_share);
