//! The delete-one jackknife, for pooled estimates (docs/method.md#m-pooled).

use crate::exact::all_finite;
use crate::moments::mean;

/// Standard error of an estimate from its values with one block left out each
/// (Efron 1982, eq. 3.1): SE^2 = (B - 1)/B sum (theta_(-b) - mean)^2. `None` of
/// fewer than two or of NaN or infinite ones.
pub fn jackknife(leave_one_out: &[f64]) -> Option<f64> {
    if leave_one_out.len() < 2 || !all_finite(leave_one_out) {
        return None;
    }
    let centre = mean(leave_one_out)?;
    let count = leave_one_out.len() as f64;
    let squares: f64 = leave_one_out.iter().map(|value| (value - centre) * (value - centre)).sum();
    Some(((count - 1.0) / count * squares).sqrt()).filter(|error| error.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moments::standard_deviation;

    #[test]
    fn of_a_mean_it_is_the_standard_error() {
        let values = [1.0, 4.0, 9.0, 16.0, 25.0];
        let sum: f64 = values.iter().sum();
        let left: Vec<f64> = values.iter().map(|value| (sum - value) / 4.0).collect();
        let expected = standard_deviation(&values).unwrap() / 5.0_f64.sqrt();
        assert!((jackknife(&left).unwrap() / expected - 1.0).abs() < 1e-12);
        assert_eq!(jackknife(&[1.0]), None);
        assert_eq!(jackknife(&[1.0, f64::NAN]), None);
    }
}
