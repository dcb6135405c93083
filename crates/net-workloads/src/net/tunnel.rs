//! Tunnels: links whose packets a process of ours carries (tun(4), Documentation/networking/tuntap.rst).

use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Longest name of a link with the zero after it (IFNAMSIZ).
const LONGEST_NAME: usize = libc::IFNAMSIZ;

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
