//! A stream of writes or reads that keeps the device's queue full.

use super::phase::{MEASURING, STOPPING, Shared};
use super::settings::{Flow, IoMixSettings};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use workload_parts::storage::buffer::Buffer;
use workload_parts::storage::data_location::Region;
use workload_parts::storage::pattern::Pattern;
use workload_parts::storage::transfer::{read_all, write_all};

pub(super) struct Stream {
    settings: Arc<IoMixSettings>,
    shared: Arc<Shared>,
    pub region: Region,
    pattern: Pattern,
    buffer: Option<Buffer>,
    /// Where the stream's next transfer goes: its threads share it.
    cursor: Arc<AtomicU64>,
    /// Which stream it is a thread of.
    pub number: u32,
    pub bytes: u64,
    /// Reads that were not what had been written.
    pub faults: u64,
}

impl Stream {
    pub(super) fn new(
        [index, number]: [u32; 2],
        cursor: &Arc<AtomicU64>,
        settings: &Arc<IoMixSettings>,
        shared: &Arc<Shared>,
        region: Region,
        seed: u64,
    ) -> Self {
        Self {
            settings: Arc::clone(settings),
            shared: Arc::clone(shared),
            region,
            pattern: Pattern::new(seed, index),
            buffer: None,
            cursor: Arc::clone(cursor),
            number,
            bytes: 0,
            faults: 0,
        }
    }

    pub(super) fn pattern(&self) -> Pattern {
        self.pattern
    }

    pub(super) fn prepare(&mut self) -> Result<(), String> {
        let bytes = self.settings.stream_record as usize;
        let mut buffer = Buffer::new(bytes, self.region.memory_alignment)?;
        self.pattern.fill(buffer.words_mut());
        self.buffer = Some(buffer);
        self.settings.stream_priority.take_on()
    }

    pub(super) fn run(&mut self) -> Result<(), String> {
        let mut buffer = self.buffer.take().ok_or("a stream has no buffer")?;
        let (size, record) = (self.settings.size, self.settings.stream_record);
        let mut unsynced = 0;
        while self.shared.phase() != STOPPING {
            let phase = self.shared.phase();
            let offset = self.cursor.fetch_add(record, Ordering::Relaxed) % size;
            match self.settings.flow {
                Flow::Write => self.write(&mut buffer, offset, &mut unsynced)?,
                Flow::Read => {
                    Pattern::poison(buffer.words_mut());
                    read_all(&self.region.file, buffer.bytes_mut(), self.region.start + offset)
                        .map_err(|error| format!("cannot read at offset {offset}: {error}"))?;
                    let is_right = self.pattern.agrees(buffer.words_mut(), offset, 1);
                    self.faults += u64::from(!is_right);
                }
            }
            if phase == MEASURING && self.shared.phase() == MEASURING {
                self.bytes += record;
            }
        }
        self.settings.stream_priority.check()
    }

    fn write(&self, buffer: &mut Buffer, offset: u64, unsynced: &mut u64) -> Result<(), String> {
        // No two blocks are alike, so that no device can save itself the work.
        self.pattern.stamp(buffer.words_mut(), offset, 2);
        write_all(&self.region.file, buffer.bytes(), self.region.start + offset)
            .map_err(|error| format!("cannot write at offset {offset}: {error}"))?;
        *unsynced += 1;
        if *unsynced == self.settings.sync_every {
            rustix::fs::fdatasync(&self.region.file)
                .map_err(|error| format!("cannot flush: {error}"))?;
            *unsynced = 0;
        }
        Ok(())
    }
}
