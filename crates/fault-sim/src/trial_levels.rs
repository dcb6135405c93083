//! Levels of a trial in files of a simulated kernel, and beside them: in which order they come into
//! force and go, what of them can be undone, and what the journal says meanwhile. A schedule seldom
//! has a level that lies in another, one that is held, or a kernel that takes nothing back.

use crate::disk::Node;
use crate::extra_files::SideEffect;
use crate::faults::Faults;
use crate::machine::SimulatedMachine;
use crate::trial_factors::{FileKnob, Questions, TestFactor, TestKnob, directory, opened, trial};
use contract::{Error, ErrorKind, Event, FIRST_KNOB, Factor, KnownLimit, ON_TOP, Phase, UndoCheck};
use executor::{Journal, JournalEntry, factor_needs};
use model::{Level, Outcome, StorageKind, StorageTarget, Subject};
use std::collections::BTreeSet;

const NUMBER: &str = "/sys/kernel/number";
const OTHER: &str = "/sys/kernel/other";
const LIMITED: &str = "/sys/kernel/limited";
const LOCKED: &str = "/sys/kernel/locked";
const ELEVATOR: &str = "/sys/block/sim0/queue/scheduler";
/// A file of the elevator bfq.
const SLICE_IDLE: &str = "/sys/block/sim0/queue/iosched/slice_idle";
const REQUESTS: &str = "/sys/block/sim0/queue/nr_requests";
/// More operations than asking whether a level can be undone takes.
const OPERATIONS: u64 = 60;
/// More than a trial without invocations makes until its levels are in force.
const OPERATIONS_OF_TRIAL: u64 = 200;
const FROM_4: UndoCheck = UndoCheck::KnownLimit(KnownLimit {
    takes: "a number from 4 up",
    why_not_written: "it would be raised",
    is_taken: |present| present.parse::<u64>().is_ok_and(|number| number >= 4),
});

/// Levels by the ids of their factors.
type Levels<'a> = &'a [(&'a str, &'a str)];

/// A machine with these files.
fn machine(files: &[(&'static str, &str)]) -> SimulatedMachine {
    let machine = SimulatedMachine::new(1, false);
    for (path, text) in files {
        machine.state().kernel.extra().put(path, text);
    }
    machine
}

/// What a file of it holds.
fn value(machine: &SimulatedMachine, path: &str) -> Option<String> {
    machine.state().kernel.read(path).ok().map(|text| text.trim().to_owned())
}

fn number() -> TestFactor {
    TestFactor::in_file("number", NUMBER)
}

/// A factor of which nothing shows that it can be undone.
fn unknown(id: &'static str, path: &'static str) -> TestFactor {
    TestFactor { undo: UndoCheck::Refused, ..TestFactor::in_file(id, path) }
}

/// What came of a trial without invocations, after which all is as before, and what `look` sees
/// when its levels are in force.
fn ran<T>(
    machine: &SimulatedMachine,
    factors: &[&'static dyn Factor],
    levels: Levels<'_>,
    mut look: impl FnMut() -> T,
) -> (Outcome, Option<T>) {
    let (mut executor, _reader) = opened(machine, factors);
    let mut seen = None;
    let record = executor.run(&trial(levels, 0), &mut |event| {
        if matches!(event, Event::TrialPhase(Phase::Settling)) {
            seen = Some(look());
        }
    });
    let outcome = record.unwrap().outcome.clone();
    executor.close().unwrap();
    assert_eq!(machine.verdict().0, [""; 0]);
    (outcome, seen)
}

/// Why the levels of these subjects are refused before a run, and what the journal says of them
/// where they are not.
fn asked(
    machine: &SimulatedMachine,
    factors: &[&'static dyn Factor],
    subjects: &[Levels<'_>],
) -> (Option<Error>, Vec<String>) {
    let (executor, _reader) = opened(machine, factors);
    let named = |(number, levels): (u32, &Levels<'_>)| {
        fixtures::subject(&format!("subject-{number}"), levels)
    };
    let subjects: Vec<Subject> = (0..).zip(subjects).map(named).collect();
    match executor.able_to_undo(&subjects) {
        Ok(executor) => {
            let text = Journal::read(&machine.machine()).unwrap();
            executor.close().unwrap();
            assert_eq!(machine.verdict().0, [""; 0]);
            (None, text.entries.iter().filter_map(told).collect())
        }
        Err(error) => (Some(error), Vec::new()),
    }
}

/// What an entry says of settings.
fn told(entry: &JournalEntry) -> Option<String> {
    Some(match entry {
        JournalEntry::Setting { id, file, old, new, .. } => {
            format!("{id}: {} from {old} to {new}", file.path)
        }
        JournalEntry::Writing { id } => format!("{id} is written"),
        JournalEntry::Applied { id, actual } => format!("{id} is {actual}"),
        JournalEntry::Settled { id } => format!("{id} is settled"),
        JournalEntry::Restoring => "all is put back".to_owned(),
        JournalEntry::RestoringEnded => "all is back".to_owned(),
        _ => return None,
    })
}

#[test]
fn what_knobs_lie_in_is_made_before_them_and_what_is_held_comes_after_them() {
    let machine = machine(&[(NUMBER, "1")]);
    let questions = Questions::default();
    let held = |id, order| TestFactor::held(id, order, (NUMBER, &questions), None).listed();
    let factors = [
        number().listed(),
        held("made", FIRST_KNOB - 1),
        held("held", FIRST_KNOB),
        held("late", 50),
    ];
    let levels = [("number", "8"), ("made", "a"), ("held", "b"), ("late", "c")];
    let (outcome, seen) = ran(&machine, &factors, &levels, || value(&machine, NUMBER));
    assert_eq!((outcome, seen), (Outcome::Completed, Some(Some("8".to_owned()))));
    let wanted = [
        "made = a is held, the file is 1",
        "held = b is held, the file is 8",
        "late = c is held, the file is 8",
        "late is given up, the file is 8",
        "held is given up, the file is 8",
        "made is given up, the file is 1",
    ];
    assert_eq!(questions.take(), wanted);
}

#[test]
fn a_level_that_lies_in_another_is_set_after_it_and_gone_with_it() {
    let machine = machine(&[(ELEVATOR, "none")]);
    let mut state = machine.state();
    for (value, becomes) in [("bfq", Some("8")), ("none", None)] {
        let (value, other) = (Some(value), SLICE_IDLE);
        state.kernel.extra().add_effect(SideEffect { written: ELEVATOR, value, other, becomes });
    }
    drop(state);
    let idle = TestFactor { order: ON_TOP, ..TestFactor::in_file("slice_idle", SLICE_IDLE) };
    let factors = [TestFactor::in_file("elevator", ELEVATOR).listed(), idle.listed()];
    let levels = [("elevator", "bfq"), ("slice_idle", "0")];
    let now = || [ELEVATOR, SLICE_IDLE].map(|path| value(&machine, path));
    let (outcome, seen) = ran(&machine, &factors, &levels, now);
    assert_eq!(outcome, Outcome::Completed);
    assert_eq!(seen, Some(["bfq", "0"].map(|text| Some(text.to_owned()))));
    assert_eq!(now(), [Some("none".to_owned()), None]);
}

#[test]
fn files_of_a_device_that_was_made_go_with_it_and_are_not_asked_about() {
    let machine = machine(&[(NUMBER, "1"), (REQUESTS, "1")]);
    let target = StorageTarget {
        kind: StorageKind::Device,
        path: "/dev/sim0".to_owned(),
        device: Some("sim0".to_owned()),
        size_bytes: 0,
        is_made: true,
        cached_by: None,
        identity: None,
    };
    let questions = Questions::default();
    let made = TestFactor::held("device", FIRST_KNOB - 1, (NUMBER, &questions), Some(target));
    let factors = [made.listed(), number().listed(), unknown("requests", REQUESTS).listed()];
    let levels = [("device", "made"), ("number", "8"), ("requests", "9")];
    let of_made = || {
        let entries = Journal::read(&machine.machine()).unwrap().entries;
        let settings = entries.into_iter().filter_map(|entry| match entry {
            JournalEntry::Setting { factor, is_of_made, .. } => Some((factor, is_of_made)),
            _ => None,
        });
        settings.collect::<BTreeSet<_>>()
    };
    let (outcome, seen) = ran(&machine, &factors, &levels, of_made);
    assert_eq!(outcome, Outcome::Completed);
    let wanted = [("number", false), ("requests", true)].map(|(id, is)| (id.to_owned(), is));
    assert_eq!(seen, Some(BTreeSet::from(wanted)));
    assert_eq!([NUMBER, REQUESTS].map(|path| value(&machine, path).unwrap()), ["1", "1"]);
}

#[test]
fn a_level_that_reads_back_as_another_makes_its_trial_invalid() {
    let machine = machine(&[(NUMBER, "1")]);
    let knob =
        TestKnob::File(FileKnob { path: NUMBER, read_back: Some("9"), ..FileKnob::default() });
    let factors = [TestFactor { knob, ..number() }.listed()];
    let (outcome, seen) = ran(&machine, &factors, &[("number", "8")], || ());
    let detail = "number should be 8 and is 9".to_owned();
    assert_eq!(outcome, Outcome::Invalid { rule: "LEVEL_NOT_SET".to_owned(), detail });
    assert_eq!(seen, None);
}

#[test]
fn a_level_of_a_process_is_read_of_no_threads_and_given_to_what_is_started() {
    let machine = machine(&[]);
    let questions = Questions::default();
    let factors = [TestFactor::launched("nice", &questions).listed()];
    let levels = [("nice", "5")];
    let (outcome, _) = ran(&machine, &factors, &levels, || ());
    assert_eq!(outcome, Outcome::Completed);
    assert_eq!(questions.take(), [""; 0], "nothing was started");
    let (mut executor, _reader) = opened(&machine, &factors);
    // There is no program to start.
    assert!(executor.run(&trial(&levels, 1), &mut |_| {}).is_err());
    assert_eq!(questions.take(), ["a process is started with nice = 5"]);
    executor.close().unwrap();
}

#[test]
fn a_file_that_nobody_can_read_and_a_level_is_said_to_move_stops_no_trial() {
    let machine = machine(&[(NUMBER, "1"), (OTHER, "3")]);
    machine.state().kernel.extra().put_locked(LOCKED);
    let moves = [LOCKED, OTHER].map(str::to_owned).to_vec();
    let other = TestFactor::in_file("other", OTHER).listed();
    let factors = [TestFactor { moves, ..number() }.listed(), other];
    let (outcome, seen) = ran(&machine, &factors, &[("number", "8")], || {
        let entries = Journal::read(&machine.machine()).unwrap().entries;
        let mut told = entries.iter().filter_map(told);
        told.any(|line| line.ends_with(": /sys/kernel/other from 3 to 3"))
    });
    assert_eq!((outcome, seen), (Outcome::Completed, Some(true)));
}

#[test]
fn what_a_level_moves_is_put_back_with_it_whichever_operation_of_its_trial_fails() {
    let moves = vec![OTHER.to_owned()];
    let other = TestFactor::in_file("other", OTHER).listed();
    let factors = [TestFactor { moves, ..number() }.listed(), other];
    let becomes = Some("7");
    let effect = SideEffect { written: NUMBER, value: Some("8"), other: OTHER, becomes };
    for at in 1..=OPERATIONS_OF_TRIAL {
        let machine = machine(&[(NUMBER, "1"), (OTHER, "3")]);
        machine.state().kernel.extra().add_effect(effect);
        let (mut executor, _reader) = opened(&machine, &factors);
        machine.begin_process(Faults::failing_at(at));
        // What it says of it is no matter here.
        let _ = executor.run(&trial(&[("number", "8")], 0), &mut |_| {});
        machine.begin_process(Faults::default());
        if executor.close().is_ok() {
            let now = [NUMBER, OTHER].map(|path| value(&machine, path).unwrap());
            assert_eq!(now, ["1", "3"], "operation {at}");
        }
    }
}

#[test]
fn a_present_value_is_written_back_once_for_all_subjects_and_settled() {
    let machine = machine(&[(NUMBER, "1"), (OTHER, "3"), (LIMITED, "5")]);
    let limited = TestFactor { undo: FROM_4, ..TestFactor::in_file("limited", LIMITED) };
    let factors =
        [number().listed(), limited.listed(), TestFactor::in_file("other", OTHER).listed()];
    let subjects: [Levels<'_>; 4] = [
        &[("number", "8")],
        &[("limited", "6"), ("number", "9")],
        &[("other", "7")],
        &[("other", "3")],
    ];
    let (error, told) = asked(&machine, &factors, &subjects);
    assert_eq!(error, None);
    let wanted = [
        "0: /sys/kernel/number from 1 to 1",
        "all is put back",
        "0 is written",
        "0 is 1",
        "0 is settled",
        "all is back",
        "1: /sys/kernel/other from 3 to 3",
        "all is put back",
        "1 is written",
        "1 is 3",
        "1 is settled",
        "all is back",
    ];
    assert_eq!(told, wanted);
}

#[test]
fn what_could_not_be_undone_is_refused_with_what_the_file_holds() {
    let limited = || TestFactor { undo: FROM_4, ..number() };
    let of_limit = "the kernel takes back only a number from 4 up";
    for (factor, why) in [
        (unknown("number", NUMBER), "nothing shows that the kernel takes it back"),
        (limited(), of_limit),
    ] {
        let factor = factor.listed();
        let why = format!("{NUMBER} holds 1, and {why}");
        let machine = machine(&[(NUMBER, "1")]);
        let error = asked(&machine, &[factor], &[&[("number", "8")]]).0.unwrap();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert_eq!(error.attempted, "cannot set the levels of subject-0");
        assert_eq!(error.cause, format!("number = 8: it could not be undone: {why}"));
        assert_eq!(asked(&machine, &[factor], &[&[("number", "1")]]), (None, Vec::new()));
        let needs = factor_needs(factor, &Level::canonical("8"));
        assert_eq!(
            needs.iter().map(|need| need.what()).collect::<Vec<_>>(),
            ["a way back from number = 8"]
        );
        let missing = needs[0].met(&machine.machine()).unwrap_err();
        assert_eq!(missing.why, why);
        assert!(missing.remedy.starts_with("leave this factor out"), "{missing:?}");
        let in_force = factor_needs(factor, &Level::canonical("1"));
        assert_eq!(in_force[0].met(&machine.machine()), Ok(()));
        assert_eq!(value(&machine, NUMBER).unwrap(), "1");
    }
    let taken = machine(&[(NUMBER, "5")]);
    let factors = [limited().listed()];
    assert_eq!(asked(&taken, &factors, &[&[("number", "8")]]), (None, Vec::new()));
    assert_eq!(factor_needs(number().listed(), &Level::canonical("8")).len(), 0);
}

#[test]
fn what_this_machine_has_not_got_is_left_to_the_trial_and_what_is_not_known_is_refused() {
    let machine = machine(&[(NUMBER, "1")]);
    let levels: [Levels<'_>; 1] = [&[("number", "8")]];
    let gone = [unknown("number", OTHER).listed()];
    assert_eq!(asked(&machine, &gone, &levels), (None, Vec::new()));
    for (kind, is_known) in [(ErrorKind::Unsupported, true), (ErrorKind::Environment, false)] {
        let knob =
            TestKnob::File(FileKnob { path: NUMBER, untold: Some(kind), ..FileKnob::default() });
        let factors = [TestFactor { knob, ..unknown("number", NUMBER) }.listed()];
        let error = asked(&machine, &factors, &levels).0;
        assert_eq!(error.is_none(), is_known, "{error:?}");
        assert!(error.is_none_or(|error| error.attempted == "cannot tell the file"));
    }
}

#[test]
fn a_level_is_refused_that_cannot_be_undone_whichever_operation_fails() {
    let factors = [unknown("number", NUMBER).listed()];
    let subject = fixtures::subject("set", &[("number", "8")]);
    for at in 1..=OPERATIONS {
        let machine = machine(&[(NUMBER, "1")]);
        let (executor, _reader) = opened(&machine, &factors);
        machine.begin_process(Faults::failing_at(at));
        let asked = executor.able_to_undo(std::slice::from_ref(&subject));
        assert!(asked.is_err(), "operation {at}");
    }
}

#[test]
fn a_file_that_another_ones_present_value_moves_is_put_back_at_once() {
    let machine = machine(&[(NUMBER, "1"), (OTHER, "3")]);
    let effect = SideEffect { written: OTHER, value: None, other: NUMBER, becomes: Some("7") };
    machine.state().kernel.extra().add_effect(effect);
    let factors = [number().listed(), TestFactor::in_file("other", OTHER).listed()];
    let (error, told) = asked(&machine, &factors, &[&[("number", "8"), ("other", "8")]]);
    assert_eq!(error, None);
    assert_eq!([NUMBER, OTHER].map(|path| value(&machine, path).unwrap()), ["1", "3"]);
    assert_eq!(told.last().map(String::as_str), Some("all is back"));
}

#[test]
fn two_files_that_move_each_other_are_refused_by_the_name_of_the_first() {
    let machine = machine(&[(NUMBER, "1"), (OTHER, "3")]);
    for (written, other) in [(NUMBER, OTHER), (OTHER, NUMBER)] {
        let effect = SideEffect { written, value: None, other, becomes: Some("7") };
        machine.state().kernel.extra().add_effect(effect);
    }
    let factors = [number().listed(), TestFactor::in_file("other", OTHER).listed()];
    let (mut executor, _reader) = opened(&machine, &factors);
    let levels = [("number", "8"), ("other", "8")];
    let record = executor.run(&trial(&levels, 0), &mut |_| {}).unwrap();
    let detail = "number = 8: it could not be undone: the present value: the kernel changes it \
                  where another file's is written back"
        .to_owned();
    assert_eq!(record.outcome, Outcome::Invalid { rule: "LEVEL_NOT_SET".to_owned(), detail });
    assert_eq!(executor.close().unwrap_err().kind, ErrorKind::RestoreIncomplete);
}

#[test]
fn directories_that_an_executor_makes_survive_a_cut_of_power() {
    for seed in 0..20 {
        let machine = SimulatedMachine::new(seed, false);
        drop(opened(&machine, &[]));
        machine.lose_power();
        let logs = machine.state().disk.node(&directory().join("logs"));
        assert_eq!(logs, Some(Node::Directory), "{seed}");
    }
}
