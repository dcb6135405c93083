//! The clock of the stamps: the kernel's, or the processor's cycle counter.

use serde::{Deserialize, Serialize};
use sys::monotonic_ns;

/// How long the counter is compared with the kernel's clock before a run.
const CALIBRATION_NS: u64 = 20_000_000;
/// Readings of both clocks, of which the closest pair counts.
const READINGS: usize = 16;
/// Most that both clocks may differ over a run, as a fraction.
const MOST_APART: f64 = 0.001;
/// And what they always may: an interrupt between the readings of both, at either end.
const INTERRUPTED_NS: u64 = 50_000;

/// What moments are taken with. All processes of a run have the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Clock {
    /// CLOCK_MONOTONIC.
    Monotonic,
    /// The time stamp counter, scaled to CLOCK_MONOTONIC.
    Cycles(Scale),
}

/// From cycles to nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    cycles: u64,
    moment_ns: u64,
    ns_per_cycle: f64,
}

/// One span by the run's clock and by the kernel's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Spans {
    own_ns: u64,
    kernel_ns: u64,
}

impl Clock {
    /// The cycle counter, compared with the kernel's clock for 20 ms.
    pub(super) fn cycles() -> Self {
        let first = closest();
        let until_ns = monotonic_ns() + CALIBRATION_NS;
        while monotonic_ns() < until_ns {
            std::hint::spin_loop();
        }
        let second = closest();
        let ns_per_cycle = (second.1 - first.1) as f64 / (second.0 - first.0).max(1) as f64;
        Self::Cycles(Scale { cycles: second.0, moment_ns: second.1, ns_per_cycle })
    }

    /// Now, in nanoseconds of CLOCK_MONOTONIC.
    #[inline]
    pub(super) fn now_ns(self) -> u64 {
        match self {
            Self::Monotonic => monotonic_ns(),
            Self::Cycles(scale) => {
                let since = counter().wrapping_sub(scale.cycles) as i64;
                scale.moment_ns.saturating_add_signed((since as f64 * scale.ns_per_cycle) as i64)
            }
        }
    }

    /// Both clocks, to begin a span with.
    pub(super) fn both(self) -> Spans {
        Spans { own_ns: self.now_ns(), kernel_ns: monotonic_ns() }
    }
}

impl Spans {
    /// What has passed since then by both.
    pub(super) fn since(self, began: Self) -> Self {
        Self {
            own_ns: self.own_ns.saturating_sub(began.own_ns),
            kernel_ns: self.kernel_ns.saturating_sub(began.kernel_ns),
        }
    }

    /// The span by the run's clock.
    pub(super) fn own_ns(self) -> u64 {
        self.own_ns
    }

    /// Whether the clocks agree; if not, by how much they differ.
    pub(super) fn disagreement(self) -> Option<String> {
        if self.own_ns.abs_diff(self.kernel_ns) <= INTERRUPTED_NS {
            return None;
        }
        let ratio = self.own_ns as f64 / self.kernel_ns.max(1) as f64;
        ((ratio - 1.0).abs() > MOST_APART).then(|| {
            format!("the cycle counter passed {:.2} % of the kernel's time", 100.0 * ratio)
        })
    }
}

/// The counter and the kernel's clock at one moment: the pair of readings that lie closest.
fn closest() -> (u64, u64) {
    let readings = (0..READINGS).map(|_| {
        let before = counter();
        let moment_ns = monotonic_ns();
        let after = counter();
        (after.wrapping_sub(before), before.wrapping_add(after.wrapping_sub(before) / 2), moment_ns)
    });
    readings.min_by_key(|(apart, ..)| *apart).map_or((0, 0), |(_, cycles, ns)| (cycles, ns))
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the counter; Linux leaves it readable to programs.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// [`is_steady`] refuses a run that would need it.
#[cfg(not(target_arch = "x86_64"))]
fn counter() -> u64 {
    monotonic_ns()
}

/// Whether the counter runs at one speed on all CPUs, whatever they do (Intel SDM volume 3,
/// 17.17.1, invariant TSC; the kernel's flags of it in /proc/cpuinfo).
///
/// # Errors
/// Why not, and what to do.
pub(super) fn is_steady(cpuinfo: &str) -> Result<(), (String, String)> {
    let remedy = || "write clock = \"monotonic\"".to_owned();
    if !cfg!(target_arch = "x86_64") {
        return Err(("this processor's counter is not known here".to_owned(), remedy()));
    }
    let flags = cpuinfo.lines().find_map(|line| line.strip_prefix("flags"));
    let has = |flag: &str| flags.is_some_and(|all| all.split_whitespace().any(|one| one == flag));
    for flag in ["constant_tsc", "nonstop_tsc"] {
        if !has(flag) {
            return Err((format!("/proc/cpuinfo does not have the flag {flag}"), remedy()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_goes_forward_as_the_kernels_does() {
        for clock in [Clock::Monotonic, Clock::cycles()] {
            let began = clock.both();
            let mut before_ns = clock.now_ns();
            while clock.both().since(began).kernel_ns < 5_000_000 {
                let now_ns = clock.now_ns();
                assert!(now_ns >= before_ns, "{clock:?} went back from {before_ns} to {now_ns}");
                before_ns = now_ns;
            }
            assert_eq!(clock.both().since(began).disagreement(), None, "{clock:?}");
        }
    }

    #[test]
    fn clocks_that_run_apart_are_told() {
        let apart = Spans { own_ns: 1_010_000_000, kernel_ns: 1_000_000_000 };
        assert!(apart.disagreement().unwrap().contains("101.00 %"));
        let close = Spans { own_ns: 1_000_900_000, kernel_ns: 1_000_000_000 };
        assert_eq!(close.disagreement(), None);
        let interrupted = Spans { own_ns: 120_000, kernel_ns: 100_000 };
        assert_eq!(interrupted.disagreement(), None);
    }

    #[test]
    fn a_processor_without_a_steady_counter_is_refused() {
        let has_both = is_steady("flags\t\t: fpu tsc constant_tsc nonstop_tsc\n");
        assert_eq!(has_both.is_ok(), cfg!(target_arch = "x86_64"));
        let (why, remedy) = is_steady("flags\t\t: fpu tsc constant_tsc\n").unwrap_err();
        assert!(why.contains("nonstop_tsc") || cfg!(not(target_arch = "x86_64")), "{why}");
        assert!(remedy.contains("monotonic"));
    }
}
