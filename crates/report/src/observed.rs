//! What the records of a campaign show of the steps that a report speaks of.
//!
//! A sentence that states a step rests on one of these, and each names the field that it reads.
//! Where the field is not there the step was *not observed*, whatever the program does.

use crate::view::Report;
use model::{Disturbance, ImportedDesign, Outcome, Record, Role, Verdict};

/// Where the numbers of a report come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Trials ran, on this machine or in guests.
    Ran,
    /// The simulator made them up.
    Simulated,
    /// Somebody else measured them, and told so many replicates by blocks.
    ImportedBlocks,
    /// Somebody else measured them, without blocks.
    ImportedRows,
}

impl Origin {
    /// `findings.caveats` of a simulation, `design.imported` of an import.
    pub(crate) fn of(report: &Report) -> Self {
        match report.design.imported.as_ref().map(|imported| &imported.design) {
            _ if report.is_simulated() => Self::Simulated,
            None => Self::Ran,
            Some(ImportedDesign::Unblocked { .. }) => Self::ImportedRows,
            Some(ImportedDesign::Blocked) => Self::ImportedBlocks,
        }
    }

    /// Whether somebody else measured.
    pub(crate) fn is_imported(self) -> bool {
        matches!(self, Self::ImportedBlocks | Self::ImportedRows)
    }
}

/// In how many of so many places something was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub seen: usize,
    pub of: usize,
}

impl Extent {
    fn of<T>(places: impl Iterator<Item = T>, is_seen: impl Fn(&T) -> bool) -> Self {
        places.fold(Self { seen: 0, of: 0 }, |extent, place| Self {
            seen: extent.seen + usize::from(is_seen(&place)),
            of: extent.of + 1,
        })
    }

    /// Whether it was seen everywhere, and there was somewhere to look.
    pub(crate) fn is_all(self) -> bool {
        self.of > 0 && self.seen == self.of
    }
}

fn completed(report: &Report) -> impl Iterator<Item = &Record> {
    report.records.iter().filter(|record| record.outcome == Outcome::Completed)
}

/// Completed trials in whose record every level of their subject was read before and after the run
/// (`records.levels`). A simulator reads nothing back.
pub(crate) fn levels_read(report: &Report) -> Extent {
    let has_run = Origin::of(report) == Origin::Ran;
    Extent::of(completed(report), |record| {
        let subject = report.subjects.iter().find(|one| one.id == record.subject);
        has_run
            && subject.is_some_and(|subject| {
                subject.levels.keys().all(|factor| record.levels.contains_key(factor))
            })
    })
}

/// Invocations of completed trials whose disturbance show this
/// (`records.invocations.disturbance`).
pub(crate) fn disturbance(report: &Report, is_shown: fn(&Disturbance) -> bool) -> Extent {
    let invocations = completed(report).flat_map(|record| &record.invocations);
    Extent::of(invocations, |one| one.disturbance.as_ref().is_some_and(is_shown))
}

/// Whether blocks are slots of time in which each subject ran once, in an order that the plan drew
/// (`design.imported` is absent).
pub(crate) fn has_drawn_order(report: &Report) -> bool {
    !Origin::of(report).is_imported()
}

/// Whether every verdict was tried without each of its replicates and by another method
/// (`findings.diagnostics.left_out`, `findings.companion`), and there is one.
pub(crate) fn has_sensitivity(report: &Report) -> bool {
    let is_verdict = |finding: &&model::Finding| {
        finding.question.role == Role::Primary
            && matches!(finding.verdict, Verdict::Better | Verdict::Worse | Verdict::Equivalent)
    };
    let verdicts = report.findings.findings.iter().filter(is_verdict);
    Extent::of(verdicts, |finding| {
        let left_out = finding.diagnostics.as_ref().map(|one| !one.left_out.is_empty());
        left_out == Some(true) && finding.companion.is_some()
    })
    .is_all()
}
