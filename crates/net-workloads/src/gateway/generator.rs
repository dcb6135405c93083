//! The load generator: requests of many sessions from one thread, and what became of each.

use super::clock::Spans;
use super::connection::{Buffer, Connection, Outbox, ROOM_PAUSE, Read};
use super::frame::{Frame, LEAST, Stamp};
use super::poller::{Poller, Waiting, impatient};
use super::pool::Pool;
use super::settings::{GatewaySettings, RequestGaps, Stage};
use super::stages::{Stages, StagesMessage};
use super::usage::Usage;
use model::Histogram;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io;

/// So long before a request of a rate is due the generator does nothing else: a look at the
/// sockets takes some 300 ns.
const ALERT_NS: f64 = 1_000.0;
/// Between looks whether a reply has not come for too long: they go over all sessions.
const GLANCE_NS: u64 = 100_000_000;
/// A reply that has not come by then is lost.
const PATIENCE_NS: u64 = 10_000_000_000;

/// What the generator measured.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    pub(super) stages: StagesMessage,
    /// From the first measured request to the last reply.
    pub(super) span: Spans,
    /// Of an open loop: how much later than intended requests were sent.
    pub(super) lateness: Option<String>,
    pub(super) usage: Usage,
}

struct ClientSession {
    connection: Connection,
    /// Of the request for which its socket has no room yet; no other goes before it.
    outbox: Outbox,
    frame: Frame,
    next: u64,
    under_way: VecDeque<UnderWay>,
}

/// A request that waits for its reply.
#[derive(Clone, Copy)]
struct UnderWay {
    sequence: u64,
    /// When it was meant to be sent; in a closed loop when it was.
    due_ns: u64,
    /// When it was sent, by a reading that the frame does not carry.
    began_ns: u64,
    is_measured: bool,
}

struct Generator<'s> {
    settings: &'s GatewaySettings,
    sessions: Vec<ClientSession>,
    poller: Poller,
    buffer: Buffer,
    pool: Pool,
    /// Whose turn it is.
    turn: usize,
    /// Sessions whose sockets have no room.
    stuck: Vec<usize>,
    /// When the last reply was read.
    heard_ns: u64,
    sent: u64,
    received: u64,
    stages: Stages,
    lateness: Histogram,
    usage: Usage,
    began: Option<Spans>,
}

/// Sends every request and waits for every reply.
///
/// # Errors
/// A reply that is lost, comes twice, comes to the wrong session or is damaged; a connection that
/// ends.
pub(super) fn generate(
    settings: &GatewaySettings,
    port: u16,
    is_ready: impl FnOnce() -> io::Result<()>,
) -> io::Result<Measured> {
    settings.generator.enter(0)?;
    // An open loop must not be woken too late to send: it stays awake.
    let waiting = if settings.rate.is_some() { Waiting::Poll } else { Waiting::Sleep };
    let poller = Poller::new(waiting)?.with_patience(PATIENCE_NS);
    let mut sessions = Vec::new();
    for number in 0..settings.sessions {
        let connection = Connection::to(port, settings.payload).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot connect to the gateway: {error}"))
        })?;
        poller.add(&connection, number as u64)?;
        let id = u32::try_from(number).unwrap_or(u32::MAX);
        let frame = Frame::request(id, 0, settings.payload);
        let outbox = Outbox::default();
        sessions.push(ClientSession {
            connection,
            outbox,
            frame,
            next: 0,
            under_way: VecDeque::new(),
        });
    }
    let mut generator = Generator {
        settings,
        sessions,
        poller,
        buffer: Buffer::new(),
        // One reply at a time, and none of them is allocated.
        pool: Pool::new(1, LEAST + settings.payload),
        turn: 0,
        stuck: Vec::new(),
        heard_ns: 0,
        sent: 0,
        received: 0,
        stages: Stages::default(),
        lateness: Histogram::new(),
        usage: Usage::default(),
        began: None,
    };
    is_ready()?;
    match settings.rate {
        None => generator.closed()?,
        Some(rate) => generator.open(rate)?,
    }
    let now = settings.clock.both();
    let span = now.since(generator.began.unwrap_or(now));
    generator.usage.end()?;
    Ok(Measured {
        stages: generator.stages.message(),
        span,
        lateness: settings.rate.map(|_| generator.lateness.encode()),
        usage: generator.usage,
    })
}

impl Generator<'_> {
    fn total(&self) -> u64 {
        self.settings.warm_up + self.settings.requests
    }

    /// Each reply lets the next request go.
    fn closed(&mut self) -> io::Result<()> {
        let (each, all) = self.settings.inflight;
        while self.received < self.total() {
            let mut idle = 0;
            while self.sent < self.total()
                && self.sent - self.received < all
                && idle < self.sessions.len()
            {
                let turn = self.turn;
                self.turn = (turn + 1) % self.sessions.len();
                let session = &self.sessions[turn];
                if (session.under_way.len() as u64) < each && session.outbox.is_empty() {
                    self.request(turn, None)?;
                    idle = 0;
                } else {
                    idle += 1;
                }
            }
            if self.flush()? {
                self.poller.wait(|| false, || true)?;
                self.read()?;
            } else if self.poller.look(Some(ROOM_PAUSE.as_nanos() as u64))? {
                self.read()?;
            } else {
                self.check_patience(self.settings.clock.now_ns())?;
            }
        }
        Ok(())
    }

    /// Writes what had no room; whether that was all.
    #[inline]
    fn flush(&mut self) -> io::Result<bool> {
        if self.stuck.is_empty() {
            return Ok(true);
        }
        let mut still = Vec::new();
        for number in std::mem::take(&mut self.stuck) {
            let session = &mut self.sessions[number];
            if !session.outbox.flush(&session.connection)? {
                still.push(number);
            }
        }
        self.stuck = still;
        Ok(self.stuck.is_empty())
    }

    /// The session whose turn it is, of those that have room.
    fn next_with_room(&mut self) -> Option<usize> {
        for _ in 0..self.sessions.len() {
            let turn = self.turn;
            self.turn = (turn + 1) % self.sessions.len();
            if self.sessions[turn].outbox.is_empty() {
                return Some(turn);
            }
        }
        None
    }

    /// Requests go when they are due, whatever became of the earlier ones.
    fn open(&mut self, rate: u64) -> io::Result<()> {
        let mut random = ChaCha8Rng::seed_from_u64(self.settings.seed);
        let mean_ns = 1e9 / rate as f64;
        let mut due_ns = self.settings.clock.now_ns() as f64;
        let mut looked_ns = 0;
        while self.received < self.total() {
            let now_ns = self.settings.clock.now_ns();
            let is_due = self.sent < self.total() && now_ns as f64 + ALERT_NS >= due_ns;
            // One for which no socket has room goes later, and is late.
            if is_due && let Some(turn) = self.next_with_room() {
                self.request(turn, Some(due_ns as u64))?;
                // The exponential gaps of a Poisson process, by inversion.
                let uniform = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                let gap = match self.settings.gaps {
                    RequestGaps::Constant => 1.0,
                    RequestGaps::Poisson => -libm::log1p(-uniform),
                };
                due_ns += mean_ns * gap;
            }
            self.flush()?;
            if self.poller.look(Some(0))? {
                self.read()?;
            } else if now_ns > looked_ns + GLANCE_NS {
                looked_ns = now_ns;
                self.check_patience(now_ns)?;
            }
        }
        Ok(())
    }

    /// Sends the session's next request when it is due; in a closed loop that is now.
    fn request(&mut self, turn: usize, due_ns: Option<u64>) -> io::Result<()> {
        let is_measured = self.sent >= self.settings.warm_up;
        let session = &mut self.sessions[turn];
        session.frame.renew(session.next);
        if is_measured && self.began.is_none() {
            self.began = Some(self.settings.clock.both());
        }
        let mut began_ns = self.settings.clock.now_ns();
        while due_ns.is_some_and(|due_ns| began_ns < due_ns) {
            std::hint::spin_loop();
            began_ns = self.settings.clock.now_ns();
        }
        session.frame.stamp(Stamp::Sent, self.settings.clock.now_ns());
        let due_ns = due_ns.unwrap_or(began_ns);
        session.under_way.push_back(UnderWay {
            sequence: session.next,
            due_ns,
            began_ns,
            is_measured,
        });
        session.next += 1;
        self.sent += 1;
        if is_measured && self.settings.rate.is_some() {
            self.lateness.record(began_ns.saturating_sub(due_ns));
        }
        self.settings.delay_in(Stage::ToGateway);
        session.outbox.send(&session.connection, &session.frame)?;
        if !session.outbox.is_empty() {
            self.stuck.push(turn);
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        for number in (0..).map_while(|index| self.poller.ready(index)) {
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            let session = &mut self.sessions[number];
            match session.connection.read(&mut self.buffer)? {
                Read::Nothing => continue,
                Read::Some => {}
                Read::Closed => {
                    return Err(io::Error::other(format!("the gateway closed session {number}")));
                }
            }
            // The end of the last stage, and that of the round trip: each has a reading.
            let read_ns = self.settings.clock.now_ns();
            let ended_ns = self.settings.clock.now_ns();
            self.heard_ns = read_ns;
            while let Some(frame) = session.connection.frame(&self.pool)? {
                let expected = session.under_way.pop_front();
                let request = matched(&frame, number, expected).map_err(io::Error::other)?;
                self.received += 1;
                self.usage.count();
                if request.is_measured {
                    let round_trip = (request.due_ns, request.began_ns, ended_ns);
                    self.stages.note(&frame, read_ns, round_trip).map_err(io::Error::other)?;
                }
                self.pool.give(frame);
            }
        }
        Ok(())
    }

    /// # Errors
    /// When a reply has been waited for too long.
    fn check_patience(&self, now_ns: u64) -> io::Result<()> {
        let oldest = self.sessions.iter().filter_map(|session| session.under_way.front());
        match oldest.map(|request| request.began_ns).min() {
            Some(began_ns) if now_ns.saturating_sub(began_ns) > PATIENCE_NS => {
                let are_coming = now_ns.saturating_sub(self.heard_ns) < PATIENCE_NS / 2;
                Err(if are_coming { self.overloaded() } else { impatient(PATIENCE_NS) })
            }
            _ => Ok(()),
        }
    }

    /// Replies come, and yet one has been waited for too long: nothing is lost.
    fn overloaded(&self) -> io::Error {
        let (under_way, patience) =
            (self.sent - self.received, model::format_duration(PATIENCE_NS));
        io::Error::new(
            io::ErrorKind::TimedOut,
            format!(
                "the gateway is overloaded: {under_way} requests are under way, the oldest for \
                 more than {patience}, while replies come; lower the rate or what may be under way"
            ),
        )
    }
}

/// The request that a reply belongs to: the oldest of its session, for a session's requests go
/// one way.
fn matched(frame: &Frame, session: usize, expected: Option<UnderWay>) -> Result<UnderWay, String> {
    let told = frame.sequence();
    if frame.session() as usize != session {
        return Err(format!("session {session} got a reply of session {}", frame.session()));
    }
    let Some(expected) = expected else {
        return Err(format!("session {session} got reply {told} that it never asked for"));
    };
    if told < expected.sequence {
        return Err(format!("session {session} got reply {told} twice"));
    }
    if told > expected.sequence {
        return Err(format!("reply {} of session {session} is lost", expected.sequence));
    }
    if !frame.is_reply() {
        return Err(format!("reply {told} of session {session} is damaged"));
    }
    Ok(expected)
}
