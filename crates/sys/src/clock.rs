//! The clocks: monotonic for measuring, civil for people, how long this process worked, and how
//! long the machine was suspended.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Two clocks that are read within this time count as read at once.
const AT_ONCE_NS: u64 = 1_000_000;
/// How often that is tried: a reader that is preempted in between tries again.
const ATTEMPTS: u32 = 8;

/// CLOCK_MONOTONIC in nanoseconds: the clock of timers, `Instant` and the trace clock `mono`.
#[inline]
pub fn monotonic_ns() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// How far CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC, in nanoseconds and within 1 ms: how long the
/// machine was suspended since it booted (clock_gettime(2)). `None` where this thread could not
/// read both at once.
pub fn suspended_ns() -> Option<u64> {
    (0..ATTEMPTS).find_map(|_| {
        let before = monotonic_ns();
        let boottime = nanoseconds(ClockId::Boottime);
        (monotonic_ns() - before < AT_ONCE_NS).then(|| boottime.saturating_sub(before))
    })
}

/// Whether a timer wakes a thread whatever else its CPU does. In kernels with PREEMPT_RT timers of
/// ordinary threads expire in a thread that real-time tasks keep from its CPU
/// (`__hrtimer_init_sleeper` of kernel/time/hrtimer.c, Linux 6.12).
pub fn is_timer_prompt() -> bool {
    !std::fs::read_to_string("/sys/kernel/realtime").is_ok_and(|text| text.trim() == "1")
}

#[inline]
fn nanoseconds(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// Nanoseconds since 1970; never used to measure.
pub fn unix_ns() -> u64 {
    nanoseconds(ClockId::Realtime)
}

/// CPU time of this process with all its threads.
pub fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_passes_is_no_suspension() {
        let Some(before) = suspended_ns() else { return };
        std::thread::sleep(Duration::from_millis(20));
        let Some(after) = suspended_ns() else { return };
        assert!(after.abs_diff(before) <= 2 * AT_ONCE_NS, "{before} {after}");
    }
}
