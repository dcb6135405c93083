//! A small catalogue with one of each kind of entry, so that these tests say
//! what planning does rather than what today's rooms contain.

use crate::venues::VENUES;
use contract::{
    AttachedProbe, BootKnob, BootSpec, Catalogue, Configured, Cost, Description, Error, Factor,
    Knob, LaunchKnob, LaunchSpec, Load, Parameter, Probe, ProbeTarget, Problem, Requirement,
    Result, Tables, TrialCatalogue, WordChoice, Workload, WorkloadFacts,
};
use model::{Direction, Fingerprint, Level, Metric, Parameters, Reduction, Unit};
use std::collections::BTreeMap;
use sys::Machine;

pub static CATALOGUE: Catalogue = Catalogue {
    trials: TrialCatalogue {
        workloads: &[&WAKEUP, &MESSAGING, &COMMAND],
        factors: &[
            &BASE_SLICE,
            &MIN_GRANULARITY,
            &NR_MIGRATE,
            &POLICY,
            &NICE,
            &EFFECT,
            &KERNEL,
            &CMDLINE,
        ],
        probes: &[&RUSAGE, &TRACER],
    },
    venues: VENUES,
};

pub static DEFAULT_PROBES: &[&str] = &["rusage", "absent_here"];

const SECOND_NS: u64 = 1_000_000_000;

/// A workload that is only planned.
struct TestWorkload {
    description: &'static Description,
    parameters: &'static [Parameter],
    configure: fn(&Parameters) -> Result<Configuration, Vec<Problem>>,
}

/// What planning asks of one with its parameters.
struct Configuration {
    metrics: Vec<Metric>,
    expected_ns: u64,
}

/// How load arrives.
#[derive(Clone, Copy, PartialEq)]
pub enum Mode {
    Closed,
    Open,
}

impl WordChoice for Mode {
    const WORDS: &'static [(&'static str, Self)] =
        &[("closed", Self::Closed), ("open", Self::Open)];
}

contract::keys! {
    pub OF_WAKEUP;
    DURATION: u64 = length(SECOND_NS / 2, 600 * SECOND_NS, "4s", "length of the measurement"),
    WORKERS: u64 = count("workers", 1, 256, "2", "how many"),
    MODE: Mode = choice("mode", "closed", "how load arrives"),
    RATE: f64 = number("rate", 0.0, 1e6, "0", "requests per second when open"),
    VERIFY: bool = flag("verify", "true", "check the answers"),
}

contract::keys! {
    OF_MESSAGING;
    GROUPS: u64 = count("groups", 1, 64, "1", "how many"),
    SIZE: u64 = size("size", 1, 1 << 20, "100", "bytes of a message"),
}

contract::keys! {
    pub OF_COMMAND;
    RUN: [String] = words("run", "", "the program and its arguments").required(),
    METRICS: Tables = table("metrics", "metrics in its output"),
    EXPECTED: u64 = duration("expected", SECOND_NS, 600 * SECOND_NS, "1s", "how long it runs"),
}

static WAKEUP: TestWorkload = TestWorkload {
    description: &Description { id: "wakeup", summary: "wakes workers", doc: "" },
    parameters: OF_WAKEUP,
    configure: wakeup,
};

static MESSAGING: TestWorkload = TestWorkload {
    description: &Description { id: "messaging", summary: "a storm of messages", doc: "" },
    parameters: OF_MESSAGING,
    configure: messaging,
};

static COMMAND: TestWorkload = TestWorkload {
    description: &Description { id: "command", summary: "any program", doc: "" },
    parameters: OF_COMMAND,
    configure: command,
};

fn metric(id: &str, unit: Unit, direction: Direction) -> Metric {
    Metric::new(id, unit, direction, Reduction::Median, "a test metric")
}

fn wakeup(parameters: &Parameters) -> Result<Configuration, Vec<Problem>> {
    let is_open = MODE.of(parameters) == Mode::Open;
    if is_open && RATE.of(parameters) == 0.0 {
        return Err(vec!["an open loop needs a `rate`".into()]);
    }
    let mut metrics = Metric::latency_quantiles("wakeup_latency", "wake-up latency");
    metrics.push(metric("requests_per_second", Unit::PerSecond, Direction::Higher));
    if is_open {
        metrics.push(metric("lateness", Unit::Nanoseconds, Direction::Lower));
    }
    Ok(Configuration { metrics, expected_ns: DURATION.of(parameters) })
}

fn messaging(_: &Parameters) -> Result<Configuration, Vec<Problem>> {
    let metrics = vec![metric("makespan", Unit::Nanoseconds, Direction::Lower)];
    Ok(Configuration { metrics, expected_ns: SECOND_NS })
}

fn command(parameters: &Parameters) -> Result<Configuration, Vec<Problem>> {
    let own = METRICS.of(parameters).keys();
    let wall = metric("wall_time", Unit::Nanoseconds, Direction::Lower);
    let picked = own.map(|id| metric(id, Unit::Plain, Direction::Lower));
    let metrics = std::iter::once(wall).chain(picked).collect();
    Ok(Configuration { metrics, expected_ns: EXPECTED.of(parameters) })
}

impl Workload for TestWorkload {
    fn describe(&self) -> &'static Description {
        self.description
    }

    fn parameters(&self) -> &'static [Parameter] {
        self.parameters
    }

    fn brief(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        Ok(Box::new((self.configure)(parameters)?))
    }
}

impl Configured for Configuration {
    fn metrics(&self) -> Vec<Metric> {
        self.metrics.clone()
    }

    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts::closed_loop(self.expected_ns)
    }

    fn prepare(&self, _: &Machine, _: &LaunchSpec) -> Result<Box<dyn Load>> {
        Err(Error::environment("cannot prepare", "planning never runs anything"))
    }
}

struct TestFactor {
    description: Description,
    syntax: &'static str,
    examples: &'static [&'static str],
    parse: fn(&str) -> Result<String, String>,
    rival: &'static str,
    set_by: SetBy,
}

#[derive(Clone, Copy)]
enum SetBy {
    Launch,
    Boot,
    Simulator,
}

static FACTORS: [&TestFactor; 8] =
    [&BASE_SLICE, &MIN_GRANULARITY, &NR_MIGRATE, &POLICY, &NICE, &EFFECT, &KERNEL, &CMDLINE];

fn parse_slice(text: &str) -> Result<String, String> {
    let slice_ns = model::parse_duration(text).map_err(|error| error.to_string())?;
    if (100_000..=100_000_000).contains(&slice_ns) {
        Ok(model::format_duration(slice_ns))
    } else {
        Err("outside 100us to 100ms".to_owned())
    }
}

fn parse_whole(text: &str) -> Result<String, String> {
    text.parse::<i32>().map(|number| number.to_string()).map_err(|error| error.to_string())
}

fn parse_kernel(text: &str) -> Result<String, String> {
    match text.strip_prefix("debian:") {
        Some(version) if !version.is_empty() => Ok(text.to_owned()),
        _ => Err("it names no source".to_owned()),
    }
}

fn parse_any(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

fn parse_policy(text: &str) -> Result<String, String> {
    match text {
        "other" | "batch" | "idle" | "fifo:1" => Ok(text.to_owned()),
        _ => Err("unknown policy".to_owned()),
    }
}

macro_rules! factor {
    ($name:ident $id:literal $syntax:literal $examples:expr, $parse:ident, $rival:literal, $set_by:ident) => {
        static $name: TestFactor = TestFactor {
            description: Description { id: $id, summary: $syntax, doc: "" },
            syntax: $syntax,
            examples: &$examples,
            parse: $parse,
            rival: $rival,
            set_by: SetBy::$set_by,
        };
    };
}

factor!(BASE_SLICE "base_slice" "a duration" ["3ms", "0.75ms"], parse_slice, "min_granularity", Launch);
factor!(MIN_GRANULARITY "min_granularity" "a duration" ["1ms"], parse_slice, "base_slice", Launch);
factor!(NR_MIGRATE "nr_migrate" "a whole number" ["32"], parse_whole, "", Launch);
factor!(POLICY "policy" "other, batch, idle or fifo:1" ["other", "batch"], parse_policy, "", Launch);
factor!(NICE "nice" "a whole number" ["5", "-5"], parse_whole, "", Launch);
factor!(EFFECT "effect" "a whole number" ["3"], parse_whole, "", Simulator);
factor!(KERNEL "kernel" "a kernel" ["debian:6.12", "debian:6.1"], parse_kernel, "", Boot);
factor!(CMDLINE "cmdline" "words" ["quiet"], parse_any, "", Boot);

struct NoKnob;

impl LaunchKnob for NoKnob {
    fn contribute(&self, _: &Machine, _: &Level, _: &mut LaunchSpec) -> Result<()> {
        Err(Error::environment("cannot set", "planning never sets anything"))
    }

    fn read_back(&self, _: &Machine, _: &[i32], _: &Level) -> Result<Level> {
        Err(Error::environment("cannot read", "planning never reads anything"))
    }
}

impl BootKnob for NoKnob {
    fn contribute(&self, _: &Level, _: &mut BootSpec) -> Result<()> {
        Err(Error::environment("cannot boot", "planning never boots anything"))
    }

    fn read_back(&self, _: &Fingerprint, _: &BootSpec, wanted: &Level) -> Level {
        wanted.clone()
    }
}

impl Factor for TestFactor {
    fn describe(&self) -> &'static Description {
        FACTORS
            .into_iter()
            .map(|factor| &factor.description)
            .find(|description| description.id == self.description.id)
            .unwrap()
    }

    fn syntax(&self) -> &'static str {
        self.syntax
    }

    fn examples(&self) -> &'static [&'static str] {
        self.examples
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        (self.parse)(text).map(Level::canonical)
    }

    fn requires(&self, _: &Level) -> Vec<Requirement> {
        Vec::new()
    }

    fn conflict(&self, _: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        let is_rivalled = others.contains_key(self.rival);
        is_rivalled.then(|| {
            format!("`{}` and `{}` are of different kernels", self.description.id, self.rival)
        })
    }

    fn knob(&self) -> Knob<'_> {
        match self.set_by {
            SetBy::Launch => Knob::Launch(&NoKnob),
            SetBy::Boot => Knob::Boot(&NoKnob),
            SetBy::Simulator => Knob::Simulated,
        }
    }
}

struct TestProbe {
    id: &'static Description,
    metric: &'static str,
    cost: Cost,
}

static RUSAGE: TestProbe = TestProbe {
    id: &Description { id: "rusage", summary: "resources used", doc: "" },
    metric: "voluntary_switches",
    cost: Cost::BeforeAfter,
};
static TRACER: TestProbe = TestProbe {
    id: &Description { id: "tracer", summary: "every switch", doc: "" },
    metric: "switch_delay",
    cost: Cost::PerEvent,
};

impl Probe for TestProbe {
    fn describe(&self) -> &'static Description {
        self.id
    }

    fn metrics(&self) -> Vec<Metric> {
        let direction = Direction::Lower;
        vec![Metric::new(self.metric, Unit::Count, direction, Reduction::Median, "a count")]
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn requires(&self) -> Vec<Requirement> {
        Vec::new()
    }

    fn attach(&self, _: &Machine, _: &ProbeTarget) -> Result<Box<dyn AttachedProbe>> {
        Err(Error::environment("cannot attach", "planning never attaches anything"))
    }
}
