//! What joins two guests: a pair of sockets between their machines. It takes no address of the
//! host's, nobody else can listen, and it is gone with the two processes.

use contract::{Error, PEERS_LINK, PrivateLink, Result, SUBJECTS_LINK};
use model::CpuList;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::os::fd::OwnedFd;

/// One end of it, for one machine.
#[derive(Debug)]
pub(crate) struct CableEnd {
    pub link: PrivateLink,
    pub socket: OwnedFd,
    /// This machine's processors among those of both.
    pub share: Share,
}

/// Which processors of machines that stand side by side are one machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    /// Those of machines before it.
    pub before: usize,
    pub own: usize,
    pub all: usize,
}

impl Share {
    /// A machine that stands alone.
    pub(crate) fn alone(own: usize) -> Self {
        Self { before: 0, own, all: own }
    }

    /// A CPU for each of its processors, that no other machine's has; `None` where there are
    /// too few for all machines, which then share them.
    pub(crate) fn of(self, cpus: &CpuList) -> Option<Vec<usize>> {
        (cpus.len() >= self.all).then(|| cpus.iter().skip(self.before).take(self.own).collect())
    }
}

/// The end of the subject's guest, and that of the second one, which have so many processors.
///
/// # Errors
/// When this process has no more descriptors.
pub(crate) fn cable([subjects, peers]: [usize; 2]) -> Result<(CableEnd, CableEnd)> {
    let all = subjects + peers;
    let shares = [(0, subjects), (subjects, peers)].map(|(before, own)| Share { before, own, all });
    // A stream: QEMU puts the length before each packet, and waits where the other is slow.
    let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let (subjects, peers) =
        pair.map_err(|error| Error::environment("cannot join two guests", error))?;
    Ok((
        CableEnd { link: SUBJECTS_LINK, socket: subjects, share: shares[0] },
        CableEnd { link: PEERS_LINK, socket: peers, share: shares[1] },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_guests_have_no_cpu_in_common_and_share_where_there_are_too_few() {
        let (subjects, peers) = cable([2, 1]).unwrap();
        let cpus: CpuList = "0-1,4-5".parse().unwrap();
        assert_eq!(subjects.share.of(&cpus), Some(vec![0, 1]));
        assert_eq!(peers.share.of(&cpus), Some(vec![4]));
        let few: CpuList = "0-1".parse().unwrap();
        assert_eq!((subjects.share.of(&few), peers.share.of(&few)), (None, None));
        assert_eq!(Share::alone(2).of(&few), Some(vec![0, 1]));
    }
}
