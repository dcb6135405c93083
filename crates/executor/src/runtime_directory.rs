//! The runtime directory, in which the lock and the journal lie, and what others could have put there
//! or removed while it was open to them.

use contract::{Error, ErrorKind, Result};
use std::path::Path;
use sys::{Machine, PrivateFiles};

/// The file whose flock is the machine's lock.
pub(crate) const LOCK: &str = "lock";
/// What names its holder.
pub(crate) const HOLDER: &str = "holder.json";
/// What replaces that, until it is whole.
const NEXT_HOLDER: &str = "holder.json.next";
/// What was changed and is to be put back.
pub(crate) const JOURNAL: &str = "journal.jsonl";
/// What replaces that, until it is whole.
pub(crate) const NEXT_JOURNAL: &str = "journal.next";

/// Opens it, making it where there is none.
///
/// # Errors
/// When it cannot be made, or another user could have put something there.
pub(crate) fn make_runtime_directory(machine: &Machine) -> Result<Box<dyn PrivateFiles>> {
    let directory = machine.runtime();
    machine.files().make_private(directory).map_err(|error| cannot_use(directory, error))
}

/// The same to put back what the journal says. One that others could write is answered for as a
/// journal of others is, which `restore --check` finds there.
///
/// # Errors
/// As [`make_runtime_directory`].
pub(crate) fn make_to_restore(machine: &Machine) -> Result<Box<dyn PrivateFiles>> {
    let directory = machine.runtime();
    machine.files().make_private(directory).map_err(|error| {
        if sys::is_untrusted(&error) {
            unbelievable(&directory.join(JOURNAL), &error)
        } else {
            cannot_use(directory, error)
        }
    })
}

/// Refuses a runtime directory that another user could put something into, or in place of, as
/// [`crate::Lock::acquire`] does, and neither makes nor changes anything: for what only counts there,
/// and takes no lock of the machine.
///
/// # Errors
/// When it is refused, or cannot be looked at.
pub fn check_runtime_directory(machine: &Machine) -> Result<()> {
    let directory = machine.runtime();
    machine.files().check_private(directory).map_err(|error| cannot_use(directory, error))
}

/// Moves away what a stranger put in place of the lock; what is told of it.
pub(crate) fn clear_lock(directory: &dyn PrivateFiles) -> Vec<String> {
    directory.set_aside(&[LOCK])
}

/// The same of what is written anew, with the lock held. A journal is none of it: it is kept, and
/// nothing of it is done.
pub(crate) fn clear_written(directory: &dyn PrivateFiles) -> Vec<String> {
    directory.set_aside(&[HOLDER, NEXT_HOLDER, NEXT_JOURNAL])
}

/// Why a journal is not obeyed that others could have written.
pub(crate) fn unbelievable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(
        ErrorKind::RestoreIncomplete,
        format!("cannot believe the journal {}", path.display()),
        error,
        "somebody else could have written or removed it, so nothing of it was done: read it and compare by hand what it may lack, then make it yours with mode 0600 in a directory of mode 0700, or remove it; after that, `schedlab restore`",
    )
}

fn cannot_use(directory: &Path, error: std::io::Error) -> Error {
    Error::new(
        ErrorKind::Environment,
        format!("cannot use the runtime directory {}", directory.display()),
        error,
        "it holds the journal that puts the machine back, so nobody else may write there or above; root uses /run/schedlab, a user $XDG_RUNTIME_DIR",
    )
}
