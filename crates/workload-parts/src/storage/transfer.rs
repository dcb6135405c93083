//! Whole transfers, and data that lie ready before anything is measured.

use super::buffer::Buffer;
use super::data_location::Region;
use super::pattern::Pattern;
use contract::{Error, ErrorKind};
use model::format_size;
use std::io;
use std::os::fd::OwnedFd;

/// Written at once while data are laid out.
const PIECE: u64 = 4 << 20;

/// Reads until the buffer is full.
///
/// # Errors
/// What the kernel answers, or that the file ends before.
#[inline]
pub fn read_all(file: &OwnedFd, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::pread(file, &mut *bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                bytes = &mut bytes[count..];
                offset += count as u64;
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes everything.
///
/// # Errors
/// What the kernel answers.
#[inline]
pub fn write_all(file: &OwnedFd, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::pwrite(file, bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = &bytes[count..];
                offset += count as u64;
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes a whole region in large pieces, as generation 1 of records of `record` bytes, and
/// waits until the device has it.
///
/// # Errors
/// Where it failed, and why.
pub fn lay_out(
    region: &Region,
    pattern: Pattern,
    record: u64,
    size: u64,
) -> Result<(), (u64, io::Error)> {
    let bytes = (PIECE / record).max(1) * record;
    let words = (record / 8) as usize;
    let mut buffer = Buffer::new(bytes as usize, region.memory_alignment)
        .map_err(|why| (0, io::Error::other(why)))?;
    let mut offset = 0;
    while offset < size {
        let length = bytes.min(size - offset);
        let pieces = buffer.words_mut().chunks_exact_mut(words);
        for (nth, record_words) in (0..length / record).zip(pieces) {
            pattern.fill(record_words);
            pattern.stamp(record_words, offset + nth * record, 1);
        }
        let place = region.start + offset;
        let piece = &buffer.bytes()[..length as usize];
        write_all(&region.file, piece, place).map_err(|error| (place, error))?;
        offset += length;
    }
    rustix::fs::fdatasync(&region.file).map_err(|error| (region.start, error.into()))
}

/// The error of a [`lay_out`] that failed, where `total` bytes are needed in all.
pub fn unwritable(total: u64, (offset, error): &(u64, io::Error)) -> Error {
    let remedy = match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => {
            format!("{} are needed: free space, or make size smaller", format_size(total))
        }
        _ => String::new(),
    };
    let attempted = format!("cannot lay out the data at offset {offset}");
    Error::new(ErrorKind::Environment, attempted, error, remedy)
}
