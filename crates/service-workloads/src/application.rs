//! An application under load, whatever it is: its servers are started, made ready and warm, lent
//! to trials, loaded, looked into and stopped. What it is made of knows the workload that has it.

pub(crate) mod host_load;
mod running;
mod shared_application;
mod steady;
mod usage;
mod warming;

use crate::http::{Fates, HttpLoad};
use contract::{
    Error, LaunchSpec, Load, LongLivedService, Measurement, Parameter, Problem, Requirement,
    Result, WordChoice,
};
use host_load::HostLoadClient;
use model::{CpuList, Direction, Metric, Parameters, Reduction, Sample, Unit};
use running::Running;
use shared_application::WarmApplication;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use steady::WINDOWS;
use sys::Machine;
use workload_parts::nanoseconds::{MS, S};
use workload_parts::program::service::Server;

/// What a workload knows of its application.
pub(crate) trait Application {
    /// Starts all of its servers with these levels, and waits until they are ready. The one that
    /// is loaded comes last.
    ///
    /// # Errors
    /// What could not be started, and why.
    fn start(
        &self,
        machine: &Machine,
        launch: &LaunchSpec,
        levels: Option<&LaunchSpec>,
    ) -> Result<Started>;

    /// The load on one that serves there.
    ///
    /// # Errors
    /// What cannot be meant, or had.
    fn load(&self, address: SocketAddr, launch: &LaunchSpec) -> Result<HttpLoad>;

    /// A program that sends the load in its place, waiting to be told; the load itself then only
    /// sets up, warms up and checks.
    ///
    /// # Errors
    /// What could not be started.
    fn program(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Option<Box<dyn Drive>>> {
        let _ = (machine, launch);
        Ok(None)
    }

    /// The client of the load generator on the host of the guest that it is in; none where the
    /// load is sent from here.
    fn host_load(&self, machine: &Machine, launch: &LaunchSpec) -> Option<HostLoadClient>;

    /// What inspects it around a run; none where its load checks all.
    fn inspection(&self, address: SocketAddr) -> Option<Box<dyn Inspection>> {
        let _ = address;
        None
    }

    /// How it is treated.
    fn conduct(&self) -> &Conduct;
}

/// A program that sends a load.
pub(crate) trait Drive {
    /// Its process.
    fn pid(&self) -> i32;

    /// Lets it send, and reads what it saw.
    ///
    /// # Errors
    /// How it failed, or what it did not say.
    fn run(&mut self) -> Result<Measurement>;

    /// Keeps what it made for people in this directory, if anything.
    ///
    /// # Errors
    /// When it cannot be copied.
    fn keep(&self, directory: &Path) -> io::Result<()>;
}

/// Looks into a running application.
pub(crate) trait Inspection {
    /// Before what an earlier trial left is set up anew.
    ///
    /// # Errors
    /// That it does not come to rest.
    fn rest(&mut self) -> Result<()>;

    /// Before the load.
    ///
    /// # Errors
    /// What it cannot see.
    fn before(&mut self) -> Result<()>;

    /// After the load: what it saw.
    ///
    /// # Errors
    /// What it cannot see.
    fn after(&mut self) -> Result<Vec<Sample>>;

    /// Whether all is as it must be after these requests, by kind.
    ///
    /// # Errors
    /// What is broken, with its figures.
    fn verify(&mut self, fates: &BTreeMap<String, Fates>) -> Result<(), String>;
}

/// Servers that are ready.
pub(crate) struct Started {
    /// What each is called in metrics, in the order of their start.
    pub(crate) servers: Vec<(&'static str, Server)>,
    /// Where the last one serves.
    pub(crate) address: SocketAddr,
}

impl Started {
    /// If one has ended, how, and what it said last.
    fn early_death(&mut self) -> Option<Error> {
        self.servers.iter_mut().find_map(|(_, server)| server.early_death())
    }

    fn pids(&self) -> Vec<(String, i32)> {
        let pid = |(name, server): &(&str, Server)| ((*name).to_owned(), server.pid());
        self.servers.iter().map(pid).collect()
    }

    /// Adds what they said to a log.
    ///
    /// # Errors
    /// That it cannot be written, in words.
    fn keep_output(&self, log: &Path) -> Result<(), String> {
        self.servers.iter().try_for_each(|(_, server)| {
            server.keep_output(log).map_err(|error| {
                format!("what it said cannot be kept in {}: {error}", log.display())
            })
        })
    }

    /// Asks each to end, the last one first, and waits so long for each.
    ///
    /// # Errors
    /// Which one did not, and how it ended.
    fn stop(self, within: Duration) -> Result<(), String> {
        let mut outcome = Ok(());
        for (name, server) in self.servers.into_iter().rev() {
            outcome = outcome.and(server.stop(within).map_err(|why| format!("{name}: {why}")));
        }
        outcome
    }
}

/// How an application is treated.
#[derive(Debug, Clone)]
pub(crate) struct Conduct {
    /// Whether one process serves all trials.
    pub(crate) is_warm: bool,
    pub(crate) ready_within: Duration,
    /// How long it may take to become steady, and how long a window is; none where that is not
    /// tested.
    pub(crate) warming_ns: Option<(u64, u64)>,
    pub(crate) stop_within: Duration,
    pub(crate) generator_cpus: Option<CpuList>,
    /// Whether load comes from the host of the guest that it is in, where it is in one.
    pub(crate) is_loaded_from_host: bool,
}

/// Which trials a process serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessAge {
    /// One.
    Fresh,
    /// All of a sitting.
    Warm,
}

impl WordChoice for ProcessAge {
    const WORDS: &'static [(&'static str, Self)] = &[("fresh", Self::Fresh), ("warm", Self::Warm)];
}

/// Where our generator runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GeneratorPlace {
    /// Beside the service.
    Service,
    /// On the host of the guest that the service is in.
    Host,
}

impl WordChoice for GeneratorPlace {
    const WORDS: &'static [(&'static str, Self)] =
        &[("service", Self::Service), ("host", Self::Host)];
}

// What every application has declared beside its load.
contract::keys! {
    pub(crate) CONDUCT;
    PROCESS: ProcessAge = choice(
        "process",
        "fresh",
        "A process for each trial, or one for all of a sitting",
    ),
    READY_WITHIN: u64 = duration(
        "ready_within",
        10 * MS,
        3600 * S,
        "60s",
        "How long it may take to be ready",
    ),
    STEADY_WITHIN: u64 = duration(
        "steady_within",
        0,
        3600 * S,
        "0s",
        "How long it may take until its answers take the same time; 0: that is not tested",
    ),
    WINDOW: u64 = duration(
        "window",
        100 * MS,
        600 * S,
        "5s",
        "Time over which answers are compared for that",
    ),
    STOP_WITHIN: u64 = duration(
        "stop_within",
        10 * MS,
        600 * S,
        "10s",
        "How long it may take to end when asked to; a warm one a minute at most",
    ),
    GENERATOR_CPUS: str = text("generator_cpus", "", "CPUs of the generator, like 0-1; empty: any"),
    GENERATOR_AT: GeneratorPlace = choice(
        "generator_at",
        "service",
        "Where our generator runs: beside the service, or on the host of the guest it is in",
    ),
}

/// The same where an application is a warm one by default, which may take this long to be ready and
/// steady.
pub(crate) const fn warm_by_default(within: &'static str) -> [Parameter; 7] {
    [
        PROCESS.with_default("warm").declared(),
        READY_WITHIN.with_default(within).declared(),
        STEADY_WITHIN.with_default(within).declared(),
        WINDOW.declared(),
        STOP_WITHIN.declared(),
        GENERATOR_CPUS.declared(),
        GENERATOR_AT.declared(),
    ]
}

impl Conduct {
    /// # Errors
    /// All that cannot be meant.
    pub(crate) fn of(parameters: &Parameters) -> Result<Self, Vec<Problem>> {
        let mut wrong = Vec::new();
        let (steady_ns, window_ns) = (STEADY_WITHIN.of(parameters), WINDOW.of(parameters));
        if steady_ns > 0 && steady_ns < WINDOWS as u64 * window_ns {
            wrong.push(Problem::from(format!(
                "steady_within is shorter than the {WINDOWS} windows that are compared"
            )));
        }
        let generator_cpus = generator_cpus(GENERATOR_CPUS.of(parameters))
            .map_err(|why| wrong.push(why.into()))
            .unwrap_or_default();
        if !wrong.is_empty() {
            return Err(wrong);
        }
        Ok(Self {
            is_warm: match PROCESS.of(parameters) {
                ProcessAge::Fresh => false,
                ProcessAge::Warm => true,
            },
            ready_within: Duration::from_nanos(READY_WITHIN.of(parameters)),
            warming_ns: (steady_ns > 0).then_some((steady_ns, window_ns)),
            stop_within: Duration::from_nanos(STOP_WITHIN.of(parameters)),
            generator_cpus,
            is_loaded_from_host: match GENERATOR_AT.of(parameters) {
                GeneratorPlace::Service => false,
                GeneratorPlace::Host => true,
            },
        })
    }

    /// Expected length of an invocation in nanoseconds, whose load takes so long, and a start.
    pub(crate) fn expected_ns(&self, load_ns: u64, starts_in_ns: u64) -> u64 {
        if self.is_warm {
            return load_ns;
        }
        let windows = WINDOWS as u64 + 2;
        load_ns + starts_in_ns + self.warming_ns.map_or(0, |(_, window_ns)| windows * window_ns)
    }

    /// How long an application of a trial's own, of so many servers, may take beside its load, in
    /// nanoseconds.
    pub(crate) fn patience_ns(&self, servers: usize) -> u64 {
        if self.is_warm {
            return 0;
        }
        let each = self.ready_within.saturating_add(self.stop_within);
        let each_ns = u64::try_from(each.as_nanos()).unwrap_or(u64::MAX);
        let steady_ns = self.warming_ns.map_or(0, |(within_ns, _)| within_ns);
        each_ns.saturating_mul(servers as u64).saturating_add(steady_ns)
    }

    /// What the generator needs, wherever it runs: the CPUs that were named for it.
    pub(crate) fn requirements(&self) -> Vec<Requirement> {
        let Some(cpus) = self.generator_cpus.clone() else { return Vec::new() };
        let conduct = self.clone();
        vec![Requirement::check(format!("CPUs {cpus} for the generator"), move |machine| {
            let online =
                machine.online_cpus().map_err(|error| (error.to_string(), String::new()))?;
            let is_elsewhere = host_load::is_used(machine, &conduct);
            if is_elsewhere || cpus.iter().all(|cpu| online.contains(cpu)) {
                return Ok(());
            }
            Err((format!("online are {online}"), "change generator_cpus".to_owned()))
        })]
    }

    /// What trials share that find an application standing: all that was declared of it but the
    /// load (`own`), which may be another one in each workload. None where no application stands.
    pub(crate) fn stands(&self, parameters: &Parameters, own: &[Parameter]) -> Option<String> {
        let told = |parameter: &Parameter| {
            format!("{} = {:?}", parameter.name, parameters.0.get(parameter.name))
        };
        self.is_warm.then(|| own.iter().map(told).collect::<Vec<_>>().join("; "))
    }
}

/// CPUs of the generator, where they were named.
fn generator_cpus(text: &str) -> Result<Option<CpuList>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let cpus: CpuList = text.parse().map_err(|why| format!("generator_cpus = {text:?}: {why}"))?;
    if cpus.is_empty() {
        return Err(format!("generator_cpus = {text:?} names no CPU"));
    }
    Ok(Some(cpus))
}

/// The metrics of its load, then of the application itself, of which these are the servers; the
/// last one is loaded. Not every load counts what was answered.
pub(crate) fn metrics(
    conduct: &Conduct,
    load: Vec<Metric>,
    servers: &[&'static str],
    is_counted: bool,
) -> Vec<Metric> {
    let (ns, lower) = (Unit::Nanoseconds, Direction::Lower);
    let described = |id: &str, summary: &str| Metric {
        is_description: true,
        ..Metric::new(id, ns, lower, Reduction::Median, summary)
    };
    let mut metrics = load;
    for name in servers.iter().rev() {
        let mut per_answer = |what: &str, summary: String| {
            let id = format!("{name}_{what}");
            metrics.push(Metric::new(id, ns, lower, Reduction::Quotient, summary));
        };
        if is_counted {
            per_answer("cpu", format!("CPU time of the {name} per answer"));
            let summary = format!("Time that tasks of the {name} waited for a CPU, per answer");
            per_answer("wait", summary);
        }
        let summary = format!("Resident set of the {name} at the end of the load");
        let (id, unit) = (format!("{name}_memory"), Unit::Bytes);
        metrics.push(Metric::new(id, unit, lower, Reduction::Median, summary));
    }
    if conduct.is_warm {
        metrics.push(described("age", "How long it had been ready when the load began"));
        return metrics;
    }
    let summary = "Time from the start until it was ready";
    metrics.push(Metric::new("ready_after", ns, lower, Reduction::Median, summary));
    if conduct.warming_ns.is_some() {
        metrics
            .push(described("steady_after", "Time of warming up until answers took the same time"));
    }
    metrics
}

/// Sends a load to an application in a guest from the host, on the CPUs that were named for the
/// generator: what [`Running`] in the guest is to know of it.
///
/// # Errors
/// What failed.
pub(crate) fn send(load: HttpLoad, conduct: &Conduct) -> Result<String> {
    running::place_generator(conduct)?;
    load.send_from_host()
}

/// Has an application stand for all trials.
///
/// # Errors
/// What could not be started, or did not become warm.
pub(crate) fn stand(
    application: &dyn Application,
    machine: &Machine,
    launch: &LaunchSpec,
) -> Result<Box<dyn LongLivedService>> {
    Ok(Box::new(WarmApplication::start(application, machine, launch)?))
}

/// An application that is loaded in a trial: started for it, or the long-lived one.
///
/// # Errors
/// What could not be started, set up or given its levels.
pub(crate) fn prepare(
    application: &dyn Application,
    machine: &Machine,
    launch: &LaunchSpec,
) -> Result<Box<dyn Load>> {
    if application.conduct().is_warm {
        return Ok(Box::new(Running::of_warm(application, machine, launch)?));
    }
    Ok(Box::new(Running::start(application, machine, launch)?))
}
