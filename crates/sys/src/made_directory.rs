//! Removes a directory that was made here, and nothing that a link leads to instead: from the root
//! down each name is opened below the descriptor of the one above it, and what is removed is
//! removed below such a descriptor. However deep a workload has nested its directories, a few are
//! open at once.

use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
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
    empty(directory, device)?;
    Ok(rustix::fs::unlinkat(&above, name, AtFlags::REMOVEDIR)?)
}

/// The directory of this name, to list it; no link to one.
fn opened(above: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(above, name, flags, Mode::empty()).map_err(told)
}

/// Empties it. The way back is the names that led down, each with the directory that it is in.
fn empty(directory: OwnedFd, device: u64) -> io::Result<()> {
    let mut trail: Vec<((u64, u64), OsString)> = Vec::new();
    let mut current = directory;
    loop {
        if let Some(name) = first_kept(&current)? {
            let below = match opened(&current, &name) {
                Ok(below) => below,
                // Another process removed it, and its directory is looked at again. That it is not
                // there would be taken for the whole one.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            if rustix::fs::fstat(&below)?.st_dev != device {
                return Err(io::Error::other("another file system is mounted within: unmount it"));
            }
            trail.push((identity(&current)?, name));
            current = below;
            continue;
        }
        let Some((above, name)) = trail.pop() else { return Ok(()) };
        current = above_of(&current, above)?;
        match rustix::fs::unlinkat(&current, &name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Removes what lies in a directory, up to the first directory in it that cannot be removed at once:
/// something lies in it, or it is another file system.
fn first_kept(directory: &OwnedFd) -> io::Result<Option<OsString>> {
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
        match rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            // A mount of the same file system is told by nothing else.
            Err(Errno::BUSY) => {
                return Err(io::Error::other(
                    "something is mounted within: unmount it, and do this again",
                ));
            }
            Err(_) => return Ok(Some(name.to_owned())),
        }
    }
    Ok(None)
}

/// The directory above this one, which must be the one that it was entered from.
fn above_of(directory: &OwnedFd, expected: (u64, u64)) -> io::Result<OwnedFd> {
    let above = opened(directory, OsStr::new(".."))?;
    if identity(&above)? == expected {
        return Ok(above);
    }
    Err(io::Error::other(
        "a directory in it was moved elsewhere meanwhile: end what moves it, and do this again",
    ))
}

fn identity(directory: &OwnedFd) -> io::Result<(u64, u64)> {
    let stat = rustix::fs::fstat(directory)?;
    Ok((stat.st_dev, stat.st_ino))
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
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
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

    #[test]
    fn a_tree_that_is_deeper_than_files_may_be_open_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        let made = home.join("scratch");
        fs::create_dir(&made).unwrap();
        // Its path would be too long for one call.
        let mut directory = OwnedFd::from(fs::File::open(&made).unwrap());
        for _ in 0..3000 {
            for name in ["a", "next", "z"] {
                rustix::fs::mkdirat(&directory, name, Mode::from_raw_mode(0o700)).unwrap();
            }
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
            for name in ["a/file", "file", "z/file"] {
                rustix::fs::openat(&directory, name, flags, Mode::from_raw_mode(0o600)).unwrap();
            }
            directory = opened(&directory, OsStr::new("next")).unwrap();
        }
        drop(directory);
        // That of this test's process: far more than other tests here have open.
        let limit = getrlimit(Resource::Nofile);
        let few = Rlimit { current: Some(256), maximum: limit.maximum };
        setrlimit(Resource::Nofile, few).unwrap();
        let outcome = remove_made_directory(&made);
        setrlimit(Resource::Nofile, limit).unwrap();
        outcome.unwrap();
        assert!(!made.exists());
    }

    #[test]
    fn a_directory_that_was_moved_out_of_its_tree_leads_nowhere() {
        let home = tempfile::tempdir().unwrap();
        for name in ["tree/within", "elsewhere"] {
            fs::create_dir_all(home.path().join(name)).unwrap();
        }
        let at = |name: &str| OwnedFd::from(fs::File::open(home.path().join(name)).unwrap());
        let (tree, within) = (at("tree"), at("tree/within"));
        let expected = identity(&tree).unwrap();
        assert_eq!(identity(&above_of(&within, expected).unwrap()).unwrap(), expected);
        fs::rename(home.path().join("tree/within"), home.path().join("elsewhere/within")).unwrap();
        let error = above_of(&within, expected).unwrap_err();
        assert!(error.to_string().contains("was moved elsewhere"), "{error}");
    }
}
