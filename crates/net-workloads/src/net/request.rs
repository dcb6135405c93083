//! The test `request`: a message there, and the same message back.

use super::connection::{PATIENCE_NS, explain, retransmits};
use super::control::Sent;
use super::frame::Stamp;
use super::pace::{Pace, Turn};
use super::thread_result::ThreadResult;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use sys::monotonic_ns;
use workload_parts::instant::timespec;

/// Whose requests these are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Requests {
    pub(super) run: u64,
    pub(super) connection: u32,
    pub(super) size: usize,
}

/// The near side.
///
/// # Errors
/// A reply that does not come, comes out of order or is damaged; the connection's failure.
pub(super) fn ask(
    stream: &TcpStream,
    requests: Requests,
    mut pace: Pace,
) -> io::Result<ThreadResult> {
    let mut part = ThreadResult::none();
    let number = requests.connection;
    let outcome = if pace.is_open() {
        open(stream, requests, &mut pace, &mut part)
    } else {
        closed(stream, requests, &mut pace, &mut part)
    };
    outcome.map_err(|error| explain(&format!("connection {number} failed"), &error))?;
    part.lateness = pace.lateness;
    part.sent = Some(Sent {
        connection: u64::from(number),
        total: part.made,
        measured: part.measured,
        began_ns: part.began_ns,
        ended_ns: part.ended_ns,
        retransmits: retransmits(stream)?,
    });
    Ok(part)
}

/// Each request waits for the reply to the one before.
fn closed(
    mut stream: &TcpStream,
    requests: Requests,
    pace: &mut Pace,
    part: &mut ThreadResult,
) -> io::Result<()> {
    let (mut message, mut reply) = (vec![0; requests.size], vec![0; requests.size]);
    while let Some(turn) = pace.next()? {
        requests.stamp(part.made, turn).write(&mut message);
        let began_ns = monotonic_ns();
        stream.write_all(&message)?;
        stream.read_exact(&mut reply)?;
        let ended_ns = monotonic_ns();
        requests.check(&reply, part.made, turn)?;
        part.made += 1;
        if turn.is_measured {
            part.times.record(ended_ns - began_ns);
            part.note(began_ns, ended_ns);
        }
    }
    Ok(())
}

/// Requests begin when they are due; a connection that takes no more makes the next ones late.
fn open(
    stream: &TcpStream,
    requests: Requests,
    pace: &mut Pace,
    part: &mut ThreadResult,
) -> io::Result<()> {
    let (mut message, mut reply) = (vec![0; requests.size], vec![0; requests.size]);
    // How much of the message is sent, and of the reply is there.
    let (mut gone, mut there) = (requests.size, 0);
    let mut under_way: VecDeque<Turn> = VecDeque::new();
    let (mut sent, mut heard_ns) = (0, monotonic_ns());
    loop {
        let now_ns = monotonic_ns();
        let next = pace.peek();
        if gone == requests.size
            && let Some(turn) = next.filter(|turn| turn.due_ns <= now_ns)
        {
            pace.begin(turn, now_ns)?;
            requests.stamp(sent, turn).write(&mut message);
            sent += 1;
            if under_way.is_empty() {
                heard_ns = now_ns;
            }
            under_way.push_back(turn);
            gone = 0;
        }
        if gone < requests.size {
            gone +=
                some(send(stream, &message[gone..], SendFlags::DONTWAIT | SendFlags::NOSIGNAL))?;
        }
        while !under_way.is_empty() {
            let length = match recv(stream, &mut reply[there..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok((length, _)) => length,
                Err(Errno::AGAIN | Errno::INTR) => break,
                Err(error) => return Err(error.into()),
            };
            there += length;
            if there < requests.size {
                continue;
            }
            there = 0;
            heard_ns = monotonic_ns();
            let Some(turn) = under_way.pop_front() else { break };
            requests.check(&reply, part.made, turn)?;
            part.made += 1;
            if turn.is_measured {
                part.times.record(heard_ns - turn.due_ns);
                part.note(turn.due_ns, heard_ns);
            }
        }
        if next.is_none() && under_way.is_empty() {
            return Ok(());
        }
        if !under_way.is_empty() && monotonic_ns() - heard_ns > PATIENCE_NS {
            return Err(io::ErrorKind::TimedOut.into());
        }
        wait(stream, pace, gone < requests.size)?;
    }
}

/// Until there is a reply, room for the rest of a request, or the next request is due.
fn wait(stream: &TcpStream, pace: &Pace, is_sending: bool) -> io::Result<()> {
    let next_ns = if is_sending { None } else { pace.peek().map(|turn| turn.due_ns) };
    let left_ns = next_ns.map_or(PATIENCE_NS, |due_ns| due_ns.saturating_sub(monotonic_ns()));
    let wanted = if is_sending { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
    match poll(&mut [PollFd::new(stream, wanted)], Some(&timespec(left_ns.min(PATIENCE_NS)))) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn some(outcome: rustix::io::Result<usize>) -> io::Result<usize> {
    match outcome {
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        other => Ok(other?),
    }
}

impl Requests {
    fn stamp(self, sequence: u64, turn: Turn) -> Stamp {
        let Self { run, connection, .. } = self;
        Stamp { run, sequence, connection, is_measured: turn.is_measured }
    }

    fn check(self, reply: &[u8], sequence: u64, turn: Turn) -> io::Result<()> {
        if Stamp::read(reply) == Some(self.stamp(sequence, turn)) {
            return Ok(());
        }
        Err(io::Error::other(format!("what came is not the reply to request {sequence}")))
    }
}

/// The far side: sends back what comes, until no more does; how much that was.
///
/// # Errors
/// What is not the next request of this connection; the connection's failure.
pub(super) fn answer(mut stream: &TcpStream, requests: Requests) -> io::Result<u64> {
    let mut message = vec![0; requests.size];
    let mut answered = 0;
    loop {
        let mut there = 0;
        while there < message.len() {
            match stream.read(&mut message[there..]) {
                Ok(0) if there == 0 => return Ok(answered),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => there += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let stamp = Stamp::read(&message);
        let is_next = stamp.is_some_and(|stamp| {
            (stamp.run, stamp.connection, stamp.sequence)
                == (requests.run, requests.connection, answered)
        });
        if !is_next {
            return Err(io::Error::other(format!("what came is not request {answered}")));
        }
        stream.write_all(&message)?;
        answered += 1;
    }
}
