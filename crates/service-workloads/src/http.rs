//! A generator of HTTP load: requests of several kinds to a service that runs already.

mod ask;
mod capacity;
mod conflicts;
mod connection;
mod engine;
mod host_load;
mod metrics;
mod response;
mod scenario;
mod schedule;
mod settings;
mod tally;
mod template;
mod value;

use ask::ask;
pub(crate) use ask::{answers, fetch};
use capacity::Step;
use contract::{
    Configured, Description, Error, ErrorKind, LaunchSpec, Load, Measurement, Parameter, Problem,
    RateSearch, Requirement, Result, Workload, WorkloadFacts,
};
use engine::Generator;
use model::{Metric, Parameters, RunReport, Sample};
use schedule::Course;
use settings::{Flow, SCALE, SEARCH, TARGET, TEST};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;
use sys::Machine;
use tally::Tally;
use workload_parts::nanoseconds::S;
use workload_parts::program::WHERE_OUTPUT_IS;

pub(crate) use scenario::Scenario;
pub(crate) use settings::{ADDRESS, DURATION, HttpSettings, LOAD, SCENARIO_AT, WARM_UP};
pub(crate) use tally::Fates;

static DESCRIPTION: Description = Description {
    id: "http",
    summary: "Load for any HTTP service: kinds of requests at their rates, latency from when due",
    doc: r#"**What it is.** One thread with up to `connections` connections (HTTP/1.1, kept open)
sends the requests of a `scenario` to `address`, where a service of yours runs already. With
`arrivals = "poisson"` or `"constant"` it is an open loop: each kind has its own rate, requests go
when they are due whatever became of those before, and the load may ramp up and down. With
`"closed"` each connection sends its next request when the one before is answered, and rates are
weights. Nobody else is contacted, and no name is looked up.

**The scenario** is a TOML file:

```toml
[values]
from = { from = 1, to = 1000 }
to = { from = 1, to = 1000, differs_from = "from" }
amount = { from = 100, to = 99900, decimals = 2 }
key = { unique = true }
city = { csv = "cities.csv", column = "name" }

[[requests]]
name = "transfer"
rate = 50
method = "POST"
path = "/api/transactions/transfer"
headers = { Content-Type = "application/json", Idempotency-Key = "${key}" }
body = '{"from": ${from}, "to": ${to}, "amount": "${amount}"}'
expect = [201]

[[requests]]
name = "balance"
rate = 100
path = "/api/accounts/${from}/balance"
contains = "balance"
```

A value is drawn anew for each request, each number or row as likely as another; `unique` ones
come once, in this run and in others. They are put into the text as they are. An answer is right
when its status is one of `expect` (200 if none is given) and its body holds what `contains` says.
`[[setup]]` holds requests that are asked once each before the load, `[[check]]` those after it,
written the same way without a rate: a wrong answer of one fails the trial, and is quoted. That is
the place for what must be true of the service's data after every run.

**What it means.** `latency` counts from when a request was due until its answer was there;
`service_time` from when it got a connection: what a generator that waits would have reported.
`KIND_latency` is that of one kind. Right answers only: `failed` and `KIND_failed` are the shares
of requests with a wrong answer, or none within `timeout`. `answers_per_second` are right answers
that came within the measured time. `lateness` is how much later than due the generator itself saw
a request, `waited` how much later than due it got a connection, `generator_cpu` the generator's
CPU time per request.

**The highest rate.** With `test = "capacity"` the rates are doubled from `scale` on until the
service does not sustain them, and then narrowed down to a twentieth: sustained is a rate at which
99 of 100 requests get a right answer and the 99th percentile of `latency` is `target` at most.
Each step lasts `warm_up` and `duration`. `capacity` is the highest sustained rate of all kinds
together. `schedlab capacity` does this for an experiment, and writes one that compares below it.

**What moves it.** The service, and what runs beside it. In an open loop a service that falls
behind makes every later request wait; that is in `latency`, and not in `service_time`.

**When it lies.** The levels of a trial apply to the generator, for the service is not ours: those
of the whole machine reach both, those of processes only the generator. On one machine both share
the CPUs: give the generator its own. A closed loop's tail is conditional on its own pauses
(coordinated omission). With `arrivals = "constant"` and a rate in step with the kernel's ticks (10,
20, 50 or 100 per second) `cpu_user_share` and its like may be far off: they are sampled at ticks.
With fewer connections than requests under way, requests `waited` for the
generator. Requests are repeated on no failure.

**Reference.** wrk, wrk2 and oha measure the same; G. Tene, How NOT to Measure Latency (2015), for
latency from when due. RFC 9110 and 9112."#,
};

const PARAMETERS: &[Parameter] = contract::join_keys!(SCENARIO_AT, LOAD);

/// How a load that we send searches the highest rate, wherever it is part of a workload.
pub(crate) const RATE_SEARCH: RateSearch = RateSearch {
    test: (TEST.declared(), SEARCH),
    target: TARGET,
    duration: DURATION,
    scale: SCALE,
    sender: None,
    rate: metrics::CAPACITY,
    factor: metrics::CAPACITY_FACTOR,
    answers: metrics::ANSWERS,
};

/// How long a service may take to answer a handshake before anything is changed.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);
/// How long an answer to the set-up or the check may take: it may go over all data.
const CHECKED_WITHIN_NS: u64 = 60 * S;
/// What is told of failures.
const TOLD: usize = 3;
/// Connections that warm a service: enough to keep some CPUs busy, too few for a queue.
const WARMING_CONNECTIONS: usize = 16;

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
        const { &[(DURATION.name(), "100ms"), (WARM_UP.name(), "10ms")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        Ok(Box::new(HttpSettings::sent_by_us(parameters)?))
    }

    fn rate_search(&self) -> Option<&'static RateSearch> {
        const { Some(&RATE_SEARCH) }
    }

    fn usual_metrics(&self) -> Vec<Metric> {
        usual_metrics()
    }
}

impl Configured for HttpSettings {
    fn metrics(&self) -> Vec<Metric> {
        metrics_of(self)
    }

    fn facts(&self) -> WorkloadFacts {
        let address = self.to;
        let service = Requirement::check(format!("a service at {address}"), move |_| {
            TcpStream::connect_timeout(&address, ANSWERS_WITHIN).map(drop).map_err(|error| {
                (
                    format!("it cannot be reached: {error}"),
                    "start it, or correct the address".into(),
                )
            })
        });
        WorkloadFacts {
            is_closed_loop: self.is_closed_loop(),
            requirements: vec![service],
            programs: self.files(),
            ..WorkloadFacts::open_loop(self.expected_ns())
        }
    }

    fn prepare(&self, _: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        let mut load = HttpLoad::of(self.clone(), launch)?;
        load.set_up()?;
        launch
            .enter_task()
            .map_err(|error| Error::environment("cannot take on the levels of the trial", error))?;
        Ok(Box::new(load))
    }
}

/// The metrics of a load.
pub(crate) fn metrics_of(settings: &HttpSettings) -> Vec<Metric> {
    if settings.is_search() {
        return metrics::of_search();
    }
    metrics::of_load(&settings.scenario.names(), !settings.is_closed_loop())
}

/// The metrics of a load whose scenario is not known, by its defaults.
pub(crate) fn usual_metrics() -> Vec<Metric> {
    metrics::of_load(&[], true)
}

/// Files that a process has open beside connections.
const OTHER_FILES: u64 = 64;

/// Steps of a search without one right answer, each at half the rate of the one before it, after
/// which none is expected.
const SILENT_STEPS: usize = 3;

/// Numbers of the first requests before and after a load, which its own do not reach.
const SET_UP: u64 = 1 << 62;
const CHECK: u64 = 1 << 63;

/// The number of a run, which no other run has.
fn draw() -> Result<u64> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Error::environment("cannot draw the number of a run", error))?;
    Ok(u64::from_ne_bytes(bytes))
}

/// A load that is ready to be sent.
pub(crate) struct HttpLoad {
    settings: HttpSettings,
    log: PathBuf,
    /// That requests were counted wrongly.
    unaccounted: Option<String>,
    /// Of all requests by kind since the last set-up.
    fates: BTreeMap<String, Fates>,
}

impl Load for HttpLoad {
    fn run(&mut self) -> Result<Measurement> {
        if let Some(target_ns) = self.settings.search_ns {
            return self.search(target_ns);
        }
        let tally = self.generate(&self.settings.clone())?;
        self.tell_failures(&tally)?;
        let (offered, answered) = (tally.offered, tally.answered());
        if answered + tally.failed() != offered {
            self.unaccounted = Some(format!(
                "{offered} requests were due, {answered} answered and {} failed",
                tally.failed()
            ));
        }
        let silent = tally.kinds.iter().position(|kind| kind.latency.count() == 0);
        if let Some(kind) = silent {
            return Err(self.nothing(&tally, kind));
        }
        Ok(self.measurement(&tally))
    }

    fn verify(&mut self, _: &RunReport) -> Result<(), String> {
        if let Some(unaccounted) = self.unaccounted.take() {
            return Err(unaccounted);
        }
        let HttpSettings { to, scenario, run, seed, .. } = &self.settings;
        ask(*to, scenario, &scenario.check, (*run, *seed), CHECK, CHECKED_WITHIN_NS)
            .map_err(|why| format!("the check after the load failed: {why}"))
    }
}

impl HttpLoad {
    /// # Errors
    /// What cannot be had.
    pub(crate) fn of(settings: HttpSettings, launch: &LaunchSpec) -> Result<Self> {
        workload_parts::process::allow_open_files(settings.connections as u64 + OTHER_FILES)?;
        let settings = HttpSettings { seed: launch.seed, run: draw()?, ..settings };
        let (log, fates) = (launch.log.clone(), BTreeMap::new());
        Ok(Self { settings, log, unaccounted: None, fates })
    }

    /// What became of all requests since the last set-up, measured or not, by kind.
    pub(crate) fn fates(&self) -> &BTreeMap<String, Fates> {
        &self.fates
    }

    fn generate(&mut self, settings: &HttpSettings) -> Result<Tally> {
        let tally = Generator::new(settings)
            .and_then(Generator::run)
            .map_err(|error| Error::environment("the generator failed", error))?;
        for (kind, outcomes) in settings.scenario.kinds.iter().zip(&tally.kinds) {
            *self.fates.entry(kind.name.clone()).or_default() += &outcomes.fates;
        }
        Ok(tally)
    }

    /// Where the service is.
    pub(crate) fn address(&self) -> SocketAddr {
        self.settings.to
    }

    /// Asks what the scenario asks before the load.
    ///
    /// # Errors
    /// That an answer was wrong, and what it said.
    pub(crate) fn set_up(&mut self) -> Result<()> {
        self.fates.clear();
        let HttpSettings { to, scenario, run, seed, .. } = &self.settings;
        ask(*to, scenario, &scenario.setup, (*run, *seed), SET_UP, CHECKED_WITHIN_NS).map_err(
            |why| Error::new(ErrorKind::Environment, "the set-up before the load failed", why, ""),
        )
    }

    /// The median time of an answer, in nanoseconds, while requests of all kinds come for so long,
    /// each when another was answered: what compiles itself sees as many as it can serve, whatever
    /// the rate of the load, and no queue hides that it has become faster. None where nothing was
    /// answered.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(crate) fn window_ns(&mut self, length_ns: u64) -> Result<Option<u64>> {
        let settings = HttpSettings {
            flow: Flow::Closed,
            connections: self.settings.connections.min(WARMING_CONNECTIONS),
            course: Course { ramp_up_ns: 0, hold_ns: length_ns, ramp_down_ns: 0 },
            measured_ns: (0, length_ns),
            run: draw()?,
            ..self.settings.clone()
        };
        let tally = self.generate(&settings)?;
        Ok(tally.service_time().quantile(0.5))
    }

    /// Searches the highest rate that is sustained.
    fn search(&mut self, target_ns: u64) -> Result<Measurement> {
        let (course, measured_ns) = self.settings.step();
        let (mut answered, mut silent) = (0, 0);
        let found = capacity::search::<Unsustained>(self.settings.scale, target_ns, |scale| {
            let run = draw().map_err(Unsustained::Error)?;
            let settings =
                HttpSettings { scale, course, measured_ns, run, ..self.settings.clone() };
            settings.check_rate().map_err(Unsustained::Cause)?;
            let tally = self.generate(&settings).map_err(Unsustained::Error)?;
            self.tell_failures(&tally).map_err(Unsustained::Error)?;
            answered += tally.answered();
            silent = if tally.answered() == 0 { silent + 1 } else { 0 };
            if silent == SILENT_STEPS {
                let failed = |kind: usize| tally.kinds[kind].failures.values().sum::<u64>();
                let kind = (0..tally.kinds.len()).max_by_key(|kind| failed(*kind));
                return Err(Unsustained::Error(self.nothing(&tally, kind.unwrap_or(0))));
            }
            let p99_ns = tally.latency().quantile(0.99);
            Ok(Step { offered: tally.offered, answered: tally.answered(), p99_ns })
        });
        let found = found.map_err(|why| match why {
            Unsustained::Error(error) => error,
            Unsustained::Cause(cause) => {
                let remedy = "begin at another scale, or set another target";
                let attempted = "no highest rate was found";
                Error::new(ErrorKind::Environment, attempted, cause, remedy)
            }
        })?;
        let per_second = self.settings.scenario.kinds.iter().map(|kind| kind.rate).sum::<f64>();
        let samples = vec![
            Sample::values(metrics::CAPACITY, vec![found.sustained * per_second]),
            Sample::values(metrics::CAPACITY_FACTOR, vec![found.sustained]),
        ];
        Ok(Measurement { samples, operations: Some(answered) })
    }

    fn names(&self) -> Vec<&str> {
        self.settings.scenario.names()
    }

    fn measurement(&self, tally: &Tally) -> Measurement {
        let (from_ns, to_ns) = self.settings.measured_ns;
        let seconds = (to_ns - from_ns) as f64 / S as f64;
        let mut samples = vec![
            Sample::histogram("latency", tally.latency()),
            Sample::quotient(metrics::ANSWERS, tally.answers_in_time as f64, seconds),
            Sample::proportion("failed", tally.failed(), tally.offered),
        ];
        for (name, kind) in self.names().iter().zip(&tally.kinds) {
            let failed: u64 = kind.failures.values().sum();
            samples.push(Sample::histogram(&format!("{name}_latency"), kind.latency.clone()));
            let all = failed + kind.latency.count();
            samples.push(Sample::proportion(&format!("{name}_failed"), failed, all));
        }
        if self.settings.flow != Flow::Closed {
            samples.extend([
                Sample::histogram("service_time", tally.service_time()),
                Sample::histogram("waited", tally.waited.clone()),
                Sample::histogram("lateness", tally.lateness.clone()),
            ]);
        }
        let cpu_ns = tally.cpu_ns as f64;
        samples.push(Sample::quotient("generator_cpu", cpu_ns, tally.sent.max(1) as f64));
        Measurement { samples, operations: Some(tally.answered()) }
    }

    /// A kind without a right answer has no percentiles.
    fn nothing(&self, tally: &Tally, kind: usize) -> Error {
        let names = self.names();
        let failures = tally.failures(&names);
        let mut why: Vec<String> = failures
            .iter()
            .filter(|(_, name, _)| name == names[kind])
            .take(TOLD)
            .map(|(count, _, why)| format!("{count} times {why}"))
            .collect();
        if why.is_empty() {
            why.push("none was due".to_owned());
        }
        let cause = format!("no request `{}` got a right answer: {}", names[kind], why.join(", "));
        Error::new(ErrorKind::Environment, "nothing was measured", cause, WHERE_OUTPUT_IS)
    }

    /// Failures are counted for the metrics; why each came is in the log.
    fn tell_failures(&self, tally: &Tally) -> Result<()> {
        let failures = tally.failures(&self.names());
        if failures.is_empty() {
            return Ok(());
        }
        let mut text = format!("requests to {} that failed, how often and why\n", self.settings.to);
        for (count, name, why) in failures {
            let _ = writeln!(text, "{count}\t{name}\t{why}");
        }
        let mut options = File::options();
        let log = options.create(true).append(true).open(&self.log);
        log.and_then(|mut log| log.write_all(text.as_bytes())).map_err(|error| {
            Error::environment(format!("cannot write the log {}", self.log.display()), error)
        })
    }
}

/// Why a search ended without an answer.
enum Unsustained {
    Error(Error),
    Cause(String),
}

impl From<String> for Unsustained {
    fn from(cause: String) -> Self {
        Self::Cause(cause)
    }
}
