//! One of the processes that share a device: it joins its group, keeps its transfers in flight
//! and counts what was moved where its parent can see it.

use super::settings::IoShareSettings;
use contract::{IoGroup, LaunchSpec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::{Machine, monotonic_ns};
use workload_parts::shared_counters::SharedCounters;
use workload_parts::storage::buffer::Buffer;
use workload_parts::storage::data_location::Region;
use workload_parts::storage::pattern::Pattern;
use workload_parts::storage::transfer::{read_all, write_all};

pub(super) const WARMING: u64 = 0;
pub(super) const MEASURING: u64 = 1;
pub(super) const STOPPING: u64 = 2;

/// What a process tells its parent, in counters of its own.
const COUNTERS: usize = 3;

/// What all processes see.
pub(super) struct Board(SharedCounters);

/// What one process has moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    pub bytes: u64,
    /// Reads that were not what had been written.
    pub faults: u64,
    /// The longest transfer of those that overlap the window.
    pub longest_ns: u64,
}

impl Board {
    pub(super) fn new(processes: u32) -> contract::Result<Self> {
        Ok(Self(SharedCounters::new(1 + COUNTERS * processes as usize)?))
    }

    pub(super) fn set_phase(&self, phase: u64) {
        self.0[0].store(phase, Ordering::SeqCst);
    }

    #[inline]
    fn phase(&self) -> u64 {
        self.0[0].load(Ordering::Relaxed)
    }

    fn counters(&self, process: u32) -> &[AtomicU64] {
        let first = 1 + COUNTERS * process as usize;
        &self.0[first..first + COUNTERS]
    }

    pub(super) fn tally(&self, process: u32) -> Tally {
        let counter = |nth: usize| self.counters(process)[nth].load(Ordering::SeqCst);
        Tally { bytes: counter(0), faults: counter(1), longest_ns: counter(2) }
    }
}

/// What a process is made from.
pub(super) struct Sharer<'s> {
    pub number: u32,
    pub settings: &'s IoShareSettings,
    pub machine: &'s Machine,
    pub launch: &'s LaunchSpec,
    pub board: &'s Board,
    pub region: &'s Region,
}

impl Sharer<'_> {
    pub(super) fn pattern(&self) -> Pattern {
        Pattern::new(self.launch.seed, self.number)
    }

    fn group(&self) -> Option<&IoGroup> {
        self.launch.io_groups.get(self.number as usize)
    }

    /// Lives in the forked process: `start` waits for the others.
    ///
    /// # Errors
    /// What failed, for the parent to tell.
    pub(super) fn live(&self, start: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if let Some(group) = self.group() {
            let own = std::process::id().cast_signed();
            group.group.add(self.machine, own).map_err(io::Error::other)?;
        }
        let cursor = AtomicU64::new(0);
        let mut threads = Vec::new();
        for _ in 0..self.settings.depth {
            let bytes = self.settings.record as usize;
            let mut buffer =
                Buffer::new(bytes, self.region.memory_alignment).map_err(io::Error::other)?;
            self.pattern().fill(buffer.words_mut());
            threads.push(buffer);
        }
        start()?;
        std::thread::scope(|scope| {
            let mut running = Vec::new();
            for (thread, buffer) in (0..).zip(threads) {
                let cursor = &cursor;
                let life = move || self.transfer(thread, cursor, buffer);
                running.push(std::thread::Builder::new().spawn_scoped(scope, life)?);
            }
            running.into_iter().try_for_each(|thread| {
                thread.join().map_err(|_| io::Error::other("a thread panicked"))?
            })
        })?;
        self.check_group()
    }

    /// It was in its group, and the group had its weight, until the end.
    fn check_group(&self) -> io::Result<()> {
        let Some(IoGroup { group, controller, weight }) = self.group() else { return Ok(()) };
        let members = group.members(self.machine).map_err(io::Error::other)?;
        let own = std::process::id().cast_signed();
        if !members.contains(&own) {
            return Err(io::Error::other(format!("it was moved out of its group {}", group.path)));
        }
        let actual = group.bfq_weight(self.machine, *controller).map_err(io::Error::other)?;
        if actual == Some(*weight) {
            return Ok(());
        }
        let path = &group.path;
        Err(io::Error::other(format!("{path} should weigh {weight} and weighs {actual:?}")))
    }

    fn transfer(&self, thread: u32, cursor: &AtomicU64, mut buffer: Buffer) -> io::Result<()> {
        let IoShareSettings { record, size, operation, .. } = *self.settings;
        let priority = self.settings.priorities[self.number as usize];
        self.launch.enter_task()?;
        priority.take_on().map_err(io::Error::other)?;
        let mut random = ChaCha8Rng::seed_from_u64(self.launch.seed);
        random.set_stream(u64::from(self.number) << 32 | u64::from(thread));
        let pattern = self.pattern();
        let (mut bytes, mut faults, mut longest_ns) = (0, 0, 0);
        while self.board.phase() != STOPPING {
            let offset = if operation.is_random {
                random.random_range(0..size / record) * record
            } else {
                cursor.fetch_add(record, Ordering::Relaxed) % size
            };
            let place = self.region.start + offset;
            if operation.is_write {
                // No two blocks are alike, so that no device can save itself the work.
                pattern.stamp(buffer.words_mut(), offset, 2);
            } else {
                Pattern::poison(buffer.words_mut());
            }
            let phase = self.board.phase();
            let begin_ns = monotonic_ns();
            let moved = if operation.is_write {
                write_all(&self.region.file, buffer.bytes(), place)
            } else {
                read_all(&self.region.file, buffer.bytes_mut(), place)
            };
            let took_ns = monotonic_ns() - begin_ns;
            let verb = if operation.is_write { "write" } else { "read" };
            moved.map_err(|error| {
                io::Error::other(format!("cannot {verb} at offset {offset}: {error}"))
            })?;
            let is_right = operation.is_write || pattern.agrees(buffer.words_mut(), offset, 1);
            faults += u64::from(!is_right);
            let now = self.board.phase();
            if phase == MEASURING || now == MEASURING {
                longest_ns = took_ns.max(longest_ns);
            }
            if phase == MEASURING && now == MEASURING {
                bytes += record;
            }
        }
        let counters = self.board.counters(self.number);
        counters[0].fetch_add(bytes, Ordering::SeqCst);
        counters[1].fetch_add(faults, Ordering::SeqCst);
        counters[2].fetch_max(longest_ns, Ordering::SeqCst);
        priority.check().map_err(io::Error::other)
    }
}
