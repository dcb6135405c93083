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
    let below = group_in(&text, controller, "cpu").ok_or_else(|| {
        Error::environment(attempted(), format!("{path} does not name one: {}", text.trim()))
    })?;
    let path = format!("{root}{}", below.trim_end_matches('/'));
    Ok(Some((controller, Cgroup { path })))
}

/// The path in `/proc/PID/cgroup` text (`hierarchy:controllers:path`, cgroups(7)).
pub(crate) fn group_in<'t>(text: &'t str, controller: Controller, legacy: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (hierarchy, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let is_it = match controller {
            Controller::Unified => hierarchy == "0" && controllers.is_empty(),
            Controller::Legacy => controllers.split(',').any(|name| name == legacy),
        };
        is_it.then_some(path)
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tasks_group_is_found_in_either_hierarchy() {
        let hybrid = "9:name=systemd:/\n2:cpuacct:/x\n1:cpu:/y:z\n0::/schedlab.1\n";
        assert_eq!(group_in(hybrid, Controller::Legacy, "cpu"), Some("/y:z"));
        assert_eq!(group_in(hybrid, Controller::Unified, "cpu"), Some("/schedlab.1"));
        assert_eq!(group_in("4:cpu,cpuacct:/a\n", Controller::Legacy, "cpu"), Some("/a"));
        assert_eq!(group_in("4:cpuset:/a\n", Controller::Legacy, "cpu"), None);
        assert_eq!(group_in("", Controller::Unified, "cpu"), None);
    }
}
