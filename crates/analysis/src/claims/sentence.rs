//! The words and numbers of the sentence beside a claim.

use super::combined;
use crate::comparison_labels::{against, in_sentence, named};
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
    format!("{} on {}", against(question), cells(plan, claim, question))
}

/// The workload and the metric; of one number made of several comparisons all of its workloads, and
/// where it turns.
fn cells(plan: &Plan, claim: &Claim, question: &Question) -> String {
    let metric = &question.metric;
    if !claim.is_combined() {
        return format!("{} {metric}", in_sentence(&question.workload));
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
        return format!("{} of the smaller sample", model::counted(count, "replicate"));
    }
    let due = finding.look.map_or(plan.blocks.len(), |look| look.blocks as usize);
    let blocks = match count.cmp(&due) {
        std::cmp::Ordering::Equal if due > 1 => format!("in all {due} blocks"),
        std::cmp::Ordering::Less => format!("in {count} of {}", model::counted(due, "block")),
        _ => format!("in {}", model::counted(count, "block")),
    };
    match finding.look {
        Some(look) => format!("{blocks} of look {} of {}", look.number, look.of),
        None => blocks,
    }
}

/// The level of an interval whose probability of error is this: ` (95 %)`.
pub(super) fn at_level(alpha: f64) -> String {
    let tells = |places: &u8| alpha >= 10.0_f64.powi(-1 - i32::from(*places));
    let places = (1..12).find(tells).map_or(12, usize::from);
    let text = format!("{:.places$}", 100.0 * (1.0 - alpha));
    format!(" ({} %)", text.trim_end_matches('0').trim_end_matches('.'))
}

/// How the numbers of one sentence are told: as signed percentages, or, where one of them is two-fold
/// or more, all as factors. +318 % and -76 % are the same distance, and nobody sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    is_factor: bool,
}

/// From here on a change is a factor, as in reports: 1.9996 would be +100.0 %.
const LEAST_FACTOR: f64 = 1.9995;

impl Scale {
    /// That of these log ratios.
    pub(super) fn of(logs: &[f64]) -> Self {
        let is_beyond = |log: &f64| log.is_finite() && stats::exp(*log) >= LEAST_FACTOR;
        Self { is_factor: logs.iter().any(is_beyond) }
    }

    /// Two log ratios.
    pub(super) fn range(self, [low, high]: [f64; 2]) -> String {
        format!("{} to {}", self.change(low), self.change(high))
    }

    /// A log ratio: `-23.9 %`, or `4.18 times`.
    pub(super) fn change(self, log: f64) -> String {
        let ratio = stats::exp(log);
        if !log.is_finite() {
            return "unbounded".to_owned();
        }
        if !self.is_factor {
            return format!("{} %", model::signed_percent(ratio - 1.0, 1));
        }
        if ratio >= model::LARGEST_RATIO {
            return "more than 1e300 times".to_owned();
        }
        if ratio <= model::LEAST_RATIO {
            return "less than 1e-300 times".to_owned();
        }
        // Nobody counts zeros.
        if !(1e-5..1e7).contains(&ratio) {
            return format!("{ratio:.2e} times");
        }
        let places = match ratio {
            _ if ratio >= 99.95 => 0,
            _ if ratio >= 9.995 => 1,
            _ if ratio >= 0.099_5 => 2,
            _ => 5,
        };
        format!("{ratio:.places$} times")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One scale for the numbers of a sentence.
    #[test]
    fn a_change_is_a_percentage_within_two_fold_and_a_factor_beyond() {
        let logs = |ratios: [f64; 3]| ratios.map(f64::ln);
        for (ratios, told) in [
            ([0.95, 0.239, 1.1], ["-5.0 %", "-76.1 %", "+10.0 %"]),
            ([1.999, 1.5, 0.01], ["+99.9 %", "+50.0 %", "-99.0 %"]),
            ([4.18, 3.75, 4.66], ["4.18 times", "3.75 times", "4.66 times"]),
            ([1.9, 1.6, 2.3], ["1.90 times", "1.60 times", "2.30 times"]),
            ([0.9, 0.004, 120.3], ["0.90 times", "0.00400 times", "120 times"]),
            ([1e100, 1e-100, 0.5], ["1.00e100 times", "1.00e-100 times", "0.50 times"]),
        ] {
            let logs = logs(ratios);
            let scale = Scale::of(&logs);
            assert_eq!(logs.map(|log| scale.change(log)), told, "{ratios:?}");
        }
        let beyond = [-1_381.0, 1_381.0];
        let told = "less than 1e-300 times to more than 1e300 times";
        assert_eq!(Scale::of(&beyond).range(beyond), told);
        let unbounded = [-0.1, f64::INFINITY];
        assert_eq!(Scale::of(&unbounded).range(unbounded), "-9.5 % to unbounded");
    }

    #[test]
    fn a_level_has_the_digits_that_tell_it_from_certainty() {
        for (alpha, text) in [
            (0.05, " (95 %)"),
            (0.1, " (90 %)"),
            (0.05 / 3.0, " (98.3 %)"),
            (0.05 / 7.0, " (99.29 %)"),
            (0.05 / 64.0, " (99.922 %)"),
            (0.000_02, " (99.998 %)"),
            (0.000_001_8, " (99.99982 %)"),
            (0.000_000_003, " (99.9999997 %)"),
        ] {
            assert_eq!(at_level(alpha), text);
        }
    }
}
