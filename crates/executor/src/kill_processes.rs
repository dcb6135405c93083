//! Ending processes for good: they may fork while they are being killed.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How long killed processes may take to vanish.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause between two looks for processes that are left.
const INTERVAL: Duration = Duration::from_millis(1);

/// Processes that were killed, and those that do not end.
#[derive(Debug, Default)]
pub(crate) struct KillOutcome {
    pub killed: BTreeSet<i32>,
    pub left: BTreeSet<i32>,
}

/// Kills the processes that `alive` finds until it finds none, or patience ends.
pub(crate) fn end(mut alive: impl FnMut() -> BTreeSet<i32>) -> KillOutcome {
    let deadline = Instant::now() + PATIENCE;
    let mut ended = KillOutcome::default();
    loop {
        ended.left = alive();
        if ended.left.is_empty() || Instant::now() >= deadline {
            return ended;
        }
        for pid in ended.left.iter().copied().filter_map(Pid::from_raw) {
            // One that ended meanwhile is what is wanted.
            let _ = kill_process(pid, Signal::KILL);
        }
        ended.killed.extend(&ended.left);
        std::thread::sleep(INTERVAL);
    }
}
