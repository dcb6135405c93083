//! What a report is made from.

use model::{Attempt, Binding, Caveat, Findings, Fingerprint, Plan, Records, TrialValues};
use phrases::Language;
use std::collections::BTreeMap;

/// A campaign as its files and the catalogue tell it, and how it is to be shown.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The records.
    pub records: &'a Records,
    /// What each completed trial reduces to for each metric: `analysis::values`. Without
    /// them a report has verdicts, and no values but theirs.
    pub values: &'a TrialValues,
    /// The findings.
    pub findings: &'a Findings,
    /// The machine when the campaign began.
    pub environment: &'a Fingerprint,
    /// Name of the campaign's directory.
    pub campaign: &'a str,
    /// Which attempt it is, where somebody counted.
    pub attempt: Option<Attempt>,
    /// Runs that went on with it.
    pub resumptions: u64,
    /// Path of that directory, as the user named it.
    pub directory: &'a str,
    /// Name of the file in it that the plan was made from: an experiment, or the mapping of an
    /// import.
    pub origin: &'a str,
    /// Warnings about the campaign's files.
    pub store_caveats: &'a [Caveat],
    /// Whether it was ended on purpose before its last block.
    pub is_stopped_early: bool,
    /// Whether its blocks share boots of which there are few: `analysis::shares_few_boots`.
    pub shares_few_boots: bool,
    /// Whether the records' binding to their plan and to each other was checked.
    pub binding: Binding,
    /// What the catalogue says of the plan's factors, by id.
    pub factors: &'a BTreeMap<String, String>,
    /// Whether values of an emulated processor are shown although they are no real one's.
    pub is_absolute: bool,
    /// The language of generated sentences.
    pub language: Language,
}
