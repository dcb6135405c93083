//! What a trial holds beside its workload: declared background load, held levels, its target.

use crate::background::Hogs;
use crate::journal::Journal;
use crate::journal_entry::JournalEntry;
use contract::{Error, ErrorKind, Held, Lost, Result};
use model::{Level, StorageTarget};
use std::collections::{BTreeMap, BTreeSet};
use sys::Machine;

/// A held level, and its factor.
pub(crate) struct HeldLevel {
    factor: &'static str,
    level: Level,
    held: Box<dyn Held>,
}

impl HeldLevel {
    /// A level of the factor of that id that is in force.
    pub(crate) fn new(factor: &'static str, level: Level, held: Box<dyn Held>) -> Self {
        Self { factor, level, held }
    }
}

/// Everything of a trial that is not its workload.
#[derive(Default)]
pub(crate) struct TrialResources {
    hogs: Option<Hogs>,
    /// Whether the trial's files lie on a rotational disk, as the kernel had it before any level.
    is_rotating: bool,
    /// What knobs lie in: it outlives them.
    made: Vec<HeldLevel>,
    holdings: Vec<HeldLevel>,
}

impl TrialResources {
    /// What knobs lie in.
    pub(crate) fn add_made(&mut self, made: HeldLevel) {
        self.made.push(made);
    }

    /// What is held beside the knobs.
    pub(crate) fn add_held(&mut self, held: HeldLevel) {
        self.holdings.push(held);
    }

    /// Declared load.
    pub(crate) fn set_hogs(&mut self, hogs: Hogs) {
        self.hogs = Some(hogs);
    }

    /// Notes what the kernel says of the disk below the trial's files, before any level.
    pub(crate) fn note_rotating(&mut self, is_rotating: bool) {
        self.is_rotating = is_rotating;
    }

    /// Whether the trial's files lie on a rotational disk, as the kernel had it before any level.
    pub(crate) fn is_rotating(&self) -> bool {
        self.is_rotating
    }

    /// Their process groups.
    pub(crate) fn groups(&self) -> BTreeSet<i32> {
        let hogs = self.hogs.iter().map(Hogs::pid);
        hogs.chain(self.held().filter_map(|holding| holding.held.group())).collect()
    }

    fn held(&self) -> impl Iterator<Item = &HeldLevel> {
        self.made.iter().chain(&self.holdings)
    }

    /// Whether everything held is still in force.
    ///
    /// # Errors
    /// How the first one was lost.
    pub(crate) fn check(&mut self) -> Result<(), Lost> {
        let mut held = self.made.iter_mut().chain(&mut self.holdings);
        held.try_for_each(|holding| holding.held.check())
    }

    /// The levels that are held; to be read after [`Self::check`].
    pub(crate) fn levels(&self) -> BTreeMap<String, Level> {
        self.held().map(|holding| (holding.factor.to_owned(), holding.level.clone())).collect()
    }

    /// Where the trial's files and devices lie, where that is held.
    pub(crate) fn target(&self) -> Option<StorageTarget> {
        self.made.iter().find_map(|holding| holding.held.target())
    }

    /// What they turned out to be: `FACTOR.KEY` to text.
    pub(crate) fn facts(&self) -> BTreeMap<String, String> {
        let of = |holding: &HeldLevel| {
            let facts = holding.held.facts().into_iter();
            let factor = holding.factor;
            facts.map(|(key, value)| (format!("{factor}.{key}"), value)).collect::<Vec<_>>()
        };
        self.held().flat_map(of).collect()
    }

    /// What is wrong where declared load did not last.
    pub(crate) fn ended_load(&self, machine: &Machine) -> Option<String> {
        self.hogs.as_ref().and_then(|hogs| hogs.ended(machine))
    }

    /// Ends everything but what knobs lie in, the last first.
    ///
    /// # Errors
    /// When something is still in force, or could not be written down.
    pub(crate) fn end(&mut self, journal: &mut Journal) -> Result<()> {
        let outcome = self.hogs.take().map_or(Ok(()), |hogs| hogs.stop(journal));
        release(&mut self.holdings, outcome, journal)
    }

    /// Gives back what knobs lay in, once they are as before.
    ///
    /// # Errors
    /// As [`Self::end`].
    pub(crate) fn give_back(&mut self, journal: &mut Journal) -> Result<()> {
        release(&mut self.made, Ok(()), journal)
    }
}

/// Releases all, the last first; the first error of `outcome` and theirs.
fn release(
    holdings: &mut Vec<HeldLevel>,
    mut outcome: Result<()>,
    journal: &mut Journal,
) -> Result<()> {
    while let Some(holding) = holdings.pop() {
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
