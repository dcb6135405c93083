//! Files as a process asks the kernel for them: the one seam below everything that has to survive
//! a crash. The journal, the lock, knobs and campaigns go through it, so that a simulator can make
//! any of these operations fail, end the process there, or cut the power
//! (docs/adr/0046-one-seam-for-faults-of-files.md).

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Seek, Write};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAccess {
    /// For reading; it must be there.
    Read,
    /// For writing; it must be there, and keeps what it holds: a file of the kernel.
    Write,
    /// For reading and appending; made where it is not there.
    Append,
    /// For writing over what it holds; it must be there.
    Overwrite,
    /// For writing, empty; made where it is not there. One that has another name, too, is refused.
    Replace,
    /// To be locked, and for nothing else; made where it is not there. Only its user can open it, and
    /// users who may write in its directory.
    Lock,
}

/// Operations on paths. Errors are the kernel's answers.
pub trait Files: fmt::Debug + Send + Sync {
    /// Opens a file. What is read, appended to, written over or replaced is a regular one: nothing
    /// else of that name is waited for.
    ///
    /// # Errors
    /// What open(2) answers, and what it is instead where it is no regular file.
    fn open(&self, path: &Path, access: FileAccess) -> io::Result<Box<dyn OpenFile>>;

    /// A new file that is to become the one of this path, beside it and under a name that nobody
    /// can foresee ([`crate::Draft`]). Only its user may write it, whatever the umask.
    ///
    /// # Errors
    /// What open(2) answers.
    fn draft(&self, path: &Path) -> io::Result<Box<dyn DraftFile>>;

    /// Removes the drafts in a directory that processes of this user left which were killed. They
    /// stay where another user could put a file into the directory, and where they cannot be
    /// removed: they are in nobody's way.
    fn sweep_drafts(&self, directory: &Path);

    /// Opens a directory that this user alone can change ([`crate::PrivateDirectory::open`]).
    ///
    /// # Errors
    /// Those of [`crate::PrivateDirectory::open`].
    fn open_private(&self, path: &Path) -> io::Result<Box<dyn PrivateFiles>>;

    /// The same, making it where it is not there ([`crate::PrivateDirectory::make`]).
    ///
    /// # Errors
    /// Those of [`crate::PrivateDirectory::make`].
    fn make_private(&self, path: &Path) -> io::Result<Box<dyn PrivateFiles>>;

    /// Refuses a directory that another user could have put there or can put something into: a link,
    /// one of another user, one that others may write. One that is not there is no error.
    ///
    /// # Errors
    /// [`crate::is_untrusted`] where it is refused; when it cannot be looked at.
    fn check_own_directory(&self, path: &Path) -> io::Result<()>;

    /// Makes a directory that only its user may write, whatever the umask.
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
    fn names(&self, path: &Path) -> io::Result<Vec<OsString>>;

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

    /// The same of a directory that was made here: nothing is removed through a link, wherever on
    /// the way it is, nor on another file system that is mounted within.
    ///
    /// # Errors
    /// Where a link or a file is on the way; otherwise those of [`Self::remove_tree`].
    fn remove_made(&self, path: &Path) -> io::Result<()> {
        self.remove_tree(path)
    }

    /// The path without links, `.` and `..`, of which the last names need not be there yet; files
    /// without links have no other.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    /// Refuses a place for such a directory, and neither makes nor changes anything
    /// ([`crate::PrivateDirectory::check`]); files of one user have no other to refuse.
    ///
    /// # Errors
    /// Those of [`crate::PrivateDirectory::check`].
    fn check_private(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        Ok(())
    }

    /// The id of the user whose file or directory it is, through a link; files of one user have one.
    ///
    /// # Errors
    /// What stat(2) answers.
    fn owner(&self, path: &Path) -> io::Result<u32> {
        let _ = path;
        Ok(0)
    }

    /// Whether processes that are started are seen through it: not in a simulator.
    fn has_processes(&self) -> bool;

    /// Makes a directory with those above it that are not there.
    ///
    /// # Errors
    /// Those of [`Self::make_directory`].
    fn make_directories(&self, path: &Path) -> io::Result<()> {
        let mut made = self.make_directory(path);
        if let (Err(error), Some(parent)) = (&made, path.parent())
            && error.kind() == io::ErrorKind::NotFound
        {
            self.make_directories(parent)?;
            // Once: below a link to nothing it is missing again, and would be for ever.
            made = self.make_directory(path);
        }
        // A link to a directory is one, too: [`Self::check_own_directory`] tells.
        made.or_else(|error| {
            let is_there = error.kind() == io::ErrorKind::AlreadyExists && !self.is_file(path);
            if is_there { Ok(()) } else { Err(error) }
        })
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

    /// The id of its user; files of one user have one.
    ///
    /// # Errors
    /// What fstat(2) answers.
    fn owner(&self) -> io::Result<u32> {
        Ok(0)
    }

    /// How many names it has (hard links); a simulated file has one.
    ///
    /// # Errors
    /// What fstat(2) answers.
    fn links(&self) -> io::Result<u64> {
        Ok(1)
    }

    /// Its descriptor, for a process to inherit; a simulated file has none.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;
}

/// A file that is written beside the one that it is to become: a [`crate::Draft`], or a simulated
/// one. It goes with its value unless it got its name. Errors are the kernel's answers.
pub trait DraftFile: Write + fmt::Debug + Send + Sync {
    /// Waits until its bytes and all that is known of it are stored.
    ///
    /// # Errors
    /// What fsync(2) answers.
    fn sync_all(&self) -> io::Result<()>;

    /// Gives it its name in place of what has that. The name is stored by a sync of its directory.
    ///
    /// # Errors
    /// What rename(2) answers.
    fn put(self: Box<Self>) -> io::Result<()>;
}

/// A [`crate::PrivateDirectory`], or a simulated one.
pub trait PrivateFiles: fmt::Debug + Send + Sync {
    /// Opens a file of it for reading.
    ///
    /// # Errors
    /// Those of [`crate::PrivateDirectory::read`].
    fn read(&self, name: &str) -> io::Result<Box<dyn OpenFile>>;

    /// Opens a file of it for reading and appending, making it where there is none.
    ///
    /// # Errors
    /// Those of [`crate::PrivateDirectory::append`].
    fn append(&self, name: &str) -> io::Result<Box<dyn OpenFile>>;

    /// A new empty file of that name, in place of what was there.
    ///
    /// # Errors
    /// Those of [`crate::PrivateDirectory::create`].
    fn create(&self, name: &str) -> io::Result<Box<dyn OpenFile>>;

    /// Gives a file of it another name, in place of what had that name.
    ///
    /// # Errors
    /// Those of [`crate::PrivateDirectory::rename`].
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file of it; one that is not there is no error.
    ///
    /// # Errors
    /// Those of [`crate::PrivateDirectory::remove`].
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Gives another name to what has one of these names and could be somebody else's, and tells of it
    /// ([`crate::PrivateDirectory::set_aside`]); among files of one user there is nothing of others.
    fn set_aside(&self, names: &[&str]) -> Vec<String> {
        let _ = names;
        Vec::new()
    }

    /// Whether this file still has that name in it.
    ///
    /// # Errors
    /// Those of [`crate::PrivateDirectory::holds`].
    fn holds(&self, name: &str, file: &dyn OpenFile) -> io::Result<bool>;

    /// Waits until the names in it are stored.
    ///
    /// # Errors
    /// Those of [`crate::PrivateDirectory::sync`].
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
