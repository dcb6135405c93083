//! A guest, or its agent, that is stopped or paused while a trial runs: it has no numbers, and its
//! block runs again.

use super::{
    GUEST_PATIENCE, Guests, QEMU, caveats, find_program, has_guests, kill, of, wait_until,
};
use crate::bench::errors;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// What tests wait for on the console.
const CUE: &str = "the cue to stop QEMU";
/// For how long it stops it.
const STOP: Duration = Duration::from_secs(12);
/// Pauses of a guest: one that its clock would show, and one that is too short for that
/// (docs/method.md#m-suspended).
const PAUSES: [Duration; 2] = [Duration::from_secs(12), Duration::from_secs(2)];

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

/// Puts a program of QEMU's name into a directory that becomes QEMU, with a second monitor at a
/// socket beside it that is named after its process.
fn install_monitored(directory: &Path) {
    let script = format!(
        "#!/bin/sh\nexec '{}' \"$@\" -qmp \"unix:{}/$$,server=on,wait=off\"\n",
        find_program(QEMU).unwrap().display(),
        directory.display(),
    );
    let path = directory.join(QEMU);
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A connection to a monitor of QEMU (docs/interop/qmp-spec.txt, QEMU 7.2).
struct Monitor(BufReader<UnixStream>);

impl Monitor {
    fn connect(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(GUEST_PATIENCE)).unwrap();
        let mut monitor = Self(BufReader::new(stream));
        let greeting = monitor.line();
        assert!(greeting.get("QMP").is_some(), "{greeting}");
        monitor.execute("qmp_capabilities");
        monitor
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// The answer to a command; events in between are passed over.
    fn execute(&mut self, command: &str) -> Value {
        let request = format!("{{\"execute\":\"{command}\"}}\n");
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        loop {
            let answer = self.line();
            assert!(answer.get("error").is_none(), "{command}: {answer}");
            if let Some(value) = answer.get("return") {
                return value.clone();
            }
        }
    }
}

/// Pauses a machine through its second monitor. Its process goes on running.
fn pause(machine: i32, monitors: &Path, length: Duration) {
    let mut monitor = Monitor::connect(&monitors.join(machine.to_string()));
    monitor.execute("stop");
    std::thread::sleep(length);
    assert_eq!(monitor.execute("query-status")["status"], "paused");
    let stat = std::fs::read_to_string(format!("/proc/{machine}/stat")).unwrap();
    let state = sys::ProcessStat::parse(&stat).unwrap().state;
    assert_ne!(state, 'T', "QEMU itself was stopped: {stat}");
    monitor.execute("cont");
}

#[test]
fn a_trial_whose_guest_was_paused_runs_again_however_short_the_pause() {
    if !has_guests() {
        return;
    }
    let programs = tempfile::tempdir().unwrap();
    install_monitored(programs.path());
    let guests = Guests::new().with_programs(programs.path());
    let file = guests.experiment("blocks = 1\nvcpus = 1\nkernel = \"debian:6.12\"", STEADY);
    let mut command = guests.command(&["run", &file]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    for (number, length) in PAUSES.into_iter().enumerate() {
        let has_cue = || guests.consoles().matches(CUE).count() > number;
        wait_until("the cue", has_cue);
        let machines = guests.machines();
        let [machine] = machines[..] else { panic!("{machines:?}") };
        pause(machine, programs.path(), length);
    }
    let output = child.wait_with_output().unwrap();
    let told = errors(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let records = guests.records();
    assert_eq!(records.len(), 4, "the block ran again: {told}");
    let (paused, others) = records.split_at(PAUSES.len());
    for record in paused {
        assert_eq!(record["outcome"]["kind"], "invalid", "{record}");
        assert_eq!(record["outcome"]["rule"], "SUSPENDED", "{record}");
        assert_eq!(record["block"], 0, "{record}");
        let why = detail(record);
        assert!(why.contains("the guest was paused by its QEMU ("), "{why}");
    }
    // A clock of the guest that went on during the pause would not tell of it.
    let unseen_ns = paused[0]["invocations"][0]["disturbance"]["unseen_ns"].as_u64().unwrap();
    assert!(u128::from(unseen_ns) > (PAUSES[0] / 2).as_nanos(), "{}", paused[0]);
    for record in others {
        assert_eq!(record["outcome"]["kind"], "completed", "{record}");
        assert!(!caveats(record).contains(&"SUSPENDED"), "{record}");
    }
    guests.assert_nothing_is_left("after a paused guest");
}
