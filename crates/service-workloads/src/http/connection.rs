//! One connection of the generator: it never waits, and carries one request at a time.

use super::response::{Incoming, Response};
use rustix::net::{
    AddressFamily, SendFlags, SocketFlags, SocketType, ipproto, socket_with, sockopt,
};
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};

/// What became of a request on its connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Its answer is not here yet.
    Waits,
    /// Its answer is [`Connection::body`] and this.
    Answered(Response),
    /// There will be none, and the connection is of no more use.
    Broken(String),
}

/// A socket that does not block, and what goes and comes on it.
#[derive(Debug)]
pub(super) struct Connection {
    socket: TcpStream,
    is_connected: bool,
    outgoing: Vec<u8>,
    sent: usize,
    incoming: Incoming,
}

impl Connection {
    /// One that begins to connect.
    ///
    /// # Errors
    /// When there is no socket, or the kernel refuses at once.
    pub(super) fn begin(to: SocketAddr) -> io::Result<Self> {
        let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        let is_connected = match rustix::net::connect(&socket, &to) {
            Ok(()) => true,
            Err(rustix::io::Errno::INPROGRESS) => false,
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            socket: TcpStream::from(socket),
            is_connected,
            outgoing: Vec::new(),
            sent: 0,
            incoming: Incoming::default(),
        })
    }

    /// The kernel has told something of the socket: whether the handshake has ended by now.
    ///
    /// # Errors
    /// That it failed.
    pub(super) fn is_connected(&mut self) -> io::Result<bool> {
        if !self.is_connected {
            if let Err(error) = sockopt::socket_error(&self.socket)? {
                return Err(error.into());
            }
            // Without an error it is made or still on its way.
            self.is_connected = self.socket.peer_addr().is_ok();
        }
        Ok(self.is_connected)
    }

    /// Room for the next request.
    pub(super) fn room(&mut self) -> &mut Vec<u8> {
        self.outgoing.clear();
        self.sent = 0;
        &mut self.outgoing
    }

    /// Sends as much of the request as the socket takes.
    ///
    /// # Errors
    /// What the kernel answers.
    #[inline]
    pub(super) fn send(&mut self) -> io::Result<()> {
        while self.is_connected && self.sent < self.outgoing.len() {
            let rest = &self.outgoing[self.sent..];
            match rustix::net::send(&self.socket, rest, SendFlags::NOSIGNAL) {
                Ok(length) => self.sent += length,
                Err(rustix::io::Errno::AGAIN) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether the whole request is with the kernel.
    pub(super) fn is_sent(&self) -> bool {
        self.is_connected && self.sent == self.outgoing.len()
    }

    /// Takes what has come. `ends` says that the other side has closed, so that all of it must be
    /// read now.
    #[inline]
    pub(super) fn receive(&mut self, ends: bool, buffer: &mut [u8]) -> Progress {
        let mut is_closed = false;
        let mut broken = None;
        loop {
            match (&self.socket).read(buffer) {
                Ok(0) => {
                    is_closed = true;
                    break;
                }
                Ok(length) => {
                    self.incoming.feed(&buffer[..length]);
                    if self.incoming.is_excessive() {
                        return Progress::Broken("an answer without end".to_owned());
                    }
                    // A read that fills less has taken all there was (epoll(7)).
                    if length < buffer.len() && !ends {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // What came before may be an answer: servers that want no more of a request send
                // one and close.
                Err(error) => {
                    broken = Some(in_words(&error));
                    break;
                }
            }
        }
        match (self.incoming.response(is_closed), broken) {
            (Ok(Some(response)), broken) => Progress::Answered(Response {
                keeps_open: response.keeps_open && !is_closed && broken.is_none(),
                ..response
            }),
            (_, Some(why)) => Progress::Broken(why),
            (Ok(None), _) if !is_closed => Progress::Waits,
            (Ok(None), _) if self.incoming.is_empty() => {
                Progress::Broken("closed before an answer".to_owned())
            }
            (Ok(None), _) => Progress::Broken("closed in an answer".to_owned()),
            (Err(why), _) => Progress::Broken(why),
        }
    }

    /// The body of the answer.
    pub(super) fn body(&self) -> &[u8] {
        self.incoming.body()
    }

    /// The answer has been looked at.
    ///
    /// # Errors
    /// When more has come than the answer.
    pub(super) fn clear(&mut self) -> Result<(), String> {
        self.incoming.clear()
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A failure of a socket in the same words each time, so that failures can be counted by them.
pub(super) fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => "connection reset".to_owned(),
        io::ErrorKind::TimedOut => "handshake timed out".to_owned(),
        _ => error.to_string(),
    }
}
