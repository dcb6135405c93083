//! Directories that processes left that were killed. Each is locked as long as its process uses it
//! (flock(2)), and nobody holds the lock of one that was left.

use crate::remove_tree;
use rustix::fs::{Mode, OFlags, open};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Between making a directory and locking it lies an instant: so young a one is left alone.
pub const GRACE_PERIOD: Duration = Duration::from_secs(60);

/// Removes the directories in this one whose names begin so, which one of these users has, of which
/// no process holds the lock, and which were last changed so long ago. What cannot be removed stays:
/// it is in nobody's way. Whether others can put another directory in place of one between the look
/// and the removal is for the caller to ask: they can where they may rename what lies in the parent.
pub fn sweep_left(parent: &Path, prefix: &str, grace_period: Duration, owners: &[u32]) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        let is_named = entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes());
        if is_named && is_left(&entry.path(), grace_period, owners) {
            // It follows no link in it, and is as deep as its owner likes.
            let _ = remove_tree(&entry.path());
        }
    }
}

fn is_left(path: &Path, grace_period: Duration, owners: &[u32]) -> bool {
    let Ok(directory) = open_directory(path) else { return false };
    let Ok(metadata) = directory.metadata() else { return false };
    let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
    owners.contains(&metadata.uid())
        && age.is_some_and(|age| age >= grace_period)
        && directory.try_lock().is_ok()
}

/// Opens the directory of this name, and nothing else that its owner may put there in an instant: a
/// pipe would keep its reader waiting, and a link lead elsewhere.
///
/// # Errors
/// Where it is no directory; what the kernel answers.
pub fn open_directory(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(open(path, flags, Mode::empty())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, mknodat};
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_another_user_has_or_a_process_holds_stays() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("left-1");
        fs::create_dir(&path).unwrap();
        let own = fs::metadata(&path).unwrap().uid();
        let sweep = |owner: u32| {
            sweep_left(parent.path(), "left-", Duration::ZERO, &[owner]);
            path.exists()
        };
        assert!(sweep(own + 1), "of another user");
        let held = open_directory(&path).unwrap();
        held.try_lock().unwrap();
        assert!(sweep(own), "it is in use");
        drop(held);
        assert!(!sweep(own));
    }

    #[test]
    fn what_stands_in_the_place_of_a_directory_is_neither_waited_for_nor_followed() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(format!("left-{name}"));
        let (target, pipe, link) = (at("target"), at("pipe"), at("link"));
        fs::create_dir(&target).unwrap();
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
        symlink(&target, &link).unwrap();
        let own = fs::metadata(&target).unwrap().uid();
        let held = open_directory(&target).unwrap();
        held.try_lock().unwrap();
        // Nobody writes into the pipe: opened as a file it would block for ever.
        for other in [&pipe, &link, &at("nothing")] {
            assert!(open_directory(other).is_err(), "{}", other.display());
            assert!(!is_left(other, Duration::ZERO, &[own]), "{}", other.display());
        }
        sweep_left(parent.path(), "left-", Duration::ZERO, &[own]);
        assert_eq!(parent.path().read_dir().unwrap().count(), 3);
    }
}
