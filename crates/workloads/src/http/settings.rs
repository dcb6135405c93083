//! What was declared, as the generator needs it.

use super::scenario::Scenario;
use super::schedule::{Arrivals, Course};
use crate::address::one_machine;
use model::Parameters;
use std::net::SocketAddr;
use std::path::Path;

/// Requests of a run that can be counted and kept in memory while they wait.
const MOST_REQUESTS: f64 = 5e7;
const FASTEST: f64 = 1e6;

/// How requests follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// When they are due, whatever became of those before.
    Open(Arrivals),
    /// On each connection when the one before has been answered.
    Closed,
}

/// All of it.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) to: SocketAddr,
    pub(super) scenario: Scenario,
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

impl Settings {
    /// With the address and the scenario that the parameters name.
    ///
    /// # Errors
    /// All that cannot be meant, each in one sentence.
    pub(super) fn of(parameters: &Parameters) -> Result<Self, Vec<String>> {
        let mut wrong = Vec::new();
        let to = one_machine(parameters.text("address"), "of the service")
            .map_err(|why| wrong.push(why))
            .unwrap_or_else(|()| SocketAddr::from(([127, 0, 0, 1], 1)));
        let scenario = match parameters.text("scenario") {
            // Without one nothing is asked.
            "" => Scenario::default(),
            path => Scenario::read(Path::new(path))
                .map_err(|whys| wrong.extend(whys))
                .unwrap_or_default(),
        };
        match Self::with(parameters, to, scenario) {
            Ok(settings) if wrong.is_empty() => return Ok(settings),
            Ok(_) => {}
            Err(whys) => wrong.extend(whys),
        }
        Err(wrong)
    }

    /// With an address and a scenario that are known.
    ///
    /// # Errors
    /// All that cannot be meant, each in one sentence.
    pub(super) fn with(
        parameters: &Parameters,
        to: SocketAddr,
        scenario: Scenario,
    ) -> Result<Self, Vec<String>> {
        let mut wrong = Vec::new();
        let flow = flow(parameters);
        let [ramp_up_ns, warm_up_ns, duration_ns, ramp_down_ns] =
            ["ramp_up", "warm_up", "duration", "ramp_down"]
                .map(|name| parameters.duration_ns(name));
        let course = Course { ramp_up_ns, hold_ns: warm_up_ns + duration_ns, ramp_down_ns };
        if flow == Flow::Closed && (ramp_up_ns > 0 || ramp_down_ns > 0) {
            wrong.push("a closed loop has no rate to ramp: leave ramp_up and ramp_down out".into());
        }
        let scale = parameters.number("scale");
        if flow == Flow::Closed && (scale - 1.0).abs() > 0.0 {
            wrong.push("a closed loop has no rate to scale: use more connections".to_owned());
        }
        let is_search = parameters.text("test") == "capacity";
        if is_search && flow == Flow::Closed {
            wrong.push("a closed loop has no rate to search: use another of arrivals".to_owned());
        }
        let settings = Self {
            to,
            scenario,
            flow,
            scale,
            connections: usize::try_from(parameters.count("connections")).unwrap_or(usize::MAX),
            course,
            measured_ns: (ramp_up_ns + warm_up_ns, ramp_up_ns + warm_up_ns + duration_ns),
            timeout_ns: parameters.duration_ns("timeout"),
            search_ns: is_search.then(|| parameters.duration_ns("target")),
            seed: 0,
            run: 0,
        };
        wrong.extend(settings.check_rate().err());
        if wrong.is_empty() { Ok(settings) } else { Err(wrong) }
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

/// How requests follow each other.
pub(super) fn flow(parameters: &Parameters) -> Flow {
    match parameters.text("arrivals") {
        "closed" => Flow::Closed,
        "constant" => Flow::Open(Arrivals::Constant),
        _ => Flow::Open(Arrivals::Poisson),
    }
}
