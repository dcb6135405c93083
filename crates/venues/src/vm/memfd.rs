//! Memfds: nothing of them is left, whatever ends us.

use contract::{Error, Result};
use std::fs::File;
use std::os::fd::AsRawFd;

/// A memfd.
///
/// # Errors
/// When there is no room.
pub(crate) fn new_memfd(name: &str, size_bytes: u64) -> Result<File> {
    let attempted = || format!("cannot make {name} in memory");
    let file = rustix::fs::memfd_create(name, rustix::fs::MemfdFlags::CLOEXEC)
        .map(File::from)
        .map_err(|error| Error::environment(attempted(), error))?;
    file.set_len(size_bytes).map_err(|error| Error::environment(attempted(), error))?;
    Ok(file)
}

/// The same file with an offset of its own, at its beginning.
pub(crate) fn reopened(file: &File) -> Result<File> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    File::open(&path).map_err(|error| Error::environment(format!("cannot open {path}"), error))
}
