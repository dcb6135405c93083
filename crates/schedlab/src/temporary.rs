//! Directories that are gone with their value. One of a process that was killed is found by its
//! lock, which nobody holds any more, and goes when the next one is made.

use crate::environment::NOBODY;
use rustix::process::geteuid;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Names of all of them begin so.
const PREFIX: &str = "schedlab-temporary-";
/// Between making one and locking it lies an instant: so young a one is left alone.
const YOUNG: Duration = Duration::from_secs(60);

/// A directory, and the lock by which others see that it is in use.
pub(crate) struct TemporaryDirectory {
    directory: tempfile::TempDir,
    _lock: File,
}

impl TemporaryDirectory {
    /// A new one in this directory, for this purpose. Those that were left there go first.
    pub(crate) fn within(parent: &Path, purpose: &str) -> io::Result<Self> {
        sweep(parent, YOUNG);
        let prefix = format!("{PREFIX}{purpose}-");
        let directory = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent)?;
        let lock = File::open(directory.path())?;
        lock.try_lock().map_err(io::Error::from)?;
        Ok(Self { directory, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The directory, which from now on goes by hand alone.
    pub(crate) fn keep(self) -> std::path::PathBuf {
        self.directory.keep()
    }
}

/// Removes what processes left that were killed. What cannot be removed stays: it is in nobody's
/// way.
fn sweep(parent: &Path, young: Duration) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) && is_left(&entry.path(), young)
        {
            // It follows no links.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether it is a directory of this user, or that root gave to nobody, and no process holds it.
fn is_left(path: &Path, young: Duration) -> bool {
    let Ok(metadata) = path.symlink_metadata() else { return false };
    let own = geteuid();
    let is_own = metadata.uid() == own.as_raw() || (own.is_root() && metadata.uid() == NOBODY);
    let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
    metadata.is_dir()
        && is_own
        && age.is_some_and(|age| age >= young)
        && File::open(path).is_ok_and(|directory| directory.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_goes_and_what_is_in_use_stays() {
        let parent = tempfile::tempdir().unwrap();
        let count = || parent.path().read_dir().unwrap().count();
        let used = TemporaryDirectory::within(parent.path(), "test").unwrap();
        let left = TemporaryDirectory::within(parent.path(), "test").unwrap().keep();
        std::fs::write(left.join("file"), "x").unwrap();
        std::fs::create_dir(parent.path().join("of-somebody-else")).unwrap();
        sweep(parent.path(), YOUNG);
        assert_eq!(count(), 3, "it is young");
        sweep(parent.path(), Duration::ZERO);
        assert_eq!((count(), left.exists(), used.path().exists()), (2, false, true));
        drop(used);
        assert_eq!(count(), 1);
    }
}
