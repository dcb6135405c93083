//! Journals whose lines have numbers and checksums that match: entries in odd orders and with odd
//! fields, numbers that come again, are left out or are huge, paths that no trial changes. What is
//! read is planned and put back on a machine of files, where nothing else may change.

use super::{OwnTarget, Reaction};
use crate::choices::Choices;
use executor::{Journal, JournalEntry, PermittedChanges, journal_line, parse_journal};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use sys::{Cgroup, ControlFile, Machine};
use tempfile::TempDir;

pub const TARGET: OwnTarget = OwnTarget {
    name: "shaped-journal",
    words: &["0000", "1000000", "2000", "30", "40000", "A0", "B1", "C2"],
    run,
};

/// Lines of one journal; more are like these.
const MOST_LINES: usize = 24;
const MARK: &str = "SCHEDLAB_MARK=shaped-journal-00";
/// The boot of the machine, and others.
const BOOTS: [&str; 3] = ["boot", "another", ""];
/// Files of the kernel that are permitted, first, and that are not. The last leads out of the
/// machine, to a file that is there.
const FILES: [&str; 5] = [
    "/proc/sys/kernel/knob",
    "/proc/sys/kernel/other",
    "/etc/passwd",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/../../../../victim",
];
const PERMITTED: usize = 2;
/// What each held before a trial.
const HELD: &str = "as it was";
/// Values of settings; a file of the kernel takes any of them.
const VALUES: [&str; 7] = [HELD, "new", "", "old\nnew", "\u{1b}[2J\u{202e}", "[a] b", "\0"];
/// Directories below the machine's home: the first is one that a trial can make.
const DIRECTORIES: [&str; 6] =
    ["results/scratch", "victim.d", "results/scratch/.", "link/scratch", "results/../victim.d", ""];
/// Control groups that no machine has.
const CGROUPS: [&str; 3] =
    ["/sys/fs/cgroup/schedlab.shaped", "/sys/fs/cgroup/user.shaped", "/sys/fs/cgroup/../shaped"];

/// A machine of files, and what lies beside it.
struct Scene {
    home: PathBuf,
    machine: Machine,
    _directory: TempDir,
}

thread_local! {
    // Directories cost a hundred times as much as reading a journal.
    static SCENE: io::Result<Scene> = scene();
}

fn scene() -> io::Result<Scene> {
    let directory = tempfile::tempdir()?;
    let home = fs::canonicalize(directory.path())?;
    let root = home.join("root");
    fs::create_dir_all(root.join("proc/sys/kernel/random"))?;
    fs::create_dir_all(root.join("etc"))?;
    fs::write(root.join("proc/sys/kernel/random/boot_id"), "boot\n")?;
    fs::create_dir_all(home.join("victim.d"))?;
    fs::write(home.join("victim.d/file"), HELD)?;
    fs::create_dir_all(home.join("elsewhere/scratch"))?;
    fs::write(home.join("elsewhere/scratch/file"), HELD)?;
    std::os::unix::fs::symlink(home.join("elsewhere"), home.join("link"))?;
    let machine = Machine::fake(&root, root.join("run")).map_err(io::Error::other)?;
    // It is made private, as by a run.
    Journal::open(&machine, permitted()).map_err(io::Error::other)?;
    Ok(Scene { home, machine, _directory: directory })
}

fn permitted() -> PermittedChanges {
    PermittedChanges::to(FILES[..PERMITTED].iter().map(|file| (*file).to_owned()))
}

fn run(bytes: &[u8]) -> Reaction {
    SCENE.with(|scene| match scene {
        Ok(scene) => put_back(scene, bytes),
        Err(error) => panic!("there is no machine with a journal: {error}"),
    })
}

fn put_back(scene: &Scene, bytes: &[u8]) -> Reaction {
    let Scene { home, machine, .. } = scene;
    let text = journal(&mut Choices::of(bytes), home);
    let read = parse_journal(&text);
    if let Err(error) = written(scene, &text) {
        panic!("the machine cannot be made as it was: {error}");
    }
    let planned = executor::pending(machine, &permitted());
    assert!(planned.is_ok(), "a journal that can be read is not planned: {planned:?}");
    let mut journal = match Journal::open(machine, permitted()) {
        Ok(journal) => journal,
        Err(error) => panic!("the journal cannot be opened: {error}"),
    };
    // What was torn at its end is cut off; nothing else of it may be lost.
    assert_eq!(journal.text(), &read);
    let report = match executor::restore(machine, &mut journal, false, &[]) {
        Ok(report) => report,
        Err(error) => panic!("nothing was put back: {error}"),
    };
    check_spared(scene);
    if report.failed.is_empty() && report.unwritten.is_none() {
        let is_told = |entry: &JournalEntry| matches!(entry, JournalEntry::LeftAlone { .. });
        assert!(
            journal.text().entries.iter().all(is_told),
            "more than what was left alone is left"
        );
    }
    let told = [&report.restored, &report.left_alone, &report.failed];
    for line in told.into_iter().flatten() {
        assert!(!line.contains('\n'), "a line of the report has two: {line:?}");
    }
    Reaction::of(Some(&read).filter(|read| read.damaged.is_empty() && report.failed.is_empty()))
}

/// The machine as a trial leaves it that is killed, and this journal.
fn written(scene: &Scene, text: &str) -> io::Result<()> {
    let Scene { home, machine, .. } = scene;
    for (at, file) in FILES.iter().enumerate() {
        let held = if at < PERMITTED { VALUES[1] } else { HELD };
        fs::write(machine.path(file), held)?;
    }
    fs::create_dir_all(home.join("results/scratch"))?;
    fs::write(Journal::path(machine), text)
}

/// What no executor of this binary changes is as it was.
fn check_spared(scene: &Scene) {
    let Scene { home, machine, .. } = scene;
    let kept = FILES[PERMITTED..].iter().map(|file| machine.path(file));
    let kept = kept.chain([home.join("victim.d/file"), home.join("elsewhere/scratch/file")]);
    for path in kept {
        let held = fs::read_to_string(&path).ok();
        assert_eq!(held.as_deref(), Some(HELD), "{} was changed", path.display());
    }
}

/// A line for each choice of an entry: which one and its fields, which number, which damage.
fn journal(choices: &mut Choices<'_>, home: &Path) -> String {
    let session = JournalEntry::Session { boot_id: BOOTS[0].to_owned(), mark: MARK.to_owned() };
    let mut text = line(1, &session);
    let mut next = 2;
    for _ in 0..MOST_LINES {
        if choices.is_over() {
            break;
        }
        let entry = entry(choices, home);
        let number = match choices.below(8) {
            0..=4 => next,
            // It comes again, one is left out, or it is anything.
            5 => next - 1,
            6 => next + 1,
            _ => choices.number(next),
        };
        // A number that no writer reaches is damage, and counts as one line.
        next = if number < u64::MAX / 2 { next.max(number + 1) } else { next + 1 };
        let written = line(number, &entry);
        match choices.below(12) {
            0..=7 => text += &written,
            8 => text += &written.repeat(2),
            9 => text += &written.replacen(' ', " 0", 1),
            10 => text += written.trim_end(),
            _ => text.insert_str(0, &written),
        }
    }
    text
}

fn line(number: u64, entry: &JournalEntry) -> String {
    journal_line(number, entry).unwrap_or_default()
}

fn entry(choices: &mut Choices<'_>, home: &Path) -> JournalEntry {
    match choices.below(14) {
        0 => setting(choices),
        1 => JournalEntry::Writing { id: choices.number(0) },
        2 => JournalEntry::Applied { id: choices.number(0), actual: value(choices) },
        3 => JournalEntry::Settled { id: choices.number(0) },
        4 => JournalEntry::Restoring,
        5 => JournalEntry::RestoringEnded,
        6 => JournalEntry::LeftAlone { line: value(choices), id: None },
        7 => JournalEntry::LeftAlone { line: value(choices), id: Some(choices.number(0)) },
        8 => JournalEntry::Group { group: choices.number(77) as i32 },
        9 => JournalEntry::GroupEnded { group: choices.number(77) as i32 },
        10 => {
            let mark = if choices.below(2) == 0 { MARK.to_owned() } else { value(choices) };
            JournalEntry::LongLived { group: choices.number(77) as i32, mark }
        }
        11 => {
            let path = (*choices.one_of(&CGROUPS)).to_owned();
            JournalEntry::Cgroup { cgroup: Cgroup { path } }
        }
        12 => JournalEntry::Directory { path: home.join(choices.one_of(&DIRECTORIES)) },
        _ => {
            let boot_id = (*choices.one_of(&BOOTS)).to_owned();
            JournalEntry::Session { boot_id, mark: MARK.to_owned() }
        }
    }
}

fn setting(choices: &mut Choices<'_>) -> JournalEntry {
    let path = *choices.one_of(&FILES);
    let file = match choices.below(2) {
        0 => ControlFile::plain(path),
        _ => ControlFile::bracketed(path),
    };
    JournalEntry::Setting {
        id: choices.number(0),
        factor: value(choices),
        order: choices.number(50) as u8,
        file,
        old: value(choices),
        new: value(choices),
        is_of_made: choices.below(4) == 1,
    }
}

fn value(choices: &mut Choices<'_>) -> String {
    (*choices.one_of(&VALUES)).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_numbers_and_checksums_that_were_chosen() {
        let home = Path::new("/home");
        let read = |choices: &[u8]| parse_journal(&journal(&mut Choices::of(choices), home));
        // `RestoringEnded` three times: in their places.
        let sound = read(b"500500500");
        assert_eq!((sound.entries.len(), sound.last_number), (4, 4));
        assert_eq!(sound.damaged, [""; 0]);
        // The number before, the one behind, a huge one, another checksum, twice, in front.
        for one in [&b"550"[..], b"560", b"57@0", b"509", b"508", b"50;"] {
            let read = read(&[one, &b"500"[..]].concat());
            assert!(!read.damaged.is_empty(), "{}", String::from_utf8_lossy(one));
        }
    }

    #[test]
    fn what_no_trial_changes_is_spared_and_told() {
        // A setting of each file that is written, and each directory that is made.
        for (file, path) in FILES.iter().enumerate() {
            let reaction = run(format!("0{file}0000010001000").as_bytes());
            assert_eq!(reaction == Reaction::Accepted, file < PERMITTED, "{path}");
        }
        for (directory, path) in DIRECTORIES.iter().enumerate() {
            let reaction = run(format!("<{directory}00").as_bytes());
            assert_eq!(reaction == Reaction::Accepted, directory == 0, "{path}");
        }
    }
}
