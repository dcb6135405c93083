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
    use rustix::process::geteuid;
    use std::path::Path;
    use std::process::Command;

    /// Set in child processes of the test of suspensions.
    const IS_CHILD: &str = "SCHEDLAB_TEST_CHILD_OF_SUSPENSIONS";
    /// What a child process tells stands between this and a semicolon.
    const TOLD: &str = "suspended for ";
    /// How far a clock is set forward, which no machine that runs this test was suspended for.
    const OFFSET_S: &str = "100000";
    const OFFSET_NS: u64 = 100_000_000_000_000;

    #[test]
    fn time_that_passes_is_no_suspension() {
        let Some(before) = suspended_ns() else { return };
        std::thread::sleep(Duration::from_millis(20));
        let Some(after) = suspended_ns() else { return };
        assert!(after.abs_diff(before) <= 2 * AT_ONCE_NS, "{before} {after}");
    }

    /// What is told by a thread that nobody keeps from its CPU for long.
    fn told() -> u64 {
        (0..1_000).find_map(|_| suspended_ns()).unwrap()
    }

    /// Starts a program in a time namespace, in which clocks are set forward (time_namespaces(7)).
    fn in_time_namespace(offsets: &[&str], program: &Path) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--time", "--fork"]).args(offsets).arg("--").arg(program);
        command
    }

    /// What this program tells there of the test of this name.
    fn told_in_time_namespace(offsets: &[&str], test: &str) -> u64 {
        let mut command = in_time_namespace(offsets, &std::env::current_exe().unwrap());
        command.args(["--exact", "--nocapture", "--test-threads=1", test]).env(IS_CHILD, "yes");
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let told = text.split_once(TOLD).and_then(|(_, rest)| rest.split_once(';'));
        let errors = String::from_utf8_lossy(&output.stderr);
        told.unwrap_or_else(|| panic!("{text} {errors}")).0.parse().unwrap()
    }

    #[test]
    fn a_machine_was_suspended_for_as_long_as_boottime_gained_on_the_monotonic_clock() {
        const NAME: &str = "clock::tests::\
            a_machine_was_suspended_for_as_long_as_boottime_gained_on_the_monotonic_clock";
        if std::env::var_os(IS_CHILD).is_some() {
            println!("{TOLD}{};", told());
            return;
        }
        if !Path::new("/proc/self/ns/time").exists() {
            testing::unsupported("this kernel has no time namespaces");
            return;
        }
        let boottime = ["--boottime", OFFSET_S];
        let is_made = in_time_namespace(&boottime, Path::new("true")).output();
        if !geteuid().is_root() || !is_made.is_ok_and(|output| output.status.success()) {
            testing::skip("no time namespace can be made here: it takes root, and unshare(1)");
            return;
        }
        let before_ns = told();
        let is_at_once = |one_ns: u64, other_ns: u64| one_ns.abs_diff(other_ns) <= 2 * AT_ONCE_NS;
        let gained_ns = told_in_time_namespace(&boottime, NAME);
        assert!(is_at_once(gained_ns, before_ns + OFFSET_NS), "{before_ns} {gained_ns}");
        // Both set forward alike: neither gained on the other.
        let both = ["--boottime", OFFSET_S, "--monotonic", OFFSET_S];
        let alike_ns = told_in_time_namespace(&both, NAME);
        assert!(is_at_once(alike_ns, before_ns), "{before_ns} {alike_ns}");
    }
}
