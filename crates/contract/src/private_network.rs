//! The private network of two guests: what their venue, their first process and the workloads in
//! them agree on. Nobody else is on it, the host neither.

use std::net::{Ipv4Addr, SocketAddr};

/// One of its two links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrivateLink {
    /// Its hardware address, by which the guest knows it.
    pub hardware_address: &'static str,
    /// Its address.
    pub address: Ipv4Addr,
}

/// The link of the subject's guest. Addresses are those for documentation (RFC 5737); hardware
/// addresses are administered locally (the second bit of the first byte).
pub const SUBJECTS_LINK: PrivateLink =
    PrivateLink { hardware_address: "52:54:00:6c:61:01", address: Ipv4Addr::new(192, 0, 2, 1) };
/// The link of the second guest.
pub const PEERS_LINK: PrivateLink =
    PrivateLink { hardware_address: "52:54:00:6c:61:02", address: Ipv4Addr::new(192, 0, 2, 2) };
/// Both of them.
pub const PRIVATE_PREFIX: u8 = 30;

/// The role in which the second guest's agent binary serves, as `schedlab net serve` does
/// elsewhere.
pub const PEER_ROLE: &str = "__peer";

/// Where it serves.
pub fn peers_address() -> SocketAddr {
    SocketAddr::from((PEERS_LINK.address, 7171))
}
