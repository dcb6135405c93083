//! The generator: one thread, many connections, requests that are sent when they are due.

use super::connection::{Connection, Progress, in_words};
use super::schedule::Schedule;
use super::settings::{Flow, HttpSettings};
use super::tally::Tally;
use super::value::{Drawn, below};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use std::collections::VecDeque;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use sys::monotonic_ns;
use workload_parts::instant::timespec;

/// Events taken at once.
const MOST_EVENTS: usize = 128;
/// What is read at once.
const READ_BYTES: usize = 64 << 10;
/// Between looks whether an answer has not come for too long: they go over all connections.
const GLANCE_NS: u64 = 50_000_000;
/// The timer's number among the events; connections count from 0.
const TIMER: u64 = u64::MAX;
/// The seeds of kinds are this far apart.
const STREAMS: u64 = 0x9e37_79b9_7f4a_7c15;

/// A request that is due.
#[derive(Debug, Clone, Copy)]
struct Due {
    kind: usize,
    due_ns: u64,
    is_measured: bool,
}

/// A request on its connection.
#[derive(Debug, Clone, Copy)]
struct Busy {
    due: Due,
    sent_ns: u64,
}

/// A place for a connection.
#[derive(Debug, Default)]
struct ConnectionSlot {
    connection: Option<Connection>,
    busy: Option<Busy>,
    /// Which connection of this seat it is: events of an earlier one are no one's.
    generation: u32,
}

/// The generator of one run.
#[derive(Debug)]
pub(super) struct Generator<'s> {
    settings: &'s HttpSettings,
    epoll: OwnedFd,
    timer: OwnedFd,
    slots: Vec<ConnectionSlot>,
    /// Seats without a request; the last one was used last.
    free: Vec<usize>,
    /// Requests for which no seat was free.
    waiting: VecDeque<Due>,
    drawn: Drawn,
    body: Vec<u8>,
    buffer: Vec<u8>,
    random: ChaCha8Rng,
    tally: Tally,
    began_ns: u64,
    glanced_ns: u64,
}

impl<'s> Generator<'s> {
    /// With its connections made, as far as that does not take waiting.
    ///
    /// # Errors
    /// When the kernel gives no files.
    pub(super) fn new(settings: &'s HttpSettings) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // Setting it anew makes its next end an event of its own: nobody has to read it.
        let when = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), when)?;
        Ok(Self {
            settings,
            epoll,
            timer,
            slots: (0..settings.connections).map(|_| ConnectionSlot::default()).collect(),
            free: (0..settings.connections).rev().collect(),
            waiting: VecDeque::new(),
            drawn: settings.scenario.values.drawn(),
            body: Vec::new(),
            buffer: vec![0; READ_BYTES],
            random: ChaCha8Rng::seed_from_u64(settings.seed),
            tally: Tally::new(settings.scenario.kinds.len()),
            began_ns: 0,
            glanced_ns: 0,
        })
    }

    /// Sends every request and waits for every answer.
    ///
    /// # Errors
    /// What the kernel answers to the generator itself; failures of requests are counted.
    pub(super) fn run(mut self) -> io::Result<Tally> {
        let cpu_ns = thread_cpu_ns();
        self.began_ns = monotonic_ns();
        self.glanced_ns = self.began_ns;
        match self.settings.flow {
            Flow::Open(_) => self.open()?,
            Flow::Closed => self.closed()?,
        }
        self.tally.cpu_ns = thread_cpu_ns() - cpu_ns;
        Ok(self.tally)
    }

    /// Requests go when they are due, whatever became of the earlier ones.
    fn open(&mut self) -> io::Result<()> {
        let mut schedules = self.schedules();
        loop {
            let next = schedules
                .iter()
                .enumerate()
                .filter_map(|(kind, schedule)| schedule.peek().map(|after_ns| (after_ns, kind)))
                .min();
            let now_ns = monotonic_ns();
            self.glance(now_ns);
            match next {
                Some((after_ns, kind)) if self.began_ns + after_ns <= now_ns => {
                    schedules[kind].advance();
                    let due = self.due(kind, self.began_ns + after_ns);
                    if due.is_measured {
                        self.tally.lateness.record(now_ns - due.due_ns);
                    }
                    self.offer(due);
                    // Answers must not wait for a backlog of requests.
                    self.events(Some(0))?;
                }
                Some((after_ns, _)) => self.wait_until(self.began_ns + after_ns)?,
                None if self.is_idle() => return Ok(()),
                None => self.wait_until(u64::MAX)?,
            }
        }
    }

    /// Each answer lets the next request go on its connection, until the time is over.
    fn closed(&mut self) -> io::Result<()> {
        let ends_ns = self.began_ns + self.settings.course.whole_ns();
        loop {
            let now_ns = monotonic_ns();
            self.glance(now_ns);
            if now_ns < ends_ns {
                // Only those that were free: one that fails at once would be offered for ever.
                for _ in 0..self.free.len() {
                    let kind = self.weighted();
                    let due = self.due(kind, monotonic_ns());
                    self.offer(due);
                }
            } else if self.is_idle() {
                return Ok(());
            }
            self.wait_until(if now_ns < ends_ns { ends_ns } else { u64::MAX })?;
        }
    }

    fn schedules(&self) -> Vec<Schedule> {
        let Flow::Open(arrivals) = self.settings.flow else { return Vec::new() };
        let kinds = self.settings.scenario.kinds.iter().zip(1_u64..);
        kinds
            .map(|(kind, number)| {
                let seed = self.settings.seed ^ STREAMS.wrapping_mul(number);
                let random = ChaCha8Rng::seed_from_u64(seed);
                let per_second = kind.rate * self.settings.scale;
                Schedule::new(self.settings.course, per_second, arrivals, random)
            })
            .collect()
    }

    /// A kind, each as often as its rate beside the others'.
    fn weighted(&mut self) -> usize {
        const STEPS: u64 = 1 << 53;
        let kinds = &self.settings.scenario.kinds;
        let all: f64 = kinds.iter().map(|kind| kind.rate).sum();
        let mut rest = below(STEPS, &mut self.random) as f64 / STEPS as f64 * all;
        for (number, kind) in kinds.iter().enumerate() {
            if rest < kind.rate {
                return number;
            }
            rest -= kind.rate;
        }
        kinds.len() - 1
    }

    fn due(&self, kind: usize, due_ns: u64) -> Due {
        let (from_ns, to_ns) = self.settings.measured_ns;
        let is_measured = (from_ns..to_ns).contains(&(due_ns - self.began_ns));
        Due { kind, due_ns, is_measured }
    }

    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.free.len() == self.slots.len()
    }

    /// A request is due: it goes, or waits for a seat.
    #[inline]
    fn offer(&mut self, due: Due) {
        self.tally.offered += u64::from(due.is_measured);
        match self.free.pop() {
            Some(slot) => self.begin(slot, due),
            None => self.waiting.push_back(due),
        }
    }

    /// Sends a request from a seat that has none.
    fn begin(&mut self, number: usize, due: Due) {
        let settings = self.settings;
        let slot = &mut self.slots[number];
        let is_new = slot.connection.is_none();
        if is_new {
            match Connection::begin(settings.to) {
                Ok(connection) => {
                    slot.generation = slot.generation.wrapping_add(1);
                    slot.connection = Some(connection);
                }
                Err(error) => return self.fail(number, due, false, in_words(&error)),
            }
        }
        let Some(connection) = &mut slot.connection else { return };
        let kind = &settings.scenario.kinds[due.kind];
        let id = (settings.run, self.tally.sent);
        settings.scenario.values.draw(kind.used(), &mut self.random, id, &mut self.drawn);
        kind.render(settings.to, &self.drawn, &mut self.body, connection.room());
        self.tally.sent += 1;
        let sent_ns = monotonic_ns();
        if due.is_measured {
            self.tally.waited.record(sent_ns - due.due_ns);
        }
        slot.busy = Some(Busy { due, sent_ns });
        let when = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        let data = EventData::new_u64(u64::from(slot.generation) << 32 | number as u64);
        let added = if is_new { epoll::add(&self.epoll, &*connection, data, when) } else { Ok(()) };
        if let Err(error) = added.map_err(io::Error::from).and_then(|()| connection.send()) {
            self.slots[number].busy = None;
            self.fail(number, due, true, in_words(&error));
        }
    }

    /// A request has failed, and its connection is gone. Its seat is free. One that may have
    /// been sent may be carried out nevertheless.
    fn fail(&mut self, number: usize, due: Due, may_be_sent: bool, why: String) {
        let outcomes = &mut self.tally.kinds[due.kind];
        outcomes.fates.lost += u64::from(may_be_sent);
        if due.is_measured {
            outcomes.failed(why);
        }
        self.slots[number].connection = None;
        self.free.push(number);
    }

    /// Waits for events, until this moment or the next glance at the longest.
    fn wait_until(&mut self, moment_ns: u64) -> io::Result<()> {
        let moment_ns = moment_ns.min(self.glanced_ns + GLANCE_NS);
        let value = timespec(moment_ns);
        let once = Itimerspec { it_interval: timespec(0), it_value: value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once)?;
        self.events(None)
    }

    /// Does what the kernel tells of the connections.
    fn events(&mut self, within_ns: Option<u64>) -> io::Result<()> {
        let mut room = [const { MaybeUninit::<Event>::uninit() }; MOST_EVENTS];
        let timeout = within_ns.map(timespec);
        let (events, _) = match epoll::wait(&self.epoll, &mut room, timeout.as_ref()) {
            Ok(found) => found,
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for event in events.iter() {
            let data = event.data.u64();
            if data != TIMER {
                let number = usize::try_from(data & u64::from(u32::MAX)).unwrap_or(usize::MAX);
                self.event(number, (data >> 32) as u32, event.flags);
            }
        }
        self.serve_waiting();
        Ok(())
    }

    fn event(&mut self, number: usize, generation: u32, flags: EventFlags) {
        let slot = &mut self.slots[number];
        let ends = flags.intersects(EventFlags::HUP | EventFlags::RDHUP | EventFlags::ERR);
        let Some(connection) = slot.connection.as_mut().filter(|_| slot.generation == generation)
        else {
            return;
        };
        let Some(busy) = slot.busy else {
            // Closed while it rested, as servers do: the next request makes another. What came
            // uncalled-for would pass for the answer to that.
            if ends || flags.contains(EventFlags::IN) {
                slot.connection = None;
            }
            return;
        };
        let progress = match connection.is_connected() {
            Ok(false) => return,
            Ok(true) => match connection.send() {
                Ok(()) => connection.receive(ends, &mut self.buffer),
                // What came before the other side stopped reading may be an answer.
                Err(error) => match connection.receive(true, &mut self.buffer) {
                    Progress::Waits => Progress::Broken(in_words(&error)),
                    progress => progress,
                },
            },
            Err(error) => Progress::Broken(in_words(&error)),
        };
        match progress {
            Progress::Waits => {}
            Progress::Answered(response) => {
                let now_ns = monotonic_ns();
                let kind = &self.settings.scenario.kinds[busy.due.kind];
                let outcome = kind
                    .check(response.status, connection.body())
                    .and(connection.clear())
                    .and_then(|()| self.settings.in_time(busy.due.due_ns, now_ns));
                if !response.keeps_open || outcome.is_err() {
                    slot.connection = None;
                }
                slot.busy = None;
                self.free.push(number);
                let fates = &mut self.tally.kinds[busy.due.kind].fates;
                *fates.answered.entry(response.status).or_default() += 1;
                self.note(busy, now_ns, outcome);
            }
            Progress::Broken(why) => {
                slot.busy = None;
                self.fail(number, busy.due, true, why);
            }
        }
    }

    #[inline]
    fn note(&mut self, busy: Busy, now_ns: u64, outcome: Result<(), String>) {
        let (from_ns, to_ns) = self.settings.measured_ns;
        if outcome.is_ok() && (from_ns..to_ns).contains(&(now_ns - self.began_ns)) {
            self.tally.answers_in_time += 1;
        }
        if busy.due.is_measured {
            let outcomes = &mut self.tally.kinds[busy.due.kind];
            match outcome {
                Ok(()) => outcomes.answered(now_ns - busy.due.due_ns, now_ns - busy.sent_ns),
                Err(why) => outcomes.failed(why),
            }
        }
    }

    /// Requests that wait take the seats that are free.
    fn serve_waiting(&mut self) {
        // Each at most once: one that fails at once leaves its seat free.
        for _ in 0..self.waiting.len() {
            if self.free.is_empty() {
                break;
            }
            let Some(due) = self.waiting.pop_front() else { break };
            match self.settings.in_time(due.due_ns, monotonic_ns()) {
                Ok(()) => {
                    if let Some(slot) = self.free.pop() {
                        self.begin(slot, due);
                    }
                }
                Err(_) => self.never_sent(due),
            }
        }
    }

    fn never_sent(&mut self, due: Due) {
        if due.is_measured {
            self.tally.kinds[due.kind].failed("no connection was free in time".to_owned());
        }
    }

    /// Now and then: requests whose time is over have failed.
    fn glance(&mut self, now_ns: u64) {
        if now_ns < self.glanced_ns + GLANCE_NS {
            return;
        }
        self.glanced_ns = now_ns;
        while let Some(due) = self.waiting.front().copied()
            && self.settings.in_time(due.due_ns, now_ns).is_err()
        {
            self.waiting.pop_front();
            self.never_sent(due);
        }
        for number in 0..self.slots.len() {
            let Some(busy) = self.slots[number].busy else { continue };
            if let Err(why) = self.settings.in_time(busy.due.due_ns, now_ns) {
                self.slots[number].busy = None;
                self.fail(number, busy.due, true, why);
            }
        }
        self.serve_waiting();
    }
}

impl HttpSettings {
    /// # Errors
    /// That a request of that moment has taken too long by now.
    fn in_time(&self, due_ns: u64, now_ns: u64) -> Result<(), String> {
        if now_ns.saturating_sub(due_ns) <= self.timeout_ns {
            return Ok(());
        }
        Err(format!("no answer within {}", model::format_duration(self.timeout_ns)))
    }
}

/// CPU time of the calling thread.
fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
