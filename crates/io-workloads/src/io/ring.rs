//! The engine with a queue: io_uring, set up as fio sets it up.

use super::engine::TransferFailure;
use super::running_operation::Turn;
use contract::Requirement;
use io_uring::{IoUring, opcode, types::Fd};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use sys::monotonic_ns;
use workload_parts::storage::buffer::Buffer;
use workload_parts::storage::transfer::{read_all, write_all};

/// A ring and what is in flight.
pub(super) struct Ring {
    ring: IoUring,
    /// Buffers that nothing is in flight for.
    free: Vec<usize>,
    /// Buffers that hold what is to be written next.
    ready: Vec<usize>,
    /// Buffers that are about to be submitted.
    fresh: Vec<usize>,
    flights: Vec<Flight>,
    in_flight: usize,
    /// How many are submitted with one call, at most.
    batch: usize,
}

/// What a buffer is used for.
#[derive(Debug, Clone, Copy, Default)]
struct Flight {
    record: u32,
    begin_ns: u64,
}

impl Ring {
    /// A ring for so many operations at once, of which up to `batch` share a call.
    ///
    /// # Errors
    /// Why this kernel gives none, and what would help.
    pub(super) fn new(depth: u32, batch: u32) -> Result<Self, (String, String)> {
        let mut ring = set_up(depth).map_err(|error| refusal(&error))?;
        probe(&mut ring).map_err(|error| refusal(&error))?;
        let depth = depth as usize;
        Ok(Self {
            ring,
            free: (0..depth).collect(),
            ready: Vec::with_capacity(depth),
            fresh: Vec::with_capacity(depth),
            flights: vec![Flight::default(); depth],
            in_flight: 0,
            batch: batch.max(1) as usize,
        })
    }

    /// Runs a pass with as many operations in flight as there are buffers. An operation's time
    /// runs from just before the call that submits it until it is seen to have ended.
    pub(super) fn drive(
        &mut self,
        turn: &mut Turn<'_>,
        buffers: &mut [Buffer],
        file: &OwnedFd,
    ) -> Result<(), TransferFailure> {
        let outcome = self.fly(turn, buffers, file);
        if outcome.is_err() {
            // The kernel still writes into buffers that would otherwise be given back.
            self.drain();
        }
        outcome
    }

    fn fly(
        &mut self,
        turn: &mut Turn<'_>,
        buffers: &mut [Buffer],
        file: &OwnedFd,
    ) -> Result<(), TransferFailure> {
        loop {
            self.make_ready(turn, buffers);
            self.queue(turn, buffers, file)?;
            if self.in_flight == 0 && self.fresh.is_empty() {
                return Ok(());
            }
            self.launch();
            wait(&self.ring, 1)
                .map_err(|error| TransferFailure::of("submit to io_uring", error))?;
            let end_ns = monotonic_ns();
            self.reap(turn, buffers, file, end_ns)?;
        }
    }

    /// What is queued begins.
    #[inline]
    fn launch(&mut self) {
        let begin_ns = monotonic_ns();
        for slot in self.fresh.drain(..) {
            self.flights[slot].begin_ns = begin_ns;
            self.in_flight += 1;
        }
    }

    /// Prepares free buffers for the next records, while there are any.
    #[inline]
    fn make_ready(&mut self, turn: &mut Turn<'_>, buffers: &mut [Buffer]) {
        while let Some(slot) = self.free.pop() {
            let Some(record) = turn.next() else {
                self.free.push(slot);
                break;
            };
            turn.before(record, buffers[slot].words_mut());
            self.flights[slot].record = record;
            self.ready.push(slot);
        }
    }

    /// Submits whole batches of what is ready; the last one goes with the call that waits. No
    /// buffer is prepared between two of them: that would be in the time of the first.
    #[inline]
    fn queue(
        &mut self,
        turn: &Turn<'_>,
        buffers: &mut [Buffer],
        file: &OwnedFd,
    ) -> Result<(), TransferFailure> {
        for position in 0..self.ready.len() {
            let slot = self.ready[position];
            if self.fresh.len() == self.batch {
                self.launch();
                wait(&self.ring, 0)
                    .map_err(|error| TransferFailure::of("submit to io_uring", error))?;
            }
            let bytes = buffers[slot].bytes_mut();
            let (address, length) = (bytes.as_mut_ptr(), bytes.len() as u32);
            let place = turn.place(self.flights[slot].record);
            let fd = Fd(file.as_raw_fd());
            let entry = if turn.is_write {
                opcode::Write::new(fd, address, length).offset(place).build()
            } else {
                opcode::Read::new(fd, address, length).offset(place).build()
            };
            // SAFETY: the buffer is not touched and lives until its completion was seen: this
            // ring drains before it returns.
            unsafe { self.ring.submission().push(&entry.user_data(slot as u64)) }.map_err(
                |error| TransferFailure::of("queue for io_uring", io::Error::other(error)),
            )?;
            self.fresh.push(slot);
        }
        self.ready.clear();
        Ok(())
    }

    #[inline]
    fn reap(
        &mut self,
        turn: &mut Turn<'_>,
        buffers: &mut [Buffer],
        file: &OwnedFd,
        end_ns: u64,
    ) -> Result<(), TransferFailure> {
        for completion in self.ring.completion() {
            let slot = usize::try_from(completion.user_data()).unwrap_or(usize::MAX);
            let Flight { record, begin_ns } = self.flights[slot];
            let buffer = &mut buffers[slot];
            self.in_flight -= 1;
            self.free.push(slot);
            let place = turn.place(record);
            let moved = finish(completion.result(), turn.is_write, file, buffer, place);
            moved.map_err(|error| TransferFailure::at(turn.is_write, place, error))?;
            turn.after(record, buffer.words_mut(), end_ns.saturating_sub(begin_ns));
        }
        Ok(())
    }

    /// Waits for everything that is in flight and forgets it.
    fn drain(&mut self) {
        self.in_flight += self.fresh.len();
        self.fresh.clear();
        self.free.append(&mut self.ready);
        while self.in_flight > 0 {
            // Without an answer the kernel may still use the buffers: there is nothing but to wait.
            if wait(&self.ring, 1).is_err() {
                std::thread::yield_now();
            }
            for completion in self.ring.completion() {
                self.in_flight -= 1;
                self.free.push(usize::try_from(completion.user_data()).unwrap_or(0));
            }
        }
        self.free.sort_unstable();
        self.free.dedup();
    }
}

/// A ring whose completions wait for the thread to ask, which spares it interruptions; kernels
/// before 6.1 do not know that and get a plain one. fio 3.33 does the same (seen with strace(1)).
fn set_up(depth: u32) -> io::Result<IoUring> {
    let asked = IoUring::builder()
        .setup_coop_taskrun()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(depth);
    match asked {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => IoUring::new(depth),
        other => other,
    }
}

/// What a completion says; a transfer that was cut short is finished by system calls.
#[inline]
fn finish(
    result: i32,
    is_write: bool,
    file: &OwnedFd,
    buffer: &mut Buffer,
    place: u64,
) -> io::Result<()> {
    let Ok(count) = usize::try_from(result) else {
        return Err(io::Error::from_raw_os_error(-result));
    };
    if count == buffer.bytes().len() {
        return Ok(());
    }
    let rest = place + count as u64;
    if is_write {
        write_all(file, &buffer.bytes()[count..], rest)
    } else {
        read_all(file, &mut buffer.bytes_mut()[count..], rest)
    }
}

/// Submits what is queued and waits for at least so many completions.
#[inline]
fn wait(ring: &IoUring, count: usize) -> io::Result<()> {
    loop {
        match ring.submit_and_wait(count) {
            Ok(_) => return Ok(()),
            Err(error) => match error.raw_os_error() {
                Some(libc::EINTR) => {}
                // Too much is in flight: what has completed makes room.
                Some(libc::EAGAIN | libc::EBUSY) => return Ok(()),
                _ => return Err(error),
            },
        }
    }
}

/// An operation that does nothing: a ring that was set up may still refuse to be used.
fn probe(ring: &mut IoUring) -> io::Result<()> {
    let nothing = opcode::Nop::new().build();
    // SAFETY: it names no memory.
    unsafe { ring.submission().push(&nothing) }.map_err(io::Error::other)?;
    wait(ring, 1)?;
    let answer = ring.completion().next().map(|completion| completion.result());
    match answer {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::Error::other("it did not complete an empty operation")),
    }
}

fn refusal(error: &io::Error) -> (String, String) {
    let remedy = match error.raw_os_error() {
        Some(libc::EPERM) => {
            "set kernel.io_uring_disabled to 0 (sysctl), leave the seccomp filter of a container, or use engine = \"psync\""
        }
        Some(libc::ENOSYS) => {
            "use a kernel from 5.6 with CONFIG_IO_URING (kernel.io_uring_disabled does not help), or engine = \"psync\""
        }
        Some(libc::ENOMEM) => {
            "raise the limit of locked memory (ulimit -l), which kernels before 5.12 count the ring against, or use a smaller queue_depth"
        }
        _ => "use engine = \"psync\"",
    };
    (format!("io_uring refuses: {error}"), remedy.to_owned())
}

/// This kernel lets us use io_uring.
pub(super) fn requirement() -> Requirement {
    Requirement::check("io_uring", |_| Ring::new(1, 1).map(drop))
}
