//! A file that is written beside the one that it is to become. Its name cannot be foreseen, so that
//! nobody has put anything in its place, and what others have beside it is left alone. It is locked
//! (flock(2)) as long as its process writes it, and nobody holds the lock of one that was left.

use crate::own_directory::open_own_directory;
use removal::GRACE_PERIOD;
use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Names that are tried: none of them is there but by a chance of 1 in 2^64.
const MOST_TRIES: u32 = 100;
/// Of a file that anybody makes; the umask takes from it.
const NEW_MODE: u32 = 0o666;
/// How long a draft is left alone where a process of another machine may be writing it, whose lock need
/// not be seen here (NFS with `nolock`, 9P, FUSE): none is written as long.
const SHARED_GRACE_PERIOD: Duration = Duration::from_secs(24 * 60 * 60);
/// File systems that one kernel alone has, by their numbers (include/uapi/linux/magic.h, and those of
/// ZFS and bcachefs): there the lock says whether a draft is written.
const OWN_FILE_SYSTEMS: [i64; 11] = [
    0xEF53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683E, // Btrfs
    0xF2F5_2010, // F2FS
    0x0102_1994, // tmpfs
    0x8584_58F6, // ramfs
    0x794C_7630, // overlayfs, whose upper layer is none of NFS
    0x4D44,      // FAT
    0x2011_BAB0, // exFAT
    0x2FC1_2FC1, // ZFS
    0xCA45_1A4E, // bcachefs
];
/// A dot and the digits of a number of 64 bits: what the name of a draft ends with.
const ENDING: usize = 17;

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
    /// Those of the same file go that processes left which were killed.
    ///
    /// # Errors
    /// Of kind `InvalidInput` where the path has no name at its end; what the kernel answers.
    pub fn beside(path: &Path) -> io::Result<Self> {
        sweep_drafts_of(path, GRACE_PERIOD);
        Self::beside_as(path, NEW_MODE)
    }

    /// An empty one with this mode, of which the umask takes its part; those that were left stay.
    pub(crate) fn beside_as(path: &Path, mode: u32) -> io::Result<Self> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(parent.unwrap_or(Path::new(".")), flags, Mode::empty())?;
        Self::within(directory, name, mode)
    }

    /// An empty one of what is to have this name in a directory; until then it has this mode, of which
    /// the umask takes its part.
    pub(crate) fn within(directory: OwnedFd, name: &OsStr, mode: u32) -> io::Result<Self> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..MOST_TRIES {
            let mut number = [0_u8; size_of::<u64>()];
            getrandom(&mut number, GetRandomFlags::empty())?;
            let draft = draft_name(name, u64::from_ne_bytes(number));
            match rustix::fs::openat(&directory, &draft, flags, Mode::from_raw_mode(mode)) {
                Err(Errno::EXIST) => {}
                outcome => {
                    let file = File::from(outcome?);
                    // Where a file system has no locks, none is swept.
                    let _ = file.try_lock();
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
        self.rename()?;
        Ok(rustix::fs::fsync(&names_of(&self.directory)?)?)
    }

    /// The same until the power is cut: the directory is not synced.
    pub(crate) fn rename(&self) -> io::Result<()> {
        let Self { directory, name, draft, .. } = self;
        Ok(rustix::fs::renameat(directory, draft, directory, name)?)
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

/// The name of a draft of what is to have this one: hidden, and told from others by the number.
pub fn draft_name(name: &OsStr, number: u64) -> OsString {
    let mut draft = OsString::from(".");
    draft.push(name);
    draft.push(format!(".{number:016x}"));
    draft
}

/// Whether a draft of anything has this name ([`draft_name`]).
pub fn is_draft_name(name: &OsStr) -> bool {
    drafted(name).is_some()
}

/// What is to have which name, where a draft has this one.
fn drafted(draft: &OsStr) -> Option<&OsStr> {
    let rest = draft.as_bytes().strip_prefix(b".")?;
    let (named, [dot, number @ ..]) = rest.split_last_chunk::<ENDING>()?;
    let is_digit = |byte: &u8| matches!(*byte, b'0'..=b'9' | b'a'..=b'f');
    let is_draft = !named.is_empty() && *dot == b'.' && number.iter().all(is_digit);
    is_draft.then(|| OsStr::from_bytes(named))
}

/// Whether a draft of an earlier version has this name.
fn is_former_draft_name(name: &OsStr) -> bool {
    let drafted =
        name.as_bytes().strip_prefix(b".").and_then(|rest| rest.strip_suffix(b".partial"));
    drafted.is_some_and(|drafted| !drafted.is_empty())
}

/// Removes the drafts in a directory that processes left which were killed: plain files of this
/// process's user, of which no process holds the lock, and which were last changed so long ago, a day
/// on a file system that other machines may have, too.
/// Where another user could put a file into the directory ([`open_own_directory`]), all of them
/// stay. What cannot be removed stays: it is in nobody's way.
///
/// Earlier versions called a draft `.FILE.partial`, and held no lock of it: it goes by the same rule.
pub(crate) fn sweep_drafts(directory: &Path, grace_period: Duration) {
    sweep(directory, grace_period, |name| is_draft_name(name) || is_former_draft_name(name));
}

/// Removes the drafts of these files of a directory that processes left which were killed. It is listed
/// once for all of them. Where another user could put a file into it, they stay.
pub fn sweep_drafts_of_files(directory: &Path, names: &BTreeSet<OsString>) {
    if let Ok(directory) = std::path::absolute(directory) {
        sweep(&directory, GRACE_PERIOD, |name| {
            drafted(name).is_some_and(|drafted| names.contains(drafted))
        });
    }
}

/// The same of the drafts of one file.
pub(crate) fn sweep_drafts_of(path: &Path, grace_period: Duration) {
    let Ok(path) = std::path::absolute(path) else { return };
    if let (Some(directory), Some(name)) = (path.parent(), path.file_name()) {
        sweep(directory, grace_period, |draft| drafted(draft) == Some(name));
    }
}

fn sweep(directory: &Path, grace_period: Duration, is_asked: impl Fn(&OsStr) -> bool) {
    let Ok(Some(directory)) = open_own_directory(directory) else { return };
    let Ok(names) = names_of(&directory).and_then(Dir::new) else { return };
    for entry in names.flatten() {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if is_asked(name) && is_left(&directory, name, grace_period) {
            let _ = rustix::fs::unlinkat(&directory, name, AtFlags::empty());
        }
    }
}

/// Between making a draft and locking it lies an instant: so young a one is left alone.
fn is_left(directory: &OwnedFd, name: &OsStr, grace_period: Duration) -> bool {
    // A link is not followed, and a FIFO is opened without waiting for a process at its other end. NFS
    // gives its only kind of exclusive lock to users who may write.
    let flags =
        OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat(directory, name, flags, Mode::empty()) else { return false };
    let file = File::from(file);
    let Ok(metadata) = file.metadata() else { return false };
    let Ok(file_system) = rustix::fs::fstatfs(&file) else { return false };
    let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
    metadata.is_file()
        && metadata.uid() == geteuid().as_raw()
        && age.is_some_and(|age| age >= least_age(file_system.f_type, grace_period))
        && file.try_lock().is_ok()
}

/// How long ago a draft on this file system was last changed at least that nobody writes any more.
fn least_age(file_system: i64, grace_period: Duration) -> Duration {
    if OWN_FILE_SYSTEMS.contains(&file_system) {
        return grace_period;
    }
    grace_period.max(SHARED_GRACE_PERIOD)
}

/// The directory, to list or to sync its names.
fn names_of(directory: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(directory, ".", flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, mknodat};
    use std::fs::{self, Permissions};
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    /// What a process left that was killed while it wrote `file`.
    fn left(directory: &Path) -> std::path::PathBuf {
        let path = directory.join(draft_name(OsStr::new("file"), 7));
        fs::write(&path, "half").unwrap();
        path
    }

    #[test]
    fn a_name_is_that_of_a_draft_by_its_dot_and_its_sixteen_digits() {
        for name in ["file", ".hidden", "a.b"] {
            for number in [0, 7, u64::MAX] {
                assert!(is_draft_name(&draft_name(OsStr::new(name), number)), "{name}");
            }
        }
        for name in [
            "",
            ".",
            "file",
            ".file.partial",
            ".0123456789abcdef",
            "..0123456789abcdef",
            "file.0123456789abcdef",
            ".file.0123456789ABCDEF",
            ".file.0123456789abcde",
            ".file-0123456789abcdef",
        ] {
            assert!(!is_draft_name(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn a_draft_that_a_killed_process_left_is_swept_and_one_that_is_written_stays() {
        let home = tempfile::tempdir().unwrap();
        let left = left(home.path());
        let written = Draft::beside(&home.path().join("file")).unwrap();
        sweep_drafts(home.path(), Duration::from_secs(60));
        assert!(left.exists(), "it is young");
        sweep_drafts(home.path(), Duration::ZERO);
        assert!(!left.exists());
        written.put().unwrap();
        assert!(home.path().join("file").exists());
        // One that is not there, and one that is no directory.
        sweep_drafts(&home.path().join("absent"), Duration::ZERO);
        sweep_drafts(&home.path().join("file"), Duration::ZERO);
        assert_eq!(home.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn drafts_of_other_files_stay_where_one_file_is_asked_about() {
        let home = tempfile::tempdir().unwrap();
        let left = left(home.path());
        let others = ["fil", "file2", ".file"].map(|name| {
            let path = home.path().join(draft_name(OsStr::new(name), 7));
            fs::write(&path, "half").unwrap();
            path
        });
        sweep_drafts_of(&home.path().join("file"), Duration::ZERO);
        assert!(!left.exists() && others.iter().all(|path| path.exists()));
    }

    #[test]
    fn a_draft_that_another_machine_may_be_writing_is_left_alone_for_a_day() {
        let (ext4, nfs, fuse) = (0xEF53, 0x6969, 0x6573_5546);
        let least = |file_system| least_age(file_system, GRACE_PERIOD).as_secs();
        assert_eq!([ext4, nfs, fuse].map(least), [60, 86_400, 86_400]);
        let no_time = |file_system| least_age(file_system, Duration::ZERO).as_secs();
        assert_eq!([ext4, nfs, fuse].map(no_time), [0, 86_400, 86_400]);
    }

    #[test]
    fn what_is_no_file_or_has_another_name_is_not_swept() {
        let home = tempfile::tempdir().unwrap();
        let at = |number| home.path().join(draft_name(OsStr::new("file"), number));
        fs::create_dir(at(1)).unwrap();
        mknodat(CWD, at(2), FileType::Fifo, Mode::RWXU, 0).unwrap();
        symlink(home.path().join("file"), at(3)).unwrap();
        fs::create_dir(home.path().join(".file.partial")).unwrap();
        for name in ["file", "file.partial", "..partial", ".partial", ".file"] {
            fs::write(home.path().join(name), "kept").unwrap();
        }
        sweep_drafts(home.path(), Duration::ZERO);
        assert_eq!(home.path().read_dir().unwrap().count(), 9);
    }

    #[test]
    fn what_an_earlier_version_left_goes_from_a_directory_of_documents_and_from_no_other() {
        let home = tempfile::tempdir().unwrap();
        let left = home.path().join(".file.partial");
        fs::write(&left, "half").unwrap();
        sweep_drafts_of(&home.path().join("file"), Duration::ZERO);
        sweep_drafts(home.path(), Duration::from_secs(60));
        assert!(left.exists(), "it may be of another program, or being written");
        sweep_drafts(home.path(), Duration::ZERO);
        assert!(!left.exists());
    }

    #[test]
    fn nothing_is_swept_where_others_may_write_or_of_what_another_user_has() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("campaign");
        fs::create_dir(&directory).unwrap();
        let left = left(&directory);
        let link = home.path().join("link");
        symlink(&directory, &link).unwrap();
        let set_mode = |path: &Path, mode| {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        for open in [0o777, 0o1777] {
            set_mode(&directory, open);
            sweep_drafts(&directory, Duration::ZERO);
            assert!(left.exists(), "{open:o}");
        }
        set_mode(&directory, 0o755);
        sweep_drafts(&link, Duration::ZERO);
        assert!(left.exists(), "a link leads there");
        if geteuid().is_root() {
            const NOBODY: u32 = 65_534;
            chown(&left, Some(NOBODY), None).unwrap();
            sweep_drafts(&directory, Duration::ZERO);
            assert!(left.exists(), "it is another user's");
            chown(&left, Some(0), None).unwrap();
        } else {
            testing::skip("only root makes files of other users");
        }
        sweep_drafts(&directory, Duration::ZERO);
        assert!(!left.exists());
    }

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
