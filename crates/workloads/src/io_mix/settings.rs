//! What the parameters ask for, and combinations that cannot be meant.

use crate::storage::limits;
use crate::storage::priority::Priority;
use model::{Parameters, format_size};

/// Bytes of a record's place in a reader's order.
const ENTRY: u64 = 4;
/// Files of an application that starts.
pub(super) const PARTS: u64 = 8;
/// Records that are read from the beginning of each file, as a loader does.
pub(super) const LEADING: u64 = 16;
/// Records that are read somewhere in each file afterwards.
pub(super) const SCATTERED: u64 = 8;

/// Who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Victim {
    RandomReader,
    AppStart,
    WorkingSet,
}

/// What streams do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Write,
    Read,
}

/// The parameters, read.
#[derive(Debug, Clone)]
pub(super) struct Settings {
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

impl Settings {
    /// Priorities that are none are taken for `none`: [`conflicts`] names them.
    pub(super) fn of(parameters: &Parameters) -> Self {
        let small = |name| u32::try_from(parameters.count(name)).unwrap_or(u32::MAX);
        let priority = |name| Priority::parse(parameters.text(name)).unwrap_or(Priority::INHERITED);
        let victim = match parameters.text("victim") {
            "app_start" => Victim::AppStart,
            "working_set" => Victim::WorkingSet,
            _ => Victim::RandomReader,
        };
        Self {
            victim,
            readers: small("readers"),
            streams: small("streams"),
            stream_depth: small("stream_depth"),
            flow: match parameters.text("stream") {
                "read" => Flow::Read,
                _ => Flow::Write,
            },
            record: parameters.size("record"),
            stream_record: parameters.size("stream_record"),
            size: parameters.size("size"),
            working_set: parameters.size("working_set"),
            // The others are about files that come from the page cache, once they are there.
            is_direct: parameters.flag("direct") && victim == Victim::RandomReader,
            is_stream_direct: parameters.flag("stream_direct"),
            sync_every: parameters.count("sync_every"),
            think_ns: parameters.duration_ns("think"),
            warmup_ns: parameters.duration_ns("warmup"),
            duration_ns: parameters.duration_ns("duration"),
            reader_priority: priority("reader_priority"),
            stream_priority: priority("stream_priority"),
            drops: parameters.text("drop_caches") == "run",
        }
    }
}

/// Combinations that cannot be meant.
pub(super) fn conflicts(parameters: &Parameters) -> Vec<String> {
    let mut found = Vec::new();
    for name in ["reader_priority", "stream_priority"] {
        if let Err(why) = Priority::parse(parameters.text(name)) {
            found.push(format!("{name}: {why}"));
        }
    }
    let settings = Settings::of(parameters);
    for (name, record) in [("record", settings.record), ("stream_record", settings.stream_record)] {
        found.extend(limits::unfit_record(name, record, settings.size));
    }
    let readers = u64::from(settings.readers);
    // A start has so few that they need no limit.
    let listed = match settings.victim {
        Victim::RandomReader => Some(("size", settings.size)),
        Victim::WorkingSet => Some(("working_set", settings.working_set)),
        Victim::AppStart => None,
    };
    found.extend(listed.and_then(|(name, bytes)| {
        limits::too_many_records(name, settings.record, bytes, ENTRY, readers)
    }));
    let stream_threads = u64::from(settings.streams).saturating_mul(settings.stream_depth.into());
    let buffers = stream_threads
        .saturating_mul(settings.stream_record)
        .saturating_add(readers.saturating_mul(settings.record));
    let names = "streams, stream_depth, stream_record, readers and record";
    found.extend(limits::too_large_buffers(names, buffers));
    let set = settings.working_set;
    let is_set = settings.victim == Victim::WorkingSet;
    if is_set && (set > settings.size || !set.is_multiple_of(settings.record)) {
        found.push(format!(
            "working_set must be a multiple of record and at most size: it is {}, they are {} and {}",
            format_size(set),
            format_size(settings.record),
            format_size(settings.size)
        ));
    }
    let least = PARTS * LEADING * settings.record;
    if settings.victim == Victim::AppStart && settings.size < least {
        found.push(format!(
            "an application's {PARTS} files need a size of at least {}",
            format_size(least)
        ));
    }
    found
}
