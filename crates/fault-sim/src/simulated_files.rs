//! Operations on files of a simulated machine, as `sys::Files` asks for them.

use crate::disk::Node;
use crate::faults::Operation;
use crate::machine::{SimulatedMachine, State};
use crate::open_file::SimulatedFile;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use sys::{DraftFile, FileAccess, Files, OpenFile, PrivateFiles, draft_name, is_draft_name};

impl SimulatedMachine {
    /// A question, which has an answer whatever goes wrong.
    fn ask(&self, path: &Path, answer: impl FnOnce(&State) -> bool) -> bool {
        self.perform((Operation::Ask, path), |state, _| Ok(answer(state))).unwrap_or(false)
    }

    fn open_at(&self, path: &Path, file: usize, access: FileAccess) -> Box<dyn OpenFile> {
        let handle = self.new_handle();
        Box::new(SimulatedFile::stored(self.clone(), path, file, (handle, access)))
    }
}

/// The path of a setting of the kernel.
fn of_kernel(path: &Path) -> Option<&str> {
    path.to_str().filter(|path| path.starts_with("/proc") || path.starts_with("/sys"))
}

impl Files for SimulatedMachine {
    fn open(&self, path: &Path, access: FileAccess) -> io::Result<Box<dyn OpenFile>> {
        if let Some(knob) = of_kernel(path) {
            // A process that is alive can always be looked at.
            let is_process = knob.ends_with("/stat");
            let operation = if is_process { Operation::Ask } else { Operation::Look };
            let opened = self.perform((operation, path), |state, _| state.kernel.read(knob))?;
            return Ok(Box::new(SimulatedFile::of_kernel(self.clone(), path, opened)));
        }
        let is_there = self.state().disk.file(path).is_some();
        let makes = matches!(access, FileAccess::Append | FileAccess::Replace | FileAccess::Lock);
        let operation = if makes && !is_there { Operation::Grow } else { Operation::Look };
        let file = self.perform((operation, path), |state, _| match state.disk.node(path) {
            Some(Node::Directory) => Err(libc::EISDIR),
            Some(Node::File(file)) => {
                if access == FileAccess::Replace {
                    state.disk.set_length(file, 0);
                }
                Ok(file)
            }
            None if makes => state.disk.create(path),
            None => Err(libc::ENOENT),
        })?;
        Ok(self.open_at(path, file, access))
    }

    /// Names are numbers in a row, so that a schedule is the same again.
    fn draft(&self, path: &Path) -> io::Result<Box<dyn DraftFile>> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let draft = path.with_file_name(draft_name(name, self.new_handle()));
        let file = self.perform((Operation::Grow, &draft), |state, _| state.disk.create(&draft))?;
        let file = self.open_at(&draft, file, FileAccess::Overwrite);
        let (machine, target) = (self.clone(), path.to_owned());
        Ok(Box::new(SimulatedDraft { machine, draft, target, file, is_put: false }))
    }

    /// There is one process at a time: no draft that is there is being written.
    fn sweep_drafts(&self, directory: &Path) {
        let names = self.names(directory).unwrap_or_default();
        for name in names.iter().filter(|name| is_draft_name(name)) {
            // What cannot be removed stays.
            let _ = self.remove(&directory.join(name));
        }
    }

    fn open_private(&self, path: &Path) -> io::Result<Box<dyn PrivateFiles>> {
        if self.state().is_shared_with_others {
            // As `sys::is_untrusted` knows it: no answer of the kernel.
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "others may write there"));
        }
        self.perform((Operation::Look, path), |state, _| match state.disk.node(path) {
            Some(Node::Directory) => Ok(()),
            Some(Node::File(_)) => Err(libc::ENOTDIR),
            None => Err(libc::ENOENT),
        })?;
        Ok(Box::new(SimulatedPrivate { machine: self.clone(), path: path.to_owned() }))
    }

    fn make_private(&self, path: &Path) -> io::Result<Box<dyn PrivateFiles>> {
        self.make_directories(path)?;
        self.open_private(path)
    }

    /// There is one user, and there are no links.
    fn check_own_directory(&self, path: &Path) -> io::Result<()> {
        self.perform((Operation::Look, path), |state, _| match state.disk.node(path) {
            Some(Node::File(_)) => Err(libc::ENOTDIR),
            Some(Node::Directory) | None => Ok(()),
        })
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        // That one has the name is found before space is asked for.
        let is_there = self.state().disk.node(path).is_some();
        let operation = if is_there { Operation::Look } else { Operation::Grow };
        self.perform((operation, path), |state, _| state.disk.make_directory(path))
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.perform((Operation::Sync, path), |state, _| state.disk.sync_directory(path))
    }

    fn names(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let names = self.perform((Operation::Look, path), |state, _| match of_kernel(path) {
            Some(directory) => state.kernel.names(directory),
            None => state.disk.names(path),
        })?;
        Ok(names.into_iter().map(OsString::from).collect())
    }

    fn exists(&self, path: &Path) -> bool {
        self.ask(path, |state| match of_kernel(path) {
            Some(knob) => state.kernel.has(knob),
            None => state.disk.node(path).is_some(),
        })
    }

    fn is_file(&self, path: &Path) -> bool {
        self.ask(path, |state| state.disk.file(path).is_some())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.perform((Operation::Alter, to), |state, _| state.disk.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.perform((Operation::Alter, path), |state, _| state.disk.remove(path))
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.perform((Operation::Alter, path), |state, _| state.disk.remove_directory(path))
    }

    fn remove_tree(&self, path: &Path) -> io::Result<()> {
        self.perform((Operation::Alter, path), |state, is_partial| {
            let all = state.disk.count_below(path);
            let most = if is_partial { state.random.below(all.max(1)) } else { all };
            state.disk.remove_tree(path, most)
        })
    }

    fn has_processes(&self) -> bool {
        false
    }
}

/// A file that is written beside the one that it is to become.
#[derive(Debug)]
struct SimulatedDraft {
    machine: SimulatedMachine,
    draft: PathBuf,
    target: PathBuf,
    file: Box<dyn OpenFile>,
    is_put: bool,
}

impl Write for SimulatedDraft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl DraftFile for SimulatedDraft {
    fn sync_all(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn put(mut self: Box<Self>) -> io::Result<()> {
        self.machine.rename(&self.draft, &self.target)?;
        self.is_put = true;
        Ok(())
    }
}

impl Drop for SimulatedDraft {
    /// Of a process that ends this does nothing any more: its draft stays.
    fn drop(&mut self) {
        if !self.is_put {
            let _ = self.machine.remove(&self.draft);
        }
    }
}

/// A directory that one user alone can change.
#[derive(Debug)]
struct SimulatedPrivate {
    machine: SimulatedMachine,
    path: PathBuf,
}

impl PrivateFiles for SimulatedPrivate {
    fn read(&self, name: &str) -> io::Result<Box<dyn OpenFile>> {
        self.machine.open(&self.path.join(name), FileAccess::Read)
    }

    fn append(&self, name: &str) -> io::Result<Box<dyn OpenFile>> {
        self.machine.open(&self.path.join(name), FileAccess::Append)
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn OpenFile>> {
        self.remove(name)?;
        self.machine.open(&self.path.join(name), FileAccess::Append)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.machine.rename(&self.path.join(from), &self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match self.machine.remove(&self.path.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            outcome => outcome,
        }
    }

    fn holds(&self, name: &str, file: &dyn OpenFile) -> io::Result<bool> {
        let path = self.path.join(name);
        let (_, own) = file.identity()?;
        let named = self.machine.perform((Operation::Look, &path), |state, _| {
            Ok(state.disk.file(&path).map(|file| file as u64))
        })?;
        Ok(named == Some(own))
    }

    fn sync(&self) -> io::Result<()> {
        self.machine.sync_directory(&self.path)
    }

    fn path(&self) -> &Path {
        &self.path
    }
}
