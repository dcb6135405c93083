//! What root and a user may believe: what nobody else can have written.

use rustix::io::Errno;
use std::io;
use std::path::Path;

/// Group and others may write.
pub(crate) const WRITTEN_BY_OTHERS: u32 = 0o022;
/// A process that is neither its user nor in its group may write.
const WRITTEN_BY_ALL: u32 = 0o002;
/// Whom a list of access control lets in (acl(5)): bytes of a file system's own.
const ACCESS_LIST: &str = "system.posix_acl_access";
/// Others may write into the directory, and still cannot rename or remove what is not theirs
/// (inode(7)): `/tmp`.
pub(crate) const STICKY: u32 = 0o1000;
/// The user and the group.
pub(crate) const ROOT: u32 = 0;

/// Whether what is there was refused because somebody else could have put it there.
pub fn is_untrusted(error: &io::Error) -> bool {
    // What the kernel refuses has a number.
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

pub(crate) fn untrusted(path: &Path, why: &str) -> io::Error {
    let told = format!("{}: {why}", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, told)
}

/// Whether anybody but its owner and root may write what has this mode, owner and group. A group that
/// may write is somebody else, but for root's own (GID 0) where root is the owner, too: distributions
/// put nobody but root into it, and some make `/` or `/usr` so. Where a list of access control is in
/// force, the group's bit bounds what the list permits, to users who need not be in the group.
pub(crate) fn others_may_write(path: &Path, mode: u32, (owner, group): (u32, u32)) -> bool {
    if mode & WRITTEN_BY_OTHERS == 0 {
        return false;
    }
    let is_roots = owner == ROOT && group == ROOT;
    mode & WRITTEN_BY_ALL != 0 || !is_roots || has_access_list(path)
}

/// Whether there is one, or it cannot be found out.
fn has_access_list(path: &Path) -> bool {
    // No list is as short as this: the kernel answers that there is no room for it.
    let mut room = [0u8; 1];
    let found = rustix::fs::getxattr(path, ACCESS_LIST, &mut room[..]);
    !matches!(found, Err(Errno::NODATA | Errno::OPNOTSUPP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PrivateDirectory;
    use rustix::fs::XattrFlags;
    use rustix::process::geteuid;
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{PermissionsExt, chown};

    /// A list as acl(5) has it: its user, a further one, its group, all that these get at most, others.
    fn access_list_of(user: u32) -> Vec<u8> {
        let all = u32::MAX;
        let entries: [(u16, u16, u32); 5] =
            [(0x01, 7, all), (0x02, 7, user), (0x04, 5, all), (0x10, 7, all), (0x20, 5, all)];
        let mut bytes = 2u32.to_le_bytes().to_vec();
        for (tag, permitted, id) in entries {
            bytes.extend(tag.to_le_bytes());
            bytes.extend(permitted.to_le_bytes());
            bytes.extend(id.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn roots_own_group_may_write_what_root_owns_and_no_other_group_or_user_of_a_list() {
        if !geteuid().is_root() {
            testing::skip("only root gives files to groups");
            return;
        }
        const OTHER: u32 = 65_534;
        let place = tempfile::tempdir().unwrap();
        let above = place.path().join("above");
        let path = above.join("run");
        PrivateDirectory::make(&path).unwrap();
        set_permissions(&above, Permissions::from_mode(0o775)).unwrap();
        let is_taken = || PrivateDirectory::open(&path).is_ok();
        chown(&above, None, Some(OTHER)).unwrap();
        assert!(!is_taken());
        chown(&above, None, Some(ROOT)).unwrap();
        assert!(is_taken());
        assert!(others_may_write(&above, 0o777, (ROOT, ROOT)));
        assert!(others_may_write(&above, 0o775, (OTHER, ROOT)), "it may take its user's place");
        let list = access_list_of(OTHER);
        match rustix::fs::setxattr(&above, ACCESS_LIST, &list, XattrFlags::empty()) {
            Err(Errno::OPNOTSUPP) => testing::skip("this file system has no access control lists"),
            outcome => {
                outcome.unwrap();
                assert!(!is_taken(), "its mode is that of the group's, and another user may write");
            }
        }
    }
}
