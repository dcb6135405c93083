//! Control groups of our own: for killing, for statistics, and for CPU limits.

use crate::{Machine, MachineError};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;

/// A directory in a cgroup hierarchy, as an absolute kernel path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cgroup {
    /// Absolute kernel path, without the machine's root.
    pub path: String,
}

/// The kind of hierarchy in which a controller's limits can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

    /// The processes in the group.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn members(&self, machine: &Machine) -> Result<Vec<i32>, MachineError> {
        let text = machine.read(&self.file("cgroup.procs"))?;
        Ok(text.lines().filter_map(|line| line.trim().parse().ok()).collect())
    }

    /// CPU time that the group's processes have used, those that ended included;
    /// `None` where the hierarchy does not count it.
    pub fn cpu_time_ns(&self, machine: &Machine) -> Option<u64> {
        usage_ns(&machine.read(&self.file("cpu.stat")).ok()?)
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

    /// Removes the empty group; one that is gone already is no error.
    ///
    /// # Errors
    /// EBUSY while processes remain.
    pub fn remove(&self, machine: &Machine) -> Result<(), MachineError> {
        let path: PathBuf = machine.path(&self.path);
        match std::fs::remove_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(MachineError { action: "remove cgroup", path, source: error })
            }
            _ => Ok(()),
        }
    }
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
    fn hostile_group_statistics_are_not_zero() {
        assert_eq!(usage_ns("user_usec 5\nusage_usec 7\n"), Some(7_000));
        for bad in ["", "usage_usec\n", "usage_usec x\n", "usage_usec -1\n"] {
            assert_eq!(usage_ns(bad), None, "{bad:?}");
        }
    }
}
