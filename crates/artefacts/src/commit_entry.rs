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

/// Removes what interrupted processes left in a directory of the cache, which is locked: all whose
/// names begin so, directories and files alike. Of a link the link itself goes.
///
/// # Errors
/// When one cannot be removed.
pub fn sweep(directory: &Path, prefix: &str) -> Result<()> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_left = |name: &str| name.starts_with(prefix);
    for entry in entries.filter(|entry| is_left(&entry.file_name().to_string_lossy())) {
        let path = entry.path();
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let removed = if is_directory { remove_tree(&path) } else { fs::remove_file(&path) };
        removed.map_err(|error| Error::file("remove", &path, error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags, mkdirat, openat};
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_has_the_name_of_a_draft_is_swept_whatever_it_is() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for directory in [at(".incoming-a/deep"), at("kept")] {
            fs::create_dir_all(directory).unwrap();
        }
        fs::write(at(".incoming-b"), "").unwrap();
        symlink(at("kept"), at(".incoming-c")).unwrap();
        sweep(place.path(), ".incoming-").unwrap();
        assert!(at("kept").is_dir());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
        sweep(&at("absent"), ".incoming-").unwrap();
    }

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
