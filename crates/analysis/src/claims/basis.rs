//! What claims are judged by: findings, where these come from, and at which level they hold.

use super::family::ClaimedFindings;
use super::subjects;
use model::{DECLARED_FAMILY, Finding, Findings, Question};

/// What claims are judged by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClaimEvidence<'a> {
    /// Findings that claims are about, and perhaps others.
    pub findings: &'a [Finding],
    /// Where they come from.
    pub basis: ClaimBasis,
    /// The findings of each claim's own comparisons, judged as if it were the plan's only claim, by
    /// its place in the plan. Empty where other claims change nothing.
    alone: &'a [Vec<Finding>],
    /// One minus the level of the family, of findings that no look gave.
    alpha: f64,
    /// How many comparisons share that level.
    count: usize,
}

/// Where the findings come from that claims are judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClaimBasis {
    /// [`super::findings`], of a campaign in blocks.
    OwnTests,
    /// The comparisons that [`super::ClaimsAbout`] chose, of numbers without blocks.
    WithoutBlocks,
    /// The declared family, where no test of other comparisons holds.
    DeclaredFamily,
}

impl ClaimBasis {
    /// What its intervals hold for, in words.
    pub(super) fn family_words(self) -> &'static str {
        match self {
            Self::OwnTests | Self::WithoutBlocks => "all claims",
            Self::DeclaredFamily => "the whole family",
        }
    }

    /// Whether workloads were compared, and comparisons combined, where a claim asks for it.
    pub(super) fn has_tests_in_blocks(self) -> bool {
        self == Self::OwnTests
    }

    /// Whether a finding of this question compares subjects for themselves. What one claim
    /// combines, and workloads inside a subject, have findings of the same shape beside them.
    pub(super) fn compares_subjects(self, question: &Question) -> bool {
        match self {
            Self::OwnTests => question.family == subjects::SUBJECTS,
            Self::WithoutBlocks => true,
            Self::DeclaredFamily => question.family == DECLARED_FAMILY,
        }
    }
}

impl<'a> ClaimEvidence<'a> {
    /// Findings of [`super::findings`], of a campaign in blocks.
    pub(crate) fn of_blocks(claimed: &'a ClaimedFindings, alpha: f64) -> Self {
        Self::own_tests(claimed, ClaimBasis::OwnTests, alpha)
    }

    /// Findings of the comparisons that [`super::ClaimsAbout`] chose, of numbers without blocks.
    pub(crate) fn without_blocks(claimed: &'a ClaimedFindings, alpha: f64) -> Self {
        Self::own_tests(claimed, ClaimBasis::WithoutBlocks, alpha)
    }

    fn own_tests(claimed: &'a ClaimedFindings, basis: ClaimBasis, alpha: f64) -> Self {
        let findings = &claimed.together;
        Self { findings, basis, alone: &claimed.alone, alpha, count: findings.len() }
    }

    /// Findings of the declared family, where no test of other comparisons holds.
    pub(crate) fn declared(findings: &'a Findings) -> Self {
        Self {
            findings: &findings.findings,
            basis: ClaimBasis::DeclaredFamily,
            alone: &[],
            alpha: findings.alpha,
            count: findings.families.get(DECLARED_FAMILY).copied().unwrap_or(1),
        }
    }

    /// One minus the levels of a finding's two intervals: its own, and that of the whole family.
    pub(super) fn levels(&self, finding: &Finding) -> [f64; 2] {
        let alpha = finding.look.map_or(self.alpha, |look| look.alpha);
        [alpha, alpha / self.count.max(1) as f64]
    }

    /// The finding of this question as it were if the plan had no other claim than that at this
    /// place.
    pub(super) fn alone(&self, index: usize, question: &Question) -> Option<&'a Finding> {
        self.alone.get(index)?.iter().find(|finding| finding.question == *question)
    }
}
