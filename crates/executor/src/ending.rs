//! Ending processes for good: they may fork while they are being killed.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How long killed processes may take to vanish.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long one look at who is left waits for the next.
const INTERVAL: Duration = Duration::from_millis(1);

/// Who was killed, and who does not end.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    pub killed: BTreeSet<i32>,
    pub left: BTreeSet<i32>,
}

/// Kills whoever `alive` finds until it finds nobody, or patience ends.
pub(crate) fn end(mut alive: impl FnMut() -> BTreeSet<i32>) -> Ended {
    let deadline = Instant::now() + PATIENCE;
    let mut ended = Ended::default();
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
