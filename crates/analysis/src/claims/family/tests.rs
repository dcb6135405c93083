//! Other claims may take a claim's answer. They never turn it round, and never give it one.

use crate::fixtures::{metric, plan, records, steady};
use crate::rulebook::INSIDE_BY_ITSELF;
use model::{
    Claim, ClaimFinding, ClaimOutcome, ClaimShape, ClaimedEffect, ClaimedOver, Direction, Plan,
    Record, Reduction,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use rand_distr::{Distribution, StandardNormal};

const IDS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
const NOISE: [f64; 8] = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];
const BLOCKS: usize = 12;

fn pair(subject: &str, reference: &str, effect: ClaimedEffect) -> Claim {
    fixtures::claim(subject, reference, effect)
}

fn order(ids: &[&str], effect: ClaimedEffect, over: ClaimedOver) -> Claim {
    let order = ids.iter().map(|id| (*id).to_owned()).collect();
    let shape = ClaimShape { order, over, turns: None };
    Claim { shape, ..pair(ids[0], ids[ids.len() - 1], effect) }
}

/// `a` takes 100, `b` by this log more with little noise, and the others as much with a lot.
fn others_are_loud(log: f64) -> (Plan, Vec<Record>) {
    let plan = plan(&IDS, vec![metric("m", Direction::Lower, Reduction::Median)], 8);
    let mut all = records("a", &steady(100.0, 8));
    for id in &IDS[1..] {
        let (constant, times): (f64, f64) = if *id == "b" { (log, 0.017_23) } else { (0.0, 0.5) };
        all.extend(records(id, &NOISE.map(|noise| 100.0 * (constant + times * noise).exp())));
    }
    (plan, all)
}

fn judged((plan, records): &(Plan, Vec<Record>), claims: Vec<Claim>) -> Vec<ClaimFinding> {
    crate::judge(&Plan { claims, ..plan.clone() }, records).claims
}

/// A claim's answer alone, and beside claims about every subject but its own.
fn alone_and_beside(log: f64, effect: ClaimedEffect) -> [ClaimFinding; 2] {
    let campaign = others_are_loud(log);
    let own = pair("b", "a", effect);
    let alone = judged(&campaign, vec![own.clone()]).remove(0);
    let others = IDS[2..].iter().map(|id| pair(id, "a", ClaimedEffect::Better));
    let all = [own].into_iter().chain(others).collect();
    [alone, judged(&campaign, all).remove(0)]
}

/// A mean of 0.012 with a standard error of 0.0028, by a margin of 2 %: with seven degrees
/// p = 0.0135 that it lies inside, and 0.0036 that it is none. Holm's procedure over seven leaves
/// the latter alone.
#[test]
fn what_is_the_same_by_itself_is_not_different_beside_claims_about_others() {
    for (effect, outcome) in [
        (ClaimedEffect::Same, ClaimOutcome::Confirmed),
        (ClaimedEffect::Better, ClaimOutcome::Refuted),
        (ClaimedEffect::Worse, ClaimOutcome::Refuted),
    ] {
        let [alone, beside] = alone_and_beside(0.011_35, effect);
        assert_eq!(alone.outcome, outcome, "{}", alone.reason);
        assert_eq!(beside.outcome, ClaimOutcome::Undecided, "{}", beside.reason);
        assert!(beside.reason.contains(INSIDE_BY_ITSELF), "{}", beside.reason);
    }
}

/// The same noise about a log of 0.2006: the interval of 95 % reaches to 0.2073, that of seven
/// comparisons to 0.211. The claim is of 0.2091.
#[test]
fn a_size_that_is_excluded_is_not_confirmed_beside_claims_about_others() {
    let [alone, beside] = alone_and_beside(0.2, ClaimedEffect::Change(0.232_62));
    assert_eq!(alone.outcome, ClaimOutcome::RefutedInSize, "{}", alone.reason);
    assert_eq!(beside.outcome, ClaimOutcome::Undecided, "{}", beside.reason);
    assert!(beside.reason.contains("it would be refuted in size here"), "{}", beside.reason);
}

/// Which way round another claim names the two does not matter.
#[test]
fn a_claim_is_answered_alike_whichever_way_round_another_names_its_pair() {
    let campaign = others_are_loud(-0.2);
    let own = pair("b", "a", ClaimedEffect::Better);
    let alone = judged(&campaign, vec![own.clone()]).remove(0);
    let turned = pair("a", "b", ClaimedEffect::Worse);
    let both = judged(&campaign, vec![turned, own]);
    assert_eq!(both[0].outcome, ClaimOutcome::Confirmed, "{}", both[0].reason);
    assert_eq!(both[1], alone);
}

/// A third subject's step takes no answer from the first.
#[test]
fn an_order_of_equals_is_not_refuted_by_one_more_subject() {
    let campaign = others_are_loud(0.011_35);
    let of = |ids: &[&str]| {
        let claim = order(ids, ClaimedEffect::Same, ClaimedOver::Every);
        judged(&campaign, vec![claim]).remove(0)
    };
    let two = of(&["b", "a"]);
    assert_eq!(two.outcome, ClaimOutcome::Confirmed, "{}", two.reason);
    let many = of(&["b", "a", "c", "d", "e", "f", "g", "h"]);
    assert_eq!(many.outcome, ClaimOutcome::Undecided, "{}", many.reason);
}

/// One of these.
fn one<T: Copy>(random: &mut ChaCha12Rng, of: &[T]) -> T {
    of[random.random_range(0..of.len())]
}

/// Four subjects that differ little, a lot or not, in a campaign with or without looks.
fn drawn(random: &mut ChaCha12Rng) -> (Plan, Vec<Record>) {
    let time = metric("m", Direction::Lower, Reduction::Median);
    let mut plan = plan(&IDS[..4], vec![time], BLOCKS as u32);
    if random.random_range(0..3_u8) == 0 {
        plan.looks = vec![6, 9, 12];
    }
    let spread: f64 = one(random, &[0.002, 0.006, 0.02]);
    let mut all = Vec::new();
    for id in &IDS[..4] {
        let centre: f64 = one(random, &[0.0, 0.0, 0.008, 0.014, -0.014, 0.03, 0.2]);
        let values: Vec<f64> = (0..BLOCKS)
            .map(|_| {
                let normal: f64 = StandardNormal.sample(random);
                100.0 * (centre + spread * normal).exp()
            })
            .collect();
        all.extend(records(id, &values));
    }
    (plan, all)
}

/// A claim about two of the four, or an order of three.
fn any_claim(random: &mut ChaCha12Rng) -> Claim {
    let first = random.random_range(0..4_usize);
    let step = one(random, &[1, 3]);
    let [first, second, third] = [first, (first + step) % 4, (first + 2 * step) % 4];
    let effect = match random.random_range(0..6_u8) {
        0 | 1 => ClaimedEffect::Better,
        2 => ClaimedEffect::Worse,
        3 | 4 => ClaimedEffect::Same,
        _ => ClaimedEffect::Change(one(random, &[0.008, 0.015, -0.015, 0.03, 0.22, -0.18])),
    };
    match random.random_range(0..4_u8) {
        0 => {
            let over = one(random, &[ClaimedOver::Every, ClaimedOver::Most]);
            order(&[IDS[first], IDS[second], IDS[third]], effect, over)
        }
        1 => {
            let over = ClaimedOver::Overall;
            let shape = ClaimShape { over, ..ClaimShape::default() };
            Claim { shape, ..pair(IDS[first], IDS[second], effect) }
        }
        _ => pair(IDS[first], IDS[second], effect),
    }
}

/// Whether other claims may make the second of the first.
fn may_become(alone: ClaimOutcome, beside: ClaimOutcome) -> bool {
    let is_softer = beside == ClaimOutcome::Immaterial || beside.is_refuted();
    beside == alone || beside == ClaimOutcome::Undecided || (alone.is_refuted() && is_softer)
}

/// What parts say, the whole says: a part that is refuted for one that is, and all for a
/// conjunction that is confirmed.
fn follows_from_parts(finding: &ClaimFinding) -> bool {
    let Some(tally) = finding.tally else { return true };
    let total = tally.confirmed + tally.refuted + tally.undecided;
    let is_conjunction = finding.claim.shape.over != ClaimedOver::Most;
    match finding.outcome {
        ClaimOutcome::Confirmed if is_conjunction => tally.confirmed == total,
        ClaimOutcome::Confirmed => 2 * tally.confirmed > total,
        outcome if outcome.is_refuted() => tally.refuted > 0,
        _ => true,
    }
}

#[test]
fn other_claims_only_widen() {
    let mut taken = 0;
    for seed in 0..300 {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let campaign = drawn(&mut random);
        let own = any_claim(&mut random);
        let alone = judged(&campaign, vec![own.clone()]).remove(0);
        assert!(follows_from_parts(&alone), "{seed}: {alone:?}");
        for count in [1, 4] {
            let mut claims: Vec<Claim> = (0..count).map(|_| any_claim(&mut random)).collect();
            let place = random.random_range(0..=count);
            claims.insert(place, own.clone());
            let found = judged(&campaign, claims);
            let beside = &found[place];
            assert!(
                may_become(alone.outcome, beside.outcome),
                "{seed}: {:?} became {:?}: {} / {}",
                alone.outcome,
                beside.outcome,
                alone.reason,
                beside.reason
            );
            assert!(found.iter().all(follows_from_parts), "{seed}: {found:?}");
            taken += usize::from(alone.outcome != beside.outcome);
        }
    }
    assert!(taken > 0, "no claim heard of another");
}

/// A step says in an order what it says as a claim of its own in the same plan.
#[test]
fn an_order_is_what_its_steps_are_as_claims() {
    let effects = [ClaimedEffect::Better, ClaimedEffect::Worse, ClaimedEffect::Same];
    for seed in 0..200 {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let (plan, all) = drawn(&mut random);
        let campaign = (Plan { looks: Vec::new(), ..plan }, all);
        let effect = one(&mut random, &effects);
        let ids = ["c", "a", "b"];
        let claims = vec![
            order(&ids, effect, ClaimedOver::Every),
            pair("c", "a", effect),
            pair("a", "b", effect),
            pair("d", "a", ClaimedEffect::Better),
        ];
        let found: Vec<ClaimOutcome> =
            judged(&campaign, claims).iter().map(|finding| finding.outcome).collect();
        let steps = &found[1..3];
        let is_confirmed = steps.iter().all(|step| *step == ClaimOutcome::Confirmed);
        assert_eq!(found[0] == ClaimOutcome::Confirmed, is_confirmed, "{seed}: {found:?}");
        let is_refuted = steps.contains(&ClaimOutcome::Refuted);
        assert_eq!(found[0] == ClaimOutcome::Refuted, is_refuted, "{seed}: {found:?}");
    }
}
