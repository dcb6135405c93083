//! One writer of the cache at a time.

use crate::{Error, Result};
use rustix::fs::{FlockOperation, Mode, OFlags, fchmod, flock};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, fchown};
use std::path::Path;
use std::time::{Duration, Instant};

/// A fetch of a large kernel over a slow line takes minutes.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// Its user writes, everybody reads.
const DIRECTORY_MODE: u32 = 0o755;
/// Who can open a file can hold its lock: its user alone.
const FILE_MODE: u32 = 0o600;
/// Permissions of user, group and others (inode(7)).
const PERMISSIONS: u32 = 0o777;
/// Group and others may write.
const WRITTEN_BY_OTHERS: u32 = 0o022;
const ROOT: u32 = 0;
/// A file of earlier versions, `lock`, could be opened and so held by everybody.
const FILE: &str = "writer.lock";
/// Between two looks at a name that others make and remove.
const MOST_TRIES: u32 = 100;

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
        let path = cache.join(FILE);
        let mut file = open_itself(cache, &path)
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

/// Opens the lock's file, which is emptied and written once it is held. A user who put a link of that
/// name there, or another name of a file, would choose what is emptied. Only its user can open it, and
/// users who may write in the cache, as a group that shares one: these can change what it is about anyway.
fn open_itself(cache: &Path, path: &Path) -> io::Result<File> {
    let above = cache.metadata()?;
    for _ in 0..MOST_TRIES {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(file) => return checked(File::from(file), &above),
            Err(Errno::LOOP) => return Err(refused("a link has that name")),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        match made(path, &above) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            outcome => return outcome,
        }
    }
    Err(io::Error::from(io::ErrorKind::ResourceBusy))
}

/// What may be permitted of the lock of this cache.
fn permitted(above: &Metadata) -> u32 {
    let writers = above.mode() & WRITTEN_BY_OTHERS;
    // A user who may write may read as well: the bit for reading is the next higher one.
    FILE_MODE | writers | (writers << 1)
}

/// Permits so much of one's own file. File systems without modes (FAT) refuse that: there the mount
/// decides who may open it.
fn permit(file: &File, mode: u32) -> io::Result<()> {
    match fchmod(file, Mode::from_raw_mode(mode)) {
        Ok(()) | Err(Errno::PERM) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn checked(file: File, above: &Metadata) -> io::Result<File> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(refused("it is no file"));
    }
    if found.nlink() > 1 {
        return Err(refused("the file has another name, too"));
    }
    let user = geteuid().as_raw();
    let is_shared = above.mode() & WRITTEN_BY_OTHERS != 0;
    if !is_shared && ![user, ROOT, above.uid()].contains(&found.uid()) {
        return Err(refused("it belongs to another user"));
    }
    if found.mode() & PERMISSIONS & !permitted(above) != 0 {
        if ![found.uid(), ROOT].contains(&user) {
            return Err(refused("others may open it, and so hold it"));
        }
        permit(&file, found.mode() & permitted(above))?;
    }
    Ok(file)
}

fn made(path: &Path, above: &Metadata) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::from_raw_mode(FILE_MODE))?);
    // Where it cannot be given to those who share it, they are refused, and nobody else is let in.
    let owner = Some(above.uid()).filter(|_| geteuid().is_root());
    let _ = fchown(&file, owner, Some(above.gid()));
    permit(&file, permitted(above))?;
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
        let lock = cache.join(FILE);
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
            let made = [mode(&home.path().join("above")), mode(&cache), mode(&cache.join(FILE))];
            assert_eq!(made, [0o755 & !umask, 0o755 & !umask, 0o600], "{umask:o}");
        }
    }

    #[test]
    fn who_can_only_read_a_cache_does_not_hold_it_and_a_group_that_writes_it_shares_the_lock() {
        let home = tempfile::tempdir().unwrap();
        let lock = home.path().join(FILE);
        let mode = || lock.metadata().unwrap().mode() & PERMISSIONS;
        let set_mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        for (cache, due) in [(0o755, 0o600), (0o775, 0o660), (0o2770, 0o660)] {
            let _ = fs::remove_file(&lock);
            set_mode(home.path(), cache);
            CacheLock::acquire(home.path(), &mut |_| {}).unwrap();
            assert_eq!(mode(), due, "{cache:o}");
            set_mode(&lock, 0o644);
            CacheLock::acquire(home.path(), &mut |_| {}).unwrap();
            assert_eq!(mode() & !due, 0, "{cache:o}: rights that go further are taken back");
        }
        // That of an earlier version, which anybody could open.
        fs::write(home.path().join("lock"), "").unwrap();
        let held = File::open(home.path().join("lock")).unwrap();
        held.lock().unwrap();
        CacheLock::acquire_within(home.path(), Duration::ZERO, &mut |_| {}).unwrap();
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
