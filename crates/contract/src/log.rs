//! Where a run tells what it decides.

/// The variable of the environment that says which crates tell what they decide, and how much:
/// `executor=debug,venues=trace`. Nothing is told where it is not set, and nothing ever while a
/// workload is timed.
pub const LOG_VARIABLE: &str = "SCHEDLAB_LOG";
