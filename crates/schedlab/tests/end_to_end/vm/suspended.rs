//! A guest, or its agent, that is stopped while a trial runs: it has no numbers, and its block runs
//! again.

use super::{Guests, caveats, has_guests, kill, of, wait_until};
use crate::bench::errors;
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;

/// What the test waits for on the console.
const CUE: &str = "the cue to stop QEMU";
/// For how long it stops it.
const STOP: Duration = Duration::from_secs(12);

const STEADY: &str = r#"
files = ["/bin/sleep"]
[subjects.one]
[subjects.other]
nice = "5"

[[workloads]]
label = "steady"
use = "command"
run = ["/bin/sh", "-c", "echo the cue to stop QEMU >/dev/console; sleep 5"]
"#;

/// The agent is the parent of the load process, and that the parent of the program.
const AGENT: &str = r#"
files = ["/bin/sleep"]
[subjects.one]
[subjects.other]
nice = "5"

[[workloads]]
label = "stopped"
use = "command"
subjects = ["one"]
run = ["/bin/sh", "-c", "read -r pid name state agent rest </proc/$PPID/stat; kill -STOP $agent; sleep 12; kill -CONT $agent"]

[[workloads]]
label = "after"
use = "command"
run = ["/bin/sleep", "0.1"]
"#;

fn detail(record: &Value) -> String {
    let all = record["caveats"].as_array().unwrap().iter();
    let mut suspended = all.filter(|caveat| caveat["code"] == "SUSPENDED");
    suspended.next().unwrap()["detail"].as_str().unwrap().to_owned()
}

#[test]
fn a_trial_whose_qemu_was_stopped_runs_again() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let file = guests.experiment("blocks = 1\nvcpus = 1\nkernel = \"debian:6.12\"", STEADY);
    let mut command = guests.command(&["run", &file]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the cue", || guests.consoles().contains(CUE));
    let machines = guests.machines();
    let [machine] = machines[..] else { panic!("{machines:?}") };
    kill(machine, rustix::process::Signal::STOP);
    std::thread::sleep(STOP);
    kill(machine, rustix::process::Signal::CONT);
    let output = child.wait_with_output().unwrap();
    let told = errors(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let records = guests.records();
    assert_eq!(records.len(), 4, "the block ran again: {told}");
    let (suspended, others): (Vec<&Value>, Vec<&Value>) =
        records.iter().partition(|record| record["outcome"]["kind"] == "invalid");
    let [suspended] = suspended[..] else { panic!("{suspended:?}") };
    assert_eq!(suspended["outcome"]["rule"], "SUSPENDED", "{suspended}");
    assert_eq!(suspended["block"], 0, "{suspended}");
    let why = detail(suspended);
    assert!(why.contains("QEMU (") && why.contains("was stopped by a signal"), "{why}");
    for record in others {
        assert_eq!(record["outcome"]["kind"], "completed", "{record}");
        assert!(!caveats(record).contains(&"SUSPENDED"), "{record}");
        let disturbance = &record["invocations"][0]["disturbance"];
        assert!(disturbance["unseen_ns"].is_u64(), "both clocks were read: {record}");
    }
    guests.assert_nothing_is_left("after a stopped QEMU");
}

#[test]
fn a_trial_whose_agent_was_stopped_has_no_numbers() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let file = guests.experiment("blocks = 1\nvcpus = 1\nkernel = \"debian:6.12\"", AGENT);
    // Each time it runs: the block that runs again in another guest has no numbers of it, either.
    let (_, told) = guests.expect(6, &["run", &file]);
    assert!(told.contains("no valid block for: one on stopped"), "{told}");
    let records = guests.records();
    let stopped = of(&records, "one", "stopped");
    assert_eq!(stopped.len(), 2, "the block ran again: {told}");
    for record in stopped {
        assert_eq!(record["outcome"]["kind"], "invalid", "{record}");
        assert_eq!(record["outcome"]["rule"], "SUSPENDED", "{record}");
        assert!(detail(record).contains("the executor neither ran nor waited"), "{record}");
    }
    for record in of(&records, "", "after") {
        assert_eq!(record["outcome"]["kind"], "completed", "{record}");
    }
    guests.assert_nothing_is_left("after a stopped agent");
}
