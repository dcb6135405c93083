//! Putting the machine back from the journal alone.
//!
//! Processes end first, then files are restored in the factors' order (hotplug
//! before what it rescales), then everything is read once more, because
//! restoring one knob may have moved another.

use crate::inert_lines::{each_on_one_line, unknown};
use crate::journal::Journal;
use crate::journal_entry::JournalEntry;
use crate::journal_text::JournalText;
use crate::kill_processes::end;
use crate::permitted_changes::PermittedChanges;
use contract::{Error, ON_TOP, Result};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use sys::{Cgroup, ControlFile, Machine, MachineError};

/// What restoring did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// Settings put back: `factor: path = value`.
    pub restored: Vec<String>,
    /// Processes that were ended.
    pub ended: Vec<i32>,
    /// Scratch directories that were removed.
    pub removed: Vec<PathBuf>,
    /// Settings somebody else changed meanwhile; left alone.
    pub left_alone: Vec<String>,
    /// What could not be put back, and why; stays in the journal.
    pub failed: Vec<String>,
    /// Why the journal could not be brought up to date, or be read: what was put back is then known
    /// from memory. Everything else was done.
    pub unwritten: Option<String>,
    /// What else failed, for want of which nothing was left undone.
    pub warnings: Vec<String>,
}

impl RestoreReport {
    /// Whether everything is as before.
    pub fn is_complete(&self) -> bool {
        self.left_alone.is_empty() && self.failed.is_empty()
    }

    /// Whether the machine was as before. Scratch of ours is no part of that.
    pub fn is_empty(&self) -> bool {
        self.restored.is_empty()
            && self.ended.is_empty()
            && self.unwritten.is_none()
            && self.is_complete()
    }

    /// `Ok` where complete.
    ///
    /// # Errors
    /// An error of kind `RestoreIncomplete` that lists what is left; of kind
    /// `Environment` where all is back and only the journal does not know.
    pub fn into_result(self) -> Result<()> {
        if self.is_complete() {
            let Some(why) = self.unwritten else { return Ok(()) };
            return Err(Error::new(
                contract::ErrorKind::Environment,
                "everything was put back, but the journal cannot tell",
                why,
                "make space in the runtime directory; `schedlab restore` then clears the journal",
            ));
        }
        let remedy = if self.failed.is_empty() {
            "whoever changed it decides what it should be"
        } else {
            "what failed is tried again by `schedlab restore` and at the next start"
        };
        let mut lines = self.failed;
        lines.extend(
            self.left_alone
                .iter()
                .map(|line| format!("{line} (changed by someone else: left alone)")),
        );
        lines.extend(self.unwritten.into_iter().chain(self.warnings));
        Err(Error::new(
            contract::ErrorKind::RestoreIncomplete,
            "cannot put everything back",
            lines.join("; "),
            remedy,
        ))
    }
}

/// What is still to be put back.
#[derive(Debug, Default)]
struct Open {
    boot_id: String,
    marks: BTreeSet<String>,
    settings: BTreeMap<u64, OpenSetting>,
    groups: BTreeSet<i32>,
    cgroups: Vec<Cgroup>,
    directories: BTreeSet<PathBuf>,
    /// An earlier restore judged what is open, and was cut off.
    is_restoring: bool,
    left_alone: Vec<String>,
    /// What entries say that no executor of this binary can have written.
    refused: Vec<String>,
    /// Lines of the journal that are damaged or lost.
    unknown: Vec<String>,
}

#[derive(Debug, Clone)]
struct OpenSetting {
    factor: String,
    order: u8,
    file: ControlFile,
    old: String,
    new: String,
    is_of_made: bool,
    is_written: bool,
    actual: Option<String>,
}

impl Open {
    fn of(machine: &Machine, text: &JournalText, permitted: &PermittedChanges) -> Self {
        let mut open = Self { unknown: unknown(machine, text), ..Self::default() };
        for entry in text.entries.iter().cloned() {
            if let Some(why) = permitted.refusal(&entry) {
                open.refused.push(format!("{why}: the journal says so, and was not obeyed"));
                if let JournalEntry::Session { boot_id, .. } = entry {
                    open.boot_id = boot_id;
                }
                continue;
            }
            match entry {
                JournalEntry::Session { boot_id, mark } => {
                    open.boot_id = boot_id;
                    open.marks.insert(mark);
                }
                JournalEntry::Setting { id, factor, order, file, old, new, is_of_made } => {
                    let (is_written, actual) = (false, None);
                    let setting = OpenSetting {
                        factor,
                        order,
                        file,
                        old,
                        new,
                        is_of_made,
                        is_written,
                        actual,
                    };
                    open.settings.insert(id, setting);
                }
                JournalEntry::Writing { id } => {
                    if let Some(setting) = open.settings.get_mut(&id) {
                        setting.is_written = true;
                    }
                }
                JournalEntry::Restoring => open.is_restoring = true,
                JournalEntry::RestoringEnded => open.is_restoring = false,
                JournalEntry::LeftAlone { line, id } => {
                    open.left_alone.push(line);
                    if let Some(id) = id {
                        open.settings.remove(&id);
                    }
                }
                JournalEntry::Applied { id, actual } => {
                    if let Some(setting) = open.settings.get_mut(&id) {
                        setting.actual = Some(actual);
                    }
                }
                JournalEntry::Settled { id } => {
                    open.settings.remove(&id);
                }
                JournalEntry::Group { group } => {
                    open.groups.insert(group);
                }
                JournalEntry::GroupEnded { group } => {
                    open.groups.remove(&group);
                }
                JournalEntry::LongLived { group, mark } => {
                    open.groups.insert(group);
                    open.marks.insert(mark);
                }
                JournalEntry::Cgroup { cgroup } => open.cgroups.push(cgroup),
                JournalEntry::Directory { path } => {
                    open.directories.insert(path);
                }
            }
        }
        open
    }

    /// Whether what is open was changed in this boot. Where the line that tells is lost, what was
    /// written still has to be found as it was written before it is put back.
    fn is_of(&self, boot_id: &str) -> bool {
        self.boot_id == boot_id || (self.boot_id.is_empty() && !self.unknown.is_empty())
    }

    /// Leaves alone what goes on.
    fn spare(&mut self, keep: &[JournalEntry]) {
        for entry in keep {
            match entry {
                JournalEntry::Directory { path } => {
                    self.directories.remove(path);
                }
                JournalEntry::LongLived { group, mark } => {
                    self.groups.remove(group);
                    self.marks.remove(mark);
                }
                JournalEntry::Cgroup { cgroup } => self.cgroups.retain(|open| open != cgroup),
                _ => {}
            }
        }
    }

    /// In the order they are restored.
    fn in_order(&self) -> Vec<(u64, &OpenSetting)> {
        let mut settings: Vec<_> =
            self.settings.iter().map(|(id, setting)| (*id, setting)).collect();
        settings.sort_by_key(|(id, setting)| (setting.order, *id));
        settings
    }

    /// Whether `current`, which is not the old value, is ours to undo: came of any setting of this
    /// file. Several knobs may announce one file, and one of them write it.
    fn is_ours(&self, setting: &OpenSetting, current: &str) -> bool {
        let of_file =
            self.settings.iter().filter(|(_, other)| key(&other.file) == key(&setting.file));
        let mut claims = of_file.map(|(id, other)| self.came_of(*id, other, current));
        self.is_restoring || claims.any(|is_claimed| is_claimed)
    }

    /// Whether `current` came of this setting.
    fn came_of(&self, id: u64, setting: &OpenSetting, current: &str) -> bool {
        if setting.is_of_made {
            return true;
        }
        match &setting.actual {
            Some(actual) => current == actual || current == setting.new,
            // The crash fell between writing and reading back.
            None if setting.is_written => true,
            // Never written: an earlier knob of ours may have moved it (hotplug
            // rescales the slices); otherwise it was somebody else.
            None => self.settings.iter().any(|(other_id, other)| {
                other.is_written && (other.order, *other_id) < (setting.order, id)
            }),
        }
    }
}

impl OpenSetting {
    fn line(&self) -> String {
        let name =
            if self.file.flag.is_empty() { String::new() } else { format!(" {}", self.file.flag) };
        format!("{}: {}{name} = {}", self.factor, self.file.path, self.old)
    }
}

/// What the journal says is still to be put back, in words; empty when clean.
///
/// # Errors
/// When the journal cannot be read.
pub fn pending(machine: &Machine, permitted: &PermittedChanges) -> Result<Vec<String>> {
    let mut open = Open::of(machine, &Journal::read(machine)?, permitted);
    open.groups.clear();
    let is_this_boot = machine.boot_id().is_ok_and(|boot_id| open.is_of(&boot_id));
    let mut lines = Vec::new();
    if is_this_boot {
        for (_, setting) in open.in_order() {
            let now = match setting.file.read(machine) {
                Ok(current) if current == setting.old => continue,
                Ok(current) => format!("is {current}"),
                Err(error) if error.is_absent() => "not there now".to_owned(),
                Err(error) => error.to_string(),
            };
            lines.push(format!("{} ({now})", setting.line()));
        }
        for process in survivors(machine, &open) {
            lines.push(format!("process {process} still runs"));
        }
    }
    let cgroups = open.cgroups.iter().filter(|cgroup| is_this_boot && machine.exists(&cgroup.path));
    lines.extend(cgroups.map(|cgroup| cgroup.path.clone()));
    lines.extend(
        open.directories
            .iter()
            .filter(|path| machine.files().exists(path))
            .map(|path| path.display().to_string()),
    );
    lines.extend(open.left_alone.iter().map(|line| format!("{line} (left alone)")));
    lines.extend(open.refused);
    lines.extend(open.unknown);
    Ok(each_on_one_line(lines))
}

/// Puts back everything the journal holds that this binary can have changed, and leaves only
/// `keep` in it; what names anything else, and what is damaged, is kept and reported as failed.
/// The caller holds the lock. `are_groups_fresh` says that the session ended just now, so that the
/// process groups it recorded cannot have been reused by strangers. What is left
/// alone stays in the journal until [`acknowledge`].
///
/// # Errors
/// When the machine does not tell its boot; what could not be put back is in the report.
pub fn restore(
    machine: &Machine,
    journal: &mut Journal,
    are_groups_fresh: bool,
    keep: &[JournalEntry],
) -> Result<RestoreReport> {
    let open = Open::of(machine, journal.text(), journal.permitted());
    put_back(machine, open, Some(journal), are_groups_fresh, keep)
}

/// Puts back everything that this text of a journal holds, where no journal can be written, which
/// is why. What could not be put back is in the report alone.
///
/// # Errors
/// As [`restore`].
pub(crate) fn restore_unwritten(
    machine: &Machine,
    text: &JournalText,
    permitted: &PermittedChanges,
    are_groups_fresh: bool,
    why: &Error,
) -> Result<RestoreReport> {
    let open = Open::of(machine, text, permitted);
    let report = put_back(machine, open, None, are_groups_fresh, &[])?;
    Ok(RestoreReport { unwritten: Some(why.one_line()), ..report })
}

fn put_back(
    machine: &Machine,
    mut open: Open,
    journal: Option<&mut Journal>,
    are_groups_fresh: bool,
    keep: &[JournalEntry],
) -> Result<RestoreReport> {
    open.spare(keep);
    if !are_groups_fresh {
        open.groups.clear();
    }
    let mut report = RestoreReport::default();
    let is_this_boot = open.is_of(&machine.boot_id()?);
    report.left_alone.clone_from(&open.left_alone);
    report.failed = open.refused.iter().chain(&open.unknown).cloned().collect();
    let mut notes = Notes { journal, lost: None };
    if is_this_boot {
        end_processes(machine, &open, &mut report);
        report.warnings.extend(machine.unseen_environments());
        restore_settings(machine, &mut notes, &open, &mut report);
    }
    let Notes { journal, lost } = notes;
    // Those below others were made after them.
    for cgroup in open.cgroups.iter().rev().filter(|_| is_this_boot) {
        if let Err(error) = cgroup.remove(machine) {
            report.failed.push(error.to_string());
        }
    }
    for directory in &open.directories {
        match machine.files().remove_made(directory) {
            Ok(()) => report.removed.push(directory.clone()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                report.failed.push(format!("cannot remove {}: {error}", directory.display()));
            }
        }
    }
    for lines in [&mut report.restored, &mut report.left_alone, &mut report.failed] {
        *lines = each_on_one_line(std::mem::take(lines));
    }
    let untold = report
        .left_alone
        .iter()
        .map(|line| JournalEntry::LeftAlone { line: line.clone(), id: None });
    report.unwritten = match journal {
        Some(journal) if report.failed.is_empty() => {
            let left: Vec<_> = keep.iter().cloned().chain(untold).collect();
            journal.replace(&left).err()
        }
        _ => lost,
    }
    .map(|error| error.one_line());
    tracing::debug!(is_this_boot, ?report, "restored");
    Ok(report)
}

/// What restoring writes down as it goes. Without it a crash in between is judged
/// less well; nothing is left undone for want of it.
struct Notes<'a> {
    journal: Option<&'a mut Journal>,
    lost: Option<Error>,
}

impl Notes<'_> {
    fn add(&mut self, entry: &JournalEntry) {
        if self.lost.is_none()
            && let Some(journal) = &mut self.journal
        {
            self.lost = journal.append(entry).err();
        }
    }
}

/// Forgets what was left alone, once a user was told; leaves only `keep`. What cannot be forgotten
/// is told again.
///
/// # Errors
/// When the journal cannot be written.
pub fn acknowledge(
    journal: &mut Journal,
    report: &RestoreReport,
    keep: &[JournalEntry],
) -> Result<()> {
    if report.failed.is_empty() && !report.left_alone.is_empty() {
        journal.replace(keep)?;
    }
    Ok(())
}

/// Restores files, and settles in the journal what needs no further attention.
fn restore_settings(
    machine: &Machine,
    notes: &mut Notes<'_>,
    open: &Open,
    report: &mut RestoreReport,
) {
    let judged: Vec<(u64, OpenSetting)> =
        open.in_order().into_iter().map(|(id, setting)| (id, setting.clone())).collect();
    let mut ours = Vec::new();
    let mut left = Vec::new();
    // Judge all before touching any: restoring one may move another.
    for (id, setting) in &judged {
        match read_to_judge(machine, &setting.file) {
            Ok(current) if current != setting.old && !open.is_ours(setting, &current) => {
                let line = format!("{}, but it is {current}", setting.line());
                notes.add(&JournalEntry::LeftAlone { line: line.clone(), id: Some(*id) });
                notes.add(&JournalEntry::Settled { id: *id });
                report.left_alone.push(line);
                left.push(OpenSetting { old: current.clone(), new: current, ..setting.clone() });
            }
            // A file that cannot be read may come back with its CPU.
            Ok(_) | Err(_) => ours.push((*id, setting)),
        }
    }
    if ours.is_empty() {
        return;
    }
    let left = announce_left_alone(notes, open, left);
    ours.extend(left.iter().map(|(id, setting)| (*id, setting)));
    // From here on values are neither old nor new; a crash must not disown them.
    notes.add(&JournalEntry::Restoring);
    let first_old = oldest_values(&ours);
    let mut put_back = BTreeSet::new();
    for _ in 0..2 {
        for (_, setting) in &ours {
            let old = &first_old[&key(&setting.file)];
            if setting.file.read(machine).is_ok_and(|current| current == *old) {
                continue;
            }
            machine.crash_point();
            // A refusal shows in the final reading below.
            let _ = setting.file.write(machine, old);
            machine.crash_point();
            put_back.insert(key(&setting.file));
        }
    }
    settle(machine, notes, (&ours, &first_old), put_back, report);
    notes.add(&JournalEntry::RestoringEnded);
}

/// What a file holds. A reading that fails is tried once more: what is not judged would be written
/// over when it can be read later, although somebody else may have set it.
fn read_to_judge(
    machine: &Machine,
    file: &ControlFile,
) -> std::result::Result<String, MachineError> {
    match file.read(machine) {
        Err(error) if error.is_failure() => file.read(machine),
        outcome => outcome,
    }
}

/// Reads everything once more, and settles in the journal what needs no further attention. What is
/// back stays open, as it is then, as long as anything is not: it may move when that is put back
/// later (hotplug rescales the slices).
fn settle(
    machine: &Machine,
    notes: &mut Notes<'_>,
    (ours, first_old): (&[(u64, &OpenSetting)], &BTreeMap<FileKey, String>),
    mut put_back: BTreeSet<FileKey>,
    report: &mut RestoreReport,
) {
    let failed_before = report.failed.len();
    let mut back = Vec::new();
    for (id, setting) in ours {
        let old = &first_old[&key(&setting.file)];
        match setting.file.read(machine) {
            Ok(current) if current == *old => {
                back.push((*id, current));
                if put_back.remove(&key(&setting.file)) {
                    report.restored.push(setting.line());
                }
            }
            Ok(current) => {
                report.failed.push(format!("{}, but the kernel keeps {current}", setting.line()));
                // Ours as long as it stays so: a change from now on is another program's.
                notes.add(&JournalEntry::Applied { id: *id, actual: current });
            }
            // What it was set in is gone: an elevator's own settings, a device of ours.
            Err(error) if error.is_absent() && (setting.order >= ON_TOP || setting.is_of_made) => {
                notes.add(&JournalEntry::Settled { id: *id });
            }
            Err(error) => report.failed.push(format!("{}: {error}", setting.line())),
        }
    }
    let is_all_back = report.failed.len() == failed_before;
    // The oldest value of a file that was set twice is known until the last.
    back.sort_unstable_by_key(|(id, _)| Reverse(*id));
    for (id, actual) in back {
        let settled = JournalEntry::Settled { id };
        let kept = JournalEntry::Applied { id, actual };
        notes.add(if is_all_back { &settled } else { &kept });
    }
}

/// What is left alone stays as it was found, also where putting back another setting moves it
/// (hotplug rescales the slices): announced as it is, and never written, it goes back.
fn announce_left_alone(
    notes: &mut Notes<'_>,
    open: &Open,
    left: Vec<OpenSetting>,
) -> Vec<(u64, OpenSetting)> {
    // Only a journal that cannot be written gives no numbers; nothing is noted in it.
    let mut next_id = open.settings.keys().max().map_or(0, |id| id.saturating_add(1));
    let mut announced = Vec::new();
    for setting in left {
        let id = notes.journal.as_mut().map_or(next_id, |journal| journal.next_id());
        next_id = id.saturating_add(1);
        notes.add(&JournalEntry::Setting {
            id,
            factor: setting.factor.clone(),
            order: setting.order,
            file: setting.file.clone(),
            old: setting.old.clone(),
            new: setting.new.clone(),
            is_of_made: setting.is_of_made,
        });
        announced.push((id, setting));
    }
    announced
}

type FileKey = (String, String);

fn key(file: &ControlFile) -> FileKey {
    (file.path.clone(), file.flag.clone())
}

/// A file set twice without being settled between goes back to its first value.
fn oldest_values(settings: &[(u64, &OpenSetting)]) -> BTreeMap<FileKey, String> {
    let mut by_id = settings.to_vec();
    by_id.sort_by_key(|(id, _)| *id);
    let mut oldest = BTreeMap::new();
    for (_, setting) in by_id {
        oldest.entry(key(&setting.file)).or_insert_with(|| setting.old.clone());
    }
    oldest
}

fn survivors(machine: &Machine, open: &Open) -> BTreeSet<i32> {
    let own = std::process::id().cast_signed();
    let mut alive = BTreeSet::new();
    for mark in &open.marks {
        if let Ok(processes) = machine.marked_processes(mark) {
            alive.extend(processes.iter().map(|process| process.pid));
        }
    }
    for group in &open.groups {
        let members = machine.group_members(*group).unwrap_or_default();
        alive.extend(members.iter().map(|process| process.pid));
    }
    for cgroup in &open.cgroups {
        alive.extend(cgroup.members(machine).unwrap_or_default());
    }
    alive.remove(&own);
    alive
}

fn end_processes(machine: &Machine, open: &Open, report: &mut RestoreReport) {
    let ended = end(|| {
        for cgroup in &open.cgroups {
            // A group that was never made, or is gone, has nothing to kill.
            let _ = cgroup.kill(machine);
        }
        survivors(machine, open)
    });
    report.failed.extend(ended.left.iter().map(|pid| format!("process {pid} does not end")));
    report.ended = ended.killed.into_iter().collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    const SLICE: &str = "/sys/kernel/debug/sched/base_slice_ns";
    const CPU1: &str = "/sys/devices/system/cpu/cpu1/online";
    const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

    fn permitted() -> PermittedChanges {
        let queue = "/sys/block/*/queue/iosched/*";
        PermittedChanges::to([SLICE, CPU1, THP, queue].map(str::to_owned))
    }

    /// A kernel that clamps, shows brackets, and rescales the slice on hotplug.
    fn machine(root: &Path) -> Machine {
        for (path, text) in [
            ("/proc/sys/kernel/random/boot_id", "boot-one"),
            (SLICE, "700000"),
            (CPU1, "1"),
            (THP, "always [madvise] never"),
        ] {
            let path = root.join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
        let rules = format!(
            r#"{{"files": {{
                "{SLICE}": {{"kind": "clamp", "low": 100000, "high": 3000000}},
                "{THP}": {{"kind": "choice", "choices": ["always", "madvise", "never"]}},
                "{CPU1}": {{"kind": "rescale", "others": {{"{SLICE}": {{"0": "350000", "1": "1400000"}}}}}}
            }}}}"#
        );
        fs::write(root.join("kernel-rules.json"), rules).unwrap();
        Machine::fake(root, root.join("run")).unwrap()
    }

    fn journal(machine: &Machine) -> Journal {
        fs::create_dir_all(machine.runtime()).unwrap();
        let mut journal = Journal::open(machine, permitted()).unwrap();
        journal
            .append(&JournalEntry::Session {
                boot_id: "boot-one".to_owned(),
                mark: "SCHEDLAB_MARK=restore-test".to_owned(),
            })
            .unwrap();
        journal
    }

    fn announce(
        machine: &Machine,
        journal: &mut Journal,
        order: u8,
        file: &ControlFile,
        new: &str,
    ) -> u64 {
        let id = journal.next_id();
        let old = file.read(machine).unwrap();
        let entry = JournalEntry::Setting {
            id,
            factor: "knob".to_owned(),
            order,
            file: file.clone(),
            old,
            new: new.to_owned(),
            is_of_made: false,
        };
        journal.append(&entry).unwrap();
        id
    }

    fn make(machine: &Machine, journal: &mut Journal, id: u64, file: &ControlFile, new: &str) {
        journal.append(&JournalEntry::Writing { id }).unwrap();
        file.write(machine, new).unwrap();
        let actual = file.read(machine).unwrap();
        journal.append(&JournalEntry::Applied { id, actual }).unwrap();
    }

    fn set(machine: &Machine, journal: &mut Journal, order: u8, file: ControlFile, new: &str) {
        let id = announce(machine, journal, order, &file, new);
        make(machine, journal, id, &file, new);
    }

    fn values(machine: &Machine) -> Vec<String> {
        [ControlFile::plain(SLICE), ControlFile::plain(CPU1), ControlFile::bracketed(THP)]
            .iter()
            .map(|file| file.read(machine).unwrap())
            .collect()
    }

    /// A journal entry of a file of a queue, as the executor announces and writes it.
    fn set_in_queue(
        machine: &Machine,
        journal: &mut Journal,
        order: u8,
        is_of_made: bool,
        file: &ControlFile,
    ) {
        let id = journal.next_id();
        let setting = JournalEntry::Setting {
            id,
            factor: "knob".to_owned(),
            order,
            file: file.clone(),
            old: "old".to_owned(),
            new: "new".to_owned(),
            is_of_made,
        };
        journal.append(&setting).unwrap();
        journal.append(&JournalEntry::Writing { id }).unwrap();
        file.write(machine, "new").unwrap();
        journal.append(&JournalEntry::Applied { id, actual: "new".to_owned() }).unwrap();
    }

    /// What restoring says of a queue's file that holds `now` (or is gone) when it is put back.
    fn queue_restored(
        order: u8,
        is_of_made: bool,
        now: Option<&str>,
    ) -> (RestoreReport, Option<String>) {
        const FILE: &str = "/sys/block/loop0/queue/iosched/x";
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let path = directory.path().join(FILE.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "old").unwrap();
        let mut journal = journal(&machine);
        let file = ControlFile::plain(FILE);
        set_in_queue(&machine, &mut journal, order, is_of_made, &file);
        match now {
            Some(now) => fs::write(&path, now).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let report = restore(&machine, &mut journal, true, &[]).unwrap();
        (report, file.read(&machine).ok())
    }

    #[test]
    fn what_a_device_of_ours_holds_came_of_us_and_what_is_gone_with_it_is_put_back() {
        let (report, now) = queue_restored(60, true, Some("reset by the kernel"));
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(now.as_deref(), Some("old"));
        let (report, _) = queue_restored(60, true, None);
        assert!(report.is_complete() && report.restored.is_empty(), "{report:?}");
        let (report, now) = queue_restored(60, false, Some("somebody's"));
        assert_eq!(report.left_alone.len(), 1, "{report:?}");
        assert_eq!(now.as_deref(), Some("somebody's"));
        let (report, _) = queue_restored(60, false, None);
        assert_eq!(
            report.failed.len(),
            1,
            "a file of the machine that is gone is told: {report:?}"
        );
    }

    #[test]
    fn settings_of_an_elevator_that_is_no_longer_chosen_need_no_putting_back() {
        let (report, _) = queue_restored(ON_TOP, false, None);
        assert!(report.is_complete() && report.restored.is_empty(), "{report:?}");
        let (report, now) = queue_restored(ON_TOP, false, Some("new"));
        assert_eq!(report.restored.len(), 1, "{report:?}");
        assert_eq!(now.as_deref(), Some("old"));
    }

    #[test]
    fn hotplug_is_undone_before_the_slice_that_it_rescales() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let before = values(&machine);
        let mut journal = journal(&machine);
        let changes = [
            (10, ControlFile::plain(CPU1), "0"),
            (50, ControlFile::plain(SLICE), "2000000"),
            (50, ControlFile::bracketed(THP), "never"),
        ];
        let ids = changes
            .clone()
            .map(|(order, file, new)| announce(&machine, &mut journal, order, &file, new));
        for ((_, file, new), id) in changes.into_iter().zip(ids) {
            make(&machine, &mut journal, id, &file, new);
        }
        assert_eq!(values(&machine), ["2000000", "0", "never"]);
        let report = restore(&machine, &mut journal, true, &[]).unwrap();
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(values(&machine), before);
        assert_eq!(journal.text().entries, []);
    }

    #[test]
    fn a_clamped_value_is_still_ours_and_goes_back() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let before = values(&machine);
        let mut journal = journal(&machine);
        set(&machine, &mut journal, 50, ControlFile::plain(SLICE), "9000000");
        let report = restore(&machine, &mut journal, true, &[]).unwrap();
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(values(&machine), before);
    }

    #[test]
    fn a_value_somebody_else_wrote_is_left_alone_and_reported() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let mut journal = journal(&machine);
        set(&machine, &mut journal, 50, ControlFile::bracketed(THP), "never");
        ControlFile::bracketed(THP).write(&machine, "always").unwrap();
        let report = restore(&machine, &mut journal, true, &[]).unwrap();
        assert_eq!(report.left_alone.len(), 1);
        assert_eq!(ControlFile::bracketed(THP).read(&machine).unwrap(), "always");
        // A guardian tells nobody: the next start finds it again.
        assert_eq!(pending(&machine, &permitted()).unwrap().len(), 1);
        assert_eq!(restore(&machine, &mut journal, true, &[]).unwrap(), report);
        acknowledge(&mut journal, &report, &[]).unwrap();
        let error = report.into_result().unwrap_err();
        assert_eq!(error.kind, contract::ErrorKind::RestoreIncomplete);
        assert!(
            restore(&machine, &mut journal, true, &[]).unwrap().is_empty(),
            "it is reported once"
        );
    }

    #[test]
    fn a_value_that_was_never_written_is_ours_only_after_hotplug() {
        for (hotplug, expected) in [(false, 1), (true, 0)] {
            let directory = tempfile::tempdir().unwrap();
            let machine = machine(directory.path());
            let mut journal = journal(&machine);
            let (cpu, slice) = (ControlFile::plain(CPU1), ControlFile::plain(SLICE));
            let cpu_id = announce(&machine, &mut journal, 10, &cpu, "0");
            announce(&machine, &mut journal, 50, &slice, "2000000");
            if hotplug {
                make(&machine, &mut journal, cpu_id, &cpu, "0");
            } else {
                slice.write(&machine, "900000").unwrap();
            }
            let report = restore(&machine, &mut journal, true, &[]).unwrap();
            assert_eq!(report.left_alone.len(), expected, "{report:?}");
            assert_eq!(slice.read(&machine).unwrap(), if hotplug { "700000" } else { "900000" });
        }
    }

    #[test]
    fn what_one_setting_of_ours_wrote_is_no_change_by_somebody_else_to_another_of_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let (cpu, slice) = (ControlFile::plain(CPU1), ControlFile::plain(SLICE));
        // The CPU is off as the level wants it: nothing is written that moves the slice, and what
        // moves it is the slice's own level.
        cpu.write(&machine, "0").unwrap();
        let before = values(&machine);
        let mut journal = journal(&machine);
        let cpu_id = announce(&machine, &mut journal, 10, &cpu, "0");
        announce(&machine, &mut journal, 10, &slice, "350000");
        let slice_id = announce(&machine, &mut journal, 50, &slice, "2000000");
        journal.append(&JournalEntry::Applied { id: cpu_id, actual: "0".to_owned() }).unwrap();
        make(&machine, &mut journal, slice_id, &slice, "2000000");
        let report = restore(&machine, &mut journal, true, &[]).unwrap();
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(values(&machine), before);
    }

    #[test]
    fn what_is_left_alone_stays_although_hotplug_is_undone() {
        for is_cut_off in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let machine = machine(directory.path());
            let (cpu, slice) = (ControlFile::plain(CPU1), ControlFile::plain(SLICE));
            let mut journal = journal(&machine);
            set(&machine, &mut journal, 50, slice.clone(), "2000000");
            slice.write(&machine, "900000").unwrap();
            set(&machine, &mut journal, 60, cpu.clone(), "0");
            // Somebody else set the slice before the CPU went off, and again afterwards.
            slice.write(&machine, "900000").unwrap();
            if is_cut_off {
                // As far as a restore came that was killed.
                let line = "slice, but it is 900000".to_owned();
                journal.append(&JournalEntry::LeftAlone { line, id: Some(0) }).unwrap();
                journal.append(&JournalEntry::Settled { id: 0 }).unwrap();
                let id = announce(&machine, &mut journal, 50, &slice, "900000");
                assert_eq!(id, 2);
                journal.append(&JournalEntry::Restoring).unwrap();
                cpu.write(&machine, "1").unwrap();
            }
            let report = restore(&machine, &mut journal, true, &[]).unwrap();
            assert_eq!((report.left_alone.len(), report.failed.len()), (1, 0), "{report:?}");
            assert_eq!(values(&machine)[..2], ["900000", "1"]);
        }
    }

    #[test]
    fn what_is_left_alone_stays_where_one_line_that_says_so_is_lost() {
        // The line that tells it, or the one that settles the setting.
        for lost in 0..2 {
            let directory = tempfile::tempdir().unwrap();
            let machine = machine(directory.path());
            let (thp, slice) = (ControlFile::bracketed(THP), ControlFile::plain(SLICE));
            let mut journal = journal(&machine);
            set(&machine, &mut journal, 50, slice.clone(), "2000000");
            set(&machine, &mut journal, 50, thp, "never");
            slice.write(&machine, "900000").unwrap();
            let first = journal.text().entries.clone();
            let text = JournalText { entries: first.clone(), ..JournalText::default() };
            restore_settings(
                &machine,
                &mut Notes { journal: Some(&mut journal), lost: None },
                &Open::of(&machine, &text, &permitted()),
                &mut RestoreReport::default(),
            );
            // As far as it came that was killed when all that is left is being put back.
            let mut entries = journal.text().entries.clone();
            let begins = entries.iter().position(|entry| *entry == JournalEntry::Restoring);
            entries.truncate(begins.unwrap() + 1);
            entries.remove(first.len() + lost);
            journal.replace(&entries).unwrap();
            let report = restore(&machine, &mut journal, false, &[]).unwrap();
            assert_eq!((report.left_alone.len(), report.failed.len()), (lost, 0), "{report:?}");
            assert_eq!(slice.read(&machine).unwrap(), "900000", "{lost}");
        }
    }

    #[test]
    fn a_crash_inside_restore_does_not_disown_what_hotplug_moved() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let before = values(&machine);
        let mut journal = journal(&machine);
        let (cpu, slice) = (ControlFile::plain(CPU1), ControlFile::plain(SLICE));
        let cpu_id = announce(&machine, &mut journal, 10, &cpu, "0");
        let slice_id = announce(&machine, &mut journal, 50, &slice, "2000000");
        make(&machine, &mut journal, cpu_id, &cpu, "0");
        make(&machine, &mut journal, slice_id, &slice, "2000000");
        // As far as a restore came that was killed: the CPU is back, the slice rescaled.
        journal.append(&JournalEntry::Restoring).unwrap();
        ControlFile::plain(CPU1).write(&machine, "1").unwrap();
        let report = restore(&machine, &mut journal, false, &[]).unwrap();
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(values(&machine), before);
    }

    #[test]
    fn what_is_back_stays_open_until_what_moves_it_is_back_too() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let before = values(&machine);
        let mut journal = journal(&machine);
        let (cpu, slice) = (ControlFile::plain(CPU1), ControlFile::plain(SLICE));
        let cpu_id = announce(&machine, &mut journal, 10, &cpu, "0");
        let slice_id = announce(&machine, &mut journal, 50, &slice, "2000000");
        make(&machine, &mut journal, cpu_id, &cpu, "0");
        make(&machine, &mut journal, slice_id, &slice, "2000000");
        // The CPU does not come back at first, and rescales the slice when it does.
        let path = directory.path().join(sys::FakeRules::FILE);
        let rules = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!(r#"{{"files": {{"{CPU1}": {{"kind": "refuse"}}}}}}"#)).unwrap();
        let refusing = Machine::fake(directory.path(), machine.runtime()).unwrap();
        let report = restore(&refusing, &mut journal, true, &[]).unwrap();
        assert_eq!(report.failed.len(), 1, "{report:?}");
        assert_eq!(values(&machine)[..2], ["700000", "0"]);
        fs::write(&path, rules).unwrap();
        let report = restore(&machine, &mut journal, false, &[]).unwrap();
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(values(&machine), before);
    }

    #[test]
    fn a_crash_while_settings_are_settled_does_not_forget_the_oldest_value_of_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let before = values(&machine);
        let mut journal = journal(&machine);
        set(&machine, &mut journal, 50, ControlFile::plain(SLICE), "2000000");
        set(&machine, &mut journal, 50, ControlFile::plain(SLICE), "2500000");
        let first = journal.text().entries.clone();
        restore_settings(
            &machine,
            &mut Notes { journal: Some(&mut journal), lost: None },
            &Open::of(
                &machine,
                &JournalText { entries: first.clone(), ..JournalText::default() },
                &permitted(),
            ),
            &mut RestoreReport::default(),
        );
        let entries = journal.text().entries.clone();
        assert_eq!(values(&machine), before);
        // From the entry on that says that all is being put back.
        for end in first.len() + 1..=entries.len() {
            journal.replace(&entries[..end]).unwrap();
            let report = restore(&machine, &mut journal, false, &[]).unwrap();
            assert!(report.is_empty(), "{report:?}");
            assert_eq!(values(&machine), before, "{end}");
        }
    }

    #[test]
    fn what_somebody_sets_after_an_incomplete_restore_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let mut journal = journal(&machine);
        let file = ControlFile::plain(SLICE);
        let id = announce(&machine, &mut journal, 50, &file, "2000000");
        make(&machine, &mut journal, id, &file, "2000000");
        // Whatever is written here becomes 2.5 ms at least: it cannot go back to 0.7.
        let rules = format!(
            r#"{{"files": {{"{SLICE}": {{"kind": "clamp", "low": 2500000, "high": 3000000}}}}}}"#
        );
        fs::write(directory.path().join(sys::FakeRules::FILE), rules).unwrap();
        let stubborn = Machine::fake(directory.path(), directory.path().join("run")).unwrap();
        let report = restore(&stubborn, &mut journal, true, &[]).unwrap();
        assert_eq!(report.failed.len(), 1, "{report:?}");
        file.write(&stubborn, "2900000").unwrap();
        let report = restore(&machine, &mut journal, true, &[]).unwrap();
        assert_eq!(report.left_alone.len(), 1, "{report:?}");
        assert_eq!(file.read(&machine).unwrap(), "2900000");
    }

    #[test]
    fn after_a_reboot_nothing_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let mut journal = journal(&machine);
        set(&machine, &mut journal, 50, ControlFile::plain(SLICE), "2000000");
        let boot_id = directory.path().join("proc/sys/kernel/random/boot_id");
        fs::write(boot_id, "boot-two\n").unwrap();
        assert_eq!(pending(&machine, &permitted()).unwrap(), Vec::<String>::new());
        assert!(restore(&machine, &mut journal, false, &[]).unwrap().is_empty());
        assert_eq!(ControlFile::plain(SLICE).read(&machine).unwrap(), "2000000");
        assert_eq!(journal.text().entries, []);
    }

    #[test]
    fn an_entry_that_no_trial_can_have_written_is_kept_and_reported_and_the_rest_obeyed() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let before = values(&machine);
        let victim = directory.path().join("victim");
        fs::create_dir(&victim).unwrap();
        let target = "/etc/cron";
        fs::create_dir(directory.path().join("etc")).unwrap();
        fs::write(directory.path().join(&target[1..]), "new\n").unwrap();
        let mut journal = journal(&machine);
        set(&machine, &mut journal, 50, ControlFile::plain(SLICE), "2000000");
        let setting = JournalEntry::Setting {
            id: 7,
            factor: "knob".to_owned(),
            order: 50,
            file: ControlFile::plain(target),
            old: "old".to_owned(),
            new: "new".to_owned(),
            is_of_made: false,
        };
        let made = JournalEntry::Directory { path: victim.clone() };
        assert!(journal.append(&made).is_err(), "nor is it written");
        let mut entries = journal.text().entries.clone();
        entries.extend([setting, JournalEntry::Writing { id: 7 }, made]);
        journal.replace(&entries).unwrap();
        assert_eq!(pending(&machine, &permitted()).unwrap().len(), 3);
        let report = restore(&machine, &mut journal, true, &[]).unwrap();
        assert_eq!(report.failed.len(), 2, "{report:?}");
        assert_eq!(values(&machine), before);
        assert!(victim.is_dir());
        let text = fs::read_to_string(directory.path().join(&target[1..])).unwrap();
        assert_eq!(text, "new\n");
        let error = report.into_result().unwrap_err();
        assert_eq!(error.kind, contract::ErrorKind::RestoreIncomplete);
        assert_eq!(restore(&machine, &mut journal, false, &[]).unwrap().failed.len(), 2);
    }

    #[test]
    fn what_a_link_leads_to_is_kept_and_reported_whatever_the_journal_calls_it() {
        let directory = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(directory.path()).unwrap();
        let machine = machine(directory.path());
        let mut journal = journal(&machine);
        let kept = home.join("victim/scratch/file");
        fs::create_dir_all(kept.parent().unwrap()).unwrap();
        fs::write(&kept, "x").unwrap();
        std::os::unix::fs::symlink(home.join("victim"), home.join("link")).unwrap();
        std::os::unix::fs::symlink(home.join("victim"), home.join("scratch")).unwrap();
        for path in ["scratch", "scratch/.", "scratch/", "link/scratch", "victim/../link/scratch"] {
            let made = JournalEntry::Directory { path: home.join(path) };
            let session = journal.text().entries[0].clone();
            journal.replace(&[session, made]).unwrap();
            let report = restore(&machine, &mut journal, false, &[]).unwrap();
            assert_eq!((report.failed.len(), report.removed.len()), (1, 0), "{path}: {report:?}");
            assert!(kept.exists(), "{path}");
        }
    }

    #[test]
    fn no_text_of_a_journal_passes_for_a_line_of_what_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let mut journal = journal(&machine);
        let line = "a knob\nput back everything".to_owned();
        let mut entries = journal.text().entries.clone();
        entries.push(JournalEntry::LeftAlone { line, id: None });
        let mark = "HOME=/root\nnothing to put back".to_owned();
        entries.push(JournalEntry::LongLived { group: 77, mark });
        journal.replace(&entries).unwrap();
        let pending = pending(&machine, &permitted()).unwrap();
        assert_eq!(pending.len(), 2, "{pending:?}");
        let report = restore(&machine, &mut journal, false, &[]).unwrap();
        assert_eq!((report.left_alone.len(), report.failed.len()), (1, 1), "{report:?}");
        assert_eq!(report.left_alone[0], "a knob\\nput back everything");
        for line in pending.iter().chain(&report.left_alone).chain(&report.failed) {
            assert!(!line.contains('\n') && line.contains("\\n"), "{line}");
        }
    }

    #[test]
    fn one_damaged_line_costs_no_other_and_is_reported_until_a_user_removes_it() {
        // The line of the session, of a setting, that it is being written, and what it became.
        for damaged in 0..4 {
            let directory = tempfile::tempdir().unwrap();
            let machine = machine(directory.path());
            let before = values(&machine);
            let mut first = journal(&machine);
            set(&machine, &mut first, 50, ControlFile::plain(SLICE), "2000000");
            set(&machine, &mut first, 50, ControlFile::bracketed(THP), "never");
            drop(first);
            let path = Journal::path(&machine);
            let text = fs::read_to_string(&path).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines[damaged] = lines[damaged].replacen('e', "x", 1);
            fs::write(&path, lines.join("\n") + "\n").unwrap();
            let mut journal = Journal::open(&machine, permitted()).unwrap();
            assert!(!pending(&machine, &permitted()).unwrap().is_empty());
            let report = restore(&machine, &mut journal, true, &[]).unwrap();
            assert_eq!(report.failed.len(), 1, "{damaged}: {report:?}");
            assert!(report.failed[0].contains("is unknown"), "{report:?}");
            let lost = if damaged == 1 { "2000000" } else { before[0].as_str() };
            assert_eq!(values(&machine), [lost, before[1].as_str(), before[2].as_str()]);
            let again = restore(&machine, &mut journal, false, &[]).unwrap();
            assert_eq!(again.failed, report.failed);
            fs::remove_file(&path).unwrap();
            let mut journal = Journal::open(&machine, permitted()).unwrap();
            assert!(restore(&machine, &mut journal, false, &[]).unwrap().is_empty());
        }
    }

    #[test]
    fn what_cannot_be_put_back_stays_in_the_journal() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let mut journal = journal(&machine);
        set(&machine, &mut journal, 50, ControlFile::plain(SLICE), "2000000");
        let rules = format!(r#"{{"files": {{"{SLICE}": {{"kind": "refuse"}}}}}}"#);
        fs::write(directory.path().join("kernel-rules.json"), rules).unwrap();
        let refusing = Machine::fake(directory.path(), machine.runtime()).unwrap();
        let report = restore(&refusing, &mut journal, true, &[]).unwrap();
        assert_eq!(report.failed.len(), 1, "{report:?}");
        fs::remove_file(directory.path().join("kernel-rules.json")).unwrap();
        let willing = Machine::fake(directory.path(), machine.runtime()).unwrap();
        assert!(restore(&willing, &mut journal, false, &[]).unwrap().is_complete());
        assert_eq!(ControlFile::plain(SLICE).read(&willing).unwrap(), "700000");
    }
}
