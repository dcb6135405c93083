//! Numbers without blocks (STATISTICS 2.11b): imported from somebody who ran one
//! subject and then another. Every cell, every margin over some of its dimensions,
//! and all of it together, by Welch's t on logarithms; Holm within each kind.
//!
//! A replicate is one execution. What it measured more than once, or for several
//! levels of a dimension, is a mean of logarithms inside it; dimensions that each
//! execution fixes are strata of equal weight.

use crate::comparison::interval;
use crate::family::holm_of;
use crate::questions::every_pair;
use crate::ranking::rankings;
use crate::reduce::{Lack, reduce};
use crate::verdict::{Decision, Evidence, LEAST_PAIRS, decide};
use model::{
    Caveat, CaveatCode, Comparisons, Effect, FINDINGS_FORMAT, Finding, Findings, Metric, Outcome,
    ParameterValue, Plan, Question, Record, Role, Subject, WorkloadPlan,
    round_significant as round,
};
use stats::{TTest, exp, ln, mean};
use std::collections::BTreeMap;

/// With more dimensions than this only single ones are margins.
const MOST_CROSSED: usize = 3;

/// Judges imported samples.
pub(crate) fn judge(
    plan: &Plan,
    records: &[Record],
    dimensions: &[String],
    fixed: &[String],
) -> Findings {
    let table = Table::of(plan, records, dimensions, fixed);
    let mut findings = Vec::new();
    let mut families = BTreeMap::new();
    for kept in margins(dimensions) {
        let family = table.family(&kept);
        families.insert(name_of(&kept, dimensions), family.len());
        findings.extend(judge_family(plan, &family));
    }
    Findings {
        format: FINDINGS_FORMAT.to_owned(),
        plan_digest: plan.digest.clone(),
        seed: plan.seed,
        alpha: plan.alpha,
        families,
        rankings: rankings(plan, &findings),
        use_cases: Vec::new(),
        claims: crate::claims::claims(plan, &findings),
        findings,
        failures: Vec::new(),
        caveats: plan.imported.iter().flat_map(|imported| imported.caveats.clone()).collect(),
    }
}

/// Which dimensions a question keeps: all of them are cells, none is everything.
fn margins(dimensions: &[String]) -> Vec<Vec<usize>> {
    let count = dimensions.len();
    let mut kept: Vec<Vec<usize>> = if count <= MOST_CROSSED {
        let chosen =
            |pattern: usize| (0..count).filter(|index| pattern >> index & 1 == 1).collect();
        (0..1_usize << count).map(chosen).collect()
    } else {
        let single = (0..count).map(|index| vec![index]);
        [(0..count).collect(), Vec::new()].into_iter().chain(single).collect()
    };
    // Everything first, then the margins, the cells last: the order of reading.
    kept.sort_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
    kept
}

/// The name of a family.
fn name_of(kept: &[usize], dimensions: &[String]) -> String {
    if kept.len() == dimensions.len() {
        return "cells".to_owned();
    }
    if kept.is_empty() {
        return "overall".to_owned();
    }
    let names: Vec<&str> = kept.iter().map(|index| dimensions[*index].as_str()).collect();
    names.join("+")
}

/// One value: a logarithm with its place.
struct Cell<'a> {
    subject: &'a str,
    metric: &'a str,
    levels: Vec<String>,
    replicate: u32,
    sequence: u64,
    log: Result<f64, Lack>,
}

/// All values.
struct Table<'a> {
    plan: &'a Plan,
    dimensions: &'a [String],
    /// Whether each dimension is fixed by an execution.
    is_fixed: Vec<bool>,
    cells: Vec<Cell<'a>>,
}

/// The samples of one question.
struct Samples<'a> {
    question: Question,
    metric: &'a Metric,
    /// Logarithms of the replicates by stratum: reference and subject.
    strata: BTreeMap<Vec<String>, [Vec<f64>; 2]>,
    zeros: usize,
    /// Cells that only one of the two has.
    lonely: usize,
    /// First and last position in the file, of reference and subject.
    span: [Option<(u64, u64)>; 2],
}

impl<'a> Table<'a> {
    fn of(
        plan: &'a Plan,
        records: &'a [Record],
        dimensions: &'a [String],
        fixed: &[String],
    ) -> Self {
        let levels: BTreeMap<&str, Vec<String>> = plan
            .workloads
            .iter()
            .map(|workload| (workload.label.as_str(), levels(workload, dimensions)))
            .collect();
        let mut cells = Vec::new();
        for record in records.iter().filter(|record| record.outcome == Outcome::Completed) {
            let Some(workload) = plan.workload(&record.workload) else { continue };
            let primary =
                workload.metrics.iter().filter(|metric| workload.primary.contains(&metric.id));
            for metric in primary {
                let log = reduce(record, metric).map(|reduced| reduced.scaled);
                if log == Err(Lack::Absent) {
                    continue;
                }
                cells.push(Cell {
                    subject: &record.subject,
                    metric: &metric.id,
                    levels: levels[workload.label.as_str()].clone(),
                    replicate: record.block,
                    sequence: record.sequence,
                    log,
                });
            }
        }
        let is_fixed = dimensions.iter().map(|name| fixed.contains(name)).collect();
        Self { plan, dimensions, is_fixed, cells }
    }

    /// Every question that keeps these dimensions: metric by metric, level by level,
    /// pair by pair.
    fn family(&self, kept: &[usize]) -> Vec<Samples<'a>> {
        let name = name_of(kept, self.dimensions);
        let mut metrics: Vec<&'a Metric> = Vec::new();
        for workload in &self.plan.workloads {
            for metric in workload.metrics.iter().filter(|m| workload.primary.contains(&m.id)) {
                if metrics.iter().all(|known| known.id != metric.id) {
                    metrics.push(metric);
                }
            }
        }
        let mut family = Vec::new();
        for metric in metrics {
            // In the order in which the plan first has them.
            let mut by_levels: Vec<(Vec<&str>, Vec<&Cell<'a>>)> = Vec::new();
            let mut places: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
            for cell in self.cells.iter().filter(|cell| cell.metric == metric.id) {
                let key: Vec<&str> =
                    kept.iter().map(|index| cell.levels[*index].as_str()).collect();
                let place = *places.entry(key.clone()).or_insert_with(|| {
                    by_levels.push((key, Vec::new()));
                    by_levels.len() - 1
                });
                by_levels[place].1.push(cell);
            }
            for (key, cells) in &by_levels {
                let label = self.label(kept, key);
                for (reference, subject) in pairs(self.plan) {
                    let question = Question {
                        workload: label.clone(),
                        metric: metric.id.clone(),
                        unit: metric.unit,
                        direction: metric.direction,
                        subject: subject.id.clone(),
                        reference: reference.id.clone(),
                        role: Role::Primary,
                        family: name.clone(),
                    };
                    family.push(self.samples(question, metric, kept, cells));
                }
            }
        }
        family
    }

    fn label(&self, kept: &[usize], key: &[&str]) -> String {
        if let (true, Some(only)) = (self.dimensions.is_empty(), self.plan.workloads.first()) {
            return only.label.clone();
        }
        if kept.is_empty() {
            return "overall".to_owned();
        }
        let parts: Vec<String> = kept
            .iter()
            .zip(key)
            .map(|(index, level)| format!("{}:{level}", self.dimensions[*index]))
            .collect();
        parts.join(",")
    }

    fn samples(
        &self,
        question: Question,
        metric: &'a Metric,
        kept: &[usize],
        cells: &[&Cell<'a>],
    ) -> Samples<'a> {
        let mut samples = Samples {
            question,
            metric,
            strata: BTreeMap::new(),
            zeros: 0,
            lonely: 0,
            span: [None, None],
        };
        // Executions by stratum, subject and replicate.
        let mut executions: BTreeMap<(Vec<String>, usize, u32), Vec<f64>> = BTreeMap::new();
        let mut present: BTreeMap<&[String], [bool; 2]> = BTreeMap::new();
        for cell in cells {
            let side = match cell.subject {
                id if id == samples.question.reference => 0,
                id if id == samples.question.subject => 1,
                _ => continue,
            };
            let Ok(log) = cell.log else {
                samples.zeros += 1;
                continue;
            };
            present.entry(&cell.levels).or_default()[side] = true;
            let span = samples.span[side].get_or_insert((cell.sequence, cell.sequence));
            *span = (span.0.min(cell.sequence), span.1.max(cell.sequence));
            let stratum = self.stratum(kept, cell);
            executions.entry((stratum, side, cell.replicate)).or_default().push(log);
        }
        samples.lonely = present.values().filter(|sides| sides[0] != sides[1]).count();
        for ((stratum, side, _), logs) in executions {
            samples.strata.entry(stratum).or_default()[side].extend(mean(&logs));
        }
        samples
    }

    /// The levels that an execution fixes and the question does not keep.
    fn stratum(&self, kept: &[usize], cell: &Cell<'_>) -> Vec<String> {
        let free = (0..self.dimensions.len())
            .filter(|index| self.is_fixed[*index] && !kept.contains(index));
        free.map(|index| cell.levels[index].clone()).collect()
    }
}

fn levels(workload: &WorkloadPlan, dimensions: &[String]) -> Vec<String> {
    dimensions
        .iter()
        .map(|name| match workload.parameters.0.get(name) {
            Some(ParameterValue::Text(text)) => text.clone(),
            _ => String::new(),
        })
        .collect()
}

/// Pairs of subjects, the one compared with first.
fn pairs(plan: &Plan) -> Vec<(&Subject, &Subject)> {
    let mut pairs = every_pair(plan);
    if plan.comparisons == Comparisons::Reference {
        pairs.retain(|(first, _)| first.id == plan.reference().id);
    }
    pairs
}

impl Samples<'_> {
    /// The estimate, oriented so that above 0 is better.
    fn test(&self) -> Option<TTest> {
        let strata: Vec<(&[f64], &[f64])> = self
            .strata
            .values()
            .map(|[reference, subject]| (reference.as_slice(), subject.as_slice()))
            .collect();
        let test = TTest::stratified(&strata)?;
        Some(TTest { mean: self.question.direction.sign() * test.mean, ..test })
    }

    /// Replicates of the subject that has fewer.
    fn replicates(&self) -> usize {
        let of = |side: usize| self.strata.values().map(|sides| sides[side].len()).sum::<usize>();
        of(0).min(of(1))
    }

    /// Whether one subject came after the other in the file.
    fn is_one_after_the_other(&self) -> bool {
        let [Some(first), Some(second)] = self.span else { return false };
        first.1 < second.0 || second.1 < first.0
    }

    /// Geometric mean of one side over strata of equal weight.
    fn value(&self, side: usize) -> Option<f64> {
        let of_strata: Option<Vec<f64>> =
            self.strata.values().map(|sides| mean(&sides[side])).collect();
        of_strata.and_then(|logs| mean(&logs)).map(|log| round(exp(log)))
    }

    fn caveats(&self) -> Vec<Caveat> {
        let question = &self.question;
        let mut caveats =
            vec![Caveat::new(CaveatCode::UnblockedDesign, "nothing says that blocks were run")];
        if self.is_one_after_the_other() {
            let detail = format!(
                "in the file's order all of {} and all of {} follow each other",
                question.reference, question.subject
            );
            caveats.push(Caveat::new(CaveatCode::OrderConfounded, detail));
        }
        if self.zeros > 0 {
            let detail = format!("{} values are zero", self.zeros);
            caveats.push(Caveat::new(CaveatCode::ZeroValue, detail));
        }
        if self.lonely > 0 {
            let detail = format!("{} cells have values of one subject only", self.lonely);
            caveats.push(Caveat::new(CaveatCode::AbsentValues, detail));
        }
        let count = self.replicates();
        let fewest = self.strata.values().flatten().map(Vec::len).min().unwrap_or(0);
        if count < LEAST_PAIRS || fewest < 2 {
            let detail = format!("{count} replicates, in one stratum {fewest}");
            caveats.push(Caveat::new(CaveatCode::FewReplicates, detail));
        }
        if self.test().is_some_and(|test| test.is_degenerate()) {
            caveats.push(Caveat::new(CaveatCode::Degenerate, "the replicates do not vary"));
        }
        caveats.sort();
        caveats
    }

    /// What forbids a verdict.
    fn obstacle(&self) -> Option<Decision> {
        let empty = |side: usize| self.strata.values().all(|sides| sides[side].is_empty());
        for (side, id) in [(0, &self.question.reference), (1, &self.question.subject)] {
            if empty(side) && self.zeros == 0 {
                return Some(Decision::inconclusive(format!("there is no value of {id}")));
            }
        }
        if self.zeros > 0 {
            let reason = format!("{} values are zero: a ratio is not defined", self.zeros);
            return Some(Decision::inconclusive(reason));
        }
        if self.lonely > 0 {
            let reason =
                format!("{} cells have values of one subject only: the mixes differ", self.lonely);
            return Some(Decision::inconclusive(reason));
        }
        let fewest = self.strata.values().flatten().map(Vec::len).min().unwrap_or(0);
        if self.replicates() < LEAST_PAIRS {
            let reason = format!("{} replicates; a verdict needs {LEAST_PAIRS}", self.replicates());
            return Some(Decision::inconclusive(reason));
        }
        (fewest < 2).then(|| {
            Decision::inconclusive("a stratum has one replicate, which says nothing about noise")
        })
    }
}

fn judge_family(plan: &Plan, family: &[Samples<'_>]) -> Vec<Finding> {
    let tests: Vec<Option<TTest>> = family.iter().map(Samples::test).collect();
    let thetas: Vec<f64> = family.iter().map(|samples| ln(1.0 + samples.metric.margin)).collect();
    let differences =
        holm_of(&tests.iter().map(|test| test.and_then(|t| t.p_difference())).collect::<Vec<_>>());
    let of_theta = tests.iter().zip(&thetas);
    let equivalences = holm_of(
        &of_theta
            .map(|(test, theta)| test.and_then(|t| t.p_equivalence(*theta)))
            .collect::<Vec<_>>(),
    );
    let judged = family.iter().enumerate().map(|(index, samples)| {
        let adjusted = (differences[index], equivalences[index]);
        finding(plan, samples, tests[index].as_ref(), thetas[index], adjusted, family.len())
    });
    judged.collect()
}

fn finding(
    plan: &Plan,
    samples: &Samples<'_>,
    test: Option<&TTest>,
    theta: f64,
    (difference, equivalence): (Option<f64>, Option<f64>),
    family: usize,
) -> Finding {
    let decision = samples.obstacle().unwrap_or_else(|| {
        let count = samples.replicates();
        decide(&Evidence { count, test, difference, equivalence, theta, alpha: plan.alpha })
    });
    let sign = samples.question.direction.sign();
    Finding {
        question: samples.question.clone(),
        verdict: decision.verdict,
        strength: decision.strength,
        reason: decision.reason,
        look: None,
        margin: samples.metric.margin,
        pairs: samples.replicates(),
        reference_value: samples.value(0),
        subject_value: samples.value(1),
        effect: test.map(|test| Effect {
            log_mean: round(test.mean),
            log_sd: round(test.standard_deviation),
            standard_error: round(test.standard_error),
            degrees: round(test.degrees),
            ratio: round(exp(test.mean)),
            raw_ratio: round(exp(sign * test.mean)),
            interval: interval(test, plan.alpha),
            family_interval: interval(test, plan.alpha / family.max(1) as f64),
            p_difference: test.p_difference().map(round),
            p_equivalence: test.p_equivalence(theta).map(round),
            adjusted_difference: difference.map(round),
            adjusted_equivalence: equivalence.map(round),
        }),
        companion: None,
        planning: None,
        tail: None,
        diagnostics: None,
        blocks: Vec::new(),
        caveats: samples.caveats(),
    }
}
