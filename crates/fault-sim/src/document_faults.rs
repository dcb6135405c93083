//! A process that ends before one operation after the other, those of replacing a document among
//! them: what it leaves goes when the campaign is opened again, and the campaign goes on.

use crate::campaign_runs::CampaignRuns;
use crate::faults::Faults;
use crate::machine::{Death, SimulatedMachine};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// More operations than a campaign of one block takes from its beginning to its end.
const OPERATIONS: u64 = 200;
/// Operations between making a draft and renaming it, of the environment and of the last state.
const LEAST_LEFT: u32 = 4;

#[test]
fn what_a_process_leaves_of_a_document_goes_when_the_campaign_is_opened_again() {
    let mut left = 0;
    for at in 1..=OPERATIONS {
        let machine = SimulatedMachine::new(at, false);
        let mut runs = CampaignRuns::new(machine.clone(), 1);
        machine.begin_process(Faults::ending_before(at));
        let ended = catch_unwind(AssertUnwindSafe(|| runs.store(usize::MAX)));
        machine.end_process();
        assert!(ended.err().is_none_or(|payload| payload.is::<Death>()), "operation {at}");
        left += u32::from(!runs.left_names().is_empty());
        machine.begin_process(Faults::default());
        let again = runs.store(usize::MAX);
        machine.end_process();
        assert!(again.is_ok() && runs.is_finished(), "operation {at}: {again:?}");
        assert_eq!(runs.left_names(), [""; 0], "operation {at}");
        assert_eq!(machine.verdict().0, [""; 0], "operation {at}");
    }
    assert!(left >= LEAST_LEFT, "of {left} processes a draft was left");
}
