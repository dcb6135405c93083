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
    let text = text.trim().to_ascii_lowercase();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text.as_str(), "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let exponent: i64 = exponent.parse().ok()?;
    format!("1e{}", exponent - decimals as i64).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
