//! Data connections: how they are made, what the kernel knows of them, and how they end.

use super::frame::Preamble;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, socket_with, sockopt};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;
use sys::monotonic_ns;

/// What does not come within this time does not come. Three retries of a handshake fit in
/// (1, 3 and 7 s after its first attempt).
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// The same, as deadlines are counted.
pub(super) const PATIENCE_NS: u64 = 10_000_000_000;

/// How long a peer may take to say which run its connection belongs to.
const INTRODUCTION_NS: u64 = 2_000_000_000;
/// How long a full buffer may take to be read by the other side: 4 MiB (tcp_wmem) at 1 Mbit/s.
const DRAINS: Duration = Duration::from_secs(40);

/// A socket that is not connected and gives up after [`PATIENCE`].
///
/// # Errors
/// What the kernel answers.
pub(super) fn socket(to: &SocketAddr) -> io::Result<TcpStream> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let protocol = Some(ipproto::TCP);
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, protocol)?;
    let stream = TcpStream::from(socket);
    // Of a socket that blocks, the time for writing is that for connecting as well (socket(7)).
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Connects it, which is the handshake and nothing else.
///
/// # Errors
/// What the kernel answers.
#[inline]
pub(super) fn handshake(stream: &TcpStream, to: &SocketAddr) -> io::Result<()> {
    Ok(rustix::net::connect(stream, to)?)
}

/// A connection that says whose it is and does not wait for more before it sends.
///
/// # Errors
/// What the kernel answers.
pub(super) fn connect(to: &SocketAddr, preamble: Preamble) -> io::Result<TcpStream> {
    let mut stream = socket(to)?;
    handshake(&stream, to)?;
    stream.set_nodelay(true)?;
    stream.write_all(&preamble.encode())?;
    Ok(stream)
}

/// Hears whose a connection is that was taken: all of it in time, however little comes at once.
///
/// # Errors
/// When it is a stranger's, or silent.
pub(super) fn introduction(mut stream: &TcpStream) -> io::Result<Preamble> {
    let until_ns = monotonic_ns() + INTRODUCTION_NS;
    let mut bytes = [0; Preamble::LENGTH];
    let mut filled = 0;
    while filled < bytes.len() {
        let left_ns = until_ns.saturating_sub(monotonic_ns());
        if left_ns == 0 {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the client sent too little"));
        }
        // The kernel counts in microseconds, and none means for ever.
        stream.set_read_timeout(Some(Duration::from_nanos(left_ns.max(1000))))?;
        match stream.read(&mut bytes[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => filled += length,
            // Its time is looked at above.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                ) => {}
            Err(error) => return Err(error),
        }
    }
    Preamble::decode(&bytes).ok_or_else(|| io::Error::other("a stranger connected"))
}

/// Segments that were sent again since this connection began, that of the handshake included.
///
/// # Errors
/// What the kernel answers.
pub(super) fn retransmits(stream: &TcpStream) -> io::Result<u64> {
    // SAFETY: all bytes zero are a valid tcp_info.
    let mut known: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = libc::socklen_t::try_from(size_of::<libc::tcp_info>()).unwrap_or_default();
    // SAFETY: the kernel writes at most `length` bytes to `known`.
    let outcome = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut known).cast(),
            &raw mut length,
        )
    };
    let least = std::mem::offset_of!(libc::tcp_info, tcpi_total_retrans) + size_of::<u32>();
    if outcome == -1 {
        return Err(io::Error::last_os_error());
    }
    if (length as usize) < least {
        return Err(io::Error::other("the kernel does not count retransmits (TCP_INFO)"));
    }
    Ok(u64::from(known.tcpi_total_retrans))
}

/// Everything is sent: says so, and waits until the other side has read it and says the same.
///
/// # Errors
/// When it does not, or sends more.
pub(super) fn finish(mut stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(DRAINS))?;
    match stream.read(&mut [0])? {
        0 => Ok(()),
        _ => Err(io::Error::other("data came on a connection that goes the other way")),
    }
}

/// Closes it at once by a reset, so that neither side keeps it: what waits for late segments
/// after an orderly end would use up the ports of a test that connects ten thousand times.
///
/// # Errors
/// What the kernel answers.
pub(super) fn abort(stream: TcpStream) -> io::Result<()> {
    Ok(sockopt::set_socket_linger(stream.as_fd(), Some(Duration::ZERO))?)
}

/// The failure of a connection to the far side, in words.
pub(super) fn explain(what: &str, error: &io::Error) -> io::Error {
    let silence = || "the far side was silent for too long".to_owned();
    let why = match error.kind() {
        io::ErrorKind::ConnectionRefused => "the far side refused it".to_owned(),
        io::ErrorKind::ConnectionReset => "the far side reset it".to_owned(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => {
            "the far side closed it".to_owned()
        }
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => silence(),
        // What a connect(2) with a time limit answers at its end (socket(7), SO_SNDTIMEO).
        _ if error.raw_os_error() == Some(libc::EINPROGRESS) => silence(),
        _ => error.to_string(),
    };
    io::Error::new(error.kind(), format!("{what}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::time::Instant;

    #[test]
    fn a_client_that_introduces_itself_a_byte_at_a_time_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        let trickle = std::thread::spawn(move || {
            let pause = Duration::from_millis(300);
            // Each byte comes long before a time of two seconds for each would be over.
            while client.write_all(b"S").is_ok() {
                std::thread::sleep(pause);
            }
        });
        let began = Instant::now();
        let error = introduction(&stream).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
        assert!(began.elapsed() < Duration::from_nanos(10 * INTRODUCTION_NS));
        drop(stream);
        trickle.join().unwrap();
    }
}
