//! Whether a verdict hangs on one block, or on the distribution of the differences
//! (docs/method.md#m-fragility).

use model::{Caveat, CaveatCode, LeftOut, Verdict, p_equation};
use stats::{SignedRank, TTest, sign_flip};

/// Fewer values cannot reach 5 % with signed ranks.
const LEAST_FOR_RANKS: usize = 6;

/// The caveat where removing one replicate would change the verdict.
pub(crate) fn block_caveat(
    left_out: &[LeftOut],
    labels: &[String],
    verdict: Verdict,
) -> Option<Caveat> {
    let changed: Vec<&str> = left_out
        .iter()
        .zip(labels)
        .filter(|(left_out, _)| left_out.verdict != verdict)
        .map(|(_, label)| label.as_str())
        .collect();
    let which = if changed.len() == left_out.len() {
        format!("any one of its {} blocks", left_out.len())
    } else {
        format!("block {}", changed.join(" or "))
    };
    (!changed.is_empty()).then(|| {
        Caveat::new(CaveatCode::Fragile, format!("without {which} the verdict would be another"))
    })
}

/// A mean further from the pseudo-median than this share of its standard error is not that of a
/// symmetric distribution: of normal values it is further in less than one of a hundred.
const LEAST_APART: f64 = 0.6;
/// Two p-values on both sides of a level disagree where one is so many times the other.
const LEAST_RATIO: f64 = 4.0;

/// How a test without a distribution of the differences says something else than the t: the
/// pseudo-median lies apart from the mean and has another sign, or Wilcoxon's signed ranks or the
/// flips of signs are far on the other side of the level. Differences of one sign are all that these
/// two can show of so few, whatever the level: they contradict no difference then.
pub(crate) fn skewed(test: &TTest, differences: &[f64], alpha: f64) -> Option<Caveat> {
    if test.is_degenerate() {
        return None;
    }
    let ranks = SignedRank::of(differences, alpha)?;
    let p = test.p_difference()?;
    let caveat = |detail| Some(Caveat::new(CaveatCode::Skewed, detail));
    let apart = (ranks.pseudo_median - test.mean).abs();
    let is_apart = apart > LEAST_APART * test.standard_error;
    if is_apart && ranks.pseudo_median * test.mean < 0.0 {
        return caveat(format!(
            "the mean says {} %, the ranks say {} %",
            model::signed_percent(test.mean.exp_m1(), 1),
            model::signed_percent(ranks.pseudo_median.exp_m1(), 1)
        ));
    }
    if differences.len() < LEAST_FOR_RANKS {
        return None;
    }
    let others = [("signed-rank test", Some(ranks.p)), ("sign-flip test", sign_flip(differences))];
    let has_sign = |sign: f64| differences.iter().all(|one| sign * one > 0.0);
    let shows_all_it_can = p < alpha && (has_sign(1.0) || has_sign(-1.0));
    let disagrees = |other: &f64| {
        let is_split = (p < alpha) != (*other < alpha);
        is_split && !shows_all_it_can && p.max(*other) > LEAST_RATIO * p.min(*other)
    };
    let (name, other) =
        others.into_iter().find_map(|(name, other)| Some((name, other.filter(disagrees)?)))?;
    caveat(format!("the t test gives {}, the {name} {}", p_equation(p), p_equation(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail_of(differences: &[f64]) -> Option<String> {
        skewed(&TTest::of(differences).unwrap(), differences, 0.05).map(|caveat| caveat.detail)
    }

    #[test]
    fn methods_that_disagree_are_told_and_few_pairs_by_their_signs_alone() {
        // Nine blocks at +3 %, one at -25 %: the fixture of docs/method.md#m-fragility.
        let mut wild = vec![0.0296; 9];
        wild.push(-0.2877);
        assert!(detail_of(&wild).unwrap().contains("ranks say"));
        assert_eq!(detail_of(&[0.03, 0.031, 0.029, 0.032, 0.028, 0.03]), None);
        assert_eq!(detail_of(&[0.03, 0.031, 0.029, 0.032, 0.028]), None, "five cannot reach 5 %");
        assert!(detail_of(&[0.01, 0.02, 0.01, 0.02, -0.2]).unwrap().contains("ranks say"));
    }

    #[test]
    fn tests_that_show_all_they_can_of_so_few_values_contradict_no_difference() {
        let at = |level: f64, differences: &[f64]| {
            let test = TTest::of(differences).unwrap();
            assert!(test.p_difference().unwrap() < level);
            skewed(&test, differences, level)
        };
        // Six of one sign have 2/2^6 by either test, above the level of a first look.
        let mut values = [0.080, 0.060, 0.050, 0.090, 0.070, 0.062];
        assert_eq!(at(0.002, &values), None);
        assert_eq!(at(0.002, &values.map(|value| -value)), None);
        values[5] = -0.002;
        let told = at(0.02, &values).unwrap().detail;
        assert!(told.contains("the signed-rank test p = 0.06"), "{told}");
    }

    #[test]
    fn an_enormous_difference_is_told_in_few_digits() {
        let mut wild = vec![296.0; 9];
        wild.push(-2877.0);
        let told = detail_of(&wild).unwrap();
        assert!(
            told.starts_with("the mean says -100.0 %, the ranks say +") && told.contains("e130 %"),
            "{told}"
        );
    }

    #[test]
    fn a_difference_that_no_number_holds_is_told_in_words() {
        let mut wild = vec![800.0; 9];
        wild.push(-8_000.0);
        let told = detail_of(&wild).unwrap();
        assert_eq!(told, "the mean says -100.0 %, the ranks say more than +1.79e310 %");
    }

    #[test]
    fn a_tiny_p_is_bounded() {
        // All seventeen are above 0, which has 2/2^17 by signed ranks; one lies so far off that t is
        // about 1.
        let mut lopsided: Vec<f64> = (0..16).map(|at| 0.001 + 1e-6 * f64::from(at)).collect();
        lopsided.push(0.6);
        let told = detail_of(&lopsided).unwrap();
        assert!(told.ends_with("the signed-rank test p < 0.001"), "{told}");
    }
}
