//! What joins two guests: a pair of sockets between their machines. It takes no address of the
//! host's, nobody else can listen, and it is gone with the two processes.

use contract::{Error, PEERS_LINK, PrivateLink, Result, SUBJECTS_LINK};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::os::fd::OwnedFd;

/// One end of it, for one machine.
#[derive(Debug)]
pub(crate) struct CableEnd {
    pub link: PrivateLink,
    pub socket: OwnedFd,
}

/// The end of the subject's guest, and that of the second one.
///
/// # Errors
/// When this process has no more descriptors.
pub(crate) fn cable() -> Result<(CableEnd, CableEnd)> {
    // A stream: QEMU puts the length before each packet, and waits where the other is slow.
    let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let (subjects, peers) =
        pair.map_err(|error| Error::environment("cannot join two guests", error))?;
    Ok((
        CableEnd { link: SUBJECTS_LINK, socket: subjects },
        CableEnd { link: PEERS_LINK, socket: peers },
    ))
}
