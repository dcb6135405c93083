//! A venue that somebody adds: one struct, and one line in the list of venues. An experiment that
//! names it is planned, opened, run and judged, and nothing else knows of it.

use contract::document::{ExperimentProblems, Table, values};
use contract::{
    Catalogue, ConfiguredVenue, Description, Error, Event, Factor, Footprint, Interrupt, Knob,
    Missing, Neighbour, Refusal, Result, TrialCatalogue, Venue, VenueContext, VenueEntry,
    VenueFacts, VenueSession,
};
use model::{
    CaveatCode, Fingerprint, Invocation, Outcome, Plan, Record, Sample, StorageTarget, Trial,
    VENUE_PLAN_FORMAT,
};
use plan::{ExperimentProblem, PlanRequest};
use std::path::{Path, PathBuf};
use sys::Machine;

const EXPERIMENT: &str = r#"
venue = "moon"
blocks = 6
seed = 1
probes = []
[moon]
gravity = 1.6
[subjects.standing]
[subjects.nice]
nice = 5
[[workloads]]
use = "messaging"
invocations = 1
primary = "makespan"
"#;

/// Everything falls slowly there, and nothing is measured.
struct Moon {
    boots_guests: bool,
}

static DESCRIPTION: Description =
    Description { id: "moon", summary: "far away", doc: "Made for a test." };

impl VenueEntry for Moon {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn facts(&self) -> VenueFacts {
        VenueFacts {
            gist: "far away",
            is_simulated: true,
            boots_guests: self.boots_guests,
            footprint: Footprint::Nothing,
            required: &[],
            example: None,
            prerequisites: "",
        }
    }

    fn accepts(&self, factor: &dyn Factor) -> Result<(), Refusal> {
        match factor.knob() {
            Knob::Launch(_) => Ok(()),
            _ => Err(Refusal::new("nobody turns knobs on the moon", "stay on this machine")),
        }
    }

    fn schema(&self) -> Option<serde_json::Value> {
        let gravity = serde_json::json!({ "type": "number", "minimum": 0.1, "maximum": 3 });
        Some(serde_json::json!({ "type": "object", "properties": { "gravity": gravity } }))
    }

    fn configure(
        &self,
        table: Option<&Table>,
        problems: &mut ExperimentProblems,
    ) -> Box<dyn ConfiguredVenue> {
        let mut gravity = 1.625;
        for entry in table.into_iter().flat_map(|table| &table.entries) {
            if entry.key == "gravity" {
                let read = values::number(&entry.node, "gravity", 0.1..=3.0, problems);
                gravity = read.unwrap_or(gravity);
            } else {
                problems
                    .report(&entry.place, format!("unknown key `{}` in [moon]", entry.key))
                    .near(&entry.key, ["gravity"]);
            }
        }
        Box::new(Landed { gravity })
    }

    fn venue(&self, _: &dyn VenueContext) -> Result<Box<dyn Venue>> {
        Ok(Box::new(MoonVenue))
    }
}

struct Landed {
    gravity: f64,
}

impl ConfiguredVenue for Landed {
    fn refuses(&self, _: Neighbour) -> Option<Refusal> {
        Some(Refusal::new("there are no neighbours", "stay on this machine"))
    }

    fn write(&self, plan: &mut Plan, _: bool) {
        plan.venue_settings.values.insert("gravity".to_owned(), self.gravity.to_string());
    }
}

struct MoonVenue;

impl Venue for MoonVenue {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn recover(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn missing(&self, _: &Plan) -> Vec<Missing> {
        Vec::new()
    }

    fn identity(&self, _: &Plan) -> Result<Fingerprint> {
        Ok(on_the_moon())
    }

    fn open(
        &self,
        plan: &Plan,
        _: &Path,
        _: &Interrupt,
        _: &mut dyn FnMut(Event),
    ) -> Result<Box<dyn VenueSession>> {
        let gravity = plan.venue_settings.values["gravity"].parse().unwrap();
        Ok(Box::new(MoonSession { gravity }))
    }
}

struct MoonSession {
    gravity: f64,
}

impl VenueSession for MoonSession {
    fn fingerprint(&mut self) -> Result<Fingerprint> {
        Ok(on_the_moon())
    }

    fn run(&mut self, trial: &Trial, _: &mut dyn FnMut(Event)) -> Result<Record> {
        let fall_ns = 1e6 / self.gravity + f64::from(trial.block);
        let samples = vec![Sample::values("makespan", vec![fall_ns])].into();
        let invocation =
            Invocation { samples, run: Some(Box::default()), failure: None, disturbance: None };
        Ok(Record { invocations: vec![invocation].into(), ..Record::of(trial, Outcome::Completed) })
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn on_the_moon() -> Fingerprint {
    Fingerprint([("kernel.release".to_owned(), "lunar".to_owned())].into())
}

/// A command line that knows nothing but the catalogue.
struct Bare(Catalogue);

impl VenueContext for Bare {
    fn machine(&self) -> Result<Machine> {
        Err(Error::environment("cannot find the machine", "nobody asks for it"))
    }

    fn files_target(&self, machine: &Machine) -> StorageTarget {
        sys::directory_target(machine, Path::new("/"))
    }

    fn machine_arguments(&self, machine: &Machine) -> Vec<String> {
        assembly::machine_arguments(machine)
    }

    fn catalogue(&self) -> TrialCatalogue {
        self.0.trials
    }

    fn executable(&self) -> PathBuf {
        assembly::executable()
    }

    fn agent(&self) -> PathBuf {
        PathBuf::new()
    }

    fn cache(&self) -> Result<PathBuf> {
        Err(Error::environment("cannot find the cache", "nobody asks for it"))
    }

    fn search_path(&self) -> String {
        String::new()
    }

    fn version(&self) -> &'static str {
        "0"
    }
}

/// The real catalogue and one line more.
fn catalogue() -> Catalogue {
    catalogue_with(MOON)
}

fn catalogue_with(entry: &'static dyn VenueEntry) -> Catalogue {
    let own = assembly::catalogue();
    let venues: Vec<&'static dyn VenueEntry> = own.venues.iter().copied().chain([entry]).collect();
    Catalogue { venues: venues.leak(), ..own }
}

static MOON: &dyn VenueEntry = &Moon { boots_guests: false };
static MOON_WITH_GUESTS: &dyn VenueEntry = &Moon { boots_guests: true };

fn plan(catalogue: &Catalogue, text: &str) -> Result<Plan, Vec<ExperimentProblem>> {
    let request = PlanRequest { text, name: "falling", drawn_seed: 7, ..PlanRequest::default() };
    plan::plan(catalogue, &[], &request)
}

fn problems_of(catalogue: &Catalogue, text: &str) -> String {
    plan::render_problems(&plan(catalogue, text).unwrap_err(), "moon.toml", text)
}

#[test]
fn an_experiment_on_a_new_venue_is_planned_opened_run_and_judged() {
    let catalogue = catalogue();
    let planned = plan(&catalogue, EXPERIMENT).unwrap();
    assert_eq!((planned.venue.as_str(), planned.format.as_str()), ("moon", VENUE_PLAN_FORMAT));
    assert_eq!(planned.venue_settings.values["gravity"], "1.6");
    let heavier = plan(&catalogue, &EXPERIMENT.replace("1.6", "1.7")).unwrap();
    assert_ne!(planned.digest, heavier.digest, "its settings decide results");

    let venue = catalogue.venue_of(&planned).unwrap().venue(&Bare(catalogue)).unwrap();
    let results = tempfile::tempdir().unwrap();
    let order = lab::Order {
        results: results.path(),
        plan: &planned,
        experiment: EXPERIMENT,
        venue: venue.as_ref(),
        interrupt: &Interrupt::default(),
        is_fresh: false,
        unix_ns: 0,
        unique: 0,
        attempts: None,
        watched: &|| None,
    };
    let ended = lab::run(&order, &mut |_| ()).unwrap();

    // Who reads the campaign need not know the venue.
    let stored = store::load(&ended.directory).unwrap();
    assert_eq!(stored.records.len(), planned.trial_count());
    assert!(stored.plan.is_simulated(), "as its entry says");
    let Sample { data, .. } = &stored.records[0].invocations[0].samples[0];
    assert_eq!(data, &Sample::values("makespan", vec![625_000.0]).data);
    let findings = lab::judge(&stored).unwrap();
    assert!(findings.caveats.iter().any(|caveat| caveat.code == CaveatCode::Simulated));
    assert!(!findings.findings.is_empty());
}

#[test]
fn a_new_venue_that_boots_guests_says_so_in_its_entry_alone() {
    let bare = plan(&catalogue(), EXPERIMENT).unwrap();
    let booting = plan(&catalogue_with(MOON_WITH_GUESTS), EXPERIMENT).unwrap();
    assert!(!bare.boots_guests() && booting.boots_guests());
    assert_eq!(booting.format, VENUE_PLAN_FORMAT);
    assert_ne!(bare.digest, booting.digest, "where trials run decides results");
    let is_laid_out_in_boots = |plan: &Plan| {
        let mut sittings = plan.blocks.iter().flat_map(|block| &block.sittings);
        sittings.all(|sitting| sitting.boot.is_some())
    };
    assert!(!is_laid_out_in_boots(&bare) && is_laid_out_in_boots(&booting));
}

#[test]
fn errors_schema_and_template_follow_from_the_catalogue() {
    let catalogue = catalogue();
    let wrong = EXPERIMENT.replace("gravity = 1.6", "gravty = 1.6").replace("nice = 5", "thp = 1");
    let problems = problems_of(&catalogue, &wrong);
    assert!(problems.contains("unknown key `gravty` in [moon]; did you mean `gravity`?"));
    let text = EXPERIMENT.replace("nice = 5", "kernel = \"debian:6.12\"");
    let problems = problems_of(&catalogue, &text);
    assert!(problems.contains("nobody turns knobs on the moon"), "{problems}");
    let problems = problems_of(&catalogue, &EXPERIMENT.replace("\"moon\"", "\"mon\""));
    assert!(problems.contains("unknown venue `mon`; did you mean `moon`?"), "{problems}");
    assert!(problems.contains(&catalogue.venues_in_words()), "{problems}");
    assert!(problems.contains("[moon] has no meaning on venue `host`"), "{problems}");
    let schema = plan::schema(&catalogue);
    let venues = schema["properties"]["venue"]["enum"].as_array().unwrap();
    assert_eq!(venues.last().unwrap(), "moon");
    assert!(schema["properties"]["moon"]["properties"]["gravity"].is_object());
    assert!(plan::template(&catalogue).contains("moon: far away"));
}

#[test]
fn a_plan_of_a_venue_that_is_gone_is_refused_and_never_run_elsewhere() {
    let planned = plan(&catalogue(), EXPERIMENT).unwrap();
    let own = assembly::catalogue();
    let error = own.venue_of(&planned).err().unwrap();
    assert_eq!(error.attempted, "cannot open the venue `moon`");
    assert_eq!(error.remedy, own.venues_in_words());
    let near = Plan { venue: "hots".to_owned(), ..planned };
    let error = own.venue_of(&near).err().unwrap();
    assert!(error.cause.ends_with("did you mean `host`?"), "{error}");
}
