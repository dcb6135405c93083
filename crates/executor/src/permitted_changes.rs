//! What restoring obeys: the files that factors of this binary can write, and what its trials can
//! make. An entry that names anything else was written by no executor of this version.

use crate::journal_entry::JournalEntry;
use contract::{Knob, TrialCatalogue, is_file_of, is_name_of};
use std::path::Path;

/// What a directory for files of workloads is called, below a campaign's own.
const SCRATCH: &str = "scratch";
/// That on a guest's disk; its parent is `wire::SCRATCH_DISK`.
const SCRATCH_ON_DISK: &str = "/run/schedlab-scratch/schedlab";
/// Directories of the root in which a system is installed, or a kernel shows files: no trial makes
/// anything below them.
const INSTALLED: [&str; 11] =
    ["bin", "boot", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys", "usr"];
/// Where control groups of trials lie, below the mount points that [`sys::Cgroup`] looks for.
const CGROUPS: [&str; 6] = [
    "/sys/fs/cgroup/schedlab.*",
    "/sys/fs/cgroup/schedlab.*/main",
    "/sys/fs/cgroup/schedlab.*/share-*",
    "/sys/fs/cgroup/*/schedlab.*",
    "/sys/fs/cgroup/*/schedlab.*/main",
    "/sys/fs/cgroup/*/schedlab.*/share-*",
];
/// Processes of trials have it in their environment.
const MARK: &str = "SCHEDLAB_MARK=";
/// A shorter mark could be another program's.
const SHORTEST_MARK: usize = 8;

/// Changes that an executor of this binary can have made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PermittedChanges {
    files: Vec<String>,
    directories: Vec<String>,
}

impl PermittedChanges {
    /// Those of all factors.
    #[must_use]
    pub fn of(catalogue: &TrialCatalogue) -> Self {
        let mut permitted = Self::default();
        for factor in catalogue.factors {
            match factor.knob() {
                Knob::System(knob) => permitted.files.extend(knob.writes()),
                Knob::Held(knob) => {
                    permitted
                        .directories
                        .extend(knob.makes().iter().map(|name| (*name).to_owned()));
                }
                Knob::Launch(_) | Knob::Boot(_) | Knob::Simulated => {}
            }
        }
        permitted
    }

    /// Those to files of these patterns ([`contract::is_file_of`]).
    #[must_use]
    pub fn to(files: impl IntoIterator<Item = String>) -> Self {
        Self { files: files.into_iter().collect(), directories: Vec::new() }
    }

    /// Why no executor of this binary can have written the entry; nothing where it can have.
    #[must_use]
    pub fn refusal(&self, entry: &JournalEntry) -> Option<String> {
        match entry {
            JournalEntry::Setting { factor, file, .. } => {
                let is_known = self.files.iter().any(|pattern| is_file_of(pattern, &file.path));
                (!is_known).then(|| format!("{factor}: no factor here writes {}", file.path))
            }
            JournalEntry::Session { mark, .. } => foreign_mark(mark),
            JournalEntry::LongLived { group, mark } => {
                foreign_mark(mark).or_else(|| foreign_group(*group))
            }
            JournalEntry::Group { group } => foreign_group(*group),
            JournalEntry::Cgroup { cgroup } => {
                let is_known = CGROUPS.iter().any(|pattern| is_file_of(pattern, &cgroup.path));
                (!is_known).then(|| format!("no trial makes the control group {}", cgroup.path))
            }
            JournalEntry::Directory { path } => {
                (!self.is_directory(path)).then(|| format!("no trial makes {}", path.display()))
            }
            JournalEntry::Writing { .. }
            | JournalEntry::Applied { .. }
            | JournalEntry::Settled { .. }
            | JournalEntry::Restoring
            | JournalEntry::RestoringEnded
            | JournalEntry::LeftAlone { .. }
            | JournalEntry::GroupEnded { .. } => None,
        }
    }

    /// By the bytes of the path: neither empty names, `.` and `..`, nor a slash at the end.
    fn is_directory(&self, path: &Path) -> bool {
        let Some(path) = path.to_str() else { return false };
        let Some((parent, name)) = path.strip_prefix('/').and_then(|path| path.rsplit_once('/'))
        else {
            return false;
        };
        let mut above = parent.split('/');
        if !above.clone().all(|name| is_name_of("*", name))
            || above.next().is_some_and(|first| INSTALLED.contains(&first))
        {
            return false;
        }
        path == SCRATCH_ON_DISK
            || is_name_of(SCRATCH, name)
            || self.directories.iter().any(|pattern| is_numbered_name_of(pattern, name))
    }
}

/// Whether a name is one that the pattern means, with the numbers of a process and a time in place
/// of its `*`.
fn is_numbered_name_of(pattern: &str, name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (begin, end) = pattern.split_once('*').unwrap_or((pattern, ""));
    let numbers = name.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
    is_name_of(pattern, name)
        && numbers
            .and_then(|numbers| numbers.split_once('-'))
            .is_some_and(|(process, time)| is_number(process) && is_number(time))
}

fn foreign_mark(mark: &str) -> Option<String> {
    let is_ours = mark.strip_prefix(MARK).is_some_and(|rest| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        rest.len() >= SHORTEST_MARK && rest.bytes().all(is_plain)
    });
    (!is_ours).then(|| format!("no process of a trial is marked {mark}"))
}

/// Kernel threads are in group 0, the first process in 1.
fn foreign_group(group: i32) -> Option<String> {
    (group <= 1).then(|| format!("no process of a trial is in the process group {group}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use sys::{Cgroup, ControlFile};

    #[test]
    fn nothing_is_obeyed_that_no_trial_can_have_announced() {
        let permitted = PermittedChanges {
            files: vec!["/sys/block/*/queue/scheduler".to_owned()],
            directories: vec!["schedlab-*".to_owned()],
        };
        let setting = |path: &str| JournalEntry::Setting {
            id: 0,
            factor: "elevator".to_owned(),
            order: 50,
            file: ControlFile::plain(path),
            old: "none".to_owned(),
            new: "bfq".to_owned(),
            is_of_made: false,
        };
        let directory = |path: &str| JournalEntry::Directory { path: PathBuf::from(path) };
        let cgroup = |path: &str| JournalEntry::Cgroup { cgroup: Cgroup { path: path.to_owned() } };
        let session = |mark: &str| JournalEntry::Session {
            boot_id: "boot".to_owned(),
            mark: mark.to_owned(),
        };
        for entry in [
            setting("/sys/block/sda/queue/scheduler"),
            directory("/here/results/x/scratch"),
            directory("/run/schedlab-scratch/schedlab"),
            directory("/data/schedlab-1-2"),
            cgroup("/sys/fs/cgroup/unified/schedlab.0123abcd.server"),
            cgroup("/sys/fs/cgroup/schedlab.0123abcd/share-3"),
            session("SCHEDLAB_MARK=0123456789abcdef"),
            JournalEntry::Group { group: 77 },
            JournalEntry::Settled { id: 9 },
        ] {
            assert_eq!(permitted.refusal(&entry), None, "{entry:?}");
        }
        for entry in [
            setting("/etc/cron.d/job"),
            setting("/sys/block/../queue/scheduler"),
            setting("/proc/sys/kernel/core_pattern"),
            directory("/srv/somebody"),
            directory("/srv/somebody/scratch/.."),
            directory("/srv/somebody/scratch/."),
            directory("/srv/somebody/scratch/"),
            directory("/srv/somebody//scratch"),
            directory("//srv/scratch"),
            directory("/srv/../plink/scratch"),
            directory("/srv/usr/share/schedlab"),
            directory("/var/lib/schedlab"),
            directory("/var/cache/schedlab"),
            directory("/usr/share/x/scratch"),
            directory("/etc/schedlab-1-2"),
            directory("/srv/schedlab-data"),
            directory("/srv/schedlab-1-x"),
            directory("/scratch"),
            directory("scratch"),
            directory("/"),
            cgroup("/sys/fs/cgroup/system.slice"),
            cgroup("/sys/fs/cgroup/schedlab.x/../system.slice"),
            session("HOME=/root"),
            session("SCHEDLAB_MARK="),
            JournalEntry::LongLived { group: 77, mark: "USER=root".to_owned() },
            JournalEntry::Group { group: 0 },
            JournalEntry::Group { group: 1 },
        ] {
            assert!(permitted.refusal(&entry).is_some(), "{entry:?}");
        }
    }
}
