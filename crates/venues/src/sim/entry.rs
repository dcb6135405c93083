//! What planner and command line ask of the simulator.

use super::{DESCRIPTION, SIM_SCENARIOS, Sim};
use crate::refusals;
use contract::document::{ExperimentProblems, SourceLocation, Table, TreeEntry, values};
use contract::{
    ConfiguredVenue, Description, Factor, Footprint, Neighbour, Refusal, Result, Venue,
    VenueContext, VenueEntry, VenueFacts,
};
use model::{Plan, SimSettings};
use serde_json::json;

/// Keys of `[sim]`.
const KEYS: [&str; 2] = ["scenario", "failure_rate"];

/// The entry of the catalogue.
pub struct Entry;

impl VenueEntry for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn facts(&self) -> VenueFacts {
        VenueFacts {
            gist: "the simulator, for trying things out",
            is_simulated: true,
            boots_guests: false,
            footprint: Footprint::Nothing,
            required: &[],
            example: None,
            prerequisites: "",
        }
    }

    /// Levels mean nothing to it, so that any experiment can be tried out.
    fn accepts(&self, _factor: &dyn Factor) -> Result<(), Refusal> {
        Ok(())
    }

    fn schema(&self) -> Option<serde_json::Value> {
        Some(json!({
            "type": "object",
            "properties": {
                "scenario": { "enum": SIM_SCENARIOS, "default": SIM_SCENARIOS[0] },
                "failure_rate": {
                    "type": "object",
                    "additionalProperties": { "type": "number", "minimum": 0, "maximum": 1 },
                },
            },
            "additionalProperties": false,
        }))
    }

    fn configure(
        &self,
        table: Option<&Table>,
        problems: &mut ExperimentProblems,
    ) -> Box<dyn ConfiguredVenue> {
        let mut configured =
            Configured { scenario: SIM_SCENARIOS[0].to_owned(), failure_rates: Vec::new() };
        for entry in table.into_iter().flat_map(|table| &table.entries) {
            configured.read_key(entry, problems);
        }
        Box::new(configured)
    }

    fn brief(&self) -> Option<&'static str> {
        Some("")
    }

    fn venue(&self, context: &dyn VenueContext) -> Result<Box<dyn Venue>> {
        Ok(Box::new(Sim::new(context.catalogue())))
    }
}

struct Configured {
    scenario: String,
    failure_rates: Vec<FailureRate>,
}

/// How often invocations of a subject fail. Subjects are known later.
struct FailureRate {
    subject: String,
    place: SourceLocation,
    rate: f64,
}

impl Configured {
    fn read_key(&mut self, entry: &TreeEntry, problems: &mut ExperimentProblems) {
        match entry.key.as_str() {
            "scenario" => {
                let Some(scenario) = values::text(&entry.node, "scenario", problems) else {
                    return;
                };
                if SIM_SCENARIOS.contains(&scenario) {
                    scenario.clone_into(&mut self.scenario);
                } else {
                    problems
                        .report(&entry.node.place, format!("unknown scenario `{scenario}`"))
                        .near(scenario, SIM_SCENARIOS)
                        .hint("scenarios are S1 to S6");
                }
            }
            "failure_rate" => {
                let rates = values::table(&entry.node, "`failure_rate`", problems);
                for rate in rates.into_iter().flat_map(|rates| &rates.entries) {
                    self.read_failure_rate(rate, problems);
                }
            }
            other => {
                problems
                    .report(&entry.place, format!("unknown key `{other}` in [sim]"))
                    .near(other, KEYS);
            }
        }
    }

    fn read_failure_rate(&mut self, entry: &TreeEntry, problems: &mut ExperimentProblems) {
        if let Some(rate) = values::number(&entry.node, "failure_rate", 0.0..=1.0, problems) {
            let (subject, place) = (entry.key.clone(), entry.place.clone());
            self.failure_rates.push(FailureRate { subject, place, rate });
        }
    }
}

impl ConfiguredVenue for Configured {
    fn check(&self, subjects: &[&str], problems: &mut ExperimentProblems) {
        let is_unknown = |one: &&FailureRate| !subjects.contains(&one.subject.as_str());
        for FailureRate { subject, place, .. } in self.failure_rates.iter().filter(is_unknown) {
            problems
                .report(place, format!("no subject is called `{subject}`"))
                .near(subject, subjects.iter().copied());
        }
    }

    fn refuses(&self, neighbour: Neighbour) -> Option<Refusal> {
        refusals::without_guests(neighbour)
    }

    fn write(&self, plan: &mut Plan, _has_peer: bool) {
        let rate = |one: &FailureRate| (one.subject.clone(), one.rate);
        plan.sim = Some(SimSettings {
            scenario: self.scenario.clone(),
            failure_rate: self.failure_rates.iter().map(rate).collect(),
        });
    }
}
