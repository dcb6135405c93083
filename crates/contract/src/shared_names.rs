//! Names of parameters by which other code than their own workload finds them.
//!
//! A workload declares such a parameter by the constant, so that no code which looks for it is
//! left behind where it gets another name.

/// How long a load goes on, which `--quick` halves: what [`crate::Key::length`] declares.
pub const LENGTH: &str = "duration";
