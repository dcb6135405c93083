//! A service under load: its own process, or one that stands.

use super::steady::is_steady;
use super::usage::Usage;
use super::warm::Lent;
use super::{directory, generator_cpus};
use crate::http::{self, HttpLoad};
use crate::program::Surroundings;
use crate::program::service::{Beginning, Service};
use contract::{Error, ErrorKind, LaunchSpec, Load, Measurement, Result};
use model::{Parameters, RunReport, Sample};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;
use sys::Machine;

/// A service that does not take a connection within this time is not ready yet.
const CONNECTS_WITHIN: Duration = Duration::from_millis(500);

/// Starts the service with these levels; how long it took until it was ready.
///
/// # Errors
/// That somebody serves there already, and all that can be wrong with a start.
pub(super) fn start(
    machine: &Machine,
    parameters: &Parameters,
    launch: &LaunchSpec,
    levels: Option<LaunchSpec>,
    load: &HttpLoad,
) -> Result<(Service, u64)> {
    let address = load.address();
    if TcpStream::connect_timeout(&address, CONNECTS_WITHIN).is_ok() {
        return Err(Error::new(
            ErrorKind::Environment,
            "cannot start the service",
            format!("somebody serves at {address} already"),
            "end that one, or give this one another port",
        ));
    }
    let surroundings = Surroundings { directory: directory(parameters), ..Surroundings::default() };
    let beginning = Beginning {
        name: "the service",
        words: parameters.words("start"),
        surroundings,
        levels,
        within: Duration::from_nanos(parameters.duration_ns("ready_within")),
    };
    let began_ns = sys::monotonic_ns();
    let path = parameters.text("ready");
    let service = Service::start_until(machine, &beginning, launch, || match path {
        "" => TcpStream::connect_timeout(&address, CONNECTS_WITHIN)
            .map(drop)
            .map_err(|error| format!("it takes no connection at {address}: {error}")),
        path => http::answers(address, path),
    })?;
    Ok((service, sys::monotonic_ns() - began_ns))
}

/// Loads a service until its answers take the same time; how long that took.
///
/// # Errors
/// That they never do within `steady_within`, or that it has ended.
pub(super) fn warm_up(
    load: &HttpLoad,
    parameters: &Parameters,
    mut check: impl FnMut() -> Result<()>,
) -> Result<u64> {
    let [within_ns, window_ns] =
        ["steady_within", "window"].map(|name| parameters.duration_ns(name));
    let unsteady = |cause: String, remedy: &str| {
        let attempted = "the service did not become steady";
        Error::new(ErrorKind::Environment, attempted, cause, remedy)
    };
    let began_ns = sys::monotonic_ns();
    let mut windows_ns = Vec::new();
    loop {
        let window = load.window_ns(window_ns)?;
        check()?;
        let window =
            window.ok_or_else(|| unsteady("nothing was answered while it warmed up".into(), ""))?;
        windows_ns.push(window);
        let took_ns = sys::monotonic_ns() - began_ns;
        if is_steady(&windows_ns) {
            return Ok(took_ns);
        }
        if took_ns + window_ns > within_ns {
            let told: Vec<String> =
                windows_ns.iter().map(|window_ns| model::format_duration(*window_ns)).collect();
            let each = model::format_duration(window_ns);
            let cause = format!("the median answer of each {each} took {}", told.join(", "));
            return Err(unsteady(cause, "give it longer (steady_within), or a longer window"));
        }
    }
}

/// Whose process serves.
enum Process {
    /// The trial's own; none once it was stopped.
    Own(Option<Service>),
    /// One that stands.
    Lent(Lent),
}

/// A service that serves.
pub(super) struct Running {
    machine: Machine,
    process: Process,
    stop_within: Duration,
    load: HttpLoad,
    log: PathBuf,
    /// What was measured before the run: times in nanoseconds by source.
    before: Vec<(&'static str, u64)>,
}

impl Running {
    /// Starts one for the trial, with its levels.
    ///
    /// # Errors
    /// What could not be started, or did not become warm.
    pub(super) fn start(
        machine: &Machine,
        parameters: &Parameters,
        launch: &LaunchSpec,
    ) -> Result<Self> {
        let load = HttpLoad::new(parameters, launch)?;
        let (mut service, ready_ns) =
            start(machine, parameters, launch, Some(launch.clone()), &load)?;
        place_generator(parameters)?;
        load.set_up()?;
        let mut before = vec![("ready_after", ready_ns)];
        if parameters.duration_ns("steady_within") > 0 {
            let check = || service.early_death().map_or(Ok(()), Err);
            before.push(("steady_after", warm_up(&load, parameters, check)?));
        }
        Ok(Self {
            machine: machine.clone(),
            process: Process::Own(Some(service)),
            stop_within: Duration::from_nanos(parameters.duration_ns("stop_within")),
            load,
            log: launch.log.clone(),
            before,
        })
    }

    /// Gives the one that stands the levels of the trial.
    ///
    /// # Errors
    /// What it cannot be given, or that it stands no more.
    pub(super) fn of_warm(
        machine: &Machine,
        parameters: &Parameters,
        launch: &LaunchSpec,
    ) -> Result<Self> {
        let load = HttpLoad::new(parameters, launch)?;
        let lent = Lent::of(launch)?;
        // Before the generator has CPUs of its own: the others' are what it has by now.
        lent.impose(machine, launch)?;
        place_generator(parameters)?;
        load.set_up()?;
        let age_ns = sys::monotonic_ns().saturating_sub(lent.ready_at_ns);
        Ok(Self {
            machine: machine.clone(),
            process: Process::Lent(lent),
            stop_within: Duration::ZERO,
            load,
            log: launch.log.clone(),
            before: vec![("age", age_ns)],
        })
    }

    /// # Errors
    /// That the service has ended, and what it said last.
    fn check_alive(&mut self) -> Result<()> {
        match &mut self.process {
            Process::Own(service) => {
                service.as_mut().and_then(Service::early_death).map_or(Ok(()), Err)
            }
            Process::Lent(lent) => lent.check(&self.machine),
        }
    }

    fn usage(&self) -> Result<Usage> {
        let pid = match &self.process {
            Process::Own(service) => service.as_ref().map(Service::pid),
            Process::Lent(lent) => Some(lent.pid),
        };
        pid.and_then(|pid| Usage::of(&self.machine, pid)).ok_or_else(|| {
            Error::environment("cannot see what the service uses", "its process is gone")
        })
    }
}

impl Load for Running {
    fn run(&mut self) -> Result<Measurement> {
        let before = self.usage()?;
        let outcome = self.load.run();
        // One that is gone is why requests failed.
        self.check_alive()?;
        let mut measurement = outcome?;
        let after = self.usage()?;
        let answers = measurement.operations.unwrap_or(0).max(1);
        measurement.samples.extend([
            Sample::quotient("service_cpu", (after - before) as f64, answers as f64),
            Sample::values("service_memory", vec![after.resident_bytes as f64]),
        ]);
        let times = self.before.iter();
        let times = times.map(|(source, ns)| Sample::values(source, vec![*ns as f64]));
        measurement.samples.extend(times);
        Ok(measurement)
    }

    fn verify(&mut self, report: &RunReport) -> Result<(), String> {
        self.load.verify(report)?;
        match &mut self.process {
            Process::Own(service) => service.take().map_or(Ok(()), |service| {
                service.keep_output(&self.log).map_err(|error| {
                    format!("what it said cannot be kept in {}: {error}", self.log.display())
                })?;
                service.stop(self.stop_within)
            }),
            Process::Lent(_) => Ok(()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Process::Own(Some(service)) = &self.process {
            // What could not be kept is missed by nobody who was not told why.
            let _ = service.keep_output(&self.log);
        }
    }
}

/// Gives this process the CPUs that were named for the generator.
fn place_generator(parameters: &Parameters) -> Result<()> {
    let Ok(Some(cpus)) = generator_cpus(parameters) else { return Ok(()) };
    sys::set_affinity(0, &cpus).map_err(|error| {
        let attempted = format!("cannot give the generator the CPUs {cpus}");
        Error::new(ErrorKind::Environment, attempted, error, "name CPUs that are online")
    })
}
