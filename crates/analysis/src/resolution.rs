//! The step that values were measured in (docs/method.md#m-resolution): a clock that ticks, a tool
//! that prints few digits, a histogram of few buckets.

use crate::whole_steps::{CountedValue, ODD_ONE_IN, TOLERANCE, explains, step};
use model::{Caveat, CaveatCode, Metric, Reduction, Unit};
use stats::{exp, ln, mean};

/// Fewer values show no step but the gap of one that differs from all others, and a last digit.
const LEAST_VALUES: usize = 8;
/// Fewer values of a subject show nothing.
const LEAST_OF_FEW: usize = 5;
/// That all values of a subject are the same is no accident where it has so small a chance.
const LEAST_CHANCE: f64 = 0.05;
/// A step of which nothing is known is no larger than the value, as a share of it.
const WHOLE: f64 = 1.0;
/// Values that are this close are one value, as a share of it.
const SAME: f64 = 1e-6;
/// What was calculated from one value differs by its rounding alone, as a share of it.
const ROUNDING: f64 = 1e-12;
/// Where so large a share of the values stands more than once, the others show no step.
const LEAST_TIED: f64 = 0.8;
/// Of a longer series of a subject so many values show its step.
const MOST_VALUES: usize = 1_000;

/// Values of reference and subject: what they reduce to, and the series that they were reduced from.
/// Each subject may have a clock of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measurements<'a> {
    pub values: [&'a [f64]; 2],
    /// Every value of each; empty where none was reduced from several.
    pub series: [&'a [f64]; 2],
    /// Whether they were imported: a declared step may then be the last digit of another subject.
    pub are_imported: bool,
}

/// What steps forbid.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Steps {
    /// The step as a share of the smallest value, where it is too coarse against the margin to
    /// claim equivalence.
    pub coarse: Option<f64>,
    /// Up to which share of a value a difference may be that of the steps: one coarse step, and all
    /// of the value where one subject's step is not known; else 0.
    pub hidden: f64,
    /// Whether the difference of such values is no larger than that.
    pub is_one: bool,
    /// Whether all values of one subject or of both are the same, and nothing else tells their step:
    /// no equivalence can be claimed of them.
    pub is_unknown: bool,
    /// Whether that is so of a subject while the other has another value, or several.
    pub is_one_constant: bool,
}

/// On what scale values lie whole steps apart.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    /// Their own: a clock that ticks, digits.
    Linear,
    /// One over them: rates of a clock that ticks.
    Reciprocal,
    /// Their logarithms: buckets that are a ratio apart.
    Logarithmic,
}

/// Values that lie one or several steps apart, wherever they begin.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Grid {
    /// On its scale.
    step: f64,
    /// The step as a share of the smallest value.
    share: f64,
    scale: Scale,
}

impl Steps {
    /// Those of the values of two subjects: the declared step where it exceeds a quarter of the
    /// margin, an inferred one where it exceeds half of it.
    pub(crate) fn of(measured: &Measurements<'_>, metric: &Metric, theta: f64) -> Self {
        let least = exp(theta / 2.0) - 1.0;
        // Of shares one event is the step, and their own scale knows it.
        let inferred = match metric.reduction {
            Reduction::Proportion => None,
            _ => measured.grid(least),
        };
        let inferred = inferred.filter(|grid| ln(1.0 + grid.share) > theta / 2.0);
        let smallest = measured.values.iter().flat_map(|side| side.iter());
        let smallest = smallest.copied().fold(f64::INFINITY, f64::min);
        let step = metric.resolution;
        let declared = Grid { step, share: step / smallest, scale: Scale::Linear };
        let declared = (declared.share > theta / 4.0).then_some(declared);
        let coarse = coarser(inferred, declared);

        let is_open = !is_known(metric, measured.are_imported);
        let is_one_constant = is_open && measured.has_one_constant(metric.unit);
        let is_declared = step > 0.0 && !measured.are_imported;
        let unknown = (is_one_constant && !is_declared).then(|| Grid {
            step: Scale::Logarithmic.step(WHOLE, 1.0),
            share: WHOLE,
            scale: Scale::Logarithmic,
        });
        let widest = coarser(coarse, unknown);
        Self {
            coarse: coarse.map(|grid| grid.share),
            hidden: widest.map_or(0.0, |grid| grid.share),
            is_one: widest.is_some_and(|grid| grid.hides(measured.values)),
            is_unknown: is_one_constant || (is_open && measured.are_one_value()),
            is_one_constant,
        }
    }

    /// What is told of them, where they forbid anything.
    pub(crate) fn caveat(&self) -> Option<Caveat> {
        let detail = match (self.is_one_constant, self.coarse, self.is_unknown) {
            (true, ..) => {
                "all values of one subject are the same, so nothing shows their step".to_owned()
            }
            (false, Some(share), _) => {
                format!("one step is {} % of the value", model::percent(share, 1))
            }
            (false, None, true) => {
                "all values are the same, so nothing shows their step".to_owned()
            }
            (false, None, false) => return None,
        };
        Some(Caveat::new(CaveatCode::Quantised, detail))
    }
}

impl Measurements<'_> {
    /// The coarsest grid: of the values and of the series, of both subjects together and of each. A
    /// fine clock beside it would hide that of the other.
    fn grid(&self, least: f64) -> Option<Grid> {
        // Values that nothing was reduced to are their own series, which says the same.
        let both = [Some(self.values), Some(self.series).filter(|series| *series != self.values)];
        let asked = || both.into_iter().flatten();
        let together = asked().map(|sides| Grid::of_owned(sides.concat(), least));
        let each = asked().flat_map(|sides| sides.map(|side| Grid::of_one(side, least)));
        together.chain(each).fold(None, coarser)
    }

    /// Whether all values of both are one.
    fn are_one_value(&self) -> bool {
        let count: usize = self.values.iter().map(|side| side.len()).sum();
        let are_one = |sides: &[&[f64]; 2]| are_the_same(sides.iter().flat_map(|side| side.iter()));
        count > 1 && are_one(&self.values) && are_one(&self.series)
    }

    /// Whether the values of one subject never vary, and it is unlikely that they would not by the
    /// steps of the other.
    fn has_one_constant(&self, unit: Unit) -> bool {
        let is_constant = |side: usize| {
            self.values[side].len() > 1
                && are_the_same(self.values[side].iter())
                && are_the_same(self.series[side].iter())
                && !(unit == Unit::Fraction && is_all(self.values[side]))
        };
        !self.are_one_value()
            && [(0, 1), (1, 0)].into_iter().any(|(own, other)| {
                is_constant(own) && are_unlikely(self.values[own], self.values[other])
            })
    }
}

/// Whether these values, which are all the same, are unlikely of a subject whose values vary as the
/// other's do. By one step more or less the other may vary because it lies between two of them.
fn are_unlikely(same: &[f64], other: &[f64]) -> bool {
    let mut sorted = other.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    match distinct(sorted.iter().copied(), Scale::Linear).as_slice() {
        [] | [_, _] => false,
        [(level, _)] => same.iter().any(|value| (value - level).abs() > SAME * level.abs()),
        levels => {
            let most = levels.iter().map(|(_, count)| *count).max().unwrap_or_default();
            let share = most as f64 / other.len() as f64;
            std::iter::repeat_n(share, same.len()).product::<f64>() < LEAST_CHANCE
        }
    }
}

/// Whether a share that does not vary is one of all: no clock gives it.
fn is_all(shares: &[f64]) -> bool {
    shares.first().is_some_and(|share| (share - 1.0).abs() <= ROUNDING)
}

/// Whether the step is known of values that do not vary: things that are counted have that of one,
/// and so have shares; a step that the metric declares counts where the value is no quantile, which
/// has the buckets of its histogram beside it. An import has one for all of its subjects.
fn is_known(metric: &Metric, are_imported: bool) -> bool {
    let is_counted = matches!(metric.unit, Unit::Count | Unit::PerOperation | Unit::Bytes);
    match metric.reduction {
        Reduction::Proportion => true,
        Reduction::Quantile(_) => is_counted,
        Reduction::Median | Reduction::Mean | Reduction::Quotient => {
            is_counted || (metric.resolution > 0.0 && !are_imported)
        }
    }
}

/// Whether there is no second value. No values at all are the same, too.
fn are_the_same<'v>(mut values: impl Iterator<Item = &'v f64>) -> bool {
    let Some(first) = values.next() else { return true };
    values.all(|value| (value - first).abs() <= ROUNDING * first.abs())
}

fn coarser(one: Option<Grid>, other: Option<Grid>) -> Option<Grid> {
    match (one, other) {
        (Some(one), Some(other)) if other.share > one.share => Some(other),
        (one, other) => one.or(other),
    }
}

impl Scale {
    const ALL: [Self; 3] = [Self::Linear, Self::Reciprocal, Self::Logarithmic];

    fn of(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Reciprocal => 1.0 / value,
            Self::Logarithmic => ln(value),
        }
    }

    /// A step as a share of a value on this scale.
    fn share(self, step: f64, value: f64) -> f64 {
        match self {
            Self::Linear | Self::Reciprocal => step / value,
            Self::Logarithmic => exp(step) - 1.0,
        }
    }

    /// The step that is such a share of a value on this scale.
    fn step(self, share: f64, value: f64) -> f64 {
        match self {
            Self::Linear | Self::Reciprocal => share * value,
            Self::Logarithmic => ln(1.0 + share),
        }
    }
}

impl Grid {
    /// That of values, as coarse as this share of the smallest or coarser.
    fn of(values: &[f64], least: f64) -> Option<Self> {
        Self::of_owned(values.to_vec(), least)
    }

    /// The same of values that are sorted where they stand: there may be hundreds of thousands.
    fn of_owned(mut values: Vec<f64>, least: f64) -> Option<Self> {
        let is_value = |value: &f64| value.is_finite() && *value > 0.0;
        if values.len() < LEAST_VALUES || !values.iter().all(is_value) {
            return None;
        }
        values.sort_unstable_by(f64::total_cmp);
        let on_scales = Scale::ALL.into_iter().map(|scale| Self::on(scale, &values, least));
        coarser(on_scales.fold(None, coarser), Self::of_ties(&values))
    }

    /// That of the values of one subject.
    fn of_one(values: &[f64], least: f64) -> Option<Self> {
        match values.len() {
            ..LEAST_OF_FEW => None,
            LEAST_OF_FEW..LEAST_VALUES => Self::of_few(values, least),
            _ => Self::of(values, least),
        }
    }

    /// That of values that are too few to tell most steps from accidents: the gap of one that differs
    /// from all others, or the last decimal digit that they use.
    fn of_few(values: &[f64], least: f64) -> Option<Self> {
        if !values.iter().all(|value| value.is_finite() && *value > 0.0) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let smallest = *sorted.first()?;
        let least = least * smallest * (1.0 - TOLERANCE);
        let step = match distinct(sorted.iter().copied(), Scale::Linear).as_slice() {
            [(low, one), (high, other)] if *one.min(other) == 1 => high - low,
            levels => last_digit(levels, least)?,
        };
        let grid = Self { step, share: step / smallest, scale: Scale::Linear };
        (step >= least).then_some(grid)
    }

    /// That of positive, sorted values on a scale.
    fn on(scale: Scale, sorted: &[f64], least: f64) -> Option<Self> {
        let on_scale = sorted.iter().map(|value| scale.of(*value));
        // The largest value has the smallest reciprocal.
        let (smallest, counted) = match scale {
            Scale::Reciprocal => (on_scale.clone().next_back()?, repeated(on_scale.rev(), scale)),
            Scale::Linear | Scale::Logarithmic => {
                (on_scale.clone().next()?, repeated(on_scale, scale))
            }
        };
        // The caller asks of the share, which is calculated in another order.
        let least = scale.step(least, smallest) * (1.0 - TOLERANCE);
        let step = step(&counted, least)?;
        Some(Self { step, share: scale.share(step, smallest), scale })
    }

    /// Where positive, sorted values stand more than once: the smallest ratio between neighbours around the
    /// middle, by whatever rule they lie apart.
    fn of_ties(sorted: &[f64]) -> Option<Self> {
        let all = sorted.len();
        let levels =
            frequent(tied(&distinct(sorted.iter().copied(), Scale::Linear))?, all / ODD_ONE_IN);
        let quartile = |quarter: usize| sorted.get(quarter * all.saturating_sub(1) / 4).copied();
        let (first, third) = quartile(1).zip(quartile(3))?;
        let is_central = |pair: &&[CountedValue]| {
            pair[1].0 >= first * (1.0 - TOLERANCE) && pair[0].0 <= third * (1.0 + TOLERANCE)
        };
        let ratios = levels.windows(2).filter(is_central).map(|pair| pair[1].0 / pair[0].0);
        let share = ratios.fold(f64::INFINITY, f64::min) - 1.0;
        let scale = Scale::Logarithmic;
        share.is_finite().then(|| Self { step: scale.step(share, 1.0), share, scale })
    }

    /// Whether the means of two subjects are no more than a step apart.
    fn hides(&self, values: [&[f64]; 2]) -> bool {
        let [reference, subject] = values.map(|side| self.mean(side));
        let change = subject.zip(reference).map(|(one, other)| (one - other).abs());
        change.is_some_and(|change| change <= self.step * (1.0 + TOLERANCE))
    }

    /// The mean of values as the grid has them.
    fn mean(&self, values: &[f64]) -> Option<f64> {
        mean(&values.iter().map(|value| self.scale.of(*value)).collect::<Vec<_>>())
    }
}

/// The different ones of sorted values on a scale.
fn distinct(sorted: impl Iterator<Item = f64>, scale: Scale) -> Vec<CountedValue> {
    let mut distinct: Vec<CountedValue> = Vec::new();
    for value in sorted {
        let same = scale.step(SAME, value);
        match distinct.last_mut() {
            Some((last, count)) if value - *last <= same => *count += 1,
            _ => distinct.push((value, 1)),
        }
    }
    distinct
}

/// Those that stand more than once, where nearly all do.
fn tied(distinct: &[CountedValue]) -> Option<Vec<CountedValue>> {
    let all: usize = distinct.iter().map(|(_, count)| count).sum();
    let told: Vec<CountedValue> =
        distinct.iter().filter(|(_, count)| *count > 1).copied().collect();
    let tied: usize = told.iter().map(|(_, count)| count).sum();
    // A value that nearly all have shows no step without the others.
    (tied as f64 >= LEAST_TIED * all as f64 && told.len() > 1).then_some(told)
}

/// The different ones of sorted values; where nearly all stand more than once, those that do.
fn repeated(sorted: impl Iterator<Item = f64>, scale: Scale) -> Vec<CountedValue> {
    let distinct = distinct(sorted, scale);
    tied(&distinct).unwrap_or(distinct)
}

/// Values without the rarest of them, of which so many may be left out.
fn frequent(values: Vec<CountedValue>, most_odd: usize) -> Vec<CountedValue> {
    let mut rarest_first: Vec<usize> = (0..values.len()).collect();
    rarest_first.sort_by_key(|place| values[*place].1);
    let mut is_left_out = vec![false; values.len()];
    let mut left_out: usize = 0;
    // Two at least remain.
    for place in rarest_first.into_iter().take(values.len().saturating_sub(2)) {
        left_out += values[place].1;
        if left_out > most_odd {
            break;
        }
        is_left_out[place] = true;
    }
    let kept = values.into_iter().zip(is_left_out).filter(|(_, is_left_out)| !is_left_out);
    kept.map(|(value, _)| value).collect()
}

/// The largest power of ten, not below this, by whole multiples of which all of these lie apart.
fn last_digit(levels: &[CountedValue], least: f64) -> Option<f64> {
    let [(first, _), .., (last, _)] = levels else { return None };
    let range = last - first;
    if least <= 0.0 || least > range || !range.is_finite() {
        return None;
    }
    let mut digit = 1.0;
    while digit >= least {
        digit /= 10.0;
    }
    let mut found = None;
    loop {
        digit *= 10.0;
        if digit < least {
            continue;
        }
        if digit > range * (1.0 + TOLERANCE) || !explains((digit, *first), levels, 0) {
            return found;
        }
        found = Some(digit);
    }
}

/// Takes values of a series as far as they are needed to show its step.
pub(crate) fn take(series: &mut Vec<f64>, values: impl Iterator<Item = f64>) {
    let left = MOST_VALUES.saturating_sub(series.len());
    series.extend(values.take(left));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::metric;
    use model::Direction;

    const TICKS: [f64; 12] =
        [10.0, 11.0, 10.0, 12.0, 11.0, 10.0, 13.0, 12.0, 11.0, 12.0, 10.0, 11.0];
    const SMOOTH: [f64; 8] = [10.113, 11.027, 10.431, 12.318, 11.904, 10.777, 13.009, 12.555];

    fn steps(reference: &[f64], subject: &[f64], series: &[f64], margin: f64) -> Steps {
        of_each([reference, subject], [series, &[]], margin)
    }

    fn of_each(values: [&[f64]; 2], series: [&[f64]; 2], margin: f64) -> Steps {
        let metric = metric("m", Direction::Lower, Reduction::Median);
        let measured = Measurements { values, series, are_imported: false };
        Steps::of(&measured, &metric, ln(1.0 + margin))
    }

    fn inferred(values: &[f64]) -> Option<f64> {
        Grid::of(values, 0.0).map(|grid| grid.step)
    }

    #[test]
    fn an_enormous_step_is_told_in_few_digits() {
        for (share, text) in [(0.1, "10.0"), (1e300, "1.00e302")] {
            let told = Steps { coarse: Some(share), ..Steps::default() }.caveat().unwrap();
            assert_eq!(told.detail, format!("one step is {text} % of the value"));
        }
    }

    #[test]
    fn a_step_is_found_whatever_it_is_and_none_in_values_without_one() {
        for unit in [1.0, 0.01, 4e6, 1.0 / 3.0] {
            let step = inferred(&TICKS.map(|one| one * unit)).unwrap();
            assert!((step / unit - 1.0).abs() < 1e-9, "{unit}: {step}");
        }
        assert_eq!(inferred(&SMOOTH), None);
        assert_eq!(inferred(&[10.0; 8]), None, "they do not vary");
        assert_eq!(inferred(&[1.0, 2.0, 3.0]), None, "too few");
        assert_eq!(inferred(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), None);
        // No two values are neighbours.
        let gaps = [20.0, 20.0, 20.0, 22.0, 22.0, 22.0, 25.0, 25.0];
        let on_its_scale = Grid::on(Scale::Linear, &gaps, 0.0).map(|grid| grid.step);
        assert_eq!(on_its_scale, Some(1.0));
    }

    #[test]
    fn a_step_is_found_in_rates_beside_an_offset_and_beside_odd_values() {
        let margin = 0.02;
        let is_coarse = |values: &[f64]| {
            let (reference, subject) = values.split_at(values.len() / 2);
            steps(reference, subject, &[], margin).coarse.is_some()
        };
        assert!(is_coarse(&TICKS));
        assert!(is_coarse(&TICKS.map(|ticks| 1e6 / ticks)), "rates");
        let printed = TICKS.map(|ticks| (1e6 / ticks * 1e5).round() / 1e5);
        assert!(is_coarse(&printed), "rates of few digits");
        assert!(is_coarse(&TICKS.map(|ticks| ticks + 3.37)), "an offset");
        let mut odd = TICKS;
        odd[2] = 10.137;
        assert!(is_coarse(&odd), "a value that is no multiple");
        let mut nearly = [3.0; 12];
        nearly[5] = 4.0;
        assert!(is_coarse(&nearly), "one value that is another");
        assert!(!is_coarse(&SMOOTH));
        assert!(!is_coarse(&SMOOTH.map(|value| 1.0 / value)));
        assert!(!is_coarse(&TICKS.map(|ticks| 1000.0 + ticks)), "a step of 0.1 %");
    }

    #[test]
    fn values_that_never_vary_show_no_step_and_only_what_is_known_beforehand_counts() {
        let constant = |metric: Metric, series: &[f64]| of_constants(metric, series, false);
        fn of_constants(metric: Metric, series: &[f64], are_imported: bool) -> Steps {
            let values: [&[f64]; 2] = [&[3.0; 6], &[3.0; 6]];
            Steps::of(
                &Measurements { values, series: [series, &[]], are_imported },
                &metric,
                ln(1.02),
            )
        }
        let time = metric("m", Direction::Lower, Reduction::Median);
        let unknown = constant(time.clone(), &[]);
        assert_eq!(unknown, Steps { is_unknown: true, ..Steps::default() });
        let told = unknown.caveat().unwrap();
        assert_eq!(told.detail, "all values are the same, so nothing shows their step");
        assert!(constant(time.clone(), &[3.0; 36]).is_unknown, "nor does a series of them");
        let varying: Vec<f64> = (0..36).map(|one| 3.0 + 0.001 * f64::from(one % 3)).collect();
        assert_eq!(constant(time.clone(), &varying), Steps::default());
        assert_eq!(constant(Metric { resolution: 0.01, ..time.clone() }, &[]), Steps::default());
        let quantile = metric("m", Direction::Lower, Reduction::Quantile(0.5));
        assert!(constant(Metric { resolution: 0.01, ..quantile }, &[]).is_unknown, "buckets");
        for unit in [Unit::Count, Unit::PerOperation, Unit::Bytes] {
            assert!(!constant(Metric { unit, ..time.clone() }, &[]).is_unknown, "{unit:?}");
        }
        assert!(!constant(metric("m", Direction::Lower, Reduction::Proportion), &[]).is_unknown);
        // An import declares one step for all: that of digits which another subject uses.
        let declared = Metric { resolution: 0.01, ..time.clone() };
        assert!(of_constants(declared, &[], true).is_unknown);
        // Two values may be those of two clocks, and none are nothing.
        assert!(steps(&[3.0; 6], &[3.01; 6], &[], 0.02).is_unknown);
        assert_eq!(steps(&[], &[], &[], 0.02), Steps::default());
        assert_eq!(Steps::default().caveat(), None);
    }

    /// Values of a clock that ticks every ten, and of a fine one.
    const COARSE: [f64; 12] =
        [100.0, 100.0, 110.0, 100.0, 100.0, 100.0, 110.0, 100.0, 100.0, 100.0, 100.0, 100.0];
    const FINE: [f64; 12] = [
        103.351, 102.661, 104.076, 103.492, 101.904, 103.545, 104.648, 102.133, 103.01, 104.492,
        103.174, 102.44,
    ];

    #[test]
    fn the_coarse_clock_of_one_subject_is_seen_beside_the_fine_one_of_the_other() {
        for sides in [[&COARSE[..], &FINE[..]], [&FINE[..], &COARSE[..]]] {
            let of_values = of_each(sides, [&[], &[]], 0.02);
            assert!((of_values.coarse.unwrap() - 0.1).abs() < 1e-12, "{of_values:?}");
            assert_eq!(of_values.coarse, Some(of_values.hidden));
            assert!(of_values.is_one && !of_values.is_unknown);
            assert_eq!(of_each(sides, sides, 0.02), of_values, "values that are their own series");
            // Means of three hide it, the series of the one subject does not.
            let means = sides.map(|side| {
                side.chunks(3).map(|three| three.iter().sum::<f64>() / 3.0).collect::<Vec<_>>()
            });
            let of_series = of_each([&means[0], &means[1]], sides, 0.02);
            assert!((of_series.coarse.unwrap() - 0.1).abs() < 1e-12, "{of_series:?}");
            assert!(of_series.is_one);
        }
        assert_eq!(
            of_each([&FINE, &FINE.map(|one| one * 1.001)], [&[], &[]], 0.02),
            Steps::default()
        );
    }

    #[test]
    fn of_few_values_one_that_differs_and_a_last_digit_are_steps() {
        let fine = &FINE[..5];
        let coarse = |values: &[f64]| of_each([values, fine], [&[], &[]], 0.02).coarse;
        assert_eq!(coarse(&[100.0, 100.0, 100.0, 110.0, 100.0]), Some(0.1));
        let digit = coarse(&[100.0, 120.0, 100.0, 110.0, 140.0]).unwrap();
        assert!((digit - 0.1).abs() < 1e-12, "{digit}");
        // A digit that is fine enough, and four values.
        assert_eq!(coarse(&[100.0, 100.3, 100.1, 100.7, 100.2]), None);
        assert_eq!(coarse(&[100.0, 120.0, 110.0, 140.0]), None);
        let tenth = last_digit(&[(0.3, 1), (0.5, 1), (0.9, 2)], 0.01).unwrap();
        assert!((tenth - 0.1).abs() < 1e-12, "{tenth}");
        assert_eq!(last_digit(&[(300.0, 1), (1300.0, 1)], 20.0), Some(1000.0));
        assert_eq!(last_digit(&[(3.0, 1), (4.0, 1)], 2.0), None);
        assert_eq!(last_digit(&[(3.0, 1)], 0.5), None);
    }

    #[test]
    fn a_subject_that_never_varies_beside_one_that_does_shows_no_step_and_may_be_all_of_the_difference()
     {
        let same = [100.0; 12];
        for sides in [[&same[..], &FINE[..]], [&FINE[..], &same[..]]] {
            let unknown = of_each(sides, [&[], &[]], 0.02);
            assert!(unknown.is_unknown && unknown.is_one_constant && unknown.is_one, "{unknown:?}");
            assert_eq!((unknown.coarse, unknown.hidden), (None, 1.0));
            let told = unknown.caveat().unwrap();
            assert_eq!(
                told.detail,
                "all values of one subject are the same, so nothing shows their step"
            );
        }
        // No step is larger than what it measures.
        assert!(!of_each([&same, &FINE.map(|one| 3.0 * one)], [&[], &[]], 0.02).is_one);
        // Its own series shows a fine step.
        assert_eq!(of_each([&same, &FINE], [&FINE, &[]], 0.02), Steps::default());
        // The other varies by one step, or nearly never: so may this one.
        let tick = |at: &[usize]| {
            let mut values = [100.0; 12];
            at.iter().for_each(|place| values[*place] = 100.1);
            values
        };
        for other in [tick(&[2]), tick(&[0, 1, 4, 5, 8, 9])] {
            assert_eq!(of_each([&same, &other], [&[], &[]], 0.02), Steps::default());
        }
        // A step that the metric itself declares hides nothing; equivalence is not shown by a quantile.
        let declared = |metric: Metric, are_imported: bool| {
            let measured =
                Measurements { values: [&same, &FINE], series: [&[], &[]], are_imported };
            let steps = Steps::of(&measured, &Metric { resolution: 0.001, ..metric }, ln(1.02));
            (steps.is_unknown, steps.is_one)
        };
        let of = |reduction| metric("m", Direction::Lower, reduction);
        assert_eq!(declared(of(Reduction::Median), false), (false, false));
        assert_eq!(declared(of(Reduction::Quantile(0.5)), false), (true, false));
        assert_eq!(declared(of(Reduction::Median), true), (true, true));
        // A share of all is no tick.
        let share = Metric { unit: Unit::Fraction, ..of(Reduction::Median) };
        let shares = Measurements {
            values: [&[1.0; 8], &[0.91, 0.953, 0.972, 0.934, 0.966, 0.941, 0.958, 0.927]],
            series: [&[], &[]],
            are_imported: false,
        };
        assert_eq!(Steps::of(&shares, &share, ln(1.005)), Steps::default());
    }

    #[test]
    fn one_odd_value_in_ten_hides_no_step() {
        // Each stands once, a hundredth apart or several.
        let ticks =
            [10, 14, 19, 22, 27, 31, 33, 38, 40, 45, 49, 52, 56, 61, 63, 68, 70, 75, 79, 81];
        let values = |odd: &[(usize, f64)]| -> Vec<f64> {
            let mut values: Vec<f64> =
                ticks.iter().map(|one| 0.3 + 0.01 * f64::from(*one)).collect();
            odd.iter().for_each(|(place, value)| values[*place] = *value);
            values
        };
        let step = |odd: &[(usize, f64)]| Grid::on(Scale::Linear, &values(odd), 0.0).unwrap().step;
        for odd in [&[][..], &[(3, 0.514_17)], &[(3, 0.514_17), (11, 0.823_3)]] {
            assert!((step(odd) - 0.01).abs() < 1e-9, "{odd:?}: {}", step(odd));
        }
        let three = [(3, 0.514_17), (11, 0.823_3), (15, 0.987_7)];
        assert_eq!(Grid::on(Scale::Linear, &values(&three), 0.01), None, "three of twenty");
        // Some of few digits is not some of many: nothing lies apart by the gap of two odd ones.
        let smooth: Vec<f64> =
            (1..=20).map(|one| 10.0 + (f64::from(one) * 0.618_033_988_7).fract()).collect();
        assert_eq!(Grid::of(&smooth, 0.001), None);
    }

    #[test]
    fn buckets_that_are_a_ratio_apart_are_steps() {
        let bucket = |power: i32| 1000.0 * exp(f64::from(power) * ln(2.0) / 8.0);
        let powers = [0, 1, 0, 2, 1, 1, 0, 3, 2, 1, 1, 2];
        let exact = powers.map(bucket);
        let of = |values: &[f64], margin: f64| {
            let (reference, subject) = values.split_at(6);
            steps(reference, subject, &[], margin).coarse
        };
        let share = of(&exact, 0.05).unwrap();
        assert!((share - 0.0905).abs() < 1e-3, "{share}");
        assert!(of(&exact.map(f64::round), 0.05).is_some(), "of few digits");
        assert_eq!(of(&exact, 0.2), None, "9 % of 20 %");
        // Buckets of a ratio that matters to nobody.
        let fine = powers.map(|power| 1000.0 * exp(f64::from(power) * 0.001));
        assert_eq!(of(&fine, 0.02), None);
        // A bucket more on average is one step, three are not.
        let apart = |more: i32| {
            let [reference, subject] =
                [0, more].map(|more| powers.map(|power| bucket(power + more)));
            steps(&reference, &subject, &[], 0.05)
        };
        assert!(apart(1).is_one && !apart(3).is_one);
    }

    #[test]
    fn the_series_shows_the_step_that_a_mean_hides() {
        let means = |values: &[f64]| -> Vec<f64> {
            values
                .chunks(3)
                .map(|three| exp(three.iter().map(|v| ln(*v)).sum::<f64>() / 3.0))
                .collect()
        };
        let (reference, subject) = TICKS.split_at(6);
        let (reference, subject) = (means(reference), means(subject));
        assert_eq!(steps(&reference, &subject, &[], 0.02), Steps::default(), "too few means");
        let of_series = steps(&reference, &subject, &TICKS, 0.02);
        assert_eq!((of_series.coarse, of_series.is_one), (Some(0.1), true));
    }

    #[test]
    fn steps_beyond_half_the_margin_are_coarse_and_a_difference_of_one_is_none() {
        let reference = [100.0, 101.0, 100.0, 102.0, 101.0, 100.0];
        let one_more = reference.map(|value| value + 1.0);
        let many_more = reference.map(|value| value + 9.0);
        assert_eq!(steps(&reference, &one_more, &[], 0.05), Steps::default(), "1 % of 5 %");
        let coarse = steps(&reference, &one_more, &[], 0.01);
        assert_eq!((coarse.coarse, coarse.is_one), (Some(0.01), true));
        assert!(!steps(&reference, &many_more, &[], 0.01).is_one);
    }
}
