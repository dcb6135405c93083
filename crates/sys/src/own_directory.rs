//! Directories below one that belongs to somebody: what is written into them by a name must be
//! written where it seems to be.

use crate::private_directory::check_above;
use crate::untrusted::{others_may_write, untrusted};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Refuses a directory into which, or in place of which, another user could put something: it must
/// be a directory and no link, belong to this process's user or to root, as the one above it, and
/// nobody else may write there. One that is not there is none of another user.
///
/// # Errors
/// [`crate::is_untrusted`] where another user could have put something there; what the kernel
/// answers otherwise.
pub(crate) fn check_own_directory(path: &Path) -> io::Result<()> {
    open_own_directory(path).map(drop)
}

/// The same, and opens it for what is done below it (`O_PATH`); nothing where it is not there.
///
/// # Errors
/// As [`check_own_directory`].
pub(crate) fn open_own_directory(path: &Path) -> io::Result<Option<OwnedFd>> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    // Whatever the names lead to, nothing is opened that an open would wait for.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let above = match rustix::fs::open(parent, flags | OFlags::DIRECTORY, Mode::empty()) {
        Ok(above) => above,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    check_above(&above, parent)?;
    let own = match rustix::fs::openat(&above, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(own) => own,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let stat = rustix::fs::fstat(&own)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {}
        FileType::Symlink => {
            return Err(untrusted(
                path,
                "a link has that name, and nothing is written through one",
            ));
        }
        _ => return Err(untrusted(path, "it is no directory")),
    }
    check_above(&own, path)?;
    // Also of a sticky one: there others can add names.
    if others_may_write(path, stat.st_mode, (stat.st_uid, stat.st_gid)) {
        return Err(untrusted(path, "others may write there"));
    }
    Ok(Some(own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Files, HostFiles, is_untrusted};
    use rustix::process::geteuid;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    #[track_caller]
    fn assert_refused(path: &Path, why: &str) {
        let error = HostFiles.check_own_directory(path).unwrap_err();
        assert!(is_untrusted(&error) && error.to_string().contains(why), "{error}");
    }

    #[test]
    fn only_a_directory_of_this_user_that_no_other_can_change_counts() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("logs");
        let check = || HostFiles.check_own_directory(&own);
        assert!(check().is_ok(), "one that is not there");
        HostFiles.make_directory(&own).unwrap();
        assert!(check().is_ok());
        fs::set_permissions(&own, Permissions::from_mode(0o1777)).unwrap();
        assert_refused(&own, "others may write there");
        fs::set_permissions(&own, Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(home.path(), Permissions::from_mode(0o777)).unwrap();
        assert_refused(&own, "others may write there");
        fs::set_permissions(home.path(), Permissions::from_mode(0o700)).unwrap();
        assert!(check().is_ok());
        assert!(HostFiles.check_own_directory(&home.path().join("absent/logs")).is_ok());
        fs::remove_dir(&own).unwrap();
        fs::write(&own, "").unwrap();
        assert_refused(&own, "it is no directory");
        fs::remove_file(&own).unwrap();
        for elsewhere in [home.path().to_owned(), home.path().join("absent")] {
            symlink(elsewhere, &own).unwrap();
            assert_refused(&own, "a link has that name");
            fs::remove_file(&own).unwrap();
        }
    }

    #[test]
    fn a_directory_of_another_user_or_below_one_is_refused() {
        if !geteuid().is_root() {
            testing::skip("only root makes files of other users");
            return;
        }
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("logs");
        HostFiles.make_directory(&own).unwrap();
        for others in [own.as_path(), home.path()] {
            chown(others, Some(65_534), None).unwrap();
            assert_refused(&own, "it belongs to another user");
            chown(others, Some(0), None).unwrap();
        }
        assert!(HostFiles.check_own_directory(&own).is_ok());
    }
}
