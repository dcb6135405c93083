//! Logarithm and exponential with the same bits on every CPU.

/// Natural logarithm.
pub fn ln(value: f64) -> f64 {
    libm::log(value)
}

/// Exponential.
pub fn exp(value: f64) -> f64 {
    libm::exp(value)
}

/// A probability that is positive though no normal number may be as small: at least
/// the smallest normal one, 2.2e-308. Nothing that can happen has probability 0, and
/// halves of it remain positive. NaN stays NaN.
pub(crate) fn above_zero(probability: f64) -> f64 {
    if probability < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { probability }
}

/// Whether no value is NaN or infinite.
pub(crate) fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}
