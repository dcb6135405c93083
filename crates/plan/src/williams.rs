//! Williams designs: orders of many arms balanced for position and carry-over.
//!
//! In each cycle every arm stands at every place equally often, and follows every
//! other arm equally often (Williams 1949): one Latin square for an even number of
//! arms, the square and its mirror for an odd one.

use crate::random::{shuffle, stream};

/// The order of `arms` arms in each of `count` blocks, as indices, from random numbers
/// of this purpose. Every cycle gives the square's letters to the arms afresh and
/// shuffles its rows.
pub(crate) fn orders(seed: u64, purpose: &str, count: usize, arms: usize) -> Vec<Vec<usize>> {
    let square = square(arms);
    let mut orders = Vec::with_capacity(count + square.len());
    let mut cycle = 0;
    while orders.len() < count {
        let mut random = stream(seed, purpose, cycle);
        let mut labels: Vec<usize> = (0..arms).collect();
        shuffle(&mut random, &mut labels);
        let mut rows: Vec<Vec<usize>> =
            square.iter().map(|row| row.iter().map(|letter| labels[*letter]).collect()).collect();
        shuffle(&mut random, &mut rows);
        chain(&mut orders, rows);
        cycle += 1;
    }
    orders.truncate(count);
    orders
}

/// Adds the rows, each beginning with what the row before it ended with where one of them does:
/// an arm then follows itself as often as each other one.
fn chain(orders: &mut Vec<Vec<usize>>, mut rows: Vec<Vec<usize>>) {
    while !rows.is_empty() {
        let last = orders.last().and_then(|before| before.last());
        let next = rows.iter().position(|row| row.first() == last).unwrap_or(0);
        orders.push(rows.remove(next));
    }
}

/// The rows of one cycle: cyclic shifts of 0, 1, n-1, 2, n-2, ... whose neighbours
/// differ by every remainder once.
fn square(arms: usize) -> Vec<Vec<usize>> {
    let zigzag: Vec<usize> = (0..arms)
        .map(|place| if place % 2 == 1 { place.div_ceil(2) } else { (arms - place / 2) % arms })
        .collect();
    let mut rows: Vec<Vec<usize>> = (0..arms)
        .map(|shift| zigzag.iter().map(|letter| (letter + shift) % arms).collect())
        .collect();
    if arms % 2 == 1 {
        let mirrored: Vec<Vec<usize>> =
            rows.iter().map(|row| row.iter().rev().copied().collect()).collect();
        rows.extend(mirrored);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_cycle_is_balanced_for_position_and_for_what_ran_before() {
        for arms in 2..=12 {
            let times = if arms % 2 == 1 { 2 } else { 1 };
            let cycle = arms * times;
            for orders in orders(7, "w", 3 * cycle, arms).chunks(cycle) {
                let mut places: BTreeMap<(usize, usize), usize> = BTreeMap::new();
                let mut follows: BTreeMap<(usize, usize), usize> = BTreeMap::new();
                for order in orders {
                    for (place, arm) in order.iter().enumerate() {
                        *places.entry((place, *arm)).or_default() += 1;
                    }
                    for pair in order.windows(2) {
                        *follows.entry((pair[0], pair[1])).or_default() += 1;
                    }
                }
                assert_eq!(places.len(), arms * arms, "{arms} arms");
                assert!(places.values().all(|count| *count == times), "{arms} arms");
                assert_eq!(follows.len(), arms * (arms - 1), "{arms} arms");
                assert!(follows.values().all(|count| *count == times), "{arms} arms");
            }
        }
    }

    #[test]
    fn a_row_begins_where_another_ended_wherever_one_does() {
        for arms in 5..=9 {
            let cycle = if arms % 2 == 1 { 2 * arms } else { arms };
            let orders = orders(7, "w", 20 * cycle, arms);
            let chained = orders.windows(2).filter(|two| two[0].last() == two[1].first()).count();
            assert!(chained >= orders.len() / 2, "{arms} arms: {chained} of {}", orders.len());
        }
    }

    #[test]
    fn cycles_and_seeds_differ_and_a_seed_repeats() {
        let first = orders(1, "w", 12, 6);
        assert_eq!(first, orders(1, "w", 12, 6));
        assert_ne!(first, orders(2, "w", 12, 6));
        assert_ne!(first[..6], first[6..]);
        assert_eq!(
            first[..5],
            orders(1, "w", 5, 6)[..],
            "more blocks do not change the first ones"
        );
    }
}
