//! The standard normal distribution.

use crate::exact::{above_zero, ln};
use std::f64::consts::FRAC_1_SQRT_2;

/// P(Z <= z) by the complementary error function, with full relative accuracy in
/// the lower tail. 0 and 1 at the infinities, never 0 before; NaN of NaN.
pub fn normal_cdf(z: f64) -> f64 {
    let probability = libm::erfc(-z * FRAC_1_SQRT_2) / 2.0;
    if z == f64::NEG_INFINITY { 0.0 } else { above_zero(probability) }
}

/// P(Z > z): `normal_cdf(-z)`, with full relative accuracy in the upper tail.
pub fn normal_survival(z: f64) -> f64 {
    normal_cdf(-z)
}

/// The z with P(Z <= z) = `probability`: rational approximations of Wichura (1988),
/// Algorithm AS 241 (PPND16), relative error about 1e-15 for probabilities from
/// 1e-316. Infinite at 0 and 1; NaN outside [0, 1].
pub fn normal_quantile(probability: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    let centred = probability - 0.5;
    if centred.abs() <= 0.425 {
        let r = 0.180_625 - centred * centred;
        return centred * polynomial(&CENTRE_ABOVE, r) / polynomial(&CENTRE_BELOW, r);
    }
    let tail = if centred < 0.0 { probability } else { 1.0 - probability };
    if tail <= 0.0 {
        return if centred < 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let root = (-ln(tail)).sqrt();
    let distance = if root <= 5.0 {
        let r = root - 1.6;
        polynomial(&NEAR_ABOVE, r) / polynomial(&NEAR_BELOW, r)
    } else {
        let r = root - 5.0;
        polynomial(&FAR_ABOVE, r) / polynomial(&FAR_BELOW, r)
    };
    if centred < 0.0 { -distance } else { distance }
}

/// Horner's rule, the constant first.
fn polynomial(coefficients: &[f64; 8], at: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * at + coefficient)
}

const CENTRE_ABOVE: [f64; 8] = [
    3.387_132_872_796_366_5,
    1.331_416_678_917_843_8e2,
    1.971_590_950_306_551_3e3,
    1.373_169_376_550_946e4,
    4.592_195_393_154_987e4,
    6.726_577_092_700_87e4,
    3.343_057_558_358_813e4,
    2.509_080_928_730_122_7e3,
];
const CENTRE_BELOW: [f64; 8] = [
    1.0,
    4.231_333_070_160_091e1,
    6.871_870_074_920_579e2,
    5.394_196_021_424_751e3,
    2.121_379_430_158_659_7e4,
    3.930_789_580_009_271e4,
    2.872_908_573_572_194_3e4,
    5.226_495_278_852_545e3,
];
const NEAR_ABOVE: [f64; 8] = [
    1.423_437_110_749_683_5,
    4.630_337_846_156_546,
    5.769_497_221_460_691,
    3.647_848_324_763_204_5,
    1.270_458_252_452_368_4,
    2.417_807_251_774_506e-1,
    2.272_384_498_926_918_4e-2,
    7.745_450_142_783_414e-4,
];
const NEAR_BELOW: [f64; 8] = [
    1.0,
    2.053_191_626_637_759,
    1.676_384_830_183_803_8,
    6.897_673_349_851e-1,
    1.481_039_764_274_800_8e-1,
    1.519_866_656_361_645_7e-2,
    5.475_938_084_995_345e-4,
    1.050_750_071_644_416_9e-9,
];
const FAR_ABOVE: [f64; 8] = [
    6.657_904_643_501_103,
    5.463_784_911_164_114,
    1.784_826_539_917_291_3,
    2.965_605_718_285_048_7e-1,
    2.653_218_952_657_612_4e-2,
    1.242_660_947_388_078_4e-3,
    2.711_555_568_743_487_6e-5,
    2.010_334_399_292_288_1e-7,
];
const FAR_BELOW: [f64; 8] = [
    1.0,
    5.998_322_065_558_88e-1,
    1.369_298_809_227_358e-1,
    1.487_536_129_085_061_5e-2,
    7.868_691_311_456_133e-4,
    1.846_318_317_510_054_8e-5,
    1.421_511_758_316_446e-7,
    2.044_263_103_389_939_8e-15,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_inverts_the_distribution_in_both_tails() {
        for exponent in 1..300 {
            let probability = libm::exp10(-f64::from(exponent));
            let z = normal_quantile(probability);
            let back = normal_cdf(z);
            assert!((back / probability - 1.0).abs() < 1e-11, "{probability:e}: {back:e}");
        }
        assert_eq!(normal_quantile(0.5), 0.0);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(1.5).is_nan() && normal_quantile(f64::NAN).is_nan());
    }

    #[test]
    fn a_probability_is_zero_only_at_infinity() {
        assert_eq!(normal_cdf(-1e9), f64::MIN_POSITIVE);
        assert_eq!(normal_cdf(f64::NEG_INFINITY), 0.0);
        assert_eq!(normal_survival(f64::NEG_INFINITY), 1.0);
        assert!(normal_cdf(f64::NAN).is_nan());
    }
}
