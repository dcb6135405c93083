//! Whether changes can be undone, found out before the first one: what the kernel is known not to
//! take back is not changed, and of the rest each present value is written back once, announced as
//! every write is (dry write-back). What that moves is put back with it.
//!
//! Files of a device that was made for the trial go with it. What only moves with a knob
//! (`Factor::moves`) is not asked about: the kernel sets it anew in both directions, and a value
//! that it does not find again by itself was written by somebody.

use crate::change::{Refusal, announce, is_of_made};
use crate::journal::Journal;
use crate::journal_entry::JournalEntry;
use contract::{ErrorKind, Factor, Knob, Requirement, Result, Setting, UndoCheck};
use model::Level;
use std::collections::BTreeSet;
use sys::{ControlFile, Machine};

/// What helps where something could not be undone.
pub(crate) const REMEDY: &str =
    "leave this factor out, or first set the file to a value that the kernel takes back";

/// What a file held: path, flag and value.
type PresentValue = (String, String, String);

/// Present values that the kernel has taken back in this session.
#[derive(Debug, Default)]
pub(crate) struct UndoChecks {
    taken_back: BTreeSet<PresentValue>,
}

impl UndoChecks {
    /// Finds out whether everything that these levels change can be undone. A file that holds its
    /// level already is not changed; one that is not there yet is made by another knob, and goes
    /// with it.
    ///
    /// # Errors
    /// The first change that could not be undone, or why the journal cannot be written or what a
    /// file holds is not known. A dry write-back that left another value is in the journal.
    pub(crate) fn check(
        &mut self,
        levels: &[(&'static dyn Factor, Level)],
        machine: &Machine,
        journal: &mut Journal,
    ) -> Result<(), Refusal> {
        let mut untried = BTreeSet::new();
        for (factor, level) in levels {
            for present in changed(machine, *factor, level)? {
                if let Some(why) = known_refusal(*factor, &present) {
                    return Err(Refusal::NotInForce(not_undone(*factor, level, &why)));
                }
                if is_written_back(*factor) && !self.taken_back.contains(&present_value(&present)) {
                    untried.insert(present_value(&present));
                }
            }
        }
        if !untried.is_empty() {
            write_back(levels, &untried, machine, journal)?;
            self.taken_back.append(&mut untried);
        }
        Ok(())
    }
}

/// What of it is known without writing, for the check before a run.
pub(crate) fn requirement(factor: &'static dyn Factor, level: &Level) -> Option<Requirement> {
    if !matches!(factor.undo_check(), UndoCheck::KnownLimit(_) | UndoCheck::Refused) {
        return None;
    }
    let what = format!("a way back from {} = {level}", factor.describe().id);
    let level = level.clone();
    Some(Requirement::check(what, move |machine| {
        // What fails here fails when it is set.
        let changed = changed(machine, factor, &level).unwrap_or_default();
        match changed.iter().find_map(|present| known_refusal(factor, present)) {
            None => Ok(()),
            Some(why) => Err((why, REMEDY.to_owned())),
        }
    }))
}

/// What the files hold that a level changes and that stay when the trial is over.
///
/// # Errors
/// As [`held`].
fn changed(machine: &Machine, factor: &dyn Factor, level: &Level) -> Result<Vec<Setting>> {
    let held = held(machine, factor, level)?.into_iter();
    Ok(held.filter_map(|(present, is_changed)| is_changed.then_some(present)).collect())
}

/// What the files of a level hold that stay when the trial is over, and whether it changes them.
///
/// # Errors
/// When a file that is there fails to be read.
fn held(machine: &Machine, factor: &dyn Factor, level: &Level) -> Result<Vec<(Setting, bool)>> {
    let Knob::System(knob) = factor.knob() else { return Ok(Vec::new()) };
    let mut held = Vec::new();
    let settings = match knob.settings(machine, level) {
        Err(error) if error.kind == ErrorKind::Environment => return Err(error),
        // What this machine has not got is told by other needs, or when it is set.
        settings => settings.unwrap_or_default(),
    };
    for Setting { file, value: wanted } in settings {
        match file.read(machine) {
            Ok(_) if is_of_made(machine, &file) => {}
            Ok(value) => {
                let is_changed = value != wanted;
                held.push((Setting { file, value }, is_changed));
            }
            Err(error) if error.is_failure() => return Err(error.into()),
            Err(_) => {}
        }
    }
    Ok(held)
}

fn is_written_back(factor: &dyn Factor) -> bool {
    matches!(factor.undo_check(), UndoCheck::DryWriteBack)
}

fn present_value(present: &Setting) -> PresentValue {
    let ControlFile { path, flag, .. } = &present.file;
    (path.clone(), flag.clone(), present.value.clone())
}

fn known_refusal(factor: &dyn Factor, present: &Setting) -> Option<String> {
    let why = factor.undo_check().refusal(&present.value)?;
    Some(format!("{} holds {}, and {why}", present.file.path, present.value))
}

fn not_undone(factor: &dyn Factor, level: &Level, why: &str) -> String {
    format!("{} = {level}: it could not be undone: {why}", factor.describe().id)
}

/// Writes what files hold that is untried, and settles it: until then a crash puts it back. The
/// other files of these levels are announced, too, and looked at once more, because a kernel may
/// move one when another is written.
fn write_back(
    levels: &[(&'static dyn Factor, Level)],
    untried: &BTreeSet<PresentValue>,
    machine: &Machine,
    journal: &mut Journal,
) -> Result<(), Refusal> {
    let (mut changes, mut tried) = (Vec::new(), Vec::new());
    for (factor, level) in levels.iter().filter(|(factor, _)| is_written_back(*factor)) {
        for (present, _) in held(machine, *factor, level)? {
            tried.extend(untried.contains(&present_value(&present)).then_some(changes.len()));
            let what = not_undone(*factor, level, "the present value");
            changes.push(announce(machine, journal, *factor, what, present)?);
        }
    }
    // Whatever differs from here on came of this. Where it is refused, that holds until all is put
    // back.
    journal.append(&JournalEntry::Restoring)?;
    for at in tried {
        changes[at].write(machine, journal)?;
    }
    for change in &changes {
        if !change.is_in_force(machine)? {
            change.write(machine, journal)?;
        }
    }
    for change in &changes {
        if !change.is_in_force(machine)? {
            let why = "the kernel changes it where another file's is written back";
            return Err(Refusal::NotInForce(format!("{}: {why}", change.what())));
        }
    }
    for change in &changes {
        journal.append(&JournalEntry::Settled { id: change.id() })?;
    }
    journal.append(&JournalEntry::RestoringEnded)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permitted_changes::PermittedChanges;
    use crate::restore::restore;
    use contract::{Description, KnownLimit, SystemKnob};
    use std::fs;
    use std::path::Path;

    const KNOB: &str = "/sys/kernel/knob";
    const OTHER: &str = "/sys/kernel/other";

    /// A number in one file, and how it is known that it can be put back.
    struct Number(&'static str, UndoCheck);

    static DRY: Number = Number(KNOB, UndoCheck::DryWriteBack);
    static DRY_OTHER: Number = Number(OTHER, UndoCheck::DryWriteBack);
    static UNKNOWN: Number = Number(KNOB, UndoCheck::Refused);
    static FROM_4: Number = Number(
        KNOB,
        UndoCheck::KnownLimit(KnownLimit {
            takes: "a number from 4 up",
            why_not_written: "it would be raised",
            is_taken: |present| present.parse::<u64>().is_ok_and(|number| number >= 4),
        }),
    );
    static DESCRIPTION: Description =
        Description { id: "number", summary: "a number", doc: "A number in one file." };

    impl Factor for Number {
        fn describe(&self) -> &'static Description {
            &DESCRIPTION
        }

        fn syntax(&self) -> &'static str {
            "a number"
        }

        fn examples(&self) -> &'static [&'static str] {
            &["1"]
        }

        fn parse(&self, text: &str) -> Result<Level, String> {
            Ok(Level::canonical(text))
        }

        fn requires(&self, _level: &Level) -> Vec<Requirement> {
            Vec::new()
        }

        fn knob(&self) -> Knob<'_> {
            Knob::System(self)
        }

        fn undo_check(&self) -> UndoCheck {
            self.1
        }
    }

    impl SystemKnob for Number {
        fn writes(&self) -> Vec<String> {
            vec![self.0.to_owned()]
        }

        fn settings(&self, _: &Machine, level: &Level) -> Result<Vec<Setting>> {
            let file = ControlFile::plain(self.0);
            Ok(vec![Setting { file, value: level.as_str().to_owned() }])
        }

        fn read_back(&self, machine: &Machine, _wanted: &Level) -> Result<Level> {
            self.current(machine)
        }

        fn current(&self, machine: &Machine) -> Result<Level> {
            Ok(Level::canonical(ControlFile::plain(self.0).read(machine)?))
        }
    }

    /// A kernel whose knob holds 1 and follows this rule, beside one that takes all and holds 3,
    /// with the journal of a session.
    fn machine(root: &Path, rule: &str) -> (Machine, Journal) {
        let boot_id = ("/proc/sys/kernel/random/boot_id", "boot-one");
        for (path, text) in [boot_id, (KNOB, "1"), (OTHER, "3")] {
            let path = root.join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
        let rules = format!(r#"{{"files": {{"{KNOB}": {rule}}}}}"#);
        fs::write(root.join(sys::FakeRules::FILE), rules).unwrap();
        let machine = Machine::fake(root, root.join("run")).unwrap();
        fs::create_dir_all(machine.runtime()).unwrap();
        let permitted = PermittedChanges::to([KNOB, OTHER].map(str::to_owned));
        let mut journal = Journal::open(&machine, permitted).unwrap();
        let (boot_id, mark) = ("boot-one".to_owned(), "SCHEDLAB_MARK=undo-test".to_owned());
        journal.append(&JournalEntry::Session { boot_id, mark }).unwrap();
        (machine, journal)
    }

    /// Why the level is refused, what the knob then holds, and what the journal says of it.
    fn checked(
        factor: &'static Number,
        rule: &str,
        level: &str,
    ) -> (Option<String>, String, Vec<JournalEntry>) {
        let directory = tempfile::tempdir().unwrap();
        let (machine, mut journal) = machine(directory.path(), rule);
        let levels: [(&'static dyn Factor, Level); 1] = [(factor, Level::canonical(level))];
        let refusal = match UndoChecks::default().check(&levels, &machine, &mut journal) {
            Ok(()) => None,
            Err(Refusal::NotInForce(why)) => Some(why),
            Err(Refusal::Lost(error)) => panic!("{error}"),
        };
        let written = journal.text().entries[1..].to_vec();
        let report = restore(&machine, &mut journal, true, &[]).unwrap();
        assert!(report.is_complete() && report.restored.is_empty(), "{report:?}");
        assert_eq!(journal.text().entries, [], "{level}");
        (refusal, ControlFile::plain(KNOB).read(&machine).unwrap(), written)
    }

    const TAKES_ALL: &str = r#"{"kind": "clamp", "low": 0, "high": 1000}"#;
    /// The present value is not among them.
    const REFUSES_1: &str = r#"{"kind": "choice", "choices": ["8"]}"#;

    #[test]
    fn a_present_value_is_written_back_once_and_announced_before() {
        let (refusal, now, written) = checked(&DRY, TAKES_ALL, "8");
        assert_eq!((refusal, now.as_str()), (None, "1"));
        let [
            setting,
            JournalEntry::Restoring,
            JournalEntry::Writing { .. },
            applied,
            JournalEntry::Settled { .. },
            JournalEntry::RestoringEnded,
        ] = written.as_slice()
        else {
            panic!("{written:?}");
        };
        let is_of_present_value = |entry: &JournalEntry| match entry {
            JournalEntry::Setting { old, new, .. } => old == "1" && new == "1",
            JournalEntry::Applied { actual, .. } => actual == "1",
            _ => false,
        };
        assert!(is_of_present_value(setting) && is_of_present_value(applied), "{written:?}");

        let directory = tempfile::tempdir().unwrap();
        let (machine, mut journal) = machine(directory.path(), TAKES_ALL);
        let mut checks = UndoChecks::default();
        for level in ["8", "9"] {
            let levels: [(&'static dyn Factor, Level); 1] = [(&DRY, Level::canonical(level))];
            assert!(checks.check(&levels, &machine, &mut journal).is_ok());
        }
        assert_eq!(journal.text().entries.len(), 7, "the second level asks nothing anew");
    }

    #[test]
    fn a_level_whose_file_refuses_its_present_value_is_refused_and_nothing_is_changed() {
        let (refusal, now, _) = checked(&DRY, REFUSES_1, "8");
        let why = refusal.unwrap();
        assert!(why.contains("number = 8: it could not be undone"), "{why}");
        assert!(why.contains(KNOB) && why.contains("Invalid argument"), "{why}");
        assert_eq!(now, "1");
    }

    #[test]
    fn a_level_that_is_in_force_already_changes_nothing_and_is_not_refused() {
        for (factor, rule) in [(&DRY, REFUSES_1), (&FROM_4, TAKES_ALL), (&UNKNOWN, TAKES_ALL)] {
            let (refusal, now, written) = checked(factor, rule, "1");
            assert_eq!((refusal, now.as_str(), written), (None, "1", Vec::new()));
        }
    }

    #[test]
    fn a_known_limit_and_an_unknown_factor_are_refused_without_a_write() {
        for (factor, told) in [(&FROM_4, "only a number from 4 up"), (&UNKNOWN, "nothing shows")] {
            let (refusal, now, written) = checked(factor, TAKES_ALL, "8");
            assert!(refusal.unwrap().contains(told), "{told}");
            assert_eq!((now.as_str(), written), ("1", Vec::new()));
            let directory = tempfile::tempdir().unwrap();
            let (machine, _) = machine(directory.path(), TAKES_ALL);
            let met =
                |level: &str| requirement(factor, &Level::canonical(level)).unwrap().met(&machine);
            assert!(met("8").unwrap_err().why.contains(told));
            assert_eq!(met("1"), Ok(()));
        }
        assert!(requirement(&DRY, &Level::canonical("8")).is_none());
    }

    #[test]
    fn a_dry_write_back_that_leaves_another_value_is_put_back_when_the_kernel_takes_it() {
        let directory = tempfile::tempdir().unwrap();
        let raises = r#"{"kind": "clamp", "low": 4, "high": 1000}"#;
        let (stubborn, mut journal) = machine(directory.path(), raises);
        let levels: [(&'static dyn Factor, Level); 1] = [(&DRY, Level::canonical("8"))];
        let refused = UndoChecks::default().check(&levels, &stubborn, &mut journal);
        assert!(matches!(refused, Err(Refusal::NotInForce(why)) if why.contains("keeps 4")));
        let report = restore(&stubborn, &mut journal, true, &[]).unwrap();
        assert_eq!(report.failed.len(), 1, "{report:?}");
        let rules = format!(r#"{{"files": {{"{KNOB}": {TAKES_ALL}}}}}"#);
        fs::write(directory.path().join(sys::FakeRules::FILE), rules).unwrap();
        let machine = Machine::fake(directory.path(), directory.path().join("run")).unwrap();
        let report = restore(&machine, &mut journal, true, &[]).unwrap();
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(ControlFile::plain(KNOB).read(&machine).unwrap(), "1");
    }

    /// Writing the present value of the knob moves the other one.
    const MOVES_OTHER: &str = r#"{"kind": "rescale", "others": {"/sys/kernel/other": {"1": "9"}}}"#;

    fn both(levels: [&str; 2]) -> [(&'static dyn Factor, Level); 2] {
        let [other, knob] = levels.map(Level::canonical);
        [(&DRY_OTHER, other), (&DRY, knob)]
    }

    fn numbers(machine: &Machine) -> [String; 2] {
        [KNOB, OTHER].map(|path| ControlFile::plain(path).read(machine).unwrap())
    }

    #[test]
    fn what_a_dry_write_back_moves_is_put_back_too() {
        // The other one is changed as well; it was tried with another subject; it is in force.
        for (first, second) in
            [(None, ["8", "8"]), (Some(["8", "1"]), ["8", "8"]), (None, ["3", "8"])]
        {
            let directory = tempfile::tempdir().unwrap();
            let (machine, mut journal) = machine(directory.path(), MOVES_OTHER);
            let mut checks = UndoChecks::default();
            for levels in first.into_iter().chain([second]) {
                assert!(checks.check(&both(levels), &machine, &mut journal).is_ok());
                assert_eq!(numbers(&machine), ["1", "3"]);
            }
            let report = restore(&machine, &mut journal, true, &[]).unwrap();
            assert!(report.is_empty(), "{report:?}");
        }
    }

    #[test]
    fn a_file_that_does_not_stay_as_it_was_refuses_the_level_and_stays_in_the_journal() {
        let directory = tempfile::tempdir().unwrap();
        let (stubborn, mut journal) = machine(directory.path(), MOVES_OTHER);
        // What moved it is put back with it, and moves it again.
        let rules = format!(
            r#"{{"files": {{"{KNOB}": {MOVES_OTHER}, "{OTHER}": {{"kind": "rescale", "others": {{"{KNOB}": {{"3": "7"}}}}}}}}}}"#
        );
        fs::write(directory.path().join(sys::FakeRules::FILE), rules).unwrap();
        let stubborn = Machine::fake(directory.path(), stubborn.runtime()).unwrap();
        let refused = UndoChecks::default().check(&both(["8", "8"]), &stubborn, &mut journal);
        let Err(Refusal::NotInForce(why)) = refused else { panic!("it is not refused") };
        assert!(why.contains("could not be undone"), "{why}");
        assert!(!restore(&stubborn, &mut journal, true, &[]).unwrap().is_complete());
        fs::remove_file(directory.path().join(sys::FakeRules::FILE)).unwrap();
        let willing = Machine::fake(directory.path(), stubborn.runtime()).unwrap();
        let report = restore(&willing, &mut journal, true, &[]).unwrap();
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(numbers(&willing), ["1", "3"]);
    }

    #[test]
    fn a_crash_inside_dry_write_backs_does_not_disown_what_they_moved() {
        let directory = tempfile::tempdir().unwrap();
        let (machine, mut journal) = machine(directory.path(), MOVES_OTHER);
        assert!(UndoChecks::default().check(&both(["8", "8"]), &machine, &mut journal).is_ok());
        let entries = journal.text().entries.clone();
        let begins = entries.iter().position(|entry| *entry == JournalEntry::Restoring).unwrap();
        for end in begins + 1..entries.len() {
            // As far as it came that was killed: the other one is moved, and not back.
            journal.replace(&entries[..end]).unwrap();
            let is_settled =
                entries[..end].iter().any(|it| matches!(it, JournalEntry::Settled { .. }));
            if !is_settled {
                ControlFile::plain(OTHER).write(&machine, "9").unwrap();
            }
            let report = restore(&machine, &mut journal, false, &[]).unwrap();
            assert!(report.is_complete(), "{report:?}");
            assert_eq!(numbers(&machine), ["1", "3"], "{end}");
        }
    }

    #[test]
    fn a_dry_write_back_that_was_cut_off_leaves_the_present_value() {
        // What the file holds when the process ends: as it was, or as the kernel made it.
        for now in ["1", "4"] {
            let directory = tempfile::tempdir().unwrap();
            let (machine, mut journal) = machine(directory.path(), TAKES_ALL);
            let file = ControlFile::plain(KNOB);
            let present = Setting { file: file.clone(), value: "1".to_owned() };
            let what = "the present value".to_owned();
            let change = announce(&machine, &mut journal, &DRY, what, present).unwrap();
            journal.append(&JournalEntry::Writing { id: change.id() }).unwrap();
            file.write(&machine, now).unwrap();
            let report = restore(&machine, &mut journal, false, &[]).unwrap();
            assert!(report.is_complete(), "{report:?}");
            assert_eq!(file.read(&machine).unwrap(), "1");
            assert_eq!(journal.text().entries, []);
        }
    }
}
