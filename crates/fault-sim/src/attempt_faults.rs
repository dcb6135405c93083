//! Counting attempts while one operation after the other fails, and the power is cut afterwards.

use crate::faults::Faults;
use crate::machine::{DATA, SimulatedMachine};
use std::io;
use std::path::Path;
use store::Attempts;

/// More operations than counting makes.
const OPERATIONS: u64 = 40;
/// Disks for each of them: what a failed write and a cut of power leave is drawn.
const DISKS: u64 = 20;

/// A campaign of this number begins in a process of its own, to which this happens; which attempt
/// it is.
fn count(machine: &SimulatedMachine, faults: Faults, number: u64) -> io::Result<u64> {
    let subjects = fixtures::subjects(&["stock", "tuned"]);
    let plan = fixtures::plan(subjects, vec![fixtures::workload("nothing", Vec::new())], 1);
    let data = Path::new(DATA);
    let attempts = Attempts::on(machine.files(), &data.join("state"));
    let (results, name) = (data.join("results"), format!("campaign-{number}"));
    machine.begin_process(faults);
    let attempt = attempts.count(&plan, (&results, &name), number);
    machine.end_process();
    attempt.map(|attempt| attempt.of_plan)
}

#[test]
fn an_attempt_that_was_counted_stays_counted_whichever_operation_of_the_next_fails() {
    let mut failed = 0;
    for at in 1..=OPERATIONS {
        for disk in 0..DISKS {
            let machine = SimulatedMachine::new(disk, false);
            assert_eq!(count(&machine, Faults::default(), 1).unwrap(), 1);
            machine.lose_power();
            let second = count(&machine, Faults::failing_at(at), 2);
            machine.lose_power();
            let third = count(&machine, Faults::default(), 3);
            let third = third.unwrap_or_else(|error| panic!("operation {at}, {disk}: {error}"));
            failed += u64::from(second.is_err());
            let counted = 2 + u64::from(second.is_ok());
            // One whose line was stored before something failed counts, too.
            assert!((counted..=3).contains(&third), "operation {at}, {disk}: {third}, {second:?}");
        }
    }
    assert!(failed > 5 * DISKS, "{failed}");
}
