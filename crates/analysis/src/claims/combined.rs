//! Claims about one number made of several comparisons in each block: their mean, or how the
//! difference of two sides turns between two places (docs/method.md#m-claims).
//!
//! In each block the log differences of the comparisons are added up by weights: 1/k for the mean
//! of k; 1/k at the second place and -1/k at the first for a turn, which is a difference of log
//! ratios. What subjects of a block share cancels, and the rest is the design's own test.

use super::subjects::of_subjects;
use crate::comparison::{Comparison, Gathered};
use crate::pairs::{Pairs, replicates, weighted};
use crate::quality::widened;
use crate::questions::Asked;
use crate::rulebook::{Numbers, Signals, stopping};
use crate::sum_order::{OrderOfSum, SumOfParts};
use crate::sums::PassedOn;
use crate::trial_facts::unchosen;
use model::{Caveat, Claim, ClaimedTurn, Finding, Plan, Question, Weight};
use stats::ln;
use std::collections::BTreeMap;

/// What stands before the number of a claim in the name of its family.
const FAMILY: &str = "claim ";
/// The key of a turn between workloads.
pub(super) const WORKLOAD: &str = "workload";

/// The name of the family of a combined claim.
fn family(index: usize) -> String {
    format!("{FAMILY}{}", index + 1)
}

/// Whether a finding is that of a combined claim, and of which.
pub(super) fn is_of(question: &Question, index: usize) -> bool {
    claim_of(question) == Some(index)
}

/// The claim that a question combines, by its place in the plan.
pub(super) fn claim_of(question: &Question) -> Option<usize> {
    question.family.strip_prefix(FAMILY)?.parse::<usize>().ok()?.checked_sub(1)
}

/// The number of each combined claim, one for each of its metrics.
pub(super) fn comparisons<'a>(plan: &'a Plan, gathered: Gathered<'_>) -> Vec<Comparison<'a>> {
    let claims = plan.claims.iter().enumerate().filter(|(_, claim)| claim.is_combined());
    let of_claim = |(index, claim): (usize, &'a Claim)| {
        let mut by_metric: BTreeMap<String, Vec<Asked<'a>>> = BTreeMap::new();
        for one in of_subjects(plan, claim) {
            by_metric.entry(one.question.metric.clone()).or_default().push(one);
        }
        let asked = claim.metric.ids().iter().filter_map(|metric| by_metric.remove(metric));
        asked
            .filter_map(|asked| combined(plan, gathered, (index, claim), asked))
            .collect::<Vec<_>>()
    };
    claims.flat_map(of_claim).collect()
}

/// The workloads and metrics that a combined claim rests on.
pub(super) fn rests_on(plan: &Plan, claim: &Claim) -> Vec<Weight> {
    let parts = of_subjects(plan, claim).into_iter();
    let weight = |asked: Asked<'_>| Weight {
        workload: asked.question.workload,
        metric: asked.question.metric,
        weight: 1.0,
    };
    parts.map(weight).collect()
}

/// The number that a claim makes of comparisons of one metric.
fn combined<'a>(
    plan: &'a Plan,
    gathered: Gathered<'_>,
    (index, claim): (usize, &Claim),
    asked: Vec<Asked<'a>>,
) -> Option<Comparison<'a>> {
    let parts: Vec<(f64, Asked<'a>)> = asked
        .into_iter()
        .filter_map(|one| Some((sign(plan, claim.shape.turns.as_ref(), &one.question)?, one)))
        .collect();
    let count = |side: f64| parts.iter().filter(|(sign, _)| *sign == side).count() as f64;
    let (added, taken) = (count(1.0), count(-1.0));
    if added == 0.0 || (claim.shape.turns.is_some() && taken == 0.0) {
        return None;
    }
    let parts: Vec<(f64, Comparison<'a>)> = parts
        .into_iter()
        .map(|(sign, asked)| {
            let weight = if sign > 0.0 { 1.0 / added } else { -1.0 / taken };
            (weight, Comparison::of(asked, gathered, plan.alpha))
        })
        .collect();
    let (_, first) = parts.first()?;
    let mut question = first.asked.question.clone();
    question.subject = claim.subject.to_string();
    question.reference = claim.reference.to_string();
    question.family = family(index);
    let asked = Asked { question, metric: first.asked.metric, workload: first.asked.workload };
    Some(sum(asked, &parts, gathered))
}

/// Whether a comparison is added (1) or taken away (-1); none where it stands at neither place of a
/// turn.
fn sign(plan: &Plan, turn: Option<&ClaimedTurn>, question: &Question) -> Option<f64> {
    let Some(ClaimedTurn { of, levels: [from, to] }) = turn else { return Some(1.0) };
    let is_at = |place: &String| {
        if of == WORKLOAD {
            return question.workload == *place;
        }
        [&question.subject, &question.reference].into_iter().all(|id| {
            let subject = plan.subject(id);
            let level = subject.and_then(|subject| subject.levels.get(of));
            level.is_some_and(|level| level.as_str() == place)
        })
    };
    match (is_at(to), is_at(from)) {
        (true, _) => Some(1.0),
        (false, true) => Some(-1.0),
        (false, false) => None,
    }
}

/// The weighted log differences of the blocks that hold every part.
fn sum<'a>(
    asked: Asked<'a>,
    parts: &[(f64, Comparison<'a>)],
    gathered: Gathered<'_>,
) -> Comparison<'a> {
    let of_parts: Vec<(f64, &Pairs)> =
        parts.iter().map(|(weight, part)| (*weight, &part.pairs)).collect();
    let (blocks, boots) = weighted(&of_parts);
    let mut pairs = Pairs { blocks, ..Pairs::default() };
    pairs.differences = replicates(&pairs.blocks, &boots);
    pairs.boots = boots;
    let (test, caveat) = widened(&pairs.differences);
    let numbers = Numbers::Sum {
        replicates: pairs.differences.len(),
        // The claims are corrected among themselves: no more than this is left for each.
        component: stopped(parts, gathered.plan.alpha / gathered.plan.claims.len().max(1) as f64),
    };
    let any = |is_one: fn(&Signals) -> bool| parts.iter().any(|(_, part)| is_one(&part.signals));
    let mut passed_on = PassedOn::default();
    for (weight, part) in parts {
        passed_on.note(*weight, part);
    }
    let theta = ln(1.0 + asked.metric.margin);
    let unchosen = unchosen(gathered.plan, asked.metric, gathered.plan.alpha);
    let strict = unchosen.map_or(theta, |usual| usual.theta.min(theta));
    let question = &asked.question;
    let of_parts = SumOfParts { question, pairs: &pairs, test: test.as_ref(), theta: strict };
    let order = OrderOfSum::of(gathered, parts, &of_parts);
    let signals = Signals {
        is_emulated: any(|signals| signals.is_emulated),
        is_odds: any(|signals| signals.is_odds),
        ..passed_on.signals(numbers, &pairs, test.as_ref(), &order)
    };
    let mut caveats: Vec<Caveat> = caveat.into_iter().collect();
    caveats.extend_from_slice(passed_on.caveats());
    caveats.extend(signals.caveats());
    Comparison {
        asked,
        pairs,
        test,
        theta,
        unchosen,
        signals,
        caveats,
        noise: None,
        pooled: None,
        known_step: None,
    }
}

/// The first part that gives no verdict by itself at this level, and why.
fn stopped(parts: &[(f64, Comparison<'_>)], level: f64) -> Option<String> {
    parts.iter().find_map(|(_, part)| {
        let reason = stopping(&part.signals, level)?;
        Some(format!("{}: {reason}", part.asked.question.workload))
    })
}

/// The findings of a combined claim.
pub(super) fn about(index: usize, all: &[Finding]) -> Vec<&Finding> {
    all.iter().filter(|finding| is_of(&finding.question, index)).collect()
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{metric, plan, record};
    use model::{
        Claim, ClaimFinding, ClaimOutcome, ClaimShape, Claimed, ClaimedEffect, ClaimedOver,
        ClaimedTurn, Direction, Level, Outcome, Plan, Record, Reduction, Sample, WorkloadPlan,
    };

    const NOISE: [f64; 8] = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];
    const LABELS: [&str; 3] = ["one", "four", "nine"];

    fn claim(effect: ClaimedEffect, shape: ClaimShape) -> Claim {
        Claim { workload: None, shape, ..fixtures::claim("b", "a", effect) }
    }

    fn turns(of: &str, levels: [&str; 2]) -> ClaimShape {
        let levels = levels.map(str::to_owned);
        ClaimShape { turns: Some(ClaimedTurn { of: of.to_owned(), levels }), ..Default::default() }
    }

    /// Three workloads, of which less is better.
    fn grid(claim: Claim) -> Plan {
        let time = metric("m", Direction::Lower, Reduction::Median);
        let mut plan = plan(&["a", "b"], vec![time], 8);
        let like = plan.workloads.remove(0);
        plan.workloads =
            LABELS.map(|label| WorkloadPlan { label: label.to_owned(), ..like.clone() }).into();
        plan.claims = vec![claim];
        plan
    }

    /// What `b` takes in each workload of what `a` takes.
    fn records(ratios: [f64; 3]) -> Vec<Record> {
        let mut all = Vec::new();
        for block in 0..8_u32 {
            for (turn, subject) in ["a", "b"].into_iter().enumerate() {
                for (place, label) in LABELS.into_iter().enumerate() {
                    let noise = 0.005 * NOISE[(block as usize + 3 * turn + 5 * place) % 8];
                    let ratio = if subject == "b" { ratios[place] } else { 1.0 };
                    let value = 100.0 * (place + 1) as f64 * ratio * (1.0 + noise);
                    let samples = vec![Sample::values("m", vec![value])];
                    all.push(record(block, subject, label, vec![samples]));
                }
            }
        }
        all
    }

    fn judged(claim: Claim, ratios: [f64; 3]) -> ClaimFinding {
        crate::judge(&grid(claim), &records(ratios)).claims.remove(0)
    }

    #[test]
    fn a_gap_that_turns_is_a_difference_of_log_ratios() {
        let gains = || turns("workload", ["one", "nine"]);
        let of = |effect, ratios| judged(claim(effect, gains()), ratios).outcome;
        use ClaimOutcome::{Confirmed, Refuted};
        use ClaimedEffect::{Better, Change, Same, Worse};
        // Worse by 10 % with one, better by 20 % with nine.
        assert_eq!(of(Better, [1.1, 1.0, 0.8]), Confirmed);
        assert_eq!(of(Worse, [1.1, 1.0, 0.8]), Refuted);
        // As much better in both: the gap stays.
        assert_eq!(of(Better, [0.8, 0.9, 0.8]), Refuted);
        assert_eq!(of(Same, [0.8, 0.9, 0.8]), Confirmed);
        // The ratio of the two falls from 1.1 to 0.88.
        assert_eq!(of(Change(-0.2), [1.1, 1.0, 0.88]), Confirmed);
        let reason = judged(claim(Better, gains()), [1.1, 1.0, 0.8]).reason;
        assert!(reason.starts_with("measured -27.") && reason.contains("of the ratio"), "{reason}");
    }

    #[test]
    fn a_turn_by_a_level_compares_subjects_that_share_it() {
        let levels =
            |side: &str| Claimed::Levels([("s".to_owned(), Level::canonical(side))].into());
        let sides = Claim {
            subject: levels("new"),
            reference: levels("old"),
            ..claim(ClaimedEffect::Better, turns("cpus", ["1", "4"]))
        };
        let time = metric("m", Direction::Lower, Reduction::Median);
        let ids = ["old-1", "new-1", "old-4", "new-4"];
        let mut plan = plan(&ids, vec![time], 8);
        for subject in &mut plan.subjects {
            let (side, cpus) = subject.id.split_once('-').unwrap();
            let pair = [("s", side), ("cpus", cpus)];
            subject.levels =
                pair.map(|(factor, level)| (factor.to_owned(), Level::canonical(level))).into();
        }
        plan.claims = vec![sides];
        let mut all = Vec::new();
        for block in 0..8_u32 {
            for (turn, (id, value)) in ids.iter().zip([100.0, 101.0, 90.0, 60.0]).enumerate() {
                let noise = 0.005 * NOISE[(block as usize + 3 * turn) % 8];
                let samples = vec![Sample::values("m", vec![value * (1.0 + noise)])];
                all.push(record(block, id, "w", vec![samples]));
            }
        }
        let found = crate::judge(&plan, &all).claims.remove(0);
        assert_eq!(found.outcome, ClaimOutcome::Confirmed, "{}", found.reason);
    }

    #[test]
    fn most_is_more_than_half_and_overall_is_the_mean() {
        let over = |over| ClaimShape { over, ..Default::default() };
        let of = |over_what, ratios| {
            judged(claim(ClaimedEffect::Better, over(over_what)), ratios).outcome
        };
        let mixed = [0.8, 0.85, 1.2];
        assert_eq!(of(ClaimedOver::Every, mixed), ClaimOutcome::Refuted);
        assert_eq!(of(ClaimedOver::Most, mixed), ClaimOutcome::Confirmed);
        assert_eq!(of(ClaimedOver::Most, [0.8, 1.2, 1.2]), ClaimOutcome::Refuted);
        // 0.8 * 0.85 * 1.2 = 0.816, less than 1.
        assert_eq!(of(ClaimedOver::Overall, mixed), ClaimOutcome::Confirmed);
        assert_eq!(of(ClaimedOver::Overall, [0.8, 1.2, 1.3]), ClaimOutcome::Refuted);
    }

    #[test]
    fn claims_of_every_kind_in_one_plan_do_not_count_each_other() {
        let over = |over| ClaimShape { over, ..Default::default() };
        let order =
            ClaimShape { order: ["b", "a"].map(str::to_owned).into(), ..Default::default() };
        let across = Claim {
            workloads: LABELS.map(str::to_owned).into(),
            subject: Claimed::Levels([].into()),
            reference: Claimed::Levels([].into()),
            ..claim(ClaimedEffect::Worse, ClaimShape::default())
        };
        let claims = [
            (claim(ClaimedEffect::Better, over(ClaimedOver::Every)), Some(3)),
            (claim(ClaimedEffect::Better, over(ClaimedOver::Overall)), None),
            (claim(ClaimedEffect::Same, turns("workload", ["one", "nine"])), None),
            (claim(ClaimedEffect::Better, order), Some(3)),
            (claim(ClaimedEffect::Better, over(ClaimedOver::Most)), Some(3)),
            (across, Some(4)),
        ];
        let ratios = [0.8, 0.85, 0.8];
        let mut plan = grid(claims[0].0.clone());
        plan.claims = claims.iter().map(|(claim, _)| claim.clone()).collect();
        let together = crate::judge(&plan, &records(ratios)).claims;
        for ((claim, parts), found) in claims.into_iter().zip(together) {
            assert_eq!(found.outcome, ClaimOutcome::Confirmed, "{}", found.reason);
            assert_eq!(found.tally.map(|tally| tally.confirmed), parts, "{}", found.reason);
            let alone = judged(claim, ratios);
            assert_eq!((found.outcome, found.tally), (alone.outcome, alone.tally));
        }
    }

    #[test]
    fn a_part_that_gives_no_verdict_leaves_none() {
        let plan = grid(claim(ClaimedEffect::Better, turns("workload", ["one", "nine"])));
        let mut all = records([1.1, 1.0, 0.8]);
        for failed in all.iter_mut().filter(|one| one.workload == "one" && one.block < 4) {
            failed.outcome = Outcome::Failed { reason: "exit status 1".to_owned() };
            failed.invocations.clear();
        }
        let found = crate::judge(&plan, &all).claims.remove(0);
        assert_eq!(found.outcome, ClaimOutcome::Undecided, "{}", found.reason);
        assert!(found.reason.starts_with("one: failures come first"), "{}", found.reason);
    }

    #[test]
    fn an_order_is_each_against_the_next() {
        let order = ["c", "b", "a"].map(str::to_owned).into();
        let shape = ClaimShape { order, ..Default::default() };
        let one = Claim {
            subject: "c".into(),
            workload: Some("w".to_owned()),
            ..claim(ClaimedEffect::Better, shape)
        };
        let time = metric("m", Direction::Lower, Reduction::Median);
        let mut plan = plan(&["a", "b", "c"], vec![time], 8);
        plan.claims = vec![one];
        let judged = |values: [f64; 3]| {
            let mut all = Vec::new();
            for block in 0..8_u32 {
                for (turn, (id, value)) in ["a", "b", "c"].iter().zip(values).enumerate() {
                    let noise = 0.005 * NOISE[(block as usize + 3 * turn) % 8];
                    let samples = vec![Sample::values("m", vec![value * (1.0 + noise)])];
                    all.push(record(block, id, "w", vec![samples]));
                }
            }
            crate::judge(&plan, &all).claims.remove(0)
        };
        let found = judged([100.0, 90.0, 80.0]);
        assert_eq!(found.outcome, ClaimOutcome::Confirmed, "{}", found.reason);
        assert_eq!(found.tally.unwrap().confirmed, 2, "each step, and not the first to the last");
        assert_eq!(judged([100.0, 80.0, 90.0]).outcome, ClaimOutcome::Refuted, "one step falls");
        assert_eq!(judged([80.0, 90.0, 100.0]).outcome, ClaimOutcome::Refuted);
    }
}
