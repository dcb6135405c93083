//! Limits of CPU time and I/O, written into control groups.

use contract::{CpuQuota, Error, LaunchSpec, Result};
use model::IoLimits;
use sys::{Cgroup, Controller, Machine};

/// Gives a group an I/O weight.
///
/// # Errors
/// When nobody reads it here.
pub(crate) fn set_weight(
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

/// Limits a group's CPU time as the levels say.
///
/// # Errors
/// When the kernel refuses.
pub(crate) fn limit_cpu(
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

/// Limits a group's I/O as the levels say.
///
/// # Errors
/// When the kernel refuses, or the files lie on no device.
pub(crate) fn limit_io(
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
