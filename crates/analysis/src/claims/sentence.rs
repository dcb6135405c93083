//! The words and numbers of the sentence beside a claim.

use super::combined;
use crate::comparison_labels::named;
use model::{Claim, ClaimOutcome, Finding, Plan, Question};

/// How one comparison ended.
pub(super) fn word(outcome: ClaimOutcome) -> &'static str {
    match outcome {
        ClaimOutcome::Confirmed => "confirmed",
        ClaimOutcome::Refuted => "refuted",
        ClaimOutcome::RefutedInSize => "refuted in size",
        ClaimOutcome::Immaterial => "immaterial",
        ClaimOutcome::RefutedAndImmaterial => "refuted as stated, and immaterial",
        ClaimOutcome::Undecided => "open",
    }
}

/// What is compared, and where: `b against a on w m`.
pub(super) fn compared(plan: &Plan, claim: &Claim, question: &Question) -> String {
    let cells = cells(plan, claim, question);
    format!("{} against {} on {cells}", question.subject, question.reference)
}

/// The workload and the metric; of one number made of several comparisons all of its workloads, and
/// where it turns.
fn cells(plan: &Plan, claim: &Claim, question: &Question) -> String {
    let metric = &question.metric;
    if !claim.is_combined() {
        return format!("{} {metric}", question.workload);
    }
    let parts = combined::rests_on(plan, claim);
    let mut workloads: Vec<&str> = Vec::new();
    for part in parts.iter().filter(|part| part.metric == *metric) {
        if !workloads.contains(&part.workload.as_str()) {
            workloads.push(&part.workload);
        }
    }
    let workloads = named(&workloads);
    match &claim.shape.turns {
        Some(turn) => {
            let [from, to] = &turn.levels;
            let between = format!("{metric} from {} {from} to {to}", turn.of);
            if turn.of == combined::WORKLOAD { between } else { format!("{workloads} {between}") }
        }
        None => format!("{workloads} {metric}"),
    }
}

/// How much of what was planned a finding rests on, and which look gave it.
pub(super) fn grounds(plan: &Plan, finding: &Finding, has_blocks: bool) -> String {
    let count = finding.pairs;
    if !has_blocks {
        return format!("{count} replicates of the smaller sample");
    }
    let due = finding.look.map_or(plan.blocks.len(), |look| look.blocks as usize);
    let blocks = match count.cmp(&due) {
        std::cmp::Ordering::Equal => format!("in all {due} blocks"),
        std::cmp::Ordering::Less => format!("in {count} of {due} blocks"),
        std::cmp::Ordering::Greater => format!("in {count} blocks"),
    };
    match finding.look {
        Some(look) => format!("{blocks} of look {} of {}", look.number, look.of),
        None => blocks,
    }
}

/// The level of an interval whose probability of error is this: ` (95 %)`.
pub(super) fn at_level(alpha: f64) -> String {
    let places = match alpha {
        _ if alpha >= 0.01 => 1,
        _ if alpha >= 0.001 => 2,
        _ if alpha >= 0.000_1 => 3,
        _ => 5,
    };
    let text = format!("{:.places$}", 100.0 * (1.0 - alpha));
    format!(" ({} %)", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Two log ratios as signed percentages.
pub(super) fn range([low, high]: [f64; 2]) -> String {
    format!("{} to {}", change(low), change(high))
}

/// A log ratio as a signed percentage.
pub(super) fn change(log: f64) -> String {
    if log.is_finite() {
        format!("{:+.1} %", 100.0 * (stats::exp(log) - 1.0))
    } else {
        "unbounded".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_has_the_digits_that_tell_it_from_certainty() {
        for (alpha, text) in [
            (0.05, " (95 %)"),
            (0.1, " (90 %)"),
            (0.05 / 3.0, " (98.3 %)"),
            (0.05 / 7.0, " (99.29 %)"),
            (0.05 / 64.0, " (99.922 %)"),
            (0.000_02, " (99.998 %)"),
        ] {
            assert_eq!(at_level(alpha), text);
        }
    }
}
