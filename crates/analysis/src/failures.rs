//! Failures are outcomes: counted, compared, and never averaged away.

use crate::observations::Observations;
use crate::rulebook::Basis;
use model::{
    FailureCount, Finding, Outcome, Plan, Record, Role, Verdict, round_significant as round,
};
use stats::{fisher_exact, holm, sign_sequence};
use std::collections::BTreeMap;

/// A subject that fails more often than this has no verdict (docs/method.md#m-failures).
const FAILED_SHARE: f64 = 0.10;
/// Level of Fisher's test.
const LEVEL: f64 = 0.05;

/// Outcomes by subject and workload.
pub(crate) type Counts<'a> = BTreeMap<(&'a str, &'a str), FailureCount>;

/// Counts for every subject and workload that ran, compared by tests of a fixed number of blocks.
pub(crate) fn failures(plan: &Plan, observations: &Observations<'_>) -> Vec<FailureCount> {
    failures_among(plan, &counted(observations.all()))
}

/// The same of outcomes that are counted already.
pub(crate) fn failures_among(plan: &Plan, known: &Counts<'_>) -> Vec<FailureCount> {
    compared(plan, known, &p_of_counts)
}

/// The same by tests that hold at every block, as its user may end a campaign at any. None of broken
/// rules does.
pub(crate) fn failures_at_every_block(
    plan: &Plan,
    observations: &Observations<'_>,
) -> Vec<FailureCount> {
    let by_signs = |pair: [&FailureCount; 2]| p_at_every_block(observations, pair);
    let counts = compared(plan, &counted(observations.all()), &by_signs).into_iter();
    counts.map(|count| FailureCount { p_invalid: None, ..count }).collect()
}

/// The counts of a plan, with the p of each that it and what it is compared with fail alike.
fn compared(
    plan: &Plan,
    known: &Counts<'_>,
    p_failure: &dyn Fn([&FailureCount; 2]) -> Option<f64>,
) -> Vec<FailureCount> {
    let mut counts = Vec::new();
    for workload in &plan.workloads {
        let of = |subject: &str| known.get(&(subject, workload.label.as_str())).cloned();
        let of_reference = of(&plan.reference().id);
        let place = counts.len();
        let others = plan.subjects.iter().filter(|subject| subject.id != plan.reference().id);
        for subject in others {
            let Some(mut count) = of(&subject.id) else { continue };
            let Some(other) = plan.compared_with(&subject.id) else {
                // The reference of a group is compared with nothing itself.
                counts.push(count);
                continue;
            };
            if let Some(other) = of(&other.id) {
                count.p_failure = p_failure([&count, &other]);
                count.p_invalid =
                    fisher_exact(count.invalid, count.trials, other.invalid, other.trials);
            }
            counts.push(count);
        }
        // The reference stands first among its workload's.
        counts.splice(place..place, of_reference);
    }
    judge(plan, known, &mut counts);
    counts
}

/// Two-sided p that a subject and another one fail alike on a workload (docs/method.md#m-failures).
fn p_of_counts([subject, other]: [&FailureCount; 2]) -> Option<f64> {
    fisher_exact(subject.failed, ran(subject), other.failed, ran(other))
}

/// The same by the blocks in which one of them failed alone, which holds at every block.
fn p_at_every_block(observations: &Observations<'_>, pair: [&FailureCount; 2]) -> Option<f64> {
    let [own, others] = failed_alone(observations, pair);
    sign_sequence(own, own + others)
}

/// In how many blocks each of two subjects failed on a workload while the other one completed.
fn failed_alone(observations: &Observations<'_>, pair: [&FailureCount; 2]) -> [u64; 2] {
    let mut alone = [0; 2];
    for block in observations.blocks() {
        let has_failed = pair.map(|one| {
            let trial = observations.trial(block, &one.subject, &one.workload)?;
            match &trial.outcome {
                Outcome::Completed => Some(false),
                Outcome::Failed { .. } => Some(true),
                Outcome::Invalid { .. } => None,
            }
        });
        match has_failed {
            [Some(true), Some(false)] => alone[0] += 1,
            [Some(false), Some(true)] => alone[1] += 1,
            _ => {}
        }
    }
    alone
}

/// Puts into each primary finding the p that its own two subjects fail alike, where a trial of
/// either failed: the plan's reference may be another one.
pub(crate) fn compare_pairs(
    findings: &mut [Finding],
    observations: &Observations<'_>,
    basis: Basis,
) {
    let known = counted(observations.all());
    match basis {
        Basis::Tests => compare_counted(findings, &known),
        Basis::Sequence => {
            let by_signs = |pair: [&FailureCount; 2]| p_at_every_block(observations, pair);
            compare_by(findings, &known, &by_signs);
        }
    }
}

/// The same by tests of a fixed number of blocks, of outcomes that are counted already.
pub(crate) fn compare_counted(findings: &mut [Finding], known: &Counts<'_>) {
    compare_by(findings, known, &p_of_counts);
}

fn compare_by(
    findings: &mut [Finding],
    known: &Counts<'_>,
    p_failure: &dyn Fn([&FailureCount; 2]) -> Option<f64>,
) {
    for finding in findings {
        let question = &finding.question;
        let workload = question.workload.as_str();
        let subject = known.get(&(question.subject.as_str(), workload));
        let reference = known.get(&(question.reference.as_str(), workload));
        let both = subject
            .zip(reference)
            .filter(|(subject, reference)| subject.failed + reference.failed > 0)
            .filter(|_| question.role == Role::Primary);
        let p = both.and_then(|(one, other)| p_failure([one, other]));
        finding.p_failure = p.map(round);
    }
}

/// Whether each subject fails more or less often than what it is compared with, Holm over all.
fn judge(plan: &Plan, known: &Counts<'_>, counts: &mut [FailureCount]) {
    // A reference is compared with nothing: it asks no question.
    let (asked, p_values): (Vec<&mut FailureCount>, Vec<f64>) =
        counts.iter_mut().filter_map(|count| count.p_failure.map(|p| (count, p))).unzip();
    for (count, adjusted) in asked.into_iter().zip(holm(&p_values)) {
        let other = plan
            .compared_with(&count.subject)
            .and_then(|other| known.get(&(other.id.as_str(), count.workload.as_str())));
        let share = |count: &FailureCount| count.failed as f64 / ran(count).max(1) as f64;
        let is_more = other.is_none_or(|other| share(count) > share(other));
        count.adjusted_failure = Some(adjusted);
        count.failure_verdict = Some(match (adjusted < plan.alpha, is_more) {
            (true, true) => Verdict::Worse,
            (true, false) => Verdict::Better,
            (false, _) => Verdict::Inconclusive,
        });
    }
}

/// Outcomes by subject and workload, of the records that count.
pub(crate) fn counted<'a>(latest: impl IntoIterator<Item = &'a Record>) -> Counts<'a> {
    let mut counts = Counts::new();
    for record in latest {
        let key = (record.subject.as_str(), record.workload.as_str());
        let count = counts.entry(key).or_insert_with(|| FailureCount {
            subject: record.subject.clone(),
            workload: record.workload.clone(),
            trials: 0,
            failed: 0,
            invalid: 0,
            p_failure: None,
            adjusted_failure: None,
            failure_verdict: None,
            p_invalid: None,
            reasons: BTreeMap::new(),
            rules: BTreeMap::new(),
        });
        count.trials += 1;
        let reason = match &record.outcome {
            Outcome::Completed => continue,
            Outcome::Failed { reason } => {
                count.failed += 1;
                reason.clone()
            }
            Outcome::Invalid { rule, detail } => {
                count.invalid += 1;
                *count.rules.entry(rule.clone()).or_default() += 1;
                format!("{rule}: {detail}")
            }
        };
        *count.reasons.entry(reason).or_default() += 1;
    }
    counts
}

/// Trials that broke no rule: those that could fail.
pub(crate) fn ran(count: &FailureCount) -> u64 {
    count.trials - count.invalid
}

/// The counts as they are stored.
pub(crate) fn rounded(count: FailureCount) -> FailureCount {
    FailureCount {
        p_failure: count.p_failure.map(round),
        adjusted_failure: count.adjusted_failure.map(round),
        p_invalid: count.p_invalid.map(round),
        ..count
    }
}

/// Counts by workload and subject: every comparison asks for two of them.
pub(crate) type CountsByName<'a> = BTreeMap<[&'a str; 2], &'a FailureCount>;

pub(crate) fn by_name(counts: &[FailureCount]) -> CountsByName<'_> {
    counts.iter().map(|count| ([count.workload.as_str(), count.subject.as_str()], count)).collect()
}

/// How these two failed or broke rules so unlike each other that no verdict is given.
pub(crate) fn unequal_failures(
    counts: &CountsByName<'_>,
    workload: &str,
    subject: &str,
    reference: &str,
) -> Option<String> {
    let subject = *counts.get(&[workload, subject])?;
    let reference = *counts.get(&[workload, reference])?;
    if differs([subject.invalid, subject.trials], [reference.invalid, reference.trials]) {
        let of = |count: &FailureCount| {
            let trials = model::counted(count.trials, "trial");
            format!("{} in {} of {trials}", count.subject, count.invalid)
        };
        return Some(format!("validity rules were broken: {}, {}", of(subject), of(reference)));
    }
    failed_unlike(
        (&subject.subject, [subject.failed, ran(subject)]),
        (&reference.subject, [reference.failed, ran(reference)]),
    )
}

/// How two subjects, each with how often it failed of how many trials, failed at different
/// rates, or one failed often.
pub(crate) fn failed_unlike(
    (subject, [failed, trials]): (&str, [u64; 2]),
    (reference, [others_failed, others]): (&str, [u64; 2]),
) -> Option<String> {
    let is_often = |failed: u64, trials: u64| failed as f64 > FAILED_SHARE * trials.max(1) as f64;
    let is_unlike = differs([failed, trials], [others_failed, others]);
    (is_unlike || is_often(failed, trials) || is_often(others_failed, others)).then(|| {
        let trials = model::counted(trials, "trial");
        format!(
            "{subject} failed in {failed} of {trials}, {reference} in {others_failed} of {others}"
        )
    })
}

/// Whether two counts of as many trials differ by Fisher's exact test.
fn differs([count, trials]: [u64; 2], [other, others]: [u64; 2]) -> bool {
    fisher_exact(count, trials, other, others).is_some_and(|p| p < LEVEL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, records};
    use crate::{ended, judge, live};
    use model::{Direction, Findings, Reduction};

    /// With a search through all counts for each comparison this ends at the time limit.
    #[test]
    fn counts_of_very_many_comparisons_are_looked_up() {
        let count = |workload: usize, subject: &str, failed: u64| FailureCount {
            subject: subject.to_owned(),
            workload: format!("w{workload}"),
            trials: 20,
            failed,
            invalid: 0,
            p_failure: None,
            adjusted_failure: None,
            failure_verdict: None,
            p_invalid: None,
            reasons: BTreeMap::new(),
            rules: BTreeMap::new(),
        };
        let of = |workload: usize| [count(workload, "a", 0), count(workload, "b", 12)];
        let counts: Vec<FailureCount> = (0..150_000).flat_map(of).collect();
        let by_name = by_name(&counts);
        for workload in 0..150_000 {
            let told = unequal_failures(&by_name, &format!("w{workload}"), "b", "a");
            assert_eq!(told.as_deref(), Some("b failed in 12 of 20 trials, a in 0 of 20"));
        }
        assert_eq!(unequal_failures(&by_name, "w0", "b", "c"), None);
    }

    /// Subjects that failed in these blocks of as many.
    fn failing(blocks: usize, subjects: &[(&str, Vec<usize>)]) -> (Plan, Vec<Record>) {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let ids: Vec<&str> = subjects.iter().map(|(id, _)| *id).collect();
        let values: Vec<f64> = (0..blocks).map(|block| 100.0 + (block * 7 % 5) as f64).collect();
        let mut all = Vec::new();
        for (id, failed) in subjects {
            let mut own = records(id, &values);
            for block in failed {
                own[*block].outcome = Outcome::Failed { reason: "exit status 1".to_owned() };
                own[*block].invocations.clear();
            }
            all.extend(own);
        }
        (plan(&ids, metrics, 40), all)
    }

    fn told(findings: &Findings) -> (Option<f64>, Option<Verdict>) {
        let count = findings.failures.iter().find(|count| count.subject == "b").unwrap();
        (count.p_failure, count.failure_verdict)
    }

    #[test]
    fn a_stop_that_a_user_chose_has_a_p_that_holds_at_every_block() {
        let (plan, all) = failing(20, &[("a", Vec::new()), ("b", (0..6).collect())]);
        // Fisher: 0.020. Six signs that agree: 7/64.
        assert_eq!(told(&judge(&plan, &all)).1, Some(Verdict::Worse));
        let (p, verdict) = told(&ended(&plan, &all));
        assert!((p.unwrap() - 7.0 / 64.0).abs() < 1e-9, "{p:?}");
        assert_eq!(verdict, Some(Verdict::Inconclusive));
        // Nine: 10/512, at half the level, and in a campaign that goes on nothing is said.
        let nine: Vec<usize> = (3..12).collect();
        let (plan, all) = failing(20, &[("a", Vec::new()), ("b", nine.clone())]);
        let of_nine = told(&ended(&plan, &all));
        assert!((of_nine.0.unwrap() - 10.0 / 512.0).abs() < 1e-9, "{of_nine:?}");
        assert_eq!(of_nine.1, Some(Verdict::Worse));
        assert_eq!(told(&live(&plan, &all)).1, Some(Verdict::Inconclusive));
        // In the same blocks nobody failed alone, and a trial that broke a rule is no outcome.
        let (plan, mut all) = failing(20, &[("a", nine.clone()), ("b", nine)]);
        assert_eq!(told(&ended(&plan, &all)).0, Some(1.0));
        for record in all.iter_mut().filter(|one| one.subject == "a" && one.block < 12) {
            record.outcome = Outcome::Invalid { rule: "R".to_owned(), detail: String::new() };
        }
        assert_eq!(told(&ended(&plan, &all)).0, Some(1.0));
    }

    #[test]
    fn each_pair_is_asked_whether_its_own_two_fail_alike() {
        let many: Vec<usize> = (0..12).collect();
        let of_three = [("a", Vec::new()), ("b", many.clone()), ("c", many)];
        let (plan, all) = failing(20, &of_three);
        let plan = Plan { comparisons: model::Comparisons::All, ..plan };
        let findings = judge(&plan, &all).findings;
        let of = |subject: &str, reference: &str| {
            let is_it = |one: &&Finding| {
                (one.question.subject.as_str(), one.question.reference.as_str())
                    == (subject, reference)
            };
            findings.iter().find(is_it).unwrap().p_failure.unwrap()
        };
        assert!(of("b", "a") < 1e-3 && of("c", "a") < 1e-3);
        assert!(of("c", "b") > 0.999_999);
        let (plan, all) = failing(20, &[("a", Vec::new()), ("b", Vec::new())]);
        assert_eq!(judge(&plan, &all).findings[0].p_failure, None, "nobody failed");
    }
}
