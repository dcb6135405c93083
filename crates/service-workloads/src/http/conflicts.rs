//! Loads that cannot be meant.

use super::Scenario;
use super::settings::{ARRIVALS, Flow, HttpSettings, LoadTest, SCALE, TEST};
use contract::Problem;
use model::Parameters;
use std::net::SocketAddr;
use workload_parts::nanoseconds::S;

/// Fewer requests of a kind than this are expected: its percentiles would be those of nothing.
const FEWEST: f64 = 5.0;

impl HttpSettings {
    /// A load that our own generator sends.
    ///
    /// # Errors
    /// All that cannot be meant.
    pub(crate) fn sent_by_us(parameters: &Parameters) -> Result<Self, Vec<Problem>> {
        too_rare(Self::of(parameters)?)
    }

    /// The same where somebody else sends: then nothing needs to be sent, or all warms up.
    ///
    /// # Errors
    /// All that cannot be meant.
    pub(crate) fn sent_by_others(
        parameters: &Parameters,
        warms_up: bool,
    ) -> Result<Self, Vec<Problem>> {
        let settings = Self::of(parameters);
        let mut wrong: Vec<Problem> = Vec::new();
        if TEST.of(parameters) == LoadTest::Capacity {
            wrong.push(
                "test = \"capacity\": rates are searched by our own generator alone (own)".into(),
            );
        }
        let is_scaled = (SCALE.of(parameters) - 1.0).abs() > 0.0;
        if ARRIVALS.of(parameters) != Flow::USUAL || is_scaled {
            let why = "arrivals and scale are those of our own generator (own): the program's \
                       rates are in `drive`";
            wrong.push(why.into());
        }
        match settings {
            Err(more) => {
                wrong.extend(more);
                Err(wrong)
            }
            Ok(settings) => {
                if warms_up && settings.scenario.kinds.is_empty() {
                    let why =
                        "steady_within: the scenario has no [[requests]] that could warm it up";
                    wrong.push(why.into());
                }
                if wrong.is_empty() { Ok(settings) } else { Err(wrong) }
            }
        }
    }

    /// A load with a scenario that is known, of a service whose address will be.
    ///
    /// # Errors
    /// All that cannot be meant.
    pub(crate) fn of_scenario(
        parameters: &Parameters,
        scenario: Scenario,
    ) -> Result<Self, Vec<Problem>> {
        let somewhere = SocketAddr::from(([127, 0, 0, 1], 1));
        too_rare(Self::with(parameters, somewhere, scenario)?)
    }
}

/// # Errors
/// That nothing is sent, or too little of a kind to say anything.
fn too_rare(settings: HttpSettings) -> Result<HttpSettings, Vec<Problem>> {
    if settings.scenario.kinds.is_empty() {
        return Err(vec!["nothing is sent: `scenario` has no [[requests]]".into()]);
    }
    if settings.flow == Flow::Closed {
        return Ok(settings);
    }
    let (from_ns, to_ns) = settings.measured_ns;
    let measured_s = (to_ns - from_ns) as f64 / S as f64;
    let expected = |rate: f64| rate * settings.scale * measured_s;
    let Some(rare) = settings.scenario.kinds.iter().find(|kind| expected(kind.rate) < FEWEST)
    else {
        return Ok(settings);
    };
    Err(vec![Problem::from(format!(
        "{:.1} requests {:?} are expected within the duration: {FEWEST} are the fewest that say \
         anything",
        expected(rare.rate),
        rare.name
    ))])
}
