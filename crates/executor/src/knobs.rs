//! Setting a subject's levels: journalled before, read back after.

use crate::journal::Journal;
use crate::journal_entry::JournalEntry;
use crate::trial_resources::HeldLevel;
use contract::{
    Catalogue, Error, FIRST_KNOB, Factor, Knob, LaunchSpec, NotHeld, ON_TOP, Result, Setting,
    Supervisor,
};
use model::{Level, Subject};
use std::collections::BTreeMap;
use sys::{ControlFile, Machine};

/// A subject's levels, sorted by what applies them, in the factors' order.
#[derive(Default)]
pub(crate) struct Knobs {
    system: Vec<(&'static dyn Factor, Level)>,
    /// Held, and there before any knob is looked for.
    made: Vec<(&'static dyn Factor, Level)>,
    held: Vec<(&'static dyn Factor, Level)>,
    launch: Vec<(&'static dyn Factor, Level)>,
}

/// Why a level is not in force.
pub(crate) enum Refusal {
    /// The kernel refused or changed the value: the trial is invalid.
    NotInForce(String),
    /// The journal could not be written, or a file not be read: stop.
    Lost(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Lost(error)
    }
}

impl Knobs {
    /// Looks up a subject's factors.
    ///
    /// # Errors
    /// When a factor is not in the catalogue, or belongs to the simulator.
    pub(crate) fn of(catalogue: &Catalogue, subject: &Subject) -> Result<Self> {
        let mut knobs = Self::default();
        for (id, level) in &subject.levels {
            if Subject::is_parameter(id) {
                continue;
            }
            let attempted = || format!("cannot set {id} to {level}");
            let factor = catalogue.factor(id).ok_or_else(|| {
                Error::usage(attempted(), "there is no such factor", "see `schedlab list factors`")
            })?;
            match factor.knob() {
                Knob::System(_) => knobs.system.push((factor, level.clone())),
                Knob::Held(_) if factor.order() < FIRST_KNOB => {
                    knobs.made.push((factor, level.clone()));
                }
                Knob::Held(_) => knobs.held.push((factor, level.clone())),
                Knob::Launch(_) => knobs.launch.push((factor, level.clone())),
                // The venue set it when it booted this machine, and reads it back.
                Knob::Boot(_) => {}
                Knob::Simulated => {
                    return Err(Error::unsupported(
                        attempted(),
                        "it exists in the simulator only",
                        "use --venue sim",
                    ));
                }
            }
        }
        knobs.system.sort_by_key(|(factor, _)| factor.order());
        knobs.made.sort_by_key(|(factor, _)| factor.order());
        knobs.held.sort_by_key(|(factor, _)| factor.order());
        knobs.launch.sort_by_key(|(factor, _)| factor.order());
        Ok(knobs)
    }

    /// Writes every system level. All old values are journalled before the first
    /// write, because setting one knob may move another (hotplug rescales the
    /// slices); those whose files another knob makes come after it. What was written is in
    /// the journal, whatever this returns.
    pub(crate) fn apply(&self, machine: &Machine, journal: &mut Journal) -> Result<(), Refusal> {
        let below = self.system.partition_point(|(factor, _)| factor.order() < ON_TOP);
        let (below, on_top) = self.system.split_at(below);
        apply(below, machine, journal)?;
        apply(on_top, machine, journal)
    }

    /// Makes what other knobs lie in: a device with a queue. As [`Self::acquire`].
    pub(crate) fn make(
        &self,
        machine: &Machine,
        supervisor: &mut dyn Supervisor,
        keep: &mut dyn FnMut(HeldLevel),
    ) -> Result<(), Refusal> {
        acquire(&self.made, machine, supervisor, keep)
    }

    /// Brings every level into force that somebody has to hold, one after the other, and hands
    /// each to `keep`; what was handed over is there whatever this returns.
    pub(crate) fn acquire(
        &self,
        machine: &Machine,
        supervisor: &mut dyn Supervisor,
        keep: &mut dyn FnMut(HeldLevel),
    ) -> Result<(), Refusal> {
        acquire(&self.held, machine, supervisor, keep)
    }

    /// What every level reads back as, but those that are held; `threads` are the workload's, none before it starts.
    pub(crate) fn read_back(
        &self,
        machine: &Machine,
        threads: &[i32],
    ) -> Result<BTreeMap<String, Level>> {
        let mut levels = BTreeMap::new();
        for (factor, wanted) in self.system.iter().chain(&self.launch) {
            let level = match factor.knob() {
                Knob::System(knob) => knob.read_back(machine, wanted)?,
                Knob::Launch(knob) if !threads.is_empty() => {
                    knob.read_back(machine, threads, wanted)?
                }
                Knob::Held(_) | Knob::Launch(_) | Knob::Boot(_) | Knob::Simulated => continue,
            };
            levels.insert(factor.describe().id.to_owned(), level);
        }
        Ok(levels)
    }

    /// Writes every launch level into the specification.
    ///
    /// # Errors
    /// When a level cannot be expressed on this machine.
    pub(crate) fn contribute(&self, machine: &Machine, launch: &mut LaunchSpec) -> Result<()> {
        for (factor, level) in &self.launch {
            if let Knob::Launch(knob) = factor.knob() {
                knob.contribute(machine, level, launch)?;
            }
        }
        Ok(())
    }
}

/// Announces and then writes the levels of these knobs.
fn apply(
    levels: &[(&'static dyn Factor, Level)],
    machine: &Machine,
    journal: &mut Journal,
) -> Result<(), Refusal> {
    let mut announced = Vec::new();
    for (factor, level) in levels {
        let Knob::System(knob) = factor.knob() else { continue };
        // What this machine has not got is the subject's lack, not the campaign's end.
        let lacking = |error: Error| {
            Refusal::NotInForce(format!("{} = {level}: {}", factor.describe().id, error.one_line()))
        };
        for setting in knob.settings(machine, level).map_err(lacking)? {
            setting.file.read(machine).map_err(|error| lacking(error.into()))?;
            announced.push(announce(machine, journal, *factor, level, setting)?);
        }
        for path in factor.moves(machine).into_iter().filter(|path| machine.exists(path)) {
            // Announced and never written: whatever moves it, it goes back.
            let file = ControlFile::plain(path);
            let Ok(value) = file.read(machine) else { continue };
            announce(machine, journal, *factor, level, Setting { file, value })?;
        }
    }
    for change in &announced {
        change.make(machine, journal)?;
    }
    Ok(())
}

fn acquire(
    levels: &[(&'static dyn Factor, Level)],
    machine: &Machine,
    supervisor: &mut dyn Supervisor,
    keep: &mut dyn FnMut(HeldLevel),
) -> Result<(), Refusal> {
    for (factor, level) in levels {
        let Knob::Held(knob) = factor.knob() else { continue };
        let id = factor.describe().id;
        match knob.acquire(machine, level, supervisor) {
            Ok(held) => keep(HeldLevel::new(id, level.clone(), held)),
            Err(NotHeld::Refused(why)) => {
                return Err(Refusal::NotInForce(format!("{id} = {level}: {why}")));
            }
            Err(NotHeld::Stopped(error)) => return Err(Refusal::Lost(error)),
        }
    }
    Ok(())
}

/// A change that is in the journal and may be made.
struct Change {
    id: u64,
    what: String,
    setting: Setting,
}

fn announce(
    machine: &Machine,
    journal: &mut Journal,
    factor: &dyn Factor,
    level: &Level,
    setting: Setting,
) -> Result<Change> {
    let id = journal.next_id();
    let name = factor.describe().id;
    let made = machine.target().filter(|target| target.is_made);
    let is_of_made = made
        .and_then(|target| target.device.as_ref())
        .is_some_and(|device| setting.file.path.starts_with(&format!("/sys/block/{device}/")));
    journal.append(&JournalEntry::Setting {
        id,
        factor: name.to_owned(),
        order: factor.order(),
        file: setting.file.clone(),
        old: setting.file.read(machine)?,
        new: setting.value.clone(),
        is_of_made,
    })?;
    Ok(Change { id, what: format!("{name} = {level}"), setting })
}

impl Change {
    fn make(&self, machine: &Machine, journal: &mut Journal) -> Result<(), Refusal> {
        let Setting { file, value } = &self.setting;
        if file.read(machine).map_err(Error::from)? == *value {
            // Nothing to write, and still a change by somebody else must show.
            let actual = value.clone();
            journal.append(&JournalEntry::Applied { id: self.id, actual })?;
            return Ok(());
        }
        journal.append(&JournalEntry::Writing { id: self.id })?;
        let written = file.write(machine, value);
        let actual = file.read(machine).map_err(Error::from)?;
        tracing::debug!(level = self.what, path = file.path, value, actual, "was written");
        journal.append(&JournalEntry::Applied { id: self.id, actual: actual.clone() })?;
        if let Err(error) = written {
            return Err(Refusal::NotInForce(format!("{}: {error}", self.what)));
        }
        if actual != *value {
            return Err(Refusal::NotInForce(format!(
                "{}: wrote {value} to {}, the kernel keeps {actual}",
                self.what, file.path
            )));
        }
        Ok(())
    }
}
