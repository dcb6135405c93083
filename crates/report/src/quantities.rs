//! Numbers as people read them: three significant digits and a fitting prefix.

use model::{Effect, Interval, Unit};

/// A value with its unit.
pub(crate) fn value(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => scaled(value, &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")]),
        Unit::PerSecond => scaled(value, &[(1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")]),
        Unit::Bytes => scaled(
            value,
            &[(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")],
        ),
        Unit::Fraction => format!("{} %", digits(100.0 * value)),
        Unit::Joules => scaled(value, &[(1e3, "kJ"), (1.0, "J"), (1e-3, "mJ")]),
        Unit::PerOperation => format!("{}/op", digits(value)),
        Unit::Count | Unit::Plain => digits(value),
    }
}

fn scaled(value: f64, steps: &[(f64, &str)]) -> String {
    let last = steps.len() - 1;
    // 999.6 would print as 1000: take the next prefix from there on.
    let chosen = steps.iter().position(|(scale, _)| value >= 0.9995 * scale).unwrap_or(last);
    let (scale, name) = steps[chosen];
    let space =
        if name.starts_with('/') || name.ends_with("/s") && name.len() == 3 { "" } else { " " };
    format!("{}{space}{name}", digits(value / scale))
}

/// Three significant digits, without an exponent for everyday sizes.
pub(crate) fn digits(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-3..1e7).contains(&magnitude) {
        return format!("{value:.2e}");
    }
    let decimals = match magnitude {
        m if m >= 99.95 => 0,
        m if m >= 9.995 => 1,
        m if m >= 0.9995 => 2,
        0.0 => 0,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// An oriented ratio as a signed percentage: `+3.1 %` is better.
pub(crate) fn percent(ratio: f64) -> String {
    if !ratio.is_finite() {
        return "unbounded".to_owned();
    }
    let percent = 100.0 * (ratio - 1.0);
    let text =
        if percent.abs() >= 99.95 { format!("{percent:+.0}") } else { format!("{percent:+.1}") };
    // No minus zero.
    let text = if text == "-0.0" { "+0.0".to_owned() } else { text };
    format!("{text} %")
}

/// Both ends of an interval, without the percent sign twice.
pub(crate) fn interval(interval: &Interval) -> String {
    let end = |ratio: f64| percent(ratio).trim_end_matches(" %").to_owned();
    format!("{} to {} %", end(interval.low), end(interval.high))
}

/// The change in the metric's own direction: `-72 %` of a latency.
pub(crate) fn raw_percent(effect: &Effect) -> String {
    percent(effect.raw_ratio)
}

/// A p-value; a tiny one is bounded, never shown as 0.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// A duration as a person says it.
pub(crate) fn duration(duration_ns: u64) -> String {
    let seconds = duration_ns.div_ceil(1_000_000_000);
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=5_999 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_digits_are_those_a_person_would_choose() {
        for (number, unit, text) in [
            (95_234.0, Unit::Nanoseconds, "95.2 us"),
            (999.7, Unit::Nanoseconds, "1.00 us"),
            (3.2e9, Unit::Nanoseconds, "3.20 s"),
            (12.0, Unit::Nanoseconds, "12.0 ns"),
            (421_337.0, Unit::PerSecond, "421k/s"),
            (5.5, Unit::PerSecond, "5.50/s"),
            (0.25, Unit::Fraction, "25.0 %"),
            (4096.0, Unit::Bytes, "4.00 KiB"),
            (2.0, Unit::PerOperation, "2.00/op"),
            (0.0, Unit::Count, "0"),
        ] {
            assert_eq!(value(number, unit), text);
        }
        assert_eq!(percent(1.031), "+3.1 %");
        assert_eq!(percent(3.52), "+252 %");
        assert_eq!(percent(0.999_99), "+0.0 %");
        assert_eq!(p_value(1e-9), "< 0.001");
    }
}
