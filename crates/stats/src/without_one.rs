//! What values are without one of them, each from sums over all: n values take the time of one
//! pass, where a pass for each takes that of n.

use crate::moments::mean;
use crate::t_test::{TTest, skewness_error};

/// Fewer values are tested anew: sums save nothing.
const FEWEST: usize = 20;
/// Roundings that each value leaves in a sum, at most.
const ROUNDINGS: f64 = 16.0;
/// Sums that may be wrong by a larger share say nothing.
const LARGEST_ERROR: f64 = 1e-6;

/// Sums over values, from which those without one of them follow.
#[derive(Debug)]
pub struct SumsWithoutEach<'a> {
    values: &'a [f64],
    /// The mean of all, which is taken off each value before anything is summed.
    centre: f64,
    /// The largest value, whatever its sign.
    largest: f64,
    first: f64,
    second: f64,
    third: f64,
    /// Of the third powers without their signs.
    absolute_third: f64,
    /// Of the products of neighbours.
    products: f64,
}

/// The values without one of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rest {
    /// How many they are.
    pub count: f64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub standard_deviation: f64,
    /// Their lag-one autocorrelation.
    pub lag_one: f64,
    /// By how much these may differ from what [`mean`], [`standard_deviation`] and [`lag_one`] give
    /// of the same values: of the mean as a share of the standard deviation, of that as a share of
    /// itself, of the correlation as it is.
    ///
    /// [`standard_deviation`]: crate::standard_deviation
    /// [`lag_one`]: crate::lag_one
    pub error: f64,
    skewness: f64,
    /// By how much the skewness may differ.
    skewness_slack: f64,
}

impl<'a> SumsWithoutEach<'a> {
    /// Sums over these values; `None` of fewer than twenty, or of NaN or infinite ones.
    pub fn of(values: &'a [f64]) -> Option<Self> {
        let centre = mean(values).filter(|_| values.len() >= FEWEST)?;
        let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let mut sums = Self {
            values,
            centre,
            largest,
            first: 0.0,
            second: 0.0,
            third: 0.0,
            absolute_third: 0.0,
            products: 0.0,
        };
        for value in values {
            let distance = value - centre;
            let square = distance * distance;
            sums.first += distance;
            sums.second += square;
            sums.third += square * distance;
            sums.absolute_third += square * distance.abs();
        }
        for pair in values.windows(2) {
            sums.products += (pair[0] - centre) * (pair[1] - centre);
        }
        Some(sums)
    }

    /// The value at this place, from the centre; `None` beyond the ends.
    fn at(&self, place: Option<usize>) -> Option<f64> {
        self.values.get(place?).map(|value| value - self.centre)
    }

    /// The values without that at this place; `None` where there is none, or where the rest varies
    /// by so little beside all that the sums do not tell it.
    ///
    /// Every sum loses the terms of that value, and the sum of products gains one between
    /// its neighbours. The mean of the rest lies `moved` from the centre, and the sums
    /// about it follow from those about the centre.
    pub fn without(&self, place: usize) -> Option<Rest> {
        let value = self.at(Some(place))?;
        let count = self.values.len() as f64 - 1.0;
        let (before, after) = (self.at(place.checked_sub(1)), self.at(place.checked_add(1)));
        let first = self.first - value;
        let second = self.second - value * value;
        let third = self.third - value * value * value;
        let moved = first / count;
        let squares = second - count * moved * moved;
        let cubes = third - 3.0 * moved * second + 2.0 * count * moved * moved * moved;

        let product =
            |one: Option<f64>, other: Option<f64>| one.zip(other).map_or(0.0, |p| p.0 * p.1);
        let own = Some(value);
        let products =
            self.products - product(before, own) - product(own, after) + product(before, after);
        let last = self.values.len() - 1;
        let outermost = [
            if place == 0 { after } else { self.at(Some(0)) },
            if place == last { before } else { self.at(Some(last)) },
        ];
        let outermost: f64 = outermost.into_iter().flatten().sum();
        let products = products - moved * (2.0 * first - outermost) + (count - 1.0) * moved * moved;

        let spread = (squares / count).sqrt();
        let rounding = ROUNDINGS * self.values.len() as f64 * f64::EPSILON;
        let error = rounding * (1.0 + self.largest / spread + self.second / squares);
        let tailedness = self.absolute_third / (count * spread * spread * spread);
        // No spread at all, and one that is no number, have an error that is not below it.
        (squares > 0.0 && error < LARGEST_ERROR).then(|| Rest {
            count,
            mean: self.centre + moved,
            standard_deviation: (squares / (count - 1.0)).sqrt(),
            lag_one: products / squares,
            error,
            skewness: (count * (count - 1.0)).sqrt() / (count - 2.0) * cubes
                / (count * spread * spread * spread),
            skewness_slack: 8.0 * error * (1.0 + tailedness),
        })
    }
}

impl Rest {
    /// The t of these values with so many effective ones, as [`TTest::with_effective_count`] gives
    /// it; `None` of one or fewer, or where it is not sure whether their skewness is noticeable.
    pub fn test(&self, effective: f64) -> Option<TTest> {
        let beyond = self.skewness.abs() - skewness_error(self.count);
        if effective <= 1.0 || beyond.abs() <= self.skewness_slack {
            return None;
        }
        let skewness = if beyond > 0.0 { self.skewness } else { 0.0 };
        Some(TTest {
            mean: self.mean,
            standard_deviation: self.standard_deviation,
            standard_error: self.standard_deviation / effective.sqrt(),
            degrees: effective - 1.0,
            skew: skewness / (6.0 * effective.sqrt()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serial::lag_one;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha12Rng;

    /// Values about this centre, each like its neighbour by so much, some far out.
    fn series(random: &mut ChaCha12Rng, count: usize, centre: f64, alike: f64) -> Vec<f64> {
        let mut before = 0.0;
        let mut next = || {
            let wild = if random.random::<f64>() < 0.02 { 8.0 } else { 1.0 };
            before = alike * before + wild * (random.random::<f64>() - 0.4);
            centre + before
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn values_without_one_are_what_a_pass_over_the_rest_finds() {
        let mut random = ChaCha12Rng::seed_from_u64(3);
        for round in 0..60 {
            let centre = [0.0, 0.02, -3.0, 700.0][round % 4];
            let values = series(&mut random, 20 + 7 * round, centre, [0.0, 0.6, -0.6][round % 3]);
            let sums = SumsWithoutEach::of(&values).unwrap();
            for place in 0..values.len() {
                let mut rest = values.clone();
                rest.remove(place);
                let found = sums.without(place).unwrap();
                assert!(found.error < LARGEST_ERROR);
                let plain = TTest::of(&rest).unwrap();
                let deviation = plain.standard_deviation;
                assert!((found.mean - plain.mean).abs() <= found.error * deviation);
                let ratio = found.standard_deviation / deviation;
                assert!((ratio - 1.0).abs() <= found.error, "{round} {place}: {ratio}");
                let lag = lag_one(&rest).unwrap();
                assert!((found.lag_one - lag).abs() <= found.error, "{round} {place}: {lag}");
                let test = found.test(rest.len() as f64).unwrap();
                assert!((test.skew - plain.skew).abs() <= found.skewness_slack);
            }
            assert_eq!(sums.without(values.len()), None);
        }
    }

    #[test]
    fn what_the_sums_do_not_tell_is_left_to_a_pass() {
        assert!(SumsWithoutEach::of(&[1.0; 19]).is_none());
        assert!(SumsWithoutEach::of(&[f64::NAN; 30]).is_none());
        let constant = [0.3; 30];
        assert_eq!(SumsWithoutEach::of(&constant).unwrap().without(3), None);
        // Without the one that differs, the others do not vary.
        let mut one_apart = constant;
        one_apart[7] = 9.0;
        let sums = SumsWithoutEach::of(&one_apart).unwrap();
        assert_eq!(sums.without(7), None);
        assert!(sums.without(8).is_some());
        // As little as the last digits of a number.
        let digits: Vec<f64> = (0..30).map(|at| 700.0 + f64::from(at % 3) * 1e-12).collect();
        assert_eq!(SumsWithoutEach::of(&digits).unwrap().without(3), None);
    }
}
