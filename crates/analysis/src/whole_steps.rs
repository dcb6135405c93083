//! The step that different values lie apart by (docs/method.md#m-resolution).
//!
//! A file may have hundreds of thousands of values that lie on no grid. Each step that is tried is
//! first held against values near the one that it begins at, without a division or a root for any
//! of them; most steps are refuted there.

/// A value, and how often it stands.
pub(crate) type CountedValue = (f64, usize);

/// How far a multiple may lie from a whole number: what is left of digits that were printed.
pub(crate) const TOLERANCE: f64 = 1e-3;
/// One value in so many may lie beside the step of all others.
pub(crate) const ODD_ONE_IN: usize = 10;
/// A step is the smallest gap between values, or such a part of it.
const MOST_PARTS: u32 = 4;
/// Of more different values so many in the middle show the step.
const MOST_LEVELS: usize = 2_000;
/// So many values are looked at before their odd ones are counted.
const LOOKED_AT: usize = 64;
/// A number of this size has no digits after the point: one that is added to it and taken off again
/// is rounded to a whole one, if it is below 2^51.
const WHOLE_NUMBERS: f64 = 6_755_399_441_055_744.0;
/// The square of [`TOLERANCE`], and a thousandth more: see [`surely_odd`].
const SURELY_BESIDE: f64 = 1.001 * TOLERANCE * TOLERANCE;

/// A step to try: how wide, and the place of the value that it is counted from.
type Candidate = (f64, usize);

/// The largest step, not below this, that nine in ten of these lie apart by; none of values that do
/// not vary, or lie apart by no step that is large enough to matter.
pub(crate) fn step(distinct: &[CountedValue], least: f64) -> Option<f64> {
    let levels = middle(distinct);
    if are_too_fine(distinct, least) || are_too_fine(levels, least) {
        return None;
    }
    let most_odd = most_odd(levels);
    let values: Vec<f64> = levels.iter().map(|(value, _)| *value).collect();
    let counts: Vec<usize> = levels.iter().map(|(_, count)| *count).collect();
    let is_step = |(step, from): &Candidate| {
        !is_refuted((*step, *from), &values, &counts, most_odd)
            && explains((*step, values[*from]), levels, most_odd)
    };
    candidates(levels, least).into_iter().find(is_step).map(|(step, _)| step)
}

/// All of the different values, or of very many those in the middle: a step shows among neighbours.
fn middle(distinct: &[CountedValue]) -> &[CountedValue] {
    let first = distinct.len().saturating_sub(MOST_LEVELS) / 2;
    &distinct[first..distinct.len().min(first + MOST_LEVELS)]
}

/// How many of the values may be odd.
fn most_odd(distinct: &[CountedValue]) -> usize {
    distinct.iter().map(|(_, count)| count).sum::<usize>() / ODD_ONE_IN
}

/// An odd value makes two gaps of one, both smaller.
fn most_gaps(distinct: &[CountedValue]) -> usize {
    2 * most_odd(distinct) + 1
}

fn gaps(distinct: &[CountedValue]) -> impl Iterator<Item = f64> {
    distinct.windows(2).map(|pair| pair[1].0 - pair[0].0)
}

/// Whether more gaps are below this than odd values make.
fn are_too_fine(distinct: &[CountedValue], least: f64) -> bool {
    gaps(distinct).filter(|gap| *gap < least).count() >= most_gaps(distinct)
}

/// The steps to try, the largest first.
fn candidates(distinct: &[CountedValue], least: f64) -> Vec<Candidate> {
    let mut gaps: Vec<Candidate> =
        gaps(distinct).enumerate().map(|(from, gap)| (gap, from)).collect();
    gaps.sort_by(|one, other| one.0.total_cmp(&other.0));
    gaps.truncate(most_gaps(distinct));
    let parts =
        |(gap, from): Candidate| (1..=MOST_PARTS).map(move |parts| (gap / f64::from(parts), from));
    let mut steps: Vec<Candidate> =
        gaps.into_iter().flat_map(parts).filter(|(step, _)| *step >= least).collect();
    steps.sort_by(|one, other| other.0.total_cmp(&one.0));
    steps
}

/// Whether more values than may be odd surely lie between whole steps. Those near the value that
/// steps are counted from come first: there a step leaves the least room.
fn is_refuted((step, from): Candidate, values: &[f64], counts: &[usize], most_odd: usize) -> bool {
    let per_step = 1.0 / step;
    if !per_step.is_normal() {
        return false;
    }
    let above = values[from..].chunks(LOOKED_AT).zip(counts[from..].chunks(LOOKED_AT));
    let below = values[..from].rchunks(LOOKED_AT).zip(counts[..from].rchunks(LOOKED_AT));
    let mut odd = 0;
    above.chain(below).any(|(near, counts)| {
        odd += surely_odd(near, counts, values[from], per_step);
        odd > most_odd
    })
}

/// How many of the values surely lie between whole steps from this one. [`explains`] finds at least
/// these odd. It divides where this multiplies, which moves a value by less than 1e-9 steps as long
/// as it lies less than 250,000 steps away; of one beyond, nothing is called odd, since any is
/// within [`TOLERANCE`] times the root of its distance. A value that is counted here lies beside a
/// whole step by 5e-7 steps more than [`explains`] allows.
fn surely_odd(values: &[f64], counts: &[usize], from: f64, per_step: f64) -> usize {
    let is_beside = |value: f64| {
        let times = (value - from) * per_step;
        let beside = times - ((times + WHOLE_NUMBERS) - WHOLE_NUMBERS);
        beside * beside > SURELY_BESIDE * times.abs().max(1.0)
    };
    let pairs = values.iter().zip(counts);
    pairs.map(|(value, count)| if is_beside(*value) { *count } else { 0 }).sum()
}

/// Whether all but so many values lie whole steps from this one, no two of them at the same place.
pub(crate) fn explains(
    (step, from): (f64, f64),
    distinct: &[CountedValue],
    most_odd: usize,
) -> bool {
    let mut odd: usize = 0;
    let mut last: Option<f64> = None;
    for (value, count) in distinct {
        let times = (value - from) / step;
        let whole = times.round();
        let is_whole = (times - whole).abs() <= TOLERANCE * times.abs().max(1.0).sqrt();
        if is_whole && last.is_none_or(|last| whole - last > 0.5) {
            last = Some(whole);
            continue;
        }
        odd += count;
        if odd > most_odd {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha12Rng;

    /// The plain search: every candidate is held against all values.
    fn plain_step(distinct: &[CountedValue], least: f64) -> Option<f64> {
        let all: usize = distinct.iter().map(|(_, count)| count).sum();
        let most_odd = all / ODD_ONE_IN;
        let gaps = || distinct.windows(2).map(|pair| (pair[1].0 - pair[0].0, pair[0].0));
        let most_gaps = 2 * most_odd + 1;
        if gaps().filter(|(gap, _)| *gap < least).count() >= most_gaps {
            return None;
        }
        let mut gaps: Vec<(f64, f64)> = gaps().collect();
        gaps.sort_by(|one, other| one.0.total_cmp(&other.0));
        gaps.truncate(most_gaps);
        let parts = |(gap, from): (f64, f64)| {
            (1..=MOST_PARTS).map(move |parts| (gap / f64::from(parts), from))
        };
        let mut steps: Vec<(f64, f64)> =
            gaps.into_iter().flat_map(parts).filter(|(step, _)| *step >= least).collect();
        steps.sort_by(|one, other| other.0.total_cmp(&one.0));
        let is_step = |(step, from): &(f64, f64)| explains((*step, *from), distinct, most_odd);
        steps.into_iter().find(is_step).map(|(step, _)| step)
    }

    /// Sorted values, each with its count.
    fn counted(mut values: Vec<f64>) -> Vec<CountedValue> {
        values.sort_unstable_by(f64::total_cmp);
        let mut counted: Vec<CountedValue> = Vec::new();
        for value in values {
            match counted.last_mut() {
                Some((last, count)) if *last == value => *count += 1,
                _ => counted.push((value, 1)),
            }
        }
        counted
    }

    #[test]
    fn the_quick_search_finds_the_step_of_the_plain_one() {
        let mut random = ChaCha12Rng::seed_from_u64(11);
        let mut found = 0;
        for round in 0..400 {
            let count = random.random_range(8..400);
            let step = [1.0, 0.01, 1.0 / 3.0, 4e6][round % 4];
            let ticks = [20.0, 400.0, 1e5, 1e7][round / 4 % 4];
            let jitter = [0.0, 1e-4, 1e-3, 0.02, 0.5][round % 5];
            let odd = [0.0, 0.05, 0.1, 0.15][round / 16 % 4];
            let value = |random: &mut ChaCha12Rng| {
                let tick = (random.random::<f64>() * ticks).floor();
                let is_odd = random.random::<f64>() < odd;
                let beside = if is_odd { 0.5 } else { jitter } * (random.random::<f64>() - 0.5);
                step * (3.0 + tick + beside)
            };
            let values = counted((0..count).map(|_| value(&mut random)).collect());
            for least in [0.0, 0.2 * step, step] {
                let expected = plain_step(&values, least);
                let quick = super::step(&values, least);
                assert_eq!(quick.map(f64::to_bits), expected.map(f64::to_bits), "round {round}");
                found += usize::from(quick.is_some());
            }
        }
        assert!((30..1_100).contains(&found), "{found} of 1200 have a step");
    }

    #[test]
    fn of_very_many_different_values_those_in_the_middle_show_the_step() {
        let many: Vec<CountedValue> = (0..20_000).map(|tick| (f64::from(tick) * 0.5, 1)).collect();
        assert_eq!(middle(&many).len(), MOST_LEVELS);
        assert_eq!(middle(&many)[0], (4_500.0, 1));
        assert_eq!(step(&many, 0.1), Some(0.5));
        // Values beyond the middle are not asked, but where most gaps are too fine there is none.
        let mut fine = many.clone();
        fine.extend((1..20_000).map(|tick| (20_000.0 + f64::from(tick) * 1e-3, 1)));
        assert_eq!(step(&fine, 0.1), None);
    }
}
