//! An amount of the timed window as metrics: for each operation where the
//! workload counts them, and over time always.

use model::{Direction, Metric, Reduction, RunReport, Sample, Unit};

/// Events of the window, such as context switches.
pub(crate) struct EventRate {
    /// Metric over operations.
    pub(crate) per_operation: &'static str,
    /// Metric over time.
    pub(crate) per_second: &'static str,
    /// What the events are: `context switches`.
    pub(crate) events: &'static str,
}

impl EventRate {
    pub(crate) fn metrics(&self) -> [Metric; 2] {
        let metric = |id, unit, over| {
            let summary = format!("{} {over}", self.events);
            Metric::new(id, unit, Direction::Lower, Reduction::Quotient, summary)
        };
        [
            metric(self.per_operation, Unit::PerOperation, "for each operation of the workload"),
            metric(self.per_second, Unit::PerSecond, "in each second"),
        ]
    }

    pub(crate) fn samples(&self, events: f64, report: &RunReport) -> Vec<Sample> {
        over_both(events, self.per_operation, self.per_second, seconds(report.wall_ns), report)
    }
}

/// Time spent in the window, such as CPU time.
pub(crate) struct TimeRate {
    /// Metric over operations.
    pub(crate) per_operation: &'static str,
    /// Metric over the window's length.
    pub(crate) share: &'static str,
    /// What the time is: `CPU time of the workload`.
    pub(crate) time: &'static str,
}

impl TimeRate {
    pub(crate) fn metrics(&self) -> [Metric; 2] {
        let metric = |id, unit, over| {
            let summary = format!("{} {over}", self.time);
            Metric::new(id, unit, Direction::Lower, Reduction::Quotient, summary)
        };
        [
            metric(self.per_operation, Unit::Nanoseconds, "for each operation of the workload"),
            metric(self.share, Unit::Fraction, "over the length of the run; 1 is one CPU"),
        ]
    }

    #[expect(clippy::cast_precision_loss, reason = "times below 104 days are exact")]
    pub(crate) fn samples(&self, time_ns: f64, report: &RunReport) -> Vec<Sample> {
        over_both(time_ns, self.per_operation, self.share, report.wall_ns as f64, report)
    }
}

/// The second denominator is left out when the window had no length, the first
/// when operations are not counted: a quotient by zero is not a measurement.
fn over_both(
    amount: f64,
    per_operation: &str,
    over_time: &str,
    time: f64,
    report: &RunReport,
) -> Vec<Sample> {
    let mut samples = Vec::new();
    if let Some(operations) = report.operations.filter(|operations| *operations > 0) {
        #[expect(clippy::cast_precision_loss, reason = "operations beyond 2^53 are not met")]
        samples.push(Sample::quotient(per_operation, amount, operations as f64));
    }
    if time > 0.0 {
        samples.push(Sample::quotient(over_time, amount, time));
    }
    samples
}

/// One part of a whole; nothing where the whole is nothing.
pub(crate) fn share(source: &str, part: f64, whole: f64) -> Option<Sample> {
    (whole > 0.0).then(|| Sample::quotient(source, part, whole))
}

/// A fraction of which lower is better.
pub(crate) fn share_metric(id: &str, summary: &str) -> Metric {
    Metric::new(id, Unit::Fraction, Direction::Lower, Reduction::Quotient, summary)
}

#[expect(clippy::cast_precision_loss, reason = "times below 104 days are exact")]
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: EventRate = EventRate { per_operation: "a", per_second: "b", events: "things" };

    #[test]
    fn a_run_that_counts_no_operations_has_no_figure_per_operation() {
        let report =
            |operations, wall_ns| RunReport { wall_ns, operations, ..RunReport::default() };
        let sources = |report: &RunReport| -> Vec<String> {
            RATE.samples(3.0, report).into_iter().map(|sample| sample.source.to_string()).collect()
        };
        assert_eq!(sources(&report(Some(10), 1_000)), ["a", "b"]);
        assert_eq!(sources(&report(None, 1_000)), ["b"]);
        assert_eq!(sources(&report(Some(0), 1_000)), ["b"]);
        assert!(sources(&report(None, 0)).is_empty());
        assert_eq!(
            RATE.samples(3.0, &report(Some(10), 2_000_000_000)),
            [Sample::quotient("a", 3.0, 10.0), Sample::quotient("b", 3.0, 2.0)]
        );
    }
}
