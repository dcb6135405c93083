//! Waiting with an io_uring: a receive is under way on every connection all the time, and what
//! it received is there when it is found.
//!
//! An operation that has ended begins again with the system call that waits for the next one.

use super::poller::Waiting;
use super::queue::Inbox;
use contract::Requirement;
use io_uring::{IoUring, Probe, opcode, types::Fd};
use std::collections::BTreeMap;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use sys::monotonic_ns;

/// Received at once.
const CHUNK: usize = 64 << 10;
/// Operations that begin with one system call; more begin with the next.
const ENTRIES: u32 = 256;
/// FUTEX2_SIZE_U32 | FUTEX2_PRIVATE (include/uapi/linux/futex.h, 6.7).
const FUTEX_FLAGS: u32 = 0x02 | 0x80;
/// FUTEX_BITSET_MATCH_ANY.
const ANY: u64 = 0xffff_ffff;

/// What is under way for a number.
enum Operation {
    /// It tells when the file can be read.
    Poll(RawFd),
    /// It receives from a socket. The kernel may still write there when we have gone: the bytes
    /// are given back by the end of the process.
    Receive(RawFd, ManuallyDrop<Box<[u8]>>),
    /// It waits until a queue's word is another.
    Futex(Arc<Inbox>),
}

struct RingSlot {
    operation: Operation,
    is_under_way: bool,
    /// What the last one answered, until it is asked for.
    answer: Option<i32>,
}

/// A ring with what it waits for, by number.
pub(super) struct Ring {
    ring: IoUring,
    places: BTreeMap<u64, RingSlot>,
    /// Numbers of what begins again.
    idle: Vec<u64>,
    ready: Vec<u64>,
    waiting: Waiting,
}

impl Ring {
    /// Waiting for nothing.
    ///
    /// # Errors
    /// What the kernel answers: it may not allow io_uring.
    pub(super) fn new(waiting: Waiting) -> io::Result<Self> {
        let ring = IoUring::new(ENTRIES).map_err(|error| {
            io::Error::new(error.kind(), format!("the kernel makes no io_uring: {error}"))
        })?;
        let (places, idle, ready) = (BTreeMap::new(), Vec::new(), Vec::new());
        Ok(Self { ring, places, idle, ready, waiting })
    }

    /// Looks after a file that can be read at times.
    pub(super) fn watch(&mut self, file: impl AsFd, number: u64) {
        self.begin(Operation::Poll(file.as_fd().as_raw_fd()), number);
    }

    /// Receives from a socket.
    pub(super) fn receive(&mut self, socket: impl AsFd, number: u64) {
        let room = ManuallyDrop::new(vec![0; CHUNK].into_boxed_slice());
        self.begin(Operation::Receive(socket.as_fd().as_raw_fd(), room), number);
    }

    /// Waits for a queue's bell.
    pub(super) fn hear(&mut self, inbox: &Arc<Inbox>, number: u64) {
        match inbox.file() {
            Some(file) => self.watch(file, number),
            None => self.begin(Operation::Futex(Arc::clone(inbox)), number),
        }
    }

    fn begin(&mut self, operation: Operation, number: u64) {
        self.places.insert(number, RingSlot { operation, is_under_way: false, answer: None });
        self.idle.push(number);
    }

    /// Looks after it no more.
    pub(super) fn remove(&mut self, number: u64) {
        self.places.remove(&number);
        self.idle.retain(|idle| *idle != number);
    }

    /// As [`super::poller::Poller::wait`].
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn wait(
        &mut self,
        mut is_due: impl FnMut() -> bool,
        mut sleeps: impl FnMut() -> bool,
    ) -> io::Result<()> {
        self.ready.clear();
        let has_begun = self.restart()?;
        let until_ns = match self.waiting {
            Waiting::Sleep => 0,
            Waiting::Poll => u64::MAX,
            Waiting::PollThenSleep(span_ns) => monotonic_ns() + span_ns,
        };
        if until_ns > 0 && has_begun {
            self.ring.submit()?;
        }
        while until_ns == u64::MAX || until_ns > 0 && monotonic_ns() < until_ns {
            if self.collect()? || is_due() {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        if !sleeps() {
            self.ring.submit()?;
            self.collect()?;
            return Ok(());
        }
        loop {
            match self.ring.submit_and_wait(1) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.collect()? {
                return Ok(());
            }
        }
    }

    /// The nth of what the last wait found.
    pub(super) fn ready(&self, index: usize) -> Option<u64> {
        self.ready.get(index).copied()
    }

    /// What was received for a number: no bytes where the other end is closed. Nothing where
    /// nothing was.
    ///
    /// # Errors
    /// What the kernel answered.
    pub(super) fn received(&mut self, number: u64) -> io::Result<Option<&[u8]>> {
        let Some(place) = self.places.get_mut(&number) else { return Ok(None) };
        let (Operation::Receive(_, bytes), Some(answer)) = (&place.operation, place.answer.take())
        else {
            return Ok(None);
        };
        match usize::try_from(answer) {
            Ok(length) => Ok(Some(&bytes[..length])),
            Err(_) => Err(io::Error::from_raw_os_error(-answer)),
        }
    }

    /// Puts what has ended into the queue again; whether there was any.
    fn restart(&mut self) -> io::Result<bool> {
        let has_begun = !self.idle.is_empty();
        while let Some(number) = self.idle.pop() {
            let Some(place) = self.places.get_mut(&number).filter(|one| !one.is_under_way) else {
                continue;
            };
            let entry = match &mut place.operation {
                Operation::Poll(file) => {
                    opcode::PollAdd::new(Fd(*file), libc::POLLIN as u32).build()
                }
                Operation::Receive(socket, room) => {
                    let length = u32::try_from(room.len()).unwrap_or(u32::MAX);
                    opcode::Recv::new(Fd(*socket), room.as_mut_ptr(), length).build()
                }
                Operation::Futex(inbox) => {
                    let Some(word) = inbox.word() else { continue };
                    let now = u64::from(word.load(Ordering::SeqCst));
                    opcode::FutexWait::new(word.as_ptr(), now, ANY, FUTEX_FLAGS).build()
                }
            };
            place.is_under_way = true;
            let entry = entry.user_data(number);
            // SAFETY: file and room live until the operation has ended or the process does.
            while unsafe { self.ring.submission().push(&entry) }.is_err() {
                self.ring.submit()?;
            }
        }
        Ok(has_begun)
    }

    /// Notes what has ended; whether anything is ready.
    ///
    /// # Errors
    /// When the kernel refuses to wait: it would refuse again and again.
    fn collect(&mut self) -> io::Result<bool> {
        for ended in self.ring.completion() {
            let number = ended.user_data();
            let Some(place) = self.places.get_mut(&number) else { continue };
            let is_wait = !matches!(place.operation, Operation::Receive(..));
            // The word was another before the wait began.
            let is_refused = ended.result() < 0
                && ![libc::EAGAIN, libc::EINTR, libc::ECANCELED].contains(&-ended.result());
            if is_wait && is_refused {
                return Err(io::Error::from_raw_os_error(-ended.result()));
            }
            place.is_under_way = false;
            place.answer = Some(ended.result());
            self.idle.push(number);
            self.ready.push(number);
        }
        Ok(!self.ready.is_empty())
    }
}

/// This kernel gives us a ring that receives, and one that waits for a word where that is wanted.
pub(super) fn requirement(has_word: bool) -> Requirement {
    let what = if has_word { "io_uring with futexes" } else { "io_uring" };
    Requirement::check(what, move |_| {
        let remedy = "write io = \"epoll\", or use a kernel that allows it (io_uring from 5.6, its futexes from 6.7; kernel.io_uring_disabled = 0)";
        let refused = |error: io::Error| (format!("io_uring refuses: {error}"), remedy.to_owned());
        let ring = IoUring::new(2).map_err(refused)?;
        let mut known = Probe::new();
        ring.submitter().register_probe(&mut known).map_err(refused)?;
        let has = |code| known.is_supported(code);
        match has(opcode::Recv::CODE) && (!has_word || has(opcode::FutexWait::CODE)) {
            true => Ok(()),
            false => Err(("this kernel does not have the operation".to_owned(), remedy.to_owned())),
        }
    })
}
