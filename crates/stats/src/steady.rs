//! Whether a series of iterations had settled.

use crate::moments::{mean, variance};

/// Size of the batches whose means are judged.
const BATCH: usize = 5;

/// MSER-5 (White, Cobb and Spratt 2000): how many leading values to leave out so
/// that the standard error of the rest's batch means is least; 0 of a steady
/// series. At most half of the series is considered. `None` of fewer than 20 values.
pub fn mser5_truncation(values: &[f64]) -> Option<usize> {
    let means: Vec<f64> = values.chunks_exact(BATCH).filter_map(mean).collect();
    if means.len() < 4 {
        return None;
    }
    let score = |start: usize| {
        let rest = &means[start..];
        let count = rest.len() as f64;
        variance(rest).map(|variance| variance * (count - 1.0) / (count * count))
    };
    let best = (0..=means.len() / 2)
        .filter_map(|start| score(start).map(|score| (score, start)))
        .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
    Some(best.1 * BATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_start_is_cut_and_a_flat_series_is_not() {
        let flat = [1.0; 40];
        assert_eq!(mser5_truncation(&flat), Some(0));
        let warming: Vec<f64> =
            (0..60).map(|i| if i < 10 { 5.0 } else { 1.0 + 0.01 * f64::from(i % 3) }).collect();
        assert_eq!(mser5_truncation(&warming), Some(10));
        assert_eq!(mser5_truncation(&[1.0; 19]), None);
    }
}
