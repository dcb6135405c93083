//! Campaigns whose noise is drawn here: what the simulator's scenarios do not have. The plan and its
//! order are the planner's, the verdict is the judge's.

use crate::CalibrationRequest;
use crate::campaigns::{SimulatedCampaign, plan_of};
use crate::draws::Draws;
use crate::reported::Reported;
use contract::Result;
use model::{Caveat, CaveatCode, Invocation, Outcome, Pace, Plan, Record, Verdict};
use std::fmt::Write;

/// Noise of one trial, on the scale of logarithms, where nothing else is said.
pub(crate) const SIGMA: f64 = 0.01;
/// Logarithm of one plus the margin of the calibration's experiments.
pub(crate) const THETA: f64 = 0.019_802_627_296_179_7;
/// So small a margin that nothing is equivalent: every false difference is seen.
pub(crate) const NO_SHELTER: f64 = 0.0001;
/// From the beginning of a block of a soak campaign to that of the next, and of a trial to that of
/// the next.
const HOUR_NS: u64 = 60 * MINUTE_NS;
const MINUTE_NS: u64 = 60_000_000_000;

/// One trial of a campaign, in the order in which they run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// Index of its block.
    pub block: u32,
    /// Sittings that ran before its own.
    pub sitting: u32,
    /// Index of its subject; 0 is the reference.
    pub arm: usize,
    /// Index of the subject whose sitting came before.
    pub before: Option<usize>,
    /// Index of its workload.
    pub workload: usize,
}

/// Draws the logarithm of a trial's value; none is a trial that failed.
pub(crate) type Noise = Box<dyn FnMut(&Moment, &mut Draws) -> Option<f64>>;

/// The shape of a campaign.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Subjects, the reference included and a control left out.
    pub arms: usize,
    pub blocks: u32,
    pub workloads: usize,
    pub reported: Reported,
    /// Blocks that share a boot; none where all do.
    pub blocks_of_a_boot: Option<u32>,
    /// Whether the reference has a control.
    pub has_control: bool,
    /// The margin of every metric, as a fraction. A small one lets no equivalence hide a difference
    /// that is not there.
    pub margin: f64,
    /// What the experiment says besides: keys, or tables.
    pub declares: &'static str,
}

impl Shape {
    /// Two subjects, one workload, times of one boot.
    pub(crate) const PAIR: Self = Self {
        arms: 2,
        blocks: 10,
        workloads: 1,
        reported: Reported::Time,
        blocks_of_a_boot: None,
        has_control: false,
        margin: 0.02,
        declares: "",
    };

    fn experiment(&self) -> String {
        let mut text = format!(
            "title = \"calibration\"\nvenue = \"sim\"\nblocks = {}\ncontrol = {}\nprobes = []\n\
             invocations = 1\nmargin = \"2%\"\n{}[subjects.reference]\n",
            self.blocks, self.has_control, self.declares
        );
        for arm in 1..self.arms {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[subjects.s{arm}]\nsim_effect = \"{:.9}%\"", arm as f64 * 1e-9);
        }
        for workload in 1..=self.workloads {
            let _ = writeln!(text, "[[workloads]]\nuse = \"messaging\"\nlabel = \"w{workload}\"");
        }
        text
    }

    fn plan(&self, request: &CalibrationRequest<'_>, repetition: u32) -> Result<Plan> {
        let mut plan = plan_of(request, &self.experiment(), repetition)?;
        for workload in &mut plan.workloads {
            workload.metrics = self.reported.metrics(self.margin);
            workload.is_closed_loop &= !self.reported.is_open_loop();
        }
        plan.pace = self
            .reported
            .is_soak()
            .then(|| Pace { duration_ns: u64::from(self.blocks) * HOUR_NS, every_ns: HOUR_NS });
        Ok(plan)
    }
}

/// One repetition of a campaign of this shape, planned and judged by the code that users run.
pub(crate) fn run(
    request: &CalibrationRequest<'_>,
    shape: &Shape,
    make: &dyn Fn(&mut Draws) -> Noise,
    repetition: u32,
) -> Result<SimulatedCampaign> {
    let plan = shape.plan(request, repetition)?;
    let mut draws = Draws::of(repetition);
    let mut noise = make(&mut draws);
    let records = records(&plan, shape, &mut noise, &mut draws);
    let findings = analysis::judge(&plan, &records);
    Ok(SimulatedCampaign { plan, records, findings })
}

fn records(plan: &Plan, shape: &Shape, noise: &mut Noise, draws: &mut Draws) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::with_capacity(plan.trial_count());
    let (mut sittings, mut before, mut known_boot) = (0, None, None);
    for block in &plan.blocks {
        let boot = shape.blocks_of_a_boot.map_or(0, |blocks| block.index / blocks);
        if known_boot.replace(boot).is_some_and(|known| known != boot) {
            before = None;
        }
        let mut sitting: Option<(usize, Moment)> = None;
        for trial in plan::trials(plan, block) {
            let arm = plan.subjects.iter().position(|subject| subject.id == trial.subject.id);
            let arm = arm.unwrap_or_default();
            let known = sitting.filter(|(known, _)| *known == arm).map(|(_, moment)| moment);
            let workload = plan.workloads.iter().position(|one| one.label == trial.workload.label);
            let workload = workload.unwrap_or_default();
            let moment = known.map_or(
                Moment { block: block.index, sitting: sittings, arm, before, workload },
                |moment| Moment { workload, ..moment },
            );
            if known.is_none() {
                sitting = Some((arm, moment));
                (sittings, before) = (sittings + 1, Some(arm));
            }
            let value = noise(&moment, draws);
            let outcome = match value {
                Some(_) => Outcome::Completed,
                None => Outcome::Failed { reason: "as drawn".to_owned() },
            };
            let progress = f64::from(block.index) / f64::from(shape.blocks);
            let samples = value.map(|value| shape.reported.samples(value, (arm, progress), draws));
            let invocation = samples.map(|samples| Invocation {
                samples: samples.into(),
                run: Some(Box::default()),
                failure: None,
                disturbance: None,
            });
            let mut record = Record::of(&trial, outcome);
            record.sequence = records.len() as u64;
            record.started_unix_ns =
                u64::from(block.index) * HOUR_NS + (1 + records.len() as u64) * MINUTE_NS;
            record.boot_id = format!("boot-{boot}");
            record.invocations = invocation.into_iter().collect();
            records.push(record);
        }
    }
    records
}

impl SimulatedCampaign {
    /// Whether any primary question was answered by *better* or *worse*.
    pub(crate) fn says_different(&self) -> bool {
        self.primary().any(|one| matches!(one.verdict, Verdict::Better | Verdict::Worse))
    }

    /// Whether any primary finding, or the campaign itself, carries this caveat.
    pub(crate) fn carries(&self, code: CaveatCode) -> bool {
        self.has(self.primary().flat_map(|finding| &finding.caveats), code)
    }

    /// Whether the first primary finding, or the campaign itself, carries this caveat: the rate of a
    /// finding, however many questions there are.
    pub(crate) fn first_carries(&self, code: CaveatCode) -> bool {
        self.has(self.primary().take(1).flat_map(|finding| &finding.caveats), code)
    }

    fn has<'a>(&'a self, of_findings: impl Iterator<Item = &'a Caveat>, code: CaveatCode) -> bool {
        of_findings.chain(&self.findings.caveats).any(|caveat| caveat.code == code)
    }
}
