//! One number for each trial and metric: what verdicts are made of.

use crate::SharedName;
use serde::{Deserialize, Serialize};

/// What a completed trial reduces to for one metric (docs/method.md#m-reduction). A trial that
/// failed, was invalid or did not report the metric has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialValue {
    /// Index of the block; of imported numbers without blocks, of the execution.
    pub block: u32,
    /// Subject id.
    pub subject: SharedName,
    /// Workload label.
    pub workload: SharedName,
    /// Metric id.
    pub metric: SharedName,
    /// The number, in the metric's unit; finite.
    pub value: f64,
}
