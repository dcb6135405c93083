//! What a guardian makes of a journal that its executor was replacing when it ended: the old text
//! and the new one are as it was left, and every other one is not.

use crate::machine::{RUNTIME, SimulatedMachine};
use crate::schedule::TOLD_OF_HARM;
use crate::trial_factors::opened;
use executor::{Journal, JournalEntry, PermittedChanges, guard};
use std::io::Read;
use std::path::Path;

/// The last message of an executor that has replaced its journal.
const REPLACED: &[u8] = b"now\n";

/// A machine whose executor was killed while it replaced its journal, which had been empty; and
/// what it had sent its guardian by then.
fn killed() -> (SimulatedMachine, Vec<u8>) {
    let machine = SimulatedMachine::new(1, false);
    let (executor, mut reader) = opened(&machine, &[]);
    drop(executor);
    machine.end_process();
    let mut messages = Vec::new();
    reader.read_to_end(&mut messages).unwrap();
    (machine, messages.strip_suffix(REPLACED).unwrap().to_owned())
}

#[test]
fn a_journal_that_was_being_replaced_is_as_it_was_left_before_and_after() {
    let replaced_by = [(None, false), (Some(""), false), (Some("another\n"), true)];
    for (text, is_lost) in replaced_by {
        let (machine, messages) = killed();
        if let Some(text) = text {
            let mut state = machine.state();
            let file = state.disk.file(&Path::new(RUNTIME).join("journal.jsonl")).unwrap();
            state.disk.exchange(file, text.as_bytes().to_owned());
        }
        guard(&machine.machine(), PermittedChanges::default(), &messages[..]).unwrap();
        let entries = Journal::read(&machine.machine()).unwrap().entries;
        let is_told = entries.iter().any(|entry| match entry {
            JournalEntry::LeftAlone { line, .. } => line.contains(TOLD_OF_HARM),
            _ => false,
        });
        assert_eq!(is_told, is_lost, "{text:?}: {entries:?}");
    }
}
