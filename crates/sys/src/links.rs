//! Links and addresses of a network namespace, by rtnetlink(7).

use netlink_packet_core::{
    DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd, OwnedFd};

/// The attribute with a queueing discipline's own settings (include/uapi/linux/rtnetlink.h).
const TCA_OPTIONS: u16 = 2;
/// That with netem's delay (include/uapi/linux/pkt_sched.h).
const TCA_NETEM_LATENCY64: u16 = 10;

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
        let mut peer = LinkMessage::default();
        peer.attributes = vec![
            LinkAttribute::IfName(other.to_owned()),
            LinkAttribute::NetNsFd(elsewhere.as_raw_fd()),
        ];
        let mut link = LinkMessage::default();
        link.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
            ]),
        ];
        self.ask(RouteNetlinkMessage::NewLink(link), NLM_F_CREATE | NLM_F_EXCL)
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
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        link.attributes = queue.map(LinkAttribute::TxQueueLen).into_iter().collect();
        self.ask(RouteNetlinkMessage::SetLink(link), 0)
    }

    /// Holds every packet that leaves by this link for so long (netem, tc-netem(8)), so many of
    /// them at a time.
    ///
    /// # Errors
    /// What the kernel answers; ENOENT where it has no netem.
    pub fn delay(&self, name: &str, delay_ns: u64, packets: u32) -> io::Result<()> {
        let index = rustix::net::netdevice::name_to_index(self.as_rustix(), name)?;
        let index = i32::try_from(index).map_err(io::Error::other)?;
        let mut message = TcMessage::with_index(index);
        message.header.parent = TcHandle::ROOT;
        message.attributes = vec![
            TcAttribute::Kind("netem".to_owned()),
            TcAttribute::Other(DefaultNla::new(TCA_OPTIONS, netem_options(delay_ns, packets))),
        ];
        self.ask(RouteNetlinkMessage::NewQueueDiscipline(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    fn add_address(&self, index: u32, address: Ipv4Addr, prefix: u8) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = prefix;
        message.header.index = index;
        message.attributes = vec![
            AddressAttribute::Local(IpAddr::V4(address)),
            AddressAttribute::Address(IpAddr::V4(address)),
        ];
        self.ask(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    fn as_rustix(&self) -> std::os::fd::BorrowedFd<'_> {
        // SAFETY: the descriptor stays open as long as `self`, which is borrowed.
        unsafe { std::os::fd::BorrowedFd::borrow_raw(self.0.as_raw_fd()) }
    }

    /// One request, and the kernel's answer to it.
    fn ask(&self, request: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::from(request));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.0.send(&bytes, 0)?;
        let (answer, _) = self.0.recv_from_full()?;
        let answer =
            NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(|error| {
                io::Error::other(format!("the kernel's answer is damaged: {error}"))
            })?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_none() => Ok(()),
            NetlinkPayload::Error(error) => Err(error.to_io()),
            other => Err(io::Error::other(format!("the kernel answered with {other:?}"))),
        }
    }
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
