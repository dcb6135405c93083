//! The functions against the golden vectors of `oracles/generate.py`: mpmath with 50
//! digits, scipy, and exact fractions.
use std::collections::BTreeMap;
use std::path::Path;

/// Largest relative error.
const BAR: f64 = 1e-9;

/// Student's t, which allows for no skewness.
fn plain(differences: &[f64]) -> Option<stats::TTest> {
    Some(stats::TTest { skew: 0.0, ..stats::TTest::of(differences)? })
}

/// What a line holds.
struct Case {
    function: String,
    arguments: Vec<Vec<f64>>,
    expected: Vec<f64>,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut cases = Vec::new();
    for name in ["distributions", "noncentral", "rank_tests", "fisher", "design"] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.tsv"))).unwrap();
        cases.extend(text.lines().map(case));
    }
    cases
}

fn case(line: &str) -> Case {
    let fields: Vec<&str> = line.split('\t').collect();
    let numbers = |group: &str| -> Vec<f64> {
        group.split(' ').filter(|word| *word != "none").map(|word| word.parse().unwrap()).collect()
    };
    Case {
        function: fields[0].to_owned(),
        arguments: fields[1].split(';').map(numbers).collect(),
        expected: numbers(fields[2]),
    }
}

fn distribution(function: &str, x: &[f64]) -> Option<f64> {
    Some(match function {
        "normal_cdf" => stats::normal_cdf(x[0]),
        "normal_survival" => stats::normal_survival(x[0]),
        "normal_quantile" => stats::normal_quantile(x[0]),
        "t_cdf" => stats::t_cdf(x[0], x[1]),
        "t_survival" => stats::t_survival(x[0], x[1]),
        "t_quantile" => stats::t_quantile(x[0], x[1]),
        "beta_regularized" => stats::beta_regularized(x[0], x[1], x[2]),
        "beta_quantile" => stats::beta_quantile(x[0], x[1], x[2]),
        "f_cdf" => stats::f_cdf(x[0], x[1], x[2]),
        "f_survival" => stats::f_survival(x[0], x[1], x[2]),
        "f_quantile" => stats::f_quantile(x[0], x[1], x[2]),
        "noncentral_t_cdf" => stats::noncentral_t_cdf(x[0], x[1], x[2]),
        "noncentral_t_survival" => stats::noncentral_t_survival(x[0], x[1], x[2]),
        "confidence_sequence_half_width" => {
            stats::confidence_sequence_half_width(x[0] as usize, x[1], x[2])
        }
        _ => return None,
    })
}

fn test(function: &str, x: &[Vec<f64>]) -> Option<f64> {
    let whole = |index: usize| x[index][0] as u64;
    let size = |index: usize| x[index][0] as usize;
    match function {
        "signed_rank_cdf" => stats::signed_rank_cdf(whole(0), size(1)),
        "signed_rank_survival" => stats::signed_rank_survival(whole(0), size(1)),
        "mann_whitney_cdf" => stats::mann_whitney_cdf(whole(0), size(1), size(2)),
        "mann_whitney_survival" => stats::mann_whitney_survival(whole(0), size(1), size(2)),
        "signed_rank_p" => stats::SignedRank::of(&x[0], 0.05).map(|test| test.p),
        "pseudo_median" => stats::SignedRank::of(&x[0], 0.05).map(|test| test.pseudo_median),
        "mann_whitney" => stats::mann_whitney(&x[0], &x[1]),
        "mann_kendall" => stats::mann_kendall(&x[0]),
        "theil_sen" => stats::theil_sen(&x[0]),
        "fisher_exact" => stats::fisher_exact(whole(0), whole(1), whole(2), whole(3)),
        "mean" => stats::mean(&x[0]),
        "variance" => stats::variance(&x[0]),
        "p_difference" => plain(&x[0]).and_then(|test| test.p_difference()),
        "p_equivalence" => plain(&x[0]).and_then(|test| test.p_equivalence(x[1][0])),
        "welch" => stats::TTest::stratified(&[(&x[0], &x[1])]).and_then(|test| test.p_difference()),
        "harrell_davis" => stats::harrell_davis(&x[0], x[1][0]),
        "jackknife" => stats::jackknife(&x[0]),
        _ => None,
    }
}

fn several(function: &str, x: &[Vec<f64>]) -> Vec<f64> {
    let pair = |ends: Option<(f64, f64)>| ends.map(|(low, high)| vec![low, high]).unwrap();
    match function {
        "holm" => stats::holm(&x[0]),
        "benjamini_hochberg" => stats::benjamini_hochberg(&x[0]),
        "quantile_interval" => pair(stats::quantile_interval(&x[0], x[1][0], x[2][0])),
        "wilson_interval" => pair(stats::wilson_interval(x[0][0] as u64, x[1][0] as u64, x[2][0])),
        "change_points" => {
            stats::change_points(&x[0], x[1][0]).iter().map(|change| change.index as f64).collect()
        }
        "nested" => {
            let (processes, iterations) = (x[1][0] as usize, x[2][0] as usize);
            let boots: Vec<Vec<Vec<f64>>> = x[0]
                .chunks(processes * iterations)
                .map(|boot| boot.chunks(iterations).map(<[f64]>::to_vec).collect())
                .collect();
            let found = stats::NestedVariance::of(&boots).unwrap();
            vec![found.iteration.own, found.process.own, found.boot.own]
        }
        unknown => panic!("no function {unknown}"),
    }
}

fn found(case: &Case) -> Vec<f64> {
    let first: Vec<f64> = case.arguments.concat();
    distribution(&case.function, &first)
        .or_else(|| test(&case.function, &case.arguments))
        .map_or_else(|| several(&case.function, &case.arguments), |value| vec![value])
}

fn error(found: f64, expected: f64) -> f64 {
    if found == expected {
        return 0.0;
    }
    ((found - expected) / expected).abs()
}

#[test]
fn every_function_agrees_with_its_oracle() {
    let mut worst: BTreeMap<String, (f64, usize, String)> = BTreeMap::new();
    let mut failures = Vec::new();
    for case in cases() {
        let found = found(&case);
        let Case { function, arguments, expected } = case;
        assert_eq!(found.len(), expected.len(), "{function} {arguments:?}: {found:?} {expected:?}");
        for (found, expected) in found.iter().zip(&expected) {
            let error = error(*found, *expected);
            let says = format!("{arguments:?}: {found:e}, expected {expected:e}");
            if error.is_nan() || error > BAR {
                failures.push(format!("{function} {error:e} {says:.200}"));
            }
            let entry = worst.entry(function.clone()).or_insert((-1.0, 0, String::new()));
            entry.1 += 1;
            if error > entry.0 {
                (entry.0, entry.2) = (error, says);
            }
        }
    }
    for (function, (error, count, says)) in &worst {
        println!("{function:32} {count:5} values, worst {error:8.1e} at {says:.110}");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(worst.values().map(|(_, count, _)| count).sum::<usize>() > 2_000);
}
