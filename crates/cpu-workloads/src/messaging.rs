//! hackbench's message storm: groups of senders that each write to every
//! receiver of their group.

use crate::task_choice::TaskChoice;
use contract::{
    Configured, Description, Error, LaunchSpec, Load, Measurement, Parameter, Problem, Result,
    WordChoice, Workload, WorkloadFacts,
};
use model::{Direction, Metric, Parameters, Reduction, Sample, Unit};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use sys::Machine;
use workload_parts::process::{
    ChildProcesses, StartBarrier, allow_open_files, read_full, write_full,
};
use workload_parts::shared_counters::SharedCounters;

static DESCRIPTION: Description = Description {
    id: "messaging",
    summary: "Message storm between groups of tasks (hackbench)",
    doc: "\
**What it is.** `groups` x (`fan` senders + `fan` receivers). Every receiver owns one
socket pair or pipe; every sender writes `loops` messages of `size` bytes to each receiver
of its group in turn, one write(2) each, so groups x fan^2 x loops messages pass. All tasks
wait in poll(2) for one byte that is never read, and are released together.

**What it means.** `makespan` is the time from that byte until the last task has been
reaped: it includes the thundering herd at the start and the exits at the end, as
hackbench's `Time:` does. `messages_per_second` is the same run as a rate.

**What moves it.** Wake-up placement, preemption on wake-up, load balancing, the cost of a
switch, and the length of the pipe's or socket's buffer, which decides how long a sender
runs before it must sleep. Sockets and pipes differ by a factor of about two.

**When it lies.** It is one number for hundreds of tasks: it says nothing about the
latency of any message. A run much shorter than a second is mostly start and exit. Tasks
in another session are another autogroup and compete as one task.

**Reference.** hackbench of rt-tests 2.x and `perf bench sched messaging`, same semantics;
the clock is CLOCK_MONOTONIC in nanoseconds instead of gettimeofday in milliseconds, and
the messages that arrived are counted. Source: rt-tests, src/hackbench/hackbench.c.",
};

/// What carries the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    SocketPair,
    Pipe,
}

impl WordChoice for Transport {
    const WORDS: &'static [(&'static str, Self)] =
        &[("socketpair", Self::SocketPair), ("pipe", Self::Pipe)];
}

contract::keys! {
    PARAMETERS;
    GROUPS: u64 = count("groups", 1, 256, "4", "Groups of senders and receivers"),
    FAN: u64 = count("fan", 1, 64, "20", "Senders, and receivers, in each group"),
    LOOPS: u64 = count(
        "loops",
        1,
        10_000_000,
        "500",
        "Messages each sender writes to each receiver",
    ),
    SIZE: u64 = size("size", 1, 1 << 20, "100", "Bytes of one message"),
    TRANSPORT: Transport = choice("transport", "socketpair", "What carries the messages"),
    TASKS: TaskChoice = choice("tasks", "process", "Whether tasks are processes or threads"),
}

/// Measured on 2 cores at 2.6 GHz: about 1.2 us for a message, 0.1 ms to fork and reap a task.
const MESSAGE_NS: u64 = 1_300;
const TASK_NS: u64 = 150_000;
/// hackbench gives its threads the smallest stack; a message and a little more must fit.
const STACK_BYTES: usize = 64 << 10;

/// The workload.
pub(crate) struct Entry;

impl Workload for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn brief(&self) -> &'static [(&'static str, &'static str)] {
        const { &[(LOOPS.name(), "10"), (GROUPS.name(), "1"), (FAN.name(), "2")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        let shape = Shape::of(parameters);
        let tasks = shape.tasks();
        if tasks > 8192 {
            let why = format!("{tasks} tasks are more than the 8192 this workload starts");
            return Err(vec![why.into()]);
        }
        Ok(Box::new(shape))
    }
}

impl Configured for Shape {
    fn metrics(&self) -> Vec<Metric> {
        let mut makespan = Metric::new(
            "makespan",
            Unit::Nanoseconds,
            Direction::Lower,
            Reduction::Median,
            "Time from the release of all tasks until the last one is reaped",
        );
        makespan.resolution = 1.0;
        let rate = Metric::new(
            "messages_per_second",
            Unit::PerSecond,
            Direction::Higher,
            Reduction::Quotient,
            "Messages delivered per second of makespan",
        );
        vec![makespan, rate]
    }

    fn facts(&self) -> WorkloadFacts {
        let size_ns = self.size as u64 / 8;
        let messages_ns = self.messages().saturating_mul(MESSAGE_NS + size_ns);
        WorkloadFacts::open_loop(messages_ns.saturating_add(self.tasks() * TASK_NS))
    }

    fn prepare(&self, _: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        let shape = self.clone();
        let barrier = StartBarrier::of(shape.connection()?, shape.connection()?);
        match shape.tasks {
            TaskChoice::Thread => Ok(Box::new(Threads::start(shape, barrier, launch)?)),
            TaskChoice::Process => Ok(Box::new(Processes::start(shape, barrier, launch)?)),
        }
    }
}

/// The declared size of the storm.
#[derive(Debug, Clone)]
struct Shape {
    groups: u64,
    fan: u64,
    loops: u64,
    size: usize,
    transport: Transport,
    tasks: TaskChoice,
}

impl Shape {
    fn of(parameters: &Parameters) -> Self {
        Self {
            groups: GROUPS.of(parameters),
            fan: FAN.of(parameters),
            loops: LOOPS.of(parameters),
            size: usize::try_from(SIZE.of(parameters)).unwrap_or(usize::MAX),
            transport: TRANSPORT.of(parameters),
            tasks: TASKS.of(parameters),
        }
    }

    fn tasks(&self) -> u64 {
        self.groups * self.fan * 2
    }

    fn messages(&self) -> u64 {
        self.groups.saturating_mul(self.fan * self.fan).saturating_mul(self.loops)
    }

    /// A connection: the reading end, then the writing end.
    fn connection(&self) -> Result<(OwnedFd, OwnedFd)> {
        let made = match self.transport {
            Transport::Pipe => rustix::pipe::pipe(),
            Transport::SocketPair => {
                socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::empty(), None)
            }
        };
        made.map_err(|error| Error::environment("cannot make a socket pair or pipe", error))
    }

    fn measurement(&self, makespan_ns: u64, received: u64) -> Result<Measurement> {
        if received != self.messages() {
            return Err(Error::environment(
                "the message storm is incomplete",
                format!("{received} of {} messages arrived", self.messages()),
            ));
        }
        Ok(Measurement {
            samples: vec![
                Sample::values("makespan", vec![makespan_ns as f64]),
                Sample::quotient("messages_per_second", received as f64, makespan_ns as f64 / 1e9),
            ],
            operations: Some(received),
        })
    }
}

fn send(shape: &Shape, receivers: &[OwnedFd], message: &[u8]) -> io::Result<()> {
    for _ in 0..shape.loops {
        for receiver in receivers {
            write_full(receiver, message)?;
        }
    }
    Ok(())
}

/// Receives this receiver's share and publishes the count once, at the end.
fn receive(
    shape: &Shape,
    from: &OwnedFd,
    buffer: &mut [u8],
    received: &AtomicU64,
) -> io::Result<()> {
    let expected = shape.fan * shape.loops;
    for _ in 0..expected {
        read_full(from, buffer)?;
    }
    received.fetch_add(expected, Ordering::SeqCst);
    Ok(())
}

struct Processes {
    family: ChildProcesses,
    shape: Shape,
    barrier: StartBarrier,
    received: SharedCounters,
}

impl Processes {
    fn start(shape: Shape, barrier: StartBarrier, launch: &LaunchSpec) -> Result<Self> {
        allow_open_files(shape.fan * 2 + 64)?;
        let received = SharedCounters::new(1)?;
        let mut processes = Self { family: ChildProcesses::new()?, shape, barrier, received };
        for _ in 0..processes.shape.groups {
            processes.start_group(launch)?;
        }
        processes.barrier.await_ready(&mut processes.family)?;
        Ok(processes)
    }

    fn start_group(&mut self, launch: &LaunchSpec) -> Result<()> {
        let Self { family, shape, barrier, received } = self;
        let mut writers = Vec::new();
        for _ in 0..shape.fan {
            let (reader, writer) = shape.connection()?;
            let mut kept = Some(writer);
            family.fork("a task of messaging", launch, || {
                // The receiver must not keep its own writing end open.
                kept = None;
                let mut buffer = vec![0; shape.size];
                barrier.wait()?;
                receive(shape, &reader, &mut buffer, &received[0])
            })?;
            writers.extend(kept);
        }
        for _ in 0..shape.fan {
            family.fork("a task of messaging", launch, || {
                let message = vec![0; shape.size];
                barrier.wait()?;
                send(shape, &writers, &message)
            })?;
        }
        Ok(())
    }
}

impl Load for Processes {
    fn run(&mut self) -> Result<Measurement> {
        let start_ns = sys::monotonic_ns();
        self.barrier.release()?;
        self.family.reap()?;
        let makespan_ns = sys::monotonic_ns() - start_ns;
        self.shape.measurement(makespan_ns, self.received[0].load(Ordering::SeqCst))
    }
}

struct Threads {
    shape: Shape,
    barrier: Arc<StartBarrier>,
    received: Arc<AtomicU64>,
    is_abandoned: Arc<AtomicBool>,
    ends: Receiver<io::Result<()>>,
    threads: Vec<JoinHandle<()>>,
    /// Keeps every descriptor open until the last thread has ended.
    _connections: Vec<Arc<Vec<OwnedFd>>>,
}

impl Threads {
    fn start(shape: Shape, barrier: StartBarrier, launch: &LaunchSpec) -> Result<Self> {
        allow_open_files(shape.groups * shape.fan * 2 + 64)?;
        let (sender, ends) = mpsc::channel();
        let mut threads = Self {
            shape,
            barrier: Arc::new(barrier),
            received: Arc::default(),
            is_abandoned: Arc::default(),
            ends,
            threads: Vec::new(),
            _connections: Vec::new(),
        };
        for _ in 0..threads.shape.groups {
            threads.start_group(launch, &sender)?;
        }
        for _ in 0..threads.shape.tasks() {
            threads.barrier.hear()?;
        }
        match threads.ends.try_recv() {
            Ok(Err(error)) => Err(Error::environment("a thread could not start", error)),
            _ => Ok(threads),
        }
    }

    fn start_group(&mut self, launch: &LaunchSpec, ends: &Sender<io::Result<()>>) -> Result<()> {
        let mut readers = Vec::new();
        let mut writers = Vec::new();
        for _ in 0..self.shape.fan {
            let (reader, writer) = self.shape.connection()?;
            readers.push(reader);
            writers.push(writer);
        }
        let (readers, writers) = (Arc::new(readers), Arc::new(writers));
        self._connections.extend([Arc::clone(&readers), Arc::clone(&writers)]);
        for index in 0..readers.len() {
            let (shape, readers) = (self.shape.clone(), Arc::clone(&readers));
            let received = Arc::clone(&self.received);
            self.start_thread(launch, ends, move |buffer| {
                receive(&shape, &readers[index], buffer, &received)
            })?;
        }
        for _ in 0..writers.len() {
            let (shape, writers) = (self.shape.clone(), Arc::clone(&writers));
            self.start_thread(launch, ends, move |message| send(&shape, &writers, message))?;
        }
        Ok(())
    }

    fn start_thread(
        &mut self,
        launch: &LaunchSpec,
        ends: &Sender<io::Result<()>>,
        act: impl FnOnce(&mut [u8]) -> io::Result<()> + Send + 'static,
    ) -> Result<()> {
        let (barrier, launch, ends) = (Arc::clone(&self.barrier), launch.clone(), ends.clone());
        let is_abandoned = Arc::clone(&self.is_abandoned);
        let size = self.shape.size;
        let life = move || {
            let mut buffer = vec![0; size];
            if let Err(error) = launch.enter_task() {
                let _ = ends.send(Err(error));
            }
            let outcome = barrier.wait().and_then(|()| {
                if is_abandoned.load(Ordering::SeqCst) { Ok(()) } else { act(&mut buffer) }
            });
            let _ = ends.send(outcome);
        };
        let thread = std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(life)
            .map_err(|error| Error::environment("cannot start a thread", error))?;
        self.threads.push(thread);
        Ok(())
    }
}

impl Load for Threads {
    fn run(&mut self) -> Result<Measurement> {
        let start_ns = sys::monotonic_ns();
        self.barrier.release()?;
        for thread in self.threads.drain(..) {
            thread.join().map_err(|_| {
                Error::environment("a thread of the workload failed", "it panicked")
            })?;
        }
        let makespan_ns = sys::monotonic_ns() - start_ns;
        while let Ok(end) = self.ends.try_recv() {
            end.map_err(|error| Error::environment("a thread of the workload failed", error))?;
        }
        self.shape.measurement(makespan_ns, self.received.load(Ordering::SeqCst))
    }
}

/// Threads that never ran are released to find that they were abandoned.
impl Drop for Threads {
    fn drop(&mut self) {
        self.is_abandoned.store(true, Ordering::SeqCst);
        if !self.threads.is_empty() && self.barrier.release().is_ok() {
            for thread in self.threads.drain(..) {
                let _ = thread.join();
            }
        }
    }
}
