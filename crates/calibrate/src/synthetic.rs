//! Campaigns whose noise is drawn here: what the simulator's scenarios do not have. The plan and its
//! order are the planner's, the verdict is the judge's.

use crate::CalibrationRequest;
use crate::campaigns::{SimulatedCampaign, plan_of};
use contract::Result;
use model::{
    CaveatCode, Direction, Histogram, Invocation, Metric, Outcome, Plan, Record, Reduction,
    RunReport, Sample, Unit, Verdict,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};
use std::fmt::Write;

/// Noise of one trial, on the scale of logarithms, where nothing else is said.
pub(crate) const SIGMA: f64 = 0.01;
/// Logarithm of one plus the margin of the calibration's experiments.
pub(crate) const THETA: f64 = 0.019_802_627_296_179_7;
/// So small a margin that nothing is equivalent: every false difference is seen.
pub(crate) const NO_SHELTER: f64 = 0.0001;
/// Spread of single events inside a histogram, as in the simulator.
const EVENT_SIGMA: f64 = 0.8;
/// The metric of every workload.
const METRIC: &str = "makespan";

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
}

/// Random numbers of one repetition.
pub(crate) struct Draws(ChaCha12Rng);

impl Draws {
    pub(crate) fn of(repetition: u32) -> Self {
        Self(ChaCha12Rng::seed_from_u64(0x005c_4ed1_ab00 + u64::from(repetition)))
    }

    /// Standard normal.
    pub(crate) fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// Exponential of mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.0)
    }

    /// Uniform from 0 to 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.random()
    }
}

/// Draws the logarithm of a trial's value; none is a trial that failed.
pub(crate) type Noise = Box<dyn FnMut(&Moment, &mut Draws) -> Option<f64>>;

/// What a trial reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reported {
    /// A time.
    Time,
    /// A time of a clock that ticks ten times in the reference's.
    TenSteps,
    /// A percentile of so many events.
    Percentile(f64, u32),
    /// A share of so many attempts, one in twenty of the reference's.
    Share(u32),
    /// So many events of the reference in a time that is the same for all.
    Count(u32),
}

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
    /// What the experiment says besides.
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
             invocations = 1\nmargin = \"2%\"\n[subjects.reference]\n",
            self.blocks, self.has_control
        );
        for arm in 1..self.arms {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[subjects.s{arm}]\nsim_effect = \"{:.9}%\"", arm as f64 * 1e-9);
        }
        for workload in 1..=self.workloads {
            let _ = writeln!(text, "[[workloads]]\nuse = \"messaging\"\nlabel = \"w{workload}\"");
        }
        text + self.declares
    }

    fn plan(&self, request: &CalibrationRequest<'_>, repetition: u32) -> Result<Plan> {
        let mut plan = plan_of(request, &self.experiment(), repetition)?;
        let (unit, direction, reduction) = match self.reported {
            Reported::Time | Reported::TenSteps => {
                (Unit::Nanoseconds, Direction::Lower, Reduction::Median)
            }
            Reported::Percentile(quantile, _) => {
                (Unit::Nanoseconds, Direction::Lower, Reduction::Quantile(quantile))
            }
            Reported::Share(_) => (Unit::Fraction, Direction::Lower, Reduction::Proportion),
            Reported::Count(_) => (Unit::PerSecond, Direction::Higher, Reduction::Quotient),
        };
        let metric = Metric::new(METRIC, unit, direction, reduction, "for calibration");
        for workload in &mut plan.workloads {
            workload.metrics = vec![Metric { margin: self.margin, ..metric.clone() }];
        }
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
            let moment =
                known.unwrap_or(Moment { block: block.index, sitting: sittings, arm, before });
            if known.is_none() {
                sitting = Some((arm, moment));
                (sittings, before) = (sittings + 1, Some(arm));
            }
            let value = noise(&moment, draws);
            let outcome = match value {
                Some(_) => Outcome::Completed,
                None => Outcome::Failed { reason: "as drawn".to_owned() },
            };
            let samples = value.map(|value| vec![sample(shape.reported, value, draws)]);
            let invocation = samples.map(|samples| Invocation {
                samples,
                run: Some(RunReport::default()),
                failure: None,
                disturbance: None,
            });
            records.push(Record {
                sequence: records.len() as u64,
                boot_id: format!("boot-{boot}"),
                invocations: invocation.into_iter().collect(),
                ..Record::of(&trial, outcome)
            });
        }
    }
    records
}

/// What a trial reports whose value is the exponential of this.
fn sample(reported: Reported, log: f64, draws: &mut Draws) -> Sample {
    match reported {
        Reported::Time => Sample::values(METRIC, vec![1e9 * log.exp()]),
        // Where in a tick it began is as likely as anywhere else.
        Reported::TenSteps => {
            Sample::values(METRIC, vec![1e8 * (10.0 * log.exp() + draws.uniform()).floor()])
        }
        Reported::Percentile(_, events) => {
            let mut histogram = Histogram::new();
            for _ in 0..events {
                let event = 1e6 * (log + EVENT_SIGMA * draws.normal()).exp();
                histogram.record(event.round() as u64);
            }
            Sample::histogram(METRIC, histogram)
        }
        Reported::Share(attempts) => {
            let odds = log.exp() / 19.0;
            let share = odds / (1.0 + odds);
            let successes = (0..attempts).filter(|_| draws.uniform() < share).count();
            Sample::proportion(METRIC, successes as u64, u64::from(attempts))
        }
        Reported::Count(events) => {
            let mean = f64::from(events) * log.exp();
            // A Poisson count of so many is normal to its own rounding.
            let count = (mean + mean.sqrt() * draws.normal()).round();
            Sample::quotient(METRIC, count.max(1.0), 10.0)
        }
    }
}

impl SimulatedCampaign {
    /// Whether any primary question was answered by *better* or *worse*.
    pub(crate) fn says_different(&self) -> bool {
        self.primary().any(|one| matches!(one.verdict, Verdict::Better | Verdict::Worse))
    }

    /// Whether any primary finding carries this caveat.
    pub(crate) fn carries(&self, code: CaveatCode) -> bool {
        self.primary().any(|finding| finding.caveats.iter().any(|caveat| caveat.code == code))
    }
}
