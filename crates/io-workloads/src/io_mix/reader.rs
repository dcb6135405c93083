//! A victim: reads that somebody waits for, in rounds with a pause between.

use super::phase::{MEASURING, STOPPING, Shared};
use super::settings::{IoMixSettings, LEADING, PARTS, SCATTERED, Victim};
use model::Histogram;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use sys::monotonic_ns;
use workload_parts::instant::sleep_for;
use workload_parts::storage::buffer::Buffer;
use workload_parts::storage::caches;
use workload_parts::storage::data_location::Region;
use workload_parts::storage::pattern::{Fault, Pattern};
use workload_parts::storage::transfer::read_all;

/// Rounds whose time is kept; more of them do not fit into any run.
const MOST_ROUNDS: usize = 1 << 20;

pub(super) struct Reader {
    settings: Arc<IoMixSettings>,
    shared: Arc<Shared>,
    pub region: Region,
    pattern: Pattern,
    buffer: Option<Buffer>,
    /// Records in the order in which they are read, again and again.
    records: Vec<u32>,
    /// How many of them are one round.
    round: usize,
    pub latency: Histogram,
    /// Time of each whole round.
    pub rounds_ns: Vec<f64>,
    pub bytes: u64,
    pub faults: u64,
    pub first_fault: Option<Fault>,
    /// Pages that were in memory at the beginning of a round that must be cold.
    pub warm_pages: u64,
}

impl Reader {
    pub(super) fn new(
        index: u32,
        settings: &Arc<IoMixSettings>,
        shared: &Arc<Shared>,
        region: Region,
        seed: u64,
    ) -> Self {
        let records = records(settings, seed, index);
        let round = if settings.victim == Victim::RandomReader { 1 } else { records.len() };
        Self {
            settings: Arc::clone(settings),
            shared: Arc::clone(shared),
            region,
            pattern: Pattern::new(seed, index),
            buffer: None,
            records,
            round,
            latency: Histogram::new(),
            rounds_ns: Vec::new(),
            bytes: 0,
            faults: 0,
            first_fault: None,
            warm_pages: 0,
        }
    }

    pub(super) fn pattern(&self) -> Pattern {
        self.pattern
    }

    pub(super) fn prepare(&mut self) -> Result<(), String> {
        let bytes = self.settings.record as usize;
        self.buffer = Some(Buffer::new(bytes, self.region.memory_alignment)?);
        if self.settings.victim != Victim::RandomReader {
            let shortest_ns = self.settings.think_ns.max(10_000);
            let rounds = (self.settings.duration_ns / shortest_ns) as usize + 2;
            self.rounds_ns.reserve_exact(rounds.min(MOST_ROUNDS));
        }
        self.settings.reader_priority.take_on()
    }

    pub(super) fn run(&mut self) -> Result<(), String> {
        let mut buffer = self.buffer.take().ok_or("a reader has no buffer")?;
        let mut first = 0;
        while self.shared.phase() != STOPPING {
            if self.settings.victim != Victim::RandomReader {
                self.forget()?;
            }
            let phase = self.shared.phase();
            let begin_ns = monotonic_ns();
            for position in first..first + self.round {
                self.read(self.records[position], &mut buffer)?;
                if self.shared.phase() == STOPPING {
                    break;
                }
            }
            let end_ns = monotonic_ns();
            // A round counts if it lies within the window as a whole.
            let is_whole = phase == MEASURING && self.shared.phase() == MEASURING;
            let is_kept = self.rounds_ns.len() < self.rounds_ns.capacity();
            if is_whole && is_kept {
                self.rounds_ns.push((end_ns - begin_ns) as f64);
            }
            first = (first + self.round) % self.records.len();
            if self.settings.think_ns > 0 {
                sleep_for(self.settings.think_ns);
            }
        }
        self.settings.reader_priority.check()
    }

    #[inline]
    fn read(&mut self, record: u32, buffer: &mut Buffer) -> Result<(), String> {
        let offset = u64::from(record) * self.settings.record;
        buffer.words_mut()[0] = 0;
        let phase = self.shared.phase();
        let begin_ns = monotonic_ns();
        let read = read_all(&self.region.file, buffer.bytes_mut(), self.region.start + offset);
        let end_ns = monotonic_ns();
        read.map_err(|error| format!("cannot read at offset {offset}: {error}"))?;
        if !self.pattern.agrees(buffer.words_mut(), offset, 1) {
            self.fault(offset, buffer);
        }
        if phase == MEASURING && self.shared.phase() == MEASURING {
            self.latency.record(end_ns - begin_ns);
            self.bytes += self.settings.record;
        }
        Ok(())
    }

    #[cold]
    fn fault(&mut self, offset: u64, buffer: &mut Buffer) {
        self.faults += 1;
        if self.first_fault.is_none() {
            self.first_fault = self.pattern.check(buffer.words_mut(), offset, 1);
        }
    }

    /// Makes the pages of this round cold, untimed, and counts those that stayed.
    fn forget(&mut self) -> Result<(), String> {
        let length = match self.settings.victim {
            Victim::WorkingSet => self.settings.working_set,
            _ => self.settings.size,
        };
        let pages = caches::evict(&self.region.file, self.region.start, length)
            .map_err(|error| format!("cannot drop the cached pages: {error}"))?;
        self.warm_pages += pages;
        Ok(())
    }
}

/// The order of one victim's reads.
fn records(settings: &IoMixSettings, seed: u64, index: u32) -> Vec<u32> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(index));
    let number = |record: u64| u32::try_from(record).unwrap_or(u32::MAX);
    let count = settings.size / settings.record;
    match settings.victim {
        Victim::RandomReader => {
            let mut order: Vec<u32> = (0..number(count)).collect();
            for last in (1..order.len()).rev() {
                order.swap(last, random.random_range(0..=last));
            }
            order
        }
        Victim::AppStart => {
            let part = count / PARTS;
            let mut order = Vec::new();
            for first in (0..PARTS).map(|nth| nth * part) {
                order.extend((first..first + LEADING).map(number));
                let somewhere = |_| number(first + random.random_range(0..part));
                order.extend((0..SCATTERED).map(somewhere));
            }
            order
        }
        Victim::WorkingSet => (0..number(settings.working_set / settings.record)).collect(),
    }
}
