//! Student's t: distribution and quantile.

use crate::beta::Beta;
use crate::exact::{above_zero, exp, ln};
use crate::normal::{normal_quantile, normal_survival};

/// From so many degrees on Hill's expansion is exact to 1e-12 wherever the tail is
/// above 1e-300 (compared with mpmath at 60 digits).
const MANY: f64 = 10_000.0;

/// P(T <= t) with `degrees` > 0 degrees of freedom, fractional ones included and
/// infinite ones for the normal distribution, with relative error below 1e-11 in
/// the lower tail too. 0 and 1 at infinite t, never 0 before; NaN where `degrees`
/// is not positive.
pub fn t_cdf(t: f64, degrees: f64) -> f64 {
    if t > 0.0 { 1.0 - t_survival(t, degrees) } else { t_survival(-t, degrees) }
}

/// P(T > t), with the relative accuracy of `t_cdf` in the upper tail.
pub fn t_survival(t: f64, degrees: f64) -> f64 {
    if t.is_nan() || degrees.is_nan() || degrees <= 0.0 {
        return f64::NAN;
    }
    if t < 0.0 {
        return 1.0 - t_survival(-t, degrees);
    }
    if t == f64::INFINITY {
        return 0.0;
    }
    above_zero(if degrees < MANY { by_beta(t, degrees) } else { by_expansion(t, degrees) })
}

/// P(|T| > t) = I_h(degrees/2, 1/2) with h = degrees / (degrees + t^2) (Abramowitz
/// and Stegun 26.7.1), halved.
fn by_beta(t: f64, degrees: f64) -> f64 {
    let beta = Beta::new(degrees / 2.0, 0.5);
    let square = t * t;
    let all = degrees + square;
    let (x, y) = (degrees / all, square / all);
    if x < 1e-280 {
        let log_x = ln(degrees) - 2.0 * ln(t);
        return exp(degrees / 2.0 * log_x - beta.log_limit()) / 2.0;
    }
    if y < 1e-280 {
        return 0.5;
    }
    beta.at(x, y).lower() / 2.0
}

/// The normal deviate with the same tail (Hill 1970, Algorithm 395).
fn by_expansion(t: f64, degrees: f64) -> f64 {
    if degrees > 1e30 {
        return normal_survival(t);
    }
    if t > 1e100 {
        // Below (1e85)^-1e4, and the square might overflow.
        return 0.0;
    }
    let (scale, base) = expansion_scales(degrees);
    let square = scale * libm::log1p(t * t / degrees);
    let second = ((-0.4 * square - 3.3) * square - 24.0) * square - 85.5;
    let second = second / (0.8 * square * square + 100.0 + base);
    normal_survival(square.sqrt() * ((second + square + 3.0) / base + 1.0))
}

/// nu - 1/2 and 48 times its square.
fn expansion_scales(degrees: f64) -> (f64, f64) {
    let scale = degrees - 0.5;
    (scale, 48.0 * scale * scale)
}

/// The t with P(T <= t) = `probability`, with relative error below 1e-11 for
/// probabilities from 1e-300. NaN where `degrees` is not positive or the
/// probability lies outside (0, 1); infinite where t is above the largest number
/// (few degrees, tiny probability).
pub fn t_quantile(probability: f64, degrees: f64) -> f64 {
    if !(probability > 0.0 && probability < 1.0) || degrees.is_nan() || degrees <= 0.0 {
        return f64::NAN;
    }
    if probability > 0.5 { upper(1.0 - probability, degrees) } else { -upper(probability, degrees) }
}

/// The t >= 0 with P(T > t) = `tail`, at most 1/2.
fn upper(tail: f64, degrees: f64) -> f64 {
    if tail == 0.5 {
        return 0.0;
    }
    let z = -normal_quantile(tail);
    if degrees > 1e30 {
        return z;
    }
    let guess = inverse_expansion(z, degrees);
    if degrees >= MANY {
        return polished(guess, tail, degrees);
    }
    let beta = Beta::new(degrees / 2.0, 0.5);
    if tail > 0.3 {
        // Near the centre the other tail of the beta variable is the small one.
        let logit = beta.logit_upper_quantile(1.0 - 2.0 * tail);
        return (degrees * exp(-logit)).sqrt();
    }
    let target = ln(2.0 * tail);
    let limit = 2.0 * (target + beta.log_limit()) / degrees;
    let logit = if limit < -45.0 {
        limit
    } else {
        beta.solve(target, (ln(degrees) - 2.0 * ln(guess)).max(limit))
    };
    degrees.sqrt() * exp(-logit / 2.0)
}

/// Hill's expansion solved for t in its first order.
fn inverse_expansion(z: f64, degrees: f64) -> f64 {
    let (scale, base) = expansion_scales(degrees.max(1.0));
    let reduced = z / (1.0 + (z * z + 3.0) / base);
    (degrees * libm::expm1(reduced * reduced / scale)).sqrt()
}

/// Newton's rule on the tail's logarithm, which the expansion's start needs twice at most.
fn polished(guess: f64, tail: f64, degrees: f64) -> f64 {
    let mut t = guess;
    let log_norm = crate::stirling::stirling_error(f64::midpoint(degrees, 1.0))
        - crate::stirling::stirling_error(degrees / 2.0);
    for _ in 0..2 {
        let found = by_expansion(t, degrees);
        // The density, its norm 1/sqrt(2 pi) but for terms of order 1/degrees.
        let density = 0.398_942_280_401_432_7
            * exp(log_norm - (degrees + 1.0) / 2.0 * libm::log1p(t * t / degrees));
        let step = found * ln(found / tail) / density;
        if !step.is_finite() {
            break;
        }
        t += step;
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of scipy.stats.t (1.11).
    #[test]
    fn quantiles_agree_with_an_independent_implementation() {
        for (probability, degrees, expected) in [
            (0.975, 1.0, 12.706_204_736_174_7),
            (0.975, 4.0, 2.776_445_105_197_79),
            (0.975, 9.0, 2.262_157_162_798_21),
            (0.995, 5.0, 4.032_142_983_557_54),
            (0.95, 30.0, 1.697_260_886_593_96),
            (0.025, 9.0, -2.262_157_162_798_21),
        ] {
            let quantile = t_quantile(probability, degrees);
            assert!((quantile - expected).abs() < 1e-9, "{probability} {degrees}: {quantile}");
            assert!((t_cdf(quantile, degrees) - probability).abs() < 1e-12);
        }
        let fractional = t_quantile(0.975, 3.7);
        assert!(fractional > t_quantile(0.975, 4.0) && fractional < t_quantile(0.975, 3.0));
        assert!(t_quantile(1.0, 3.0).is_nan());
    }

    /// statrs integrates the incomplete beta function by another fraction.
    #[test]
    fn the_distribution_agrees_with_a_library_where_that_has_digits() {
        use statrs::distribution::{ContinuousCDF, StudentsT};
        for degrees in [1.0, 4.0, 9.7, 31.0, 400.0] {
            let library = StudentsT::new(0.0, 1.0, degrees).unwrap();
            for t in [-9.0, -2.5, -0.3, 0.0, 1.1, 4.0] {
                let (own, other) = (t_cdf(t, degrees), library.cdf(t));
                assert!((own / other - 1.0).abs() < 1e-10, "{t} {degrees}: {own:e} {other:e}");
            }
        }
    }

    #[test]
    fn beta_function_and_expansion_meet() {
        for t in [0.0, 0.01, 0.7, 2.0, 9.0, 35.0] {
            let (exact, near) = (by_beta(t, MANY), by_expansion(t, MANY));
            assert!((exact / near - 1.0).abs() < 1e-11, "{t}: {exact:e} {near:e}");
        }
    }

    #[test]
    fn extreme_arguments_have_a_probability() {
        // Cauchy: 1/(pi t).
        let cauchy = t_survival(1e200, 1.0);
        assert!((cauchy * 1e200 * std::f64::consts::PI - 1.0).abs() < 1e-12, "{cauchy:e}");
        assert_eq!(t_cdf(-1e200, 9.0), f64::MIN_POSITIVE);
        assert_eq!(t_cdf(f64::NEG_INFINITY, 9.0), 0.0);
        assert_eq!(t_cdf(f64::INFINITY, 9.0), 1.0);
        assert_eq!(t_cdf(1e-200, 9.0), 0.5);
        assert!(t_cdf(f64::NAN, 9.0).is_nan() && t_cdf(1.0, 0.0).is_nan());
        assert_eq!(t_survival(2.0, f64::INFINITY), normal_survival(2.0));
        assert_eq!(t_quantile(1e-300, 0.5), f64::NEG_INFINITY);
    }
}
