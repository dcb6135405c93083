//! The last digit that a file's values of a metric use: what they were rounded to
//! (docs/method.md#m-resolution).

use crate::last_digits::{LastDigits, ODD_ONE_IN, last_digit};
use crate::table::ImportedTable;
use model::{Metric, SampleData, Unit};
use std::collections::BTreeMap;

/// Of a longer column so many values show its digits.
const MOST_VALUES: usize = 100_000;
/// Larger multiples of a digit are not exact.
const MOST_TIMES: f64 = 9_007_199_254_740_992.0;

/// Half of the last digit that the values of each metric use: so far a value may lie from what was
/// measured. Numbers that a format gives no digits of have those that they need. Of values that never
/// vary nothing shows that any digit is used.
///
/// Whole numbers of things are exact, and a metric that says its own resolution knows better.
pub(crate) fn roundings(table: &ImportedTable) -> BTreeMap<String, f64> {
    let is_rounded = |metric: &&Metric| {
        let is_exact = matches!(metric.unit, Unit::Count | Unit::PerOperation | Unit::Bytes);
        metric.resolution == 0.0 && !is_exact
    };
    let mut by_source: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for sample in table.rows.iter().flat_map(|row| &row.samples) {
        let SampleData::Values(values) = &sample.data else { continue };
        let known = by_source.entry(sample.source.as_str()).or_default();
        let left = MOST_VALUES.saturating_sub(known.len());
        known.extend(values.iter().filter(|value| value.is_finite()).take(left));
    }
    let of = |metric: &Metric| {
        let values = by_source.get(metric.source.as_str())?;
        let digit = match table.last_digits.get(&metric.id) {
            Some(written) => written.shared(),
            None => needed(values).shared(),
        };
        let digit = used(digit.filter(|digit| digit.is_finite() && *digit > 0.0)?, values)?;
        Some((metric.id.clone(), digit / 2.0))
    };
    table.metrics.iter().filter(is_rounded).filter_map(of).collect()
}

/// The digits that values need.
fn needed(values: &[f64]) -> LastDigits {
    let mut digits = LastDigits::default();
    let last_digits = values.iter().filter_map(|value| last_digit(&format!("{value:e}")));
    last_digits.for_each(|digit| digits.add(digit));
    digits
}

/// The last digit in which values differ, where this is the last one that they have: nine in ten of
/// those that differ from the most frequent one do so by whole multiples of it. None of values that
/// never vary.
fn used(digit: f64, values: &[f64]) -> Option<f64> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value.to_bits()).or_default() += 1;
    }
    let (most_frequent, _) = counts.iter().max_by_key(|(_, count)| **count)?;
    let usual = f64::from_bits(*most_frequent);
    let times = values.iter().map(|value| ((value - usual) / digit).abs().round());
    let zeros: Vec<i32> = times.filter(|times| *times > 0.0).map(zeros_at_the_end).collect();
    let most = *zeros.iter().max()?;
    let is_shared = |many: &i32| {
        let fewer = zeros.iter().filter(|own| *own < many).count();
        fewer * ODD_ONE_IN <= zeros.len()
    };
    let shared = (0..=most).rev().find(is_shared)?;
    Some(digit * 10.0_f64.powi(shared))
}

/// How many zeros a whole number ends with; none of one that is not exact.
fn zeros_at_the_end(mut times: f64) -> i32 {
    let mut zeros = 0;
    while times < MOST_TIMES && times % 10.0 == 0.0 {
        times /= 10.0;
        zeros += 1;
    }
    zeros
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::Mapping;
    use crate::picture::{imported, read};
    use crate::tidy::CSV;
    use model::{Direction, Reduction, Sample};

    #[test]
    fn a_column_is_rounded_to_its_last_digit_in_the_unit_of_its_metric() {
        let resolution = |value: &str, text: &str| {
            let mapping = Mapping {
                subject: Some("s".to_owned()),
                values: vec![Mapping::value(value).unwrap()],
                ..Mapping::default()
            };
            let campaign = imported(&CSV, &[("x", text.as_bytes())], &mapping).unwrap();
            campaign.plan.workloads[0].metrics[0].resolution
        };
        assert_eq!(resolution("v:lower:s", "s,v\na,3\nb,4\n"), 0.5e9);
        assert_eq!(resolution("v:lower:s", "s,v\na,3.001\nb,3\n"), 0.5e6);
        assert_eq!(resolution("v:higher", "s,v\na,10\nb,20.5\n"), 0.05);
        assert_eq!(resolution("v:lower:count", "s,v\na,3\nb,3\n"), 0.0, "exact");
        // Digits that are written and not used.
        assert_eq!(resolution("v:lower:s", "s,v\na,3.000\nb,3.000\n"), 0.0, "none is used");
        assert_eq!(resolution("v:lower:s", "s,v\na,3.000\nb,4.000\n"), 0.5e9);
        assert_eq!(resolution("v:lower:s", "s,v\na,3.070\nb,3.570\n"), 0.05e9);
    }

    #[test]
    fn one_odd_value_in_ten_has_no_digit_for_the_others() {
        let rounding = |odd: usize| {
            let mapping =
                Mapping { values: vec![Mapping::value("v:lower").unwrap()], ..Mapping::default() };
            let mut text = "v\n".to_owned();
            for row in 0..20 {
                let more = if row < odd { "17" } else { "" };
                text.push_str(&format!("3.{}{more}\n", 10 + 4 * row));
            }
            let table = read(&CSV, &[("a", text.as_bytes())], &mapping).unwrap();
            roundings(&table)["v"]
        };
        for (odd, expected) in [(0, 0.005), (2, 0.005), (3, 0.000_05)] {
            assert!((rounding(odd) - expected).abs() < 1e-12, "{odd}: {}", rounding(odd));
        }
    }

    #[test]
    fn numbers_of_a_format_without_digits_have_those_that_they_need() {
        let mut table = ImportedTable::default();
        let id = table.metric("t", Unit::Nanoseconds, Direction::Lower, Reduction::Mean).unwrap();
        let with = |values: &[f64]| {
            let mut table = table.clone();
            let mapping =
                Mapping { values: vec![Mapping::value("v:lower").unwrap()], ..Mapping::default() };
            let row = read(&CSV, &[("a", b"v\n1\n")], &mapping).unwrap().rows.remove(0);
            for value in values {
                let samples = vec![Sample::values(&id, vec![*value])].into();
                table.rows.push(crate::TableRow { samples, ..row.clone() });
            }
            roundings(&table).get(&id).copied()
        };
        assert_eq!(with(&[1.25e6, 1.2e6]), Some(0.5e4));
        assert_eq!(with(&[3e9, 3e9]), None, "none is used");
        assert_eq!(with(&[3e9, 5e9]), Some(0.5e9));
        assert!(with(&[3e9, 3.000_001e9]).unwrap() < 1e4);
    }
}
