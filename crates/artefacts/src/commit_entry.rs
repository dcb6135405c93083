//! A draft becomes an entry of the cache, in one step.

use crate::lock::CacheLock;
use crate::{Error, Result};
use removal::remove_tree;
use std::fs::{self, File};
use std::path::Path;

/// Syncs the file system and gives the directory its name: from here on it counts. The
/// cache that it is in is locked.
///
/// # Errors
/// When a file cannot be synced or renamed.
pub fn put(draft: &Path, target: &Path, _: &CacheLock) -> Result<()> {
    let fail = |error: std::io::Error| Error::file("put into the cache", target, error);
    let directory = File::open(draft).map_err(fail)?;
    // Thousands of modules: one sync of the file system costs less than one for each.
    rustix::fs::syncfs(&directory).map_err(|error| fail(error.into()))?;
    if target.exists() {
        // Not a kernel, or it would have been used: an older format, a torn file.
        remove_tree(target).map_err(fail)?;
    }
    fs::rename(draft, target).map_err(fail)?;
    let parent = target.parent().unwrap_or(target);
    File::open(parent).and_then(|parent| parent.sync_all()).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags, mkdirat, openat};
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use std::os::fd::OwnedFd;

    #[test]
    fn what_nests_deeper_than_files_may_be_open_gives_way_to_an_entry() {
        let cache = tempfile::tempdir().unwrap();
        let (draft, target) = (cache.path().join("draft"), cache.path().join("target"));
        for directory in [&draft, &target] {
            fs::create_dir(directory).unwrap();
        }
        fs::write(draft.join("image"), "x").unwrap();
        // As a build or an archive may have left it.
        let mut directory = OwnedFd::from(File::open(&target).unwrap());
        for _ in 0..1_000 {
            mkdirat(&directory, "next", Mode::from_raw_mode(0o700)).unwrap();
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            directory = openat(&directory, "next", flags, Mode::empty()).unwrap();
        }
        drop(directory);
        let lock = CacheLock::acquire(cache.path(), &mut |_| {}).unwrap();
        // That of this test's process: far more than other tests here have open.
        let limit = getrlimit(Resource::Nofile);
        let few = Rlimit { current: Some(256), maximum: limit.maximum };
        setrlimit(Resource::Nofile, few).unwrap();
        let outcome = put(&draft, &target, &lock);
        setrlimit(Resource::Nofile, limit).unwrap();
        outcome.unwrap();
        assert_eq!(fs::read_to_string(target.join("image")).unwrap(), "x");
    }
}
