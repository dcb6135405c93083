//! What both programs are made of: the one catalogue, from all rooms, the hidden roles in which a
//! program starts itself again, and the log of what crates decide.
//!
//! `schedlab` and `schedlab-agent` share these and nothing else. This crate must not know reports,
//! verdicts or the command line: the program that goes into a guest stays small and is built
//! without them.

mod catalogue;
mod log;
mod own_fault;
mod roles;
mod standard_error;

pub use catalogue::{catalogue, trial_catalogue};
pub use contract::LOG_VARIABLE;
pub use log::start_log;
pub use own_fault::OWN_FAULT;
pub use roles::{executable, machine_arguments, serve_role_or};
pub use standard_error::tell;
