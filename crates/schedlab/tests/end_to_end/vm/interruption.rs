//! Stopped in the middle, a campaign in guests goes on by rule and loses no record.

use super::{Guests, has_guests, kill, of, wait_until};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Stdio;

/// Four trials share each of two boots.
const SUBJECTS: &str = r#"
[subjects.plain]
[subjects.nicer]
nice = "5"
[[workloads]]
label = "first"
use = "command"
run = ["/bin/sleep", "0.2"]
[[workloads]]
label = "second"
use = "command"
run = ["/bin/sleep", "0.2"]
"#;

#[test]
fn a_campaign_interrupted_in_a_boot_and_between_boots_goes_on_by_rule() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let file = guests.experiment("blocks = 2\nvcpus = 1\nkernel = \"debian:6.1\"", SUBJECTS);
    // In the middle of a boot: two of its four trials ran.
    let first = interrupted_after(&guests, &file, 2);
    assert!((2..4).contains(&first.len()), "{} records", first.len());
    // Between two boots: the second block is whole.
    let second = interrupted_after(&guests, &file, first.len() + 4);
    assert_eq!(second.len(), first.len() + 4);
    assert_eq!(second[..first.len()], first);
    let (_, told) = guests.expect(0, &["run", &file]);
    assert!(told.contains("going on with"), "{told}");
    let all = guests.bench.record_lines();
    assert_eq!(all[..second.len()], second);
    assert_eq!(all.len(), second.len() + 4);
    // The block that was cut off in its boot ran again as a whole; each whole block had one boot.
    let plan = std::fs::read_to_string(guests.bench.campaign().join("plan.json")).unwrap();
    assert!(plan.contains("block 1 runs again") && plan.contains("cut off"), "{plan}");
    let records = guests.records();
    let mut boots_so_far = BTreeSet::new();
    for block in [1, 2] {
        let of_block: Vec<Value> =
            records.iter().filter(|record| record["block"] == block).cloned().collect();
        assert_eq!(of_block.len(), 4, "block {block}");
        let boots: BTreeSet<String> =
            of_block.iter().map(|record| record["boot_id"].to_string()).collect();
        assert_eq!(boots.len(), 1, "block {block}: {boots:?}");
        assert!(boots_so_far.is_disjoint(&boots), "block {block}: {boots:?}");
        boots_so_far.extend(boots);
        for record in of(&of_block, "", "") {
            assert_eq!(record["outcome"]["kind"], "completed", "{record}");
        }
    }
    guests.assert_nothing_is_left("at the end");
}

/// Runs until so many records are there, then interrupts; the lines that are kept.
fn interrupted_after(guests: &Guests, file: &str, count: usize) -> Vec<String> {
    let mut command = guests.command(&["run", file]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("records", || guests.record_count() >= count);
    kill(child.id().cast_signed(), rustix::process::Signal::INT);
    let output = child.wait_with_output().unwrap();
    let told = crate::bench::errors(&output);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("everything was put back"), "{told}");
    guests.assert_nothing_is_left("after an interrupt");
    guests.bench.record_lines()
}
