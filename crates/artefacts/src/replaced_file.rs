//! Files of a cache that are written anew.

use crate::lock::CacheLock;
use crate::{Result, commit_entry};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Between two names of drafts: none is ever there but by a chance of 1 in 2^64.
const MOST_TRIES: u32 = 100;

/// Puts a file with these bytes there in one step. Nothing is written through a link, nor into a file
/// that has another name, too: what had the name before is replaced.
///
/// # Errors
/// When it cannot be written; what was there stays, and no draft of it.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, |file| file.write_all(bytes))
}

/// The same with what is written into the file until this returns.
///
/// # Errors
/// As [`replace`], and those of `write`.
pub fn replace_by(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let (mut file, draft) = drafted(path)?;
    let written = write(&mut file).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The error that matters is the first one.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Removes the drafts of a file that killed processes left beside it, in a cache that is locked.
///
/// # Errors
/// When one cannot be removed.
pub fn sweep_drafts(path: &Path, _: &CacheLock) -> Result<()> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    commit_entry::sweep(directory, &draft_prefix(name).to_string_lossy())
}

/// What the names of all drafts of a file begin with. apt passes over names that begin with a dot.
fn draft_prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    prefix
}

/// A new file beside it, of a name that nobody can foresee: neither another thread nor who may write
/// there has one in its place.
fn drafted(path: &Path) -> io::Result<(File, PathBuf)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    for _ in 0..MOST_TRIES {
        let mut number = [0_u8; size_of::<u64>()];
        rustix::rand::getrandom(&mut number, rustix::rand::GetRandomFlags::empty())?;
        let mut draft = draft_prefix(name);
        draft.push(format!("{:016x}", u64::from_ne_bytes(number)));
        let draft = path.with_file_name(draft);
        match File::create_new(&draft) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            outcome => return Ok((outcome?, draft)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_is_written_through_a_link_or_into_a_file_with_another_name() {
        let home = tempfile::tempdir().unwrap();
        let (path, other) = (home.path().join("file"), home.path().join("other"));
        fs::write(&other, "as it was").unwrap();
        symlink(&other, &path).unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(!path.is_symlink());
        fs::remove_file(&path).unwrap();
        fs::hard_link(&other, &path).unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "as it was");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "no draft is left");
        assert!(replace(&home.path().join("absent/file"), b"new").is_err());
    }

    #[test]
    fn threads_that_replace_one_file_do_not_meet_and_an_error_leaves_no_draft() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        let names = || -> Vec<OsString> {
            fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect()
        };
        // What a process of this number was said to write to is not touched.
        let foreseen = home.path().join(format!(".file.{}", std::process::id()));
        fs::write(&foreseen, "of another").unwrap();
        let ((_, first), (_, second)) = (drafted(&path).unwrap(), drafted(&path).unwrap());
        assert_ne!(first, second);
        for draft in [first, second] {
            fs::remove_file(draft).unwrap();
        }
        let texts: [&[u8]; 2] = [b"one", b"two"];
        std::thread::scope(|scope| {
            for text in texts {
                let path = &path;
                scope.spawn(move || (0..100).for_each(|_| replace(path, text).unwrap()));
            }
        });
        assert!(texts.contains(&fs::read(&path).unwrap().as_slice()));
        assert_eq!(fs::read(&foreseen).unwrap(), b"of another");
        assert_eq!(names().len(), 2, "{:?}", names());
        // A file never takes the place of a directory.
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(replace(&path, b"new").is_err());
        assert_eq!(names().len(), 2, "{:?}", names());
    }

    #[test]
    fn drafts_that_killed_processes_left_are_swept_and_nothing_else() {
        let cache = tempfile::tempdir().unwrap();
        let lock = CacheLock::acquire(cache.path(), &mut |_| {}).unwrap();
        let place = cache.path().join("archive");
        fs::create_dir(&place).unwrap();
        let path = place.join("file");
        for kept in ["file", "file.0", ".file", ".filed.0", ".other.0"] {
            fs::write(place.join(kept), "").unwrap();
        }
        let (_, left) = drafted(&path).unwrap();
        assert!(left.exists());
        sweep_drafts(&path, &lock).unwrap();
        assert!(!left.exists());
        assert_eq!(fs::read_dir(&place).unwrap().count(), 5);
        sweep_drafts(&cache.path().join("absent/file"), &lock).unwrap();
    }
}
