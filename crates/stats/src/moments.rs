//! Mean, variance and median, without cancellation.

use crate::exact::all_finite;
use crate::selection::select;

/// Arithmetic mean; `None` of no values or of NaN or infinite ones. A sum beyond the
/// largest number is formed of the values divided first.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if mean.is_finite() {
        return Some(mean);
    }
    all_finite(values).then(|| values.iter().map(|value| value / count).sum())
}

/// Unbiased sample variance in two passes with the correction of Chan, Golub and
/// LeVeque (1983), eq. 1.7: no catastrophic cancellation. `None` of fewer than two
/// values, of NaN or infinite ones, or where the squares exceed the largest number.
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let count = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - centre) * (value - centre)).sum();
    let rest: f64 = values.iter().map(|value| value - centre).sum();
    let variance = ((squares - rest * rest / count) / (count - 1.0)).max(0.0);
    squares.is_finite().then_some(variance)
}

/// Square root of the sample variance.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    variance(values).map(f64::sqrt)
}

/// Median: the middle value, or the mean of the two middle ones; `None` of no values
/// or of NaN or infinite ones.
pub fn median(values: &[f64]) -> Option<f64> {
    median_of(values.to_vec())
}

/// The same of values that nobody needs any more in their order.
pub(crate) fn median_of(mut values: Vec<f64>) -> Option<f64> {
    if values.is_empty() || !all_finite(&values) {
        return None;
    }
    let middle = values.len() / 2;
    let upper = select(&mut values, middle);
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = values[..middle].iter().copied().max_by(f64::total_cmp)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_offset_does_not_eat_the_variance() {
        let values = [1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0];
        assert_eq!(variance(&values), Some(30.0));
        assert_eq!(mean(&values), Some(1e9 + 10.0));
        assert_eq!(median(&values), Some(1e9 + 10.0));
        assert_eq!(variance(&[1.0]), None);
        assert_eq!(mean(&[]), None);
        assert_eq!(median(&[]), None);
    }
}
