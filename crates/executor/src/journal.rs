//! The journal: what was changed, written down before it is changed.
//!
//! One append-only file of lines for the whole machine, in its runtime directory. Each append is
//! synced before the change it announces. A journal that anybody else could have written is never
//! read. Its writer keeps what it says in memory, too: one that is deleted, replaced or cut
//! meanwhile is noticed, announces nothing more, and costs nothing of what was announced.

use crate::journal_entry::JournalEntry;
use crate::journal_messages::{APPENDED, BEGIN, NOW, OF_NEXT};
use crate::journal_text::{JournalText, journal_line, journal_text, parse_journal, whole_length};
use crate::permitted_changes::PermittedChanges;
use crate::runtime_directory::{JOURNAL, NEXT_JOURNAL, make_runtime_directory, unbelievable};
use contract::{Error, ErrorKind, Result};
use model::{JOURNAL_BYTES, OverLimit};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use sys::{Machine, OpenFile, PrivateFiles};

/// More than the entries of any trial with some hundred invocations take.
const RESERVED: u64 = 128 << 10;

/// The machine's journal, open for appending.
#[derive(Debug)]
pub struct Journal {
    directory: Box<dyn PrivateFiles>,
    path: PathBuf,
    file: Box<dyn OpenFile>,
    /// What the file holds, as far as it was read when it was opened or written since.
    text: JournalText,
    length: u64,
    /// Whether its last line has its end: one that is whole or damaged without is kept.
    is_ended: bool,
    /// Whether its name is on disk: a sync of the directory that failed is made up for.
    is_name_stored: bool,
    next_id: u64,
    machine: Machine,
    permitted: PermittedChanges,
    /// The guardian's end: it keeps a copy.
    copy: Option<File>,
}

impl Journal {
    pub(crate) const FILE: &'static str = JOURNAL;
    /// What replaces it, until it is whole.
    const NEXT: &'static str = NEXT_JOURNAL;

    /// Opens the journal, creating it where there is none. The caller holds the lock. What is
    /// not permitted is neither written into it nor obeyed.
    ///
    /// # Errors
    /// When the runtime directory cannot be written, or as [`Journal::read`]; of kind
    /// `RestoreIncomplete` where it is longer than is read.
    pub fn open(machine: &Machine, permitted: PermittedChanges) -> Result<Self> {
        let directory = make_runtime_directory(machine)?;
        let path = Self::path(machine);
        // Before a file is made in its place.
        if let (_, Some(over)) = text_of(&path, directory.read(Self::FILE))? {
            // What would be appended could not be read.
            return Err(too_long(&path, &over));
        }
        let mut file =
            directory.append(Self::FILE).map_err(|error| cannot("open", &path, &error))?;
        let (length, is_ended) =
            cut_torn_line(&mut *file).map_err(|error| cannot("truncate", &path, &error))?;
        // A process that was killed may have written a line and not synced it: a cut of power would
        // leave a hole before what is appended from here on.
        file.sync_data().map_err(|error| cannot("sync", &path, &error))?;
        directory.sync().map_err(|error| cannot("sync", machine.runtime(), &error))?;
        let (text, _) = text_of(&path, directory.read(Self::FILE))?;
        let next_id = number_after(&text.entries);
        let machine = machine.clone();
        Ok(Self {
            directory,
            path,
            file,
            text,
            length,
            is_ended,
            is_name_stored: true,
            next_id,
            machine,
            permitted,
            copy: None,
        })
    }

    /// Reads a machine's journal without opening it for writing; empty where there is none. Of one
    /// that is too long the rest is told as damage: what it says is unknown.
    ///
    /// # Errors
    /// When it exists but cannot be read, or somebody else could have written it.
    pub fn read(machine: &Machine) -> Result<JournalText> {
        let opened = machine
            .files()
            .open_private(machine.runtime())
            .and_then(|directory| directory.read(Self::FILE));
        text_of(&Self::path(machine), opened).map(|(text, _)| text)
    }

    /// Where a machine's journal is.
    pub fn path(machine: &Machine) -> PathBuf {
        machine.runtime().join(Self::FILE)
    }

    /// The entries so far, and what of it is unknown.
    pub fn text(&self) -> &JournalText {
        &self.text
    }

    /// What restoring obeys.
    pub(crate) fn permitted(&self) -> &PermittedChanges {
        &self.permitted
    }

    /// Sends what it holds, and every change from now on, to a guardian.
    pub(crate) fn copy_to(&mut self, guardian: File) {
        self.copy = Some(guardian);
        // What was written can be encoded.
        let text = journal_text(&self.text.entries).unwrap_or_default();
        self.send(&announced(&text));
        self.send(NOW);
    }

    /// Ends that: the guardian then knows that its executor has ended.
    pub(crate) fn end_copy(&mut self) {
        self.copy = None;
    }

    /// A guardian that was killed reads nothing; another one is started before the next trial.
    fn send(&mut self, messages: &str) {
        if let Some(guardian) = &mut self.copy
            && guardian.write_all(messages.as_bytes()).is_err()
        {
            self.copy = None;
        }
    }

    /// A number for the next setting.
    pub fn next_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Appends an entry and waits until it is stored. Only then may the change be made.
    ///
    /// # Errors
    /// When it cannot be stored, or restoring would not obey it: the change must not be made.
    pub fn append(&mut self, entry: &JournalEntry) -> Result<()> {
        tracing::trace!(?entry, "journal");
        if let Some(why) = self.permitted.refusal(entry) {
            let attempted = "cannot announce a change that would not be put back";
            return Err(Error::environment(attempted, why));
        }
        self.machine.crash_point();
        self.check_unchanged()?;
        self.store_name()?;
        let number = self.text.last_number + 1;
        let line = journal_line(number, entry)
            .map_err(|error| Error::environment("cannot encode a journal entry", error))?;
        let end = if self.is_ended { "" } else { "\n" };
        let length = self.length + (end.len() + line.len()) as u64;
        JOURNAL_BYTES
            .check(length)
            .map_err(|over| cannot("append to", &self.path, &std::io::Error::other(over)))?;
        let written = self
            .machine
            .check_space()
            .and_then(|()| self.file.write_all(format!("{end}{line}").as_bytes()))
            .and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Half a line would damage the next one; a torn end is dropped on reading anyway.
            let _ = self.file.set_length(self.length);
            return Err(cannot("append to", &self.path, &error));
        }
        self.length = length;
        self.is_ended = true;
        self.text.last_number = number;
        self.text.entries.push(entry.clone());
        self.send(&format!("{APPENDED}{line}"));
        self.machine.crash_point();
        Ok(())
    }

    /// What is announced must be found by a later start.
    fn check_unchanged(&self) -> Result<()> {
        let is_there = self
            .directory
            .holds(Self::FILE, &*self.file)
            .and_then(|is_there| Ok(is_there && self.file.length()? == self.length))
            .map_err(|error| cannot("read", &self.path, &error))?;
        if is_there {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Environment,
            format!("cannot announce a change in {}", self.path.display()),
            "somebody deleted, replaced or cut it since it was written",
            "what it announced is put back all the same; find out what removes files there",
        ))
    }

    /// Replaces the journal by what is still open, in one step: a crash finds
    /// either the old text or the new one. Space for a trial's entries is set aside,
    /// so that a file system that fills up meanwhile does not stop them.
    ///
    /// # Errors
    /// When the new text cannot be stored.
    pub fn replace(&mut self, entries: &[JournalEntry]) -> Result<()> {
        self.machine.crash_point();
        let text = journal_text(entries)
            .map_err(|error| Error::environment("cannot encode a journal entry", error))?;
        self.send(&announced(&text));
        let write = || -> std::io::Result<Box<dyn OpenFile>> {
            self.machine.check_space()?;
            let mut file = self.directory.create(Self::NEXT)?;
            file.write_all(text.as_bytes())?;
            reserve(&*file, text.len() as u64)?;
            file.sync_all()?;
            self.directory.rename(Self::NEXT, Self::FILE)?;
            Ok(file)
        };
        self.file = write().map_err(|error| cannot("replace", &self.path, &error))?;
        self.length = text.len() as u64;
        self.is_ended = true;
        // A guardian's copy has settings that the file lacked when it was opened.
        self.next_id = self.next_id.max(number_after(entries));
        self.text = JournalText {
            entries: entries.to_vec(),
            damaged: Vec::new(),
            last_number: entries.len() as u64,
        };
        self.is_name_stored = false;
        self.send(NOW);
        self.store_name()?;
        self.machine.crash_point();
        Ok(())
    }

    /// What is announced in a file without a name is not announced after a cut of power.
    fn store_name(&mut self) -> Result<()> {
        if !self.is_name_stored {
            self.directory.sync().map_err(|error| cannot("sync", self.directory.path(), &error))?;
            self.is_name_stored = true;
        }
        Ok(())
    }
}

/// The first number that no setting of these has, nor any later one. So many that one of the largest
/// is reached no journal has: somebody else wrote such a number, and no other can follow the last.
fn number_after(entries: &[JournalEntry]) -> u64 {
    let numbers = entries.iter().filter_map(|entry| match entry {
        JournalEntry::Setting { id, .. } => Some(*id).filter(|id| *id < u64::MAX / 2),
        _ => None,
    });
    numbers.max().map_or(0, |id| id + 1)
}

/// Messages that tell what the file will be replaced by.
fn announced(text: &str) -> String {
    let lines = text.split_inclusive('\n').flat_map(|line| [OF_NEXT, line]);
    [BEGIN].into_iter().chain(lines).collect()
}

/// What can be read of it, and whether that is not all.
fn text_of(
    path: &Path,
    opened: std::io::Result<Box<dyn OpenFile>>,
) -> Result<(JournalText, Option<OverLimit>)> {
    match opened.and_then(|mut file| begin_of(&mut *file)) {
        Ok(bytes) => {
            let mut text = parse_journal(&String::from_utf8_lossy(&bytes));
            let over = JOURNAL_BYTES.check(bytes.len() as u64).err();
            text.damaged
                .extend(over.map(|over| format!("it has {over}, and the rest was not read")));
            Ok((text, over))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok((JournalText::default(), None))
        }
        Err(error) if sys::is_untrusted(&error) => Err(unbelievable(path, &error)),
        Err(error) => Err(cannot("read", path, &error)),
    }
}

/// As much as is read of it, and one byte more where there is more.
fn begin_of(file: &mut dyn OpenFile) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(JOURNAL_BYTES.most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn too_long(path: &Path, over: &OverLimit) -> Error {
    let attempted = format!("cannot use the journal {}", path.display());
    Error::new(ErrorKind::RestoreIncomplete, attempted, over, over.limit.remedy)
}

fn whole(file: &mut dyn OpenFile) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Cuts off a torn append; returns the length, and whether the last line has its end.
fn cut_torn_line(file: &mut dyn OpenFile) -> std::io::Result<(u64, bool)> {
    let bytes = whole(file)?;
    let (kept, is_ended) = whole_length(&bytes);
    if kept < bytes.len() {
        file.set_length(kept as u64)?;
    }
    Ok((kept as u64, is_ended))
}

/// Sets space aside behind `length` where the file system can.
fn reserve(file: &dyn OpenFile, length: u64) -> std::io::Result<()> {
    match file.reserve(length, RESERVED) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)) => {
            Ok(())
        }
        outcome => outcome,
    }
}

pub(crate) fn sync_directory(machine: &Machine, path: &Path) -> Result<()> {
    machine.files().sync_directory(path).map_err(|error| cannot("sync", path, &error))
}

fn cannot(action: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::environment(format!("cannot {action} {}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn setting(id: u64) -> JournalEntry {
        JournalEntry::Setting {
            id,
            factor: "thp".to_owned(),
            order: 50,
            file: sys::ControlFile::bracketed("/sys/x"),
            old: "always".to_owned(),
            new: "never".to_owned(),
            is_of_made: false,
        }
    }

    fn permitted() -> PermittedChanges {
        PermittedChanges::to(["/sys/x".to_owned()])
    }

    fn machine(directory: &Path) -> Machine {
        Machine::fake(directory, directory).unwrap()
    }

    #[test]
    fn the_largest_number_of_a_setting_leaves_numbers_for_others() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let mut journal = Journal::open(&machine, permitted()).unwrap();
        for id in [4, u64::MAX] {
            journal.append(&setting(id)).unwrap();
        }
        drop(journal);
        let mut journal = Journal::open(&machine, permitted()).unwrap();
        assert_eq!([journal.next_id(), journal.next_id()], [5, 6]);
    }

    #[test]
    fn a_torn_last_line_is_dropped_at_every_length_and_the_rest_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let mut journal = Journal::open(&machine, permitted()).unwrap();
        for _ in 0..3 {
            let id = journal.next_id();
            journal.append(&setting(id)).unwrap();
        }
        let whole = fs::read(directory.path().join(Journal::FILE)).unwrap();
        for length in 0..=whole.len() {
            fs::write(directory.path().join(Journal::FILE), &whole[..length]).unwrap();
            let is_whole = whole.get(length) == Some(&b'\n');
            let ends = whole[..length].iter().filter(|byte| **byte == b'\n').count();
            let complete = ends + usize::from(is_whole);
            let mut journal = Journal::open(&machine, permitted()).unwrap();
            assert!(journal.text().entries.len() >= complete, "{length}");
            let id = journal.next_id();
            journal.append(&setting(id)).unwrap();
            let entries = &journal.text().entries;
            assert_eq!(entries.last(), Some(&setting(id)));
            assert_eq!(entries.len(), complete + 1, "{length}");
            assert_eq!(&Journal::read(&machine).unwrap(), journal.text(), "{length}");
        }
    }

    #[test]
    fn a_damaged_end_is_kept_and_told_also_after_more_was_appended() {
        for damage in ["\0\0\0", "4 x", " "] {
            let directory = tempfile::tempdir().unwrap();
            let machine = machine(directory.path());
            let mut journal = Journal::open(&machine, permitted()).unwrap();
            for id in 0..2 {
                journal.append(&setting(id)).unwrap();
            }
            let mut text = fs::read(Journal::path(&machine)).unwrap();
            text.extend(damage.as_bytes());
            fs::write(Journal::path(&machine), &text).unwrap();
            let mut journal = Journal::open(&machine, permitted()).unwrap();
            assert_eq!(journal.text().entries.len(), 2, "{damage:?}");
            let told = journal.text().damaged.clone();
            assert_eq!(told.len(), 1, "{damage:?}: {told:?}");
            journal.append(&setting(2)).unwrap();
            let read = Journal::read(&machine).unwrap();
            assert_eq!((read.entries.len(), &read.damaged), (3, &told), "{damage:?}");
            assert_eq!(&read, journal.text());
        }
    }

    #[test]
    fn a_journal_that_is_deleted_replaced_or_cut_announces_nothing_more_and_loses_nothing() {
        type Harm = fn(&Path);
        let delete: Harm = |path| fs::remove_file(path).unwrap();
        let replace: Harm = |path| {
            let text = fs::read(path).unwrap();
            fs::remove_file(path).unwrap();
            fs::write(path, text).unwrap();
        };
        let cut: Harm = |path| fs::write(path, "").unwrap();
        for harm in [delete, replace, cut] {
            let directory = tempfile::tempdir().unwrap();
            let machine = machine(directory.path());
            let mut journal = Journal::open(&machine, permitted()).unwrap();
            journal.append(&setting(0)).unwrap();
            harm(&Journal::path(&machine));
            let error = journal.append(&setting(1)).unwrap_err();
            assert!(error.cause.contains("deleted, replaced or cut"), "{error}");
            assert_eq!(journal.text().entries, [setting(0)]);
            journal.replace(&[setting(0)]).unwrap();
            journal.append(&setting(1)).unwrap();
            assert_eq!(&Journal::read(&machine).unwrap(), journal.text());
        }
    }

    #[test]
    fn no_setting_gets_the_number_of_another_whichever_text_they_came_with() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let mut journal = Journal::open(&machine, permitted()).unwrap();
        journal.replace(&[setting(7), setting(3)]).unwrap();
        assert_eq!(journal.next_id(), 8);
        journal.replace(&[]).unwrap();
        assert_eq!(journal.next_id(), 9);
        journal.append(&setting(11)).unwrap();
        assert_eq!(Journal::open(&machine, permitted()).unwrap().next_id(), 12);
    }

    #[test]
    fn of_a_journal_that_is_too_long_the_begin_is_used_the_rest_is_told_and_nothing_is_appended() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let mut journal = Journal::open(&machine, permitted()).unwrap();
        journal.append(&setting(0)).unwrap();
        let length = JOURNAL_BYTES.most + 1000;
        let path = Journal::path(&machine);
        File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
        let text = Journal::read(&machine).unwrap();
        assert_eq!(text.entries, [setting(0)]);
        assert!(text.damaged.iter().any(|line| line.contains("limit JOURNAL_BYTES")), "{text:?}");
        let refused = Journal::open(&machine, permitted()).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::RestoreIncomplete);
        assert_eq!(fs::metadata(&path).unwrap().len(), length, "nothing of it is cut off");
    }

    #[test]
    fn no_entry_is_appended_that_could_not_be_read() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let mut journal = Journal::open(&machine, permitted()).unwrap();
        journal.append(&setting(0)).unwrap();
        let path = Journal::path(&machine);
        // As if it had grown so long by its own appends.
        File::options().write(true).open(&path).unwrap().set_len(JOURNAL_BYTES.most).unwrap();
        journal.length = JOURNAL_BYTES.most;
        let refused = journal.append(&setting(1)).unwrap_err();
        assert!(refused.to_string().contains("limit JOURNAL_BYTES"), "{refused}");
        assert_eq!(fs::metadata(&path).unwrap().len(), JOURNAL_BYTES.most);
    }

    #[test]
    fn a_journal_that_others_could_write_is_kept_and_never_obeyed() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let mut journal = Journal::open(&machine, permitted()).unwrap();
        let id = journal.next_id();
        journal.append(&setting(id)).unwrap();
        let path = directory.path().join(Journal::FILE);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let text = fs::read(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        for outcome in [
            Journal::read(&machine),
            Journal::open(&machine, permitted()).and(Ok(JournalText::default())),
        ] {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind, ErrorKind::RestoreIncomplete, "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), text);
        // Nor is one that a link leads to.
        let elsewhere = tempfile::tempdir().unwrap();
        fs::rename(&path, elsewhere.path().join("journal")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path().join("journal"), &path).unwrap();
        assert_eq!(Journal::read(&machine).unwrap_err().kind, ErrorKind::RestoreIncomplete);
    }
}
