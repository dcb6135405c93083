//! Tasks of every kind, so that every rule of a scheduler is put to the test: CPUs that are
//! crowded and CPUs that are idle, wake-ups alone and in bursts, tasks that are pinned, new,
//! or get another nice value or other CPUs.

use std::hint::black_box;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// First spinners spin; then they sleep and others pause for longer, so that CPUs are idle now
/// and then; then all sleep. On one CPU the reader of events is busy as long as there are
/// many, and without that rest it would never be out of work.
const PHASES: [(Phase, Duration); 3] = [
    (Phase::Busy, Duration::from_millis(300)),
    (Phase::Quiet, Duration::from_millis(300)),
    (Phase::Rest, Duration::from_millis(200)),
];
/// Tasks that are woken at once.
const BURST: usize = 4;

/// Tasks at work.
pub struct Mixed {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Busy,
    Quiet,
    Rest,
}

struct Task {
    is_over: Arc<AtomicBool>,
    began: Instant,
}

impl Mixed {
    /// Starts all tasks.
    ///
    /// # Errors
    /// The kernel refuses a thread or a pipe.
    pub fn start() -> io::Result<Self> {
        let mut mixed = Self { is_over: Arc::default(), threads: Vec::new() };
        let cpus = thread::available_parallelism()?.get();
        for nice in [-3, 0, 4] {
            mixed.spawn(move |task| {
                set_nice(0, nice);
                spin(task);
            })?;
        }
        mixed.spawn(move |task| {
            set_cpus(0, 1);
            spin(task);
        })?;
        mixed.spawn(move |task| {
            set_cpus(0, 1 << (cpus - 1));
            doze(task, Duration::from_millis(5));
        })?;
        for pause in [2, 3, 7] {
            mixed.spawn(move |task| doze(task, Duration::from_millis(pause)))?;
        }
        mixed.pass_a_byte()?;
        mixed.burst()?;
        mixed.spawn(breed)?;
        mixed.change(cpus)?;
        Ok(mixed)
    }

    /// Ends them all.
    pub fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads {
            // One that panicked made no events, which the models notice.
            let _ = thread.join();
        }
    }

    fn spawn(&mut self, body: impl FnOnce(&Task) + Send + 'static) -> io::Result<()> {
        let task = Task { is_over: Arc::clone(&self.is_over), began: Instant::now() };
        let builder = thread::Builder::new().stack_size(64 * 1024);
        self.threads.push(builder.spawn(move || body(&task))?);
        Ok(())
    }

    /// Two tasks that pass a byte to and fro, some times in a row: the pipe wakes
    /// synchronously.
    fn pass_a_byte(&mut self) -> io::Result<()> {
        let (mut ping_reader, mut ping_writer) = io::pipe()?;
        let (mut pong_reader, mut pong_writer) = io::pipe()?;
        self.spawn(move |task| {
            let mut ball = [0];
            while task.goes_on() {
                for _ in 0..10 {
                    let pass = ping_writer.write_all(&ball);
                    if pass.and_then(|()| pong_reader.read_exact(&mut ball)).is_err() {
                        return;
                    }
                }
                task.pause(Duration::from_millis(4));
            }
        })?;
        self.spawn(move |_| {
            let mut ball = [0];
            while ping_reader.read_exact(&mut ball).is_ok() && pong_writer.write_all(&ball).is_ok()
            {
            }
        })
    }

    /// One task that wakes several others.
    fn burst(&mut self) -> io::Result<()> {
        let mut senders: Vec<Sender<()>> = Vec::new();
        for _ in 0..BURST {
            let (sender, receiver): (_, Receiver<()>) = channel();
            senders.push(sender);
            self.spawn(move |_| {
                while receiver.recv().is_ok() {
                    compute(20);
                }
            })?;
        }
        self.spawn(move |task| {
            while task.goes_on() {
                for sender in &senders {
                    // A receiver ends only after this has.
                    let _ = sender.send(());
                }
                compute(20);
                task.pause(Duration::from_millis(11));
            }
        })
    }

    /// Two tasks whose nice value and CPUs somebody else changes.
    fn change(&mut self, cpus: usize) -> io::Result<()> {
        let ids = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let ready = Arc::new(Barrier::new(3));
        for number in 0..2 {
            let (ids, ready) = (Arc::clone(&ids), Arc::clone(&ready));
            self.spawn(move |task| {
                // SAFETY: gettid has no arguments and cannot fail.
                let id = unsafe { libc::gettid() };
                ids[number].store(u64::from(id.cast_unsigned()), Ordering::Relaxed);
                ready.wait();
                if number == 0 { spin(task) } else { doze(task, Duration::from_millis(1)) }
            })?;
        }
        self.spawn(move |task| {
            ready.wait();
            let id = |number: usize| ids[number].load(Ordering::Relaxed) as libc::pid_t;
            for turn in 0.. {
                if !task.goes_on() {
                    return;
                }
                set_nice(id(turn % 2), [0, 5, -5, 2][turn % 4]);
                set_cpus(id((turn + 1) % 2), if turn % 3 == 0 { 1 } else { (1 << cpus) - 1 });
                thread::sleep(Duration::from_millis(37));
            }
        })
    }
}

impl Task {
    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    /// The phase, and what is left of it.
    fn phase(&self) -> (Phase, Duration) {
        let cycle: Duration = PHASES.iter().map(|(_, length)| *length).sum();
        let mut passed = self.began.elapsed();
        passed -= cycle * (passed.as_nanos() / cycle.as_nanos()) as u32;
        for (phase, length) in PHASES {
            if passed < length {
                return (phase, length - passed);
            }
            passed -= length;
        }
        (Phase::Rest, Duration::ZERO)
    }

    /// Sleeps: in a quiet phase six times as long, and in a rest to its end.
    fn pause(&self, length: Duration) {
        thread::sleep(match self.phase() {
            (Phase::Busy, _) => length,
            (Phase::Quiet, _) => length * 6,
            (Phase::Rest, left) => left,
        });
    }
}

fn spin(task: &Task) {
    while task.goes_on() {
        match task.phase() {
            (Phase::Busy, _) => compute(10),
            (_, left) => thread::sleep(left),
        }
    }
}

fn doze(task: &Task, pause: Duration) {
    while task.goes_on() {
        compute(5);
        task.pause(pause);
    }
}

/// Threads that live for a moment.
fn breed(task: &Task) {
    while task.goes_on() {
        let thread = thread::Builder::new().stack_size(64 * 1024).spawn(|| compute(5));
        // Where the kernel refuses one, the next may do.
        let _ = thread.map(JoinHandle::join);
        task.pause(Duration::from_millis(9));
    }
}

/// Some ten microseconds each on a machine of today, ten times that where instructions are
/// emulated.
fn compute(steps: u64) {
    for value in 0..steps * 2_000 {
        black_box(value);
    }
}

fn set_nice(thread: libc::pid_t, nice: i32) {
    // SAFETY: setpriority reads its three numbers only. A task that ended is none.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, thread.cast_unsigned(), nice) };
}

fn set_cpus(thread: libc::pid_t, mask: u64) {
    // SAFETY: the mask is eight bytes that live through the call; the kernel takes fewer than
    // it has.
    unsafe { libc::sched_setaffinity(thread, size_of::<u64>(), (&raw const mask).cast()) };
}
