//! A service of the user's: started, warmed up, loaded, checked and stopped in every trial.

mod generator;

use crate::application::outside::{self, Outside};
use crate::application::{self, Application, Conduct, Defaults, Drive, Started};
use crate::declare::{S, choice, text};
use crate::http::{self, HttpLoad, LOAD};
use crate::program::Surroundings;
use crate::program::service::{Beginning, Service};
use contract::{
    Description, Error, ErrorKind, LaunchSpec, Load, Parameter, ParameterKind, Requirement, Result,
    Standing, Workload,
};
use generator::Generator;
use model::{Metric, Parameters};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;
use sys::Machine;

static DESCRIPTION: Description = Description {
    id: "service",
    summary: "A service of yours: started, warmed up, loaded over HTTP, checked, stopped",
    doc: r#"**What it is.** In every trial `start` starts your service, never through a shell; when it
is ready, `[[setup]]` of the scenario is asked, the load comes, `[[check]]` is asked, and the
service is asked to end (SIGTERM). The load is that of the workload `http`: see there for the
scenario and its metrics. A service that ends by itself, is not ready in time, does not become
steady or fails a check fails the trial with its last words.

The levels of a trial are those of the service and of all that it starts; the generator has none
of them. The service has a control group of its own, beside that of the generator, as a container
has: `cpu_max`, `cpu_weight`, `io_max` and `io_weight` limit it alone.

**One process or many.** With `process = "fresh"` each trial measures a process of its own. With
`"warm"` one process serves all trials of a sitting (on the host: of the run; in guests: of the
boot): it is started, set up and warmed up once before any level is set, then each trial gives its
levels to every thread of it, asks `[[setup]]`, loads and checks it. A trial that fails ends it,
and the next one begins with another. `age` tells how long it had been ready.

**Ready** it is when `ready` is answered with a status of 200, or where that is empty as soon as it
takes connections at `address`.

**Warm** it is, with `steady_within`, when the median time of an answer no longer changes: the
last three windows, each of `window`, and the three before them differ by a twentieth at most. One
that does not get there in time fails. Meanwhile requests
of all kinds come on at most 16 connections as fast as they are answered, whatever the rate of the
load: a virtual machine that compiles what is often used (Java, JavaScript) is several times slower
in its first half minute, and minutes long where little is asked.

**Other generators.** With `generator = "wrk"`, `"gatling"` or `"command"` the program `drive`
sends the load instead; `scenario` then needs no `[[requests]]` (those that it has warm the service
up), and may be left out. wrk needs `--latency`; Gatling writes into `@results@`
(`-rf @results@`), and the latency of every request is read from its log, by milliseconds; the
report that it makes without `-nr` is kept in the campaign's `logs/`, as a directory `*.report`; of any
other program `metrics` picks figures, as in the workload `command`: how much it was answered is not
known, so nothing is told per answer or request. `duration` and what is around it then only tell the
plan how long the load takes. Generators have none of the levels;
`generator_cpu` has all that wrk or Gatling used, their start included.

**What it means.** Beside the metrics of `http`: `service_cpu` is the CPU time of the service's
processes per answer, `service_wait` the time that its threads were ready and waited for a CPU per
answer, `service_memory` their resident set at the end of the load, `ready_after` how long the
service took to be ready, `steady_after` how long the warming up took.

**What moves it.** The scheduler decides who of the service's threads runs when there are more than
CPUs, and how soon one that was woken does.

**When it lies.** A fresh process has none of what an old one has gathered (caches, compiled code, a
full heap); a warm one goes on gathering it from trial to trial, for all subjects alike, and what
one subject left in it (a longer queue, a larger heap) the next one finds. With few CPUs the generator takes its time from the service: `generator_cpu` says how
much. CPU time has the steps of the kernel's ticks (10 ms). Memory that processes share is counted
for each. Threads that ended during the load take their waiting with them.

**Reference.** The published harness for sched_ext with a banking application and Gatling, whose
numbers come from one run each."#,
};

const CONDUCT: [Parameter; 7] = application::parameters(&Defaults {
    process: "fresh",
    ready_within: "60s",
    steady_within: "0s",
});

static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "start",
        kind: ParameterKind::Words,
        default: None,
        summary: "The service and its arguments; a text is split as a shell splits words",
    },
    text("directory", "", "Where it runs; empty: where schedlab was started"),
    text(
        "ready",
        "",
        "Path that is answered with 200 once it is ready; empty: it takes connections",
    ),
    CONDUCT[0],
    CONDUCT[1],
    CONDUCT[2],
    CONDUCT[3],
    CONDUCT[4],
    CONDUCT[5],
    CONDUCT[6],
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
    LOAD[10],
    LOAD[11],
    choice(
        "generator",
        &["own", "wrk", "gatling", "command"],
        "own",
        "Who sends the load: the scenario's requests, or a program",
    ),
    text(
        "drive",
        "",
        "That program and its arguments, split as a shell splits words; @results@ is a directory \
         of its own",
    ),
    Parameter {
        name: "metrics",
        kind: ParameterKind::Table,
        default: Some(""),
        summary: "Figures picked from what the program prints, as in `command`",
    },
];

/// How many of them, at the end, say who sends the load.
const OF_GENERATORS: usize = 3;

/// Its name in metrics and files.
const SERVICE: &str = "service";
/// A service that does not take a connection within this time is not ready yet.
const CONNECTS_WITHIN: Duration = Duration::from_millis(500);
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
        let generator = Generator::of(parameters);
        let load = match generator {
            Some(generator) => generator.metrics(parameters),
            None => http::metrics_of(parameters),
        };
        let is_counted = generator != Some(Generator::Command);
        application::metrics(parameters, load, &[SERVICE], is_counted)
    }

    fn expected_ns(&self, parameters: &Parameters) -> u64 {
        application::expected_ns(parameters, STARTS_IN_NS)
    }

    fn patience_ns(&self, parameters: &Parameters) -> u64 {
        application::patience_ns(parameters, 1)
    }

    fn is_closed_loop(&self, parameters: &Parameters) -> bool {
        match Generator::of(parameters) {
            Some(generator) => generator == Generator::Wrk,
            None => http::is_closed_loop(parameters),
        }
    }

    fn servers(&self, _: &Parameters) -> Vec<&'static str> {
        vec![SERVICE]
    }

    fn port_for_outside(&self, parameters: &Parameters) -> Option<u16> {
        let address = http::address(parameters).filter(|_| outside::is_declared(parameters));
        address.map(|address| address.port())
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
        application::send(HttpLoad::at(parameters, to, launch)?, parameters)
    }

    fn drives_others(&self) -> bool {
        true
    }

    fn requires(&self, parameters: &Parameters) -> Vec<Requirement> {
        let program = parameters.words("start").first();
        let driver = generator::words(parameters).unwrap_or_default().into_iter().next();
        let needs = [program.cloned(), driver].into_iter().flatten();
        let needs = needs.map(|name| Requirement::program(name, ""));
        let needs = needs.chain(directory(parameters).map(is_directory));
        needs.chain(application::requires(parameters)).collect()
    }

    fn programs(&self, machine: &Machine, parameters: &Parameters) -> Vec<PathBuf> {
        let drive = generator::words(parameters).unwrap_or_default();
        let words = parameters.words("start");
        let program = words.first().and_then(|name| machine.program(name));
        let directory = directory(parameters).unwrap_or_default();
        // A jar, a script, a configuration: what the service reads decides what it is.
        let read =
            words.iter().skip(1).map(|word| directory.join(word)).filter(|path| path.is_file());
        let own = program.into_iter().chain(read).chain(generator::files(machine, &drive));
        let own = own.filter_map(|path| std::path::absolute(path).ok());
        own.chain(http::files(parameters)).collect()
    }

    fn conflicts(&self, parameters: &Parameters) -> Vec<String> {
        let mut wrong = match Generator::of(parameters) {
            Some(generator) => {
                let mut wrong = generator.conflicts(parameters);
                wrong.extend(http::conflicts_beside(parameters));
                wrong
            }
            None => http::conflicts(parameters),
        };
        if parameters.words("start").is_empty() {
            wrong.push("`start` names no program".to_owned());
        }
        let ready = parameters.text("ready");
        let is_path = ready.starts_with('/') && ready.bytes().all(|byte| byte.is_ascii_graphic());
        if !ready.is_empty() && !is_path {
            wrong.push(format!("ready = {ready:?}: expected /… as a URL has it"));
        }
        if outside::is_declared(parameters) && Generator::of(parameters).is_some() {
            let why =
                "generator_at = \"host\": only our own generator runs on a guest's host (own)";
            wrong.push(why.to_owned());
        }
        wrong.extend(Conduct::of(parameters).err().into_iter().flatten());
        wrong
    }

    fn stands(&self, parameters: &Parameters) -> Option<String> {
        // The address is the service's own, the rest of the load may be another one in each workload,
        // and so may who sends it.
        let own = PARAMETERS.len() - LOAD.len() - OF_GENERATORS;
        application::stands(parameters, &PARAMETERS[..=own])
    }

    fn stand(
        &self,
        machine: &Machine,
        parameters: &Parameters,
        launch: &LaunchSpec,
    ) -> Result<Box<dyn Standing>> {
        application::stand(&Yours::of(parameters)?, machine, launch)
    }

    fn prepare(
        &self,
        machine: &Machine,
        parameters: &Parameters,
        launch: &LaunchSpec,
    ) -> Result<Box<dyn Load>> {
        application::prepare(&Yours::of(parameters)?, machine, parameters, launch)
    }
}

/// A service of the user's.
struct Yours<'p> {
    parameters: &'p Parameters,
    conduct: Conduct,
}

impl<'p> Yours<'p> {
    /// # Errors
    /// What cannot be meant.
    fn of(parameters: &'p Parameters) -> Result<Self> {
        let conduct = Conduct::of(parameters).map_err(|wrong| {
            Error::usage("cannot prepare the service", wrong.join("; "), "change the parameters")
        })?;
        Ok(Self { parameters, conduct })
    }
}

impl Application for Yours<'_> {
    fn start(
        &self,
        machine: &Machine,
        launch: &LaunchSpec,
        levels: Option<&LaunchSpec>,
    ) -> Result<Started> {
        let parameters = self.parameters;
        let address = HttpLoad::new(parameters, launch)?.address();
        if TcpStream::connect_timeout(&address, CONNECTS_WITHIN).is_ok() {
            return Err(Error::new(
                ErrorKind::Environment,
                "cannot start the service",
                format!("somebody serves at {address} already"),
                "end that one, or give this one another port",
            ));
        }
        let beginning = Beginning {
            name: "the service",
            stem: SERVICE,
            words: parameters.words("start"),
            surroundings: Surroundings {
                directory: directory(parameters),
                ..Surroundings::default()
            },
            levels,
            within: Duration::from_nanos(parameters.duration_ns("ready_within")),
        };
        let path = parameters.text("ready");
        let service = Service::start_until(machine, &beginning, launch, || match path {
            "" => TcpStream::connect_timeout(&address, CONNECTS_WITHIN)
                .map(drop)
                .map_err(|error| format!("it takes no connection at {address}: {error}")),
            path => http::answers(address, path),
        })?;
        Ok(Started { servers: vec![(SERVICE, service)], address })
    }

    fn load(&self, _: SocketAddr, launch: &LaunchSpec) -> Result<HttpLoad> {
        HttpLoad::new(self.parameters, launch)
    }

    fn program(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Option<Box<dyn Drive>>> {
        let generator = Generator::of(self.parameters);
        generator.map(|one| one.start(machine, self.parameters, launch)).transpose()
    }

    fn outside(&self, machine: &Machine, launch: &LaunchSpec) -> Option<Outside> {
        Outside::of(machine, DESCRIPTION.id, self.parameters, launch)
    }

    fn conduct(&self) -> &Conduct {
        &self.conduct
    }
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
