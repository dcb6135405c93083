//! A row of a table.

use model::{Few, Sample, SharedName};

/// A row as a table holds it, with hundreds of thousands of others: each name once.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRow {
    /// The subject.
    pub subject: SharedName,
    /// A level of each dimension.
    pub levels: Vec<SharedName>,
    /// The execution it belongs to; each row is its own where nobody knows.
    pub execution: Option<SharedName>,
    /// The block, where there are blocks.
    pub block: Option<SharedName>,
    /// What was measured; empty where it failed.
    pub samples: Few<Sample>,
    /// Why it failed, where it did.
    pub failure: Option<String>,
}
