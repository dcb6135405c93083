//! The clocks: monotonic for measuring, civil for people, and how long this process worked.

use std::time::Duration;

/// CLOCK_MONOTONIC in nanoseconds: the clock of timers, `Instant` and the trace clock `mono`.
#[inline]
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// Nanoseconds since 1970; never used to measure.
pub fn unix_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// CPU time of this process with all its threads.
pub fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}
