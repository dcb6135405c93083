//! Directories that are gone with their value, or with the process that a signal ends meanwhile. One
//! of a process that was killed is found by its lock, which nobody holds any more, and goes when the
//! next one is made.

use crate::environment::{NOBODY, invoking_user};
use rustix::process::geteuid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use sys::{GRACE_PERIOD, check_trusted_above, is_untrusted, sweep_left};

/// Names of all of them begin so.
const PREFIX: &str = "schedlab-temporary-";
/// Its user only: a bundle may be private, and who can open a directory can hold its lock.
const DIRECTORY_MODE: u32 = 0o700;

/// Between two attempts to remove what is in use.
const PAUSE: Duration = Duration::from_millis(20);
/// One second of them.
const MOST_REMOVALS: u32 = 50;

/// What this process holds. A thread that makes or removes a directory locks this meanwhile, so that
/// a signal ends the process before or after that.
struct HeldDirectories {
    paths: Vec<PathBuf>,
    /// Whether signals that ask for an end are heard, here or by a caller.
    is_heard: bool,
    /// Whether a caller hears them that has more to end than these directories.
    is_left_to_caller: bool,
}

static HELD: Mutex<HeldDirectories> =
    Mutex::new(HeldDirectories { paths: Vec::new(), is_heard: false, is_left_to_caller: false });

fn lock_held() -> MutexGuard<'static, HeldDirectories> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on the caller hears the signals that ask for an end, and ends this process by
/// [`end_by`].
pub(crate) fn leave_signals_to_caller() {
    let mut held = lock_held();
    held.is_heard = true;
    held.is_left_to_caller = true;
}

/// Removes all directories that this process holds, and does what the signal does by default.
pub(crate) fn end_by(signal: i32) {
    let _held = remove_held();
    let _ = emulate_default_handler(signal);
}

/// Removes all directories that this process holds, which is about to end. Until what is given
/// is dropped, a thread that misses its files waits in its `drop` and says nothing.
#[must_use]
pub(crate) fn remove_held() -> impl Sized {
    let held = lock_held();
    held.paths.iter().for_each(|directory| remove_in_use(directory));
    held
}

/// Hears signals that ask for an end, unless they are heard already. The thread is there until the
/// process ends: a signal whose handler was taken away again would be ignored.
fn hear() -> io::Result<()> {
    let mut held = lock_held();
    if held.is_heard {
        return Ok(());
    }
    let mut signals = Signals::new(not_ignored())?;
    std::thread::Builder::new().name("temporary".to_owned()).spawn(move || {
        for signal in signals.forever() {
            if !lock_held().is_left_to_caller {
                end_by(signal);
            }
        }
    })?;
    held.is_heard = true;
    Ok(())
}

/// The signals that ask for an end and that this process was not started to ignore, as nohup(1) does.
fn not_ignored() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = ignored_by(&status);
    let all = [SIGHUP, SIGINT, SIGTERM].into_iter();
    all.filter(|signal| ignored & (1_u64 << (signal - 1)) == 0).collect()
}

/// The signals that a process ignores, a bit for each (proc_pid_status(5)); none where it is not told.
fn ignored_by(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// Removes a directory in which somebody may go on writing for an instant: one that is not empty is
/// tried again. What stays is swept later.
pub(crate) fn remove_in_use(path: &Path) {
    for _ in 0..MOST_REMOVALS {
        match sys::remove_tree(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(PAUSE),
            _ => break,
        }
    }
}

/// A directory, and the lock by which others see that it is in use.
pub(crate) struct TemporaryDirectory {
    path: PathBuf,
    _lock: File,
}

impl TemporaryDirectory {
    /// A new one in this directory, for this purpose, which its user alone may enter. Those that were
    /// left there go first. A signal that asks for an end removes it, too. Where others can put
    /// another in place of it, or lead what is written or removed there elsewhere, none is made and
    /// nothing is swept.
    pub(crate) fn within(parent: &Path, purpose: &str) -> io::Result<Self> {
        let also = if geteuid().is_root() { invoking_user() } else { None };
        check_trusted_above(parent, also)?;
        sweep(parent, GRACE_PERIOD);
        hear()?;
        let prefix = format!("{PREFIX}{purpose}-");
        let mut held = lock_held();
        let directory = tempfile::Builder::new()
            .prefix(&prefix)
            .permissions(Permissions::from_mode(DIRECTORY_MODE))
            .tempdir_in(parent)?;
        let lock = File::open(directory.path())?;
        lock.try_lock().map_err(io::Error::from)?;
        let path = directory.keep();
        held.paths.push(path.clone());
        Ok(Self { path, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        let mut held = lock_held();
        // One that a browser wrote into may be nested deeper than a stack is. What stays is swept later.
        let _ = sys::remove_tree(&self.path);
        held.paths.retain(|directory| *directory != self.path);
    }
}

/// What to do where none can be made, or not be written.
pub(crate) fn remedy(error: &io::Error) -> &'static str {
    if is_untrusted(error) {
        "set TMPDIR to a directory that only you can change, and what is above it, or unset it: /tmp \
         will do with its sticky bit"
    } else {
        "make room there, or set TMPDIR to a directory with room that you may write"
    }
}

/// Removes what processes of this user left that were killed; of root also what it gave to nobody.
fn sweep(parent: &Path, young: Duration) {
    let own = geteuid();
    let owners: &[u32] = if own.is_root() { &[0, NOBODY] } else { &[own.as_raw()] };
    sweep_left(parent, PREFIX, young, owners);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags, mkdirat, openat};
    use std::os::unix::fs::{MetadataExt, chown};
    use std::time::SystemTime;

    #[test]
    fn what_a_killed_process_left_goes_and_what_is_in_use_stays() {
        let parent = tempfile::tempdir().unwrap();
        let count = || parent.path().read_dir().unwrap().count();
        let used = TemporaryDirectory::within(parent.path(), "test").unwrap();
        let left = parent.path().join(format!("{PREFIX}test-left"));
        std::fs::create_dir(&left).unwrap();
        std::fs::write(left.join("file"), "x").unwrap();
        std::fs::create_dir(parent.path().join("of-somebody-else")).unwrap();
        sweep(parent.path(), GRACE_PERIOD);
        assert_eq!(count(), 3, "it is young");
        sweep(parent.path(), Duration::ZERO);
        assert_eq!((count(), left.exists(), used.path().exists()), (2, false, true));
        drop(used);
        assert_eq!(count(), 1);
    }

    #[test]
    fn a_directory_is_known_to_what_a_signal_removes_until_it_is_gone() {
        let parent = tempfile::tempdir().unwrap();
        let directory = TemporaryDirectory::within(parent.path(), "test").unwrap();
        let path = directory.path().to_owned();
        let is_held = || lock_held().paths.contains(&path);
        assert!(is_held() && lock_held().is_heard);
        drop(directory);
        assert!(!is_held() && !path.exists());
    }

    #[test]
    fn signals_that_a_process_was_started_to_ignore_are_read_from_its_status() {
        assert_eq!(ignored_by("Name:\tx\nSigBlk:\tff\nSigIgn:\t0000000000001001\n"), 0x1001);
        assert_eq!(ignored_by("Name:\tx\n"), 0);
    }

    #[test]
    fn nobody_else_may_enter_one_or_hold_its_lock() {
        let parent = tempfile::tempdir().unwrap();
        let directory = TemporaryDirectory::within(parent.path(), "test").unwrap();
        let mode = directory.path().metadata().unwrap().mode();
        assert_eq!(mode & 0o7777, DIRECTORY_MODE);
    }

    #[test]
    fn none_is_made_and_nothing_is_swept_where_others_can_put_another_in_its_place() {
        let home = tempfile::tempdir().unwrap();
        let parent = home.path().join("temporary");
        let left = parent.join(format!("{PREFIX}test-left"));
        std::fs::create_dir_all(&left).unwrap();
        let earlier = SystemTime::now() - 2 * GRACE_PERIOD;
        File::open(&left).unwrap().set_modified(earlier).unwrap();
        let set_mode = |path: &Path, mode: u32| {
            std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        let assert_refused = |why: &str| {
            let error = TemporaryDirectory::within(&parent, "test").err().unwrap();
            assert!(is_untrusted(&error) && error.to_string().contains(why), "{error}");
            assert!(remedy(&error).contains("sticky"), "{error}");
            assert_eq!(parent.read_dir().unwrap().count(), 1, "what was left is still there");
        };
        for open in [parent.as_path(), home.path()] {
            set_mode(open, 0o777);
            assert_refused("others may write there");
            set_mode(open, 0o755);
        }
        if geteuid().is_root() {
            for others in [parent.as_path(), home.path()] {
                chown(others, Some(NOBODY), None).unwrap();
                assert_refused("it belongs to another user");
                chown(others, Some(0), None).unwrap();
            }
        }
        // As in /tmp.
        set_mode(&parent, 0o1777);
        let made = TemporaryDirectory::within(&parent, "test").unwrap();
        assert!(made.path().exists() && !left.exists());
    }

    #[test]
    fn a_left_directory_that_is_nested_deeper_than_a_stack_is_swept() {
        /// Less than one call for each level takes.
        const STACK: usize = 256 << 10;
        const LEVELS: u32 = 8_000;
        let parent = tempfile::tempdir().unwrap();
        let left = parent.path().join(format!("{PREFIX}test-left"));
        std::fs::create_dir(&left).unwrap();
        let mut directory = File::open(&left).unwrap();
        for _ in 0..LEVELS {
            mkdirat(&directory, "next", Mode::RWXU).unwrap();
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let next = openat(&directory, "next", flags, Mode::empty()).unwrap();
            directory = File::from(next);
        }
        drop(directory);
        let path = parent.path().to_owned();
        let sweeper = std::thread::Builder::new().stack_size(STACK);
        sweeper.spawn(move || sweep(&path, Duration::ZERO)).unwrap().join().unwrap();
        assert!(!left.exists());
    }
}
