//! Values of one subject that are those of another in another order, with other digits, in part, or
//! times a factor.

use crate::last_digits::{last_digit_of, power_of_ten};
use model::{Invocation, SampleData, last_digit_power};

/// So many equal values are told, and of fewer than these so large a share.
const LEAST_EQUAL: usize = 3;
const MANY_EQUAL: usize = 8;
const LEAST_SHARE: f64 = 0.8;
/// What as many equal values would have by chance. A file has thousands of pairs of subjects.
const LEAST_CHANCE: f64 = 1e-9;
/// Digits of a value that it was given, and not by a conversion of its unit.
const DIGITS: usize = 12;

/// A value, and how far it may lie from what it was rounded from.
#[derive(Debug, Clone, Copy)]
struct Rounded {
    value: f64,
    by: f64,
}

/// The values of one metric of a subject.
pub(crate) struct MeasuredValues {
    /// In the order of its records.
    values: Vec<Rounded>,
    /// The same from the least to the largest: each other subject is compared with these.
    sorted: Vec<Rounded>,
}

impl MeasuredValues {
    /// Those of a source in these records.
    pub(crate) fn of(records: &[&[Invocation]], source: &str) -> Self {
        let samples = records.iter().flat_map(|one| *one).flat_map(|one| &one.samples);
        let mut values = Vec::new();
        for sample in samples.filter(|sample| sample.source == source) {
            if let SampleData::Values(all) = &sample.data {
                values.extend(all.iter().copied().filter(|value| *value > 0.0).map(Rounded::of));
            }
        }
        let mut sorted = values.clone();
        sorted.sort_unstable_by(|one, other| one.value.total_cmp(&other.value));
        Self { values, sorted }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
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
    let (count, factor) = scaled(&values.values, &others.values, &chance)
        .or_else(|| scaled(sorted, sorted_others, &chance))?;
    Some(format!("{count} of {all} values of {one} are those of {other} times {factor:.4}"))
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
        let pairs = |count: usize| count as f64 * (count as f64 - 1.0) / 2.0;
        let tied = |sample: &[Rounded]| -> f64 {
            let runs = sample.chunk_by(|one, other| one.value.to_bits() == other.value.to_bits());
            runs.map(|run| pairs(run.len())).sum()
        };
        let all = pairs(sorted.len()) + pairs(others.len());
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
            let records: Vec<&[Invocation]> = records.iter().map(Vec::as_slice).collect();
            MeasuredValues::of(&records, "m")
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
