//! The noncentral t distribution, for power.

use crate::exact::{above_zero, exp, ln};
use crate::stirling::stirling_error;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Terms this small beside the largest are left to a geometric series to the left,
/// where they may fall slowly, and left out to the right.
const NEGLIGIBLE: f64 = 1e-13;
/// No more steps of the rule to one side: enough for the largest noncentrality.
const MOST_STEPS: u32 = 150_000;
/// Larger noncentralities are refused: the rule would need too many steps.
const LARGEST_SHIFT: f64 = 1_000.0;

/// P(T <= t) of the noncentral t with noncentrality `shift`, with relative error
/// below 1e-10 in both tails for |shift| up to 38 and degrees from 0.1 to 1e7, also where it is
/// 1e-300. It is the mean of Phi(t s - shift) over s = chi/sqrt(degrees) (Johnson,
/// Kotz and Balakrishnan 1995, 31.1), by the trapezoidal rule in u = ln s: the
/// integrand is positive, analytic and unimodal, so that nothing cancels and the
/// error falls exponentially with the step (Trefethen and Weideman 2014).
/// NaN where `degrees` is not positive and at most 1e10, |shift| is above 1000 or t is NaN.
pub fn noncentral_t_cdf(t: f64, degrees: f64, shift: f64) -> f64 {
    let is_defined =
        degrees > 0.0 && degrees <= 1e10 && shift.abs() <= LARGEST_SHIFT && !t.is_nan();
    if !is_defined {
        return f64::NAN;
    }
    if t.is_infinite() {
        return if t > 0.0 { 1.0 } else { 0.0 };
    }
    let mixture = Mixture { t, degrees, shift };
    above_zero(mixture.integral().min(1.0))
}

/// P(T > t), with the relative accuracy of `noncentral_t_cdf` in the upper tail.
pub fn noncentral_t_survival(t: f64, degrees: f64, shift: f64) -> f64 {
    noncentral_t_cdf(-t, degrees, -shift)
}

struct Mixture {
    t: f64,
    degrees: f64,
    shift: f64,
}

impl Mixture {
    fn integral(&self) -> f64 {
        let centre = self.mode();
        let step = self.step(centre);
        let first = self.at(centre);
        let (mut sum, mut largest) = (first, first);
        let plain_below = self.plain_below();
        for direction in [step, -step] {
            let (mut falls, mut term) = (false, first);
            for index in 1..MOST_STEPS {
                let place = centre + f64::from(index) * direction;
                term = self.at(place);
                sum += term;
                falls |= term < largest;
                largest = largest.max(term);
                if (falls && term <= NEGLIGIBLE * largest) || place < plain_below {
                    break;
                }
            }
            if direction < 0.0 {
                sum += term / libm::expm1(self.degrees * step);
            }
        }
        let scale = 2.0 * (self.degrees / (4.0 * PI)).sqrt();
        scale * exp(-stirling_error(self.degrees / 2.0)) * step * sum
    }

    /// Below this u the integrand is Phi(-shift) e^(degrees u) but for rounding.
    fn plain_below(&self) -> f64 {
        let Self { t, degrees, shift } = *self;
        -38.0 - ln(1.0 + (1.0 + shift.abs()) * t.abs() + degrees.sqrt())
    }

    /// The integrand in u = ln s without its norm:
    /// exp(-degrees (e^(2u) - 1 - 2u) / 2) Phi(t e^u - shift).
    fn at(&self, u: f64) -> f64 {
        let less_one = libm::expm1(u);
        let s = if u < -1.0 { exp(u) } else { 1.0 + less_one };
        let exponent = self.degrees / 2.0 * (less_one * (2.0 + less_one) - 2.0 * u);
        let phi = libm::erfc((self.shift - self.t * s) * FRAC_1_SQRT_2) / 2.0;
        exp(-exponent) * phi
    }

    /// About where the integrand is largest: where its logarithm, with the hazard of
    /// the normal tail taken for its argument, has no slope; one is the mode of s alone.
    fn mode(&self) -> f64 {
        let Self { t, degrees, shift } = *self;
        if t >= shift {
            return 0.0;
        }
        // (1 + r^2) s^2 - 2 c s - 1 = 0 with r = t/sqrt(degrees), divided by 1 + r^2
        // where r is large.
        let r = t / degrees.sqrt();
        let scale = r.abs().max(1.0);
        let last = 1.0 / (scale * scale);
        let lead = last + (r / scale) * (r / scale);
        let half = (r / scale) * shift / degrees.sqrt() / scale / 2.0;
        let root = (half * half + lead * last).sqrt();
        let s = if half > 0.0 { (half + root) / lead } else { last / (root - half) };
        let mut u = ln(s);
        for _ in 0..6 {
            let step = self.slope_over_curvature(u);
            u += step.clamp(-1.0, 1.0);
            if step.abs() * (2.0 * degrees).sqrt() < 0.5 {
                break;
            }
        }
        u
    }

    /// Newton's step towards the mode.
    fn slope_over_curvature(&self, u: f64) -> f64 {
        let s = exp(u);
        let (distance, reach) = (self.t * s - self.shift, self.t * s);
        let hazard = hazard(distance);
        let square = s * s * self.degrees;
        let slope = self.degrees - square + reach * hazard;
        let bend = reach * hazard * (1.0 - reach * (distance + hazard));
        slope / (2.0 * square - bend.min(0.0))
    }

    /// The step at which the rule is exact to rounding: the widths of the two factors
    /// in u bound how fast the integrand's transform falls, and for few degrees the
    /// pole of its double exponential does.
    fn step(&self, centre: f64) -> f64 {
        let Self { t, degrees, shift } = *self;
        let s = exp(centre);
        let reach = (t * s).abs();
        let falls = t * s - shift < -5.0;
        if falls {
            // There ln Phi is about -(t s - shift)^2 / 2, whose bend in u this is at most.
            let bend = reach * (2.0 * reach + shift.abs());
            return (0.58 / (2.0 * degrees * s * s + bend).sqrt()).min(0.12);
        }
        let mut edge = reach.min(shift.abs() + 10.0);
        // Phi falls to the right of the mode: as wide as there, unless nothing is left there.
        let place = shift / t;
        if t < 0.0 && place > s {
            let deviance = degrees / 2.0 * (place * place - 1.0 - 2.0 * ln(place));
            edge = if deviance < 37.0 { edge.max(-shift) } else { edge };
        }
        let widths = (2.0 * degrees * s * s + 1.5 * edge * edge).sqrt();
        (0.58 / widths).min(0.12)
    }
}

/// Normal density over distribution function at z.
fn hazard(z: f64) -> f64 {
    if z < -30.0 {
        return -z - 1.0 / z;
    }
    let density = exp(-z * z / 2.0) * 0.398_942_280_401_432_7;
    density / (libm::erfc(-z * FRAC_1_SQRT_2) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::student::t_cdf;

    /// scipy.stats.nct (1.17), which integrates differently.
    #[test]
    fn the_noncentral_distribution_agrees_with_an_independent_implementation() {
        assert!((noncentral_t_cdf(2.0, 5.0, 1.5) - 0.631_449_247_255_672).abs() < 1e-10);
        assert!((noncentral_t_cdf(-0.5, 9.0, 1.0) - 0.069_906_798_166_161).abs() < 1e-10);
    }

    #[test]
    fn it_contains_the_central_one_and_its_tails_add_up() {
        for degrees in [0.4, 1.0, 2.5, 7.0, 300.0, 1e5] {
            for t in [-90.0, -8.0, -2.0, 0.0, 0.5, 3.0, 20.0] {
                let (noncentral, central) = (noncentral_t_cdf(t, degrees, 0.0), t_cdf(t, degrees));
                let error = (noncentral / central - 1.0).abs();
                assert!(error < 1e-10 || central < 1e-300, "{t} {degrees}: {error:e}");
                let sum =
                    noncentral_t_cdf(t, degrees, 3.0) + noncentral_t_survival(t, degrees, 3.0);
                assert!((sum - 1.0).abs() < 1e-11, "{t} {degrees}: {sum}");
            }
        }
    }

    #[test]
    fn what_is_not_a_distribution_is_nan_and_no_probability_is_zero() {
        assert!(noncentral_t_cdf(1.0, 0.0, 1.0).is_nan());
        assert!(noncentral_t_cdf(1.0, 4.0, f64::INFINITY).is_nan());
        assert!(noncentral_t_cdf(f64::NAN, 4.0, 1.0).is_nan());
        assert_eq!(noncentral_t_cdf(f64::INFINITY, 4.0, 1.0), 1.0);
        assert!(noncentral_t_cdf(-1e300, 4.0, 30.0) > 0.0);
        assert!(noncentral_t_cdf(-40.0, 1e6, 38.0) > 0.0);
    }
}
