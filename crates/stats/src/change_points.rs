//! Where a series changes its level.

use crate::moments::{mean, variance};
use crate::student::t_cdf;

/// Shortest piece between two changes.
const SHORTEST: usize = 5;
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
/// pooled t at 5 % over the number of possible places (STATISTICS 2.14).
pub fn change_points(series: &[f64], least_shift: f64) -> Vec<ChangePoint> {
    let mut places = Vec::new();
    split(series, 0, least_shift, &mut places);
    places.sort_unstable();
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

fn split(series: &[f64], offset: usize, least_shift: f64, found: &mut Vec<usize>) {
    let Some(place) = best_split(series) else { return };
    let (before, after) = series.split_at(place);
    let places = (series.len() - 2 * SHORTEST + 1) as f64;
    let Some(change) = compared(before, after, offset + place) else { return };
    if change.p >= LEVEL / places || change.shift.abs() <= least_shift {
        return;
    }
    found.push(change.index);
    split(before, offset, least_shift, found);
    split(after, offset + place, least_shift, found);
}

/// The split with the largest energy distance; `None` of a series too short for two pieces.
fn best_split(series: &[f64]) -> Option<usize> {
    let count = series.len();
    if count < 2 * SHORTEST {
        return None;
    }
    let distances = |value: f64, others: &[f64]| -> f64 {
        others.iter().map(|other| (value - other).abs()).sum()
    };
    // Sums of distances inside the left piece, inside the right one and between
    // them, kept up as one value after the other moves from right to left.
    let (mut left, mut between) = (0.0, 0.0);
    let mut right: f64 =
        (0..count).map(|index| distances(series[index], &series[index + 1..])).sum();
    let mut best: Option<(f64, usize)> = None;
    for place in 1..=count - SHORTEST {
        let moved = series[place - 1];
        let to_left = distances(moved, &series[..place - 1]);
        let to_right = distances(moved, &series[place..]);
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
        2.0 * t_cdf(-(shift / error).abs(), degrees)
    } else if shift == 0.0 {
        1.0
    } else {
        0.0
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
    fn a_flat_series_changes_in_few_of_a_hundred() {
        let wrong = (0..400).filter(|seed| !change_points(&noise(*seed, 40), 0.0).is_empty());
        // 2.2 % in the design's own simulation.
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
