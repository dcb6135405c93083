//! Processes that a session left, which restoring ends: real ones of these tests, as a simulated
//! kernel shows them in `/proc` and in control groups. It shows no others, so that restoring finds
//! none but these.

use crate::extra_files::is_running;
use crate::faults::Faults;
use crate::machine::{SESSION_MARK, SimulatedMachine};
use executor::{
    Journal, JournalEntry, PermittedChanges, RestoreReport, pending, restore, restore_leftovers,
};
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use sys::Cgroup;

/// The mark of a process that outlives trials.
const LONG_LIVED_MARK: &str = "SCHEDLAB_MARK=fault-sim-long-lived";
/// A mark that no journal here names.
const OTHER_MARK: &str = "SCHEDLAB_MARK=fault-sim-another";
/// Control groups that no host has, and the lists of their processes.
const GROUP: &str = "/sys/fs/cgroup/schedlab.fault-sim";
const GROUP_MEMBERS: &str = "/sys/fs/cgroup/schedlab.fault-sim/cgroup.procs";
const KEPT_GROUP: &str = "/sys/fs/cgroup/schedlab.fault-sim-kept";
const KEPT_GROUP_MEMBERS: &str = "/sys/fs/cgroup/schedlab.fault-sim-kept/cgroup.procs";
/// How long a process may take until it shows its environment.
const PATIENCE: Duration = Duration::from_secs(10);

/// A process that does nothing for a minute, and ends with its value at the latest.
struct Sleeper(Child);

impl Sleeper {
    /// One in a process group of its own, with this in its environment.
    fn start(mark: &str) -> Self {
        let (name, value) = mark.split_once('=').unwrap();
        let mut command = Command::new("/bin/sleep");
        command.arg("60").env(name, value).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let sleeper = Self(command.spawn().unwrap());
        // The kernel shows an environment a moment after the program was started.
        let path = format!("/proc/{}/environ", sleeper.pid());
        let deadline = Instant::now() + PATIENCE;
        while !fs::read(&path).unwrap().split(|byte| *byte == 0).any(|it| it == mark.as_bytes()) {
            assert!(Instant::now() < deadline, "{path} does not show {mark}");
            sleep(Duration::from_millis(1));
        }
        sleeper
    }

    fn pid(&self) -> i32 {
        self.0.id().cast_signed()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        // One that has ended is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A machine that shows these processes in `/proc`.
fn machine(processes: &[&Sleeper]) -> SimulatedMachine {
    let machine = SimulatedMachine::new(1, false);
    for process in processes {
        machine.state().kernel.extra().show_process(process.pid());
    }
    machine
}

fn session(boot_id: String, mark: &str) -> JournalEntry {
    JournalEntry::Session { boot_id, mark: mark.to_owned() }
}

fn this_boot(machine: &SimulatedMachine) -> JournalEntry {
    session(machine.state().kernel.boot_id(), SESSION_MARK)
}

fn group_of(process: &Sleeper) -> JournalEntry {
    JournalEntry::Group { group: process.pid() }
}

fn cgroup(path: &str) -> JournalEntry {
    JournalEntry::Cgroup { cgroup: Cgroup { path: path.to_owned() } }
}

/// The journal of the machine, which says this.
fn journal(machine: &SimulatedMachine, entries: &[JournalEntry]) -> Journal {
    let mut journal = Journal::open(&machine.machine(), PermittedChanges::default()).unwrap();
    journal.replace(entries).unwrap();
    journal
}

/// What is restored from these entries, but what `keep` says.
fn restored(
    machine: &SimulatedMachine,
    entries: &[JournalEntry],
    are_groups_fresh: bool,
    keep: &[JournalEntry],
) -> RestoreReport {
    let mut journal = journal(machine, entries);
    restore(&machine.machine(), &mut journal, are_groups_fresh, keep).unwrap()
}

/// Those of these processes that run, by their place.
fn running<const N: usize>(processes: [&Sleeper; N]) -> [bool; N] {
    processes.map(|process| is_running(process.pid()))
}

fn sorted<const N: usize>(processes: [&Sleeper; N]) -> Vec<i32> {
    let mut pids = processes.map(Sleeper::pid).to_vec();
    pids.sort_unstable();
    pids
}

#[test]
fn processes_of_a_session_are_ended_by_their_mark_and_by_their_group_where_it_is_fresh() {
    for is_fresh in [true, false] {
        let [marked, grouped, other] = [SESSION_MARK, OTHER_MARK, OTHER_MARK].map(Sleeper::start);
        let machine = machine(&[&marked, &grouped, &other]);
        let entries = [this_boot(&machine), group_of(&grouped)];
        let report = restored(&machine, &entries, is_fresh, &[]);
        let wanted = if is_fresh { sorted([&marked, &grouped]) } else { sorted([&marked]) };
        assert_eq!((report.ended, report.failed), (wanted, Vec::new()));
        assert_eq!(running([&marked, &grouped, &other]), [false, !is_fresh, true]);
    }
}

#[test]
fn processes_of_a_control_group_are_ended_with_it() {
    let [member, other] = [OTHER_MARK, OTHER_MARK].map(Sleeper::start);
    let machine = machine(&[&other]);
    machine.state().kernel.extra().put_members(GROUP_MEMBERS, &[member.pid()]);
    restored(&machine, &[this_boot(&machine), cgroup(GROUP)], false, &[]);
    assert_eq!(running([&member, &other]), [false, true]);
}

#[test]
fn what_outlives_a_trial_goes_on_with_its_group_its_mark_and_its_control_group() {
    let [marked, service, member, kept] =
        [SESSION_MARK, LONG_LIVED_MARK, OTHER_MARK, OTHER_MARK].map(Sleeper::start);
    let machine = machine(&[&marked, &service]);
    let mut state = machine.state();
    state.kernel.extra().put_members(GROUP_MEMBERS, &[member.pid()]);
    state.kernel.extra().put_members(KEPT_GROUP_MEMBERS, &[kept.pid()]);
    drop(state);
    let mark = LONG_LIVED_MARK.to_owned();
    let long_lived = JournalEntry::LongLived { group: service.pid(), mark };
    let keep = [long_lived.clone(), cgroup(KEPT_GROUP)];
    let entries = [this_boot(&machine), long_lived, cgroup(GROUP), cgroup(KEPT_GROUP)];
    restored(&machine, &entries, true, &keep);
    assert_eq!(running([&marked, &service, &member, &kept]), [false, true, false, true]);
}

#[test]
fn no_process_of_another_boot_is_ended() {
    let [marked, grouped] = [SESSION_MARK, OTHER_MARK].map(Sleeper::start);
    let machine = machine(&[&marked, &grouped]);
    let entries = [session("another".to_owned(), SESSION_MARK), group_of(&grouped)];
    let report = restored(&machine, &entries, true, &[]);
    assert_eq!(report, RestoreReport::default());
    assert_eq!(running([&marked, &grouped]), [true, true]);
}

#[test]
fn processes_and_control_groups_that_are_left_are_listed_where_they_are_of_this_boot() {
    let [marked, grouped, member] = [SESSION_MARK, OTHER_MARK, OTHER_MARK].map(Sleeper::start);
    let machine = machine(&[&marked, &grouped]);
    machine.state().kernel.extra().put_members(GROUP_MEMBERS, &[member.pid()]);
    let listed = |session: JournalEntry| {
        // Whose a process group is now nobody knows.
        let entries = [session, group_of(&grouped), cgroup(GROUP), cgroup(KEPT_GROUP)];
        drop(journal(&machine, &entries));
        pending(&machine.machine(), &PermittedChanges::default()).unwrap()
    };
    let processes = sorted([&marked, &member]).into_iter();
    let mut wanted: Vec<String> =
        processes.map(|pid| format!("process {pid} still runs")).collect();
    wanted.push(GROUP.to_owned());
    assert_eq!(listed(this_boot(&machine)), wanted);
    assert_eq!(listed(session("another".to_owned(), SESSION_MARK)), [""; 0]);
    assert_eq!(running([&marked, &grouped, &member]), [true, true, true]);
}

#[test]
fn a_restore_that_finds_nothing_tells_nothing() {
    let machine = machine(&[]);
    machine.begin_process(Faults::default());
    let report = restore_leftovers(&machine.machine(), PermittedChanges::default(), "a test");
    machine.end_process();
    assert_eq!(report.unwrap(), RestoreReport::default());
}
