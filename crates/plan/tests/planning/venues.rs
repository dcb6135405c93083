//! Venues of these tests: one as it is, one that boots, one that simulates. They say of their tables
//! as much as planning has to know; what the real ones take is tested where these are.

use contract::document::{ExperimentProblems, Table, values};
use contract::{
    ConfiguredVenue, Description, Error, Factor, Footprint, Knob, Neighbour, Refusal,
    RequiredFactor, Result, Venue, VenueContext, VenueEntry, VenueExample, VenueFacts,
};
use model::{Plan, SimSettings, VmSettings};
use std::cell::Cell;
use std::collections::BTreeMap;

pub static VENUES: &[&dyn VenueEntry] = &[&HOST, &VM, &SIM];

thread_local! {
    /// How often a venue was asked for its schema by this thread.
    pub static SCHEMAS_MADE: Cell<usize> = const { Cell::new(0) };
}

struct TestVenue {
    description: &'static Description,
    facts: VenueFacts,
    has_table: bool,
    settings: fn(Option<&Table>, &mut ExperimentProblems) -> TestSettings,
}

const PLAIN: VenueFacts = VenueFacts {
    gist: "this machine",
    is_simulated: false,
    boots_guests: false,
    footprint: Footprint::Knobs,
    required: &[],
    example: None,
    prerequisites: "",
};

static HOST: TestVenue = TestVenue {
    description: &Description { id: "host", summary: "as it is", doc: "" },
    facts: PLAIN,
    has_table: false,
    settings: |_, _| TestSettings::None,
};

static VM: TestVenue = TestVenue {
    description: &Description { id: "vm", summary: "boots", doc: "" },
    facts: VenueFacts {
        gist: "throw-away machines",
        boots_guests: true,
        required: &[RequiredFactor {
            id: "kernel",
            cause: "no kernel is named for",
            hint: "write kernel = \"debian:6.12\" at the top of the file, or one in each subject",
        }],
        example: Some(VenueExample { heading: "With venue = \"vm\"", table: "# [vm]\n" }),
        ..PLAIN
    },
    has_table: true,
    settings: |table, problems| TestSettings::Vm(vm(table, problems)),
};

static SIM: TestVenue = TestVenue {
    description: &Description { id: "sim", summary: "simulates", doc: "" },
    facts: VenueFacts { gist: "the simulator", is_simulated: true, ..PLAIN },
    has_table: true,
    settings: |_, _| TestSettings::Sim,
};

fn vm(table: Option<&Table>, problems: &mut ExperimentProblems) -> VmSettings {
    let mut settings = VmSettings::default();
    for entry in table.into_iter().flat_map(|table| &table.entries) {
        if entry.key == "memory" {
            let text = values::text(&entry.node, "memory", problems);
            let bytes = text.and_then(|text| model::parse_size(text).ok());
            settings.memory_bytes = bytes.unwrap_or_default();
        } else if let Some(flag) = values::flag(&entry.node, &entry.key, problems) {
            settings.is_equalised = flag;
        }
    }
    settings
}

impl VenueEntry for TestVenue {
    fn describe(&self) -> &'static Description {
        self.description
    }

    fn facts(&self) -> VenueFacts {
        self.facts
    }

    fn accepts(&self, factor: &dyn Factor) -> Result<(), Refusal> {
        let id = factor.describe().id;
        match factor.knob() {
            Knob::Simulated if !self.facts.is_simulated => Err(Refusal::new(
                format!("the factor `{id}` exists in the simulator only"),
                "write venue = \"sim\", or choose another factor",
            )),
            Knob::Boot(_) if !self.has_table => Err(Refusal::new(
                format!("`{id}` is decided when a machine boots, and this one runs already"),
                "write venue = \"vm\": it boots a machine for each kernel",
            )),
            _ => Ok(()),
        }
    }

    fn schema(&self) -> Option<serde_json::Value> {
        SCHEMAS_MADE.set(SCHEMAS_MADE.get() + 1);
        self.has_table.then(|| serde_json::json!({ "type": "object" }))
    }

    fn configure(
        &self,
        table: Option<&Table>,
        problems: &mut ExperimentProblems,
    ) -> Box<dyn ConfiguredVenue> {
        Box::new((self.settings)(table, problems))
    }

    fn venue(&self, _: &dyn VenueContext) -> Result<Box<dyn Venue>> {
        Err(Error::environment("cannot open", "planning never opens anything"))
    }
}

enum TestSettings {
    None,
    Vm(VmSettings),
    Sim,
}

impl ConfiguredVenue for TestSettings {
    fn refuses(&self, _: Neighbour) -> Option<Refusal> {
        None
    }

    fn write(&self, plan: &mut Plan, has_peer: bool) {
        match self {
            Self::None => {}
            Self::Vm(settings) => plan.vm = Some(VmSettings { has_peer, ..settings.clone() }),
            Self::Sim => {
                let failure_rate = BTreeMap::new();
                plan.sim = Some(SimSettings { scenario: "S1".to_owned(), failure_rate });
            }
        }
    }
}
