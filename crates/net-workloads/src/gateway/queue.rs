//! The queue between workers: how its two ends are kept apart, and how the reader is woken.

use super::frame::Frame;
use super::poller::Waiting;
use contract::WordChoice;
use crossbeam_queue::ArrayQueue;
use rustix::event::{EventfdFlags, eventfd};
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use workload_parts::futex;

/// What keeps writers and the reader of a queue apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guard {
    /// A futex that sleeps.
    Mutex,
    /// A lock that is asked for again and again.
    Spin,
    /// Nothing: a bounded lock-free queue (Vyukov's).
    LockFree,
}

impl WordChoice for Guard {
    const WORDS: &'static [(&'static str, Self)] =
        &[("mutex", Self::Mutex), ("spin", Self::Spin), ("lock_free", Self::LockFree)];
}

/// Frames of other workers for one worker.
pub(super) struct Inbox {
    frames: Frames,
    bell: Bell,
    is_rung_always: bool,
    is_asleep: AtomicBool,
    /// How often it was rung.
    rings: AtomicU64,
}

/// What wakes the reader of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BellKind {
    /// A counter that the reader waits for like a file.
    Eventfd,
    /// A word that it waits on.
    Futex,
}

enum Bell {
    Eventfd(OwnedFd),
    Futex(AtomicU32),
}

enum Frames {
    Locked(Lock),
    Free(Box<ArrayQueue<Frame>>),
}

impl Inbox {
    /// Room for `capacity` frames, for a reader that waits in this way.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn new(
        guard: Guard,
        waiting: Waiting,
        bell: BellKind,
        capacity: usize,
    ) -> io::Result<Self> {
        let frames = match guard {
            Guard::LockFree => Frames::Free(Box::new(ArrayQueue::new(capacity.max(1)))),
            Guard::Mutex | Guard::Spin => {
                Frames::Locked(Lock::new(guard == Guard::Mutex, capacity))
            }
        };
        Ok(Self {
            frames,
            bell: match bell {
                BellKind::Eventfd => {
                    Bell::Eventfd(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
                }
                BellKind::Futex => Bell::Futex(AtomicU32::new(0)),
            },
            // A reader that sleeps at once is rung each time, as the published gateway does.
            is_rung_always: waiting == Waiting::Sleep,
            is_asleep: AtomicBool::new(false),
            rings: AtomicU64::new(0),
        })
    }

    /// Gives a frame to the reader, and wakes it where it may sleep.
    ///
    /// # Errors
    /// When the queue is full, which its capacity excludes, or what the kernel answers.
    pub(super) fn put(&self, frame: Frame) -> io::Result<()> {
        match &self.frames {
            Frames::Locked(lock) => lock.with(|frames| frames.push_back(frame)),
            Frames::Free(queue) => {
                queue
                    .push(frame)
                    .map_err(|_| io::Error::other("a queue between workers is full"))?;
            }
        }
        if self.is_rung_always || self.is_asleep.swap(false, Ordering::SeqCst) {
            self.ring()?;
        }
        Ok(())
    }

    /// The oldest frame.
    pub(super) fn take(&self) -> Option<Frame> {
        match &self.frames {
            Frames::Locked(lock) => lock.with(VecDeque::pop_front),
            Frames::Free(queue) => queue.pop(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match &self.frames {
            Frames::Locked(lock) => lock.with(|frames| frames.is_empty()),
            Frames::Free(queue) => queue.is_empty(),
        }
    }

    /// The reader means to sleep; whether it may. A writer of a frame from now on wakes it.
    pub(super) fn sleeps(&self) -> bool {
        self.is_asleep.store(true, Ordering::SeqCst);
        let may = self.is_empty();
        if !may {
            self.is_asleep.store(false, Ordering::SeqCst);
        }
        may
    }

    /// The reader is awake, whatever has woken it: nobody has to ring until it means to sleep
    /// again. It looks at the queue after this, so a frame that came without a ring is found.
    pub(super) fn wakes(&self) {
        if !self.is_rung_always {
            self.is_asleep.store(false, Ordering::SeqCst);
        }
    }

    /// Wakes the reader whatever it does.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn ring(&self) -> io::Result<()> {
        self.rings.fetch_add(1, Ordering::Relaxed);
        match &self.bell {
            Bell::Eventfd(bell) => {
                rustix::io::write(bell, &1_u64.to_ne_bytes())?;
            }
            Bell::Futex(word) => {
                word.fetch_add(1, Ordering::SeqCst);
                futex::wake(word, 1);
            }
        }
        Ok(())
    }

    /// Silences the bell, which the reader has heard.
    pub(super) fn silence(&self) {
        if let Bell::Eventfd(bell) = &self.bell {
            let _ = rustix::io::read(bell, &mut [0_u8; 8]);
        }
    }

    /// The word that its reader waits on, where it is no file.
    pub(super) fn word(&self) -> Option<&AtomicU32> {
        match &self.bell {
            Bell::Eventfd(_) => None,
            Bell::Futex(word) => Some(word),
        }
    }

    /// The file that its reader waits for, where it is one.
    pub(super) fn file(&self) -> Option<BorrowedFd<'_>> {
        match &self.bell {
            Bell::Eventfd(bell) => Some(bell.as_fd()),
            Bell::Futex(_) => None,
        }
    }

    pub(super) fn rings(&self) -> u64 {
        self.rings.load(Ordering::Relaxed)
    }
}

/// A queue behind a lock of our own: those of `std` ask a hundred times before they sleep, which
/// is neither of the two that are compared.
struct Lock {
    /// 0 free, 1 held, 2 held with somebody asleep (Drepper, Futexes Are Tricky, 2011, mutex 2).
    state: AtomicU32,
    does_sleep: bool,
    frames: UnsafeCell<VecDeque<Frame>>,
}

// SAFETY: the frames are reached by the holder of the lock alone.
unsafe impl Sync for Lock {}

impl Lock {
    fn new(does_sleep: bool, capacity: usize) -> Self {
        let frames = UnsafeCell::new(VecDeque::with_capacity(capacity));
        Self { state: AtomicU32::new(0), does_sleep, frames }
    }

    fn with<T>(&self, act: impl FnOnce(&mut VecDeque<Frame>) -> T) -> T {
        self.acquire();
        // SAFETY: we hold the lock, and give the reference back before we release it.
        let outcome = act(unsafe { &mut *self.frames.get() });
        if self.state.swap(0, Ordering::Release) == 2 {
            futex::wake(&self.state, 1);
        }
        outcome
    }

    fn acquire(&self) {
        let is_taken =
            || self.state.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if is_taken() {
            return;
        }
        if self.does_sleep {
            while self.state.swap(2, Ordering::Acquire) != 0 {
                futex::wait(&self.state, 2);
            }
        } else {
            while !is_taken() {
                std::hint::spin_loop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const EACH: u64 = 20_000;

    #[test]
    fn a_reader_is_rung_while_it_sleeps_and_not_after_something_else_has_woken_it() {
        let way = Waiting::PollThenSleep(1);
        let inbox = Inbox::new(Guard::Mutex, way, BellKind::Eventfd, 4).unwrap();
        assert!(inbox.sleeps());
        inbox.put(Frame::request(0, 0, 0)).unwrap();
        assert_eq!(inbox.rings(), 1);
        assert!(inbox.take().is_some() && inbox.sleeps());
        inbox.wakes();
        inbox.put(Frame::request(0, 1, 0)).unwrap();
        assert_eq!(inbox.rings(), 1, "it is awake");
        assert!(!inbox.sleeps(), "and finds the frame before it sleeps again");
    }

    #[test]
    fn every_frame_of_two_writers_arrives_once_and_in_its_writers_order() {
        for guard in [Guard::Mutex, Guard::Spin, Guard::LockFree] {
            let inbox = Arc::new(
                Inbox::new(guard, Waiting::Poll, BellKind::Eventfd, 2 * EACH as usize).unwrap(),
            );
            let writers: Vec<_> = (0..2)
                .map(|session| {
                    let inbox = Arc::clone(&inbox);
                    std::thread::spawn(move || {
                        for sequence in 0..EACH {
                            inbox.put(Frame::request(session, sequence, 0)).unwrap();
                        }
                    })
                })
                .collect();
            let mut next = [0; 2];
            while next != [EACH; 2] {
                let Some(frame) = inbox.take() else { continue };
                let expected = &mut next[frame.session() as usize];
                assert_eq!(frame.sequence(), *expected, "{guard:?}");
                *expected += 1;
            }
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            assert!(inbox.is_empty() && inbox.rings() == 0, "{guard:?}");
        }
    }

    #[test]
    fn a_reader_that_sleeps_is_rung_and_one_that_looks_is_not() {
        let frame = || Frame::request(0, 0, 0);
        let sleeping = Inbox::new(Guard::Mutex, Waiting::Sleep, BellKind::Eventfd, 4).unwrap();
        sleeping.put(frame()).unwrap();
        sleeping.put(frame()).unwrap();
        assert_eq!(sleeping.rings(), 2);
        let looking =
            Inbox::new(Guard::Mutex, Waiting::PollThenSleep(1), BellKind::Eventfd, 4).unwrap();
        looking.put(frame()).unwrap();
        assert_eq!(looking.rings(), 0);
        assert!(!looking.sleeps(), "there is work");
        assert!(looking.take().is_some() && looking.sleeps());
        looking.put(frame()).unwrap();
        looking.put(frame()).unwrap();
        assert_eq!(looking.rings(), 1, "one ring wakes it");
    }

    #[test]
    fn a_full_queue_is_an_error_and_loses_nothing_in_silence() {
        let inbox = Inbox::new(Guard::LockFree, Waiting::Poll, BellKind::Eventfd, 1).unwrap();
        inbox.put(Frame::request(0, 0, 0)).unwrap();
        assert!(inbox.put(Frame::request(0, 1, 0)).is_err());
    }
}
