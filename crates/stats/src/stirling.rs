//! What Stirling's formula leaves, and the deviance: the two parts of Loader's
//! saddle-point form, in which probabilities of large counts lose no digits.

use crate::exact::ln;

/// ln sqrt(2 pi).
const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// ln Gamma(z) - (z - 1/2) ln z + z - ln sqrt(2 pi), for z > 0 (Loader 2000, "Fast
/// and accurate computation of binomial probabilities"): the series of DLMF 5.11.1
/// from 15 on, a table of the halves that integer degrees of freedom ask for below.
pub(crate) fn stirling_error(z: f64) -> f64 {
    if z > 15.5 {
        let square = 1.0 / (z * z);
        let tail = 1.0 / 1260.0 - square * (1.0 / 1680.0 - square * (1.0 / 1188.0 - square * LAST));
        return (1.0 / 12.0 - square * (1.0 / 360.0 - square * tail)) / z;
    }
    let doubled = 2.0 * z;
    if doubled >= 1.0 && doubled.fract() == 0.0 {
        return HALVES[doubled as usize];
    }
    libm::lgamma(z) - (z - 0.5) * ln(z) + z - HALF_LN_TWO_PI
}

/// 691/360360, the sixth coefficient of the series.
const LAST: f64 = 691.0 / 360_360.0;

/// a ln(a/m) + m - a for a, m > 0, without cancellation where they are close
/// (Loader 2000, `bd0`).
pub(crate) fn deviance(a: f64, m: f64) -> f64 {
    let distance = a - m;
    if distance.abs() >= 0.1 * (a + m) {
        return a * ln(a / m) + m - a;
    }
    let ratio = distance / (a + m);
    let square = ratio * ratio;
    let mut term = 2.0 * a * ratio;
    let mut sum = distance * ratio;
    // The square is below 1/100: every term gives two digits, and NaN ends the loop too.
    let mut odd = 3.0;
    while odd < 40.0 {
        term *= square;
        let next = sum + term / odd;
        if next == sum {
            break;
        }
        sum = next;
        odd += 2.0;
    }
    sum
}

/// The Stirling error of k/2, by mpmath with 40 digits.
const HALVES: [f64; 32] = [
    0.0,
    0.153_426_409_720_027_35,
    0.081_061_466_795_327_26,
    0.054_814_121_051_917_65,
    0.041_340_695_955_409_29,
    0.033_162_873_519_936_29,
    0.027_677_925_684_998_34,
    0.023_746_163_656_297_496,
    0.020_790_672_103_765_093,
    0.018_488_450_532_673_187,
    0.016_644_691_189_821_193,
    0.015_134_973_221_917_38,
    0.013_876_128_823_070_748,
    0.012_810_465_242_920_227,
    0.011_896_709_945_891_77,
    0.011_104_559_758_206_917,
    0.010_411_265_261_972_096,
    0.009_799_416_126_158_804,
    0.009_255_462_182_712_732,
    0.008_768_700_134_139_386,
    0.008_330_563_433_362_87,
    0.007_934_114_564_314_02,
    0.007_573_675_487_951_841,
    0.007_244_554_301_320_383,
    0.006_942_840_107_209_53,
    0.006_665_247_032_707_682,
    0.006_408_994_188_004_207,
    0.006_171_712_263_039_458,
    0.005_951_370_112_758_848,
    0.005_746_216_513_010_116,
    0.005_554_733_551_962_801,
    0.005_375_599_032_926_835,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_series_and_gamma_function_are_one_curve() {
        for z in [0.5, 1.0, 3.5, 10.0, 15.5] {
            let near = stirling_error(z * (1.0 + 1e-13));
            assert!((stirling_error(z) - near).abs() < 1e-13, "{z}");
        }
        let above = stirling_error(15.5 + 1e-12);
        assert!((stirling_error(15.5) - above).abs() < 1e-14);
    }

    #[test]
    fn the_deviance_is_continuous_where_the_series_takes_over() {
        assert_eq!(deviance(7.0, 7.0), 0.0);
        // mpmath: 1e6 ln(1e6/(1e6+1)) + 1.
        let expected = 4.999_996_666_669_166e-7;
        assert!((deviance(1e6, 1e6 + 1.0) / expected - 1.0).abs() < 1e-13);
        let edge = 9.0 / 11.0;
        let (inside, outside) = (deviance(edge + 1e-12, 1.0), deviance(edge - 1e-12, 1.0));
        assert!((inside / outside - 1.0).abs() < 1e-10);
    }
}
