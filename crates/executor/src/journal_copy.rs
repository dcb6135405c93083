//! The guardian's copy of the journal: what the executor sends it of each change of the file, held
//! against the file when the executor has ended.

use crate::journal::Journal;
use crate::journal_messages::{APPENDED, BEGIN, NOW, OF_NEXT};
use crate::journal_text::{JournalText, parse_journal};
use model::JOURNAL_BYTES;
use std::io::{BufRead, Read};
use sys::{Machine, OpenFile};

/// What the journal holds, as its writer told it.
#[derive(Debug, Default)]
pub(crate) struct JournalCopy {
    text: String,
    /// What it is being replaced by: the writer may have ended before or after.
    next: Option<String>,
    /// The file that was there when it was last replaced.
    file: Option<Box<dyn OpenFile>>,
}

impl JournalCopy {
    /// Takes messages until their end. What is torn off with it announces no change.
    pub(crate) fn follow(machine: &Machine, mut messages: impl BufRead) -> Self {
        let mut copy = Self::default();
        let mut message = Vec::new();
        loop {
            message.clear();
            match messages.read_until(b'\n', &mut message) {
                Ok(length) if length > 0 => {}
                Ok(_) | Err(_) => return copy,
            }
            if message.ends_with(b"\n") {
                copy.take(machine, &String::from_utf8_lossy(&message));
            }
        }
    }

    fn take(&mut self, machine: &Machine, message: &str) {
        if message == BEGIN {
            self.next = Some(String::new());
        } else if message == NOW {
            self.text = self.next.take().unwrap_or_default();
            let directory = machine.files().open_private(machine.runtime());
            self.file = directory.and_then(|directory| directory.read(Journal::FILE)).ok();
        } else if let Some(line) = message.strip_prefix(OF_NEXT) {
            self.next.get_or_insert_default().push_str(line);
        } else if let Some(line) = message.strip_prefix(APPENDED) {
            self.next = None;
            self.text.push_str(line);
        }
    }

    /// What the journal held, as far as its writer told; nothing where that was nothing.
    pub(crate) fn known(&self) -> Option<JournalText> {
        let text = if self.text.is_empty() { self.next.as_ref()? } else { &self.text };
        (!text.is_empty()).then(|| parse_journal(text))
    }

    /// The same, where the file is not what its writer left: deleted, replaced, damaged, or no
    /// longer ours alone. Nothing where it is.
    pub(crate) fn of_lost(&self, machine: &Machine) -> Option<JournalText> {
        self.known().filter(|_| !self.is_as_left(machine).unwrap_or(false))
    }

    fn is_as_left(&self, machine: &Machine) -> std::io::Result<bool> {
        let directory = machine.files().open_private(machine.runtime())?;
        let mut bytes = Vec::new();
        // No copy is longer.
        directory.read(Journal::FILE)?.take(JOURNAL_BYTES.most + 1).read_to_end(&mut bytes)?;
        let is_same = match &self.file {
            Some(file) => directory.holds(Journal::FILE, &**file)?,
            None => true,
        };
        Ok(match &self.next {
            // The one or the other: nothing is appended while it is being replaced.
            Some(next) => bytes == next.as_bytes() || (is_same && bytes == self.text.as_bytes()),
            // The last line may be in the file alone: its writer ended before it told.
            None => is_same && bytes.starts_with(self.text.as_bytes()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal_entry::JournalEntry;
    use crate::permitted_changes::PermittedChanges;
    use std::fs::{self, File};
    use std::io::{BufReader, Seek};
    use std::path::Path;

    fn group(group: i32) -> JournalEntry {
        JournalEntry::Group { group }
    }

    /// A journal of one line that replaced another and one that was appended, and its messages.
    fn written(directory: &Path) -> (Machine, Journal, File) {
        let machine = Machine::fake(directory, directory).unwrap();
        let mut journal = Journal::open(&machine, PermittedChanges::default()).unwrap();
        let messages = tempfile::tempfile().unwrap();
        journal.append(&group(76)).unwrap();
        journal.copy_to(messages.try_clone().unwrap());
        journal.replace(&[group(77)]).unwrap();
        journal.append(&group(78)).unwrap();
        (machine, journal, messages)
    }

    fn followed(machine: &Machine, messages: &File) -> JournalCopy {
        let mut messages = messages.try_clone().unwrap();
        messages.rewind().unwrap();
        JournalCopy::follow(machine, BufReader::new(messages))
    }

    #[test]
    fn one_that_was_damaged_while_its_writer_replaced_it_is_lost() {
        for damage in ["", "1 00000000 {}\n", "half a line"] {
            let directory = tempfile::tempdir().unwrap();
            let machine = Machine::fake(directory.path(), directory.path()).unwrap();
            let mut journal = Journal::open(&machine, PermittedChanges::default()).unwrap();
            let messages = tempfile::tempfile().unwrap();
            journal.copy_to(messages.try_clone().unwrap());
            journal.replace(&[group(77)]).unwrap();
            let whole = fs::read_to_string(Journal::path(&machine)).unwrap();
            // Its writer ended before it told that the new text is there.
            let length = messages.metadata().unwrap().len() - NOW.len() as u64;
            messages.set_len(length).unwrap();
            assert_eq!(followed(&machine, &messages).of_lost(&machine), None);
            fs::write(Journal::path(&machine), damage).unwrap();
            let lost = followed(&machine, &messages).of_lost(&machine);
            // Nothing is what was there before.
            let expected = (!damage.is_empty()).then(|| parse_journal(&whole));
            assert_eq!(lost, expected, "{damage}");
        }
    }

    #[test]
    fn a_journal_that_its_writer_left_is_no_lost_one() {
        let directory = tempfile::tempdir().unwrap();
        let (machine, mut journal, messages) = written(directory.path());
        assert_eq!(followed(&machine, &messages).of_lost(&machine), None);
        // One that ended before it told of its last line, or between both ends of a replacement.
        let copy = followed(&machine, &messages);
        journal.append(&group(79)).unwrap();
        assert_eq!(copy.of_lost(&machine), None);
        journal.replace(&[group(80)]).unwrap();
        let mut text = Vec::new();
        let mut all = messages.try_clone().unwrap();
        all.rewind().unwrap();
        all.read_to_end(&mut text).unwrap();
        let whole = String::from_utf8(text).unwrap();
        let torn = whole.strip_suffix(NOW).unwrap();
        assert_eq!(JournalCopy::follow(&machine, torn.as_bytes()).of_lost(&machine), None);
        journal.replace(&[]).unwrap();
        assert_eq!(followed(&machine, &messages).of_lost(&machine), None);
        fs::remove_file(Journal::path(&machine)).unwrap();
        assert_eq!(followed(&machine, &messages).of_lost(&machine), None, "it was empty");
    }

    #[test]
    fn a_journal_that_was_deleted_replaced_or_damaged_is_known_from_the_copy() {
        type Harm = fn(&Path);
        let delete: Harm = |path| fs::remove_file(path).unwrap();
        let empty: Harm = |path| fs::write(path, "").unwrap();
        let damage: Harm = |path| {
            let text = fs::read_to_string(path).unwrap();
            fs::write(path, text.replace("77", "79")).unwrap();
        };
        let replace: Harm = |path| {
            let text = fs::read(path).unwrap();
            fs::rename(path, path.with_extension("other")).unwrap();
            fs::write(path, text).unwrap();
        };
        for harm in [delete, empty, damage, replace] {
            let directory = tempfile::tempdir().unwrap();
            let (machine, _journal, messages) = written(directory.path());
            let copy = followed(&machine, &messages);
            harm(&Journal::path(&machine));
            assert_eq!(copy.of_lost(&machine).unwrap().entries, [group(77), group(78)]);
        }
    }
}
