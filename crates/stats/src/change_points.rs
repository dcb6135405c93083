//! Where a series changes its level.

use crate::distance_sums::distance_sums;
use crate::exact::all_finite;
use crate::moments::{mean, variance};
use crate::student::t_cdf;

/// Shortest piece between two changes.
const SHORTEST: usize = 5;
/// Up to so many values the distances are summed one by one.
const MOST_LISTED: usize = 300;
/// Longer series are searched in means of consecutive values.
const LONGEST: usize = 10_000;
/// Error rate of one split, before Bonferroni over the places it could be at.
const LEVEL: f64 = 0.05;

/// A place at which the level of a series changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value after the change.
    pub index: usize,
    /// Mean of the piece after it minus mean of the piece before it.
    pub shift: f64,
    /// Half-width of the shift's 95 % interval, as if the place had been known.
    pub half_width: f64,
    /// Two-sided p of a pooled t between the pieces, not corrected for the search.
    pub p: f64,
}

/// The changes of a series that are larger than `least_shift`, in order: E-divisive
/// (Matteson and James 2014, alpha 1, U-statistics within the pieces), split again
/// and again at the place where the pieces differ most, each split accepted by a
/// pooled t at 5 % over the number of possible places (docs/method.md#m-history). None of
/// NaN or infinite values. A search takes O(n log n), and there is one per change
/// found; a series of more than 10 000 values is searched in means of as few
/// consecutive values as needed, and each place then found exactly between its
/// neighbours, so that pieces shorter than five such means are not seen.
pub fn change_points(series: &[f64], least_shift: f64) -> Vec<ChangePoint> {
    if !all_finite(series) {
        return Vec::new();
    }
    let fold = series.len().div_ceil(LONGEST).max(1);
    let places = if fold == 1 {
        places(series, least_shift)
    } else {
        let folded: Vec<f64> = series.chunks_exact(fold).filter_map(mean).collect();
        let coarse: Vec<usize> =
            places(&folded, least_shift).iter().map(|place| place * fold).collect();
        refined(series, &coarse)
    };
    // Told between neighbours: a piece that was split later held two levels.
    let ends = places.iter().skip(1).copied().chain([series.len()]);
    let begins = [0].into_iter().chain(places.iter().copied());
    let pieces = begins.zip(places.iter().copied()).zip(ends);
    pieces
        .filter_map(|((begin, place), end)| {
            compared(&series[begin..place], &series[place..end], place)
        })
        .collect()
}

fn accepted_split(series: &[f64], least_shift: f64) -> Option<usize> {
    let place = best_split(series)?;
    let (before, after) = series.split_at(place);
    let places = (series.len() - 2 * SHORTEST + 1) as f64;
    let change = compared(before, after, place)?;
    (change.p < LEVEL / places && change.shift.abs() > least_shift).then_some(place)
}

/// The accepted splits, ascending.
fn places(series: &[f64], least_shift: f64) -> Vec<usize> {
    let mut places = Vec::new();
    // Pieces to search yet; a list and not recursion, since there may be many.
    let mut pieces = vec![(0, series.len())];
    while let Some((begin, end)) = pieces.pop() {
        if let Some(place) = accepted_split(&series[begin..end], least_shift) {
            let place = begin + place;
            places.push(place);
            pieces.extend([(begin, place), (place, end)]);
        }
    }
    places.sort_unstable();
    places
}

/// Each place moved to the best split between its neighbours.
fn refined(series: &[f64], coarse: &[usize]) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::with_capacity(coarse.len());
    for (index, place) in coarse.iter().enumerate() {
        let begin = places.last().copied().unwrap_or(0);
        let end = coarse.get(index + 1).copied().unwrap_or(series.len());
        let found = best_split(&series[begin..end]);
        places.push(found.map_or(*place, |found| begin + found));
    }
    places
}

/// The split with the largest energy distance; `None` of a series too short for two pieces.
fn best_split(series: &[f64]) -> Option<usize> {
    let count = series.len();
    if count < 2 * SHORTEST {
        return None;
    }
    if count > MOST_LISTED {
        return largest_energy(&distance_sums(series));
    }
    let distances = |value: f64, others: &[f64]| -> f64 {
        others.iter().map(|other| (value - other).abs()).sum()
    };
    let sums = (0..count).map(|index| {
        let value = series[index];
        (distances(value, &series[..index]), distances(value, &series[index + 1..]))
    });
    largest_energy(&sums.collect::<Vec<_>>())
}

/// The place of the largest energy, given for each value the sums of its distances to
/// the values before it and to those after it.
fn largest_energy(sums: &[(f64, f64)]) -> Option<usize> {
    let count = sums.len();
    // Sums of distances inside the left piece, inside the right one and between
    // them, kept up as one value after the other moves from right to left.
    let (mut left, mut between) = (0.0, 0.0);
    let mut right: f64 = sums.iter().map(|(_, to_right)| to_right).sum();
    let mut best: Option<(f64, usize)> = None;
    for (place, (to_left, to_right)) in (1..=count - SHORTEST).zip(sums) {
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        if place < SHORTEST {
            continue;
        }
        let (own, other) = (place as f64, (count - place) as f64);
        let energy = own * other / (own + other)
            * (2.0 * between / (own * other)
                - 2.0 * left / (own * (own - 1.0))
                - 2.0 * right / (other * (other - 1.0)));
        if best.is_none_or(|(known, _)| energy > known) {
            best = Some((energy, place));
        }
    }
    best.map(|(_, place)| place)
}

/// Student's two-sample t with pooled variance.
fn compared(before: &[f64], after: &[f64], index: usize) -> Option<ChangePoint> {
    let (count, other) = (before.len() as f64, after.len() as f64);
    let degrees = count + other - 2.0;
    let pooled = ((count - 1.0) * variance(before)? + (other - 1.0) * variance(after)?) / degrees;
    let error = (pooled * (1.0 / count + 1.0 / other)).sqrt();
    let shift = mean(after)? - mean(before)?;
    let p = if error > 0.0 {
        (2.0 * t_cdf(-(shift / error).abs(), degrees)).min(1.0)
    } else if shift == 0.0 {
        1.0
    } else {
        f64::MIN_POSITIVE
    };
    let half_width = crate::student::t_quantile(0.975, degrees) * error;
    Some(ChangePoint { index, shift, half_width, p })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha12Rng;

    fn noise(seed: u64, count: usize) -> Vec<f64> {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        // Twelve uniforms: normal enough, standard deviation one.
        (0..count).map(|_| (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0).collect()
    }

    /// The energy of every split, straight from its definition.
    fn best_by_definition(series: &[f64]) -> usize {
        let within = |piece: &[f64]| {
            let pairs = piece.len() * (piece.len() - 1);
            let sum: f64 =
                piece.iter().flat_map(|a| piece.iter().map(move |b| (a - b).abs())).sum();
            sum / pairs as f64
        };
        let energy = |place: usize| {
            let (left, right) = series.split_at(place);
            let sum: f64 = left.iter().flat_map(|a| right.iter().map(move |b| (a - b).abs())).sum();
            let (own, other) = (left.len() as f64, right.len() as f64);
            own * other / (own + other) * (2.0 * sum / (own * other) - within(left) - within(right))
        };
        (SHORTEST..=series.len() - SHORTEST)
            .max_by(|a, b| energy(*a).total_cmp(&energy(*b)))
            .unwrap()
    }

    #[test]
    fn the_split_is_where_the_definition_puts_it() {
        for seed in 0..20 {
            let series = noise(seed, 40);
            assert_eq!(best_split(&series), Some(best_by_definition(&series)), "{seed}");
        }
    }

    #[test]
    fn summing_by_ranks_splits_where_summing_one_by_one_does() {
        for seed in 0..20 {
            let mut series = noise(seed, 250);
            series.iter_mut().take(5 * seed as usize).for_each(|value| *value += 0.5);
            let by_ranks = largest_energy(&distance_sums(&series));
            assert_eq!(by_ranks, best_split(&series), "{seed}");
        }
    }

    #[test]
    fn a_step_is_found_at_its_place_and_two_steps_are_two() {
        let mut series = noise(1, 60);
        for value in &mut series[20..] {
            *value += 4.0;
        }
        for value in &mut series[45..] {
            *value -= 6.0;
        }
        let found = change_points(&series, 2.0);
        let places: Vec<usize> = found.iter().map(|change| change.index).collect();
        assert_eq!(places.len(), 2, "{found:?}");
        assert!(places[0].abs_diff(20) <= 1 && places[1].abs_diff(45) <= 1, "{places:?}");
        assert!(found[0].shift > 3.0 && found[1].shift < -5.0);
        assert_eq!(change_points(&series, 10.0), [], "smaller than what matters");
    }

    #[test]
    fn the_changes_of_a_long_series_are_found_at_their_places() {
        let mut series = noise(3, 60_000);
        series[20_011..].iter_mut().for_each(|value| *value += 9.0);
        series[45_003..].iter_mut().for_each(|value| *value -= 12.0);
        let places: Vec<usize> =
            change_points(&series, 0.5).iter().map(|change| change.index).collect();
        assert_eq!(places, [20_011, 45_003]);
    }

    #[test]
    fn a_flat_series_changes_in_few_of_a_hundred() {
        let wrong = (0..400).filter(|seed| !change_points(&noise(*seed, 40), 0.0).is_empty());
        // 2.2 % in the simulation of docs/method.md#m-history.
        assert!(wrong.count() <= 20);
    }

    #[test]
    fn short_and_constant_series_do_not_change() {
        assert_eq!(change_points(&[1.0; 9], 0.0), []);
        assert_eq!(change_points(&[1.0; 50], 0.0), []);
        assert_eq!(change_points(&[], 0.0), []);
        let step = [[1.0; 6], [2.0; 6]].concat();
        assert_eq!(change_points(&step, 0.5)[0].index, 6, "no noise and a step");
    }
}
