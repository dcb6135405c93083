//! Runs of an import that one subject lacks and the other has (docs/method.md#m-absent-runs): which are
//! absent may depend on what they would have measured, as that of a run that failed.

use crate::observations::Observations;
use crate::questions::Asked;
use crate::reduce::{Lack, reduce};
use model::{AbsentRuns, Outcome, Plan, Question};

/// Of so many runs one more may be absent of one subject than of the other.
const RUNS_FOR_ONE: u64 = 20;

/// How many blocks of an import lack a subject of a question that others have, where these are so many
/// more of one subject that it matters.
pub(crate) fn absent_in_blocks(
    plan: &Plan,
    observations: &Observations<'_>,
    asked: &Asked<'_>,
) -> Option<String> {
    plan.imported.as_ref()?;
    let question = &asked.question;
    let both = [&question.reference, &question.subject];
    let (mut blocks, mut complete, mut lacks) = (0, 0, [0; 2]);
    for block in observations.blocks() {
        let has = both.map(|subject| {
            let trial = observations.trial(block, subject, &question.workload);
            trial.is_some_and(|record| {
                record.outcome != Outcome::Completed
                    || !matches!(reduce(record, asked.metric), Err(Lack::Absent))
            })
        });
        match has {
            [true, true] => complete += 1,
            [true, false] => lacks[1] += 1,
            [false, true] => lacks[0] += 1,
            // A block without either says nothing of them.
            [false, false] => continue,
        }
        blocks += 1;
    }
    if !differs([lacks[0], blocks], [lacks[1], blocks]) {
        return None;
    }
    let of_each = both.into_iter().zip(lacks).filter(|(_, count)| *count > 0);
    let of_each: Vec<String> =
        of_each.map(|(subject, count)| format!("{subject} lacks {count}")).collect();
    Some(format!("{complete} of {blocks} blocks have both; {}", of_each.join(", ")))
}

/// What an import without blocks says of runs that one of these subjects lacks more often than the other.
pub(crate) fn absent_by_number(plan: &Plan, question: &Question) -> Option<String> {
    let imported = plan.imported.as_ref()?;
    let find = |id: &str| imported.absent_runs.iter().find(|one| one.subject == id);
    let (reference, subject) = (find(&question.reference)?, find(&question.subject)?);
    let counts = |one: &AbsentRuns| [one.absent, one.expected];
    differs(counts(reference), counts(subject))
        .then(|| format!("{}; {}", reference.told, subject.told))
}

/// Whether the shares of so many absent runs of so many differ by more than one in twenty.
fn differs([absent, runs]: [u32; 2], [other, others]: [u32; 2]) -> bool {
    let [absent, runs, other, others] = [absent, runs, other, others].map(u64::from);
    let apart = (absent * others).abs_diff(other * runs);
    apart * RUNS_FOR_ONE > runs * others
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{in_blocks, metric, plan, records};
    use crate::{GateLimit, GateOutcome, gate, judge};
    use model::{
        AbsentRuns, CaveatCode, Direction, Doubt, Finding, Findings, ImportedDesign, ImportedOrder,
        Plan, Record, Reduction, Strength, Verdict,
    };

    /// The first verdict of 20 blocks or runs of each, of which these are absent, and what a gate says.
    fn judged(plan: &Plan, lacks: [&[u32]; 2]) -> (Finding, GateOutcome) {
        let values = |side: u32| -> Vec<f64> {
            let noise = |block: u32| {
                let mixed = ((block + 20 * side) * 7919 + 31) % 1009;
                f64::from(mixed * 104_729 % 1009 % 100)
            };
            let centre = if side == 0 { 100.0 } else { 80.0 };
            (0..20).map(|block| centre + noise(block) / 100.0).collect()
        };
        let mut all: Vec<Record> = Vec::new();
        for ((side, subject), lacked) in [(0, "a"), (1, "b")].into_iter().zip(lacks) {
            let mut own = records(subject, &values(side));
            for record in &mut own {
                // Each subject is first in every other block.
                let place = (record.block + side) % 2;
                (record.position, record.sequence) = (place, u64::from(2 * record.block + place));
                record.boot_id.clear();
            }
            all.extend(own.into_iter().filter(|record| !lacked.contains(&record.block)));
        }
        let findings: Findings = judge(plan, &all);
        let limit = GateLimit { workload: String::new(), metric: "m".to_owned(), fraction: 0.02 };
        let outcome = gate(&findings, std::slice::from_ref(&limit)).unwrap()[0].outcome;
        (findings.findings[0].clone(), outcome)
    }

    fn of_two(design: Option<ImportedDesign>) -> Plan {
        let mut plan = plan(&["a", "b"], vec![metric("m", Direction::Lower, Reduction::Mean)], 20);
        let mut imported = in_blocks(ImportedOrder::Rows);
        if let Some(design) = design {
            imported.design = design;
        }
        plan.imported = Some(imported);
        plan
    }

    fn told(finding: &Finding) -> Option<&str> {
        let mut caveats = finding.caveats.iter();
        let found = caveats.find(|caveat| caveat.code == CaveatCode::AbsentValues);
        found.map(|caveat| caveat.detail.as_str())
    }

    #[test]
    fn blocks_that_one_subject_lacks_leave_nothing_clear_and_decide_no_gate() {
        let plan = of_two(None);
        let some: &[u32] = &[0, 4, 5, 9, 12, 16, 19];
        let (finding, outcome) = judged(&plan, [&[], some]);
        assert_eq!((finding.verdict, finding.pairs), (Verdict::Better, 13));
        assert_eq!(finding.strength, Some(Strength::Detectable));
        assert_eq!(finding.doubts, [Doubt::AbsentRuns]);
        assert_eq!(told(&finding), Some("13 of 20 blocks have both; b lacks 7"));
        assert_eq!(outcome, GateOutcome::Inconclusive);
        // As many of both, whole blocks, and one of twenty are no doubt.
        let cases: [[&[u32]; 2]; 3] = [[&[1, 2, 7], &[3, 8, 11]], [some, some], [&[], &[6]]];
        for lacks in cases {
            let (finding, outcome) = judged(&plan, lacks);
            assert_eq!((finding.doubts.len(), told(&finding)), (0, None), "{lacks:?}");
            assert_eq!(finding.strength, Some(Strength::Clearly), "{lacks:?}");
            assert_eq!(outcome, GateOutcome::Kept, "{lacks:?}");
        }
    }

    #[test]
    fn runs_whose_numbers_one_subject_lacks_leave_nothing_clear_and_decide_no_gate() {
        let design = ImportedDesign::Unblocked { dimensions: Vec::new(), fixed: Vec::new() };
        let mut plan = of_two(Some(design));
        let judged_with = |plan: &mut Plan, absent: [u32; 2]| {
            let runs = [("a", absent[0]), ("b", absent[1])].map(|(subject, absent)| AbsentRuns {
                subject: subject.to_owned(),
                absent,
                expected: 20,
                told: format!("{subject} lacks {absent} of 20 numbers in run"),
            });
            if let Some(imported) = &mut plan.imported {
                imported.absent_runs = runs.into();
            }
            judged(plan, [&[], &[]])
        };
        let (finding, outcome) = judged_with(&mut plan, [0, 6]);
        assert_eq!(finding.verdict, Verdict::Better);
        assert_eq!(finding.strength, Some(Strength::Detectable));
        assert_eq!(finding.doubts, [Doubt::AbsentRuns]);
        let detail = "a lacks 0 of 20 numbers in run; b lacks 6 of 20 numbers in run";
        assert_eq!(told(&finding), Some(detail));
        assert_eq!(outcome, GateOutcome::Inconclusive);
        for absent in [[6, 6], [0, 1]] {
            let (finding, _) = judged_with(&mut plan, absent);
            assert_eq!((finding.doubts.len(), told(&finding)), (0, None), "{absent:?}");
        }
    }
}
