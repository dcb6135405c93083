//! Files as a process asks the kernel for them: the one seam below everything that has to survive
//! a crash. The journal, the lock, knobs and campaigns go through it, so that a simulator can make
//! any of these operations fail, end the process there, or cut the power
//! (docs/adr/0046-one-seam-for-faults-of-files.md).

use rustix::fs::FallocateFlags;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use crate::private_directory::PrivateDirectory;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAccess {
    /// For reading; it must be there.
    Read,
    /// For writing; it must be there, and keeps what it holds: a file of the kernel.
    Write,
    /// For reading and appending; made where it is not there.
    Append,
    /// For writing, empty; made where it is not there.
    Replace,
}

/// Operations on paths. Errors are the kernel's answers.
pub trait Files: fmt::Debug + Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// What open(2) answers.
    fn open(&self, path: &Path, access: FileAccess) -> io::Result<Box<dyn OpenFile>>;

    /// Opens a directory that this user alone can change ([`PrivateDirectory::open`]).
    ///
    /// # Errors
    /// Those of [`PrivateDirectory::open`].
    fn open_private(&self, path: &Path) -> io::Result<Box<dyn PrivateFiles>>;

    /// The same, making it where it is not there ([`PrivateDirectory::make`]).
    ///
    /// # Errors
    /// Those of [`PrivateDirectory::make`].
    fn make_private(&self, path: &Path) -> io::Result<Box<dyn PrivateFiles>>;

    /// Makes a directory.
    ///
    /// # Errors
    /// What mkdir(2) answers; of kind `AlreadyExists` where something has that name.
    fn make_directory(&self, path: &Path) -> io::Result<()>;

    /// Waits until the names in a directory are stored.
    ///
    /// # Errors
    /// What fsync(2) answers.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// The names in a directory, in no order.
    ///
    /// # Errors
    /// When it cannot be listed.
    fn names(&self, path: &Path) -> io::Result<Vec<String>>;

    /// Whether something has that name.
    fn exists(&self, path: &Path) -> bool;

    /// Whether it is a plain file, or a link to one.
    fn is_file(&self, path: &Path) -> bool;

    /// Gives a file another name, in place of what had that name.
    ///
    /// # Errors
    /// What rename(2) answers.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// What unlink(2) answers.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty directory.
    ///
    /// # Errors
    /// What rmdir(2) answers.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory with all that lies in it.
    ///
    /// # Errors
    /// What stops it; some of it may be gone by then.
    fn remove_tree(&self, path: &Path) -> io::Result<()>;

    /// Whether processes that are started are seen through it: not in a simulator.
    fn has_processes(&self) -> bool;

    /// Makes a directory with those above it that are not there.
    ///
    /// # Errors
    /// Those of [`Self::make_directory`].
    fn make_directories(&self, path: &Path) -> io::Result<()> {
        match self.make_directory(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let Some(parent) = path.parent() else { return Err(error) };
                self.make_directories(parent)?;
                self.make_directories(path)
            }
            // A link to a directory is one, too.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !self.is_file(path) => {
                Ok(())
            }
            outcome => outcome,
        }
    }
}

/// A file that is open. Errors are the kernel's answers.
pub trait OpenFile: Read + Write + Seek + fmt::Debug + Send + Sync {
    /// Waits until its bytes, and its length, are stored.
    ///
    /// # Errors
    /// What fdatasync(2) answers.
    fn sync_data(&self) -> io::Result<()>;

    /// Waits until its bytes and all that is known of it are stored.
    ///
    /// # Errors
    /// What fsync(2) answers.
    fn sync_all(&self) -> io::Result<()>;

    /// Cuts or lengthens it; space that was set aside behind it is given back.
    ///
    /// # Errors
    /// What ftruncate(2) answers.
    fn set_length(&self, bytes: u64) -> io::Result<()>;

    /// Its length in bytes.
    ///
    /// # Errors
    /// What fstat(2) answers.
    fn length(&self) -> io::Result<u64>;

    /// Sets space aside for so many bytes at this offset, without lengthening it.
    ///
    /// # Errors
    /// What fallocate(2) answers.
    fn reserve(&self, offset: u64, bytes: u64) -> io::Result<()>;

    /// Bytes that its file system has left for this user.
    ///
    /// # Errors
    /// What fstatvfs(3) answers.
    fn free_bytes(&self) -> io::Result<u64>;

    /// Takes the lock of the whole file (flock(2)) unless another has it; whether it was taken.
    ///
    /// # Errors
    /// What flock(2) answers otherwise.
    fn try_lock(&self) -> io::Result<bool>;

    /// The same of a lock that several may have at once.
    ///
    /// # Errors
    /// What flock(2) answers otherwise.
    fn try_lock_shared(&self) -> io::Result<bool>;

    /// Its device and inode.
    ///
    /// # Errors
    /// What fstat(2) answers.
    fn identity(&self) -> io::Result<(u64, u64)>;

    /// Its descriptor, for a process to inherit; a simulated file has none.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;
}

/// A [`PrivateDirectory`], or a simulated one.
pub trait PrivateFiles: fmt::Debug + Send + Sync {
    /// Opens a file of it for reading.
    ///
    /// # Errors
    /// Those of [`PrivateDirectory::read`].
    fn read(&self, name: &str) -> io::Result<Box<dyn OpenFile>>;

    /// Opens a file of it for reading and appending, making it where there is none.
    ///
    /// # Errors
    /// Those of [`PrivateDirectory::append`].
    fn append(&self, name: &str) -> io::Result<Box<dyn OpenFile>>;

    /// A new empty file of that name, in place of what was there.
    ///
    /// # Errors
    /// Those of [`PrivateDirectory::create`].
    fn create(&self, name: &str) -> io::Result<Box<dyn OpenFile>>;

    /// Gives a file of it another name, in place of what had that name.
    ///
    /// # Errors
    /// Those of [`PrivateDirectory::rename`].
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file of it; one that is not there is no error.
    ///
    /// # Errors
    /// Those of [`PrivateDirectory::remove`].
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Whether this file still has that name in it.
    ///
    /// # Errors
    /// Those of [`PrivateDirectory::holds`].
    fn holds(&self, name: &str, file: &dyn OpenFile) -> io::Result<bool>;

    /// Waits until the names in it are stored.
    ///
    /// # Errors
    /// Those of [`PrivateDirectory::sync`].
    fn sync(&self) -> io::Result<()>;

    /// Where it is.
    fn path(&self) -> &Path;

    /// Puts a file with this text there in one step.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&self, name: &str, text: &[u8]) -> io::Result<()> {
        let next = format!("{name}.next");
        self.create(&next)?.write_all(text)?;
        self.rename(&next, name)
    }
}

/// The files of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct HostFiles;

impl Files for HostFiles {
    fn open(&self, path: &Path, access: FileAccess) -> io::Result<Box<dyn OpenFile>> {
        let mut options = OpenOptions::new();
        match access {
            FileAccess::Read => options.read(true),
            FileAccess::Write => options.write(true),
            FileAccess::Append => options.read(true).append(true).create(true),
            FileAccess::Replace => options.write(true).create(true).truncate(true),
        };
        Ok(Box::new(options.open(path)?))
    }

    fn open_private(&self, path: &Path) -> io::Result<Box<dyn PrivateFiles>> {
        Ok(Box::new(PrivateDirectory::open(path)?))
    }

    fn make_private(&self, path: &Path) -> io::Result<Box<dyn PrivateFiles>> {
        Ok(Box::new(PrivateDirectory::make(path)?))
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn names(&self, path: &Path) -> io::Result<Vec<String>> {
        let name = |entry: io::Result<fs::DirEntry>| -> io::Result<String> {
            Ok(entry?.file_name().to_string_lossy().into_owned())
        };
        fs::read_dir(path)?.map(name).collect()
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
        fs::remove_dir_all(path)
    }

    fn has_processes(&self) -> bool {
        true
    }
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

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.as_fd())
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
        assert!(open(FileAccess::Read).is_err() && open(FileAccess::Write).is_err());
        open(FileAccess::Append).unwrap().write_all(b"one").unwrap();
        open(FileAccess::Append).unwrap().write_all(b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"onetwo");
        open(FileAccess::Write).unwrap().write_all(b"ONE").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ONEtwo");
        open(FileAccess::Replace).unwrap().write_all(b"x").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x");
    }
}
