//! Failures are outcomes: counted, compared, and never averaged away.

use crate::observations::Observations;
use model::{Caveat, CaveatCode, FailureCount, Outcome, Plan};
use stats::fisher_exact;
use std::collections::BTreeMap;

/// A subject that fails more often than this has no verdict (STATISTICS 2.8).
const FAILED_SHARE: f64 = 0.10;
/// Level of Fisher's test.
const LEVEL: f64 = 0.05;

/// Counts for every subject and workload that ran.
pub(crate) fn failures(plan: &Plan, observations: &Observations<'_>) -> Vec<FailureCount> {
    let mut counts = Vec::new();
    for workload in &plan.workloads {
        let of_reference = count(observations, &plan.reference().id, &workload.label);
        for subject in &plan.subjects {
            let mut of_subject = count(observations, &subject.id, &workload.label);
            if of_subject.trials == 0 {
                continue;
            }
            if subject.id != plan.reference().id {
                of_subject.p_failure = fisher_exact(
                    of_subject.failed,
                    ran(&of_subject),
                    of_reference.failed,
                    ran(&of_reference),
                );
                of_subject.p_invalid = fisher_exact(
                    of_subject.invalid,
                    of_subject.trials,
                    of_reference.invalid,
                    of_reference.trials,
                );
            }
            counts.push(of_subject);
        }
    }
    counts
}

fn count(observations: &Observations<'_>, subject: &str, workload: &str) -> FailureCount {
    let mut count = FailureCount {
        subject: subject.to_owned(),
        workload: workload.to_owned(),
        trials: 0,
        failed: 0,
        invalid: 0,
        p_failure: None,
        p_invalid: None,
        reasons: BTreeMap::new(),
    };
    for record in observations.all() {
        if record.subject != subject || record.workload != workload {
            continue;
        }
        count.trials += 1;
        let reason = match &record.outcome {
            Outcome::Completed => continue,
            Outcome::Failed { reason } => {
                count.failed += 1;
                reason.clone()
            }
            Outcome::Invalid { rule, detail } => {
                count.invalid += 1;
                format!("{rule}: {detail}")
            }
        };
        *count.reasons.entry(reason).or_default() += 1;
    }
    count
}

/// Trials that broke no rule: those that could fail.
fn ran(count: &FailureCount) -> u64 {
    count.trials - count.invalid
}

/// The caveat that suppresses a verdict between these two.
pub(crate) fn differential_failure(
    counts: &[FailureCount],
    workload: &str,
    subject: &str,
    reference: &str,
) -> Option<Caveat> {
    let find =
        |id: &str| counts.iter().find(|count| count.workload == workload && count.subject == id);
    let share = |count: &FailureCount| count.failed as f64 / ran(count).max(1) as f64;
    let (subject, reference) = (find(subject)?, find(reference)?);
    let is_below = |p: Option<f64>| p.is_some_and(|p| p < LEVEL);
    if is_below(subject.p_invalid) {
        let of = |count: &FailureCount| {
            format!("{} in {} of {} trials", count.subject, count.invalid, count.trials)
        };
        let detail = format!("validity rules were broken: {}, {}", of(subject), of(reference));
        return Some(Caveat::new(CaveatCode::DifferentialFailure, detail));
    }
    let differs = is_below(subject.p_failure);
    if !differs && share(subject) <= FAILED_SHARE && share(reference) <= FAILED_SHARE {
        return None;
    }
    Some(Caveat::new(
        CaveatCode::DifferentialFailure,
        format!(
            "{} failed in {} of {} trials, {} in {} of {}",
            subject.subject,
            subject.failed,
            ran(subject),
            reference.subject,
            reference.failed,
            ran(reference)
        ),
    ))
}
