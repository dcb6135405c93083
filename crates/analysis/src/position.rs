//! Whether a difference depends on where in their blocks the two came
//! (docs/method.md#m-position): it warns, and decides nothing.

use crate::order_origin::OrderOrigin;
use crate::pairs::Pairs;
use model::{Caveat, CaveatCode, p_equation};
use stats::{JointTest, TTest, coefficient_beside};
use std::collections::BTreeSet;

/// Level of the tests of order.
const LEVEL: f64 = 0.01;

/// Fewer degrees of freedom beside all places leave a test that sees little: then it is one of a
/// trend over the places alone. As many are asked for of what came before.
const LEAST_DEGREES: usize = 4;
/// Of more places only a trend is asked: each further one costs a degree of freedom and sees less.
const MOST_PLACES: usize = 32;
/// So many pairs at least had the subject first, and so many the reference.
const LEAST_PAIRS: usize = 2;

/// p that it does not matter at which places of their blocks subject and reference came.
pub(crate) fn p_order(pairs: &Pairs) -> Option<f64> {
    let places = places(pairs);
    if places.len() > 2 { p_places(pairs, &places) } else { p_first(pairs) }
}

/// The places that either had in any block.
fn places(pairs: &Pairs) -> BTreeSet<u32> {
    pairs.places.iter().flatten().copied().collect()
}

/// Welch's p that blocks in which the subject came first are like the others.
fn p_first(pairs: &Pairs) -> Option<f64> {
    let of = |first: bool| -> Vec<f64> {
        let blocks = pairs.blocks.iter().zip(&pairs.places);
        let chosen = blocks.filter(|(_, [subject, reference])| (subject < reference) == first);
        chosen.map(|(block, _)| block.log_difference).collect()
    };
    TTest::stratified(&[(&of(true), &of(false))])?.p_difference()
}

/// p of two tests, corrected for both: that every place is like the others for all that have it, and that
/// there is no trend over the places, which is the likelier effect and seen sooner. Of too few blocks for
/// the first, p of the second alone. None where one of the two always came first.
fn p_places(pairs: &Pairs, places: &BTreeSet<u32>) -> Option<f64> {
    let firsts = pairs.places.iter().filter(|[subject, reference]| subject < reference).count();
    if firsts < LEAST_PAIRS || pairs.places.len() < firsts + LEAST_PAIRS {
        return None;
    }
    let differences: Vec<f64> = pairs.blocks.iter().map(|block| block.log_difference).collect();
    let later: Vec<f64> =
        pairs.places.iter().map(|[one, other]| f64::from(*one) - f64::from(*other)).collect();
    let trend = coefficient_beside(&differences, &later, &[vec![1.0; later.len()]]);
    let trend = trend.and_then(|trend| trend.p_difference());
    if places.len() > MOST_PLACES || differences.len() < places.len() + LEAST_DEGREES {
        return trend;
    }
    let is_at = |own: u32, place: u32| f64::from(u8::from(own == place));
    let column = |place: u32| -> Vec<f64> {
        let of_both = pairs.places.iter();
        of_both.map(|[one, other]| is_at(*one, place) - is_at(*other, place)).collect()
    };
    let columns: Vec<Vec<f64>> = places.iter().map(|place| column(*place)).collect();
    let joint = JointTest::of(&differences, &columns).map(|test| test.p);
    match (joint, trend) {
        (Some(joint), Some(trend)) => Some((2.0 * joint.min(trend)).min(1.0)),
        (joint, trend) => joint.or(trend),
    }
}

/// The caveat where it does matter.
pub(crate) fn order_effect(pairs: &Pairs, origin: OrderOrigin) -> Option<Caveat> {
    let p = p_order(pairs).filter(|p| *p < LEVEL)?;
    let told = if places(pairs).len() > 2 {
        of_places(origin).to_owned()
    } else {
        format!("blocks in which the subject {} differ from the others", first(origin))
    };
    Some(Caveat::new(CaveatCode::OrderEffect, format!("{told}, {}", p_equation(p))))
}

/// What the subject did that came before the other, as far as what tells the order shows it.
fn first(origin: OrderOrigin) -> &'static str {
    match origin {
        OrderOrigin::Measured => "ran first",
        OrderOrigin::Column => "came first, as a column of the file tells,",
        OrderOrigin::Times => "came first, by the times that the files hold,",
        OrderOrigin::Rows => "stood first in the file",
    }
}

/// What a difference depends on where blocks have more than two places.
fn of_places(origin: OrderOrigin) -> &'static str {
    match origin {
        OrderOrigin::Measured => {
            "the difference depends on the places at which both ran in their blocks"
        }
        OrderOrigin::Column => {
            "the difference depends on the places of both in their blocks, as a column of the file tells"
        }
        OrderOrigin::Times => {
            "the difference depends on the places of both in their blocks, by the times that the files hold"
        }
        OrderOrigin::Rows => {
            "the difference depends on the places at which the rows of both stand in their blocks"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LEVEL, p_first, p_order};
    use crate::fixtures::{in_blocks, metric, plan, record};
    use crate::judge;
    use crate::pairs::Pairs;
    use model::{
        BlockEffect, CaveatCode, Direction, ImportedOrder, Plan, Record, Reduction, Sample,
    };

    const NOISE: [f64; 8] = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];
    /// Every order of three, and the rows of a Williams design of four.
    const THREE: [&str; 6] = ["abc", "bca", "cab", "acb", "cba", "bac"];
    const FOUR: [&str; 4] = ["abdc", "bcad", "cdba", "dacb"];

    fn noise(number: usize) -> f64 {
        0.002 * NOISE[(number * 5 + number / 8) % 8]
    }

    /// The place of a subject in an order.
    fn place(order: &str, subject: char) -> u32 {
        order.find(subject).unwrap() as u32
    }

    /// `b` against `a` in these orders, each so many times; `at` says how much longer a sitting takes
    /// at a place.
    fn pairs(orders: &[&str], times: usize, at: impl Fn(u32) -> f64) -> Pairs {
        let mut pairs = Pairs::default();
        for (number, order) in orders.repeat(times).into_iter().enumerate() {
            let places = [place(order, 'b'), place(order, 'a')];
            let log_difference = noise(number) + at(places[0]) - at(places[1]);
            let (block, reference, subject) = (number as u32, 1.0, 1.0);
            pairs.blocks.push(BlockEffect { block, reference, subject, log_difference });
            pairs.places.push(places);
        }
        pairs
    }

    fn nowhere(_: u32) -> f64 {
        0.0
    }

    #[test]
    fn a_place_that_is_slower_is_seen_whichever_it_is() {
        for slow in 0..3 {
            let found = pairs(&THREE, 2, |place| if place == slow { 0.03 } else { 0.0 });
            assert!(p_order(&found).unwrap() < LEVEL, "place {slow} of three");
        }
        for slow in 0..4 {
            let found = pairs(&FOUR, 3, |place| if place == slow { 0.03 } else { 0.0 });
            assert!(p_order(&found).unwrap() < LEVEL, "place {slow} of four");
        }
        // Which of the two came first says nothing of the middle of three.
        let middle = pairs(&THREE, 2, |place| if place == 1 { 0.03 } else { 0.0 });
        assert!(p_first(&middle).unwrap() > 0.5);
    }

    #[test]
    fn places_that_are_alike_are_no_effect() {
        for (orders, times) in [(&THREE[..], 1), (&THREE[..], 2), (&FOUR[..], 1), (&FOUR[..], 3)] {
            let p = p_order(&pairs(orders, times, nowhere));
            assert!(p.is_none_or(|p| p > LEVEL), "{orders:?} {times} times: {p:?}");
        }
    }

    #[test]
    fn blocks_that_are_too_few_for_all_places_are_asked_for_a_trend() {
        let rising = |place: u32| 0.03 * f64::from(place);
        assert!(p_order(&pairs(&THREE, 1, rising)).unwrap() < LEVEL, "six blocks of three");
        assert_eq!(p_order(&pairs(&THREE[..3], 1, rising)), None, "three blocks");
    }

    #[test]
    fn two_places_are_compared_as_which_came_first() {
        let effects: [fn(u32) -> f64; 2] = [nowhere, |place| 0.004 * f64::from(place)];
        for at in effects {
            let two = pairs(&["ab", "ba"], 5, at);
            assert!(p_order(&two).is_some());
            assert_eq!(p_order(&two), p_first(&two));
        }
        let mut unknown = pairs(&THREE, 2, nowhere);
        unknown.places.clear();
        assert_eq!(p_order(&unknown), None);
    }

    #[test]
    fn where_one_always_came_first_no_place_is_told_from_the_difference() {
        assert_eq!(p_order(&pairs(&["abc", "acb", "cab"], 4, nowhere)), None);
    }

    /// A place of its own for each pair: no columns of them are made.
    #[test]
    fn places_without_number_are_asked_for_a_trend() {
        let mut many = pairs(&THREE, 2_000, nowhere);
        for (at, places) in (0..).zip(&mut many.places) {
            *places = if at % 2 == 0 { [2 * at, 2 * at + 1] } else { [2 * at + 1, 2 * at] };
        }
        assert!(p_order(&many).unwrap() > LEVEL);
    }

    /// What the findings of a campaign in these orders say of the order of `b` against `a`.
    fn told(orders: &[&str], order: Option<ImportedOrder>) -> Option<String> {
        let mut records: Vec<Record> = Vec::new();
        for (block, order) in orders.iter().enumerate() {
            for (place, subject) in order.chars().enumerate() {
                let slower = if place == 1 { 0.05 } else { 0.0 };
                let value = 100.0 * (1.0 + noise(records.len()) + slower);
                let samples = vec![vec![Sample::values("m", vec![value])]];
                let mut next = record(block as u32, &subject.to_string(), "w", samples);
                next.position = place as u32;
                next.sequence = records.len() as u64;
                records.push(next);
            }
        }
        let subjects: Vec<String> = "abcd".chars().map(String::from).collect();
        let ids: Vec<&str> =
            subjects.iter().map(String::as_str).filter(|id| orders[0].contains(*id)).collect();
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let plan = plan(&ids, metrics, orders.len() as u32);
        let findings = judge(&Plan { imported: order.map(in_blocks), ..plan }, &records).findings;
        let asked = |one: &&model::Finding| {
            (&*one.question.subject, &*one.question.reference) == ("b", "a")
        };
        let finding = findings.iter().find(asked).unwrap();
        let caveat = finding.caveats.iter().find(|one| one.code == CaveatCode::OrderEffect);
        caveat.map(|caveat| caveat.detail.clone())
    }

    #[test]
    fn an_effect_of_the_place_is_told_of_records_with_three_and_four_subjects() {
        for orders in [THREE.repeat(2), FOUR.repeat(3)] {
            let measured = told(&orders, None).unwrap();
            assert!(measured.starts_with("the difference depends on the places at which both ran"));
            let column = told(&orders, Some(ImportedOrder::Column)).unwrap();
            assert!(column.contains("their blocks, as a column of the file tells, p "), "{column}");
            let rows = told(&orders, Some(ImportedOrder::Rows)).unwrap();
            assert!(rows.contains("at which the rows of both stand in their blocks"), "{rows}");
            assert!(!rows.split(' ').any(|word| ["ran", "came"].contains(&word)), "{rows}");
            assert_eq!(told(&orders, Some(ImportedOrder::Unknown)), None);
        }
    }
}
