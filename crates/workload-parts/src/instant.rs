//! Sleeping on CLOCK_MONOTONIC, the clock everything is measured with.

use rustix::io::Errno;
use rustix::thread::{ClockId, NanosleepRelativeResult};
use rustix::time::Timespec;

const NS_PER_S: u64 = 1_000_000_000;

/// Nanoseconds as the kernel wants them.
pub fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / NS_PER_S).cast_signed(), tv_nsec: (ns % NS_PER_S).cast_signed() }
}

/// Sleeps until this moment of CLOCK_MONOTONIC; returns at once if it has passed.
#[inline]
pub fn sleep_until(moment_ns: u64) {
    let request = timespec(moment_ns);
    while let Err(Errno::INTR) =
        rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &request)
    {}
}

/// A relative sleep, as usleep(3) makes it.
#[inline]
pub fn sleep_for(duration_ns: u64) {
    let mut request = timespec(duration_ns);
    while let NanosleepRelativeResult::Interrupted(rest) =
        rustix::thread::clock_nanosleep_relative(ClockId::Monotonic, &request)
    {
        request = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_never_ends_early() {
        let start = sys::monotonic_ns();
        sleep_until(start + 2_000_000);
        assert!(sys::monotonic_ns() >= start + 2_000_000);
        let start = sys::monotonic_ns();
        sleep_for(1_000_000);
        assert!(sys::monotonic_ns() >= start + 1_000_000);
        sleep_until(0);
    }
}
