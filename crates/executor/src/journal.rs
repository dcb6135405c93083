//! The journal: what was changed, written down before it is changed.
//!
//! One append-only file of JSON lines for the whole machine, in its runtime
//! directory. Each append is synced before the change it announces. A torn last
//! line announces a change that was never made. A journal that anybody else could have
//! written is never read.

use crate::journal_entry::JournalEntry;
use crate::lock::make_runtime_directory;
use crate::permitted_changes::PermittedChanges;
use contract::{Error, ErrorKind, Result};
use rustix::fs::FallocateFlags;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use sys::{Machine, PrivateDirectory};

/// More than the entries of any trial with some hundred invocations take.
const RESERVED: u64 = 128 << 10;

/// The machine's journal, open for appending.
#[derive(Debug)]
pub struct Journal {
    directory: PrivateDirectory,
    path: PathBuf,
    file: File,
    next_id: u64,
    machine: Machine,
    permitted: PermittedChanges,
}

impl Journal {
    const FILE: &'static str = "journal.jsonl";
    /// What replaces it, until it is whole.
    const NEXT: &'static str = "journal.next";

    /// Opens the journal, creating it where there is none. The caller holds the lock. What is
    /// not permitted is neither written into it nor obeyed.
    ///
    /// # Errors
    /// When the runtime directory cannot be written, or as [`Journal::read`].
    pub fn open(machine: &Machine, permitted: PermittedChanges) -> Result<Self> {
        let directory = make_runtime_directory(machine.runtime())?;
        let path = machine.runtime().join(Self::FILE);
        let entries = entries_of(&path, directory.read(Self::FILE))?;
        let highest = entries.iter().filter_map(|entry| match entry {
            JournalEntry::Setting { id, .. } => Some(*id),
            _ => None,
        });
        let next_id = highest.max().map_or(0, |id| id + 1);
        let mut file =
            directory.append(Self::FILE).map_err(|error| cannot("open", &path, &error))?;
        cut_torn_line(&mut file).map_err(|error| cannot("truncate", &path, &error))?;
        directory.sync().map_err(|error| cannot("sync", machine.runtime(), &error))?;
        Ok(Self { directory, path, file, next_id, machine: machine.clone(), permitted })
    }

    /// Reads a machine's journal without opening it for writing; empty where there is none.
    ///
    /// # Errors
    /// When it exists but cannot be read, or somebody else could have written it, or a line that
    /// is not the last is damaged.
    pub fn read(machine: &Machine) -> Result<Vec<JournalEntry>> {
        let opened = PrivateDirectory::open(machine.runtime())
            .and_then(|directory| directory.read(Self::FILE));
        entries_of(&machine.runtime().join(Self::FILE), opened)
    }

    /// The entries so far.
    ///
    /// # Errors
    /// As [`Journal::read`].
    pub fn entries(&self) -> Result<Vec<JournalEntry>> {
        entries_of(&self.path, self.directory.read(Self::FILE))
    }

    /// What restoring obeys.
    pub(crate) fn permitted(&self) -> &PermittedChanges {
        &self.permitted
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
        let mut line = serde_json::to_vec(entry)
            .map_err(|error| Error::environment("cannot encode a journal entry", error))?;
        line.push(b'\n');
        let kept = self.file.metadata().map_err(|error| cannot("read", &self.path, &error))?.len();
        let written = self
            .machine
            .check_space()
            .and_then(|()| self.file.write_all(&line))
            .and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Half a line would damage the next one; a torn end is dropped on reading anyway.
            let _ = self.file.set_len(kept);
            return Err(cannot("append to", &self.path, &error));
        }
        self.machine.crash_point();
        Ok(())
    }

    /// Replaces the journal by what is still open, in one step: a crash finds
    /// either the old text or the new one. Space for a trial's entries is set aside,
    /// so that a file system that fills up meanwhile does not stop them.
    ///
    /// # Errors
    /// When the new text cannot be stored.
    pub fn replace(&mut self, entries: &[JournalEntry]) -> Result<()> {
        self.machine.crash_point();
        let mut text = Vec::new();
        for entry in entries {
            serde_json::to_writer(&mut text, entry)
                .map_err(|error| Error::environment("cannot encode a journal entry", error))?;
            text.push(b'\n');
        }
        let write = || -> std::io::Result<File> {
            self.machine.check_space()?;
            let mut file = self.directory.create(Self::NEXT)?;
            file.write_all(&text)?;
            reserve(&file, text.len() as u64)?;
            file.sync_all()?;
            self.directory.rename(Self::NEXT, Self::FILE)?;
            Ok(file)
        };
        self.file = write().map_err(|error| cannot("replace", &self.path, &error))?;
        self.directory.sync().map_err(|error| cannot("sync", self.directory.path(), &error))?;
        self.machine.crash_point();
        Ok(())
    }
}

/// Parses journal text. A damaged last line is a torn append and is dropped;
/// any other damaged line is an error naming it.
///
/// # Errors
/// The number of the damaged line and why.
pub fn parse_journal(text: &str) -> std::result::Result<Vec<JournalEntry>, String> {
    let is_complete = text.is_empty() || text.ends_with('\n');
    let lines: Vec<&str> = text.lines().collect();
    let mut entries = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(line) {
            Ok(entry) => entries.push(entry),
            Err(_) if index + 1 == lines.len() && !is_complete => {}
            Err(error) => return Err(format!("line {}: {error}", index + 1)),
        }
    }
    Ok(entries)
}

fn entries_of(path: &Path, opened: std::io::Result<File>) -> Result<Vec<JournalEntry>> {
    let bytes = match opened.and_then(|mut file| whole(&mut file)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) if sys::is_untrusted(&error) => return Err(unbelievable(path, &error)),
        Err(error) => return Err(cannot("read", path, &error)),
    };
    parse_journal(&String::from_utf8_lossy(&bytes)).map_err(|why| {
        Error::new(
            ErrorKind::RestoreIncomplete,
            format!("cannot understand the journal {}", path.display()),
            why,
            "it tells what to put back: read it, put the values back by hand, then remove it",
        )
    })
}

fn unbelievable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(
        ErrorKind::RestoreIncomplete,
        format!("cannot believe the journal {}", path.display()),
        error,
        "somebody else could have written it, so nothing of it was done: read it, then make it yours with mode 0600 in a directory of mode 0700, or remove it",
    )
}

fn whole(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Cuts off a line without an end, so that later appends begin a line.
fn cut_torn_line(file: &mut File) -> std::io::Result<()> {
    let bytes = whole(file)?;
    if bytes.is_empty() || bytes.ends_with(b"\n") {
        return Ok(());
    }
    let kept = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |position| position + 1);
    file.set_len(kept as u64)
}

/// Sets space aside behind `length` where the file system can.
fn reserve(file: &File, length: u64) -> std::io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, length, RESERVED) {
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => Ok(()),
        outcome => Ok(outcome?),
    }
}

pub(crate) fn sync_directory(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|directory| directory.sync_all())
        .map_err(|error| cannot("sync", path, &error))
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
            let complete = whole[..length].iter().filter(|byte| **byte == b'\n').count();
            let mut journal = Journal::open(&machine, permitted()).unwrap();
            assert!(journal.entries().unwrap().len() >= complete, "{length}");
            let id = journal.next_id();
            journal.append(&setting(id)).unwrap();
            let entries = journal.entries().unwrap();
            assert_eq!(entries.last(), Some(&setting(id)));
            assert_eq!(entries.len(), complete + 1, "{length}");
        }
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_an_error_and_never_silence() {
        let text = format!("{}\n{{oops\n{}\n", json(&setting(0)), json(&setting(1)));
        assert!(parse_journal(&text).unwrap_err().starts_with("line 2"));
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
        for outcome in
            [Journal::read(&machine), Journal::open(&machine, permitted()).and(Ok(Vec::new()))]
        {
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

    fn json(entry: &JournalEntry) -> String {
        serde_json::to_string(entry).unwrap()
    }
}
