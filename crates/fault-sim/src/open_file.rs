//! Files of a simulated machine that are open: of its disk, and settings of its kernel.

use crate::faults::{Fate, Operation};
use crate::machine::{RUNTIME, SimulatedMachine};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use sys::{FileAccess, OpenFile};

/// The device of all files.
const DEVICE: u64 = 1;
/// What a disk that is not full has left.
const FREE_BYTES: u64 = 1 << 40;

/// What is open.
#[derive(Debug)]
enum Opened {
    /// A file of the disk, with the number that its locks are held by.
    Stored { file: usize, handle: u64 },
    /// A setting, with the text that it had when it was opened.
    Setting(Vec<u8>),
}

/// A file that is open.
#[derive(Debug)]
pub(crate) struct SimulatedFile {
    machine: SimulatedMachine,
    path: PathBuf,
    opened: Opened,
    is_appended: bool,
    position: usize,
}

impl SimulatedFile {
    /// A file of the disk.
    pub(crate) fn stored(
        machine: SimulatedMachine,
        path: &Path,
        file: usize,
        (handle, access): (u64, FileAccess),
    ) -> Self {
        let opened = Opened::Stored { file, handle };
        let is_appended = access == FileAccess::Append;
        Self { machine, path: path.to_owned(), opened, is_appended, position: 0 }
    }

    /// A setting of the kernel that has this text.
    pub(crate) fn of_kernel(machine: SimulatedMachine, path: &Path, text: String) -> Self {
        let opened = Opened::Setting(text.into_bytes());
        Self { machine, path: path.to_owned(), opened, is_appended: false, position: 0 }
    }

    /// The file of the disk.
    fn file(&self) -> Result<usize, i32> {
        match self.opened {
            Opened::Stored { file, .. } => Ok(file),
            Opened::Setting(_) => Err(libc::EINVAL),
        }
    }

    fn set(&self, text: &[u8]) -> io::Result<usize> {
        let path = self.path.to_string_lossy();
        let text_of = String::from_utf8_lossy(text);
        self.machine.perform((Operation::Set, &self.path), |state, is_partial| {
            // One write of a setting is whole or was never made.
            if !is_partial || state.random.one_in(2) {
                state.set(&path, &text_of)?;
            }
            Ok(text.len())
        })
    }

    fn append_or_write(&mut self, file: usize, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.machine.state();
        if state.is_dead() {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        let at = if self.is_appended { state.disk.bytes(file).len() } else { self.position };
        let has_space = state.disk.has_space(file, at + bytes.len());
        let fate = state.fate(Operation::Grow, &self.path, has_space);
        let written = match fate {
            Fate::Done | Fate::DiesAfter => bytes.len(),
            Fate::DiesBefore => 0,
            // A full disk takes what it has space for.
            Fate::Fails(_) | Fate::DiesWithin => state.random.below(bytes.len().max(1)),
        };
        if written > 0 {
            state.disk.write(file, at, &bytes[..written]);
        }
        match fate {
            Fate::DiesBefore | Fate::DiesWithin | Fate::DiesAfter => self.machine.die(state),
            Fate::Fails(number) => return Err(io::Error::from_raw_os_error(number)),
            Fate::Done => {}
        }
        drop(state);
        self.position = at + written;
        Ok(written)
    }
}

impl Drop for SimulatedFile {
    fn drop(&mut self) {
        if let Opened::Stored { file, handle } = self.opened {
            self.machine.state().close(file, handle);
        }
    }
}

impl Read for SimulatedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let position = self.position;
        let copied = |bytes: &[u8], buffer: &mut [u8]| {
            let left = bytes.get(position..).unwrap_or_default();
            let count = left.len().min(buffer.len());
            buffer[..count].copy_from_slice(&left[..count]);
            count
        };
        let count = match &self.opened {
            Opened::Setting(text) => copied(text, buffer),
            Opened::Stored { file, .. } => {
                self.machine.perform((Operation::Look, &self.path), |state, _| {
                    Ok(copied(state.disk.bytes(*file), buffer))
                })?
            }
        };
        self.position += count;
        Ok(count)
    }
}

impl Write for SimulatedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.opened {
            Opened::Setting(_) => self.set(bytes),
            Opened::Stored { file, .. } => self.append_or_write(file, bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for SimulatedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
        let position = match to {
            SeekFrom::Start(position) => position,
            SeekFrom::Current(0) => self.position as u64,
            SeekFrom::Current(_) | SeekFrom::End(_) => return Err(invalid()),
        };
        self.position = usize::try_from(position).map_err(|_| invalid())?;
        Ok(position)
    }
}

impl OpenFile for SimulatedFile {
    fn sync_data(&self) -> io::Result<()> {
        self.sync_all()
    }

    fn sync_all(&self) -> io::Result<()> {
        let synced = self.machine.perform((Operation::Sync, &self.path), |state, is_partial| {
            let file = self.file()?;
            // What of it was stored when the process ended is what a power cut leaves.
            if !is_partial {
                state.disk.sync(file);
            }
            Ok(())
        });
        if synced.is_err()
            && let Ok(file) = self.file()
        {
            let mut state = self.machine.state();
            if !state.is_dead() {
                let has_lost = state.disk.lose_pending(file);
                state.has_lost_journal |= has_lost && self.path.starts_with(RUNTIME);
            }
        }
        synced
    }

    fn set_length(&self, bytes: u64) -> io::Result<()> {
        self.machine.perform((Operation::Alter, &self.path), |state, _| {
            let length = usize::try_from(bytes).map_err(|_| libc::EINVAL)?;
            state.disk.set_length(self.file()?, length);
            Ok(())
        })
    }

    fn length(&self) -> io::Result<u64> {
        self.machine.perform((Operation::Look, &self.path), |state, _| {
            Ok(state.disk.bytes(self.file()?).len() as u64)
        })
    }

    fn reserve(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.machine.perform((Operation::Grow, &self.path), |state, _| {
            let end = usize::try_from(offset + bytes).map_err(|_| libc::EINVAL)?;
            state.disk.reserve(self.file()?, end);
            Ok(())
        })
    }

    fn free_bytes(&self) -> io::Result<u64> {
        Ok(FREE_BYTES)
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.lock(true)
    }

    fn try_lock_shared(&self) -> io::Result<bool> {
        self.lock(false)
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        self.machine
            .perform((Operation::Look, &self.path), |_, _| Ok((DEVICE, self.file()? as u64)))
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

impl SimulatedFile {
    fn lock(&self, is_exclusive: bool) -> io::Result<bool> {
        let Opened::Stored { file, handle } = self.opened else {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        };
        self.machine.perform((Operation::Ask, &self.path), |state, _| {
            Ok(state.take_lock(file, handle, is_exclusive))
        })
    }
}
