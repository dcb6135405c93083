//! Two network namespaces and what joins them: a pair of virtual links, or two tunnels between
//! which somebody carries the packets.

use super::link::{Links, add_tunnel};
use super::namespace::{Namespace, apart};
use contract::{Error, Requirement, Result};
use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

/// Addresses for documentation (RFC 5737): no neighbour of this machine has them, even if a
/// packet came out.
pub(super) const NEAR: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// As above.
pub(super) const FAR: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
/// The two of them.
const PREFIX: u8 = 30;
/// Packets that wait in a tunnel until they are taken: 15 MB. With the default of 500 a burst of
/// one sender's window is lost before any line has seen it.
const TUNNEL_QUEUE: u32 = 10_000;

/// Both sides, and with a delay the ends of the tunnels: near, then far.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) near: Namespace,
    pub(super) far: Namespace,
    pub(super) ends: Option<[OwnedFd; 2]>,
}

impl Wire {
    /// Makes both. Nothing of it is left when the descriptors are closed and the processes gone.
    ///
    /// # Errors
    /// What this machine lacks, and what would help.
    pub(super) fn make(is_delayed: bool) -> Result<Self> {
        apart(|| Ok(Self::make_here(is_delayed)))
            .map_err(|error| Error::environment("cannot make network namespaces", error))?
            .map_err(|lack| {
                Error::unsupported(lack.attempted, lack.cause.to_string(), lack.step.remedy())
            })
    }

    /// What a machine must have for it. To find out it is made once, and is gone at once.
    pub(super) fn requirement(is_delayed: bool) -> Requirement {
        let by = if is_delayed { "tunnels (tun)" } else { "a pair of links (veth)" };
        Requirement::check(format!("two network namespaces joined by {by}"), move |_| {
            Self::make(is_delayed).map(drop).map_err(|error| {
                (format!("{}: {}", error.attempted, error.cause), error.remedy.clone())
            })
        })
    }

    fn make_here(is_delayed: bool) -> Result<Self, Lack> {
        let fresh = || Namespace::fresh().map_err(Step::Namespace.lack());
        let open = || Links::open().map_err(Step::Address.lack());
        let tunnel = || add_tunnel("far").map_err(Step::Tunnel.lack());
        let far = fresh()?;
        let far_links = open()?;
        let far_end = if is_delayed { Some(tunnel()?) } else { None };
        let near = fresh()?;
        let near_links = open()?;
        let near_end = match is_delayed {
            true => Some(add_tunnel("near").map_err(Step::Tunnel.lack())?),
            false => None,
        };
        if !is_delayed {
            near_links.add_pair("near", "far", far.file()).map_err(Step::Pair.lack())?;
        }
        let queue = is_delayed.then_some(TUNNEL_QUEUE);
        for (links, name, address) in [(near_links, "near", NEAR), (far_links, "far", FAR)] {
            links.set_up(name, (address, PREFIX), queue).map_err(Step::Address.lack())?;
        }
        let ends = near_end.zip(far_end).map(|(near, far)| [near, far]);
        Ok(Self { near, far, ends })
    }
}

/// What was being made.
#[derive(Debug, Clone, Copy)]
enum Step {
    Namespace,
    Pair,
    Tunnel,
    Address,
}

/// What could not be made.
#[derive(Debug)]
struct Lack {
    step: Step,
    attempted: String,
    cause: io::Error,
}

impl Step {
    fn lack(self) -> impl FnOnce(io::Error) -> Lack {
        move |cause| {
            let attempted = format!("cannot make {self}");
            Lack { step: self, attempted, cause }
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Step::Namespace | Step::Address => {
                "run as root (CAP_SYS_ADMIN and CAP_NET_ADMIN), or write far = \"loopback\""
            }
            Step::Pair => {
                "run as root on a kernel with veth (CONFIG_VETH), or write far = \"loopback\""
            }
            Step::Tunnel => {
                "run as root on a kernel with tunnels (CONFIG_TUN, /dev/net/tun), or leave out delay"
            }
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Step::Namespace => "a network namespace",
            Step::Pair => "a pair of virtual links",
            Step::Tunnel => "a tunnel",
            Step::Address => "the address of a link",
        })
    }
}
