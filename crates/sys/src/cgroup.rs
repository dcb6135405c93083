//! Control groups of our own: for killing, for statistics, and for CPU limits.

use crate::{Machine, MachineError};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A process that was killed has ended by then, or something keeps it.
const LONGEST_ENDING: Duration = Duration::from_secs(5);
const ENDING_CHECKED_EVERY: Duration = Duration::from_millis(1);

/// A directory in a cgroup hierarchy, as an absolute kernel path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cgroup {
    /// Absolute kernel path, without the machine's root.
    pub path: String,
}

/// The kind of hierarchy in which a controller's limits can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Controller {
    /// The unified one, v2: `cpu.max` and `cpu.weight`, `io.max`.
    Unified,
    /// One of its own, v1: `cpu.cfs_quota_us` and `cpu.shares`, `blkio.throttle.*`.
    Legacy,
}

impl Cgroup {
    /// The unified (v2) hierarchy's mount point, alone or beside v1.
    pub fn unified_root(machine: &Machine) -> Option<&'static str> {
        ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
            .into_iter()
            .find(|root| machine.exists(&format!("{root}/cgroup.controllers")))
    }

    /// The mount point of the hierarchy that has the CPU controller, and its kind.
    pub fn cpu_root(machine: &Machine) -> Option<(Controller, &'static str)> {
        let legacy = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"];
        Self::root_of(machine, "cpu", &legacy, "cpu.shares")
    }

    /// The mount point of the hierarchy that has the I/O controller, and its kind.
    pub fn io_root(machine: &Machine) -> Option<(Controller, &'static str)> {
        Self::root_of(machine, "io", &["/sys/fs/cgroup/blkio"], "blkio.reset_stats")
    }

    fn root_of(
        machine: &Machine,
        controller: &str,
        legacy: &[&'static str],
        legacy_file: &str,
    ) -> Option<(Controller, &'static str)> {
        if let Some(root) = Self::unified_root(machine) {
            let controllers =
                machine.read(&format!("{root}/cgroup.controllers")).unwrap_or_default();
            if controllers.split_whitespace().any(|name| name == controller) {
                return Some((Controller::Unified, root));
            }
        }
        let mut legacy = legacy.iter().copied();
        legacy
            .find(|root| machine.exists(&format!("{root}/{legacy_file}")))
            .map(|root| (Controller::Legacy, root))
    }

    /// The path of a task's group below the mount point, in `/proc/PID/cgroup` text
    /// (`hierarchy:controllers:path`, cgroups(7)); `legacy` is the controller's name in v1.
    pub fn path_in<'t>(text: &'t str, controller: Controller, legacy: &str) -> Option<&'t str> {
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

    /// Makes a group below a mount point.
    ///
    /// # Errors
    /// When the directory cannot be made: without the privilege, or without delegation.
    pub fn create(machine: &Machine, root: &str, name: &str) -> Result<Self, MachineError> {
        let group = Self { path: format!("{root}/{name}") };
        let path = machine.path(&group.path);
        std::fs::create_dir(&path).map_err(|source| MachineError {
            action: "make cgroup",
            path,
            source,
        })?;
        Ok(group)
    }

    /// A file of the group.
    pub fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }

    /// Moves a process with all its threads into the group.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn add(&self, machine: &Machine, pid: i32) -> Result<(), MachineError> {
        machine.write(&self.file("cgroup.procs"), &pid.to_string())
    }

    /// The processes in the group and in groups below it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn members(&self, machine: &Machine) -> Result<Vec<i32>, MachineError> {
        let text = machine.read(&self.file("cgroup.procs"))?;
        let mut members: Vec<i32> =
            text.lines().filter_map(|line| line.trim().parse().ok()).collect();
        let below = std::fs::read_dir(machine.path(&self.path)).into_iter().flatten().flatten();
        for entry in below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            let group = Self { path: self.file(&entry.file_name().to_string_lossy()) };
            // One that is gone by now has no members.
            members.extend(group.members(machine).unwrap_or_default());
        }
        Ok(members)
    }

    /// Sets the weight by which the elevator bfq divides a device's time among groups (1 to
    /// 1000, 100 where nothing is said; block/bfq-cgroup.c).
    ///
    /// # Errors
    /// When the kernel refuses, or does not know bfq.
    pub fn set_bfq_weight(
        &self,
        machine: &Machine,
        controller: Controller,
        weight: u64,
    ) -> Result<(), MachineError> {
        machine.write(&self.file(bfq_weight_file(controller)), &weight.to_string())
    }

    /// What [`Self::set_bfq_weight`] sets; `None` where the kernel's answer is no weight.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn bfq_weight(
        &self,
        machine: &Machine,
        controller: Controller,
    ) -> Result<Option<u64>, MachineError> {
        Ok(weight_in(&machine.read(&self.file(bfq_weight_file(controller)))?))
    }

    /// CPU time that the group's processes have used, those that ended included;
    /// `None` where the hierarchy does not count it.
    pub fn cpu_time_ns(&self, machine: &Machine) -> Option<u64> {
        usage_ns(&machine.read(&self.file("cpu.stat")).ok()?)
    }

    /// CPU time of all these groups together; `None` where there is none, or one is not counted.
    pub fn cpu_time_of_all_ns(groups: &[Self], machine: &Machine) -> Option<u64> {
        let times = groups.iter().map(|group| group.cpu_time_ns(machine));
        times.sum::<Option<u64>>().filter(|_| !groups.is_empty())
    }

    /// Kills every process in the group: `cgroup.kill` (since 5.14), or one by one.
    ///
    /// # Errors
    /// When neither way is open.
    pub fn kill(&self, machine: &Machine) -> Result<(), MachineError> {
        if machine.exists(&self.file("cgroup.kill")) {
            return machine.write(&self.file("cgroup.kill"), "1");
        }
        for pid in self.members(machine)? {
            if let Some(pid) = rustix::process::Pid::from_raw(pid) {
                // A process that ended meanwhile is what is wanted.
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
        Ok(())
    }

    /// Removes the empty group; one that is gone already is no error. A process that is ending
    /// is no member any more and keeps the group busy for a moment (kernel/cgroup/cgroup.c,
    /// 6.12: `css_task_iter_next` leaves it out before `cgroup_exit`): that is waited for.
    ///
    /// # Errors
    /// EBUSY while processes remain.
    pub fn remove(&self, machine: &Machine) -> Result<(), MachineError> {
        let path: PathBuf = machine.path(&self.path);
        let began = Instant::now();
        loop {
            match std::fs::remove_dir(&path) {
                Err(error)
                    if error.kind() == io::ErrorKind::ResourceBusy
                        && began.elapsed() < LONGEST_ENDING
                        && self.members(machine).is_ok_and(|members| members.is_empty()) =>
                {
                    std::thread::sleep(ENDING_CHECKED_EVERY);
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(MachineError { action: "remove cgroup", path, source: error });
                }
                _ => return Ok(()),
            }
        }
    }
}

fn bfq_weight_file(controller: Controller) -> &'static str {
    match controller {
        Controller::Unified => "io.bfq.weight",
        Controller::Legacy => "blkio.bfq.weight",
    }
}

/// `100`, or `default 100` with lines for devices after it.
fn weight_in(text: &str) -> Option<u64> {
    let line = text.lines().next()?.trim();
    line.strip_prefix("default ").unwrap_or(line).trim().parse().ok()
}

/// `usage_usec` of a group's `cpu.stat` (Documentation/admin-guide/cgroup-v2.rst).
fn usage_ns(text: &str) -> Option<u64> {
    let micros: u64 =
        text.lines().find_map(|line| line.strip_prefix("usage_usec "))?.trim().parse().ok()?;
    micros.checked_mul(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_read_in_both_forms_and_garbage_is_none() {
        assert_eq!(weight_in("100\n"), Some(100));
        assert_eq!(weight_in("default 300\n8:0 10\n"), Some(300));
        assert_eq!(weight_in("garbage"), None);
    }

    #[test]
    fn a_tasks_group_is_found_in_either_hierarchy() {
        let path = |text, controller| Cgroup::path_in(text, controller, "cpu");
        let hybrid = "9:name=systemd:/\n2:cpuacct:/x\n1:cpu:/y:z\n0::/schedlab.1\n";
        assert_eq!(path(hybrid, Controller::Legacy), Some("/y:z"));
        assert_eq!(path(hybrid, Controller::Unified), Some("/schedlab.1"));
        assert_eq!(path("4:cpu,cpuacct:/a\n", Controller::Legacy), Some("/a"));
        assert_eq!(path("4:cpuset:/a\n", Controller::Legacy), None);
        assert_eq!(path("", Controller::Unified), None);
    }

    #[test]
    fn the_time_of_groups_is_none_where_one_does_not_tell() {
        let root = tempfile::tempdir().unwrap();
        let machine = Machine::fake(root.path(), root.path()).unwrap();
        let groups = ["a", "b"].map(|name| Cgroup { path: format!("/{name}") });
        for group in &groups {
            std::fs::create_dir_all(root.path().join(&group.path[1..])).unwrap();
        }
        let tell = |name: &str, text: &str| {
            std::fs::write(root.path().join(name).join("cpu.stat"), text).unwrap();
        };
        tell("a", "usage_usec 7\n");
        assert_eq!(Cgroup::cpu_time_of_all_ns(&groups, &machine), None);
        tell("b", "usage_usec 5\n");
        assert_eq!(Cgroup::cpu_time_of_all_ns(&groups, &machine), Some(12_000));
        assert_eq!(Cgroup::cpu_time_of_all_ns(&[], &machine), None);
    }

    #[test]
    fn members_of_groups_below_are_members() {
        let root = tempfile::tempdir().unwrap();
        let machine = Machine::fake(root.path(), root.path()).unwrap();
        for (group, members) in [("a", ""), ("a/main", "3\n"), ("a/share-0", "7\n9\n")] {
            std::fs::create_dir_all(root.path().join(group)).unwrap();
            std::fs::write(root.path().join(group).join("cgroup.procs"), members).unwrap();
        }
        let mut members = Cgroup { path: "/a".to_owned() }.members(&machine).unwrap();
        members.sort_unstable();
        assert_eq!(members, [3, 7, 9]);
    }

    #[test]
    fn hostile_group_statistics_are_not_zero() {
        assert_eq!(usage_ns("user_usec 5\nusage_usec 7\n"), Some(7_000));
        for bad in ["", "usage_usec\n", "usage_usec x\n", "usage_usec -1\n"] {
            assert_eq!(usage_ns(bad), None, "{bad:?}");
        }
    }
}
