//! A campaign of which two operations in a row fail: what the next run counts is on disk.

use crate::campaign_runs::CampaignRuns;
use crate::faults::Faults;
use crate::machine::SimulatedMachine;

/// More operations than making a campaign and storing its first records take.
const OPERATIONS: u64 = 200;
/// Records of the run that fails.
const RECORDS: usize = 3;

#[test]
fn a_record_that_a_run_counts_is_stored_whichever_two_operations_before_it_failed() {
    let mut found = 0;
    for at in 1..=OPERATIONS {
        let machine = SimulatedMachine::new(at, false);
        let mut runs = CampaignRuns::new(machine.clone(), 2);
        // The sync of a record, and what would cut it off: the kernel goes on to show the record.
        machine.begin_process(Faults::failing_at_two(at));
        let _ = runs.store(RECORDS);
        machine.end_process();
        let promised = runs.promised();
        machine.begin_process(Faults::default());
        let opened = runs.store(0);
        machine.end_process();
        assert!(opened.is_ok(), "operation {at}: {opened:?}");
        found += u32::from(runs.promised() > promised);
        machine.lose_power();
        runs.check_records();
        assert_eq!(machine.verdict().0, Vec::<String>::new(), "operation {at}");
    }
    assert!(found > 0, "no run found a record whose sync had failed");
}
