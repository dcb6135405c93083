//! What was declared, as the generator needs it.

use super::scenario::Scenario;
use super::schedule::{Arrivals, Course};
use contract::{Problem, ProgramFile, WordChoice};
use model::Parameters;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use workload_parts::address::one_machine;
use workload_parts::nanoseconds::{MS, S};

contract::keys! {
    pub(crate) SCENARIO_AT;
    ADDRESS: str = text("address", "", "IP:PORT of the service").required(),
    SCENARIO: str = text("scenario", "", "Path of the scenario's file"),
}

/// How requests follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// When they are due, whatever became of those before.
    Open(Arrivals),
    /// On each connection when the one before has been answered.
    Closed,
}

impl Flow {
    /// Where nothing is said.
    pub(super) const USUAL: Self = Self::Open(Arrivals::Poisson);
}

impl WordChoice for Flow {
    const WORDS: &'static [(&'static str, Self)] = &[
        (USUAL_ARRIVALS, Self::USUAL),
        ("constant", Self::Open(Arrivals::Constant)),
        ("closed", Self::Closed),
    ];
}

/// What is done with the rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadTest {
    /// They are sent.
    Load,
    /// The highest ones that are sustained are searched.
    Capacity,
}

impl WordChoice for LoadTest {
    const WORDS: &'static [(&'static str, Self)] =
        &[("load", Self::Load), (SEARCH, Self::Capacity)];
}

// What a load is declared by, wherever it is part of a workload.
contract::keys! {
    pub(crate) LOAD;
    ARRIVALS: Flow = choice(
        "arrivals",
        USUAL_ARRIVALS,
        "When requests go: at random moments of their rate, at regular ones, or after answers",
    ),
    SCALE: f64 = number("scale", 1e-6, 1e6, "1", "Factor of all rates"),
    CONNECTIONS: u64 = count("connections", 1, 4096, "64", "Connections at a time, at most"),
    RAMP_UP: u64 = duration(
        "ramp_up",
        0,
        LONGEST_NS,
        "0s",
        "Time in which the rates rise from nothing",
    ),
    WARM_UP: u64 = duration(
        "warm_up",
        0,
        LONGEST_NS,
        "500ms",
        "Time at full rates before the measured one",
    ),
    DURATION: u64 = length(10 * MS, LONGEST_NS, "5s", "Measured time"),
    RAMP_DOWN: u64 = duration(
        "ramp_down",
        0,
        LONGEST_NS,
        "0s",
        "Time in which the rates fall to nothing",
    ),
    TIMEOUT: u64 = duration(
        "timeout",
        10 * MS,
        600 * S,
        "10s",
        "An answer that takes longer is none",
    ),
    TEST: LoadTest = choice(
        "test",
        "load",
        "Load at the given rates, or search the highest ones that are sustained",
    ),
    TARGET: u64 = duration(
        "target",
        MS,
        600 * S,
        "250ms",
        "What the 99th percentile may be at most at a rate that is sustained",
    ),
}

/// The word for a search of the highest rates that are sustained.
pub(super) const SEARCH: &str = "capacity";
/// When requests go where nothing is said.
const USUAL_ARRIVALS: &str = "poisson";
const LONGEST_NS: u64 = 24 * 3600 * S;
/// For connecting, and the last answers.
const AROUND_NS: u64 = 100 * MS;
/// Steps of a search for the plan: a few doublings, four halvings.
const USUAL_STEPS: u64 = 10;

/// Requests of a run that can be counted and kept in memory while they wait.
const MOST_REQUESTS: f64 = 5e7;
const FASTEST: f64 = 1e6;

/// All of it.
#[derive(Debug, Clone)]
pub(crate) struct HttpSettings {
    pub(super) to: SocketAddr,
    pub(super) scenario: Scenario,
    /// Where the scenario was read; none where it is nobody's file.
    pub(super) scenario_at: Option<PathBuf>,
    pub(super) flow: Flow,
    /// Factor of all rates.
    pub(super) scale: f64,
    pub(super) connections: usize,
    pub(super) course: Course,
    /// The part of the course that is measured, from its beginning.
    pub(super) measured_ns: (u64, u64),
    /// How long an answer may take from when its request was due.
    pub(super) timeout_ns: u64,
    /// What the 99th percentile may be where the highest rate is searched; none where rates are
    /// given.
    pub(super) search_ns: Option<u64>,
    pub(super) seed: u64,
    /// The number of the run, for texts that come once.
    pub(super) run: u64,
}

impl HttpSettings {
    /// With the address and the scenario that the parameters name.
    ///
    /// # Errors
    /// All that cannot be meant.
    pub(super) fn of(parameters: &Parameters) -> Result<Self, Vec<Problem>> {
        let mut wrong: Vec<Problem> = Vec::new();
        let to = one_machine(ADDRESS.of(parameters), "of the service")
            .map_err(|why| wrong.push(why.into()))
            .unwrap_or_else(|()| SocketAddr::from(([127, 0, 0, 1], 1)));
        // Without one nothing is asked.
        let path = Some(SCENARIO.of(parameters)).filter(|path| !path.is_empty()).map(Path::new);
        let scenario = path.map_or_else(|| Ok(Scenario::default()), Scenario::read);
        let scenario = scenario
            .map_err(|whys| wrong.extend(whys.into_iter().map(Problem::from)))
            .unwrap_or_default();
        match Self::with(parameters, to, scenario) {
            Ok(settings) if wrong.is_empty() => {
                return Ok(Self { scenario_at: path.map(Path::to_owned), ..settings });
            }
            Ok(_) => {}
            Err(whys) => wrong.extend(whys),
        }
        Err(wrong)
    }

    /// With an address and a scenario that are known.
    ///
    /// # Errors
    /// All that cannot be meant.
    pub(super) fn with(
        parameters: &Parameters,
        to: SocketAddr,
        scenario: Scenario,
    ) -> Result<Self, Vec<Problem>> {
        let mut wrong: Vec<String> = Vec::new();
        let flow = ARRIVALS.of(parameters);
        let [ramp_up_ns, warm_up_ns, duration_ns, ramp_down_ns] =
            [&RAMP_UP, &WARM_UP, &DURATION, &RAMP_DOWN].map(|key| key.of(parameters));
        let course = Course { ramp_up_ns, hold_ns: warm_up_ns + duration_ns, ramp_down_ns };
        if flow == Flow::Closed && (ramp_up_ns > 0 || ramp_down_ns > 0) {
            wrong.push("a closed loop has no rate to ramp: leave ramp_up and ramp_down out".into());
        }
        let scale = SCALE.of(parameters);
        if flow == Flow::Closed && (scale - 1.0).abs() > 0.0 {
            wrong.push("a closed loop has no rate to scale: use more connections".to_owned());
        }
        let is_search = match TEST.of(parameters) {
            LoadTest::Load => false,
            LoadTest::Capacity => true,
        };
        if is_search && flow == Flow::Closed {
            wrong.push("a closed loop has no rate to search: use another of arrivals".to_owned());
        }
        let settings = Self {
            to,
            scenario,
            scenario_at: None,
            flow,
            scale,
            connections: usize::try_from(CONNECTIONS.of(parameters)).unwrap_or(usize::MAX),
            course,
            measured_ns: (ramp_up_ns + warm_up_ns, ramp_up_ns + warm_up_ns + duration_ns),
            timeout_ns: TIMEOUT.of(parameters),
            search_ns: is_search.then(|| TARGET.of(parameters)),
            seed: 0,
            run: 0,
        };
        wrong.extend(settings.check_rate().err());
        if !wrong.is_empty() {
            return Err(wrong.into_iter().map(Problem::from).collect());
        }
        Ok(settings)
    }

    /// The same load on a service that is reached there.
    pub(crate) fn at(self, to: SocketAddr) -> Self {
        Self { to, ..self }
    }

    /// The same load with another scenario of the same rates.
    pub(crate) fn with_scenario(self, scenario: Scenario) -> Self {
        Self { scenario, ..self }
    }

    /// Where the service is.
    pub(crate) fn address(&self) -> SocketAddr {
        self.to
    }

    /// Whether each request waits for the answer to the one before it.
    pub(crate) fn is_closed_loop(&self) -> bool {
        self.flow == Flow::Closed
    }

    /// Whether rates are searched instead of given.
    pub(super) fn is_search(&self) -> bool {
        self.search_ns.is_some()
    }

    /// How long it takes, in nanoseconds.
    pub(crate) fn expected_ns(&self) -> u64 {
        if self.is_search() {
            return USUAL_STEPS * self.course.hold_ns;
        }
        self.course.whole_ns() + AROUND_NS
    }

    /// The user's files that decide what it is.
    pub(crate) fn files(&self) -> Vec<ProgramFile> {
        let files = self.scenario_at.iter().flat_map(|path| Scenario::files(path));
        files.map(ProgramFile::File).collect()
    }

    /// # Errors
    /// That there are too many requests to be counted and kept.
    pub(super) fn check_rate(&self) -> Result<(), String> {
        let rate = self.scale * self.scenario.kinds.iter().map(|kind| kind.rate).sum::<f64>();
        let requests = rate * self.course.whole_ns() as f64 / 1e9;
        if self.flow == Flow::Closed || (rate <= FASTEST && requests <= MOST_REQUESTS) {
            return Ok(());
        }
        Err(format!(
            "{rate:.0} requests per second, {requests:.0} in all: at most {FASTEST} per second and \
             {MOST_REQUESTS} in all"
        ))
    }

    /// The course of one step of a search, and its part that is measured.
    pub(super) fn step(&self) -> (Course, (u64, u64)) {
        let (from_ns, to_ns) = self.measured_ns;
        let warm_up_ns = from_ns - self.course.ramp_up_ns;
        let hold_ns = warm_up_ns + (to_ns - from_ns);
        (Course { ramp_up_ns: 0, hold_ns, ramp_down_ns: 0 }, (warm_up_ns, hold_ns))
    }
}
