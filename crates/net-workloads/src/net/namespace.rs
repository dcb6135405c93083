//! Network namespaces without a name: each vanishes with the last process in it.

use rustix::fs::{Mode, OFlags};
use rustix::thread::{LinkNameSpaceType, UnshareFlags};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long a thread that has ended may still be seen. It is gone within microseconds, but for
/// a machine that is busy.
const LEAVES: Duration = Duration::from_secs(1);

/// A network namespace, held open.
#[derive(Debug)]
pub(super) struct Namespace(OwnedFd);

impl Namespace {
    /// A fresh one, which the calling thread enters.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn fresh() -> io::Result<Self> {
        // SAFETY: a network namespace is no part of the memory or the file table that threads
        // share, which is what can be unsafe in unshare(2).
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }?;
        let own = rustix::fs::open(
            "/proc/thread-self/ns/net",
            OFlags::RDONLY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        Ok(Self(own))
    }

    /// Takes the calling thread into it.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn enter(&self) -> io::Result<()> {
        let network = Some(LinkNameSpaceType::Network);
        rustix::thread::move_into_link_name_space(self.0.as_fd(), network)?;
        Ok(())
    }

    pub(super) fn file(&self) -> &OwnedFd {
        &self.0
    }
}

/// Runs this in a thread of its own, whose namespaces end with it, and waits until the thread is
/// really gone: the caller may have to fork, which needs a process with one thread.
///
/// # Errors
/// What the work says, or that there is no thread for it.
pub(super) fn apart<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let (task, outcome) = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("namespaces".to_owned());
        let thread = thread.spawn_scoped(scope, || {
            let task = rustix::thread::gettid().as_raw_nonzero();
            (PathBuf::from(format!("/proc/self/task/{task}")), work())
        })?;
        thread.join().map_err(|_| io::Error::other("the thread that makes namespaces panicked"))
    })?;
    let began = Instant::now();
    while task.exists() {
        if began.elapsed() > LEAVES {
            return Err(io::Error::other("the thread that made namespaces does not end"));
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    outcome
}
