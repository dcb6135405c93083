//! Units of time.

/// One microsecond in nanoseconds.
pub(crate) const US: u64 = 1_000;
/// One millisecond in nanoseconds.
pub(crate) const MS: u64 = 1_000_000;
/// One second in nanoseconds.
pub(crate) const S: u64 = 1_000_000_000;
