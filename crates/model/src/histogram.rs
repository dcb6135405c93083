//! Latency histograms: HdrHistogram with three significant digits, stored as
//! V2 deflate in base64 so that they merge exactly (docs/method.md#m-quantiles).

mod layout;
mod packed;
mod ranks;

use crate::HISTOGRAM_TEXT;
use crate::counted_numbers::note_buckets;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, LazyLock};

/// One hour: longer values are clamped and counted.
const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Relative error at most 0.1 %.
const SIGNIFICANT_DIGITS: u8 = 3;

/// Counts of values (nanoseconds unless its metric says otherwise) in
/// log-linear buckets. Recording neither allocates nor locks.
#[derive(Debug, Clone)]
pub struct Histogram {
    counts: Counts,
    clamped: u64,
}

/// Recording needs every bucket, 280 KB; what was stored and is only read, those that are not
/// empty: a campaign has ten thousands of these.
#[derive(Debug, Clone)]
enum Counts {
    Every(hdrhistogram::Histogram<u64>),
    /// Those that are not empty, ascending.
    Filled(Arc<[Bucket]>),
}

/// One bucket that is not empty.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    /// Its highest value.
    highest: u64,
    /// How many values lie in it and below it.
    up_to: u64,
}

/// Of buckets' highest values and their counts, ascending.
fn summed(buckets: impl Iterator<Item = (u64, u64)>) -> Arc<[Bucket]> {
    let mut up_to = 0_u64;
    let add = |(highest, count): (u64, u64)| {
        up_to = up_to.saturating_add(count);
        Bucket { highest, up_to }
    };
    buckets.map(add).collect()
}

impl Counts {
    /// Of buckets' highest values and their counts, ascending.
    fn filled(buckets: impl Iterator<Item = (u64, u64)>) -> Self {
        Self::Filled(summed(buckets))
    }
}

/// Where the buckets of ours begin and end.
static LAYOUT: LazyLock<hdrhistogram::Histogram<u64>> = LazyLock::new(every);

fn every() -> hdrhistogram::Histogram<u64> {
    #[expect(clippy::expect_used, reason = "the bounds are constants that the crate accepts")]
    hdrhistogram::Histogram::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS)
        .expect("constant bounds are valid")
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
        Self { counts: Counts::Every(every()), clamped: 0 }
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
        self.every().saturating_record_n(value.min(HIGHEST_NS), count);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        let every = self.every();
        for (value, count) in other.buckets() {
            every.saturating_record_n(value.min(HIGHEST_NS), count);
        }
        self.clamped = self.clamped.saturating_add(other.clamped);
    }

    /// The sum of histograms, with room for what was counted alone.
    pub fn merged<'h>(parts: impl IntoIterator<Item = &'h Histogram>) -> Self {
        let mut counts: Vec<u64> = Vec::new();
        let mut clamped = 0_u64;
        for part in parts {
            let most = part.max().map_or(0, |max| layout::index(max) + 1);
            counts.resize(counts.len().max(most), 0);
            for (value, count) in part.buckets() {
                let bucket = &mut counts[layout::index(value)];
                *bucket = bucket.saturating_add(count);
            }
            clamped = clamped.saturating_add(part.clamped);
        }
        let filled = (0..).zip(counts).filter(|(_, count)| *count > 0);
        let buckets = filled.filter_map(|(place, count)| Some((layout::highest(place)?, count)));
        Self { counts: Counts::filled(buckets), clamped }
    }

    /// Gives back the room for values that are still to come, which counting another one takes
    /// again: of what is only read there may be thousands.
    pub fn shrink(&mut self) {
        self.counts = Counts::Filled(self.folded());
    }

    /// What remains without a part of it, the counts of which are in it.
    #[must_use]
    pub fn without(&self, part: &Histogram) -> Self {
        let mut gone = part.buckets().peekable();
        let remaining = |(value, count): (u64, u64)| {
            let less = gone.next_if(|(highest, _)| *highest == value).map_or(0, |(_, less)| less);
            (count > less).then(|| (value, count - less))
        };
        let counts = Counts::filled(self.buckets().filter_map(remaining));
        Self { counts, clamped: self.clamped.saturating_sub(part.clamped) }
    }

    /// Every bucket, so that any value can be counted.
    #[inline]
    fn every(&mut self) -> &mut hdrhistogram::Histogram<u64> {
        if let Counts::Filled(_) = &self.counts {
            self.counts = Counts::Every(self.unfolded());
        }
        match &mut self.counts {
            Counts::Every(every) => every,
            Counts::Filled(_) => unreachable!("it was unfolded above"),
        }
    }

    /// The same counts with every bucket.
    fn unfolded(&self) -> hdrhistogram::Histogram<u64> {
        let mut every = every();
        for (value, count) in self.buckets() {
            every.saturating_record_n(value.min(HIGHEST_NS), count);
        }
        every
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        match &self.counts {
            Counts::Every(every) => every.len(),
            Counts::Filled(buckets) => buckets.last().map_or(0, |bucket| bucket.up_to),
        }
    }

    /// How many values were above the range.
    pub fn clamped(&self) -> u64 {
        self.clamped
    }

    /// The value at rank ceil(q N), or `None` of an empty histogram.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        Self::quantile_of(&[self], quantile)
    }

    /// The same of several histograms together, without adding them up.
    pub fn quantile_of(parts: &[&Histogram], quantile: f64) -> Option<u64> {
        Self::quantiles_of(parts, &[quantile]).pop().flatten()
    }

    /// Several quantiles at once.
    pub fn quantiles_of(parts: &[&Histogram], quantiles: &[f64]) -> Vec<Option<u64>> {
        let total: u64 = parts.iter().map(|part| part.count()).fold(0, u64::saturating_add);
        let rank =
            |quantile: &f64| ((quantile.clamp(0.0, 1.0) * total as f64).ceil() as u64).max(1);
        let parts: Vec<Arc<[Bucket]>> = parts.iter().map(|part| part.folded()).collect();
        let value_at = |rank: u64| (rank <= total).then(|| ranks::value_at(&parts, rank));
        quantiles.iter().map(|quantile| value_at(rank(quantile))).collect()
    }

    /// The buckets that are not empty.
    fn folded(&self) -> Arc<[Bucket]> {
        match &self.counts {
            Counts::Filled(buckets) => Arc::clone(buckets),
            Counts::Every(_) => summed(self.buckets()),
        }
    }

    /// The smallest value's bucket, or `None` of an empty histogram.
    pub fn min(&self) -> Option<u64> {
        self.buckets().next().map(|(highest, _)| LAYOUT.lowest_equivalent(highest))
    }

    /// The largest value's bucket, or `None` of an empty histogram.
    pub fn max(&self) -> Option<u64> {
        match &self.counts {
            Counts::Every(every) => (!every.is_empty()).then(|| every.max()),
            Counts::Filled(buckets) => buckets.last().map(|bucket| bucket.highest),
        }
    }

    /// The mean of the bucket midpoints, or `None` of an empty histogram.
    pub fn mean(&self) -> Option<f64> {
        let total = self.count() as f64;
        let add = |sum: f64, (highest, count): (u64, u64)| {
            sum + LAYOUT.median_equivalent(highest) as f64 * count as f64 / total
        };
        (total > 0.0).then(|| self.buckets().fold(0.0, add))
    }

    /// Each non-empty bucket: its highest value and its count, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (every, filled) = match &self.counts {
            Counts::Every(every) => (Some(every.iter_recorded()), None),
            Counts::Filled(buckets) => {
                let below = std::iter::once(0).chain(buckets.iter().map(|bucket| bucket.up_to));
                let count =
                    |(bucket, below): (&Bucket, u64)| (bucket.highest, bucket.up_to - below);
                (None, Some(buckets.iter().zip(below).map(count)))
            }
        };
        let of_every = every.into_iter().flatten();
        of_every
            .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
            .chain(filled.into_iter().flatten())
            .filter(|(_, count)| *count > 0)
    }

    /// The stored text: HDR V2 deflate, base64. The same counts give the same
    /// text, whether they were recorded or read.
    pub fn encode(&self) -> String {
        let whole = self.unfolded();
        let mut bytes = Vec::new();
        #[expect(clippy::expect_used, reason = "writing to a vector cannot fail")]
        V2DeflateSerializer::new()
            .serialize(&whole, &mut bytes)
            .expect("a histogram of constant bounds serialises");
        STANDARD.encode(bytes)
    }

    /// Reads what [`Histogram::encode`] wrote; foreign text is an error, never a panic.
    pub fn decode(text: &str) -> Result<Self, HistogramError> {
        let bad = |why: String| HistogramError(why);
        HISTOGRAM_TEXT.check(text.len() as u64).map_err(|over| bad(over.to_string()))?;
        let bytes = STANDARD.decode(text).map_err(|error| bad(error.to_string()))?;
        let buckets = match packed::buckets(&bytes) {
            Some(buckets) => buckets,
            None => foreign_buckets(&bytes).map_err(bad)?,
        };
        note_buckets(buckets.len() as u64).map_err(|over| bad(over.to_string()))?;
        Ok(Self { counts: Counts::filled(buckets.into_iter()), clamped: 0 })
    }
}

/// Highest value and count of each bucket of a histogram of any layout, in ours.
fn foreign_buckets(bytes: &[u8]) -> Result<Vec<(u64, u64)>, String> {
    // The library allocates what the header declares.
    packed::check_declared(bytes)?;
    let foreign: hdrhistogram::Histogram<u64> =
        Deserializer::new().deserialize(&mut &*bytes).map_err(|error| format!("{error:?}"))?;
    let mut buckets: Vec<(u64, u64)> = Vec::new();
    for bucket in foreign.iter_recorded() {
        // A foreign layout may be finer in places.
        let value = LAYOUT.highest_equivalent(bucket.value_iterated_to().min(HIGHEST_NS));
        match buckets.last_mut() {
            Some((last, count)) if *last == value => {
                *count = count.saturating_add(bucket.count_at_value());
            }
            _ => buckets.push((value, bucket.count_at_value())),
        }
    }
    Ok(buckets)
}

/// Two are equal where they counted the same, however they hold it.
impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.clamped == other.clamped && self.buckets().eq(other.buckets())
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    hdr: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    clamped: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(crate) fn is_zero(value: &u64) -> bool {
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
    use crate::{RECORD_BUCKETS, counting_numbers};

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
    fn what_was_stored_reads_and_goes_on_like_what_was_recorded() {
        let mut recorded = Histogram::new();
        (0..=40_u64).for_each(|step| recorded.record_many(step.pow(7) + step, step % 5 + 1));
        recorded.record(HIGHEST_NS + 5);
        let text = serde_json::to_string(&recorded).unwrap();
        let mut stored: Histogram = serde_json::from_str(&text).unwrap();
        let Counts::Every(every) = &recorded.counts else { panic!("it was recorded") };
        assert!(matches!(stored.counts, Counts::Filled(_)));
        let shares = [0.0, 0.1, 0.5, 0.9, 0.99, 1.0];
        for histogram in [&recorded, &stored] {
            assert_eq!(histogram.count(), every.len());
            assert_eq!(histogram.min(), Some(every.min()));
            assert_eq!(histogram.max(), Some(every.max()));
            assert_eq!(histogram.mean(), Some(every.mean()));
            for share in &shares[1..] {
                assert_eq!(histogram.quantile(*share), Some(every.value_at_quantile(*share)));
            }
        }
        assert_eq!(stored, recorded);
        stored.record(77);
        assert_ne!(stored, recorded);
        recorded.record(77);
        assert_eq!(stored, recorded);
        assert_eq!(stored.encode(), recorded.encode());
    }

    #[test]
    fn reading_bucket_by_bucket_gives_what_the_library_gives() {
        let mut seed = 88_172_645_463_325_252_u64;
        for round in 0..200_u32 {
            let mut histogram = Histogram::new();
            for _ in 0..round * 3 {
                // Marsaglia's xorshift; every order of magnitude.
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                histogram.record_many(seed >> (seed % 60), seed % 1_000 + 1);
            }
            let bytes = STANDARD.decode(histogram.encode()).unwrap();
            let ours = packed::buckets(&bytes).expect("it is of our layout");
            assert_eq!(ours, foreign_buckets(&bytes).unwrap());
            assert_eq!(ours, histogram.buckets().collect::<Vec<_>>());
            for cut in 0..bytes.len().min(60) {
                assert!(packed::buckets(&bytes[..cut]).is_none());
            }
        }
    }

    /// A header of V2, compressed, that declares these, and nothing behind it.
    fn declaring(payload: u32, digits: u32, highest: u64) -> String {
        let mut plain = Vec::new();
        plain.extend(0x1c84_9313_u32.to_be_bytes());
        plain.extend(payload.to_be_bytes());
        plain.extend(0_u32.to_be_bytes());
        plain.extend(digits.to_be_bytes());
        plain.extend(1_u64.to_be_bytes());
        plain.extend(highest.to_be_bytes());
        plain.extend(1_f64.to_be_bytes());
        let mut packed =
            flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut packed, &plain).unwrap();
        let packed = packed.finish().unwrap();
        let mut bytes = 0x1c84_9314_u32.to_be_bytes().to_vec();
        bytes.extend((packed.len() as u32).to_be_bytes());
        bytes.extend(packed);
        STANDARD.encode(bytes)
    }

    #[test]
    fn what_a_histogram_declares_is_refused_before_it_is_allocated() {
        for (payload, digits, highest, why) in [
            (u32::MAX, 3, HIGHEST_NS, "HISTOGRAM_COUNTS"),
            (8, 3, u64::MAX, "range"),
            (8, 5, HIGHEST_NS, "range"),
            (8, u32::MAX, HIGHEST_NS, "range"),
        ] {
            let error = Histogram::decode(&declaring(payload, digits, highest)).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
        let plain = STANDARD.encode(0x1c84_9313_u32.to_be_bytes());
        assert!(Histogram::decode(&plain).is_err(), "it ends within its header");
    }

    #[test]
    fn a_text_that_is_too_long_is_refused_by_the_name_of_the_limit_before_it_is_decoded() {
        let most = usize::try_from(HISTOGRAM_TEXT.most).unwrap();
        let told = |length: usize| Histogram::decode(&"A".repeat(length)).unwrap_err().to_string();
        assert!(!told(most).contains("limit"), "{}", told(most));
        // Of so many letters no text of base64 consists.
        let refused = told(most + 1);
        assert!(refused.contains("more than 4194304 characters"), "{refused}");
        assert!(refused.contains("limit HISTOGRAM_TEXT"), "{refused}");
    }

    #[test]
    fn small_texts_of_many_buckets_are_counted_and_refused_where_somebody_counts() {
        let mut full = Histogram::new();
        let mut value = 1;
        while value < HIGHEST_NS {
            full.record(value);
            value += (value / 1_500).max(1);
        }
        let text = full.encode();
        let buckets = full.buckets().count() as u64;
        assert!((text.len() as u64) < buckets, "{} characters", text.len());
        let read = |times: u64| (0..times).try_for_each(|_| Histogram::decode(&text).map(|_| ()));
        let within = RECORD_BUCKETS.most / buckets;
        let (found, counted) = counting_numbers(|| read(within));
        assert_eq!((found, counted.buckets), (Ok(()), within * buckets));
        let (found, _) = counting_numbers(|| read(within + 1));
        assert!(found.unwrap_err().to_string().contains("limit RECORD_BUCKETS"));
        assert_eq!(read(within + 1), Ok(()), "nobody counts");
    }

    #[test]
    fn what_gave_back_its_room_counts_the_same_and_goes_on_counting() {
        let mut histogram = Histogram::new();
        for value in [3, 3, 70_000, HIGHEST_NS + 1] {
            histogram.record(value);
        }
        let mut shrunk = histogram.clone();
        shrunk.shrink();
        assert!(matches!(&shrunk.counts, Counts::Filled(buckets) if buckets.len() == 3));
        assert_eq!((shrunk == histogram, shrunk.clamped()), (true, 1));
        shrunk.record(5);
        assert_eq!((shrunk.count(), shrunk.min()), (5, Some(3)));
    }

    #[test]
    fn a_sum_without_a_part_is_the_sum_of_the_others() {
        let part = |seed: u64| {
            let mut part = Histogram::new();
            (1..200_u64).for_each(|step| part.record((step * seed * 7919) % 1_000_003));
            part.record(HIGHEST_NS + seed);
            part
        };
        let parts = [part(1), part(2), part(3)];
        let whole = Histogram::merged(&parts);
        assert_eq!(whole.count(), 600);
        assert_eq!(whole.clamped(), 3);
        assert_eq!(whole.without(&parts[1]), Histogram::merged([&parts[0], &parts[2]]));
        assert_eq!(whole.without(&whole).quantile(0.5), None);
        let mut added = Histogram::new();
        parts.iter().for_each(|part| added.merge(part));
        assert_eq!(whole, added);
        let stored = parts.map(|part| Histogram::decode(&part.encode()).unwrap());
        let all: Vec<&Histogram> = stored.iter().collect();
        for share in [0.001, 0.3, 0.5, 0.77, 0.999, 1.0] {
            assert_eq!(Histogram::quantile_of(&all, share), whole.quantile(share), "{share}");
        }
        assert_eq!(Histogram::quantile_of(&[], 0.5), None);
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
