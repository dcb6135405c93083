//! One campaign at a time on a machine.

use contract::{Error, ErrorKind, Result};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::Machine;

/// How long a start waits for a guardian that is still putting things back.
const GUARDIAN_PATIENCE: Duration = Duration::from_secs(10);

/// Who holds the lock, for the message to whoever is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process id.
    pub pid: i32,
    /// What it is doing.
    pub purpose: String,
}

/// The machine's lock: flock(2) on a file of the runtime directory. It is held
/// until every process that inherited the descriptor (the guardian) is gone.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    const FILE: &'static str = "lock";

    /// Takes the lock, making the runtime directory where there is none.
    ///
    /// # Errors
    /// When another campaign runs here, by this or another user.
    pub fn acquire(machine: &Machine, purpose: &str) -> Result<Self> {
        let directory = machine.runtime();
        make_runtime_directory(directory)?;
        let path = directory.join(Self::FILE);
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o644)
            .open(&path)
            .map_err(|error| {
                Error::environment(format!("cannot open the lock {}", path.display()), error)
            })?;
        take(&mut file, &path)?;
        // Ours first: of two users who start at once, at least one sees the other.
        for other in foreign_lock_files(machine) {
            refuse_if_held(&other)?;
        }
        let holder = Holder { pid: std::process::id().cast_signed(), purpose: purpose.to_owned() };
        let text = serde_json::to_string(&holder)
            .map_err(|error| Error::environment("cannot encode the lock's holder", error))?;
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(text.as_bytes()))
            .map_err(|error| {
                Error::environment(format!("cannot write the lock {}", path.display()), error)
            })?;
        Ok(Self { file })
    }

    /// Who runs a campaign now; nobody where only a guardian still holds the lock.
    pub fn holder(machine: &Machine) -> Option<Holder> {
        let mut file = File::open(machine.runtime().join(Self::FILE)).ok()?;
        if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
            return None;
        }
        read_holder(&mut file).filter(|holder| is_running(holder.pid))
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
fn take(file: &mut File, path: &Path) -> Result<()> {
    let deadline = Instant::now() + GUARDIAN_PATIENCE;
    loop {
        if flock(&*file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Ok(());
        }
        let holder = read_holder(file);
        let is_alive = holder.as_ref().is_some_and(|holder| is_running(holder.pid));
        if is_alive || Instant::now() >= deadline {
            return Err(held(path, holder));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn refuse_if_held(path: &Path) -> Result<()> {
    let Ok(mut file) = File::open(path) else { return Ok(()) };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(()),
        Err(_) => Err(held(path, read_holder(&mut file))),
    }
}

fn held(path: &Path, holder: Option<Holder>) -> Error {
    let cause = match holder {
        Some(holder) => format!("process {} is running: {}", holder.pid, holder.purpose),
        None => "another process holds it".to_owned(),
    };
    Error::new(
        ErrorKind::Environment,
        format!("cannot take the machine's lock {}", path.display()),
        cause,
        "two campaigns at once would measure each other: wait for it, or stop it",
    )
}

fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(4096).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn is_running(pid: i32) -> bool {
    rustix::process::Pid::from_raw(pid)
        .is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// Locks of other users of this machine, as far as this user may see them.
fn foreign_lock_files(machine: &Machine) -> Vec<PathBuf> {
    if machine.is_fake() {
        return Vec::new();
    }
    let mut paths = vec![PathBuf::from("/run/schedlab").join(Lock::FILE)];
    if let Ok(users) = fs::read_dir("/run/user") {
        paths.extend(users.flatten().map(|user| user.path().join("schedlab").join(Lock::FILE)));
    }
    let own = machine.runtime().join(Lock::FILE);
    paths.retain(|path| *path != own);
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_campaign_is_refused_and_told_by_whom() {
        let directory = tempfile::tempdir().unwrap();
        let machine = Machine::fake(directory.path(), directory.path().join("run")).unwrap();
        assert_eq!(Lock::holder(&machine), None);
        let first = Lock::acquire(&machine, "campaign one").unwrap();
        assert_eq!(Lock::holder(&machine).unwrap().purpose, "campaign one");
        let error = Lock::acquire(&machine, "campaign two").unwrap_err();
        assert!(error.cause.contains("campaign one"), "{error}");
        drop(first);
        assert_eq!(Lock::holder(&machine), None);
        Lock::acquire(&machine, "campaign three").unwrap();
    }
}
