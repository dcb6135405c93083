//! One change of a file of the kernel: announced in the journal, written, read back.

use crate::journal::Journal;
use crate::journal_entry::JournalEntry;
use contract::{Error, Factor, Result, Setting};
use sys::{ControlFile, Machine};

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

/// A change that is in the journal and may be made.
pub(crate) struct Change {
    id: u64,
    what: String,
    setting: Setting,
}

/// Announces that a factor's file will be written; `what` is told where that fails.
pub(crate) fn announce(
    machine: &Machine,
    journal: &mut Journal,
    factor: &dyn Factor,
    what: String,
    setting: Setting,
) -> Result<Change> {
    let id = journal.next_id();
    journal.append(&JournalEntry::Setting {
        id,
        factor: factor.describe().id.to_owned(),
        order: factor.order(),
        file: setting.file.clone(),
        old: setting.file.read(machine)?,
        new: setting.value.clone(),
        is_of_made: is_of_made(machine, &setting.file),
    })?;
    Ok(Change { id, what, setting })
}

/// Whether it is a file of a device that was made for the trial.
pub(crate) fn is_of_made(machine: &Machine, file: &ControlFile) -> bool {
    let made = machine.target().filter(|target| target.is_made);
    made.and_then(|target| target.device.as_ref())
        .is_some_and(|device| file.path.starts_with(&format!("/sys/block/{device}/")))
}

impl Change {
    /// Its number in the journal.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// What is told where it fails.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// Whether the file holds the value.
    pub(crate) fn is_in_force(&self, machine: &Machine) -> Result<bool> {
        Ok(self.setting.file.read(machine)? == self.setting.value)
    }

    /// Writes the value where the file does not hold it already.
    pub(crate) fn make(&self, machine: &Machine, journal: &mut Journal) -> Result<(), Refusal> {
        if self.is_in_force(machine)? {
            // Nothing to write, and still a change by somebody else must show.
            let actual = self.setting.value.clone();
            journal.append(&JournalEntry::Applied { id: self.id, actual })?;
            return Ok(());
        }
        self.write(machine, journal)
    }

    /// Writes the value, also where the file holds it, and reads it back.
    pub(crate) fn write(&self, machine: &Machine, journal: &mut Journal) -> Result<(), Refusal> {
        let Setting { file, value } = &self.setting;
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
