//! One campaign at a time on a machine.

use crate::runtime_directory::{
    HOLDER, LOCK, clear_lock, clear_written, make_runtime_directory, make_to_restore,
};
use crate::user_directories::{is_same_directory, other_directories, own_directories};
use contract::{Error, ErrorKind, Result};
use rustix::fs::OFlags;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::{FileAccess, Files, Machine, OpenFile, PrivateFiles};

/// How long a start waits for a guardian that is still putting things back.
const GUARDIAN_PATIENCE: Duration = Duration::from_secs(10);
/// A holder's file is a line; whatever is longer is none of ours.
const LONGEST_HOLDER: u64 = 4096;
/// Root's runtime directory, which nobody else may enter.
const ROOT_RUNTIME: &str = "/run/schedlab";
/// Where root tells everybody what runs in it; only root can write there.
const ROOT_NOTICE: &str = "/run/schedlab.holder.json";
const ROOT: u32 = 0;

/// The process that holds the lock, for the message to a process that is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    /// Its process id.
    pub pid: i32,
    /// When that process began, in clock ticks since boot: ids are used again.
    pub start_ticks: u64,
    /// What it is doing.
    pub purpose: String,
}

/// The machine's lock: flock(2) on a file of the runtime directory, which only its user may
/// enter, so that nobody else can take it. It is held until every process that inherited the
/// descriptor (the guardian) is gone. What another user holds neither blocks nor answers
/// anything here, but for root's campaigns, which everybody is told of.
///
/// The lock is the flock alone. What holds it, as a file beside it and as root's notice tell, is for
/// people: what puts things back goes on without.
#[derive(Debug)]
pub struct Lock {
    file: Box<dyn OpenFile>,
    unannounced: Option<Error>,
    set_aside: Vec<String>,
}

impl Lock {
    const FILE: &'static str = LOCK;
    const HOLDER: &'static str = HOLDER;

    /// Takes the lock for what changes things, making the runtime directory where there is none.
    ///
    /// # Errors
    /// When another campaign of this user runs here, or nobody could be told of this one.
    pub fn acquire(machine: &Machine, purpose: &str) -> Result<Self> {
        let directory = make_runtime_directory(machine)?;
        let (lock, announced) = Self::taken(machine, &*directory, purpose)?;
        announced.map(|()| lock)
    }

    /// Takes the lock for what puts things back: a file system that is full or read-only does not
    /// stop it where the lock's file is there, which every journal of ours has beside it.
    ///
    /// # Errors
    /// When a campaign of this user runs here, or the lock's file is not there and cannot be made; of
    /// kind `RestoreIncomplete` where others could write in the runtime directory.
    pub fn acquire_to_restore(machine: &Machine, purpose: &str) -> Result<Self> {
        let directory = make_to_restore(machine)?;
        let (lock, announced) = Self::taken(machine, &*directory, purpose)?;
        let unannounced = announced.err();
        if let Some(error) = &unannounced {
            tracing::warn!(why = %error.one_line(), "the lock is held, and nobody is told by whom");
        }
        Ok(Self { unannounced, ..lock })
    }

    /// The lock, which is held, and whether that was told.
    fn taken(
        machine: &Machine,
        directory: &dyn PrivateFiles,
        purpose: &str,
    ) -> Result<(Self, Result<()>)> {
        let mut set_aside = clear_lock(directory);
        let path = machine.runtime().join(Self::FILE);
        let file = lock_file(directory).map_err(|error| cannot_open(&path, &error))?;
        take(machine, &*file, directory)?;
        set_aside.extend(clear_written(directory));
        for what in &set_aside {
            tracing::warn!(%what, "something in the runtime directory is none of ours");
        }
        let announced = announce(machine, directory, purpose);
        Ok((Self { file, unannounced: None, set_aside }, announced))
    }

    /// What others had put in place of files of ours, which has another name now: one sentence each.
    pub fn set_aside(&self) -> &[String] {
        &self.set_aside
    }

    /// Why nobody can be told of the lock's holder; the lock is held all the same.
    pub fn unannounced(&self) -> Option<&Error> {
        self.unannounced.as_ref()
    }

    /// Refuses where another campaign that counts runs on this machine. To be asked with the lock
    /// held: of two that start at once, at least one sees the other.
    ///
    /// # Errors
    /// Which one.
    pub fn refuse_beside(&self, machine: &Machine) -> Result<()> {
        match campaign_beside(machine) {
            Some((directory, holder)) => Err(held(&directory, Some(&holder))),
            None => Ok(()),
        }
    }

    /// The process that runs a campaign under this runtime directory now; none where only a
    /// guardian still holds the lock.
    pub fn holder(machine: &Machine) -> Option<LockHolder> {
        running_in(machine, machine.runtime())
    }

    /// The process that runs a campaign on this machine now under another runtime directory of
    /// this user, or under root's.
    pub fn holder_beside(machine: &Machine) -> Option<LockHolder> {
        campaign_beside(machine).map(|(_, holder)| holder)
    }

    /// Where everybody is told of a campaign under this runtime directory; of root's alone.
    pub fn notice(machine: &Machine) -> Option<&'static str> {
        let may_be_roots = geteuid().is_root() && !machine.is_fake();
        let is_roots = || is_same_directory(machine.runtime(), Path::new(ROOT_RUNTIME));
        (may_be_roots && is_roots()).then_some(ROOT_NOTICE)
    }

    /// The descriptor, for the guardian to inherit; a simulated lock has none.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.file.descriptor()
    }
}

fn cannot_open(path: &Path, error: &std::io::Error) -> Error {
    let attempted = format!("cannot open the lock {}", path.display());
    // Another lock in its place would not exclude a run, whose guardian holds this one.
    let remedy = match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => {
            "nothing was changed: it is not there, and its file system is full; make room there for one empty file, then do this again"
        }
        None if sys::is_untrusted(error) => {
            "nothing was changed: look who put it there, move it away, then do this again"
        }
        _ => "",
    };
    Error::new(ErrorKind::Environment, attempted, error, remedy)
}

/// Tells of the lock's holder: this user in the runtime directory, everybody where root does.
fn announce(machine: &Machine, directory: &dyn PrivateFiles, purpose: &str) -> Result<()> {
    let pid = std::process::id().cast_signed();
    let start_ticks = start_ticks(machine, pid).unwrap_or_default();
    let holder = LockHolder { pid, start_ticks, purpose: purpose.to_owned() };
    let cannot = |path: &Path, error: std::io::Error| {
        Error::environment(format!("cannot write {}", path.display()), error)
    };
    let path = machine.runtime().join(Lock::HOLDER);
    let text =
        serde_json::to_vec(&holder).map_err(|error| cannot(&path, std::io::Error::other(error)))?;
    let told = directory.write(Lock::HOLDER, &text).map_err(|error| cannot(&path, error));
    if told.is_err() {
        // What it says is of another holder. One that cannot be removed names a process that ended.
        let _ = directory.remove(Lock::HOLDER);
    }
    let noticed = Lock::notice(machine).map_or(Ok(()), |notice| {
        let notice = Path::new(notice);
        let written = tell_everybody(&**machine.files(), notice, &text);
        written.map_err(|error| cannot(notice, error))
    });
    told.and(noticed)
}

/// One that cannot be written, as on a read-only file system, is locked all the same.
fn lock_file(directory: &dyn PrivateFiles) -> std::io::Result<Box<dyn OpenFile>> {
    directory.append(Lock::FILE).or_else(|error| directory.read(Lock::FILE).map_err(|_| error))
}

/// Waits for a guardian, refuses a campaign.
fn take(machine: &Machine, file: &dyn OpenFile, directory: &dyn PrivateFiles) -> Result<()> {
    let deadline = Instant::now() + GUARDIAN_PATIENCE;
    loop {
        if file.try_lock().unwrap_or(false) {
            return Ok(());
        }
        let holder = live_holder(machine, directory);
        if holder.is_some() || Instant::now() >= deadline {
            return Err(held(directory.path(), holder.as_ref()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The campaign under this runtime directory of this user, if one runs.
fn running_in(machine: &Machine, directory: &Path) -> Option<LockHolder> {
    let directory = machine.files().open_private(directory).ok()?;
    let file = directory.read(Lock::FILE).ok()?;
    let is_free = file.try_lock_shared().unwrap_or(false);
    if is_free { None } else { live_holder(machine, &*directory) }
}

fn live_holder(machine: &Machine, directory: &dyn PrivateFiles) -> Option<LockHolder> {
    alive(machine, directory.read(Lock::HOLDER).ok()?)
}

/// The process that the file names, if it is still that process.
fn alive(machine: &Machine, file: impl Read) -> Option<LockHolder> {
    let mut text = String::new();
    file.take(LONGEST_HOLDER).read_to_string(&mut text).ok()?;
    let holder: LockHolder = serde_json::from_slice(text.as_bytes()).ok()?;
    (start_ticks(machine, holder.pid) == Some(holder.start_ticks)).then_some(holder)
}

fn start_ticks(machine: &Machine, pid: i32) -> Option<u64> {
    machine.running().process_stat(pid).ok().map(|stat| stat.start_ticks)
}

fn held(directory: &Path, holder: Option<&LockHolder>) -> Error {
    let cause = match holder {
        Some(holder) => format!("process {} is running: {}", holder.pid, holder.purpose),
        None => format!(
            "no campaign runs any more, and after {} s something still holds it: a guardian, or another process of yours",
            GUARDIAN_PATIENCE.as_secs()
        ),
    };
    Error::new(
        ErrorKind::Environment,
        format!("cannot take the machine's lock {}", directory.join(Lock::FILE).display()),
        cause,
        "two campaigns at once would measure each other: wait for it, or stop it",
    )
}

/// A campaign under another runtime directory than this one, and that directory.
fn campaign_beside(machine: &Machine) -> Option<(PathBuf, LockHolder)> {
    if machine.is_fake() {
        return None;
    }
    let user = geteuid().as_raw();
    let others = other_directories(directories_of(user), machine.runtime());
    let found = others.into_iter().find_map(|directory| {
        let holder = running_in(machine, &directory)?;
        Some((directory, holder))
    });
    found.or_else(|| {
        // Only root may look into its directory; what it tells everybody is its word.
        let holder = noticed(machine, Path::new(ROOT_NOTICE), ROOT).filter(|_| user != ROOT)?;
        Some((PathBuf::from(ROOT_RUNTIME), holder))
    })
}

/// Runtime directories of a user, as far as they can be guessed.
fn directories_of(user: u32) -> Vec<PathBuf> {
    let roots = (user == ROOT).then(|| PathBuf::from(ROOT_RUNTIME));
    roots.into_iter().chain(own_directories(user)).collect()
}

/// Writes what everybody may read, in place of what was there. The program's umask takes only the
/// right to write from others.
fn tell_everybody(files: &dyn Files, path: &Path, text: &[u8]) -> std::io::Result<()> {
    match files.remove(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    files.open(path, FileAccess::Append)?.write_all(text)
}

/// What was told there by its owner, who must be that user.
fn noticed(machine: &Machine, path: &Path, owner: u32) -> Option<LockHolder> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let is_his = metadata.is_file() && metadata.uid() == owner && metadata.mode() & 0o022 == 0;
    if is_his { alive(machine, file) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failing_files::{FailingFiles, PrivateStep};
    use crate::runtime_directory::check_runtime_directory;
    use rustix::fs::{FlockOperation, flock};
    use std::fs::{self, File};
    use std::os::unix::fs::PermissionsExt;

    fn machine(directory: &Path) -> Machine {
        Machine::fake(directory, directory.join("run")).unwrap()
    }

    #[test]
    fn a_second_campaign_is_refused_and_told_by_whom() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        assert_eq!(Lock::holder(&machine), None);
        let first = Lock::acquire(&machine, "campaign one").unwrap();
        assert_eq!(Lock::holder(&machine).unwrap().purpose, "campaign one");
        let error = Lock::acquire(&machine, "campaign two").unwrap_err();
        assert!(error.cause.contains("campaign one"), "{error}");
        drop(first);
        assert_eq!(Lock::holder(&machine), None);
        Lock::acquire(&machine, "campaign three").unwrap();
    }

    #[test]
    fn a_full_disk_stops_no_restore_and_lets_nothing_else_begin() {
        for number in [libc::ENOSPC, libc::EROFS] {
            let directory = tempfile::tempdir().unwrap();
            let machine = machine(directory.path());
            // Nothing can be made; what is there is opened as ever.
            let full = FailingFiles::on(&machine, move |step, _| {
                (step == PrivateStep::Make).then_some(number)
            });
            drop(Lock::acquire(&machine, "campaign one").unwrap());
            let error = Lock::acquire(&full, "campaign two").unwrap_err();
            assert!(error.attempted.contains(Lock::HOLDER), "{error}");
            let lock = Lock::acquire_to_restore(&full, "schedlab restore").unwrap();
            let why = lock.unannounced().unwrap().one_line();
            assert!(why.contains(Lock::HOLDER), "{why}");
            // Its word is of another holder.
            assert_eq!(Lock::holder(&machine), None);
            let open = || machine.files().open_private(machine.runtime()).unwrap();
            assert!(!open().append(Lock::FILE).unwrap().try_lock().unwrap(), "it is held");
            drop(lock);
            assert!(open().append(Lock::FILE).unwrap().try_lock().unwrap());
            let lock = Lock::acquire_to_restore(&machine, "schedlab restore").unwrap();
            assert_eq!(lock.unannounced(), None);
        }
    }

    #[test]
    fn a_lock_that_was_removed_and_cannot_be_made_is_refused_with_a_remedy() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let full = FailingFiles::on(&machine, |step, _| {
            (step == PrivateStep::Make).then_some(libc::ENOSPC)
        });
        let error = Lock::acquire_to_restore(&full, "schedlab restore").unwrap_err();
        assert!(error.remedy.contains("make room there"), "{error}");
    }

    #[test]
    fn a_holder_that_ended_or_is_another_process_is_nobody() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let lock = Lock::acquire(&machine, "campaign").unwrap();
        let path = machine.runtime().join(Lock::HOLDER);
        let mut holder: LockHolder = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        holder.start_ticks += 1;
        fs::write(&path, serde_json::to_vec(&holder).unwrap()).unwrap();
        assert_eq!(Lock::holder(&machine), None, "its id was used again");
        fs::write(&path, "no JSON").unwrap();
        assert_eq!(Lock::holder(&machine), None);
        drop(lock);
    }

    #[test]
    fn a_strangers_lock_and_his_word_count_for_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let _lock = Lock::acquire(&machine, "campaign").unwrap();
        assert!(running_in(&machine, machine.runtime()).is_some());
        let set_mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        // As anybody could have made it: a lock that is held, and a process that lives.
        set_mode(machine.runtime(), 0o777);
        assert_eq!(running_in(&machine, machine.runtime()), None);
        assert_eq!(Lock::holder(&machine), None);
        set_mode(machine.runtime(), 0o700);
        set_mode(&machine.runtime().join(Lock::HOLDER), 0o666);
        assert_eq!(Lock::holder(&machine), None, "his word in a directory of ours");
    }

    #[test]
    fn a_directory_is_checked_as_it_is_and_refused_with_the_words_of_the_lock() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        check_runtime_directory(&machine).unwrap();
        assert!(!machine.runtime().exists(), "nothing was made");
        let set_mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        set_mode(directory.path(), 0o777);
        let checked = check_runtime_directory(&machine).unwrap_err();
        let locked = Lock::acquire(&machine, "campaign").unwrap_err();
        assert_eq!(checked, locked);
        set_mode(directory.path(), 0o700);
        fs::create_dir(machine.runtime()).unwrap();
        set_mode(machine.runtime(), 0o755);
        check_runtime_directory(&machine).unwrap();
        let mode = fs::metadata(machine.runtime()).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o755, "it was not closed");
    }

    #[test]
    fn a_strangers_lock_in_a_directory_that_was_open_is_set_aside() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        fs::create_dir(machine.runtime()).unwrap();
        fs::set_permissions(machine.runtime(), fs::Permissions::from_mode(0o755)).unwrap();
        let path = machine.runtime().join(Lock::FILE);
        let stranger = File::create(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        flock(&stranger, FlockOperation::NonBlockingLockExclusive).unwrap();
        let lock = Lock::acquire(&machine, "campaign").unwrap();
        assert_eq!(Lock::holder(&machine).unwrap().purpose, "campaign");
        assert_eq!(lock.set_aside().len(), 1, "{lock:?}");
        drop(lock);
    }

    #[test]
    fn a_notice_is_believed_of_its_owner_alone() {
        let directory = tempfile::tempdir().unwrap();
        let machine = machine(directory.path());
        let path = directory.path().join("notice");
        let pid = std::process::id().cast_signed();
        let start_ticks = start_ticks(&machine, pid).unwrap();
        let holder = LockHolder { pid, start_ticks, purpose: "campaign".to_owned() };
        let text = serde_json::to_vec(&holder).unwrap();
        tell_everybody(&**machine.files(), &path, &text).unwrap();
        tell_everybody(&**machine.files(), &path, &text).unwrap();
        let user = geteuid().as_raw();
        assert_eq!(noticed(&machine, &path, user), Some(holder));
        assert_eq!(noticed(&machine, &path, user + 1), None);
        std::os::unix::fs::symlink(&path, directory.path().join("link")).unwrap();
        assert_eq!(noticed(&machine, &directory.path().join("link"), user), None);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o646)).unwrap();
        assert_eq!(noticed(&machine, &path, user), None);
    }
}
