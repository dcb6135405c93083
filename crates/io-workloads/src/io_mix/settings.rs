//! What the parameters ask for, and combinations that cannot be meant.

use contract::{Key, Problem, WordChoice};
use model::{Parameters, format_size};
use workload_parts::nanoseconds::{MS, S};
use workload_parts::storage::limits;
use workload_parts::storage::priority::Priority;

contract::keys! {
    pub(super) PARAMETERS;
    VICTIM: Victim = choice("victim", "random_reader", "What waits for reads"),
    READERS: u64 = count("readers", 1, 64, "1", "How many victims"),
    STREAMS: u64 = count("streams", 0, 64, "2", "How many threads stream beside them"),
    RECORD: u64 = size("record", 512, 16 << 20, "4k", "Bytes of one read"),
    STREAM_DEPTH: u64 = count(
        "stream_depth",
        1,
        64,
        "1",
        "Transfers of each stream in flight, by a thread each",
    ),
    STREAM_RECORD: u64 = size(
        "stream_record",
        512,
        64 << 20,
        "1M",
        "Bytes of one transfer of a stream",
    ),
    SIZE: u64 = size(
        "size",
        4096,
        1 << 40,
        "64M",
        "Bytes of each thread's file or part of the device",
    ),
    WORKING_SET: u64 = size("working_set", 512, 1 << 40, "16M", "Bytes that a working set has"),
    DIRECT: bool = flag("direct", "true", "The random reader bypasses the page cache (O_DIRECT)"),
    STREAM_DIRECT: bool = flag(
        "stream_direct",
        "false",
        "Streams bypass the page cache (O_DIRECT)",
    ),
    STREAM: Flow = choice("stream", "write", "What the streams do"),
    SYNC_EVERY: u64 = count(
        "sync_every",
        0,
        1 << 30,
        "16",
        "Writes of a stream between two flushes; 0 is never",
    ),
    THINK: u64 = duration("think", 0, 60 * S, "1ms", "Pause between two reads, starts or sets"),
    WARMUP: u64 = duration("warmup", 0, 600 * S, "500ms", "Time before anything is recorded"),
    DURATION: u64 = length(10 * MS, 3600 * S, "5s", "Time that is recorded"),
    READER_PRIORITY: str = text(
        "reader_priority",
        "none",
        "I/O priority of victims: none, idle, be:0 to be:7, rt:0 to rt:7",
    ),
    STREAM_PRIORITY: str = text(
        "stream_priority",
        "none",
        "I/O priority of streams, in the same words",
    ),
    DROP_CACHES: CacheDropping = choice(
        "drop_caches",
        "run",
        "Empty the page cache before the run",
    ),
}

/// Bytes of a record's place in a reader's order.
const ENTRY: u64 = 4;
/// Files of an application that starts.
pub(super) const PARTS: u64 = 8;
/// Records that are read from the beginning of each file, as a loader does.
pub(super) const LEADING: u64 = 16;
/// Records that are read somewhere in each file afterwards.
pub(super) const SCATTERED: u64 = 8;

/// What waits for reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Victim {
    RandomReader,
    AppStart,
    WorkingSet,
}

impl WordChoice for Victim {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("random_reader", Self::RandomReader),
        ("app_start", Self::AppStart),
        ("working_set", Self::WorkingSet),
    ];
}

/// What streams do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Write,
    Read,
}

impl WordChoice for Flow {
    const WORDS: &'static [(&'static str, Self)] = &[("write", Self::Write), ("read", Self::Read)];
}

/// When caches are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CacheDropping {
    Run,
    No,
}

impl WordChoice for CacheDropping {
    const WORDS: &'static [(&'static str, Self)] = &[("run", Self::Run), ("no", Self::No)];
}

/// The parameters, read.
#[derive(Debug, Clone)]
pub(super) struct IoMixSettings {
    pub victim: Victim,
    pub readers: u32,
    pub streams: u32,
    pub flow: Flow,
    /// Transfers of each stream in flight.
    pub stream_depth: u32,
    pub record: u64,
    pub stream_record: u64,
    pub size: u64,
    pub working_set: u64,
    pub is_direct: bool,
    pub is_stream_direct: bool,
    pub sync_every: u64,
    pub think_ns: u64,
    pub warmup_ns: u64,
    pub duration_ns: u64,
    pub reader_priority: Priority,
    pub stream_priority: Priority,
    pub drops: bool,
}

impl IoMixSettings {
    /// # Errors
    /// All that cannot be meant.
    pub(super) fn of(parameters: &Parameters) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let small = |key: &Key<u64>| u32::try_from(key.of(parameters)).unwrap_or(u32::MAX);
        let mut priority = |key: &Key<str>| {
            Priority::parse(key.of(parameters)).unwrap_or_else(|why| {
                problems.push(format!("{}: {why}", key.name()).into());
                Priority::INHERITED
            })
        };
        let (reader_priority, stream_priority) =
            (priority(&READER_PRIORITY), priority(&STREAM_PRIORITY));
        let victim = VICTIM.of(parameters);
        let settings = Self {
            victim,
            readers: small(&READERS),
            streams: small(&STREAMS),
            stream_depth: small(&STREAM_DEPTH),
            flow: STREAM.of(parameters),
            record: RECORD.of(parameters),
            stream_record: STREAM_RECORD.of(parameters),
            size: SIZE.of(parameters),
            working_set: WORKING_SET.of(parameters),
            // The others are about files that come from the page cache, once they are there.
            is_direct: DIRECT.of(parameters) && victim == Victim::RandomReader,
            is_stream_direct: STREAM_DIRECT.of(parameters),
            sync_every: SYNC_EVERY.of(parameters),
            think_ns: THINK.of(parameters),
            warmup_ns: WARMUP.of(parameters),
            duration_ns: DURATION.of(parameters),
            reader_priority,
            stream_priority,
            drops: match DROP_CACHES.of(parameters) {
                CacheDropping::Run => true,
                CacheDropping::No => false,
            },
        };
        problems.extend(settings.conflicts());
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }

    /// Combinations that cannot be meant.
    fn conflicts(&self) -> Vec<Problem> {
        let mut found: Vec<String> = Vec::new();
        for (name, record) in [("record", self.record), ("stream_record", self.stream_record)] {
            found.extend(limits::unfit_record(name, record, self.size));
        }
        let readers = u64::from(self.readers);
        // A start has so few that they need no limit.
        let listed = match self.victim {
            Victim::RandomReader => Some(("size", self.size)),
            Victim::WorkingSet => Some(("working_set", self.working_set)),
            Victim::AppStart => None,
        };
        found.extend(listed.and_then(|(name, bytes)| {
            limits::too_many_records(name, self.record, bytes, ENTRY, readers)
        }));
        let stream_threads = u64::from(self.streams).saturating_mul(self.stream_depth.into());
        let buffers = stream_threads
            .saturating_mul(self.stream_record)
            .saturating_add(readers.saturating_mul(self.record));
        let names = "streams, stream_depth, stream_record, readers and record";
        found.extend(limits::too_large_buffers(names, buffers));
        let set = self.working_set;
        let is_set = self.victim == Victim::WorkingSet;
        if is_set && (set > self.size || !set.is_multiple_of(self.record)) {
            found.push(format!(
                "working_set must be a multiple of record and at most size: it is {}, they are {} and {}",
                format_size(set),
                format_size(self.record),
                format_size(self.size)
            ));
        }
        let least = PARTS * LEADING * self.record;
        if self.victim == Victim::AppStart && self.size < least {
            found.push(format!(
                "an application's {PARTS} files need a size of at least {}",
                format_size(least)
            ));
        }
        found.into_iter().map(Problem::from).collect()
    }
}
