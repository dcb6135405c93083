//! Engines with one operation in flight: system calls, a mapping, and nothing.

use super::running_operation::Turn;
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use sys::monotonic_ns;
use workload_parts::storage::buffer::Buffer;
use workload_parts::storage::data_location::Region;
use workload_parts::storage::transfer::{read_all, write_all};

/// Where an operation failed and why.
#[derive(Debug)]
pub(super) struct TransferFailure {
    pub attempted: &'static str,
    /// Absent where the failure belongs to no record.
    pub offset: Option<u64>,
    pub error: io::Error,
}

impl TransferFailure {
    pub(super) fn at(is_write: bool, offset: u64, error: io::Error) -> Self {
        let attempted = if is_write { "write" } else { "read" };
        Self { attempted, offset: Some(offset), error }
    }

    pub(super) fn of(attempted: &'static str, error: impl Into<io::Error>) -> Self {
        Self { attempted, offset: None, error: error.into() }
    }
}

/// Moves one record at a time. Offsets are those of the file or device.
pub(super) trait Transfer {
    fn read(&mut self, bytes: &mut [u8], offset: u64) -> io::Result<()>;
    fn write(&mut self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Whatever was written is on the device.
    fn flush(&mut self) -> io::Result<()>;
}

/// Runs a pass; the time of each operation is that of its transfer alone.
pub(super) fn drive(
    engine: &mut impl Transfer,
    turn: &mut Turn<'_>,
    buffer: &mut Buffer,
) -> Result<(), TransferFailure> {
    while let Some(record) = turn.next() {
        turn.before(record, buffer.words_mut());
        let place = turn.place(record);
        let begin_ns = monotonic_ns();
        let moved = if turn.is_write {
            engine.write(buffer.bytes(), place)
        } else {
            engine.read(buffer.bytes_mut(), place)
        };
        let end_ns = monotonic_ns();
        moved.map_err(|error| TransferFailure::at(turn.is_write, place, error))?;
        turn.after(record, buffer.words_mut(), end_ns - begin_ns);
    }
    Ok(())
}

/// pread(2) and pwrite(2).
pub(super) struct Psync {
    pub file: Arc<OwnedFd>,
}

impl Transfer for Psync {
    #[inline]
    fn read(&mut self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        read_all(&self.file, bytes, offset)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        write_all(&self.file, bytes, offset)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(rustix::fs::fdatasync(&self.file)?)
    }
}

/// Everything but the transfer: what is left is our own cost.
pub(super) struct Null;

impl Transfer for Null {
    #[inline]
    fn read(&mut self, bytes: &mut [u8], _: u64) -> io::Result<()> {
        std::hint::black_box(bytes);
        Ok(())
    }

    #[inline]
    fn write(&mut self, bytes: &[u8], _: u64) -> io::Result<()> {
        std::hint::black_box(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A shared mapping of a region, copied to and from.
pub(super) struct Mapping {
    address: *mut libc::c_void,
    length: usize,
    start: u64,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps a region of `size` bytes. A file that is shorter is grown, with its blocks reserved
    /// where the file system can: a mapping of a full disk would end in SIGBUS.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn new(region: &Region, size: u64, is_file: bool) -> Result<Self, TransferFailure> {
        if is_file {
            let status = rustix::fs::fstat(&region.file)
                .map_err(|error| TransferFailure::of("ask for the size of the file", error))?;
            if status.st_size.unsigned_abs() < size {
                grow(&region.file, size)?;
            }
        }
        let failed = |error: io::Error| TransferFailure::of("map the file", error);
        let length =
            usize::try_from(size).map_err(|_| failed(io::ErrorKind::OutOfMemory.into()))?;
        // SAFETY: a fresh mapping overlaps nothing.
        let address = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &region.file,
                region.start,
            )
        }
        .map_err(|error| failed(error.into()))?;
        Ok(Self { address, length, start: region.start })
    }

    /// Where `count` bytes at this offset of the file lie.
    #[inline]
    fn at(&self, offset: u64, count: usize) -> *mut u8 {
        let place = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
        assert!(
            place.checked_add(count).is_some_and(|end| end <= self.length),
            "{count} bytes at {place} of a mapping of {}",
            self.length
        );
        // SAFETY: within the mapping, as was just checked.
        unsafe { self.address.cast::<u8>().add(place) }
    }
}

fn grow(file: &OwnedFd, size: u64) -> Result<(), TransferFailure> {
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, size) {
        Err(rustix::io::Errno::OPNOTSUPP) => rustix::fs::ftruncate(file, size),
        other => other,
    }
    .map_err(|error| TransferFailure::of("make room for the file that is mapped", error))
}

impl Transfer for Mapping {
    #[inline]
    fn read(&mut self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        // SAFETY: `at` checks the range; the buffer is memory of its own. What another process
        // changes meanwhile may be torn, and is then found by the check.
        unsafe {
            let from = self.at(offset, bytes.len());
            std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len());
        }
        Ok(())
    }

    #[inline]
    fn write(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        // SAFETY: as above.
        unsafe {
            let to = self.at(offset, bytes.len());
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        // SAFETY: the whole mapping, which lives as long as `self`.
        Ok(unsafe { rustix::mm::msync(self.address, self.length, MsyncFlags::SYNC) }?)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length and not used again.
        let _ = unsafe { rustix::mm::munmap(self.address, self.length) };
    }
}
