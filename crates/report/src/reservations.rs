//! What verdicts may tell besides the subjects, in words that stand beside them: by what is stored of
//! each finding. No gate rests on such a verdict either.

use model::{Doubt, Finding, Verdict};
use phrases::{Language, noted, say};

/// The order, of differences.
const DIFFERENCE: &str =
    noted!("The order of the subjects may be the difference (ORDER_CONFOUNDED).");
/// The order, of equivalences.
const HIDDEN: &str = noted!("The order of the subjects may hide a difference (ORDER_CONFOUNDED).");
/// The order, of both.
const EITHER: &str =
    noted!("The order of the subjects may be the difference, or hide one (ORDER_CONFOUNDED).");

/// What is not sure of how the numbers came about, each with the caveat that says more.
const DOUBTS: [(Doubt, &str); 4] = [
    (
        Doubt::UnlikeSettings,
        noted!(
            "A setting of a tool, or a column that nobody named, is another one for one subject than \
             for another: it may not be the same work (SETTINGS_DIFFER)."
        ),
    ),
    (
        Doubt::UnknownReplicates,
        noted!(
            "Nobody said what an independent replicate is: intervals may be too narrow \
             (REPLICATE_LEVEL_UNKNOWN)."
        ),
    ),
    (
        Doubt::TurnedDirection,
        noted!(
            "Which way is better was given when the numbers were there, against their format \
             (POST_HOC_MARGIN)."
        ),
    ),
    (
        Doubt::AbsentRuns,
        noted!(
            "Runs of one subject are absent that the other has, and may be those that failed \
             (ABSENT_VALUES)."
        ),
    ),
];

/// What the verdicts among these may tell besides the subjects; nothing where nothing is known of it.
pub(crate) fn reservations(findings: &[&Finding], language: Language) -> Option<String> {
    let is_decided = |finding: &&Finding| {
        matches!(finding.verdict, Verdict::Better | Verdict::Worse | Verdict::Equivalent)
    };
    let decided: Vec<&Finding> = findings.iter().copied().filter(is_decided).collect();
    let count_of = |doubt| decided.iter().filter(|one| one.doubts.contains(&doubt)).count();
    let of_doubts = DOUBTS.into_iter().map(|(doubt, sentence)| (sentence, count_of(doubt)));
    let told: Vec<String> = of_order(&decided)
        .into_iter()
        .chain(of_doubts.filter(|(_, count)| *count > 0))
        .map(|(sentence, count)| of_some(language.word(sentence), count, decided.len(), language))
        .collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// That the order of the subjects may be what some of these verdicts tell (`is_order_fixed`), and of
/// how many.
fn of_order(decided: &[&Finding]) -> Option<(&'static str, usize)> {
    let ordered: Vec<&Finding> =
        decided.iter().copied().filter(|finding| finding.is_order_fixed).collect();
    let alike = ordered.iter().filter(|one| one.verdict == Verdict::Equivalent).count();
    let sentence = match ordered.len() {
        0 => return None,
        _ if alike == 0 => DIFFERENCE,
        all if alike == all => HIDDEN,
        _ => EITHER,
    };
    Some((sentence, ordered.len()))
}

/// A sentence with how many verdicts it is about, where not about all.
fn of_some(sentence: &str, count: usize, all: usize, language: Language) -> String {
    if count == all {
        return sentence.to_owned();
    }
    format!("{sentence} {}", say!(language, "That is so of {count} of {all} verdicts.", count, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(findings: &[Finding]) -> Option<String> {
        let findings: Vec<&Finding> = findings.iter().collect();
        reservations(&findings, Language::default())
    }

    fn finding(verdict: Verdict) -> Finding {
        Finding { verdict, ..fixtures::finding(fixtures::question("w", "latency", "new", "old")) }
    }

    #[test]
    fn the_order_is_told_of_verdicts_alone_and_as_what_it_may_be_of_them() {
        use Verdict::{Better, Equivalent, Inconclusive, Invalid, Worse};
        let told = |verdicts: &[(Verdict, bool)]| {
            let of = |(verdict, is_order_fixed): &(Verdict, bool)| Finding {
                is_order_fixed: *is_order_fixed,
                ..finding(*verdict)
            };
            told(&verdicts.iter().map(of).collect::<Vec<Finding>>())
        };
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[(Worse, false), (Equivalent, false)]), None);
        assert_eq!(told(&[(Inconclusive, true), (Invalid, true)]), None);
        assert_eq!(told(&[(Worse, true), (Inconclusive, false)]).as_deref(), Some(DIFFERENCE));
        assert_eq!(told(&[(Better, true), (Worse, true)]).as_deref(), Some(DIFFERENCE));
        assert_eq!(told(&[(Equivalent, true)]).as_deref(), Some(HIDDEN));
        assert_eq!(told(&[(Equivalent, true), (Better, true)]).as_deref(), Some(EITHER));
        let some = told(&[(Worse, true), (Better, false), (Equivalent, false)]).unwrap();
        assert_eq!(some, format!("{DIFFERENCE} That is so of 1 of 3 verdicts."));
    }

    #[test]
    fn each_doubt_about_a_verdict_is_told_behind_the_order() {
        for (doubt, sentence) in DOUBTS {
            let doubted = Finding { doubts: vec![doubt], ..finding(Verdict::Worse) };
            assert_eq!(told(std::slice::from_ref(&doubted)).as_deref(), Some(sentence));
            let both = told(&[doubted.clone(), finding(Verdict::Equivalent)]).unwrap();
            assert_eq!(both, format!("{sentence} That is so of 1 of 2 verdicts."));
            let ordered = Finding { is_order_fixed: true, ..doubted.clone() };
            assert_eq!(told(&[ordered]).unwrap(), format!("{DIFFERENCE} {sentence}"));
            let open = Finding { verdict: Verdict::Inconclusive, ..doubted };
            assert_eq!(told(&[open]), None);
        }
    }
}
