//! A journal of which one operation after the other fails: what it then announces is stored all the
//! same, or is not announced.

use crate::faults::Faults;
use crate::kernel::THP;
use crate::machine::{SESSION_MARK, SimulatedMachine};
use executor::{Journal, JournalEntry, PermittedChanges};
use sys::ControlFile;

/// More operations than opening, replacing and appending make.
const OPERATIONS: u64 = 60;

fn setting(journal: &mut Journal) -> JournalEntry {
    JournalEntry::Setting {
        id: journal.next_id(),
        factor: "thp".to_owned(),
        order: 50,
        file: ControlFile::bracketed(THP),
        old: "madvise".to_owned(),
        new: "never".to_owned(),
        is_of_made: false,
    }
}

#[test]
fn what_is_announced_is_stored_whichever_operation_before_it_failed() {
    let mut announced = 0;
    for at in 1..=OPERATIONS {
        let simulated = SimulatedMachine::new(1, false);
        let machine = simulated.machine();
        simulated.begin_process(Faults::failing_at(at));
        let permitted = PermittedChanges::to([THP.to_owned()]);
        let Ok(mut journal) = Journal::open(&machine, permitted) else { continue };
        let boot_id = simulated.state().kernel.boot_id();
        let begin = JournalEntry::Session { boot_id, mark: SESSION_MARK.to_owned() };
        // Twice, as from trial to trial; one that fails leaves what was there or what should be.
        let _ = journal.replace(std::slice::from_ref(&begin));
        let _ = journal.replace(&[begin.clone(), begin]);
        let entry = setting(&mut journal);
        if journal.append(&entry).is_ok() && journal.text().entries.len() > 1 {
            announced += 1;
            assert!(simulated.state().set(THP, "never").is_ok());
            assert_eq!(simulated.verdict().0, Vec::<String>::new(), "operation {at}");
        }
    }
    assert!(announced > 20, "{announced}");
}
