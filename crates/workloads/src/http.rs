//! A generator of HTTP load: requests of several kinds to a service that runs already.

mod ask;
mod capacity;
mod conflicts;
mod connection;
mod engine;
mod metrics;
mod outside;
mod response;
mod scenario;
mod schedule;
mod settings;
mod tally;
mod template;
mod value;

use crate::address::one_machine;
use crate::declare::{MS, S, choice, count, duration, text};
use crate::program::WHERE_OUTPUT_IS;
use ask::ask;
pub(crate) use ask::{answers, fetch};
use capacity::Step;
pub(crate) use conflicts::{conflicts, conflicts_beside, conflicts_with};
use contract::{
    Description, Error, ErrorKind, LaunchSpec, Load, Measurement, Parameter, ParameterKind,
    Requirement, Result, Workload,
};
use engine::Generator;
use model::{Metric, Parameters, RunReport, Sample};
use schedule::Course;
use settings::{Flow, Settings};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::Machine;
use tally::Tally;

pub(crate) use scenario::Scenario;
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

static PARAMETERS: &[Parameter] = &LOAD;

/// What a load is declared by, wherever it is part of a workload.
pub(crate) const LOAD: [Parameter; 12] = [
    Parameter {
        name: "address",
        kind: ParameterKind::Text,
        default: None,
        summary: "IP:PORT of the service",
    },
    text("scenario", "", "Path of the scenario's file"),
    choice(
        "arrivals",
        &["poisson", "constant", "closed"],
        ARRIVALS,
        "When requests go: at random moments of their rate, at regular ones, or after answers",
    ),
    Parameter {
        name: "scale",
        kind: ParameterKind::Number { min: 1e-6, max: 1e6 },
        default: Some("1"),
        summary: "Factor of all rates",
    },
    count("connections", 1, 4096, "64", "Connections at a time, at most"),
    duration("ramp_up", 0, LONGEST_NS, "0s", "Time in which the rates rise from nothing"),
    duration("warm_up", 0, LONGEST_NS, "500ms", "Time at full rates before the measured one"),
    duration("duration", 10 * MS, LONGEST_NS, "5s", "Measured time"),
    duration("ramp_down", 0, LONGEST_NS, "0s", "Time in which the rates fall to nothing"),
    duration("timeout", 10 * MS, 600 * S, "10s", "An answer that takes longer is none"),
    choice(
        "test",
        &["load", "capacity"],
        "load",
        "Load at the given rates, or search the highest ones that are sustained",
    ),
    duration(
        "target",
        MS,
        600 * S,
        "250ms",
        "What the 99th percentile may be at most at a rate that is sustained",
    ),
];

/// When requests go where nothing is said.
const ARRIVALS: &str = "poisson";
const LONGEST_NS: u64 = 24 * 3600 * S;
/// For connecting, and the last answers.
const AROUND_NS: u64 = 100 * MS;
/// How long a service may take to answer a handshake before anything is changed.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);
/// How long an answer to the set-up or the check may take: it may go over all data.
const CHECKED_WITHIN_NS: u64 = 60 * S;
/// Steps of a search for the plan: a few doublings, four halvings.
const USUAL_STEPS: u64 = 10;
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

    fn metrics(&self, parameters: &Parameters) -> Vec<Metric> {
        metrics_of(parameters)
    }

    fn expected_ns(&self, parameters: &Parameters) -> u64 {
        expected_ns(parameters)
    }

    fn is_closed_loop(&self, parameters: &Parameters) -> bool {
        is_closed_loop(parameters)
    }

    fn requires(&self, parameters: &Parameters) -> Vec<Requirement> {
        let Some(address) = address(parameters) else { return Vec::new() };
        vec![Requirement::check(format!("a service at {address}"), move |_| {
            TcpStream::connect_timeout(&address, ANSWERS_WITHIN).map(drop).map_err(|error| {
                (
                    format!("it cannot be reached: {error}"),
                    "start it, or correct the address".into(),
                )
            })
        })]
    }

    fn programs(&self, _: &Machine, parameters: &Parameters) -> Vec<PathBuf> {
        files(parameters)
    }

    fn conflicts(&self, parameters: &Parameters) -> Vec<String> {
        conflicts(parameters)
    }

    fn prepare(
        &self,
        _: &Machine,
        parameters: &Parameters,
        launch: &LaunchSpec,
    ) -> Result<Box<dyn Load>> {
        let mut load = HttpLoad::new(parameters, launch)?;
        load.set_up()?;
        launch
            .enter_task()
            .map_err(|error| Error::environment("cannot take on the levels of the trial", error))?;
        Ok(Box::new(load))
    }
}

/// The metrics of a load with these parameters.
pub(crate) fn metrics_of(parameters: &Parameters) -> Vec<Metric> {
    // What cannot be read is told by `conflicts`.
    let scenario = Scenario::read(Path::new(parameters.text("scenario"))).unwrap_or_default();
    metrics_with(parameters, &scenario)
}

/// The same with a scenario that is known.
pub(crate) fn metrics_with(parameters: &Parameters, scenario: &Scenario) -> Vec<Metric> {
    if is_search(parameters) {
        return metrics::of_search();
    }
    metrics::of_load(&scenario.names(), !is_closed_loop(parameters))
}

/// Whether rates are searched instead of given.
fn is_search(parameters: &Parameters) -> bool {
    parameters.text("test") == "capacity"
}

/// How long a load takes.
pub(crate) fn expected_ns(parameters: &Parameters) -> u64 {
    if is_search(parameters) {
        let step = ["warm_up", "duration"].iter().map(|name| parameters.duration_ns(name));
        return USUAL_STEPS * step.sum::<u64>();
    }
    let times = ["ramp_up", "warm_up", "duration", "ramp_down"];
    times.iter().map(|name| parameters.duration_ns(name)).sum::<u64>() + AROUND_NS
}

/// Whether each request waits for the answer to the one before it.
pub(crate) fn is_closed_loop(parameters: &Parameters) -> bool {
    settings::flow(parameters) == Flow::Closed
}

/// Where the service is; none where that cannot be read.
pub(crate) fn address(parameters: &Parameters) -> Option<SocketAddr> {
    one_machine(parameters.text("address"), "").ok()
}

/// The user's files that decide what a load is.
pub(crate) fn files(parameters: &Parameters) -> Vec<PathBuf> {
    let named = Some(parameters.text("scenario")).filter(|path| !path.is_empty());
    let files = named.into_iter().flat_map(|path| Scenario::files(Path::new(path)));
    files.filter_map(|path| std::path::absolute(path).ok()).collect()
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
    settings: Settings,
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
        let Settings { to, scenario, run, seed, .. } = &self.settings;
        ask(*to, scenario, &scenario.check, (*run, *seed), CHECK, CHECKED_WITHIN_NS)
            .map_err(|why| format!("the check after the load failed: {why}"))
    }
}

impl HttpLoad {
    /// # Errors
    /// What cannot be meant, or had.
    pub(crate) fn new(parameters: &Parameters, launch: &LaunchSpec) -> Result<Self> {
        Self::of(Settings::of(parameters), launch)
    }

    /// One whose service is reached there, whatever address the parameters name.
    ///
    /// # Errors
    /// What cannot be meant, or had.
    pub(crate) fn at(parameters: &Parameters, to: SocketAddr, launch: &LaunchSpec) -> Result<Self> {
        Self::of(Settings::of(parameters).map(|settings| Settings { to, ..settings }), launch)
    }

    /// One whose address and scenario are known.
    ///
    /// # Errors
    /// What cannot be meant, or had.
    pub(crate) fn with(
        parameters: &Parameters,
        to: SocketAddr,
        scenario: Scenario,
        launch: &LaunchSpec,
    ) -> Result<Self> {
        Self::of(Settings::with(parameters, to, scenario), launch)
    }

    fn of(settings: Result<Settings, Vec<String>>, launch: &LaunchSpec) -> Result<Self> {
        let settings = settings.map_err(|wrong| {
            Error::usage("cannot prepare the load", wrong.join("; "), "change the parameters")
        })?;
        crate::process::allow_open_files(settings.connections as u64 + OTHER_FILES)?;
        let settings = Settings { seed: launch.seed, run: draw()?, ..settings };
        let (log, fates) = (launch.log.clone(), BTreeMap::new());
        Ok(Self { settings, log, unaccounted: None, fates })
    }

    /// What became of all requests since the last set-up, measured or not, by kind.
    pub(crate) fn fates(&self) -> &BTreeMap<String, Fates> {
        &self.fates
    }

    fn generate(&mut self, settings: &Settings) -> Result<Tally> {
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
        let Settings { to, scenario, run, seed, .. } = &self.settings;
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
        let settings = Settings {
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
            let settings = Settings { scale, course, measured_ns, run, ..self.settings.clone() };
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
            Sample::values("capacity", vec![found.sustained * per_second]),
            Sample::values("capacity_factor", vec![found.sustained]),
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
            Sample::quotient("answers_per_second", tally.answers_in_time as f64, seconds),
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
