//! One thread of the workload: its region, its buffers, and the steps it takes
//! together with the others.

use super::engine::{Mapping, Null, Psync, Transfer, TransferFailure, drive};
use super::operation::{Operation, permutation};
use super::phases::Phases;
use super::ring::Ring;
use super::running_operation::{Book, Check, Tally, Turn};
use super::settings::{Drops, EngineKind, IoSettings};
use model::{Histogram, format_size};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use sys::monotonic_ns;
use workload_parts::crew::Member;
use workload_parts::storage::buffer::Buffer;
use workload_parts::storage::caches;
use workload_parts::storage::data_location::{self, DataLocation, Region};
use workload_parts::storage::pattern::Pattern;
use workload_parts::storage::transfer::lay_out;

/// Of passes that nobody ends early.
static NEVER: AtomicBool = AtomicBool::new(false);

/// What all threads and their load share.
pub(super) struct Shared {
    pub phases: Phases,
    pub stop: AtomicBool,
    /// Pages that were still in memory after the caches had been dropped.
    pub resident: AtomicU64,
    /// Time of single operations, by operation.
    pub latencies: Mutex<Vec<Histogram>>,
}

/// What all threads do, one step after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Untimed: a fresh file, a mapping.
    Ready(usize),
    /// Untimed: the caches have just been dropped.
    Dropped,
    /// The timed operation.
    Operate(usize),
    /// Untimed: what was cut short is completed, and data are compared.
    Settle(usize),
}

/// The steps of a run.
pub(super) fn steps(settings: &IoSettings) -> Vec<Step> {
    let of = |index: usize| {
        let drops = settings.drops == Drops::Phase && index > 0;
        [
            Some(Step::Ready(index)),
            drops.then_some(Step::Dropped),
            Some(Step::Operate(index)),
            Some(Step::Settle(index)),
        ]
    };
    (0..settings.operations.len()).flat_map(of).flatten().collect()
}

/// What one thread did in one operation.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Share {
    pub records: u64,
    pub repeated: u64,
    pub start_ns: u64,
    pub end_ns: u64,
}

enum Engine {
    Psync(Psync),
    Ring(Box<Ring>),
    Mapped(Option<Mapping>),
    Null,
}

pub(super) struct Worker {
    index: u32,
    settings: Arc<IoSettings>,
    shared: Arc<Shared>,
    place: Arc<DataLocation>,
    pub region: Region,
    pattern: Pattern,
    permutation: Vec<u32>,
    book: Book,
    buffers: Vec<Buffer>,
    engine: Engine,
    /// Of the operation that comes next; allocated before it is timed.
    tally: Tally,
    /// One for each operation.
    pub shares: Vec<Share>,
    /// What was wrong with data that were read.
    pub faults: Tally,
    /// Records that were compared as a whole.
    pub audited: u64,
    /// Whether O_DIRECT was in force at the end.
    pub is_direct: bool,
}

impl Worker {
    /// A thread's part; its file is made, nothing is written.
    pub(super) fn new(
        index: u32,
        settings: &Arc<IoSettings>,
        shared: &Arc<Shared>,
        place: &Arc<DataLocation>,
        seed: u64,
    ) -> contract::Result<Self> {
        let IoSettings { size, record, is_direct, .. } = **settings;
        let region = place.region(u64::from(index), size, record, is_direct)?;
        let records = settings.records();
        Ok(Self {
            index,
            settings: Arc::clone(settings),
            shared: Arc::clone(shared),
            place: Arc::clone(place),
            engine: Engine::Psync(Psync { file: Arc::clone(&region.file) }),
            region,
            pattern: Pattern::new(seed, index),
            permutation: permutation(&settings.operations, records, seed, index),
            book: Book::new(records),
            buffers: Vec::new(),
            tally: Tally::default(),
            shares: vec![Share::default(); settings.operations.len()],
            faults: Tally::default(),
            audited: 0,
            is_direct: false,
        })
    }

    /// Writes the whole region before anything is measured.
    pub(super) fn lay_out(&mut self) -> Result<(), String> {
        let IoSettings { record, size, .. } = *self.settings;
        lay_out(&self.region, self.pattern, record, size)
            .map_err(|(place, error)| self.explain(&TransferFailure::at(true, place, error)))?;
        self.book.generation.fill(1);
        Ok(())
    }

    /// A failure in one sentence, with what would help.
    fn explain(&self, failure: &TransferFailure) -> String {
        let whose = if self.place.is_device() { "the device" } else { "the file" };
        let at = failure.offset.map(|offset| format!(" at offset {offset}")).unwrap_or_default();
        let total = format_size(self.settings.size * u64::from(self.settings.threads));
        let help = match failure.error.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => {
                format!("; {total} are needed: free space, or make size or threads smaller")
            }
            Some(libc::EINVAL) if self.settings.is_direct => {
                "; O_DIRECT may ask for a larger alignment: try a record of a multiple of 4 KiB, or direct = false".to_owned()
            }
            _ => String::new(),
        };
        format!(
            "cannot {} {whose} of thread {}{at}: {}{help}",
            failure.attempted, self.index, failure.error
        )
    }

    /// What a writing operation writes its records as.
    fn generation(&self, index: usize) -> u8 {
        let writes = self.settings.operations[..=index].iter().filter(|each| each.is_write());
        writes.count() as u8 + u8::from(self.settings.needs_layout())
    }

    /// For tests, where no load does it.
    #[cfg(test)]
    pub(super) fn reset_stop(&self) {
        self.shared.stop.store(false, Ordering::SeqCst);
    }

    /// Takes one step.
    pub(super) fn take(&mut self, step: Step) -> Result<(), TransferFailure> {
        match step {
            Step::Ready(index) => self.make_ready(index),
            Step::Dropped => {
                let Region { file, start, .. } = &self.region;
                let pages = caches::evict(file, *start, self.length())
                    .map_err(|error| TransferFailure::of("drop the cached pages of", error))?;
                self.shared.resident.fetch_add(pages, Ordering::SeqCst);
                Ok(())
            }
            Step::Operate(index) => self.operate(index),
            Step::Settle(index) => self.settle(index),
        }
    }

    /// Bytes of the region that exist.
    pub(super) fn length(&self) -> u64 {
        if self.place.is_device() {
            return self.settings.size;
        }
        let status = rustix::fs::fstat(&self.region.file);
        status.map_or(0, |status| status.st_size.unsigned_abs().min(self.settings.size))
    }

    fn make_ready(&mut self, index: usize) -> Result<(), TransferFailure> {
        let is_fresh = self.settings.operations[index] == Operation::Write;
        if is_fresh && index > 0 && !self.place.is_device() {
            let IoSettings { size, record, is_direct, .. } = *self.settings;
            self.region =
                self.place.region(u64::from(self.index), size, record, is_direct).map_err(
                    |error| TransferFailure::of("renew", std::io::Error::other(error.one_line())),
                )?;
            self.book = Book::new(self.settings.records());
        }
        let is_file = !self.place.is_device();
        match &mut self.engine {
            Engine::Psync(engine) => engine.file = Arc::clone(&self.region.file),
            Engine::Mapped(mapping) => {
                *mapping = None;
                *mapping = Some(Mapping::new(&self.region, self.settings.size, is_file)?);
            }
            Engine::Ring(_) | Engine::Null => {}
        }
        self.tally = Tally::default();
        Ok(())
    }

    fn operate(&mut self, index: usize) -> Result<(), TransferFailure> {
        let shared = Arc::clone(&self.shared);
        let settings = Arc::clone(&self.settings);
        let operation = settings.operations[index];
        let check = if settings.is_verified { Check::Stamp } else { Check::No };
        let tally = std::mem::take(&mut self.tally);
        let start_ns = monotonic_ns();
        let pass = Pass {
            operation,
            check,
            number: index as u8 + 1,
            first: 0,
            generation: self.generation(index),
            tally,
        };
        let (tally, is_complete) = self.pass(pass, &shared.stop)?;
        if operation.is_write() && self.is_flushed() {
            self.flush()?;
        }
        let end_ns = monotonic_ns();
        if is_complete && settings.is_stonewalled {
            shared.stop.store(true, Ordering::Relaxed);
        }
        let (records, repeated) = (tally.records, tally.repeated);
        self.shares[index] = Share { records, repeated, start_ns, end_ns };
        self.tally = tally;
        Ok(())
    }

    /// Direct writes are on the device, or in its own cache, when they end.
    fn is_flushed(&self) -> bool {
        self.settings.is_synced && !self.settings.is_direct
    }

    fn settle(&mut self, index: usize) -> Result<(), TransferFailure> {
        let tally = std::mem::take(&mut self.tally);
        {
            let mut latencies =
                self.shared.latencies.lock().unwrap_or_else(PoisonError::into_inner);
            latencies[index].merge(&tally.latency);
        }
        let done = u32::try_from(tally.records).unwrap_or(u32::MAX);
        self.note_faults(tally);
        let operation = self.settings.operations[index];
        if operation == Operation::Write && done < self.settings.records() {
            let check = if self.settings.is_verified { Check::Stamp } else { Check::No };
            let generation = self.generation(index);
            let rest = Pass {
                operation,
                check,
                number: 0,
                first: done,
                generation,
                tally: Tally::default(),
            };
            self.pass(rest, &NEVER)?;
        }
        if self.settings.is_audited_after(index) {
            let audit = Pass {
                operation: Operation::Read,
                check: Check::Full,
                number: 0,
                first: 0,
                generation: 0,
                tally: Tally::default(),
            };
            let (tally, _) = self.pass(audit, &NEVER)?;
            self.audited += tally.records;
            self.note_faults(tally);
        }
        Ok(())
    }

    fn note_faults(&mut self, tally: Tally) {
        self.faults.records += tally.records;
        self.faults.faults += tally.faults;
        if self.faults.first_fault.is_none() {
            self.faults.first_fault = tally.first_fault;
        }
    }

    fn flush(&mut self) -> Result<(), TransferFailure> {
        match &mut self.engine {
            Engine::Psync(engine) => engine.flush(),
            Engine::Ring(_) => Psync { file: Arc::clone(&self.region.file) }.flush(),
            Engine::Mapped(Some(mapping)) => mapping.flush(),
            Engine::Mapped(None) | Engine::Null => Ok(()),
        }
        .map_err(|error| TransferFailure::of("flush", error))
    }

    /// Moves records until the end or until all must stop; says whether it was the end.
    fn pass(&mut self, pass: Pass, stop: &AtomicBool) -> Result<(Tally, bool), TransferFailure> {
        let mut turn =
            Turn::new(pass.operation, &self.permutation, self.pattern, &mut self.book, stop);
        turn.record = self.settings.record;
        turn.start = self.region.start;
        turn.check = pass.check;
        turn.generation = pass.generation;
        turn.number = pass.number;
        turn.index = pass.first;
        turn.tally = pass.tally;
        let buffer = &mut self.buffers[0];
        match &mut self.engine {
            Engine::Psync(engine) => drive(engine, &mut turn, buffer),
            Engine::Mapped(Some(mapping)) => drive(mapping, &mut turn, buffer),
            Engine::Mapped(None) | Engine::Null => drive(&mut Null, &mut turn, buffer),
            Engine::Ring(ring) => ring.drive(&mut turn, &mut self.buffers, &self.region.file),
        }?;
        let is_complete = turn.is_complete();
        Ok((turn.tally, is_complete))
    }
}

/// What a pass is to do.
struct Pass {
    operation: Operation,
    check: Check,
    number: u8,
    first: u32,
    generation: u8,
    tally: Tally,
}

impl Member for Worker {
    fn prepare(&mut self) -> Result<(), String> {
        let IoSettings { record, queue_depth, batch, engine, .. } = *self.settings;
        for _ in 0..queue_depth {
            let mut buffer = Buffer::new(record as usize, self.region.memory_alignment)?;
            self.pattern.fill(buffer.words_mut());
            self.buffers.push(buffer);
        }
        match engine {
            EngineKind::Psync => {}
            EngineKind::Mmap => self.engine = Engine::Mapped(None),
            EngineKind::Null => self.engine = Engine::Null,
            EngineKind::IoUring => {
                let ring = Ring::new(queue_depth, batch)
                    .map_err(|(why, help)| format!("{why}; {help}"))?;
                self.engine = Engine::Ring(Box::new(ring));
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), String> {
        let shared = Arc::clone(&self.shared);
        // However this thread ends, the others are not left waiting for it.
        let guard = Abandon(&shared.phases);
        for (number, step) in (1..).zip(steps(&self.settings)) {
            if !shared.phases.wait_for(number) {
                return Ok(());
            }
            self.take(step).map_err(|failure| self.explain(&failure))?;
            shared.phases.arrive();
        }
        std::mem::forget(guard);
        self.is_direct = data_location::is_direct(&self.region.file)
            .map_err(|error| self.explain(&TransferFailure::of("ask for the flags of", error)))?;
        Ok(())
    }
}

struct Abandon<'a>(&'a Phases);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
