//! One end of a TCP connection that never blocks on reading.

use super::frame::{Assembly, Frame, LEAST};
use super::pool::Pool;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};

/// Read at once.
const CHUNK: usize = 64 << 10;
/// Clients that may wait until they are accepted.
const BACKLOG: i32 = 1024;

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

/// Writes a whole frame; waits where the socket's buffer is full.
///
/// # Errors
/// What the kernel answers.
pub(super) fn send(to: impl AsFd, frame: &Frame) -> io::Result<()> {
    let mut rest = frame.bytes();
    while !rest.is_empty() {
        match rustix::net::send(&to, rest, rustix::net::SendFlags::NOSIGNAL) {
            Ok(length) => rest = &rest[length..],
            Err(Errno::AGAIN) => {
                poll(&mut [PollFd::new(&to, PollFlags::OUT)], None)?;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
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
    if is_shared {
        sockopt::set_socket_reuseport(&socket, true)?;
    }
    rustix::net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(TcpListener::from(socket))
}
