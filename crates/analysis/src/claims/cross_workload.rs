//! Claims across workloads: is the later of two workloads better than the earlier one, inside
//! each subject?
//!
//! Both workloads of a block run in the same sitting, so blocks pair them as they pair
//! subjects: d_b = log y(later, b) - log y(earlier, b) within one subject, and everything
//! after that is as it is for subjects (docs/method.md#m-estimate): paired t, TOST with the
//! metric's margin. They are members of the family of all claims.

use crate::comparison::{Comparison, Gathered};
use crate::failures::{by_name, counted};
use crate::observations::Observations;
use crate::questions::Asked;
use model::{Claim, FailureCount, Finding, Plan, Question, Record, Role, Subject};
use std::collections::{BTreeMap, BTreeSet};

/// The name of the comparisons across workloads.
const FAMILY: &str = "claims across workloads";

/// One pair of workloads inside a subject.
struct Pair<'a> {
    subject: &'a Subject,
    earlier: &'a str,
    later: &'a str,
}

/// The pairs that a claim speaks of: of the workloads that a subject runs, each with the one
/// before it. What `--quick` leaves out of the middle does not part those beside it.
fn pairs<'a>(plan: &'a Plan, claim: &'a Claim) -> Vec<Pair<'a>> {
    let runs = |label: &str, subject: &Subject| {
        plan.workload(label).is_some_and(|workload| workload.runs_for(subject))
    };
    let meant = plan.subjects.iter().filter(|one| !one.is_control && claim.subject.includes(one));
    meant
        .flat_map(|subject| {
            let run: Vec<&str> = claim
                .workloads
                .iter()
                .map(String::as_str)
                .filter(|label| runs(label, subject))
                .collect();
            let later = run.iter().skip(1);
            let pairs = run.iter().zip(later);
            pairs.map(|(earlier, later)| Pair { subject, earlier, later }).collect::<Vec<_>>()
        })
        .collect()
}

/// What a claim is about, of these findings.
pub(super) fn about<'a>(plan: &Plan, claim: &Claim, all: &'a [Finding]) -> Vec<&'a Finding> {
    let spoken = spoken_of(plan, claim);
    all.iter().filter(|finding| is_about(claim, &spoken, &finding.question)).collect()
}

/// The pairs that a claim speaks of: subject, earlier and later workload.
pub(super) fn spoken_of<'a>(plan: &'a Plan, claim: &'a Claim) -> BTreeSet<[&'a str; 3]> {
    let names = |pair: &Pair<'a>| [pair.subject.id.as_str(), pair.earlier, pair.later];
    pairs(plan, claim).iter().map(names).collect()
}

/// Whether a claim that speaks of these pairs is about this comparison.
pub(super) fn is_about(claim: &Claim, spoken: &BTreeSet<[&str; 3]>, question: &Question) -> bool {
    let Question { workload, reference, subject, .. } = question;
    question.family == FAMILY
        && claim.metric.includes(&question.metric)
        && spoken.contains(&[workload.as_str(), reference.as_str(), subject.as_str()])
}

/// Every comparison of every claim across workloads, each once. Their questions have the subject
/// for a workload, and the workloads for subjects: `later` against `earlier`.
pub(super) fn comparisons<'a>(
    plan: &'a Plan,
    records: &[Record],
    alpha: f64,
) -> Vec<Comparison<'a>> {
    let mut of_subject: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in records {
        of_subject.entry(record.subject.as_str()).or_default().push(record);
    }
    let mut known: BTreeSet<[String; 4]> = BTreeSet::new();
    let mut comparisons: Vec<Comparison<'_>> = Vec::new();
    for claim in plan.claims.iter().filter(|claim| claim.is_across_workloads()) {
        for pair in pairs(plan, claim) {
            let own = of_subject.get(pair.subject.id.as_str()).map_or(&[][..], Vec::as_slice);
            let turned = turned(own, &pair);
            let observations = Observations::of(&turned);
            let counts: Vec<FailureCount> = counted(observations.all()).into_values().collect();
            let by_name = by_name(&counts);
            let gathered = Gathered { plan, observations: &observations, counts: &by_name };
            for asked in asked(plan, claim, &pair) {
                let Question { workload, metric, reference, subject, .. } = &asked.question;
                if known.insert([workload, metric, reference, subject].map(String::clone)) {
                    comparisons.push(Comparison::of(asked, gathered, alpha));
                }
            }
        }
    }
    comparisons
}

/// The records of a pair's subject, of its two workloads, with the workload in the subject's place.
fn turned(of_subject: &[&Record], pair: &Pair<'_>) -> Vec<Record> {
    let is_meant =
        |record: &&&Record| [pair.earlier, pair.later].contains(&record.workload.as_str());
    let turn = |record: &&Record| {
        let mut turned = Record::clone(record);
        turned.subject.clone_from(&record.workload);
        turned.workload.clone_from(&record.subject);
        turned
    };
    of_subject.iter().filter(is_meant).map(turn).collect()
}

/// The questions of a pair: the claim's metrics that both workloads ask.
fn asked<'a>(plan: &'a Plan, claim: &'a Claim, pair: &Pair<'_>) -> Vec<Asked<'a>> {
    let (Some(earlier), Some(later)) = (plan.workload(pair.earlier), plan.workload(pair.later))
    else {
        return Vec::new();
    };
    let metric = |id: &String| later.metrics.iter().find(|metric| metric.id == *id);
    let is_asked = |id: &&String| earlier.primary.contains(id) && later.primary.contains(id);
    claim
        .metric
        .ids()
        .iter()
        .filter(is_asked)
        .filter_map(metric)
        .map(|metric| Asked {
            question: Question {
                workload: pair.subject.id.clone(),
                metric: metric.id.clone(),
                unit: metric.unit,
                direction: metric.direction,
                subject: pair.later.to_owned(),
                reference: pair.earlier.to_owned(),
                role: Role::Primary,
                family: FAMILY.to_owned(),
            },
            metric,
            workload: later,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::family::{cap, findings};
    use super::*;
    use crate::controls::FailedControls;
    use crate::fixtures::{metric, plan, record};
    use model::{
        ClaimFinding, ClaimOutcome, Claimed, ClaimedEffect, ClaimedMetrics, Direction, Outcome,
        Reduction, Sample, Verdict, WorkloadPlan,
    };

    const NOISE: [f64; 8] = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];
    const LABELS: [&str; 4] = ["r-1", "r-2", "r-3", "r-4"];

    /// Two subjects and a control, four workloads, two metrics of which more is better.
    fn grid(claims: Vec<Claim>) -> Plan {
        let rates = ["m", "n"].map(|id| metric(id, Direction::Higher, Reduction::Median));
        let mut plan = plan(&["a", "b", "a-again"], rates.into(), 8);
        let like = plan.workloads.remove(0);
        plan.workloads = LABELS
            .map(|label| WorkloadPlan {
                label: label.to_owned(),
                primary: vec!["m".to_owned(), "n".to_owned()],
                ..like.clone()
            })
            .into();
        for sitting in plan.blocks.iter_mut().flat_map(|block| &mut block.sittings) {
            sitting.workloads = LABELS.into_iter().collect();
        }
        Plan { claims, ..plan }
    }

    /// Each workload has this many times what the first has; blocks differ by half, which
    /// pairs cancel.
    fn records(factor: impl Fn(&str, usize, &str) -> f64, spread: f64) -> Vec<Record> {
        let mut all = Vec::new();
        for block in 0..8_u32 {
            let shared = 1.0 + 0.5 * f64::from(block % 3);
            for (turn, subject) in ["a", "b", "a-again"].into_iter().enumerate() {
                for (place, label) in LABELS.into_iter().enumerate() {
                    let value = |id: &str, shift: usize| {
                        let noise = NOISE[(block as usize + 3 * turn + 5 * place + shift) % 8];
                        let of_metric = if id == "m" { 100.0 } else { 3.0 };
                        let centre = of_metric * factor(subject, place, id) * shared;
                        Sample::values(id, vec![centre * (1.0 + spread * noise)])
                    };
                    all.push(record(
                        block,
                        subject,
                        label,
                        vec![vec![value("m", 0), value("n", 2)]],
                    ));
                }
            }
        }
        all
    }

    fn claim(workloads: &[&str], metrics: &[&str], effect: ClaimedEffect) -> Claim {
        let ids: Vec<String> = metrics.iter().map(|id| (*id).to_owned()).collect();
        Claim {
            workload: None,
            workloads: workloads.iter().map(|label| (*label).to_owned()).collect(),
            metric: ClaimedMetrics::Several(ids),
            subject: Claimed::Levels(BTreeMap::new()),
            reference: Claimed::Levels(BTreeMap::new()),
            ..fixtures::claim("", "", effect)
        }
    }

    #[test]
    fn a_chain_without_a_link_goes_on_behind_it() {
        let mut quick = grid(vec![claim(&LABELS, &["m", "n"], ClaimedEffect::Better)]);
        quick.workloads.remove(1);
        let all = records(rising, 0.01);
        let left = all.into_iter().filter(|one| one.workload != LABELS[1]).collect::<Vec<_>>();
        let found = judged(&quick, &left);
        assert_eq!(found.outcome, ClaimOutcome::Confirmed, "{}", found.reason);
        // Two steps of two metrics in two subjects.
        assert!(found.reason.starts_with("confirmed in all 8 comparisons"), "{}", found.reason);
    }

    fn judged(plan: &Plan, records: &[Record]) -> ClaimFinding {
        crate::judge(plan, records).claims.remove(0)
    }

    fn rising(_: &str, place: usize, _: &str) -> f64 {
        1.0 + 0.4 * place as f64
    }

    #[test]
    fn a_chain_holds_where_each_step_holds_inside_each_subject() {
        let plan = grid(vec![claim(&LABELS, &["m", "n"], ClaimedEffect::Better)]);
        let found = judged(&plan, &records(rising, 0.01));
        assert_eq!(found.outcome, ClaimOutcome::Confirmed, "{}", found.reason);
        // Three steps of two metrics in two subjects; the control is nobody's.
        assert!(found.reason.starts_with("confirmed in all 12 comparisons"), "{}", found.reason);
        let bent = |subject: &str, place: usize, id: &str| {
            if (subject, place, id) == ("b", 3, "n") { 1.0 } else { rising(subject, place, id) }
        };
        let found = judged(&plan, &records(bent, 0.01));
        assert_eq!(found.outcome, ClaimOutcome::Refuted, "one step falls: {}", found.reason);
        let told = "refuted in 1 (r-4 against r-3 on b n)";
        assert!(found.reason.contains(told), "{}", found.reason);
        let turned = grid(vec![claim(&["r-2", "r-1"], &["m"], ClaimedEffect::Better)]);
        let found = judged(&turned, &records(rising, 0.01));
        assert_eq!(found.outcome, ClaimOutcome::Refuted, "{}", found.reason);
    }

    #[test]
    fn workloads_alike_need_evidence_and_a_size_is_held_against_the_interval() {
        let flat = |_: &str, place: usize, _: &str| if place < 2 { 1.0 } else { 1.3 };
        for (workloads, effect, spread, expected) in [
            (["r-1", "r-2"], ClaimedEffect::Same, 0.002, ClaimOutcome::Confirmed),
            (["r-1", "r-2"], ClaimedEffect::Better, 0.002, ClaimOutcome::Refuted),
            (["r-1", "r-2"], ClaimedEffect::Same, 0.3, ClaimOutcome::Undecided),
            (["r-2", "r-3"], ClaimedEffect::Same, 0.002, ClaimOutcome::Refuted),
            (["r-2", "r-3"], ClaimedEffect::Change(0.3), 0.005, ClaimOutcome::Confirmed),
            (["r-2", "r-3"], ClaimedEffect::Change(0.6), 0.005, ClaimOutcome::RefutedInSize),
        ] {
            let plan = grid(vec![claim(&workloads, &["m"], effect)]);
            let found = judged(&plan, &records(flat, spread));
            assert_eq!(found.outcome, expected, "{workloads:?} {effect:?}: {}", found.reason);
        }
    }

    #[test]
    fn the_test_is_the_paired_t_of_logs_over_blocks_within_one_subject() {
        let plan = grid(vec![claim(&["r-1", "r-2"], &["m"], ClaimedEffect::Better)]);
        let all = records(rising, 0.02);
        let own = findings(&plan, &all).together;
        let questions: Vec<[&str; 3]> = own
            .iter()
            .map(|one| [&one.question.workload, &one.question.subject, &one.question.reference])
            .map(|words| words.map(String::as_str))
            .collect();
        assert_eq!(questions, [["a", "r-2", "r-1"], ["b", "r-2", "r-1"]]);
        let value = |block: u32, label: &str| {
            let is_it = |one: &&Record| {
                (one.block, one.subject.as_str(), one.workload.as_str()) == (block, "b", label)
            };
            let sample = &all.iter().find(is_it).unwrap().invocations[0].samples[0];
            let model::SampleData::Values(values) = &sample.data else { panic!("{sample:?}") };
            values[0].ln()
        };
        let differences: Vec<f64> =
            (0..8).map(|block| value(block, "r-2") - value(block, "r-1")).collect();
        let expected = stats::TTest::of(&differences).unwrap();
        let effect = own[1].effect.as_ref().unwrap();
        assert!((effect.log_mean - expected.mean).abs() < 1e-9);
        assert!(
            (effect.p_difference.unwrap() / expected.p_difference().unwrap() - 1.0).abs() < 1e-6
        );
        let (low, _) = expected.interval(plan.alpha / 2.0);
        assert!((effect.family_interval.low.ln() - low).abs() < 1e-9, "two comparisons");
    }

    #[test]
    fn claims_are_a_family_of_their_own_and_change_no_verdict() {
        let all = records(rising, 0.05);
        let step = claim(&["r-1", "r-2"], &["m"], ClaimedEffect::Better);
        // The same pair in two claims is one comparison.
        let plan = grid(vec![step.clone(), step, claim(&LABELS, &["m"], ClaimedEffect::Better)]);
        let own = findings(&plan, &all).together;
        assert_eq!(own.len(), 6);
        let raw: Vec<Option<f64>> =
            own.iter().map(|one| one.effect.as_ref().unwrap().p_difference).collect();
        let adjusted = crate::family::holm_of(&raw);
        for (one, adjusted) in own.iter().zip(adjusted) {
            let found = one.effect.as_ref().unwrap().adjusted_difference.unwrap();
            assert!((found / adjusted.unwrap() - 1.0).abs() < 1e-9);
        }
        let with = crate::judge(&plan, &all);
        let without = crate::judge(&grid(Vec::new()), &all);
        assert_eq!((&with.findings, &with.families), (&without.findings, &without.families));
    }

    #[test]
    fn failures_controls_and_missing_blocks_leave_a_claim_open() {
        let plan = grid(vec![claim(&["r-1", "r-2"], &["m"], ClaimedEffect::Better)]);
        let mut failing = records(rising, 0.01);
        let is_failing = |one: &&mut Record| one.workload == "r-2" && one.block < 3;
        for one in failing.iter_mut().filter(is_failing) {
            one.outcome = Outcome::Failed { reason: "no space left".to_owned() };
        }
        let found = judged(&plan, &failing);
        assert_eq!(found.outcome, ClaimOutcome::Undecided, "{}", found.reason);
        let mut own = findings(&plan, &records(rising, 0.01));
        cap(&plan, &mut own, &FailedControls::one("r-1", "m"));
        let mut capped = own.together.iter().chain(own.alone.iter().flatten());
        assert!(capped.all(|one| one.verdict == Verdict::Inconclusive));
        let few: Vec<Record> =
            records(rising, 0.01).into_iter().filter(|one| one.block < 4).collect();
        assert_eq!(judged(&plan, &few).outcome, ClaimOutcome::Undecided);
        let mut gone = grid(vec![claim(&["r-1", "r-2"], &["m"], ClaimedEffect::Better)]);
        gone.workloads.remove(1);
        assert_eq!(judged(&gone, &few).reason, "the question was not asked");
        gone.is_quick = true;
        assert!(judged(&gone, &few).reason.contains("--quick left out"));
    }

    #[test]
    fn an_adaptive_campaign_answers_at_the_level_of_a_look() {
        let claims = vec![claim(&["r-1", "r-2"], &["m"], ClaimedEffect::Better)];
        let fixed = grid(claims);
        let adaptive = Plan { looks: vec![6, 8], ..fixed.clone() };
        let all = records(rising, 0.02);
        assert_eq!(judged(&adaptive, &all).outcome, ClaimOutcome::Confirmed);
        // Six blocks answered it, whatever came after them.
        let early: Vec<Record> = all.iter().filter(|one| one.block < 6).cloned().collect();
        assert_eq!(judged(&adaptive, &all).reason, judged(&adaptive, &early).reason);
        assert_ne!(judged(&adaptive, &all).reason, judged(&fixed, &all).reason);
        let ended = crate::ended(&fixed, &all).claims.remove(0);
        assert!(ended.reason.contains("ran to their planned end"), "{}", ended.reason);
    }
}
