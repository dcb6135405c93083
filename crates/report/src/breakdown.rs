//! Breakdowns: where the time of a whole goes, for workloads whose metrics add up to another.

use crate::inputs::Inputs;
use crate::quantities::value;
use model::{Plan, Subject, TrialValue, Unit, WorkloadPlan, round_significant};
use phrases::{Language, say};
use serde::{Deserialize, Serialize};
use stats::{mean, t_quantile};
use std::collections::BTreeMap;

/// The level of its intervals, each for itself.
const LEVEL: f64 = 0.95;

/// One whole of a workload, and its parts for each subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Breakdown {
    /// Label of the workload.
    pub workload: String,
    /// Id of the metric that the others add up to.
    pub whole: String,
    /// Unit of all of them.
    pub unit: Unit,
    /// Where it goes, subjects in the plan's order.
    pub subjects: Vec<Divided>,
}

/// One subject's whole and parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Divided {
    /// Subject id.
    pub subject: String,
    /// Blocks that have all of them.
    pub blocks: usize,
    /// The whole.
    pub whole: BlockMean,
    /// How much more it is than the first subject's, block by block; none of the first itself, and
    /// where no block has both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub more: Option<BlockMean>,
    /// Its parts, in the workload's order.
    pub parts: Vec<BreakdownPart>,
}

/// One part of a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BreakdownPart {
    /// Metric id.
    pub metric: String,
    /// The metric without the words that all parts share.
    pub name: String,
    /// How much it is.
    pub mean: BlockMean,
    /// Its share of the parts' sum.
    pub share: f64,
}

/// An arithmetic mean over blocks, for parts must add up, with Student's interval of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BlockMean {
    /// The mean.
    pub mean: f64,
    /// The ends of its interval; absent where one block says nothing of others.
    pub interval: Option<(f64, f64)>,
}

impl BlockMean {
    fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let mean = mean(values)?;
        let interval = (values.len() > 1).then(|| {
            let squares: f64 = values.iter().map(|one| (one - mean) * (one - mean)).sum();
            let error = (squares / (count - 1.0) / count).sqrt();
            let room = t_quantile(0.5 + LEVEL / 2.0, count - 1.0) * error;
            (round_significant(mean - room), round_significant(mean + room))
        });
        Some(Self { mean: round_significant(mean), interval })
    }

    /// `9.12 us (8.80 us to 9.44 us)`, of something that cannot be less than nothing.
    pub(crate) fn words(&self, unit: Unit, language: Language) -> String {
        let interval = self.interval.map(|(low, high)| (low.max(0.0), high));
        Self { interval, ..*self }.signed(unit, language)
    }

    /// `6.20 us (-1.10 us to 13.5 us)`.
    fn signed(&self, unit: Unit, language: Language) -> String {
        let mean = value(self.mean, unit);
        match self.interval {
            Some((low, high)) => {
                let (low, high) = (value(low, unit), value(high, unit));
                say!(language, "{mean} ({low} to {high})", mean, low, high)
            }
            None => mean,
        }
    }

    fn negated(self) -> Self {
        let interval = self.interval.map(|(low, high)| (-high, -low));
        Self { mean: -self.mean, interval }
    }
}

impl Divided {
    /// Whether it has no such part.
    fn lacks(&self, part: &BreakdownPart) -> bool {
        self.parts.iter().all(|known| known.metric != part.metric)
    }

    /// `s1 13.4 us: exchange 5.20 us (39 %), to client 4.10 us (31 %)`.
    pub(crate) fn line(&self, unit: Unit) -> String {
        let part = |part: &BreakdownPart| {
            let share = model::percent(part.share, 0);
            format!("{} {} ({share} %)", part.name, value(part.mean.mean, unit))
        };
        let parts: Vec<String> = self.parts.iter().map(part).collect();
        format!("{} {}: {}", self.subject, value(self.whole.mean, unit), parts.join(", "))
    }
}

impl Breakdown {
    /// `pinned: where round trip mean goes`.
    pub(crate) fn heading(&self, language: Language) -> String {
        let (workload, whole) = (&self.workload, self.whole.replace('_', " "));
        say!(language, "{workload}: where {whole} goes", workload, whole)
    }

    /// What to change first, and what parts cost that not every subject has.
    pub fn sentences(&self, language: Language) -> Vec<String> {
        let Some(first) = self.subjects.first() else { return Vec::new() };
        let most = first.parts.iter().max_by(|one, other| one.share.total_cmp(&other.share));
        let change = most.map(|part| {
            let share = format!("{} %", model::percent(part.share, 0));
            say!(
                language,
                "Change {part} first: it takes {share} of {subject}'s time, more than any other part.",
                part = part.name,
                share,
                subject = first.subject
            )
        });
        let is_new = |part: &&BreakdownPart| first.lacks(part);
        let new = self.subjects.iter().skip(1).flat_map(|one| {
            let parts = one.parts.iter().filter(is_new).map(|part| {
                let time = part.mean.words(self.unit, language);
                let (part, subject) = (&part.name, &one.subject);
                say!(language, "{part} takes {time} of {subject}'s time.", part, time, subject)
            });
            // Other parts may have become shorter by it: what it costs is what all takes longer.
            let more = one.more.filter(|_| one.parts.iter().any(|part| is_new(&part)));
            parts.chain(more.map(|more| self.difference(one, more, language))).collect::<Vec<_>>()
        });
        change.into_iter().chain(new).collect()
    }

    /// Whether a part has an interval.
    pub(crate) fn has_intervals(&self) -> bool {
        let mut parts = self.subjects.iter().flat_map(|one| &one.parts);
        parts.any(|part| part.mean.interval.is_some())
    }

    /// Whether its sentences tell an interval: that of a part that the first subject lacks.
    pub(crate) fn tells_intervals(&self) -> bool {
        let Some(first) = self.subjects.first() else { return false };
        let mut parts = self.subjects.iter().flat_map(|one| &one.parts);
        parts.any(|part| part.mean.interval.is_some() && first.lacks(part))
    }

    /// How much longer or shorter a subject's whole is than the first one's.
    fn difference(&self, one: &Divided, more: BlockMean, language: Language) -> String {
        let subject = &one.subject;
        let first = self.subjects.first().map_or("", |first| &first.subject);
        if more.mean < 0.0 {
            let time = more.negated().signed(self.unit, language);
            return say!(
                language,
                "In all, {subject} takes {time} less than {first}.",
                subject,
                time,
                first
            );
        }
        let time = more.signed(self.unit, language);
        say!(language, "In all, {subject} takes {time} more than {first}.", subject, time, first)
    }
}

/// How its numbers are to be read, and its intervals where there are any.
pub(crate) fn legend(has_intervals: bool, language: Language) -> &'static str {
    if has_intervals {
        return language.word(
            "Means over blocks of each block's mean; parts add up to the whole. Intervals are \
             Student's, 95 %, each for itself.",
        );
    }
    language.word("Means over blocks of each block's mean; parts add up to the whole.")
}

/// Every breakdown of a campaign, in the plan's order. None of an emulated processor's times.
pub(crate) fn breakdowns(inputs: &Inputs<'_>, hides_absolute: bool) -> Vec<Breakdown> {
    if hides_absolute {
        return Vec::new();
    }
    let plan = inputs.plan;
    plan.workloads.iter().flat_map(|workload| of_workload(plan, workload, inputs.values)).collect()
}

fn of_workload(plan: &Plan, workload: &WorkloadPlan, values: &[TrialValue]) -> Vec<Breakdown> {
    let mut wholes: Vec<&str> = Vec::new();
    for whole in workload.metrics.iter().filter_map(|metric| metric.part_of.as_deref()) {
        if !wholes.contains(&whole) {
            wholes.push(whole);
        }
    }
    let breakdown = |whole: &str| {
        let unit = workload.metrics.iter().find(|metric| metric.id == whole)?.unit;
        let shown = plan.subjects.iter().filter(|one| !one.is_control && workload.runs_for(one));
        let mut first: Option<BTreeMap<u32, f64>> = None;
        let mut subjects = Vec::new();
        for (mut one, wholes) in
            shown.filter_map(|subject| divided(workload, whole, subject, values))
        {
            one.more = first.as_ref().and_then(|first| {
                let both = wholes.iter().filter_map(|(block, own)| Some(own - first.get(block)?));
                BlockMean::of(&both.collect::<Vec<f64>>())
            });
            first.get_or_insert(wholes);
            subjects.push(one);
        }
        let (workload, whole) = (workload.label.clone(), whole.to_owned());
        (!subjects.is_empty()).then_some(Breakdown { workload, whole, unit, subjects })
    };
    wholes.into_iter().filter_map(breakdown).collect()
}

/// Where a subject's time goes, and the whole by block.
fn divided(
    workload: &WorkloadPlan,
    whole: &str,
    subject: &Subject,
    values: &[TrialValue],
) -> Option<(Divided, BTreeMap<u32, f64>)> {
    let is_part = |metric: &&model::Metric| {
        metric.part_of.as_deref() == Some(whole) && workload.measures(&metric.id, subject)
    };
    let parts: Vec<&str> =
        workload.metrics.iter().filter(is_part).map(|metric| metric.id.as_str()).collect();
    let mut blocks: BTreeMap<u32, BTreeMap<&str, f64>> = BTreeMap::new();
    for one in values {
        let is_own = one.subject == subject.id && one.workload == workload.label;
        if is_own && (one.metric == whole || parts.contains(&one.metric.as_str())) {
            blocks.entry(one.block).or_default().insert(&one.metric, one.value);
        }
    }
    // A block without one of them would make the sum another's.
    blocks.retain(|_, block| block.len() == parts.len() + 1);
    let of = |metric: &str| -> Option<BlockMean> {
        let all: Vec<f64> =
            blocks.values().filter_map(|block| block.get(metric).copied()).collect();
        BlockMean::of(&all)
    };
    let means: Vec<(&str, BlockMean)> =
        parts.iter().filter_map(|metric| Some((*metric, of(metric)?))).collect();
    let sum: f64 = means.iter().map(|(_, part)| part.mean).sum();
    let part = |(metric, mean): (&str, BlockMean)| BreakdownPart {
        metric: metric.to_owned(),
        name: metric.strip_suffix("_mean").unwrap_or(metric).replace('_', " "),
        mean,
        share: round_significant(mean.mean / sum),
    };
    let wholes = blocks.iter().filter_map(|(block, all)| Some((*block, *all.get(whole)?)));
    let wholes = wholes.collect();
    let divided = Divided {
        subject: subject.id.clone(),
        blocks: blocks.len(),
        whole: of(whole)?,
        more: None,
        parts: means.into_iter().map(part).collect(),
    };
    Some((divided, wholes))
}
