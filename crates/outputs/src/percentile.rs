//! Percentiles that other tools have already taken.

/// Samples beyond a percentile without which it says nothing (docs/method.md#m-quantiles).
const LEAST_TAIL: u64 = 10;
/// Digits after the decimal point of a percentage.
const DIGITS: usize = 6;

/// A percentile, exact to a millionth of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentile {
    /// 99 % is 99 000 000.
    millionths: u64,
}

impl Percentile {
    /// A whole percentage, above 0 and below 100.
    pub const fn whole(percent: u64) -> Self {
        Self { millionths: percent * 1_000_000 }
    }

    /// 99.9 %: the fractional one that everybody asks for.
    pub const P999: Self = Self { millionths: 99_900_000 };

    /// `99.9` or `99.900000`; above 0 and below 100.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || whole.len() > 2 || fraction.len() > DIGITS {
            return None;
        }
        if !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let millionths = format!("{whole}{fraction:0<DIGITS$}").parse().ok()?;
        (millionths > 0).then_some(Self { millionths })
    }

    /// `p99`, `p999`: the decimal point is left out from 10 % on, where that is unique.
    pub fn name(self) -> String {
        let scale = 10_u64.pow(DIGITS as u32);
        let fraction = format!("{:0DIGITS$}", self.millionths % scale);
        let (whole, fraction) = (self.millionths / scale, fraction.trim_end_matches('0'));
        let point = if whole < 10 && !fraction.is_empty() { "_" } else { "" };
        format!("p{whole}{point}{fraction}")
    }

    /// As a fraction of one.
    pub fn quantile(self) -> f64 {
        self.millionths as f64 / 1e8
    }

    /// Whether enough of `count` samples lie beyond it.
    pub fn has_tail(self, count: u64) -> bool {
        let whole = 100 * 10_u128.pow(DIGITS as u32);
        let beyond = whole - u128::from(self.millionths);
        u128::from(count) * beyond >= u128::from(LEAST_TAIL) * whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_named_without_its_point_and_parsed_exactly() {
        for (text, name, quantile) in [
            ("99.900000", "p999", 0.999),
            ("99.0", "p99", 0.99),
            ("50", "p50", 0.5),
            ("5.000000", "p5", 0.05),
            ("0.5", "p0_5", 0.005),
            ("9.99", "p9_99", 0.0999),
        ] {
            let percentile = Percentile::parse(text).unwrap();
            assert_eq!((percentile.name().as_str(), percentile.quantile()), (name, quantile));
        }
        for text in ["", "0", "0.0", "100", "100.0", "-1", "9e1", "99.9999999", ".5", "x"] {
            assert_eq!(Percentile::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_percentile_needs_ten_samples_beyond_it() {
        let has_tail = |text: &str, count| Percentile::parse(text).unwrap().has_tail(count);
        assert!(has_tail("99.9", 10_000) && !has_tail("99.9", 9_999));
        assert!(has_tail("50.0", 20) && !has_tail("50", 19));
        assert!(has_tail("99.999999", u64::MAX));
    }
}
