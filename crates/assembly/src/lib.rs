//! What both programs are made of: the one catalogue, from all rooms, and the hidden roles in
//! which a program starts itself again.
//!
//! `schedlab` and `schedlab-agent` share these and nothing else. This crate must not know reports,
//! verdicts or the command line: the program that goes into a guest stays small and is built
//! without them.

mod catalogue;
mod roles;

pub use catalogue::{catalogue, trial_catalogue};
pub use roles::{executable, machine_arguments, serve_role};
