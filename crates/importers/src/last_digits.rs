//! What the last digits of written numbers are worth.

use std::collections::BTreeMap;

/// One value in so many may have more digits than all others.
pub(crate) const ODD_ONE_IN: usize = 10;

/// How many values have a last digit that is worth so much, by the bits of that worth.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LastDigits(BTreeMap<u64, usize>);

impl LastDigits {
    /// Counts one; the worth of a digit is above zero, and so are its bits in order.
    pub(crate) fn add(&mut self, digit: f64) {
        *self.0.entry(digit.to_bits()).or_default() += 1;
    }

    /// The digit that nine in ten have, or a coarser one.
    pub(crate) fn shared(&self) -> Option<f64> {
        let all: usize = self.0.values().sum();
        let mut finer: usize = 0;
        self.0.iter().find_map(|(bits, count)| {
            finer += count;
            (finer * ODD_ONE_IN > all).then(|| f64::from_bits(*bits))
        })
    }
}

/// What a number's last digit is worth, as it is written: 0.01 of `1.50`, 1 of `3`, 100 of `15e2`.
pub(crate) fn last_digit(text: &str) -> Option<f64> {
    let text = text.trim();
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    last_digit_of(mantissa, exponent)
}

/// The same of the two parts of a number.
pub(crate) fn last_digit_of(mantissa: &str, exponent: &str) -> Option<f64> {
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let exponent: i64 = exponent.parse().ok()?;
    power_of_ten(exponent - decimals as i64)
}

/// The number that is written `1e` and this exponent.
pub(crate) fn power_of_ten(exponent: i64) -> Option<f64> {
    // Those that most numbers have; a file has hundreds of thousands of these.
    const USUAL: [f64; 19] = [
        1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2,
        1e3, 1e4, 1e5, 1e6,
    ];
    let place = usize::try_from(exponent.checked_add(12)?).ok();
    match place.and_then(|place| USUAL.get(place)) {
        Some(power) => Some(*power),
        None => format!("1e{exponent}").parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_power_is_that_which_is_written() {
        for exponent in -30..30 {
            assert_eq!(power_of_ten(exponent), format!("1e{exponent}").parse().ok(), "{exponent}");
        }
    }

    #[test]
    fn a_last_digit_is_that_which_is_written() {
        for (text, digit) in [
            ("3", 1.0),
            ("3.0", 0.1),
            ("-1.50", 0.01),
            ("15e2", 100.0),
            ("1.5E-3", 1e-4),
            ("1e300", 1e300),
            ("1.5e-300", 1e-301),
        ] {
            assert_eq!(last_digit(text), Some(digit), "{text}");
        }
    }
}
