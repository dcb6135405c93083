//! Which attempt at an experiment a campaign is.

use serde::{Deserialize, Serialize};

/// The place of a campaign among those of a machine. Who repeats an experiment until it says what
/// is wanted is seen by it (docs/method.md#m-attempts).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Attempt {
    /// Campaigns of the same plan, this one included; of an import, of the same files and choices.
    pub of_plan: u64,
    /// Campaigns on the same venue with two subjects that differ in the same levels and a workload
    /// of the same kind, whatever levels these two share, whatever else their plans say and however
    /// they call them, this one included; imports of the same format with two subjects of the same
    /// names, or with one of the same files.
    pub of_question: u64,
    /// When the machine began to count, nanoseconds since 1970.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub since_unix_ns: u64,
}
