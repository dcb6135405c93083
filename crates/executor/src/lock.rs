//! One campaign at a time on a machine.

use contract::{Error, ErrorKind, Result};
use rustix::fs::{FlockOperation, OFlags, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::Machine;

/// How long a start waits for a guardian that is still putting things back.
const GUARDIAN_PATIENCE: Duration = Duration::from_secs(10);
/// A holder's file is a line; whatever is longer is none of ours.
const LONGEST_HOLDER: u64 = 4096;
/// Runtime directories of users without XDG_RUNTIME_DIR begin so.
const OTHERS_IN_TMP: &str = "schedlab-";

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

/// The machine's lock: flock(2) on a file of the runtime directory that only its
/// user may open, so that nobody else can take it. It is held until every process
/// that inherited the descriptor (the guardian) is gone. Its holder is named in a
/// file beside it that everybody may read.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    const FILE: &'static str = "lock";
    const HOLDER: &'static str = "holder.json";

    /// Takes the lock, making the runtime directory where there is none.
    ///
    /// # Errors
    /// When another campaign runs here, by this or another user.
    pub fn acquire(machine: &Machine, purpose: &str) -> Result<Self> {
        let directory = machine.runtime();
        make_runtime_directory(directory)?;
        let path = directory.join(Self::FILE);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| {
                Error::environment(format!("cannot open the lock {}", path.display()), error)
            })?;
        take(machine, &file, directory)?;
        // Ours first: of two users who start at once, at least one sees the other.
        for other in foreign_directories(machine) {
            if let Some(holder) = running_in(machine, &other) {
                return Err(held(&other, Some(&holder)));
            }
        }
        let pid = std::process::id().cast_signed();
        let start_ticks = start_ticks(machine, pid).unwrap_or_default();
        let holder = LockHolder { pid, start_ticks, purpose: purpose.to_owned() };
        let path = directory.join(Self::HOLDER);
        serde_json::to_vec(&holder)
            .map_err(std::io::Error::other)
            .and_then(|text| fs::write(&path, text))
            .map_err(|error| {
                Error::environment(format!("cannot write {}", path.display()), error)
            })?;
        Ok(Self { file })
    }

    /// The process that runs a campaign on this machine now, of this or another user; none where
    /// only a guardian still holds the lock.
    pub fn holder(machine: &Machine) -> Option<LockHolder> {
        let mut directories = vec![machine.runtime().to_owned()];
        directories.extend(foreign_directories(machine));
        directories.iter().find_map(|directory| running_in(machine, directory))
    }

    /// The descriptor, for the guardian to inherit.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn make_runtime_directory(directory: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(directory).map_err(|error| {
        Error::new(
            ErrorKind::Environment,
            format!("cannot make the runtime directory {}", directory.display()),
            error,
            "it holds the journal that puts the machine back; root uses /run/schedlab, a user $XDG_RUNTIME_DIR",
        )
    })
}

/// Waits for a guardian, refuses a campaign.
fn take(machine: &Machine, file: &File, directory: &Path) -> Result<()> {
    let deadline = Instant::now() + GUARDIAN_PATIENCE;
    loop {
        if flock(file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Ok(());
        }
        let holder = live_holder(machine, directory);
        if holder.is_some() || Instant::now() >= deadline {
            return Err(held(directory, holder.as_ref()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The campaign of the user of this runtime directory, if one runs.
fn running_in(machine: &Machine, directory: &Path) -> Option<LockHolder> {
    let is_free = match open_plain(&directory.join(Lock::FILE)) {
        Ok(file) => flock(&file, FlockOperation::NonBlockingLockShared).is_ok(),
        // Another user's: its holder is all that can be known.
        Err(error) => error.kind() != std::io::ErrorKind::PermissionDenied,
    };
    if is_free { None } else { live_holder(machine, directory) }
}

/// Opens a regular file for reading; other users may have put anything there.
fn open_plain(path: &Path) -> std::io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a file"))
}

fn live_holder(machine: &Machine, directory: &Path) -> Option<LockHolder> {
    let mut text = String::new();
    let file = open_plain(&directory.join(Lock::HOLDER)).ok()?;
    file.take(LONGEST_HOLDER).read_to_string(&mut text).ok()?;
    let holder: LockHolder = serde_json::from_str(&text).ok()?;
    (start_ticks(machine, holder.pid) == Some(holder.start_ticks)).then_some(holder)
}

fn start_ticks(machine: &Machine, pid: i32) -> Option<u64> {
    // A machine of files has no processes; ours run on the real one.
    let running = Machine::host(machine.runtime());
    running.process_stat(pid).ok().map(|stat| stat.start_ticks)
}

fn held(directory: &Path, holder: Option<&LockHolder>) -> Error {
    let cause = match holder {
        Some(holder) => format!("process {} is running: {}", holder.pid, holder.purpose),
        None => format!(
            "no campaign runs any more, and after {} s something still holds it: a guardian, or a stranger",
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

/// Runtime directories of other users of this machine, as far as they can be guessed.
fn foreign_directories(machine: &Machine) -> Vec<PathBuf> {
    if machine.is_fake() {
        return Vec::new();
    }
    let mut directories = vec![PathBuf::from("/run/schedlab")];
    if let Ok(users) = fs::read_dir("/run/user") {
        directories.extend(users.flatten().map(|user| user.path().join("schedlab")));
    }
    if let Ok(entries) = fs::read_dir("/tmp") {
        let of_users = entries.flatten().filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.strip_prefix(OTHERS_IN_TMP).is_some_and(|user| user.parse::<u32>().is_ok())
        });
        directories.extend(of_users.map(|entry| entry.path()));
    }
    directories.retain(|directory| *directory != machine.runtime());
    directories
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
