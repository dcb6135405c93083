//! One writer of the cache at a time.

use crate::{Error, Result};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// A fetch of a large kernel over a slow line takes minutes.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Held while the cache is written; the kernel of this machine lets go of it
/// whatever happens to us.
#[derive(Debug)]
pub struct CacheLock {
    _file: File,
}

impl CacheLock {
    /// Waits for its turn, and says which process holds the lock.
    pub fn acquire(cache: &Path, note: &mut dyn FnMut(String)) -> Result<Self> {
        Self::acquire_within(cache, PATIENCE, note)
    }

    /// The same, for work that takes longer.
    pub fn acquire_within(
        cache: &Path,
        patience: Duration,
        note: &mut dyn FnMut(String),
    ) -> Result<Self> {
        fs::create_dir_all(cache).map_err(|error| Error::file("make", cache, error))?;
        let path = cache.join("lock");
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(|error| Error::file("open the lock", &path, error))?;
        let start = Instant::now();
        let mut is_told = false;
        while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut holder = String::new();
            let read = file.rewind().and_then(|()| (&file).take(32).read_to_string(&mut holder));
            let holder = if read.is_ok() { holder.trim() } else { "" };
            if start.elapsed() >= patience {
                return Err(Error::environment(
                    format!("cannot take the lock {}", path.display()),
                    format!("process {holder} still works on this cache"),
                ));
            }
            if !is_told {
                note(format!("waiting for process {holder}, which works on this cache"));
                is_told = true;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        // The holder is named for the message only: failing to write it changes nothing.
        let _ = file.set_len(0);
        let _ = file.rewind().and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_writer_waits_is_told_for_which_process_and_gives_up() {
        let directory = tempfile::tempdir().unwrap();
        let first = CacheLock::acquire(directory.path(), &mut |_| {}).unwrap();
        let mut notes = Vec::new();
        let error = CacheLock::acquire_within(directory.path(), Duration::ZERO, &mut |note| {
            notes.push(note);
        })
        .unwrap_err();
        assert!(error.cause.contains(&std::process::id().to_string()), "{error}");
        drop(first);
        CacheLock::acquire_within(directory.path(), Duration::ZERO, &mut |note| notes.push(note))
            .unwrap();
        assert!(notes.is_empty());
    }
}
