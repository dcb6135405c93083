//! What a workload or probe reports: id, unit, direction and reduction.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The unit of a metric's value as stored; renderers choose the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Time in nanoseconds.
    Nanoseconds,
    /// Events per second.
    PerSecond,
    /// Events per operation of the workload.
    PerOperation,
    /// A plain count.
    Count,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// A fraction of one.
    Fraction,
    /// Joules.
    Joules,
    /// A unit of the user's own program; shown as given by the metric's name.
    Plain,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Lower values are better.
    Lower,
    /// Higher values are better.
    Higher,
}

impl Direction {
    /// +1 where higher is better, -1 where lower is: multiplies a log-ratio so
    /// that a positive effect is an improvement (docs/method.md#m-reduction).
    pub fn sign(self) -> f64 {
        match self {
            Direction::Higher => 1.0,
            Direction::Lower => -1.0,
        }
    }
}

/// How samples of one block and subject become one number (docs/method.md#m-reduction).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reduction {
    /// Median of an invocation's iterations; invocations by the mean of logs.
    Median,
    /// Mean of an invocation's iterations; invocations by the mean of logs.
    Mean,
    /// Sum of numerators over sum of denominators.
    Quotient,
    /// This quantile (0..1) of the histogram merged over invocations.
    Quantile(f64),
    /// Successes over attempts, summed over invocations.
    Proportion,
}

/// One thing that is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// snake_case, stable for ever, without a unit.
    pub id: String,
    /// The name of the sample it is computed from; several quantiles share one histogram.
    pub source: String,
    /// Unit of the stored value.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// How a block and subject become one number.
    pub reduction: Reduction,
    /// Default equivalence margin as a fraction (0.02 is 2 %).
    pub margin: f64,
    /// Smallest step the measurement can show, in the metric's unit; 0 where it has none.
    pub resolution: f64,
    /// Id of the metric that this one and others add up to: a stage of a round trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
    /// Whether it describes how a run went, such as where its tasks were: a difference in it is
    /// no other work, and makes nothing incomparable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_description: bool,
    /// Whether it follows from the latencies of the same run, as the share of late cycles does: it
    /// is judged and watched like any other, and a difference in it is no other work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follows_latency: bool,
    /// One sentence: what it means.
    pub summary: String,
}

impl Metric {
    /// A metric with the default margin of its reduction: 2 % for medians,
    /// means and rates, 5 % up to p99, 10 % beyond (docs/method.md#m-margin).
    pub fn new(
        id: impl Into<String>,
        unit: Unit,
        direction: Direction,
        reduction: Reduction,
        summary: impl Into<String>,
    ) -> Self {
        let id = id.into();
        let margin = match reduction {
            Reduction::Quantile(quantile) if quantile > 0.99 => 0.10,
            Reduction::Quantile(quantile) if quantile > 0.5 => 0.05,
            _ => 0.02,
        };
        Self {
            source: id.clone(),
            id,
            unit,
            direction,
            reduction,
            margin,
            resolution: 0.0,
            part_of: None,
            is_description: false,
            follows_latency: false,
            summary: summary.into(),
        }
    }

    /// Whether it is memory in use, which leaks where it grows: bytes of which fewer are better,
    /// with a name that says so (`service_memory`, `max_rss`).
    pub fn is_memory(&self) -> bool {
        let mut words = self.id.split('_');
        let is_named = words.any(|word| matches!(word, "memory" | "rss" | "heap"));
        self.unit == Unit::Bytes && self.direction == Direction::Lower && is_named
    }

    /// The quantiles p50, p90, p99 and p99.9 of the latency histogram `source`.
    pub fn latency_quantiles(source: &str, summary: &str) -> Vec<Metric> {
        [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)]
            .into_iter()
            .map(|(name, quantile)| {
                let mut metric = Metric::new(
                    format!("{source}_{name}"),
                    Unit::Nanoseconds,
                    Direction::Lower,
                    Reduction::Quantile(quantile),
                    format!("{summary}: the {}th percentile", quantile * 100.0),
                );
                metric.source = source.to_owned();
                metric.resolution = 1.0;
                metric
            })
            .collect()
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Direction::Lower => "lower is better",
            Direction::Higher => "higher is better",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_from_other_bytes_by_its_name() {
        let is_memory = |id: &str, unit, direction| {
            Metric::new(id, unit, direction, Reduction::Median, "for tests").is_memory()
        };
        assert!(is_memory("service_memory", Unit::Bytes, Direction::Lower));
        assert!(is_memory("max_rss", Unit::Bytes, Direction::Lower));
        assert!(!is_memory("bytes_per_op", Unit::Bytes, Direction::Lower), "work, no stock");
        assert!(!is_memory("memory_stall", Unit::Fraction, Direction::Lower));
        assert!(!is_memory("memory_moved", Unit::Bytes, Direction::Higher));
    }
}
