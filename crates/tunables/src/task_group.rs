//! The control group with the CPU controller that a task is in.

use contract::{Error, Result};
use sys::{Cgroup, Controller, Machine};

/// The group of a task; `None` when the task is gone.
pub(crate) fn cpu_group(machine: &Machine, thread: i32) -> Result<Option<(Controller, Cgroup)>> {
    let path = format!("/proc/{thread}/cgroup");
    let Some(text) = crate::thread_levels::alive_text(machine, &path)? else { return Ok(None) };
    let attempted = || format!("cannot find the CPU cgroup of thread {thread}");
    let (controller, root) = Cgroup::cpu_root(machine).ok_or_else(|| {
        Error::unsupported(attempted(), "no hierarchy with the cpu controller is mounted", "")
    })?;
    let below = Cgroup::path_in(&text, controller, "cpu").ok_or_else(|| {
        Error::environment(attempted(), format!("{path} does not name one: {}", text.trim()))
    })?;
    let path = format!("{root}{}", below.trim_end_matches('/'));
    Ok(Some((controller, Cgroup { path })))
}

/// Real-time tasks have no place in a group of ours: bandwidth and weight are of
/// the fair class, and a new v1 group has cpu.rt_runtime_us 0, so the kernel
/// answers EPERM (CONFIG_RT_GROUP_SCHED, kernel/sched/rt.c).
pub(crate) fn conflict_with_policy(
    factor: &str,
    others: &std::collections::BTreeMap<String, model::Level>,
) -> Option<String> {
    let policy = others.get("policy")?.as_str();
    ["fifo:", "rr:", "deadline:"].iter().any(|name| policy.starts_with(name)).then(|| {
        format!("{factor} limits fair tasks only; policy {policy} is outside it, and a group of the v1 hierarchy has no real-time budget")
    })
}
