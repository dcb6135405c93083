//! Rounding for files: 12 significant digits hide the last bits of libm; and p-values for people.

/// `value` with 12 significant digits. Findings carry no more, so the same
/// records give the same bytes on machines whose last bits differ.
pub fn round_significant(value: f64) -> f64 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    // Formatting rounds correctly and independently of the FPU.
    format!("{value:.11e}").parse().unwrap_or(value)
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
}
