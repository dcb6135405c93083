//! The group with the I/O controller that the workload runs in.

use contract::{Error, Result};
use sys::{Cgroup, Controller, Machine};

/// The group of a task; `None` when the task is gone.
pub(crate) fn of_task(machine: &Machine, thread: i32) -> Result<Option<(Controller, Cgroup)>> {
    let path = format!("/proc/{thread}/cgroup");
    let Some(text) = crate::thread_levels::alive_text(machine, &path)? else { return Ok(None) };
    let attempted = || format!("cannot find the I/O cgroup of thread {thread}");
    let (controller, root) = Cgroup::io_root(machine).ok_or_else(|| {
        Error::unsupported(attempted(), "no hierarchy with the io controller is mounted", "")
    })?;
    let below = Cgroup::path_in(&text, controller, "blkio").ok_or_else(|| {
        Error::environment(attempted(), format!("{path} does not name one: {}", text.trim()))
    })?;
    Ok(Some((controller, Cgroup { path: format!("{root}{}", below.trim_end_matches('/')) })))
}
