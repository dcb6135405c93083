//! Links and addresses of a network namespace, by rtnetlink(7).

use crate::route_request::{RouteRequest, interface_message, name_attribute, with_attributes};
use netlink_packet_core::{
    DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

// Kinds of attributes (include/uapi/linux/if_link.h, if_addr.h and veth.h).
const IFLA_IFNAME: u16 = 3;
const IFLA_TXQLEN: u16 = 13;
const IFLA_LINKINFO: u16 = 18;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
/// That with netem's delay (include/uapi/linux/pkt_sched.h).
const TCA_NETEM_LATENCY64: u16 = 10;
/// The parent of what stands at a link itself (include/uapi/linux/pkt_sched.h).
const TC_H_ROOT: u32 = u32::MAX;

/// The links of the namespace in which it was opened.
pub struct Links(Socket);

impl Links {
    /// Those of the calling thread's namespace.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self(socket))
    }

    /// A pair of virtual Ethernet links: one here, the other in that namespace.
    ///
    /// # Errors
    /// What the kernel answers; EOPNOTSUPP where it has no veth.
    pub fn add_pair(&self, name: &str, other: &str, elsewhere: &OwnedFd) -> io::Result<()> {
        self.ask(new_pair(name, other, elsewhere.as_raw_fd()), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Sets a link up, where given with an address and the length of its network's prefix, and
    /// with room for so many packets that nobody has taken yet.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn set_up(
        &self,
        name: &str,
        address: Option<(Ipv4Addr, u8)>,
        queue: Option<u32>,
    ) -> io::Result<()> {
        let index = rustix::net::netdevice::name_to_index(self.as_rustix(), name)?;
        if let Some((address, prefix)) = address {
            self.add_address(index, address, prefix)?;
        }
        self.ask(set_up(index, queue), 0)
    }

    /// Holds every packet that leaves by this link for so long (netem, tc-netem(8)), so many of
    /// them at a time.
    ///
    /// # Errors
    /// What the kernel answers; ENOENT where it has no netem.
    pub fn delay(&self, name: &str, delay_ns: u64, packets: u32) -> io::Result<()> {
        let index = rustix::net::netdevice::name_to_index(self.as_rustix(), name)?;
        self.ask(new_delay(index, delay_ns, packets), NLM_F_CREATE | NLM_F_EXCL)
    }

    fn add_address(&self, index: u32, address: Ipv4Addr, prefix: u8) -> io::Result<()> {
        self.ask(new_address(index, address, prefix), NLM_F_CREATE | NLM_F_EXCL)
    }

    fn as_rustix(&self) -> std::os::fd::BorrowedFd<'_> {
        // SAFETY: the descriptor stays open as long as `self`, which is borrowed.
        unsafe { std::os::fd::BorrowedFd::borrow_raw(self.0.as_raw_fd()) }
    }

    /// One request, and the kernel's answer to it.
    fn ask(&self, request: RouteRequest, flags: u16) -> io::Result<()> {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(request));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.0.send(&bytes, 0)?;
        let (answer, _) = self.0.recv_from_full()?;
        let answer = NetlinkMessage::<RouteRequest>::deserialize(&answer).map_err(|error| {
            io::Error::other(format!("the kernel's answer is damaged: {error}"))
        })?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_none() => Ok(()),
            NetlinkPayload::Error(error) => Err(error.to_io()),
            other => Err(io::Error::other(format!("the kernel answered with {other:?}"))),
        }
    }
}

/// A pair of virtual Ethernet links, of which the other goes to the namespace of that descriptor.
fn new_pair(name: &str, other: &str, elsewhere: RawFd) -> RouteRequest {
    let elsewhere = DefaultNla::new(IFLA_NET_NS_FD, elsewhere.to_ne_bytes().into());
    let peer =
        with_attributes(interface_message(0, 0), &[name_attribute(IFLA_IFNAME, other), elsewhere]);
    let data = with_attributes(Vec::new(), &[DefaultNla::new(VETH_INFO_PEER, peer)]);
    let kind = name_attribute(IFLA_INFO_KIND, "veth");
    let information = with_attributes(Vec::new(), &[kind, DefaultNla::new(IFLA_INFO_DATA, data)]);
    let attributes =
        [name_attribute(IFLA_IFNAME, name), DefaultNla::new(IFLA_LINKINFO, information)];
    RouteRequest::new(libc::RTM_NEWLINK, interface_message(0, 0), &attributes)
}

/// Sets a link up, and its queue to so many packets.
fn set_up(index: u32, queue: Option<u32>) -> RouteRequest {
    let length = |packets: u32| DefaultNla::new(IFLA_TXQLEN, packets.to_ne_bytes().into());
    let attributes: Vec<DefaultNla> = queue.map(length).into_iter().collect();
    let link = interface_message(index, libc::IFF_UP as u32);
    RouteRequest::new(libc::RTM_SETLINK, link, &attributes)
}

/// An address of a link, and the length of its network's prefix: `struct ifaddrmsg` of four bytes and
/// the link's number (include/uapi/linux/if_addr.h).
fn new_address(index: u32, address: Ipv4Addr, prefix: u8) -> RouteRequest {
    let mut message = vec![libc::AF_INET as u8, prefix, 0, 0];
    message.extend(index.to_ne_bytes());
    let of_kind = |kind| DefaultNla::new(kind, address.octets().into());
    RouteRequest::new(libc::RTM_NEWADDR, message, &[of_kind(IFA_LOCAL), of_kind(IFA_ADDRESS)])
}

/// A queueing discipline that delays: `struct tcmsg` of a word, the link's number, no handle, the parent
/// and a word (include/uapi/linux/rtnetlink.h).
fn new_delay(index: u32, delay_ns: u64, packets: u32) -> RouteRequest {
    let words = [0, index, 0, TC_H_ROOT, 0];
    let message = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let options = DefaultNla::new(libc::TCA_OPTIONS, netem_options(delay_ns, packets));
    let attributes = [name_attribute(libc::TCA_KIND, "netem"), options];
    RouteRequest::new(libc::RTM_NEWQDISC, message, &attributes)
}

/// `struct tc_netem_qopt` of six words, and behind it the delay in nanoseconds as an attribute,
/// which stands before the first word's (include/uapi/linux/pkt_sched.h and net/sched/sch_netem.c,
/// 6.12).
fn netem_options(delay_ns: u64, packets: u32) -> Vec<u8> {
    let words = [0, packets, 0, 0, 0, 0];
    let mut bytes: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_ne_bytes()).collect();
    let length: u16 = 4 + 8;
    bytes.extend(length.to_ne_bytes());
    bytes.extend(TCA_NETEM_LATENCY64.to_ne_bytes());
    bytes.extend(delay_ns.to_ne_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(request: RouteRequest) -> String {
        let mut message =
            NetlinkMessage::new(NetlinkHeader::default(), NetlinkPayload::InnerMessage(request));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The expected bytes are those of netlink-packet-route 0.34.
    #[cfg(target_endian = "little")]
    #[test]
    fn requests_are_those_of_a_library_that_knows_them_all() {
        for (request, expected) in [
            (
                new_pair("near", "far", 5),
                "640000001000000000000000000000000000000000000000000000000000000009000300\
                 6e656172000000003800120009000100766574680000000028000200240001000000000000\
                 0000000000000000000000080003006661720008001c0005000000",
            ),
            (set_up(3, None), "2000000013000000000000000000000000000000030000000100000001000000"),
            (
                set_up(3, Some(1000)),
                "280000001300000000000000000000000000000003000000010000000100000008000d00\
                 e8030000",
            ),
            (
                new_address(3, Ipv4Addr::new(10, 1, 2, 3), 24),
                "280000001400000000000000000000000218000003000000080002000a01020308000100\
                 0a010203",
            ),
        ] {
            assert_eq!(text(request), expected);
        }
        let delay = text(new_delay(3, 5_000_000, 1000));
        let message = "0000000003000000 00000000ffffffff00000000 0a0001006e6574656d000000";
        assert!(delay.starts_with("5800000024"), "{delay}");
        assert_eq!(delay[32..32 + 64], message.replace(' ', ""));
        assert!(delay[96..].starts_with("28000200"), "{delay}");
    }

    #[test]
    fn options_of_netem_are_as_the_kernel_lays_them_out() {
        let bytes = netem_options(5_000_000, 1000);
        assert_eq!(bytes.len(), 24 + 12);
        assert_eq!(bytes[4..8], 1000_u32.to_ne_bytes());
        assert_eq!(bytes[24..26], 12_u16.to_ne_bytes());
        assert_eq!(bytes[26..28], 10_u16.to_ne_bytes());
        assert_eq!(bytes[28..], 5_000_000_u64.to_ne_bytes());
    }
}
