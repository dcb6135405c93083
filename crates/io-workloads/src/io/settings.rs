//! What the parameters ask for, and combinations that cannot be meant.

use super::operation::Operation;
use contract::{Key, Problem, WordChoice};
use model::Parameters;
use workload_parts::storage::limits;

contract::keys! {
    pub(super) PARAMETERS;
    OPERATIONS: [String] = words(
        "operations",
        "write rewrite read reread reverse_read random_read random_write",
        "What is done, in this order",
    ),
    RECORD: u64 = size("record", 512, 64 << 20, "64k", "Bytes of one transfer"),
    SIZE: u64 = size(
        "size",
        512,
        1 << 44,
        "256M",
        "Bytes of each thread's file or part of the device",
    ),
    THREADS: u64 = count("threads", 1, 256, "1", "Threads, each with its own data"),
    ENGINE: EngineKind = choice("engine", "psync", "How bytes are moved"),
    QUEUE_DEPTH: u64 = count(
        "queue_depth",
        1,
        1024,
        "1",
        "Transfers of each thread in flight (io_uring)",
    ),
    BATCH: u64 = count(
        "batch",
        1,
        1024,
        "1",
        "Transfers submitted with one call, at most (io_uring)",
    ),
    DIRECT: bool = flag("direct", "true", "Bypass the page cache (O_DIRECT)"),
    FSYNC: bool = flag("fsync", "true", "Buffered writes end with fdatasync, inside their time"),
    STONEWALL: bool = flag(
        "stonewall",
        "true",
        "The first thread that ends an operation stops the others",
    ),
    VERIFY: bool = flag("verify", "true", "Compare what was read with what was written"),
    DROP_CACHES: Drops = choice(
        "drop_caches",
        "run",
        "Empty the page cache before the first operation, before each, or never",
    ),
}

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

impl WordChoice for EngineKind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("psync", Self::Psync),
        ("io_uring", Self::IoUring),
        ("mmap", Self::Mmap),
        ("null", Self::Null),
    ];
}

/// When caches are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drops {
    Run,
    Phase,
    No,
}

impl WordChoice for Drops {
    const WORDS: &'static [(&'static str, Self)] =
        &[("run", Self::Run), ("phase", Self::Phase), ("no", Self::No)];
}

/// The parameters, read.
#[derive(Debug, Clone)]
pub(super) struct IoSettings {
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

impl IoSettings {
    /// # Errors
    /// All that cannot be meant.
    pub(super) fn of(parameters: &Parameters) -> Result<Self, Vec<Problem>> {
        let (operations, mut problems) = operations(OPERATIONS.of(parameters));
        let small = |key: &Key<u64>| u32::try_from(key.of(parameters)).unwrap_or(u32::MAX);
        let settings = Self {
            operations,
            record: RECORD.of(parameters),
            size: SIZE.of(parameters),
            threads: small(&THREADS),
            engine: ENGINE.of(parameters),
            queue_depth: small(&QUEUE_DEPTH),
            batch: small(&BATCH),
            is_direct: DIRECT.of(parameters),
            is_synced: FSYNC.of(parameters),
            is_verified: VERIFY.of(parameters),
            is_stonewalled: STONEWALL.of(parameters),
            drops: DROP_CACHES.of(parameters),
        };
        problems.extend(settings.conflicts());
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }

    /// Combinations that cannot be meant.
    fn conflicts(&self) -> Vec<Problem> {
        let mut found: Vec<String> = Vec::new();
        let (record, size) = (self.record, self.size);
        let threads = u64::from(self.threads);
        found.extend(
            limits::unfit_record("record", record, size)
                .or_else(|| limits::too_many_records("size", record, size, ENTRY, threads)),
        );
        let depth = u64::from(self.queue_depth);
        if depth > 1 && self.engine != EngineKind::IoUring {
            found.push(format!(
                "queue_depth = {depth} needs engine = \"io_uring\": the others have one operation in flight"
            ));
        }
        if u64::from(self.batch) > depth {
            found.push(format!("batch = {} is more than the queue_depth of {depth}", self.batch));
        }
        let buffers = depth.saturating_mul(record).saturating_mul(threads);
        found.extend(limits::too_large_buffers("queue_depth, record and threads", buffers));
        if self.engine == EngineKind::Mmap && self.is_direct {
            found.push(
                "engine = \"mmap\" goes through the page cache: set direct = false".to_owned(),
            );
        }
        if self.engine == EngineKind::Mmap && !size.is_multiple_of(PAGE) {
            found.push(format!("engine = \"mmap\" needs a size that is a multiple of {PAGE}"));
        }
        if self.engine == EngineKind::Null && self.is_verified {
            found.push(
                "engine = \"null\" moves nothing that could be checked: set verify = false"
                    .to_owned(),
            );
        }
        found.into_iter().map(Problem::from).collect()
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

/// The operations that these words name, and what is wrong with the words.
fn operations(words: &[String]) -> (Vec<Operation>, Vec<Problem>) {
    let (mut operations, mut problems) = (Vec::new(), Vec::new());
    let known = Operation::ALL.map(Operation::name).join(", ");
    for (index, word) in words.iter().enumerate() {
        let Some(operation) = Operation::of(word) else {
            problems.push(format!("operations: `{word}` is not one of {known}").into());
            continue;
        };
        if words[..index].contains(word) {
            let why = format!("operations: {word} is there twice; its metrics would be, too");
            problems.push(why.into());
        }
        operations.push(operation);
    }
    (operations, problems)
}
