//! How a thread waits for its sockets: asleep, awake, or awake for a while first.

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use sys::monotonic_ns;
use workload_parts::instant::timespec;

/// Events taken at once.
const MOST: usize = 64;

/// What a thread does while there is nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// It sleeps in epoll_wait(2).
    Sleep,
    /// It asks again and again.
    Poll,
    /// It asks for so many nanoseconds, then sleeps.
    PollThenSleep(u64),
}

/// An epoll instance, level-triggered, whose files are known by a number.
#[derive(Debug)]
pub(super) struct Poller {
    epoll: OwnedFd,
    /// Numbers of what can be read.
    ready: Vec<u64>,
    waiting: Waiting,
    patience_ns: Option<u64>,
}

impl Poller {
    /// Without files.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn new(waiting: Waiting) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, ready: Vec::with_capacity(MOST), waiting, patience_ns: None })
    }

    /// One that takes it for a failure when nothing comes for so long while it sleeps.
    pub(super) fn with_patience(self, patience_ns: u64) -> Self {
        Self { patience_ns: Some(patience_ns), ..self }
    }

    /// Looks after a file from now on.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn add(&self, file: impl AsFd, number: u64) -> io::Result<()> {
        epoll::add(&self.epoll, file, EventData::new_u64(number), EventFlags::IN)?;
        Ok(())
    }

    /// Looks after it no more.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn remove(&self, file: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, file)?)
    }

    /// Waits until a file can be read, or `is_due` says that there is other work. `sleeps` is
    /// called before it goes to sleep and says whether it may: a sender of work without a file
    /// must know from then on that it has to wake it.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn wait(
        &mut self,
        mut is_due: impl FnMut() -> bool,
        mut sleeps: impl FnMut() -> bool,
    ) -> io::Result<()> {
        let until_ns = match self.waiting {
            Waiting::Sleep => 0,
            Waiting::Poll => u64::MAX,
            Waiting::PollThenSleep(span_ns) => monotonic_ns() + span_ns,
        };
        // Moments are asked for by those alone that stay awake for a while.
        while until_ns == u64::MAX || until_ns > 0 && monotonic_ns() < until_ns {
            if self.look(Some(0))? || is_due() {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        if !sleeps() {
            self.look(Some(0))?;
            return Ok(());
        }
        let limit_ns = self.patience_ns.map(|patience_ns| monotonic_ns() + patience_ns);
        while !self.look(self.patience_ns)? {
            if limit_ns.is_some_and(|limit_ns| monotonic_ns() >= limit_ns) {
                return Err(impatient(self.patience_ns.unwrap_or_default()));
            }
        }
        Ok(())
    }

    /// The nth of what the last wait found.
    pub(super) fn ready(&self, index: usize) -> Option<u64> {
        self.ready.get(index).copied()
    }

    /// Whether anything can be read, within so many nanoseconds where they are given.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn look(&mut self, within_ns: Option<u64>) -> io::Result<bool> {
        self.ready.clear();
        let timeout = within_ns.map(timespec);
        let mut room = [const { MaybeUninit::<Event>::uninit() }; MOST];
        match epoll::wait(&self.epoll, &mut room, timeout.as_ref()) {
            Ok((events, _)) => {
                self.ready.extend(events.iter().map(|event| event.data.u64()));
                Ok(!self.ready.is_empty())
            }
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// What is said when an answer does not come.
pub(super) fn impatient(patience_ns: u64) -> io::Error {
    let patience = model::format_duration(patience_ns);
    io::Error::new(io::ErrorKind::TimedOut, format!("a reply is lost: none came within {patience}"))
}
