//! Data that holds nothing, nonsense or very much: no function panics, and no
//! probability is 0 or NaN.

use stats::*;

const WORST: [f64; 7] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324];

/// Samples no test was made for.
fn samples() -> Vec<Vec<f64>> {
    let mut samples = vec![vec![], vec![0.0, -0.0], vec![f64::MAX; 3], vec![5e-324; 30]];
    for value in [0.0, -0.0, 1.0, -7.5].into_iter().chain(WORST) {
        for count in [1, 2, 3, 4, 5, 12, 20, 25, 70, 350] {
            samples.push(vec![value; count]);
            let mut mixed: Vec<f64> = (0..count).map(|i| i as f64 - 3.0).collect();
            mixed[count / 2] = value;
            samples.push(mixed);
        }
    }
    samples
}

fn is_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

/// Every p is a probability above 0, and there is none of data that are not numbers.
fn check_p(name: &str, values: &[f64], p: Option<f64>) {
    if let Some(p) = p {
        assert!(p > 0.0 && p <= 1.0, "{name} of {values:?} is {p}");
        assert!(is_finite(values), "{name} of {values:?} is {p}");
    }
}

/// Every estimate is a number, and there is none of data that are not numbers.
fn check(name: &str, values: &[f64], estimate: Option<f64>) {
    if let Some(estimate) = estimate {
        assert!(!estimate.is_nan(), "{name} of {values:?}");
        assert!(is_finite(values), "{name} of {values:?} is {estimate}");
    }
}

#[test]
fn no_sample_makes_a_test_panic_or_certain() {
    let others = [vec![], vec![1.0], vec![2.0, 2.0], vec![1.0, 2.0, 3.0], vec![f64::NAN, 1.0]];
    for values in samples() {
        let rank = SignedRank::of(&values, 0.05);
        check_p("signed rank", &values, rank.map(|test| test.p));
        check("pseudo-median", &values, rank.map(|test| test.pseudo_median));
        check_p("sign flip", &values, sign_flip(&values));
        let paired = TTest::of(&values);
        check_p("t", &values, paired.and_then(|test| test.p_difference()));
        check_p("equivalence", &values, paired.and_then(|test| test.p_equivalence(0.02)));
        for other in &others {
            let welch = TTest::stratified(&[(&values, other)]);
            check_p("Welch", &values, welch.and_then(|test| test.p_difference()));
        }
        check_p("Mann-Kendall", &values, mann_kendall(&values));
        for other in &others {
            check_p("Mann-Whitney", &values, mann_whitney(&values, other));
            check_p("Mann-Whitney", &values, mann_whitney(other, &values));
        }
        for change in change_points(&values, 0.0) {
            check_p("change points", &values, Some(change.p));
        }
        for adjusted in [holm(&values), benjamini_hochberg(&values)] {
            assert!(adjusted.iter().all(|p| (0.0..=1.0).contains(p)), "{values:?}: {adjusted:?}");
        }
    }
}

#[test]
fn no_sample_makes_an_estimate_panic_or_lie() {
    for values in samples() {
        check("mean", &values, mean(&values));
        check("variance", &values, variance(&values));
        check("standard deviation", &values, standard_deviation(&values));
        check("median", &values, median(&values));
        check("Theil-Sen", &values, theil_sen(&values));
        check("lag one", &values, lag_one(&values));
        check("von Neumann", &values, von_neumann(&values));
        check("jackknife", &values, jackknife(&values));
        for q in [-1.0, 0.0, 1e-300, 0.5, 0.999, 1.0, f64::NAN] {
            check("Harrell-Davis", &values, harrell_davis(&values, q));
            for alpha in [0.0, 0.05, 1.0, f64::NAN] {
                let ends = quantile_interval(&values, q, alpha);
                assert!(ends.is_none_or(|(low, high)| low <= high), "{values:?} {q}: {ends:?}");
                SignedRank::of(&values, alpha);
            }
        }
        is_bimodal(&values);
        label_outliers(&values);
        mser5_truncation(&values);
        let boots = vec![vec![values.clone(), values.clone()]; 2];
        if let Some(found) = NestedVariance::of(&boots) {
            assert!(found.boot.own >= 0.0 && is_finite(&values));
            assert!(found.repetitions([1.0, 2.0, 3.0]).is_some());
            assert_eq!(found.repetitions([1.0, f64::NAN, 3.0]), None);
        }
    }
}

#[test]
fn every_argument_of_a_distribution_has_an_answer() {
    let numbers: Vec<f64> = [0.0, -0.0, 0.5, 1.0, -1.0, 3.0, 1e-300, 1e-10, 1e10, 1e300, -1e300]
        .into_iter()
        .chain(WORST)
        .collect();
    let is_probability = |p: f64| p.is_nan() || (0.0..=1.0).contains(&p);
    for &x in &numbers {
        assert!(is_probability(normal_cdf(x)) && is_probability(normal_survival(x)));
        normal_quantile(x);
        for &a in &numbers {
            assert!(is_probability(t_cdf(x, a)) && is_probability(t_survival(x, a)), "{x:e} {a:e}");
            t_quantile(x, a);
            if x.is_finite() && a > 0.0 {
                assert!(t_cdf(x, a) > 0.0 && t_survival(x, a) > 0.0, "{x:e} {a:e}");
            }
            confidence_sequence_half_width(0, x, a);
            confidence_sequence_half_width(9, x, a);
            confidence_sequence_half_width(usize::MAX, x, a);
            for &b in &numbers {
                assert!(is_probability(beta_regularized(x, a, b)), "{x:e} {a:e} {b:e}");
                assert!(is_probability(f_cdf(x, a, b)), "{x:e} {a:e} {b:e}");
                assert!(is_probability(f_survival(x, a, b)), "{x:e} {a:e} {b:e}");
                assert!(is_probability(noncentral_t_cdf(x, a, b)), "{x:e} {a:e} {b:e}");
                assert!(is_probability(noncentral_t_survival(x, a, b)), "{x:e} {a:e} {b:e}");
                beta_quantile(x, a, b);
                f_quantile(x, a, b);
            }
        }
    }
}

#[test]
fn counts_and_levels_without_sense_have_no_answer() {
    for alpha in [0.0, 1.0, -0.5, 2.0, f64::NAN, f64::INFINITY] {
        assert_eq!(wilson_interval(1, 2, alpha), None);
        assert!(detectable_effect(10, alpha).is_nan());
        assert!(equivalence_limit(10, alpha).is_nan());
        assert_eq!(blocks_for_difference(0.5, alpha), None);
        assert_eq!(blocks_for_equivalence(0.5, alpha), None);
    }
    for effect in [0.0, f64::NAN] {
        assert_eq!(blocks_for_difference(effect, 0.05), None);
        assert_eq!(blocks_for_equivalence(effect, 0.05), None);
    }
    assert!(detectable_effect(0, 0.05).is_nan() && detectable_effect(1, 0.05).is_nan());
    assert_eq!(wilson_interval(0, 0, 0.05), None);
    assert!(wilson_interval(u64::MAX, u64::MAX, 0.05).is_some());
    assert_eq!(fisher_exact(2, 1, 0, 1), None);
    assert_eq!(fisher_exact(u64::MAX, u64::MAX, u64::MAX, u64::MAX), None);
    assert_eq!(fisher_exact(0, 1, 0, 1), Some(1.0));
    assert_eq!(spent_at_looks(&[0, 0], 0.05), [0.0, 0.0]);
    assert_eq!(signed_rank_cdf(u64::MAX, 3), Some(1.0));
    assert_eq!(signed_rank_survival(u64::MAX, usize::MAX), None);
    assert_eq!(mann_whitney_survival(u64::MAX, 3, 3), Some(0.0));
}

/// A million values, without a generator: the fractional parts of multiples of the
/// golden ratio through the normal quantile.
fn million() -> Vec<f64> {
    let place = |index: u32| (f64::from(index) + 0.5) * 0.618_033_988_749_894_9;
    (0..1_000_000).map(|index| normal_quantile(place(index).fract())).collect()
}

#[test]
fn a_million_values_are_no_more_than_a_second_each() {
    let values = million();
    let rank = SignedRank::of(&values, 0.05).unwrap();
    assert!(rank.pseudo_median.abs() < 1e-3 && rank.low < rank.high);
    assert!(
        (rank.high - rank.low - 2.0 * 1.96 * 0.001 * (std::f64::consts::PI / 3.0).sqrt()).abs()
            < 1e-4
    );
    check_p("signed rank", &[], Some(rank.p));
    check_p("Mann-Kendall", &[], mann_kendall(&values));
    assert!(theil_sen(&values).unwrap().abs() < 1e-8);
    let mut step = values.clone();
    step[400_000..].iter_mut().for_each(|value| *value += 1.0);
    let places: Vec<usize> = change_points(&step, 0.1).iter().map(|change| change.index).collect();
    assert!(places.len() == 1 && places[0].abs_diff(400_000) < 10, "{places:?}");
    check_p("Mann-Whitney", &[], mann_whitney(&values, &step));
    assert_eq!(mann_whitney(&values, &step), Some(f64::MIN_POSITIVE));
    let median = median(&values).unwrap();
    assert!(median.abs() < 1e-3);
    assert!((harrell_davis(&values, 0.5).unwrap() - median).abs() < 1e-3);
    let (low, high) = quantile_interval(&values, 0.5, 0.05).unwrap();
    assert!(low < median && median < high);
    assert!((variance(&values).unwrap() - 1.0).abs() < 1e-2);
    assert!(!is_bimodal(&values));
    assert_eq!(mser5_truncation(&values).map(|cut| cut < 500_000), Some(true));
    assert!(lag_one(&values).is_some() && von_neumann(&values).is_some());
    assert!(jackknife(&values).is_some());
    assert_eq!(holm(&values).len(), benjamini_hochberg(&values).len());
    assert!(TTest::of(&values).unwrap().p_difference().unwrap() > 0.0);
    assert!(TTest::stratified(&[(&values, &step)]).unwrap().p_difference().unwrap() > 0.0);
    assert_eq!(sign_flip(&values), None);
    assert!(matches!(label_outliers(&values), OutlierLabels::Labelled(_)));
}
