//! What restoring tells, and what it leaves, where a schedule seldom comes: files that are gone,
//! directories, entries that are not obeyed, a journal that does not say of which boot it is. And
//! what a report says of it to its reader.

use crate::faults::Faults;
use crate::kernel::{AUTOGROUP, BASE_SLICE, CPU1, Coupling, KNOBS, THP};
use crate::machine::{DATA, RUNTIME, SESSION_MARK, SimulatedMachine};
use contract::{ErrorKind, ON_TOP};
use executor::{
    Journal, JournalEntry, PermittedChanges, RestoreReport, acknowledge, journal_text, pending,
    restore, restore_leftovers,
};
use std::path::{Path, PathBuf};
use sys::{Cgroup, ControlFile, Files};

/// More operations than restoring takes here.
const OPERATIONS: u64 = 60;
/// A file that this kernel has not got.
const GONE: &str = "/sys/kernel/debug/sched/gone";
/// A file that nobody here writes.
const OTHER: &str = "/sys/kernel/other";

fn permitted() -> PermittedChanges {
    PermittedChanges::to(KNOBS.into_iter().chain([GONE]).map(str::to_owned))
}

/// A machine whose settings are known.
fn machine() -> SimulatedMachine {
    let machine = SimulatedMachine::new(1, false);
    let mut state = machine.state();
    state.kernel.couple(Coupling::None);
    for (path, value) in [(CPU1, "1"), (THP, "madvise"), (AUTOGROUP, "1"), (BASE_SLICE, "3000000")]
    {
        state.kernel.write(path, value).unwrap();
    }
    drop(state);
    machine
}

fn change(machine: &SimulatedMachine, path: &str, value: &str) {
    machine.state().kernel.write(path, value).unwrap();
}

fn session(boot_id: &str) -> JournalEntry {
    JournalEntry::Session { boot_id: boot_id.to_owned(), mark: SESSION_MARK.to_owned() }
}

fn this_boot(machine: &SimulatedMachine) -> JournalEntry {
    session(&machine.state().kernel.boot_id())
}

/// An entry of a factor with this order.
fn setting(
    id: u64,
    (factor, order): (&str, u8),
    path: &str,
    (old, new): (&str, &str),
) -> JournalEntry {
    let file = if path == THP { ControlFile::bracketed(path) } else { ControlFile::plain(path) };
    JournalEntry::Setting {
        id,
        factor: factor.to_owned(),
        order,
        file,
        old: old.to_owned(),
        new: new.to_owned(),
        is_of_made: false,
    }
}

/// That a setting was written and read back.
fn made(id: u64, actual: &str) -> [JournalEntry; 2] {
    [JournalEntry::Writing { id }, JournalEntry::Applied { id, actual: actual.to_owned() }]
}

fn directory(name: &str) -> PathBuf {
    Path::new(DATA).join(name).join("scratch")
}

/// Makes a directory that a trial would have made, with a file in it.
fn make_directory(machine: &SimulatedMachine, name: &str) -> PathBuf {
    let path = directory(name);
    machine.make_directories(&path).unwrap();
    machine.state().disk.create(&path.join("left")).unwrap();
    path
}

fn is_there(machine: &SimulatedMachine, path: &Path) -> bool {
    machine.state().disk.node(path).is_some()
}

fn open(machine: &SimulatedMachine) -> contract::Result<Journal> {
    Journal::open(&machine.machine(), permitted())
}

/// A machine's journal says this.
fn write_journal(machine: &SimulatedMachine, text: String) {
    drop(open(machine).unwrap());
    let mut state = machine.state();
    let file = state.disk.file(&Path::new(RUNTIME).join("journal.jsonl")).unwrap();
    state.disk.exchange(file, text.into_bytes());
}

fn write_entries(machine: &SimulatedMachine, entries: &[JournalEntry]) {
    write_journal(machine, journal_text(entries).unwrap());
}

/// What a process restores to which this happens.
fn restored(machine: &SimulatedMachine, faults: Faults) -> contract::Result<RestoreReport> {
    machine.begin_process(faults);
    let report =
        open(machine).and_then(|mut journal| restore(&machine.machine(), &mut journal, false, &[]));
    machine.end_process();
    report
}

#[test]
fn what_is_to_be_put_back_is_listed_with_what_is_there_where_it_is_of_this_boot() {
    let machine = machine();
    change(&machine, THP, "never");
    change(&machine, AUTOGROUP, "0");
    let left = make_directory(&machine, "one");
    let entries = [
        setting(0, ("thp", 50), THP, ("madvise", "never")),
        setting(1, ("autogroup", 40), AUTOGROUP, ("1", "0")),
        setting(2, ("base_slice", 60), BASE_SLICE, ("3000000", "2000000")),
        setting(3, ("gone", 60), GONE, ("1", "2")),
        setting(4, ("other", 60), OTHER, ("1", "2")),
        JournalEntry::LeftAlone { line: "it is another".to_owned(), id: None },
        JournalEntry::Directory { path: left.clone() },
        JournalEntry::Directory { path: directory("two") },
        JournalEntry::Cgroup { cgroup: Cgroup { path: "/sys/fs/cgroup/schedlab.1".to_owned() } },
    ];
    let settings = [
        format!("autogroup: {AUTOGROUP} = 1 (is 0)"),
        format!("thp: {THP} = madvise (is never)"),
        format!("gone: {GONE} = 1 (not there now)"),
    ];
    let others = [
        left.display().to_string(),
        "it is another (left alone)".to_owned(),
        format!("other: no factor here writes {OTHER}: the journal says so, and was not obeyed"),
    ];
    let (this, other) = (this_boot(&machine), session("another"));
    for (session, is_damaged, is_of_boot) in [
        (Some(&this), false, true),
        (Some(&this), true, true),
        (None, false, false),
        (None, true, true),
        (Some(&other), false, false),
        (Some(&other), true, false),
    ] {
        let all: Vec<JournalEntry> = session.into_iter().chain(&entries).cloned().collect();
        let damage = if is_damaged { "x\n" } else { "" };
        write_journal(&machine, journal_text(&all).unwrap() + damage);
        let mut wanted = if is_of_boot { settings.to_vec() } else { Vec::new() };
        wanted.extend(others.iter().cloned());
        wanted.extend(is_damaged.then(|| {
            let line = all.len() + 1;
            format!(
                "{RUNTIME}/journal.jsonl: line {line}: its checksum does not match: what it says \
                 is unknown; read it, then remove it"
            )
        }));
        assert_eq!(pending(&machine.machine(), &permitted()).unwrap(), wanted);
    }
}

#[test]
fn a_file_that_fails_to_be_read_is_not_listed_as_gone() {
    let machine = machine();
    change(&machine, THP, "never");
    write_entries(&machine, &[this_boot(&machine), setting(0, ("thp", 50), THP, ("madvise", "x"))]);
    let mut told = 0;
    for at in 1..=OPERATIONS {
        machine.begin_process(Faults::failing_at(at));
        let lines = pending(&machine.machine(), &permitted()).unwrap_or_default();
        machine.end_process();
        assert!(lines.iter().all(|line| !line.contains("not there now")), "{lines:?}");
        told += usize::from(lines.iter().any(|line| line.contains("os error 5")));
    }
    assert!(told > 0, "no reading of the file failed");
}

#[test]
fn a_file_that_is_gone_failed_unless_another_knob_or_a_trial_had_made_it() {
    for (order, is_made, is_failed) in
        [(50, false, true), (ON_TOP, false, false), (50, true, false)]
    {
        let machine = machine();
        let mut gone = setting(0, ("gone", order), GONE, ("1", "2"));
        if let JournalEntry::Setting { is_of_made, .. } = &mut gone {
            *is_of_made = is_made;
        }
        write_entries(&machine, &[&[this_boot(&machine), gone][..], &made(0, "2")[..]].concat());
        let report = restored(&machine, Faults::default()).unwrap();
        assert_eq!(!report.failed.is_empty(), is_failed, "{report:?}");
        let begin = format!("gone: {GONE} = 1: ");
        assert!(report.failed.iter().all(|line| line.starts_with(&begin)), "{report:?}");
        let text = Journal::read(&machine.machine()).unwrap();
        assert_eq!(text.is_empty(), !is_failed, "{text:?}");
    }
}

#[test]
fn a_setting_is_told_as_back_or_as_failed_whichever_operation_fails() {
    for at in 1..=OPERATIONS {
        let machine = machine();
        change(&machine, THP, "never");
        let entry = setting(0, ("thp", ON_TOP), THP, ("madvise", "never"));
        write_entries(
            &machine,
            &[&[this_boot(&machine), entry][..], &made(0, "never")[..]].concat(),
        );
        let Ok(report) = restored(&machine, Faults::failing_at(at)) else { continue };
        assert_eq!(report.restored.len() + report.failed.len(), 1, "operation {at}: {report:?}");
        if report.failed.is_empty() {
            assert_eq!(report.restored, [format!("thp: {THP} = madvise")]);
            assert_eq!(machine.state().kernel.knobs()[THP], "madvise", "operation {at}");
        }
    }
}

#[test]
fn a_directory_is_removed_or_told_and_stays_where_what_it_is_for_goes_on() {
    let machine = machine();
    let [one, two] = ["one", "two"].map(|name| make_directory(&machine, name));
    let entry = |path: &Path| JournalEntry::Directory { path: path.to_owned() };
    let absent = entry(&directory("three"));
    write_entries(&machine, &[this_boot(&machine), entry(&one), absent, entry(&two)]);
    let keep = [entry(&two)];
    let mut journal = open(&machine).unwrap();
    let report = restore(&machine.machine(), &mut journal, false, &keep).unwrap();
    assert_eq!((report.removed, report.failed), (vec![one.clone()], Vec::new()));
    assert_eq!([is_there(&machine, &one), is_there(&machine, &two)], [false, true]);
    assert_eq!(journal.text().entries, keep);
    drop(journal);
    let mut failed = 0;
    for at in 1..=OPERATIONS {
        write_entries(&machine, &[this_boot(&machine), entry(&make_again(&machine, &one))]);
        let Ok(report) = restored(&machine, Faults::failing_at(at)) else { continue };
        let is_left = is_there(&machine, &one);
        failed += u32::from(is_left);
        assert_eq!(!report.failed.is_empty(), is_left, "operation {at}: {report:?}");
    }
    assert!(failed > 0, "no removal failed");
}

/// The directory, made where it is not there any more.
fn make_again(machine: &SimulatedMachine, path: &Path) -> PathBuf {
    machine.make_directories(path).unwrap();
    path.to_owned()
}

#[test]
fn a_value_is_put_back_only_where_it_came_of_a_setting() {
    let writing = |id| JournalEntry::Writing { id };
    // The kernel took another value than it was given.
    let taken = || made(1, "2500000").to_vec();
    let other = || made(0, "0").to_vec();
    // In which order the other setting is, what was done, and what the slice is found to be.
    for (order, done, current, is_ours) in [
        (10, taken(), "2500000", true),
        (10, taken(), "2000000", true),
        (10, taken(), "5000000", false),
        // The process ended between writing and reading back.
        (10, vec![writing(1)], "5000000", true),
        // It was never written, and what is written before it may have moved it.
        (10, Vec::new(), "5000000", false),
        (10, other(), "5000000", true),
        (50, other(), "5000000", true),
        (60, other(), "5000000", false),
    ] {
        let machine = machine();
        change(&machine, BASE_SLICE, current);
        let entries = [
            this_boot(&machine),
            setting(0, ("autogroup", order), AUTOGROUP, ("1", "0")),
            setting(1, ("base_slice", 50), BASE_SLICE, ("3000000", "2000000")),
        ];
        write_entries(&machine, &[&entries[..], &done[..]].concat());
        let report = restored(&machine, Faults::default()).unwrap();
        let slice = machine.state().kernel.knobs()[BASE_SLICE].clone();
        assert_eq!(slice, if is_ours { "3000000" } else { current }, "{done:?}: {report:?}");
        assert_eq!(report.left_alone.is_empty(), is_ours, "{done:?}: {report:?}");
        assert_eq!(report.failed, [""; 0], "{done:?}");
    }
}

#[test]
fn nothing_is_told_as_back_that_is_not_where_the_journal_cannot_be_opened() {
    let mut unwritten = 0;
    for at in 1..=2 * OPERATIONS {
        let machine = machine();
        change(&machine, THP, "never");
        let entry = setting(0, ("thp", 50), THP, ("madvise", "never"));
        let entries = [&[this_boot(&machine), entry][..], &made(0, "never")[..]].concat();
        write_entries(&machine, &entries);
        machine.begin_process(Faults::failing_at(at));
        let report = restore_leftovers(&machine.machine(), permitted(), "a test");
        machine.end_process();
        let Ok(report) = report else { continue };
        if !report.failed.is_empty() {
            continue;
        }
        assert_eq!(machine.state().kernel.knobs()[THP], "madvise", "operation {at}: {report:?}");
        // A journal that still says it is told as one that could not be written.
        let is_said = !Journal::read(&machine.machine()).unwrap().is_empty();
        assert!(!is_said || report.unwritten.is_some(), "operation {at}: {report:?}");
        unwritten += u32::from(is_said);
    }
    assert!(unwritten > 1, "the journal could always be opened");
}

#[test]
fn what_somebody_else_set_stays_although_putting_back_another_setting_moves_it() {
    let machine = machine();
    change(&machine, CPU1, "0");
    change(&machine, BASE_SLICE, "5000000");
    let entries = [
        &[
            this_boot(&machine),
            setting(0, ("online_cpus", 10), CPU1, ("1", "0")),
            setting(1, ("base_slice", 50), BASE_SLICE, ("3000000", "2000000")),
        ][..],
        &made(0, "0")[..],
        &made(1, "2000000")[..],
    ]
    .concat();
    write_entries(&machine, &entries);
    let report = restored(&machine, Faults::default()).unwrap();
    let line = format!("base_slice: {BASE_SLICE} = 3000000, but it is 5000000");
    assert_eq!(report.left_alone, [line]);
    assert_eq!(report.failed, [""; 0]);
    assert!(report.restored.contains(&format!("online_cpus: {CPU1} = 1")), "{report:?}");
    let knobs = machine.state().kernel.knobs().clone();
    assert_eq!([&knobs[CPU1], &knobs[BASE_SLICE]], ["1", "5000000"]);
}

#[test]
fn what_was_left_alone_is_left_alone_again_where_it_is_what_a_trial_had_set_it_to() {
    let machine = machine();
    change(&machine, CPU1, "0");
    change(&machine, BASE_SLICE, "5000000");
    let entries = [
        &[
            this_boot(&machine),
            setting(0, ("online_cpus", 10), CPU1, ("1", "0")),
            setting(1, ("base_slice", 50), BASE_SLICE, ("3000000", "2000000")),
        ][..],
        &made(0, "0")[..],
        &made(1, "2000000")[..],
    ]
    .concat();
    write_entries(&machine, &entries);
    machine.state().kernel.refuse(Some(CPU1));
    let report = restored(&machine, Faults::default()).unwrap();
    assert_eq!((report.left_alone.len(), report.failed.len()), (1, 1), "{report:?}");
    machine.state().kernel.refuse(None);
    change(&machine, BASE_SLICE, "2000000");
    let report = restored(&machine, Faults::default()).unwrap();
    let line = format!("base_slice: {BASE_SLICE} = 5000000, but it is 2000000");
    assert!(report.left_alone.contains(&line), "{report:?}");
    let knobs = machine.state().kernel.knobs().clone();
    assert_eq!([&knobs[CPU1], &knobs[BASE_SLICE]], ["1", "2000000"]);
}

#[test]
fn a_journal_forgets_what_was_left_alone_once_it_was_told_and_nothing_else() {
    let some = || vec!["a line".to_owned()];
    let told = RestoreReport { left_alone: some(), ..RestoreReport::default() };
    for (report, is_kept) in [
        (RestoreReport::default(), true),
        (RestoreReport { failed: some(), ..RestoreReport::default() }, true),
        (RestoreReport { failed: some(), ..told.clone() }, true),
        (told, false),
    ] {
        let machine = machine();
        write_entries(&machine, &[JournalEntry::Group { group: 7 }]);
        let mut journal = open(&machine).unwrap();
        acknowledge(&mut journal, &report, &[]).unwrap();
        assert_eq!(!journal.text().is_empty(), is_kept, "{report:?}");
    }
}

#[test]
fn a_report_says_whether_all_is_back_and_whether_anything_was_done() {
    let none = RestoreReport::default;
    let some = || vec!["a line".to_owned()];
    for (report, is_complete, is_empty) in [
        (none(), true, true),
        (RestoreReport { restored: some(), ..none() }, true, false),
        (RestoreReport { ended: vec![7], ..none() }, true, false),
        (RestoreReport { removed: vec![directory("one")], ..none() }, true, true),
        (RestoreReport { left_alone: some(), ..none() }, false, false),
        (RestoreReport { failed: some(), ..none() }, false, false),
        (RestoreReport { unwritten: Some("full".to_owned()), ..none() }, true, false),
        (RestoreReport { warnings: some(), ..none() }, true, true),
    ] {
        assert_eq!(
            (report.is_complete(), report.is_empty()),
            (is_complete, is_empty),
            "{report:?}"
        );
        let is_all_known = is_complete && report.unwritten.is_none();
        assert_eq!(report.into_result().is_ok(), is_all_known);
    }
    let unwritten = RestoreReport { unwritten: Some("full".to_owned()), ..none() };
    let error = unwritten.into_result().unwrap_err();
    assert_eq!((error.kind, error.cause.as_str()), (ErrorKind::Environment, "full"));
    let left = RestoreReport {
        left_alone: vec!["another".to_owned()],
        failed: vec!["kept".to_owned()],
        unwritten: Some("full".to_owned()),
        warnings: vec!["a warning".to_owned()],
        ..none()
    };
    let error = left.into_result().unwrap_err();
    let cause = "kept; another (changed by someone else: left alone); full; a warning";
    assert_eq!((error.kind, error.cause.as_str()), (ErrorKind::RestoreIncomplete, cause));
}

#[test]
fn a_file_that_does_not_have_its_form_is_told_with_what_it_should_show() {
    let machine = machine();
    let told = |file: ControlFile| file.read(&machine.machine()).unwrap_err().to_string();
    let bracketed = told(ControlFile::bracketed(AUTOGROUP));
    assert!(bracketed.contains("`1` does not show a choice in brackets"), "{bracketed}");
    let flag = told(ControlFile::flag(AUTOGROUP, "RUN"));
    assert!(flag.contains("`1` does not show the flag RUN"), "{flag}");
    let file = ControlFile::flag(THP, "RUN");
    assert_eq!(file.value_in("OTHER NO_RUN").as_deref(), Some("NO_RUN"));
    assert_eq!(file.value_in("RUN OTHER").as_deref(), Some("RUN"));
    assert_eq!(ControlFile::plain(AUTOGROUP).read(&machine.machine()).unwrap(), "1");
}

#[test]
fn directories_are_made_where_they_are_not_there_and_never_in_place_of_a_file() {
    let machine = machine();
    let path = make_directory(&machine, "one");
    machine.make_directories(&path).unwrap();
    let file = path.join("left");
    assert!(machine.make_directories(&file).is_err(), "a file has that name");
    assert!(machine.make_directories(&file.join("below")).is_err(), "a file is above");
    assert!(is_there(&machine, &file));
}
