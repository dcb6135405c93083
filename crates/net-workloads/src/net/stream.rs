//! The tests `stream` and `stream_both`: bytes as fast as the other side takes them.

use super::connection::{explain, finish, retransmits};
use super::control::{Received, Sent};
use super::pace::Pace;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use sys::monotonic_ns;

/// Sends until the time is over, and waits until everything was read.
///
/// # Errors
/// The connection's failure.
pub(super) fn send(
    mut stream: &TcpStream,
    connection: u64,
    size: usize,
    pace: &Pace,
) -> io::Result<Sent> {
    let bytes = vec![0x55; size];
    let mut sent = Sent { connection, began_ns: u64::MAX, ..Sent::default() };
    let named = |error: io::Error| explain(&format!("stream {connection} failed"), &error);
    loop {
        let now_ns = monotonic_ns();
        if now_ns >= pace.ends_ns() {
            break;
        }
        let length = match stream.write(&bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            outcome => outcome.map_err(named)? as u64,
        };
        sent.total += length;
        if now_ns >= pace.measured_from_ns() {
            sent.began_ns = sent.began_ns.min(now_ns);
            sent.measured += length;
        }
    }
    sent.ended_ns = monotonic_ns();
    sent.began_ns = sent.began_ns.min(sent.ended_ns);
    finish(stream).map_err(named)?;
    sent.retransmits = retransmits(stream).map_err(named)?;
    Ok(sent)
}

/// Receives until no more comes, or until it should not come any more. The measured span begins
/// with the first read after the warm-up, and what that one brought belongs to the time before.
///
/// # Errors
/// The connection's failure.
pub(super) fn receive(
    mut stream: &TcpStream,
    connection: u64,
    size: usize,
    warm_up_ns: u64,
    until_ns: u64,
) -> io::Result<Received> {
    let mut bytes = vec![0; size];
    let mut received = Received { connection, ..Received::default() };
    let (mut measures_from_ns, mut is_measuring) = (None, false);
    loop {
        let length = match stream.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(explain(&format!("stream {connection} failed"), &error)),
            Ok(0) => return Ok(received),
            Ok(length) => length as u64,
        };
        let now_ns = monotonic_ns();
        if now_ns > until_ns {
            return Err(io::Error::other(format!("stream {connection} goes on after its end")));
        }
        received.total += length;
        let from_ns = *measures_from_ns.get_or_insert(now_ns + warm_up_ns);
        if is_measuring {
            received.measured += length;
            received.ended_ns = now_ns;
        } else if now_ns >= from_ns {
            is_measuring = true;
            (received.began_ns, received.ended_ns) = (now_ns, now_ns);
        }
    }
}
