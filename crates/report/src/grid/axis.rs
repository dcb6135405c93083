//! The steps of an axis in their natural order: numbers by size, others as the plan has them.

use super::Axis;
use model::{ParameterValue, Unit, format_duration, parse_duration, parse_size};
use std::collections::BTreeMap;

impl Axis {
    /// The axis of a parameter with these values, each with its place among the steps.
    /// `None` of lists and tables, which have no short name.
    pub(super) fn of(name: &str, values: &[&ParameterValue]) -> Option<(Self, Vec<usize>)> {
        let labels: Option<Vec<String>> = values.iter().map(|value| label(value)).collect();
        let labels = labels?;
        let (numbers, unit) = numbers(values);
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, label) in labels.iter().enumerate() {
            first.entry(label).or_insert(index);
        }
        let mut steps: Vec<usize> = first.values().copied().collect();
        steps.sort_unstable();
        if let Some(numbers) = &numbers {
            steps.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
        }
        let place: BTreeMap<&str, usize> =
            steps.iter().enumerate().map(|(place, step)| (labels[*step].as_str(), place)).collect();
        let places = labels.iter().map(|label| place[label.as_str()]).collect();
        let numbers = numbers
            .map_or_else(Vec::new, |numbers| steps.iter().map(|step| numbers[*step]).collect());
        let steps = steps.iter().map(|step| labels[*step].clone()).collect();
        Some((Self { name: name.to_owned(), labels: steps, numbers, unit }, places))
    }

    /// An axis whose steps are names.
    pub(super) fn of_names(name: &str, labels: Vec<String>) -> Self {
        Self { name: name.to_owned(), labels, numbers: Vec::new(), unit: None }
    }
}

fn label(value: &ParameterValue) -> Option<String> {
    match value {
        ParameterValue::Count(count) => Some(count.to_string()),
        ParameterValue::Duration(duration_ns) => Some(format_duration(*duration_ns)),
        ParameterValue::Size(bytes) => Some(size(*bytes)),
        ParameterValue::Number(number) => Some(number.to_string()),
        ParameterValue::Text(text) => Some(text.clone()),
        ParameterValue::Flag(flag) => Some(if *flag { "yes" } else { "no" }.to_owned()),
        ParameterValue::Words(_) | ParameterValue::Table(_) => None,
    }
}

/// The largest unit that divides it: `8KiB`.
fn size(bytes: u64) -> String {
    for (unit, scale) in [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
        if bytes >= scale && bytes.is_multiple_of(scale) {
            return format!("{}{unit}", bytes / scale);
        }
    }
    format!("{bytes}B")
}

/// The values as numbers with their unit, where all of them are numbers of one kind. Texts,
/// which imported values are, are read as numbers, else as sizes, else as durations.
fn numbers(values: &[&ParameterValue]) -> (Option<Vec<f64>>, Option<Unit>) {
    let all = |number: fn(&ParameterValue) -> Option<f64>| {
        values.iter().map(|value| number(value)).collect::<Option<Vec<f64>>>()
    };
    type Reading = (fn(&ParameterValue) -> Option<f64>, Option<Unit>);
    let readings: [Reading; 3] =
        [(plain, None), (bytes, Some(Unit::Bytes)), (nanoseconds, Some(Unit::Nanoseconds))];
    for (number, unit) in readings {
        if let Some(numbers) = all(number) {
            return (Some(numbers), unit);
        }
    }
    (None, None)
}

fn plain(value: &ParameterValue) -> Option<f64> {
    match value {
        ParameterValue::Count(count) => Some(*count as f64),
        ParameterValue::Number(number) => Some(*number),
        ParameterValue::Text(text) => {
            text.trim().parse().ok().filter(|number: &f64| number.is_finite())
        }
        _ => None,
    }
}

fn bytes(value: &ParameterValue) -> Option<f64> {
    match value {
        ParameterValue::Size(bytes) => Some(*bytes as f64),
        ParameterValue::Text(text) => parse_size(text).ok().map(|bytes| bytes as f64),
        _ => None,
    }
}

fn nanoseconds(value: &ParameterValue) -> Option<f64> {
    match value {
        ParameterValue::Duration(duration_ns) => Some(*duration_ns as f64),
        ParameterValue::Text(text) => parse_duration(text).ok().map(|ns| ns as f64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(values: &[ParameterValue]) -> (Axis, Vec<usize>) {
        Axis::of("p", &values.iter().collect::<Vec<_>>()).unwrap()
    }

    fn texts(texts: &[&str]) -> Vec<ParameterValue> {
        texts.iter().map(|text| ParameterValue::Text((*text).to_owned())).collect()
    }

    #[test]
    fn sizes_are_in_the_order_of_their_size_whatever_they_are_written_like() {
        let written = [16 << 20, 8 << 10, 512 << 10, 1 << 20, 1000];
        let (found, places) = axis(&written.map(ParameterValue::Size));
        assert_eq!(found.labels, ["1000B", "8KiB", "512KiB", "1MiB", "16MiB"]);
        assert_eq!((found.unit, places), (Some(Unit::Bytes), vec![4, 1, 2, 3, 0]));
        let (found, _) = axis(&texts(&["16MiB", "8KiB", "512k", "64"]));
        assert_eq!(found.labels, ["64", "8KiB", "512k", "16MiB"]);
        assert_eq!(found.numbers, [64.0, 8192.0, 524_288.0, 16_777_216.0]);
    }

    #[test]
    fn numbers_and_durations_are_sorted_and_names_stay() {
        let (found, places) = axis(&texts(&["16", "2", "4", "2"]));
        assert_eq!((found.labels.len(), places), (3, vec![2, 0, 1, 0]));
        assert_eq!((found.numbers, found.unit), (vec![2.0, 4.0, 16.0], None));
        let (found, _) = axis(&texts(&["1s", "20ms"]));
        assert_eq!(
            (found.labels, found.unit),
            (vec!["20ms".to_owned(), "1s".to_owned()], Some(Unit::Nanoseconds))
        );
        let (found, places) = axis(&texts(&["write", "read", "write", "8KiB"]));
        assert_eq!(
            (found.labels.as_slice(), places),
            (["write", "read", "8KiB"].map(str::to_owned).as_slice(), vec![0, 1, 0, 2])
        );
        assert!(found.numbers.is_empty());
        assert!(Axis::of("p", &[&ParameterValue::Words(Vec::new())]).is_none());
    }
}
