//! Load that a guest's service gets from the host: what the venue, the guest's first process, the
//! workload in it and the process that sends agree on. The host reaches ports of the guest through
//! addresses of its own loopback; the guest reaches nothing, and asks for its load through a serial
//! port, a line of JSON for each order and for each answer.

use crate::private_network::PrivateLink;
use model::Parameters;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// The guest's link. Addresses are those for documentation (RFC 5737).
pub const HOST_LOAD_LINK: PrivateLink =
    PrivateLink { hardware_address: "52:54:00:6c:61:03", address: Ipv4Addr::new(198, 51, 100, 2) };
/// Its network, and where QEMU has itself in it.
pub const HOST_LOAD_NETWORK: (Ipv4Addr, u8) = (Ipv4Addr::new(198, 51, 100, 0), 24);
/// The host as the guest sees it.
pub const HOST_LOAD_HOST: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 254);

/// The name of the serial port.
pub const HOST_LOAD_PORT: &str = "schedlab.outside";

/// The role of the process on the host that sends.
pub const HOST_LOAD_ROLE: &str = "__outside";

/// What that process is told before anything is asked of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HostLoadSettings {
    /// Process that must be alive for it to go on.
    pub parent: i32,
    /// All that a guest may ask for: workloads with their parameters.
    pub loads: Vec<(String, Parameters)>,
    /// Where each port of the guest is reached.
    pub addresses: BTreeMap<u16, SocketAddr>,
    /// Where why requests failed is kept.
    pub log: PathBuf,
}

/// What the guest asks for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HostLoadOrder {
    /// By which the answer is told from one to a process that has ended.
    pub id: u64,
    /// The workload.
    pub workload: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// Seed of the invocation.
    pub seed: u64,
}

/// What became of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HostLoadAnswer {
    /// The order's.
    pub id: u64,
    /// What [`crate::Service::send_from_host`] returned, or why it failed.
    pub outcome: Result<String, String>,
}
