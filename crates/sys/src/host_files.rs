//! The files of this machine: what `Files` asks for, by the system calls.

use crate::draft::{Draft, sweep_drafts};
use crate::files::{DraftFile, FileAccess, Files, OpenFile, PrivateFiles};
use crate::lock_file::open_lock;
use crate::own_directory::check_own_directory;
use crate::private_directory::PrivateDirectory;
use crate::regular_file::{open_regular, open_regular_as};
use removal::{GRACE_PERIOD, remove_made_directory, remove_tree};
use rustix::fs::FallocateFlags;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Its user writes, everybody reads.
const DIRECTORY_MODE: u32 = 0o755;
/// The same of a document.
const DOCUMENT_MODE: u32 = 0o644;

/// The files of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct HostFiles;

impl Files for HostFiles {
    fn open(&self, path: &Path, access: FileAccess) -> io::Result<Box<dyn OpenFile>> {
        let mut options = OpenOptions::new();
        Ok(Box::new(match access {
            FileAccess::Read => open_regular(path)?,
            FileAccess::Write => options.write(true).open(path)?,
            FileAccess::Append => append_to(path)?,
            FileAccess::Overwrite => open_itself(options.write(true), path)?,
            FileAccess::Replace => {
                emptied(open_itself(options.write(true).create(true).truncate(false), path)?)?
            }
            FileAccess::Lock => open_lock(path)?,
        }))
    }

    fn draft(&self, path: &Path) -> io::Result<Box<dyn DraftFile>> {
        Ok(Box::new(Draft::beside_as(path, DOCUMENT_MODE)?))
    }

    fn sweep_drafts(&self, directory: &Path) {
        sweep_drafts(directory, GRACE_PERIOD);
    }

    fn open_private(&self, path: &Path) -> io::Result<Box<dyn PrivateFiles>> {
        Ok(Box::new(PrivateDirectory::open(path)?))
    }

    fn make_private(&self, path: &Path) -> io::Result<Box<dyn PrivateFiles>> {
        Ok(Box::new(PrivateDirectory::make(path)?))
    }

    fn check_private(&self, path: &Path) -> io::Result<()> {
        PrivateDirectory::check(path)
    }

    fn check_own_directory(&self, path: &Path) -> io::Result<()> {
        check_own_directory(path)
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        DirBuilder::new().mode(DIRECTORY_MODE).create(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn names(&self, path: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn remove_tree(&self, path: &Path) -> io::Result<()> {
        remove_tree(path)
    }

    fn remove_made(&self, path: &Path) -> io::Result<()> {
        remove_made_directory(path)
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        match fs::canonicalize(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match (path.parent(), path.file_name()) {
                    (Some(parent), Some(name)) => Ok(self.real_path(parent)?.join(name)),
                    _ => Err(error),
                }
            }
            outcome => outcome,
        }
    }

    fn owner(&self, path: &Path) -> io::Result<u32> {
        Ok(fs::metadata(path)?.uid())
    }

    fn has_processes(&self) -> bool {
        true
    }
}

/// Opens a file to read it and to append to it, and makes it where there is none. Nothing is made or
/// written through a link of that name: the user who put it there would choose what is written to.
///
/// # Errors
/// What the kernel answers, and where a link has that name, or anything but a regular file.
pub fn append_to(path: &Path) -> io::Result<File> {
    open_itself(OpenOptions::new().read(true).append(true).create(true), path)
}

fn open_itself(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let opened = open_regular_as(options, libc::O_NOFOLLOW, path);
    opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => io::Error::other(
            "a link has that name, and nothing is written through one: look who made it, and remove it",
        ),
        _ => error,
    })
}

/// The file without what it held. One with another name is left as it is: who gave it this one would
/// choose what is emptied.
fn emptied(file: File) -> io::Result<File> {
    if file.metadata()?.nlink() > 1 {
        return Err(io::Error::other(
            "the file has another name, too, and nothing is replaced there: look who made it, and remove it",
        ));
    }
    file.set_len(0)?;
    Ok(file)
}

impl OpenFile for File {
    fn sync_data(&self) -> io::Result<()> {
        File::sync_data(self)
    }

    fn sync_all(&self) -> io::Result<()> {
        File::sync_all(self)
    }

    fn set_length(&self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn reserve(&self, offset: u64, bytes: u64) -> io::Result<()> {
        Ok(rustix::fs::fallocate(self, FallocateFlags::KEEP_SIZE, offset, bytes)?)
    }

    fn free_bytes(&self) -> io::Result<u64> {
        let status = rustix::fs::fstatvfs(self)?;
        Ok(status.f_bavail.saturating_mul(status.f_frsize))
    }

    fn try_lock(&self) -> io::Result<bool> {
        was_taken(File::try_lock(self))
    }

    fn try_lock_shared(&self) -> io::Result<bool> {
        was_taken(File::try_lock_shared(self))
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        let stat = rustix::fs::fstat(self)?;
        Ok((stat.st_dev, stat.st_ino))
    }

    fn owner(&self) -> io::Result<u32> {
        Ok(self.metadata()?.uid())
    }

    fn links(&self) -> io::Result<u64> {
        Ok(self.metadata()?.nlink())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.as_fd())
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl DraftFile for Draft {
    fn sync_all(&self) -> io::Result<()> {
        self.file().sync_all()
    }

    fn put(self: Box<Self>) -> io::Result<()> {
        self.rename()
    }
}

fn was_taken(outcome: Result<(), TryLockError>) -> io::Result<bool> {
    match outcome {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl PrivateFiles for PrivateDirectory {
    fn read(&self, name: &str) -> io::Result<Box<dyn OpenFile>> {
        Ok(Box::new(PrivateDirectory::read(self, name)?))
    }

    fn append(&self, name: &str) -> io::Result<Box<dyn OpenFile>> {
        Ok(Box::new(PrivateDirectory::append(self, name)?))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn OpenFile>> {
        Ok(Box::new(PrivateDirectory::create(self, name)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        PrivateDirectory::rename(self, from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        PrivateDirectory::remove(self, name)
    }

    fn set_aside(&self, names: &[&str]) -> Vec<String> {
        PrivateDirectory::set_aside(self, names)
    }

    fn holds(&self, name: &str, file: &dyn OpenFile) -> io::Result<bool> {
        PrivateDirectory::holds(self, name, file)
    }

    fn sync(&self) -> io::Result<()> {
        PrivateDirectory::sync(self)
    }

    fn path(&self) -> &Path {
        PrivateDirectory::path(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_made_with_those_above_and_a_file_in_the_way_is_told() {
        let home = tempfile::tempdir().unwrap();
        let deep = home.path().join("a/b/c");
        HostFiles.make_directories(&deep).unwrap();
        HostFiles.make_directories(&deep).unwrap();
        assert!(deep.is_dir());
        fs::write(home.path().join("file"), "").unwrap();
        assert!(HostFiles.make_directories(&home.path().join("file")).is_err());
        assert!(HostFiles.make_directories(&home.path().join("file/below")).is_err());
    }

    #[test]
    fn below_a_link_to_nothing_no_directory_is_made_and_the_attempt_ends() {
        let home = tempfile::tempdir().unwrap();
        let dangling = home.path().join("dangling");
        std::os::unix::fs::symlink(home.path().join("nothing"), &dangling).unwrap();
        let error = HostFiles.make_directories(&dangling.join("run/below")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!home.path().join("nothing").exists());
    }

    #[test]
    fn a_lock_that_another_has_is_not_taken_and_is_no_error() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        let first = HostFiles.open(&path, FileAccess::Append).unwrap();
        let second = HostFiles.open(&path, FileAccess::Append).unwrap();
        assert!(first.try_lock().unwrap());
        assert!(!second.try_lock().unwrap() && !second.try_lock_shared().unwrap());
        assert_eq!(first.identity().unwrap(), second.identity().unwrap());
        drop(first);
        assert!(second.try_lock().unwrap());
    }

    #[test]
    fn how_a_file_is_opened_decides_what_it_keeps_and_where_writes_go() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        let open = |access| HostFiles.open(&path, access);
        for access in [FileAccess::Read, FileAccess::Write, FileAccess::Overwrite] {
            assert!(open(access).is_err(), "{access:?}");
        }
        open(FileAccess::Append).unwrap().write_all(b"one").unwrap();
        open(FileAccess::Append).unwrap().write_all(b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"onetwo");
        for (access, text) in [(FileAccess::Write, "ONE"), (FileAccess::Overwrite, "oNe")] {
            open(access).unwrap().write_all(text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("{text}two"));
        }
        open(FileAccess::Replace).unwrap().write_all(b"x").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x");
    }

    #[test]
    fn a_file_that_has_another_name_is_not_emptied() {
        let home = tempfile::tempdir().unwrap();
        let (file, other) = (home.path().join("file"), home.path().join("other"));
        fs::write(&file, "as it was").unwrap();
        fs::hard_link(&file, &other).unwrap();
        assert!(HostFiles.open(&other, FileAccess::Replace).is_err());
        assert_eq!(fs::read(&file).unwrap(), b"as it was");
        fs::remove_file(&file).unwrap();
        HostFiles.open(&other, FileAccess::Replace).unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"");
    }

    #[test]
    fn nothing_is_made_or_written_through_a_link() {
        let home = tempfile::tempdir().unwrap();
        let (file, absent) = (home.path().join("file"), home.path().join("absent"));
        fs::write(&file, "as it was").unwrap();
        for elsewhere in [&file, &absent] {
            let link = home.path().join("link");
            std::os::unix::fs::symlink(elsewhere, &link).unwrap();
            for access in [FileAccess::Append, FileAccess::Overwrite, FileAccess::Replace] {
                let error = HostFiles.open(&link, access).err().unwrap();
                assert!(error.to_string().contains("a link has that name"), "{error}");
            }
            fs::remove_file(link).unwrap();
        }
        assert_eq!(fs::read(&file).unwrap(), b"as it was");
        assert!(!absent.exists());
    }
}
