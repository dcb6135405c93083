//! A service of the user's: started, warmed up, loaded, checked and stopped in every trial.

mod generator;

use crate::application::host_load::HostLoadClient;
use crate::application::{
    self, Application, CONDUCT, Conduct, Drive, GENERATOR_AT, GeneratorPlace, STEADY_WITHIN,
    Started,
};
use crate::http::{self, ADDRESS, DURATION, HttpLoad, LOAD, SCENARIO_AT, WARM_UP};
use contract::shared_names;
use contract::{
    Configured, Description, Error, ErrorKind, LaunchSpec, Load, LongLivedService, Parameter,
    Problem, ProgramFile, RateSearch, Requirement, Result, Service, ServiceFacts, Tables,
    WordChoice, Workload, WorkloadFacts,
};
use generator::{Generator, GeneratorKind};
use model::{Metric, Parameters};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;
use sys::Machine;
use workload_parts::nanoseconds::S;
use workload_parts::program::ProgramEnvironment;
use workload_parts::program::service::{Beginning, Server};

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

**What moves it.** The scheduler decides which of the service's threads runs when there are more than
CPUs, and how soon one that was woken does.

**When it lies.** A fresh process has none of what an old one has gathered (caches, compiled code, a
full heap); a warm one goes on gathering it from trial to trial, for all subjects alike, and what
one subject left in it (a longer queue, a larger heap) the next one finds. With few CPUs the generator takes its time from the service: `generator_cpu` says how
much. CPU time has the steps of the kernel's ticks (10 ms). Memory that processes share is counted
for each. Threads that ended during the load take their waiting with them.

**Reference.** The published harness for sched_ext with a banking application and Gatling, whose
numbers come from one run each."#,
};

contract::keys! {
    OWN;
    START: [String] = words(
        shared_names::SERVICE_COMMAND_LINE,
        "",
        "The service and its arguments; a text is split as a shell splits words",
    ).required(),
    DIRECTORY: str = text(
        shared_names::DIRECTORY,
        "",
        "Where it runs; empty: where schedlab was started",
    ),
    READY: str = text(
        "ready",
        "",
        "Path that is answered with 200 once it is ready; empty: it takes connections",
    ),
}

/// What sends the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    /// The workload itself.
    Ours,
    /// A program.
    Program(GeneratorKind),
}

impl WordChoice for Sender {
    const WORDS: &'static [(&'static str, Self)] = &[
        (OURS, Self::Ours),
        ("wrk", Self::Program(GeneratorKind::Wrk)),
        ("gatling", Self::Program(GeneratorKind::Gatling)),
        ("command", Self::Program(GeneratorKind::Command)),
    ];
}

// What sends the load.
contract::keys! {
    SENDER;
    GENERATOR: Sender = choice(
        "generator",
        OURS,
        "What sends the load: the scenario's requests, or a program",
    ),
    DRIVE: str = text(
        shared_names::GENERATOR_COMMAND_LINE,
        "",
        "That program and its arguments, split as a shell splits words; @results@ is a directory \
         of its own",
    ),
    METRICS: Tables = table(
        shared_names::PICKED,
        "Figures picked from what the program prints, as in `command`",
    ),
}

const PARAMETERS: &[Parameter] = contract::join_keys!(OWN, CONDUCT, SCENARIO_AT, LOAD, SENDER);

/// What is the same of a service that stands for several workloads: the address is its own, the
/// rest of the load may be another one in each, and so may what sends it.
const STANDING: &[Parameter] = contract::join_keys!(OWN, CONDUCT, &[ADDRESS.declared()]);

/// What sends the load where no program was declared to: the workload itself.
const OURS: &str = "own";

/// As of `http`, but that a program may send the load.
const RATE_SEARCH: RateSearch =
    RateSearch { sender: Some((GENERATOR.declared(), OURS)), ..http::RATE_SEARCH };

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

    fn brief(&self) -> &'static [(&'static str, &'static str)] {
        const { &[(DURATION.name(), "100ms"), (WARM_UP.name(), "10ms")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        let mut wrong: Vec<Problem> = Vec::new();
        let generator = Generator::of(parameters).unwrap_or_else(|why| {
            wrong.extend(why);
            None
        });
        let load = if generator::is_declared(parameters) {
            http::HttpSettings::sent_by_others(parameters, STEADY_WITHIN.of(parameters) > 0)
        } else {
            http::HttpSettings::sent_by_us(parameters)
        };
        let load = load.map_err(|why| wrong.extend(why)).ok();
        let words = START.of(parameters);
        if words.is_empty() {
            wrong.push("`start` names no program".into());
        }
        let ready = READY.of(parameters);
        let is_path = ready.starts_with('/') && ready.bytes().all(|byte| byte.is_ascii_graphic());
        if !ready.is_empty() && !is_path {
            wrong.push(format!("ready = {ready:?}: expected /… as a URL has it").into());
        }
        let is_at_host = GENERATOR_AT.of(parameters) == GeneratorPlace::Host;
        if is_at_host && generator::is_declared(parameters) {
            let why =
                "generator_at = \"host\": only our own generator runs on a guest's host (own)";
            wrong.push(why.into());
        }
        let conduct = Conduct::of(parameters).map_err(|why| wrong.extend(why)).ok();
        let (Some(conduct), Some(load), true) = (conduct, load, wrong.is_empty()) else {
            return Err(wrong);
        };
        let directory = Some(DIRECTORY.of(parameters)).filter(|text| !text.is_empty());
        Ok(Box::new(Yours {
            words: words.to_vec(),
            directory: directory.map(PathBuf::from),
            ready: ready.to_owned(),
            stands: conduct.stands(parameters, STANDING),
            conduct,
            load,
            generator,
            drive: generator::words(parameters),
            parameters: parameters.clone(),
        }))
    }

    fn rate_search(&self) -> Option<&'static RateSearch> {
        const { Some(&RATE_SEARCH) }
    }

    fn usual_metrics(&self) -> Vec<Metric> {
        let conduct = Parameter::values(CONDUCT, &[]).and_then(|own| Conduct::of(&own));
        let metrics = |conduct: Conduct| {
            application::metrics(&conduct, http::usual_metrics(), &[SERVICE], true)
        };
        conduct.map(metrics).unwrap_or_default()
    }
}

/// A service of the user's.
struct Yours {
    /// The program and its arguments.
    words: Vec<String>,
    /// Where it runs; none: where we do.
    directory: Option<PathBuf>,
    /// The path that is answered once it is ready; empty: it takes connections.
    ready: String,
    conduct: Conduct,
    load: http::HttpSettings,
    /// What sends the load in our place.
    generator: Option<Generator>,
    /// What was declared to do so, be it we or a generator of others.
    drive: Vec<String>,
    stands: Option<String>,
    /// As they were declared: by these the host knows the load that it is asked for.
    parameters: Parameters,
}

impl Configured for Yours {
    fn metrics(&self) -> Vec<Metric> {
        let load = match &self.generator {
            Some(generator) => generator.metrics(),
            None => http::metrics_of(&self.load),
        };
        let is_counted = self.generator.as_ref().is_none_or(Generator::counts_answers);
        application::metrics(&self.conduct, load, &[SERVICE], is_counted)
    }

    fn facts(&self) -> WorkloadFacts {
        let names = self.words.first().into_iter().chain(self.drive.first());
        let needs = names.map(|name| Requirement::program(name.clone(), ""));
        let needs = needs.chain(self.directory.clone().map(is_directory));
        WorkloadFacts {
            patience_ns: self.conduct.patience_ns(1),
            is_closed_loop: match &self.generator {
                Some(generator) => generator.is_closed_loop(),
                None => self.load.is_closed_loop(),
            },
            requirements: needs.chain(self.conduct.requirements()).collect(),
            programs: self.programs(),
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

impl Service for Yours {
    fn facts(&self) -> ServiceFacts {
        let port = self.load.address().port();
        ServiceFacts {
            servers: vec![SERVICE],
            stands: self.stands.clone(),
            host_load_port: self.conduct.is_loaded_from_host.then_some(port),
            host_load_requires: self.conduct.requirements(),
        }
    }

    fn stand(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn LongLivedService>> {
        application::stand(self, machine, launch)
    }

    fn send_from_host(&self, to: SocketAddr, launch: &LaunchSpec) -> Result<String> {
        application::send(HttpLoad::of(self.load.clone().at(to), launch)?, &self.conduct)
    }
}

impl Yours {
    fn programs(&self) -> Vec<ProgramFile> {
        let program = self.words.first().cloned().map(ProgramFile::Program);
        let directory = self.directory.clone().unwrap_or_default();
        // A jar, a script, a configuration: what the service reads decides what it is.
        let arguments = self.words.iter().skip(1).map(|word| directory.join(word));
        let read = arguments.filter(|path| path.is_file()).map(ProgramFile::File);
        let own = program.into_iter().chain(read).chain(generator::files(&self.drive));
        own.chain(self.load.files()).collect()
    }
}

impl Application for Yours {
    fn start(
        &self,
        machine: &Machine,
        launch: &LaunchSpec,
        levels: Option<&LaunchSpec>,
    ) -> Result<Started> {
        let address = HttpLoad::of(self.load.clone(), launch)?.address();
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
            words: &self.words,
            surroundings: ProgramEnvironment {
                directory: self.directory.clone(),
                ..ProgramEnvironment::default()
            },
            levels,
            within: self.conduct.ready_within,
        };
        let service =
            Server::start_until(machine, &beginning, launch, || match self.ready.as_str() {
                "" => TcpStream::connect_timeout(&address, CONNECTS_WITHIN)
                    .map(drop)
                    .map_err(|error| format!("it takes no connection at {address}: {error}")),
                path => http::answers(address, path),
            })?;
        Ok(Started { servers: vec![(SERVICE, service)], address })
    }

    fn load(&self, _: SocketAddr, launch: &LaunchSpec) -> Result<HttpLoad> {
        HttpLoad::of(self.load.clone(), launch)
    }

    fn program(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Option<Box<dyn Drive>>> {
        self.generator.as_ref().map(|generator| generator.start(machine, launch)).transpose()
    }

    fn host_load(&self, machine: &Machine, launch: &LaunchSpec) -> Option<HostLoadClient> {
        HostLoadClient::of(machine, &self.conduct, (DESCRIPTION.id, &self.parameters), launch)
    }

    fn conduct(&self) -> &Conduct {
        &self.conduct
    }
}

fn is_directory(directory: PathBuf) -> Requirement {
    Requirement::check(format!("the directory {}", directory.display()), move |_| {
        if directory.is_dir() {
            return Ok(());
        }
        Err((format!("{} is none", directory.display()), "check the spelling".to_owned()))
    })
}
