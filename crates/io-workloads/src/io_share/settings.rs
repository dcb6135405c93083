//! What the parameters ask for, and combinations that cannot be meant.

use contract::{Key, Problem, WordChoice};
use model::Parameters;
use workload_parts::nanoseconds::{MS, S};
use workload_parts::storage::limits;
use workload_parts::storage::priority::Priority;

contract::keys! {
    pub(super) PARAMETERS;
    PROCESSES: u64 = count("processes", 2, 64, "2", "How many share the device"),
    WEIGHTS: str = text(
        "weights",
        "none",
        "Weight of each process's group, 1 to 1000: 100,800; or none, and no groups",
    ),
    PRIORITIES: str = text(
        "priorities",
        "none",
        "I/O priority of each process: be:0,be:7 (none, idle, be:0 to be:7, rt:0 to rt:7)",
    ),
    OPERATION: Operation = choice("operation", "random_read", "What each does"),
    RECORD: u64 = size("record", 512, 64 << 20, "64k", "Bytes of one transfer"),
    DEPTH: u64 = count(
        "depth",
        1,
        64,
        "4",
        "Transfers of each process in flight, by a thread each",
    ),
    SIZE: u64 = size(
        "size",
        4096,
        1 << 40,
        "64M",
        "Bytes of each process's file or part of the device",
    ),
    WARMUP: u64 = duration("warmup", 0, 600 * S, "500ms", "Time before anything is counted"),
    DURATION: u64 = length(10 * MS, 3600 * S, "5s", "Time that is counted"),
}

/// What every process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Operation {
    pub is_write: bool,
    pub is_random: bool,
}

impl WordChoice for Operation {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("read", Self { is_write: false, is_random: false }),
        ("random_read", Self { is_write: false, is_random: true }),
        ("write", Self { is_write: true, is_random: false }),
        ("random_write", Self { is_write: true, is_random: true }),
    ];
}

/// The parameters, read.
#[derive(Debug, Clone)]
pub(super) struct IoShareSettings {
    pub processes: u32,
    /// Transfers of each in flight, by a thread each.
    pub depth: u32,
    pub operation: Operation,
    pub record: u64,
    pub size: u64,
    /// Of each process's group; empty where they have none.
    pub weights: Vec<u64>,
    /// One for each process.
    pub priorities: Vec<Priority>,
    pub warmup_ns: u64,
    pub duration_ns: u64,
}

/// BFQ_MIN_WEIGHT and BFQ_MAX_WEIGHT (block/bfq-iosched.h).
const WEIGHT_LIMITS: std::ops::RangeInclusive<u64> = 1..=1000;

/// `none`, or a list with commas.
fn words(text: &str) -> Vec<&str> {
    if text == "none" { Vec::new() } else { text.split(',').map(str::trim).collect() }
}

/// # Errors
/// In one sentence.
fn weights(text: &str) -> Result<Vec<u64>, String> {
    let weight = |word: &str| {
        let weight = word.parse().map_err(|_| format!("weights: `{word}` is no whole number"))?;
        if WEIGHT_LIMITS.contains(&weight) {
            return Ok(weight);
        }
        Err(format!(
            "weights: {weight} is outside {} to {}",
            WEIGHT_LIMITS.start(),
            WEIGHT_LIMITS.end()
        ))
    };
    words(text).into_iter().map(weight).collect()
}

/// # Errors
/// In one sentence.
fn priorities(text: &str) -> Result<Vec<Priority>, String> {
    let words = words(text);
    let priorities = words.into_iter().map(Priority::parse).collect::<Result<Vec<_>, _>>();
    priorities.map_err(|why| format!("priorities: {why}"))
}

impl IoShareSettings {
    /// # Errors
    /// All that cannot be meant.
    pub(super) fn of(parameters: &Parameters) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let small = |key: &Key<u64>| u32::try_from(key.of(parameters)).unwrap_or(u32::MAX);
        let processes = small(&PROCESSES);
        let weights = one_for_each(&WEIGHTS, weights(WEIGHTS.of(parameters)), processes)
            .map_err(|why| problems.push(why))
            .unwrap_or_default();
        let mut priorities =
            one_for_each(&PRIORITIES, priorities(PRIORITIES.of(parameters)), processes)
                .map_err(|why| problems.push(why))
                .unwrap_or_default();
        priorities.resize(processes as usize, Priority::INHERITED);
        let settings = Self {
            processes,
            depth: small(&DEPTH),
            operation: OPERATION.of(parameters),
            record: RECORD.of(parameters),
            size: SIZE.of(parameters),
            weights,
            priorities,
            warmup_ns: WARMUP.of(parameters),
            duration_ns: DURATION.of(parameters),
        };
        problems.extend(settings.conflicts());
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }

    /// Combinations that cannot be meant.
    fn conflicts(&self) -> Vec<Problem> {
        let transfers = u64::from(self.depth).saturating_mul(self.processes.into());
        let buffers = transfers.saturating_mul(self.record);
        let unfit = limits::unfit_record("record", self.record, self.size);
        let too_large = limits::too_large_buffers("processes, depth and record", buffers);
        unfit.into_iter().chain(too_large).map(Problem::from).collect()
    }

    /// The share of all bytes that each process is to have: by weight, or else the same.
    pub(super) fn entitled(&self) -> Vec<f64> {
        let equal = vec![1; self.processes as usize];
        let weights = if self.weights.is_empty() { &equal } else { &self.weights };
        let sum: u64 = weights.iter().sum();
        weights.iter().map(|weight| *weight as f64 / sum as f64).collect()
    }
}

/// A list that has nothing or one for each process.
///
/// # Errors
/// That it could not be read, or has another length.
fn one_for_each<T>(
    key: &Key<str>,
    list: Result<Vec<T>, String>,
    processes: u32,
) -> Result<Vec<T>, Problem> {
    let list = list?;
    if list.is_empty() || list.len() == processes as usize {
        return Ok(list);
    }
    let (name, length) = (key.name(), list.len());
    Err(Problem::from(format!(
        "{name} must be none or one for each of the {processes} processes, and has {length}"
    )))
}
