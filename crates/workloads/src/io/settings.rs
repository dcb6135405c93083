//! What the parameters ask for, and combinations that cannot be meant.

use super::operation::Operation;
use crate::storage::limits;
use model::Parameters;

/// Bytes that each record is remembered with: its place in the random order, and the two of
/// the book.
const ENTRY: u64 = 6;
/// Bytes of a page: what a mapping begins at.
const PAGE: u64 = 4096;

/// How bytes are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineKind {
    Psync,
    IoUring,
    Mmap,
    Null,
}

/// When caches are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drops {
    Run,
    Phase,
    No,
}

/// The parameters, read.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub operations: Vec<Operation>,
    pub record: u64,
    pub size: u64,
    pub threads: u32,
    pub engine: EngineKind,
    pub queue_depth: u32,
    pub batch: u32,
    pub is_direct: bool,
    pub is_synced: bool,
    pub is_verified: bool,
    pub is_stonewalled: bool,
    pub drops: Drops,
}

impl Settings {
    /// Words that are no operation are left out: [`conflicts`] names them.
    pub(super) fn of(parameters: &Parameters) -> Self {
        let small = |name| u32::try_from(parameters.count(name)).unwrap_or(u32::MAX);
        Self {
            operations: parameters
                .words("operations")
                .iter()
                .filter_map(|word| Operation::of(word))
                .collect(),
            record: parameters.size("record"),
            size: parameters.size("size"),
            threads: small("threads"),
            engine: match parameters.text("engine") {
                "io_uring" => EngineKind::IoUring,
                "mmap" => EngineKind::Mmap,
                "null" => EngineKind::Null,
                _ => EngineKind::Psync,
            },
            queue_depth: small("queue_depth"),
            batch: small("batch"),
            is_direct: parameters.flag("direct"),
            is_synced: parameters.flag("fsync"),
            is_verified: parameters.flag("verify"),
            is_stonewalled: parameters.flag("stonewall"),
            drops: match parameters.text("drop_caches") {
                "run" => Drops::Run,
                "phase" => Drops::Phase,
                _ => Drops::No,
            },
        }
    }

    /// Records of one thread.
    pub(super) fn records(&self) -> u32 {
        u32::try_from(self.size / self.record).unwrap_or(u32::MAX)
    }

    /// Whether the data must be laid out before the first operation.
    pub(super) fn needs_layout(&self) -> bool {
        self.operations.first() != Some(&Operation::Write) && self.engine != EngineKind::Null
    }

    /// Whether everything is read and compared once the operation has ended: when the next one
    /// overwrites what was read, and at the end.
    pub(super) fn is_audited_after(&self, index: usize) -> bool {
        let next = self.operations.get(index + 1);
        let is_last_of_its_data = match next {
            None => true,
            Some(next) => !self.operations[index].is_write() && next.is_write(),
        };
        self.is_verified && is_last_of_its_data
    }

    /// Bytes that an invocation moves, untimed passes included.
    pub(super) fn moved_bytes(&self) -> u64 {
        let audits = (0..self.operations.len()).filter(|index| self.is_audited_after(*index));
        let passes = self.operations.len() + audits.count() + usize::from(self.needs_layout());
        self.size.saturating_mul(u64::from(self.threads)).saturating_mul(passes as u64)
    }
}

/// Combinations that cannot be meant.
pub(super) fn conflicts(parameters: &Parameters) -> Vec<String> {
    let mut found = Vec::new();
    let words = parameters.words("operations");
    let known = Operation::ALL.map(Operation::name).join(", ");
    for (index, word) in words.iter().enumerate() {
        if Operation::of(word).is_none() {
            found.push(format!("operations: `{word}` is not one of {known}"));
        } else if words[..index].contains(word) {
            found.push(format!("operations: {word} is there twice; its metrics would be, too"));
        }
    }
    let settings = Settings::of(parameters);
    let (record, size) = (settings.record, settings.size);
    let threads = u64::from(settings.threads);
    found.extend(
        limits::unfit_record("record", record, size)
            .or_else(|| limits::too_many_records("size", record, size, ENTRY, threads)),
    );
    let depth = u64::from(settings.queue_depth);
    if depth > 1 && settings.engine != EngineKind::IoUring {
        found.push(format!(
            "queue_depth = {depth} needs engine = \"io_uring\": the others have one operation in flight"
        ));
    }
    if u64::from(settings.batch) > depth {
        found.push(format!("batch = {} is more than the queue_depth of {depth}", settings.batch));
    }
    let buffers = depth.saturating_mul(record).saturating_mul(threads);
    found.extend(limits::too_large_buffers("queue_depth, record and threads", buffers));
    if settings.engine == EngineKind::Mmap && settings.is_direct {
        found.push("engine = \"mmap\" goes through the page cache: set direct = false".to_owned());
    }
    if settings.engine == EngineKind::Mmap && !size.is_multiple_of(PAGE) {
        found.push(format!("engine = \"mmap\" needs a size that is a multiple of {PAGE}"));
    }
    if settings.engine == EngineKind::Null && settings.is_verified {
        found.push(
            "engine = \"null\" moves nothing that could be checked: set verify = false".to_owned(),
        );
    }
    found
}
