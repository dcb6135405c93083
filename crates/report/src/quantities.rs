//! Numbers as people read them: three significant digits and a fitting prefix.

pub(crate) use model::p_value;
use model::{Direction, FailureCount, Finding, Interval, Question, Unit, Verdict};
use phrases::{Language, noted, say};
use std::cmp::Ordering;

/// A value with its unit.
pub fn value(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => scaled(value, &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")]),
        Unit::PerSecond => scaled(value, &[(1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")]),
        Unit::Bytes => scaled(
            value,
            &[(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")],
        ),
        Unit::BytesPerSecond => scaled(
            value,
            &[(1_073_741_824.0, "GiB/s"), (1_048_576.0, "MiB/s"), (1024.0, "KiB/s"), (1.0, "B/s")],
        ),
        Unit::Fraction => format!("{} %", percent_digits(value)),
        Unit::Joules => scaled(value, &[(1e3, "kJ"), (1.0, "J"), (1e-3, "mJ")]),
        Unit::PerOperation => format!("{}/op", digits(value)),
        Unit::Count | Unit::Plain => digits(value),
    }
}

/// Six significant digits, of points that a figure draws; no sentence tells them again.
pub(crate) fn short(value: f64) -> f64 {
    if value.is_finite() { format!("{value:.5e}").parse().unwrap_or(value) } else { value }
}

/// Which subject is compared with which.
pub(crate) fn versus(question: &Question, language: Language) -> String {
    against(&question.subject, &question.reference, language)
}

/// One thing compared with another: names or values.
pub(crate) fn against(subject: &str, reference: &str, language: Language) -> String {
    say!(language, "{subject} against {reference}", subject, reference)
}

/// Something behind a word, in brackets.
pub(crate) fn bracketed(text: &str, language: Language) -> String {
    say!(language, " ({text})", text)
}

/// Which way is better.
pub(crate) fn direction(direction: Direction, language: Language) -> &'static str {
    match direction {
        Direction::Lower => language.word("lower is better"),
        Direction::Higher => language.word("higher is better"),
    }
}

/// The unit of values as they are stored.
pub(crate) fn stored_unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "ns",
        Unit::PerSecond => "1/s",
        Unit::PerOperation => "1/op",
        Unit::Count => "count",
        Unit::Bytes => "B",
        Unit::BytesPerSecond => "B/s",
        Unit::Fraction => "fraction",
        Unit::Joules => "J",
        Unit::Plain => "",
    }
}

fn scaled(value: f64, steps: &[(f64, &str)]) -> String {
    let last = steps.len() - 1;
    // 999.6 would print as 1000: take the next prefix from there on.
    let chosen = steps.iter().position(|(scale, _)| value >= 0.9995 * scale).unwrap_or(last);
    let (scale, name) = steps[chosen];
    let space = if name.starts_with('/') || name.ends_with("/s") && name.len() == 3 && name != "B/s"
    {
        ""
    } else {
        " "
    };
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
        m if m >= 0.09995 => 3,
        m if m >= 0.009995 => 4,
        _ => 5,
    };
    format!("{value:.decimals$}")
}

/// A fraction in percent, in three significant digits, however large it is.
pub(crate) fn percent_digits(fraction: f64) -> String {
    model::large_percent(fraction).unwrap_or_else(|| digits(100.0 * fraction))
}

/// From here on a ratio is told as a factor: +318 % and -76 % are the same distance, and nobody sees
/// it. 1.9996 would be +100.0 %.
const FACTOR: f64 = 1.9995;

/// Whether an oriented ratio is told as a factor, either way.
pub(crate) fn is_factor(ratio: f64) -> bool {
    ratio >= FACTOR || (ratio > 0.0 && ratio <= 1.0 / FACTOR)
}

/// The largest ratio that files hold, as it is told.
const LARGEST: &str = "1e300";

/// How an effect is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EffectScale {
    /// In percent: `+3.1 %`.
    Percent,
    /// As a factor: `×2.40`, and what is worse `÷2.40`.
    Factor,
}

impl EffectScale {
    /// That of these oriented ratios together: factors where one of them is told as one.
    pub(crate) fn of(ratios: &[f64]) -> Self {
        let is_beyond = ratios.iter().any(|ratio| ratio.is_finite() && is_factor(*ratio));
        if is_beyond { Self::Factor } else { Self::Percent }
    }
}

/// How far an oriented ratio lies from no difference, and which way. Rows and sentences take both
/// from here, so that they cannot differ.
pub(crate) struct EffectSize {
    /// Which way: greater is better, equal where no direction shows.
    pub way: Ordering,
    /// The number without its sign; none where it is unbounded.
    pub digits: Option<String>,
    /// Whether it is the largest that files hold, so that it stands for any beyond it.
    pub is_bound: bool,
}

impl EffectSize {
    /// That of an oriented ratio on a scale.
    pub(crate) fn of(ratio: f64, scale: EffectScale) -> Self {
        let way = ratio.total_cmp(&1.0);
        // Zero and infinity are what unbounded ends are stored as.
        if !(ratio.is_finite() && ratio > 0.0) {
            return Self { way, digits: None, is_bound: false };
        }
        if model::is_ratio_bound(ratio) {
            return Self { way, digits: Some(LARGEST.to_owned()), is_bound: true };
        }
        let (digits, none) = match scale {
            // Nothing is left of what is 100 % less.
            EffectScale::Percent if ratio <= 0.0005 => ("100".to_owned(), "0.0"),
            EffectScale::Percent => (format!("{:.1}", 100.0 * (ratio - 1.0).abs()), "0.0"),
            EffectScale::Factor => (digits(ratio.max(1.0 / ratio)), "1.00"),
        };
        // No direction where none shows.
        let way = if digits == none { Ordering::Equal } else { way };
        Self { way, digits: Some(digits), is_bound: false }
    }
}

/// An oriented ratio with the sign of its direction: `+3.1 %`, `÷2.40`.
fn signed(ratio: f64, scale: EffectScale, language: Language) -> String {
    let EffectSize { way, digits, is_bound } = EffectSize::of(ratio, scale);
    let Some(digits) = digits else { return language.word("unbounded").to_owned() };
    let size = match (scale, way) {
        (EffectScale::Percent, Ordering::Less) => format!("-{digits} %"),
        (EffectScale::Percent, Ordering::Equal) => format!("{digits} %"),
        (EffectScale::Percent, Ordering::Greater) => format!("+{digits} %"),
        (EffectScale::Factor, Ordering::Less) => format!("÷{digits}"),
        (EffectScale::Factor, Ordering::Equal | Ordering::Greater) => format!("×{digits}"),
    };
    if is_bound { more_than(&size, language) } else { size }
}

/// A size that stands for any beyond it.
pub(crate) fn more_than(size: &str, language: Language) -> String {
    say!(language, "more than {size}", size)
}

/// A logarithm of an oriented ratio, as [`percent`] tells that.
pub(crate) fn percent_of_log(log: f64, language: Language) -> String {
    percent(model::bounded_ratio(log.exp()), language)
}

/// Why a sentence tells no interval of an effect.
pub(crate) const NO_INTERVAL: &str = noted!("no interval: the replicates do not vary");

/// Both ends of an interval on a scale, without the percent sign twice; of one without a width that
/// there is none.
fn signed_ends(ends: &Interval, scale: EffectScale, language: Language) -> String {
    if ends.has_no_width() {
        return language.word("no interval").to_owned();
    }
    let [low, high] = [ends.low, ends.high].map(|end| signed(end, scale, language));
    let low = if high.ends_with(" %") { low.strip_suffix(" %").unwrap_or(&low) } else { &low };
    say!(language, "{low} to {high}", low, high)
}

/// An oriented ratio as a signed percentage: `+3.1 %` is better; from two-fold on a factor.
pub fn percent(ratio: f64, language: Language) -> String {
    signed(ratio, EffectScale::of(&[ratio]), language)
}

/// From which size on effects are found, of its fraction: `from 6.1 % on`, from two-fold on a
/// factor, without digits where it only says that nothing would be found.
pub fn effects_found(fraction: f64, language: Language) -> String {
    let size = match 1.0 + fraction {
        ratio if ratio >= 1000.0 => return language.word("only beyond ×1000").to_owned(),
        ratio if ratio >= FACTOR => format!("×{}", digits(ratio)),
        ratio if ratio >= 1.001 => format!("{:.1} %", 100.0 * fraction),
        _ => format!("{} %", digits(100.0 * fraction)),
    };
    say!(language, "from {size} on", size)
}

/// An oriented ratio and its interval on one scale: as factors where one of the three is one.
pub fn estimate(ratio: f64, ends: &Interval, language: Language) -> (String, String) {
    let scale = EffectScale::of(&[ratio, ends.low, ends.high]);
    (signed(ratio, scale, language), signed_ends(ends, scale, language))
}

/// Whether a percentage stands in what [`estimate`] tells.
pub(crate) fn tells_percentage(ratio: f64, ends: &Interval) -> bool {
    let told = [ratio, ends.low, ends.high];
    // Zero and infinity are what unbounded ends are stored as.
    let has_digits = told.iter().any(|one| one.is_finite() && *one > 0.0);
    has_digits && EffectScale::of(&told) == EffectScale::Percent
}

/// Both ends of an interval, without the percent sign twice; both as factors where one is.
pub(crate) fn interval(interval: &Interval, language: Language) -> String {
    signed_ends(interval, EffectScale::of(&[interval.low, interval.high]), language)
}

/// Whether what happened to a value is told as a factor.
pub(crate) fn is_change_factor(raw_ratio: f64) -> bool {
    raw_ratio >= FACTOR || raw_ratio <= 0.1
}

/// What happened to the value itself, in words: `62.0 % lower`, `25.0 times higher`. What is lower is
/// so by less than 100 %; beyond a tenth that says no more how much.
fn change(raw_ratio: f64, language: Language) -> String {
    let is_lower = raw_ratio < 1.0;
    if is_change_factor(raw_ratio) {
        let is_bound = model::is_ratio_bound(raw_ratio);
        let factor =
            if is_bound { LARGEST.to_owned() } else { digits(raw_ratio.max(1.0 / raw_ratio)) };
        let told = if is_lower {
            say!(language, "{factor} times lower", factor)
        } else {
            say!(language, "{factor} times higher", factor)
        };
        return if is_bound { more_than(&told, language) } else { told };
    }
    match format!("{:.1}", 100.0 * (raw_ratio - 1.0).abs()) {
        size if size == "0.0" => language.word("unchanged").to_owned(),
        size if is_lower => say!(language, "{size} % lower", size),
        size => say!(language, "{size} % higher", size),
    }
}

/// [`change`] of a finding's value; of a share, what happened to its odds.
pub(crate) fn raw_change(finding: &Finding, language: Language) -> Option<String> {
    let text = change(finding.effect.as_ref()?.raw_ratio, language);
    Some(if finding.is_odds { say!(language, "odds {change}", change = text) } else { text })
}

/// Whether a subject fails more or less often than its reference; nothing where neither was shown.
pub(crate) fn fails(count: &FailureCount, language: Language) -> &'static str {
    match count.failure_verdict {
        Some(Verdict::Worse) => language.word("fails more often than its reference"),
        Some(Verdict::Better) => language.word("fails less often than its reference"),
        _ => "",
    }
}

/// A confidence level in percent: `95`, `99.17`; of thousands of comparisons, or of an early look, with
/// as many digits as tell it from certainty: `99.9998`.
pub fn confidence(error_rate: f64) -> String {
    let tells = |places: &u8| error_rate >= 10.0_f64.powi(-2 - i32::from(*places));
    let places = (2..12).find(tells).map_or(12, usize::from);
    let text = format!("{:.places$}", 100.0 * (1.0 - error_rate));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A duration as a person says it.
pub(crate) fn duration(duration_ns: u64, language: Language) -> String {
    let seconds = duration_ns.div_ceil(1_000_000_000);
    let minutes = seconds / 60;
    match seconds {
        0..=99 => say!(language, "{seconds} s", seconds),
        100..=5_999 => {
            say!(language, "{minutes} min {seconds} s", minutes, seconds = seconds % 60)
        }
        _ => {
            say!(language, "{hours} h {minutes} min", hours = minutes / 60, minutes = minutes % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates of error of 1,000 comparisons, of the first of three looks at 6 of 1,000 blocks, and of both.
    #[test]
    fn a_level_has_the_digits_that_tell_it_from_certainty() {
        for (error_rate, text) in [
            (0.05, "95"),
            (0.05 / 3.0, "98.33"),
            (0.000_1, "99.99"),
            (0.000_05, "99.995"),
            (0.000_001_8, "99.9998"),
            (0.000_000_003, "99.9999997"),
        ] {
            assert_eq!(confidence(error_rate), text);
        }
    }

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
            (1e307, Unit::Fraction, "1.00e309 %"),
            (4096.0, Unit::Bytes, "4.00 KiB"),
            (2.0, Unit::PerOperation, "2.00/op"),
            (0.0, Unit::Count, "0"),
        ] {
            assert_eq!(value(number, unit), text);
        }
        for (fraction, text) in [
            (0.0004, "from 0.0400 % on"),
            (0.061, "from 6.1 % on"),
            (9.5, "from ×10.5 on"),
            (9e10, "only beyond ×1000"),
            (f64::INFINITY, "only beyond ×1000"),
        ] {
            assert_eq!(effects_found(fraction, Language::default()), text);
        }
        for (ratio, text) in [
            (1.031, "+3.1 %"),
            (1.52, "+52.0 %"),
            // The page says the same of each: web/test/format.test.ts.
            (1.110_499_2, "+11.0 %"),
            (1.0625, "+6.2 %"),
            (1.1875, "+18.8 %"),
            (0.9375, "-6.2 %"),
            (1.9996, "×2.00"),
            (3.52, "×3.52"),
            (0.24, "÷4.17"),
            (0.999_99, "0.0 %"),
            (103.0, "×103"),
            (0.01, "÷100"),
            (0.0, "unbounded"),
            (f64::INFINITY, "unbounded"),
        ] {
            assert_eq!(percent(ratio, Language::default()), text, "{ratio}");
        }
        let ends = |low, high| interval(&Interval { low, high }, Language::default());
        assert_eq!(ends(0.97, 1.12), "-3.0 to +12.0 %");
        assert_eq!(ends(1.8, 2.3), "×1.80 to ×2.30");
        assert_eq!(ends(0.4, 1.1), "÷2.50 to ×1.10");
        assert_eq!(ends(1.1, f64::INFINITY), "+10.0 % to unbounded");
        let told = |ratio, low, high| {
            let (ratio, ends) = estimate(ratio, &Interval { low, high }, Language::default());
            format!("{ratio} ({ends})")
        };
        // The page says the same of each: web/test/format.test.ts.
        assert_eq!(told(1.9, 1.7, 2.1), "×1.90 (×1.70 to ×2.10)");
        assert_eq!(told(0.999_9, 0.0, 2.1), "×1.00 (unbounded to ×2.10)");
        assert_eq!(told(0.9, 0.8, 1.1), "-10.0 % (-20.0 to +10.0 %)");
        assert_eq!(told(1.0, 1.0, 1.0), "0.0 % (no interval)");
        assert_eq!(told(2.5, 2.5, 2.5), "×2.50 (no interval)");
        assert_eq!(
            told(1e300, 1e300, f64::INFINITY),
            "more than ×1e300 (more than ×1e300 to unbounded)"
        );
        assert_eq!(told(1e-300, 0.0, 1e-300), "more than ÷1e300 (unbounded to more than ÷1e300)");
        assert_eq!(told(1.1, 0.9, f64::INFINITY), "+10.0 % (-10.0 % to unbounded)");
        for (ratio, text) in [
            (0.38, "62.0 % lower"),
            (1.0, "unchanged"),
            (2.5, "2.50 times higher"),
            (25.0, "25.0 times higher"),
            (1e300, "more than 1e300 times higher"),
            (1e-300, "more than 1e300 times lower"),
            // As findings of earlier versions have it.
            (0.0, "more than 1e300 times lower"),
        ] {
            assert_eq!(change(ratio, Language::default()), text, "{ratio}");
        }
        for (log, text) in
            [(0.1, "+10.5 %"), (1_381.0, "more than ×1e300"), (-1_381.0, "more than ÷1e300")]
        {
            assert_eq!(percent_of_log(log, Language::default()), text, "{log}");
        }
        assert_eq!(p_value(1e-9), "< 0.001");
    }

    #[test]
    fn a_percentage_is_known_of_where_one_is_told() {
        for [ratio, low, high] in [
            [1.1, 0.9, f64::INFINITY],
            [1.9, 1.7, 2.1],
            [0.9, 0.8, 1.1],
            [1.0, 1.0, 1.0],
            [2.5, 2.4, 2.6],
            [0.1, 0.0, 0.2],
            [f64::INFINITY, 0.0, f64::INFINITY],
        ] {
            let ends = Interval { low, high };
            let (size, told) = estimate(ratio, &ends, Language::default());
            let expected = size.contains('%') || told.contains('%');
            assert_eq!(tells_percentage(ratio, &ends), expected, "{size} {told}");
        }
    }
}
