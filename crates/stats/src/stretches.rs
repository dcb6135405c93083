//! A monotone trend over time, from values of one stretch of time or of several between
//! which nobody knows what happened: only pairs inside a stretch count.

use crate::exact::above_zero;
use crate::normal::{normal_cdf, normal_quantile};
use crate::pair_slopes::PairSlopes;
use crate::trend::{MOST_EXACT, random_inversions};

/// Fewer values say nothing about how neighbours resemble each other.
const LEAST_FOR_CORRELATION: usize = 6;
/// Values that resemble each other more than this have no trend that could be told.
const MOST_CORRELATED: f64 = 0.95;

/// The trend of a series: Theil's and Sen's slope, Mann's and Kendall's test of it.
#[derive(Debug, Clone, PartialEq)]
pub struct MonotoneTrend {
    /// Of all pairs inside stretches.
    slopes: PairSlopes,
    /// Pairs that rise less pairs that fall.
    score: i64,
    null: Null,
    /// Lag-one correlation beside the trend, where neighbours resemble each other.
    correlation: f64,
}

/// How the score is distributed where there is no trend.
#[derive(Debug, Clone, PartialEq)]
enum Null {
    /// By the number of pairs that fall.
    Exact(Vec<f64>),
    /// Normal, with this standard deviation.
    Normal(f64),
}

impl MonotoneTrend {
    /// The trend of stretches of times and values. The slope is the median over pairs
    /// (Theil 1950, Sen 1968), the test Mann's (1945) and Kendall's (1975) with the score and
    /// its variance summed over stretches, as those of seasons are (Hirsch, Slack and Smith
    /// 1982). It is exact up to 40 values without ties, and normal with the correction for
    /// ties beyond. Where neighbours resemble each other, the variance grows by
    /// (1 + r)/(1 - r) (Hamed and Rao 1998; of first order, Yue and Wang 2004), with the
    /// lag-one correlation r of what isotonic regression leaves, freed from its bias in short
    /// series as (n r + 1)/(n - 4) (Marriott and Pope 1954).
    ///
    /// `None` of fewer than four values, of values that are all equal in each stretch, and
    /// where times do not ascend inside a stretch or anything is NaN or infinite.
    pub fn of(stretches: &[Vec<(f64, f64)>]) -> Option<Self> {
        let all = || stretches.iter().flatten();
        let ascends = |stretch: &Vec<(f64, f64)>| stretch.windows(2).all(|two| two[0].0 < two[1].0);
        let is_finite = all().all(|(time, value)| time.is_finite() && value.is_finite());
        if all().count() < 4 || !is_finite || !stretches.iter().all(ascends) {
            return None;
        }
        let slopes = PairSlopes::of(stretches);
        let (rising, falling) = (slopes.rising(), slopes.falling());
        if rising + falling == 0 {
            return None;
        }
        let correlation = correlation(stretches, rising > falling);
        let has_ties = rising + falling < slopes.count();
        let null = if has_ties || correlation > 0.0 || all().count() > MOST_EXACT {
            let inflated = (1.0 + correlation) / (1.0 - correlation);
            let variance: f64 = stretches.iter().map(|stretch| variance_of_score(stretch)).sum();
            Null::Normal((variance * inflated).sqrt())
        } else {
            Null::Exact(random_inversions(stretches.iter().map(Vec::len)))
        };
        Some(Self { slopes, score: rising - falling, null, correlation })
    }

    /// The median slope, in values per time.
    pub fn slope(&self) -> f64 {
        self.slopes.median().unwrap_or(0.0)
    }

    /// Two-sided p of no trend; never 0.
    pub fn p(&self) -> f64 {
        self.p_of(self.score)
    }

    /// The slopes that the test at level `alpha` does not reject (Sen 1968); infinite where
    /// so few values exclude none.
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let pairs = self.slopes.count();
        // The smallest score that rejects, of those that a series without ties can have.
        let rejects = match &self.null {
            Null::Exact(_) => (0..=pairs)
                .filter(|score| (pairs - score) % 2 == 0)
                .find(|score| self.p_of(*score) < alpha)
                .unwrap_or(pairs + 2),
            Null::Normal(deviation) => {
                (1.0 + normal_quantile(1.0 - alpha / 2.0) * deviation).floor() as i64 + 1
            }
        };
        // So many slopes may lie outside on either side.
        let outside = (pairs - rejects).div_euclid(2);
        let ranks = usize::try_from(outside).ok().zip(usize::try_from(pairs - 1 - outside).ok());
        let ends =
            ranks.and_then(|(low, high)| self.slopes.ranked(low).zip(self.slopes.ranked(high)));
        ends.unwrap_or((f64::NEG_INFINITY, f64::INFINITY))
    }

    /// How much neighbours resemble each other beside the trend: what the interval was widened
    /// for; 0 where they do not.
    pub fn correlation(&self) -> f64 {
        self.correlation
    }

    fn p_of(&self, score: i64) -> f64 {
        let pairs = self.slopes.count();
        match &self.null {
            Null::Exact(distribution) => {
                let all = distribution.iter().enumerate();
                let beyond =
                    all.filter(|(falling, _)| (pairs - 2 * *falling as i64).abs() >= score.abs());
                beyond.map(|(_, probability)| probability).sum::<f64>().min(1.0)
            }
            Null::Normal(deviation) => {
                let z = (score.abs() - 1).max(0) as f64 / deviation;
                above_zero((2.0 * normal_cdf(-z)).min(1.0))
            }
        }
    }
}

/// Kendall's variance of the score of one stretch, with his correction for ties.
fn variance_of_score(stretch: &[(f64, f64)]) -> f64 {
    let weight = |count: usize| {
        let count = count as f64;
        count * (count - 1.0) * (2.0 * count + 5.0)
    };
    let mut values: Vec<f64> = stretch.iter().map(|(_, value)| *value).collect();
    values.sort_unstable_by(f64::total_cmp);
    let ties: f64 = values.chunk_by(|a, b| a == b).map(|group| weight(group.len())).sum();
    (weight(values.len()) - ties) / 18.0
}

/// Lag-one correlation between neighbours of a stretch beside whatever monotone curve lies in
/// it, freed from its bias; 0 where it is not positive. A straight line would leave the rest
/// of a step or of a bent curve, which looks like correlation and hides both.
fn correlation(stretches: &[Vec<(f64, f64)>], rises: bool) -> f64 {
    let count: usize = stretches.iter().map(Vec::len).sum();
    if count < LEAST_FOR_CORRELATION {
        return 0.0;
    }
    let rests: Vec<Vec<f64>> =
        stretches.iter().map(|stretch| beside_monotone(stretch, rises)).collect();
    let squares: f64 = rests.iter().flatten().map(|rest| rest * rest).sum();
    let products: f64 =
        rests.iter().flat_map(|rest| rest.windows(2)).map(|two| two[0] * two[1]).sum();
    if squares <= 0.0 {
        return 0.0;
    }
    let count = count as f64;
    ((count * products / squares + 1.0) / (count - 4.0)).clamp(0.0, MOST_CORRELATED)
}

/// What the nearest monotone curve leaves of a stretch: isotonic regression, by pooling
/// neighbours that violate the order (Ayer and others 1955).
fn beside_monotone(stretch: &[(f64, f64)], rises: bool) -> Vec<f64> {
    let sign = if rises { 1.0 } else { -1.0 };
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(stretch.len());
    for (_, value) in stretch {
        let mut pool = (sign * value, 1);
        while let Some((level, count)) = pools.pop_if(|(level, _)| *level >= pool.0) {
            let both = count + pool.1;
            pool = ((level * count as f64 + pool.0 * pool.1 as f64) / both as f64, both);
        }
        pools.push(pool);
    }
    let levels = pools.into_iter().flat_map(|(level, count)| std::iter::repeat_n(level, count));
    stretch.iter().zip(levels).map(|((_, value), level)| sign * value - level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trend::{mann_kendall, theil_sen};
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha12Rng;

    fn noise(seed: u64, count: usize) -> Vec<f64> {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        // Twelve uniforms: normal enough, standard deviation one.
        (0..count).map(|_| (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0).collect()
    }

    /// One stretch, a value each hour.
    fn hourly(values: &[f64]) -> Vec<(f64, f64)> {
        values.iter().enumerate().map(|(hour, value)| (hour as f64, *value)).collect()
    }

    fn rejected(alpha: f64, draw: impl Fn(u64) -> Vec<Vec<(f64, f64)>>) -> f64 {
        let wrong = (0..1_000).filter(|seed| MonotoneTrend::of(&draw(*seed)).unwrap().p() < alpha);
        wrong.count() as f64 / 1_000.0
    }

    #[test]
    fn of_one_stretch_it_is_the_test_of_the_whole() {
        for seed in 0..40 {
            let values = noise(seed, 14);
            let trend = MonotoneTrend::of(&[hourly(&values)]).unwrap();
            assert_eq!(Some(trend.slope()), theil_sen(&values));
            if trend.correlation() == 0.0 {
                assert_eq!(Some(trend.p()), mann_kendall(&values), "{seed}");
            } else {
                assert!(trend.p() > mann_kendall(&values).unwrap(), "{seed}");
            }
        }
    }

    #[test]
    fn a_line_has_its_slope_and_the_smallest_p() {
        let line: Vec<f64> = (0..6).map(|hour| 3.0 * f64::from(hour)).collect();
        let trend = MonotoneTrend::of(&[hourly(&line)]).unwrap();
        assert!((trend.p() - 2.0 / 720.0).abs() < 1e-15);
        assert_eq!((trend.slope(), trend.interval(0.05)), (3.0, (3.0, 3.0)));
        let none = trend.interval(0.002);
        assert_eq!(none, (f64::NEG_INFINITY, f64::INFINITY), "no p is so small");
    }

    #[test]
    fn a_level_that_changes_between_stretches_is_no_trend() {
        // Rises by 5 inside each of two stretches and falls back between them.
        let rises: Vec<f64> = (0..10).map(|hour| f64::from(hour) * 0.5).collect();
        let again: Vec<(f64, f64)> =
            hourly(&rises).iter().map(|(hour, value)| (hour + 30.0, *value)).collect();
        let both = MonotoneTrend::of(&[hourly(&rises), again.clone()]).unwrap();
        assert_eq!(both.slope(), 0.5);
        assert!(both.p() < 1e-9, "{}", both.p());
        // The same level twice as high behind the gap, without a trend inside.
        let flat = noise(3, 10);
        let higher = noise(4, 10).iter().map(|value| value + 50.0).collect::<Vec<_>>();
        let apart = MonotoneTrend::of(&[hourly(&flat), hourly(&higher)]).unwrap();
        assert!(apart.p() > 0.05, "{}", apart.p());
        let joined = MonotoneTrend::of(&[hourly(&[flat, higher].concat())]).unwrap();
        assert!(joined.p() < 0.05, "{}", joined.p());
    }

    #[test]
    fn the_exact_distribution_of_two_stretches_is_that_of_all_their_orders() {
        // Two and three values: the score is the sum of one pair's and of three pairs'.
        let mut counts = std::collections::BTreeMap::new();
        for first in [1, -1] {
            for second in [3, 1, 1, -1, -1, -3] {
                *counts.entry((first + second as i64).abs()).or_insert(0) += 1;
            }
        }
        let trend = MonotoneTrend::of(&[hourly(&[1.0, 2.0]), hourly(&[5.0, 6.0, 7.0])]).unwrap();
        assert!((trend.p() - f64::from(counts[&4]) / 12.0).abs() < 1e-15, "{}", trend.p());
    }

    #[test]
    fn without_a_trend_few_are_seen() {
        // 1000 campaigns: five standard errors of 5 % are 3.4 points.
        for count in [6, 10, 24, 60] {
            let share = rejected(0.05, |seed| vec![hourly(&noise(seed, count))]);
            assert!(share <= 0.06, "{count}: {share}");
        }
        let share = rejected(0.05, |seed| {
            let values = noise(seed, 24);
            vec![hourly(&values[..7]), hourly(&values[7..15]), hourly(&values[15..])]
        });
        assert!(share <= 0.06, "{share}");
    }

    #[test]
    fn neighbours_that_resemble_each_other_fool_it_seldom() {
        let autoregressive = |seed: u64| {
            let mut last = 0.0;
            let next = |fresh: f64| {
                last = 0.5 * last + fresh;
                last
            };
            noise(seed, 70).into_iter().map(next).skip(22).collect::<Vec<f64>>()
        };
        let corrected = rejected(0.05, |seed| vec![hourly(&autoregressive(seed))]);
        assert!(corrected <= 0.12, "{corrected}");
        let naive =
            (0..1_000).filter(|seed| mann_kendall(&autoregressive(*seed)).unwrap() < 0.05).count();
        assert!(naive as f64 / 1_000.0 > 2.0 * corrected, "{naive} {corrected}");
    }

    #[test]
    fn a_step_and_a_bent_curve_are_found_as_a_line_is() {
        let shapes: [fn(f64) -> f64; 3] =
            [|share| share, |share| f64::from(share > 0.5), |share| share * share];
        for (which, shape) in shapes.into_iter().enumerate() {
            let found = rejected(0.01, |seed| {
                let values = noise(seed, 24).into_iter().enumerate();
                let values = values.map(|(hour, noise)| noise + 6.0 * shape(hour as f64 / 23.0));
                vec![hourly(&values.collect::<Vec<f64>>())]
            });
            assert!(found >= 0.85, "{which}: {found}");
        }
    }

    #[test]
    fn the_interval_holds_the_slope_as_often_as_it_says() {
        for count in [8, 24] {
            let holds = (0..1_000).filter(|seed| {
                let tilted: Vec<(f64, f64)> =
                    hourly(&noise(*seed, count)).iter().map(|(x, y)| (*x, y + 0.3 * x)).collect();
                let (low, high) = MonotoneTrend::of(&[tilted]).unwrap().interval(0.05);
                low <= 0.3 && 0.3 <= high
            });
            let share = holds.count() as f64 / 1_000.0;
            assert!((0.94..=0.995).contains(&share), "{count}: {share}");
        }
    }

    #[test]
    fn what_has_no_trend_has_none() {
        assert_eq!(MonotoneTrend::of(&[]), None);
        assert_eq!(MonotoneTrend::of(&[hourly(&[1.0, 2.0, 3.0])]), None);
        assert_eq!(MonotoneTrend::of(&[hourly(&[1.0; 9])]), None);
        assert_eq!(MonotoneTrend::of(&[hourly(&[1.0, 2.0, f64::NAN, 4.0])]), None);
        assert_eq!(
            MonotoneTrend::of(&[vec![(0.0, 1.0), (0.0, 2.0), (1.0, 3.0), (2.0, 4.0)]]),
            None
        );
        // Levels differ between stretches of one value: no pair is inside one.
        assert_eq!(
            MonotoneTrend::of(&[hourly(&[1.0]), hourly(&[2.0]), hourly(&[3.0]), hourly(&[4.0])]),
            None
        );
    }

    proptest! {
        #[test]
        fn the_interval_leaves_out_zero_where_the_test_rejects(
            values in prop::collection::vec(-1_000_i32..1_000, 6..30),
            cut in 0_usize..30,
            tilt in 0_i32..200,
        ) {
            let values: Vec<f64> = (0..).zip(&values).map(|(hour, value)| {
                // Fractions of hours keep values apart.
                f64::from(*value) + f64::from(hour * tilt) + f64::from(hour) * 1e-3
            }).collect();
            let (first, second) = values.split_at(cut.min(values.len()));
            let stretches = [hourly(first), hourly(second)];
            if let Some(trend) = MonotoneTrend::of(&stretches) {
                let (low, high) = trend.interval(0.05);
                prop_assert!(low <= trend.slope() && trend.slope() <= high);
                prop_assert_eq!(low > 0.0 || high < 0.0, trend.p() < 0.05, "{:?}", trend);
                prop_assert!(trend.p() > 0.0 && trend.p() <= 1.0);
                let (wide, _) = trend.interval(0.001);
                prop_assert!(wide <= low);
            }
        }
    }
}
