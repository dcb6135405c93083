//! The directory below which the views of a build lie. It is locked as long as the build goes on:
//! nobody holds the lock of one of a build that was killed, and it goes when the next build begins.

use artefacts::{GRACE_PERIOD, open_directory, remove_tree, sweep_left};
use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::{self, DirBuilder, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names of all of them begin so.
const PREFIX: &str = "schedlab-build-";
/// Numbers that are tried: another build may have one, or somebody else put it there. Most builds
/// get the first: paths that are compiled in do not differ from one to the next.
const NUMBERS: u32 = 1_000;
/// Until it is locked nobody else may open it, and so hold its lock.
const DIRECTORY_MODE: u32 = 0o700;
/// Group and others may write.
const WRITTEN_BY_OTHERS: u32 = 0o022;
/// A process that is neither its user nor in its group may write.
const WRITTEN_BY_ALL: u32 = 0o002;
/// Whom a list of access control lets in (acl(5)).
const ACCESS_LIST: &str = "system.posix_acl_access";
/// Others may write into the directory, and still cannot rename or remove what is not theirs
/// (inode(7)).
const STICKY: u32 = 0o1000;
/// The user and the group.
const ROOT: u32 = 0;

/// A directory that was not there before, and its lock.
#[derive(Debug)]
pub(crate) struct ViewRoot {
    path: PathBuf,
    _lock: File,
}

impl ViewRoot {
    /// A new one in this directory, which its user alone may enter yet. Those that were left there
    /// go first. Root mounts there, and gives away what lies there: nobody else may be able to put
    /// something in its place.
    pub(crate) fn within(parent: &Path) -> io::Result<Self> {
        check_above(parent)?;
        sweep(parent, GRACE_PERIOD);
        for number in 0..NUMBERS {
            if let Some(made) = Self::made(parent.join(format!("{PREFIX}{number}")))? {
                return Ok(made);
            }
        }
        // Any user can make all of these, but no name that is drawn now.
        let mut bytes = [0_u8; 16];
        getrandom(&mut bytes, GetRandomFlags::empty())?;
        let drawn: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let made = Self::made(parent.join(format!("{PREFIX}{drawn}")))?;
        made.ok_or_else(|| io::ErrorKind::AlreadyExists.into())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Nothing where something has that name, or is looking whether it was left.
    fn made(path: PathBuf) -> io::Result<Option<Self>> {
        match DirBuilder::new().mode(DIRECTORY_MODE).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            outcome => outcome?,
        }
        let lock = open_directory(&path)?;
        if lock.try_lock().is_err() {
            // Nothing lies in it; one that is gone already is what is wanted.
            let _ = fs::remove_dir(&path);
            return Ok(None);
        }
        Ok(Some(Self { path, _lock: lock }))
    }
}

impl Drop for ViewRoot {
    fn drop(&mut self) {
        // What is mounted there is mounted for commands alone: here it is empty, but for the home.
        let _ = remove_tree(&self.path);
    }
}

/// Refuses a directory of another user, and one whose names others can change; those above it, too.
fn check_above(parent: &Path) -> io::Result<()> {
    let user = geteuid().as_raw();
    for directory in fs::canonicalize(parent)?.ancestors() {
        let found = directory.metadata()?;
        if ![user, ROOT].contains(&found.uid()) {
            return Err(untrusted(directory, "it belongs to another user"));
        }
        // In a sticky directory others can only add names, and a name that is there is passed over.
        if found.mode() & STICKY == 0 && others_may_write(directory, &found) {
            let why =
                "others may write there, and rename what is not theirs (`chmod +t` ends that)";
            return Err(untrusted(directory, why));
        }
    }
    Ok(())
}

/// Root's own group is nobody else, and some distributions let it write in `/`.
fn others_may_write(directory: &Path, found: &Metadata) -> bool {
    let mode = found.mode();
    let is_roots = found.uid() == ROOT && found.gid() == ROOT;
    mode & WRITTEN_BY_ALL != 0
        || mode & WRITTEN_BY_OTHERS != 0 && (!is_roots || has_access_list(directory))
}

/// Whether there is one, which then bounds by the group's bit what other users may do; or it cannot
/// be found out.
fn has_access_list(directory: &Path) -> bool {
    // No list is as short as this: the kernel answers that there is no room for it.
    let mut room = [0_u8; 1];
    let found = rustix::fs::getxattr(directory, ACCESS_LIST, &mut room[..]);
    !matches!(found, Err(Errno::NODATA | Errno::OPNOTSUPP))
}

fn untrusted(directory: &Path, why: &str) -> io::Error {
    let told = format!("no build is made below {}: {why}", directory.display());
    io::Error::new(io::ErrorKind::PermissionDenied, told)
}

/// Removes what builds left that were killed.
fn sweep(parent: &Path, young: Duration) {
    sweep_left(parent, PREFIX, young, &[geteuid().as_raw()]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    #[test]
    fn what_a_killed_build_left_goes_when_the_next_begins_and_what_is_in_use_stays() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        let used = ViewRoot::within(parent.path()).unwrap();
        assert_eq!(used.path(), at("schedlab-build-0"));
        fs::create_dir_all(at("schedlab-build-1/home/tmp")).unwrap();
        fs::create_dir(at("elsewhere")).unwrap();
        symlink(at("elsewhere"), at("schedlab-build-2")).unwrap();
        sweep(parent.path(), GRACE_PERIOD);
        assert!(at("schedlab-build-1").exists(), "it may be locked in an instant");
        sweep(parent.path(), Duration::ZERO);
        assert!(!at("schedlab-build-1").exists());
        assert!(used.path().exists() && at("elsewhere").exists());
        assert!(at("schedlab-build-2").is_symlink(), "it is no directory of a build");
        drop(used);
        assert!(!at("schedlab-build-0").exists());
    }

    #[test]
    fn who_makes_each_name_that_is_tried_stops_no_build() {
        let parent = tempfile::tempdir().unwrap();
        for number in 0..NUMBERS {
            fs::write(parent.path().join(format!("{PREFIX}{number}")), "").unwrap();
        }
        let root = ViewRoot::within(parent.path()).unwrap();
        assert!(root.path().is_dir());
    }

    #[test]
    fn no_build_is_made_where_another_user_could_put_something_in_its_place() {
        let home = tempfile::tempdir().unwrap();
        let parent = home.path().join("parent");
        fs::create_dir(&parent).unwrap();
        let refusal = || ViewRoot::within(&parent).map(drop).map_err(|error| error.to_string());
        for directory in [parent.as_path(), home.path()] {
            for (mode, is_taken) in [(0o777, false), (0o1777, true), (0o757, false), (0o755, true)]
            {
                fs::set_permissions(directory, Permissions::from_mode(mode)).unwrap();
                let refusal = refusal();
                assert_eq!(refusal.is_ok(), is_taken, "{mode:o}: {refusal:?}");
                assert_eq!(fs::read_dir(&parent).unwrap().count(), 0, "{mode:o}");
            }
            if geteuid().is_root() {
                chown(directory, Some(65_534), None).unwrap();
                assert!(refusal().unwrap_err().contains("it belongs to another user"));
                chown(directory, Some(ROOT), Some(65_534)).unwrap();
                fs::set_permissions(directory, Permissions::from_mode(0o775)).unwrap();
                assert!(refusal().unwrap_err().contains("others may write there"));
                fs::set_permissions(directory, Permissions::from_mode(0o755)).unwrap();
            }
        }
        // What a link leads to is what is looked at.
        let link = home.path().join("link");
        fs::set_permissions(&parent, Permissions::from_mode(0o777)).unwrap();
        symlink(&parent, &link).unwrap();
        assert!(ViewRoot::within(&link).is_err());
    }
}
