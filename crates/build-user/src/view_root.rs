//! The directory below which the views of a build lie. It is locked as long as the build goes on:
//! nobody holds the lock of one of a build that was killed, and it goes when the next build begins.

use artefacts::{GRACE_PERIOD, open_directory, remove_tree, sweep_left};
use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names of all of them begin so.
const PREFIX: &str = "schedlab-build-";
/// Numbers that are tried: another build may have one, or somebody else put it there. Most builds
/// get the first: paths that are compiled in do not differ from one to the next.
const NUMBERS: u32 = 1_000;
/// Until it is locked nobody else may open it, and so hold its lock.
const DIRECTORY_MODE: u32 = 0o700;

/// A directory that was not there before, and its lock.
#[derive(Debug)]
pub(crate) struct ViewRoot {
    path: PathBuf,
    _lock: File,
}

impl ViewRoot {
    /// A new one in this directory, which its user alone may enter yet. Those that were left there
    /// go first.
    pub(crate) fn within(parent: &Path) -> io::Result<Self> {
        sweep(parent, GRACE_PERIOD);
        for number in 0..NUMBERS {
            if let Some(made) = Self::made(parent.join(format!("{PREFIX}{number}")))? {
                return Ok(made);
            }
        }
        // Any user can make all of these, but no name that is drawn now.
        let mut bytes = [0_u8; 16];
        getrandom(&mut bytes, GetRandomFlags::empty())?;
        let drawn: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let made = Self::made(parent.join(format!("{PREFIX}{drawn}")))?;
        made.ok_or_else(|| io::ErrorKind::AlreadyExists.into())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Nothing where something has that name, or is looking whether it was left.
    fn made(path: PathBuf) -> io::Result<Option<Self>> {
        match DirBuilder::new().mode(DIRECTORY_MODE).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            outcome => outcome?,
        }
        let lock = open_directory(&path)?;
        if lock.try_lock().is_err() {
            // Nothing lies in it; one that is gone already is what is wanted.
            let _ = fs::remove_dir(&path);
            return Ok(None);
        }
        Ok(Some(Self { path, _lock: lock }))
    }
}

impl Drop for ViewRoot {
    fn drop(&mut self) {
        // What is mounted there is mounted for commands alone: here it is empty, but for the home.
        let _ = remove_tree(&self.path);
    }
}

/// Removes what builds left that were killed.
fn sweep(parent: &Path, young: Duration) {
    sweep_left(parent, PREFIX, young, &[geteuid().as_raw()]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_a_killed_build_left_goes_when_the_next_begins_and_what_is_in_use_stays() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        let used = ViewRoot::within(parent.path()).unwrap();
        assert_eq!(used.path(), at("schedlab-build-0"));
        fs::create_dir_all(at("schedlab-build-1/home/tmp")).unwrap();
        fs::create_dir(at("elsewhere")).unwrap();
        symlink(at("elsewhere"), at("schedlab-build-2")).unwrap();
        sweep(parent.path(), GRACE_PERIOD);
        assert!(at("schedlab-build-1").exists(), "it may be locked in an instant");
        sweep(parent.path(), Duration::ZERO);
        assert!(!at("schedlab-build-1").exists());
        assert!(used.path().exists() && at("elsewhere").exists());
        assert!(at("schedlab-build-2").is_symlink(), "it is no directory of a build");
        drop(used);
        assert!(!at("schedlab-build-0").exists());
    }

    #[test]
    fn who_makes_each_name_that_is_tried_stops_no_build() {
        let parent = tempfile::tempdir().unwrap();
        for number in 0..NUMBERS {
            fs::write(parent.path().join(format!("{PREFIX}{number}")), "").unwrap();
        }
        let root = ViewRoot::within(parent.path()).unwrap();
        assert!(root.path().is_dir());
    }
}
