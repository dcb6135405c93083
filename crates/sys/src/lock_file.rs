//! Files that are there to be locked. Who can open a file can hold its flock(2), for reading only as
//! well, and a lock that decides something must not be held by everybody.

use crate::untrusted::{ROOT, WRITTEN_BY_OTHERS, untrusted};
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::fchown;
use std::path::Path;

/// Its user reads and writes.
const OWN: u32 = 0o600;
/// Permissions of user, group and others (inode(7)).
const PERMISSIONS: u32 = 0o777;
/// The group may write.
const WRITTEN_BY_GROUP: u32 = 0o020;
/// Between two looks at a name that others make and remove.
const MOST_TRIES: u32 = 100;

/// Opens a file to lock it, and makes it where there is none. Whatever the umask, it can be opened by
/// its user and by those who may write in its directory: these can change what the lock is about
/// anyway, as a group that shares a cache. What root makes belongs to the directory's user. Rights
/// that go further are taken back.
///
/// # Errors
/// What the kernel answers; [`crate::is_untrusted`] where a link has that name, anything but a plain
/// file, one that has another name too, or one of a user who has no right to write there.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(parent.unwrap_or(Path::new(".")), flags, Mode::empty())?;
    let above = rustix::fs::fstat(&directory)?;
    for _ in 0..MOST_TRIES {
        // Whatever has that name, the open neither waits for it nor follows it.
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&directory, name, flags, Mode::empty()) {
            Ok(file) => return checked(File::from(file), &above, path),
            Err(Errno::LOOP) => return Err(untrusted(path, "a link has that name")),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        match made(&directory, name, &above) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            outcome => return outcome,
        }
    }
    Err(io::Error::from(io::ErrorKind::ResourceBusy))
}

/// What may be permitted of a lock below this directory.
fn permitted(above: &Stat) -> u32 {
    let writers = above.st_mode & WRITTEN_BY_OTHERS;
    // A user who may write may read as well: the bit for reading is the next higher one.
    OWN | writers | (writers << 1)
}

/// Permits so much of one's own file. File systems without modes (FAT) refuse that: there the mount
/// decides who may open it.
fn permit(file: &File, mode: u32) -> io::Result<()> {
    match rustix::fs::fchmod(file, Mode::from_raw_mode(mode)) {
        Ok(()) | Err(Errno::PERM) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn checked(file: File, above: &Stat, path: &Path) -> io::Result<File> {
    let found = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(untrusted(path, "it is not a plain file"));
    }
    if found.st_nlink > 1 {
        return Err(untrusted(path, "the file has another name, too"));
    }
    let user = geteuid().as_raw();
    let is_shared = above.st_mode & WRITTEN_BY_OTHERS != 0;
    if !is_shared && ![user, ROOT, above.st_uid].contains(&found.st_uid) {
        return Err(untrusted(path, "it belongs to another user: look who made it, and remove it"));
    }
    if found.st_mode & PERMISSIONS & !permitted(above) != 0 {
        if ![found.st_uid, ROOT].contains(&user) {
            return Err(untrusted(path, "others may open it, and so hold it: chmod go= it"));
        }
        permit(&file, found.st_mode & permitted(above))?;
    }
    Ok(file)
}

fn made(directory: &OwnedFd, name: &OsStr, above: &Stat) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, name, flags, Mode::from_raw_mode(OWN))?;
    let file = File::from(file);
    // Where it cannot be given to those who share it, they are refused, and nobody else is let in.
    if geteuid().is_root() && above.st_uid != ROOT {
        let _ = fchown(&file, Some(above.st_uid), Some(above.st_gid));
    } else if above.st_mode & WRITTEN_BY_GROUP != 0 {
        let _ = fchown(&file, None, Some(above.st_gid));
    }
    permit(&file, permitted(above))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::is_untrusted;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_lock_can_be_opened_by_those_alone_who_may_write_beside_it() {
        for (directory, lock) in [(0o755, 0o600), (0o700, 0o600), (0o775, 0o660), (0o777, 0o666)] {
            let home = tempfile::tempdir().unwrap();
            let path = home.path().join("lock");
            set_mode(home.path(), directory);
            open_lock(&path).unwrap();
            assert_eq!(mode(&path), lock, "{directory:o}");
            set_mode(&path, 0o666);
            open_lock(&path).unwrap();
            assert_eq!(mode(&path), lock, "{directory:o}: rights that go further are taken back");
        }
    }

    #[test]
    fn no_link_no_second_name_and_no_other_kind_of_file_is_a_lock() {
        let home = tempfile::tempdir().unwrap();
        let (path, other) = (home.path().join("lock"), home.path().join("other"));
        fs::write(&other, "as it was").unwrap();
        for elsewhere in [other.clone(), home.path().join("absent")] {
            symlink(elsewhere, &path).unwrap();
            assert!(is_untrusted(&open_lock(&path).unwrap_err()));
            fs::remove_file(&path).unwrap();
        }
        fs::hard_link(&other, &path).unwrap();
        assert!(is_untrusted(&open_lock(&path).unwrap_err()));
        assert_eq!(fs::read_to_string(&other).unwrap(), "as it was");
        assert!(!home.path().join("absent").exists());
    }

    #[test]
    fn what_root_makes_is_its_directorys_users_and_one_of_a_third_user_is_refused() {
        if !geteuid().is_root() {
            testing::skip("only root makes files of other users");
            return;
        }
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        chown(home.path(), Some(65_534), Some(65_534)).unwrap();
        open_lock(&path).unwrap();
        let found = path.metadata().unwrap();
        assert_eq!((found.uid(), found.gid(), mode(&path)), (65_534, 65_534, 0o600));
        chown(&path, Some(65_533), None).unwrap();
        let error = open_lock(&path).unwrap_err();
        assert!(is_untrusted(&error) && error.to_string().contains("another user"), "{error}");
    }
}
