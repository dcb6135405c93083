//! Control groups for a workload: for killing, for statistics, and for CPU limits.

use crate::journal::JournalEntry;
use crate::session::Executor;
use contract::{Error, LaunchSpec, Result};
use sys::{Cgroup, CpuController};

/// A group of the unified hierarchy for killing and statistics where we may make
/// one, and one with the CPU controller where the levels ask for it.
pub(crate) fn join_cgroups(
    executor: &mut Executor,
    launch: &LaunchSpec,
    pid: i32,
) -> Result<Option<Cgroup>> {
    let machine = executor.settings.machine.clone();
    let name = format!("schedlab.{}", executor.watch.mark.trim_start_matches("SCHEDLAB_MARK="));
    let unified = Cgroup::unified_root(&machine);
    let cpu = Cgroup::cpu_root(&machine).filter(|_| launch.needs_cpu_cgroup());
    if launch.needs_cpu_cgroup() && cpu.is_none() {
        return Err(Error::unsupported(
            "cannot limit the workload's CPU time",
            "no cgroup hierarchy with the cpu controller is mounted",
            "use a virtual machine",
        ));
    }
    let mut joined = None;
    if let Some(root) = unified {
        let is_needed = matches!(cpu, Some((CpuController::Unified, _)));
        joined = match make_cgroup(executor, root, &name, pid) {
            Ok(cgroup) => Some(cgroup),
            Err(error) if is_needed => return Err(error),
            Err(_) => None,
        };
    }
    match (cpu, &joined) {
        (Some((CpuController::Unified, _)), Some(cgroup)) => {
            if let Some(quota) = launch.cpu_max {
                let text = format!("{} {}", quota.quota_ns / 1_000, quota.period_ns / 1_000);
                machine.write(&cgroup.file("cpu.max"), &text)?;
            }
            if let Some(weight) = launch.cpu_weight {
                machine.write(&cgroup.file("cpu.weight"), &weight.to_string())?;
            }
        }
        (Some((CpuController::Legacy, root)), _) => {
            let cgroup = make_cgroup(executor, root, &name, pid)?;
            if let Some(quota) = launch.cpu_max {
                machine.write(
                    &cgroup.file("cpu.cfs_period_us"),
                    &(quota.period_ns / 1_000).to_string(),
                )?;
                machine.write(
                    &cgroup.file("cpu.cfs_quota_us"),
                    &(quota.quota_ns / 1_000).to_string(),
                )?;
            }
            if let Some(weight) = launch.cpu_weight {
                // v1 shares are 1024 where v2 weight is 100 (kernel/sched/core.c, cpu_weight_write_u64).
                machine.write(&cgroup.file("cpu.shares"), &(weight * 1024 / 100).to_string())?;
            }
        }
        _ => {}
    }
    Ok(joined)
}

fn make_cgroup(executor: &mut Executor, root: &str, name: &str, pid: i32) -> Result<Cgroup> {
    let cgroup = Cgroup { path: format!("{root}/{name}") };
    let machine = &executor.settings.machine;
    executor.watch.journal.append(&JournalEntry::Cgroup { cgroup: cgroup.clone() })?;
    if !machine.exists(&cgroup.path) {
        Cgroup::create(machine, root, name)?;
    }
    cgroup.add(machine, pid)?;
    Ok(cgroup)
}
