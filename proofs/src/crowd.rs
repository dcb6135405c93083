//! Tasks that keep a scheduler busy: spinners, sleepers, pairs that talk over pipes, and
//! threads that come and go.

use std::hint::black_box;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How many tasks of each kind.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mix {
    /// Run without ever blocking.
    pub spinners: usize,
    /// Sleep 1 to 7 ms, compute a little, and so on.
    pub sleepers: usize,
    /// Pairs that pass a byte back and forth.
    pub pairs: usize,
    /// Threads that start a thread, wait for its end, and start the next.
    pub spawners: usize,
    /// Spread the nice values of spinners from -5 to 5.
    pub is_nice_spread: bool,
}

/// Tasks at work; they end when this is dropped.
pub struct Crowd {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    progress: Vec<(&'static str, Arc<AtomicU64>)>,
}

impl Crowd {
    /// Starts all tasks.
    ///
    /// # Errors
    /// The kernel refuses a thread or a pipe.
    pub fn start(mix: Mix) -> io::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut crowd = Self { is_over, threads: Vec::new(), progress: Vec::new() };
        for index in 0..mix.spinners {
            let nice = if mix.is_nice_spread { index as i32 % 11 - 5 } else { 0 };
            crowd.spawn("spinner", move |task| spin(task, nice))?;
        }
        for index in 0..mix.sleepers {
            let pause = Duration::from_millis(1 + index as u64 % 7);
            crowd.spawn("sleeper", move |task| sleep_and_work(task, pause))?;
        }
        for _ in 0..mix.pairs {
            let (ping_reader, ping_writer) = io::pipe()?;
            let (pong_reader, pong_writer) = io::pipe()?;
            crowd.spawn("pair", move |task| serve_ball(task, ping_writer, pong_reader))?;
            crowd.spawn("pair", move |task| return_ball(task, ping_reader, pong_writer))?;
        }
        for _ in 0..mix.spawners {
            crowd.spawn("spawner", spawn_for_ever)?;
        }
        Ok(crowd)
    }

    /// Steps of every task so far, with its kind.
    pub fn progress(&self) -> Vec<(&'static str, u64)> {
        self.progress.iter().map(|(kind, steps)| (*kind, steps.load(Ordering::Relaxed))).collect()
    }

    fn spawn(
        &mut self,
        kind: &'static str,
        body: impl FnOnce(&Task) + Send + 'static,
    ) -> io::Result<()> {
        let steps = Arc::new(AtomicU64::new(0));
        let task = Task { is_over: Arc::clone(&self.is_over), steps: Arc::clone(&steps) };
        self.progress.push((kind, steps));
        // 200 of them fit into the smallest guest.
        let builder = thread::Builder::new().name(kind.to_owned()).stack_size(64 * 1024);
        self.threads.push(builder.spawn(move || body(&task))?);
        Ok(())
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A task that panicked made no progress, which the caller sees.
            let _ = thread.join();
        }
    }
}

struct Task {
    is_over: Arc<AtomicBool>,
    steps: Arc<AtomicU64>,
}

impl Task {
    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    fn step(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }
}

/// About 10 us of computing on a machine of today, more where instructions are emulated.
fn compute() {
    for value in 0..5_000u64 {
        black_box(value);
    }
}

fn spin(task: &Task, nice: i32) {
    if nice != 0 {
        // SAFETY: setpriority reads its three numbers only; 0 is the calling thread.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) };
    }
    while task.goes_on() {
        compute();
        task.step();
    }
}

fn sleep_and_work(task: &Task, pause: Duration) {
    while task.goes_on() {
        thread::sleep(pause);
        compute();
        task.step();
    }
}

fn serve_ball(task: &Task, mut out: PipeWriter, mut back: PipeReader) {
    let mut ball = [0];
    while task.goes_on() && out.write_all(&ball).is_ok() && back.read_exact(&mut ball).is_ok() {
        task.step();
    }
}

/// Ends when the other side has closed its pipe.
fn return_ball(task: &Task, mut from: PipeReader, mut back: PipeWriter) {
    let mut ball = [0];
    while from.read_exact(&mut ball).is_ok() && back.write_all(&ball).is_ok() {
        task.step();
    }
}

fn spawn_for_ever(task: &Task) {
    while task.goes_on() {
        let started = Instant::now();
        let child = thread::Builder::new().stack_size(64 * 1024).spawn(compute);
        if child.is_ok_and(|child| child.join().is_ok()) {
            task.step();
        }
        // A storm of children, with time for others between.
        thread::sleep(Duration::from_millis(1).saturating_sub(started.elapsed()));
    }
}
