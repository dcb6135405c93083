//! What the reader of a journal makes of lines that are torn, damaged or of an earlier version, and
//! what its writer answers where the journal was taken from it or has no space: cases that a
//! schedule seldom comes to, each with the words that must be told.

use crate::faults::Faults;
use crate::kernel::THP;
use crate::machine::{RUNTIME, SESSION_MARK, SimulatedMachine};
use contract::ErrorKind;
use executor::{
    Journal, JournalEntry, JournalText, PermittedChanges, journal_line, journal_text, parse_journal,
};
use model::JOURNAL_BYTES;
use std::path::{Path, PathBuf};
use sys::ControlFile;

/// More operations than opening or replacing a journal takes.
const OPERATIONS: u64 = 40;
/// Entries that a trial may append on a disk that is full.
const ENTRIES_OF_TRIAL: i32 = 300;
const CHECKSUM: &str = "its checksum does not match";
const NO_NUMBER: &str = "it has neither number nor checksum";
const REST: &str = "what else stands there is not as it was written";

fn group(group: i32) -> JournalEntry {
    JournalEntry::Group { group }
}

/// So many entries.
fn groups(count: i32) -> Vec<JournalEntry> {
    (2..2 + count).map(group).collect()
}

/// The line of this number.
fn line(number: u64) -> String {
    journal_line(number, &group(9)).unwrap()
}

/// The text of entries as an earlier version wrote it: without numbers.
fn earlier(entries: &[JournalEntry]) -> String {
    let text = journal_text(entries).unwrap();
    let parts = text.lines().filter_map(|line| line.splitn(3, ' ').nth(2));
    parts.map(|entry| format!("{entry}\n")).collect()
}

fn path() -> PathBuf {
    Path::new(RUNTIME).join("journal.jsonl")
}

fn open(machine: &SimulatedMachine) -> contract::Result<Journal> {
    Journal::open(&machine.machine(), PermittedChanges::to([THP.to_owned()]))
}

fn read(machine: &SimulatedMachine) -> JournalText {
    Journal::read(&machine.machine()).unwrap()
}

/// Gives the journal another text.
fn edit(machine: &SimulatedMachine, text: &[u8]) {
    let mut state = machine.state();
    let file = state.disk.file(&path()).unwrap();
    state.disk.exchange(file, text.to_owned());
}

/// The entries that are whole in the first bytes of a text of entries: a line without its end is.
fn whole<'e>(entries: &'e [JournalEntry], text: &str, length: usize) -> &'e [JournalEntry] {
    let ends = text[..length].matches('\n').count();
    let is_end = length > 0 && text[length..].starts_with('\n');
    &entries[..ends + usize::from(is_end)]
}

#[test]
fn an_append_is_dropped_wherever_it_was_torn_and_used_where_its_end_alone_is_not_there() {
    let entries = groups(12);
    for text in [journal_text(&entries).unwrap(), earlier(&entries)] {
        for length in 0..=text.len() {
            let wanted = whole(&entries, &text, length);
            let found = parse_journal(&text[..length]);
            assert_eq!(found.entries, wanted, "{length}");
            assert_eq!(found.damaged, [""; 0], "{length}");
            assert_eq!(found.last_number, wanted.len() as u64, "{length}");
        }
    }
}

#[test]
fn what_is_appended_behind_a_torn_line_is_read_wherever_it_was_torn() {
    let entries = groups(3);
    for text in [journal_text(&entries).unwrap(), earlier(&entries)] {
        let machine = SimulatedMachine::new(1, false);
        drop(open(&machine).unwrap());
        for length in 0..=text.len() {
            edit(&machine, &text.as_bytes()[..length]);
            let mut wanted = whole(&entries, &text, length).to_vec();
            let mut journal = open(&machine).unwrap();
            assert_eq!(journal.text().entries, wanted, "{length}");
            journal.append(&group(50)).unwrap();
            journal.append(&group(51)).unwrap();
            wanted.extend([group(50), group(51)]);
            let last_number = wanted.len() as u64;
            let wanted = JournalText { entries: wanted, damaged: Vec::new(), last_number };
            assert_eq!(*journal.text(), wanted, "{length}");
            assert_eq!(read(&machine), wanted, "{length}");
        }
    }
}

#[test]
fn an_end_that_no_torn_append_leaves_is_told() {
    let begin = line(1) + &line(2);
    for (end, why) in [
        ("3 zzz", CHECKSUM),
        ("4 ", CHECKSUM),
        ("3 \0", CHECKSUM),
        ("3 012345678", CHECKSUM),
        ("3 012345678 {", CHECKSUM),
        ("3 0123 {", CHECKSUM),
        ("3 0123 ", CHECKSUM),
        ("3 01234567 x", CHECKSUM),
        ("3 01234567 [", CHECKSUM),
        ("3 01234567 {}", CHECKSUM),
        ("{\"entry\":", NO_NUMBER),
        ("x", CHECKSUM),
    ] {
        let found = parse_journal(&format!("{begin}{end}"));
        assert_eq!(found.entries, [group(9), group(9)], "{end}");
        assert_eq!(found.damaged, [format!("line 3: {why}")], "{end}");
        assert_eq!(found.last_number, 3, "{end}");
    }
}

#[test]
fn a_torn_append_behind_lines_that_cannot_be_read_has_the_number_that_follows_theirs() {
    let begin = line(1) + &line(2);
    for unread in ["x\n", "x\ny\n"] {
        let lines = 2 + unread.len() as u64 / 2;
        let torn = line(lines + 1);
        let found = parse_journal(&format!("{begin}{unread}{}", &torn[..6]));
        assert_eq!(found.entries, [group(9), group(9)]);
        let wanted = if lines == 3 { "line 3" } else { "each of lines 3 to 4" };
        assert_eq!(found.damaged, [format!("{wanted}: {CHECKSUM}")]);
    }
}

#[test]
fn lines_of_an_earlier_version_are_counted_and_none_stands_behind_one_with_a_number() {
    let entries = groups(3);
    let lines = earlier(&entries);
    let begun = format!("{lines}{}", journal_line(4, &group(50)).unwrap());
    let found = parse_journal(&begun);
    assert_eq!(found.entries, [&entries[..], &[group(50)][..]].concat());
    assert_eq!((found.damaged, found.last_number), (Vec::new(), 4));
    let first = lines.lines().next().unwrap();
    let damaged = parse_journal(&format!("{first}\nx\ny\n{first}\n{}", line(5)));
    assert_eq!(damaged.entries, [group(2), group(2), group(9)]);
    assert_eq!(damaged.damaged, [format!("each of lines 2 to 3: {CHECKSUM}")]);
    assert_eq!(damaged.last_number, 5);
    let behind = parse_journal(&format!("{}{first}\n", line(1)));
    assert_eq!(behind.entries, [group(9)]);
    assert_eq!(behind.damaged, [format!("line 2: {NO_NUMBER}")]);
    assert_eq!(behind.last_number, 2);
}

#[test]
fn good_lines_within_a_damaged_one_are_used_and_what_else_stands_there_took_a_number() {
    let [one, two] = [1, 2].map(|number| line(number).trim_end().to_owned());
    let long = "0".repeat(21);
    for (text, good, is_all) in [
        (format!("{one} {two}"), 2, true),
        (format!(" {one}\t{two} "), 2, true),
        (format!("junk {one} {two}"), 2, false),
        (format!("{one} junk {two}"), 2, false),
        (format!("{one} {two} junk"), 2, false),
        (format!("{one} 9 {two}"), 2, false),
        (format!("{one} 9 x {two}"), 2, false),
        (format!("{one} 12 3 {two} 7"), 2, false),
        (format!("7{one}"), 1, false),
        (format!("{long}{one}"), 1, false),
        (format!("{one} {long} 4"), 1, false),
    ] {
        let found = parse_journal(&format!("{text}\n{}", line(8)));
        assert_eq!(found.entries, vec![group(9); good + 1], "{text}");
        let first = good + 1 + usize::from(!is_all);
        let wanted = [
            format!("line 1: it holds {good} good ones; {REST}"),
            format!("numbers {first} to 7 are not there"),
        ];
        assert_eq!(found.damaged, wanted, "{text}");
        assert_eq!(found.last_number, 8, "{text}");
    }
    // What stands behind the last good line took a number, too.
    assert_eq!(parse_journal(&format!("{one} {two} junk\n")).last_number, 3);
    assert_eq!(parse_journal(&format!("{one} {two}\n")).last_number, 2);
}

#[test]
fn damage_is_told_in_few_lines() {
    let found = parse_journal(&format!("{}x\ny\nz\n{}{{}}\nx\n", line(1), line(5)));
    assert_eq!(found.entries.len(), 2);
    let wanted = [
        format!("each of lines 2 to 4: {CHECKSUM}"),
        format!("line 6: {NO_NUMBER}"),
        format!("line 7: {CHECKSUM}"),
    ];
    assert_eq!(found.damaged, wanted);
    for (places, more) in [(20, None), (21, Some(1)), (25, Some(5))] {
        let alternate = ["{}\n", "x\n"].into_iter().cycle().take(places);
        let text = line(1) + &alternate.collect::<String>();
        let told = parse_journal(&text).damaged;
        let first: Vec<String> = (0..places.min(20))
            .map(|place| {
                let why = if place.is_multiple_of(2) { NO_NUMBER } else { CHECKSUM };
                format!("line {}: {why}", place + 2)
            })
            .collect();
        let more = more.map(|more: u64| format!("{more} more places are damaged or not there"));
        assert_eq!(told, first.into_iter().chain(more).collect::<Vec<_>>());
    }
}

#[test]
fn a_number_that_none_can_follow_is_no_lines_and_no_settings() {
    let largest = u64::MAX / 2;
    let found = parse_journal(&(line(1) + &line(largest)));
    assert_eq!(found.entries, [group(9)]);
    assert_eq!(found.damaged, [format!("line 2: {CHECKSUM}")]);
    let close = parse_journal(&line(largest - 1));
    assert_eq!(close.last_number, largest - 1);
    let setting = |id| JournalEntry::Setting {
        id,
        factor: "thp".to_owned(),
        order: 50,
        file: ControlFile::bracketed(THP),
        old: "madvise".to_owned(),
        new: "never".to_owned(),
        is_of_made: false,
    };
    for (ids, next) in [(&[3, largest][..], 4), (&[largest - 1, 2][..], largest), (&[][..], 0)] {
        let machine = SimulatedMachine::new(1, false);
        drop(open(&machine).unwrap());
        let entries: Vec<JournalEntry> = ids.iter().copied().map(setting).collect();
        edit(&machine, journal_text(&entries).unwrap().as_bytes());
        let mut journal = open(&machine).unwrap();
        assert_eq!([journal.next_id(), journal.next_id()], [next, next + 1]);
    }
}

#[test]
fn a_journal_is_empty_where_it_says_nothing_and_nothing_of_it_is_unknown() {
    assert!(JournalText::default().is_empty());
    assert!(!parse_journal(&line(1)).is_empty());
    assert!(!parse_journal("x\n").is_empty());
}

#[test]
fn nothing_is_announced_in_a_journal_that_was_deleted_replaced_or_cut() {
    for harm in 0..4 {
        let machine = SimulatedMachine::new(1, false);
        let mut journal = open(&machine).unwrap();
        journal.append(&group(2)).unwrap();
        let mut state = machine.state();
        let file = state.disk.file(&path()).unwrap();
        let text = state.disk.bytes(file).to_owned();
        match harm {
            0 => {}
            1 => state.disk.remove(&path()).unwrap(),
            2 => state.disk.set_length(file, text.len() - 1),
            _ => {
                state.disk.remove(&path()).unwrap();
                let other = state.disk.create(&path()).unwrap();
                state.disk.write(other, 0, &text);
            }
        }
        drop(state);
        let appended = journal.append(&group(3));
        assert_eq!(appended.is_ok(), harm == 0, "{harm}");
        if let Err(error) = appended {
            assert_eq!(
                error.attempted,
                format!("cannot announce a change in {}", path().display())
            );
            let cause = "somebody deleted, replaced or cut it since it was written";
            assert_eq!(error.cause, cause);
        }
        assert_eq!(journal.text().entries.len(), if harm == 0 { 2 } else { 1 });
    }
}

#[test]
fn a_trial_finds_space_for_its_entries_on_a_disk_that_is_full_since() {
    let machine = SimulatedMachine::new(1, false);
    let mut journal = open(&machine).unwrap();
    let boot_id = machine.state().kernel.boot_id();
    let begin = JournalEntry::Session { boot_id, mark: SESSION_MARK.to_owned() };
    journal.replace(std::slice::from_ref(&begin)).unwrap();
    machine.begin_process(Faults::full());
    for number in 2..ENTRIES_OF_TRIAL {
        journal.append(&group(number)).unwrap();
    }
    assert!(journal.replace(&[begin]).is_err(), "a new file needs space");
    machine.end_process();
}

#[test]
fn a_journal_is_replaced_where_no_space_can_be_set_aside_and_nothing_else_may_fail() {
    for (number, wanted) in [(libc::EOPNOTSUPP, 1), (libc::ENOSYS, 1), (libc::EIO, 0)] {
        let replaced = (1..=OPERATIONS).filter(|at| {
            let machine = SimulatedMachine::new(1, false);
            let mut journal = open(&machine).unwrap();
            machine.begin_process(Faults::failing_with(*at, number));
            let replaced = journal.replace(&groups(2));
            machine.end_process();
            replaced.is_ok() && machine.state().failures > 0
        });
        assert_eq!(replaced.count(), wanted, "errno {number}");
    }
}

#[test]
fn a_journal_that_cannot_be_read_is_neither_empty_nor_somebody_elses() {
    let machine = SimulatedMachine::new(1, false);
    assert_eq!(Journal::path(&machine.machine()), path());
    assert!(read(&machine).is_empty(), "there is none");
    open(&machine).unwrap().append(&group(2)).unwrap();
    let mut failed = 0;
    for at in 1..=OPERATIONS {
        machine.begin_process(Faults::failing_at(at));
        let found = Journal::read(&machine.machine());
        machine.end_process();
        match found {
            Ok(text) => assert_eq!(text.entries, [group(2)], "operation {at}"),
            Err(error) => {
                failed += 1;
                assert_eq!(error.kind, ErrorKind::Environment);
                assert_eq!(error.attempted, format!("cannot read {}", path().display()));
            }
        }
    }
    assert!(failed > 2, "{failed}");
}

#[test]
fn a_journal_that_is_longer_than_is_read_is_told_and_takes_no_entry() {
    let machine = SimulatedMachine::new(1, false);
    drop(open(&machine).unwrap());
    let begin = line(1);
    let most = usize::try_from(JOURNAL_BYTES.most).unwrap();
    let rest = "x".repeat(most + 1 - begin.len());
    edit(&machine, (begin + &rest).as_bytes());
    let found = read(&machine);
    assert_eq!(found.entries, [group(9)]);
    let is_told = |line: &String| line.contains("(limit JOURNAL_BYTES)");
    assert!(found.damaged.iter().any(is_told), "{:?}", found.damaged);
    let error = open(&machine).unwrap_err();
    assert_eq!(error.kind, ErrorKind::RestoreIncomplete);
    assert_eq!(error.attempted, format!("cannot use the journal {}", path().display()));
}

#[test]
fn a_journal_in_a_directory_that_others_may_write_is_not_believed() {
    let machine = SimulatedMachine::new(1, false);
    open(&machine).unwrap().append(&group(2)).unwrap();
    machine.state().is_shared_with_others = true;
    let error = Journal::read(&machine.machine()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::RestoreIncomplete);
    assert_eq!(error.attempted, format!("cannot believe the journal {}", path().display()));
}
