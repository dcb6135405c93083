//! What the parameters ask for, and combinations that cannot be meant.

use crate::storage::limits;
use crate::storage::priority::Priority;
use model::Parameters;

/// What every process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Operation {
    pub is_write: bool,
    pub is_random: bool,
}

/// The parameters, read.
#[derive(Debug, Clone)]
pub(super) struct Settings {
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
const WEIGHTS: std::ops::RangeInclusive<u64> = 1..=1000;

/// `none`, or a list with commas.
fn words(text: &str) -> Vec<&str> {
    if text == "none" { Vec::new() } else { text.split(',').map(str::trim).collect() }
}

/// # Errors
/// In one sentence.
pub(super) fn weights(parameters: &Parameters) -> Result<Vec<u64>, String> {
    let weight = |word: &str| {
        let weight = word.parse().map_err(|_| format!("weights: `{word}` is no whole number"))?;
        if WEIGHTS.contains(&weight) {
            return Ok(weight);
        }
        Err(format!("weights: {weight} is outside {} to {}", WEIGHTS.start(), WEIGHTS.end()))
    };
    words(parameters.text("weights")).into_iter().map(weight).collect()
}

fn priorities(parameters: &Parameters) -> Result<Vec<Priority>, String> {
    let words = words(parameters.text("priorities"));
    let priorities = words.into_iter().map(Priority::parse).collect::<Result<Vec<_>, _>>();
    priorities.map_err(|why| format!("priorities: {why}"))
}

impl Settings {
    /// Lists that are none are taken for `none`: [`conflicts`] names them.
    pub(super) fn of(parameters: &Parameters) -> Self {
        let small = |name| u32::try_from(parameters.count(name)).unwrap_or(u32::MAX);
        let operation = parameters.text("operation");
        let processes = small("processes");
        let mut priorities = priorities(parameters).unwrap_or_default();
        priorities.resize(processes as usize, Priority::INHERITED);
        Self {
            processes,
            depth: small("depth"),
            operation: Operation {
                is_write: operation.ends_with("write"),
                is_random: operation.starts_with("random"),
            },
            record: parameters.size("record"),
            size: parameters.size("size"),
            weights: weights(parameters).unwrap_or_default(),
            priorities,
            warmup_ns: parameters.duration_ns("warmup"),
            duration_ns: parameters.duration_ns("duration"),
        }
    }

    /// The share of all bytes that each process is to have: by weight, or else the same.
    pub(super) fn entitled(&self) -> Vec<f64> {
        let equal = vec![1; self.processes as usize];
        let weights = if self.weights.is_empty() { &equal } else { &self.weights };
        let sum: u64 = weights.iter().sum();
        weights.iter().map(|weight| *weight as f64 / sum as f64).collect()
    }
}

/// Combinations that cannot be meant.
pub(super) fn conflicts(parameters: &Parameters) -> Vec<String> {
    let mut found = Vec::new();
    let processes = parameters.count("processes");
    let lengths = [
        ("weights", weights(parameters).map(|list| list.len())),
        ("priorities", priorities(parameters).map(|list| list.len())),
    ];
    for (name, length) in lengths {
        match length {
            Ok(0) => {}
            Ok(length) if length as u64 == processes => {}
            Ok(length) => found.push(format!(
                "{name} must be none or one for each of the {processes} processes, and has {length}"
            )),
            Err(why) => found.push(why),
        }
    }
    let settings = Settings::of(parameters);
    found.extend(limits::unfit_record("record", settings.record, settings.size));
    let transfers = u64::from(settings.depth).saturating_mul(processes);
    let buffers = transfers.saturating_mul(settings.record);
    found.extend(limits::too_large_buffers("processes, depth and record", buffers));
    found
}
