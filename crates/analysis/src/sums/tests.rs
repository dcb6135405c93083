//! Whatever stands in the way of a comparison stands in the way of all that is made of it.

use crate::fixtures::{metric, noticing, plan, record};
use crate::{judge, withhold};
use model::{
    Caveat, CaveatCode, Claim, ClaimOutcome, ClaimShape, ClaimedEffect, ClaimedOver, ClaimedTurn,
    Direction, Findings, Forbidden, Histogram, ImportedOrder, InSum, Metric, Obstacle, Outcome,
    Plan, Record, Reduction, Sample, TrialFact, Unit, UnlikeMix, Verdict, WorkloadPlan,
};

const ONE: [f64; 10] = [0.3, -0.7, 0.1, 0.9, -0.4, -0.2, 0.6, -0.9, 0.2, -0.1];
const NOISE: [f64; 8] = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];
const OTHER: [f64; 10] = [-0.5, 0.4, -0.1, 0.8, -0.8, 0.3, 0.7, -0.3, -0.6, 0.1];
/// Of two workloads the first is calm: nothing differs in it.
const LABELS: [&str; 2] = ["calm", "w"];

/// One trial of the workload `w`.
#[derive(Clone, Copy)]
struct Slot {
    block: usize,
    /// Sittings before its own.
    row: usize,
    /// Whose sitting came before.
    follows: Option<&'static str>,
    /// From 0 to 1 over the campaign.
    along: f64,
}

/// A campaign of `a` and `b`: which of them runs when, and what `w` takes, as the logarithm over 100.
struct Campaign {
    plan: Plan,
    records: Vec<Record>,
}

impl Campaign {
    /// The subjects row by row, each in its next block.
    fn of(rows: &str, kind: Metric, log: impl Fn(&str, Slot) -> f64) -> Self {
        let mut plan = plan(&["a", "b"], vec![kind.clone()], (rows.len() / 2) as u32);
        let like = plan.workloads.remove(0);
        plan.workloads =
            LABELS.map(|label| WorkloadPlan { label: label.to_owned(), ..like.clone() }).into();
        for sitting in plan.blocks.iter_mut().flat_map(|block| &mut block.sittings) {
            sitting.workloads = LABELS.into_iter().collect();
        }
        let mut records: Vec<Record> = Vec::new();
        let mut ran = [0; 2];
        let mut follows = None;
        for (row, letter) in rows.chars().enumerate() {
            let (side, subject) = if letter == 'a' { (0, "a") } else { (1, "b") };
            let block: usize = ran[side];
            ran[side] += 1;
            let is_second = ran[1 - side] > block;
            let along = row as f64 / (rows.len() - 1) as f64;
            let slot = Slot { block, row, follows, along };
            let calm = 1e-5 * if side == 0 { ONE[block % 10] } else { OTHER[block % 10] };
            for (label, log) in LABELS.into_iter().zip([calm, log(subject, slot)]) {
                let samples = vec![sample(&kind, 100.0 * log.exp())];
                let mut next = record(block as u32, subject, label, vec![samples]);
                next.position = u32::from(is_second);
                next.sequence = records.len() as u64;
                "one".clone_into(&mut next.boot_id);
                records.push(next);
            }
            follows = Some(subject);
        }
        Self { plan, records }
    }

    /// The same, with its trials of this subject and `w` changed.
    fn with(mut self, subject: &str, change: impl Fn(&mut Record)) -> Self {
        let own = self.records.iter_mut();
        own.filter(|one| one.subject == subject && one.workload == "w").for_each(change);
        self
    }

    /// The same of so many blocks.
    fn of_blocks(mut self, blocks: u32) -> Self {
        self.records.retain(|record| record.block < blocks);
        self
    }

    /// The same as an import.
    fn imported(mut self, order: ImportedOrder, caveats: Vec<Caveat>) -> Self {
        self.plan.imported = Some(noticing(caveats, order));
        self
    }

    fn judged(&self, claims: Vec<Claim>) -> Findings {
        let use_cases = vec![fixtures::use_case("use", &[("m", 1.0)])];
        judge(&Plan { claims, use_cases, ..self.plan.clone() }, &self.records)
    }
}

fn sample(kind: &Metric, value: f64) -> Sample {
    match kind.reduction {
        Reduction::Quantile(_) => {
            let mut histogram = Histogram::new();
            histogram.record_many((1_000.0 * value).round() as u64, 1_000);
            Sample::histogram("m", histogram)
        }
        _ => Sample::values("m", vec![value]),
    }
}

fn time(margin: f64) -> Metric {
    Metric { margin, ..metric("m", Direction::Lower, Reduction::Median) }
}

fn quantile(of: f64) -> Metric {
    metric("m", Direction::Lower, Reduction::Quantile(of))
}

/// Ten blocks as they are drawn, and one subject after the other.
const DRAWN: &str = "abbababaabbaabababba";
const SORTED: &str = "aaaaaaaaaabbbbbbbbbb";

fn noise(subject: &str, slot: Slot) -> f64 {
    0.002 * if subject == "a" { ONE[slot.block % 10] } else { OTHER[slot.block % 10] }
}

/// `b` takes a fifth less.
fn better(subject: &str, slot: Slot) -> f64 {
    noise(subject, slot) - if subject == "b" { 0.223 } else { 0.0 }
}

fn failed(record: &mut Record) {
    record.outcome = Outcome::Failed { reason: "exit status 1".to_owned() };
    record.invocations.clear();
}

/// A campaign in whose workload `w` this obstacle decides; none of an obstacle that no comparison in
/// blocks has, or that another one always comes with.
fn campaign(obstacle: Obstacle) -> Option<Campaign> {
    let usual = |kind: Metric| Campaign::of(DRAWN, kind, better);
    let campaign = match obstacle {
        Obstacle::ObservedLatency => usual(quantile(0.5)).with("b", |one| {
            one.note_fact(TrialFact::Observed, "a probe");
        }),
        Obstacle::NoValidBlock => usual(time(0.02)).with("b", |one| {
            let (rule, detail) = ("LEVEL_CHANGED".to_owned(), String::new());
            one.outcome = Outcome::Invalid { rule, detail };
        }),
        Obstacle::UnequalFailures => usual(time(0.02)).with("b", |one| {
            if one.block < 4 {
                failed(one);
            }
        }),
        Obstacle::ZeroValue => usual(time(0.02)).with("b", |one| {
            if one.block == 3 {
                one.invocations[0].samples = vec![Sample::values("m", vec![0.0])].into();
            }
        }),
        Obstacle::NothingToCompare => {
            usual(time(0.02)).with("b", |one| one.invocations[0].samples.clear())
        }
        Obstacle::ExecutionParts => in_parts(usual(time(0.02))),
        Obstacle::CopiedValues => {
            let told = vec![Caveat::new(CaveatCode::Copied, "a block once more")];
            usual(time(0.02)).imported(ImportedOrder::Column, told)
        }
        Obstacle::FewPooledBlocks => {
            let mut few = usual(quantile(0.5)).of_blocks(8);
            few.plan.workloads[1].pooled = vec!["m".to_owned()];
            few
        }
        Obstacle::DriftInOrder => drifting_in_order(),
        Obstacle::UnequalWork => unequal_work(usual(quantile(0.5))),
        Obstacle::CarryOver => with_carry_over(),
        Obstacle::CorrelatedBlocks => wandering(),
        Obstacle::ShortTail => usual(quantile(0.999)),
        Obstacle::FewPairs => usual(time(0.02)).of_blocks(4),
        Obstacle::SurvivorsOnly => usual(time(0.02)).with("b", |one| {
            if one.block == 0 {
                failed(one);
            }
        }),
        Obstacle::DriftAlone => one_after_the_other(),
        Obstacle::HidingFailures => pooled_with_a_failure(),
        Obstacle::OrderAlone => return order_alone(),
        Obstacle::HidingOrder => hiding_order(),
        Obstacle::OneStep => one_step(),
        Obstacle::CoarseSteps => coarse_steps(),
        // Evidence and controls are asked of the findings themselves.
        Obstacle::ChangedEvidence => usual(time(0.02)),
        Obstacle::FailedControl => with_failed_control(),
        Obstacle::UnequalMixes => with_unlike_mix(usual(time(0.02))),
        // A reference that drifted in an order that is not mixed has no verdict at all.
        Obstacle::HidingDrift => return None,
        // Of intervals that hold at every look, by which no sum is judged.
        Obstacle::FewDistinctValues => return None,
        // Raised by the p-values of a family: a sum has its own.
        Obstacle::GivenLevel | Obstacle::GivenMargin => return None,
        // Of numbers without blocks, which nothing adds up; of sums alone; and of what an origin raises
        // by itself. The rulebook tests of each that it stops a sum.
        other => {
            assert_eq!(other.in_sum(), InSum::Stopping, "{other:?} has a campaign here");
            return None;
        }
    };
    Some(campaign)
}

/// An import whose values are parts of executions.
fn in_parts(campaign: Campaign) -> Campaign {
    let mut parts = campaign.imported(ImportedOrder::Column, Vec::new());
    let names = parts.plan.imported.iter_mut();
    names.for_each(|imported| imported.parts = vec!["client".to_owned()]);
    parts
}

/// A percentile of all blocks together, of which no ranks of blocks tell, with a failure.
fn pooled_with_a_failure() -> Campaign {
    let mut pooled = Campaign::of(&DRAWN.repeat(2), quantile(0.5), noise);
    pooled.plan.workloads[1].pooled = vec!["m".to_owned()];
    pooled.with("b", |one| {
        if one.block == 0 {
            failed(one);
        }
    })
}

/// An import whose subjects hold unlike shares of a column that nobody named.
fn with_unlike_mix(campaign: Campaign) -> Campaign {
    let mut unlike = campaign.imported(ImportedOrder::Column, Vec::new());
    let mix = UnlikeMix {
        metric: "m".to_owned(),
        subjects: vec!["a".to_owned(), "b".to_owned()],
        told: "op read: 90 % of the rows of a, 10 % of those of b".to_owned(),
    };
    unlike.plan.imported.iter_mut().for_each(|imported| imported.mixes = vec![mix.clone()]);
    unlike
}

/// Every block in the same order, while times grow.
fn drifting_in_order() -> Campaign {
    let drifting = |subject: &str, slot: Slot| better(subject, slot) + 0.05 * slot.block as f64;
    let told = Caveat::new(CaveatCode::OrderConfounded, "every block ran a, b");
    Campaign::of(DRAWN, time(0.02), drifting).imported(ImportedOrder::Unknown, vec![told])
}

/// As in the test of carry-over: b follows a in most blocks, and a itself in few.
fn with_carry_over() -> Campaign {
    let after_a = |_: &str, slot: Slot| {
        let noise = 0.002 * NOISE[(slot.row * 5 + slot.row / 16) % 8];
        (1.0 + noise + if slot.follows == Some("a") { 0.06 } else { 0.0 }).ln()
    };
    Campaign::of("ababbabaabbaababbaabbaab", time(0.02), after_a)
}

/// The same of an order in which b follows a in all blocks but two, and b is quicker by what it loses.
fn hiding_order() -> Campaign {
    let after_a = |subject: &str, slot: Slot| {
        let noise = 0.002 * NOISE[(slot.row * 5 + slot.row / 16) % 8];
        let left = if slot.follows == Some("a") { 0.03 } else { 0.0 };
        let own = if subject == "b" { -0.03 } else { 0.0 };
        (1.0 + noise + left + own).ln()
    };
    Campaign::of("ababababababbaababababab", time(0.02), after_a)
}

/// The difference comes and goes with six blocks.
fn wandering() -> Campaign {
    let slow = |subject: &str, slot: Slot| {
        let changing = -0.2 + 0.03 * (std::f64::consts::FRAC_PI_3 * slot.block as f64).sin();
        0.1 * noise(subject, slot) + if subject == "b" { changing } else { 0.0 }
    };
    Campaign::of(&DRAWN.repeat(2), time(0.02), slow)
}

/// As in the test of sorted tables: a drift that is too small for a warning of its own.
fn one_after_the_other() -> Campaign {
    let drifting = |subject: &str, slot: Slot| 2.5 * noise(subject, slot) + 0.01 * slot.along;
    Campaign::of(SORTED, time(0.002), drifting).imported(ImportedOrder::Rows, Vec::new())
}

/// Ticks of a clock.
const TICKS: [f64; 10] = [100.0, 101.0, 100.0, 102.0, 101.0, 100.0, 101.0, 102.0, 100.0, 101.0];

/// `b` takes one more.
fn one_step() -> Campaign {
    let stepping = |subject: &str, slot: Slot| {
        let more = if subject == "b" { 1.0 } else { 0.0 };
        ((TICKS[slot.block] + more) / 100.0).ln()
    };
    Campaign::of(DRAWN, time(0.005), stepping)
}

/// Both take as much.
fn coarse_steps() -> Campaign {
    let stepping = |subject: &str, slot: Slot| {
        let turn = if subject == "b" { 3 } else { 0 };
        (TICKS[(slot.block + turn) % 10] / 100.0).ln()
    };
    Campaign::of(DRAWN, time(0.018), stepping)
}

/// Beside a percentile of `b` half of the rate.
fn unequal_work(mut campaign: Campaign) -> Campaign {
    let rate =
        Metric { unit: Unit::PerSecond, ..metric("rate", Direction::Higher, Reduction::Quotient) };
    for workload in &mut campaign.plan.workloads {
        workload.metrics.push(rate.clone());
    }
    for record in &mut campaign.records {
        let is_less = record.subject == "b" && record.workload == "w";
        let noise = 1.0 + 0.01 * ONE[record.block as usize % 10];
        let rate = if is_less { 50.0 * noise } else { 100.0 / noise };
        record.invocations[0].samples.push(Sample::quotient("rate", rate, 1.0));
    }
    campaign
}

/// A second copy of the reference that takes half as long again in `w`.
fn with_failed_control() -> Campaign {
    let mut campaign = Campaign::of(DRAWN, time(0.02), better);
    let mut twins: Vec<Record> = Vec::new();
    for record in campaign.records.iter().filter(|record| record.subject == "a") {
        let factor = if record.workload == "w" { 1.5 } else { 1.000_01 };
        let noise = 1.0 + 0.001 * OTHER[record.block as usize % 10];
        let samples = vec![Sample::values("m", vec![100.0 * factor * noise])];
        let mut twin =
            crate::fixtures::record(record.block, "a-again", &record.workload, vec![samples]);
        twin.position = 2;
        twin.sequence = 1_000 + record.sequence;
        twin.boot_id = format!("of {}", record.sequence);
        twins.push(twin);
    }
    campaign.records.extend(twins);
    campaign.plan.subjects = fixtures::subjects(&["a", "a-again", "b"]);
    campaign
}

/// The first of many campaigns with a carry-over of 1.5 % in which what is left of the difference is
/// less than half of it.
fn order_alone() -> Option<Campaign> {
    (0..200_u64).find_map(|seed| {
        let state = std::cell::Cell::new(seed);
        let draw = || {
            let mut sum = 0.0;
            for _ in 0..12 {
                let next = state.get().wrapping_mul(6_364_136_223_846_793_005);
                state.set(next.wrapping_add(seed | 1));
                sum += (state.get() >> 40) as f64 / 16_777_216.0;
            }
            0.01 * (sum - 6.0)
        };
        let after_a =
            |_: &str, slot: Slot| draw() + if slot.follows == Some("a") { 0.015 } else { 0.0 };
        let campaign = Campaign::of("abbabaababbabaababbabaab", time(0.000_1), after_a);
        (single(&campaign.judged(Vec::new())).1 == Some(Obstacle::OrderAlone)).then_some(campaign)
    })
}

/// Verdict, obstacle and reason of `b` against `a` in `w`.
fn single(findings: &Findings) -> (Verdict, Option<Obstacle>, String) {
    let is_it = |one: &&model::Finding| one.question.workload == "w" && one.question.subject == "b";
    let finding = findings.findings.iter().find(is_it).unwrap();
    (finding.verdict, finding.obstacle, finding.reason.clone().unwrap_or_default())
}

/// Claims of every shape about `w`: each by its name, and whether it says no more than the comparison.
fn claims(effect: ClaimedEffect) -> Vec<(&'static str, bool, Claim)> {
    let claim = |shape: ClaimShape| Claim { shape, ..fixtures::claim("b", "a", effect) };
    let over = |over| claim(ClaimShape { over, ..ClaimShape::default() });
    let order = vec!["b".to_owned(), "a".to_owned()];
    let turns = ClaimedTurn { of: "workload".to_owned(), levels: LABELS.map(str::to_owned) };
    let turning = claim(ClaimShape { turns: Some(turns), ..ClaimShape::default() });
    vec![
        ("a pair", true, over(ClaimedOver::Every)),
        ("most", true, over(ClaimedOver::Most)),
        ("overall", true, over(ClaimedOver::Overall)),
        ("an order", true, claim(ClaimShape { order, ..ClaimShape::default() })),
        ("a turn", false, Claim { workload: None, ..turning }),
    ]
}

#[test]
fn no_obstacle_of_a_comparison_is_lost_in_a_sum_or_a_claim() {
    for obstacle in Obstacle::ALL.iter().copied() {
        let Some(campaign) = campaign(obstacle) else { continue };
        let flaw = Caveat::new(CaveatCode::EvidenceChanged, "a record is missing");
        let judged = |claims: Vec<Claim>| {
            let mut findings = campaign.judged(claims);
            if obstacle == Obstacle::ChangedEvidence {
                withhold(&mut findings, &campaign.plan, std::slice::from_ref(&flaw));
            }
            findings
        };
        let findings = judged(Vec::new());
        let (verdict, decisive, reason) = single(&findings);
        assert_eq!(decisive, Some(obstacle), "{verdict:?} {reason}");
        let sum = &findings.use_cases[0].comparisons[0];
        let open = [Verdict::Inconclusive, Verdict::Invalid];
        assert!(open.contains(&sum.verdict), "{obstacle:?}: {sum:?}");
        assert!(sum.obstacle.is_some(), "{obstacle:?}: {sum:?}");
        // What the numbers show is forbidden, so they confirm nothing and refute nothing.
        for effect in [ClaimedEffect::Better, ClaimedEffect::Worse, ClaimedEffect::Same] {
            for (shape, is_the_same, claim) in claims(effect) {
                let found = judged(vec![claim]).claims.remove(0);
                let turn = format!("{obstacle:?}, {shape}, {effect:?}: {}", found.reason);
                assert_eq!(found.outcome, ClaimOutcome::Undecided, "{turn}");
                // What stops a sum of survivors is their difference, whatever they show.
                let is_stopped = obstacle == Obstacle::HidingFailures && shape == "overall";
                let is_told =
                    obstacle.forbids() > Forbidden::EveryVerdict && is_the_same && !is_stopped;
                assert!(!is_told || found.reason.contains(&reason), "{turn} lacks {reason}");
            }
        }
    }
}

#[test]
fn without_an_obstacle_sums_and_claims_say_what_the_comparison_says() {
    let campaign = Campaign::of(DRAWN, time(0.02), better);
    let findings = campaign.judged(Vec::new());
    assert_eq!(single(&findings).0, Verdict::Better);
    assert_eq!(findings.use_cases[0].comparisons[0].verdict, Verdict::Better);
    for (shape, _, claim) in claims(ClaimedEffect::Better) {
        let found = campaign.judged(vec![claim]).claims.remove(0);
        assert_eq!(found.outcome, ClaimOutcome::Confirmed, "{shape}: {}", found.reason);
    }
}

/// A drift that neither of two workloads shows by itself is seen in their sum.
#[test]
fn a_sum_is_asked_itself_whether_a_drift_is_its_difference() {
    // One subject after the other. What is noise in the one workload is taken away in the other.
    let value = |subject: &str, block: usize, along: f64, side: f64| {
        let (shared, own) = match subject {
            "a" => (ONE[block], OTHER[(block + 3) % 10]),
            _ => (OTHER[block], ONE[(block + 3) % 10]),
        };
        0.005 * shared + 0.01 * along + side * 0.02 * own
    };
    let of_w = |subject: &str, slot: Slot| value(subject, slot.block, slot.along, 1.0);
    let mut campaign = Campaign::of(SORTED, time(0.002), of_w);
    for record in campaign.records.iter_mut().filter(|record| record.workload == "calm") {
        let along = (record.sequence / 2) as f64 / 19.0;
        let log = value(&record.subject, record.block as usize, along, -1.0);
        record.invocations[0].samples = vec![Sample::values("m", vec![100.0 * log.exp()])].into();
    }
    let campaign = campaign.imported(ImportedOrder::Rows, Vec::new());
    for effect in [ClaimedEffect::Better, ClaimedEffect::Worse] {
        let overall = claims(effect).into_iter().find(|(shape, ..)| *shape == "overall");
        let (_, _, claim) = overall.unwrap();
        let findings = campaign.judged(vec![Claim { workload: None, ..claim }]);
        assert!(findings.findings.iter().all(|one| one.obstacle.is_none()), "no part shows it");
        let found = &findings.claims[0];
        assert_eq!(found.outcome, ClaimOutcome::Undecided, "{}", found.reason);
        let told = "beside a drift no difference is shown";
        assert!(found.reason.contains(told), "{}", found.reason);
    }
}

/// Of different pairs a sum cannot be asked what came before: what is left of one of its parts counts.
#[test]
fn what_may_be_the_order_of_a_part_is_told_of_a_sum_over_several_pairs() {
    let Campaign { mut plan, mut records } = order_alone().unwrap();
    let twins: Vec<Record> = records
        .iter()
        .map(|record| {
            let subject = if record.subject == "a" { "c" } else { "d" };
            let mut twin = record.clone();
            subject.clone_into(&mut twin.subject);
            twin.sequence += 10_000;
            "two".clone_into(&mut twin.boot_id);
            twin
        })
        .collect();
    records.extend(twins);
    plan.subjects = ["a", "b", "c", "d"]
        .map(|id| {
            let side = if matches!(id, "a" | "c") { "old" } else { "new" };
            let pair = if matches!(id, "a" | "b") { "1" } else { "2" };
            fixtures::subject(id, &[("side", side), ("pair", pair)])
        })
        .into();
    let levels = |side: &str| {
        model::Claimed::Levels([("side".to_owned(), model::Level::canonical(side))].into())
    };
    let overall = claims(ClaimedEffect::Worse).into_iter().find(|(shape, ..)| *shape == "overall");
    let (_, _, claim) = overall.unwrap();
    let claim = Claim { subject: levels("new"), reference: levels("old"), ..claim };
    let found = judge(&Plan { claims: vec![claim], ..plan }, &records).claims.remove(0);
    assert_eq!(found.outcome, ClaimOutcome::Undecided, "{}", found.reason);
    assert!(found.reason.contains("may be one of the order: w m: "), "{}", found.reason);
}

/// What stands in a sum's way is asked of each kind of obstacle, and a new one has its turn.
#[test]
fn every_obstacle_has_its_place_in_a_sum() {
    for obstacle in Obstacle::ALL.iter().copied() {
        let turn = obstacle.in_sum();
        let decides_all = obstacle.forbids() <= Forbidden::EveryVerdict;
        assert!(
            !decides_all
                || matches!(turn, InSum::Stopping | InSum::ImposedOnBoth)
                || obstacle == Obstacle::FewPairs,
            "{obstacle:?}: {turn:?}"
        );
    }
}
