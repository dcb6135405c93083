//! What a pilot says about a plan.

use serde::{Deserialize, Serialize};

/// What a pilot says about one primary question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PilotFinding {
    /// Workload label.
    pub workload: String,
    /// Metric id.
    pub metric: String,
    /// Subject id.
    pub subject: String,
    /// Reference id.
    pub reference: String,
    /// Complete pairs of the pilot.
    pub pairs: usize,
    /// Standard deviation of the log differences of its blocks.
    pub log_sd: f64,
    /// T_1: standard deviation of iterations; absent where an invocation has one value.
    pub iteration_sd: Option<f64>,
    /// T_2: standard deviation that invocations add; absent where there is one of them.
    pub invocation_sd: Option<f64>,
    /// T_3: standard deviation that subject and block add together, after the block's
    /// own part has cancelled.
    pub block_sd: f64,
    /// Levels whose own variance was estimated below zero and counts as none.
    pub clamped: Vec<String>,
    /// The margin.
    pub margin: f64,
    /// Invocations that cost least for the same evidence.
    pub invocations: Option<u32>,
    /// The standard deviation of differences to expect with these invocations.
    pub expected_sd: f64,
    /// Smallest effect (a fraction) that the planned blocks find with 80 % power.
    pub detectable: Option<f64>,
    /// Blocks for 80 % power to find a difference of the margin's size.
    pub blocks_for_difference: Option<u32>,
    /// Blocks for an 80 % chance of equivalence when there is no difference.
    pub blocks_for_equivalence: Option<u32>,
}
