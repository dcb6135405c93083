//! Workloads that start servers: what they have beside a load.

use crate::{LaunchSpec, LongLivedService, Requirement, Result};
use std::net::SocketAddr;
use sys::Machine;

/// A workload whose own process only drives what it measures: the levels of a trial are those of
/// its servers, which take them on themselves ([`LaunchSpec::apply`]), and its first thread has
/// none.
pub trait Service {
    /// What is known of it before it runs.
    fn facts(&self) -> ServiceFacts;

    /// Starts what [`ServiceFacts::stands`] names, in a process of its own with one thread and
    /// without the levels of any trial, and returns when it can be used.
    ///
    /// # Errors
    /// What could not be started.
    fn stand(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn LongLivedService>>;

    /// Sends the load to this address, where [`ServiceFacts::host_load_port`] is reached, and
    /// returns what its part in the guest is to know.
    ///
    /// # Errors
    /// What failed.
    fn send_from_host(&self, to: SocketAddr, launch: &LaunchSpec) -> Result<String>;
}

/// What executor and venues want to know.
#[derive(Debug, Default)]
pub struct ServiceFacts {
    /// Names of its servers. Each has control groups of its own, told as
    /// [`LaunchSpec::server_groups`], and those carry the limits of a trial, each server's all of
    /// them: the load generator is in the workload's group and has none.
    pub servers: Vec<&'static str>,
    /// What its trials find running already, as a text that is the same for all that may share it;
    /// none where each trial starts all it needs.
    pub stands: Option<String>,
    /// The port of the guest to which its load comes from the host of the guest
    /// ([`crate::HostLoadOrder`]); none where all of it is in the guest.
    pub host_load_port: Option<u16>,
    /// What sending that load needs of the host.
    pub host_load_requires: Vec<Requirement>,
}
