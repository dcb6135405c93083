//! The gateway of a trading system between its clients and an exchange: three processes, and
//! where the time between them goes.

mod clock;
mod connection;
pub(crate) mod cost;
mod events;
mod exchange;
mod frame;
mod frame_assembly;
mod generator;
mod placement_metrics;
mod policy;
mod poller;
mod pool;
mod queue;
mod ring;
mod role;
mod settings;
mod stages;
mod usage;
mod worker;

use clock::Clock;
use contract::{
    Configured, Description, Error, ErrorKind, LaunchSpec, Load, Measurement, Parameter, Problem,
    Requirement, Result, WordChoice, Workload, WorkloadFacts,
};
use events::Engine;
use generator::Measured;
use model::{Direction, Histogram, Metric, Parameters, Reduction, RunReport, Sample, Unit};
use poller::Waiting;
use queue::BellKind;
use settings::{ClockChoice, GatewaySettings, PARAMETERS, REQUESTS, Route, Stage, WARM_UP};
use stages::Stages;
use std::io;
use sys::Machine;
use usage::Usage;
use worker::Served;
use workload_parts::memfd_message::MemfdMessage;
use workload_parts::nanoseconds::{MS, S};
use workload_parts::process::{ChildProcesses, StartBarrier, allow_open_files};

static DESCRIPTION: Description = Description {
    id: "gateway",
    summary: "Gateway of a trading system: generator, gateway and exchange over TCP, with stages",
    doc: "\
**What it is.** Three processes on this machine. The generator has `sessions` connections to the
gateway, whose `workers` each wait in epoll_wait(2) for their clients (SO_REUSEPORT deals them
out) and for a connection of their own to a mock exchange, which answers every request. Sockets
do not wait for more (TCP_NODELAY). A frame has a length, a session, a sequence number and a
check that the exchange changes: a reply that is lost, damaged, comes twice or to another session
fails the run.

`route` says how a request goes: `local`, the client's worker asks the exchange; `one_way`, it
hands the request to the next worker, which asks and replies; `both_ways`, the answer is handed
back as well. Between workers is a `queue` behind a `mutex` (a futex that sleeps), a `spin` lock
or none (`lock_free`: a bounded one of Vyukov's for several writers and readers, of which two
workers have one each), and `wake` says how its reader learns of it: `eventfd` or `futex` each time,
`busy_poll` without sleeping at all, or `spin_then_block`, awake for `spin`, then asleep. With `io =
\"io_uring\"` the kernel receives by itself, and a worker waits for that; epoll says only that
something can be read. With `allocator = \"pool\"` the gateway uses the memory of frames again.

**What it means.** `round_trip` is the time from a request's write to its reply's read, by the
generator's clock alone. Stages are measured, not inferred: frames carry the moment at which each
station had them. `to_gateway` ends when a worker finds the request, `gateway` is its work and
the wait for it, `handoff` and `handoff_back` are the time in queues, `exchange` is the way there
and back, `to_client` the way home. They add up to the round trip, or the run fails.
`gateway_cpu` and `gateway_switches` are what the workers used for one request.

**What moves it.** Above all where the three run. On one CPU a wake-up is a switch; between idle
CPUs of a virtual machine it is an exit from halt, ten times as much. `generator_cpus`,
`gateway_cpus` (the nth worker on the nth) and `exchange_cpus` pin them, `generator_policy` and its
like put them under policies of their own; whether they really ran so is checked. Then slices and
policies of all: a worker that must wait for a slice of somebody else waits for milliseconds.

**When it lies.** With `rate = 0` each request waits for a reply (closed loop), so a slow gateway
is asked less: its tail is conditional on its own pauses. With a `rate` requests are due whether
or not it keeps up (open loop), `round_trip` counts from when they were due, and `lateness` says
how late the generator was; in the last microsecond before a request is due it looks at no reply.
A thread that spins needs a CPU of its own: workers that poll, and the generator of an open loop.
With `clock = \"tsc\"` moments are cycles, scaled to the kernel's clock and checked against it. One
clock for all needs one machine: over a network there are no stages.

**Reference.** The gateway baseline (S1, S2 and S3 with 200,000 pings): its 30,700 operations per
second at 32.0 us are 0.98 requests under way, which is `inflight_total = 1`.",
};

/// Measured on 2 cores at 2.6 GHz: 13 us where all share a CPU, 75 to 125 us across two.
const ROUND_TRIP_NS: u64 = 90_000;
/// Descriptors of a process beside its connections.
const OTHER_FILES: u64 = 64;
/// Requests that cannot be under way by Little's law, as a fraction of those that may be.
const MOST_OVER: f64 = 1.05;

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
        const { &[(REQUESTS.name(), "100"), (WARM_UP.name(), "10")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        Ok(Box::new(GatewaySettings::of(parameters)?))
    }
}

impl Configured for GatewaySettings {
    fn metrics(&self) -> Vec<Metric> {
        let mut metrics =
            Metric::latency_quantiles("round_trip", "Time from a request to its reply");
        let mut extreme = |quantile: f64, name: &str, summary: &str| {
            let mut metric = Metric::new(
                format!("round_trip_{name}"),
                Unit::Nanoseconds,
                Direction::Lower,
                Reduction::Quantile(quantile),
                format!("Time from a request to its reply: {summary}"),
            );
            metric.source = "round_trip".to_owned();
            metric.resolution = 1.0;
            metrics.push(metric);
        };
        extreme(0.9999, "p9999", "the 99.99th percentile");
        extreme(1.0, "max", "the longest");
        let of = |id: &str, unit, direction, summary: &str| {
            Metric::new(id, unit, direction, Reduction::Quotient, summary)
        };
        metrics.push(of(
            "operations_per_second",
            Unit::PerSecond,
            Direction::Higher,
            "Replies per second",
        ));
        metrics.push(of(
            "gateway_cpu",
            Unit::Nanoseconds,
            Direction::Lower,
            "CPU time of the gateway for one request",
        ));
        metrics.push(of(
            "gateway_switches",
            Unit::PerOperation,
            Direction::Lower,
            "Context switches of the gateway for one request",
        ));
        metrics.extend(placement_metrics::metrics(self));
        let whole = "round_trip_mean";
        let mean = |id: String, summary: String| {
            Metric::new(id, Unit::Nanoseconds, Direction::Lower, Reduction::Quotient, summary)
        };
        metrics.push(mean(
            whole.to_owned(),
            "Time from a request's write to its reply's read: the mean".to_owned(),
        ));
        for &(name, stage) in Stage::WORDS {
            if self.route.passes(stage) {
                let summary = summary(stage);
                metrics.extend(Metric::latency_quantiles(name, summary));
                let mut part = mean(format!("{name}_mean"), format!("{summary}: the mean"));
                part.part_of = Some(whole.to_owned());
                metrics.push(part);
            }
        }
        if self.rate.is_some() {
            let summary = "How much later than due a request was sent";
            metrics.extend(Metric::latency_quantiles("lateness", summary));
        }
        metrics
    }

    fn facts(&self) -> WorkloadFacts {
        let requests = self.requests + self.warm_up;
        let each_ns = match self.rate {
            None => ROUND_TRIP_NS + self.delay.map_or(0, |(_, delay_ns)| delay_ns),
            Some(rate) => S / rate,
        };
        WorkloadFacts {
            is_closed_loop: self.rate.is_none(),
            requirements: self.requirements(),
            ..WorkloadFacts::open_loop(requests.saturating_mul(each_ns) + 50 * MS)
        }
    }

    fn prepare(&self, _: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        let clock = match self.declared_clock {
            ClockChoice::Monotonic => Clock::Monotonic,
            ClockChoice::Tsc => Clock::cycles(),
        };
        let settings = GatewaySettings { seed: launch.seed, clock, ..self.clone() };
        allow_open_files(2 * settings.sessions as u64 + settings.workers as u64 * 4 + OTHER_FILES)?;
        Ok(Box::new(Processes::start(settings, launch)?))
    }
}

impl GatewaySettings {
    fn requirements(&self) -> Vec<Requirement> {
        let mut needs = Vec::new();
        // A thread that spins and shares its CPU delays what it waits for: workers that poll,
        // and the generator of an open loop.
        let workers = if self.waiting == Waiting::Poll { self.workers } else { 0 };
        let spinning = workers + usize::from(self.rate.is_some());
        if spinning > 0 {
            needs.push(Requirement::cpus(spinning + 1));
        }
        if self.engine == Engine::Ring {
            needs.push(ring::requirement(self.bell == BellKind::Futex));
        }
        if self.declared_clock == ClockChoice::Tsc {
            needs.push(Requirement::check("a steady cycle counter", |machine| {
                clock::is_steady(&machine.read("/proc/cpuinfo").unwrap_or_default())
            }));
        }
        needs.extend(self.generator.clone().requirements("generator"));
        needs.extend(self.gateway.clone().requirements("gateway"));
        needs.extend(self.exchange.clone().requirements("exchange"));
        needs
    }
}

fn summary(stage: Stage) -> &'static str {
    match stage {
        Stage::ToGateway => "From the generator to the worker that finds the request",
        Stage::Gateway => "The gateway's work, and the wait for it",
        Stage::Handoff => "From one worker to the other",
        Stage::Exchange => "To the exchange and back",
        Stage::HandoffBack => "From the other worker back",
        Stage::ToClient => "From the gateway to the generator",
    }
}

/// The three processes, each waiting for its start.
struct Processes {
    family: ChildProcesses,
    settings: GatewaySettings,
    /// What each says when it ends: exchange, gateway, generator.
    results: [MemfdMessage; 3],
    barrier: StartBarrier,
    seen: Option<Seen>,
}

/// What must be true of a run, for [`Load::verify`].
struct Seen {
    measured: Measured,
    served: Served,
    exchange: Usage,
    stages: Stages,
}

impl Processes {
    fn start(settings: GatewaySettings, launch: &LaunchSpec) -> Result<Self> {
        let failed = |what: &'static str| {
            move |error: io::Error| {
                let remedy = if error.kind() == io::ErrorKind::AddrInUse {
                    "choose another port, or port = 0 for one that is free"
                } else {
                    ""
                };
                Error::new(ErrorKind::Environment, what, error, remedy)
            }
        };
        let (listeners, port) =
            worker::listeners(&settings).map_err(failed("cannot open the gateway's port"))?;
        let exchange =
            connection::listen(0, false).map_err(failed("cannot open the exchange's port"))?;
        let exchange_port =
            exchange.local_addr().map_err(failed("cannot open the exchange's port"))?.port();
        let barrier = StartBarrier::new()?;
        let results = [MemfdMessage::new()?, MemfdMessage::new()?, MemfdMessage::new()?];
        let mut family = ChildProcesses::new()?;
        let is_ready = || barrier.ready();
        family.fork("the exchange", launch, || {
            let usage = exchange::serve(&settings, &exchange, is_ready)?;
            results[0].write(&usage)
        })?;
        barrier.await_one(&mut family)?;
        drop(exchange);
        let mut listeners = Some(listeners);
        family.fork("the gateway", launch, || {
            let listeners = listeners.take().unwrap_or_default();
            let served = worker::serve(&settings, launch, listeners, exchange_port, is_ready)?;
            results[1].write(&served)
        })?;
        barrier.await_one(&mut family)?;
        drop(listeners);
        family.fork("the generator", launch, || {
            let measured = generator::generate(&settings, port, || barrier.wait())?;
            results[2].write(&measured)
        })?;
        barrier.await_one(&mut family)?;
        Ok(Self { family, settings, results, barrier, seen: None })
    }

    fn measurement(&self, seen: &Seen) -> Result<Measurement> {
        let Seen { measured, served, stages, .. } = seen;
        let requests = stages.round_trip.count();
        if requests != self.settings.requests {
            return Err(Error::environment(
                "the run is incomplete",
                format!("{requests} of {} replies arrived", self.settings.requests),
            ));
        }
        let mut gateway = Usage::default();
        served.workers.iter().for_each(|worker| gateway.merge(worker));
        // The workers served those of the warm-up as well.
        let operations = (requests + self.settings.warm_up) as f64;
        let switches = gateway.switches.0 + gateway.switches.1;
        let mut samples = vec![
            Sample::histogram("round_trip", stages.round_trip.clone()),
            Sample::quotient(
                "operations_per_second",
                requests as f64,
                measured.span.own_ns() as f64 / 1e9,
            ),
            Sample::quotient("gateway_cpu", gateway.cpu_ns as f64, operations),
            Sample::quotient("gateway_switches", switches as f64, operations),
        ];
        let tasks = (&measured.usage, served, &gateway);
        samples.extend(placement_metrics::samples(&self.settings, tasks, operations));
        let mean = |name: &str, sum_ns: u64| {
            Sample::quotient(&format!("{name}_mean"), sum_ns as f64, requests as f64)
        };
        samples.push(mean("round_trip", stages.sum_ns()));
        for (name, histogram, sum_ns) in stages.seen() {
            samples.push(Sample::histogram(name, histogram.clone()));
            samples.push(mean(name, sum_ns));
        }
        if let Some(text) = &measured.lateness {
            let lateness = Histogram::decode(text)
                .map_err(|error| Error::environment("cannot read the lateness", error))?;
            samples.push(Sample::histogram("lateness", lateness));
        }
        Ok(Measurement { samples, operations: Some(requests) })
    }

    /// What of the run was not as declared, in one sentence.
    fn broken(&self, seen: &Seen) -> Option<String> {
        let disagreement = seen.stages.disagreement();
        disagreement
            .or_else(|| seen.measured.span.disagreement())
            .or_else(|| self.strayed(seen))
            .or_else(|| self.missed(&seen.served))
            .or_else(|| self.wrong_handoffs(&seen.served))
            .or_else(|| self.wrong_concurrency(seen))
    }

    fn strayed(&self, seen: &Seen) -> Option<String> {
        let settings = &self.settings;
        let mut workers = seen.served.workers.iter().enumerate();
        let worker = workers.find_map(|(index, usage)| {
            settings.gateway.broken(&format!("worker {index} of the gateway"), index, usage)
        });
        worker
            .or_else(|| settings.generator.broken("the generator", 0, &seen.measured.usage))
            .or_else(|| settings.exchange.broken("the exchange", 0, &seen.exchange))
    }

    /// A pool has room for all that may be under way, where that is known and not too much.
    fn missed(&self, served: &Served) -> Option<String> {
        let is_missed = !self.settings.may_miss() && served.pool_misses > 0;
        is_missed.then(|| format!("the pool had no room for {} frames", served.pool_misses))
    }

    /// Handoffs are exact: none, one or two for each request.
    fn wrong_handoffs(&self, served: &Served) -> Option<String> {
        let requests = self.settings.requests + self.settings.warm_up;
        let each = match self.settings.route {
            Route::Local => 0,
            Route::OneWay => 1,
            Route::BothWays => 2,
        };
        (served.handoffs != each * requests).then(|| {
            format!("{} handoffs for {requests} requests, of {each} each", served.handoffs)
        })
    }

    /// Little's law: the mean number under way is the rate times the mean round trip.
    fn wrong_concurrency(&self, seen: &Seen) -> Option<String> {
        if self.settings.rate.is_some() {
            return None;
        }
        let rate = self.settings.requests as f64 / seen.measured.span.own_ns() as f64;
        let under_way = rate * seen.stages.round_trip.mean()?;
        let most = self.settings.most_under_way() as f64;
        (under_way > most * MOST_OVER).then(|| {
            format!(
                "{under_way:.2} requests were under way by Little's law, and at most {most} may be"
            )
        })
    }
}

impl Load for Processes {
    fn run(&mut self) -> Result<Measurement> {
        self.barrier.release()?;
        self.family.reap()?;
        let exchange = self.results[0].read("the exchange")?;
        let served = self.results[1].read("the gateway")?;
        let measured: Measured = self.results[2].read("the generator")?;
        let stages = Stages::try_from(&measured.stages)
            .map_err(|error| Error::environment("cannot read the round trips", error))?;
        let seen = Seen { measured, served, exchange, stages };
        let measurement = self.measurement(&seen)?;
        self.seen = Some(seen);
        Ok(measurement)
    }

    fn verify(&mut self, _: &RunReport) -> Result<(), String> {
        let seen = self.seen.take().ok_or("it did not run")?;
        self.broken(&seen).map_or(Ok(()), Err)
    }
}
