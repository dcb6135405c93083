//! The test `datagrams`: small messages over UDP, of which some are lost and some overtaken.

use super::connection::{PATIENCE, explain};
use super::control::{Received, Sent};
use super::frame::Stamp;
use super::pace::Pace;
use super::request::Requests;
use super::run_state::Course;
use super::sequence::Sequence;
use super::thread_result::ThreadResult;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;
use sys::monotonic_ns;

/// The largest that UDP carries over IPv4: 65,535 without both headers.
pub(super) const LARGEST: u64 = 65_507;
/// Between looks of the far side whether the run is over.
const GLANCE: Duration = Duration::from_millis(100);
/// When all is sent and nothing has come for so long, the rest is lost. What says that all is
/// sent took the same way, so that only what was overtaken can still come.
const QUIET_NS: u64 = 300_000_000;
/// The end of waiting for the rest, whatever still comes.
const LATEST_NS: u64 = 4_000_000_000;

/// The near side.
///
/// # Errors
/// The socket's failure; a far side at which nobody listens.
pub(super) fn send(
    to: &SocketAddr,
    datagrams: Requests,
    mut pace: Pace,
    course: &Course,
) -> io::Result<ThreadResult> {
    let Requests { run, connection, size } = datagrams;
    let named = |error: io::Error| explain(&format!("socket {connection} failed"), &error);
    let any: IpAddr =
        if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).map_err(named)?;
    socket.connect(to).map_err(named)?;
    socket.set_write_timeout(Some(PATIENCE)).map_err(named)?;
    let mut message = vec![0; size];
    let mut part = ThreadResult::none();
    while let Some(turn) = pace.next()? {
        if course.is_over() {
            return Err(io::Error::other("the run was given up"));
        }
        let is_measured = turn.is_measured;
        let sequence = if is_measured { part.measured } else { part.made };
        Stamp { run, sequence, connection, is_measured }.write(&mut message);
        match socket.send(&message) {
            Ok(_) => {}
            // The kernel has dropped it on its way out, as any other place might have.
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {}
            Err(error) => return Err(named(error)),
        }
        part.made += 1;
        if is_measured {
            part.note(turn.due_ns, turn.due_ns);
        }
    }
    part.ended_ns = monotonic_ns();
    part.sent = Some(Sent {
        connection: u64::from(connection),
        total: part.measured,
        measured: part.measured,
        began_ns: part.began_ns.min(part.ended_ns),
        ended_ns: part.ended_ns,
        retransmits: 0,
    });
    part.lateness = pace.lateness;
    Ok(part)
}

/// What came of one connection.
struct Arrivals {
    sequence: Sequence,
    began_ns: u64,
    ended_ns: u64,
}

/// The far side: counts what comes from this address for this run, until everything has come or
/// nothing more does. It answers nobody, so that no forged sender makes it send anything.
///
/// # Errors
/// What the kernel answers.
pub(super) fn receive(
    socket: &UdpSocket,
    peer: IpAddr,
    (run, size, connections): (u64, usize, usize),
    course: &Course,
) -> io::Result<Vec<Received>> {
    socket.set_read_timeout(Some(GLANCE))?;
    let mut arrivals: Vec<Arrivals> = (0..connections)
        .map(|_| Arrivals { sequence: Sequence::new(), began_ns: 0, ended_ns: 0 })
        .collect();
    // One more than is right, so that a longer one is not taken for one of ours.
    let mut message = vec![0; size + 1];
    let mut distinct = 0;
    let (mut last_ns, mut finishing_ns) = (monotonic_ns(), None);
    while !course.is_over() {
        match socket.recv_from(&mut message) {
            Ok((length, from)) => {
                last_ns = monotonic_ns();
                let stamp = Stamp::read(&message[..length]).filter(|stamp| {
                    length == size && from.ip() == peer && stamp.run == run && stamp.is_measured
                });
                let place = stamp.and_then(|stamp| usize::try_from(stamp.connection).ok());
                if let (Some(stamp), Some(place)) = (stamp, place)
                    && let Some(arrived) = arrivals.get_mut(place)
                {
                    distinct += arrived.note(stamp.sequence, last_ns);
                }
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            Err(error) => return Err(error),
        }
        if let Some(sent) = course.finishing() {
            let now_ns = monotonic_ns();
            let since_ns = now_ns - *finishing_ns.get_or_insert(now_ns);
            let all = sent.iter().fold(0, |sum: u64, one| sum.saturating_add(*one));
            let is_quiet = now_ns.saturating_sub(last_ns) >= QUIET_NS && since_ns >= QUIET_NS;
            if distinct >= all || is_quiet || since_ns >= LATEST_NS {
                break;
            }
        }
    }
    let counted = arrivals.iter().zip(0..);
    Ok(counted.map(|(arrived, connection)| arrived.counted(connection)).collect())
}

impl Arrivals {
    /// Whether it came for the first time, as a number.
    fn note(&mut self, number: u64, now_ns: u64) -> u64 {
        let before = self.sequence.distinct;
        self.sequence.note(number);
        if before == 0 {
            self.began_ns = now_ns;
        }
        self.ended_ns = now_ns;
        self.sequence.distinct - before
    }

    fn counted(&self, connection: u64) -> Received {
        let Sequence { distinct, repeated, reordered, stale, .. } = self.sequence;
        Received {
            connection,
            total: distinct,
            // The first begins the span.
            measured: distinct.saturating_sub(1),
            began_ns: self.began_ns,
            ended_ns: self.ended_ns,
            repeated: repeated + stale,
            reordered,
        }
    }
}
