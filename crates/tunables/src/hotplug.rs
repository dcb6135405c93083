//! What taking CPUs offline would break for others.
//!
//! A task whose whole affinity goes offline is moved and its mask widened for
//! good (kernel/sched/core.c, select_fallback_rq), and a v1 cpuset loses the CPU
//! for good (kernel/cgroup/cpuset.c, hotplug_update_tasks_legacy).

use model::CpuList;
use std::fmt::Write;
use sys::{Cgroup, Machine, MachineError};

/// What onlining or offlining a CPU recomputes from its default, whatever was set
/// by hand (update_sysctl in kernel/sched/fair.c, 5.10 and 6.12).
pub(crate) const RESCALED: &[&str] = &[
    "/sys/kernel/debug/sched/base_slice_ns",
    "/sys/kernel/debug/sched/latency_ns",
    "/sys/kernel/debug/sched/min_granularity_ns",
    "/sys/kernel/debug/sched/wakeup_granularity_ns",
    "/proc/sys/kernel/sched_latency_ns",
    "/proc/sys/kernel/sched_min_granularity_ns",
    "/proc/sys/kernel/sched_wakeup_granularity_ns",
];

/// include/linux/sched.h, 6.12.
const PF_KTHREAD: u64 = 0x0020_0000;
/// Enough to understand the refusal.
const MOST_NAMED: usize = 3;
/// Deeper cpusets than this are not looked for.
const DEEPEST_CPUSET: usize = 8;

/// The tasks that would be harmed; none is `Ok`. Tasks that end meanwhile are passed over.
pub(crate) fn check(machine: &Machine, going: &CpuList) -> Result<(), (String, String)> {
    if going.is_empty() {
        return Ok(());
    }
    let failed = |error: MachineError| (error.to_string(), String::new());
    let tasks = pinned_tasks(machine, going).map_err(failed)?;
    if !tasks.is_empty() {
        return Err((
            format!("pinned to CPUs that would go offline: {}", listed(&tasks)),
            "end or unpin these tasks: the kernel would widen their affinity for good".to_owned(),
        ));
    }
    let cpusets = losing_cpusets(machine, going).map_err(failed)?;
    if !cpusets.is_empty() {
        return Err((
            format!("v1 cpusets would lose CPUs for good: {}", listed(&cpusets)),
            "use cgroup v2, or a virtual machine".to_owned(),
        ));
    }
    Ok(())
}

fn listed(names: &[String]) -> String {
    let mut text = names[..names.len().min(MOST_NAMED)].join(", ");
    if names.len() > MOST_NAMED {
        // Writing to a String cannot fail.
        let _ = write!(text, " and {} more", names.len() - MOST_NAMED);
    }
    text
}

fn pinned_tasks(machine: &Machine, going: &CpuList) -> Result<Vec<String>, MachineError> {
    let mut found = Vec::new();
    for pid in machine.process_ids()? {
        // Those of the machine that was listed, and not of the one that runs this.
        for thread in machine.list(&format!("/proc/{pid}/task")).unwrap_or_default() {
            let file =
                |name: &str| machine.read_with_names(&format!("/proc/{pid}/task/{thread}/{name}"));
            let (Ok(stat), Ok(status)) = (file("stat"), file("status")) else { continue };
            let Some(allowed) = allowed_in(&status) else { continue };
            if !is_kernel_thread(&stat) && allowed.is_subset(going) {
                let name =
                    status.lines().find_map(|line| line.strip_prefix("Name:")).unwrap_or("?");
                found.push(format!("{} ({thread}, CPUs {allowed})", name.trim()));
            }
        }
    }
    Ok(found)
}

/// `Cpus_allowed_list` of `/proc/PID/status` text.
fn allowed_in(status: &str) -> Option<CpuList> {
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.parse().ok()
}

/// Field 9 of the stat line; per-CPU kernel threads are parked by the kernel itself.
fn is_kernel_thread(stat: &str) -> bool {
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace());
    let flags =
        fields.and_then(|mut fields| fields.nth(6)).and_then(|text| text.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & PF_KTHREAD != 0)
}

fn losing_cpusets(machine: &Machine, going: &CpuList) -> Result<Vec<String>, MachineError> {
    let root = "/sys/fs/cgroup/cpuset";
    if !machine.exists(&format!("{root}/cpuset.cpus"))
        || Cgroup::unified_root(machine) == Some(root)
    {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut open = vec![(root.to_owned(), 0)];
    while let Some((directory, depth)) = open.pop() {
        for name in machine.list(&directory)? {
            let child = format!("{directory}/{name}");
            if !machine.path(&child).is_dir() || depth >= DEEPEST_CPUSET {
                continue;
            }
            let cpus = machine.read(&format!("{child}/cpuset.cpus")).unwrap_or_default();
            // A cpuset that was never given CPUs has none to lose.
            if let Ok(cpus) = cpus.parse::<CpuList>()
                && cpus.iter().any(|cpu| going.contains(cpu))
            {
                found.push(format!("{child} ({cpus})"));
            }
            open.push((child, depth + 1));
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::Layout;

    fn with_task(layout: Layout, pid: i32, flags: u64, allowed: &str) -> Layout {
        let task = format!("/proc/{pid}/task/{pid}");
        layout
            .file(
                &format!("{task}/stat"),
                &format!("{pid} (a task) S 1 {pid} {pid} 0 -1 {flags} 0 0"),
            )
            .file(
                &format!("{task}/status"),
                &format!("Name:\ta task\nCpus_allowed_list:\t{allowed}\n"),
            )
    }

    #[test]
    fn only_a_user_task_with_nowhere_left_to_run_is_harmed() {
        for (flags, allowed, is_harmed) in [
            (0, "1", true),
            (0, "0-1", false),
            (0, "0", false),
            (PF_KTHREAD, "1", false),
            (0, "1-3", false),
        ] {
            let machine = with_task(Layout::new("6.12.0"), 42, flags, allowed).machine();
            let answer = check(&machine, &"1".parse().unwrap());
            assert_eq!(answer.is_err(), is_harmed, "{flags} {allowed}: {answer:?}");
        }
    }

    #[test]
    fn a_name_that_is_no_text_hides_no_task_that_would_be_harmed() {
        let machine = with_task(Layout::new("6.12.0"), 42, 0, "1").machine();
        for name in ["stat", "status"] {
            let path = machine.path(&format!("/proc/42/task/42/{name}"));
            let mut bytes = std::fs::read(&path).unwrap();
            let place = bytes.iter().position(|byte| *byte == b'k').unwrap();
            bytes[place] = 0xff;
            std::fs::write(&path, bytes).unwrap();
        }
        let (why, _) = check(&machine, &"1".parse().unwrap()).unwrap_err();
        assert!(why.contains("a tas\u{fffd} (42, CPUs 1)"), "{why}");
    }

    #[test]
    fn a_v1_cpuset_that_holds_the_cpu_is_harmed_at_any_depth() {
        let root = "/sys/fs/cgroup/cpuset";
        let layout = |below: &str, cpus: &str| {
            Layout::new("6.12.0")
                .file("/proc/version", "")
                .file(&format!("{root}/cpuset.cpus"), "0-1")
                .file(&format!("{root}{below}/cpuset.cpus"), cpus)
                .machine()
        };
        let going = "1".parse().unwrap();
        let (why, _) = check(&layout("/docker/abc", "0-1"), &going).unwrap_err();
        assert!(why.contains("/docker/abc"), "{why}");
        assert_eq!(check(&layout("/docker", "0"), &going), Ok(()));
        assert_eq!(check(&layout("/docker", "\n"), &going), Ok(()));
    }
}
