//! Schedulers that left before their trials were over: how often, and why.

use crate::counts;
use crate::failure_reasons::ToldReasons;
use model::{FailureCount, Plan};
use phrases::{Language, say};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The validity rule that such a trial breaks.
const RULE: &str = "EJECTED";
/// A reason is quoted up to so many characters.
const REASON_LIMIT: usize = 120;

/// How often a subject's scheduler was ejected, over all workloads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Ejections {
    /// Subject id.
    pub subject: String,
    /// Trials in which it was.
    pub ejected: u64,
    /// Trials that ran, those of repeated blocks included.
    pub trials: u64,
    /// How often the kernel gave which reason.
    pub reasons: BTreeMap<String, u64>,
}

impl Ejections {
    /// `ejected in 3 of 20 trials (2 x runnable task stall, 1 x …)`.
    pub(crate) fn words(&self, language: Language) -> String {
        let known = ToldReasons::of(&self.reasons);
        let reasons: Vec<String> = match known.told.as_slice() {
            [(only, _)] => vec![(*only).to_owned()],
            several => {
                let told = several.iter().map(|(reason, times)| format!("{times} x {reason}"));
                told.chain(known.others(language)).collect()
            }
        };
        let reasons =
            if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
        let Self { subject, ejected, trials, .. } = self;
        say!(
            language,
            "{subject}: ejected in {ejected} of {trials}{reasons}",
            subject,
            ejected,
            trials = counts::trials(*trials, language),
            reasons
        )
    }
}

/// Those of every subject that was ejected at all, in the plan's order.
pub(crate) fn ejections(plan: &Plan, counts: &[FailureCount]) -> Vec<Ejections> {
    let of_subject = |id: &String| {
        let own: Vec<&FailureCount> = counts.iter().filter(|count| count.subject == *id).collect();
        let ejected = own.iter().filter_map(|count| count.rules.get(RULE)).sum();
        let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
        for (reason, times) in own.iter().flat_map(|count| &count.reasons) {
            let detail = reason.strip_prefix(RULE).and_then(|rest| rest.strip_prefix(": "));
            if let Some(detail) = detail {
                *reasons.entry(short(detail)).or_default() += times;
            }
        }
        let trials = own.iter().map(|count| count.trials).sum();
        Ejections { subject: id.clone(), ejected, trials, reasons }
    };
    let all = plan.subjects.iter().map(|subject| of_subject(&subject.id));
    all.filter(|ejections| ejections.ejected > 0).collect()
}

/// What the kernel says in brackets (`BPF scheduler "x" disabled (runnable task stall)`,
/// kernel/sched/ext.c, 6.12), without the names and times that differ from trial to trial;
/// else the beginning of what was seen.
fn short(detail: &str) -> String {
    let in_brackets = detail.split_once("disabled (").and_then(|(_, rest)| rest.split_once(')'));
    let text = in_brackets.map_or(detail, |(reason, _)| reason);
    if text.chars().count() <= REASON_LIMIT {
        return text.to_owned();
    }
    let kept: String = text.chars().take(REASON_LIMIT).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_reason_is_what_stands_in_brackets() {
        let seen = "it was lab_bfs of load 3, now there is none: sched_ext: BPF scheduler \"lab_bfs\" disabled \
                    (runnable task stall); sched_ext: lab_bfs: spin[812] failed to run for 5.056s";
        assert_eq!(short(seen), "runnable task stall");
        assert_eq!(
            short("its program ended with exit status 1"),
            "its program ended with exit status 1"
        );
        assert_eq!(short(&"long ".repeat(40)).chars().count(), REASON_LIMIT);
    }
}
