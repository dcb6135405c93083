//! The closed loop: each worker asks to be woken again when its request is done.

use super::Settings;
use super::request::Request;
use crate::crew::{Crew, Member};
use crate::futex::Post;
use crate::instant::sleep_until;
use crate::nanoseconds::S;
use crate::work::Matrices;
use contract::{LaunchSpec, Load, Measurement, Result};
use model::Histogram;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

const WARMING: u8 = 0;
const MEASURING: u8 = 1;
const STOPPING: u8 = 2;
/// Marks the end of a waker's list.
const NOBODY: usize = usize::MAX;
/// Longest time after the end until every thread has noticed.
const STOP_LIMIT_NS: u64 = 60 * S;

/// What a worker and its waker share: one cache line, as in schbench.
#[repr(align(64))]
#[derive(Default)]
struct Seat {
    post: Post,
    wake_ns: AtomicU64,
    next: AtomicUsize,
}

/// A waker's list of workers that want to be woken: lock-free, taken as a whole.
#[repr(align(64))]
struct Desk {
    post: Post,
    head: AtomicUsize,
}

struct Office {
    phase: AtomicU8,
    desks: Vec<Desk>,
    seats: Vec<Seat>,
}

impl Office {
    fn phase(&self) -> u8 {
        self.phase.load(Ordering::Relaxed)
    }

    fn push(&self, desk: &Desk, seat: usize) {
        let mut head = desk.head.load(Ordering::Relaxed);
        loop {
            self.seats[seat].next.store(head, Ordering::Relaxed);
            match desk.head.compare_exchange_weak(head, seat, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return,
                Err(actual) => head = actual,
            }
        }
    }

    fn stop(&self) {
        self.phase.store(STOPPING, Ordering::SeqCst);
        self.desks.iter().for_each(|desk| desk.post.post());
        self.seats.iter().for_each(|seat| seat.post.post());
    }
}

struct Worker {
    office: Arc<Office>,
    desk: usize,
    seat: usize,
    request: Request,
    matrices: Matrices,
    wakeup: Histogram,
    latency: Histogram,
}

impl Worker {
    fn run(&mut self) {
        let office = Arc::clone(&self.office);
        let (desk, seat) = (&office.desks[self.desk], &office.seats[self.seat]);
        loop {
            seat.post.reset();
            seat.wake_ns.store(sys::monotonic_ns(), Ordering::Relaxed);
            office.push(desk, self.seat);
            desk.post.post();
            // A stop that came before the reset would otherwise be forgotten.
            if office.phase.load(Ordering::SeqCst) == STOPPING {
                return;
            }
            seat.post.wait();
            let start_ns = sys::monotonic_ns();
            let phase = office.phase();
            if phase == STOPPING {
                return;
            }
            if phase == MEASURING {
                let wake_ns = seat.wake_ns.load(Ordering::Relaxed);
                self.wakeup.record(start_ns.saturating_sub(wake_ns));
            }
            self.request.perform(&mut self.matrices);
            // A request counts if it lies within the window as a whole.
            if phase == MEASURING && office.phase() == MEASURING {
                self.latency.record(sys::monotonic_ns() - start_ns);
            }
        }
    }
}

/// A waker: takes its whole list and wakes everyone on it, with one time stamp.
fn wake_all(office: &Office, desk: usize) {
    let desk = &office.desks[desk];
    loop {
        desk.post.reset();
        let mut seat = desk.head.swap(NOBODY, Ordering::SeqCst);
        let now_ns = sys::monotonic_ns();
        while seat != NOBODY {
            let worker = &office.seats[seat];
            // Read first: a woken worker puts itself on the list again.
            seat = worker.next.load(Ordering::Relaxed);
            worker.wake_ns.store(now_ns, Ordering::Relaxed);
            worker.post.post();
        }
        if office.phase.load(Ordering::SeqCst) == STOPPING {
            return;
        }
        desk.post.wait();
    }
}

#[expect(clippy::large_enum_variant, reason = "a handful exist and none is moved while timed")]
enum Task {
    Waker { office: Arc<Office>, desk: usize },
    Worker(Worker),
}

impl Member for Task {
    fn run(&mut self) -> Result<(), String> {
        match self {
            Task::Waker { office, desk } => wake_all(office, *desk),
            Task::Worker(worker) => worker.run(),
        }
        Ok(())
    }
}

pub(super) fn prepare(
    settings: &Settings,
    launch: &LaunchSpec,
    request: &Request,
) -> Result<Box<dyn Load>> {
    let desks = usize::try_from(settings.message_threads).unwrap_or(1);
    let workers = usize::try_from(settings.workers).unwrap_or(1);
    let desk = || Desk { post: Post::default(), head: AtomicUsize::new(NOBODY) };
    let office = Arc::new(Office {
        phase: AtomicU8::new(WARMING),
        desks: (0..desks).map(|_| desk()).collect(),
        seats: (0..desks * workers).map(|_| Seat::default()).collect(),
    });
    let mut tasks = Vec::new();
    for desk in 0..desks {
        tasks.push(Task::Waker { office: Arc::clone(&office), desk });
        tasks.extend((0..workers).map(|worker| {
            Task::Worker(Worker {
                office: Arc::clone(&office),
                desk,
                seat: desk * workers + worker,
                request: request.clone(),
                matrices: request.matrices(),
                wakeup: Histogram::new(),
                latency: Histogram::new(),
            })
        }));
    }
    Ok(Box::new(Closed {
        crew: Crew::assemble(launch, tasks)?,
        office,
        warmup_ns: settings.warmup_ns,
        duration_ns: settings.duration_ns,
    }))
}

struct Closed {
    crew: Crew<Task>,
    office: Arc<Office>,
    warmup_ns: u64,
    duration_ns: u64,
}

impl Load for Closed {
    fn run(&mut self) -> Result<Measurement> {
        self.crew.open();
        sleep_until(sys::monotonic_ns() + self.warmup_ns);
        let start_ns = sys::monotonic_ns();
        self.office.phase.store(MEASURING, Ordering::SeqCst);
        sleep_until(start_ns + self.duration_ns);
        self.office.stop();
        let window_ns = sys::monotonic_ns() - start_ns;
        let (mut wakeup, mut latency) = (Histogram::new(), Histogram::new());
        for task in self.crew.collect(STOP_LIMIT_NS)? {
            if let Task::Worker(worker) = task {
                wakeup.merge(&worker.wakeup);
                latency.merge(&worker.latency);
            }
        }
        let requests = latency.count();
        super::measurement(
            vec![("wakeup_latency", wakeup), ("request_latency", latency)],
            requests,
            window_ns,
        )
    }
}

/// Tells the threads to stop before the crew waits for them.
impl Drop for Closed {
    fn drop(&mut self) {
        self.office.stop();
    }
}
