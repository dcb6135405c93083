//! Setting a subject's levels: journalled before, read back after.

use crate::change::{Refusal, announce};
use crate::journal::Journal;
use crate::trial_resources::HeldLevel;
use contract::{
    Error, FIRST_KNOB, Factor, Knob, LaunchSpec, NotHeld, ON_TOP, Result, Setting, Supervisor,
    TrialCatalogue,
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

impl Knobs {
    /// Looks up a subject's factors.
    ///
    /// # Errors
    /// When a factor is not in the catalogue, or belongs to the simulator.
    pub(crate) fn of(catalogue: &TrialCatalogue, subject: &Subject) -> Result<Self> {
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

    /// The levels that lie in files of the kernel.
    pub(crate) fn system(&self) -> &[(&'static dyn Factor, Level)] {
        &self.system
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
        let what = || format!("{} = {level}", factor.describe().id);
        // What this machine has not got is the subject's lack, not the campaign's end.
        let lacking =
            |error: Error| Refusal::NotInForce(format!("{}: {}", what(), error.one_line()));
        for setting in knob.settings(machine, level).map_err(lacking)? {
            setting.file.read(machine).map_err(|error| lacking(error.into()))?;
            announced.push(announce(machine, journal, *factor, what(), setting)?);
        }
        for path in factor.moves(machine).into_iter().filter(|path| machine.exists(path)) {
            // Announced and never written: whatever moves it, it goes back.
            let file = ControlFile::plain(path);
            let value = match file.read(machine) {
                Ok(value) => value,
                Err(error) if error.is_failure() => return Err(Error::from(error).into()),
                // Locked, or of a feature that is off: the kernel keeps it to itself.
                Err(_) => continue,
            };
            announce(machine, journal, *factor, what(), Setting { file, value })?;
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
