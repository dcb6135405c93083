//! A schedule of one journal: processes open it, replace it and append to it, each with one fault
//! at most; between them power is cut, or it is damaged. What a call that succeeded wrote is there
//! for whichever process comes next, in order, once and whole; what one that failed wrote is there
//! or is not; and one operation that fails fails one call.

use crate::faults::Faults;
use crate::kernel::THP;
use crate::machine::{SESSION_MARK, SimulatedMachine};
use crate::random::Random;
use crate::schedule::{ScheduleFacts, ended, outcome_of};
use contract::Error;
use executor::{Journal, JournalEntry, JournalText, PermittedChanges};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use sys::ControlFile;

/// Processes before the one without faults.
const MOST_PROCESSES: usize = 5;
/// Calls of one process after it has opened the journal.
const MOST_CALLS: usize = 6;
/// About as many operations as opening and these calls make.
const OPERATIONS: usize = 80;

type Entries = Vec<JournalEntry>;

struct Schedule {
    random: Random,
    machine: SimulatedMachine,
    facts: ScheduleFacts,
    /// What the journal may hold when it is opened next; one alone where the last call succeeded.
    possible: Vec<Entries>,
    /// No two entries are the same.
    made: u64,
}

/// Goes through the schedule of this number.
///
/// # Errors
/// Which promises were broken.
pub(crate) fn run(seed: u64, is_traced: bool) -> Result<ScheduleFacts, String> {
    let mut random = Random::new(seed);
    let machine = SimulatedMachine::new(random.number(), is_traced);
    machine.store_runtime();
    let facts = ScheduleFacts::default();
    let mut schedule = Schedule { random, machine, facts, possible: vec![Vec::new()], made: 0 };
    let panicked = schedule.go().err();
    outcome_of(&schedule.machine, panicked, schedule.facts)
}

impl Schedule {
    fn go(&mut self) -> Result<(), String> {
        for _ in 0..=self.random.below(MOST_PROCESSES) {
            let faults = Faults::single(&mut self.random, OPERATIONS);
            self.process(faults)?;
            match self.random.below(6) {
                0 | 1 => self.lose_power(),
                2 => self.damage(),
                _ => {}
            }
        }
        self.process(Faults::default())
    }

    fn process(&mut self, faults: Faults) -> Result<(), String> {
        self.machine.begin_process(faults);
        let outcome = catch_unwind(AssertUnwindSafe(|| self.work()));
        self.machine.end_process();
        ended(outcome, &mut self.facts).map(drop)
    }

    /// One process.
    fn work(&mut self) {
        let machine = self.machine.machine();
        let permitted = PermittedChanges::to([THP.to_owned()]);
        let opened = self.called(|| Journal::open(&machine, permitted));
        let Some(mut journal) = opened else { return };
        self.check_found(journal.text());
        let boot_id = self.machine.state().kernel.boot_id();
        let begin = JournalEntry::Session { boot_id, mark: SESSION_MARK.to_owned() };
        let has_begun = self.append(&mut journal, begin.clone());
        for _ in 0..self.random.below(MOST_CALLS) {
            if self.random.one_in(3) {
                let mut entries = vec![begin.clone()];
                entries.extend((0..self.random.below(4)).map(|_| self.entry(&mut journal)));
                self.replace(&mut journal, entries);
            } else {
                let entry = self.entry(&mut journal);
                let is_setting = matches!(entry, JournalEntry::Setting { .. });
                let is_announced = self.append(&mut journal, entry);
                if has_begun && is_announced && is_setting {
                    // Noted where the stored journal has it not; the kernel takes it.
                    let _ = self.machine.state().set(THP, "never");
                }
            }
        }
    }

    /// What a call gives; one that fails has a reason: an operation that failed within it.
    fn called<T>(&mut self, call: impl FnOnce() -> contract::Result<T>) -> Option<T> {
        let failures = self.machine.state().failures;
        match call() {
            Ok(given) => Some(given),
            Err(error) => {
                self.facts.errors += 1;
                self.check_refusal(&error, failures);
                None
            }
        }
    }

    fn check_refusal(&self, error: &Error, failures: u64) {
        if self.machine.state().failures == failures {
            self.machine.blame(format!("no operation failed, and a call did: {error}"));
        }
    }

    fn append(&mut self, journal: &mut Journal, entry: JournalEntry) -> bool {
        let mut longer = journal.text().entries.clone();
        longer.push(entry.clone());
        self.possible.push(longer.clone());
        let is_appended = self.called(|| journal.append(&entry)).is_some();
        self.check_held(journal, is_appended, longer);
        is_appended
    }

    fn replace(&mut self, journal: &mut Journal, entries: Entries) {
        self.possible.push(entries.clone());
        let is_replaced = self.called(|| journal.replace(&entries)).is_some();
        self.check_held(journal, is_replaced, entries);
    }

    /// What its writer takes it to hold after a call that should have made it this.
    fn check_held(&mut self, journal: &Journal, is_done: bool, wanted: Entries) {
        let held = &journal.text().entries;
        if is_done {
            if *held != wanted {
                self.machine.blame(format!("a journal takes itself to hold {held:?}"));
            }
            self.possible = vec![wanted];
        } else if !self.possible.contains(held) {
            self.machine.blame(format!("a call that failed made a journal hold {held:?}"));
        }
    }

    /// What the next process finds; which of what is possible is known then, and not whether it is
    /// stored.
    fn check_found(&self, text: &JournalText) {
        if !text.damaged.is_empty() {
            self.machine.blame(format!("nobody damaged the journal: {:?}", text.damaged));
        }
        if !self.possible.contains(&text.entries) {
            let (found, possible) = (&text.entries, &self.possible);
            self.machine.blame(format!(
                "a journal holds {found:?}, and one of these was stored: {possible:?}"
            ));
        }
        let id = |entry: &JournalEntry| match entry {
            JournalEntry::Setting { id, .. } => Some(*id),
            _ => None,
        };
        let mut ids = BTreeSet::new();
        if !text.entries.iter().filter_map(id).all(|id| ids.insert(id)) {
            self.machine.blame("two settings of the journal have one number");
        }
    }

    fn entry(&mut self, journal: &mut Journal) -> JournalEntry {
        self.made += 1;
        if self.random.one_in(3) {
            return JournalEntry::LeftAlone { line: format!("line {}", self.made), id: None };
        }
        JournalEntry::Setting {
            id: journal.next_id(),
            factor: "thp".to_owned(),
            order: 50,
            file: ControlFile::bracketed(THP),
            old: "madvise".to_owned(),
            new: format!("never {}", self.made),
            is_of_made: false,
        }
    }

    /// Cuts the power: what is there afterwards is stored.
    fn lose_power(&mut self) {
        self.facts.cuts += 1;
        let has_lost_journal = self.machine.state().has_lost_journal;
        self.machine.lose_power();
        if has_lost_journal {
            // What a failed sync lost and a later process took for stored: known and not mended
            // (docs/adr/0046-one-seam-for-faults-of-files.md).
            self.facts.excused = 1;
            return self.forget();
        }
        let text = self.read();
        if self.machine.state().is_harmed {
            if text.damaged.is_empty() || !self.possible.contains(&text.entries) {
                self.machine.blame(format!("zeros that a cut of power left are read as {text:?}"));
            }
            return self.forget();
        }
        self.check_found(&text);
        self.possible = vec![text.entries];
    }

    /// Damages the journal: every line that is as it was written is used, and no other one, and that
    /// there were others is told by every reader, also after more was appended.
    fn damage(&mut self) {
        self.machine.harm_journal(&mut self.random);
        if self.machine.state().is_harmed {
            let before = self.read();
            let machine = self.machine.machine();
            let opened = Journal::open(&machine, PermittedChanges::to([THP.to_owned()]));
            let entry = JournalEntry::LeftAlone { line: "behind the damage".to_owned(), id: None };
            let appended = opened.and_then(|mut journal| journal.append(&entry));
            if let Err(error) = appended {
                self.machine.blame(format!("a damaged journal takes no entry: {error}"));
            }
            let after = self.read();
            let is_longer = after.entries.split_last() == Some((&entry, &before.entries[..]));
            if !is_longer || after.damaged.len() < before.damaged.len() {
                self.machine.blame(format!("{before:?} became {after:?}"));
            }
        }
        self.forget();
    }

    fn read(&self) -> JournalText {
        let machine = self.machine.machine();
        match self.machine.undisturbed(|| Journal::read(&machine)) {
            Ok(text) => text,
            Err(error) => {
                self.machine.blame(format!("the journal cannot be read: {error}"));
                JournalText::default()
            }
        }
    }

    /// A user removes the journal.
    fn forget(&mut self) {
        self.machine.forget_journal();
        self.possible = vec![Vec::new()];
    }
}
