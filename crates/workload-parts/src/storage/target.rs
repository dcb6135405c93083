//! Where the files of a workload lie: its scratch directory, a directory of the user's, or
//! a whole device. What is made is removed again, what is found is left alone.

use super::identity;
use contract::{Error, LaunchSpec, Result};
use model::StorageKind;
use rustix::fs::{Mode, OFlags};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// How directories of ours are called in a directory of the user's.
const PREFIX: &str = "schedlab-files";
/// What a disk may want of places and lengths without the page cache.
const ALIGNMENT: u64 = 512;

/// A place for files of one invocation.
#[derive(Debug)]
pub enum WorkloadFiles {
    /// A directory of our own, removed with what is in it when this is dropped.
    Directory(PathBuf),
    /// A device node; it stays.
    Device(PathBuf),
}

impl WorkloadFiles {
    /// Makes room for `needed_bytes`.
    ///
    /// # Errors
    /// When the place is not what it is said to be, or too small.
    pub fn prepare(launch: &LaunchSpec, needed_bytes: u64) -> Result<Self> {
        let Some(target) = &launch.target else {
            return Self::in_directory(&launch.scratch, needed_bytes);
        };
        let path = Path::new(&target.path);
        match target.kind {
            StorageKind::Directory => Self::in_directory(path, needed_bytes),
            StorageKind::Device => {
                let metadata = std::fs::metadata(path).map_err(|error| unusable(path, error))?;
                if !metadata.file_type().is_block_device() {
                    return Err(unusable(path, "it is not a block device"));
                }
                if let Some(wanted) = target.identity {
                    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
                    let device = rustix::fs::open(path, flags, Mode::empty())
                        .map_err(|error| unusable(path, error))?;
                    identity::check(&device, wanted, &target.path)?;
                }
                if target.size_bytes < needed_bytes {
                    return Err(too_small(path, needed_bytes, target.size_bytes));
                }
                Ok(Self::Device(path.to_owned()))
            }
        }
    }

    /// Programs may make what is missing (fio does, as root): then a slip of the pen would
    /// measure another disk.
    fn in_directory(parent: &Path, needed_bytes: u64) -> Result<Self> {
        let parent = std::path::absolute(parent).map_err(|error| unusable(parent, error))?;
        let metadata = std::fs::metadata(&parent).map_err(|error| unusable(&parent, error))?;
        if !metadata.is_dir() {
            return Err(unusable(&parent, "it is not a directory"));
        }
        let free = rustix::fs::statvfs(&parent).map_err(|error| unusable(&parent, error))?;
        let free_bytes = free.f_bavail.saturating_mul(free.f_frsize);
        if free_bytes < needed_bytes {
            return Err(too_small(&parent, needed_bytes, free_bytes));
        }
        let own = format!("{PREFIX}-{}-{}", std::process::id(), sys::monotonic_ns());
        let directory = parent.join(own);
        std::fs::create_dir(&directory).map_err(|error| unusable(&parent, error))?;
        Ok(Self::Directory(directory))
    }

    /// The directory or device node.
    pub fn path(&self) -> &Path {
        match self {
            Self::Directory(path) | Self::Device(path) => path,
        }
    }

    /// Whether it is a device, and no directory.
    pub fn is_device(&self) -> bool {
        matches!(self, Self::Device(_))
    }

    /// Whether it can be used without the page cache, asked by opening.
    ///
    /// # Errors
    /// When it cannot.
    pub fn check_direct(&self) -> Result<()> {
        let flags = OFlags::DIRECT | OFlags::RDWR | OFlags::CLOEXEC;
        let (path, flags) = match self {
            Self::Directory(directory) => (directory.join("direct"), flags | OFlags::CREATE),
            Self::Device(node) => (node.clone(), flags),
        };
        let opened = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR);
        if !self.is_device() {
            // What could not be made need not be removed.
            let _ = std::fs::remove_file(&path);
        }
        opened.map(drop).map_err(|error| {
            Error::unsupported(
                format!("cannot do direct I/O in {}", self.path().display()),
                error,
                "choose a target on a disk (a memory file system has no O_DIRECT), or direct = false",
            )
        })
    }
}

impl Drop for WorkloadFiles {
    fn drop(&mut self) {
        if let Self::Directory(directory) = self {
            // A directory that is gone already needs no removing; one that stays is found
            // by its name.
            let _ = sys::remove_tree(directory);
        }
    }
}

/// Whether sizes are what a disk takes without the page cache.
pub fn is_aligned(bytes: u64) -> bool {
    bytes.is_multiple_of(ALIGNMENT)
}

fn unusable(path: &Path, cause: impl std::fmt::Display) -> Error {
    let attempted = format!("cannot use the target {}", path.display());
    Error::unsupported(attempted, cause, "make it, or choose another one")
}

fn too_small(path: &Path, needed_bytes: u64, bytes: u64) -> Error {
    let attempted = format!("cannot put files into {}", path.display());
    let (needed, there) = (model::format_size(needed_bytes), model::format_size(bytes));
    let cause = format!("{needed} are needed and {there} are there");
    Error::unsupported(attempted, cause, "choose a smaller size, or a larger target")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::StorageTarget;

    fn launch(kind: StorageKind, path: &str, size_bytes: u64) -> LaunchSpec {
        let path = path.to_owned();
        let target = StorageTarget {
            kind,
            path,
            device: None,
            size_bytes,
            is_made: false,
            cached_by: None,
            identity: None,
        };
        LaunchSpec { target: Some(target), ..LaunchSpec::default() }
    }

    #[test]
    fn a_directory_of_our_own_is_made_and_removed_with_what_is_in_it() {
        let parent = tempfile::tempdir().unwrap();
        let launch = launch(StorageKind::Directory, &parent.path().display().to_string(), 0);
        let first = WorkloadFiles::prepare(&launch, 1).unwrap();
        let second = WorkloadFiles::prepare(&launch, 1).unwrap();
        assert_ne!(first.path(), second.path());
        std::fs::write(first.path().join("file"), "x").unwrap();
        drop((first, second));
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_target_is_refused_and_never_made() {
        let parent = tempfile::tempdir().unwrap();
        let inside = |name: &str| parent.path().join(name).display().to_string();
        std::fs::write(inside("file"), "x").unwrap();
        for (kind, path, needed, cause) in [
            (StorageKind::Directory, inside("none"), 1, "No such file"),
            (StorageKind::Directory, inside("file"), 1, "not a directory"),
            (StorageKind::Directory, inside(""), u64::MAX, "are needed and"),
            (StorageKind::Device, inside("file"), 1, "not a block device"),
            (StorageKind::Device, inside("none"), 1, "No such file"),
        ] {
            let error = WorkloadFiles::prepare(&launch(kind, &path, 0), needed).unwrap_err();
            assert!(error.cause.contains(cause) && !error.remedy.is_empty(), "{error}");
        }
        let left: Vec<_> = std::fs::read_dir(parent.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
