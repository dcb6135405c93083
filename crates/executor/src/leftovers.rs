//! `schedlab restore`: what an interrupted run left is put back. What is not needed for that and
//! fails (a file that names the lock's holder, a journal that cannot be written) is told, and stops
//! nothing: a file system that is full is when people restore.

use crate::journal::Journal;
use crate::lock::Lock;
use crate::permitted_changes::PermittedChanges;
use crate::restore::{RestoreReport, acknowledge, restore, restore_unwritten};
use contract::{Error, Result};
use sys::Machine;

/// Takes the lock for this purpose, and puts back what the journal holds; a user reads the report.
///
/// # Errors
/// When another campaign runs here, the lock's file is not there and cannot be made, the journal
/// cannot be read, or the machine does not tell its boot. What could not be put back is in the
/// report.
pub fn restore_leftovers(
    machine: &Machine,
    permitted: PermittedChanges,
    purpose: &str,
) -> Result<RestoreReport> {
    let lock = Lock::acquire_to_restore(machine, purpose)?;
    let mut report = match Journal::open(machine, permitted.clone()) {
        Ok(mut journal) => {
            let mut report = restore(machine, &mut journal, false, &[])?;
            if let Err(error) = acknowledge(&mut journal, &report, &[]) {
                report.unwritten.get_or_insert(error.one_line());
            }
            report
        }
        Err(error) => restore_read(machine, &permitted, error)?,
    };
    report.warnings.extend(lock.unannounced().map(Error::one_line));
    report.warnings.extend(lock.set_aside().iter().cloned());
    Ok(report)
}

/// Restores from a journal that can be read and not written. It says the same to the next restore,
/// which finds all back.
fn restore_read(
    machine: &Machine,
    permitted: &PermittedChanges,
    why: Error,
) -> Result<RestoreReport> {
    match Journal::read(machine) {
        Ok(text) => restore_unwritten(machine, &text, permitted, false, &why),
        Err(_) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changed_knob::{KNOB, announced, changed_machine, permitted};
    use crate::failing_files::{FailingFiles, PrivateStep};
    use crate::journal_entry::JournalEntry;
    use crate::restore::pending;
    use contract::ErrorKind;
    use model::JOURNAL_BYTES;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    /// The machine with what the killed run's journal holds.
    fn changed(root: &Path) -> Machine {
        let machine = changed_machine(root);
        let _lock = Lock::acquire(&machine, "campaign").unwrap();
        let mut journal = Journal::open(&machine, permitted()).unwrap();
        journal.replace(&announced()).unwrap();
        machine
    }

    fn restored(machine: &Machine) -> Result<RestoreReport> {
        restore_leftovers(machine, permitted(), "schedlab restore")
    }

    #[test]
    fn everything_is_put_back_where_no_file_can_be_made_and_the_journal_not_opened_to_write() {
        for (step, number) in [
            (PrivateStep::Make, libc::ENOSPC),
            (PrivateStep::Make, libc::EROFS),
            (PrivateStep::Append, libc::EROFS),
        ] {
            let root = tempfile::tempdir().unwrap();
            let machine = changed(root.path());
            let failing =
                FailingFiles::on(&machine, move |asked, _| (asked == step).then_some(number));
            let report = restored(&failing).unwrap();
            assert_eq!(machine.read(KNOB).unwrap(), "old\n");
            assert_eq!((report.restored.len(), report.failed.len()), (1, 0), "{report:?}");
            assert!(report.unwritten.is_some(), "{report:?}");
            let is_holder_told = step != PrivateStep::Make;
            assert_eq!(report.warnings.is_empty(), is_holder_told, "{report:?}");
            // What the journal still says is in force already.
            let again = restored(&machine).unwrap();
            assert!(again.is_empty() && again.warnings.is_empty(), "{again:?}");
            assert!(Journal::read(&machine).unwrap().is_empty());
        }
    }

    #[test]
    fn what_others_put_in_place_of_our_files_is_kept_aside_and_told_once_and_stops_nothing() {
        for name in ["lock", "holder.json", "holder.json.next", "journal.next"] {
            let root = tempfile::tempdir().unwrap();
            let machine = changed(root.path());
            let path = machine.runtime().join(name);
            let _ = fs::remove_file(&path);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("file"), "x").unwrap();
            let report = restored(&machine).unwrap();
            assert_eq!(machine.read(KNOB).unwrap(), "old\n");
            assert!(report.is_complete() && report.unwritten.is_none(), "{report:?}");
            assert!(matches!(&report.warnings[..], [one] if one.contains(name)), "{report:?}");
            let again = restored(&machine).unwrap();
            assert!(again.is_empty() && again.warnings.is_empty(), "{again:?}");
            let beside = fs::read_dir(machine.runtime()).unwrap();
            let mut kept = beside.map(|entry| entry.unwrap().path());
            assert!(kept.any(|path| path.join("file").exists()), "{name}");
        }
    }

    #[test]
    fn a_directory_that_others_could_write_is_answered_for_as_its_check_does() {
        let root = tempfile::tempdir().unwrap();
        let machine = changed(root.path());
        let set_mode = |mode| {
            fs::set_permissions(machine.runtime(), fs::Permissions::from_mode(mode)).unwrap();
        };
        let (journal, aside) = (Journal::path(&machine), root.path().join("aside"));
        set_mode(0o777);
        let assert_told = || {
            let error = restored(&machine).unwrap_err();
            assert_eq!(error.kind, ErrorKind::RestoreIncomplete, "{error}");
            assert_eq!(pending(&machine, &permitted()).unwrap_err(), error);
            assert_eq!(machine.read(KNOB).unwrap(), "new\n");
        };
        assert_told();
        assert_told();
        fs::rename(&journal, &aside).unwrap();
        assert_told();
        fs::rename(&aside, &journal).unwrap();
        set_mode(0o700);
        assert!(restored(&machine).unwrap().is_complete());
        assert_eq!(machine.read(KNOB).unwrap(), "old\n");
    }

    #[test]
    fn what_was_left_alone_is_told_again_where_the_journal_cannot_forget_it() {
        let root = tempfile::tempdir().unwrap();
        let machine = changed(root.path());
        let mut journal = Journal::open(&machine, permitted()).unwrap();
        let applied = JournalEntry::Applied { id: 0, actual: "new".to_owned() };
        journal.append(&applied).unwrap();
        drop(journal);
        fs::write(root.path().join(&KNOB[1..]), "theirs\n").unwrap();
        let full = FailingFiles::on(&machine, |step, _| {
            (step == PrivateStep::Make).then_some(libc::ENOSPC)
        });
        for machine in [&full, &machine] {
            let report = restored(machine).unwrap();
            assert_eq!(report.left_alone.len(), 1, "{report:?}");
        }
        assert!(restored(&machine).unwrap().is_empty());
    }

    #[test]
    fn what_the_begin_of_a_journal_that_is_too_long_says_is_put_back_and_the_rest_is_told() {
        let root = tempfile::tempdir().unwrap();
        let machine = changed(root.path());
        let file = fs::File::options().write(true).open(Journal::path(&machine)).unwrap();
        file.set_len(JOURNAL_BYTES.most + 1).unwrap();
        let report = restored(&machine).unwrap();
        assert_eq!(machine.read(KNOB).unwrap(), "old\n");
        let is_told =
            |lines: &[String]| lines.iter().any(|line| line.contains("limit JOURNAL_BYTES"));
        assert!(!report.is_complete() && is_told(&report.failed), "{report:?}");
        let left = pending(&machine, &permitted()).unwrap();
        assert!(is_told(&left), "{left:?}");
    }

    #[test]
    fn a_journal_that_cannot_be_read_is_told_and_nothing_else_is() {
        let root = tempfile::tempdir().unwrap();
        let machine = changed(root.path());
        let failing = FailingFiles::on(&machine, |step, name| {
            (step == PrivateStep::Read && name == Journal::FILE).then_some(libc::EIO)
        });
        let error = restored(&failing).unwrap_err();
        assert!(error.attempted.contains("cannot read"), "{error}");
        assert_eq!(machine.read(KNOB).unwrap(), "new\n");
        assert!(restored(&machine).unwrap().is_complete());
        assert_eq!(machine.read(KNOB).unwrap(), "old\n");
    }
}
