//! The test `messages`: small messages over TCP, each sent at once, none answered.

use super::connection::{explain, finish, retransmits};
use super::control::{Received, Sent};
use super::frame::Stamp;
use super::pace::Pace;
use super::request::Requests;
use super::thread_result::ThreadResult;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use sys::monotonic_ns;

/// Read at once, where messages are smaller.
const CHUNK: usize = 64 << 10;

/// The near side.
///
/// # Errors
/// The connection's failure.
pub(super) fn send(
    mut stream: &TcpStream,
    messages: Requests,
    mut pace: Pace,
) -> io::Result<ThreadResult> {
    let Requests { run, connection, size } = messages;
    let named = |error: io::Error| explain(&format!("connection {connection} failed"), &error);
    let mut message = vec![0; size];
    let mut part = ThreadResult::none();
    while let Some(turn) = pace.next()? {
        let is_measured = turn.is_measured;
        Stamp { run, sequence: part.made, connection, is_measured }.write(&mut message);
        stream.write_all(&message).map_err(named)?;
        part.made += 1;
        if is_measured {
            part.note(turn.due_ns, turn.due_ns);
        }
    }
    part.ended_ns = monotonic_ns();
    finish(stream).map_err(named)?;
    part.sent = Some(Sent {
        connection: u64::from(connection),
        total: part.made,
        measured: part.measured,
        began_ns: part.began_ns.min(part.ended_ns),
        ended_ns: part.ended_ns,
        retransmits: retransmits(stream).map_err(named)?,
    });
    part.lateness = pace.lateness;
    Ok(part)
}

/// The far side: every message once and in order, until no more comes. The measured span begins
/// with the first measured message, which belongs to the time before.
///
/// # Errors
/// What is not the next message; the connection's failure.
pub(super) fn receive(mut stream: &TcpStream, messages: Requests) -> io::Result<Received> {
    let size = messages.size;
    let mut bytes = vec![0; CHUNK.max(size)];
    let mut held = 0;
    let mut received =
        Received { connection: u64::from(messages.connection), ..Received::default() };
    let mut is_measuring = false;
    loop {
        let length = match stream.read(&mut bytes[held..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            outcome => outcome?,
        };
        if length == 0 {
            if held > 0 {
                return Err(io::Error::other(format!(
                    "message {} ends in its middle",
                    received.total
                )));
            }
            return Ok(received);
        }
        let now_ns = monotonic_ns();
        held += length;
        let whole = held - held % size;
        for message in bytes[..whole].chunks_exact(size) {
            let is_measured = next(message, messages, received.total)?;
            received.total += 1;
            if is_measuring {
                received.measured += 1;
                received.ended_ns = now_ns;
            } else if is_measured {
                is_measuring = true;
                (received.began_ns, received.ended_ns) = (now_ns, now_ns);
            }
        }
        bytes.copy_within(whole..held, 0);
        held -= whole;
    }
}

/// Whether the message is a measured one.
fn next(message: &[u8], messages: Requests, number: u64) -> io::Result<bool> {
    match Stamp::read(message) {
        Some(stamp) if (stamp.run, stamp.connection) != (messages.run, messages.connection) => {
            Err(io::Error::other("a message of another run came"))
        }
        Some(stamp) if stamp.sequence == number => Ok(stamp.is_measured),
        Some(stamp) => Err(io::Error::other(format!(
            "message {} came where message {number} was due",
            stamp.sequence
        ))),
        None => Err(io::Error::other(format!("message {number} is damaged"))),
    }
}
