//! The closed loop: each worker asks to be woken again when its request is done.

use super::WakeupSettings;
use super::request::Request;
use contract::{LaunchSpec, Load, Measurement, Result};
use model::Histogram;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use workload_parts::crew::{Crew, Member};
use workload_parts::futex::Post;
use workload_parts::instant::sleep_until;
use workload_parts::nanoseconds::S;
use workload_parts::work::Matrices;

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
struct WakeSlot {
    post: Post,
    wake_ns: AtomicU64,
    next: AtomicUsize,
}

/// A waker's list of workers that want to be woken: lock-free, taken as a whole.
#[repr(align(64))]
struct WakeList {
    post: Post,
    head: AtomicUsize,
}

struct SharedLists {
    phase: AtomicU8,
    lists: Vec<WakeList>,
    slots: Vec<WakeSlot>,
}

impl SharedLists {
    fn phase(&self) -> u8 {
        self.phase.load(Ordering::Relaxed)
    }

    fn push(&self, list: &WakeList, slot: usize) {
        let mut head = list.head.load(Ordering::Relaxed);
        loop {
            self.slots[slot].next.store(head, Ordering::Relaxed);
            match list.head.compare_exchange_weak(head, slot, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return,
                Err(actual) => head = actual,
            }
        }
    }

    fn stop(&self) {
        self.phase.store(STOPPING, Ordering::SeqCst);
        self.lists.iter().for_each(|list| list.post.post());
        self.slots.iter().for_each(|slot| slot.post.post());
    }
}

struct Worker {
    shared: Arc<SharedLists>,
    list: usize,
    slot: usize,
    request: Request,
    matrices: Matrices,
    wakeup: Histogram,
    latency: Histogram,
}

impl Worker {
    fn run(&mut self) {
        let shared = Arc::clone(&self.shared);
        let (list, slot) = (&shared.lists[self.list], &shared.slots[self.slot]);
        loop {
            slot.post.reset();
            slot.wake_ns.store(sys::monotonic_ns(), Ordering::Relaxed);
            shared.push(list, self.slot);
            list.post.post();
            // A stop that came before the reset would otherwise be forgotten.
            if shared.phase.load(Ordering::SeqCst) == STOPPING {
                return;
            }
            slot.post.wait();
            let start_ns = sys::monotonic_ns();
            let phase = shared.phase();
            if phase == STOPPING {
                return;
            }
            if phase == MEASURING {
                let wake_ns = slot.wake_ns.load(Ordering::Relaxed);
                self.wakeup.record(start_ns.saturating_sub(wake_ns));
            }
            self.request.perform(&mut self.matrices);
            // A request counts if it lies within the window as a whole.
            if phase == MEASURING && shared.phase() == MEASURING {
                self.latency.record(sys::monotonic_ns() - start_ns);
            }
        }
    }
}

/// A waker: takes its whole list and wakes everyone on it, with one time stamp.
fn wake_all(shared: &SharedLists, list: usize) {
    let list = &shared.lists[list];
    loop {
        list.post.reset();
        let mut slot = list.head.swap(NOBODY, Ordering::SeqCst);
        let now_ns = sys::monotonic_ns();
        while slot != NOBODY {
            let worker = &shared.slots[slot];
            // Read first: a woken worker puts itself on the list again.
            slot = worker.next.load(Ordering::Relaxed);
            worker.wake_ns.store(now_ns, Ordering::Relaxed);
            worker.post.post();
        }
        if shared.phase.load(Ordering::SeqCst) == STOPPING {
            return;
        }
        list.post.wait();
    }
}

#[expect(clippy::large_enum_variant, reason = "a handful exist and none is moved while timed")]
enum Task {
    Waker { shared: Arc<SharedLists>, list: usize },
    Worker(Worker),
}

impl Member for Task {
    fn run(&mut self) -> Result<(), String> {
        match self {
            Task::Waker { shared, list } => wake_all(shared, *list),
            Task::Worker(worker) => worker.run(),
        }
        Ok(())
    }
}

pub(super) fn prepare(
    settings: &WakeupSettings,
    launch: &LaunchSpec,
    request: &Request,
) -> Result<Box<dyn Load>> {
    let lists = usize::try_from(settings.message_threads).unwrap_or(1);
    let workers = usize::try_from(settings.workers).unwrap_or(1);
    let list = || WakeList { post: Post::default(), head: AtomicUsize::new(NOBODY) };
    let shared = Arc::new(SharedLists {
        phase: AtomicU8::new(WARMING),
        lists: (0..lists).map(|_| list()).collect(),
        slots: (0..lists * workers).map(|_| WakeSlot::default()).collect(),
    });
    let mut tasks = Vec::new();
    for list in 0..lists {
        tasks.push(Task::Waker { shared: Arc::clone(&shared), list });
        tasks.extend((0..workers).map(|worker| {
            Task::Worker(Worker {
                shared: Arc::clone(&shared),
                list,
                slot: list * workers + worker,
                request: request.clone(),
                matrices: request.matrices(),
                wakeup: Histogram::new(),
                latency: Histogram::new(),
            })
        }));
    }
    Ok(Box::new(Closed {
        crew: Crew::assemble(launch, tasks)?,
        shared,
        warmup_ns: settings.warmup_ns,
        duration_ns: settings.duration_ns,
    }))
}

struct Closed {
    crew: Crew<Task>,
    shared: Arc<SharedLists>,
    warmup_ns: u64,
    duration_ns: u64,
}

impl Load for Closed {
    fn run(&mut self) -> Result<Measurement> {
        self.crew.open();
        sleep_until(sys::monotonic_ns() + self.warmup_ns);
        let start_ns = sys::monotonic_ns();
        self.shared.phase.store(MEASURING, Ordering::SeqCst);
        sleep_until(start_ns + self.duration_ns);
        self.shared.stop();
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
        self.shared.stop();
    }
}
