//! The gateway: workers of one process that each have clients and a connection to the exchange.

use super::clock::Clock;
use super::connection::{Connection, Outbox, ROOM_PAUSE, Read, listen};
use super::events::Events;
use super::frame::{Frame, LEAST, Stamp};
use super::pool::Pool;
use super::queue::Inbox;
use super::settings::{FrameMemory, GatewaySettings, Route, Stage};
use super::usage::Usage;
use contract::LaunchSpec;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::mem::ManuallyDrop;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

const LISTENER: u64 = u64::MAX;
const EXCHANGE: u64 = u64::MAX - 1;
const BELL: u64 = u64::MAX - 2;

/// What the gateway did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Served {
    /// Of each worker.
    pub(super) workers: Vec<Usage>,
    /// Requests and answers that went from one worker to another.
    pub(super) handoffs: u64,
    /// Wake-ups by eventfd.
    pub(super) rings: u64,
    /// Frames for which a pool had no room.
    pub(super) pool_misses: u64,
    /// Sessions of each worker: the kernel deals them out.
    pub(super) sessions: Vec<u64>,
}

/// What all workers know.
struct Gateway {
    settings: GatewaySettings,
    inboxes: Vec<Arc<Inbox>>,
    /// Writing ends of the clients, by session.
    clients: Vec<OnceLock<TcpStream>>,
    pool: Pool,
    /// Whether a frame has come to any worker.
    has_begun: AtomicBool,
    accepted: AtomicU64,
    closed: AtomicU64,
    is_over: AtomicBool,
    handoffs: AtomicU64,
}

/// Runs the workers until every session is closed.
///
/// # Errors
/// The first failure of a worker, whose end is that of the process.
pub(super) fn serve(
    settings: &GatewaySettings,
    launch: &LaunchSpec,
    listeners: Vec<TcpListener>,
    exchange: u16,
    is_ready: impl FnOnce() -> io::Result<()>,
) -> io::Result<Served> {
    let gateway = Arc::new(Gateway::of(settings)?);
    // The first thread that fails ends the process; the others wait for what will never come.
    let failed = Arc::new(Mutex::new(None));
    let workers = listeners
        .into_iter()
        .enumerate()
        .map(|(index, listener)| Worker::new(&gateway, index, listener, exchange))
        .collect::<io::Result<Vec<_>>>()?;
    let (placed, are_placed) = mpsc::channel();
    let threads: Vec<_> = workers
        .into_iter()
        .map(|worker| {
            let (failed, launch, placed) = (Arc::clone(&failed), launch.clone(), placed.clone());
            let name = format!("gateway-{}", worker.index);
            std::thread::Builder::new().name(name).spawn(move || {
                let gateway = Arc::clone(&worker.gateway);
                let outcome = launch.enter_task().and_then(|()| worker.run(placed));
                outcome.map_err(|error| {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    gateway.end();
                })
            })
        })
        .collect::<io::Result<_>>()?;
    drop(placed);
    // One that could not be placed says nothing, and what failed says why.
    if are_placed.iter().count() == settings.workers {
        is_ready()?;
    }
    let ended: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
    if let Some(error) = failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // Its clients stay connected until this process ends, which tells why first: else the
        // generator could complain of closed sessions before that.
        std::mem::forget(gateway);
        return Err(error);
    }
    let mut served = Served {
        handoffs: gateway.handoffs.load(Ordering::SeqCst),
        pool_misses: gateway.pool.misses(),
        rings: gateway.inboxes.iter().map(|inbox| inbox.rings()).sum(),
        ..Served::default()
    };
    for worker in ended {
        let Ok(Ok((usage, sessions))) = worker else {
            return Err(io::Error::other("a worker of the gateway ended without a word"));
        };
        served.workers.push(usage);
        served.sessions.push(sessions);
    }
    Ok(served)
}

/// The listeners of the workers, on one port.
///
/// # Errors
/// What the kernel answers: the port may be in use.
pub(super) fn listeners(settings: &GatewaySettings) -> io::Result<(Vec<TcpListener>, u16)> {
    if settings.port != 0 {
        // Somebody else's that is shared would share its clients with ours, unnoticed.
        drop(listen(settings.port, false)?);
    }
    let first = listen(settings.port, settings.workers > 1)?;
    let port = first.local_addr()?.port();
    let others = (1..settings.workers).map(|_| listen(port, true));
    Ok((std::iter::once(Ok(first)).chain(others).collect::<io::Result<_>>()?, port))
}

impl Gateway {
    /// One that has served nobody yet.
    fn of(settings: &GatewaySettings) -> io::Result<Self> {
        let capacity =
            usize::try_from(settings.most_under_way()).unwrap_or(usize::MAX).min(1 << 20);
        let inbox = |_| {
            Inbox::new(settings.guard, settings.waiting, settings.bell, capacity + 1).map(Arc::new)
        };
        Ok(Self {
            settings: settings.clone(),
            inboxes: (0..settings.workers).map(inbox).collect::<io::Result<_>>()?,
            clients: (0..settings.sessions).map(|_| OnceLock::new()).collect(),
            pool: match settings.memory {
                FrameMemory::Pool => Pool::new(settings.pool_frames(), LEAST + settings.payload),
                FrameMemory::System => Pool::none(),
            },
            has_begun: AtomicBool::new(false),
            accepted: AtomicU64::new(0),
            closed: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            handoffs: AtomicU64::new(0),
        })
    }

    /// Lets every worker end.
    fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        for inbox in &self.inboxes {
            let _ = inbox.ring();
        }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    fn hand(&self, worker: usize, frame: Frame) -> io::Result<()> {
        self.handoffs.fetch_add(1, Ordering::Relaxed);
        self.inboxes[worker].put(frame)
    }

    /// The writing end of a session's client.
    fn client(&self, session: u32) -> io::Result<&TcpStream> {
        let client = self.clients.get(session as usize).and_then(OnceLock::get);
        client.ok_or_else(|| io::Error::other("a reply has no client"))
    }
}

struct Worker {
    gateway: Arc<Gateway>,
    index: usize,
    listener: TcpListener,
    exchange: Connection,
    /// What the exchange has no room for.
    requests: Outbox,
    /// What clients have no room for, by session: those alone that have none. Of one session
    /// one worker writes all replies.
    replies: BTreeMap<u32, Outbox>,
    events: Events,
    clients: BTreeMap<u64, Connection>,
    usage: Usage,
}

impl Worker {
    fn new(
        gateway: &Arc<Gateway>,
        index: usize,
        listener: TcpListener,
        exchange: u16,
    ) -> io::Result<Self> {
        let exchange = Connection::to(exchange, gateway.settings.payload)
            .map_err(|error| named("cannot connect to the exchange", &error))?;
        let mut events = Events::new(gateway.settings.engine, gateway.settings.waiting)?;
        events.add_listener(&listener, LISTENER)?;
        events.add(&exchange, EXCHANGE)?;
        events.add_bell(&gateway.inboxes[index], BELL)?;
        Ok(Self {
            gateway: Arc::clone(gateway),
            index,
            listener,
            exchange,
            requests: Outbox::default(),
            replies: BTreeMap::new(),
            events,
            clients: BTreeMap::new(),
            usage: Usage::default(),
        })
    }

    /// Serves until all sessions of all workers are closed: what it used, and how many clients
    /// it had.
    fn run(self, placed: Sender<()>) -> io::Result<(Usage, u64)> {
        // Its sockets are closed by the end of the process: after a failure their other ends would
        // complain of that before the reason is told.
        let mut own = ManuallyDrop::new(self);
        let accepted = own.serve(placed)?;
        Ok((std::mem::take(&mut own.usage), accepted))
    }

    fn serve(&mut self, placed: Sender<()>) -> io::Result<u64> {
        let gateway = Arc::clone(&self.gateway);
        gateway.settings.gateway.enter(self.index)?;
        let _ = placed.send(());
        drop(placed);
        let inbox = &gateway.inboxes[self.index];
        let (mut accepted, mut has_entered) = (0, false);
        while !gateway.is_over() {
            if !has_entered && gateway.has_begun.load(Ordering::Relaxed) {
                self.usage.enter();
                has_entered = true;
            }
            if self.flush()? {
                let begins = || !has_entered && gateway.has_begun.load(Ordering::Relaxed);
                let is_due = || !inbox.is_empty() || gateway.is_over() || begins();
                self.events.wait(is_due, || inbox.sleeps() && !gateway.is_over())?;
            } else {
                self.events.wait(|| true, || false)?;
                if self.events.ready(0).is_none() && inbox.is_empty() {
                    std::thread::sleep(ROOM_PAUSE);
                }
            }
            let found_ns = self.clock().now_ns();
            inbox.wakes();
            let mut index = 0;
            while let Some(number) = self.events.ready(index) {
                index += 1;
                match number {
                    LISTENER => accepted += self.accept(accepted)?,
                    EXCHANGE => self.hear_exchange()?,
                    BELL => inbox.silence(),
                    client => self.hear_client(client, found_ns)?,
                }
            }
            while let Some(frame) = inbox.take() {
                self.take(frame)?;
            }
        }
        self.usage.end()?;
        Ok(accepted)
    }

    /// Writes what had no room; whether that was all.
    #[inline]
    fn flush(&mut self) -> io::Result<bool> {
        if self.requests.is_empty() && self.replies.is_empty() {
            return Ok(true);
        }
        let mut is_all = self.requests.flush(&self.exchange)?;
        let gateway = &self.gateway;
        let mut outcome = Ok(());
        self.replies.retain(|session, outbox| {
            let flushed = gateway.client(*session).and_then(|client| outbox.flush(client));
            match flushed {
                Ok(is_empty) => {
                    is_all &= is_empty;
                    !is_empty
                }
                Err(error) => {
                    outcome = Err(error);
                    false
                }
            }
        });
        outcome.map(|()| is_all)
    }

    fn accept(&mut self, number: u64) -> io::Result<u64> {
        match self.listener.accept() {
            Ok((stream, _)) => {
                let all = self.gateway.accepted.fetch_add(1, Ordering::Relaxed) + 1;
                let client = Connection::new(stream, self.gateway.settings.payload)?;
                self.events.add(&client, number)?;
                // One too many is kept as all are: it may be the generator's, and not the stranger.
                self.clients.insert(number, client);
                if all > self.gateway.settings.sessions as u64 {
                    return Err(io::Error::other("somebody else has connected to its port"));
                }
                Ok(1)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            Err(error) => Err(error),
        }
    }

    fn hear_client(&mut self, number: u64, found_ns: u64) -> io::Result<()> {
        let clock = self.clock();
        let Some(client) = self.clients.get_mut(&number) else { return Ok(()) };
        let outcome =
            self.events.read(client, number).map_err(|error| named("a client", &error))?;
        let read_ns = clock.now_ns();
        match outcome {
            Read::Nothing => return Ok(()),
            Read::Some => {}
            Read::Closed => {
                self.events.remove(client, number)?;
                self.clients.remove(&number);
                let closed = self.gateway.closed.fetch_add(1, Ordering::SeqCst) + 1;
                if closed == self.gateway.settings.sessions as u64 {
                    self.gateway.end();
                }
                return Ok(());
            }
        }
        loop {
            let Some(client) = self.clients.get_mut(&number) else { return Ok(()) };
            let Some(mut frame) = client.frame(&self.gateway.pool)? else { return Ok(()) };
            // Some were sent while the worker was busy with others of the same wake-up.
            let is_later = frame.at(Stamp::Sent) > found_ns;
            frame.stamp(Stamp::Found, if is_later { read_ns } else { found_ns });
            frame.stamp(Stamp::Begun, clock.now_ns());
            frame.set_owner(self.index);
            let known = self
                .gateway
                .clients
                .get(frame.session() as usize)
                .ok_or_else(|| io::Error::other("a request names a session that is none"))?;
            if known.get().is_none() {
                let _ = known.set(client.stream().try_clone()?);
            }
            self.gateway.settings.delay_in(Stage::Gateway);
            if !self.gateway.has_begun.load(Ordering::Relaxed) {
                self.gateway.has_begun.store(true, Ordering::Relaxed);
            }
            self.usage.count();
            if self.gateway.settings.route == Route::Local {
                self.forward(frame)?;
            } else {
                frame.stamp(Stamp::Handed, clock.now_ns());
                self.gateway.settings.delay_in(Stage::Handoff);
                self.gateway.hand((self.index + 1) % self.gateway.settings.workers, frame)?;
            }
        }
    }

    fn clock(&self) -> Clock {
        self.gateway.settings.clock
    }

    /// Something that another worker has handed over.
    fn take(&mut self, mut frame: Frame) -> io::Result<()> {
        self.usage.count();
        if frame.at(Stamp::Answered) == 0 {
            frame.stamp(Stamp::Taken, self.clock().now_ns());
            self.forward(frame)
        } else {
            frame.stamp(Stamp::TakenBack, self.clock().now_ns());
            self.reply(frame)
        }
    }

    fn forward(&mut self, mut frame: Frame) -> io::Result<()> {
        frame.stamp(Stamp::Forwarded, self.clock().now_ns());
        let sent = self.requests.send(&self.exchange, &frame);
        sent.map_err(|error| named("the exchange", &error))?;
        self.gateway.pool.give(frame);
        Ok(())
    }

    /// Writes a reply to its client.
    fn reply(&mut self, mut frame: Frame) -> io::Result<()> {
        let session = frame.session();
        let client = self.gateway.client(session)?;
        frame.stamp(Stamp::Replied, self.clock().now_ns());
        self.gateway.settings.delay_in(Stage::ToClient);
        if let Some(outbox) = self.replies.get_mut(&session) {
            outbox.send(client, &frame)?;
        } else {
            let mut outbox = Outbox::default();
            outbox.send(client, &frame)?;
            if !outbox.is_empty() {
                self.replies.insert(session, outbox);
            }
        }
        self.gateway.pool.give(frame);
        Ok(())
    }

    fn hear_exchange(&mut self) -> io::Result<()> {
        match self
            .events
            .read(&mut self.exchange, EXCHANGE)
            .map_err(|error| named("the exchange", &error))?
        {
            Read::Nothing => return Ok(()),
            Read::Some => {}
            Read::Closed => return Err(io::Error::other("the exchange closed its connection")),
        }
        while let Some(mut frame) = self.exchange.frame(&self.gateway.pool)? {
            frame.stamp(Stamp::Answered, self.clock().now_ns());
            self.usage.count();
            if self.gateway.settings.route == Route::BothWays {
                frame.stamp(Stamp::HandedBack, self.clock().now_ns());
                self.gateway.settings.delay_in(Stage::HandoffBack);
                self.gateway.hand(frame.owner(), frame)?;
            } else {
                self.reply(frame)?;
            }
        }
        Ok(())
    }
}

fn named(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
