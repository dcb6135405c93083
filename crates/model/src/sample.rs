//! What one invocation reports, before any reduction.

use crate::{Histogram, SharedName, Values};
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The raw data of one source in one invocation. Metrics name the source they
/// are computed from.
#[derive(Debug, Clone, PartialEq, Serialize)]
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

/// The keys of a stored sample.
#[derive(Clone, Copy, Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum SampleKey {
    Source,
    Values,
    Quotient,
    Histogram,
    Proportion,
    #[serde(other)]
    Other,
}

/// As [`SampleData::Quotient`].
#[derive(Deserialize)]
struct StoredQuotient {
    numerator: f64,
    denominator: f64,
}

/// As [`SampleData::Proportion`].
#[derive(Deserialize)]
struct StoredProportion {
    successes: u64,
    attempts: u64,
}

/// Read by hand: what is derived of flattened data holds each value in 32 bytes before it is counted.
impl<'de> Deserialize<'de> for Sample {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(StoredSample)
    }
}

struct StoredSample;

impl<'de> Visitor<'de> for StoredSample {
    type Value = Sample;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a sample")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Sample, A::Error> {
        let (mut source, mut data) = (None, None);
        while let Some(key) = fields.next_key::<SampleKey>()? {
            match key {
                SampleKey::Source if source.is_some() => {
                    return Err(A::Error::duplicate_field("source"));
                }
                SampleKey::Source => source = Some(fields.next_value::<SharedName>()?),
                SampleKey::Other => {
                    fields.next_value::<IgnoredAny>()?;
                }
                // The first one counts.
                _ if data.is_some() => {
                    fields.next_value::<IgnoredAny>()?;
                }
                SampleKey::Values => data = Some(SampleData::Values(fields.next_value()?)),
                SampleKey::Histogram => data = Some(SampleData::Histogram(fields.next_value()?)),
                SampleKey::Quotient => {
                    let StoredQuotient { numerator, denominator } = fields.next_value()?;
                    data = Some(SampleData::Quotient { numerator, denominator });
                }
                SampleKey::Proportion => {
                    let StoredProportion { successes, attempts } = fields.next_value()?;
                    data = Some(SampleData::Proportion { successes, attempts });
                }
            }
        }
        let source = source.ok_or_else(|| A::Error::missing_field("source"))?;
        let none = "a sample has neither values, quotient, histogram nor proportion";
        Ok(Sample { source, data: data.ok_or_else(|| A::Error::custom(none))? })
    }
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

    #[test]
    fn a_stored_sample_is_what_it_was_and_other_keys_are_passed_over() {
        let mut histogram = Histogram::new();
        histogram.record(7);
        for sample in [
            Sample::values("a", vec![1.0, -0.5]),
            Sample::value("a".into(), 3.0),
            Sample::quotient("a", 1.0, 2.0),
            Sample::histogram("a", histogram),
            Sample::proportion("a", 1, 2),
        ] {
            let text = serde_json::to_string(&sample).unwrap();
            assert_eq!(serde_json::from_str::<Sample>(&text).unwrap(), sample, "{text}");
        }
        let of = |text: &str| {
            let read: Result<Sample, _> = serde_json::from_str(text);
            read.map_err(|error| error.to_string())
        };
        let first = Sample::values("a", vec![1.0]);
        let text = r#"{"x":{"y":[1]},"values":[1],"source":"a","quotient":null,"values":[2]}"#;
        assert_eq!(of(text), Ok(first));
        for (text, told) in [
            ("{}", "missing field `source`"),
            (r#"{"source":"a"}"#, "a sample has neither values"),
            (r#"{"source":"a","source":"a"}"#, "duplicate field `source`"),
            (r#"{"source":"a","values":{}}"#, "expected a sequence"),
            (r#"{"source":"a","values":[null]}"#, "expected f64"),
            (r#"{"source":"a","quotient":{"numerator":1}}"#, "missing field `denominator`"),
            ("[]", "expected a sample"),
        ] {
            let found = of(text).unwrap_err();
            assert!(found.contains(told), "{text}: {found}");
        }
    }
}
