//! How many blocks a plan may have.

use model::LEAST_REPLICATES;

/// Fewer complete blocks give no verdict.
pub(crate) const LEAST_BLOCKS: u32 = LEAST_REPLICATES as u32;
/// More blocks than anyone waits for; bounds the size of a plan.
pub(crate) const BLOCK_LIMIT: u64 = 1_000;
