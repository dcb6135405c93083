//! Durations, sizes, percentages and counts as people write them.
//!
//! Parsing is exact: digits are shifted, never multiplied as floats, so
//! `0.75ms` is 750 000 ns on every machine.

/// Text that is not the quantity it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantityError {
    kind: &'static str,
    text: String,
    expected: &'static str,
}

impl QuantityError {
    pub(crate) fn new(kind: &'static str, text: &str, expected: &'static str) -> Self {
        Self { kind, text: text.to_owned(), expected }
    }
}

impl std::fmt::Display for QuantityError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "`{}` is not a {}; expected {}", self.text, self.kind, self.expected)
    }
}

impl std::error::Error for QuantityError {}

const DURATIONS: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

const SIZES: [(&str, u64); 9] = [
    ("B", 1),
    ("k", 1 << 10),
    ("K", 1 << 10),
    ("KiB", 1 << 10),
    ("m", 1 << 20),
    ("M", 1 << 20),
    ("MiB", 1 << 20),
    ("G", 1 << 30),
    ("GiB", 1 << 30),
];

/// A duration in nanoseconds. The unit is required: `30s`, `0.75ms`, `500us`.
pub fn parse_duration(text: &str) -> Result<u64, QuantityError> {
    let bad = || {
        QuantityError::new("duration", text, "a number with ns, us, ms, s, m or h, such as `30s`")
    };
    let trimmed = text.trim();
    if trimmed == "0" {
        return Ok(0);
    }
    let (number, unit) = split_unit(trimmed);
    let scale = DURATIONS.iter().find(|(name, _)| *name == unit).ok_or_else(bad)?.1;
    scaled(number, scale).ok_or_else(bad)
}

/// A size in bytes; a bare number is bytes, `k`, `M` and `G` are powers of 1024.
pub fn parse_size(text: &str) -> Result<u64, QuantityError> {
    let bad =
        || QuantityError::new("size", text, "bytes, or a number with k, M or G, such as `64k`");
    let (number, unit) = split_unit(text.trim());
    let scale = if unit.is_empty() {
        1
    } else {
        SIZES.iter().find(|(name, _)| *name == unit).ok_or_else(bad)?.1
    };
    scaled(number, scale).ok_or_else(bad)
}

/// A percentage as a fraction: `2%` is 0.02. The sign is required.
pub fn parse_percent(text: &str) -> Result<f64, QuantityError> {
    let bad =
        || QuantityError::new("percentage", text, "a number with a percent sign, such as `2%`");
    let number = text.trim().strip_suffix('%').ok_or_else(bad)?.trim();
    let is_plain =
        number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+'));
    let percent: Option<f64> = number.parse().ok().filter(|_| is_plain);
    // Enough digits parse as infinity, which no margin means.
    percent.filter(|percent| percent.is_finite()).map(|percent| percent / 100.0).ok_or_else(bad)
}

/// A whole number; `_` may group digits.
pub fn parse_count(text: &str) -> Result<u64, QuantityError> {
    let bad = || QuantityError::new("count", text, "a whole number");
    text.trim().replace('_', "").parse().map_err(|_| bad())
}

/// The canonical spelling of a duration: the largest unit up to seconds that
/// leaves at least one whole, with no digit lost (`750us`, `2.25ms`, `90s`).
pub fn format_duration(duration_ns: u64) -> String {
    if duration_ns == 0 {
        return "0ns".to_owned();
    }
    let (unit, scale) = DURATIONS[..4]
        .iter()
        .rev()
        .find(|(_, scale)| duration_ns >= *scale)
        .unwrap_or(&DURATIONS[0]);
    exact(duration_ns, *scale, unit)
}

/// The canonical spelling of a size: the largest unit that divides it.
pub fn format_size(bytes: u64) -> String {
    for (unit, scale) in [("G", 1_u64 << 30), ("M", 1 << 20), ("k", 1 << 10)] {
        if bytes >= scale && bytes.is_multiple_of(scale) {
            return format!("{}{unit}", bytes / scale);
        }
    }
    format!("{bytes}B")
}

fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    (text[..end].trim(), &text[end..])
}

/// `number * scale` without a float: `None` where it does not fit or has
/// digits below one.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) || fraction.len() > 15 {
        return None;
    }
    let whole: u128 = whole.parse().ok()?;
    let mut total = whole.checked_mul(u128::from(scale))?;
    if !fraction.is_empty() {
        let digits: u128 = fraction.parse().ok()?;
        let divisor = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
        let scaled = digits * u128::from(scale);
        if !scaled.is_multiple_of(divisor) {
            return None;
        }
        total += scaled / divisor;
    }
    u64::try_from(total).ok()
}

fn exact(value: u64, scale: u64, unit: &str) -> String {
    let whole = value / scale;
    let rest = value % scale;
    if rest == 0 {
        return format!("{whole}{unit}");
    }
    let width = scale.ilog10() as usize;
    let fraction = format!("{rest:0width$}");
    format!("{whole}.{}{unit}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_exact_and_have_one_spelling() {
        for (text, ns, canonical) in [
            ("0.75ms", 750_000, "750us"),
            ("2.25ms", 2_250_000, "2.25ms"),
            ("3ms", 3_000_000, "3ms"),
            ("1.5us", 1_500, "1.5us"),
            ("90s", 90_000_000_000, "90s"),
            ("2m", 120_000_000_000, "120s"),
            ("0", 0, "0ns"),
            ("17ns", 17, "17ns"),
        ] {
            assert_eq!(parse_duration(text), Ok(ns), "{text}");
            assert_eq!(format_duration(ns), canonical);
            assert_eq!(parse_duration(canonical), Ok(ns), "{canonical}");
        }
    }

    #[test]
    fn a_duration_without_unit_or_with_lost_digits_is_refused() {
        for text in
            ["3", "", "ms", "-1ms", "1e3ms", "0.5ns", "1.ms.2", "3 parsecs", "99999999999999h"]
        {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, bytes, canonical) in [
            ("64k", 65_536, "64k"),
            ("1G", 1 << 30, "1G"),
            ("100", 100, "100B"),
            ("1.5M", 1_572_864, "1536k"),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
            assert_eq!(format_size(bytes), canonical);
        }
        assert!(parse_size("many").is_err());
    }

    #[test]
    fn percentages_need_their_sign() {
        assert_eq!(parse_percent("2%"), Ok(0.02));
        assert_eq!(parse_percent("-0.5 %"), Ok(-0.005));
        assert!(parse_percent("2").is_err());
        assert!(parse_percent("NaN%").is_err());
        assert!(parse_percent(&format!("{}%", "9".repeat(400))).is_err());
    }
}
