//! Simulated campaigns: planned, run and judged by the code that users run.

use crate::CalibrationRequest;
use contract::{Error, Interrupt, Result, Venue};
use model::{Finding, Findings, Plan, Record, Role, SampleData};
use std::fmt::Write;
use std::path::Path;
use venues::Sim;

/// Seeds of neighbouring repetitions; committed, so that a table can be repeated.
const FIRST_SEED: u64 = 1_000_000;

/// What is simulated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    /// `S1` to `S6`.
    pub scenario: &'static str,
    /// Blocks of the campaign.
    pub blocks: u32,
    /// True improvement of every subject but the reference, in percent.
    pub effect_percent: f64,
    /// Subjects, the reference included.
    pub subjects: usize,
    /// Workloads, each with one primary metric.
    pub workloads: usize,
}

impl Case {
    /// Two subjects and one workload.
    pub(crate) fn pair(scenario: &'static str, blocks: u32, effect_percent: f64) -> Self {
        Self { scenario, blocks, effect_percent, subjects: 2, workloads: 1 }
    }

    /// The experiment's text.
    pub(crate) fn experiment(&self) -> String {
        let mut text = format!(
            "title = \"calibration\"\nvenue = \"sim\"\nblocks = {}\ncontrol = false\nprobes = []\n\
             invocations = 3\nmargin = \"2%\"\n[subjects.reference]\n",
            self.blocks
        );
        for subject in 1..self.subjects {
            // A level that differs makes another subject, an effect so small that
            // it is none.
            let effect = self.effect_percent + subject as f64 * 1e-9;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[subjects.s{subject}]\nsim_effect = \"{effect:.9}%\"");
        }
        for workload in 1..=self.workloads {
            let _ = writeln!(text, "[[workloads]]\nuse = \"messaging\"\nlabel = \"w{workload}\"");
        }
        let _ = writeln!(text, "[sim]\nscenario = \"{}\"", self.scenario);
        text
    }
}

/// One repetition.
pub(crate) struct SimulatedCampaign {
    pub plan: Plan,
    pub records: Vec<Record>,
    pub findings: Findings,
}

impl SimulatedCampaign {
    /// The findings that verdicts are about.
    pub(crate) fn primary(&self) -> impl Iterator<Item = &Finding> {
        self.findings.findings.iter().filter(|finding| finding.question.role == Role::Primary)
    }
}

/// Plans a case with the seed of a repetition.
pub(crate) fn plan(request: &CalibrationRequest<'_>, case: &Case, repetition: u32) -> Result<Plan> {
    plan_of(request, &case.experiment(), repetition)
}

/// Plans an experiment with the seed of a repetition.
pub(crate) fn plan_of(
    request: &CalibrationRequest<'_>,
    text: &str,
    repetition: u32,
) -> Result<Plan> {
    let planned = plan::plan(
        &request.catalogue,
        &[],
        &plan::PlanRequest {
            text,
            name: "calibration",
            drawn_seed: FIRST_SEED + u64::from(repetition),
            ..plan::PlanRequest::default()
        },
    );
    planned.map_err(|problems| {
        let told = plan::render_problems(&problems, "calibration", text);
        Error::environment("cannot plan a campaign of the calibration", told)
    })
}

/// Runs the trials of a plan on the simulator.
pub(crate) fn records(request: &CalibrationRequest<'_>, plan: &Plan) -> Result<Vec<Record>> {
    let venue = Sim::new(request.catalogue.trials);
    let mut session = venue.open(plan, Path::new(""), &Interrupt::default(), &mut |_| {})?;
    let mut records = Vec::with_capacity(plan.trial_count());
    for block in &plan.blocks {
        for trial in plan::trials(plan, block) {
            records.push(session.run(&trial, &mut |_| ())?);
        }
    }
    session.close()?;
    Ok(records)
}

/// One repetition of a case, as a user would run it.
pub(crate) fn run(
    request: &CalibrationRequest<'_>,
    case: &Case,
    repetition: u32,
) -> Result<SimulatedCampaign> {
    let plan = plan(request, case, repetition)?;
    let records = records(request, &plan)?;
    let findings = analysis::judge(&plan, &records);
    Ok(SimulatedCampaign { plan, records, findings })
}

/// Runs all repetitions of something on the request's threads, in order. None begins once the
/// request is interrupted.
pub(crate) fn repeat<T: Send>(
    request: &CalibrationRequest<'_>,
    one: impl Fn(u32) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let threads = request.threads.clamp(1, 64) as u32;
    let one = &one;
    let parts: Vec<Result<Vec<T>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|first| {
                let own = (first..request.repetitions).step_by(threads as usize);
                let counted = move |repetition| {
                    request.interrupt.check()?;
                    one(repetition)
                };
                scope.spawn(move || own.map(counted).collect::<Result<Vec<T>>>())
            })
            .collect();
        let failed = || Err(Error::environment("cannot calibrate", "a thread panicked"));
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| failed())).collect()
    });
    let mut parts: Vec<_> = parts.into_iter().collect::<Result<Vec<_>>>()?;
    let mut all = Vec::with_capacity(request.repetitions as usize);
    let mut turns: Vec<_> = parts.iter_mut().map(|part| part.drain(..)).collect();
    for repetition in 0..request.repetitions {
        all.extend(turns[(repetition % threads) as usize].next());
    }
    drop(turns);
    Ok(all)
}

/// Every iteration of a subject on the first workload, by block.
pub(crate) fn iterations(records: &[Record], subject: &str) -> Vec<Vec<f64>> {
    let own = records.iter().filter(|record| record.subject == subject);
    own.map(|record| {
        let samples = record.invocations.iter().flat_map(|invocation| &invocation.samples);
        samples
            .filter_map(|sample| match &sample.data {
                SampleData::Values(values) => Some(values.iter().copied()),
                _ => None,
            })
            .flatten()
            .collect()
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Catalogue, ErrorKind, TrialCatalogue};
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn no_repetition_begins_once_the_request_is_interrupted() {
        let trials = TrialCatalogue { workloads: &[], factors: &[], probes: &[] };
        let interrupt = Interrupt::default();
        let request = CalibrationRequest {
            catalogue: Catalogue { trials, venues: &[] },
            repetitions: 100,
            threads: 1,
            interrupt: &interrupt,
        };
        assert_eq!(repeat(&request, Ok).unwrap(), (0..100).collect::<Vec<u32>>());
        let begun = AtomicU32::new(0);
        let ended = repeat(&request, |repetition| {
            begun.fetch_add(1, Ordering::SeqCst);
            if repetition == 2 {
                interrupt.request(2);
            }
            Ok(())
        });
        assert_eq!(ended.unwrap_err().kind, ErrorKind::Interrupted);
        assert_eq!(begun.load(Ordering::SeqCst), 3);
    }
}
