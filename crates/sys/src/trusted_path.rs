//! Paths that root obeys: what lies there is executed, or configures what is.

use crate::untrusted::{ROOT, STICKY, others_may_write, untrusted};
use rustix::process::geteuid;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Refuses a file or directory that another user could change, or put another in place of. It and
/// everything above it, links on the way and what they lead to, must belong to root, to this process's
/// user or to `also`, and nobody else may write there; above it a sticky directory will do. Root's own
/// group (GID 0) may write what root owns, because distributions put nobody but root into it, unless a
/// list of access control lets others in. Of what is not there yet, what is above it is asked.
///
/// # Errors
/// [`crate::is_untrusted`] where it is refused; what the kernel answers where it cannot be looked at.
pub fn check_trusted(path: &Path, also: Option<u32>) -> io::Result<()> {
    check_each(path, true, also)?;
    let real = path.ancestors().find_map(|above| Some((above, fs::canonicalize(above).ok()?)));
    match real {
        Some((above, real)) => check_each(&real, above == path, also),
        None => Ok(()),
    }
}

/// Asks from the root down: what was asked before cannot be changed any more by others.
fn check_each(path: &Path, is_whole: bool, also: Option<u32>) -> io::Result<()> {
    let trusted = [Some(ROOT), Some(geteuid().as_raw()), also];
    let mut ways: Vec<&Path> = path.ancestors().collect();
    ways.reverse();
    for reached in ways {
        let found = match fs::symlink_metadata(reached) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if !trusted.contains(&Some(found.uid())) {
            return Err(untrusted(reached, "it belongs to another user"));
        }
        // Everybody may write a link, says its mode: only its user can put another in place of it.
        if found.is_symlink() {
            continue;
        }
        // In a sticky directory others can only add names.
        let is_above = !is_whole || reached != path;
        let is_shared = is_above && found.is_dir() && found.mode() & STICKY != 0;
        if !is_shared && others_may_write(reached, found.mode(), (found.uid(), found.gid())) {
            return Err(untrusted(reached, "others may write there"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::is_untrusted;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};

    const NOBODY: u32 = 65_534;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[track_caller]
    fn assert_refused(path: &Path, also: Option<u32>, why: &str) {
        let error = check_trusted(path, also).unwrap_err();
        assert!(is_untrusted(&error) && error.to_string().contains(why), "{error}");
    }

    #[test]
    fn what_others_may_write_or_what_lies_below_it_is_not_trusted() {
        let home = tempfile::tempdir().unwrap();
        let above = home.path().join("above");
        let (path, file) = (above.join("cache"), above.join("cache/file"));
        assert!(check_trusted(&path, None).is_ok(), "nothing is there yet");
        fs::create_dir_all(&path).unwrap();
        fs::write(&file, "").unwrap();
        set_mode(&above, 0o755);
        set_mode(&file, 0o644);
        for open in [0o755, 0o700] {
            set_mode(&path, open);
            assert!(check_trusted(&file, None).is_ok(), "{open:o}");
        }
        for open in [0o777, 0o757] {
            set_mode(&path, open);
            assert_refused(&path, None, "others may write there");
            assert_refused(&file, None, "others may write there");
            assert_refused(&path.join("absent/deep"), None, "others may write there");
        }
        set_mode(&path, 0o1777);
        assert_refused(&path, None, "others may write there");
        assert!(check_trusted(&file, None).is_ok(), "as in /tmp");
        set_mode(&file, 0o646);
        assert_refused(&file, None, "others may write there");
    }

    #[test]
    fn a_link_is_as_good_as_what_it_leads_to() {
        let home = tempfile::tempdir().unwrap();
        let (link, other) = (home.path().join("link"), home.path().join("open"));
        fs::create_dir_all(other.join("cache")).unwrap();
        symlink(other.join("cache"), &link).unwrap();
        set_mode(&other, 0o755);
        set_mode(&other.join("cache"), 0o755);
        assert!(check_trusted(&link, None).is_ok());
        for open in [other.join("cache"), other] {
            set_mode(&open, 0o777);
            assert_refused(&link, None, "others may write there");
            assert_refused(&link.join("absent"), None, "others may write there");
            set_mode(&open, 0o755);
        }
    }

    #[test]
    fn no_group_but_that_of_root_may_write_and_it_only_what_root_owns() {
        if !geteuid().is_root() {
            testing::skip("only root gives files to groups");
            return;
        }
        let home = tempfile::tempdir().unwrap();
        let (path, file) = (home.path().join("cache"), home.path().join("cache/file"));
        fs::create_dir(&path).unwrap();
        fs::write(&file, "").unwrap();
        for (shared, mode) in [(&path, 0o775), (&file, 0o664)] {
            set_mode(&path, 0o755);
            set_mode(&file, 0o644);
            chown(shared, None, Some(ROOT)).unwrap();
            set_mode(shared, mode);
            assert!(check_trusted(&file, None).is_ok(), "{mode:o}");
            chown(shared, Some(NOBODY), None).unwrap();
            assert_refused(&file, Some(NOBODY), "others may write there");
            chown(shared, Some(ROOT), Some(NOBODY)).unwrap();
            assert_refused(&file, None, "others may write there");
        }
    }

    #[test]
    fn what_another_user_owns_is_not_trusted_unless_that_user_is_named() {
        if !geteuid().is_root() {
            testing::skip("only root makes files of other users");
            return;
        }
        let home = tempfile::tempdir().unwrap();
        let (path, link) = (home.path().join("cache"), home.path().join("link"));
        fs::create_dir(&path).unwrap();
        set_mode(&path, 0o755);
        symlink(&path, &link).unwrap();
        for owned in [path.as_path(), home.path()] {
            chown(owned, Some(NOBODY), None).unwrap();
            assert_refused(&path, None, "it belongs to another user");
            assert_refused(&path, Some(NOBODY - 1), "it belongs to another user");
            assert!(check_trusted(&path, Some(NOBODY)).is_ok());
            chown(owned, Some(ROOT), None).unwrap();
        }
        lchown(&link, Some(NOBODY), None).unwrap();
        assert_refused(&link, None, "it belongs to another user");
        assert!(check_trusted(&path, None).is_ok());
    }
}
