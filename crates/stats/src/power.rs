//! What a number of blocks can show (docs/method.md#m-power).

use crate::noncentral::{noncentral_t_cdf, noncentral_t_survival};
use crate::normal::normal_cdf;
use crate::student::t_quantile;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::thread::LocalKey;

/// Power asked for everywhere.
const POWER: f64 = 0.8;
/// Nobody runs more blocks than this.
const MOST_BLOCKS: u32 = 10_000;
/// Fewer give no verdict.
const LEAST_BLOCKS: u32 = 5;

/// Smallest mean difference, in units of the differences' standard deviation,
/// that a two-sided t test at `alpha` with `blocks` blocks finds with 80 %
/// power: exact, by the noncentral t. NaN of fewer than two blocks or an `alpha`
/// outside (0, 1).
pub fn detectable_effect(blocks: u32, alpha: f64) -> f64 {
    if blocks < 2 || !is_level(alpha) {
        return f64::NAN;
    }
    remembered(&DETECTABLE, blocks, alpha, || find_detectable_effect(blocks, alpha))
}

fn find_detectable_effect(blocks: u32, alpha: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if power_of_difference(blocks, middle, alpha) < POWER {
            low = middle
        } else {
            high = middle
        }
    }
    high
}

/// Blocks for 80 % power to find a mean difference of `effect` standard
/// deviations; `None` above 10 000 or of an `alpha` outside (0, 1).
pub fn blocks_for_difference(effect: f64, alpha: f64) -> Option<u32> {
    if !is_level(alpha) {
        return None;
    }
    let quantiles = t_quantile(1.0 - alpha / 2.0, MANY) + t_quantile(POWER, MANY);
    smallest(quantiles / effect.abs(), |blocks| {
        power_of_difference(blocks, effect.abs(), alpha) >= POWER
    })
}

/// Largest standard deviation, in units of theta, at which `blocks` blocks give
/// an 80 % chance of equivalence when there is no difference. NaN as of `detectable_effect`.
pub fn equivalence_limit(blocks: u32, alpha: f64) -> f64 {
    if blocks < 2 || !is_level(alpha) {
        return f64::NAN;
    }
    remembered(&LIMITS, blocks, alpha, || find_equivalence_limit(blocks, alpha))
}

fn find_equivalence_limit(blocks: u32, alpha: f64) -> f64 {
    let (mut low, mut high) = (1e-6, 100.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if power_of_equivalence(blocks, 1.0 / middle, alpha) >= POWER {
            low = middle
        } else {
            high = middle
        }
    }
    low
}

/// Blocks for an 80 % chance of equivalence at no difference, with a margin of
/// `theta` standard deviations; `None` above 10 000 or of an `alpha` outside (0, 1).
pub fn blocks_for_equivalence(theta: f64, alpha: f64) -> Option<u32> {
    if !is_level(alpha) {
        return None;
    }
    let quantiles = t_quantile(1.0 - alpha, MANY) + t_quantile(0.5 + POWER / 2.0, MANY);
    smallest(quantiles / theta, |blocks| power_of_equivalence(blocks, theta, alpha) >= POWER)
}

fn is_level(alpha: f64) -> bool {
    alpha > 0.0 && alpha < 1.0
}

/// Degrees of freedom at which t is normal: the first guess needs no more.
const MANY: f64 = 1e6;

thread_local! {
    static DETECTABLE: Memory = Memory::default();
    static LIMITS: Memory = Memory::default();
}

/// Values by blocks and the bits of alpha: a campaign asks for few, thousands of times.
type Memory = RefCell<BTreeMap<(u32, u64), f64>>;

fn remembered(
    memory: &'static LocalKey<Memory>,
    blocks: u32,
    alpha: f64,
    find: impl FnOnce() -> f64,
) -> f64 {
    let key = (blocks, alpha.to_bits());
    if let Some(known) = memory.with_borrow(|memory| memory.get(&key).copied()) {
        return known;
    }
    let found = find();
    memory.with_borrow_mut(|memory| memory.insert(key, found));
    found
}

/// The power grows with the blocks: bisection around the guess `root`^2, which a
/// normal approximation gives and which is a little too low.
fn smallest(root: f64, is_enough: impl Fn(u32) -> bool) -> Option<u32> {
    let most = f64::from(MOST_BLOCKS);
    let guess = (root * root).clamp(f64::from(LEAST_BLOCKS), most);
    let mut low = ((guess * 0.98) as u32).max(LEAST_BLOCKS) - 1;
    let mut high = ((guess * 1.02) as u32 + 4).min(MOST_BLOCKS);
    while low >= LEAST_BLOCKS && is_enough(low) {
        (low, high) = (low / 2, low);
        low = low.max(LEAST_BLOCKS - 1);
    }
    while !is_enough(high) {
        if high == MOST_BLOCKS {
            return None;
        }
        (low, high) = (high, high.saturating_mul(2).min(MOST_BLOCKS));
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

fn power_of_difference(blocks: u32, effect: f64, alpha: f64) -> f64 {
    let count = f64::from(blocks);
    let degrees = count - 1.0;
    let critical = t_quantile(1.0 - alpha / 2.0, degrees);
    let shift = effect * count.sqrt();
    if shift > critical + 30.0 {
        return 1.0;
    }
    noncentral_t_survival(critical, degrees, shift) + noncentral_t_cdf(-critical, degrees, shift)
}

/// Chance that both one-sided tests at `alpha` reject when the mean is 0: the
/// mean must lie within theta - t s/sqrt(B), averaged over the distribution of s.
fn power_of_equivalence(blocks: u32, theta: f64, alpha: f64) -> f64 {
    let count = f64::from(blocks);
    let degrees = count - 1.0;
    let critical = t_quantile(1.0 - alpha, degrees);
    let shift = theta * count.sqrt();
    // P(|Z| < shift - critical s) over s = chi/sqrt(degrees), over chi's bulk.
    let centre = 1.0;
    let width = 8.0 / (2.0 * degrees).sqrt();
    let low = (centre - width).max(0.0);
    let high = (centre + width).min(shift / critical);
    if high <= low {
        return 0.0;
    }
    let log_norm = degrees / 2.0 * libm::log(degrees / 2.0) - libm::lgamma(degrees / 2.0)
        + std::f64::consts::LN_2;
    let density = |s: f64| {
        if s <= 0.0 {
            return 0.0;
        }
        libm::exp(log_norm + (degrees - 1.0) * libm::log(s) - degrees * s * s / 2.0)
    };
    let value = |s: f64| {
        let inside = 1.0 - 2.0 * normal_cdf(-(shift - critical * s));
        inside.max(0.0) * density(s)
    };
    let (middle, half) = (f64::midpoint(low, high), (high - low) / 2.0);
    half * NODES.iter().map(|[node, weight]| weight * value(middle + half * node)).sum::<f64>()
}

/// Nodes and weights of Gauss and Legendre on -1 to 1 (Press et al., Numerical Recipes, 4.6.1): the
/// zeros of the polynomial of Legendre, by Newton's method, and what integrates every polynomial of
/// twice the degree less one. The integrand above is smooth and 16 standard deviations wide, of which
/// so many leave an error below 1e-12.
static NODES: LazyLock<[[f64; 2]; 64]> = LazyLock::new(|| {
    let count = 64.0;
    std::array::from_fn(|index| {
        let mut node = libm::cos(std::f64::consts::PI * (index as f64 + 0.75) / (count + 0.5));
        let mut slope = 1.0;
        for _ in 0..10 {
            let (mut before, mut value) = (0.0, 1.0);
            for degree in 1..=64 {
                let degree = f64::from(degree);
                let next = ((2.0 * degree - 1.0) * node * value - (degree - 1.0) * before) / degree;
                (before, value) = (value, next);
            }
            slope = count * (node * value - before) / (node * node - 1.0);
            node -= value / slope;
        }
        [node, 2.0 / ((1.0 - node * node) * slope * slope)]
    })
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_design_are_reproduced() {
        for (blocks, k) in
            [(5, 1.66), (6, 1.43), (8, 1.15), (10, 1.00), (16, 0.75), (20, 0.66), (32, 0.51)]
        {
            let exact = detectable_effect(blocks, 0.05);
            assert!((exact - k).abs() < 0.03, "k_{blocks} = {exact}, table {k}");
        }
        for (blocks, c) in
            [(5, 0.61), (6, 0.70), (8, 0.85), (10, 0.98), (16, 1.29), (20, 1.46), (32, 1.88)]
        {
            let exact = equivalence_limit(blocks, 0.05);
            assert!((exact - c).abs() < 0.03, "c_{blocks} = {exact}, table {c}");
        }
    }

    #[test]
    fn nodes_integrate_what_is_known() {
        let of = |value: fn(f64) -> f64| NODES.iter().map(|[x, w]| w * value(*x)).sum::<f64>();
        assert!((of(|_| 1.0) - 2.0).abs() < 1e-14);
        assert!((of(|x| x.powi(126)) - 2.0 / 127.0).abs() < 1e-14);
        // Of a normal density of which 16 standard deviations are between -1 and 1: 1 less 1.2e-15.
        let bell = |x: f64| 8.0 * libm::exp(-32.0 * x * x) / (2.0 * std::f64::consts::PI).sqrt();
        assert!((of(bell) - 1.0).abs() < 1e-12, "{}", of(bell));
    }

    #[test]
    fn blocks_needed_invert_the_tables() {
        assert_eq!(blocks_for_difference(detectable_effect(16, 0.05) * 1.001, 0.05), Some(16));
        assert_eq!(blocks_for_equivalence(1.001 / equivalence_limit(16, 0.05), 0.05), Some(16));
        for effect in [0.06, 0.3, 0.5, 0.77, 1.3, 2.5] {
            for alpha in [0.05, 0.05 / 63.0] {
                let blocks = blocks_for_difference(effect, alpha).unwrap();
                assert!(power_of_difference(blocks, effect, alpha) >= POWER);
                assert!(
                    blocks == LEAST_BLOCKS
                        || power_of_difference(blocks - 1, effect, alpha) < POWER,
                    "{blocks} for {effect} at {alpha}"
                );
                let blocks = blocks_for_equivalence(effect, alpha).unwrap();
                assert!(power_of_equivalence(blocks, effect, alpha) >= POWER);
                assert!(
                    blocks == LEAST_BLOCKS
                        || power_of_equivalence(blocks - 1, effect, alpha) < POWER,
                    "{blocks} for {effect} at {alpha}"
                );
            }
        }
        assert_eq!(blocks_for_difference(0.001, 0.05), None);
        assert_eq!(blocks_for_difference(50.0, 0.05), Some(5));
    }
}
