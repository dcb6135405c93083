//! A machine of which a run changed one knob before it was killed: for tests of the code that restores it.

use crate::journal_entry::JournalEntry;
use crate::permitted_changes::PermittedChanges;
use std::fs;
use std::path::Path;
use sys::{ControlFile, Machine};

/// The file of the knob: it was `old` and is `new`.
pub(crate) const KNOB: &str = "/proc/sys/kernel/knob";
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// The knob may be changed, and nothing else.
pub(crate) fn permitted() -> PermittedChanges {
    PermittedChanges::to([KNOB.to_owned()])
}

/// The machine below this directory. Its journal is not there yet.
pub(crate) fn changed_machine(root: &Path) -> Machine {
    fs::create_dir_all(root.join("proc/sys/kernel/random")).unwrap();
    fs::write(root.join(&BOOT[1..]), "boot\n").unwrap();
    fs::write(root.join(&KNOB[1..]), "new\n").unwrap();
    Machine::fake(root, root.join("run")).unwrap()
}

/// What the run announced of it.
pub(crate) fn announced() -> [JournalEntry; 3] {
    let mark = "SCHEDLAB_MARK=changed-knob-test".to_owned();
    [
        JournalEntry::Session { boot_id: "boot".to_owned(), mark },
        JournalEntry::Setting {
            id: 0,
            factor: "knob".to_owned(),
            order: 50,
            file: ControlFile::plain(KNOB),
            old: "old".to_owned(),
            new: "new".to_owned(),
            is_of_made: false,
        },
        JournalEntry::Writing { id: 0 },
    ]
}
