//! Whether neighbouring blocks resemble each other.

use crate::moments::mean;

/// Lag-one autocorrelation; `None` of fewer than three values, no
/// variation, or NaN or infinite values.
pub fn lag_one(values: &[f64]) -> Option<f64> {
    let (centre, squares) = centred(values)?;
    let products: f64 = values.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum();
    Some(products / squares).filter(|ratio| ratio.is_finite())
}

/// Von Neumann's ratio: sum of squared successive differences over the sum of
/// squares; near 2 for independent values (von Neumann 1941). `None` as of `lag_one`.
pub fn von_neumann(values: &[f64]) -> Option<f64> {
    let (_, squares) = centred(values)?;
    let steps: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]) * (pair[1] - pair[0])).sum();
    Some(steps / squares).filter(|ratio| ratio.is_finite())
}

fn centred(values: &[f64]) -> Option<(f64, f64)> {
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre) * (value - centre)).sum();
    (values.len() >= 3 && squares > 0.0 && squares.is_finite()).then_some((centre, squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_wave_is_correlated_and_an_alternation_is_the_opposite() {
        let wave = [1.0, 2.0, 3.0, 3.0, 2.0, 1.0];
        assert!((lag_one(&wave).unwrap() - 0.25).abs() < 1e-12);
        assert!(von_neumann(&wave).unwrap() < 1.2);
        let alternating = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
        assert!((lag_one(&alternating).unwrap() + 5.0 / 6.0).abs() < 1e-12);
        assert!(von_neumann(&alternating).unwrap() > 3.0);
        assert_eq!(lag_one(&[1.0, 1.0, 1.0]), None);
    }
}
