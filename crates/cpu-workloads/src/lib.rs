//! Workloads that ask the scheduler for CPUs and nothing else: messages, wake-ups, pipes, periods,
//! bursts, and scenarios of them.
//!
//! This crate must not know what starts a workload, what is set around it or what is observed
//! beside it. Each file holds one workload, or what two of them share. Background load is the
//! executor's.

mod task_choice;

contract::catalog!(dyn contract::Workload: messaging, wakeup, latt, cyclic, pipe, scenario);
