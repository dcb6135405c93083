//! schbench's measurement: how long woken workers wait for a CPU, and how long
//! their requests take; closed loop as schbench, or open loop at a given rate.

mod closed;
mod open;
mod request;

use contract::{
    Configured, Description, Error, LaunchSpec, Load, Measurement, Parameter, Problem, Result,
    WordChoice, Workload, WorkloadFacts,
};
use model::{Direction, Histogram, Metric, Parameters, Reduction, Sample, Unit};
use request::{Demand, Request};
use sys::Machine;
use workload_parts::nanoseconds::{MS, S};

static DESCRIPTION: Description = Description {
    id: "wakeup",
    summary: "Wake-up latency, request latency and requests per second (schbench)",
    doc: "\
**What it is.** `message_threads` threads, each the waker of `workers` workers, all in one
process. A worker that has finished puts itself on its waker's lock-free list, wakes it and
sleeps on a futex; the waker takes the whole list, notes the time once and wakes every
worker on it. A woken worker does one request: it sleeps for `think`, then multiplies
`operations` pairs of matrices that together fill `footprint`, holding a spin lock of its
CPU if `lock` is on.

**What it means.** `wakeup_latency` runs from the start of the waker's batch until the
worker runs. `request_latency` is one request, think time included.
`requests_per_second` counts finished requests.

**What moves it.** Wake-up preemption, slices, placement; the lock makes an involuntary
preemption of its holder expensive for every worker of that CPU, on purpose. As many
workers as CPUs is the latency regime; more of them saturate the machine, and `wakeup`
then measures queueing.

**When it lies.** In the closed loop a slow answer delays the next question, so tails are
conditional on the workload's own pauses. Give a `rate` for an open loop: requests are due
at fixed or Poisson-distributed moments drawn from the trial's seed, whatever became of the
earlier ones. `request_latency` then counts from the moment a request was *due*,
`service_time` from when a worker began it, and `generator_lateness` says how late the
generator itself was; when that is not small against the latencies, the generator lacked
CPU and the figures are an upper bound. The think time contains the timer slack.

**Reference.** schbench v1 (C. Mason), same futex protocol, list, lock and matrix work.
Differences: nanoseconds rather than truncated microseconds and no dropped zeros; workers
woken only to stop are not counted (schbench logs up to a second for them in its -R mode);
its -R mode sends a whole second's requests in one burst, ours spaces them.",
};

/// When requests of the open loop are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArrivalTimes {
    /// At the moments of a Poisson process.
    Poisson,
    /// At regular ones.
    Fixed,
}

impl WordChoice for ArrivalTimes {
    const WORDS: &'static [(&'static str, Self)] =
        &[("poisson", Self::Poisson), ("fixed", Self::Fixed)];
}

contract::keys! {
    PARAMETERS;
    MESSAGE_THREADS: u64 = count("message_threads", 1, 64, "1", "Threads that wake workers"),
    WORKERS: u64 = count("workers", 1, 1024, "2", "Workers of each message thread"),
    OPERATIONS: u64 = count("operations", 0, 100_000, "5", "Matrix products of one request"),
    FOOTPRINT: u64 = size("footprint", 24, 1 << 30, "256k", "Memory of one worker's matrices"),
    THINK: u64 = duration("think", 0, 10 * S, "100us", "Sleep at the start of each request"),
    LOCK: bool = flag("lock", "true", "Hold a spin lock of the CPU during the products"),
    WARMUP: u64 = duration("warmup", 0, 600 * S, "200ms", "Time before anything is recorded"),
    DURATION: u64 = length(10 * MS, 3600 * S, "5s", "Time that is recorded"),
    RATE: f64 = number(
        "rate",
        0.0,
        10_000_000.0,
        "0",
        "Requests per second of the open loop; 0 is the closed loop",
    ),
    ARRIVALS: ArrivalTimes = choice(
        "arrivals",
        "poisson",
        "When requests of the open loop are due",
    ),
}

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
        const {
            &[
                (DURATION.name(), "200ms"),
                (WARMUP.name(), "10ms"),
                (OPERATIONS.name(), "1"),
                (FOOTPRINT.name(), "4k"),
            ]
        }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        let settings = WakeupSettings::of(parameters);
        let rate = RATE.of(parameters);
        let requests = rate * settings.duration_ns as f64 / 1e9;
        if rate > 0.0 && requests < 1.0 {
            let why = format!("a rate of {rate} per second sends nothing within the duration");
            return Err(vec![why.into()]);
        }
        Ok(Box::new(settings))
    }
}

/// What was declared.
#[derive(Debug, Clone)]
struct WakeupSettings {
    message_threads: u64,
    /// Of each message thread.
    workers: u64,
    warmup_ns: u64,
    duration_ns: u64,
    demand: Demand,
    /// Of the open loop; none in the closed one.
    rate: Option<Rate>,
}

/// How requests of an open loop come.
#[derive(Debug, Clone, Copy)]
struct Rate {
    per_second: f64,
    times: ArrivalTimes,
}

impl WakeupSettings {
    fn of(parameters: &Parameters) -> Self {
        let per_second = RATE.of(parameters);
        let rate = Rate { per_second, times: ARRIVALS.of(parameters) };
        Self {
            message_threads: MESSAGE_THREADS.of(parameters),
            workers: WORKERS.of(parameters),
            warmup_ns: WARMUP.of(parameters),
            duration_ns: DURATION.of(parameters),
            demand: Demand {
                think_ns: THINK.of(parameters),
                operations: OPERATIONS.of(parameters),
                footprint_bytes: FOOTPRINT.of(parameters),
                is_locked: LOCK.of(parameters),
            },
            rate: (per_second != 0.0).then_some(rate),
        }
    }
}

impl Configured for WakeupSettings {
    fn metrics(&self) -> Vec<Metric> {
        let wakeup =
            Metric::latency_quantiles("wakeup_latency", "Time a woken worker waits to run");
        let rate = Metric::new(
            "requests_per_second",
            Unit::PerSecond,
            Direction::Higher,
            Reduction::Quotient,
            "Requests finished per second",
        );
        let mut metrics = if self.rate.is_none() {
            let request = Metric::latency_quantiles("request_latency", "Time of one request");
            [wakeup, request].concat()
        } else {
            let request = Metric::latency_quantiles(
                "request_latency",
                "Time from when a request was due until it was done",
            );
            let service =
                Metric::latency_quantiles("service_time", "Time from a request's start to its end");
            let lateness = Metric::latency_quantiles(
                "generator_lateness",
                "How late the generator itself sent a request",
            );
            [request, wakeup, service, lateness].concat()
        };
        // p99 is schbench's headline, so it is what is asked unless told otherwise.
        if let Some(position) = metrics.iter().position(|metric| metric.id.ends_with("_p99")) {
            let headline = metrics.remove(position);
            metrics.insert(0, headline);
        }
        metrics.push(rate);
        metrics
    }

    fn facts(&self) -> WorkloadFacts {
        let expected_ns = self.warmup_ns + self.duration_ns + 50 * MS;
        match self.rate {
            Some(_) => WorkloadFacts::open_loop(expected_ns),
            None => WorkloadFacts::closed_loop(expected_ns),
        }
    }

    fn prepare(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        let request = Request::of(machine, &self.demand)?;
        match self.rate {
            Some(rate) => open::prepare(self, rate, launch, &request),
            None => closed::prepare(self, launch, &request),
        }
    }
}

/// The samples that both loops report.
fn measurement(
    histograms: Vec<(&str, Histogram)>,
    requests: u64,
    window_ns: u64,
) -> Result<Measurement> {
    if requests == 0 {
        return Err(Error::new(
            contract::ErrorKind::Environment,
            "no request was measured",
            format!("none finished within {}", model::format_duration(window_ns / MS * MS)),
            "lengthen duration, or use fewer operations for each request",
        ));
    }
    let mut samples: Vec<Sample> =
        histograms.into_iter().map(|(source, data)| Sample::histogram(source, data)).collect();
    let seconds = window_ns as f64 / 1e9;
    samples.push(Sample::quotient("requests_per_second", requests as f64, seconds));
    Ok(Measurement { samples, operations: Some(requests) })
}
