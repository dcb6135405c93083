//! A schedule of restoring: processes announce settings and make them, as trials do, and put them
//! back, each with one fault at most or on a kernel that refuses one setting. Kernels move one
//! setting with another, settings are set twice, somebody else changes one, power is cut, and
//! restoring is cut off and goes on. What is said to be back is back; what is not can be put back
//! later; what somebody else changed is theirs.

use crate::faults::Faults;
use crate::kernel::{AUTOGROUP, BASE_SLICE, CPU1, Coupling, KNOBS, Knobs, MIGRATION_COST, THP};
use crate::machine::{SESSION_MARK, SimulatedMachine};
use crate::random::Random;
use crate::schedule::{ScheduleFacts, ended, outcome_of};
use executor::{Journal, JournalEntry, PermittedChanges, RestoreReport, acknowledge, restore};
use std::panic::{AssertUnwindSafe, catch_unwind};
use sys::{ControlFile, Machine};

/// Processes that change settings, before all is put back.
const MOST_SESSIONS: usize = 3;
/// About as many operations as the longest of them makes.
const OPERATIONS: usize = 140;
/// The same of one that only puts back.
const OPERATIONS_OF_RESTORE: usize = 80;

/// A knob, its factor's order, and what it is set to.
type Change = (&'static str, u8, &'static str);

const CPU: Change = (CPU1, 10, "0");
const SLICE: Change = (BASE_SLICE, 50, "2000000");
const PAGES: Change = (THP, 50, "never");
const GROUPS: Change = (AUTOGROUP, 50, "0");
const COST: Change = (MIGRATION_COST, 60, "5000000");
/// What one trial sets, in the factors' order.
const TRIALS: [&[Change]; 7] = [
    &[CPU, SLICE, PAGES],
    &[CPU, SLICE, COST],
    &[CPU, SLICE, COST],
    &[SLICE, PAGES, COST],
    &[PAGES, GROUPS],
    &[CPU, PAGES],
    &[SLICE, GROUPS],
];
/// What is set a second time before the first is put back.
const AGAIN: [&[Change]; 2] = [
    &[(BASE_SLICE, 50, "4000000")],
    &[(MIGRATION_COST, 60, "200000"), (BASE_SLICE, 70, "6000000")],
];

/// What the journal is known to say of all that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JournalKnowledge {
    /// Nothing is open, or all of it was written and read back, or restoring was over and could not
    /// put it back: a change from now on is somebody else's.
    Whole,
    /// A process ended in the middle, or an operation failed.
    Partly,
}

/// What somebody else made transparent huge pages.
#[derive(Debug, Clone, Copy)]
struct ForeignPages {
    value: &'static str,
    /// Operations that had failed by then, where the journal was known as a whole.
    since: Option<u64>,
}

struct Schedule {
    random: Random,
    machine: SimulatedMachine,
    facts: ScheduleFacts,
    /// What every knob holds that nobody here has changed.
    before: Knobs,
    known: JournalKnowledge,
    foreign: Option<ForeignPages>,
    was_disturbed: bool,
}

/// Goes through the schedule of this number.
///
/// # Errors
/// Which promises were broken.
pub(crate) fn run(seed: u64, is_traced: bool) -> Result<ScheduleFacts, String> {
    let mut random = Random::new(seed);
    let machine = SimulatedMachine::new(random.number(), is_traced);
    machine.store_runtime();
    let couplings = [Coupling::None, Coupling::CostAfterSlice, Coupling::SliceAfterCost];
    machine.state().kernel.couple(*random.pick(&couplings));
    if random.one_in(2) {
        let mut state = machine.state();
        for (path, value) in [(MIGRATION_COST, "700000"), (BASE_SLICE, "3000000")] {
            // None of these is refused. The cost comes last where the slice moves it.
            let _ = state.kernel.write(path, value);
        }
        let _ = state.kernel.write(MIGRATION_COST, "700000");
        if state.kernel.coupling() == Coupling::SliceAfterCost {
            let _ = state.kernel.write(BASE_SLICE, "3000000");
        }
    }
    let before = machine.state().kernel.knobs().clone();
    let facts = ScheduleFacts::default();
    let (known, foreign, was_disturbed) = (JournalKnowledge::Whole, None, false);
    let mut schedule = Schedule { random, machine, facts, before, known, foreign, was_disturbed };
    let panicked = schedule.go().err();
    outcome_of(&schedule.machine, panicked, schedule.facts)
}

impl Schedule {
    fn go(&mut self) -> Result<(), String> {
        for _ in 0..=self.random.below(MOST_SESSIONS) {
            let faults = Faults::single(&mut self.random, OPERATIONS);
            self.process(faults, Self::trial)?;
            self.between();
            match self.random.below(4) {
                0 => {
                    // What a CPU that does not come back is, or a file that is locked for now.
                    let refused = *self.random.pick(&KNOBS);
                    self.machine.state().kernel.refuse(Some(refused));
                    let ended = self.process(Faults::default(), Self::put_back);
                    self.machine.state().kernel.refuse(None);
                    ended?;
                    self.between();
                }
                1 | 2 => {
                    let faults = Faults::single(&mut self.random, OPERATIONS_OF_RESTORE);
                    self.process(faults, Self::put_back)?;
                    self.between();
                }
                _ => {}
            }
        }
        for _ in 0..2 {
            self.process(Faults::default(), Self::put_back)?;
        }
        let machine = self.machine.machine();
        let journal = self.machine.undisturbed(|| Journal::read(&machine));
        if !journal.is_ok_and(|text| text.is_empty()) {
            self.machine.blame("the journal is not empty");
        }
        Ok(())
    }

    fn process(&mut self, faults: Faults, work: impl FnOnce(&mut Self)) -> Result<(), String> {
        let failures = self.machine.state().failures;
        self.machine.begin_process(faults);
        let outcome = catch_unwind(AssertUnwindSafe(|| work(self)));
        self.machine.end_process();
        let is_ended_within = ended(outcome, &mut self.facts)?.is_none();
        if is_ended_within || self.machine.state().failures != failures {
            self.known = JournalKnowledge::Partly;
        }
        Ok(())
    }

    /// A process that puts back what is left, announces and makes the settings of a trial, and puts
    /// them back, or is killed with all of them in force.
    fn trial(&mut self) {
        let machine = self.machine.machine();
        let Some(mut journal) = self.open(&machine) else { return };
        let leftovers = self.restore(&machine, &mut journal);
        if !leftovers.is_some_and(|report| report.is_complete() && report.unwritten.is_none()) {
            return;
        }
        let boot_id = self.machine.state().kernel.boot_id();
        let begin = JournalEntry::Session { boot_id, mark: SESSION_MARK.to_owned() };
        if journal.replace(&[begin.clone(), begin]).is_err() {
            self.facts.errors += 1;
            return;
        }
        let is_applied = self.apply(&machine, &mut journal).is_ok();
        self.facts.errors += u32::from(!is_applied);
        if !is_applied || self.random.one_in(2) {
            self.restore(&machine, &mut journal);
        }
    }

    /// A process of `schedlab restore`.
    fn put_back(&mut self) {
        let machine = self.machine.machine();
        if let Some(mut journal) = self.open(&machine) {
            self.restore(&machine, &mut journal);
        }
    }

    fn open(&mut self, machine: &Machine) -> Option<Journal> {
        let permitted = PermittedChanges::to(KNOBS.map(str::to_owned));
        let opened = Journal::open(machine, permitted).ok();
        self.facts.errors += u32::from(opened.is_none());
        opened
    }

    /// Puts back what the journal names; a user reads what could not be.
    fn restore(&mut self, machine: &Machine, journal: &mut Journal) -> Option<RestoreReport> {
        let failures = self.machine.state().failures;
        let Ok(report) = restore(machine, journal, false, &[]) else {
            self.facts.errors += 1;
            return None;
        };
        let may_fail = self.machine.state().failures != failures;
        self.check_report(&report, may_fail);
        // One that fails is made up for by the next restore.
        let _ = acknowledge(journal, &report, &[]);
        self.known = JournalKnowledge::Whole;
        Some(report)
    }

    fn check_report(&mut self, report: &RestoreReport, may_fail: bool) {
        let RestoreReport { left_alone, failed, .. } = report;
        self.facts.left_alone += u32::from(!left_alone.is_empty());
        let is_others = |line: &&String| self.was_disturbed && line.contains(THP);
        if let Some(line) = left_alone.iter().find(|line| !is_others(line)) {
            self.machine.blame(format!("nobody else changed it, and this was told: {line}"));
        }
        if failed.is_empty() {
            return self.check_knobs();
        }
        if !may_fail && !self.machine.state().kernel.is_refusing() {
            self.machine.blame(format!("could not be put back: {failed:?}"));
        }
    }

    /// What is said to be back is back.
    fn check_knobs(&self) {
        let now = self.machine.state().kernel.knobs().clone();
        let failures = self.machine.state().failures;
        for (path, value) in &now {
            let before = self.before.get(path).map_or("", String::as_str);
            let (allowed, wanted) = match self.foreign.filter(|_| *path == THP) {
                Some(other) if other.since == Some(failures) => (other.value, other.value),
                Some(other) => (before, other.value),
                None => (before, before),
            };
            if value != allowed && value != wanted {
                self.machine.blame(format!("{path} should be {wanted} and is {value}"));
            }
        }
    }

    /// Announces the settings of a trial and makes them, as `executor::knobs` does: all are
    /// announced before the first is written, and what they move with them.
    fn apply(&mut self, machine: &Machine, journal: &mut Journal) -> Result<(), ()> {
        let changes = *self.random.pick(&TRIALS);
        let coupling = self.machine.state().kernel.coupling();
        let declared = self.declared(changes, coupling);
        self.set(machine, journal, changes, &declared)?;
        if coupling == Coupling::None && self.random.one_in(3) {
            let again = *self.random.pick(&AGAIN);
            self.set(machine, journal, again, &[])?;
        }
        Ok(())
    }

    /// Which of these settings are declared to move others: those that move what is not set, and
    /// some of the others, whose own settings are enough.
    fn declared(&mut self, changes: &[Change], coupling: Coupling) -> Vec<&'static str> {
        let sets = |path: &str| changes.iter().any(|(set, ..)| *set == path);
        let is_enough = match coupling {
            Coupling::None => !sets(CPU1) || sets(BASE_SLICE),
            Coupling::CostAfterSlice => {
                (!sets(CPU1) || sets(BASE_SLICE)) && (!sets(BASE_SLICE) || sets(MIGRATION_COST))
            }
            Coupling::SliceAfterCost => false,
        };
        if is_enough && self.random.one_in(2) {
            return Vec::new();
        }
        // What a CPU that was switched off is said to move is ours whatever moves it: the cost of
        // migration need not say so.
        let is_switched = sets(CPU1) && self.before.get(CPU1).is_some_and(|now| now == "1");
        let is_covered = coupling == Coupling::SliceAfterCost && is_switched;
        let mut declared = vec![CPU1, BASE_SLICE];
        if !is_covered || self.random.one_in(2) {
            declared.push(MIGRATION_COST);
        }
        declared
    }

    fn set(
        &mut self,
        machine: &Machine,
        journal: &mut Journal,
        changes: &[Change],
        declared: &[&str],
    ) -> Result<(), ()> {
        let coupling = self.machine.state().kernel.coupling();
        let mut announced = Vec::new();
        for change in changes {
            announced.push((announce(machine, journal, *change)?, *change));
            let moved = moved_by(change.0, coupling);
            for path in moved.iter().filter(|_| declared.contains(&change.0)) {
                let value = file(path).read(machine).map_err(drop)?;
                let id = journal.next_id();
                let entry = setting(id, (*path, change.1), (value.as_str(), value.as_str()));
                journal.append(&entry).map_err(drop)?;
            }
        }
        for (id, change) in announced {
            make(machine, journal, id, change)?;
        }
        Ok(())
    }

    /// What happens between two processes.
    fn between(&mut self) {
        match self.random.below(6) {
            0 | 1 => self.change_pages(),
            2 => self.lose_power(),
            _ => {}
        }
    }

    /// Somebody else makes transparent huge pages what neither they were nor a trial makes them.
    fn change_pages(&mut self) {
        let before = self.before.get(THP).map_or("", String::as_str);
        let other = ["always", "madvise"].into_iter().find(|other| *other != before);
        let Some(value) = other.filter(|_| self.foreign.is_none()) else { return };
        let mut state = self.machine.state();
        if state.kernel.write(THP, value).is_ok() {
            let since = (self.known == JournalKnowledge::Whole).then_some(state.failures);
            self.foreign = Some(ForeignPages { value, since });
            self.was_disturbed = true;
        }
    }

    fn lose_power(&mut self) {
        self.facts.cuts += 1;
        let has_lost_journal = self.machine.state().has_lost_journal;
        self.machine.lose_power();
        self.facts.excused |= u32::from(has_lost_journal);
        if has_lost_journal || self.machine.state().is_harmed {
            // What they said is of another boot, and would be told as unknown.
            self.machine.forget_journal();
        }
        self.before.clone_from(self.machine.state().kernel.knobs());
        self.foreign = None;
        self.known = JournalKnowledge::Whole;
    }
}

/// What a setting moves when it is put back, with what that moves.
fn moved_by(path: &str, coupling: Coupling) -> &'static [&'static str] {
    match (path, coupling) {
        (CPU1, Coupling::CostAfterSlice) => &[BASE_SLICE, MIGRATION_COST],
        (CPU1, _) | (MIGRATION_COST, Coupling::SliceAfterCost) => &[BASE_SLICE],
        (BASE_SLICE, Coupling::CostAfterSlice) => &[MIGRATION_COST],
        _ => &[],
    }
}

fn file(path: &str) -> ControlFile {
    if path == THP { ControlFile::bracketed(path) } else { ControlFile::plain(path) }
}

fn setting(id: u64, (path, order): (&str, u8), (old, new): (&str, &str)) -> JournalEntry {
    JournalEntry::Setting {
        id,
        factor: "knob".to_owned(),
        order,
        file: file(path),
        old: old.to_owned(),
        new: new.to_owned(),
        is_of_made: false,
    }
}

fn announce(machine: &Machine, journal: &mut Journal, change: Change) -> Result<u64, ()> {
    let (path, order, new) = change;
    let old = file(path).read(machine).map_err(drop)?;
    let id = journal.next_id();
    journal.append(&setting(id, (path, order), (old.as_str(), new))).map_err(drop)?;
    Ok(id)
}

fn make(machine: &Machine, journal: &mut Journal, id: u64, change: Change) -> Result<(), ()> {
    let (path, _, value) = change;
    let file = file(path);
    if file.read(machine).map_err(drop)? != value {
        journal.append(&JournalEntry::Writing { id }).map_err(drop)?;
        // What it holds then is read back, whatever the kernel answers.
        let _ = file.write(machine, value);
    }
    let actual = file.read(machine).map_err(drop)?;
    journal.append(&JournalEntry::Applied { id, actual }).map_err(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_else_changed_stays_whichever_operation_of_restoring_fails() {
        let mut told = 0;
        for at in 1..=OPERATIONS_OF_RESTORE as u64 {
            let simulated = SimulatedMachine::new(1, false);
            let machine = simulated.machine();
            let open = || Journal::open(&machine, PermittedChanges::to(KNOBS.map(str::to_owned)));
            let old = file(THP).read(&machine).unwrap();
            let other = if old == "always" { "madvise" } else { "always" };
            simulated.begin_process(Faults::default());
            let mut journal = open().unwrap();
            let boot_id = simulated.state().kernel.boot_id();
            let begin = JournalEntry::Session { boot_id, mark: SESSION_MARK.to_owned() };
            journal.append(&begin).unwrap();
            for change in [GROUPS, PAGES] {
                let id = announce(&machine, &mut journal, change).unwrap();
                make(&machine, &mut journal, id, change).unwrap();
            }
            drop(journal);
            simulated.end_process();
            simulated.state().kernel.write(THP, other).unwrap();
            simulated.begin_process(Faults::failing_at(at));
            let restored = open().and_then(|mut it| restore(&machine, &mut it, false, &[]));
            simulated.end_process();
            told += u32::from(restored.is_ok_and(|report| !report.left_alone.is_empty()));
            assert_eq!(simulated.state().kernel.knobs()[THP], other, "operation {at}");
        }
        assert!(told > 20, "{told}");
    }
}
