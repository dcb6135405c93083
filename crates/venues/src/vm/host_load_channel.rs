//! The ends of the way of load from this host to a guest.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

/// What a machine is started with for load from this host.
#[derive(Debug)]
pub(crate) struct HostLoadChannel {
    /// QEMU's end of the serial port.
    pub port: OwnedFd,
    /// Ours.
    pub ours: OwnedFd,
    /// Where each port of the guest is reached.
    pub addresses: BTreeMap<u16, SocketAddr>,
}
