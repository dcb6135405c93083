//! Does a change keep its budget? For continuous integration.
//!
//! A limit says how much worse a subject may be than the reference on a primary
//! metric. Keeping it is a claim that needs evidence, and so is breaching it: the
//! two one-sided tests of docs/method.md#m-estimate, moved to the limit's own edge, and beyond it
//! by one step of the values, with Holm over everything that is gated (docs/method.md#m-gate).
//! What forbids *better* and *worse* forbids a breach, what forbids equivalence that a limit is kept.

use crate::comparison::deciding;
use crate::failures::ran;
use crate::family::{holm_levels, holm_of};
use model::{
    DecidingInterval, Doubt, Effect, FailureCount, Finding, Findings, Forbidden, Interval,
    Obstacle, Plan, Role, Verdict, round_significant as round,
};
use stats::{TTest, blocks_for_difference, exp, ln};
use std::collections::BTreeMap;

/// Why a finding of an emulated processor decides nothing, not even by its failures.
const EMULATED: &str = "emulated: no verdict of an emulated processor passes or fails a gate";

/// Why a finding whose order was not randomised, or is not known, decides nothing either.
const ORDER_FIXED: &str = "what differs may be the order of the subjects (ORDER_CONFOUNDED), which passes or fails no gate";

/// Why a limit is undecided that all values together show to be kept.
const HIDDEN: &str = "the order, or trials that failed, may hide that the limit is breached: beside what came before, and \
                      with each failure as the worst result, it is not shown to be kept";

/// Why a limit of which the tests show nothing is undecided.
const NOT_SHOWN: &str = "neither keeping nor breaching the limit was shown";

/// Why a finding of which something is not sure decides nothing either.
fn of_doubt(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::UnlikeSettings => {
            "a setting of the tool, or a column that nobody named, is another one for one subject than \
             for another: what differs may be that, which passes or fails no gate"
        }
        Doubt::UnknownReplicates => {
            "nobody said what an independent replicate is: an interval of values that share an \
             execution is too narrow, and passes or fails no gate"
        }
        Doubt::TurnedDirection => {
            "which way it is better was given together with the data, against what the format says: \
             a limit that is kept that way is breached the other way"
        }
        Doubt::AbsentRuns => {
            "runs of one subject are absent that the other has (ABSENT_VALUES), and may be those that \
             failed: what is left passes or fails no gate"
        }
    }
}

/// How much worse a metric may become.
#[derive(Debug, Clone, PartialEq)]
pub struct GateLimit {
    /// Workload label; every workload where empty.
    pub workload: String,
    /// Metric id.
    pub metric: String,
    /// Largest worsening as a fraction: 0.03 is 3 %.
    pub fraction: f64,
}

/// What can be said of one limit for one subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateOutcome {
    /// The limit was shown to be kept.
    Kept,
    /// It was shown to be breached.
    Breached,
    /// Neither was shown.
    Inconclusive,
}

/// One limit, applied to one finding.
#[derive(Debug, Clone, PartialEq)]
pub struct GateResult<'a> {
    /// The finding that decides.
    pub finding: &'a Finding,
    /// The limit.
    pub fraction: f64,
    /// What can be said.
    pub outcome: GateOutcome,
    /// Adjusted p of the claim that was made; absent where none was.
    pub p: Option<f64>,
    /// Why, in one sentence.
    pub reason: String,
    /// The interval of the effect that shows it; that of the finding where no test decides.
    pub interval: Option<DecidingInterval>,
}

/// Applies limits to the primary findings they name.
///
/// # Errors
/// The limit that names nothing that was a primary question.
pub fn gate<'a>(
    findings: &'a Findings,
    limits: &[GateLimit],
) -> Result<Vec<GateResult<'a>>, GateLimit> {
    let mut asked: Vec<(&Finding, f64)> = Vec::new();
    for limit in limits {
        let named = findings.findings.iter().filter(|finding| {
            let question = &finding.question;
            question.role == Role::Primary
                && question.metric == limit.metric
                && (limit.workload.is_empty() || question.workload == limit.workload)
        });
        let before = asked.len();
        asked.extend(named.map(|finding| (finding, limit.fraction)));
        if asked.len() == before {
            return Err(limit.clone());
        }
    }
    let tails: Vec<Option<[f64; 2]>> =
        asked.iter().map(|(finding, fraction)| tails(finding, *fraction)).collect();
    let of_tail = |side: usize| -> Vec<Option<f64>> {
        tails.iter().map(|tails| tails.map(|tails| tails[side])).collect()
    };
    let (below, above) = (of_tail(0), of_tail(1));
    let (breached, kept) = (holm_of(&below), holm_of(&above));
    let failing = adjusted_failures(&asked);
    // It asks all findings.
    let level = level_of_failures(findings);
    // Shares of the error rate, which each finding has from its look.
    let (breached_shares, kept_shares) = (holm_levels(&below, 1.0), holm_levels(&above, 1.0));
    let results = asked.iter().enumerate().map(|(index, (finding, fraction))| {
        let alpha = findings.gate_alpha_of(finding);
        let tested = Tested { alpha, breached: breached[index], kept: kept[index] };
        let result = barred(finding, *fraction, findings)
            .or_else(|| {
                failing[index].filter(|p| *p < level)?;
                fails_more(finding, *fraction, findings)
            })
            .unwrap_or_else(|| decide(finding, *fraction, &tested));
        let share = match result.outcome {
            GateOutcome::Kept => kept_shares[index],
            GateOutcome::Breached => breached_shares[index],
            // What Holm's procedure does not reject is not rejected at the least level either.
            GateOutcome::Inconclusive => 1.0 / asked.len() as f64,
        };
        let is_tested = result.p.is_some() || result.outcome == GateOutcome::Inconclusive;
        let own = tails[index].filter(|_| is_tested).and_then(|_| shown_at(finding, alpha * share));
        let shown = || {
            let interval = finding.shown_interval()?;
            Some(DecidingInterval { interval, alpha: findings.shown_alpha(finding) })
        };
        GateResult { interval: own.or_else(shown), ..result }
    });
    Ok(results.collect())
}

/// The interval that lies on one side of a limit's edge exactly where the one-sided test of this
/// level shows the limit to be kept or breached: one step of the values wider on each side.
fn shown_at(finding: &Finding, level: f64) -> Option<DecidingInterval> {
    let effect = finding.effect.as_ref()?;
    let shown = deciding(&test_of(effect), level);
    let step = exp(step_of(finding));
    let interval =
        Interval { low: round(shown.interval.low / step), high: round(shown.interval.high * step) };
    Some(DecidingInterval { interval, ..shown })
}

/// One-sided p-values: that the effect is below the limit's edge, and above it, each by more than one
/// step of the values.
fn tails(finding: &Finding, fraction: f64) -> Option<[f64; 2]> {
    let effect = finding.effect.as_ref().filter(|_| !finding.is_emulated)?;
    tails_beyond(effect, fraction, step_of(finding))
}

/// The same by more than this, on the scale of logarithms.
fn tails_beyond(effect: &Effect, fraction: f64, step: f64) -> Option<[f64; 2]> {
    // A degenerate sample has no p; its verdict is decided by the margin alone.
    effect.p_difference?;
    let test = test_of(effect);
    let edge = -ln(1.0 + fraction);
    Some([test.p_below(edge - step)?, test.p_above(edge + step)?])
}

/// By how much the step of the values may move a mean, on the scale of logarithms.
fn step_of(finding: &Finding) -> f64 {
    finding.step.map_or(0.0, |share| ln(1.0 + share))
}

/// The test that a finding's effect was made of.
fn test_of(effect: &Effect) -> TTest {
    TTest {
        mean: effect.log_mean,
        standard_deviation: effect.log_sd,
        standard_error: effect.standard_error,
        degrees: effect.degrees,
        skew: effect.skew,
    }
}

fn withholds_difference(obstacle: Obstacle) -> bool {
    obstacle.forbids() <= Forbidden::Difference
}

/// What tests of one limit say.
struct Tested {
    /// Level of the finding's look.
    alpha: f64,
    /// Adjusted p of a breach.
    breached: Option<f64>,
    /// Adjusted p that it is kept.
    kept: Option<f64>,
}

/// A result of a finding; its interval comes later.
fn result(
    finding: &Finding,
    fraction: f64,
    (outcome, p): (GateOutcome, Option<f64>),
    reason: impl Into<String>,
) -> GateResult<'_> {
    GateResult { finding, fraction, outcome, p, reason: reason.into(), interval: None }
}

/// The result of a finding of which nothing decides a gate, not even its failures.
fn barred<'a>(finding: &'a Finding, fraction: f64, findings: &Findings) -> Option<GateResult<'a>> {
    let open = |why: String| result(finding, fraction, (GateOutcome::Inconclusive, None), why);
    let of_numbers = [Obstacle::ChangedEvidence, Obstacle::CopiedValues];
    if finding.obstacle.is_some_and(|obstacle| of_numbers.contains(&obstacle)) {
        return Some(open(reason_of(finding)));
    }
    if finding.is_emulated {
        return Some(open(EMULATED.to_owned()));
    }
    if finding.is_order_fixed {
        return Some(open(ORDER_FIXED.to_owned()));
    }
    if let Some(doubt) = finding.doubts.first() {
        return Some(open(of_doubt(*doubt).to_owned()));
    }
    // Failures are counted anew at each look, too.
    findings.is_unfinished.then(|| {
        let pairs = model::counted(finding.pairs, "pair");
        open(format!("the campaign is not finished: it has {pairs} so far"))
    })
}

fn decide<'a>(finding: &'a Finding, fraction: f64, tested: &Tested) -> GateResult<'a> {
    let result = |outcome, p, reason: String| result(finding, fraction, (outcome, p), reason);
    // What forbids a verdict forbids this claim too.
    if finding.is_forbidden() {
        return result(GateOutcome::Inconclusive, None, reason_of(finding));
    }
    if let Some(reason) = degenerate(finding, fraction) {
        return result(GateOutcome::Kept, None, reason);
    }
    let is_below = |p: Option<f64>| p.filter(|p| *p < tested.alpha);
    let shown = match (is_below(tested.kept), is_below(tested.breached)) {
        (Some(p), _) => Some((GateOutcome::Kept, p)),
        (None, Some(p)) => Some((GateOutcome::Breached, p)),
        (None, None) => None,
    };
    let Some((outcome, p)) = shown else {
        return result(GateOutcome::Inconclusive, None, not_shown(finding, fraction, tested.alpha));
    };
    if outcome == GateOutcome::Kept && is_worse_beside(finding, fraction) {
        return result(GateOutcome::Inconclusive, None, HIDDEN.to_owned());
    }
    if let Some(obstacle) = withholds(finding, outcome) {
        return result(GateOutcome::Inconclusive, None, reason_for(finding, obstacle));
    }
    let why = match outcome {
        GateOutcome::Breached => "it is worse than the limit",
        GateOutcome::Kept | GateOutcome::Inconclusive => "the limit was shown to be kept",
    };
    result(outcome, Some(p), why.to_owned())
}

/// The obstacle that withholds an outcome that tests show, whether it decided the finding's verdict
/// or not: of a breach what withholds *worse*. That a limit is kept is withheld by what withholds
/// equivalence, but for steps that the test allows for; where the subject seemed better, by what took
/// that back because the order may be the reason.
fn withholds(finding: &Finding, outcome: GateOutcome) -> Option<Obstacle> {
    // The limit has an edge of its own, and is tested at a level that nobody chose.
    let is_asked = |one: &Obstacle| !matches!(one, Obstacle::GivenLevel | Obstacle::GivenMargin);
    let obstacles = finding.obstacle.iter().chain(&finding.further_obstacles).copied();
    let mut all = obstacles.filter(is_asked);
    if outcome == GateOutcome::Breached {
        return all.find(|obstacle| withholds_difference(*obstacle));
    }
    let seems_better = finding.effect.as_ref().is_some_and(|effect| effect.log_mean > 0.0);
    all.find(|obstacle| match obstacle {
        Obstacle::CoarseSteps => finding.step.is_none(),
        Obstacle::DriftAlone => seems_better && finding.obstacle == Some(*obstacle),
        Obstacle::OrderAlone => {
            let is_asked = finding.least_beside.is_some();
            seems_better && finding.obstacle == Some(*obstacle) && !is_asked
        }
        // The limit's own edge is asked.
        Obstacle::HidingOrder | Obstacle::HidingFailures => false,
        other => other.forbids() == Forbidden::Equivalence,
    })
}

/// Whether beside what came before, or with each failure as the worst result, the difference may be worse
/// than a limit.
fn is_worse_beside(finding: &Finding, fraction: f64) -> bool {
    let edge = -ln(1.0 + fraction) + step_of(finding);
    finding.least_beside.is_some_and(|least| least <= edge)
}

fn reason_of(finding: &Finding) -> String {
    finding.reason.clone().unwrap_or_else(|| "no verdict is possible".to_owned())
}

/// Why an obstacle withholds what tests show.
fn reason_for(finding: &Finding, obstacle: Obstacle) -> String {
    if finding.obstacle == Some(obstacle) {
        return reason_of(finding);
    }
    let why = match obstacle {
        Obstacle::SurvivorsOnly => {
            "trials failed, and with each failure as the worst result no such difference is shown"
        }
        Obstacle::DriftAlone | Obstacle::HidingDrift => {
            "in the order of the import the subjects do not take turns, and beside a drift nothing of it is shown"
        }
        Obstacle::OrderAlone => "the difference may be one of the order",
        Obstacle::OneStep | Obstacle::CoarseSteps | Obstacle::FewDistinctValues => {
            "the metric's steps are too coarse to show it"
        }
        _ => "no verdict is possible",
    };
    why.to_owned()
}

/// Why neither test shows anything of a finding that nothing forbids.
fn not_shown(finding: &Finding, fraction: f64, alpha: f64) -> String {
    let Some(effect) = &finding.effect else {
        return finding.reason.clone().unwrap_or_else(|| NOT_SHOWN.to_owned());
    };
    if effect.does_not_vary() {
        return "the replicates do not vary, and their difference decides nothing of this limit"
            .to_owned();
    }
    if effect.is_sequence {
        return format!(
            "the campaign was ended on purpose after {}, and no test of a limit holds at a \
             block that somebody chose",
            model::counted(finding.pairs, "pair")
        );
    }
    let without_steps = tails_beyond(effect, fraction, 0.0);
    if let Some(step) = finding.step
        && without_steps.is_some_and(|tails| tails.iter().any(|p| *p < alpha))
    {
        return format!(
            "one step of the values is {} % of the smallest, and {NOT_SHOWN} beside one",
            model::percent(step, 1)
        );
    }
    match finding.look {
        Some(look) => format!(
            "{NOT_SHOWN} by look {} of {}, after {} blocks",
            look.number, look.of, look.blocks
        ),
        None => NOT_SHOWN.to_owned(),
    }
}

impl GateResult<'_> {
    /// What would tell whether an undecided limit is kept: blocks to come of a campaign that goes on,
    /// else a new campaign, for a campaign that ended gets no more blocks; of numbers of others more
    /// of them, or a campaign. The number of blocks is that which shows the limit to be kept in 80 of
    /// 100 campaigns of subjects that do not differ (docs/method.md#m-power), with `gated` limits
    /// judged together. None where the limit is decided, or where the reason says what is wrong.
    pub fn what_would_tell(
        &self,
        plan: &Plan,
        findings: &Findings,
        gated: usize,
    ) -> Option<String> {
        let finding = self.finding;
        if self.outcome != GateOutcome::Inconclusive || is_barred(finding) {
            return None;
        }
        if findings.is_unfinished {
            return Some("the blocks that are to come may tell".to_owned());
        }
        if finding.obstacle.is_some_and(withholds_difference) {
            return None;
        }
        let varying = finding.effect.as_ref().filter(|effect| !effect.does_not_vary());
        if finding.effect.is_some() && varying.is_none() {
            return Some("more values of the same kind would not tell".to_owned());
        }
        let room = ln(1.0 + self.fraction) - step_of(finding);
        if varying.is_some() && finding.step.is_some() && room <= 0.0 {
            return Some("values in finer steps would tell".to_owned());
        }
        if plan.imported.is_some() {
            let more = "an import of more such numbers would tell, or a campaign that measures";
            return Some(more.to_owned());
        }
        let Some(effect) = varying else {
            return Some("a new campaign that runs to its planned end would tell".to_owned());
        };
        // One-sided at the level that Holm's procedure leaves in the worst case.
        let level = 2.0 * plan.alpha / gated.max(1) as f64;
        let blocks = blocks_for_difference(room / effect.log_sd, level);
        Some(match blocks {
            Some(blocks) if blocks as usize > finding.pairs => {
                format!("a new campaign of about {blocks} blocks would tell where nothing differs")
            }
            Some(_) => {
                let blocks = model::counted(finding.pairs, "block");
                format!("a new campaign of more than {blocks} would tell")
            }
            None => "not even 10 000 blocks would tell where nothing differs".to_owned(),
        })
    }
}

/// Whether nothing of it decides a gate, however many blocks there are.
fn is_barred(finding: &Finding) -> bool {
    finding.is_emulated || finding.is_order_fixed || !finding.doubts.is_empty()
}

/// The replicates do not vary, and their difference is equivalent and inside the limit:
/// kept without a p, as the verdict was given without one.
fn degenerate(finding: &Finding, fraction: f64) -> Option<String> {
    let effect = finding.effect.as_ref().filter(|effect| Effect::does_not_vary(effect))?;
    let is_inside = effect.log_mean - step_of(finding) > -ln(1.0 + fraction);
    (is_inside && finding.verdict == Verdict::Equivalent)
        .then(|| "the replicates do not vary, and their difference is inside the limit".to_owned())
}

/// Holm's adjusted p of each thing that is gated that its two subjects fail alike. Several limits of
/// one pair and workload ask it once.
fn adjusted_failures(asked: &[(&Finding, f64)]) -> Vec<Option<f64>> {
    let mut places: BTreeMap<[&str; 3], usize> = BTreeMap::new();
    let mut p_values: Vec<Option<f64>> = Vec::new();
    let mut of_asked = Vec::with_capacity(asked.len());
    for (finding, _) in asked {
        let question = &finding.question;
        let pair = [&question.subject, &question.reference, &question.workload];
        let place = *places.entry(pair.map(String::as_str)).or_insert_with(|| {
            p_values.push(finding.p_failure);
            p_values.len() - 1
        });
        of_asked.push(place);
    }
    let adjusted = holm_of(&p_values);
    of_asked.into_iter().map(|place| adjusted[place]).collect()
}

/// The level at which failures are compared: that of the look at which they were counted, which is
/// the last that answers anything; of a campaign without looks, or one that was ended between two,
/// that of the findings.
fn level_of_failures(findings: &Findings) -> f64 {
    let judged = findings.findings.iter().filter(|one| one.question.role != Role::Screen);
    let looks: Option<Vec<_>> = judged.map(|finding| finding.look).collect();
    let last = looks.and_then(|looks| looks.into_iter().max_by_key(|look| look.number));
    let alpha = last.map_or(findings.alpha, |look| look.alpha.min(findings.alpha));
    findings.gate_alpha.map_or(alpha, |most| alpha.min(most))
}

/// A subject that was shown to fail otherwise than the one it is compared with, and fails more
/// often, breaches every limit.
fn fails_more<'a>(
    finding: &'a Finding,
    fraction: f64,
    findings: &Findings,
) -> Option<GateResult<'a>> {
    let question = &finding.question;
    let of = |subject: &str| {
        let mut counts = findings.failures.iter();
        counts.find(|count| count.subject == subject && count.workload == question.workload)
    };
    let (subject, reference) = (of(&question.subject)?, of(&question.reference)?);
    let share = |count: &FailureCount| count.failed as f64 / ran(count).max(1) as f64;
    (share(subject) > share(reference)).then(|| {
        let reason = format!(
            "it failed in {} of {}, the reference in {} of {}",
            subject.failed,
            model::counted(ran(subject), "trial"),
            reference.failed,
            ran(reference)
        );
        result(finding, fraction, (GateOutcome::Breached, None), reason)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{in_blocks, metric, noticing, plan, record, records};
    use crate::judge;
    use model::{
        Caveat, CaveatCode, Direction, ImportedOrder, Metric, Outcome, Record, Reduction, Strength,
        TrialFact,
    };

    const NOISE: [f64; 8] = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];

    fn campaign(worse_percent: f64, spread: f64) -> Vec<Record> {
        let values = |scale: f64, turn: usize| -> Vec<f64> {
            (0..8).map(|block| scale * (1.0 + spread * NOISE[(block + turn) % 8])).collect()
        };
        let mut all = records("a", &values(100.0, 0));
        all.extend(records("b", &values(100.0 * (1.0 + worse_percent / 100.0), 3)));
        all
    }

    #[test]
    fn failures_of_as_many_comparisons_as_a_plan_may_have_are_adjusted_at_once() {
        let of = |number: usize| {
            let asked = ::fixtures::question(&format!("w{}", number / 2), "m", "b", "a");
            Finding { p_failure: (number < 2).then_some(1e-9), ..::fixtures::finding(asked) }
        };
        let findings: Vec<Finding> = (0..100_000).map(of).collect();
        let asked: Vec<(&Finding, f64)> = findings.iter().map(|finding| (finding, 0.03)).collect();
        let adjusted = adjusted_failures(&asked);
        assert_eq!(adjusted.len(), asked.len());
        assert!(adjusted[0].is_some() && adjusted[0] == adjusted[1], "one pair is asked once");
        assert!(adjusted[2..].iter().all(Option::is_none));
    }

    fn outcome(records: &[Record], fraction: f64) -> GateOutcome {
        outcome_of(metric("m", Direction::Lower, Reduction::Median), records, fraction)
    }

    fn outcome_of(metric: Metric, records: &[Record], fraction: f64) -> GateOutcome {
        let findings = judge(&plan(&["a", "b"], vec![metric], 8), records);
        let limit = GateLimit { workload: String::new(), metric: "m".to_owned(), fraction };
        gate(&findings, &[limit]).unwrap()[0].outcome
    }

    #[test]
    fn keeping_and_breaching_both_need_evidence() {
        assert_eq!(outcome(&campaign(0.0, 0.005), 0.03), GateOutcome::Kept);
        assert_eq!(outcome(&campaign(2.0, 0.002), 0.03), GateOutcome::Kept, "worse, and inside");
        assert_eq!(outcome(&campaign(10.0, 0.005), 0.03), GateOutcome::Breached);
        assert_eq!(outcome(&campaign(-20.0, 0.005), 0.03), GateOutcome::Kept);
        assert_eq!(outcome(&campaign(3.0, 0.2), 0.03), GateOutcome::Inconclusive);
        assert_eq!(outcome(&campaign(10.0, 0.005)[..4], 0.03), GateOutcome::Inconclusive);
    }

    #[test]
    fn the_interval_of_a_result_lies_where_its_outcome_says() {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let plan = plan(&["a", "b"], metrics, 8);
        let mut seen = [0; 3];
        for step in 0..60 {
            // Up to 6 % worse: kept, then open, then breached, each at three limits.
            let findings = judge(&plan, &campaign(0.1 * f64::from(step), 0.01));
            let limits = [0.02, 0.03, 0.035].map(|fraction| GateLimit {
                workload: String::new(),
                metric: "m".to_owned(),
                fraction,
            });
            for result in gate(&findings, &limits).unwrap() {
                let edge = 1.0 / (1.0 + result.fraction);
                let shown = result.interval.unwrap();
                let outcome = match shown.interval {
                    interval if interval.low > edge => GateOutcome::Kept,
                    interval if interval.high < edge => GateOutcome::Breached,
                    _ => GateOutcome::Inconclusive,
                };
                assert_eq!(outcome, result.outcome, "{step} {result:?}");
                // Of three limits: twice 1/60 to twice 1/20.
                assert!((0.033..=0.1).contains(&shown.alpha), "{}", shown.alpha);
                seen[result.outcome as usize] += 1;
            }
        }
        assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    }

    #[test]
    fn what_withholds_worse_withholds_a_breach() {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let mut findings = judge(&plan(&["a", "b"], metrics, 8), &campaign(10.0, 0.005));
        let limit = GateLimit { workload: String::new(), metric: "m".to_owned(), fraction: 0.03 };
        let limits = [limit];
        assert_eq!(gate(&findings, &limits).unwrap()[0].outcome, GateOutcome::Breached);
        findings.findings[0].verdict = Verdict::Inconclusive;
        findings.findings[0].obstacle = Some(Obstacle::OrderAlone);
        assert_eq!(gate(&findings, &limits).unwrap()[0].outcome, GateOutcome::Inconclusive);
        findings.findings[0].obstacle = Some(Obstacle::CoarseSteps);
        assert_eq!(gate(&findings, &limits).unwrap()[0].outcome, GateOutcome::Breached);
    }

    /// 60 blocks of whole ticks: most are this many, and one in `often` is one more.
    fn ticks(most: u32, often: usize) -> Vec<f64> {
        let is_more = |block: usize| u32::from(block * 7 % often == 2);
        (0..60).map(|block| f64::from(most + is_more(block))).collect()
    }

    #[test]
    fn a_clock_keeps_and_breaches_no_limit_that_one_of_its_ticks_may_hide_or_be() {
        let told = |subject: Vec<f64>, fraction: f64| {
            let mut all = records("a", &ticks(10, 12));
            all.extend(records("b", &subject));
            let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
            let plan = plan(&["a", "b"], metrics, 60);
            let findings = judge(&plan, &all);
            let limit = GateLimit { workload: String::new(), metric: "m".to_owned(), fraction };
            let results = gate(&findings, &[limit]).unwrap();
            let would_tell = results[0].what_would_tell(&plan, &findings, 1);
            (results[0].outcome, results[0].reason.clone(), would_tell)
        };
        // Both read ten where one takes 10.1 and the other 10.9 ticks.
        let (outcome, reason, would_tell) = told(ticks(10, 9), 0.03);
        assert_eq!(outcome, GateOutcome::Inconclusive);
        assert!(reason.contains("one step of the values is 10.0 %"), "{reason}");
        assert_eq!(would_tell.as_deref(), Some("values in finer steps would tell"));
        assert_eq!(told(ticks(10, 9), 0.25).0, GateOutcome::Kept, "more than a step is left");
        assert_eq!(told(ticks(8, 3), 0.03).0, GateOutcome::Kept, "better by more than a step");
        assert_eq!(told(ticks(11, 9), 0.03).0, GateOutcome::Inconclusive, "one tick may be none");
        assert_eq!(told(ticks(13, 3), 0.03).0, GateOutcome::Breached);
    }

    #[test]
    fn an_obstacle_that_did_not_decide_withholds_what_it_forbids() {
        use GateOutcome::{Breached, Inconclusive, Kept};
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let plan = plan(&["a", "b"], metrics, 8);
        let limits =
            [GateLimit { workload: String::new(), metric: "m".to_owned(), fraction: 0.03 }];
        let outcome = |worse_percent: f64, obstacle: Obstacle| {
            let mut findings = judge(&plan, &campaign(worse_percent, 0.005));
            findings.findings[0].further_obstacles = vec![obstacle];
            gate(&findings, &limits).unwrap()[0].outcome
        };
        for (obstacle, breached, kept) in [
            (Obstacle::SurvivorsOnly, Inconclusive, Kept),
            (Obstacle::DriftAlone, Inconclusive, Kept),
            (Obstacle::OrderAlone, Inconclusive, Kept),
            (Obstacle::OneStep, Inconclusive, Kept),
            // Asked at the limit's own edge, below.
            (Obstacle::HidingFailures, Breached, Kept),
            (Obstacle::HidingDrift, Breached, Inconclusive),
            (Obstacle::HidingOrder, Breached, Kept),
            (Obstacle::CoarseSteps, Breached, Inconclusive),
            (Obstacle::FewDistinctValues, Breached, Inconclusive),
            // A limit asks nothing of the margin and the level of the findings.
            (Obstacle::GivenLevel, Breached, Kept),
            (Obstacle::GivenMargin, Breached, Kept),
        ] {
            assert_eq!(outcome(10.0, obstacle), breached, "{obstacle:?}");
            assert_eq!(outcome(0.0, obstacle), kept, "{obstacle:?}");
        }
        // What may be left beside the order and failures is held against the limit, 3 % of it.
        for (least, outcome) in [(-0.029, Kept), (-0.030, Inconclusive), (f64::MIN, Inconclusive)] {
            let mut findings = judge(&plan, &campaign(0.0, 0.005));
            findings.findings[0].least_beside = Some(least);
            assert_eq!(gate(&findings, &limits).unwrap()[0].outcome, outcome, "{least}");
        }
        // It seemed better, and that may be the order's.
        let mut findings = judge(&plan, &campaign(-10.0, 0.005));
        assert_eq!(gate(&findings, &limits).unwrap()[0].outcome, Kept);
        findings.findings[0].verdict = Verdict::Inconclusive;
        findings.findings[0].obstacle = Some(Obstacle::OrderAlone);
        assert_eq!(gate(&findings, &limits).unwrap()[0].outcome, Inconclusive);
    }

    /// As many blocks, of which so many trials of `b` and of `c` failed.
    fn failing(blocks: usize, of_b: usize, of_c: usize) -> Vec<Record> {
        let mut all = Vec::new();
        for (subject, failed) in [("a", 0), ("b", of_b), ("c", of_c)] {
            let value = |block: usize| 100.0 * (1.0 + 0.005 * NOISE[block % 8]);
            let mut own = records(subject, &(0..blocks).map(value).collect::<Vec<_>>());
            for record in &mut own[..failed] {
                record.outcome = Outcome::Failed { reason: "crash".to_owned() };
            }
            all.extend(own);
        }
        all
    }

    fn of_three(
        judged: fn(&Plan, &[Record]) -> Findings,
        change: impl Fn(&mut Plan),
        records: &[Record],
    ) -> Vec<(String, GateOutcome)> {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let mut plan = plan(&["a", "b", "c"], metrics, 20);
        change(&mut plan);
        let findings = judged(&plan, records);
        let limit = GateLimit { workload: String::new(), metric: "m".to_owned(), fraction: 0.03 };
        let results = gate(&findings, &[limit]).unwrap();
        let name = |result: &GateResult<'_>| {
            let question = &result.finding.question;
            format!("{} against {}", question.subject, question.reference)
        };
        results.iter().map(|result| (name(result), result.outcome)).collect()
    }

    #[test]
    fn a_pair_is_breached_by_its_own_failures_and_no_others() {
        use GateOutcome::{Breached, Inconclusive, Kept};
        let all_pairs = |plan: &mut Plan| plan.comparisons = model::Comparisons::All;
        let of = |all: &[Record]| of_three(judge, all_pairs, all);
        let named = |outcomes: [GateOutcome; 3]| -> Vec<(String, GateOutcome)> {
            let names = ["b against a", "c against a", "c against b"].map(str::to_owned);
            names.into_iter().zip(outcomes).collect()
        };
        // c failed in 13 of 20, b in 10, a in none.
        assert_eq!(of(&failing(20, 10, 13)), named([Breached, Breached, Inconclusive]));
        // Fisher's p of 5 of 20 is 0.047, which three questions do not show; of 7 it is 0.008.
        assert_eq!(of(&failing(20, 5, 0)), named([Inconclusive, Kept, Inconclusive]));
        assert_eq!(of(&failing(20, 0, 7)), named([Kept, Breached, Breached]));
    }

    #[test]
    fn failures_are_compared_at_the_level_of_the_stop() {
        let outcome = |judged, looks: &[u32], failed: usize| {
            let looks = looks.to_vec();
            let change = |plan: &mut Plan| plan.looks.clone_from(&looks);
            let mut all = failing(12, failed, 0);
            all.retain(|record| record.subject != "c");
            of_three(judged, change, &all)[0].1
        };
        // Fisher's p of 6 of 12 is 0.014, adjusted for a second subject 0.027.
        assert_eq!(outcome(judge, &[], 6), GateOutcome::Breached);
        assert_eq!(outcome(judge, &[12, 20], 6), GateOutcome::Inconclusive, "0.018");
        assert_eq!(outcome(judge, &[12, 20], 9), GateOutcome::Breached);
        // Its user's stop has a p of 7/64 for six, and of 13/4096 for twelve.
        assert_eq!(outcome(crate::ended, &[], 6), GateOutcome::Inconclusive);
        assert_eq!(outcome(crate::ended, &[], 12), GateOutcome::Breached);
    }

    #[test]
    fn a_metric_that_never_varies_keeps_its_limit_without_a_p() {
        let same = |worse_percent: f64| campaign(worse_percent, 0.0);
        let of_known_step =
            || Metric { resolution: 0.01, ..metric("m", Direction::Lower, Reduction::Median) };
        assert_eq!(outcome_of(of_known_step(), &same(0.0), 0.03), GateOutcome::Kept);
        assert_eq!(outcome_of(of_known_step(), &same(10.0), 0.03), GateOutcome::Inconclusive);
        assert_eq!(outcome(&same(0.0), 0.03), GateOutcome::Inconclusive, "of whatever step");
    }

    #[test]
    fn an_ended_campaign_without_p_keeps_no_limit_by_its_estimate_alone() {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let mut findings = judge(&plan(&["a", "b"], metrics, 8), &campaign(0.3, 0.002));
        assert_eq!(findings.findings[0].verdict, Verdict::Equivalent);
        findings.findings[0].effect.as_mut().unwrap().p_difference = None;
        let limit = GateLimit { workload: String::new(), metric: "m".to_owned(), fraction: 0.005 };
        assert_eq!(gate(&findings, &[limit]).unwrap()[0].outcome, GateOutcome::Inconclusive);
    }

    /// A campaign that was planned with 20 blocks, or as many as its last look has, with these records:
    /// judged as it stands.
    fn told(
        judged: fn(&Plan, &[Record]) -> Findings,
        change: impl Fn(&mut Plan),
        records: &[Record],
    ) -> (GateOutcome, String, Option<String>) {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let mut plan = plan(&["a", "b"], metrics, 20);
        change(&mut plan);
        let findings = judged(&plan, records);
        let limit = GateLimit { workload: String::new(), metric: "m".to_owned(), fraction: 0.03 };
        let results = gate(&findings, &[limit]).unwrap();
        let would_tell = results[0].what_would_tell(&plan, &findings, results.len());
        (results[0].outcome, results[0].reason.clone(), would_tell)
    }

    #[test]
    fn what_would_tell_an_undecided_limit_is_what_can_still_be_done() {
        use crate::{ended, live};
        let as_planned = |_: &mut Plan| {};
        let of_looks = |looks: &[u32]| {
            let looks = looks.to_vec();
            move |plan: &mut Plan| plan.looks.clone_from(&looks)
        };
        let import = |plan: &mut Plan| {
            plan.imported = Some(in_blocks(ImportedOrder::Rows));
        };
        let simulate = |plan: &mut Plan| "sim".clone_into(&mut plan.venue);
        let wild = campaign(3.0, 0.2);
        let mut failing = campaign(0.0, 0.005);
        for failed in failing.iter_mut().filter(|record| record.subject == "b") {
            failed.outcome = Outcome::Failed { reason: "crash".to_owned() };
        }
        let (new, on_purpose) = (Some("a new campaign of about "), "was ended on purpose");
        let not_finished = "the campaign is not finished";
        for (name, (outcome, reason, would_tell), why, what) in [
            ("running", told(live, as_planned, &wild), not_finished, Some("the blocks that are")),
            ("it fails", told(live, as_planned, &failing), not_finished, Some("the blocks that")),
            ("by its user", told(ended, as_planned, &wild), on_purpose, new),
            ("looks, user", told(ended, of_looks(&[6, 10, 12]), &wild), on_purpose, new),
            ("last look", told(judge, of_looks(&[6, 8]), &wild), "by look 2 of 2, after 8", new),
            ("complete", told(judge, as_planned, &wild), NOT_SHOWN, new),
            ("simulated", told(judge, simulate, &wild), NOT_SHOWN, new),
            ("imported", told(judge, import, &wild), NOT_SHOWN, Some("an import of more such")),
            (
                "constant",
                told(judge, as_planned, &campaign(10.0, 0.0)),
                "do not vary",
                Some("more values of the same kind would not tell"),
            ),
            (
                "constant, by its user",
                told(ended, as_planned, &campaign(10.0, 0.0)),
                "do not vary",
                Some("more values of the same kind would not tell"),
            ),
            (
                "at the limit",
                told(judge, as_planned, &campaign(3.0, 0.002)),
                NOT_SHOWN,
                Some("a new campaign of more than 8 blocks"),
            ),
            ("few", told(judge, as_planned, &few(&wild)), "a verdict needs 5", None),
        ] {
            assert_eq!(outcome, GateOutcome::Inconclusive, "{name}: {reason}");
            assert!(reason.contains(why), "{name}: {reason}");
            let is_told = match (&would_tell, what) {
                (Some(told), Some(what)) => told.starts_with(what),
                (told, what) => told.is_none() && what.is_none(),
            };
            assert!(is_told, "{name}: {would_tell:?}");
        }
        let kept = told(judge, as_planned, &campaign(0.0, 0.005));
        assert_eq!((kept.0, kept.2), (GateOutcome::Kept, None));
    }

    #[test]
    fn a_warning_decides_of_no_gate_whether_the_campaign_goes_on() {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let plan = plan(&["a", "b"], metrics, 20);
        let limits =
            [GateLimit { workload: String::new(), metric: "m".to_owned(), fraction: 0.03 }];
        let says_so = |findings: &Findings| {
            let results = gate(findings, &limits).unwrap();
            results[0].reason.contains("the campaign is not finished")
        };
        let mut findings = crate::live(&plan, &campaign(0.0, 0.005));
        findings.caveats.clear();
        assert!(says_so(&findings));
        let mut findings = judge(&plan, &campaign(0.0, 0.005));
        findings.caveats.push(Caveat::new(CaveatCode::Unfinished, "told"));
        assert!(!says_so(&findings));
    }

    /// Its first three blocks.
    fn few(records: &[Record]) -> Vec<Record> {
        records.iter().filter(|record| record.block < 3).cloned().collect()
    }

    #[test]
    fn an_emulated_processor_neither_keeps_nor_breaches_a_limit() {
        let emulated = |mut records: Vec<Record>| {
            for record in &mut records {
                record.note_fact(TrialFact::Emulated, "TCG");
            }
            records
        };
        for worse_percent in [0.0, 10.0, -20.0] {
            let records = emulated(campaign(worse_percent, 0.005));
            assert_eq!(outcome(&records, 0.03), GateOutcome::Inconclusive, "{worse_percent}");
        }
        let mut all = emulated(campaign(0.0, 0.005));
        for failed in all.iter_mut().filter(|record| record.subject == "b") {
            failed.outcome = Outcome::Failed { reason: "crash".to_owned() };
        }
        assert_eq!(outcome(&all, 0.03), GateOutcome::Inconclusive, "its failures neither");
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let findings = judge(&plan(&["a", "b"], metrics, 8), &emulated(campaign(0.0, 0.005)));
        let limit = GateLimit { workload: String::new(), metric: "m".to_owned(), fraction: 0.03 };
        let results = gate(&findings, &[limit]).unwrap();
        assert!(results[0].reason.starts_with("emulated: "), "{}", results[0].reason);
        assert_eq!(results[0].p, None);
    }

    /// With blocks as well, and whatever fails.
    #[test]
    fn what_is_not_sure_of_an_import_in_blocks_passes_and_fails_no_gate() {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let mut plan = plan(&["a", "b"], metrics, 8);
        let limits =
            [GateLimit { workload: String::new(), metric: "m".to_owned(), fraction: 0.03 }];
        for (code, words) in [
            (CaveatCode::SettingsDiffer, "is another one for one subject"),
            (CaveatCode::ReplicateLevelUnknown, "what an independent replicate is"),
            (CaveatCode::Copied, "stand twice"),
        ] {
            plan.imported = Some(noticing(vec![Caveat::new(code, "told")], ImportedOrder::Rows));
            let mut failing = campaign(0.0, 0.005);
            for failed in failing.iter_mut().filter(|record| record.subject == "b") {
                failed.outcome = Outcome::Failed { reason: "crash".to_owned() };
            }
            let all = [0.0, 10.0, -20.0].map(|percent| campaign(percent, 0.005));
            for records in all.into_iter().chain([failing]) {
                let findings = judge(&plan, &records);
                assert_ne!(findings.findings[0].strength, Some(Strength::Clearly));
                let results = gate(&findings, &limits).unwrap();
                assert_eq!(results[0].outcome, GateOutcome::Inconclusive, "{code}");
                assert!(results[0].reason.contains(words), "{}", results[0].reason);
            }
        }
    }

    #[test]
    fn a_subject_that_fails_breaches_and_an_unknown_metric_is_named() {
        let mut all = campaign(0.0, 0.005);
        for failed in all.iter_mut().filter(|record| record.subject == "b") {
            failed.outcome = Outcome::Failed { reason: "crash".to_owned() };
        }
        assert_eq!(outcome(&all, 0.03), GateOutcome::Breached);
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let findings = judge(&plan(&["a", "b"], metrics, 1), &[record(0, "a", "w", Vec::new())]);
        let unknown = GateLimit { workload: "w".to_owned(), metric: "x".to_owned(), fraction: 0.1 };
        assert_eq!(gate(&findings, std::slice::from_ref(&unknown)), Err(unknown));
    }
}
