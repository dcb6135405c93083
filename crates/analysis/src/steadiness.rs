//! Whether iterations had settled inside the measured window, told by class (Barrett
//! and others, OOPSLA 2017): nothing is cut off or repaired, and classes that differ
//! between subjects are something to know.

use model::{Caveat, CaveatCode, Direction, Record, SampleData};
use std::collections::BTreeMap;

/// Share of series that must be unsteady.
const UNSTEADY_SHARE: f64 = 0.25;
/// Longer series are judged by the means of so many equal pieces.
const MOST_PIECES: usize = 200;
/// A level that changes again in this last share of a series has not settled.
const LAST_SHARE: f64 = 0.25;

/// How a series of iterations behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Flat,
    Warmup,
    Slowdown,
    NoSteadyState,
}

impl Class {
    fn word(self) -> &'static str {
        match self {
            Class::Flat => "flat",
            Class::Warmup => "warming up",
            Class::Slowdown => "slowing down",
            Class::NoSteadyState => "without a steady state",
        }
    }
}

/// The class of a series; `None` of one too short to tell. A beginning that MSER-5 would
/// cut off counts only where it differs by more than the margin: in 36 to 57 of 100
/// series of pure noise (200 to 20 values) the rule cuts off something.
fn class(values: &[f64], direction: Direction, theta: f64) -> Option<Class> {
    let truncation = stats::mser5_truncation(values)?;
    let length = values.len().div_ceil(MOST_PIECES).max(1);
    let logs: Vec<f64> = values
        .chunks(length)
        .filter_map(stats::mean)
        .filter(|value| *value > 0.0)
        .map(stats::ln)
        .collect();
    let changes = stats::change_points(&logs, theta);
    let improves =
        |shift: f64| if direction.sign() * shift > 0.0 { Class::Warmup } else { Class::Slowdown };
    match changes.last() {
        Some(last) if last.index as f64 > (1.0 - LAST_SHARE) * logs.len() as f64 => {
            Some(Class::NoSteadyState)
        }
        Some(_) => Some(improves(changes.iter().map(|change| change.shift).sum())),
        None => {
            let (start, rest) = values.split_at(truncation);
            let shift = match (stats::mean(start), stats::mean(rest)) {
                (Some(start), Some(rest)) if start > 0.0 && rest > 0.0 => stats::ln(rest / start),
                _ => 0.0,
            };
            Some(if shift.abs() > theta { improves(shift) } else { Class::Flat })
        }
    }
}

/// The caveat where more than a quarter of the series of these trials had not settled,
/// with the classes of each subject.
pub(crate) fn not_steady<'a>(
    trials: impl Iterator<Item = &'a Record>,
    source: &str,
    direction: Direction,
    theta: f64,
) -> Option<Caveat> {
    let mut classes: BTreeMap<&str, BTreeMap<Class, usize>> = BTreeMap::new();
    for record in trials {
        let series = record.invocations.iter().flat_map(|invocation| &invocation.samples);
        for sample in series.filter(|sample| sample.source == source) {
            if let SampleData::Values(values) = &sample.data
                && let Some(class) = class(values, direction, theta)
            {
                *classes.entry(&record.subject).or_default().entry(class).or_default() += 1;
            }
        }
    }
    let counts = || classes.values().flatten();
    let judged: usize = counts().map(|(_, count)| count).sum();
    let unsteady: usize =
        counts().filter(|(class, _)| **class != Class::Flat).map(|(_, count)| count).sum();
    (judged > 0 && unsteady as f64 > UNSTEADY_SHARE * judged as f64).then(|| {
        let of_subject = |(subject, classes): (&&str, &BTreeMap<Class, usize>)| {
            let words: Vec<String> =
                classes.iter().map(|(class, count)| format!("{count} {}", class.word())).collect();
            format!("{subject}: {}", words.join(", "))
        };
        let each: Vec<String> = classes.iter().map(of_subject).collect();
        let detail = format!("{unsteady} of {judged} series had not settled; {}", each.join("; "));
        Caveat::new(CaveatCode::NotSteady, detail)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(level: impl Fn(usize) -> f64) -> Vec<f64> {
        // Noise without trend, 0.1 %.
        (0..80)
            .map(|index| level(index) * (1.0 + 0.001 * ((index * 37 % 11) as f64 - 5.0) / 5.0))
            .collect()
    }

    #[test]
    fn each_way_to_be_unsteady_has_its_name() {
        let of = |values: &[f64]| class(values, Direction::Lower, 0.02).unwrap();
        assert_eq!(of(&series(|_| 10.0)), Class::Flat);
        assert_eq!(of(&series(|i| if i < 20 { 20.0 } else { 10.0 })), Class::Warmup);
        assert_eq!(of(&series(|i| if i < 20 { 10.0 } else { 12.0 })), Class::Slowdown);
        assert_eq!(of(&series(|i| if i < 70 { 10.0 } else { 15.0 })), Class::NoSteadyState);
        assert_eq!(class(&[1.0; 5], Direction::Lower, 0.02), None);
        let rising = series(|i| if i < 20 { 10.0 } else { 20.0 });
        assert_eq!(class(&rising, Direction::Higher, 0.02), Some(Class::Warmup));
    }
}
