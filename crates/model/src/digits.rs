//! Rounding for files: 12 significant digits hide the last bits of libm.

/// `value` with 12 significant digits. Findings carry no more, so the same
/// records give the same bytes on machines whose last bits differ.
pub fn round_significant(value: f64) -> f64 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    // Formatting rounds correctly and independently of the FPU.
    format!("{value:.11e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thirteenth_digit_is_gone_and_the_twelfth_stays() {
        assert_eq!(round_significant(1.234_567_890_123_456), 1.234_567_890_12);
        assert_eq!(round_significant(-0.0), 0.0);
        assert!(round_significant(f64::INFINITY).is_infinite());
    }
}
