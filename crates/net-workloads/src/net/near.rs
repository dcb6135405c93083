//! The near side: asks a far side to take part, measures, and hears what the other counted.

use super::channel::Channel;
use super::connection::{PATIENCE, PATIENCE_NS, connect, explain};
use super::control::{Asked, FarAnswer, FarReport, Order, Test, hello};
use super::frame::{Preamble, SendingSide};
use super::pace::Pace;
use super::request::Requests;
use super::run_state::Course;
use super::thread_result::{NearReport, ThreadResult};
use super::{connect as handshakes, datagrams, messages, request, stream};
use contract::LaunchSpec;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use sys::monotonic_ns;

/// How long the far side may wait for the last datagrams and then count.
const COUNTING_NS: u64 = 15_000_000_000;
/// How long what was sent in time may take to come.
const DRAINS_NS: u64 = 40_000_000_000;
/// How long a far side may be busy with a run of this address that is not quite gone.
const BUSY_NS: u64 = 10_000_000_000;
/// Between two questions of whether it still is.
const BUSY_PAUSE: Duration = Duration::from_millis(100);
/// How long a far side that has failed may take to say why.
const LAST_WORDS_NS: u64 = 2_000_000_000;

/// What one thread deals with.
struct Task {
    direction: SendingSide,
    index: u32,
    /// Where it has one connection for the whole run.
    stream: Option<Arc<TcpStream>>,
}

/// Everything that the threads know.
struct Near<'n> {
    asked: &'n Asked,
    /// Where data goes.
    to: SocketAddr,
    course: Course,
}

/// A run. Everything that is not measured happens before `is_ready` is called, which waits for
/// the moment at which to begin.
///
/// # Errors
/// In words: a far side that is not there, refuses, fails, resets or falls silent.
pub(super) fn run(
    asked: &Asked,
    far: SocketAddr,
    launch: &LaunchSpec,
    is_ready: impl FnOnce() -> io::Result<()>,
) -> io::Result<NearReport> {
    let (mut channel, port) = introduce(asked, far)?;
    let mut to = far;
    to.set_port(port);
    let near = Near { asked, to, course: Course::default() };
    let tasks = near.tasks()?;
    match hear(&mut channel, PATIENCE_NS)? {
        FarAnswer::Ready => {}
        other => return Err(unexpected(&other)),
    }
    let began_ns = std::cell::Cell::new(0);
    let outcome = near.all(tasks, launch, || {
        is_ready()?;
        channel.send(&Order::Start).map_err(|error| explain("the control connection", &error))?;
        began_ns.set(monotonic_ns());
        Ok(began_ns.get())
    });
    let wall_ns = monotonic_ns() - began_ns.get();
    let parts = outcome.map_err(|error| with_reason(error, &mut channel))?;
    let report = conclude(&mut channel, &parts)?;
    Ok(NearReport::of(&parts, wall_ns, report))
}

/// A far side that takes part, and the port where data goes. One that still winds up a run of
/// this address is asked again: that may be the last trial's, which failed.
fn introduce(asked: &Asked, far: SocketAddr) -> io::Result<(Channel, u16)> {
    let named = |error: io::Error| explain(&format!("cannot connect to {far}"), &error);
    let until_ns = monotonic_ns() + BUSY_NS;
    loop {
        let stream = TcpStream::connect_timeout(&far, PATIENCE).map_err(named)?;
        let mut channel = Channel::new(stream)?;
        channel.send_bytes(&hello(asked)?).map_err(named)?;
        match hear(&mut channel, PATIENCE_NS)? {
            FarAnswer::Accepted { port } => return Ok((channel, port)),
            FarAnswer::Busy if monotonic_ns() < until_ns => std::thread::sleep(BUSY_PAUSE),
            other => return Err(unexpected(&other)),
        }
    }
}

fn hear(channel: &mut Channel, within_ns: u64) -> io::Result<FarAnswer> {
    channel.receive(within_ns).map_err(|error| explain("no answer of the far side", &error))
}

/// Both sides tell each other what they counted.
fn conclude(channel: &mut Channel, parts: &[ThreadResult]) -> io::Result<FarReport> {
    let sent = parts.iter().filter_map(|part| part.sent).map(|sent| sent.total).collect();
    channel
        .send(&Order::Finish { sent })
        .map_err(|error| explain("the control connection", &error))?;
    match hear(channel, COUNTING_NS)? {
        FarAnswer::Report(report) => Ok(report),
        other => Err(unexpected(&other)),
    }
}

/// A failure here may be that of the other side, which knows why.
fn with_reason(error: io::Error, channel: &mut Channel) -> io::Error {
    match channel.receive(LAST_WORDS_NS) {
        Ok(FarAnswer::Failed { why }) => {
            io::Error::new(error.kind(), format!("{error} (the far side says: {why})"))
        }
        _ => error,
    }
}

pub(super) fn unexpected(answer: &FarAnswer) -> io::Error {
    io::Error::other(match answer {
        FarAnswer::Busy => {
            "the far side takes part in another run of this address: try again after it".to_owned()
        }
        FarAnswer::Refused { why } => format!("the far side takes no part: {why}"),
        FarAnswer::Failed { why } => format!("the far side failed: {why}"),
        FarAnswer::Accepted { .. } | FarAnswer::Ready | FarAnswer::Report(_) => {
            "the far side answered something else than it was asked".to_owned()
        }
    })
}

impl Near<'_> {
    /// What the threads will do, their connections made.
    fn tasks(&self) -> io::Result<Vec<Task>> {
        let (directions, connects): (&[SendingSide], bool) = match self.asked.test {
            Test::Connect | Test::Datagrams => (&[SendingSide::Out], false),
            Test::Request | Test::Stream | Test::Messages => (&[SendingSide::Out], true),
            Test::StreamBoth => (&[SendingSide::Out, SendingSide::In], true),
        };
        let mut tasks = Vec::new();
        for direction in directions {
            for index in 0..u32::try_from(self.asked.connections).unwrap_or(u32::MAX) {
                let mut task = Task { direction: *direction, index, stream: None };
                if connects {
                    let preamble =
                        Preamble { run: self.asked.run, connection: index, direction: *direction };
                    let stream = connect(&self.to, preamble)
                        .map_err(|error| explain("cannot make a data connection", &error))?;
                    task.stream = Some(self.course.watch(stream));
                }
                tasks.push(task);
            }
        }
        Ok(tasks)
    }

    /// Runs every task in a thread of its own, from the moment that `start` says.
    ///
    /// # Errors
    /// The first failure of a thread, which ends the others.
    fn all(
        &self,
        tasks: Vec<Task>,
        launch: &LaunchSpec,
        start: impl FnOnce() -> io::Result<u64>,
    ) -> io::Result<Vec<ThreadResult>> {
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            let mut started = Ok(());
            for task in tasks {
                let name = format!("near-{}", task.index);
                let life = move || {
                    let outcome = launch.enter_task().and_then(|()| self.one(task));
                    outcome.inspect_err(|error| self.course.fail(error.to_string()))
                };
                match std::thread::Builder::new().name(name).spawn_scoped(scope, life) {
                    Ok(thread) => threads.push(thread),
                    Err(error) => started = Err(error),
                }
            }
            match started.and_then(|()| start()) {
                Ok(began_ns) => self.course.begin(began_ns),
                Err(error) => self.course.fail(error.to_string()),
            }
            let parts: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
            if let Some(why) = self.course.failure() {
                return Err(io::Error::other(why));
            }
            let ended = || io::Error::other("a thread of the near side panicked");
            parts.into_iter().map(|part| part.map_err(|_| ended())?).collect()
        })
    }

    fn one(&self, task: Task) -> io::Result<ThreadResult> {
        let Some(began_ns) = self.course.wait_for_begin() else { return Ok(ThreadResult::none()) };
        let Asked { run, connections, rate, warm_up_ns, duration_ns, .. } = *self.asked;
        let share = (u64::from(task.index), connections);
        let pace = Pace::new(began_ns, (warm_up_ns, duration_ns), rate, share);
        let size = usize::try_from(self.asked.size).unwrap_or(usize::MAX);
        let requests = Requests { run, connection: task.index, size };
        let connection = u64::from(task.index);
        let Some(stream) = task.stream.as_deref() else {
            return match self.asked.test {
                Test::Datagrams => datagrams::send(&self.to, requests, pace, &self.course),
                _ => handshakes::ask(&self.to, run, task.index, pace, &self.course),
            };
        };
        match (self.asked.test, task.direction) {
            (Test::Request, _) => request::ask(stream, requests, pace),
            (Test::Messages, _) => messages::send(stream, requests, pace),
            (_, SendingSide::Out) => {
                let sent = stream::send(stream, connection, size, &pace)?;
                Ok(ThreadResult { sent: Some(sent), ..ThreadResult::none() })
            }
            (_, SendingSide::In) => {
                let until_ns = pace.ends_ns() + DRAINS_NS;
                let received = stream::receive(stream, connection, size, warm_up_ns, until_ns)?;
                Ok(ThreadResult { received: Some(received), ..ThreadResult::none() })
            }
        }
    }
}
