//! Rounding for files: 12 significant digits hide the last bits of libm; and p-values for people.

/// `value` with 12 significant digits. Findings carry no more, so the same
/// records give the same bytes on machines whose last bits differ.
pub fn round_significant(value: f64) -> f64 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    let size = scaled(value.abs()).unwrap_or_else(|| by_text(value.abs()));
    size.copysign(value)
}

/// Formatting rounds correctly and independently of the FPU.
fn by_text(size: f64) -> f64 {
    format!("{size:.11e}").parse().unwrap_or(size)
}

/// Powers of ten that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Numbers of twelve digits.
const TWELVE_DIGITS: std::ops::Range<f64> = 1e11..1e12;

/// A digit this near the middle between two is left to the text: the product that it was taken from is
/// wrong by at most 2^-14.
const NEAR_MIDDLE: f64 = 1e-3;

/// What [`by_text`] gives of a number above zero, without a text; none where that cannot be told.
///
/// Twelve digits and the power are exact, and their quotient or product, which is rounded once as
/// IEEE 754 defines it, is therefore the double next to the decimal number, which is what reading the
/// text gives.
fn scaled(size: f64) -> Option<f64> {
    let (digits, places) = twelve_digits(size)?;
    let power = *POWERS.get(places.unsigned_abs() as usize)?;
    Some(if places < 0 { digits as f64 * power } else { digits as f64 / power })
}

/// The twelve digits that formatting gives of a number above zero, as a whole number, and how many of
/// them stand behind the point; none where that cannot be told without a text.
///
/// The product with a power of ten that is exact, or the quotient, is off by at most 2^-14 where it has
/// twelve digits, so that it is rounded to the same whole number as the exact one unless it lies near
/// the middle of two. Where it is rounded up to the next power of ten, so is the text.
fn twelve_digits(size: f64) -> Option<(i64, i32)> {
    let exponent = (size.to_bits() >> 52) as i32 - 1_023;
    // 1233 / 4096 is about the logarithm of 2; what is one less or more is seen below.
    let places = 11 - ((exponent * 1_233) >> 12);
    [places, places - 1].into_iter().find_map(|places| {
        let power = *POWERS.get(places.unsigned_abs() as usize)?;
        let product = if places < 0 { size / power } else { size * power };
        if !TWELVE_DIGITS.contains(&product) {
            return None;
        }
        let whole = product as i64;
        let part = product - whole as f64;
        let is_near_middle = (part - 0.5).abs() < NEAR_MIDDLE;
        (!is_near_middle).then_some((whole + i64::from(part > 0.5), places))
    })
}

/// The power of ten of the last one of twelve significant digits that is not 0: -2 of `1.25`, 3 of
/// `15e3`. None of what is not above zero, and where only a text tells it.
pub fn last_digit_power(value: f64) -> Option<i32> {
    if !value.is_finite() || value <= 0.0 {
        return None;
    }
    let (mut digits, places) = twelve_digits(value)?;
    let mut power = -places;
    while digits % 10 == 0 {
        digits /= 10;
        power += 1;
    }
    Some(power)
}

/// Files hold no ratio beyond this one (docs/method.md#m-estimate): the exponential of a difference of
/// two logarithms may be more than a number holds.
pub const LARGEST_RATIO: f64 = 1e300;

/// Nor one closer to nought than this.
pub const LEAST_RATIO: f64 = 1e-300;

/// A ratio as files hold it: one that is further from 1 than they hold is the last that they do.
pub fn bounded_ratio(ratio: f64) -> f64 {
    ratio.clamp(LEAST_RATIO, LARGEST_RATIO)
}

/// Whether a ratio is as far from 1 as files hold one, so that it stands for any beyond it.
pub fn is_ratio_bound(ratio: f64) -> bool {
    ratio <= LEAST_RATIO || ratio >= LARGEST_RATIO
}

/// An infinite fraction in percent, with this sign where it is above zero: all that is known is that it
/// is beyond 1.797e308, the last number.
fn beyond_numbers(fraction: f64, sign: &str) -> Option<String> {
    if !fraction.is_infinite() {
        return None;
    }
    Some(if fraction > 0.0 {
        format!("more than {sign}1.79e310")
    } else {
        "less than -1.79e310".to_owned()
    })
}

/// A fraction in percent with so many digits behind the point, as text; one that is large as
/// [`large_percent`] has it, and one that no number holds in words.
pub fn percent(fraction: f64, decimals: usize) -> String {
    let large = large_percent(fraction).or_else(|| beyond_numbers(fraction, ""));
    large.unwrap_or_else(|| format!("{:.decimals$}", 100.0 * fraction))
}

/// The same with a sign, whichever it is; what rounds to nought has none.
pub fn signed_percent(fraction: f64, decimals: usize) -> String {
    let sign = if fraction.is_sign_negative() { "" } else { "+" };
    if let Some(words) = beyond_numbers(fraction, sign) {
        return words;
    }
    let text = percent(fraction, decimals);
    let is_nought = !text.bytes().any(|byte| byte.is_ascii_digit() && byte != b'0');
    if is_nought { text.trim_start_matches('-').to_owned() } else { format!("{sign}{text}") }
}

/// A fraction in percent as files have it, without needless zeros; one that is large as
/// [`large_percent`] has it.
pub fn rounded_percent(fraction: f64) -> String {
    large_percent(fraction).unwrap_or_else(|| round_significant(100.0 * fraction).to_string())
}

/// A fraction from 100,000 on in percent, in scientific notation: nobody counts 300 digits. Of 1e308 it
/// is `1.00e310`, which no number holds.
pub fn large_percent(fraction: f64) -> Option<String> {
    if !fraction.is_finite() || fraction.abs() < 1e5 {
        return None;
    }
    let text = format!("{fraction:.2e}");
    let (digits, power) = text.split_once('e')?;
    let power: i32 = power.parse().ok()?;
    Some(format!("{digits}e{}", power + 2))
}

/// A p-value as people read it; a tiny one is bounded, never shown as 0: `0.012`, `< 0.001`.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// The same as an equation: `p = 0.012`, `p < 0.001`.
pub fn p_equation(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_has_few_digits_however_large_it_is() {
        for (fraction, decimals, text) in [
            (0.05, 2, "5.00"),
            (-0.0126, 1, "-1.3"),
            (99_999.0, 1, "9999900.0"),
            (1e5, 1, "1.00e7"),
            (-2.5e304, 3, "-2.50e306"),
            (1e308, 2, "1.00e310"),
            (9.999e306, 0, "1.00e309"),
        ] {
            assert_eq!(percent(fraction, decimals), text);
            let sign = if fraction > 0.0 { "+" } else { "" };
            assert_eq!(signed_percent(fraction, decimals), format!("{sign}{text}"));
        }
        for (fraction, text) in [(0.05, "5"), (0.0125, "1.25"), (2.5, "250"), (1e308, "1.00e310")] {
            assert_eq!(rounded_percent(fraction), text);
        }
    }

    #[test]
    fn a_signed_percentage_that_rounds_to_nought_has_no_sign() {
        for (fraction, decimals, text) in [
            (-0.000_4, 1, "0.0"),
            (0.000_4, 1, "0.0"),
            (-0.0, 2, "0.00"),
            (0.0, 0, "0"),
            (-0.004, 0, "0"),
            (-0.000_6, 1, "-0.1"),
            (0.000_6, 1, "+0.1"),
            (-0.1, 0, "-10"),
        ] {
            assert_eq!(signed_percent(fraction, decimals), text, "{fraction}");
        }
    }

    #[test]
    fn a_percentage_that_no_number_holds_is_told_in_words() {
        let infinite = 710.0_f64.exp_m1();
        assert_eq!(percent(infinite, 1), "more than 1.79e310");
        assert_eq!(signed_percent(infinite, 1), "more than +1.79e310");
        assert_eq!(signed_percent(-infinite, 1), "less than -1.79e310");
        assert_eq!(percent(f64::MAX, 1), "1.80e310");
    }

    #[test]
    fn a_ratio_that_files_do_not_hold_is_the_last_that_they_do() {
        for (ratio, held) in [
            (f64::INFINITY, LARGEST_RATIO),
            (1e301, LARGEST_RATIO),
            (1e299, 1e299),
            (1e-299, 1e-299),
            (0.0, LEAST_RATIO),
        ] {
            assert_eq!(bounded_ratio(ratio), held, "{ratio}");
            assert_eq!(is_ratio_bound(held), held != ratio, "{ratio}");
        }
    }

    #[test]
    fn no_p_is_shown_as_nought() {
        for (p, value, equation) in [
            (0.0, "< 0.001", "p < 0.001"),
            (0.000_43, "< 0.001", "p < 0.001"),
            (0.001, "0.001", "p = 0.001"),
            (0.154_4, "0.154", "p = 0.154"),
            (1.0, "1.000", "p = 1.000"),
        ] {
            assert_eq!((p_value(p).as_str(), p_equation(p).as_str()), (value, equation));
        }
    }

    #[test]
    fn the_thirteenth_digit_is_gone_and_the_twelfth_stays() {
        assert_eq!(round_significant(1.234_567_890_123_456), 1.234_567_890_12);
        assert_eq!(round_significant(-0.0), 0.0);
        assert!(round_significant(f64::INFINITY).is_infinite());
    }

    #[test]
    fn rounding_by_numbers_is_rounding_by_text() {
        let mut sizes: Vec<f64> = vec![f64::MIN_POSITIVE, 5e-324, f64::MAX, 1.0 / 3.0, 2.0 / 3.0];
        for exponent in -30..40 {
            let power: f64 = format!("1e{exponent}").parse().unwrap();
            for factor in [1.0, 1.5, 5.0, 9.999_999_999_995, 1.000_000_000_005, 1.000_000_000_015] {
                let size = power * factor;
                sizes.extend([size.next_down(), size, size.next_up()]);
            }
        }
        // Middles of two that are exact, and what people write.
        sizes.extend((0..64).map(|number| 1e11 + f64::from(number) + 0.5));
        sizes.extend((1..2_000).flat_map(|number| {
            [1.0, 10.0, 1e3, 1e4, 1e9].map(|power| f64::from(number * 7) / power)
        }));
        let mut state = 12_345_u64;
        for _ in 0..100_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let noise = (state >> 11) as f64 / (1_u64 << 53) as f64;
            let any = f64::from_bits(state >> 1);
            sizes.extend([100.0 + 10.0 * noise, noise * 1e-9, noise * 1e20]);
            sizes.extend(Some(any).filter(|any| any.is_finite()));
        }
        let sizes: Vec<f64> = sizes.into_iter().filter(|size| *size != 0.0).collect();
        for size in &sizes {
            let expected = by_text(*size);
            assert_eq!(round_significant(*size).to_bits(), expected.to_bits(), "{size:e}");
            assert_eq!(round_significant(-size).to_bits(), (-expected).to_bits(), "-{size:e}");
            let again = round_significant(expected);
            assert!(!size.is_normal() || again == expected, "{size:e} again");
        }
        for size in sizes.iter().filter(|size| **size > 0.0) {
            let text = format!("{size:.11e}");
            let (mantissa, exponent) = text.split_once('e').unwrap();
            let decimals = mantissa.trim_end_matches('0').len().saturating_sub(2) as i32;
            let expected = exponent.parse::<i32>().unwrap() - decimals;
            assert!(last_digit_power(*size).is_none_or(|power| power == expected), "{size:e}");
        }
        let told = [1.25, 15e3, 100.0, 0.1, -1.0, 0.0].map(last_digit_power);
        assert_eq!(told, [Some(-2), Some(3), Some(2), Some(-1), None, None]);
        // Most of what is measured needs no text.
        let usual = |size: &&f64| (1e-9..1e20).contains(*size);
        let of_usual = sizes.iter().filter(usual).count();
        let by_numbers = sizes.iter().filter(usual).filter(|size| scaled(**size).is_some()).count();
        assert!(by_numbers * 100 > of_usual * 95, "{by_numbers} of {of_usual}");
    }
}
