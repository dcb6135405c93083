//! Logarithm and exponential with the same bits on every CPU.

/// Natural logarithm.
pub fn ln(value: f64) -> f64 {
    libm::log(value)
}

/// Exponential.
pub fn exp(value: f64) -> f64 {
    libm::exp(value)
}
