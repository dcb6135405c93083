//! The beta distribution: the incomplete beta function and its inverse, on which
//! Student's t, Fisher's F and the binomial stand.

use crate::exact::{above_zero, exp, ln};
use crate::stirling::{deviance, stirling_error};

/// 1/sqrt(2 pi).
const INVERSE_ROOT_TWO_PI: f64 = 0.398_942_280_401_432_7;
/// Larger parameters are refused: the fraction needs a few sqrt(a + b) terms near the mean.
const LARGEST: f64 = 1e10;
/// Enough for the largest parameters.
const MOST_TERMS: u32 = 1_000_000;
/// Steps of Halley's rule; it converges from everywhere and seldom needs ten.
const MOST_STEPS: u32 = 100;

/// I_x(a, b), the probability of a beta variable up to x, with relative error below
/// 1e-12 also in the tails, for a, b from 1e-3 to 1e7. 0 at x <= 0, 1 at x >= 1, never 0
/// between; NaN where a or b is not positive and at most 1e10, or x is NaN.
pub fn beta_regularized(x: f64, a: f64, b: f64) -> f64 {
    if x.is_nan() || !Beta::is_defined(a, b) {
        return f64::NAN;
    }
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    above_zero(Beta::new(a, b).at(x, 1.0 - x).lower())
}

/// The x with I_x(a, b) = `probability`. 0 and 1 at probabilities 0 and 1; NaN
/// outside them or where a or b is not positive and at most 1e10.
pub fn beta_quantile(probability: f64, a: f64, b: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) || !Beta::is_defined(a, b) {
        return f64::NAN;
    }
    if probability == 0.0 || probability == 1.0 {
        return probability;
    }
    let (x, _) = parts(Beta::new(a, b).logit_quantile(probability));
    x
}

/// A beta distribution with its norm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beta {
    a: f64,
    b: f64,
    /// sqrt(a b / (2 pi (a + b))) times the Stirling errors: what the deviances leave of 1/B.
    norm: f64,
}

/// One of the two tails at a place, whichever the fraction gives directly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail {
    /// Minus the logarithm of the density's part that can underflow.
    deviance: f64,
    /// Tail over exp(-deviance).
    factor: f64,
    /// Density of the logit over exp(-deviance).
    density: f64,
    is_lower: bool,
}

impl Tail {
    fn own(self) -> f64 {
        // In two halves: the first factor alone may underflow.
        let half = exp(-self.deviance / 2.0);
        half * self.factor * half
    }

    pub(crate) fn lower(self) -> f64 {
        if self.is_lower { self.own().min(1.0) } else { 1.0 - self.own() }
    }

    pub(crate) fn upper(self) -> f64 {
        if self.is_lower { 1.0 - self.own() } else { self.own().min(1.0) }
    }

    /// Logarithm of the lower tail, and the logit's density over that tail.
    fn log_lower(self) -> (f64, f64) {
        if self.is_lower {
            (ln(self.factor) - self.deviance, self.density / self.factor)
        } else {
            let own = self.own();
            (libm::log1p(-own), exp(-self.deviance) * self.density / (1.0 - own))
        }
    }
}

impl Beta {
    pub(crate) fn is_defined(a: f64, b: f64) -> bool {
        a > 0.0 && b > 0.0 && a <= LARGEST && b <= LARGEST
    }

    /// For a, b > 0; below 1e-300 nothing changes any more.
    pub(crate) fn new(a: f64, b: f64) -> Self {
        let (a, b) = (a.max(1e-300), b.max(1e-300));
        let (small, large) = if a < b { (a, b) } else { (b, a) };
        let errors = stirling_error(a + b) - stirling_error(large) - stirling_error(small);
        let norm = (small / (1.0 + small / large)).sqrt() * INVERSE_ROOT_TWO_PI * exp(errors);
        Self { a, b, norm }
    }

    /// The tail below or above x, with y = 1 - x given apart so that either may be
    /// tiny; both positive. x^a y^b / B(a, b) by deviances (Loader 2000), times the
    /// continued fraction on the side of the mean where it converges.
    pub(crate) fn at(self, x: f64, y: f64) -> Tail {
        let Self { a, b, norm } = self;
        let all = a + b;
        let deviance = deviance(a, all * x) + deviance(b, all * y);
        let is_lower = x * (all + 2.0) < a + 1.0;
        let fraction = if is_lower { fraction(a, b, x, y) } else { fraction(b, a, y, x) };
        Tail { deviance, factor: norm * fraction, density: norm, is_lower }
    }

    /// ln(a B(a, b)): as x goes to 0 the lower tail goes to x^a over a B(a, b).
    pub(crate) fn log_limit(self) -> f64 {
        let Self { a, b, norm } = self;
        let all = a + b;
        let rest = if a < b { libm::log1p(-a / all) } else { ln(b / all) };
        ln(a / norm) + a * ln(a / all) + b * rest
    }

    /// The mirrored distribution, of 1 - x.
    fn mirrored(self) -> Self {
        Self { a: self.b, b: self.a, norm: self.norm }
    }

    /// ln(x / (1 - x)) at the lower tail `probability`, inside (0, 1).
    pub(crate) fn logit_quantile(self, probability: f64) -> f64 {
        if probability > 0.5 {
            return -self.mirrored().logit_in_lower_half(1.0 - probability);
        }
        self.logit_in_lower_half(probability)
    }

    /// ln(x / (1 - x)) at the upper tail `probability`, inside (0, 1).
    pub(crate) fn logit_upper_quantile(self, probability: f64) -> f64 {
        -self.mirrored().logit_quantile(probability)
    }

    fn logit_in_lower_half(self, probability: f64) -> f64 {
        let Self { a, b, .. } = self;
        let target = ln(probability);
        // The tail's logarithm is concave in the logit, so that its asymptote lies above
        // it: a bound of the answer, and the answer itself where x is tiny.
        let limit = (target + self.log_limit()) / a;
        if limit < -45.0 - ln(1.0 + b) {
            return limit;
        }
        let spread = (1.0 / a + 1.0 / b).sqrt();
        let z = crate::normal::normal_quantile(probability);
        let guess = ln(a / b) + z * spread * (1.0 - 0.1 * z * spread);
        self.solve(target, guess.max(limit).clamp(-700.0, 700.0))
    }

    /// The logit at which the lower tail's logarithm is `target`, by Halley's rule: in
    /// the logit the density is log-concave and so is the tail, hence Newton's rule
    /// would converge from everywhere; the second derivative makes it faster.
    pub(crate) fn solve(self, target: f64, guess: f64) -> f64 {
        let mut logit = guess;
        for _ in 0..MOST_STEPS {
            let (x, y) = parts(logit);
            let is_inside = x > 0.0 && y > 0.0;
            if !is_inside {
                return logit;
            }
            let (log_tail, slope) = self.at(x, y).log_lower();
            let newton = (target - log_tail) / slope;
            let bend = 0.5 * newton * (self.a * y - self.b * x - slope);
            let step = newton / (1.0 + bend).clamp(0.5, 2.0);
            if !step.is_finite() {
                return logit;
            }
            logit = (logit + step).clamp(-700.0, 700.0);
            // The error that remains is of the order of the step's cube.
            if step.abs() * slope.max(1.0) < 2e-5 {
                break;
            }
        }
        logit
    }
}

/// x and 1 - x of a logit, both with full relative accuracy.
pub(crate) fn parts(logit: f64) -> (f64, f64) {
    let small = exp(-logit.abs());
    let (minor, major) = (small / (1.0 + small), 1.0 / (1.0 + small));
    if logit < 0.0 { (minor, major) } else { (major, minor) }
}

/// I_x(a, b) B(a, b) / (x^a y^b) by the even part of the continued fraction of DLMF
/// 8.17.22 (Didonato and Morris 1992, eq. 9), evaluated from the front.
fn fraction(a: f64, b: f64, x: f64, y: f64) -> f64 {
    const TINY: f64 = 1e-290;
    let (all, lean) = (a + b, a * y - b * x);
    let mut value = a * (lean + 1.0) / (a + 1.0);
    if value.abs() < TINY {
        value = TINY;
    }
    let (mut above, mut below) = (value, 0.0);
    for term in 1..MOST_TERMS {
        let m = f64::from(term);
        let base = a + 2.0 * m;
        let side = m * (b - m) * x / (base - 1.0);
        let partial = (a + m - 1.0) * (all + m - 1.0) * x / (base - 1.0) * side;
        let next = m + side + (a + m) * (lean + 1.0 + m * (1.0 + y)) / (base + 1.0);
        below = next + partial * below;
        above = next + partial / above;
        if below.abs() < TINY {
            below = TINY;
        }
        if above.abs() < TINY {
            above = TINY;
        }
        below = 1.0 / below;
        let change = above * below;
        value *= change;
        if (change - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    1.0 / value
}
