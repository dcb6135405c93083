//! A sign test that may be looked at after every sign (docs/method.md#m-failures).

use crate::exact::{above_zero, exp, ln};

/// Two-sided p that each of `total` signs was as likely to be positive as negative, whatever the
/// ones before it were; `positive` of them are. It is one over Robbins' (1970) mixture of likelihood
/// ratios with a uniform prior, (total + 1) C(total, positive) / 2^total, at most 1: by Ville's (1939)
/// inequality it falls below alpha at any count with a chance of at most alpha, so that it holds at
/// whichever count somebody stops. Never 0; `None` where there are more positive signs than signs.
pub fn sign_sequence(positive: u64, total: u64) -> Option<f64> {
    let fewer = positive.min(total.checked_sub(positive)?);
    let n = total as f64;
    let log_choose: f64 = (1..=fewer).map(|k| ln((total - fewer + k) as f64 / k as f64)).sum();
    let log_p = ln(n + 1.0) + log_choose - n * std::f64::consts::LN_2;
    Some(above_zero(exp(log_p.min(0.0))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha12Rng;

    #[test]
    fn p_is_the_formula_and_never_0() {
        // 9/256, 26 C(25, 20)/2^25; 7 C(6, 3)/64 exceeds 1.
        for (positive, total, expected) in
            [(8, 8, 9.0 / 256.0), (0, 8, 9.0 / 256.0), (20, 25, 0.041_168_332), (3, 6, 1.0)]
        {
            let p = sign_sequence(positive, total).unwrap();
            assert!((p - expected).abs() < 1e-8, "{positive} of {total}: {p}");
        }
        assert_eq!(sign_sequence(0, 0), Some(1.0));
        assert_eq!(sign_sequence(3, 2), None);
        assert_eq!(sign_sequence(0, 5_000), Some(f64::MIN_POSITIVE));
    }

    #[test]
    fn looking_after_every_sign_rejects_a_fair_coin_no_more_often_than_alpha() {
        let mut random = ChaCha12Rng::seed_from_u64(31);
        let (campaigns, alpha) = (1_000, 0.05);
        let mut rejected = 0;
        for _ in 0..campaigns {
            let mut positive = 0;
            let is_rejected = (1..=200).any(|total| {
                positive += u64::from(random.random::<bool>());
                sign_sequence(positive, total).unwrap() < alpha
            });
            rejected += usize::from(is_rejected);
        }
        let rate = rejected as f64 / f64::from(campaigns);
        assert!(rate <= alpha && rate > 0.0, "{rate}");
    }
}
