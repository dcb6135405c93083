//! A workload that was started: its processes, wherever they move, and their end.

use crate::child::{RoleChild, Waited};
use crate::context::ExecutorContext;
use crate::kill_processes::end;
use crate::left_processes::ENDING_CHECKED_EVERY;
use crate::load_process::LoadAnswer;
use crate::trial_resources::TrialResources;
use contract::{AttachedProbe, Error, Result, ServerGroups};
use model::{RunReport, Sample};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use sys::{Cgroup, Machine, ProcessStat};

/// A started workload and everything that watches it.
pub(crate) struct Running {
    /// The load process.
    child: RoleChild,
    /// What observes it.
    probes: Vec<Box<dyn AttachedProbe>>,
    /// Its groups, where it has any: its own, then those of its servers.
    cgroups: Vec<Cgroup>,
    /// Those that its servers joined.
    server_groups: BTreeMap<String, ServerGroups>,
    /// Whether its first thread only directs and has no level.
    is_main_thread_apart: bool,
    /// Processes that only drive what is measured: they and their descendants have no level.
    generators: Vec<i32>,
}

impl Running {
    /// A load process that has its order, its control groups (all, then those that its servers
    /// joined), and what observes it.
    pub(crate) fn new(
        child: RoleChild,
        (cgroups, server_groups): (Vec<Cgroup>, BTreeMap<String, ServerGroups>),
        is_main_thread_apart: bool,
        probes: Vec<Box<dyn AttachedProbe>>,
    ) -> Self {
        let generators = Vec::new();
        Self { child, probes, cgroups, server_groups, is_main_thread_apart, generators }
    }

    /// The process group of the load process.
    pub(crate) fn group(&self) -> i32 {
        self.child.pid()
    }

    /// Its control groups, where it has any.
    pub(crate) fn cgroups(&self) -> &[Cgroup] {
        &self.cgroups
    }

    /// The control groups that its servers joined.
    pub(crate) fn server_groups(&self) -> &BTreeMap<String, ServerGroups> {
        &self.server_groups
    }

    /// Notes which processes only drive what is measured.
    pub(crate) fn set_generators(&mut self, generators: Vec<i32>) {
        self.generators = generators;
    }

    /// Waits for an answer of the load process.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn wait(&mut self, longest: Duration) -> Result<Waited<LoadAnswer>> {
        self.child.wait_frame(longest)
    }

    /// Starts the probes.
    ///
    /// # Errors
    /// When one cannot observe.
    pub(crate) fn start_probes(&mut self) -> Result<()> {
        self.probes.iter_mut().try_for_each(|probe| probe.start())
    }

    /// Orders the load process to run.
    ///
    /// # Errors
    /// When it cannot be told.
    pub(crate) fn order_run(&mut self) -> Result<()> {
        self.child.send(&())
    }

    /// Stops the probes; what they saw of the run.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(crate) fn stop_probes(&mut self, report: &RunReport) -> Result<Vec<Sample>> {
        let mut samples = Vec::new();
        for probe in &mut self.probes {
            samples.extend(probe.stop(report)?);
        }
        Ok(samples)
    }

    /// Lets the load process end by itself for so long.
    pub(crate) fn let_end(&mut self, patience: Duration) {
        self.child.let_end(patience);
    }

    /// Ends the load process and what is left of its process group.
    pub(crate) fn finish(&mut self) {
        self.child.finish(Duration::ZERO);
    }

    /// Every thread of these processes of the workload, except one that only directs.
    pub(crate) fn threads(&self, machine: &Machine, processes: &BTreeSet<i32>) -> Vec<i32> {
        let subjects = processes.iter().filter(|pid| !self.is_of_a_generator(machine, **pid));
        let threads = subjects.flat_map(|pid| machine.thread_ids(*pid).unwrap_or_default());
        threads.filter(|thread| !(self.is_main_thread_apart && *thread == self.group())).collect()
    }

    /// Whether a process, or one that it descends from, only drives what is measured.
    fn is_of_a_generator(&self, machine: &Machine, pid: i32) -> bool {
        !self.generators.is_empty()
            && machine.ancestors(pid).any(|ancestor| self.generators.contains(&ancestor))
    }

    /// Processes of the workload that are still there once the load process was let end, and that
    /// nothing of ours ends by itself: `patience` is for those that are ending already. What serves
    /// during a run, in a control group of its own, has no end before we end it and is left out.
    pub(crate) fn left(
        &self,
        context: &ExecutorContext,
        resources: &TrialResources,
        patience: Duration,
    ) -> Vec<ProcessStat> {
        let began = Instant::now();
        loop {
            let left = self.outliving(context, resources);
            if left.is_empty() || began.elapsed() >= patience {
                return left;
            }
            std::thread::sleep(ENDING_CHECKED_EVERY);
        }
    }

    fn outliving(&self, context: &ExecutorContext, resources: &TrialResources) -> Vec<ProcessStat> {
        let machine = context.machine();
        let members = |cgroup: &Cgroup| cgroup.members(machine).unwrap_or_default();
        let (own, serving): (Vec<ProcessStat>, BTreeSet<i32>) = match self.cgroups.split_first() {
            // Where servers have no groups, their processes cannot be told from what a run leaves.
            None if !self.server_groups.is_empty() => return Vec::new(),
            None => (machine.group_members(self.group()).unwrap_or_default(), BTreeSet::new()),
            Some((own, servers)) => {
                let own = members(own).into_iter().filter_map(|pid| machine.live_process(pid));
                (own.collect(), servers.iter().flat_map(members).collect())
            }
        };
        // One that has left the group still has our mark.
        let marked = machine.marked_processes(context.mark()).unwrap_or_default();
        let others = resources.groups();
        let is_of_others = |process: &ProcessStat| {
            others.contains(&process.group)
                || machine.ancestors(process.pid).any(|ancestor| others.contains(&ancestor))
        };
        let left: BTreeMap<i32, ProcessStat> = own
            .into_iter()
            .chain(marked)
            .filter(|process| !serving.contains(&process.pid) && !is_of_others(process))
            .map(|process| (process.pid, process))
            .collect();
        left.into_values().collect()
    }

    /// Ends what an invocation left running, so that it is not beside the next one: what
    /// [`Self::left`] saw, wherever it has moved, and what else there is by now.
    ///
    /// # Errors
    /// When something is still there.
    pub(crate) fn end_leftovers(
        &self,
        context: &ExecutorContext,
        resources: &TrialResources,
        seen: &[ProcessStat],
    ) -> Result<()> {
        let machine = context.machine();
        let is_there = |process: &&ProcessStat| {
            let now = machine.live_process(process.pid);
            now.is_some_and(|now| now.start_ticks == process.start_ticks)
        };
        let alive = || -> BTreeSet<i32> {
            let seen = seen.iter().filter(is_there).map(|process| process.pid);
            self.processes(context, resources).into_iter().chain(seen).collect()
        };
        let left = end(alive).left;
        if left.is_empty() {
            return Ok(());
        }
        Err(Error::environment(
            "cannot end the workload",
            format!("its processes {left:?} are still there"),
        ))
    }

    /// The workload's processes: of its cgroups where it has any, else of its process
    /// group and every process with our mark.
    pub(crate) fn processes(
        &self,
        context: &ExecutorContext,
        resources: &TrialResources,
    ) -> BTreeSet<i32> {
        let machine = context.machine();
        let members: Option<Vec<_>> =
            self.cgroups.iter().map(|cgroup| cgroup.members(machine).ok()).collect();
        if let Some(members) = members.filter(|groups| !groups.is_empty()) {
            return members.into_iter().flatten().collect();
        }
        // What cannot be listed has ended.
        let members = machine.group_members(self.group()).unwrap_or_default();
        let marked = machine.marked_processes(context.mark()).unwrap_or_default();
        let all = members.into_iter().chain(marked);
        let others = resources.groups();
        all.filter(|process| !others.contains(&process.group)).map(|process| process.pid).collect()
    }
}
