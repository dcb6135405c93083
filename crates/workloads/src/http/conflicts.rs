//! Loads that cannot be meant.

use super::settings::{Flow, Settings};
use super::{ARRIVALS, Scenario, is_search};
use crate::declare::S;
use model::Parameters;
use std::net::SocketAddr;

/// Fewer requests of a kind than this are expected: its percentiles would be those of nothing.
const FEWEST: f64 = 5.0;

/// What cannot be meant by a load's parameters, each in one sentence.
pub(crate) fn conflicts(parameters: &Parameters) -> Vec<String> {
    match Settings::of(parameters) {
        Err(wrong) => wrong,
        Ok(settings) => too_rare(&settings, parameters),
    }
}

/// The same where somebody else sends: then nothing needs to be sent, or all warms up.
pub(crate) fn conflicts_beside(parameters: &Parameters) -> Vec<String> {
    let mut wrong = Vec::new();
    if is_search(parameters) {
        let why = "test = \"capacity\": rates are searched by our own generator alone (own)";
        wrong.push(why.to_owned());
    }
    let is_scaled = (parameters.number("scale") - 1.0).abs() > 0.0;
    if parameters.text("arrivals") != ARRIVALS || is_scaled {
        let why = "arrivals and scale are those of our own generator (own): the program's rates \
                   are in `drive`";
        wrong.push(why.to_owned());
    }
    let warms_up = parameters.duration_ns("steady_within") > 0;
    match Settings::of(parameters) {
        Err(more) => wrong.extend(more),
        Ok(settings) if warms_up && settings.scenario.kinds.is_empty() => {
            let why = "steady_within: the scenario has no [[requests]] that could warm it up";
            wrong.push(why.to_owned());
        }
        Ok(_) => {}
    }
    wrong
}

/// The same with a scenario that is known, of a service whose address will be.
pub(crate) fn conflicts_with(parameters: &Parameters, scenario: &Scenario) -> Vec<String> {
    let somewhere = SocketAddr::from(([127, 0, 0, 1], 1));
    match Settings::with(parameters, somewhere, scenario.clone()) {
        Err(wrong) => wrong,
        Ok(settings) => too_rare(&settings, parameters),
    }
}

fn too_rare(settings: &Settings, parameters: &Parameters) -> Vec<String> {
    if settings.scenario.kinds.is_empty() {
        return vec!["nothing is sent: `scenario` has no [[requests]]".to_owned()];
    }
    if settings.flow == Flow::Closed {
        return Vec::new();
    }
    let measured_s = parameters.duration_ns("duration") as f64 / S as f64;
    let expected = |rate: f64| rate * settings.scale * measured_s;
    let rare = settings.scenario.kinds.iter().find(|kind| expected(kind.rate) < FEWEST);
    let sentence = rare.map(|kind| {
        format!(
            "{:.1} requests {:?} are expected within the duration: {FEWEST} are the fewest that \
             say anything",
            expected(kind.rate),
            kind.name
        )
    });
    sentence.into_iter().collect()
}
