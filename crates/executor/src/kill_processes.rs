//! Ending processes for good: they may fork while they are being killed.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use std::collections::{BTreeMap, BTreeSet};
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

/// Kills the processes that `alive` finds until it finds none and all have ended, or patience ends.
///
/// A process that was killed loses its environment, by which it is found, before it has left its
/// control groups: it is waited for where the kernel has descriptors of processes (Linux 5.3).
pub(crate) fn end(mut alive: impl FnMut() -> BTreeSet<i32>) -> KillOutcome {
    let deadline = Instant::now() + PATIENCE;
    let mut ended = KillOutcome::default();
    let mut dying: BTreeMap<i32, OwnedFd> = BTreeMap::new();
    loop {
        let found = alive();
        dying.retain(|_, process| !has_ended(process));
        ended.left = found.iter().chain(dying.keys()).copied().collect();
        if ended.left.is_empty() || Instant::now() >= deadline {
            return ended;
        }
        for pid in found.iter().copied().filter_map(Pid::from_raw) {
            if let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) {
                dying.entry(pid.as_raw_nonzero().get()).or_insert(process);
            }
            // One that ended meanwhile is what is wanted.
            let _ = kill_process(pid, Signal::KILL);
        }
        ended.killed.extend(&found);
        std::thread::sleep(INTERVAL);
    }
}

/// Whether the process of this descriptor has ended; one that is not reaped has.
fn has_ended(process: &OwnedFd) -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let ready = poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&at_once));
    ready.map_or(true, |count| count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};
    use sys::Machine;

    /// So much memory takes the kernel some time to free.
    const HELD_BYTES: usize = 256 << 20;

    #[test]
    fn a_killed_process_that_is_found_no_longer_is_waited_for_until_it_has_ended() {
        // It keeps all that it reads, until a line ends.
        let mut command = Command::new("tail");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..HELD_BYTES >> 20 {
            child.stdin.as_mut().unwrap().write_all(&chunk).unwrap();
        }
        let pid = child.id().cast_signed();
        let mut found = vec![BTreeSet::from([pid])];
        let outcome = end(|| found.pop().unwrap_or_default());
        let is_running = Machine::host("").live_process(pid).is_some();
        child.wait().unwrap();
        assert_eq!((outcome.killed, outcome.left), (BTreeSet::from([pid]), BTreeSet::new()));
        assert!(!is_running);
    }
}
