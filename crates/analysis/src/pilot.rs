//! What a pilot says about a plan (docs/method.md#m-pilot): where the variance lives, what the
//! planned blocks would find, and how many would be needed. A pilot plans; its numbers
//! are never part of a verdict.

use crate::observations::Observations;
use crate::pairs::pairs;
use crate::questions::questions;
use crate::reduce::reduce;
use model::{Metric, PilotFinding, Plan, Record, Role, SampleData, round_significant as round};
use stats::{
    NestedVariance, blocks_for_difference, blocks_for_equivalence, detectable_effect, exp, ln,
    standard_deviation, variance,
};

/// Repetitions are capped here (docs/method.md#m-pilot).
const MOST_INVOCATIONS: u32 = 20;

/// Judges a pilot's records as a guide to `planned`: its blocks, its margins and its
/// family decide what they would find.
pub fn pilot(planned: &Plan, pilot: &Plan, records: &[Record]) -> Vec<PilotFinding> {
    let observations = Observations::of(records);
    let asked = questions(pilot);
    let judged = questions(planned)
        .into_iter()
        .filter(|question| question.question.role != Role::Screen)
        .count();
    let alpha = planned.alpha / judged.max(1) as f64;
    let blocks = planned.looks.last().copied().unwrap_or(planned.blocks.len() as u32);
    let primary = asked.into_iter().filter(|asked| asked.question.role == Role::Primary);
    primary
        .map(|asked| {
            let pairs = pairs(&observations, &asked);
            let question = &asked.question;
            let of = |subject: &str| -> Vec<&Record> {
                let own = pairs.blocks.iter().filter_map(|block| {
                    observations.completed(block.block, subject, &question.workload)
                });
                own.collect()
            };
            let arms = [of(&question.reference), of(&question.subject)];
            let levels = Levels::of(&arms, asked.metric, &pairs.differences);
            let planned_invocations = planned
                .workload(&question.workload)
                .map_or(asked.workload.invocations, |workload| workload.invocations);
            let expected_sd = levels.expected(planned_invocations);
            let theta = ln(1.0 + asked.metric.margin);
            let usable = expected_sd > 0.0;
            PilotFinding {
                workload: question.workload.clone(),
                metric: question.metric.clone(),
                subject: question.subject.clone(),
                reference: question.reference.clone(),
                pairs: pairs.differences.len(),
                log_sd: round(standard_deviation(&pairs.differences).unwrap_or(f64::NAN)),
                iteration_sd: levels.iteration.map(|own| round(own.sqrt())),
                invocation_sd: levels.invocation.map(|own| round(own.sqrt())),
                block_sd: round(levels.block.sqrt()),
                clamped: levels.clamped.clone(),
                margin: asked.metric.margin,
                invocations: levels.invocations(&arms),
                expected_sd: round(expected_sd),
                detectable: (usable && blocks >= 2)
                    .then(|| round(exp(detectable_effect(blocks, alpha) * expected_sd) - 1.0)),
                blocks_for_difference: usable
                    .then(|| blocks_for_difference(theta / expected_sd, alpha))
                    .flatten(),
                blocks_for_equivalence: usable
                    .then(|| blocks_for_equivalence(theta / expected_sd, alpha))
                    .flatten(),
            }
        })
        .collect()
}

/// Own variances of the levels, of logarithms.
struct Levels {
    iteration: Option<f64>,
    invocation: Option<f64>,
    block: f64,
    clamped: Vec<String>,
    /// Iterations of an invocation, on average.
    iterations: f64,
}

impl Levels {
    fn of(arms: &[Vec<&Record>; 2], metric: &Metric, differences: &[f64]) -> Self {
        let values: Vec<Vec<Vec<Vec<f64>>>> =
            arms.iter().map(|records| logs(records, metric)).collect();
        let counts: Vec<usize> = values.iter().flatten().flatten().map(Vec::len).collect();
        let iterations = counts.iter().sum::<usize>() as f64 / counts.len().max(1) as f64;
        let invocations = mean_count(&values);
        let nested: Vec<NestedVariance> =
            values.iter().filter_map(|boots| NestedVariance::of(boots)).collect();
        let observed_top = variance(differences).unwrap_or(0.0) / 2.0;
        let mut clamped = Vec::new();
        let (iteration, invocation) = if nested.len() == arms.len() {
            let mean = |own: fn(&NestedVariance) -> f64| {
                nested.iter().map(own).sum::<f64>() / nested.len() as f64
            };
            if nested.iter().any(|nested| nested.process.is_clamped) {
                clamped.push("invocations".to_owned());
            }
            (Some(mean(|nested| nested.iteration.own)), Some(mean(|nested| nested.process.own)))
        } else {
            // One value for each invocation, or one invocation: a level less.
            let means = values.iter().flatten().filter(|boot| boot.len() > 1).filter_map(|boot| {
                let centres: Option<Vec<f64>> = boot.iter().map(|one| stats::mean(one)).collect();
                variance(&centres?)
            });
            let means: Vec<f64> = means.collect();
            (None, stats::mean(&means))
        };
        let of_invocation =
            invocation.unwrap_or(0.0) + iteration.unwrap_or(0.0) / iterations.max(1.0);
        let block = observed_top - of_invocation / invocations.max(1.0);
        if block < 0.0 {
            clamped.push("subject and block".to_owned());
        }
        Self { iteration, invocation, block: block.max(0.0), clamped, iterations }
    }

    /// The standard deviation of differences with so many invocations.
    fn expected(&self, invocations: u32) -> f64 {
        let of_invocation = self.invocation.unwrap_or(0.0)
            + self.iteration.unwrap_or(0.0) / self.iterations.max(1.0);
        (2.0 * (self.block + of_invocation / f64::from(invocations.max(1)))).sqrt()
    }

    /// r_2 = ceil(sqrt(c_3/c_2 T_2^2/T_3^2)), with the time that a sitting takes
    /// beside its invocations for c_3 and that of an invocation for c_2.
    fn invocations(&self, arms: &[Vec<&Record>; 2]) -> Option<u32> {
        let own = self.invocation? + self.iteration.unwrap_or(0.0) / self.iterations.max(1.0);
        let (mut running, mut rest, mut count) = (0_u64, 0_u64, 0_u64);
        for record in arms.iter().flatten() {
            let walls = record.invocations.iter().filter_map(|one| one.run.as_ref());
            let wall_ns = model::sum_ns(walls.map(|run| run.wall_ns));
            running = running.saturating_add(wall_ns);
            rest = rest.saturating_add(record.duration_ns.saturating_sub(wall_ns));
            count += record.invocations.len() as u64;
        }
        if running == 0 || rest == 0 || count == 0 {
            return None;
        }
        if self.block <= 0.0 {
            return Some(MOST_INVOCATIONS);
        }
        let trials = arms.iter().map(Vec::len).sum::<usize>() as f64;
        let (of_trial, of_invocation) = (rest as f64 / trials, running as f64 / count as f64);
        let best = (of_trial / of_invocation * (own / self.block)).sqrt().ceil();
        Some(best.clamp(1.0, f64::from(MOST_INVOCATIONS)) as u32)
    }
}

/// Logarithms by block, invocation and iteration. Where a metric has one number for an
/// invocation, that is its only iteration.
fn logs(records: &[&Record], metric: &Metric) -> Vec<Vec<Vec<f64>>> {
    let of_invocation = |record: &Record, index: usize| -> Vec<f64> {
        let invocation = &record.invocations[index];
        let series = invocation.samples.iter().find_map(|sample| match &sample.data {
            SampleData::Values(values) if sample.source == metric.source => Some(values),
            _ => None,
        });
        if let Some(values) = series {
            return values.iter().filter(|value| **value > 0.0).map(|value| ln(*value)).collect();
        }
        let alone = Record { invocations: vec![invocation.clone()].into(), ..record.clone() };
        reduce(&alone, metric).map(|reduced| vec![reduced.scaled]).unwrap_or_default()
    };
    records
        .iter()
        .map(|record| {
            (0..record.invocations.len()).map(|index| of_invocation(record, index)).collect()
        })
        .collect()
}

fn mean_count(values: &[Vec<Vec<Vec<f64>>>]) -> f64 {
    let counts: Vec<usize> = values.iter().flatten().map(Vec::len).collect();
    counts.iter().sum::<usize>() as f64 / counts.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, record};
    use model::{Direction, Reduction, RunReport, Sample};
    use rand::SeedableRng;
    use rand_chacha::ChaCha12Rng;
    use rand_distr::{Distribution, StandardNormal};

    /// Blocks add 1 %, invocations 2 % and iterations 4 % to the logarithm.
    fn records(blocks: u32) -> Vec<Record> {
        let mut random = ChaCha12Rng::seed_from_u64(11);
        let mut normal = move || -> f64 { StandardNormal.sample(&mut random) };
        let mut all = Vec::new();
        for block in 0..blocks {
            let shared = 0.5 * normal();
            for subject in ["a", "b"] {
                let own = shared + 0.01 * normal();
                let invocations = (0..3)
                    .map(|_| {
                        let invocation = own + 0.02 * normal();
                        let values = (0..5).map(|_| (invocation + 0.04 * normal()).exp());
                        vec![Sample::values("m", values.collect())]
                    })
                    .collect();
                let mut trial = record(block, subject, "w", invocations);
                trial.duration_ns = 4_000;
                for invocation in &mut trial.invocations {
                    let run = RunReport { wall_ns: 1_000, ..RunReport::default() };
                    invocation.run = Some(Box::new(run));
                }
                all.push(trial);
            }
        }
        all
    }

    #[test]
    fn each_level_finds_its_own_variance_and_the_blocks_part_cancels() {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Mean)];
        let planned = plan(&["a", "b"], metrics, 10);
        let found = pilot(&planned, &planned, &records(600)).remove(0);
        assert!((found.iteration_sd.unwrap() / 0.04 - 1.0).abs() < 0.05, "{found:?}");
        assert!((found.invocation_sd.unwrap() / 0.02 - 1.0).abs() < 0.15, "{found:?}");
        assert!((found.block_sd / 0.01 - 1.0).abs() < 0.35, "{found:?}");
        // 2 (0.01^2 + (0.02^2 + 0.04^2/5)/1): the plan has one invocation.
        let expected = (2.0 * (1e-4 + 4e-4 + 16e-4 / 5.0_f64)).sqrt();
        assert!((found.expected_sd / expected - 1.0).abs() < 0.1, "{found:?}");
        // sqrt(1000/1000 7.2e-4/1e-4) = 2.7.
        assert!((2..=4).contains(&found.invocations.unwrap()), "{found:?}");
        assert!(found.blocks_for_difference.unwrap() > 10);
    }

    #[test]
    fn three_blocks_of_one_number_each_still_say_something() {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Quotient)];
        let planned = plan(&["a", "b"], metrics, 10);
        let all: Vec<Record> = (0..3)
            .flat_map(|block| {
                ["a", "b"].map(|subject| {
                    let value = 10.0 + f64::from(block) * if subject == "a" { 0.1 } else { 0.3 };
                    record(block, subject, "w", vec![vec![Sample::quotient("m", value, 1.0)]])
                })
            })
            .collect();
        let found = pilot(&planned, &planned, &all).remove(0);
        assert_eq!((found.pairs, found.iteration_sd, found.invocation_sd), (3, None, None));
        assert!(found.block_sd > 0.0 && found.detectable.is_some());
        assert_eq!(pilot(&planned, &planned, &[]).remove(0).pairs, 0);
    }
}
