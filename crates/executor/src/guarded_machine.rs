//! A guarded machine: its lock taken, what an earlier run left put back, the
//! guardian waiting, the journal begun. Code that starts processes or changes files
//! does it on a guarded machine.

use crate::executor_settings::ExecutorSettings;
use crate::guardian::{Guardian, StartGuardian, StartProcess};
use crate::journal::{Journal, sync_directory};
use crate::journal_entry::JournalEntry;
use crate::lock::Lock;
use crate::permitted_changes::PermittedChanges;
use crate::restore::{acknowledge, restore};
use contract::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sys::Machine;

/// A machine with its lock, guardian and journal.
pub struct GuardedMachine {
    settings: ExecutorSettings,
    journal: Journal,
    mark: String,
    group_name: String,
    /// What stays in the journal between trials.
    header: [JournalEntry; 3],
    start: Arc<dyn StartGuardian>,
    guardian: Box<dyn Guardian>,
    lock: Lock,
}

impl GuardedMachine {
    /// Takes the lock, puts back what an earlier run may still have left, starts
    /// the guardian.
    ///
    /// # Errors
    /// When another campaign runs here, or leftovers could not be put back, or
    /// somebody else had changed them and the user has not been told yet; where another user could
    /// have put logs or scratch there.
    pub fn open(settings: ExecutorSettings) -> Result<Self> {
        Self::open_with(settings, Arc::new(StartProcess))
    }

    /// The same with guardians of this kind.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(
        mut settings: ExecutorSettings,
        start: Arc<dyn StartGuardian>,
    ) -> Result<Self> {
        settings.scratch = real_place(&settings.machine, &settings.scratch)?;
        let machine = &settings.machine;
        let lock = Lock::acquire(machine, &settings.purpose)?;
        lock.refuse_beside(machine)?;
        let permitted = PermittedChanges::of(&settings.catalogue);
        let mut journal = Journal::open(machine, permitted)?;
        let leftovers = restore(machine, &mut journal, false, &[])?;
        // What was left alone is told first: it is told again where it could not be forgotten.
        let acknowledged = acknowledge(&mut journal, &leftovers, &[]);
        leftovers.into_result()?;
        acknowledged?;
        for directory in [&settings.logs, &settings.scratch] {
            refuse_foreign(machine, directory)?;
        }
        make_directory(machine, &settings.logs)?;
        let (guardian, pipe) = start.start(&settings, &lock)?;
        journal.copy_to(pipe);
        let mark = format!("SCHEDLAB_MARK={}", new_mark(machine.runtime())?);
        let group_name = new_mark(machine.runtime())?;
        let begin = JournalEntry::Session { boot_id: machine.boot_id()?, mark: mark.clone() };
        let scratch = JournalEntry::Directory { path: settings.scratch.clone() };
        // Twice, so that no single damaged line hides the boot and the mark.
        let header = [begin.clone(), scratch, begin];
        if let Some(why) = header.iter().find_map(|entry| journal.permitted().refusal(entry)) {
            return Err(Error::environment("cannot use the directory for files of workloads", why));
        }
        journal.replace(&header)?;
        make_directory(machine, &settings.scratch)?;
        Ok(Self { settings, journal, mark, group_name, header, start, guardian, lock })
    }

    /// `NAME=value`, for the environment of every process that is started under it: so the
    /// guardian finds them. Nobody else may learn it: what has it is taken for one of them.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// What distinguishes its control groups, whose names everybody can read: nothing of the mark.
    pub(crate) fn group_name(&self) -> &str {
        &self.group_name
    }

    /// What was changed on this machine and must be put back.
    pub(crate) fn journal(&mut self) -> &mut Journal {
        &mut self.journal
    }

    /// What stays in the journal between trials, with the long-lived service.
    pub(crate) fn kept(&self, long_lived: Vec<JournalEntry>) -> Vec<JournalEntry> {
        self.header.iter().cloned().chain(long_lived).collect()
    }

    /// Starts a new guardian where the one that watched was killed; whether it did.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn renew_guardian(&mut self) -> Result<bool> {
        if self.guardian.is_alive() {
            return Ok(false);
        }
        let (guardian, pipe) = self.start.start(&self.settings, &self.lock)?;
        self.guardian = guardian;
        self.journal.copy_to(pipe);
        Ok(true)
    }

    /// Ends it: scratch removed, journal empty, guardian gone, lock released.
    ///
    /// # Errors
    /// When something could not be put back.
    pub fn close(mut self) -> Result<()> {
        let report = restore(&self.settings.machine, &mut self.journal, true, &[])?;
        let acknowledged = acknowledge(&mut self.journal, &report, &[]);
        self.journal.end_copy();
        let dismissed = self.guardian.dismiss();
        report.into_result()?;
        acknowledged.and(dismissed)
    }
}

/// Where a directory really is: restoring removes nothing through a link. Its own name stays, so
/// that a link of that name is refused.
fn real_place(machine: &Machine, path: &Path) -> Result<PathBuf> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(path.to_owned());
    };
    let parent = machine.files().real_path(parent).map_err(|error| {
        Error::environment(format!("cannot find out where {} is", path.display()), error)
    })?;
    Ok(parent.join(name))
}

/// Refuses a directory for files by which another user could lead writes elsewhere.
fn refuse_foreign(machine: &Machine, path: &Path) -> Result<()> {
    machine.files().check_own_directory(path).map_err(|error| {
        Error::new(
            ErrorKind::Environment,
            format!("cannot use {}", path.display()),
            error,
            "look who made it; run it as that user, or take from others the right to write there: \
             chmod go-w",
        )
    })
}

fn make_directory(machine: &Machine, path: &Path) -> Result<()> {
    machine
        .files()
        .make_directories(path)
        .map_err(|error| Error::environment(format!("cannot make {}", path.display()), error))?;
    path.parent().map_or(Ok(()), |parent| sync_directory(machine, parent))
}

/// A mark that nothing else has: what is started under it can be found by it. Names that everybody can
/// read are no marks, and are drawn for themselves.
pub(crate) fn new_mark(runtime: &Path) -> Result<String> {
    let mut bytes = [0_u8; 12];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Error::environment("cannot draw random bytes", error))?;
    let random: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}{random}", mark_prefix(runtime)))
}

/// What every mark begins with that is made under a journal in this directory: processes and
/// control groups of one runtime directory can be told from those of another. Eight hexadecimal
/// digits, FNV-1a of the path (Fowler, Noll, Vo; 32 bits).
#[must_use]
pub fn mark_prefix(runtime: &Path) -> String {
    let bytes = runtime.as_os_str().as_encoded_bytes();
    let hash = bytes
        .iter()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    format!("{hash:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changed_knob::changed_machine;
    use contract::TrialCatalogue;
    use std::fs::File;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    /// A guardian that does nothing.
    struct Idle;

    impl Guardian for Idle {
        fn is_alive(&mut self) -> bool {
            true
        }

        fn dismiss(self: Box<Self>) -> Result<()> {
            Ok(())
        }
    }

    /// Starts idle guardians, and counts them.
    #[derive(Default)]
    struct StartIdle(AtomicU32);

    impl StartGuardian for StartIdle {
        fn start(&self, _: &ExecutorSettings, _: &Lock) -> Result<(Box<dyn Guardian>, File)> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Ok((Box::new(Idle), tempfile::tempfile().unwrap()))
        }
    }

    fn settings(machine: &Machine, logs: &Path, scratch: &Path) -> ExecutorSettings {
        ExecutorSettings {
            machine: machine.clone(),
            catalogue: TrialCatalogue { workloads: &[], factors: &[], probes: &[] },
            executable: PathBuf::from("/nonexistent"),
            machine_arguments: Vec::new(),
            logs: logs.to_owned(),
            scratch: scratch.to_owned(),
            purpose: "a test".to_owned(),
            longest_standstill: Duration::from_secs(1),
        }
    }

    #[test]
    fn a_machine_is_not_opened_for_files_that_could_not_be_removed_or_lie_elsewhere() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let machine = changed_machine(home.path());
        let start = Arc::new(StartIdle::default());
        let open = |logs: &str, scratch: &str| {
            let settings = settings(&machine, &at(logs), &at(scratch));
            GuardedMachine::open_with(settings, Arc::<StartIdle>::clone(&start))
        };
        std::os::unix::fs::symlink(at("elsewhere"), at("link")).unwrap();
        for (logs, scratch) in [("link", "scratch"), ("logs", "link")] {
            let error = open(logs, scratch).err().unwrap();
            assert!(error.cause.contains("a link has that name"), "{error}");
            assert!(!at("logs").exists() && !at("scratch").exists(), "{logs} {scratch}");
        }
        assert_eq!(start.0.load(Ordering::SeqCst), 0, "nothing is left for a guardian");
        // What restoring would not remove is not made.
        let error = open("logs", "results").err().unwrap();
        assert!(error.attempted.contains("the directory for files of workloads"), "{error}");
        assert!(error.cause.contains("no trial makes"), "{error}");
        assert!(!at("results").exists() && !at("elsewhere").exists());
        assert!(Journal::read(&machine).unwrap().is_empty(), "nothing was announced");
        // The lock was let go of each time.
        let opened = open("logs", "scratch").unwrap_or_else(|error| panic!("{error}"));
        assert!(at("scratch").is_dir());
        opened.close().unwrap();
        assert!(!at("scratch").exists());
    }

    #[test]
    fn a_place_is_known_without_the_links_that_lead_to_it() {
        let home = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(home.path()).unwrap();
        let machine = Machine::fake(home.path(), home.path().join("run")).unwrap();
        std::fs::create_dir(home.path().join("results")).unwrap();
        std::os::unix::fs::symlink(real.join("results"), home.path().join("link")).unwrap();
        for path in ["link/scratch", "results/../results/scratch"] {
            let place = real_place(&machine, &home.path().join(path)).unwrap();
            assert_eq!(place, real.join("results/scratch"), "{path}");
        }
        let place = real_place(&machine, &home.path().join("none/yet/scratch")).unwrap();
        assert_eq!(place, real.join("none/yet/scratch"));
    }

    #[test]
    fn marks_tell_runtime_directories_apart_and_are_never_the_same() {
        let runtime = Path::new("/run/schedlab");
        // FNV-1a of nothing is its offset basis, and of "a" e40c292c (the authors' test vectors).
        assert_eq!(mark_prefix(Path::new("")), "811c9dc5");
        assert_eq!(mark_prefix(Path::new("a")), "e40c292c");
        let marks = [new_mark(runtime).unwrap(), new_mark(runtime).unwrap()];
        assert!(marks.iter().all(|mark| mark.starts_with(&mark_prefix(runtime))));
        assert_eq!(marks[0].len(), 8 + 24);
        assert_ne!(marks[0], marks[1]);
    }

    #[test]
    fn a_link_in_place_of_a_directory_for_files_is_refused_and_nothing_is_made_behind_it() {
        let home = tempfile::tempdir().unwrap();
        let machine = Machine::fake(home.path(), home.path().join("run")).unwrap();
        let (elsewhere, logs) = (home.path().join("elsewhere"), home.path().join("logs"));
        for is_there in [true, false] {
            if is_there {
                std::fs::create_dir(&elsewhere).unwrap();
            }
            std::os::unix::fs::symlink(&elsewhere, &logs).unwrap();
            let error = refuse_foreign(&machine, &logs).unwrap_err();
            assert!(error.cause.contains("a link has that name"), "{error}");
            assert_eq!(elsewhere.exists(), is_there);
            std::fs::remove_file(&logs).unwrap();
            if is_there {
                std::fs::remove_dir(&elsewhere).unwrap();
            }
        }
        refuse_foreign(&machine, &logs).unwrap();
        make_directory(&machine, &logs).unwrap();
        refuse_foreign(&machine, &logs).unwrap();
    }
}
