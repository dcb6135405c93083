//! A heartbeat: a thread that sleeps and notes how late it wakes, and why. A process that is stopped
//! neither runs nor waits for a CPU; one that a scheduler keeps from the CPUs waits, and that is a
//! result (docs/method.md#m-suspended).
//!
//! The thread allocates nothing, and wakes four times a second, as its executor does anyway.

use model::Disturbance;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle, park_timeout};
use std::time::Duration;
use sys::{TaskSchedstat, ThreadSchedstat};

/// A trial is invalid where something stood still for longer: eight beats. Without being stopped a
/// thread whose timer has expired runs or waits for a CPU within the time that interrupts are off,
/// which is far below a second.
pub const LONGEST_STANDSTILL: Duration = Duration::from_secs(2);
/// The same in guests: twenty beats. Where the host starves an emulated processor, its interrupts
/// come as late as it runs.
pub const LONGEST_STANDSTILL_OF_GUESTS: Duration = Duration::from_secs(5);

/// How long it sleeps.
const INTERVAL: Duration = Duration::from_millis(250);
/// How long its first beat and its last figures are waited for: a starved one may be late.
const PATIENCE: Duration = Duration::from_secs(5);
/// It needs little more than its own calls.
const STACK_BYTES: usize = 256 << 10;
/// Two readings of how long the machine was suspended agree within 2 ms where it was not.
const SHORTEST_SUSPENSION_NS: u64 = 10_000_000;

/// A heartbeat that runs; dropping ends it.
#[derive(Debug)]
pub struct Heartbeat {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
    report: Receiver<HeartbeatReport>,
}

impl Heartbeat {
    /// Starts it, and returns after its first beat: from then on no stop is missed. `None` where this
    /// process can have no more threads or the new one comes to no CPU in time, and nothing is known.
    pub fn start() -> Option<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (sender, report) = sync_channel(1);
        let (first, first_beat) = sync_channel(1);
        let told = Arc::clone(&is_over);
        let thread = Builder::new().name("heartbeat".to_owned()).stack_size(STACK_BYTES);
        let thread = thread
            .spawn(move || {
                // Nobody asks any more where the receiver is gone.
                let _ = sender.send(beat(&told, &first, sys::suspended_ns));
            })
            .ok()?;
        // Dropped where it is late, which ends it.
        let heartbeat = Self { is_over, thread, report };
        first_beat.recv_timeout(PATIENCE).ok().map(|()| heartbeat)
    }

    /// Ends it; what it saw. Nothing where it does not come to a CPU in time.
    pub fn stop(self) -> HeartbeatReport {
        self.end();
        self.report.recv_timeout(PATIENCE).unwrap_or_default()
    }

    fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.thread.thread().unpark();
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.end();
    }
}

/// What a heartbeat saw. What it could not see is absent, never zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeartbeatReport {
    /// Longest time for which it neither ran nor waited for a CPU when it should have. Absent where
    /// the kernel does not tell how long a thread waits, where its timers wait for a CPU themselves,
    /// and where it waited longer than a beat for a page of its own, of which nobody counts how long that
    /// took, and no other gap was too long.
    pub stood_still_ns: Option<u64>,
    /// Longest time for which it waited for a CPU between two beats.
    pub starved_ns: Option<u64>,
    /// How long the machine was suspended.
    pub suspended_ns: Option<u64>,
}

impl HeartbeatReport {
    /// Why what it watched cannot be believed, if so: `what` names the process that it is a thread of.
    pub fn suspension(&self, what: &str, longest: Duration) -> Option<String> {
        let slept_ns = self.suspended_ns.filter(|slept_ns| *slept_ns > SHORTEST_SUSPENSION_NS);
        if let Some(slept_ns) = slept_ns {
            return Some(format!("the machine was suspended for {}", seconds(slept_ns)));
        }
        let still_ns = self.stood_still_ns.filter(|still_ns| is_longer(*still_ns, longest))?;
        Some(format!("{what} neither ran nor waited for a CPU for {}", seconds(still_ns)))
    }

    /// Adds what it saw to what else the machine did.
    pub(crate) fn add_to(&self, disturbance: &mut Disturbance) {
        disturbance.stood_still_ns = self.stood_still_ns;
        disturbance.starved_ns = self.starved_ns;
        disturbance.suspended_ns = self.suspended_ns;
    }
}

/// Whether so many nanoseconds are more than this.
pub(crate) fn is_longer(length_ns: u64, longest: Duration) -> bool {
    Duration::from_nanos(length_ns) > longest
}

/// A length for people, to a tenth of a second.
pub(crate) fn seconds(length_ns: u64) -> String {
    format!("{:.1} s", length_ns as f64 / 1e9)
}

/// A moment at which the thread was awake.
struct Beat {
    at_ns: u64,
    /// What it had run and waited until then.
    spent: Option<TaskSchedstat>,
    major_faults: u64,
}

impl Beat {
    fn at_this_moment(schedstat: Option<&ThreadSchedstat>) -> Self {
        Self {
            at_ns: sys::monotonic_ns(),
            spent: schedstat.and_then(ThreadSchedstat::read),
            major_faults: sys::thread_major_faults(),
        }
    }
}

/// The longest of what happened between two beats.
#[derive(Default)]
struct Longest {
    stood_still_ns: u64,
    starved_ns: u64,
    /// Of a beat it is not known what it did meanwhile.
    is_unknown: bool,
    /// A page of its own was read from a disk in a gap that exceeds a beat, which may hide a standstill.
    has_waited_for_page: bool,
}

impl Longest {
    fn note(&mut self, from: &Beat, to: &Beat) {
        let spent = from.spent.zip(to.spent).and_then(|(from, to)| to.since(&from));
        let Some(spent) = spent else {
            self.is_unknown = true;
            return;
        };
        self.starved_ns = self.starved_ns.max(spent.wait_ns);
        let late_ns = to.at_ns.saturating_sub(from.at_ns).saturating_sub(interval_ns());
        let still_ns = late_ns.saturating_sub(spent.wait_ns).saturating_sub(spent.run_ns);
        // It waited for a page of its own, and how long nobody counts.
        if to.major_faults != from.major_faults {
            self.has_waited_for_page |= still_ns > interval_ns();
            return;
        }
        self.stood_still_ns = self.stood_still_ns.max(still_ns);
    }

    fn report(&self, is_timer_prompt: bool, suspended_ns: Option<u64>) -> HeartbeatReport {
        let if_known = |length_ns| (!self.is_unknown).then_some(length_ns);
        HeartbeatReport {
            // A stop that was seen is not hidden by a gap of which nothing is known.
            stood_still_ns: if_known(self.stood_still_ns).filter(|still_ns| {
                let is_whole =
                    !self.has_waited_for_page || is_longer(*still_ns, LONGEST_STANDSTILL);
                is_timer_prompt && is_whole
            }),
            starved_ns: if_known(self.starved_ns),
            suspended_ns,
        }
    }
}

fn interval_ns() -> u64 {
    INTERVAL.as_nanos() as u64
}

/// Beats until it is over. `suspended_ns` tells how long the machine was suspended since it booted.
fn beat(
    is_over: &AtomicBool,
    first: &SyncSender<()>,
    mut suspended_ns: impl FnMut() -> Option<u64>,
) -> HeartbeatReport {
    let schedstat = ThreadSchedstat::open();
    let is_timer_prompt = sys::is_timer_prompt();
    let suspended_before_ns = suspended_ns();
    let mut longest = Longest::default();
    let mut last = Beat::at_this_moment(schedstat.as_ref());
    // Its receiver is gone where it was waited for in vain.
    let _ = first.send(());
    let mut is_last = false;
    while !is_last {
        // A stop may come before the first sleep and end with what is watched: the time until then is
        // noted all the same.
        is_last = is_over.load(Ordering::SeqCst);
        if !is_last {
            // May wake early, which makes a shorter beat.
            park_timeout(INTERVAL);
        }
        let beat = Beat::at_this_moment(schedstat.as_ref());
        longest.note(&last, &beat);
        last = beat;
    }
    let suspended = suspended_before_ns.zip(suspended_ns());
    longest.report(is_timer_prompt, suspended.map(|(before, after)| after.saturating_sub(before)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Signal, getpid, kill_process};
    use std::process::{Command, Stdio};

    const MS: u64 = 1_000_000;
    const S: u64 = 1_000 * MS;

    /// A beat at a time, in ms, and what its thread had run and waited, with its page faults.
    fn at(ms: u64, ran_ms: u64, waited_ms: u64, major_faults: u64) -> Beat {
        let spent = TaskSchedstat { run_ns: ran_ms * MS, wait_ns: waited_ms * MS, timeslices: 1 };
        Beat { at_ns: ms * MS, spent: Some(spent), major_faults }
    }

    fn seen(beats: &[Beat]) -> HeartbeatReport {
        let mut longest = Longest::default();
        for two in beats.windows(2) {
            longest.note(&two[0], &two[1]);
        }
        longest.report(true, Some(0))
    }

    fn is_suspension(report: HeartbeatReport) -> bool {
        report.suspension("it", LONGEST_STANDSTILL).is_some()
    }

    #[test]
    fn what_waits_for_a_cpu_is_starved_and_what_does_not_stood_still() {
        // Undisturbed.
        let calm = seen(&[at(0, 0, 0, 0), at(250, 0, 0, 0), at(501, 1, 0, 0)]);
        assert_eq!((calm.stood_still_ns, calm.starved_ns), (Some(0), Some(0)));
        // Stopped for 12 s: as a SIGSTOP leaves it.
        let stopped = seen(&[at(0, 0, 0, 0), at(12_250, 0, 1, 0), at(12_500, 0, 1, 0)]);
        assert_eq!(stopped.stood_still_ns, Some(12 * S - MS));
        assert_eq!(
            stopped.suspension("the executor", LONGEST_STANDSTILL).unwrap(),
            "the executor neither ran nor waited for a CPU for 12.0 s"
        );
        // Kept from the CPUs for as long by a scheduler: a result.
        let starved = seen(&[at(0, 0, 0, 0), at(12_250, 0, 12_000, 0)]);
        assert_eq!((starved.stood_still_ns, starved.starved_ns), (Some(0), Some(12 * S)));
        assert!(!is_suspension(starved));
        // Both, each below the limit.
        assert!(!is_suspension(seen(&[at(0, 0, 0, 0), at(5_250, 1_000, 2_500, 0)])));
        // Waited for a page on a slow disk, nobody knows how long: absent, not zero.
        let paged = seen(&[at(0, 0, 0, 0), at(9_000, 0, 0, 1)]);
        assert_eq!((paged.stood_still_ns, paged.starved_ns), (None, Some(0)));
        assert!(!is_suspension(paged));
        // A stop in another gap stays seen.
        let both = seen(&[at(0, 0, 0, 0), at(4_000, 0, 0, 0), at(5_000, 0, 0, 1)]);
        assert!(is_suspension(both), "{both:?}");
        let paged_in_time = seen(&[at(0, 0, 0, 0), at(400, 0, 0, 1)]);
        assert_eq!(paged_in_time.stood_still_ns, Some(0));
        // A long stop is not hidden by many beats in time.
        let many = [at(0, 0, 0, 0), at(4_000, 0, 0, 0), at(4_250, 0, 0, 0), at(4_500, 0, 0, 0)];
        assert!(is_suspension(seen(&many)));
        assert!(!is_suspension(seen(&[at(0, 0, 0, 0), at(2_250, 0, 0, 0)])), "not longer than it");
        assert!(is_suspension(seen(&[at(0, 0, 0, 0), at(2_251, 0, 0, 0)])));
    }

    #[test]
    fn what_the_kernel_does_not_tell_is_unknown_and_no_suspension() {
        let blind = Beat { at_ns: 60 * S, spent: None, major_faults: 0 };
        let unknown = seen(&[at(0, 0, 0, 0), blind]);
        assert_eq!((unknown.stood_still_ns, unknown.starved_ns), (None, None));
        assert!(!is_suspension(unknown));
        let mut longest = Longest::default();
        longest.note(&at(0, 0, 0, 0), &at(60_000, 0, 5, 0));
        let late = longest.report(false, Some(0));
        assert_eq!((late.stood_still_ns, late.starved_ns), (None, Some(5 * MS)));
        assert!(!is_suspension(late), "its timer may have waited");
    }

    #[test]
    fn a_suspended_machine_is_known_by_its_clocks_alone() {
        let slept = |suspended_ns| HeartbeatReport { suspended_ns, ..HeartbeatReport::default() };
        assert_eq!(
            slept(Some(3 * S)).suspension("it", LONGEST_STANDSTILL).unwrap(),
            "the machine was suspended for 3.0 s"
        );
        for calm in [None, Some(0), Some(2 * MS)] {
            assert!(!is_suspension(slept(calm)), "{calm:?}");
        }
    }

    #[test]
    fn a_heartbeat_tells_how_long_the_machine_was_suspended_while_it_beat() {
        let seen = |readings: [Option<u64>; 2]| {
            let (first, first_beat) = sync_channel(1);
            let mut readings = readings.into_iter();
            let report = beat(&AtomicBool::new(true), &first, || readings.next().unwrap());
            first_beat.recv().unwrap();
            report
        };
        let slept = seen([Some(4 * S), Some(7 * S)]);
        assert_eq!(slept.suspended_ns, Some(3 * S));
        assert!(is_suspension(slept), "{slept:?}");
        // Before the trial: that is not of it.
        let earlier = seen([Some(4 * S), Some(4 * S)]);
        assert_eq!(earlier.suspended_ns, Some(0));
        assert!(!is_suspension(earlier), "{earlier:?}");
        for unknown in [[None, Some(7 * S)], [Some(4 * S), None]] {
            assert_eq!(seen(unknown).suspended_ns, None);
        }
    }

    /// Says so where nothing does here.
    fn tells_starving_from_standing() -> bool {
        let is_told = ThreadSchedstat::open().is_some() && sys::is_timer_prompt();
        if !is_told {
            testing::skip("nothing tells starving from standing: no schedstat, or timers wait too");
        }
        is_told
    }

    #[test]
    fn a_stop_between_the_first_beat_and_the_first_sleep_is_seen() {
        if !tells_starving_from_standing() {
            return;
        }
        // The thread stands still until its first beat is taken, and what it watches is over by then.
        let (first, first_beat) = sync_channel(0);
        let beating = std::thread::spawn(move || beat(&AtomicBool::new(true), &first, || Some(0)));
        std::thread::sleep(INTERVAL + Duration::from_millis(500));
        first_beat.recv().unwrap();
        let report = beating.join().unwrap();
        assert!(report.stood_still_ns.is_none_or(|still_ns| still_ns > 200 * MS), "{report:?}");
    }

    /// Stops this process for longer than the limit; what its heartbeat saw.
    fn report_of_a_stop() -> HeartbeatReport {
        let heartbeat = Heartbeat::start().unwrap();
        // Again and again: the first time may come before the stop.
        let script = format!("while sleep 4 && kill -CONT {}; do :; done", std::process::id());
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &script]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut other = command.spawn().unwrap();
        let began = std::time::Instant::now();
        kill_process(getpid(), Signal::STOP).unwrap();
        // The thread that takes the signal stops the others when it comes to a CPU: until then they run.
        while began.elapsed() < LONGEST_STANDSTILL + Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let report = heartbeat.stop();
        other.kill().unwrap();
        other.wait().unwrap();
        report
    }

    /// Set in the child process of the test below.
    const IS_TO_STOP: &str = "SCHEDLAB_TEST_STOP";

    /// Stops this process until its heartbeat has seen it. Where memory is short a page fault in the
    /// gap hides the stop, and where others have the CPUs it may begin shortly before its end: then it
    /// is stopped again.
    fn stop_until_seen() {
        let mut report = report_of_a_stop();
        for _ in 1..5 {
            if is_suspension(report) {
                break;
            }
            report = report_of_a_stop();
        }
        assert!(is_suspension(report), "{report:?}");
        assert!(report.suspended_ns.is_none_or(|slept_ns| slept_ns < 10 * MS), "{report:?}");
    }

    /// A stop is one of a whole process, hence the child: other tests may be threads of this one.
    #[test]
    fn a_stop_of_a_process_is_seen_by_its_heartbeat_and_by_no_other() {
        if std::env::var_os(IS_TO_STOP).is_some() {
            return stop_until_seen();
        }
        if !tells_starving_from_standing() {
            return;
        }
        let own = Heartbeat::start().unwrap();
        let name = "a_stop_of_a_process_is_seen_by_its_heartbeat_and_by_no_other";
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--test-threads=1"])
            .arg(format!("heartbeat::tests::{name}"))
            .env(IS_TO_STOP, "1")
            .output()
            .unwrap();
        let own = own.stop();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains("1 passed"), "{told}");
        assert!(!is_suspension(own), "{own:?}");
    }

    #[test]
    fn a_heartbeat_that_is_left_alone_sees_nothing_and_ends_at_once() {
        let heartbeat = Heartbeat::start().unwrap();
        std::thread::sleep(2 * INTERVAL);
        let before = std::time::Instant::now();
        let report = heartbeat.stop();
        assert!(!is_suspension(report), "{report:?}");
        assert!(before.elapsed() < PATIENCE, "its end was waited for");
    }
}
