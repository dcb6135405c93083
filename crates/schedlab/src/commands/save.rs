//! Files that are written as a whole or not at all: what was there before stays until the new
//! one is complete.

use crate::environment::invoking_user;
use contract::{Error, ErrorKind, Result};
use rustix::process::geteuid;
use std::io;
use std::path::{Path, PathBuf};
use sys::{is_untrusted, through_own_links, write_named};

/// What to do where another user could choose what is written to.
const NOT_FOLLOWED: &str = "nothing is written through it: look who made it, and name another file";

/// Writes a file, or into what is no plain file (a pipe, a terminal, `/dev/null`).
///
/// # Errors
/// What the kernel answers, with what to do about it; a plain file is then as it was.
pub(super) fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    write_named(path, bytes, sudo_user()).map_err(|error| refused(path, &error))
}

/// The path of a directory to write into, without links.
///
/// # Errors
/// When a link on the way belongs to another user.
pub(super) fn real_directory(directory: &Path) -> Result<PathBuf> {
    through_own_links(directory, sudo_user()).map_err(|error| refused(directory, &error))
}

/// The user whom sudo(8) names may have made links for root.
fn sudo_user() -> Option<u32> {
    invoking_user().filter(|_| geteuid().is_root())
}

fn refused(path: &Path, error: &io::Error) -> Error {
    if !is_untrusted(error) {
        return store::failed("write", path, error);
    }
    let attempted = format!("cannot write {}", path.display());
    Error::new(ErrorKind::Environment, attempted, error, NOT_FOLLOWED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_was_there_stays_where_the_new_one_cannot_be_completed() {
        let directory = tempfile::tempdir().unwrap();
        // No name of an unfinished file beside the longest one is short enough.
        for (name, is_written) in [("report.md".to_owned(), true), ("r".repeat(255), false)] {
            let file = directory.path().join(name);
            fs::write(&file, b"old").unwrap();
            assert_eq!(save(&file, b"new").is_ok(), is_written);
            let expected: &[u8] = if is_written { b"new" } else { b"old" };
            assert_eq!(fs::read(&file).unwrap(), expected);
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn links_and_devices_stay_what_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        save(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        save(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert!(save(Path::new("/dev/full"), b"x").is_err());
    }
}
