//! The slopes between all pairs of values of a stretch: listed, or counted where they are many.

use crate::inversions::{Pairs, inversions};
use crate::moments::median;
use crate::selection::smallest_double;
use std::sync::OnceLock;

/// Up to so many slopes are listed, 16 MB of them; of more, those that are asked for are sought by
/// counting.
const MOST_LISTED: i64 = 2_000_000;
/// Longer stretches are folded to at most this length before a slope is sought: each of the up to
/// 64 counts of a bisection then takes about a millisecond.
const LONGEST: usize = 20_000;

/// A value with its time; times ascend.
type Timed = (f64, f64);

/// The slopes of pairs inside of stretches.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PairSlopes {
    rising: i64,
    falling: i64,
    count: i64,
    slopes: Slopes,
}

#[derive(Debug, Clone, PartialEq)]
enum Slopes {
    /// The stretches, and once a slope was asked for all of them, in ascending order. A test needs
    /// only how many rise and fall, and thousands of questions ask for no more.
    Listed(Vec<Vec<Timed>>, OnceLock<Vec<f64>>),
    /// The stretches, folded.
    Counted(Vec<Vec<Timed>>),
}

impl PairSlopes {
    /// Those of finite values whose times ascend.
    pub(crate) fn of(stretches: &[Vec<Timed>]) -> Self {
        let count: i64 = stretches.iter().map(|stretch| pairs_of(stretch.len())).sum();
        let level = counted(stretches, 0.0);
        let slopes = if count > MOST_LISTED {
            Slopes::Counted(stretches.iter().map(|stretch| folded(stretch)).collect())
        } else {
            Slopes::Listed(stretches.to_vec(), OnceLock::new())
        };
        Self { rising: count - level.falling - level.equal, falling: level.falling, count, slopes }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> i64 {
        self.count
    }

    /// How many are above zero.
    pub(crate) fn rising(&self) -> i64 {
        self.rising
    }

    /// How many are below zero.
    pub(crate) fn falling(&self) -> i64 {
        self.falling
    }

    /// Their median; `None` where there are none. That of many is that of the folded stretches, but
    /// for rounding.
    pub(crate) fn median(&self) -> Option<f64> {
        match &self.slopes {
            Slopes::Listed(stretches, slopes) => median(all_of(stretches, slopes)),
            Slopes::Counted(stretches) => {
                let pairs: i64 = stretches.iter().map(|stretch| pairs_of(stretch.len())).sum();
                let below = sought(stretches, (pairs + 1) / 2)?;
                if pairs % 2 == 1 {
                    return Some(below);
                }
                Some(f64::midpoint(below, sought(stretches, pairs / 2 + 1)?))
            }
        }
    }

    /// The slope of this rank from 0 in ascending order; `None` where there are not so many.
    pub(crate) fn ranked(&self, rank: usize) -> Option<f64> {
        match &self.slopes {
            Slopes::Listed(stretches, slopes) => all_of(stretches, slopes).get(rank).copied(),
            Slopes::Counted(stretches) => {
                // As far along the folded stretches' pairs.
                let pairs: i64 = stretches.iter().map(|stretch| pairs_of(stretch.len())).sum();
                let share = (rank as f64 + 0.5) / self.count as f64;
                let place = (share * pairs as f64).floor() as i64;
                (share < 1.0).then(|| sought(stretches, (place + 1).min(pairs))).flatten()
            }
        }
    }
}

fn pairs_of(count: usize) -> i64 {
    let count = count as i64;
    count * (count - 1) / 2
}

/// All slopes of these stretches in ascending order, listed once.
fn all_of<'s>(stretches: &[Vec<Timed>], slopes: &'s OnceLock<Vec<f64>>) -> &'s [f64] {
    slopes.get_or_init(|| {
        let mut slopes: Vec<f64> = stretches.iter().flat_map(|stretch| listed(stretch)).collect();
        slopes.sort_unstable_by(f64::total_cmp);
        slopes
    })
}

fn listed(stretch: &[Timed]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(pairs_of(stretch.len()) as usize);
    for (index, first) in stretch.iter().enumerate() {
        let later = &stretch[index + 1..];
        slopes.extend(later.iter().map(|second| (second.1 - first.1) / (second.0 - first.0)));
    }
    slopes
}

/// A stretch of at most [`LONGEST`] values: the medians of as few neighbours at a time as needed.
fn folded(stretch: &[Timed]) -> Vec<Timed> {
    let fold = stretch.len().div_ceil(LONGEST).max(1);
    if fold == 1 {
        return stretch.to_vec();
    }
    let of = |chunk: &[Timed]| {
        let times: Vec<f64> = chunk.iter().map(|(time, _)| *time).collect();
        let values: Vec<f64> = chunk.iter().map(|(_, value)| *value).collect();
        Some((median(&times)?, median(&values)?))
    };
    stretch.chunks_exact(fold).filter_map(of).collect()
}

/// The pairs that fall, and that stay, once each stretch is tilted by a slope: those whose own slope
/// is below it, and is it (Cole, Salowe, Steiger and Szemeredi 1989).
fn counted(stretches: &[Vec<Timed>], slope: f64) -> Pairs {
    let mut all = Pairs { falling: 0, equal: 0 };
    for stretch in stretches {
        let tilted: Vec<f64> = stretch.iter().map(|(time, value)| value - slope * time).collect();
        let Pairs { falling, equal } = inversions(&tilted);
        all.falling += falling;
        all.equal += equal;
    }
    all
}

/// The slope of this rank from 1 in ascending order, by bisection.
fn sought(stretches: &[Vec<Timed>], rank: i64) -> Option<f64> {
    let level = counted(stretches, 0.0);
    if level.falling < rank && rank <= level.falling + level.equal {
        return Some(0.0);
    }
    // No pair rises or falls faster than some neighbours do.
    let steps = stretches.iter().flat_map(|stretch| stretch.windows(2));
    let steps = steps.map(|two| (two[1].1 - two[0].1) / (two[1].0 - two[0].0));
    let (low, high) = steps.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), step| {
        (low.min(step), high.max(step))
    });
    (low.is_finite() && high.is_finite()).then(|| {
        smallest_double(low, high, |slope| {
            let Pairs { falling, equal } = counted(stretches, slope);
            falling + equal >= rank
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha12Rng;

    /// Two stretches of noise beside a line, more pairs than are listed.
    fn long(count: usize, slope: f64) -> Vec<Vec<Timed>> {
        let mut random = ChaCha12Rng::seed_from_u64(7);
        let mut stretch = |begin: usize| -> Vec<Timed> {
            let at = |index: usize| (begin + index) as f64;
            (0..count)
                .map(|index| (at(index), random.random::<f64>() + slope * at(index)))
                .collect()
        };
        vec![stretch(0), stretch(2 * count)]
    }

    #[test]
    fn slopes_that_are_counted_are_those_that_would_be_listed() {
        let stretches = long(1_500, 1e-3);
        let counted = PairSlopes::of(&stretches);
        assert!(matches!(counted.slopes, Slopes::Counted(_)));
        let mut slopes: Vec<f64> = stretches.iter().flat_map(|one| listed(one)).collect();
        slopes.sort_unstable_by(f64::total_cmp);
        let of =
            |holds: fn(&f64) -> bool| slopes.iter().filter(|slope| holds(slope)).count() as i64;
        assert_eq!(counted.rising(), of(|slope| *slope > 0.0));
        assert_eq!(counted.falling(), of(|slope| *slope < 0.0));
        assert_eq!(counted.count(), slopes.len() as i64);
        let is_near = |found: Option<f64>, expected: f64| {
            let found = found.unwrap();
            assert!((found - expected).abs() <= 1e-9, "{found} {expected}");
        };
        is_near(counted.median(), median(&slopes).unwrap());
        for rank in [0, 1_000, slopes.len() / 3, slopes.len() - 1] {
            is_near(counted.ranked(rank), slopes[rank]);
        }
        assert_eq!(counted.ranked(slopes.len()), None);
    }

    #[test]
    fn few_slopes_rise_and_fall_as_often_as_those_that_are_listed() {
        let mut random = ChaCha12Rng::seed_from_u64(8);
        for round in 0..200 {
            let mut at = 0.0;
            let mut next = || {
                at += 0.1 + random.random::<f64>();
                // With ties.
                (at, (8.0 * random.random::<f64>()).floor() / 8.0)
            };
            let stretches: Vec<Vec<Timed>> = [round % 40, 5]
                .map(|count| (0..count).map(|_| next()).collect::<Vec<Timed>>())
                .to_vec();
            let found = PairSlopes::of(&stretches);
            let mut slopes: Vec<f64> = stretches.iter().flat_map(|one| listed(one)).collect();
            slopes.sort_unstable_by(f64::total_cmp);
            let of =
                |holds: fn(&f64) -> bool| slopes.iter().filter(|slope| holds(slope)).count() as i64;
            assert_eq!(found.rising(), of(|slope| *slope > 0.0));
            assert_eq!(found.falling(), of(|slope| *slope < 0.0));
            assert_eq!(found.median(), median(&slopes));
            assert_eq!(found.ranked(3), slopes.get(3).copied());
        }
    }

    /// All pairs of these would fill 250 GB.
    #[test]
    fn the_slope_of_a_quarter_of_a_million_values_is_found() {
        let slopes = PairSlopes::of(&long(250_000, 1e-6));
        assert_eq!(slopes.count(), 2 * pairs_of(250_000));
        let found = slopes.median().unwrap();
        assert!((found - 1e-6).abs() < 2e-7, "{found}");
        assert!(slopes.rising() > slopes.falling());
    }
}
