//! Student's t: distribution, quantile, and the noncentral distribution for power.

use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::beta_reg;
use statrs::function::gamma::ln_gamma;

/// P(T <= t) with `degrees` > 0 degrees of freedom, fractional ones included.
/// NaN where `degrees` is not positive.
pub fn t_cdf(t: f64, degrees: f64) -> f64 {
    if t.is_infinite() {
        return if t > 0.0 { 1.0 } else { 0.0 };
    }
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::NAN, |distribution| distribution.cdf(t))
}

/// The t with P(T <= t) = `probability`. NaN where `degrees` is not positive or
/// the probability lies outside (0, 1).
pub fn t_quantile(probability: f64, degrees: f64) -> f64 {
    if !(probability > 0.0 && probability < 1.0) {
        return f64::NAN;
    }
    let Ok(distribution) = StudentsT::new(0.0, 1.0, degrees) else { return f64::NAN };
    let mut quantile = distribution.inverse_cdf(probability);
    // Two Newton steps remove what the library's bisection leaves.
    for _ in 0..2 {
        let density = distribution.pdf(quantile);
        if density > 0.0 {
            quantile -= (distribution.cdf(quantile) - probability) / density;
        }
    }
    quantile
}

/// P(T <= t) of the noncentral t with noncentrality `shift`: the series of Lenth
/// (1989), Algorithm AS 243, with the incomplete beta function.
pub fn noncentral_t_cdf(t: f64, degrees: f64, shift: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - noncentral_t_cdf(-t, degrees, -shift);
    }
    let Ok(normal) = Normal::new(0.0, 1.0) else { return f64::NAN };
    let base = normal.cdf(-shift);
    let x = t * t / (t * t + degrees);
    if x <= 0.0 {
        return base;
    }
    let half = shift * shift / 2.0;
    let mut sum = 0.0;
    for term in 0..TERMS {
        let count = f64::from(term);
        let log_weight = -half + count * libm::log(half.max(f64::MIN_POSITIVE));
        let even = libm::exp(log_weight - ln_gamma(count + 1.0));
        let odd = shift / std::f64::consts::SQRT_2 * libm::exp(log_weight - ln_gamma(count + 1.5));
        sum += even * beta_reg(count + 0.5, degrees / 2.0, x)
            + odd * beta_reg(count + 1.0, degrees / 2.0, x);
        if count > half && even.max(odd.abs()) < 1e-14 {
            break;
        }
    }
    (base + sum / 2.0).clamp(0.0, 1.0)
}

/// Enough for noncentralities up to about 35, where the probability is 0 or 1.
const TERMS: u32 = 2_000;

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

    /// scipy.stats.nct (1.17), which integrates differently.
    #[test]
    fn the_noncentral_distribution_agrees_with_an_independent_implementation() {
        assert!((noncentral_t_cdf(2.0, 5.0, 1.5) - 0.631_449_247_255_672).abs() < 1e-10);
        assert!((noncentral_t_cdf(-0.5, 9.0, 1.0) - 0.069_906_798_166_161).abs() < 1e-10);
    }

    #[test]
    fn the_noncentral_distribution_contains_the_central_one_and_shifts_with_its_parameter() {
        for t in [-2.0, 0.0, 0.5, 3.0] {
            assert!((noncentral_t_cdf(t, 7.0, 0.0) - t_cdf(t, 7.0)).abs() < 1e-10);
        }
        // By the definition: P(Z + shift <= t sqrt(V/df)), integrated over V numerically.
        let expected = by_integration(2.0, 5.0, 1.5);
        assert!((noncentral_t_cdf(2.0, 5.0, 1.5) - expected).abs() < 1e-6);
        let expected = by_integration(-0.5, 9.0, 1.0);
        assert!((noncentral_t_cdf(-0.5, 9.0, 1.0) - expected).abs() < 1e-6);
    }

    fn by_integration(t: f64, degrees: f64, shift: f64) -> f64 {
        let normal = Normal::new(0.0, 1.0).unwrap();
        let steps = 200_000;
        let width = 60.0 / f64::from(steps);
        let norm = (1.0 - degrees / 2.0) * 2.0_f64.ln() - ln_gamma(degrees / 2.0);
        (0..steps)
            .map(|step| {
                // Chi distribution with `degrees` degrees of freedom.
                let chi = (f64::from(step) + 0.5) * width / 2.0;
                let density = (norm + (degrees - 1.0) * chi.ln() - chi * chi / 2.0).exp();
                normal.cdf(t * chi / degrees.sqrt() - shift) * density * width / 2.0
            })
            .sum()
    }
}
