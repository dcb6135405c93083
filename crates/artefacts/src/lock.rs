//! One writer of the cache at a time.

use crate::{Error, Result};
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use std::fs::{DirBuilder, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// A fetch of a large kernel over a slow line takes minutes.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// Its user writes, everybody reads.
const DIRECTORY_MODE: u32 = 0o755;
/// The same of a file.
const FILE_MODE: u32 = 0o644;

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
        DirBuilder::new()
            .recursive(true)
            .mode(DIRECTORY_MODE)
            .create(cache)
            .map_err(|error| Error::file("make", cache, error))?;
        let path = cache.join("lock");
        let mut file =
            open_itself(&path).map_err(|error| Error::file("open the lock", &path, error))?;
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

/// Opens the lock's file, which is emptied and written once it is held. A user who put a link of that
/// name there, or another name of a file, would choose what is emptied.
fn open_itself(path: &Path) -> io::Result<File> {
    let flags =
        OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::from_raw_mode(FILE_MODE)) {
        Ok(file) => File::from(file),
        Err(Errno::LOOP) => return Err(refused("a link has that name")),
        Err(error) => return Err(error.into()),
    };
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(refused("it is no file"));
    }
    if found.nlink() > 1 {
        return Err(refused("the file has another name, too"));
    }
    Ok(file)
}

fn refused(why: &str) -> io::Error {
    io::Error::other(format!(
        "{why}, and nothing is written there: look who made it, and remove it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn nothing_that_has_the_locks_name_but_a_file_of_its_own_is_emptied() {
        let home = tempfile::tempdir().unwrap();
        let (cache, other) = (home.path().join("cache"), home.path().join("other"));
        fs::create_dir(&cache).unwrap();
        fs::write(&other, "as it was").unwrap();
        let lock = cache.join("lock");
        let refusal = || CacheLock::acquire(&cache, &mut |_| {}).unwrap_err().cause;
        symlink(&other, &lock).unwrap();
        assert!(refusal().contains("a link has that name"), "{}", refusal());
        fs::remove_file(&lock).unwrap();
        symlink(home.path().join("absent"), &lock).unwrap();
        assert!(refusal().contains("a link has that name"), "{}", refusal());
        fs::remove_file(&lock).unwrap();
        fs::hard_link(&other, &lock).unwrap();
        assert!(refusal().contains("the file has another name"), "{}", refusal());
        fs::remove_file(&lock).unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "as it was");
        assert!(!home.path().join("absent").exists());
        CacheLock::acquire(&cache, &mut |_| {}).unwrap();
    }

    #[test]
    fn others_may_not_write_a_cache_that_was_made_whatever_the_umask() {
        for umask in [0o000, 0o022, 0o077] {
            let home = tempfile::tempdir().unwrap();
            // That of this test's process; no other test looks at modes.
            rustix::process::umask(Mode::from_raw_mode(umask));
            let cache = home.path().join("above/cache");
            CacheLock::acquire(&cache, &mut |_| {}).unwrap();
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            let made = [mode(&home.path().join("above")), mode(&cache), mode(&cache.join("lock"))];
            assert_eq!(made, [0o755, 0o755, 0o644].map(|due: u32| due & !umask), "{umask:o}");
        }
    }

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
