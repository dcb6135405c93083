//! Files that a user names to be written, wherever that is: also where others may put names. A file is
//! written as a whole or not at all.

use crate::draft::{Draft, sweep_drafts_of};
use crate::trusted_path::through_own_links;
use crate::untrusted::ROOT;
use removal::{GRACE_PERIOD, reach};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

/// Its user writes, everybody reads.
const NEW_MODE: u32 = 0o644;
/// Its user alone, until it is whole.
const UNFINISHED_MODE: u32 = 0o600;
/// Permissions without the bits for set-user-ID, set-group-ID and sticky (inode(7)).
const PERMISSIONS: u32 = 0o777;

/// Puts these bytes there. A file is replaced in one step and keeps its mode; of another user's what
/// that lets others write is taken away. A link stays one, and what it leads to is replaced, where it
/// belongs to root, to this process's user or to `also`. What is no regular file (a pipe, a terminal,
/// `/dev/null`) is written into.
///
/// # Errors
/// [`crate::is_untrusted`] where a link on the way belongs to another user; what the kernel answers. A
/// file is then as it was.
pub fn write_named(path: &Path, bytes: &[u8], also: Option<u32>) -> io::Result<()> {
    let real = through_own_links(path, also)?;
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => write_into(path, &real, bytes),
        _ => replace(&real, bytes),
    }
}

/// Writes into what is no regular file, by its path without links: one that has become a link since
/// may lead to a disk.
fn write_into(path: &Path, real: &Path, bytes: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
    let special = match (real.parent(), real.file_name()) {
        (Some(parent), Some(name)) if !real.starts_with("/proc") => {
            let directory = reach(parent)?;
            rustix::fs::openat(&directory, name, flags | OFlags::NOFOLLOW, Mode::empty())?
        }
        // A link there leads to what has no path, as the pipe of `/dev/stdout`.
        _ => rustix::fs::open(path, flags, Mode::empty())?,
    };
    let mut special = File::from(special);
    if special.metadata()?.is_file() {
        return Err(io::Error::other("a file took its place meanwhile: look who put it there"));
    }
    special.write_all(bytes)
}

/// Replaces a file by its path without links: a directory that has become one since leads nowhere.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let directory = reach(parent)?;
    let mode = mode_of(&directory, name)?;
    sweep_drafts_of(path, GRACE_PERIOD);
    let draft = Draft::within(directory, name, UNFINISHED_MODE)?;
    let mut file = draft.file();
    file.write_all(bytes)?;
    rustix::fs::fchmod(file, mode)?;
    file.sync_all()?;
    draft.put()
}

/// The mode that what replaces this file gets.
fn mode_of(directory: &OwnedFd, name: &OsStr) -> io::Result<Mode> {
    let found = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::RegularFile => found,
        Ok(_) | Err(Errno::NOENT) => return Ok(Mode::from_raw_mode(NEW_MODE)),
        Err(error) => return Err(error.into()),
    };
    let is_own = found.st_uid == ROOT || found.st_uid == geteuid().as_raw();
    let most = if is_own { PERMISSIONS } else { NEW_MODE };
    Ok(Mode::from_raw_mode(found.st_mode & most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::is_untrusted;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
    use std::time::SystemTime;

    const NOBODY: u32 = 65_534;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_file_that_is_replaced_keeps_its_mode_and_a_new_one_is_for_all_to_read() {
        let home = tempfile::tempdir().unwrap();
        let (file, link) = (home.path().join("file"), home.path().join("link"));
        symlink("file", &link).unwrap();
        write_named(&link, b"one", None).unwrap();
        assert_eq!(mode(&file), 0o644);
        for kept in [0o600, 0o640, 0o664] {
            set_mode(&file, kept);
            write_named(&link, b"two", None).unwrap();
            assert_eq!((mode(&file), fs::read(&file).unwrap()), (kept, b"two".to_vec()));
        }
        assert!(link.is_symlink());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_another_put_beside_a_file_is_neither_written_into_nor_removed() {
        let home = tempfile::tempdir().unwrap();
        let (file, victim) = (home.path().join("file"), home.path().join("victim"));
        // What was the name of the unfinished file.
        let beside = home.path().join(".file.partial");
        fs::write(&victim, "as it was").unwrap();
        fs::hard_link(&victim, &beside).unwrap();
        write_named(&file, b"one", None).unwrap();
        fs::remove_file(&beside).unwrap();
        symlink(&victim, &beside).unwrap();
        write_named(&file, b"two", None).unwrap();
        assert_eq!(fs::read_link(&beside).unwrap(), victim);
        assert_eq!(fs::read(&victim).unwrap(), b"as it was");
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 3);
    }

    #[test]
    fn what_a_killed_process_left_of_a_file_goes_when_it_is_written_again() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(crate::draft_name(OsStr::new(name), 7));
        for left in [at("file"), at("other")] {
            let left = File::create(left).unwrap();
            left.set_modified(SystemTime::now() - 2 * GRACE_PERIOD).unwrap();
        }
        write_named(&home.path().join("file"), b"one", None).unwrap();
        assert!(!at("file").exists() && at("other").exists());
    }

    #[test]
    fn nothing_is_written_through_the_link_of_another_user() {
        if !geteuid().is_root() {
            testing::skip("only root makes files of other users");
            return;
        }
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::create_dir(at("own")).unwrap();
        fs::write(at("own/file"), "as it was").unwrap();
        symlink(at("own/file"), at("file")).unwrap();
        symlink(at("own/new"), at("new")).unwrap();
        symlink(at("own"), at("above")).unwrap();
        // A link of root's that leads to another user's.
        symlink(at("file"), at("chain")).unwrap();
        for name in ["file", "new", "above"] {
            lchown(at(name), Some(NOBODY), None).unwrap();
        }
        for name in ["file", "new", "above/file", "above/new", "chain"] {
            let error = write_named(&at(name), b"new", None).unwrap_err();
            assert!(is_untrusted(&error) && error.to_string().contains("link"), "{name}: {error}");
        }
        assert_eq!(fs::read(at("own/file")).unwrap(), b"as it was");
        assert_eq!(fs::read_dir(at("own")).unwrap().count(), 1);
        write_named(&at("chain"), b"new", Some(NOBODY)).unwrap();
        assert_eq!(fs::read(at("own/file")).unwrap(), b"new");
    }

    #[test]
    fn nobody_may_change_what_takes_the_place_of_a_file_of_theirs() {
        if !geteuid().is_root() {
            testing::skip("only root makes files of other users");
            return;
        }
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "theirs").unwrap();
        chown(&file, Some(NOBODY), None).unwrap();
        set_mode(&file, 0o666);
        write_named(&file, b"ours", None).unwrap();
        assert_eq!(mode(&file), 0o644);
    }
}
