//! Labels for values far from the others. Nothing is ever dropped.

use crate::moments::{median, median_of};

/// Beyond this many scaled MADs a value is labelled (docs/method.md#m-warnings).
const LIMIT: f64 = 5.0;
/// Makes the MAD estimate the standard deviation of a normal sample.
const SCALE: f64 = 1.4826;

/// Which values lie far out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutlierLabels {
    /// Positions of the labelled values.
    Labelled(Vec<usize>),
    /// More than half of the values are equal: the MAD is 0 and labels nothing.
    Quantised,
}

/// Makes it so for few values, too: the MAD of a small sample is smaller (Croux and Rousseeuw,
/// "Time-efficient algorithms for two highly robust estimators of scale", 1992).
fn small_sample_factor(count: usize) -> f64 {
    match count {
        0..=2 => 1.196,
        3 => 1.495,
        4 => 1.363,
        5 => 1.206,
        6 => 1.200,
        7 => 1.140,
        8 => 1.129,
        9 => 1.107,
        _ => count as f64 / (count as f64 - 0.8),
    }
}

/// |x - median| / (1.4826 b_n MAD) > 5, where b_n corrects for a small sample. Nothing is labelled of no values or of NaN or
/// infinite ones.
pub fn label_outliers(values: &[f64]) -> OutlierLabels {
    let Some(centre) = median(values) else { return OutlierLabels::Labelled(Vec::new()) };
    let distance = |value: &f64| (value - centre).abs();
    let median_distance = median_of(values.iter().map(distance).collect()).unwrap_or(0.0);
    let spread = median_distance * SCALE * small_sample_factor(values.len());
    if spread <= 0.0 {
        return OutlierLabels::Quantised;
    }
    let far = values.iter().enumerate().filter(|&(_, value)| distance(value) / spread > LIMIT);
    OutlierLabels::Labelled(far.map(|(index, _)| index).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_far_value_is_labelled_and_equal_values_are_quantised() {
        let labels = label_outliers(&[1.0, 1.1, 0.9, 1.05, 0.95, 3.0]);
        assert_eq!(labels, OutlierLabels::Labelled(vec![5]));
        assert_eq!(label_outliers(&[2.0, 2.0, 2.0, 9.0]), OutlierLabels::Quantised);
        assert_eq!(label_outliers(&[]), OutlierLabels::Labelled(vec![]));
    }
}
