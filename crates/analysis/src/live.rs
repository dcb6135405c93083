//! What may be said of a campaign of a fixed number of blocks before its last: intervals
//! that hold however often somebody looks (the t confidence sequence of
//! docs/method.md#m-sequence).
//! While it can go on there is no verdict; where it was ended on purpose, the verdict is
//! that of these intervals, so that nothing is won by ending when it looks good.

use crate::claims::ClaimedFindings;
use crate::failures::{compare_pairs, failures_at_every_block, rounded};
use crate::judgement::{Judgement, conclude, judge_at};
use crate::observations::Observations;
use crate::ratios::interval_between;
use crate::rulebook::{Basis, Inference, LevelsLeft, Signals, further, obstacles, rule};
use crate::trends;
use model::{
    Caveat, CaveatCheck, CaveatCode, DECLARED_FAMILY, DecidingInterval, Effect, Finding, Findings,
    Plan, Record, Role, Strength, Verdict, round_significant as round,
};
use stats::confidence_sequence_half_width;

/// The findings of an unfinished campaign.
pub fn live(plan: &Plan, records: &[Record]) -> Findings {
    let mut findings = by_sequence(plan, records).findings;
    for finding in &mut findings.findings {
        finding.verdict = Verdict::Inconclusive;
        finding.strength = None;
        if finding.question.role != Role::Screen {
            let pairs = model::counted(finding.pairs, "complete pair");
            finding.reason = Some(format!("{pairs} so far"));
        }
    }
    for count in &mut findings.failures {
        count.failure_verdict = count.failure_verdict.map(|_| Verdict::Inconclusive);
    }
    let reason = "the campaign is not finished, and no test of a trend holds at every look";
    trends::add_untested(plan, records, reason, &mut findings);
    findings.is_unfinished = true;
    let detail = format!("{} so far", model::counted(records.len(), "trial"));
    findings.note_caveat(Caveat::new(CaveatCode::Unfinished, detail));
    findings.caveats.sort();
    findings
}

/// Who may end a campaign has two chances: where it looks best, and else its planned end, where a test has
/// the whole level. This share of it is left to the chance before (docs/method.md#m-sequence).
const SHARE_BEFORE_THE_END: f64 = 0.5;

/// The findings of a campaign of a fixed number of blocks that was ended on purpose.
/// Intervals of the whole family decide, as Bonferroni's.
pub(crate) fn ended(plan: &Plan, records: &[Record]) -> Findings {
    let plan = &Plan { alpha: SHARE_BEFORE_THE_END * plan.alpha, ..plan.clone() };
    let mut findings = decided(plan, records);
    // Its blocks may have been looked at before each: no test of workloads holds for that, and
    // none of a trend.
    conclude(plan, None, &mut findings);
    let reason = "the campaign was ended on purpose, and no test of a trend holds at every look";
    trends::add_untested(plan, records, reason, &mut findings);
    findings
}

/// The findings of the declared family by intervals that hold at every look, at the plan's level.
/// Ranks, use cases and claims are to follow.
pub(crate) fn decided(plan: &Plan, records: &[Record]) -> Findings {
    let Judgement { mut findings, signals, .. } = by_sequence(plan, records);
    // The declared family stands first; a screen has no verdict.
    let family = findings.families.get(DECLARED_FAMILY).copied().unwrap_or(1).max(1);
    let alpha = round(plan.alpha / family as f64);
    for (finding, signals) in findings.findings.iter_mut().zip(&signals) {
        // A metric that does not vary has its answer without any interval.
        let is_answered = signals.is_degenerate && finding.effect.is_some();
        if !finding.is_forbidden() && !is_answered {
            decide_by_interval(finding, signals);
        }
        let is_shown = finding.verdict == Verdict::Equivalent;
        if let Some(effect) =
            finding.effect.as_mut().filter(|effect| is_shown && effect.is_sequence)
        {
            effect.deciding = Some(DecidingInterval { interval: effect.family_interval, alpha });
        }
    }
    findings
}

/// The verdict of an interval that holds for the whole family at every look.
fn decide_by_interval(finding: &mut Finding, signals: &Signals) {
    let inference = match &finding.effect {
        Some(effect) => by_interval(effect, finding.margin),
        None => Inference {
            verdict: Verdict::Inconclusive,
            strength: None,
            reason: Some("it has no interval that holds at every look".to_owned()),
        },
    };
    let raised = obstacles(signals, Basis::Sequence, LevelsLeft::NONE);
    let ruling = rule(inference, &raised);
    finding.further_obstacles = further(&ruling, &raised);
    finding.verdict = ruling.verdict;
    finding.strength = ruling.strength;
    finding.obstacle = ruling.obstacle;
    let why = ruling.reason.unwrap_or_default();
    let pairs = model::counted(finding.pairs, "pair");
    finding.reason = Some(format!("ended on purpose after {pairs}: {why}"));
}

fn by_interval(effect: &Effect, margin: f64) -> Inference {
    let (low, high) = (effect.family_interval.low, effect.family_interval.high);
    let edge = 1.0 + margin;
    let (verdict, strength) = if low > 1.0 / edge && high < edge {
        (Verdict::Equivalent, None)
    } else if low > 1.0 {
        (Verdict::Better, Some(strength(low > edge)))
    } else if high < 1.0 {
        (Verdict::Worse, Some(strength(high < 1.0 / edge)))
    } else {
        (Verdict::Inconclusive, None)
    };
    let reason = "judged by the interval of the family that holds at every look".to_owned();
    Inference { verdict, strength, reason: Some(reason) }
}

fn strength(is_clear: bool) -> Strength {
    if is_clear { Strength::Clearly } else { Strength::Detectable }
}

/// The findings with confidence sequences for intervals and without p-values.
fn by_sequence(plan: &Plan, records: &[Record]) -> Judgement {
    let Judgement { mut findings, signals, .. } = judge_at(plan, records, plan.alpha);
    let families = findings.families.clone();
    for finding in &mut findings.findings {
        finding.companion = None;
        finding.planning = None;
        finding.diagnostics = None;
        // It speaks of the verdict of a fixed number of blocks.
        finding
            .caveats
            .retain(|caveat| !matches!(caveat.code, CaveatCode::Fragile | CaveatCode::Skewed));
        finding.against = CaveatCheck::of(&finding.caveats);
        let is_pooled = plan
            .workload(&finding.question.workload)
            .is_some_and(|workload| workload.pooled.contains(&finding.question.metric));
        if is_pooled {
            // A jackknife has no such sequence.
            finding.effect = None;
        }
        let family = families.get(&finding.question.family).copied().unwrap_or(1).max(1);
        if let Some(effect) = &mut finding.effect {
            // Fewer effective blocks than pairs where neighbours are alike.
            let count = (effect.degrees + 1.0).floor().max(0.0) as usize;
            let interval = |alpha: f64| {
                let half = confidence_sequence_half_width(count, effect.log_sd, alpha);
                interval_between(effect.log_mean - half, effect.log_mean + half)
            };
            (effect.interval, effect.family_interval) =
                (interval(plan.alpha), interval(plan.alpha / family as f64));
            // What does not vary has no interval of any kind.
            effect.is_sequence = !effect.does_not_vary();
            // Its bounds are as far away on both sides.
            effect.skew = 0.0;
            effect.p_difference = None;
            effect.p_equivalence = None;
            effect.adjusted_difference = None;
            effect.adjusted_equivalence = None;
            // It is that of a test, which says nothing here.
            effect.deciding = None;
        }
    }
    let observations = Observations::of(records);
    compare_pairs(&mut findings.findings, &observations, Basis::Sequence);
    let counts = failures_at_every_block(plan, &observations).into_iter();
    findings.failures = counts.map(rounded).collect();
    findings.rankings.clear();
    findings.use_cases.clear();
    findings.claims.clear();
    Judgement { findings, signals, claimed: ClaimedFindings::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, records};
    use model::{Direction, Reduction};

    #[test]
    fn a_running_campaign_has_wider_intervals_and_no_verdict() {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let plan = plan(&["a", "b"], metrics, 20);
        let noise = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];
        let values = |scale: f64, turn: usize| -> Vec<f64> {
            (0..8).map(|block| scale * (1.0 + 0.01 * noise[(block + turn) % 8])).collect()
        };
        let mut all = records("a", &values(100.0, 0));
        all.extend(records("b", &values(90.0, 3)));
        let (live, fixed) = (live(&plan, &all), judge_at(&plan, &all, 0.05).findings);
        let width = |findings: &Findings| {
            let interval = findings.findings[0].effect.as_ref().unwrap().interval;
            (interval.high / interval.low).ln()
        };
        // 1.50 against 0.84 standard deviations at eight blocks.
        assert!((width(&live) / width(&fixed) - 1.50 / 0.836).abs() < 0.02);
        assert_eq!(fixed.findings[0].verdict, Verdict::Better);
        assert_eq!(live.findings[0].verdict, Verdict::Inconclusive);
        assert!(live.caveats.iter().any(|caveat| caveat.code == CaveatCode::Unfinished));
        assert_eq!(live.findings[0].effect.as_ref().unwrap().p_difference, None);
        // What the sequence shows may be said when it is ended.
        let stopped = ended(&plan, &all);
        assert_eq!(stopped.findings[0].verdict, Verdict::Better);
        // At half the level: 1.79 standard deviations.
        assert!((width(&stopped) / width(&fixed) - 1.79 / 0.836).abs() < 0.02);
        assert_eq!([live.alpha, stopped.alpha], [0.05, 0.025]);
        let kinds = [&fixed, &live, &stopped].map(|of| of.findings[0].is_sequence());
        assert_eq!(kinds, [false, true, true]);
        let go_on = [&fixed, &live, &stopped].map(|of| of.is_unfinished);
        assert_eq!(go_on, [false, true, false]);
        let mut close = records("a", &values(100.0, 0));
        close.extend(records("b", &values(99.2, 3)));
        assert_eq!(judge_at(&plan, &close, 0.05).findings.findings[0].verdict, Verdict::Equivalent);
        assert_eq!(ended(&plan, &close).findings[0].verdict, Verdict::Inconclusive);
        let few = super::live(&plan, &records("a", &[1.0, 2.0]));
        assert!(few.findings[0].effect.is_none());
    }

    #[test]
    fn a_sequence_allows_for_no_skewness() {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let plan = plan(&["a", "b"], metrics, 20);
        let value =
            |block: usize| 90.0 / (1.0 + if block == 3 { 0.3 } else { 0.002 * block as f64 });
        let mut all = records("a", &[100.0; 14]);
        all.extend(records("b", &(0..14).map(value).collect::<Vec<_>>()));
        let of = |findings: Findings| findings.findings[0].effect.clone().unwrap();
        let fixed = of(judge_at(&plan, &all, 0.05).findings);
        assert!(fixed.skew != 0.0, "the test of a fixed number of blocks does: {fixed:?}");
        for effect in [of(live(&plan, &all)), of(ended(&plan, &all))] {
            assert_eq!(effect.skew, 0.0);
            let sides = [effect.ratio / effect.interval.low, effect.interval.high / effect.ratio];
            assert!((sides[0] / sides[1] - 1.0).abs() < 1e-6, "{effect:?}");
        }
    }

    #[test]
    fn an_equivalence_of_an_ended_campaign_has_the_interval_of_the_sequence() {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let plan = plan(&["a", "b", "c"], metrics, 20);
        let noise = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];
        let mut all = Vec::new();
        for (turn, id) in ["a", "b", "c"].into_iter().enumerate() {
            let centre = 100.0 + 0.05 * turn as f64;
            let value = |block: usize| centre * (1.0 + 0.003 * noise[(block + 3 * turn) % 8]);
            all.extend(records(id, &(0..8).map(value).collect::<Vec<_>>()));
        }
        let live = live(&plan, &all);
        assert!(live.findings.iter().all(|one| one.deciding_alpha().is_none()));
        for finding in ended(&plan, &all).findings {
            assert_eq!(finding.verdict, Verdict::Equivalent, "{finding:?}");
            let effect = finding.effect.as_ref().unwrap();
            assert_eq!(finding.shown_interval(), Some(effect.family_interval));
            assert_eq!(finding.deciding_alpha(), Some(0.0125), "of two, at half the level");
        }
    }

    #[test]
    fn ending_proves_nothing_of_what_does_not_vary_or_is_pooled() {
        // Of a step that is known.
        let metric_of = metric("m", Direction::Lower, Reduction::Median);
        let metrics = vec![model::Metric { resolution: 0.01, ..metric_of }];
        let plan_of = |blocks: u32| plan(&["a", "b"], metrics.clone(), blocks);
        let same = |value: f64| {
            let mut all = records("a", &[100.0; 8]);
            all.extend(records("b", &[value; 8]));
            let finding = ended(&plan_of(20), &all).findings.remove(0);
            assert!(!finding.is_sequence(), "what has no p for another reason says so");
            finding.verdict
        };
        assert_eq!(same(50.0), Verdict::Inconclusive, "no test is possible");
        assert_eq!(same(100.5), Verdict::Equivalent, "as when it had run to its end");

        let p50 = metric("m", Direction::Lower, Reduction::Quantile(0.5));
        let mut pooled = plan(&["a", "b"], vec![p50], 20);
        pooled.workloads[0].pooled = vec!["m".to_owned()];
        let mut all = Vec::new();
        for block in 0..12 {
            for (subject, centre) in [("a", 10_000), ("b", 20_000)] {
                let mut histogram = model::Histogram::new();
                histogram.record_many(centre + u64::from(block) * 50, 1_000);
                let samples = vec![vec![model::Sample::histogram("m", histogram)]];
                all.push(crate::fixtures::record(block, subject, "w", samples));
            }
        }
        assert_eq!(crate::judge(&pooled, &all).findings[0].verdict, Verdict::Worse);
        assert_eq!(ended(&pooled, &all).findings[0].verdict, Verdict::Inconclusive);
    }
}
