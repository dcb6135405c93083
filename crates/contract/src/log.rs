//! Where a run tells what it decides.

/// The variable of the environment that says which crates tell what they decide, and how much:
/// `executor=debug,venues=trace`. Nothing is told where it is not set, and nothing ever while a
/// workload is timed.
pub const LOG_VARIABLE: &str = "SCHEDLAB_LOG";

/// How every line of that log begins.
pub const LOG_PREFIX: &str = "schedlab log: ";

/// Whether a line is one of that log: what a console or a holder's output is searched for, and
/// what is quoted of it as a reason, is never of these.
pub fn is_log_line(line: &str) -> bool {
    line.trim_start().starts_with(LOG_PREFIX)
}
