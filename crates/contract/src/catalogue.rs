//! The one catalogue, assembled by the binary and handed down.

use crate::{Error, Result, TrialCatalogue, VenueEntry, nearest};
use model::Plan;
use std::ops::Deref;

/// Everything that can be named in an experiment.
#[derive(Clone, Copy)]
pub struct Catalogue {
    /// What can run, be set and be observed.
    pub trials: TrialCatalogue,
    /// Where trials can run; the first is meant where an experiment names none.
    pub venues: &'static [&'static dyn VenueEntry],
}

/// Workloads, factors and probes can be asked for by the whole catalogue, too.
impl Deref for Catalogue {
    type Target = TrialCatalogue;

    fn deref(&self) -> &TrialCatalogue {
        &self.trials
    }
}

impl Catalogue {
    /// A venue by id.
    pub fn venue(&self, id: &str) -> Option<&'static dyn VenueEntry> {
        self.venues.iter().copied().find(|venue| venue.describe().id == id)
    }

    /// The venue that a plan names.
    ///
    /// # Errors
    /// That this binary has none of that name, with the nearest one that it has.
    pub fn venue_of(&self, plan: &Plan) -> Result<&'static dyn VenueEntry> {
        let id = &plan.venue;
        self.venue(id).ok_or_else(|| {
            let near = nearest(id, self.venue_ids());
            let meant = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            Error::usage(
                format!("cannot open the venue `{id}`"),
                format!("there is no venue of that name in this binary{meant}"),
                self.venues_in_words(),
            )
        })
    }

    /// The names of all venues.
    pub fn venue_ids(&self) -> impl Iterator<Item = &'static str> {
        self.venues.iter().map(|venue| venue.describe().id)
    }

    /// What a venue can be: `a venue is "a", "b" or "c"`.
    pub fn venues_in_words(&self) -> String {
        let quoted: Vec<String> = self.venue_ids().map(|id| format!("\"{id}\"")).collect();
        match quoted.as_slice() {
            [] => "there is no venue in this binary".to_owned(),
            [only] => format!("the only venue is {only}"),
            [others @ .., last] => format!("a venue is {} or {last}", others.join(", ")),
        }
    }
}

/// Declares the modules of a room and lists their entries:
/// `catalog!(dyn Factor: base_slice, migration_cost);` makes each file a module
/// and `ENTRIES` the list of their `Entry`s.
#[macro_export]
macro_rules! catalog {
    (dyn $trait:path: $($module:ident),* $(,)?) => {
        $(mod $module;)*

        /// Every entry of this room.
        pub static ENTRIES: &[&dyn $trait] = &[$(&$module::Entry),*];
    };
}
