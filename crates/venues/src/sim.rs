//! The simulator: seeded noise in place of a machine, so that the whole pipeline
//! runs without root and the statistics meet data whose truth is known.
//!
//! The noise model is that of docs/method.md#m-scenarios: log y = boot + arm x boot +
//! process + iteration, in six scenarios.

mod entry;

pub use entry::Entry;

use contract::{
    Description, Event, Factor, Interrupt, Knob, Missing, Requirement, Result, TrialCatalogue,
    Venue, VenueSession,
};
use draws::NoiseDraws;
use model::{
    Few, Fingerprint, Histogram, Invocation, Level, Metric, Outcome, Plan, Record, Reduction,
    RunReport, Sample, SampleData, SimSettings, Trial, Unit, parse_percent,
};
use std::collections::BTreeMap;
use std::path::Path;

/// Iterations of a simulated invocation.
const ITERATIONS: usize = 10;
/// Events of a simulated latency histogram, enough for a p99.9 (docs/method.md#m-quantiles).
const EVENTS: usize = 10_000;
/// Spread of single events inside a histogram (docs/method.md#m-scenarios, lognormal).
const EVENT_SIGMA: f64 = 0.8;

/// Drift of scenario S5 over the whole campaign, on the log scale.
const LINEAR_DRIFT: f64 = 0.08;
/// Step of its random walk from one sitting to the next.
const WALK: f64 = 0.003;

const SIMULATED_KERNEL: &str = "simulated";

/// The factor id of a simulated effect.
pub const SIM_EFFECT: &str = "sim_effect";
/// The scenarios of docs/method.md#m-scenarios.
const SIM_SCENARIOS: [&str; 6] = ["S1", "S2", "S3", "S4", "S5", "S6"];

/// The seeded venue.
pub struct Sim {
    catalogue: TrialCatalogue,
}

static DESCRIPTION: Description = Description {
    id: "sim",
    summary: "the simulator: seeded noise with known effects, for tests and teaching",
    doc: "Nothing runs. Every sample is drawn from the noise model of one of six scenarios \
          (`S1` quiet, `S2` separate boots, `S3` two modes, `S4` heavy tails, `S5` drift, `S6` \
          correlated iterations), the same for every subject except for its `sim_effect`. \
          Findings carry `SIMULATED`.",
};

impl Sim {
    /// The simulator for a catalogue's workloads.
    pub fn new(catalogue: TrialCatalogue) -> Self {
        Self { catalogue }
    }
}

impl Venue for Sim {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn recover(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn missing(&self, _plan: &Plan) -> Vec<Missing> {
        Vec::new()
    }

    fn identity(&self, _plan: &Plan) -> Result<Fingerprint> {
        let release = ("kernel.release".to_owned(), SIMULATED_KERNEL.to_owned());
        Ok(Fingerprint([release].into()))
    }

    fn open(
        &self,
        plan: &Plan,
        _workspace: &Path,
        interrupt: &Interrupt,
        _on_event: &mut dyn FnMut(Event),
    ) -> Result<Box<dyn VenueSession>> {
        let settings = plan.sim.clone().unwrap_or(SimSettings {
            scenario: SIM_SCENARIOS[0].to_owned(),
            failure_rate: BTreeMap::new(),
        });
        let own_metrics = plan
            .workloads
            .iter()
            .map(|workload| {
                let configured = self.catalogue.configure(&workload.uses, &workload.parameters);
                let metrics = configured.map(|one| one.metrics()).unwrap_or_default();
                (workload.label.clone(), metrics)
            })
            .collect();
        Ok(Box::new(SimSession {
            settings,
            seed: plan.seed,
            blocks: plan.blocks.len(),
            arms: plan.blocks.iter().map(|block| block.sittings.len()).max().unwrap_or(1),
            own_metrics,
            interrupt: interrupt.clone(),
        }))
    }
}

struct SimSession {
    settings: SimSettings,
    seed: u64,
    blocks: usize,
    /// Sittings of a block: where in its time a sitting lies.
    arms: usize,
    own_metrics: BTreeMap<String, Vec<Metric>>,
    interrupt: Interrupt,
}

impl VenueSession for SimSession {
    fn fingerprint(&mut self) -> Result<Fingerprint> {
        let text = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        Ok(Fingerprint(BTreeMap::from([
            text("kernel.release", SIMULATED_KERNEL),
            text("machine.product", "simulator"),
            text("sim.scenario", &self.settings.scenario),
        ])))
    }

    fn run(&mut self, trial: &Trial, on_event: &mut dyn FnMut(Event)) -> Result<Record> {
        self.interrupt.check()?;
        let metrics = self.own_metrics.get(&trial.workload.label).cloned().unwrap_or_default();
        let mut outcome = Outcome::Completed;
        let mut invocations = Vec::new();
        for number in 0..trial.workload.invocations {
            on_event(Event::TrialPhase(contract::Phase::Running { invocation: number }));
            if self.fails(trial, number) {
                let reason = "simulated failure".to_owned();
                outcome = Outcome::Failed { reason: reason.clone() };
                invocations.push(Invocation {
                    samples: Few::default(),
                    run: None,
                    failure: Some(reason.into()),
                    disturbance: None,
                });
                break;
            }
            let samples = self.samples(trial, number, &metrics);
            let run = RunReport { wall_ns: trial.workload.expected_ns, ..RunReport::default() };
            invocations.push(Invocation {
                samples: samples.into(),
                run: Some(Box::new(run)),
                failure: None,
                disturbance: None,
            });
        }
        let mut record = Record { invocations: invocations.into(), ..Record::of(trial, outcome) };
        record.duration_ns = trial.workload.expected_ns * u64::from(trial.workload.invocations);
        record.boot_id = self.boot_id(trial.block);
        Ok(record)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl SimSession {
    /// Each simulated block is a boot of its own.
    fn boot_id(&self, block: u32) -> String {
        format!("simulated-{block}")
    }

    fn fails(&self, trial: &Trial, number: u32) -> bool {
        let rate = self.settings.failure_rate.get(&trial.subject.id).copied().unwrap_or(0.0);
        let mut random = self.stream(
            &["failure", &trial.subject.id, &trial.workload.label, &number.to_string()],
            trial.block,
        );
        random.uniform() < rate
    }

    /// A stream of its own for each purpose, so that adding one changes no other.
    fn stream(&self, purpose: &[&str], block: u32) -> NoiseDraws {
        NoiseDraws::of_purpose(self.seed, purpose, block)
    }

    /// A linear drift over the campaign and a random walk from sitting to sitting,
    /// the same for every subject that would have run then.
    fn drift(&self, noise: &Noise, trial: &Trial, source: &str) -> f64 {
        if !noise.has_drift {
            return 0.0;
        }
        let sitting = trial.block as usize * self.arms + trial.position as usize;
        let all = (self.blocks * self.arms).max(1);
        let mut steps = self.stream(&["walk", &trial.workload.label, source], 0);
        let walk: f64 = (0..=sitting).map(|_| steps.normal() * WALK).sum();
        LINEAR_DRIFT * sitting as f64 / all as f64 + walk
    }

    fn samples(&self, trial: &Trial, number: u32, metrics: &[Metric]) -> Vec<Sample> {
        let mut samples: Vec<Sample> = Vec::new();
        for metric in metrics {
            if samples.iter().any(|sample| sample.source == metric.source) {
                continue;
            }
            let data = self.data(trial, number, metric);
            samples.push(Sample { source: metric.source.as_str().into(), data });
        }
        samples
    }

    fn data(&self, trial: &Trial, number: u32, metric: &Metric) -> SampleData {
        let noise = Noise::of(&self.settings.scenario);
        let number = number.to_string();
        let subject = trial.subject.id.as_str();
        let source = metric.source.as_str();
        let label = trial.workload.label.as_str();
        let mut boot_stream = self.stream(&["boot", label, source], trial.block);
        let mut arm_stream = self.stream(&["arm", label, source, subject], trial.block);
        let mut process_stream =
            self.stream(&["process", label, source, subject, &number], trial.block);
        let improvement = effect_of(trial) * metric.direction.sign();
        let level = base_value(metric).ln()
            + improvement
            + self.drift(&noise, trial, source)
            + noise.boot(&mut boot_stream)
            + noise.arm(&mut arm_stream)
            + process_stream.normal() * 0.01;
        match metric.reduction {
            Reduction::Quantile(_) => {
                SampleData::Histogram(Box::new(events(level, &mut process_stream)))
            }
            Reduction::Proportion => {
                let attempts = 1_000;
                let successes = ((1.0 - 0.01 * (-improvement).exp()) * attempts as f64) as u64;
                SampleData::Proportion { successes: successes.min(attempts), attempts }
            }
            Reduction::Quotient => {
                let value = (level + noise.iteration(&mut process_stream, &mut 0.0)).exp();
                SampleData::Quotient { numerator: value, denominator: 1.0 }
            }
            Reduction::Median | Reduction::Mean => {
                let mut previous = 0.0;
                SampleData::Values(
                    (0..ITERATIONS)
                        .map(|_| {
                            (level + noise.iteration(&mut process_stream, &mut previous)).exp()
                        })
                        .collect(),
                )
            }
        }
    }
}

/// A plausible value of a metric, so that reports of simulated campaigns read well.
fn base_value(metric: &Metric) -> f64 {
    match metric.unit {
        Unit::Nanoseconds => 100_000.0,
        Unit::PerSecond => 10_000.0,
        Unit::Bytes => 1e7,
        Unit::BytesPerSecond => 1e8,
        Unit::Fraction => 0.5,
        Unit::PerOperation | Unit::Count | Unit::Joules | Unit::Plain => 10.0,
    }
}

/// The declared improvement as a log-ratio; 0 where the subject has none.
fn effect_of(trial: &Trial) -> f64 {
    trial
        .subject
        .levels
        .get(SIM_EFFECT)
        .and_then(|level| parse_percent(level.as_str()).ok())
        .map_or(0.0, |fraction| (1.0 + fraction).ln())
}

fn events(level: f64, random: &mut NoiseDraws) -> Histogram {
    let mut histogram = Histogram::new();
    for _ in 0..EVENTS {
        histogram.record((level + random.normal() * EVENT_SIGMA).exp().round() as u64);
    }
    histogram
}

/// Standard deviations of one scenario, on the log scale (docs/method.md#m-scenarios).
struct Noise {
    boot: f64,
    arm: f64,
    has_modes: bool,
    has_heavy_tails: bool,
    has_drift: bool,
    correlation: f64,
}

impl Noise {
    fn of(scenario: &str) -> Self {
        let quiet = Self {
            boot: 0.02,
            arm: 0.01,
            has_modes: false,
            has_heavy_tails: false,
            has_drift: false,
            correlation: 0.0,
        };
        match scenario {
            "S2" => Self { boot: 0.0, arm: 0.03, ..quiet },
            "S3" => Self { has_modes: true, ..quiet },
            "S4" => Self { has_heavy_tails: true, ..quiet },
            "S5" => Self { has_drift: true, ..quiet },
            "S6" => Self { correlation: 0.8, ..quiet },
            _ => quiet,
        }
    }

    fn boot(&self, random: &mut NoiseDraws) -> f64 {
        random.normal() * self.boot
    }

    fn arm(&self, random: &mut NoiseDraws) -> f64 {
        let interaction =
            if self.has_heavy_tails { student(3.0, random) } else { random.normal() } * self.arm;
        let is_slow_mode = self.has_modes && random.uniform() < 0.25;
        interaction + if is_slow_mode { 0.10 } else { 0.0 }
    }

    fn iteration(&self, random: &mut NoiseDraws, previous: &mut f64) -> f64 {
        let fresh = if self.has_heavy_tails {
            let is_spike = random.uniform() < 0.02;
            student(2.5, random) + if is_spike { 0.80 / 0.02 } else { 0.0 }
        } else {
            random.normal()
        };
        let kept = (1.0 - self.correlation * self.correlation).sqrt();
        *previous = self.correlation * *previous + kept * fresh;
        *previous * 0.02
    }
}

/// Student's t scaled to a standard deviation of one: heavier tails, the same spread.
fn student(degrees: f64, random: &mut NoiseDraws) -> f64 {
    let spread = (degrees / (degrees - 2.0)).sqrt();
    random.student_t(degrees) / spread
}

/// The factor that gives a subject a known effect, in the simulator only.
pub struct SimEffect;

static SIM_EFFECT_DESCRIPTION: Description = Description {
    id: SIM_EFFECT,
    summary: "a known improvement of every metric, in the simulator only",
    doc: "`sim_effect = \"3%\"` makes every metric of the subject 3 % better than it would be, \
          `-3%` worse. It exists so that the pipeline can be tested against a known truth.",
};

impl Factor for SimEffect {
    fn describe(&self) -> &'static Description {
        &SIM_EFFECT_DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a percentage between -90% and 900%"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["3%", "-5%", "0%"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        let fraction = parse_percent(text).map_err(|error| error.to_string())?;
        if !(-0.9..=9.0).contains(&fraction) {
            return Err(format!("`{text}` is outside -90% to 900%"));
        }
        Ok(Level::canonical(format!("{}%", fraction * 100.0)))
    }

    fn requires(&self, _level: &Level) -> Vec<Requirement> {
        Vec::new()
    }

    fn knob(&self) -> Knob<'_> {
        Knob::Simulated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_has_one_spelling_and_limits() {
        assert_eq!(SimEffect.parse("3 %").unwrap().as_str(), "3%");
        assert!(SimEffect.parse("-95%").is_err());
        assert!(SimEffect.parse("3").is_err());
    }
}
