//! How many numbers somebody reads of records: filled buckets of histograms and values of samples, of
//! which a few bytes of text are many.

use crate::{OverLimit, RECORD_BUCKETS, RECORD_VALUES};
use std::cell::Cell;

/// How many numbers were read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CountedNumbers {
    /// Filled buckets of histograms.
    pub buckets: u64,
    /// Values of samples.
    pub values: u64,
}

thread_local! {
    /// What this thread has read of what it counts the numbers of.
    static COUNTED: Cell<Option<CountedNumbers>> = const { Cell::new(None) };
}

/// Reads something, and counts the numbers in it. Beyond [`RECORD_BUCKETS`] a histogram is no longer
/// decoded, and beyond [`RECORD_VALUES`] no value is held: a few bytes of text are half a megabyte of
/// buckets, and two are a value.
pub fn counting_numbers<T>(read: impl FnOnce() -> T) -> (T, CountedNumbers) {
    let before = COUNTED.replace(Some(CountedNumbers::default()));
    let found = read();
    (found, COUNTED.replace(before).unwrap_or_default())
}

/// Counts buckets that were decoded, where somebody counts them.
pub(crate) fn note_buckets(count: u64) -> Result<(), OverLimit> {
    let Some(known) = COUNTED.get() else { return Ok(()) };
    let buckets = known.buckets.saturating_add(count);
    COUNTED.set(Some(CountedNumbers { buckets, ..known }));
    RECORD_BUCKETS.check(buckets)
}

/// How many values more may be read; as many as a record may have where nobody counts them.
pub(crate) fn values_left() -> u64 {
    RECORD_VALUES.most.saturating_sub(COUNTED.get().unwrap_or_default().values)
}

/// Counts values that were read, where somebody counts them.
pub(crate) fn note_values(count: u64) -> Result<(), OverLimit> {
    let known = COUNTED.get();
    let values = known.unwrap_or_default().values.saturating_add(count);
    if let Some(known) = known {
        COUNTED.set(Some(CountedNumbers { values, ..known }));
    }
    RECORD_VALUES.check(values)
}
