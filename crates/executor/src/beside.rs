//! What runs beside a workload and is no part of it: declared load, and whoever holds a level.

use crate::background::Hogs;
use crate::journal::{Journal, JournalEntry};
use contract::{Error, ErrorKind, Held, Lost, Result};
use model::Level;
use std::collections::{BTreeMap, BTreeSet};
use sys::Machine;

/// A level that somebody holds, and its factor.
pub(crate) struct Holding {
    pub(crate) factor: &'static str,
    pub(crate) level: Level,
    pub(crate) held: Box<dyn Held>,
}

/// Everything of a trial that is not its workload.
#[derive(Default)]
pub(crate) struct Beside {
    pub(crate) hogs: Option<Hogs>,
    pub(crate) holdings: Vec<Holding>,
}

impl Beside {
    /// Their process groups.
    pub(crate) fn groups(&self) -> BTreeSet<i32> {
        let hogs = self.hogs.iter().map(Hogs::pid);
        hogs.chain(self.holdings.iter().filter_map(|holding| holding.held.group())).collect()
    }

    /// Whether everything held is still in force.
    ///
    /// # Errors
    /// How the first one was lost.
    pub(crate) fn check(&mut self) -> Result<(), Lost> {
        self.holdings.iter_mut().try_for_each(|holding| holding.held.check())
    }

    /// The levels that are held; to be read after [`Self::check`].
    pub(crate) fn levels(&self) -> BTreeMap<String, Level> {
        let held = self.holdings.iter();
        held.map(|holding| (holding.factor.to_owned(), holding.level.clone())).collect()
    }

    /// What they turned out to be: `FACTOR.KEY` to text.
    pub(crate) fn facts(&self) -> BTreeMap<String, String> {
        let of = |holding: &Holding| {
            let facts = holding.held.facts().into_iter();
            let factor = holding.factor;
            facts.map(|(key, value)| (format!("{factor}.{key}"), value)).collect::<Vec<_>>()
        };
        self.holdings.iter().flat_map(of).collect()
    }

    /// What is wrong where declared load did not last.
    pub(crate) fn ended_load(&self, machine: &Machine) -> Option<String> {
        self.hogs.as_ref().and_then(|hogs| hogs.ended(machine))
    }

    /// Ends everything, the last first.
    ///
    /// # Errors
    /// When something is still in force, or could not be written down.
    pub(crate) fn end(&mut self, journal: &mut Journal) -> Result<()> {
        let mut outcome = self.hogs.take().map_or(Ok(()), |hogs| hogs.stop(journal));
        while let Some(holding) = self.holdings.pop() {
            let group = holding.held.group();
            let released = holding.held.release().map_err(|error| {
                Error::new(
                    ErrorKind::RestoreIncomplete,
                    format!("cannot take back {} = {}", holding.factor, holding.level),
                    error.one_line(),
                    error.remedy,
                )
            });
            let noted =
                group.map_or(Ok(()), |group| journal.append(&JournalEntry::GroupEnded { group }));
            // What is still in force outweighs what could not be written down.
            outcome = released.and(outcome).and(noted);
        }
        outcome
    }
}
