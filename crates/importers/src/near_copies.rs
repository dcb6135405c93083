//! Values of one subject that are those of another in another order, with other digits, in part, or
//! times a factor, which may change from block to block.

use crate::last_digits::{last_digit_of, power_of_ten};
use crate::scaled_runs::{LogRatio, are_proportional, dense_spread, scaled_runs};
use model::{Invocation, SampleData, last_digit_power};
use std::collections::BTreeMap;

/// So many equal values are told, and of fewer than these so large a share.
const LEAST_EQUAL: usize = 3;
const MANY_EQUAL: usize = 8;
const LEAST_SHARE: f64 = 0.8;
/// What as many equal values would have by chance. A file has thousands of pairs of subjects.
const LEAST_CHANCE: f64 = 1e-9;
/// Digits of a value that it was given, and not by a conversion of its unit.
const DIGITS: usize = 12;
/// A series that is the same in the same order has so many values, of so many times their last digit most
/// of them (four digits), and of pairs inside it no larger share is equal.
const LEAST_SERIES: usize = 5;
const LEAST_STEPS: f64 = 1e3;
const MOST_TIED: f64 = 0.05;
/// Logarithms of values that lie no further apart are of values that are equal but for arithmetic.
const LEAST_GAP: f64 = 1e-9;

/// A value, and how far it may lie from what it was rounded from.
#[derive(Debug, Clone, Copy)]
struct Rounded {
    value: f64,
    by: f64,
}

/// What was measured in one trial: the block, the number of its workload, and its invocations.
pub(crate) type PlacedTrial<'a> = ((u32, u32), &'a [Invocation]);

/// Where the values of a trial stand among those of its subject. There are hundreds of thousands.
struct TrialValues {
    block: u32,
    workload: u32,
    begin: u32,
    end: u32,
}

/// The values of one metric of a subject.
pub(crate) struct MeasuredValues {
    /// In the order of its records.
    values: Vec<Rounded>,
    /// The same from the least to the largest: each other subject is compared with these.
    sorted: Vec<Rounded>,
    /// Those of each trial, in the same order; none where no block has several.
    trials: Vec<TrialValues>,
    /// Whether there are values that nothing is said of: zeros and negative ones.
    is_partial: bool,
}

impl MeasuredValues {
    /// Those of a source in these trials.
    pub(crate) fn of<'a>(trials: impl Iterator<Item = PlacedTrial<'a>>, source: &str) -> Self {
        let (mut values, mut places, mut is_partial) = (Vec::new(), Vec::new(), false);
        for ((block, workload), invocations) in trials {
            let begin = values.len() as u32;
            let samples = invocations.iter().flat_map(|one| &one.samples);
            for sample in samples.filter(|sample| sample.source == source) {
                if let SampleData::Values(all) = &sample.data {
                    let above = all.iter().copied().filter(|value| *value > 0.0);
                    let before = values.len();
                    values.extend(above.map(Rounded::of));
                    is_partial |= values.len() - before < all.len();
                }
            }
            places.push(TrialValues { block, workload, begin, end: values.len() as u32 });
        }
        // A block of one value shows nothing of the next one.
        let count = |of_block: &[TrialValues]| -> u32 {
            of_block.iter().map(|trial| trial.end - trial.begin).sum()
        };
        if places.chunk_by(|one, other| one.block == other.block).all(|one| count(one) < 2) {
            places = Vec::new();
        }
        values.shrink_to_fit();
        let mut sorted = values.clone();
        sorted.sort_unstable_by(|one, other| one.value.total_cmp(&other.value));
        Self { values, sorted, trials: places, is_partial }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    fn of_trial(&self, trial: &TrialValues) -> &[Rounded] {
        &self.values[trial.begin as usize..trial.end as usize]
    }

    /// Whether the values of a block are those of the next one, times factors that last: those of work
    /// that is the same in each, on a machine of changing speed. A block of one value shows nothing.
    fn is_proportional(&self) -> bool {
        let blocks: Vec<&[TrialValues]> =
            self.trials.chunk_by(|one, other| one.block == other.block).collect();
        let mut ratios = Vec::new();
        for pair in blocks.windows(2) {
            let next: BTreeMap<u32, &TrialValues> =
                pair[1].iter().map(|trial| (trial.workload, trial)).collect();
            let before = ratios.len();
            for trial in pair[0] {
                let Some(other) = next.get(&trial.workload) else { continue };
                let (one, other) = (self.of_trial(trial), self.of_trial(other));
                if one.len() == other.len() {
                    ratios.extend(one.iter().zip(other).map(log_ratio));
                }
            }
            if ratios.len() - before < 2 {
                ratios.truncate(before);
            }
        }
        are_proportional(&ratios)
    }
}

/// The logarithm of the quotient of two values.
fn log_ratio((one, other): (&Rounded, &Rounded)) -> LogRatio {
    LogRatio {
        value: one.value,
        other: other.value,
        log: (one.value / other.value).ln(),
        by: one.by / one.value + other.by / other.value,
    }
}

impl Rounded {
    fn of(value: f64) -> Self {
        let digit = match last_digit_power(value) {
            Some(power) => power_of_ten(i64::from(power)),
            None => Self::digit_by_text(value),
        };
        Self { value, by: digit.unwrap_or(0.0) / 2.0 }
    }

    /// What the last digit of a value is worth, of its text.
    fn digit_by_text(value: f64) -> Option<f64> {
        let text = format!("{value:.*e}", DIGITS - 1);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text.as_str(), "0"));
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        last_digit_of(mantissa, exponent)
    }

    fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, by: self.by * factor }
    }
}

/// What a value of the middle rounding has by chance, of values that are as dense everywhere as where most
/// of them lie, and no less than the share of their pairs that are equal; 1 of values that do not vary.
pub(crate) fn chance_of_a_value(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let mut by: Vec<f64> = values.iter().map(|value| Rounded::of(*value).by).collect();
    by.sort_by(f64::total_cmp);
    let by = by.get(by.len() / 2).copied().unwrap_or(f64::INFINITY);
    let equal = values.chunk_by(|one, other| one == other).map(|run| pairs_of(run.len()));
    let tied = equal.sum::<f64>() / pairs_of(values.len()).max(1.0);
    let spread = dense_spread(values).unwrap_or(0.0);
    if spread > 0.0 { (2.0 * by / spread).max(tied).min(1.0) } else { 1.0 }
}

/// Pairs of so many.
pub(crate) fn pairs_of(count: usize) -> f64 {
    let count = count as f64;
    count * (count - 1.0) / 2.0
}

/// A subject and its values.
pub(crate) type Named<'a> = (&'a str, &'a MeasuredValues);

/// How many values of the first are those of the second, in words; none where chance may give as many.
pub(crate) fn near_copy((one, values): Named<'_>, (other, others): Named<'_>) -> Option<String> {
    let (sorted, sorted_others) = (&values.sorted, &others.sorted);
    let (all, least) = (sorted.len(), sorted.len().min(sorted_others.len()));
    if least < LEAST_EQUAL {
        return None;
    }
    let chance = Chance::of(sorted, sorted_others)?;
    let equal = in_both(sorted, sorted_others);
    let count = equal.len();
    if chance.excludes(&equal, 0) {
        let told = format!("{count} of {all} values of {one} are those of {other}");
        let is_all = count == all && count == sorted_others.len();
        let of_all = || {
            format!(
                "all {all} values of {one} are those of {other}, in another order or with other digits"
            )
        };
        return Some(if is_all { of_all() } else { told });
    }
    if is_same_series(values, others, &chance) {
        return Some(format!("all {all} values of {one} are those of {other}, in the same order"));
    }
    let by_one = scaled(&values.values, &others.values, &chance)
        .or_else(|| scaled(sorted, sorted_others, &chance));
    if let Some((count, factor)) = by_one {
        return Some(format!(
            "{count} of {all} values of {one} are those of {other} times {factor:.4}"
        ));
    }
    scaled_in_blocks((one, values), (other, others)).or_else(|| {
        let count = same_places(values, others, &chance)?;
        Some(format!("{count} of {all} values of {one} are those of {other} at the same places"))
    })
}

/// How many values are those of the other series at the same places, digit for digit, beside others
/// that are not; none where chance may give as many. Values of one block may be much nearer to each
/// other than to those of other blocks: what is unlike tells how near. The smallest gap between two
/// values is no less than their step, whatever their digits say: buckets of a histogram have many.
fn same_places(one: &MeasuredValues, other: &MeasuredValues, chance: &Chance) -> Option<usize> {
    if one.is_partial || other.is_partial || one.len() != other.len() {
        return None;
    }
    let is_same =
        |(one, other): &(&Rounded, &Rounded)| one.value.to_bits() == other.value.to_bits();
    let (same, unlike): (Vec<_>, Vec<_>) = one.values.iter().zip(&other.values).partition(is_same);
    if same.len() < LEAST_EQUAL || unlike.len() < LEAST_EQUAL {
        return None;
    }
    let logs = |values: &[Rounded]| values.iter().map(|one| one.value.ln()).collect::<Vec<f64>>();
    let (of_one, of_other) = (logs(&one.sorted), logs(&other.sorted));
    let mut all = [of_one.as_slice(), of_other.as_slice()].concat();
    all.sort_by(f64::total_cmp);
    let gaps = all.windows(2).map(|two| two[1] - two[0]).filter(|gap| *gap > LEAST_GAP);
    let step = gaps.min_by(f64::total_cmp)?;
    let between = unlike.iter().map(|(one, other)| (one.value / other.value).ln()).collect();
    let spreads = [of_one, of_other, between].map(|logs| dense_spread(logs).unwrap_or(0.0));
    let spread = spreads.into_iter().fold(f64::INFINITY, f64::min);
    if spread <= 0.0 {
        return None;
    }
    let mut by_chance = 1.0;
    for (taken, (value, _)) in same.iter().enumerate() {
        let near = step.max(2.0 * value.by / value.value) / spread;
        // Which of the values it is, and that the other subject has the same there.
        by_chance *= one_of(one.len(), taken) * chance.tied.max(near).min(1.0);
    }
    (by_chance < LEAST_CHANCE).then_some(same.len())
}

/// By what the number of choices grows with one more of so many that are taken.
fn one_of(count: usize, taken: usize) -> f64 {
    (count - taken) as f64 / (taken + 1) as f64
}

/// How many values of the first are those of the second, each run of them times a factor of its own, in
/// words; none where chance may give as many, or where the values of each subject are those of its other
/// blocks, times factors.
pub(crate) fn scaled_in_blocks(
    (one, values): Named<'_>,
    (other, others): Named<'_>,
) -> Option<String> {
    let (all, count) = (values.len(), others.len());
    if all != count || values.is_partial || others.is_partial {
        return None;
    }
    let chance = Chance::of(&values.sorted, &others.sorted)?;
    let ratios: Vec<LogRatio> = values.values.iter().zip(&others.values).map(log_ratio).collect();
    let found = scaled_runs(&ratios, chance.tied, LEAST_CHANCE)?;
    if values.is_proportional() || others.is_proportional() {
        return None;
    }
    let count = found.values;
    let factors = match found.runs - 1 {
        0 => "one factor".to_owned(),
        1 => "factors that change once".to_owned(),
        changes => format!("factors that change {changes} times"),
    };
    Some(format!("{count} of {all} values of {one} are those of {other} times {factors}"))
}

/// Whether two series are the same, digit for digit and in the same order, and no accident. One that
/// only rises or falls, or has few digits, may be what was asked for, as a rate is that the load raises.
fn is_same_series(one: &MeasuredValues, other: &MeasuredValues, chance: &Chance) -> bool {
    let (values, others) = (&one.values, &other.values);
    let is_same = |(one, other): (&Rounded, &Rounded)| one.value.to_bits() == other.value.to_bits();
    let rises = values.windows(2).all(|two| two[0].value <= two[1].value);
    let falls = values.windows(2).all(|two| two[0].value >= two[1].value);
    let is_whole = !one.is_partial && !other.is_partial && values.len() == others.len();
    if rises || falls || !is_whole || !values.iter().zip(others).all(is_same) {
        return false;
    }
    let telling = values.iter().filter(|one| one.value >= LEAST_STEPS * 2.0 * one.by).count();
    if values.len() < LEAST_SERIES || 2 * telling <= values.len() || chance.tied > MOST_TIED {
        return false;
    }
    let spread = dense_spread(values.iter().map(|one| one.value).collect()).unwrap_or(0.0);
    let by_chance = |one: &Rounded| chance.tied.max(2.0 * one.by / spread).min(1.0);
    values.iter().map(by_chance).product::<f64>() < LEAST_CHANCE
}

/// How many values are others times one factor, and this factor.
fn scaled(values: &[Rounded], others: &[Rounded], chance: &Chance) -> Option<(usize, f64)> {
    if values.len() != others.len() {
        return None;
    }
    let mut ratios: Vec<f64> =
        values.iter().zip(others).map(|(one, other)| one.value / other.value).collect();
    ratios.sort_by(f64::total_cmp);
    let factor = ratios[ratios.len() / 2];
    // The factor is no more exact than the pair that it is of.
    let equal: Vec<f64> = values
        .iter()
        .zip(others)
        .map(|(one, other)| (one, other.times(factor)))
        .map(|(one, other)| ((one.value - other.value).abs(), 2.0 * (one.by + other.by)))
        .filter(|(distance, by)| distance <= by)
        .map(|(_, by)| by)
        .collect();
    let ends = values.iter().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), one| {
        (low.min(one.value), high.max(one.value))
    });
    let of_values = Chance { range: ends.1 - ends.0, ..*chance };
    of_values.excludes(&equal, 1).then_some((equal.len(), factor))
}

/// How far from each other the values lie that stand in both, as far as their digits go.
fn in_both(sorted: &[Rounded], others: &[Rounded]) -> Vec<f64> {
    let mut equal = Vec::new();
    let (mut left, mut right) = (sorted.iter().peekable(), others.iter().peekable());
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        // What was rounded of the other lies so far from it, and a little by the arithmetic.
        let by = one.by.max(other.by) * 1.001;
        if (one.value - other.value).abs() <= by {
            equal.push(by);
            left.next();
            right.next();
        } else if one.value < other.value {
            left.next();
        } else {
            right.next();
        }
    }
    equal
}

/// What equal values of two samples have by chance.
struct Chance {
    /// The range of all values.
    range: f64,
    /// Values of the larger sample, and of the smaller.
    counts: [f64; 2],
    /// Share of pairs inside a sample that are equal: values of a tool that has few.
    tied: f64,
}

impl Chance {
    /// None of samples that do not vary.
    fn of(sorted: &[Rounded], others: &[Rounded]) -> Option<Self> {
        let ends = [sorted.first()?, sorted.last()?, others.first()?, others.last()?];
        let ends = ends.map(|end| end.value);
        let range = ends[1].max(ends[3]) - ends[0].min(ends[2]);
        let tied = |sample: &[Rounded]| -> f64 {
            let runs = sample.chunk_by(|one, other| one.value.to_bits() == other.value.to_bits());
            runs.map(|run| pairs_of(run.len())).sum()
        };
        let all = pairs_of(sorted.len()) + pairs_of(others.len());
        let (one, other) = (sorted.len() as f64, others.len() as f64);
        (range > 0.0 && sorted[0].value < ends[1] && others[0].value < ends[3]).then(|| Self {
            range,
            counts: [one.max(other), one.min(other)],
            tied: (tied(sorted) + tied(others)) / all,
        })
    }

    /// Whether so many values that lie no further apart than this are no accident, where `free` of
    /// them made the others equal.
    fn excludes(&self, equal: &[f64], free: usize) -> bool {
        let [larger, smaller] = self.counts;
        let count = equal.len();
        let is_much = count >= MANY_EQUAL || count as f64 >= LEAST_SHARE * smaller;
        if count < LEAST_EQUAL || !is_much {
            return false;
        }
        let mut by_chance = 1.0;
        for (taken, by) in equal.iter().enumerate() {
            // Which of the smaller sample it is, and that one of the larger is so near.
            by_chance *= (smaller - taken as f64).max(1.0) / (taken as f64 + 1.0);
            if taken >= free {
                by_chance *= (larger * self.tied.max(2.0 * by / self.range)).min(1.0);
            }
        }
        by_chance < LEAST_CHANCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::invocation;
    use model::Sample;

    const VALUES: [f64; 10] = [
        98.13608, 100.44637, 102.62071, 103.11689, 102.39047, 100.09561, 100.66123, 99.51151,
        97.42367, 99.07808,
    ];

    fn told(one: &[f64], other: &[f64]) -> Option<String> {
        let of = |values: &[f64]| {
            let one = |value: &f64| invocation(vec![Sample::values("m", vec![*value])]);
            let records: Vec<Vec<Invocation>> =
                values.iter().map(|value| vec![one(value)]).collect();
            let trials = (0..).zip(&records).map(|(at, one)| ((at, 0), one.as_slice()));
            MeasuredValues::of(trials, "m")
        };
        near_copy(("a", &of(one)), ("b", &of(other)))
    }

    fn rounded(digits: usize) -> Vec<f64> {
        VALUES.iter().map(|value| format!("{value:.digits$e}").parse().unwrap()).collect()
    }

    #[test]
    fn a_last_digit_is_worth_what_the_text_says() {
        for number in 1..2_000_u32 {
            for power in [1e-9, 1e-4, 1.0, 3.0, 1e5] {
                let value = f64::from(number) * power / 7e2;
                let digit = Rounded::digit_by_text(value).unwrap_or(0.0);
                assert_eq!(Rounded::of(value).by, digit / 2.0, "{value}");
            }
        }
    }

    #[test]
    fn copies_are_found_in_another_order_with_other_digits_in_part_and_scaled() {
        let mut order = VALUES;
        order.reverse();
        order.swap(2, 7);
        let all = "all 10 values of a are those of b, in another order or with other digits";
        let all = Some(all.to_owned());
        assert_eq!(told(&VALUES, &order), all);
        assert_eq!(told(&VALUES, &rounded(5)), all);
        let decimals: Vec<f64> = VALUES.iter().map(|v| (v * 1e4).round() / 1e4).collect();
        assert_eq!(told(&decimals, &order), all);
        assert_eq!(
            told(&VALUES[1..], &VALUES),
            Some("9 of 9 values of a are those of b".to_owned())
        );
        let mut one_other = VALUES;
        one_other[9] = 104.12345;
        assert_eq!(
            told(&VALUES, &one_other),
            Some("9 of 10 values of a are those of b".to_owned())
        );
        for factor in [1.0 / 1.1, 0.9, 1000.0] {
            let scaled = VALUES.map(|value| (value * factor * 1e5).round() / 1e5);
            let expected = format!("10 of 10 values of a are those of b times {:.4}", 1.0 / factor);
            assert_eq!(told(&VALUES, &scaled), Some(expected));
        }
    }

    #[test]
    fn blocks_times_factors_of_their_own_and_a_series_of_few_digits_are_copies() {
        let scaled: Vec<f64> = (0..).zip(VALUES).map(|(at, v)| v * [1.03, 0.96][at / 5]).collect();
        let expected = "10 of 10 values of a are those of b times factors that change once";
        assert_eq!(told(&VALUES, &scaled), Some(expected.to_owned()));
        let few = [1.123, 1.245, 1.176, 1.278, 1.201];
        let expected = "all 5 values of a are those of b, in the same order";
        assert_eq!(told(&few, &few), Some(expected.to_owned()));
        assert_eq!(told(&few[..4], &few[..4]), None, "too few");
        // What was asked for is the same for all.
        let rising = [1.123, 1.176, 1.201, 1.245, 1.278];
        assert_eq!(told(&rising, &rising), None);
        let shuffled = [1000.0, 4000.0, 2500.0, 1500.0, 3000.0, 500.0, 3500.0, 2000.0, 4500.0];
        assert_eq!(told(&shuffled, &shuffled), None, "a load");
        let cycled: Vec<f64> = (0..30).map(|at| [1123.0, 1345.0, 1256.0][at % 3]).collect();
        assert_eq!(told(&cycled, &cycled), None, "three levels");
        // A value that was left out is none of the same ones.
        let with_zero = [1.123, 1.245, 0.0, 1.176, 1.278, 1.201];
        assert_eq!(told(&with_zero, &with_zero), None);
    }

    /// Twenty values of a generator, near those of the same place of another seed.
    fn noisy(seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let value = |at: usize| 100.0 + 0.4 * VALUES[at % 10] + 3.0 * next();
        (0..20).map(value).map(|value| (value * 1e5).round() / 1e5).collect()
    }

    #[test]
    fn some_values_of_another_at_the_same_places_are_copies_and_equal_buckets_are_not() {
        let (one, other) = (noisy(1), noisy(2));
        assert_eq!(told(&one, &other), None);
        let mut pasted = other.clone();
        for at in [0, 2, 3, 7, 11, 13, 18] {
            pasted[at] = one[at];
        }
        let expected = "7 of 20 values of a are those of b at the same places";
        assert_eq!(told(&one, &pasted), Some(expected.to_owned()));
        // Two may be an accident.
        let mut few = other;
        for at in [0, 2] {
            few[at] = one[at];
        }
        assert_eq!(told(&one, &few), None);
        // Buckets of many digits, of blocks that lie far apart: seven of twenty are the same.
        let bucket = |number: usize| ((5000 + number) as f64 * 1013.7913).round() / 1e4;
        let block = |at: usize| 100 * (at * 7 % 20);
        let buckets: Vec<f64> = (0..20).map(|at| bucket(block(at))).collect();
        let others: Vec<f64> = (0..20).map(|at| bucket(block(at) + at % 3)).collect();
        assert_eq!(told(&buckets, &others), None, "neighbouring buckets");
    }

    #[test]
    fn work_that_is_the_same_in_each_trial_is_no_copy() {
        let of = |factors: [f64; 4], noise: f64| {
            let share = |at: usize| (at * 7919 % 97) as f64 / 97.0;
            let value = |(at, value): (usize, &f64)| value * (1.0 + noise * share(at));
            let trial = |(block, factor): (usize, f64)| {
                let value = |at: usize| factor * value((6 * block + at, &VALUES[at]));
                let values: Vec<f64> = (0..6).map(value).collect();
                vec![invocation(vec![Sample::values("m", values)])]
            };
            let trials: Vec<Vec<Invocation>> = factors.into_iter().enumerate().map(trial).collect();
            let placed = (0..).zip(&trials).map(|(at, one)| ((at, 0), one.as_slice()));
            MeasuredValues::of(placed, "m")
        };
        let (all, own) = ([1.0, 1.02, 0.99, 1.013], [1.03, 0.97, 1.01, 0.98]);
        // Only the noise shows that the values of one are those of the other.
        assert_eq!(scaled_in_blocks(("a", &of(all, 0.0)), ("b", &of(own, 0.0))), None);
        let found = scaled_in_blocks(("a", &of(all, 0.1)), ("b", &of(own, 0.1)));
        let expected = "24 of 24 values of a are those of b times factors that change 3 times";
        assert_eq!(found, Some(expected.to_owned()));
    }

    #[test]
    fn what_is_alike_by_chance_or_by_few_digits_is_no_copy() {
        let other = [
            99.80217, 101.20334, 98.77101, 100.95412, 103.00155, 97.99043, 100.31877, 99.12006,
            101.88754, 98.45521,
        ];
        assert_eq!(told(&VALUES, &other), None);
        assert_eq!(told(&VALUES[..2], &VALUES[..2]), None, "too few");
        let whole = |values: &[f64]| -> Vec<f64> { values.iter().map(|v| v.round()).collect() };
        assert_eq!(told(&whole(&VALUES), &whole(&VALUES)), None, "whole numbers");
        // Bins of a histogram: digits that are none.
        let bins = |values: &[f64]| -> Vec<f64> {
            values.iter().map(|value| (value / 1.536).round() * 1.536).collect()
        };
        assert_eq!(told(&bins(&VALUES), &bins(&other)), None, "bins");
        assert_eq!(told(&[3.123_45; 10], &[3.123_45; 10]), None, "they do not vary");
    }
}
