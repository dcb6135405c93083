//! A bank: a Spring Boot service with its Kafka broker, whose books are audited after every load.

mod books;
mod servers;
mod streams;

use crate::application::outside::{self, Outside};
use crate::application::{self, Application, Conduct, Defaults, Inspection, Started};
use crate::declare::{S, choice, count, text};
use crate::http::{self, HttpLoad, LOAD};
use books::Books;
use contract::{
    Description, Error, LaunchSpec, Load, Parameter, ParameterKind, Recipe, Requirement, Result,
    Standing, Workload,
};
use model::{Direction, Metric, Parameters, Reduction, Unit};
use servers::Place;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use streams::streams;
use sys::Machine;

static DESCRIPTION: Description = Description {
    id: "bank",
    summary: "A Java bank (Spring Boot, H2, Kafka) under open-loop load, its books audited",
    doc: r#"**What it is.** The application in `apps/bank`: a Spring Boot service with accounts and
transfers in a database in memory, an outbox, and a real Kafka broker (one node, KRaft) that its
events go through to a consumer that raises alerts. Maven builds it when it is first run and when
its sources have changed. Its accounts are seeded before each load; then four streams come, each
open-loop at its own rate: `create` (10 per second), `transfer` (50), `balance` (100) and `history`
(20), all times `scale`; `risk` adds requests that compute. Streams and metrics are those of the
workload `http`, the life of the processes that of `service`: see there.

The levels of a trial are those of the service and of its broker; the generator has none of them.
Each of the two has a control group of its own, as two containers have, and limits (`cpu_max`,
`cpu_weight`, `io_max`, `io_weight`) are those of each.

**The books** are audited after every load, once its events have come to rest: money is conserved,
each balance is its opening and its transfers, no account is negative, every accepted transfer is
in them exactly once and every other one is not, repeated ones were told so, every event was sent
and consumed once, every alert raised. A trial whose books are wrong fails, and names the rule that
is broken with its figures. Of requests that got no answer nobody knows whether they were carried
out; the audit allows either.

**One process or many.** With `process = "warm"` one service and one broker serve all trials, as
one does who switches schedulers underneath: they are started and warmed up once. The same bank
cold is several times slower: it compiles itself for about two minutes under full load. Whether it
is warm is tested (`steady_within`), not assumed: requests come as fast as they are answered, until
answers take the same time although it was left to finish compiling in between.

**What it means.** Beside the metrics of `http` and `service`: `broker_cpu`, `broker_wait` and
`broker_memory` are those of the broker, `gc_paused` the share of time in which garbage collection
stopped the service, `gc_pause_max` the longest such pause (in milliseconds, as the JVM tells it).

**What moves it.** Some sixty threads of the service that mostly sleep, 24 of them for requests, the
database's, the consumer's, the compiler's and the collector's; and the broker's eighty. At the
rates of the published harness two CPUs are mostly idle; who wakes whom, and on which CPU, is then
all that a scheduler decides. From about two thirds of the highest rate on it decides who waits;
beyond the highest rate latency is the length of the queue and says nothing else. `schedlab
capacity` finds that rate.

**When it lies.** As `service` does. A warm JVM is not the same after an hour: compare within
blocks. Requests of 24 threads on two CPUs wait for a thread of the service before they wait for a
CPU. `again` sends some transfers over and over with the same keys and `fault` gives the service
defects: they are there to show that the audit notices.

**Reference.** The published harness for sched_ext with a Spring Boot bank and Gatling
(scx_test_harness), whose streams and rates these are."#,
};

const CONDUCT: [Parameter; 7] = application::parameters(&Defaults {
    process: "warm",
    ready_within: "300s",
    steady_within: "300s",
});

static PARAMETERS: &[Parameter] = &[
    text("source", "apps/bank", "Where the application's sources are"),
    choice(
        "broker",
        &["kafka", "none"],
        "kafka",
        "What events go through: a real broker, or nothing",
    ),
    Parameter {
        name: "java_options",
        kind: ParameterKind::Words,
        default: Some("-Xms512m -Xmx512m -XX:+ExitOnOutOfMemoryError"),
        summary: "Options of the service's JVM",
    },
    count("request_threads", 1, 1000, "24", "Threads that serve requests"),
    count("accounts", 2, 1_000_000, "1000", "Accounts before the load"),
    Parameter {
        name: "risk",
        kind: ParameterKind::Number { min: 0.0, max: 1e5 },
        default: Some("0"),
        summary: "Requests per second that compute the risk of an account",
    },
    Parameter {
        name: "again",
        kind: ParameterKind::Number { min: 0.0, max: 1e5 },
        default: Some("0"),
        summary: "Transfers per second that are sent again with keys that were used",
    },
    choice(
        "fault",
        &["none", "lost-update", "double-send", "slow-start"],
        "none",
        "A defect of the service, to see that it is noticed",
    ),
    CONDUCT[0],
    CONDUCT[1],
    CONDUCT[2],
    CONDUCT[3],
    CONDUCT[4],
    CONDUCT[5],
    CONDUCT[6],
    LOAD[2],
    LOAD[3],
    LOAD[4],
    LOAD[5],
    LOAD[6],
    LOAD[7],
    LOAD[8],
    LOAD[9],
    LOAD[10],
    LOAD[11],
];

/// How many of them are the application's: the streams' extras may differ in each workload.
const OF_LOAD: usize = LOAD.len() - 2;
const EXTRAS: [&str; 3] = ["accounts", "risk", "again"];
/// An estimate for the plan.
const STARTS_IN_NS: u64 = 20 * S;

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
        let scenario = streams(parameters, 0).unwrap_or_default();
        let load = http::metrics_with(parameters, &scenario);
        let mut metrics = application::metrics(parameters, load, &servers::names(parameters), true);
        let lower = Direction::Lower;
        let summary = "Share of the time in which garbage collection stopped the service";
        let (unit, reduction) = (Unit::Fraction, Reduction::Quotient);
        metrics.push(Metric::new("gc_paused", unit, lower, reduction, summary));
        let summary = "Longest pause for garbage collection";
        let (unit, reduction) = (Unit::Nanoseconds, Reduction::Median);
        metrics.push(Metric::new("gc_pause_max", unit, lower, reduction, summary));
        metrics
    }

    fn expected_ns(&self, parameters: &Parameters) -> u64 {
        application::expected_ns(parameters, STARTS_IN_NS)
    }

    fn patience_ns(&self, parameters: &Parameters) -> u64 {
        application::patience_ns(parameters, servers::names(parameters).len())
    }

    fn is_closed_loop(&self, parameters: &Parameters) -> bool {
        http::is_closed_loop(parameters)
    }

    fn servers(&self, parameters: &Parameters) -> Vec<&'static str> {
        servers::names(parameters)
    }

    fn port_for_outside(&self, parameters: &Parameters) -> Option<u16> {
        outside::is_declared(parameters).then_some(servers::PORT_FOR_OUTSIDE)
    }

    fn requires_outside(&self, parameters: &Parameters) -> Vec<Requirement> {
        application::requires(parameters)
    }

    fn send_from_outside(
        &self,
        parameters: &Parameters,
        to: SocketAddr,
        launch: &LaunchSpec,
    ) -> Result<String> {
        application::send(Bank::of(parameters)?.load(to, launch)?, parameters)
    }

    fn drives_others(&self) -> bool {
        true
    }

    fn recipes(&self, parameters: &Parameters) -> Vec<Recipe> {
        vec![Place::of(parameters).recipe()]
    }

    fn requires(&self, parameters: &Parameters) -> Vec<Requirement> {
        let mut needs = Place::of(parameters).requires();
        needs.extend(application::requires(parameters));
        needs
    }

    fn programs(&self, machine: &Machine, parameters: &Parameters) -> Vec<PathBuf> {
        let java = machine.program("java").and_then(|path| std::path::absolute(path).ok());
        let place = Place::of(parameters);
        let broker = servers::has_broker(parameters).then(|| place.broker_jars());
        java.into_iter().chain([place.service_jar()]).chain(broker).collect()
    }

    fn conflicts(&self, parameters: &Parameters) -> Vec<String> {
        let mut wrong = match streams(parameters, 0) {
            Ok(scenario) => http::conflicts_with(parameters, &scenario),
            Err(wrong) => wrong,
        };
        wrong.extend(Conduct::of(parameters).err().into_iter().flatten());
        wrong
    }

    fn stands(&self, parameters: &Parameters) -> Option<String> {
        let own = PARAMETERS[..PARAMETERS.len() - OF_LOAD].iter();
        let own: Vec<Parameter> =
            own.filter(|parameter| !EXTRAS.contains(&parameter.name)).copied().collect();
        application::stands(parameters, &own)
    }

    fn stand(
        &self,
        machine: &Machine,
        parameters: &Parameters,
        launch: &LaunchSpec,
    ) -> Result<Box<dyn Standing>> {
        application::stand(&Bank::of(parameters)?, machine, launch)
    }

    fn prepare(
        &self,
        machine: &Machine,
        parameters: &Parameters,
        launch: &LaunchSpec,
    ) -> Result<Box<dyn Load>> {
        application::prepare(&Bank::of(parameters)?, machine, parameters, launch)
    }
}

/// The application with its parameters.
struct Bank<'p> {
    parameters: &'p Parameters,
    conduct: Conduct,
}

impl<'p> Bank<'p> {
    /// # Errors
    /// What cannot be meant.
    fn of(parameters: &'p Parameters) -> Result<Self> {
        let conduct = Conduct::of(parameters).map_err(|wrong| {
            Error::usage("cannot prepare the bank", wrong.join("; "), "change the parameters")
        })?;
        Ok(Self { parameters, conduct })
    }
}

impl Application for Bank<'_> {
    fn start(
        &self,
        machine: &Machine,
        launch: &LaunchSpec,
        levels: Option<&LaunchSpec>,
    ) -> Result<Started> {
        let within = Duration::from_nanos(self.parameters.duration_ns("ready_within"));
        servers::start(machine, self.parameters, (launch, levels), within)
    }

    fn load(&self, address: SocketAddr, launch: &LaunchSpec) -> Result<HttpLoad> {
        let scenario = streams(self.parameters, launch.seed)
            .map_err(|wrong| Error::usage("cannot prepare the load", wrong.join("; "), ""))?;
        HttpLoad::with(self.parameters, address, scenario, launch)
    }

    fn outside(&self, machine: &Machine, launch: &LaunchSpec) -> Option<Outside> {
        Outside::of(machine, DESCRIPTION.id, self.parameters, launch)
    }

    fn inspection(&self, address: SocketAddr) -> Option<Box<dyn Inspection>> {
        Some(Box::new(Books::at(address, self.parameters.count("accounts"))))
    }

    fn conduct(&self) -> &Conduct {
        &self.conduct
    }
}
