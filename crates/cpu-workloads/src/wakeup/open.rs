//! The open loop: requests are due at moments fixed in advance, whatever has
//! become of the earlier ones.

use super::request::Request;
use super::{ArrivalTimes, Rate, WakeupSettings};
use contract::{LaunchSpec, Load, Measurement, Result};
use model::Histogram;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use workload_parts::crew::{Crew, Member};
use workload_parts::futex::Post;
use workload_parts::instant::sleep_until;
use workload_parts::nanoseconds::S;
use workload_parts::work::Matrices;

/// Requests that may wait for one worker. A longer queue is an overload that
/// the run reports as its failure rather than as a latency.
const QUEUE: usize = 1 << 16;

/// A worker's queue of requests: one writer, one reader.
struct Queue {
    post: Post,
    /// Written by the generator, read by the worker.
    tail: AtomicU64,
    /// Written by the worker, read by the generator.
    head: AtomicU64,
    slots: Vec<Slot>,
}

/// One waiting request.
#[derive(Default)]
struct Slot {
    due_ns: AtomicU64,
    sent_ns: AtomicU64,
}

impl Queue {
    fn new() -> Self {
        Self {
            post: Post::default(),
            tail: AtomicU64::new(0),
            head: AtomicU64::new(0),
            slots: (0..QUEUE).map(|_| Slot::default()).collect(),
        }
    }

    fn slot(&self, position: u64) -> &Slot {
        &self.slots[(position % QUEUE as u64) as usize]
    }

    /// Appends a request; false where the queue is full.
    fn push(&self, due_ns: u64, sent_ns: u64) -> bool {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail - self.head.load(Ordering::Acquire) >= QUEUE as u64 {
            return false;
        }
        self.slot(tail).due_ns.store(due_ns, Ordering::Relaxed);
        self.slot(tail).sent_ns.store(sent_ns, Ordering::Relaxed);
        self.tail.store(tail + 1, Ordering::SeqCst);
        true
    }

    /// The oldest request: when it was due and when it was sent.
    fn pop(&self) -> Option<(u64, u64)> {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(Ordering::SeqCst) {
            return None;
        }
        let slot = self.slot(head);
        let request = (slot.due_ns.load(Ordering::Relaxed), slot.sent_ns.load(Ordering::Relaxed));
        self.head.store(head + 1, Ordering::Release);
        Some(request)
    }
}

/// When requests are due, as gaps between them.
struct Arrivals {
    mean_gap_ns: f64,
    times: ArrivalTimes,
    random: ChaCha8Rng,
}

impl Arrivals {
    /// The offset of the next request, given that of the last one.
    fn after(&mut self, offset_ns: f64) -> f64 {
        match self.times {
            ArrivalTimes::Fixed => offset_ns + self.mean_gap_ns,
            ArrivalTimes::Poisson => {
                // 53 random bits in (0, 1], so that the logarithm is finite.
                let uniform = ((self.random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
                offset_ns - libm::log(uniform) * self.mean_gap_ns
            }
        }
    }
}

/// When recording begins and requests end; the generators share one origin.
struct Window {
    origin_ns: AtomicU64,
    warmup_ns: u64,
    duration_ns: u64,
    is_stopped: AtomicBool,
}

impl Window {
    fn first_recorded_ns(&self) -> u64 {
        self.origin_ns.load(Ordering::SeqCst) + self.warmup_ns
    }
}

struct Generator {
    window: Arc<Window>,
    queues: Vec<Arc<Queue>>,
    arrivals: Arrivals,
    lateness: Histogram,
    sent: u64,
}

impl Generator {
    fn run(&mut self) -> Result<(), String> {
        let origin_ns = self.window.origin_ns.load(Ordering::SeqCst);
        let first_ns = self.window.first_recorded_ns();
        let end_ns = first_ns + self.window.duration_ns;
        let mut offset_ns = 0.0;
        for index in 0_usize.. {
            offset_ns = self.arrivals.after(offset_ns);
            let due_ns = origin_ns + offset_ns as u64;
            if due_ns >= end_ns || self.window.is_stopped.load(Ordering::Relaxed) {
                break;
            }
            if sys::monotonic_ns() < due_ns {
                sleep_until(due_ns);
            }
            let now_ns = sys::monotonic_ns();
            let queue = &self.queues[index % self.queues.len()];
            if !queue.push(due_ns, now_ns) {
                return Err(format!("the rate is too high: {QUEUE} requests wait for one worker"));
            }
            if due_ns >= first_ns {
                self.lateness.record(now_ns - due_ns);
                self.sent += 1;
            }
            queue.post.post();
        }
        Ok(())
    }
}

struct Worker {
    window: Arc<Window>,
    queue: Arc<Queue>,
    request: Request,
    matrices: Matrices,
    wakeup: Histogram,
    latency: Histogram,
    service: Histogram,
}

impl Worker {
    fn run(&mut self) {
        let first_ns = self.window.first_recorded_ns();
        loop {
            let has_slept = self.queue.post.wait();
            let mut start_ns = sys::monotonic_ns();
            let mut is_first = has_slept;
            while let Some((due_ns, sent_ns)) = self.queue.pop() {
                if due_ns >= first_ns && is_first {
                    self.wakeup.record(start_ns.saturating_sub(sent_ns));
                }
                is_first = false;
                self.request.perform(&mut self.matrices);
                let end_ns = sys::monotonic_ns();
                if due_ns >= first_ns {
                    self.latency.record(end_ns.saturating_sub(due_ns));
                    self.service.record(end_ns - start_ns);
                }
                start_ns = end_ns;
            }
            if self.window.is_stopped.load(Ordering::SeqCst) {
                return;
            }
        }
    }
}

enum Task {
    Generator(Generator),
    Worker(Worker),
}

impl Member for Task {
    fn run(&mut self) -> Result<(), String> {
        match self {
            Task::Generator(generator) => generator.run(),
            Task::Worker(worker) => {
                worker.run();
                Ok(())
            }
        }
    }
}

pub(super) fn prepare(
    settings: &WakeupSettings,
    rate: Rate,
    launch: &LaunchSpec,
    request: &Request,
) -> Result<Box<dyn Load>> {
    let generators = settings.message_threads;
    let window = Arc::new(Window {
        origin_ns: AtomicU64::new(0),
        warmup_ns: settings.warmup_ns,
        duration_ns: settings.duration_ns,
        is_stopped: AtomicBool::new(false),
    });
    let mut queues = Vec::new();
    let (mut sending, mut serving) = (Vec::new(), Vec::new());
    for index in 0..generators {
        let own: Vec<Arc<Queue>> = (0..settings.workers).map(|_| Arc::new(Queue::new())).collect();
        queues.extend(own.iter().cloned());
        serving.extend(own.iter().map(|queue| Worker {
            window: Arc::clone(&window),
            queue: Arc::clone(queue),
            request: request.clone(),
            matrices: request.matrices(),
            wakeup: Histogram::new(),
            latency: Histogram::new(),
            service: Histogram::new(),
        }));
        let mut random = ChaCha8Rng::seed_from_u64(launch.seed);
        random.set_stream(index);
        sending.push(Generator {
            window: Arc::clone(&window),
            queues: own,
            arrivals: Arrivals {
                mean_gap_ns: 1e9 * generators as f64 / rate.per_second,
                times: rate.times,
                random,
            },
            lateness: Histogram::new(),
            sent: 0,
        });
    }
    let tasks = serving.into_iter().map(Task::Worker);
    let workers = Crew::assemble(launch, tasks.collect())?;
    let tasks = sending.into_iter().map(Task::Generator);
    let generators = Crew::assemble(launch, tasks.collect())?;
    Ok(Box::new(Open { generators, workers, window, queues }))
}

struct Open {
    generators: Crew<Task>,
    workers: Crew<Task>,
    window: Arc<Window>,
    queues: Vec<Arc<Queue>>,
}

impl Open {
    /// Workers empty their queues before they stop, so nothing slow is left out.
    fn stop(&self) {
        self.window.is_stopped.store(true, Ordering::SeqCst);
        self.queues.iter().for_each(|queue| queue.post.post());
    }
}

impl Load for Open {
    fn run(&mut self) -> Result<Measurement> {
        self.window.origin_ns.store(sys::monotonic_ns(), Ordering::SeqCst);
        self.workers.open();
        self.generators.open();
        let length_ns = self.window.warmup_ns + self.window.duration_ns;
        let senders = self.generators.collect(length_ns + 10 * S)?;
        self.stop();
        let [mut wakeup, mut latency, mut service, mut lateness] =
            std::array::from_fn(|_| Histogram::new());
        // As much again is allowed for the requests that still wait.
        let servers = self.workers.collect(length_ns + 10 * S)?;
        let end_ns = sys::monotonic_ns();
        let mut sent = 0;
        for task in senders.into_iter().chain(servers) {
            match task {
                Task::Generator(generator) => {
                    lateness.merge(&generator.lateness);
                    sent += generator.sent;
                }
                Task::Worker(worker) => {
                    wakeup.merge(&worker.wakeup);
                    latency.merge(&worker.latency);
                    service.merge(&worker.service);
                }
            }
        }
        let requests = latency.count();
        if requests != sent {
            return Err(contract::Error::environment(
                "the open loop lost requests",
                format!("{sent} were sent and {requests} were finished"),
            ));
        }
        let window_ns = self.window.duration_ns.max(end_ns - self.window.first_recorded_ns());
        super::measurement(
            vec![
                ("request_latency", latency),
                ("wakeup_latency", wakeup),
                ("service_time", service),
                ("generator_lateness", lateness),
            ],
            requests,
            window_ns,
        )
    }
}

/// Tells the threads to stop before the crews wait for them.
impl Drop for Open {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(times: ArrivalTimes, seed: u64) -> Vec<f64> {
        let random = ChaCha8Rng::seed_from_u64(seed);
        let mut arrivals = Arrivals { mean_gap_ns: 1_000.0, times, random };
        let mut offset_ns = 0.0;
        (0..10_000)
            .map(|_| {
                offset_ns = arrivals.after(offset_ns);
                offset_ns
            })
            .collect()
    }

    #[test]
    fn arrivals_follow_the_seed_and_keep_their_rate() {
        let poisson = |seed| moments(ArrivalTimes::Poisson, seed);
        assert_eq!(poisson(1), poisson(1));
        assert_ne!(poisson(1), poisson(2));
        let last = poisson(1).pop().unwrap();
        assert!((last / 1e7 - 1.0).abs() < 0.05, "{last}");
        assert_eq!(moments(ArrivalTimes::Fixed, 1)[..3], [1_000.0, 2_000.0, 3_000.0]);
    }

    #[test]
    fn a_full_queue_refuses_instead_of_forgetting() {
        let queue = Queue::new();
        for due_ns in 0..QUEUE as u64 {
            assert!(queue.push(due_ns, due_ns + 1));
        }
        assert!(!queue.push(0, 0));
        assert_eq!(queue.pop(), Some((0, 1)));
        assert!(queue.push(7, 8));
    }
}
