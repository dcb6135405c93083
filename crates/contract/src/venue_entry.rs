//! One entry for each venue: what planner, command line and schema ask of it before a trial runs.
//!
//! Nobody outside of the `venues` crate asks for a venue by its name. What depends on where trials
//! run is asked of the entry, and of a plan that is stored of the plan (`Plan::is_simulated`,
//! `Plan::boots_guests`).

use crate::document::{ExperimentProblems, Table};
use crate::{Description, Factor, Missing, Result, TrialCatalogue, Venue};
use model::{Plan, StorageTarget};
use serde_json::Value;
use std::path::PathBuf;
use sys::Machine;

/// A venue in the catalogue. The first one of the catalogue is where an experiment runs that names
/// none.
pub trait VenueEntry: Sync {
    /// Name and explanation. An experiment's table of the same name holds the venue's own
    /// settings.
    fn describe(&self) -> &'static Description;

    /// What is known of it beforehand.
    fn facts(&self) -> VenueFacts;

    /// Whether subjects may have levels of this factor here.
    ///
    /// # Errors
    /// Why they may not.
    fn accepts(&self, factor: &dyn Factor) -> Result<(), Refusal>;

    /// JSON Schema of its own table; a venue without one has no table. It may refer to
    /// `#/$defs/duration`, `#/$defs/percent` and `#/$defs/names`.
    fn schema(&self) -> Option<Value> {
        None
    }

    /// Reads its own table, or takes its defaults where the experiment has none. What is wrong is
    /// reported at its place, and read as the default.
    fn configure(
        &self,
        table: Option<&Table>,
        problems: &mut ExperimentProblems,
    ) -> Box<dyn ConfiguredVenue>;

    /// Keys of an experiment, and its own table behind them, with which trials start as soon as they
    /// can: tests run a campaign so, which owes what those of every venue do. None of a venue that
    /// reaches nothing where tests run.
    fn brief(&self) -> Option<&'static str> {
        None
    }

    /// What it needs of this machine, part by part, for `schedlab doctor`. Changes nothing.
    ///
    /// # Errors
    /// When the machine cannot be looked at.
    fn prerequisites(&self, context: &dyn VenueContext) -> Result<Vec<VenuePrerequisite>> {
        let _ = context;
        Ok(Vec::new())
    }

    /// The venue, for plans that name it. Changes nothing.
    ///
    /// # Errors
    /// When what it needs of the command line is not to be had.
    fn venue(&self, context: &dyn VenueContext) -> Result<Box<dyn Venue>>;
}

/// A venue with the settings of one experiment.
pub trait ConfiguredVenue {
    /// Reports what only the subjects show; the control's id is among theirs.
    fn check(&self, subjects: &[&str], problems: &mut ExperimentProblems) {
        let _ = (subjects, problems);
    }

    /// Why a workload cannot have this beside its machine; the workload's name stands before the
    /// cause. Nothing where it can.
    fn refuses(&self, neighbour: Neighbour) -> Option<Refusal>;

    /// Writes the settings into the plan: into `sim` or `vm`, or those of any other venue into
    /// `venue_settings`. `has_peer` says whether a workload has its far side in a second guest.
    fn write(&self, plan: &mut Plan, has_peer: bool);
}

/// What is known of a venue before it is opened.
#[derive(Debug, Clone, Copy)]
pub struct VenueFacts {
    /// Where trials run, in few words: `this machine`.
    pub gist: &'static str,
    /// Whether its numbers say nothing about any machine.
    pub is_simulated: bool,
    /// Whether trials run in guests that it boots.
    pub boots_guests: bool,
    /// What its campaigns touch of the machine that they are started on.
    pub footprint: Footprint,
    /// Factors that every subject must have a level of.
    pub required: &'static [RequiredFactor],
    /// What `schedlab new` shows of it.
    pub example: Option<VenueExample>,
    /// The heading of its prerequisites.
    pub prerequisites: &'static str,
}

/// What campaigns touch of the machine that they are started on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Footprint {
    /// Nothing but the directory of results.
    Nothing,
    /// Lock and journal: processes of ours, such as guests.
    Processes,
    /// These, and what levels are written in.
    Knobs,
}

/// A factor that has no level unless subjects name one.
#[derive(Debug, Clone, Copy)]
pub struct RequiredFactor {
    /// Its id.
    pub id: &'static str,
    /// What is wrong without it; names of subjects follow.
    pub cause: &'static str,
    /// What to do.
    pub hint: &'static str,
}

/// Lines of an experiment to start from.
#[derive(Debug, Clone, Copy)]
pub struct VenueExample {
    /// The comment before the factors that only this venue has.
    pub heading: &'static str,
    /// Its own table, as comments; each line ends.
    pub table: &'static str,
}

/// What a workload may have beside its machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neighbour {
    /// A second guest: the workload's far side.
    SecondGuest,
    /// Load that the host sends to a service in its guest.
    HostLoad,
}

/// Why something is not possible on a venue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why, in one sentence without a full stop.
    pub cause: String,
    /// What to do.
    pub hint: String,
}

impl Refusal {
    /// A refusal with what to do instead.
    pub fn new(cause: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { cause: cause.into(), hint: hint.into() }
    }
}

/// A part of what a venue needs: its name, and what of it is here.
pub type VenuePrerequisite = (&'static str, std::result::Result<String, Missing>);

/// What only the command line knows. A venue asks for what it needs, so that nothing else has to
/// be there.
pub trait VenueContext {
    /// The machine that the program runs on.
    ///
    /// # Errors
    /// When it has no runtime directory of the user's own.
    fn machine(&self) -> Result<Machine>;

    /// Where files of workloads would lie on that machine: with the results.
    fn files_target(&self, machine: &Machine) -> StorageTarget;

    /// How this program's roles are told that machine.
    fn machine_arguments(&self, machine: &Machine) -> Vec<String>;

    /// Everything that trials can name.
    fn catalogue(&self) -> TrialCatalogue;

    /// This program, for its roles.
    fn executable(&self) -> PathBuf;

    /// The program that goes into guests.
    fn agent(&self) -> PathBuf;

    /// Where what was fetched or made is kept.
    ///
    /// # Errors
    /// When nothing says where.
    fn cache(&self) -> Result<PathBuf>;

    /// The directories that programs are looked for in, as PATH has them.
    fn search_path(&self) -> String;

    /// What agents of guests log, in the words of [`crate::LOG_VARIABLE`]; none: nothing.
    fn log_filter(&self) -> Option<String> {
        None
    }

    /// This program's version.
    fn version(&self) -> &'static str;
}
