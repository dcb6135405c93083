//! One end of a TCP connection that never blocks, neither on reading nor on writing.

use super::frame::{Frame, LEAST};
use super::frame_assembly::Assembly;
use super::pool::Pool;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// Read at once.
const CHUNK: usize = 64 << 10;
/// Clients that may wait until they are accepted.
const BACKLOG: i32 = 1024;
/// Until a socket whose buffer was full is tried again. Full buffers hold megabytes: to wait a
/// little longer than the kernel would changes nothing, and nobody has to be woken for room.
pub(super) const ROOM_PAUSE: Duration = Duration::from_micros(200);

/// A connection and what of it has been read but is no whole frame yet.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    assembly: Assembly,
    longest: usize,
}

/// What reading gave.
pub(super) enum Read {
    /// There may be frames.
    Some,
    /// Nothing is there now.
    Nothing,
    /// The other end is closed.
    Closed,
}

impl Connection {
    /// Takes over a stream whose frames have at most so many bytes of payload.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn new(stream: TcpStream, payload: usize) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, assembly: Assembly::default(), longest: LEAST + payload })
    }

    /// Connects to a port of this machine.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn to(port: u16, payload: usize) -> io::Result<Self> {
        Self::new(TcpStream::connect(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?, payload)
    }

    /// Reads once.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn read(&mut self, buffer: &mut Buffer) -> io::Result<Read> {
        loop {
            return match rustix::net::recv(
                &self.stream,
                &mut buffer.0[..],
                rustix::net::RecvFlags::empty(),
            ) {
                Ok((0, _)) => Ok(Read::Closed),
                Ok((length, _)) => {
                    self.assembly.add(&buffer.0[..length]);
                    Ok(Read::Some)
                }
                Err(Errno::AGAIN) => Ok(Read::Nothing),
                Err(Errno::INTR) => continue,
                Err(error) => Err(error.into()),
            };
        }
    }

    /// Adds what was read otherwise.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.assembly.add(bytes);
    }

    /// The next whole frame of what was read, in the pool's memory.
    ///
    /// # Errors
    /// When the stream is out of step.
    pub(super) fn frame(&mut self, pool: &Pool) -> io::Result<Option<Frame>> {
        self.assembly.next(self.longest, pool).map_err(io::Error::other)
    }

    pub(super) fn stream(&self) -> &TcpStream {
        &self.stream
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// Room for one read.
pub(super) struct Buffer(Box<[u8]>);

impl Buffer {
    pub(super) fn new() -> Self {
        Self(vec![0; CHUNK].into_boxed_slice())
    }
}

/// What waits for room in a socket's buffer. A process that waited there itself would read nothing
/// meanwhile, and three processes that write to each other in a ring could wait for ever.
#[derive(Debug, Default)]
pub(super) struct Outbox(VecDeque<u8>);

impl Outbox {
    /// Whether everything was written.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes a frame, or what of it there is room for; [`Self::flush`] writes the rest.
    ///
    /// # Errors
    /// What the kernel answers.
    #[inline]
    pub(super) fn send(&mut self, to: impl AsFd, frame: &Frame) -> io::Result<()> {
        let bytes = frame.bytes();
        let written = if self.is_empty() { write(&to, bytes)? } else { 0 };
        self.0.extend(&bytes[written..]);
        Ok(())
    }

    /// Writes what waits, as far as there is room; whether that was all.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn flush(&mut self, to: impl AsFd) -> io::Result<bool> {
        while !self.is_empty() {
            let (front, _) = self.0.as_slices();
            let (written, whole) = (write(&to, front)?, front.len());
            self.0.drain(..written);
            if written < whole {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Writes as many of the bytes as there is room for.
#[inline]
fn write(to: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match rustix::net::send(&to, &bytes[written..], rustix::net::SendFlags::NOSIGNAL) {
            Ok(length) => written += length,
            Err(Errno::AGAIN) => break,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(written)
}

/// A listener on this machine that shares its port with others of the process
/// (SO_REUSEPORT): the kernel deals clients out. Port 0 is any that is free.
///
/// # Errors
/// What the kernel answers.
pub(super) fn listen(port: u16, is_shared: bool) -> io::Result<TcpListener> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    // A port that served a moment ago is free, although old connections linger (TIME_WAIT).
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if is_shared {
        sockopt::set_socket_reuseport(&socket, true)?;
    }
    rustix::net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(TcpListener::from(socket))
}
