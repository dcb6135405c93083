//! A workload that was started: its processes, wherever they move, and their end.

use crate::child::RoleChild;
use crate::executor::Executor;
use crate::kill_processes::end;
use crate::trial_resources::TrialResources;
use contract::{AttachedProbe, Error, Result, ServerGroups};
use std::collections::{BTreeMap, BTreeSet};
use sys::{Cgroup, Machine};

/// A started workload and everything that watches it.
pub(crate) struct Running {
    /// The load process.
    pub(crate) child: RoleChild,
    /// What observes it.
    pub(crate) probes: Vec<Box<dyn AttachedProbe>>,
    /// Its groups, where it has any: its own, then those of its servers.
    pub(crate) cgroups: Vec<Cgroup>,
    /// Those that its servers joined.
    pub(crate) server_groups: BTreeMap<String, ServerGroups>,
    /// Whether its first thread only directs and has no level.
    pub(crate) is_main_thread_apart: bool,
    /// Processes that only drive what is measured: they and their descendants have no level.
    pub(crate) generators: Vec<i32>,
}

impl Running {
    /// Every thread of the workload, wherever its processes have moved, except one
    /// that only directs.
    pub(crate) fn threads(&self, executor: &Executor, resources: &TrialResources) -> Vec<i32> {
        let machine = &executor.settings.machine;
        let main = self.child.pid();
        let processes = processes(executor, main, &self.cgroups, resources);
        let subjects = processes.iter().filter(|pid| !self.is_of_a_generator(machine, **pid));
        let threads = subjects.flat_map(|pid| machine.thread_ids(*pid).unwrap_or_default());
        threads.filter(|thread| !(self.is_main_thread_apart && *thread == main)).collect()
    }

    /// Whether a process, or one that it descends from, only drives what is measured.
    fn is_of_a_generator(&self, machine: &Machine, pid: i32) -> bool {
        !self.generators.is_empty()
            && machine.ancestors(pid).any(|ancestor| self.generators.contains(&ancestor))
    }

    /// Ends what an invocation left running, so that it is not beside the next one.
    pub(crate) fn end_leftovers(
        &self,
        executor: &Executor,
        resources: &TrialResources,
    ) -> Result<()> {
        let group = self.child.pid();
        let left = end(|| processes(executor, group, &self.cgroups, resources)).left;
        if left.is_empty() {
            return Ok(());
        }
        Err(Error::environment(
            "cannot end the workload",
            format!("its processes {left:?} are still there"),
        ))
    }
}

/// The workload's processes: of its cgroups where it has any, else of its process
/// group and every process with our mark.
fn processes(
    executor: &Executor,
    group: i32,
    cgroups: &[Cgroup],
    resources: &TrialResources,
) -> BTreeSet<i32> {
    let machine = &executor.settings.machine;
    let members: Option<Vec<_>> =
        cgroups.iter().map(|cgroup| cgroup.members(machine).ok()).collect();
    if let Some(members) = members.filter(|groups| !groups.is_empty()) {
        return members.into_iter().flatten().collect();
    }
    // What cannot be listed has ended.
    let members = machine.group_members(group).unwrap_or_default();
    let marked = machine.marked_processes(&executor.guarded.mark).unwrap_or_default();
    let all = members.into_iter().chain(marked);
    let others = resources.groups();
    all.filter(|process| !others.contains(&process.group)).map(|process| process.pid).collect()
}
