//! Removes a directory that was made here, and nothing that a link leads to instead: from the root
//! down each name is opened below the descriptor of the one above it, and what is removed is
//! removed below such a descriptor. However deep a workload, a build or an archive has nested its
//! directories, a few are open at once.
//!
//! This crate must not know whose directory it is, nor what lies in it.

mod left;

pub use left::{GRACE_PERIOD, open_directory, sweep_left};

use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// Names of directories that are held at once for each directory on the way down.
const MOST_KEPT: usize = 1_000;

/// Removes the directory with all that lies in it on its own file system.
///
/// # Errors
/// Of kind `NotFound` where it is not there; of kind `InvalidInput` where the path is relative or
/// has `..`; where a link or a file is on the way, or another file system is mounted within; what
/// the kernel answers. Some of it may be gone by then.
pub fn remove_made_directory(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let above = reach(parent).map_err(told)?;
    let directory = opened(&above, name)?;
    let device = rustix::fs::fstat(&directory)?.st_dev;
    empty(directory, device)?;
    Ok(rustix::fs::unlinkat(&above, name, AtFlags::REMOVEDIR)?)
}

/// Opens a directory by its path from the root, without a link on the way, for what is done below it.
///
/// # Errors
/// Where the path is relative or has `..`; where a link or a file is on the way; what the kernel
/// answers.
pub fn reach(directory: &Path) -> rustix::io::Result<OwnedFd> {
    let mut components = directory.components();
    if components.next() != Some(Component::RootDir) {
        return Err(Errno::INVAL);
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut reached = rustix::fs::open("/", flags, Mode::empty())?;
    for component in components {
        let Component::Normal(name) = component else { return Err(Errno::INVAL) };
        reached = rustix::fs::openat(&reached, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(reached)
}

/// Removes a directory with all that lies in it on its own file system, however deep directories are
/// nested there; of a link the link itself. A link above it is followed, and none below that.
///
/// # Errors
/// Of kind `NotFound` where it is not there; where it is a file, or another file system is mounted
/// within; what the kernel answers. Some of it may be gone by then.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    if std::fs::symlink_metadata(path)?.is_symlink() {
        return std::fs::remove_file(path);
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    remove_made_directory(&std::fs::canonicalize(parent)?.join(name))
}

/// The directory of this name, to list it; no link to one.
fn opened(above: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(above, name, flags, Mode::empty()).map_err(told)
}

/// Empties it. The way back is the names that led down, each with the directory that it is in and those
/// beside it that are still to be emptied.
fn empty(directory: OwnedFd, device: u64) -> io::Result<()> {
    let mut trail: Vec<((u64, u64), Vec<OsString>)> = Vec::new();
    let mut current = directory;
    let mut kept = Vec::new();
    loop {
        // Others may have made something meanwhile, and of very many directories not all were named.
        if kept.is_empty() {
            kept = kept_in(&current)?;
        }
        if let Some(name) = kept.last() {
            let below = match opened(&current, name) {
                Ok(below) => below,
                // Another process removed it. That it is not there would be taken for the whole one.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    kept.pop();
                    continue;
                }
                Err(error) => return Err(error),
            };
            if rustix::fs::fstat(&below)?.st_dev != device {
                return Err(io::Error::other("another file system is mounted within: unmount it"));
            }
            trail.push((identity(&current)?, std::mem::take(&mut kept)));
            current = below;
            continue;
        }
        let Some((above, names)) = trail.pop() else { return Ok(()) };
        current = above_of(&current, above)?;
        kept = names;
        let Some(name) = kept.pop() else { continue };
        match rustix::fs::unlinkat(&current, &name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Removes what lies in a directory but the directories in it that cannot be removed at once: something
/// lies in them, or they are another file system. They are named, at most [`MOST_KEPT`]: a directory
/// that is listed for each one in it is read as often as it has entries.
fn kept_in(directory: &OwnedFd) -> io::Result<Vec<OsString>> {
    let mut kept = Vec::new();
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
            Err(_) => kept.push(name.to_owned()),
        }
        if kept.len() == MOST_KEPT {
            break;
        }
    }
    Ok(kept)
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
    fn a_tree_is_removed_below_a_link_and_of_a_link_to_one_the_link() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let kept = at("victim/file");
        fs::create_dir_all(at("real/tree/deep")).unwrap();
        fs::create_dir(at("victim")).unwrap();
        fs::write(&kept, "x").unwrap();
        symlink(at("victim"), at("real/tree/deep/link")).unwrap();
        symlink(at("real"), at("above")).unwrap();
        symlink(at("victim"), at("link")).unwrap();
        remove_tree(&at("above/tree")).unwrap();
        remove_tree(&at("link")).unwrap();
        assert!(!at("real/tree").exists() && !at("link").is_symlink() && kept.exists());
        assert_eq!(remove_tree(&at("link")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(remove_tree(&kept).is_err() && kept.exists(), "it is a file");
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
    fn a_directory_is_listed_once_for_many_directories_in_it_and_all_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        let made = home.join("scratch");
        let full = 2 * MOST_KEPT + 10;
        for number in 0..full {
            let name = made.join(format!("full-{number}"));
            fs::create_dir_all(&name).unwrap();
            fs::write(name.join("file"), "x").unwrap();
        }
        let directory = OwnedFd::from(fs::File::open(&made).unwrap());
        let kept = kept_in(&directory).unwrap();
        assert_eq!(kept.len(), MOST_KEPT);
        let different: std::collections::BTreeSet<&OsString> = kept.iter().collect();
        assert_eq!(different.len(), MOST_KEPT);
        assert_eq!(fs::read_dir(&made).unwrap().count(), full);
        remove_made_directory(&made).unwrap();
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
