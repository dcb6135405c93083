//! What is run: native workloads, adapters of `fio`, `iozone`, `iperf3` and `sockperf`, any
//! program through `command`, and services under load.
//!
//! This crate must not know what starts a workload, what is set around it or
//! what is observed beside it. Each file holds one workload; the rest are what
//! several of them share (threads behind a gate, forked processes, futexes,
//! the CPU work, programs, where files lie). Background load is the executor's.

mod address;
mod application;
mod crew;

mod futex;
mod instant;
mod memfd_message;
mod nanoseconds;
mod placement;
mod process;
mod program;
mod sample_cost;
mod shared_counters;
mod storage;
mod work;

pub use command::pick::pick;
pub use gateway::cost::{GeneratorCost, gateway_generator_cost};
pub use io::cost::io_transfer_cost;
pub use net::{NetServer, network_run_asked_for, network_stream_as_answered};
pub use sample_cost::sample_cost;

contract::catalog!(dyn contract::Workload: messaging, wakeup, latt, cyclic, pipe, scenario, gateway, net, http, service, bank, io, io_mix, io_share, fio, iozone, iperf3, sockperf, command);
