//! A file that is written beside the one that it is to become. Its name cannot be foreseen, so that
//! nobody has put anything in its place, and what others have beside it is left alone.

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Names that are tried: none of them is there but by a chance of 1 in 2^64.
const MOST_TRIES: u32 = 100;
/// Of a file that anybody makes; the umask takes from it.
const NEW_MODE: u32 = 0o666;

/// A new file, gone with its value unless it got its name.
#[derive(Debug)]
pub struct Draft {
    directory: OwnedFd,
    name: OsString,
    draft: OsString,
    file: File,
}

impl Draft {
    /// An empty one of what is to be a file of this path, in the directory that the path leads to now.
    ///
    /// # Errors
    /// Of kind `InvalidInput` where the path has no name at its end; what the kernel answers.
    pub fn beside(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(parent.unwrap_or(Path::new(".")), flags, Mode::empty())?;
        Self::within(directory, name, NEW_MODE)
    }

    /// An empty one of what is to have this name in a directory; until then it has this mode, of which
    /// the umask takes its part.
    pub(crate) fn within(directory: OwnedFd, name: &OsStr, mode: u32) -> io::Result<Self> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..MOST_TRIES {
            let mut number = [0_u8; size_of::<u64>()];
            getrandom(&mut number, GetRandomFlags::empty())?;
            let mut draft = OsString::from(".");
            draft.push(name);
            draft.push(format!(".{:016x}", u64::from_ne_bytes(number)));
            match rustix::fs::openat(&directory, &draft, flags, Mode::from_raw_mode(mode)) {
                Err(Errno::EXIST) => {}
                outcome => {
                    let file = File::from(outcome?);
                    return Ok(Self { directory, name: name.to_owned(), draft, file });
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The file, to write into, and to read what was written.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives it its name where nothing has that.
    ///
    /// # Errors
    /// Of kind `AlreadyExists` where something has; what the kernel answers.
    pub fn put_new(self) -> io::Result<()> {
        let Self { directory, name, draft, .. } = &self;
        // Unlike a rename this does not replace what is there.
        Ok(rustix::fs::linkat(directory, draft, directory, name, AtFlags::empty())?)
    }

    /// Gives it its name in place of what has that, for good.
    pub(crate) fn put(self) -> io::Result<()> {
        let Self { directory, name, draft, .. } = &self;
        rustix::fs::renameat(directory, draft, directory, name)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let names = rustix::fs::openat(directory, ".", flags, Mode::empty())?;
        Ok(rustix::fs::fsync(&names)?)
    }

    /// Whether what has its name now is this file: where others may write it can be another one.
    fn has_name(&self) -> rustix::io::Result<bool> {
        let found = rustix::fs::statat(&self.directory, &self.draft, AtFlags::SYMLINK_NOFOLLOW)?;
        let own = rustix::fs::fstat(&self.file)?;
        Ok((found.st_dev, found.st_ino) == (own.st_dev, own.st_ino))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.has_name() == Ok(true) {
            let _ = rustix::fs::unlinkat(&self.directory, &self.draft, AtFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    #[test]
    fn a_draft_goes_with_its_value_and_what_took_its_place_stays() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        let names = || home.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name());
        let draft = Draft::beside(&path).unwrap();
        let other = Draft::beside(&path).unwrap();
        assert_ne!(draft.draft, other.draft);
        assert_eq!(names().count(), 2);
        drop(other);
        assert_eq!(names().collect::<Vec<_>>(), [&*draft.draft]);
        let at = home.path().join(&draft.draft);
        fs::remove_file(&at).unwrap();
        fs::write(&at, "of another").unwrap();
        drop(draft);
        assert_eq!(fs::read(&at).unwrap(), b"of another");
    }

    #[test]
    fn a_draft_gets_its_name_whole_and_a_new_one_replaces_nothing() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        let drafted = |text: &str| {
            let draft = Draft::beside(&path).unwrap();
            draft.file().write_all(text.as_bytes()).unwrap();
            draft
        };
        drafted("one").put_new().unwrap();
        assert_eq!(drafted("two").put_new().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        drafted("two").put().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(home.path().read_dir().unwrap().count(), 1, "no draft is left");
        assert!(Draft::beside(&home.path().join("absent/file")).is_err());
        assert!(Draft::beside(Path::new("..")).is_err());
    }
}
