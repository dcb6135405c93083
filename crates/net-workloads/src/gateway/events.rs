//! What a worker of the gateway waits for, by epoll or by io_uring.

use super::connection::{Buffer, Connection, Read};
use super::poller::{Poller, Waiting};
use super::queue::Inbox;
use super::ring::Ring;
use contract::WordChoice;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;

/// How the kernel tells what has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    /// epoll_wait(2) says what can be read, recv(2) reads it.
    Epoll,
    /// An io_uring receives by itself.
    Ring,
}

impl WordChoice for Engine {
    const WORDS: &'static [(&'static str, Self)] =
        &[("epoll", Self::Epoll), ("io_uring", Self::Ring)];
}

/// Files of one worker, each known by a number.
pub(super) enum Events {
    Epoll(Poller, Buffer),
    Ring(Box<Ring>),
}

impl Events {
    /// None yet.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn new(engine: Engine, waiting: Waiting) -> io::Result<Self> {
        Ok(match engine {
            Engine::Epoll => Self::Epoll(Poller::new(waiting)?, Buffer::new()),
            Engine::Ring => Self::Ring(Box::new(Ring::new(waiting)?)),
        })
    }

    /// Tells when somebody connects.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn add_listener(&mut self, listener: &TcpListener, number: u64) -> io::Result<()> {
        match self {
            Self::Epoll(poller, _) => poller.add(listener, number),
            Self::Ring(ring) => {
                ring.watch(listener, number);
                Ok(())
            }
        }
    }

    /// Tells what a connection sends.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn add(&mut self, connection: &Connection, number: u64) -> io::Result<()> {
        match self {
            Self::Epoll(poller, _) => poller.add(connection, number),
            Self::Ring(ring) => {
                ring.receive(connection, number);
                Ok(())
            }
        }
    }

    /// Tells when a queue's bell rings.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn add_bell(&mut self, inbox: &Arc<Inbox>, number: u64) -> io::Result<()> {
        match self {
            // A futex is no file: nobody can wait for it with epoll.
            Self::Epoll(poller, _) => inbox
                .file()
                .map_or(Err(io::ErrorKind::Unsupported.into()), |file| poller.add(file, number)),
            Self::Ring(ring) => {
                ring.hear(inbox, number);
                Ok(())
            }
        }
    }

    /// Looks after a connection no more.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn remove(&mut self, connection: &Connection, number: u64) -> io::Result<()> {
        match self {
            Self::Epoll(poller, _) => poller.remove(connection),
            Self::Ring(ring) => {
                ring.remove(number);
                Ok(())
            }
        }
    }

    /// Waits, as [`Poller::wait`] says.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn wait(
        &mut self,
        is_due: impl FnMut() -> bool,
        sleeps: impl FnMut() -> bool,
    ) -> io::Result<()> {
        match self {
            Self::Epoll(poller, _) => poller.wait(is_due, sleeps),
            Self::Ring(ring) => ring.wait(is_due, sleeps),
        }
    }

    /// The nth of what the last wait found.
    pub(super) fn ready(&self, index: usize) -> Option<u64> {
        match self {
            Self::Epoll(poller, _) => poller.ready(index),
            Self::Ring(ring) => ring.ready(index),
        }
    }

    /// Reads what a connection has sent.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn read(&mut self, connection: &mut Connection, number: u64) -> io::Result<Read> {
        match self {
            Self::Epoll(_, buffer) => connection.read(buffer),
            Self::Ring(ring) => Ok(match ring.received(number)? {
                None => Read::Nothing,
                Some([]) => Read::Closed,
                Some(bytes) => {
                    connection.add(bytes);
                    Read::Some
                }
            }),
        }
    }
}
