//! Latency histograms: HdrHistogram with three significant digits, stored as
//! V2 deflate in base64 so that they merge exactly (STATISTICS 2.10).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// One hour: longer values are clamped and counted.
const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Relative error at most 0.1 %.
const SIGNIFICANT_DIGITS: u8 = 3;
/// An encoded histogram of this range never exceeds this; a longer text is hostile.
const LONGEST_TEXT: usize = 4 << 20;

/// Counts of values (nanoseconds unless its metric says otherwise) in
/// log-linear buckets. Recording neither allocates nor locks.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    inner: hdrhistogram::Histogram<u64>,
    clamped: u64,
}

/// Why stored text is not a histogram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistogramError(String);

impl std::fmt::Display for HistogramError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "not a stored histogram: {}", self.0)
    }
}

impl std::error::Error for HistogramError {}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram with every bucket allocated.
    pub fn new() -> Self {
        #[expect(clippy::expect_used, reason = "the bounds are constants that the crate accepts")]
        let inner = hdrhistogram::Histogram::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS)
            .expect("constant bounds are valid");
        Self { inner, clamped: 0 }
    }

    /// Counts one value; values beyond an hour count as an hour and as clamped.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_many(value, 1);
    }

    /// Counts one value `count` times.
    #[inline]
    pub fn record_many(&mut self, value: u64, count: u64) {
        if value > HIGHEST_NS {
            self.clamped += count;
        }
        self.inner.saturating_record_n(value.min(HIGHEST_NS), count);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        for bucket in other.inner.iter_recorded() {
            self.inner.saturating_record_n(
                bucket.value_iterated_to().min(HIGHEST_NS),
                bucket.count_at_value(),
            );
        }
        self.clamped += other.clamped;
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        self.inner.len()
    }

    /// How many values were above the range.
    pub fn clamped(&self) -> u64 {
        self.clamped
    }

    /// The value at rank ceil(q N), or `None` of an empty histogram.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        (self.count() > 0).then(|| self.inner.value_at_quantile(quantile))
    }

    /// The smallest value's bucket, or `None` of an empty histogram.
    pub fn min(&self) -> Option<u64> {
        (self.count() > 0).then(|| self.inner.min())
    }

    /// The largest value's bucket, or `None` of an empty histogram.
    pub fn max(&self) -> Option<u64> {
        (self.count() > 0).then(|| self.inner.max())
    }

    /// The mean of the bucket midpoints, or `None` of an empty histogram.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.inner.mean())
    }

    /// Each non-empty bucket: its highest value and its count, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.inner
            .iter_recorded()
            .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
    }

    /// The stored text: HDR V2 deflate, base64. The same counts give the same
    /// text, whether they were recorded or read.
    pub fn encode(&self) -> String {
        let mut whole = Self::new();
        whole.merge(self);
        let mut bytes = Vec::new();
        #[expect(clippy::expect_used, reason = "writing to a vector cannot fail")]
        V2DeflateSerializer::new()
            .serialize(&whole.inner, &mut bytes)
            .expect("a histogram of constant bounds serialises");
        STANDARD.encode(bytes)
    }

    /// Reads what [`Histogram::encode`] wrote; foreign text is an error, never a panic.
    pub fn decode(text: &str) -> Result<Self, HistogramError> {
        let bad = |why: String| HistogramError(why);
        if text.len() > LONGEST_TEXT {
            return Err(bad(format!("{} bytes are more than any histogram has", text.len())));
        }
        let bytes = STANDARD.decode(text).map_err(|error| bad(error.to_string()))?;
        let foreign: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| bad(format!("{error:?}")))?;
        if foreign.high() > HIGHEST_NS * 2 || foreign.sigfig() > SIGNIFICANT_DIGITS {
            return Err(bad("its range is not one of ours".to_owned()));
        }
        // Only as many buckets as it needs: a campaign holds thousands of these.
        let mut inner = hdrhistogram::Histogram::new(SIGNIFICANT_DIGITS)
            .map_err(|error| bad(format!("{error:?}")))?;
        for bucket in foreign.iter_recorded() {
            let value = bucket.value_iterated_to().min(HIGHEST_NS);
            inner
                .record_n(value, bucket.count_at_value())
                .map_err(|error| bad(format!("{error:?}")))?;
        }
        Ok(Self { inner, clamped: 0 })
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    hdr: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    clamped: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Stored { hdr: self.encode(), clamped: self.clamped }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        let mut histogram = Self::decode(&stored.hdr).map_err(serde::de::Error::custom)?;
        histogram.clamped = stored.clamped;
        Ok(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_come_from_merged_counts_never_from_averaged_percentiles() {
        let mut quiet = Histogram::new();
        let mut slow = Histogram::new();
        quiet.record_many(1_000, 900);
        slow.record_many(50_000, 100);
        let mut merged = Histogram::new();
        merged.merge(&quiet);
        merged.merge(&slow);
        assert_eq!(merged.count(), 1_000);
        let within = |value: Option<u64>, expected: f64| {
            let value = value.unwrap() as f64;
            assert!((value / expected - 1.0).abs() <= 0.001, "{value} is not {expected}");
        };
        within(merged.quantile(0.5), 1_000.0);
        within(merged.quantile(0.9), 1_000.0);
        within(merged.quantile(0.91), 50_000.0);
    }

    #[test]
    fn a_stored_histogram_comes_back_equal() {
        let mut histogram = Histogram::new();
        for value in [1, 7, 999, 123_456, 987_654_321, HIGHEST_NS + 1] {
            histogram.record(value);
        }
        let text = serde_json::to_string(&histogram).unwrap();
        let back: Histogram = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
        assert_eq!(back.clamped(), 1);
        assert_eq!(back.buckets().collect::<Vec<_>>(), histogram.buckets().collect::<Vec<_>>());
    }

    #[test]
    fn foreign_text_is_an_error() {
        for text in ["", "!", "AAAA", "HISTFAAAAAB42pNpmSzMwMDAxAABAAAz"] {
            assert!(Histogram::decode(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_empty_histogram_has_no_quantile() {
        assert_eq!(Histogram::new().quantile(0.5), None);
    }
}
