//! Where imported numbers come from, and what importers tell of them.

use crate::{Caveat, DecidingFacts, GivenChoices, ImportFact};
use serde::{Deserialize, Serialize};

/// Where imported numbers come from, and how they were collected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(from = "StoredImported")]
pub struct Imported {
    /// Name of the importer.
    pub format: String,
    /// Name of the file.
    pub file: String,
    /// SHA-256 (hex) of its bytes.
    pub digest: String,
    /// How they were collected.
    pub design: ImportedDesign,
    /// What is known of the order in which they were measured.
    #[serde(default, skip_serializing_if = "ImportedOrder::is_unknown")]
    pub order: ImportedOrder,
    /// What the importer noticed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
    /// Columns that count as executions and may tell parts of one apart: nothing in the files shows
    /// that they are executions, and nobody said so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// Subjects of which values stand twice, as `COPIED` says; where it stands and none is named, any
    /// may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<String>,
    /// Subjects that hold unlike shares of rows of different kinds, which only a column tells apart that
    /// nobody named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mixes: Vec<UnlikeMix>,
    /// Runs without blocks that each subject lacks by the numbers of the others; empty where no subject
    /// lacks one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent_runs: Vec<AbsentRuns>,
    /// What was chosen while the numbers were there, and decides.
    #[serde(default, skip_serializing_if = "GivenChoices::is_empty")]
    pub given: GivenChoices,
    /// What the importer established that decides something. Reports have the caveats that say it.
    #[serde(skip_serializing_if = "DecidingFacts::are_unwritten")]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub facts: DecidingFacts<ImportFact>,
}

/// An import as it is stored.
#[derive(Deserialize)]
struct StoredImported {
    format: String,
    file: String,
    digest: String,
    design: ImportedDesign,
    #[serde(default)]
    order: ImportedOrder,
    #[serde(default)]
    caveats: Vec<Caveat>,
    #[serde(default)]
    parts: Vec<String>,
    #[serde(default)]
    copied: Vec<String>,
    #[serde(default)]
    mixes: Vec<UnlikeMix>,
    #[serde(default)]
    absent_runs: Vec<AbsentRuns>,
    #[serde(default)]
    given: GivenChoices,
    /// Absent before the tenth format of plans.
    #[serde(default)]
    facts: Vec<ImportFact>,
}

impl From<StoredImported> for Imported {
    fn from(stored: StoredImported) -> Self {
        Self {
            facts: DecidingFacts::stored(stored.facts, &stored.caveats),
            format: stored.format,
            file: stored.file,
            digest: stored.digest,
            design: stored.design,
            order: stored.order,
            caveats: stored.caveats,
            parts: stored.parts,
            copied: stored.copied,
            mixes: stored.mixes,
            absent_runs: stored.absent_runs,
            given: stored.given,
        }
    }
}

/// Rows of different kinds of which two subjects of an import have unlike shares, so that the difference
/// of their means may be one of the mix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct UnlikeMix {
    /// Id of the metric.
    pub metric: String,
    /// The two subjects; empty where any two may be meant.
    pub subjects: Vec<String>,
    /// The column, the level whose shares differ most, and both shares.
    pub told: String,
}

/// Runs of one subject of an import that are not there although their numbers say that they were counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AbsentRuns {
    /// The subject.
    pub subject: String,
    /// How many are absent.
    pub absent: u32,
    /// How many there are with these.
    pub expected: u32,
    /// The same in words, with the column that numbers them.
    pub told: String,
}

/// How imported numbers were collected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ImportedDesign {
    /// Each replicate holds every subject.
    Blocked,
    /// Replicates of a subject have nothing to do with those of another.
    Unblocked {
        /// Names of the parameters that tell workloads apart, in order.
        dimensions: Vec<String>,
        /// Those of them that one execution fixes: it was run again for each level.
        fixed: Vec<String>,
    },
}

/// What is known of the order in which imported numbers were measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ImportedOrder {
    /// A column of the file tells it: one of times, or the one that was named; of a tool's files, the
    /// times that it wrote into each.
    Column,
    /// That of the rows in the file, which may have been sorted since.
    Rows,
    /// Nothing: it was not recorded, a block lies in several files, or in a block values of several
    /// subjects lie among each other and no column tells when.
    #[default]
    Unknown,
}

impl ImportedOrder {
    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

/// Formats of tables.
const TABLES: [&str; 2] = ["csv", "tsv"];

impl Imported {
    /// Whether its files are tables: a column tells their order, and rows are put in it before anything is
    /// listed. The order of other files is told by the tool's own times.
    pub fn is_table(&self) -> bool {
        TABLES.contains(&self.format.as_str())
    }

    /// Whether there are blocks, and it is known in which order their subjects were measured.
    pub fn has_ordered_blocks(&self) -> bool {
        self.design == ImportedDesign::Blocked && !self.order.is_unknown()
    }

    /// Whether others simulated numbers of it.
    pub fn is_simulated(&self) -> bool {
        self.facts.contain(&ImportFact::Simulated)
    }

    /// Whether nothing bound records of it, so that nobody can know if they were edited.
    pub fn is_unbound(&self) -> bool {
        self.facts.contain(&ImportFact::UnboundEvidence)
    }

    /// Whether a margin, a level, a direction, an order or what is judged was given together with
    /// the numbers.
    pub fn is_given_with_numbers(&self) -> bool {
        self.facts.contain(&ImportFact::GivenWithNumbers)
    }
}
