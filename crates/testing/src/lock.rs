//! Locks between tests of all processes and clones on this machine.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;

/// The machine as a whole: tests that turn its knobs lock it, those that run loads or
/// campaigns on it share it (CONTRIBUTING.md says which).
pub const MACHINE: &str = "machine";
/// The machine's knobs, of tests that turn one beside tests that it does not disturb: they share the
/// machine, and of these one at a time locks its knobs.
pub const KNOBS: &str = "knobs";
/// The loop devices: their numbers are handed out anew as soon as they are given back.
pub const LOOP_DEVICES: &str = "loop-devices";

/// Where locks are on machines that have the directory (Filesystem Hierarchy Standard 3.0, 5.9).
const DIRECTORY: &str = "/run/lock";

/// Held until it is dropped; the kernel lets it go with the process, whatever ends that.
#[derive(Debug)]
pub struct TestLock {
    _file: File,
}

/// Waits until no other test has the resource, and has it alone.
///
/// # Panics
/// Where the file cannot be made or locked.
#[must_use]
pub fn lock(resource: &str) -> TestLock {
    let file = open(resource);
    file.lock().unwrap_or_else(|error| panic!("cannot lock {resource}: {error}"));
    TestLock { _file: file }
}

/// Has the resource alone if no other test has or shares it; does not wait.
///
/// # Panics
/// Where the file cannot be made.
#[must_use]
pub fn try_lock(resource: &str) -> Option<TestLock> {
    let file = open(resource);
    file.try_lock().is_ok().then_some(TestLock { _file: file })
}

/// Waits until no test has the resource alone, and shares it.
///
/// # Panics
/// Where the file cannot be made or locked.
#[must_use]
pub fn share(resource: &str) -> TestLock {
    let file = open(resource);
    file.lock_shared().unwrap_or_else(|error| panic!("cannot share {resource}: {error}"));
    TestLock { _file: file }
}

/// One of each user: what another user made cannot be opened, and tests that turn knobs of the
/// machine are root's.
fn name(resource: &str) -> String {
    let user = rustix::process::geteuid().as_raw();
    format!("schedlab-tests-{user}-{resource}.lock")
}

fn open(resource: &str) -> File {
    let name = name(resource);
    let open =
        |path: PathBuf| OpenOptions::new().create(true).write(true).truncate(false).open(path);
    open(PathBuf::from(DIRECTORY).join(&name))
        .or_else(|_| open(std::env::temp_dir().join(&name)))
        .unwrap_or_else(|error| panic!("cannot make the lock {name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_is_alone_excludes_those_that_share_and_they_do_not_exclude_each_other() {
        let resource = format!("test-{}", std::process::id());
        let first = share(&resource);
        let second = share(&resource);
        assert!(try_lock(&resource).is_none());
        drop(first);
        assert!(try_lock(&resource).is_none(), "the second shares it still");
        drop(second);
        let tried = try_lock(&resource);
        assert!(tried.is_some() && open(&resource).try_lock_shared().is_err());
        drop(tried);
        let alone = lock(&resource);
        assert!(open(&resource).try_lock_shared().is_err());
        drop(alone);
        assert!(open(&resource).try_lock_shared().is_ok());
        for directory in [PathBuf::from(DIRECTORY), std::env::temp_dir()] {
            let _ = std::fs::remove_file(directory.join(name(&resource)));
        }
    }
}
