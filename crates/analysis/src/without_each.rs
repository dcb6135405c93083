//! The estimate and the verdict without each replicate (docs/method.md#m-fragility).
//!
//! A campaign has some tens of replicates, a table may have hundreds of thousands. A test of the
//! rest for each takes their number squared. Sums over all of them tell what most of these tests
//! say, each in constant time; where they do not tell it, the rest is tested.

use crate::family::FamilyOfOthers;
use crate::quality::{
    LEAST_EFFECTIVE, corrected_correlation, effective_count, neighbour_limits, widened,
};
use crate::rulebook::{Evidence, infer};
use model::{LEAST_REPLICATES, LeftOut, Verdict, round_significant as round};
use stats::{Rest, SumsWithoutEach, TTest, mean, t_survival};

/// The verdicts of fewer replicates are asked of tests alone.
const FEW: usize = 50;
/// Up to so many replicates the mean of the rest is summed for each of them.
const MOST_SUMMED: usize = 10_000;
/// So many sums are formed at once: each addition to one of them waits for the one before.
const AT_ONCE: usize = 16;
/// Of very many replicates so many are tested where sums do not tell what the rest says. It takes
/// values that differ by roundings alone to need more.
const MOST_TESTED: usize = 256;
/// Errors of sums move a t by no more than so many of their standard errors.
const SLACK: f64 = 64.0;
/// Of so many degrees of freedom, more or fewer, one boundary is known.
const DEGREES: [f64; 2] = [0.9, 1.1];
/// No boundary is sought beyond this quantile.
const MOST_QUANTILE: f64 = 64.0;
/// Halvings that find a boundary to 1e-9.
const HALVINGS: usize = 36;

/// The p-values of all other questions of a family.
pub(crate) struct FamilyPosition {
    pub differences: FamilyOfOthers,
    pub equivalences: FamilyOfOthers,
}

/// The estimate and the verdict without each replicate; none of so few that without
/// one there would be no verdict.
pub(crate) fn without_each(
    differences: &[f64],
    theta: f64,
    alpha: f64,
    place: &FamilyPosition,
) -> Vec<LeftOut> {
    if differences.len() <= LEAST_REPLICATES {
        return Vec::new();
    }
    let level = Level { theta, alpha, place };
    let verdicts = verdicts_without_each(differences, level, MOST_TESTED);
    let means = means_without_each(differences);
    let pairs = means.into_iter().zip(verdicts);
    pairs.map(|(mean, verdict)| LeftOut { log_mean: round(mean), verdict }).collect()
}

/// The means of values without each of them: of not too many the very sums of the rest in its
/// order.
fn means_without_each(values: &[f64]) -> Vec<f64> {
    let count = values.len() as f64 - 1.0;
    if values.len() > MOST_SUMMED {
        let centre = mean(values).unwrap_or(0.0);
        let moved: f64 = values.iter().map(|value| value - centre).sum();
        return values.iter().map(|value| centre + (moved - (value - centre)) / count).collect();
    }
    let mut means = Vec::with_capacity(values.len());
    // What every sum begins with, whatever the sign of that zero.
    let mut before: f64 = std::iter::empty::<f64>().sum();
    for (chunk, left) in values.chunks(AT_ONCE).enumerate() {
        let behind = values.get((chunk + 1) * AT_ONCE..).unwrap_or_default();
        let mut sums = [before; AT_ONCE];
        for (left_out, sum) in sums.iter_mut().enumerate() {
            let kept = left.iter().enumerate().filter(|(place, _)| *place != left_out);
            *sum = kept.fold(before, |sum, (_, value)| sum + value);
        }
        for value in behind {
            sums.iter_mut().for_each(|sum| *sum += value);
        }
        means.extend(sums.iter().take(left.len()).map(|sum| sum / count));
        before = left.iter().fold(before, |sum, value| sum + value);
    }
    means
}

/// What a verdict is held to.
#[derive(Clone, Copy)]
struct Level<'a> {
    theta: f64,
    alpha: f64,
    place: &'a FamilyPosition,
}

impl Level<'_> {
    /// What a test of differences says.
    fn verdict_of(&self, differences: &[f64]) -> Verdict {
        let (test, _) = widened(differences);
        let p_difference = test.and_then(|test| test.p_difference());
        let p_equivalence = test.and_then(|test| test.p_equivalence(self.theta));
        infer(&Evidence {
            test: test.as_ref(),
            difference: self.place.differences.holm_with(p_difference),
            equivalence: self.place.equivalences.holm_with(p_equivalence),
            theta: self.theta,
            alpha: self.alpha,
            // How strong a verdict is does not matter here.
            family: 1,
        })
        .verdict
    }

    /// Whether a p of this family is below its level.
    fn is_below(&self, family: &FamilyOfOthers, p: f64) -> bool {
        let p = p.clamp(f64::MIN_POSITIVE, 1.0);
        family.holm_with(Some(p)).is_some_and(|p| p < self.alpha)
    }

    /// Whether the difference at this quantile of t is shown.
    fn is_different(&self, quantile: f64, degrees: f64) -> bool {
        self.is_below(&self.place.differences, 2.0 * t_survival(quantile, degrees))
    }

    /// Whether equivalence is.
    fn is_equivalent(&self, quantile: f64, degrees: f64) -> bool {
        self.is_below(&self.place.equivalences, t_survival(quantile, degrees))
    }
}

/// The verdicts without each. Once so many tests were needed, one that sums do not tell is taken to
/// be that of all.
fn verdicts_without_each(
    differences: &[f64],
    level: Level<'_>,
    most_tested: usize,
) -> Vec<Verdict> {
    let sums = SumsWithoutEach::of(differences).filter(|_| differences.len() >= FEW);
    let quick = sums.map(|sums| (sums, Quick::of(level, differences.len() as f64 - 2.0)));
    let mut verdicts: Vec<Verdict> = Vec::with_capacity(differences.len());
    let mut tested = 0;
    let mut of_all = None;
    for (left_out, value) in differences.iter().enumerate() {
        // Without either of two neighbours that are the same the rest is the same, value by value.
        let before = left_out.checked_sub(1).and_then(|before| differences.get(before));
        let is_same = before.is_some_and(|before| before.to_bits() == value.to_bits());
        let known = verdicts.last().copied().filter(|_| is_same);
        let told = known.or_else(|| {
            let (sums, quick) = quick.as_ref()?;
            quick.verdict(&sums.without(left_out)?)
        });
        verdicts.push(told.unwrap_or_else(|| {
            tested += 1;
            if tested > most_tested {
                return *of_all.get_or_insert_with(|| level.verdict_of(differences));
            }
            let mut rest = differences.to_vec();
            rest.remove(left_out);
            level.verdict_of(&rest)
        }));
    }
    verdicts
}

/// Verdicts of sums, where these tell them whatever their roundings.
struct Quick<'a> {
    level: Level<'a>,
    difference: Boundary,
    equivalence: Boundary,
}

impl<'a> Quick<'a> {
    fn of(level: Level<'a>, degrees: f64) -> Self {
        Self {
            level,
            difference: Boundary::of(degrees, &|quantile, degrees| {
                level.is_different(quantile, degrees)
            }),
            equivalence: Boundary::of(degrees, &|quantile, degrees| {
                level.is_equivalent(quantile, degrees)
            }),
        }
    }

    /// The verdict of [`Level::verdict_of`] of these values; `None` where an error of the sums
    /// could make it another.
    ///
    /// Whether neighbours are alike, whether too few effective ones are left and whether the
    /// skewness is noticeable are asked first: there a test jumps. Between these jumps each p falls
    /// as its quantile of t rises, and Holm's adjusted p never falls as its own p rises. So what
    /// holds at both ends of the quantiles that the errors allow holds between them.
    fn verdict(&self, rest: &Rest) -> Option<Verdict> {
        let Rest { count, lag_one, error, .. } = *rest;
        let is_beyond =
            |size: f64, limit: f64| ((size - limit).abs() > SLACK * error).then_some(size > limit);
        let [least, most] = neighbour_limits(count);
        let are_alike = is_beyond(lag_one, most)? || !is_beyond(lag_one, least)?;
        let correlation = corrected_correlation(count, lag_one);
        let mut effective = count;
        if are_alike && is_beyond(correlation, 0.0)? {
            effective = effective_count(count, correlation);
            if (effective - LEAST_EFFECTIVE).abs() <= SLACK * error * count {
                return None;
            }
            if effective <= LEAST_EFFECTIVE {
                return Some(Verdict::Inconclusive);
            }
        }
        self.verdict_of(&rest.test(effective)?, count, error * (1.0 + count / effective))
    }

    /// The same of a test of so many values, whose estimate and deviation are wrong by at most this
    /// share of the deviation.
    fn verdict_of(&self, test: &TTest, count: f64, error: f64) -> Option<Verdict> {
        let (level, theta) = (&self.level, self.level.theta);
        let farthest = (test.mean.abs() + theta) / test.standard_error;
        let around = SLACK * error * (count.sqrt() + 1.0 + farthest);
        let is_equivalent = self.equivalence.is_beyond(
            test.quantile_above(-theta).min(test.quantile_below(theta)),
            around,
            test.degrees,
            &|quantile, degrees| level.is_equivalent(quantile, degrees),
        )?;
        if is_equivalent {
            return Some(Verdict::Equivalent);
        }
        let quantile =
            if test.mean < 0.0 { test.quantile_below(0.0) } else { test.quantile_above(0.0) };
        let is_different =
            self.difference.is_beyond(quantile, around, test.degrees, &|quantile, degrees| {
                level.is_different(quantile, degrees)
            })?;
        match (is_different, quantile > around) {
            (false, _) => Some(Verdict::Inconclusive),
            (true, false) => None,
            (true, true) if test.mean > 0.0 => Some(Verdict::Better),
            (true, true) => Some(Verdict::Worse),
        }
    }
}

/// Whether something is shown at a quantile of t, with these degrees of freedom: of all that lie
/// further out it is, too.
type IsShown<'a> = &'a dyn Fn(f64, f64) -> bool;

/// From which quantile of t on something is shown, for degrees of freedom about some number: an
/// answer that needs no distribution.
struct Boundary {
    /// The degrees that it is for.
    degrees: [f64; 2],
    /// It is shown from here on, whichever of these degrees there are.
    shown_from: f64,
    /// It is not shown up to here.
    not_shown_to: f64,
}

impl Boundary {
    /// Beyond 0 a tail of t is the smaller the more degrees there are: what is shown with the
    /// fewest is with more, and what is not with the most is not with fewer.
    fn of(degrees: f64, is_shown: IsShown<'_>) -> Self {
        let degrees = DEGREES.map(|share| share * degrees);
        let [[_, shown_from], [not_shown_to, _]] =
            degrees.map(|degrees| between(|quantile| is_shown(quantile, degrees)));
        Self { degrees, shown_from, not_shown_to }
    }

    /// Whether it is shown at a quantile, give or take some; `None` where that decides.
    fn is_beyond(
        &self,
        quantile: f64,
        around: f64,
        degrees: f64,
        is_shown: IsShown<'_>,
    ) -> Option<bool> {
        let [fewest, most] = self.degrees;
        if (fewest..=most).contains(&degrees) {
            if quantile - around > self.shown_from {
                return Some(true);
            }
            if quantile + around < self.not_shown_to {
                return Some(false);
            }
        }
        let nearest = is_shown(quantile - around, degrees);
        (nearest == is_shown(quantile + around, degrees)).then_some(nearest)
    }
}

/// Quantiles above 0 close to each other, of which the first is not shown and the second is;
/// infinite ones where there are none.
fn between(is_shown: impl Fn(f64) -> bool) -> [f64; 2] {
    let (mut low, mut high) = (0.0, MOST_QUANTILE);
    if is_shown(low) || !is_shown(high) {
        return [f64::NEG_INFINITY, f64::INFINITY];
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if is_shown(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    [low, high]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::Family;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha12Rng;

    /// The plain way: a test of the rest for each.
    fn plainly(differences: &[f64], level: Level<'_>) -> Vec<LeftOut> {
        let without = |left_out: usize| {
            let mut rest = differences.to_vec();
            rest.remove(left_out);
            let log_mean = round(mean(&rest).unwrap_or(0.0));
            LeftOut { log_mean, verdict: level.verdict_of(&rest) }
        };
        (0..differences.len()).map(without).collect()
    }

    fn family(others: &[f64]) -> FamilyPosition {
        let p_values: Vec<Option<f64>> =
            std::iter::once(0.5).chain(others.iter().copied()).map(Some).collect();
        let others = || Family::of(&p_values).without(0);
        FamilyPosition { differences: others(), equivalences: others() }
    }

    /// Differences about this, each like its neighbour by so much.
    fn series(random: &mut ChaCha12Rng, count: usize, about: f64, alike: f64) -> Vec<f64> {
        let mut before = 0.0;
        let mut next = || {
            let wild = if random.random::<f64>() < 0.03 { 6.0 } else { 1.0 };
            before = alike * before + 0.02 * wild * (random.random::<f64>() - 0.4);
            about + before - 0.002 / (1.0 - alike)
        };
        (0..count).map(|_| next()).collect()
    }

    fn bits(left_out: &[LeftOut]) -> Vec<(u64, Verdict)> {
        left_out.iter().map(|one| (one.log_mean.to_bits(), one.verdict)).collect()
    }

    #[test]
    fn sums_say_of_each_rest_what_its_own_test_says() {
        let mut random = ChaCha12Rng::seed_from_u64(21);
        let families = [family(&[]), family(&[0.001, 0.2]), family(&[0.01, 0.02, 0.9])];
        let mut changed = 0;
        for round in 0..240 {
            let count = [6, 49, 50, 51, 97, 130, 300][round % 7];
            let alike = [0.0, 0.0, 0.4, -0.5, 0.97][round % 5];
            let theta = [0.002, 0.01, 0.05][round % 3];
            // Most verdicts of which one block decides lie where t is about 2, or 2 from the
            // margin.
            let near = (1.5 + 2.0 * random.random::<f64>()) * 0.0065 / (count as f64).sqrt();
            let about = [0.0, near, -near, theta - near, theta + near, 0.3][round / 3 % 6];
            let differences = series(&mut random, count, about, alike);
            let level = Level { theta, alpha: 0.05, place: &families[round % 3] };
            let expected = plainly(&differences, level);
            let found = without_each(&differences, theta, 0.05, level.place);
            assert_eq!(bits(&found), bits(&expected), "round {round}");
            changed += usize::from(found.iter().any(|one| one.verdict != found[0].verdict));
        }
        assert!(changed > 3, "one block decides in {changed}");
    }

    #[test]
    fn values_that_repeat_and_those_that_differ_by_roundings_are_tested_themselves() {
        let place = family(&[0.01]);
        let level = Level { theta: 0.02, alpha: 0.05, place: &place };
        let same = vec![-0.0; 200];
        let ticks: Vec<f64> = (0..200_u8).map(|at| 0.01 * f64::from(at % 7 / 2)).collect();
        let mut one_apart = vec![0.0; 200];
        one_apart[77] = 0.4;
        let roundings: Vec<f64> = (0..200_u8).map(|at| 0.3 + 1e-16 * f64::from(at % 5)).collect();
        for differences in [same, ticks, one_apart, roundings] {
            let expected = plainly(&differences, level);
            let found = without_each(&differences, level.theta, level.alpha, &place);
            assert_eq!(bits(&found), bits(&expected), "{differences:?}");
        }
    }

    #[test]
    fn beyond_a_limit_means_are_those_of_one_sum_and_no_further_rest_is_tested() {
        let mut random = ChaCha12Rng::seed_from_u64(22);
        let many = series(&mut random, MOST_SUMMED + 1, 0.003, 0.0);
        let means = means_without_each(&many);
        assert_eq!(means.len(), many.len());
        for place in [0, 17, MOST_SUMMED] {
            let mut rest = many.clone();
            rest.remove(place);
            assert!((means[place] - mean(&rest).unwrap()).abs() < 1e-13);
        }
        let wild = [0.03, 0.032, 0.029, 0.031, 0.033, 0.028, 0.031, 0.029, 0.032, -0.25];
        let place = family(&[]);
        let level = Level { theta: 0.02, alpha: 0.05, place: &place };
        let last = |most_tested| verdicts_without_each(&wild, level, most_tested).last().copied();
        assert_eq!(last(10), Some(Verdict::Better));
        assert_eq!(last(9), Some(Verdict::Inconclusive), "that of all");
    }
}
