//! What a trial of a drawn campaign reports: its metrics, and samples of the value that was drawn.

use crate::draws::Draws;
use model::{Direction, Histogram, Metric, Reduction, Sample, Unit};

/// The metric that is judged, of every workload.
const METRIC: &str = "makespan";
/// Work that was done while a latency was measured.
const WORK: &str = "rate";
/// Memory in use, beside a time.
const MEMORY: &str = "service_memory";
/// Spread of single events inside a histogram, as in the simulator.
const EVENT_SIGMA: f64 = 0.8;
/// Spread of the iterations of a trial, as in the simulator.
const ITERATION_SIGMA: f64 = 0.02;
/// So noisy that the margin of a rate hides no false difference of it: its interval is wider.
const WORK_SIGMA: f64 = 0.03;
/// Noise of memory in use, as of a trial's value.
const MEMORY_SIGMA: f64 = 0.01;

/// What a trial reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reported {
    /// A time.
    Time,
    /// A time of a clock that ticks ten times in the reference's.
    TenSteps,
    /// A time of a clock that ticks ten times in the reference's, and with which each trial begins.
    WholeSteps,
    /// A time of a clock that ticks ten times in the reference's, of subject 1 alone; all others have a fine clock.
    TenStepsOfOne,
    /// A percentile of so many events.
    Percentile(f64, u32),
    /// A share of so many attempts, one in twenty of the reference's.
    Share(u32),
    /// So many events of the reference in a time that is the same for all.
    Count(u32),
    /// The times of so many iterations, of which the first quarter take longer by this, on the scale
    /// of logarithms.
    Iterations(u32, f64),
    /// The median of so many events of an open loop, beside the rate that it achieved: of subject 1
    /// it is lower by this, on the scale of logarithms.
    LatencyAndWork(u32, f64),
    /// Of a soak campaign a time and the memory in use: both grow by this over the whole of it, on
    /// the scale of logarithms.
    Soak(f64),
}

impl Reported {
    /// Whether the load waits for no answer.
    pub(crate) fn is_open_loop(self) -> bool {
        matches!(self, Self::LatencyAndWork(..))
    }

    /// Whether the campaign is one that goes on for a declared time.
    pub(crate) fn is_soak(self) -> bool {
        matches!(self, Self::Soak(_))
    }

    /// The metrics of a workload; the first is the one that is judged, with this margin.
    pub(crate) fn metrics(self, margin: f64) -> Vec<Metric> {
        let (unit, direction, reduction) = match self {
            Self::Time
            | Self::TenSteps
            | Self::WholeSteps
            | Self::TenStepsOfOne
            | Self::Iterations(..)
            | Self::Soak(_) => (Unit::Nanoseconds, Direction::Lower, Reduction::Median),
            Self::Percentile(quantile, _) => {
                (Unit::Nanoseconds, Direction::Lower, Reduction::Quantile(quantile))
            }
            Self::LatencyAndWork(..) => {
                (Unit::Nanoseconds, Direction::Lower, Reduction::Quantile(0.5))
            }
            Self::Share(_) => (Unit::Fraction, Direction::Lower, Reduction::Proportion),
            Self::Count(_) => (Unit::PerSecond, Direction::Higher, Reduction::Quotient),
        };
        let of = |id: &str, unit, direction, reduction| {
            Metric::new(id, unit, direction, reduction, "for calibration")
        };
        let judged = Metric { margin, ..of(METRIC, unit, direction, reduction) };
        match self {
            Self::LatencyAndWork(..) => {
                vec![judged, of(WORK, Unit::PerSecond, Direction::Higher, Reduction::Quotient)]
            }
            Self::Soak(_) => {
                let memory = of(MEMORY, Unit::Bytes, Direction::Lower, Reduction::Median);
                vec![judged, Metric { margin, ..memory }]
            }
            _ => vec![judged],
        }
    }

    /// What a trial of this arm reports whose value is the exponential of this, after this share of
    /// the campaign.
    pub(crate) fn samples(
        self,
        log: f64,
        (arm, progress): (usize, f64),
        draws: &mut Draws,
    ) -> Vec<Sample> {
        match self {
            Self::Time => vec![Sample::values(METRIC, vec![1e9 * log.exp()])],
            Self::TenStepsOfOne if arm != 1 => vec![Sample::values(METRIC, vec![1e9 * log.exp()])],
            // Where in a tick it began is as likely as anywhere else.
            Self::TenSteps | Self::TenStepsOfOne => {
                let ticks = (10.0 * log.exp() + draws.uniform()).floor();
                vec![Sample::values(METRIC, vec![1e8 * ticks])]
            }
            Self::WholeSteps => {
                vec![Sample::values(METRIC, vec![1e8 * (10.0 * log.exp()).floor()])]
            }
            Self::Percentile(_, events) => vec![latencies(log, events, draws)],
            Self::Share(attempts) => {
                let odds = log.exp() / 19.0;
                let share = odds / (1.0 + odds);
                let successes = (0..attempts).filter(|_| draws.uniform() < share).count();
                vec![Sample::proportion(METRIC, successes as u64, u64::from(attempts))]
            }
            Self::Count(events) => {
                let mean = f64::from(events) * log.exp();
                // A Poisson count of so many is normal to its own rounding.
                let count = (mean + mean.sqrt() * draws.normal()).round();
                vec![Sample::quotient(METRIC, count.max(1.0), 10.0)]
            }
            Self::Iterations(count, longer) => {
                let iteration = |index: u32| {
                    let at_first = if index < count / 4 { longer } else { 0.0 };
                    1e9 * (log + at_first + ITERATION_SIGMA * draws.normal()).exp()
                };
                vec![Sample::values(METRIC, (0..count).map(iteration).collect())]
            }
            Self::LatencyAndWork(events, less) => {
                let lost = if arm == 1 { less } else { 0.0 };
                let rate = 1e4 * (WORK_SIGMA * draws.normal() - lost).exp();
                vec![latencies(log, events, draws), Sample::quotient(WORK, rate, 1.0)]
            }
            Self::Soak(growth) => {
                let grown = growth * progress;
                let bytes = 1e8 * (grown + MEMORY_SIGMA * draws.normal()).exp();
                vec![
                    Sample::values(METRIC, vec![1e9 * (log + grown).exp()]),
                    Sample::values(MEMORY, vec![bytes]),
                ]
            }
        }
    }
}

/// So many events around the exponential of this, in milliseconds.
fn latencies(log: f64, events: u32, draws: &mut Draws) -> Sample {
    let mut histogram = Histogram::new();
    for _ in 0..events {
        let event = 1e6 * (log + EVENT_SIGMA * draws.normal()).exp();
        histogram.record(event.round() as u64);
    }
    Sample::histogram(METRIC, histogram)
}
