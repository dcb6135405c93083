//! Ladders: how the ratio of two subjects changes along the factor that subjects are
//! compared within, for each primary metric a table of levels by workloads.

use model::{
    Comparisons, Direction, Finding, Findings, Interval, Level, Plan, Role, Subject, Verdict,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One metric and pair of levels along a factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Ladder {
    /// Metric id.
    pub metric: String,
    /// Which way is better.
    pub direction: Direction,
    /// The factor that subjects are compared within.
    pub factor: String,
    /// What the compared subjects are, whatever their level of it.
    pub subject: String,
    /// What they are compared with.
    pub reference: String,
    /// Labels of the workloads that ask the metric: the columns.
    pub workloads: Vec<String>,
    /// One row for each level, in the factor's order.
    pub rungs: Vec<Rung>,
}

impl Ladder {
    /// Whether any of it rests on an emulated processor.
    pub fn is_emulated(&self) -> bool {
        self.rungs.iter().flat_map(|rung| &rung.cells).flatten().any(|cell| cell.is_emulated)
    }

    /// The findings that stand in its cells.
    pub(crate) fn findings<'f>(
        &'f self,
        findings: &'f Findings,
    ) -> impl Iterator<Item = &'f Finding> {
        let mut keys: BTreeSet<[&str; 3]> = BTreeSet::new();
        for rung in &self.rungs {
            for (workload, cell) in self.workloads.iter().zip(&rung.cells) {
                if let Some(cell) = cell {
                    let key = [workload, &cell.subject, &cell.reference];
                    keys.insert(key.map(String::as_str));
                }
            }
        }
        findings.findings.iter().filter(move |finding| {
            let question = &finding.question;
            let key = [&question.workload, &question.subject, &question.reference];
            question.role == Role::Primary
                && question.metric.as_str() == self.metric
                && keys.contains(&key.map(String::as_str))
        })
    }
}

/// One level of the factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Rung {
    /// The level.
    pub level: Level,
    /// One for each workload; absent where nothing was asked.
    pub cells: Vec<Option<LadderCell>>,
}

/// One comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LadderCell {
    /// Subject id.
    pub subject: String,
    /// Reference id.
    pub reference: String,
    /// The subject's value over the reference's, in the metric's own direction; of a share
    /// the ratio of the odds. Absent where there is no estimate.
    pub ratio: Option<LadderRatio>,
    /// The verdict, corrected over the family.
    pub verdict: Verdict,
    /// Whether the value is a share, and the ratio that of its odds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_odds: bool,
    /// Whether it rests on an emulated processor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_emulated: bool,
}

/// A ratio of values with its interval as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LadderRatio {
    /// The estimate.
    pub ratio: f64,
    /// Of an equivalence that which decided it; else that of this comparison alone.
    pub interval: Interval,
}

/// Every ladder of a campaign whose subjects are compared within a factor, by metric.
pub(crate) fn ladders(plan: &Plan, findings: &Findings) -> Vec<Ladder> {
    let Comparisons::Within(factor) = &plan.comparisons else { return Vec::new() };
    let pairs = pairs(plan, factor);
    let mut metrics: Vec<&str> = Vec::new();
    for metric in plan.workloads.iter().flat_map(|workload| &workload.primary) {
        if !metrics.contains(&metric.as_str()) {
            metrics.push(metric);
        }
    }
    let found: BTreeMap<[&str; 4], &Finding> = findings
        .findings
        .iter()
        .filter(|finding| finding.question.role == Role::Primary)
        .map(|finding| {
            let question = &finding.question;
            let key =
                [&question.metric, &question.workload, &question.subject, &question.reference];
            (key.map(String::as_str), finding)
        })
        .collect();
    metrics
        .iter()
        .flat_map(|metric| pairs.iter().map(move |pair| (*metric, pair)))
        .filter_map(|(metric, pair)| ladder(plan, factor, metric, pair, &found))
        .collect()
}

/// What is compared along the factor: the subjects of each level that are alike but for it.
struct Pair<'a> {
    names: [String; 2],
    rungs: Vec<(&'a Level, &'a Subject, &'a Subject)>,
}

fn pairs<'a>(plan: &'a Plan, factor: &str) -> Vec<Pair<'a>> {
    let mut pairs: Vec<Pair<'a>> = Vec::new();
    for group in model::groups(&plan.subjects, factor) {
        for (reference, subject) in group.pairs() {
            let Some(level) = group.level else { continue };
            let names = names(subject, reference, factor);
            let rung = (level, subject, reference);
            match pairs.iter_mut().find(|pair| pair.names == names) {
                Some(pair) => pair.rungs.push(rung),
                None => pairs.push(Pair { names, rungs: vec![rung] }),
            }
        }
    }
    for pair in &mut pairs {
        sort(&mut pair.rungs, |(level, ..)| level.as_str().parse::<f64>().ok());
    }
    pairs
}

/// By number where each level is one, else as they come.
fn sort<T>(rungs: &mut [T], number: impl Fn(&T) -> Option<f64>) {
    if rungs.iter().all(|rung| number(rung).is_some()) {
        rungs.sort_by(|a, b| {
            let [a, b] = [a, b].map(|rung| number(rung).unwrap_or(0.0));
            a.total_cmp(&b)
        });
    }
}

/// The levels in which two subjects differ apart from the factor. With one factor its levels
/// say enough.
fn names(subject: &Subject, reference: &Subject, factor: &str) -> [String; 2] {
    let (own, others) = (subject.levels_but(factor), reference.levels_but(factor));
    let mut factors: Vec<&str> = own.keys().chain(others.keys()).copied().collect();
    factors.sort_unstable();
    factors.dedup();
    factors.retain(|id| own.get(id) != others.get(id));
    let text = |levels: &BTreeMap<&str, &Level>| {
        let words: Vec<String> = factors
            .iter()
            .filter_map(|id| levels.get(id).map(|level| (id, level)))
            .map(
                |(id, level)| {
                    if factors.len() == 1 { level.to_string() } else { format!("{id} {level}") }
                },
            )
            .collect();
        if words.is_empty() { "the machine as it is".to_owned() } else { words.join(", ") }
    };
    [text(&own), text(&others)]
}

fn ladder(
    plan: &Plan,
    factor: &str,
    metric: &str,
    pair: &Pair<'_>,
    found: &BTreeMap<[&str; 4], &Finding>,
) -> Option<Ladder> {
    let finding = |label: &str, subject: &Subject, reference: &Subject| {
        found.get(&[metric, label, subject.id.as_str(), reference.id.as_str()]).copied()
    };
    let workloads: Vec<String> = plan
        .workloads
        .iter()
        .map(|workload| &workload.label)
        .filter(|label| pair.rungs.iter().any(|(_, a, b)| finding(label, a, b).is_some()))
        .cloned()
        .collect();
    let rungs: Vec<Rung> = pair
        .rungs
        .iter()
        .map(|(level, subject, reference)| Rung {
            level: (*level).clone(),
            cells: workloads
                .iter()
                .map(|label| finding(label, subject, reference).map(cell))
                .collect(),
        })
        .collect();
    let direction = pair.rungs.iter().find_map(|(_, subject, reference)| {
        let label = workloads.first()?;
        Some(finding(label, subject, reference)?.question.direction)
    })?;
    let [subject, reference] = pair.names.clone();
    Some(Ladder {
        metric: metric.to_owned(),
        direction,
        factor: factor.to_owned(),
        subject,
        reference,
        workloads,
        rungs,
    })
}

fn cell(finding: &Finding) -> LadderCell {
    let question = &finding.question;
    let shown = finding.effect.as_ref().zip(finding.shown_interval());
    let ratio = shown.map(|(effect, shown)| LadderRatio {
        ratio: effect.raw_ratio,
        interval: match question.direction {
            Direction::Higher => shown,
            // Turned back: the effect's own is oriented so that more is better.
            Direction::Lower => Interval {
                low: model::round_significant(1.0 / shown.high),
                high: model::round_significant(1.0 / shown.low),
            },
        },
    });
    LadderCell {
        subject: question.subject.clone(),
        reference: question.reference.clone(),
        ratio,
        verdict: finding.verdict,
        is_odds: finding.is_odds,
        is_emulated: finding.is_emulated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_that_are_numbers_are_sorted_by_size_and_others_stay() {
        let sorted = |levels: &[&str]| {
            let mut levels: Vec<String> = levels.iter().map(|level| (*level).to_owned()).collect();
            sort(&mut levels, |level| level.parse().ok());
            levels
        };
        assert_eq!(sorted(&["16", "2", "4"]), ["2", "4", "16"]);
        assert_eq!(sorted(&["2x2x1", "1", "4"]), ["2x2x1", "1", "4"]);
    }

    #[test]
    fn a_pair_is_named_by_what_differs() {
        let subject = |levels: &[(&str, &str)]| fixtures::subject("x", levels);
        let plain = subject(&[("vcpus", "2"), ("kernel", "6.18")]);
        let bfs = subject(&[("vcpus", "2"), ("kernel", "6.18"), ("scheduler", "lab:bfs")]);
        let two = subject(&[("vcpus", "2"), ("kernel", "6.12"), ("scheduler", "lab:bfs")]);
        assert_eq!(names(&bfs, &plain, "vcpus"), ["lab:bfs", "the machine as it is"]);
        assert_eq!(names(&two, &plain, "vcpus"), ["kernel 6.12, scheduler lab:bfs", "kernel 6.18"]);
    }
}
