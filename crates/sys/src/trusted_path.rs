//! Paths that root obeys: what lies there is executed, or configures what is.

use crate::untrusted::{ROOT, STICKY, others_may_write, untrusted};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// As many as the kernel follows in one path (path_resolution(7)).
const MOST_LINKS: u32 = 40;

/// Refuses a file or directory that another user could change, or put another in place of. It and
/// everything above it must belong to root, to this process's user or to `also`, and nobody else may
/// write there; above it a sticky directory will do. The same is asked of each link on the way, of the
/// directories above that link, and of what it leads to. Root's own group (GID 0) may write what root
/// owns, because distributions put nobody but root into it, unless a list of access control lets others
/// in. Of what is not there yet, what is above it is asked.
///
/// # Errors
/// [`crate::is_untrusted`] where it is refused; what the kernel answers where it cannot be looked at.
pub fn check_trusted(path: &Path, also: Option<u32>) -> io::Result<()> {
    check_way(path, true, also)
}

/// The same of a directory that only leads to what is asked about, or is to have it: a sticky one will
/// do, for what lies there by a name is its user's alone to rename.
///
/// # Errors
/// Those of [`check_trusted`].
pub fn check_trusted_above(directory: &Path, also: Option<u32>) -> io::Result<()> {
    check_way(directory, false, also)
}

/// Where a path leads, without links; of which the last names need not be there yet. For what is
/// written where a user says: every link on the way must belong to root, to this process's user or to
/// `also`, for who makes a link chooses what is written to. Whose the directories are is not asked.
///
/// # Errors
/// [`crate::is_untrusted`] where a link belongs to another user; what the kernel answers where the
/// path cannot be looked at.
pub fn through_own_links(path: &Path, also: Option<u32>) -> io::Result<PathBuf> {
    let own = [Some(ROOT), Some(geteuid().as_raw()), also];
    walk(path, |reached, found, _| {
        if found.is_symlink() && !own.contains(&Some(found.uid())) {
            return Err(untrusted(reached, "it is a link that another user made"));
        }
        Ok(())
    })
}

/// What was asked before cannot be changed any more by others.
fn check_way(path: &Path, is_whole: bool, also: Option<u32>) -> io::Result<()> {
    let trusted = [Some(ROOT), Some(geteuid().as_raw()), also];
    let way = walk(path, |reached, found, is_last| {
        if !trusted.contains(&Some(found.uid())) {
            return Err(untrusted(reached, "it belongs to another user"));
        }
        // Everybody may write a link, says its mode: only its user can put another in place of it.
        if found.is_symlink() {
            return Ok(());
        }
        // In a sticky directory others can only add names.
        let is_above = !is_whole || !is_last;
        let is_shared = is_above && found.is_dir() && found.mode() & STICKY != 0;
        if !is_shared && others_may_write(reached, found.mode(), (found.uid(), found.gid())) {
            return Err(untrusted(reached, "others may write there"));
        }
        Ok(())
    });
    way.map(drop)
}

/// Goes from the root down as the kernel does, through one link after the other, and asks of each name
/// and link that it comes to, and whether nothing follows it. Returns where that ends: names of which
/// the first is not there are not asked.
fn walk(
    path: &Path,
    mut ask: impl FnMut(&Path, &Metadata, bool) -> io::Result<()>,
) -> io::Result<PathBuf> {
    let mut ahead = Vec::new();
    put_ahead(&mut ahead, &std::path::absolute(path)?);
    let mut reached = PathBuf::new();
    let mut links = 0;
    while let Some(name) = ahead.pop() {
        // What was reached has no link in it: what is above it is what its name says.
        if name == ".." {
            reached.pop();
        } else if name != "." {
            reached.push(name);
        }
        let found = match fs::symlink_metadata(&reached) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                reached.extend(ahead.iter().rev());
                return Ok(reached);
            }
            Err(error) => return Err(error),
        };
        ask(&reached, &found, ahead.is_empty())?;
        if found.is_symlink() {
            links += 1;
            if links > MOST_LINKS {
                return Err(Errno::LOOP.into());
            }
            put_ahead(&mut ahead, &fs::read_link(&reached)?);
            reached.pop();
        }
    }
    Ok(reached)
}

/// Puts the names of a path in front of those that are still to be gone, of which the last is the next.
fn put_ahead(ahead: &mut Vec<OsString>, path: &Path) {
    ahead.extend(path.components().rev().map(|name| name.as_os_str().to_owned()));
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
    fn every_link_of_a_chain_and_what_is_above_it_is_asked() {
        let home = tempfile::tempdir().unwrap();
        let [first, between, cache] =
            ["first", "between", "cache"].map(|name| home.path().join(name));
        for directory in [&between, &cache] {
            fs::create_dir(directory).unwrap();
            set_mode(directory, 0o755);
        }
        symlink("between/../between/second", &first).unwrap();
        symlink("../cache", between.join("second")).unwrap();
        assert!(check_trusted(&first, None).is_ok());
        // Others can put another link in place of the second one, and nothing else of the chain.
        set_mode(&between, 0o777);
        for path in [first.clone(), first.join("absent")] {
            assert_refused(&path, None, "between: others may write there");
        }
        assert!(check_trusted(&cache, None).is_ok());
        set_mode(&between, 0o1777);
        assert!(check_trusted(&first, None).is_ok(), "as in /tmp");
        // A link to where it lies is as good as the directory, which is no longer above anything.
        symlink(".", between.join("here")).unwrap();
        assert_refused(&between.join("here"), None, "others may write there");
        if geteuid().is_root() {
            lchown(between.join("second"), Some(NOBODY), None).unwrap();
            assert_refused(&first, None, "second: it belongs to another user");
        }
        symlink("round", home.path().join("round")).unwrap();
        let error = check_trusted(&home.path().join("round"), None).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::LOOP.raw_os_error()));
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
