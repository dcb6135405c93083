//! The far side of one run: takes part in what it is asked, within its limits, and reports what
//! it counted.
//!
//! It contacts nobody: it answers on connections that the near side has made, and ends when the
//! control connection does.

use super::channel::Channel;
use super::connection::{PATIENCE, PATIENCE_NS, introduction};
use super::control::{
    Asked, FarAnswer, FarReport, MOST_CONNECTIONS, Order, Received, Sent, Test, read_hello,
};
use super::frame::{Preamble, SendingSide};
use super::pace::Pace;
use super::request::Requests;
use super::run_state::Course;
use super::{connect, datagrams, messages, request, stream};
use contract::Interrupt;
use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use sys::monotonic_ns;

/// How long a near side that is ready may wait before it begins: its trial is being prepared.
const BEGINS_NS: u64 = 120_000_000_000;
/// How long after the end of its time a run may still go on: what was due is sent, and read.
const ENDS_NS: u64 = 60_000_000_000;
/// When everything was sent, so long until it must have been read.
const READS: Duration = Duration::from_secs(5);
/// Between looks for a signal.
const GLANCE_NS: u64 = 200_000_000;

/// A connection of the near side.
struct Link {
    stream: Arc<TcpStream>,
    connection: u32,
    direction: SendingSide,
}

/// What a thread counted.
enum Counted {
    Answered(u64),
    Received(Vec<Received>),
    Sent(Sent),
}

/// Where data comes in.
enum Door {
    Tcp(TcpListener),
    Udp(UdpSocket),
}

/// What a thread does.
enum Work<'d> {
    Door(&'d Door),
    Link(Link),
}

struct Far<'f> {
    asked: Asked,
    peer: IpAddr,
    course: Course,
    interrupt: &'f Interrupt,
}

/// What was asked by the hello of a control connection that has just been made.
///
/// # Errors
/// Why no run can follow; the other side has been told.
pub(super) fn hear_hello(channel: &mut Channel, interrupt: &Interrupt) -> io::Result<Asked> {
    let until_ns = monotonic_ns() + PATIENCE_NS;
    while !channel.wait(GLANCE_NS)? {
        if interrupt.signal().is_some() {
            return Err(io::Error::other("it was told to end"));
        }
        if monotonic_ns() >= until_ns {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the client sent nothing"));
        }
    }
    let bytes = channel.receive_bytes(PATIENCE_NS)?;
    read_hello(&bytes).map_err(|why| {
        // One that does not listen misses nothing.
        let _ = channel.send(&FarAnswer::Refused { why: why.clone() });
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}

/// Takes part in a run.
///
/// # Errors
/// Why it failed; the other side has been told, where it still listens.
pub(super) fn take_part(
    channel: &mut Channel,
    asked: Asked,
    interrupt: &Interrupt,
) -> io::Result<()> {
    let peer = channel.stream().peer_addr()?.ip();
    let far = Far { asked, peer, course: Course::default(), interrupt };
    match far.run(channel) {
        Ok(report) => channel.send(&FarAnswer::Report(report)),
        Err(error) => {
            let _ = channel.send(&FarAnswer::Failed { why: error.to_string() });
            Err(error)
        }
    }
}

impl Far<'_> {
    fn run(&self, channel: &mut Channel) -> io::Result<FarReport> {
        let mut local = channel.stream().local_addr()?;
        local.set_port(0);
        let (door, port) = if self.asked.test == Test::Datagrams {
            let socket = UdpSocket::bind(local)?;
            let port = socket.local_addr()?.port();
            (Door::Udp(socket), port)
        } else {
            let listener = TcpListener::bind(local)?;
            let port = listener.local_addr()?.port();
            (Door::Tcp(listener), port)
        };
        channel.send(&FarAnswer::Accepted { port })?;
        let directions: &[SendingSide] = match self.asked.test {
            Test::Connect | Test::Datagrams => &[],
            Test::Request | Test::Stream | Test::Messages => &[SendingSide::Out],
            Test::StreamBoth => &[SendingSide::Out, SendingSide::In],
        };
        let works = match &door {
            Door::Tcp(listener) if !directions.is_empty() => {
                let links = self.attach(listener, directions)?;
                links.into_iter().map(Work::Link).collect()
            }
            door => vec![Work::Door(door)],
        };
        self.all(channel, works)
    }

    /// Does every work in a thread of its own, as the near side orders.
    fn all(&self, channel: &mut Channel, works: Vec<Work<'_>>) -> io::Result<FarReport> {
        std::thread::scope(|scope| {
            let (tell, counted) = mpsc::channel();
            let (mut threads, mut outcome) = (0, Ok(()));
            for work in works {
                let tell = tell.clone();
                let life = move || {
                    let done = match work {
                        Work::Door(door) => self.at_the_door(door),
                        Work::Link(link) => self.at(link),
                    };
                    if let Err(error) = &done {
                        self.course.fail(error.to_string());
                    }
                    // Nobody listens any more where the run is over.
                    let _ = tell.send(done);
                };
                let thread = std::thread::Builder::new().name("far".to_owned());
                match thread.spawn_scoped(scope, life) {
                    Ok(_) => threads += 1,
                    Err(error) => outcome = Err(error),
                }
            }
            // A thread that panics is then known by what it never tells.
            drop(tell);
            if let Err(error) = outcome.and_then(|()| self.follow(channel)) {
                self.course.fail(error.to_string());
            }
            self.gather(&counted, threads)
        })
    }

    /// Waits for the connections that were announced. Those of strangers are closed.
    fn attach(&self, listener: &TcpListener, directions: &[SendingSide]) -> io::Result<Vec<Link>> {
        use rustix::net::sockopt::{Timeout, set_socket_timeout};
        let until_ns = monotonic_ns() + PATIENCE_NS;
        let mut missing: BTreeSet<(u32, bool)> = BTreeSet::new();
        for connection in 0..u32::try_from(self.asked.connections).unwrap_or(u32::MAX) {
            missing.extend(directions.iter().map(|one| (connection, *one == SendingSide::In)));
        }
        let mut links = Vec::new();
        while !missing.is_empty() {
            let left = until_ns.saturating_sub(monotonic_ns());
            if left == 0 {
                let why = format!("{} data connections did not come", missing.len());
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            set_socket_timeout(
                listener,
                Timeout::Recv,
                Some(Duration::from_nanos(left.max(1000))),
            )?;
            let (stream, from) = match listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if is_passing(&error) => continue,
                Err(error) => return Err(error),
            };
            // A stranger is not listened to.
            if from.ip() != self.peer {
                continue;
            }
            let Ok(preamble) = introduction(&stream) else { continue };
            let place = (preamble.connection, preamble.direction == SendingSide::In);
            if preamble.run == self.asked.run && missing.remove(&place) {
                stream.set_nodelay(true)?;
                // It may be silent for as long as the run lasts, which has an end of its own.
                stream.set_read_timeout(None)?;
                stream.set_write_timeout(Some(PATIENCE))?;
                let stream = self.course.watch(stream);
                let Preamble { connection, direction, .. } = preamble;
                links.push(Link { stream, connection, direction });
            }
        }
        Ok(links)
    }

    /// A test whose connections come during the run, or are none.
    fn at_the_door(&self, door: &Door) -> io::Result<Counted> {
        match door {
            Door::Tcp(listener) => {
                connect::answer(listener, self.peer, self.asked.run, &self.course)
                    .map(Counted::Answered)
            }
            Door::Udp(socket) => {
                let count = |value| usize::try_from(value).unwrap_or(usize::MAX);
                let shape = (self.asked.run, count(self.asked.size), count(self.asked.connections));
                datagrams::receive(socket, self.peer, shape, &self.course).map(Counted::Received)
            }
        }
    }

    fn at(&self, link: Link) -> io::Result<Counted> {
        let Asked { run, test, warm_up_ns, duration_ns, .. } = self.asked;
        let size = usize::try_from(self.asked.size).unwrap_or(usize::MAX);
        let Link { stream, connection, direction } = &link;
        let requests = Requests { run, connection: *connection, size };
        let connection = u64::from(*connection);
        match (test, direction) {
            (Test::Request, _) => request::answer(stream, requests).map(Counted::Answered),
            (Test::Messages, _) => {
                messages::receive(stream, requests).map(|one| Counted::Received(vec![one]))
            }
            // Until the near side has told the end, and then as long as `gather` waits.
            (_, SendingSide::Out) => {
                stream::receive(stream, connection, size, warm_up_ns, u64::MAX)
                    .map(|one| Counted::Received(vec![one]))
            }
            (_, SendingSide::In) => {
                let Some(began_ns) = self.course.wait_for_begin() else {
                    return Err(io::Error::other("the run never began"));
                };
                let pace = Pace::new(began_ns, (warm_up_ns, duration_ns), 0, (0, 1));
                stream::send(stream, connection, size, &pace).map(Counted::Sent)
            }
        }
    }

    /// Does as the near side says until it has sent everything.
    ///
    /// # Errors
    /// When it says nothing in time, nothing that can be meant, or is gone.
    fn follow(&self, channel: &mut Channel) -> io::Result<()> {
        channel.send(&FarAnswer::Ready)?;
        match self.order(channel, BEGINS_NS)? {
            Order::Start => self.course.begin(monotonic_ns()),
            Order::Finish { .. } => return Err(io::Error::other("it ended before it began")),
        }
        match self.order(channel, self.asked.whole_ns() + ENDS_NS)? {
            Order::Finish { sent } if sent.len() as u64 <= MOST_CONNECTIONS => {
                self.course.finish(sent);
                Ok(())
            }
            _ => Err(io::Error::other("an order came where the end was due")),
        }
    }

    fn order(&self, channel: &mut Channel, within_ns: u64) -> io::Result<Order> {
        let until_ns = monotonic_ns() + within_ns;
        loop {
            if channel.wait(GLANCE_NS)? {
                return channel.receive(PATIENCE_NS);
            }
            if let Some(why) = self.course.failure() {
                return Err(io::Error::other(why));
            }
            if self.interrupt.signal().is_some() {
                return Err(io::Error::other("it was told to end"));
            }
            if monotonic_ns() >= until_ns {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the near side fell silent"));
            }
        }
    }

    /// What all threads counted, once everything has been read.
    fn gather(
        &self,
        counted: &Receiver<io::Result<Counted>>,
        threads: usize,
    ) -> io::Result<FarReport> {
        let mut report = FarReport::default();
        for _ in 0..threads {
            let one = counted.recv_timeout(READS).or_else(|_| {
                self.course.fail("a data connection stayed open after the end");
                counted.recv().map_err(|_| io::Error::other("a thread of the far side panicked"))
            })?;
            match one {
                Ok(Counted::Answered(count)) => report.answered += count,
                Ok(Counted::Received(some)) => report.received.extend(some),
                Ok(Counted::Sent(one)) => report.sent.push(one),
                // The course knows which failure was the first.
                Err(_) => {}
            }
        }
        if let Some(why) = self.course.failure() {
            return Err(io::Error::other(why));
        }
        report.received.sort_by_key(|one| one.connection);
        report.sent.sort_by_key(|one| one.connection);
        Ok(report)
    }
}

/// Whether accepting may go on after it.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
    )
}
