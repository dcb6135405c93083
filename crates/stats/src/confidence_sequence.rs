//! An interval that may be looked at after every block (docs/method.md#m-sequence).

/// Precision of the Gaussian mixture, in observations.
const MIXTURE: f64 = 1.0;

/// Half-width of the t confidence sequence at level 1 - `alpha` after `count`
/// values with the given sample standard deviation, valid at every count at once
/// (Wang and Ramdas 2023, Gaussian mixture of the scale-invariant likelihood ratio).
/// Infinite where it is undefined: fewer than two values, too few for `alpha`, or an
/// `alpha` outside (0, 1); NaN of a negative or NaN standard deviation.
pub fn confidence_sequence_half_width(count: usize, standard_deviation: f64, alpha: f64) -> f64 {
    if standard_deviation.is_nan() || standard_deviation < 0.0 {
        return f64::NAN;
    }
    if count < 2 || !(alpha > 0.0 && alpha < 1.0) {
        return f64::INFINITY;
    }
    let n = count as f64;
    let log_root = (libm::log1p(n / MIXTURE) - 2.0 * libm::log(alpha)) / n;
    let excess = libm::expm1(log_root);
    let below = n - excess * MIXTURE;
    if below <= 0.0 {
        return f64::INFINITY;
    }
    // n + c2 - R c2 = n - (R - 1) c2.
    standard_deviation * ((n + MIXTURE) * (n - 1.0) * excess / (below * n)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha12Rng;

    #[test]
    fn the_table_of_the_design_is_reproduced() {
        for (count, expected) in
            [(5, 3.78), (6, 2.23), (8, 1.50), (10, 1.22), (20, 0.77), (32, 0.59)]
        {
            let width = confidence_sequence_half_width(count, 1.0, 0.05);
            assert!((width - expected).abs() < 0.006, "{count}: {width}");
        }
        assert_eq!(confidence_sequence_half_width(2, 1.0, 0.05), f64::INFINITY);
        assert_eq!(confidence_sequence_half_width(0, 1.0, 0.05), f64::INFINITY);
        assert_eq!(confidence_sequence_half_width(9, 0.0, 0.05), 0.0);
    }

    /// 3.7 % in the simulation of docs/method.md#m-sequence over n = 3..400.
    #[test]
    fn looking_after_every_value_misses_no_more_often_than_alpha() {
        let mut random = ChaCha12Rng::seed_from_u64(7);
        let runs = 2_000;
        let mut missed = 0;
        for _ in 0..runs {
            let (mut mean, mut squares) = (0.0, 0.0);
            for count in 1..=400 {
                let value = crate::normal::normal_quantile(random.random_range(1e-12..1.0));
                let step: f64 = value - mean;
                mean += step / f64::from(count);
                squares += step * (value - mean);
                let deviation = (squares / (f64::from(count) - 1.0).max(1.0)).sqrt();
                let width = confidence_sequence_half_width(count as usize, deviation, 0.05);
                if mean.abs() > width {
                    missed += 1;
                    break;
                }
            }
        }
        let share = f64::from(missed) / f64::from(runs);
        assert!((0.02..=0.05).contains(&share), "{share}");
    }
}
