//! Removes a directory that was made here, and nothing that a link leads to instead: from the root
//! down each name is opened below the descriptor of the one above it, and what is removed is
//! removed below such a descriptor.

use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

/// Removes the directory with all that lies in it on its own file system.
///
/// # Errors
/// Of kind `NotFound` where it is not there; of kind `InvalidInput` where the path is relative or
/// has `..`; where a link or a file is on the way, or another file system is mounted within; what
/// the kernel answers. Some of it may be gone by then.
pub(crate) fn remove_made_directory(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut components = parent.components();
    if components.next() != Some(Component::RootDir) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut above = rustix::fs::open("/", flags, Mode::empty())?;
    for component in components {
        let Component::Normal(name) = component else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        above = rustix::fs::openat(&above, name, flags | OFlags::NOFOLLOW, Mode::empty())
            .map_err(told)?;
    }
    let directory = opened(&above, name)?;
    let device = rustix::fs::fstat(&directory)?.st_dev;
    empty(&directory, device)?;
    Ok(rustix::fs::unlinkat(&above, name, AtFlags::REMOVEDIR)?)
}

/// The directory of this name, to list it; no link to one.
fn opened(above: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(above, name, flags, Mode::empty()).map_err(told)
}

fn empty(directory: &OwnedFd, device: u64) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    for entry in Dir::read_from(directory.as_fd())? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => continue,
            Err(Errno::ISDIR) => {}
            Err(error) => return Err(error.into()),
        }
        let below = opened(directory, name)?;
        if rustix::fs::fstat(&below)?.st_dev != device {
            return Err(io::Error::other("another file system is mounted within: unmount it"));
        }
        empty(&below, device)?;
        rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

fn told(error: Errno) -> io::Error {
    match error {
        Errno::NOTDIR | Errno::LOOP => io::Error::other(
            "a link or a file is on the way, and nothing is removed through one: look who made \
             it, and remove it",
        ),
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_is_removed_through_a_link_wherever_it_is_on_the_way() {
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        let kept = home.join("victim/scratch/deep/file");
        fs::create_dir_all(kept.parent().unwrap()).unwrap();
        fs::write(&kept, "x").unwrap();
        symlink(home.join("victim"), home.join("link")).unwrap();
        symlink(home.join("victim/scratch"), home.join("scratch")).unwrap();
        for path in ["link/scratch", "scratch", "scratch/.", "victim/../link/scratch"] {
            assert!(remove_made_directory(&home.join(path)).is_err(), "{path}");
            assert!(kept.exists(), "{path}");
        }
        assert!(remove_made_directory(Path::new("scratch")).is_err());
        // A link within is removed, and not what it leads to.
        let made = home.join("made/scratch");
        fs::create_dir_all(made.join("a/b")).unwrap();
        symlink(home.join("victim"), made.join("a/link")).unwrap();
        remove_made_directory(&made).unwrap();
        assert!(!made.exists() && kept.exists());
        let error = remove_made_directory(&made).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
