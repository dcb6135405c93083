//! The test `connect`: handshakes, each on a connection of its own.

use super::connection::{abort, explain, handshake, introduction, retransmits, socket};
use super::frame::{Preamble, SendingSide};
use super::pace::Pace;
use super::run_state::Course;
use super::thread_result::ThreadResult;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;
use sys::monotonic_ns;

/// From here on a handshake waited for a retry, whatever TCP_INFO says: the first timer of a SYN
/// is one second (RFC 6298, 2.1; TCP_TIMEOUT_INIT of Linux).
pub(super) const RETRY_NS: u64 = 1_000_000_000;
/// What the far side answers when it has taken a connection.
const TAKEN: u8 = 0x5a;
/// Between looks of the far side whether the run is over.
const GLANCE: Duration = Duration::from_millis(100);

/// The near side: connects again and again. A handshake that needed a retry is counted, and is
/// no latency: what it measures is a timer.
///
/// # Errors
/// The first connection that cannot be made.
pub(super) fn ask(
    to: &SocketAddr,
    run: u64,
    index: u32,
    mut pace: Pace,
    course: &Course,
) -> io::Result<ThreadResult> {
    let preamble = Preamble { run, connection: index, direction: SendingSide::Out }.encode();
    let mut part = ThreadResult::none();
    while let Some(turn) = pace.next()? {
        if course.is_over() {
            return Err(io::Error::other("the run was given up"));
        }
        let named = |error: io::Error| explain("a connection failed", &error);
        let mut stream = socket(to).map_err(named)?;
        let began_ns = monotonic_ns();
        handshake(&stream, to).map_err(named)?;
        let ended_ns = monotonic_ns();
        let resent = retransmits(&stream).map_err(named)?;
        part.made += 1;
        if turn.is_measured {
            part.note(began_ns, ended_ns);
            if is_retried(resent, ended_ns - began_ns) {
                part.retries += 1;
            } else {
                part.times.record(ended_ns - began_ns);
            }
        }
        // Whether it was taken: the kernel shakes hands for a program that takes no connection.
        stream.write_all(&preamble).map_err(named)?;
        let mut answer = [0];
        stream.read_exact(&mut answer).map_err(named)?;
        if answer != [TAKEN] {
            return Err(io::Error::other("a connection was answered with something else"));
        }
        abort(stream)?;
    }
    part.lateness = pace.lateness;
    Ok(part)
}

/// The far side: takes connections until the run is over; how many there were.
///
/// # Errors
/// What the kernel answers.
pub(super) fn answer(
    listener: &TcpListener,
    peer: IpAddr,
    run: u64,
    course: &Course,
) -> io::Result<u64> {
    set_socket_timeout(listener, Timeout::Recv, Some(GLANCE))?;
    let mut answered = 0;
    while !course.is_over() {
        match listener.accept() {
            Ok((stream, from)) => {
                answered += u64::from(from.ip() == peer && take(stream, run).is_ok());
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                // The near side has heard of every connection that it made.
                if course.finishing().is_some() {
                    break;
                }
            }
            // Ended while it waited to be taken: the next one may live.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted
                ) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(answered)
}

/// # Errors
/// When the peer does not belong to this run.
fn take(mut stream: TcpStream, run: u64) -> io::Result<()> {
    if introduction(&stream)?.run != run {
        return Err(io::Error::other("a stranger connected"));
    }
    stream.write_all(&[TAKEN])
}

fn is_retried(retransmits: u64, took_ns: u64) -> bool {
    retransmits > 0 || took_ns >= RETRY_NS
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};

    #[test]
    fn a_handshake_that_waited_for_a_timer_is_a_retry() {
        assert!(!is_retried(0, RETRY_NS - 1));
        assert!(is_retried(1, 1) && is_retried(0, RETRY_NS));
    }

    /// Whether the kernel has sent a SYN to this port that nothing answered: the state is `TCP_SYN_SENT`,
    /// and the timer that of its repetition (Linux 6.12, Documentation/networking/proc_net_tcp.rst).
    fn is_asked_for(port: u16) -> bool {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let to = format!(":{port:04X}");
        let is_it = |line: &str| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            matches!(
                columns.as_slice(),
                [_, _, remote, "02", _, timer, ..]
                    if remote.ends_with(&to) && timer.starts_with("01:")
            )
        };
        table.lines().any(is_it)
    }

    /// The kernel drops the SYN of a connection for which a listener has no room, and sends it
    /// again a second later.
    #[test]
    fn a_lost_handshake_is_seen_in_the_kernels_counters() {
        let flags = SocketFlags::CLOEXEC;
        let socket_of_listener =
            socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
        let local: SocketAddr = "127.0.0.1:0".parse().unwrap();
        bind(&socket_of_listener, &local).unwrap();
        listen(&socket_of_listener, 0).unwrap();
        let listener = TcpListener::from(socket_of_listener);
        let to = listener.local_addr().unwrap();
        // A backlog of 0 has room for one connection that nobody has taken.
        let first = socket(&to).unwrap();
        handshake(&first, &to).unwrap();
        assert_eq!(retransmits(&first).unwrap(), 0);
        let taker = std::thread::spawn(move || {
            // Long before it is repeated, and not before it was lost.
            while !is_asked_for(to.port()) {
                std::thread::sleep(Duration::from_millis(10));
            }
            std::thread::sleep(Duration::from_millis(50));
            [listener.accept().unwrap(), listener.accept().unwrap()]
        });
        let second = socket(&to).unwrap();
        let began_ns = monotonic_ns();
        handshake(&second, &to).unwrap();
        let took_ns = monotonic_ns() - began_ns;
        let resent = retransmits(&second).unwrap();
        assert!(resent > 0 && took_ns > RETRY_NS / 2, "{resent} retransmits in {took_ns} ns");
        taker.join().unwrap();
    }
}
