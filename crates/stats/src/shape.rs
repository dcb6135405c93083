//! Whether values fall into two groups.

use crate::exact::all_finite;
use crate::moments::mean;

/// Fewer values have no shape to speak of.
const LEAST: usize = 12;
/// Sarle's coefficient needs this many.
const LEAST_FOR_SARLE: usize = 20;

/// The rule of docs/method.md#m-warnings: from 12 values, the largest gap exceeds three
/// times the second largest and leaves a fifth of the values on each side; or,
/// from 20 values, Sarle's coefficient exceeds that of the uniform distribution. False
/// of NaN or infinite values.
pub fn is_bimodal(values: &[f64]) -> bool {
    if values.len() < LEAST || !all_finite(values) {
        return false;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (mut largest, mut second, mut below) = (0.0, 0.0, 1);
    for (index, pair) in sorted.windows(2).enumerate() {
        let gap = pair[1] - pair[0];
        if gap > largest {
            (largest, second, below) = (gap, largest, index + 1);
        } else if gap > second {
            second = gap;
        }
    }
    let smaller_side = below.min(sorted.len() - below) as f64;
    if largest > 3.0 * second && smaller_side >= 0.2 * sorted.len() as f64 {
        return true;
    }
    values.len() >= LEAST_FOR_SARLE && sarle(values).is_some_and(|coefficient| coefficient > 0.555)
}

/// (g1^2 + 1) / (g2 + 3 (n-1)^2 / ((n-2)(n-3))) with sample skewness and excess kurtosis.
fn sarle(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let centre = mean(values)?;
    let (mut m2, mut m3, mut m4) = (0.0, 0.0, 0.0);
    for value in values {
        let distance = value - centre;
        let square = distance * distance;
        m2 += square;
        m3 += square * distance;
        m4 += square * square;
    }
    (m2, m3, m4) = (m2 / count, m3 / count, m4 / count);
    if m2 <= 0.0 {
        return None;
    }
    let skewness = (count * (count - 1.0)).sqrt() / (count - 2.0) * m3 / (m2 * m2.sqrt());
    let kurtosis = (count - 1.0) / ((count - 2.0) * (count - 3.0))
        * ((count + 1.0) * (m4 / (m2 * m2) - 3.0) + 6.0);
    let scale = 3.0 * (count - 1.0) * (count - 1.0) / ((count - 2.0) * (count - 3.0));
    Some((skewness * skewness + 1.0) / (kurtosis + scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_groups_are_seen_and_one_is_not() {
        let two: Vec<f64> = (0..12).map(|i| f64::from(i % 2) * 10.0 + f64::from(i) * 0.1).collect();
        assert!(is_bimodal(&two));
        let one: Vec<f64> =
            (0..24).map(|i| libm::sin(f64::from(i)) + libm::cos(f64::from(i * 7))).collect();
        assert!(!is_bimodal(&one));
        assert!(!is_bimodal(&two[..11]));
        let one_far_off: Vec<f64> =
            (0..12).map(|i| if i == 11 { 100.0 } else { f64::from(i) }).collect();
        assert!(!is_bimodal(&one_far_off));
    }
}
