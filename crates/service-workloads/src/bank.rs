//! A bank: a Spring Boot service with its Kafka broker, whose books are audited after every load.

mod books;
mod servers;
mod streams;

use crate::application::host_load::{self, HostLoadClient};
use crate::application::{self, Application, Conduct, Inspection, Started};
use crate::http::{self, DURATION, HttpLoad, LOAD, WARM_UP};
use books::Books;
use contract::{
    Configured, Description, Error, LaunchSpec, Load, LongLivedService, Parameter, Problem,
    RateSearch, Result, Service, ServiceFacts, Workload, WorkloadFacts,
};
use model::{Direction, Metric, Parameters, Reduction, Unit};
use servers::Servers;
use std::net::SocketAddr;
use streams::Streams;
use sys::Machine;
use workload_parts::nanoseconds::S;

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
where schedulers are switched underneath: they are started and warmed up once. The same bank
cold is several times slower: it compiles itself for about two minutes under full load. Whether it
is warm is tested (`steady_within`), not assumed: requests come as fast as they are answered, until
answers take the same time although it was left to finish compiling in between.

**What it means.** Beside the metrics of `http` and `service`: `broker_cpu`, `broker_wait` and
`broker_memory` are those of the broker, `gc_paused` the share of time in which garbage collection
stopped the service, `gc_pause_max` the longest such pause (in milliseconds, as the JVM tells it).

**What moves it.** Some sixty threads of the service that mostly sleep, 24 of them for requests, the
database's, the consumer's, the compiler's and the collector's; and the broker's eighty. At the
rates of the published harness two CPUs are mostly idle; which thread wakes which, and on which
CPU, is then all that a scheduler decides. From about two thirds of the highest rate on it decides
which waits; beyond the highest rate latency is the length of the queue and says nothing else. `schedlab
capacity` finds that rate.

**When it lies.** As `service` does. A warm JVM is not the same after an hour: compare within
blocks. Requests of 24 threads on two CPUs wait for a thread of the service before they wait for a
CPU. `again` sends some transfers over and over with the same keys and `fault` gives the service
defects: they are there to show that the audit notices.

**Reference.** The published harness for sched_ext with a Spring Boot bank and Gatling
(scx_test_harness), whose streams and rates these are."#,
};

const PARAMETERS: &[Parameter] =
    contract::join_keys!(servers::PARAMETERS, streams::PARAMETERS, servers::FAULTS, CONDUCT, LOAD);

/// What is the same of a bank that stands for several workloads: what it is asked may be another
/// thing in each.
const STANDING: &[Parameter] = contract::join_keys!(servers::PARAMETERS, servers::FAULTS, CONDUCT);

/// It is a warm one, and may take five minutes to be ready and to be steady.
const CONDUCT: &[Parameter] = &application::warm_by_default("300s");

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

    fn brief(&self) -> &'static [(&'static str, &'static str)] {
        const { &[(DURATION.name(), "1s"), (WARM_UP.name(), "100ms")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        let mut wrong: Vec<Problem> = Vec::new();
        let streams = Streams::of(parameters);
        let load = streams
            .scenario(0)
            .map_err(|why| why.into_iter().map(Problem::from).collect())
            .and_then(|scenario| http::HttpSettings::of_scenario(parameters, scenario));
        let load = load.map_err(|why: Vec<Problem>| wrong.extend(why)).ok();
        let conduct = Conduct::of(parameters).map_err(|why| wrong.extend(why)).ok();
        let (Some(load), Some(conduct)) = (load, conduct) else { return Err(wrong) };
        Ok(Box::new(Bank {
            servers: Servers::of(parameters),
            streams,
            stands: conduct.stands(parameters, STANDING),
            conduct,
            load,
            parameters: parameters.clone(),
        }))
    }

    fn rate_search(&self) -> Option<&'static RateSearch> {
        const { Some(&http::RATE_SEARCH) }
    }
}

/// The application, configured.
struct Bank {
    servers: Servers,
    streams: Streams,
    conduct: Conduct,
    /// Whose scenario is that of no trial: each draws its own transfers.
    load: http::HttpSettings,
    stands: Option<String>,
    /// As they were declared: by these the host knows the load that it is asked for.
    parameters: Parameters,
}

impl Configured for Bank {
    fn metrics(&self) -> Vec<Metric> {
        let load = http::metrics_of(&self.load);
        let names = self.servers.names();
        let mut metrics = application::metrics(&self.conduct, load, &names, true);
        let lower = Direction::Lower;
        let summary = "Share of the time in which garbage collection stopped the service";
        let (unit, reduction) = (Unit::Fraction, Reduction::Quotient);
        metrics.push(Metric::new("gc_paused", unit, lower, reduction, summary));
        let summary = "Longest pause for garbage collection";
        let (unit, reduction) = (Unit::Nanoseconds, Reduction::Median);
        metrics.push(Metric::new("gc_pause_max", unit, lower, reduction, summary));
        metrics
    }

    fn facts(&self) -> WorkloadFacts {
        let mut requirements = self.servers.requirements();
        requirements.extend(self.conduct.requirements());
        WorkloadFacts {
            patience_ns: self.conduct.patience_ns(self.servers.names().len()),
            is_closed_loop: self.load.is_closed_loop(),
            requirements,
            programs: self.servers.programs(),
            recipes: vec![self.servers.recipe()],
            ..WorkloadFacts::open_loop(
                self.conduct.expected_ns(self.load.expected_ns(), STARTS_IN_NS),
            )
        }
    }

    fn service(&self) -> Option<&dyn Service> {
        Some(self)
    }

    fn prepare(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        application::prepare(self, machine, launch)
    }
}

impl Service for Bank {
    fn facts(&self) -> ServiceFacts {
        let is_from_host = self.conduct.is_loaded_from_host;
        ServiceFacts {
            servers: self.servers.names(),
            stands: self.stands.clone(),
            host_load_port: is_from_host.then_some(servers::HOST_LOAD_SERVICE_PORT),
            host_load_requires: self.conduct.requirements(),
        }
    }

    fn stand(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn LongLivedService>> {
        application::stand(self, machine, launch)
    }

    fn send_from_host(&self, to: SocketAddr, launch: &LaunchSpec) -> Result<String> {
        application::send(self.load(to, launch)?, &self.conduct)
    }
}

impl Application for Bank {
    fn start(
        &self,
        machine: &Machine,
        launch: &LaunchSpec,
        levels: Option<&LaunchSpec>,
    ) -> Result<Started> {
        let is_loaded_from_host = host_load::is_used(machine, &self.conduct);
        let within = self.conduct.ready_within;
        self.servers.start(machine, (launch, levels), (within, is_loaded_from_host))
    }

    fn load(&self, address: SocketAddr, launch: &LaunchSpec) -> Result<HttpLoad> {
        let scenario = self
            .streams
            .scenario(launch.seed)
            .map_err(|wrong| Error::usage("cannot prepare the load", wrong.join("; "), ""))?;
        HttpLoad::of(self.load.clone().at(address).with_scenario(scenario), launch)
    }

    fn host_load(&self, machine: &Machine, launch: &LaunchSpec) -> Option<HostLoadClient> {
        HostLoadClient::of(machine, &self.conduct, (DESCRIPTION.id, &self.parameters), launch)
    }

    fn inspection(&self, address: SocketAddr) -> Option<Box<dyn Inspection>> {
        Some(Box::new(Books::at(address, self.streams.accounts)))
    }

    fn conduct(&self) -> &Conduct {
        &self.conduct
    }
}
