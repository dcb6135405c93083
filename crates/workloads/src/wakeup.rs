//! schbench's measurement: how long woken workers wait for a CPU, and how long
//! their requests take; closed loop as schbench, or open loop at a given rate.

mod closed;
mod open;
mod request;

use crate::declare::{MS, S, choice, count, duration, flag, size};
use contract::{
    Description, Error, LaunchSpec, Load, Measurement, Parameter, ParameterKind, Result, Workload,
};
use model::{Direction, Histogram, Metric, Parameters, Reduction, Sample, Unit};
use sys::Machine;

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

static PARAMETERS: &[Parameter] = &[
    count("message_threads", 1, 64, "1", "Threads that wake workers"),
    count("workers", 1, 1024, "2", "Workers of each message thread"),
    count("operations", 0, 100_000, "5", "Matrix products of one request"),
    size("footprint", 24, 1 << 30, "256k", "Memory of one worker's matrices"),
    duration("think", 0, 10 * S, "100us", "Sleep at the start of each request"),
    flag("lock", "true", "Hold a spin lock of the CPU during the products"),
    duration("warmup", 0, 600 * S, "200ms", "Time before anything is recorded"),
    duration("duration", 10 * MS, 3600 * S, "5s", "Time that is recorded"),
    Parameter {
        name: "rate",
        kind: ParameterKind::Number { min: 0.0, max: 10_000_000.0 },
        default: Some("0"),
        summary: "Requests per second of the open loop; 0 is the closed loop",
    },
    choice("arrivals", &["poisson", "fixed"], "poisson", "When requests of the open loop are due"),
];

/// The workload.
pub(crate) struct Entry;

impl Workload for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn metrics(&self, parameters: &Parameters) -> Vec<Metric> {
        let wakeup =
            Metric::latency_quantiles("wakeup_latency", "Time a woken worker waits to run");
        let rate = Metric::new(
            "requests_per_second",
            Unit::PerSecond,
            Direction::Higher,
            Reduction::Quotient,
            "Requests finished per second",
        );
        let mut metrics = if self.is_closed_loop(parameters) {
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

    fn expected_ns(&self, parameters: &Parameters) -> u64 {
        parameters.duration_ns("warmup") + parameters.duration_ns("duration") + 50 * MS
    }

    fn is_closed_loop(&self, parameters: &Parameters) -> bool {
        parameters.number("rate") == 0.0
    }

    fn conflicts(&self, parameters: &Parameters) -> Vec<String> {
        let rate = parameters.number("rate");
        let requests = rate * parameters.duration_ns("duration") as f64 / 1e9;
        if rate > 0.0 && requests < 1.0 {
            return vec![format!("a rate of {rate} per second sends nothing within the duration")];
        }
        Vec::new()
    }

    fn prepare(
        &self,
        machine: &Machine,
        parameters: &Parameters,
        launch: &LaunchSpec,
    ) -> Result<Box<dyn Load>> {
        let request = request::Request::of(machine, parameters)?;
        if self.is_closed_loop(parameters) {
            closed::prepare(parameters, launch, &request)
        } else {
            open::prepare(parameters, launch, &request)
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
