//! Whether a series of iterations had settled.

use crate::exact::all_finite;
use crate::moments::mean;

/// Size of the batches whose means are judged.
const BATCH: usize = 5;

/// MSER-5 (White, Cobb and Spratt 2000): how many leading values to leave out so
/// that the standard error of the rest's batch means is least; 0 of a steady
/// series. At most half of the series is considered. `None` of fewer than 20 values
/// or of NaN or infinite ones.
pub fn mser5_truncation(values: &[f64]) -> Option<usize> {
    if !all_finite(values) {
        return None;
    }
    let means: Vec<f64> = values.chunks_exact(BATCH).filter_map(mean).collect();
    if means.len() < 4 {
        return None;
    }
    // From the end, so that the variance of every rest grows by one value at a time
    // (Welford 1962); of equal scores the earliest start is kept.
    let (mut centre, mut squares, mut count) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (start, value) in means.iter().enumerate().rev() {
        count += 1.0;
        let step = value - centre;
        centre += step / count;
        squares += step * (value - centre);
        let score: f64 = squares / (count * count);
        if start <= means.len() / 2 && score <= best.0 {
            best = (score, start);
        }
    }
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
