//! Adapters: `fio`, `iozone`, `iperf3` and `sockperf` as workloads, and any program through
//! `command`.
//!
//! This crate must not know how output is parsed (`outputs` does), what starts a workload or what
//! is set around it. Each file holds one workload, or what two of them share.

mod transport_choice;

contract::catalog!(dyn contract::Workload: fio, iozone, iperf3, sockperf, command);
