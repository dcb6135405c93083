//! A service of the user's: started, warmed up, loaded, checked and stopped in every trial.

mod running;
mod steady;
mod usage;
mod warm;

use crate::declare::{MS, S, choice, duration, text};
use crate::http::{self, LOAD};
use contract::{
    Description, Error, LaunchSpec, Load, Parameter, ParameterKind, Requirement, Result, Standing,
    Workload,
};
use model::{CpuList, Direction, Metric, Parameters, Reduction, Unit};
use running::Running;
use std::path::PathBuf;
use sys::Machine;
use warm::Warm;

static DESCRIPTION: Description = Description {
    id: "service",
    summary: "A service of yours: started, warmed up, loaded over HTTP, checked, stopped",
    doc: r#"**What it is.** In every trial `start` starts your service, never through a shell; when it
is ready, `[[setup]]` of the scenario is asked, the load comes, `[[check]]` is asked, and the
service is asked to end (SIGTERM). The load is that of the workload `http`: see there for the
scenario and its metrics. A service that ends by itself, is not ready in time, does not become
steady or fails a check fails the trial with its last words.

The levels of a trial are those of the service and of all that it starts; the generator has none
of them.

**One process or many.** With `process = "fresh"` each trial measures a process of its own. With
`"warm"` one process serves all trials of a sitting (on the host: of the run; in guests: of the
boot): it is started, set up and warmed up once before any level is set, then each trial gives its
levels to every thread of it, asks `[[setup]]`, loads and checks it. A trial that fails ends it,
and the next one begins with another. `age` tells how long it had been ready.

**Ready** it is when `ready` is answered with a status of 200, or where that is empty as soon as it
takes connections at `address`.

**Warm** it is, with `steady_within`, when the median time of an answer has stayed within a tenth
over three windows of the load, each of `window`; one that does not get there in time fails. A
virtual machine that compiles what is often used (Java, JavaScript) is several times slower in its
first half minute.

**What it means.** Beside the metrics of `http`: `service_cpu` is the CPU time of the service's
processes per answer, `service_memory` their resident set at the end of the load, `ready_after` how
long the service took to be ready, `steady_after` how long the warming up took.

**What moves it.** The scheduler decides who of the service's threads runs when there are more than
CPUs, and how soon one that was woken does.

**When it lies.** A fresh process has none of what an old one has gathered (caches, compiled code, a
full heap); a warm one goes on gathering it from trial to trial, for all subjects alike, and what
one subject left in it (a longer queue, a larger heap) the next one finds. With few CPUs the generator takes its time from the service: `generator_cpu` says how
much. CPU time has the steps of the kernel's ticks (10 ms). Memory that processes share is counted
for each.

**Reference.** The published harness for sched_ext with a banking application and Gatling, whose
numbers come from one run each."#,
};

static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "start",
        kind: ParameterKind::Words,
        default: None,
        summary: "The service and its arguments; a text is split as a shell splits words",
    },
    choice(
        "process",
        &["fresh", "warm"],
        "fresh",
        "A process for each trial, or one for all of a sitting",
    ),
    text("directory", "", "Where it runs; empty: where schedlab was started"),
    text("ready", "", "Path that is answered with 200 once it is ready; empty: it takes connections"),
    duration("ready_within", 10 * MS, 3600 * S, "60s", "How long it may take to be ready"),
    duration(
        "steady_within",
        0,
        3600 * S,
        "0s",
        "How long it may take until its answers take the same time; 0: that is not tested",
    ),
    duration("window", 100 * MS, 600 * S, "5s", "Time over which answers are compared for that"),
    duration("stop_within", 10 * MS, 600 * S, "10s", "How long it may take to end when asked to"),
    text("generator_cpus", "", "CPUs of the generator, like 0-1; empty: any"),
    LOAD[0],
    LOAD[1],
    LOAD[2],
    LOAD[3],
    LOAD[4],
    LOAD[5],
    LOAD[6],
    LOAD[7],
    LOAD[8],
    LOAD[9],
];

/// An estimate for the plan.
const STARTS_IN_NS: u64 = S;

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
        let described = |id: &str, unit: Unit, reduction: Reduction, summary: &str| Metric {
            is_description: true,
            ..Metric::new(id, unit, Direction::Lower, reduction, summary)
        };
        let mut metrics = http::metrics_of(parameters);
        let (ns, lower) = (Unit::Nanoseconds, Direction::Lower);
        let summary = "CPU time of the service per answer";
        metrics.push(Metric::new("service_cpu", ns, lower, Reduction::Quotient, summary));
        let summary = "Resident set of the service at the end of the load";
        metrics.push(Metric::new("service_memory", Unit::Bytes, lower, Reduction::Median, summary));
        if is_warm(parameters) {
            let summary = "How long the service had been ready when the load began";
            metrics.push(described("age", ns, Reduction::Median, summary));
            return metrics;
        }
        let summary = "Time from the start of the service until it was ready";
        metrics.push(Metric::new("ready_after", ns, lower, Reduction::Median, summary));
        if parameters.duration_ns("steady_within") > 0 {
            let summary = "Time of warming up until answers took the same time";
            metrics.push(described("steady_after", ns, Reduction::Median, summary));
        }
        metrics
    }

    fn expected_ns(&self, parameters: &Parameters) -> u64 {
        if is_warm(parameters) {
            return http::expected_ns(parameters);
        }
        let is_warmed = parameters.duration_ns("steady_within") > 0;
        let windows_ns = if is_warmed { 4 * parameters.duration_ns("window") } else { 0 };
        http::expected_ns(parameters) + STARTS_IN_NS + windows_ns
    }

    fn is_closed_loop(&self, parameters: &Parameters) -> bool {
        http::is_closed_loop(parameters)
    }

    fn drives_others(&self) -> bool {
        true
    }

    fn requires(&self, parameters: &Parameters) -> Vec<Requirement> {
        let program = parameters.words("start").first();
        let needs = program.map(|name| Requirement::program(name.clone(), ""));
        needs.into_iter().chain(directory(parameters).map(is_directory)).collect()
    }

    fn programs(&self, machine: &Machine, parameters: &Parameters) -> Vec<PathBuf> {
        let words = parameters.words("start");
        let program = words.first().and_then(|name| machine.program(name));
        let directory = directory(parameters).unwrap_or_default();
        // A jar, a script, a configuration: what the service reads decides what it is.
        let read = words.iter().skip(1).map(|word| directory.join(word)).filter(|path| path.is_file());
        let own = program.into_iter().chain(read).filter_map(|path| std::path::absolute(path).ok());
        own.chain(http::files(parameters)).collect()
    }

    fn conflicts(&self, parameters: &Parameters) -> Vec<String> {
        let mut wrong = http::conflicts(parameters);
        if parameters.words("start").is_empty() {
            wrong.push("`start` names no program".to_owned());
        }
        let ready = parameters.text("ready");
        let is_path = ready.starts_with('/') && ready.bytes().all(|byte| byte.is_ascii_graphic());
        if !ready.is_empty() && !is_path {
            wrong.push(format!("ready = {ready:?}: expected /… as a URL has it"));
        }
        let (steady_ns, window_ns) =
            (parameters.duration_ns("steady_within"), parameters.duration_ns("window"));
        if steady_ns > 0 && steady_ns < 3 * window_ns {
            wrong.push("steady_within is shorter than the three windows that must agree".to_owned());
        }
        wrong.extend(generator_cpus(parameters).err());
        wrong
    }

    fn stands(&self, parameters: &Parameters) -> Option<String> {
        // All but the load, which may be another one in each workload.
        let own = &PARAMETERS[..PARAMETERS.len() - LOAD.len()];
        let names = own.iter().map(|parameter| parameter.name).chain(["address"]);
        let told = |name: &str| format!("{name} = {:?}", parameters.0.get(name));
        is_warm(parameters).then(|| names.map(told).collect::<Vec<_>>().join("; "))
    }

    fn stand(
        &self,
        machine: &Machine,
        parameters: &Parameters,
        launch: &LaunchSpec,
    ) -> Result<Box<dyn Standing>> {
        Ok(Box::new(Warm::start(machine, parameters, launch)?))
    }

    fn prepare(
        &self,
        machine: &Machine,
        parameters: &Parameters,
        launch: &LaunchSpec,
    ) -> Result<Box<dyn Load>> {
        if launch.needs_cpu_cgroup() || launch.needs_io_cgroup() {
            let why = "the generator would be limited with the service: both are in one group";
            let remedy = "leave out the factors cpu_max, cpu_weight, io_max and io_weight";
            return Err(Error::unsupported("cannot limit a service", why, remedy));
        }
        if is_warm(parameters) {
            return Ok(Box::new(Running::of_warm(machine, parameters, launch)?));
        }
        Ok(Box::new(Running::start(machine, parameters, launch)?))
    }
}

/// Whether one process serves all trials.
fn is_warm(parameters: &Parameters) -> bool {
    parameters.text("process") == "warm"
}

/// CPUs of the generator, where they were named.
fn generator_cpus(parameters: &Parameters) -> std::result::Result<Option<CpuList>, String> {
    let text = parameters.text("generator_cpus");
    if text.is_empty() {
        return Ok(None);
    }
    let cpus: CpuList = text.parse().map_err(|why| format!("generator_cpus = {text:?}: {why}"))?;
    if cpus.is_empty() {
        return Err(format!("generator_cpus = {text:?} names no CPU"));
    }
    Ok(Some(cpus))
}

fn directory(parameters: &Parameters) -> Option<PathBuf> {
    Some(parameters.text("directory")).filter(|text| !text.is_empty()).map(PathBuf::from)
}

fn is_directory(directory: PathBuf) -> Requirement {
    Requirement::check(format!("the directory {}", directory.display()), move |_| {
        if directory.is_dir() {
            return Ok(());
        }
        Err((format!("{} is none", directory.display()), "check the spelling".to_owned()))
    })
}
