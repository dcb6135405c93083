//! What one invocation reports, before any reduction.

use crate::{Histogram, SharedName, Values};
use serde::{Deserialize, Serialize};

/// The raw data of one source in one invocation. Metrics name the source they
/// are computed from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Which source: the metric's id, or the histogram several metrics share.
    pub source: SharedName,
    /// The data.
    #[serde(flatten)]
    pub data: SampleData,
}

/// The shapes raw data may have; never only a mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleData {
    /// One value for each iteration, in the metric's unit, in order.
    Values(Values),
    /// Counted work and what it is divided by: messages and seconds, switches and operations.
    Quotient {
        /// What was counted.
        numerator: f64,
        /// What it is counted against.
        denominator: f64,
    },
    /// The distribution of single events; elsewhere, since an import has hundreds of thousands of
    /// samples that are none.
    Histogram(Box<Histogram>),
    /// Attempts and how many of them succeeded.
    Proportion {
        /// How many succeeded.
        successes: u64,
        /// How many were tried.
        attempts: u64,
    },
}

impl Sample {
    /// One value for each iteration.
    pub fn values(source: &str, values: Vec<f64>) -> Self {
        Self { source: source.into(), data: SampleData::Values(values.into()) }
    }

    /// One value.
    pub fn value(source: SharedName, value: f64) -> Self {
        Self { source, data: SampleData::Values(value.into()) }
    }

    /// Work over time, or events over operations.
    pub fn quotient(source: &str, numerator: f64, denominator: f64) -> Self {
        Self { source: source.into(), data: SampleData::Quotient { numerator, denominator } }
    }

    /// A distribution.
    pub fn histogram(source: &str, histogram: Histogram) -> Self {
        Self { source: source.into(), data: SampleData::Histogram(Box::new(histogram)) }
    }

    /// Successes of attempts.
    pub fn proportion(source: &str, successes: u64, attempts: u64) -> Self {
        Self { source: source.into(), data: SampleData::Proportion { successes, attempts } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_small_whatever_a_distribution_needs() {
        assert!(size_of::<Sample>() <= 40, "{} bytes", size_of::<Sample>());
    }
}
