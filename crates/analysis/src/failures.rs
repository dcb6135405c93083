//! Failures are outcomes: counted, compared, and never averaged away.

use crate::observations::Observations;
use model::{FailureCount, Outcome, Plan, Verdict, round_significant as round};
use stats::{fisher_exact, holm};
use std::collections::BTreeMap;

/// A subject that fails more often than this has no verdict (docs/method.md#m-failures).
const FAILED_SHARE: f64 = 0.10;
/// Level of Fisher's test.
const LEVEL: f64 = 0.05;

/// Counts for every subject and workload that ran.
pub(crate) fn failures(plan: &Plan, observations: &Observations<'_>) -> Vec<FailureCount> {
    let known = counted(observations);
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
            let (failed, ran_there, invalid, trials) = of(&other.id)
                .map_or((0, 0, 0, 0), |one| (one.failed, ran(&one), one.invalid, one.trials));
            count.p_failure = fisher_exact(count.failed, ran(&count), failed, ran_there);
            count.p_invalid = fisher_exact(count.invalid, count.trials, invalid, trials);
            counts.push(count);
        }
        // The reference stands first among its workload's.
        counts.splice(place..place, of_reference);
    }
    judge(plan, &known, &mut counts);
    counts
}

/// Whether each subject fails more or less often than what it is compared with, Holm over all.
fn judge(plan: &Plan, known: &BTreeMap<(&str, &str), FailureCount>, counts: &mut [FailureCount]) {
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

/// Outcomes by subject and workload.
pub(crate) fn counted<'a>(
    observations: &Observations<'a>,
) -> BTreeMap<(&'a str, &'a str), FailureCount> {
    let mut counts: BTreeMap<(&str, &str), FailureCount> = BTreeMap::new();
    for record in observations.all() {
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
fn ran(count: &FailureCount) -> u64 {
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

/// How these two failed or broke rules so unlike each other that no verdict is given.
pub(crate) fn unequal_failures(
    counts: &[FailureCount],
    workload: &str,
    subject: &str,
    reference: &str,
) -> Option<String> {
    let find =
        |id: &str| counts.iter().find(|count| count.workload == workload && count.subject == id);
    let (subject, reference) = (find(subject)?, find(reference)?);
    if differs([subject.invalid, subject.trials], [reference.invalid, reference.trials]) {
        let of = |count: &FailureCount| {
            format!("{} in {} of {} trials", count.subject, count.invalid, count.trials)
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
        format!(
            "{subject} failed in {failed} of {trials} trials, {reference} in {others_failed} of {others}"
        )
    })
}

/// Whether two counts of as many trials differ by Fisher's exact test.
fn differs([count, trials]: [u64; 2], [other, others]: [u64; 2]) -> bool {
    fisher_exact(count, trials, other, others).is_some_and(|p| p < LEVEL)
}
