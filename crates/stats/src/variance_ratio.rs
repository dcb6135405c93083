//! Fisher's F, the distribution of a ratio of variances.

use crate::beta::{Beta, Tail};
use crate::exact::{above_zero, exp};

/// P(F <= value) with `above` and `below` degrees of freedom in numerator and
/// denominator: I_x(above/2, below/2) with x = above f / (above f + below)
/// (Abramowitz and Stegun 26.6.2), relative error below 1e-11 also in the lower
/// tail. 0 at values <= 0, 1 at infinity; NaN where degrees are not positive
/// and at most 2e10.
pub fn f_cdf(value: f64, above: f64, below: f64) -> f64 {
    match place(value, above, below) {
        TailPosition::Undefined => f64::NAN,
        TailPosition::Lowest => 0.0,
        TailPosition::Highest => 1.0,
        TailPosition::Inside(tail) => above_zero(tail.lower()),
    }
}

/// P(F > value), with the relative accuracy of `f_cdf` in the upper tail.
pub fn f_survival(value: f64, above: f64, below: f64) -> f64 {
    match place(value, above, below) {
        TailPosition::Undefined => f64::NAN,
        TailPosition::Lowest => 1.0,
        TailPosition::Highest => 0.0,
        TailPosition::Inside(tail) => above_zero(tail.upper()),
    }
}

/// The value with P(F <= value) = `probability`. 0 and infinite at 0 and 1; NaN
/// outside them or where degrees are not positive and at most 2e10.
pub fn f_quantile(probability: f64, above: f64, below: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) || !are_degrees(above, below) {
        return f64::NAN;
    }
    if probability == 0.0 {
        return 0.0;
    }
    if probability == 1.0 {
        return f64::INFINITY;
    }
    below / above * exp(Beta::new(above / 2.0, below / 2.0).logit_quantile(probability))
}

enum TailPosition {
    Undefined,
    Lowest,
    Highest,
    Inside(Tail),
}

fn are_degrees(above: f64, below: f64) -> bool {
    Beta::is_defined(above / 2.0, below / 2.0)
}

fn place(value: f64, above: f64, below: f64) -> TailPosition {
    if value.is_nan() || !are_degrees(above, below) {
        return TailPosition::Undefined;
    }
    if value <= 0.0 {
        return TailPosition::Lowest;
    }
    if value == f64::INFINITY {
        return TailPosition::Highest;
    }
    // In this order neither factor overflows before the ratio itself is out of reach.
    let ratio = value * (above / below);
    let smallest = f64::MIN_POSITIVE;
    let x = (1.0 / (1.0 + 1.0 / ratio)).max(smallest);
    let y = (1.0 / (1.0 + ratio)).max(smallest);
    TailPosition::Inside(Beta::new(above / 2.0, below / 2.0).at(x, y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::student::t_survival;

    #[test]
    fn the_square_of_t_is_f_with_one_degree() {
        for (t, degrees) in [(0.3, 4.0), (2.0, 9.5), (40.0, 12.0), (9.0, 3000.0)] {
            let (f, two_sided) = (f_survival(t * t, 1.0, degrees), 2.0 * t_survival(t, degrees));
            assert!((f / two_sided - 1.0).abs() < 1e-12, "{t} {degrees}");
            let back = f_quantile(f_cdf(t * t, degrees, 7.0), degrees, 7.0);
            assert!((back / (t * t) - 1.0).abs() < 1e-9 || t > 8.0, "{t} {degrees}: {back}");
        }
    }

    #[test]
    fn the_ends_and_what_is_no_distribution() {
        assert_eq!((f_cdf(-1.0, 2.0, 3.0), f_survival(0.0, 2.0, 3.0)), (0.0, 1.0));
        assert_eq!(
            (f_cdf(f64::INFINITY, 2.0, 3.0), f_quantile(1.0, 2.0, 3.0)),
            (1.0, f64::INFINITY)
        );
        assert!(f_cdf(1.0, 0.0, 3.0).is_nan() && f_cdf(f64::NAN, 1.0, 3.0).is_nan());
        assert!(f_survival(1e300, 5.0, 100.0) > 0.0 && f_cdf(1e-300, 50.0, 5.0) > 0.0);
    }
}
