//! Where an experiment runs, and what it says in tables of venues.

use contract::document::{ExperimentProblems, SourceLocation, Table, values};
use contract::{Catalogue, ConfiguredVenue, Neighbour, Refusal, VenueEntry};
use model::Plan;

/// The venue of an experiment.
pub(crate) struct ChosenVenue {
    pub(crate) entry: &'static dyn VenueEntry,
    own: Box<dyn ConfiguredVenue>,
    /// Those that it has a table of and does not run on: `--venue` may ask for them later.
    others: Vec<Box<dyn ConfiguredVenue>>,
}

impl ChosenVenue {
    /// Reads `venue`, or `--venue` in its place, and every table of a venue. Nothing where the
    /// catalogue has no venue.
    pub(crate) fn read(
        table: &Table,
        catalogue: &Catalogue,
        option: Option<&str>,
        problems: &mut ExperimentProblems,
    ) -> Option<Self> {
        let entry = chosen(table, catalogue, option, problems)?;
        let chosen_id = entry.describe().id;
        let (mut own, mut others) = (None, Vec::new());
        for known in catalogue.venues.iter().filter(|known| known.schema().is_some()) {
            let id = known.describe().id;
            let Some(written) = table.get(id) else { continue };
            let inner = values::table(&written.node, &format!("`{id}`"), problems);
            let configured = known.configure(inner, problems);
            if id == chosen_id {
                own = Some(configured);
                continue;
            }
            others.push(configured);
            if option.is_none() {
                problems
                    .report(&written.place, format!("[{id}] has no meaning on venue `{chosen_id}`"))
                    .hint(format!("write venue = \"{id}\", or remove [{id}]"));
            }
        }
        let own = own.unwrap_or_else(|| entry.configure(None, problems));
        Some(Self { entry, own, others })
    }

    /// Reports what only the subjects show.
    pub(crate) fn check(&self, subjects: &[&str], problems: &mut ExperimentProblems) {
        for configured in self.others.iter().chain([&self.own]) {
            configured.check(subjects, problems);
        }
    }

    /// Why a workload cannot have this beside its machine.
    pub(crate) fn refuses(&self, neighbour: Neighbour) -> Option<Refusal> {
        self.own.refuses(neighbour)
    }

    /// Writes the venue and its settings into the plan.
    pub(crate) fn write(&self, plan: &mut Plan, has_peer: bool) {
        self.entry.describe().id.clone_into(&mut plan.venue);
        self.own.write(plan, has_peer);
        // What the plan does not say by a field of the venue.
        let facts = self.entry.facts();
        if facts.is_simulated && !plan.is_simulated() {
            plan.venue_settings.is_simulated = true;
        }
        if facts.boots_guests && !plan.boots_guests() {
            plan.venue_settings.boots_guests = true;
        }
    }
}

/// Tables of venues' own settings that an experiment may have.
pub(crate) fn tables(catalogue: &Catalogue) -> impl Iterator<Item = &'static str> {
    let with_table = catalogue.venues.iter().filter(|entry| entry.schema().is_some());
    with_table.map(|entry| entry.describe().id)
}

/// Whether a venue has a table of that name. Only the venue of that name is asked for its schema,
/// which is made anew each time: very many keys may be asked about.
pub(crate) fn has_table(key: &str, catalogue: &Catalogue) -> bool {
    catalogue.venue(key).is_some_and(|entry| entry.schema().is_some())
}

/// The venue that the option names, else the experiment, else the first.
fn chosen(
    table: &Table,
    catalogue: &Catalogue,
    option: Option<&str>,
    problems: &mut ExperimentProblems,
) -> Option<&'static dyn VenueEntry> {
    let written = table.get("venue").and_then(|entry| {
        let name = values::text(&entry.node, "venue", problems)?;
        named(name, &entry.node.place, catalogue, problems)
    });
    let asked = option.and_then(|name| {
        let place = SourceLocation::Option(format!("--venue {name}"));
        named(name, &place, catalogue, problems)
    });
    let first = catalogue.venues.first().copied();
    if first.is_none() {
        let start = SourceLocation::Span { start: 0, end: 0 };
        problems.report(&start, catalogue.venues_in_words());
    }
    asked.or(written).or(first)
}

fn named(
    name: &str,
    place: &SourceLocation,
    catalogue: &Catalogue,
    problems: &mut ExperimentProblems,
) -> Option<&'static dyn VenueEntry> {
    let found = catalogue.venue(name);
    if found.is_none() {
        problems
            .report(place, format!("unknown venue `{name}`"))
            .near(name, catalogue.venue_ids())
            .hint(catalogue.venues_in_words());
    }
    found
}
