//! How a workload's process is started: the levels that belong to a process
//! rather than to the machine.

use model::{CpuList, IoLimits, IoPriority, StorageTarget};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use sys::{Cgroup, Controller, Machine, MachineError, Policy, SchedulingAttributes};

/// The name of a thread to which its workload gave an I/O priority of its own: the level of
/// the trial is that of the others.
pub const APART: &str = "schedlab-apart";

/// Attributes of a workload's process and of everything it starts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LaunchSpec {
    /// Scheduling policy; none leaves the inherited one.
    pub policy: Option<Policy>,
    /// Priority of FIFO and RR.
    pub priority: u32,
    /// Budget, deadline and period of SCHED_DEADLINE.
    pub deadline_ns: Option<[u64; 3]>,
    /// Nice value.
    pub nice: Option<i32>,
    /// Custom slice of a fair task.
    pub slice_ns: Option<u64>,
    /// Utilisation clamps, 0..1024.
    pub clamp: Option<(u32, u32)>,
    /// CPUs it may use.
    pub affinity: Option<CpuList>,
    /// Timer slack.
    pub timer_slack_ns: Option<u64>,
    /// CPU bandwidth of a cgroup of our own.
    pub cpu_max: Option<CpuQuota>,
    /// CPU weight of a cgroup of our own (1..10000, default 100).
    pub cpu_weight: Option<u64>,
    /// Class and level of I/O priority.
    pub io_priority: Option<IoPriority>,
    /// I/O weight of a cgroup of our own (1..10000, default 100).
    pub io_weight: Option<u64>,
    /// I/O limits of a cgroup of our own on the target's device.
    pub io_max: Option<IoLimits>,
    /// Groups that [`crate::WorkloadFacts::io_weights`] asked for, in that order; its processes
    /// join them themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub io_groups: Vec<IoGroup>,
    /// Groups of the servers that [`crate::ServiceFacts::servers`] named, which join them
    /// themselves.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub server_groups: BTreeMap<String, ServerGroups>,
    /// Where files and devices of the workload lie: its scratch directory where the trial has
    /// no target.
    pub target: Option<StorageTarget>,
    /// Whether that is a rotational disk, as the kernel had it before any level.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_rotating: bool,
    /// Facts of the long-lived service ([`crate::LongLivedService::facts`]); else empty.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub long_lived: BTreeMap<String, String>,
    /// Seed of the trial.
    pub seed: u64,
    /// A directory for files of this invocation, removed afterwards.
    pub scratch: PathBuf,
    /// Where the output of external programs is kept.
    pub log: PathBuf,
}

/// A control group for some processes of a workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoGroup {
    /// The group.
    pub group: Cgroup,
    /// The hierarchy it is in.
    pub controller: Controller,
    /// Its weight for bfq, 1 to 1000.
    pub weight: u64,
}

/// The control groups of one server of a workload.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ServerGroups {
    /// In the unified hierarchy, where one could be made.
    pub unified: Option<Cgroup>,
    /// In hierarchies of their own, of controllers that it is limited with.
    pub legacy: Vec<Cgroup>,
}

impl ServerGroups {
    /// Moves a process into all of them; into the unified one, by which its members are told,
    /// last.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn add(&self, machine: &Machine, pid: i32) -> Result<(), MachineError> {
        self.legacy.iter().chain(&self.unified).try_for_each(|group| group.add(machine, pid))
    }
}

/// CPU time a group may use in each period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuQuota {
    /// Time in each period, over all CPUs.
    pub quota_ns: u64,
    /// Length of the period.
    pub period_ns: u64,
}

impl LaunchSpec {
    /// Whether a cgroup with the CPU controller is needed.
    pub fn needs_cpu_cgroup(&self) -> bool {
        self.cpu_max.is_some() || self.cpu_weight.is_some()
    }

    /// Whether a cgroup with the I/O controller is needed.
    pub fn needs_io_cgroup(&self) -> bool {
        self.io_weight.is_some() || self.io_max.is_some()
    }

    /// Applies everything that children inherit to the calling thread, which
    /// must be the process's only one. Deadline tasks cannot fork
    /// (sched_setattr(2), EAGAIN), so that policy waits for [`Self::enter_task`].
    ///
    /// # Errors
    /// What the kernel answers, with the attribute named.
    pub fn apply(&self) -> Result<(), (&'static str, io::Error)> {
        if let Some(cpus) = &self.affinity {
            sys::set_affinity(0, cpus).map_err(|error| ("affinity", error))?;
        }
        if let Some(slack) = self.timer_slack_ns {
            sys::set_timer_slack(slack).map_err(|error| ("timer_slack", error))?;
        }
        if let Some(priority) = self.io_priority {
            sys::set_io_priority(0, priority).map_err(|error| ("ionice", error))?;
        }
        let is_deferred = self.policy == Some(Policy::Deadline);
        let is_default = self.policy.is_none()
            && self.nice.is_none()
            && self.slice_ns.is_none()
            && self.clamp.is_none();
        if is_deferred || is_default {
            return Ok(());
        }
        self.set_attributes().map_err(|error| ("scheduling attributes", error))
    }

    /// Gives a thread of somebody else exactly what a process that is started with these levels
    /// would have: where no level is set, what the calling thread has. Its children inherit it.
    ///
    /// # Errors
    /// What the kernel answers, with the attribute named.
    pub fn impose(&self, machine: &Machine, thread: i32) -> Result<(), (&'static str, io::Error)> {
        let own = || sys::affinity(0);
        let cpus =
            self.affinity.clone().map_or_else(own, Ok).map_err(|error| ("affinity", error))?;
        sys::set_affinity(thread, &cpus).map_err(|error| ("affinity", error))?;
        let slack = self.timer_slack_ns.map_or_else(sys::timer_slack, Ok);
        let path = format!("/proc/{thread}/timerslack_ns");
        slack
            .and_then(|slack| machine.write(&path, &slack.to_string()).map_err(io::Error::other))
            .map_err(|error| ("timer_slack", error))?;
        let own = || sys::io_priority(0);
        let priority = self.io_priority.map_or_else(own, |priority| Ok(Some(priority)));
        priority
            .and_then(|priority| sys::set_io_priority(thread, priority))
            .map_err(|error| ("ionice", error))?;
        let current = sys::scheduling_attributes(0);
        current
            .and_then(|current| self.set_attributes_of(thread, self.clamp.or(current.clamp)))
            .map_err(|error| ("scheduling attributes", error))
    }

    /// Called by every task of a workload as its first act: takes on what is not
    /// inherited. Does nothing unless the policy is SCHED_DEADLINE.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn enter_task(&self) -> io::Result<()> {
        if self.policy == Some(Policy::Deadline) { self.set_attributes() } else { Ok(()) }
    }

    /// An attribute that the process has otherwise than it was started with, in
    /// words. A process that has ended still tells until it is reaped.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn difference(&self, process: i32) -> io::Result<Option<String>> {
        let now = sys::scheduling_attributes(process)?;
        let differs = |name: &str, wanted: String, actual: String| {
            (wanted != actual).then(|| format!("{name} should be {wanted} and is {actual}"))
        };
        let is_real_time = matches!(self.policy, Some(Policy::Fifo | Policy::RoundRobin));
        let affinity = match &self.affinity {
            Some(cpus) => {
                differs("affinity", cpus.to_string(), sys::affinity(process)?.to_string())
            }
            None => None,
        };
        Ok([
            self.policy.and_then(|policy| {
                differs("policy", policy.name().into(), now.policy.name().into())
            }),
            self.nice
                .filter(|_| matches!(now.policy, Policy::Other | Policy::Batch | Policy::Idle))
                .and_then(|nice| differs("nice", nice.to_string(), now.nice.to_string())),
            self.slice_ns
                .and_then(|slice| differs("slice", slice.to_string(), now.runtime_ns.to_string())),
            differs("priority", self.priority.to_string(), now.priority.to_string())
                .filter(|_| is_real_time),
            affinity,
        ]
        .into_iter()
        .flatten()
        .next())
    }

    fn set_attributes(&self) -> io::Result<()> {
        self.set_attributes_of(0, self.clamp)
    }

    fn set_attributes_of(&self, thread: i32, clamp: Option<(u32, u32)>) -> io::Result<()> {
        let current = sys::scheduling_attributes(0)?;
        let policy = self.policy.unwrap_or(current.policy);
        let [budget_ns, deadline_ns, period_ns] = self.deadline_ns.unwrap_or_default();
        let is_deadline = policy == Policy::Deadline;
        sys::set_scheduling_attributes(
            thread,
            &SchedulingAttributes {
                policy,
                nice: self.nice.unwrap_or(current.nice),
                priority: self.priority,
                runtime_ns: if is_deadline { budget_ns } else { self.slice_ns.unwrap_or(0) },
                deadline_ns,
                period_ns,
                clamp,
            },
        )
    }
}
