//! What workloads are made of: threads behind a gate, forked processes, futexes, CPU work, programs
//! of others with their services, figures picked from what these print, where files lie and how they
//! are read and written.
//!
//! This crate must not know any workload: neither what one measures nor what one is called.

pub mod address;
pub mod crew;
pub mod extraction;
pub mod futex;
pub mod instant;
pub mod memfd_message;
pub mod nanoseconds;
pub mod placement;
pub mod process;
pub mod program;
pub mod sample_cost;
pub mod shared_counters;
pub mod storage;
pub mod work;
