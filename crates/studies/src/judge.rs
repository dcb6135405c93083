//! What a study's own figures bear.

use crate::check::{Check, CheckOutcome, FigureSource};
use crate::measure::{Measured, measured};
use crate::study::{AskedClaim, Study, StudyClaim, StudyContradiction};
use contract::{Error, Result};
use serde::Serialize;
use std::fmt;

/// What a claim is, by the figures that its study prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimState {
    /// What can be computed of it follows. Whether the effect is there is another question.
    Follows,
    /// It does not follow from the figures that it rests on.
    DoesNotFollow,
    /// It follows from these, and not from others that the study prints of the same.
    ContradictsAnotherFigure,
    /// The study prints no figure that could bear it.
    CannotBeJudged,
}

impl ClaimState {
    /// Every state, in the order in which they are counted.
    pub const ALL: [Self; 4] =
        [Self::Follows, Self::DoesNotFollow, Self::ContradictsAnotherFigure, Self::CannotBeJudged];
}

impl fmt::Display for ClaimState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Follows => "follows from its own numbers",
            Self::DoesNotFollow => "does not follow",
            Self::ContradictsAnotherFigure => "contradicts another figure of the study",
            Self::CannotBeJudged => "cannot be judged",
        })
    }
}

/// A claim, and what was computed of it.
#[derive(Debug, Serialize)]
pub struct JudgedClaim {
    /// The claim.
    #[serde(flatten)]
    pub claim: StudyClaim,
    /// What it is.
    pub state: ClaimState,
    /// What asks it of a machine.
    pub asked: Vec<AskedClaim>,
    /// What was computed.
    pub checks: Vec<CheckOutcome>,
}

/// A contradiction, and what of it was computed: nothing where it was read, and not computed.
#[derive(Debug, Serialize)]
pub struct JudgedContradiction {
    /// The contradiction.
    #[serde(flatten)]
    pub contradiction: StudyContradiction,
    /// What was computed.
    pub checks: Vec<CheckOutcome>,
}

/// All that was computed of a study.
#[derive(Debug, Serialize)]
pub struct StudyJudgement {
    /// Its name.
    pub study: &'static str,
    /// What it asks.
    pub title: String,
    /// How it was measured, as far as it tells.
    pub design: String,
    /// Its claims.
    pub claims: Vec<JudgedClaim>,
    /// Where it says two things.
    pub contradictions: Vec<JudgedContradiction>,
}

impl StudyJudgement {
    /// How many claims are in this state.
    #[must_use]
    pub fn count(&self, state: ClaimState) -> usize {
        self.claims.iter().filter(|claim| claim.state == state).count()
    }
}

/// Judges each claim of a study by the figures that the study prints.
///
/// # Errors
///
/// A check means no figure of the study: environment.
pub fn judge(study: &Study) -> Result<StudyJudgement> {
    let failed = |why: String| Error::environment(format!("cannot judge `{}`", study.name), why);
    let mut claims = Vec::new();
    for claim in &study.claims {
        let checks = outcomes(study, &claim.id).map_err(failed)?;
        let asked = study.asked.iter().filter(|asked| asked.id == claim.id).cloned().collect();
        claims.push(JudgedClaim { state: state_of(&checks), claim: claim.clone(), asked, checks });
    }
    let mut contradictions = Vec::new();
    for contradiction in &study.contradictions {
        let of = format!("contradiction {}", contradiction.id);
        let checks = outcomes(study, &of).map_err(failed)?;
        contradictions.push(JudgedContradiction { contradiction: contradiction.clone(), checks });
    }
    Ok(StudyJudgement {
        study: study.name,
        title: study.title.clone(),
        design: study.design.clone(),
        claims,
        contradictions,
    })
}

/// What the checks of a claim or of a contradiction come to.
fn outcomes(study: &Study, of: &str) -> Result<Vec<CheckOutcome>, String> {
    let checks = study.checks.iter().filter(|check| check.of == of);
    let outcome = |check: &Check| {
        let Measured { holds, told } = measured(check, study)
            .map_err(|why| format!("checks.csv, {of} {}: {why}", check.measure))?;
        Ok(CheckOutcome { source: check.source, holds, told })
    };
    checks.map(outcome).collect()
}

fn state_of(checks: &[CheckOutcome]) -> ClaimState {
    let any = |source: FigureSource, holds: bool| {
        checks.iter().any(|check| check.source == source && check.holds == Some(holds))
    };
    if any(FigureSource::Own, false) {
        ClaimState::DoesNotFollow
    } else if any(FigureSource::Elsewhere, false) {
        ClaimState::ContradictsAnotherFigure
    } else if any(FigureSource::Own, true) {
        ClaimState::Follows
    } else {
        ClaimState::CannotBeJudged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{find, names};

    fn judged(name: &str) -> StudyJudgement {
        judge(&find(name).unwrap()).unwrap()
    }

    impl StudyJudgement {
        fn told(&self, id: &str) -> String {
            let claims = self.claims.iter().filter(|judged| judged.claim.id == id);
            let of_claims = claims.flat_map(|judged| &judged.checks);
            let contradictions =
                self.contradictions.iter().filter(|judged| judged.contradiction.id == id);
            let all = of_claims.chain(contradictions.flat_map(|judged| &judged.checks));
            all.map(|check| format!("{}\n", check.told)).collect()
        }

        fn states(&self, state: ClaimState) -> Vec<&str> {
            let claims = self.claims.iter().filter(|judged| judged.state == state);
            claims.map(|judged| judged.claim.id.as_str()).collect()
        }
    }

    #[test]
    fn the_figures_of_each_study_bear_as_many_claims_as_they_do() {
        let counts = names().map(|name| {
            let judged = judged(name);
            ClaimState::ALL.map(|state| judged.count(state))
        });
        let expected = [[29, 7, 7, 13], [9, 2, 1, 7], [4, 0, 0, 9], [5, 8, 1, 16], [0, 0, 1, 21]];
        assert_eq!(counts.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn twenty_of_the_entries_of_a_table_by_operation_do_not_follow_from_its_runs() {
        let judged = judged("iozone");
        let table = judged.contradictions.iter().find(|judged| judged.contradiction.id == "I1");
        let entries = &table.unwrap().checks;
        assert_eq!(entries.len(), 21);
        assert_eq!(entries.iter().filter(|entry| entry.holds == Some(false)).count(), 20);
        let told = judged.told("I1");
        let random_read =
            "deadline, Random read: 845871.91: a mean of 845871.91, but 891179 is printed";
        assert!(told.contains(random_read), "{told}");
        // Of five runs and of nine cells: rounding is no contradiction.
        assert!(told.contains("841121.65, printed as 841121.6\n"), "{told}");
        assert_eq!(judged.states(ClaimState::DoesNotFollow), ["I17", "I18"]);
        assert!(judged.told("I08").ends_with("cfq: the best in 10 of 63 cells\n"));
    }

    #[test]
    fn multiples_and_shares_are_held_against_the_table_that_they_are_of() {
        let judged = judged("sched-ext-bank");
        let told = judged.told("B01");
        assert!(told.contains("1.446 times as fast, but 5-7x is printed"), "{told}");
        assert!(told.contains("1.861 times as fast, but 5-7x is printed"), "{told}");
        let told = judged.told("B02");
        assert!(told.contains("78.475 % fewer failures, but 95% is printed"), "{told}");
        for id in ["B01", "B02", "B03", "B16"] {
            assert!(judged.states(ClaimState::DoesNotFollow).contains(&id), "{id}");
        }
    }

    #[test]
    fn a_figure_that_is_printed_twice_with_other_values_is_told_with_both() {
        let judged = judged("eevdf");
        let told = judged.told("E1");
        assert!(told.contains("1069.41") && told.contains("1050.51"), "{told}");
        let told = judged.told("E2");
        assert!(told.contains("26.3,") && told.contains("12.7 "), "{told}");
        let expected = ["E25", "E28", "E30", "E40", "E42", "E44", "E45"];
        assert_eq!(judged.states(ClaimState::ContradictsAnotherFigure), expected);
        let told = judged.told("E29");
        assert!(told.contains("+100.84 %, printed as +100%, cut and not rounded"), "{told}");
        assert!(judged.told("E33").contains("-68.06 %, but -67% is printed"));
    }

    #[test]
    fn a_rate_and_a_time_tell_how_many_requests_were_under_way() {
        let told = judged("gateway").told("G1");
        assert!(told.contains("by Little's law 0.9824 in flight, but 10 is printed"), "{told}");
    }

    #[test]
    fn every_claim_has_a_check_or_a_reason_and_every_check_is_of_one() {
        for name in names() {
            let study = find(name).unwrap();
            let judged = judge(&study).unwrap();
            for JudgedClaim { claim, state, .. } in &judged.claims {
                let is_open = *state == ClaimState::CannotBeJudged;
                assert!(!is_open || !claim.not_judged.is_empty(), "{name} {}", claim.id);
            }
            let told: usize = (judged.claims.iter().map(|claim| claim.checks.len()))
                .chain(judged.contradictions.iter().map(|judged| judged.checks.len()))
                .sum();
            assert_eq!(told, study.checks.len(), "{name}: a check of nothing");
            let asked: usize = judged.claims.iter().map(|claim| claim.asked.len()).sum();
            assert_eq!(asked, study.asked.len(), "{name}: a suite asks what is no claim");
        }
    }
}
