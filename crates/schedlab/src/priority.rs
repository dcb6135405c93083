//! A process that shows a run must not disturb it: it takes the lowest priority there is.

use sys::{Policy, SchedulingAttributes};

/// The lowest priority of ordinary tasks.
const LOWEST_NICE: i32 = 19;

/// The calling thread runs when a CPU has nothing else to do, and so do threads that it starts.
/// Where that is refused it has the priority that its user has.
pub(crate) fn take_lowest_priority() {
    let _ = set_policy(0, Policy::Idle);
}

/// From the idle policy to the lowest priority of ordinary tasks, which anybody may do.
#[cfg(feature = "server")]
pub(crate) fn leave_idle_policy() {
    for entry in std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let thread = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let _ = thread.map(|thread| set_policy(thread, Policy::Other));
    }
}

fn set_policy(thread: i32, policy: Policy) -> std::io::Result<()> {
    let now = sys::scheduling_attributes(thread)?;
    let wanted = SchedulingAttributes { policy, nice: LOWEST_NICE, ..now };
    sys::set_scheduling_attributes(thread, &wanted)
}
