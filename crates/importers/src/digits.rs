//! The last digit that a file has of a metric: what its values were rounded to.

use crate::table::ImportedTable;
use model::{Metric, SampleData, Unit};
use std::collections::BTreeMap;

/// A digit that is so small a part of a value hides no difference that anybody asks for.
const FINE: f64 = 1e-4;

/// What a number's last digit is worth, as it is written: 0.01 of `1.50`, 1 of `3`, 100 of `15e2`.
pub(crate) fn last_digit(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text.as_str(), "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let exponent: i64 = exponent.parse().ok()?;
    format!("1e{}", exponent - decimals as i64).parse().ok()
}

/// Half of the finest last digit of each metric: so far a value may lie from what was measured.
/// Numbers that a format gives no digits of have those that they need.
///
/// Whole numbers of things are exact, and a metric that says its own resolution knows better.
pub(crate) fn roundings(table: &ImportedTable) -> BTreeMap<String, f64> {
    let is_rounded = |metric: &&Metric| {
        let is_exact = matches!(metric.unit, Unit::Count | Unit::PerOperation | Unit::Bytes);
        metric.resolution == 0.0 && !is_exact
    };
    let rounded: Vec<&Metric> = table.metrics.iter().filter(is_rounded).collect();
    let mut finest: BTreeMap<&str, f64> = BTreeMap::new();
    for sample in table.rows.iter().flat_map(|row| &row.samples) {
        let SampleData::Values(values) = &sample.data else { continue };
        for value in values.iter().filter(|value| **value > 0.0) {
            let known = finest.entry(&sample.source).or_insert(f64::INFINITY);
            if *known <= FINE * value {
                break;
            }
            *known = last_digit(&format!("{value:e}")).map_or(*known, |digit| digit.min(*known));
        }
    }
    let of = |metric: &&Metric| {
        let written = table.last_digits.get(&metric.id).copied();
        let digit = written.or_else(|| finest.get(metric.source.as_str()).copied())?;
        digit.is_finite().then(|| (metric.id.clone(), digit / 2.0))
    };
    rounded.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::Mapping;
    use crate::picture::{imported, read};
    use crate::tidy::CSV;
    use model::{Direction, Reduction, Sample};

    #[test]
    fn a_last_digit_is_that_which_is_written() {
        for (text, digit) in [
            ("3", 1.0),
            ("3.0", 0.1),
            ("-1.50", 0.01),
            ("15e2", 100.0),
            ("1.5E-3", 1e-4),
            ("1e300", 1e300),
        ] {
            assert_eq!(last_digit(text), Some(digit), "{text}");
        }
    }

    #[test]
    fn a_column_is_rounded_to_its_finest_digit_in_the_unit_of_its_metric() {
        let resolution = |value: &str, text: &str| {
            let mapping = Mapping {
                subject: Some("s".to_owned()),
                values: vec![Mapping::value(value).unwrap()],
                ..Mapping::default()
            };
            let campaign = imported(&CSV, &[("x", text.as_bytes())], &mapping).unwrap();
            campaign.plan.workloads[0].metrics[0].resolution
        };
        assert_eq!(resolution("v:lower:s", "s,v\na,3\nb,3\n"), 0.5e9);
        assert_eq!(resolution("v:lower:s", "s,v\na,3.000\nb,3\n"), 0.5e6);
        assert_eq!(resolution("v:higher", "s,v\na,10\nb,20.5\n"), 0.05);
        assert_eq!(resolution("v:lower:count", "s,v\na,3\nb,3\n"), 0.0, "exact");
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
                let samples = vec![Sample::values(&id, vec![*value])];
                table.rows.push(crate::ImportedRow { samples, ..row.clone() });
            }
            roundings(&table).get(&id).copied()
        };
        assert_eq!(with(&[1.25e6, 1.2e6]), Some(0.5e4));
        assert_eq!(with(&[3e9, 3e9]), Some(0.5e9));
        assert!(with(&[3e9, 3.000_001e9]).unwrap() < 1e4);
    }
}
