//! Links and addresses of the calling thread's network namespace, by rtnetlink(7).

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use rustix::fs::{Mode, OFlags};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd, OwnedFd};

/// Longest name of a link with the zero after it (IFNAMSIZ).
const LONGEST_NAME: usize = libc::IFNAMSIZ;

/// A socket of the namespace in which it was opened.
pub(super) struct Links(Socket);

impl Links {
    /// # Errors
    /// What the kernel answers.
    pub(super) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self(socket))
    }

    /// A pair of virtual Ethernet links: one here, the other in that namespace.
    ///
    /// # Errors
    /// What the kernel answers; EOPNOTSUPP where it has no veth.
    pub(super) fn add_pair(&self, name: &str, other: &str, elsewhere: &OwnedFd) -> io::Result<()> {
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

    /// Gives a link its address and sets it up, where given with room for so many packets that
    /// nobody has taken yet.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn set_up(
        &self,
        name: &str,
        (address, prefix): (Ipv4Addr, u8),
        queue: Option<u32>,
    ) -> io::Result<()> {
        let index = rustix::net::netdevice::name_to_index(self.as_rustix(), name)?;
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = prefix;
        message.header.index = index;
        message.attributes = vec![
            AddressAttribute::Local(IpAddr::V4(address)),
            AddressAttribute::Address(IpAddr::V4(address)),
        ];
        self.ask(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)?;
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        link.attributes = queue.map(LinkAttribute::TxQueueLen).into_iter().collect();
        self.ask(RouteNetlinkMessage::SetLink(link), 0)
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

/// A new link whose packets are read from this file, and which receives what is written to it.
/// Reading does not wait.
///
/// # Errors
/// What the kernel answers; ENOENT or ENODEV where it has no tun.
pub(super) fn add_tunnel(name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open("/dev/net/tun", flags, Mode::empty())?;
    // SAFETY: all bytes zero are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let bytes = name.as_bytes();
    assert!(bytes.len() < LONGEST_NAME, "{name} is too long for a link");
    for (place, byte) in request.ifr_name.iter_mut().zip(bytes) {
        *place = byte.cast_signed();
    }
    // Whole IP packets without a header of the driver's.
    let kind = libc::IFF_TUN | libc::IFF_NO_PI;
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(kind).unwrap_or_default();
    // SAFETY: TUNSETIFF reads and writes one ifreq.
    if unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(file)
}
