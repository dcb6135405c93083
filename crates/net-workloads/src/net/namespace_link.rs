//! Two network namespaces and what joins them: a pair of virtual links, with a delay of the
//! kernel's where one is wanted, or two tunnels between which somebody carries the packets.

use super::namespace::{Namespace, apart};
use super::settings::Join;
use super::tunnel::add_tunnel;
use contract::{Error, Requirement, Result};
use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use sys::Links;

/// Addresses for documentation (RFC 5737): no neighbour of this machine has them, even if a
/// packet came out.
pub(super) const NEAR: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// As above.
pub(super) const FAR: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
/// The two of them.
const PREFIX: u8 = 30;
/// Packets that wait in a tunnel until they are taken, or in the kernel until they are due: 15 MB
/// of those that fill a frame. With the tunnel's default of 500, and netem's of 1000, a burst of
/// one sender's window is lost.
const QUEUE: u32 = 10_000;

/// Both sides, and with tunnels their ends: near, then far.
#[derive(Debug)]
pub(super) struct NamespaceLink {
    pub(super) near: Namespace,
    pub(super) far: Namespace,
    pub(super) ends: Option<[OwnedFd; 2]>,
}

impl NamespaceLink {
    /// Makes both. Nothing of it is left when the descriptors are closed and the processes gone.
    ///
    /// # Errors
    /// What this machine lacks, and what would help.
    pub(super) fn make(join: Join) -> Result<Self> {
        apart(|| Ok(Self::make_here(join)))
            .map_err(|error| Error::environment("cannot make network namespaces", error))?
            .map_err(|lack| {
                Error::unsupported(lack.attempted, lack.cause.to_string(), lack.step.remedy())
            })
    }

    /// What a machine must have for it. To find out it is made once, and is gone at once.
    pub(super) fn requirement(join: Join) -> Requirement {
        let by = match join {
            Join::Pair => "a pair of links (veth)",
            Join::Line { .. } => "tunnels (tun)",
            Join::Netem { .. } => "a pair of links (veth) with a delay (netem)",
        };
        Requirement::check(format!("two network namespaces joined by {by}"), move |_| {
            Self::make(join).map(drop).map_err(|error| {
                (format!("{}: {}", error.attempted, error.cause), error.remedy.clone())
            })
        })
    }

    fn make_here(join: Join) -> Result<Self, Lack> {
        let fresh = || Namespace::fresh().map_err(Step::Namespace.lack());
        let open = || Links::open().map_err(Step::Address.lack());
        let tunnel = |name| add_tunnel(name).map_err(Step::Tunnel.lack());
        let is_line = join.line_ns().is_some();
        let far = fresh()?;
        let far_links = open()?;
        let far_end = is_line.then(|| tunnel("far")).transpose()?;
        let near = fresh()?;
        let near_links = open()?;
        let near_end = is_line.then(|| tunnel("near")).transpose()?;
        if !is_line {
            near_links.add_pair("near", "far", far.file()).map_err(Step::Pair.lack())?;
        }
        let queue = is_line.then_some(QUEUE);
        for (links, name, address) in [(near_links, "near", NEAR), (far_links, "far", FAR)] {
            if let Join::Netem { delay_ns } = join {
                links.delay(name, delay_ns, QUEUE).map_err(Step::Delay.lack())?;
            }
            let address = Some((address, PREFIX));
            links.set_up(name, address, queue).map_err(Step::Address.lack())?;
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
    Delay,
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
                "run as root on a kernel with veth (CONFIG_VETH; in a guest `modules = [\"veth\"]` in \
                 [vm]), or write far = \"loopback\""
            }
            Step::Delay => {
                "use a kernel with netem (CONFIG_NET_SCH_NETEM; in a guest `modules = [\"sch_netem\"]` \
                 in [vm]), or write delay_by = \"line\""
            }
            Step::Tunnel => {
                "run as root on a kernel with tunnels (CONFIG_TUN, /dev/net/tun; in a guest `modules = \
                 [\"tun\"]` in [vm]), or leave out delay"
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
            Step::Delay => "a delay",
            Step::Address => "the address of a link",
        })
    }
}
