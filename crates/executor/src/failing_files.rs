//! Files of this machine of which some in private directories cannot be read, opened or made: for
//! tests of what is done then.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sys::{DraftFile, FileAccess, Files, Machine, OpenFile, PrivateFiles};

/// What is asked of a file in a private directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrivateStep {
    /// To open it for reading.
    Read,
    /// To open one that is there for appending.
    Append,
    /// To make it.
    Make,
}

/// Which step on a file of this name fails, and with which number of errno(3).
type Failure = dyn Fn(PrivateStep, &str) -> Option<i32> + Send + Sync;

/// Files of this machine that fail so; all else is done as ever.
#[derive(Clone)]
pub(crate) struct FailingFiles {
    below: Arc<dyn Files>,
    failure: Arc<Failure>,
}

impl FailingFiles {
    /// The same machine, whose files fail so.
    pub(crate) fn on(
        machine: &Machine,
        failure: impl Fn(PrivateStep, &str) -> Option<i32> + Send + Sync + 'static,
    ) -> Machine {
        let below = Arc::clone(machine.files());
        machine.clone().with_files(Arc::new(Self { below, failure: Arc::new(failure) }))
    }

    fn within(&self, directory: Box<dyn PrivateFiles>) -> Box<dyn PrivateFiles> {
        Box::new(FailingDirectory { below: directory, failure: Arc::clone(&self.failure) })
    }
}

impl fmt::Debug for FailingFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FailingFiles").finish_non_exhaustive()
    }
}

impl Files for FailingFiles {
    fn open(&self, path: &Path, access: FileAccess) -> io::Result<Box<dyn OpenFile>> {
        self.below.open(path, access)
    }

    fn draft(&self, path: &Path) -> io::Result<Box<dyn DraftFile>> {
        self.below.draft(path)
    }

    fn sweep_drafts(&self, directory: &Path) {
        self.below.sweep_drafts(directory);
    }

    fn open_private(&self, path: &Path) -> io::Result<Box<dyn PrivateFiles>> {
        Ok(self.within(self.below.open_private(path)?))
    }

    fn make_private(&self, path: &Path) -> io::Result<Box<dyn PrivateFiles>> {
        Ok(self.within(self.below.make_private(path)?))
    }

    fn check_private(&self, path: &Path) -> io::Result<()> {
        self.below.check_private(path)
    }

    fn check_own_directory(&self, path: &Path) -> io::Result<()> {
        self.below.check_own_directory(path)
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        self.below.make_directory(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.below.sync_directory(path)
    }

    fn names(&self, path: &Path) -> io::Result<Vec<OsString>> {
        self.below.names(path)
    }

    fn exists(&self, path: &Path) -> bool {
        self.below.exists(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.below.is_file(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.below.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.below.remove(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.below.remove_directory(path)
    }

    fn remove_tree(&self, path: &Path) -> io::Result<()> {
        self.below.remove_tree(path)
    }

    fn remove_made(&self, path: &Path) -> io::Result<()> {
        self.below.remove_made(path)
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        self.below.real_path(path)
    }

    fn owner(&self, path: &Path) -> io::Result<u32> {
        self.below.owner(path)
    }

    fn has_processes(&self) -> bool {
        self.below.has_processes()
    }
}

/// A private directory whose files fail so.
struct FailingDirectory {
    below: Box<dyn PrivateFiles>,
    failure: Arc<Failure>,
}

impl FailingDirectory {
    fn check(&self, step: PrivateStep, name: &str) -> io::Result<()> {
        let number = (self.failure)(step, name);
        number.map_or(Ok(()), |number| Err(io::Error::from_raw_os_error(number)))
    }
}

impl fmt::Debug for FailingDirectory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("FailingDirectory").field(&self.below).finish()
    }
}

impl PrivateFiles for FailingDirectory {
    fn read(&self, name: &str) -> io::Result<Box<dyn OpenFile>> {
        self.check(PrivateStep::Read, name)?;
        self.below.read(name)
    }

    fn append(&self, name: &str) -> io::Result<Box<dyn OpenFile>> {
        let is_there = self.below.path().join(name).exists();
        self.check(if is_there { PrivateStep::Append } else { PrivateStep::Make }, name)?;
        self.below.append(name)
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn OpenFile>> {
        self.check(PrivateStep::Make, name)?;
        self.below.create(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.below.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.below.remove(name)
    }

    fn set_aside(&self, names: &[&str]) -> Vec<String> {
        self.below.set_aside(names)
    }

    fn holds(&self, name: &str, file: &dyn OpenFile) -> io::Result<bool> {
        self.below.holds(name, file)
    }

    fn sync(&self) -> io::Result<()> {
        self.below.sync()
    }

    fn path(&self) -> &Path {
        self.below.path()
    }
}
