//! How much CPU time the workload's group may use in each period.

use crate::{task_group, thread_levels};
use contract::{CpuQuota, Description, Factor, Knob, LaunchKnob, LaunchSpec, Requirement};
use model::Level;
use std::collections::BTreeMap;
use sys::{Cgroup, Controller, Machine};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "cpu_max",
    summary: "CPU bandwidth of a cgroup of the workload's own (the container case)",
    doc: "The workload runs in a cgroup that may use QUOTA of CPU time in each PERIOD, over all CPUs; \
          then every task of it waits for the next period. This is what a container's CPU limit is. \
          `50%` means half of one CPU in periods of 100 ms; `max` is the same group without a limit, \
          the fair reference for the others.\n\n\
          `cpu.max` of the unified hierarchy, `cpu.cfs_quota_us` and `cpu.cfs_period_us` of v1.\n\n\
          What moves with it, and when it lies: several threads use the quota up early in the period and \
          are then throttled together, so tails grow to the length of a period while the mean looks \
          fine. Quota is handed to CPUs in 5 ms portions (sched_cfs_bandwidth_slice_us), unused parts of \
          which are kept back: limits of a few milliseconds are coarse. Being in any cpu cgroup takes \
          the workload out of its autogroup, so compare with `max`, not with no level. Real-time tasks \
          are not limited by it.\n\n\
          Sources: Documentation/scheduler/sched-bwc.rst, Documentation/admin-guide/cgroup-v2.rst, \
          kernel/sched/core.c (tg_set_cfs_bandwidth, 6.12).",
};

/// Kernel's min_cfs_quota_period and max_cfs_quota_period (kernel/sched/core.c, 6.12).
const SHORTEST_NS: u64 = 1_000_000;
const LONGEST_PERIOD_NS: u64 = 1_000_000_000;
/// Default period of the kernel.
const DEFAULT_PERIOD_NS: u64 = 100_000_000;
/// `max` as a share of one CPU would be, for the largest machines (8192 CPUs).
const HIGHEST_CPUS: u64 = 8192;

/// `None` is `max`: a group without a limit.
fn quota(text: &str) -> Result<Option<CpuQuota>, String> {
    let text = text.trim();
    if text == "max" {
        return Ok(None);
    }
    let quota = if text.ends_with('%') {
        percent_of_default_period(text)?
    } else {
        let (quota, period) = text
            .split_once('/')
            .ok_or_else(|| format!("`{text}` is not QUOTA/PERIOD, a percentage, or max"))?;
        let parse = |text| model::parse_duration(text).map_err(|error| error.to_string());
        CpuQuota { quota_ns: parse(quota)?, period_ns: parse(period)? }
    };
    if !(SHORTEST_NS..=LONGEST_PERIOD_NS).contains(&quota.period_ns) {
        return Err("the period must be 1ms to 1s".to_owned());
    }
    if quota.quota_ns < SHORTEST_NS || quota.quota_ns > HIGHEST_CPUS * quota.period_ns {
        return Err("the quota must be at least 1ms, and no more than 8192 CPUs".to_owned());
    }
    if !quota.quota_ns.is_multiple_of(1_000) || !quota.period_ns.is_multiple_of(1_000) {
        return Err("quota and period must be whole microseconds".to_owned());
    }
    Ok(Some(quota))
}

fn percent_of_default_period(text: &str) -> Result<CpuQuota, String> {
    let fraction = model::parse_percent(text).map_err(|error| error.to_string())?;
    #[expect(clippy::cast_precision_loss, reason = "8192 CPUs are exact in a double")]
    let is_sensible = fraction > 0.0 && fraction <= HIGHEST_CPUS as f64;
    if !is_sensible {
        return Err(format!("`{text}` is not a share of the CPUs"));
    }
    // Rounded to the microsecond the kernel counts in.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    let quota_us = (fraction * 100_000.0).round() as u64;
    Ok(CpuQuota { quota_ns: quota_us * 1_000, period_ns: DEFAULT_PERIOD_NS })
}

fn level_of(quota: Option<CpuQuota>) -> Level {
    Level::canonical(quota.map_or("max".to_owned(), |quota| {
        format!(
            "{}/{}",
            model::format_duration(quota.quota_ns),
            model::format_duration(quota.period_ns)
        )
    }))
}

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "QUOTA/PERIOD such as 50ms/100ms, a percentage of one CPU such as 50%, or max"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["50%", "20ms/50ms", "max"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        quota(text).map(level_of)
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        let mut needs = vec![Requirement::cpu_group()];
        if level.as_str() != "max" {
            needs.push(Requirement::check("CPU bandwidth limits (CONFIG_CFS_BANDWIDTH)", |machine| {
                // The root group of v1 shows the file; that of v2 never does.
                match Cgroup::cpu_root(machine) {
                    Some((Controller::Legacy, root)) if !machine.exists(&format!("{root}/cpu.cfs_quota_us")) => Err((
                        format!("{root}/cpu.cfs_quota_us does not exist"),
                        "choose a kernel built with CONFIG_CFS_BANDWIDTH=y (in a virtual machine)".to_owned(),
                    )),
                    _ => Ok(()),
                }
            }));
        }
        needs
    }

    fn conflict(&self, _level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        task_group::conflict_with_policy("cpu_max", others)
    }

    fn knob(&self) -> Knob<'_> {
        Knob::Launch(self)
    }
}

impl LaunchKnob for Entry {
    fn contribute(
        &self,
        _machine: &Machine,
        level: &Level,
        launch: &mut LaunchSpec,
    ) -> contract::Result<()> {
        launch.cpu_max = quota(level.as_str()).map_err(|error| {
            contract::Error::usage(format!("cannot use the limit {level}"), error, "")
        })?;
        if launch.cpu_max.is_none() {
            // The default weight asks for the same group as the limited levels have.
            launch.cpu_weight.get_or_insert(crate::cpu_weight::DEFAULT);
        }
        Ok(())
    }

    fn read_back(
        &self,
        machine: &Machine,
        threads: &[i32],
        wanted: &Level,
    ) -> contract::Result<Level> {
        thread_levels::uniform("cpu_max", threads, wanted, |thread| {
            let Some((controller, group)) = task_group::cpu_group(machine, thread)? else {
                return Ok(None);
            };
            group_quota(machine, controller, &group).map(|quota| Some(level_of(quota)))
        })
    }
}

fn group_quota(
    machine: &Machine,
    controller: Controller,
    group: &Cgroup,
) -> contract::Result<Option<CpuQuota>> {
    let (quota, period) = match controller {
        Controller::Unified => {
            let text = machine.read(&group.file("cpu.max"))?;
            let (quota, period) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
            (quota.to_owned(), period.to_owned())
        }
        Controller::Legacy => (
            machine.read(&group.file("cpu.cfs_quota_us"))?.trim().to_owned(),
            machine.read(&group.file("cpu.cfs_period_us"))?.trim().to_owned(),
        ),
    };
    if ["max", "-1"].contains(&quota.as_str()) {
        return Ok(None);
    }
    match (quota.parse::<u64>(), period.parse::<u64>()) {
        (Ok(quota_us), Ok(period_us)) => {
            Ok(Some(CpuQuota { quota_ns: quota_us * 1_000, period_ns: period_us * 1_000 }))
        }
        _ => Err(contract::Error::environment(
            format!("cannot understand the CPU limit of {}", group.path),
            format!("`{quota}` in `{period}`"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::Layout;

    #[test]
    fn levels_are_canonical_and_bounded() {
        for (text, canonical) in [
            ("50%", "50ms/100ms"),
            ("150%", "150ms/100ms"),
            ("33.3333%", "33.333ms/100ms"),
            ("20ms/0.05s", "20ms/50ms"),
            ("max", "max"),
        ] {
            assert_eq!(Entry.parse(text).unwrap().as_str(), canonical);
        }
        for text in [
            "0%",
            "0.5%",
            "-5%",
            "0.5ms/10ms",
            "10ms/2s",
            "10ms",
            "max/10ms",
            "inf%",
            "1.0000005s/1s",
        ] {
            assert!(Entry.parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_limit_of_a_tasks_group_is_read_in_both_hierarchies() {
        let read = |layout: Layout| {
            let machine = layout.machine();
            Entry
                .read_back(&machine, &[5], &Level::canonical("none of these"))
                .map(|level| level.to_string())
        };
        let unified = |limit: &str| {
            Layout::new("6.12.0")
                .file("/sys/fs/cgroup/cgroup.controllers", "cpu io")
                .file("/proc/5/cgroup", "0::/schedlab.1")
                .file("/sys/fs/cgroup/schedlab.1/cpu.max", limit)
        };
        assert_eq!(read(unified("50000 100000")).unwrap(), "50ms/100ms");
        assert_eq!(read(unified("max 100000")).unwrap(), "max");
        assert!(read(unified("garbage")).is_err());
        let legacy = |quota: &str| {
            Layout::new("6.12.0")
                .file("/sys/fs/cgroup/cpu/cpu.shares", "1024")
                .file("/proc/5/cgroup", "3:cpuset:/\n1:cpu:/a\n0::/b")
                .file("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", quota)
                .file("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "50000")
        };
        assert_eq!(read(legacy("20000")).unwrap(), "20ms/50ms");
        assert_eq!(read(legacy("-1")).unwrap(), "max");
        assert!(read(legacy("").file("/proc/5/cgroup", "0::/b")).is_err());
    }

    #[test]
    fn the_reference_without_a_limit_has_a_group_too() {
        let machine = Machine::host("/nonexistent");
        let mut launch = LaunchSpec::default();
        Entry.contribute(&machine, &Level::canonical("max"), &mut launch).unwrap();
        assert!(launch.needs_cpu_cgroup() && launch.cpu_max.is_none());
        launch.cpu_weight = Some(500);
        Entry.contribute(&machine, &Level::canonical("max"), &mut launch).unwrap();
        assert_eq!(launch.cpu_weight, Some(500), "the factor cpu_weight wins");
    }

    #[test]
    fn a_unified_hierarchy_must_pass_the_controller_on() {
        let layout = |enabled: &str| {
            Layout::new("6.12.0")
                .file("/sys/fs/cgroup/cgroup.controllers", "cpu io")
                .file("/sys/fs/cgroup/cgroup.subtree_control", enabled)
        };
        let level = Entry.parse("50%").unwrap();
        let unmet = |layout: Layout| {
            let machine = layout.machine();
            Entry.requires(&level).iter().find_map(|need| need.met(&machine).err())
        };
        assert_eq!(unmet(layout("cpu io")), None);
        assert!(unmet(layout("io")).unwrap().remedy.contains("+cpu"));
        assert!(unmet(Layout::new("6.12.0")).is_some());
    }

    #[test]
    fn real_time_policies_are_a_conflict() {
        let others = [("policy".to_owned(), Level::canonical("fifo:1"))].into();
        assert!(Entry.conflict(&Level::canonical("max"), &others).is_some());
    }
}
