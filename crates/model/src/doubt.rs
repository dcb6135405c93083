//! What is not sure of how numbers came about that were measured elsewhere.

use serde::{Deserialize, Serialize};

/// A fact about imported numbers that forbids no verdict: no difference between them is clear, and
/// no gate rests on them (docs/method.md#m-unblocked).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// A setting of a tool, or a column that nobody named, is another one for one subject than for another.
    UnlikeSettings,
    /// Nobody said what an independent replicate is.
    UnknownReplicates,
    /// Which way the metric is better was given together with the numbers, against its format.
    TurnedDirection,
    /// Runs of one subject are absent, and which ones may depend on what they would have measured.
    AbsentRuns,
}
