//! A disk that is full before `schedlab restore` begins: everything is put back all the same.

use crate::campaign_runs::CampaignRuns;
use crate::faults::Faults;
use crate::machine::{Death, SimulatedMachine};
use crate::random::Random;
use executor::Journal;
use std::panic::{AssertUnwindSafe, catch_unwind};

const RUNS: u64 = 300;
/// Runs are killed before one of so many operations.
const OPERATIONS: usize = 1000;

/// One run that is killed with its guardian, and a restore on a full disk; whether a knob was
/// changed in between.
fn is_put_back(seed: u64) -> bool {
    let mut random = Random::new(seed);
    let machine = SimulatedMachine::new(random.number(), false);
    let before = machine.state().kernel.knobs().clone();
    let mut runs = CampaignRuns::new(machine.clone(), 1);
    machine.begin_process(Faults::ending_before(random.below(OPERATIONS) as u64 + 1));
    let ended = catch_unwind(AssertUnwindSafe(|| runs.run()));
    machine.end_process();
    machine.end_guardian();
    assert!(ended.err().is_none_or(|payload| payload.is::<Death>()), "{seed}: a panic");
    let left = machine.undisturbed(|| Journal::read(&machine.machine())).unwrap();
    if left.is_empty() {
        return false;
    }
    let is_changed = *machine.state().kernel.knobs() != before;
    machine.begin_process(Faults::full());
    let report = runs.restore();
    machine.end_process();
    let report = report.unwrap_or_else(|| panic!("{seed}: nothing was put back"));
    assert!(report.is_complete(), "{seed}: {report:?}");
    assert_eq!(*machine.state().kernel.knobs(), before, "{seed}: {report:?}");
    // It is told that the disk is full.
    assert!(report.unwritten.is_some() && !report.warnings.is_empty(), "{seed}: {report:?}");
    machine.begin_process(Faults::default());
    let again = runs.restore().unwrap();
    machine.end_process();
    assert!(again.is_empty() && again.warnings.is_empty(), "{seed}: {again:?}");
    assert_eq!(machine.verdict().0, Vec::<String>::new(), "{seed}");
    is_changed
}

#[test]
fn a_disk_that_is_full_from_the_beginning_stops_no_restore() {
    let changed = (0..RUNS).filter(|seed| is_put_back(*seed)).count();
    assert!(changed > 10, "knobs were changed in {changed} runs");
}
