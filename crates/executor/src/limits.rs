//! Control groups for a workload: for killing, for statistics, and for limits of CPU time
//! and I/O.

use crate::journal::JournalEntry;
use crate::session::Executor;
use contract::{CpuQuota, Error, IoGroup, LaunchSpec, Result};
use model::IoLimits;
use sys::{Cgroup, Controller, Machine};

/// Where processes of the workload lie that join no other group of its own: no group may have
/// processes and hand a controller on (Documentation/admin-guide/cgroup-v2.rst, "No Internal
/// Process Constraint").
const MAIN: &str = "main";

/// A group of the unified hierarchy for killing and statistics where we may make
/// one, one with the CPU or I/O controller where the levels ask for it, and those of these
/// weights that the workload's processes will join, which the launch is told.
pub(crate) fn join_cgroups(
    executor: &mut Executor,
    launch: &mut LaunchSpec,
    weights: &[u64],
    pid: i32,
) -> Result<Option<Cgroup>> {
    let machine = executor.settings.machine.clone();
    let name = format!("schedlab.{}", executor.watch.mark.trim_start_matches("SCHEDLAB_MARK="));
    let cpu = wanted(Cgroup::cpu_root(&machine), launch.needs_cpu_cgroup(), "CPU time", "cpu")?;
    let has_groups = !weights.is_empty();
    if has_groups && launch.needs_io_cgroup() {
        return Err(Error::usage(
            "cannot limit the workload's I/O as a whole",
            "its processes have I/O groups of their own",
            "leave out the factors io_weight and io_max, or the workload's weights",
        ));
    }
    let io = launch.needs_io_cgroup() || has_groups;
    let io = wanted(Cgroup::io_root(&machine), io, "I/O", "io")?;
    let is_parent = has_groups && matches!(io, Some((Controller::Unified, _)));
    let mut joined = None;
    if let Some(root) = Cgroup::unified_root(&machine) {
        let is_needed = [cpu, io].iter().any(|it| matches!(it, Some((Controller::Unified, _))));
        let member = if is_parent { None } else { Some(pid) };
        joined = match make_cgroup(executor, root, &name, member) {
            Ok(cgroup) => Some(cgroup),
            Err(error) if is_needed => return Err(error),
            Err(_) => None,
        };
    }
    let mut group = |found: Option<(Controller, &str)>| {
        Ok::<_, Error>(match found {
            Some((Controller::Unified, _)) => {
                joined.clone().map(|group| (Controller::Unified, group))
            }
            Some((Controller::Legacy, root)) => {
                Some((Controller::Legacy, make_cgroup(executor, root, &name, Some(pid))?))
            }
            None => None,
        })
    };
    if let Some((controller, group)) = group(cpu)? {
        limit_cpu(&machine, controller, &group, launch)?;
    }
    if let Some((controller, group)) = group(io)? {
        if has_groups {
            launch.io_groups = make_io_groups(executor, controller, &group, weights, pid)?;
        } else {
            limit_io(&machine, controller, &group, launch)?;
        }
    }
    Ok(joined)
}

/// A group for what outlives trials.
///
/// # Errors
/// Where no group can be made: nothing else tells its processes from a trial's.
pub(crate) fn standing_cgroup(executor: &mut Executor, name: &str) -> Result<Cgroup> {
    let attempted = "cannot start what outlives trials";
    let remedy = "become root, or let each trial start it";
    let Some(root) = Cgroup::unified_root(&executor.settings.machine) else {
        let why = "no unified cgroup hierarchy is mounted";
        return Err(Error::unsupported(attempted, why, remedy));
    };
    make_cgroup(executor, root, &format!("schedlab.{name}"), None)
        .map_err(|error| Error::unsupported(attempted, error.one_line(), remedy))
}

/// Groups of these weights below the workload's.
fn make_io_groups(
    executor: &mut Executor,
    controller: Controller,
    parent: &Cgroup,
    weights: &[u64],
    pid: i32,
) -> Result<Vec<IoGroup>> {
    let machine = executor.settings.machine.clone();
    if controller == Controller::Unified {
        make_cgroup(executor, &parent.path, MAIN, Some(pid))?;
        machine.write(&parent.file("cgroup.subtree_control"), "+io")?;
    }
    let mut groups = Vec::new();
    for (index, weight) in weights.iter().enumerate() {
        let group = make_cgroup(executor, &parent.path, &format!("share-{index}"), None)?;
        set_weight(&machine, controller, &group, *weight)?;
        groups.push(IoGroup { group, controller, weight: *weight });
    }
    Ok(groups)
}

fn set_weight(
    machine: &Machine,
    controller: Controller,
    group: &Cgroup,
    weight: u64,
) -> Result<()> {
    group.set_bfq_weight(machine, controller, weight).map_err(|error| {
        Error::unsupported(
            "cannot give a group an I/O weight",
            error,
            "the elevator bfq reads it: load it (modprobe bfq), or use a kernel that has it",
        )
    })
}

/// The hierarchy of a controller, where it is needed.
fn wanted(
    found: Option<(Controller, &'static str)>,
    is_needed: bool,
    what: &str,
    controller: &str,
) -> Result<Option<(Controller, &'static str)>> {
    match found {
        None if is_needed => Err(Error::unsupported(
            format!("cannot limit the workload's {what}"),
            format!("no cgroup hierarchy with the {controller} controller is mounted"),
            "use a virtual machine",
        )),
        found => Ok(found.filter(|_| is_needed)),
    }
}

fn limit_cpu(
    machine: &Machine,
    controller: Controller,
    group: &Cgroup,
    launch: &LaunchSpec,
) -> Result<()> {
    let write = |name: &str, text: String| machine.write(&group.file(name), &text);
    if let Some(CpuQuota { quota_ns, period_ns }) = launch.cpu_max {
        let [quota_us, period_us] = [quota_ns, period_ns].map(|ns| ns / 1_000);
        match controller {
            Controller::Unified => write("cpu.max", format!("{quota_us} {period_us}"))?,
            Controller::Legacy => {
                write("cpu.cfs_period_us", period_us.to_string())?;
                write("cpu.cfs_quota_us", quota_us.to_string())?;
            }
        }
    }
    if let Some(weight) = launch.cpu_weight {
        match controller {
            Controller::Unified => write("cpu.weight", weight.to_string())?,
            // v1 shares are 1024 where v2 weight is 100 (kernel/sched/core.c, cpu_weight_write_u64).
            Controller::Legacy => write("cpu.shares", (weight * 1024 / 100).to_string())?,
        }
    }
    Ok(())
}

fn limit_io(
    machine: &Machine,
    controller: Controller,
    group: &Cgroup,
    launch: &LaunchSpec,
) -> Result<()> {
    let write = |name: &str, text: String| machine.write(&group.file(name), &text);
    if let Some(weight) = launch.io_weight {
        set_weight(machine, controller, group, weight)?;
    }
    let Some(limits) = launch.io_max else { return Ok(()) };
    let device = machine.target().and_then(|target| target.device.clone());
    let number =
        device.and_then(|device| sys::device_number(machine, &device)).ok_or_else(|| {
            Error::unsupported(
                "cannot limit the workload's I/O",
                "its files lie on no block device",
                "name another target: target = \"loop:1G:/DIRECTORY\"",
            )
        })?;
    for (name, text) in limit_files(controller, &number, &limits) {
        write(name, text)?;
    }
    Ok(())
}

/// What is written where for limits on one device.
fn limit_files(
    controller: Controller,
    number: &str,
    limits: &IoLimits,
) -> Vec<(&'static str, String)> {
    let all = [
        ("rbps", "blkio.throttle.read_bps_device", limits.read_bytes),
        ("wbps", "blkio.throttle.write_bps_device", limits.write_bytes),
        ("riops", "blkio.throttle.read_iops_device", limits.reads),
        ("wiops", "blkio.throttle.write_iops_device", limits.writes),
    ];
    let set = all.iter().filter_map(|(name, file, limit)| Some((name, *file, (*limit)?)));
    match controller {
        Controller::Unified => {
            let words: String = set.map(|(name, _, limit)| format!(" {name}={limit}")).collect();
            vec![("io.max", format!("{number}{words}"))]
        }
        Controller::Legacy => {
            set.map(|(_, file, limit)| (file, format!("{number} {limit}"))).collect()
        }
    }
}

fn make_cgroup(
    executor: &mut Executor,
    root: &str,
    name: &str,
    member: Option<i32>,
) -> Result<Cgroup> {
    let cgroup = Cgroup { path: format!("{root}/{name}") };
    let machine = &executor.settings.machine;
    executor.watch.journal.append(&JournalEntry::Cgroup { cgroup: cgroup.clone() })?;
    if !machine.exists(&cgroup.path) {
        Cgroup::create(machine, root, name)?;
    }
    if let Some(pid) = member {
        cgroup.add(machine, pid)?;
    }
    Ok(cgroup)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_written_as_either_hierarchy_takes_them() {
        let limits = IoLimits { read_bytes: Some(1 << 20), writes: Some(9), ..IoLimits::default() };
        assert_eq!(
            limit_files(Controller::Unified, "8:16", &limits),
            [("io.max", "8:16 rbps=1048576 wiops=9".to_owned())]
        );
        assert_eq!(
            limit_files(Controller::Legacy, "8:16", &limits),
            [
                ("blkio.throttle.read_bps_device", "8:16 1048576".to_owned()),
                ("blkio.throttle.write_iops_device", "8:16 9".to_owned())
            ]
        );
    }
}
