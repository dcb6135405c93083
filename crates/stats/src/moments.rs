//! Mean, variance and median, without cancellation.

/// Arithmetic mean; `None` of no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Unbiased sample variance in two passes with the correction of Chan, Golub and
/// LeVeque (1983), eq. 1.7: no catastrophic cancellation. `None` of fewer than two.
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let count = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - centre) * (value - centre)).sum();
    let rest: f64 = values.iter().map(|value| value - centre).sum();
    Some(((squares - rest * rest / count) / (count - 1.0)).max(0.0))
}

/// Square root of the sample variance.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    variance(values).map(f64::sqrt)
}

/// Median: the middle value, or the mean of the two middle ones.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
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
