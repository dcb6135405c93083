//! Inside a guest: the first process, which only mounts, reaps and switches off, and
//! its child, the agent, which serves the host by calling the executor.
//!
//! This crate must not know how a guest is booted, nor any particular workload or
//! factor: what can be named is handed in. It trusts nothing that comes over the
//! channel before it is decoded.

mod channel;
mod init;
mod logs;
mod program;
mod serve;

pub use init::serve_init;
pub use serve::{AGENT_ROLE, AgentSettings, serve_agent};
