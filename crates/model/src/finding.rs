//! Findings: effects with their intervals, and the verdicts on them.

use crate::{Caveat, CaveatCheck, ClaimFinding, Direction, Doubt, Obstacle, Trend, Unit};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// All findings of one campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// [`crate::FINDINGS_FORMAT`], or with trends [`crate::TREND_FINDINGS_FORMAT`].
    pub format: String,
    /// Digest of the plan judged.
    pub plan_digest: String,
    /// Seed of every random choice in the analysis.
    pub seed: u64,
    /// Family-wise error rate.
    pub alpha: f64,
    /// The largest rate at which a gate decides, where the findings' own was given together with
    /// numbers that were imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_alpha: Option<f64>,
    /// Whether the campaign can still go on: nothing of it is decided before its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unfinished: bool,
    /// Whether the plan, the experiment or the records are not as they were written, of the campaign or
    /// of what it was imported from: no verdict rests on them, and no step that they show was observed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_evidence_changed: bool,
    /// How many comparisons each family corrects together, by its name.
    pub families: BTreeMap<String, usize>,
    /// Primary findings first, then controls, then the screen of secondary metrics.
    pub findings: Vec<Finding>,
    /// Where every pair of subjects was compared: their ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rankings: Vec<Ranking>,
    /// What serves each declared use case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub use_cases: Vec<UseCaseFinding>,
    /// What became of the published claims.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<ClaimFinding>,
    /// How metrics went over a soak campaign: a family of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trends: Vec<Trend>,
    /// Failures and invalid sittings by subject.
    pub failures: Vec<FailureCount>,
    /// Checks of a report that something about the campaign as a whole speaks against; caveats say
    /// what, and decide of no check.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub against: BTreeSet<CaveatCheck>,
    /// Warnings about the campaign as a whole.
    pub caveats: Vec<Caveat>,
}

impl Findings {
    /// Notes a caveat of the campaign, and the check that it speaks against.
    pub fn note_caveat(&mut self, caveat: Caveat) {
        self.against.extend(CaveatCheck::of(std::slice::from_ref(&caveat)));
        self.caveats.push(caveat);
    }

    /// Whether what was found speaks against this check, of the campaign or of a comparison that
    /// verdicts are about.
    pub fn speak_against(&self, check: CaveatCheck) -> bool {
        let mut judged = self.findings.iter().filter(|one| one.question.role != Role::Screen);
        self.against.contains(&check) || judged.any(|one| one.against.contains(&check))
    }

    /// How many comparisons a question is corrected with.
    pub fn family_size(&self, question: &Question) -> usize {
        self.families.get(&question.family).copied().unwrap_or(1)
    }

    /// The error rate of a finding's interval for it alone: its look's, else the family's.
    pub fn alpha_of(&self, finding: &Finding) -> f64 {
        finding.look.map_or(self.alpha, |look| look.alpha)
    }

    /// The error rate at which a gate decides about a finding. It is the default one where a larger
    /// one was given together with imported numbers.
    pub fn gate_alpha_of(&self, finding: &Finding) -> f64 {
        let alpha = self.alpha_of(finding);
        self.gate_alpha.map_or(alpha, |most| alpha.min(most))
    }

    /// The error rate of the interval that a reader is shown of a finding.
    pub fn shown_alpha(&self, finding: &Finding) -> f64 {
        finding.deciding_alpha().unwrap_or_else(|| self.alpha_of(finding))
    }
}

/// The family of an experiment's own questions.
pub const DECLARED_FAMILY: &str = "declared";

/// What is compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Workload label; of a margin over imported workloads, what they share.
    pub workload: String,
    /// Metric id.
    pub metric: String,
    /// The metric's unit.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// Subject id.
    pub subject: String,
    /// Reference id.
    pub reference: String,
    /// Primary, control or screen.
    pub role: Role,
    /// The comparisons it is corrected with (docs/method.md#m-family).
    pub family: String,
}

/// What a question is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Declared before the run; corrected over the family; gives a verdict.
    Primary,
    /// The A/A control: judged like a primary question, expected not to differ.
    Control,
    /// Secondary metric: a false-discovery q-value, never a verdict.
    Screen,
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What was asked.
    pub question: Question,
    /// The verdict.
    pub verdict: Verdict,
    /// How strong a better or worse is.
    pub strength: Option<Strength>,
    /// Why it is inconclusive or invalid, or what else to know, in one sentence.
    pub reason: Option<String>,
    /// What forbade a verdict, where something did; the reason is then its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
    /// Obstacles that stand beside what decided, the strongest first: they forbid what was not found,
    /// and of a gate what its limit asks. Empty where every verdict is forbidden.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_obstacles: Vec<Obstacle>,
    /// The least that the difference may be beside what came before, and with each failure as the worst
    /// result, one-sided at the plan's level, as a logarithm above 0 where the subject is better; absent
    /// where neither is asked, and of [`f64::MIN`] where nothing tests it. A gate asks it at its limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_beside: Option<f64>,
    /// Of a primary question the largest step that its values have, declared or inferred, as a share
    /// of the smallest of them, whatever the margin; absent where none is known or it is finer than
    /// 0.1 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// Of a primary question two-sided p that its two subjects fail alike, where a trial of either
    /// failed: Fisher's exact one, of a campaign that was ended on purpose one that holds at every
    /// block (docs/method.md#m-failures).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_failure: Option<f64>,
    /// Whether the effect is a ratio of odds, as that of a share is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_odds: bool,
    /// Whether one subject was measured after the other in each block or stratum, or mostly so, so
    /// that whatever changed meanwhile looks like a difference between them: no gate rests on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_order_fixed: bool,
    /// What is not sure of how the numbers came about: no gate rests on it, and no difference is
    /// clear.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// Whether it rests on an emulated processor, so that its figures are those of no real one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_emulated: bool,
    /// The look of an adaptive campaign that this comes from; its intervals have
    /// that look's level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<Look>,
    /// Equivalence margin as a fraction.
    pub margin: f64,
    /// Complete pairs of blocks; of numbers without blocks, the replicates of the
    /// subject that has fewer.
    pub pairs: usize,
    /// Geometric mean of the reference over its paired blocks, in the metric's unit.
    pub reference_value: Option<f64>,
    /// Geometric mean of the subject over its paired blocks.
    pub subject_value: Option<f64>,
    /// The estimate; absent where there is none.
    pub effect: Option<Effect>,
    /// Robust companions; never the verdict.
    pub companion: Option<Companion>,
    /// What it would take to see more.
    pub planning: Option<Planning>,
    /// Sample sizes beyond a percentile.
    pub tail: Option<Tail>,
    /// What the warnings rest on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Diagnostics>,
    /// Every pair.
    pub blocks: Vec<BlockEffect>,
    /// Checks of a report that what was found of it speaks against; caveats say what, and decide of
    /// no check.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub against: BTreeSet<CaveatCheck>,
    /// Warnings.
    pub caveats: Vec<Caveat>,
}

impl Finding {
    /// Notes a caveat, and the check that it speaks against.
    pub fn note_caveat(&mut self, caveat: Caveat) {
        self.against.extend(CaveatCheck::of(std::slice::from_ref(&caveat)));
        self.caveats.push(caveat);
    }

    /// Whether nothing may be claimed of it, whatever its numbers say.
    pub fn is_forbidden(&self) -> bool {
        self.obstacle.is_some_and(Obstacle::forbids_every_verdict)
    }

    /// Whether its interval is one of a confidence sequence, which holds at every look together
    /// (docs/method.md#m-sequence).
    pub fn is_sequence(&self) -> bool {
        self.effect.as_ref().is_some_and(|effect| effect.is_sequence)
    }

    /// The interval that a reader is shown: that which decided an equivalence, else the unadjusted
    /// one.
    pub fn shown_interval(&self) -> Option<Interval> {
        let unadjusted = self.effect.as_ref()?.interval;
        Some(self.deciding().map_or(unadjusted, |deciding| deciding.interval))
    }

    /// The error rate of that interval, where it is not that of the others.
    pub fn deciding_alpha(&self) -> Option<f64> {
        self.deciding().map(|deciding| deciding.alpha)
    }

    /// What decided it; nothing of an equivalence that was taken back.
    fn deciding(&self) -> Option<DecidingInterval> {
        self.effect.as_ref()?.deciding.filter(|_| self.verdict == Verdict::Equivalent)
    }

    /// How far the effect lies from none, whichever way: the size of its ratio's logarithm; zero
    /// where there is none.
    pub fn size(&self) -> f64 {
        self.effect.as_ref().map_or(0.0, |effect| effect.ratio.ln().abs())
    }
}

/// One of the pre-declared looks of an adaptive campaign (docs/method.md#m-looks).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// Which one, from 1.
    pub number: u32,
    /// How many were declared.
    pub of: u32,
    /// Blocks at which it was due.
    pub blocks: u32,
    /// The level it may spend.
    pub alpha: f64,
}

/// An interval of an oriented ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Interval {
    /// Lower end; 0 where unbounded.
    pub low: f64,
    /// Upper end; `null` in JSON where unbounded.
    #[serde(with = "unbounded")]
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    pub high: f64,
}

impl Interval {
    /// Whether both ends are one number: the replicates do not vary, and what is left of an interval
    /// says nothing of how far off the estimate may be.
    pub fn has_no_width(&self) -> bool {
        self.low >= self.high
    }
}

/// JSON has no infinity: `null` stands for it.
mod unbounded {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(*value).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    }
}

/// The paired log-ratio estimate (docs/method.md#m-estimate). Ratios are oriented: above
/// one is better, whatever the metric's direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Mean of the oriented log differences.
    pub log_mean: f64,
    /// Their standard deviation; without blocks, that of the replicates' logs, pooled.
    pub log_sd: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Degrees of freedom.
    pub degrees: f64,
    /// Skewness of the differences over 6 √n, where it is noticeable; else 0. Bounds on the side of
    /// its sign lie further out (docs/method.md#m-skew).
    #[serde(default, skip_serializing_if = "is_none")]
    pub skew: f64,
    /// Oriented ratio, exp(log_mean).
    pub ratio: f64,
    /// Subject over reference in the metric's own direction.
    pub raw_ratio: f64,
    /// Unadjusted interval of the oriented ratio at 1 - alpha.
    pub interval: Interval,
    /// Interval of the oriented ratio at 1 - alpha / family size.
    pub family_interval: Interval,
    /// Two-sided p of no difference; absent where undefined.
    pub p_difference: Option<f64>,
    /// p of a difference at least as large as the margin (TOST).
    pub p_equivalence: Option<f64>,
    /// Holm-adjusted over the family, or the Benjamini-Hochberg q of a screen.
    pub adjusted_difference: Option<f64>,
    /// Holm-adjusted over the family.
    pub adjusted_equivalence: Option<f64>,
    /// What showed an equivalence; absent of any other verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deciding: Option<DecidingInterval>,
    /// Whether both intervals are those of a confidence sequence, which holds at every look
    /// together; it has no p.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_sequence: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_none(skew: &f64) -> bool {
    *skew == 0.0
}

impl Effect {
    /// Whether the replicates do not vary, so that no test is possible.
    pub fn does_not_vary(&self) -> bool {
        self.standard_error <= f64::EPSILON * self.log_mean.abs()
    }
}

/// The interval that lies within the margin exactly where equivalence is shown: two one-sided tests
/// at a level are an interval at one minus twice that level (docs/method.md#m-verdict).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DecidingInterval {
    /// Of the oriented ratio.
    pub interval: Interval,
    /// One minus its level: twice the level that Holm's procedure left for the question.
    pub alpha: f64,
}

/// Robust companions of the t estimate (docs/method.md#m-companions).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Companion {
    /// Walsh-average pseudo-median as an oriented ratio.
    pub pseudo_median_ratio: f64,
    /// Its exact signed-rank interval.
    pub interval: Interval,
    /// Exact signed-rank p.
    pub p_signed_rank: f64,
    /// Exact sign-flip p; absent above 16 blocks.
    pub p_sign_flip: Option<f64>,
}

/// Power of what was run, and what would be needed (docs/method.md#m-power).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Planning {
    /// Smallest effect (as a fraction) found with 80 % power by these blocks.
    pub detectable: f64,
    /// Blocks for 80 % power to call a difference of the margin's size; absent above 10 000.
    pub blocks_for_difference: Option<u32>,
    /// Blocks for an 80 % chance of equivalence when there is no difference.
    pub blocks_for_equivalence: Option<u32>,
}

/// The tail-size rule (docs/method.md#m-quantiles).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// Smallest expected number of samples beyond the percentile in a block and subject.
    pub beyond: f64,
    /// The highest quantile these samples support, where this one is not.
    pub supported: Option<f64>,
}

/// The figures behind the warnings (docs/method.md#m-warnings, docs/method.md#m-fragility); absent
/// where too few pairs define them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// Logarithm of 1 plus the margin.
    pub theta: f64,
    /// The estimate over its standard error.
    pub t: Option<f64>,
    /// Lag-one correlation of the differences.
    pub lag_one: Option<f64>,
    /// von Neumann's ratio of the differences; 2 where blocks are independent.
    pub von_neumann: Option<f64>,
    /// p of a trend of the reference over the campaign (Mann-Kendall).
    pub p_trend: Option<f64>,
    /// The reference's change over the campaign, on the scale of logarithms (Theil-Sen).
    pub reference_change: Option<f64>,
    /// p that it does not matter which subject came first in its block (Welch) or, of more than two
    /// places, which places the two had (docs/method.md#m-position).
    pub p_order: Option<f64>,
    /// p that it does not matter whose sitting came before (docs/method.md#m-carry-over); absent
    /// where the records do not say which did, or too few blocks do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_predecessor: Option<f64>,
    /// The estimate and the verdict without each replicate, in their order.
    pub left_out: Vec<LeftOut>,
}

/// What remains without one replicate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The estimate.
    pub log_mean: f64,
    /// The verdict.
    pub verdict: Verdict,
}

/// One block's pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockEffect {
    /// Block index.
    pub block: u32,
    /// Reference value, in the metric's unit.
    pub reference: f64,
    /// Subject value.
    pub subject: f64,
    /// Oriented log difference.
    pub log_difference: f64,
}

/// What can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better than the reference.
    Better,
    /// Worse than the reference.
    Worse,
    /// Inside the margin, with evidence.
    Equivalent,
    /// Not enough evidence for any of these.
    Inconclusive,
    /// The comparison broke a rule and says nothing.
    Invalid,
}

/// How strong a better or worse is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// The interval lies beyond the margin.
    Clearly,
    /// The interval excludes no difference, but reaches into the margin.
    Detectable,
}

/// Outcomes of one subject on one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailureCount {
    /// Subject id.
    pub subject: String,
    /// Workload label.
    pub workload: String,
    /// Trials that ran, invalid ones included.
    pub trials: u64,
    /// Trials that failed.
    pub failed: u64,
    /// Trials that broke a validity rule.
    pub invalid: u64,
    /// Two-sided p of failing as often as the reference: Fisher's exact one, of a campaign that was
    /// ended on purpose one that holds at every block.
    pub p_failure: Option<f64>,
    /// The same, adjusted by Holm over all subjects and workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted_failure: Option<f64>,
    /// Whether it fails less often (better) or more often (worse) than the reference; inconclusive
    /// where neither was shown, absent where it is compared with nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_verdict: Option<Verdict>,
    /// Fisher's exact p that it broke validity rules as often as the reference did; absent of a
    /// campaign that was ended on purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_invalid: Option<f64>,
    /// How often each reason was given.
    pub reasons: BTreeMap<String, u64>,
    /// How often each validity rule was broken.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<String, u64>,
}

/// Every subject's rank on one workload and metric, or in one use case: 1 plus the
/// number of subjects that are better. Subjects of one rank are not told apart.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Ranking {
    /// Workload label, or the use case.
    pub workload: String,
    /// Metric id; empty of a use case.
    pub metric: String,
    /// The best first, then in the plan's order.
    pub ranks: Vec<Rank>,
    /// Whether any verdict behind it is one of an emulated processor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_emulated: bool,
}

/// One subject's rank with its interval (docs/method.md#m-ranks).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Rank {
    /// Subject id.
    pub subject: String,
    /// One plus the number of subjects that were shown to be better: the best rank
    /// it can have.
    pub rank: usize,
    /// The number of subjects less those shown to be worse: the worst it can have.
    pub worst: usize,
}

/// What serves a use case: every pair of subjects over its weighted workloads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UseCaseFinding {
    /// Its name.
    pub use_case: String,
    /// The declared weights; they add up to 1.
    pub weights: Vec<Weight>,
    /// Every pair, corrected over all pairs of all use cases.
    pub comparisons: Vec<Finding>,
    /// The component in which each comparison's subject does worst, in their order;
    /// absent where there is no effect.
    pub worst: Vec<Option<Worst>>,
    /// Ranks of the subjects.
    pub ranking: Ranking,
    /// Subjects that were not shown to be worse than any other.
    pub co_best: Vec<String>,
    /// Subjects without a number here: they failed, did not run all of it, or its
    /// control failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_evidence: Vec<String>,
}

/// One component of a use case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Weight {
    /// Workload label.
    pub workload: String,
    /// Metric id.
    pub metric: String,
    /// Its share.
    pub weight: f64,
}

/// The component on which a subject does worst against another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Worst {
    /// Workload label.
    pub workload: String,
    /// Metric id.
    pub metric: String,
    /// Oriented ratio: below 1 is worse.
    pub ratio: f64,
    /// Its unadjusted interval.
    pub interval: Interval,
}
