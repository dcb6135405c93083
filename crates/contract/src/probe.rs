//! What is observed beside a workload.

use crate::{Description, Requirement, Result};
use model::{CpuList, Metric, RunReport, Sample};
use std::fmt;
use sys::{Cgroup, Machine};

/// How much observing disturbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Reads only before and after the run.
    BeforeAfter,
    /// Wakes up during the run.
    Periodic {
        /// How often, in hertz.
        hertz: u32,
    },
    /// Acts on every event: such a trial never answers a latency question.
    PerEvent,
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BeforeAfter => formatter.write_str("before and after the run"),
            Self::Periodic { hertz } => write!(formatter, "{hertz} times a second"),
            Self::PerEvent => formatter.write_str("on every event"),
        }
    }
}

/// Something observed beside a workload.
pub trait Probe: Sync {
    /// Name and explanation.
    fn describe(&self) -> &'static Description;

    /// What it reports. Its metrics are never primary.
    fn metrics(&self) -> Vec<Metric>;

    /// What it costs.
    fn cost(&self) -> Cost;

    /// What it needs of the machine.
    fn requires(&self) -> Vec<Requirement>;

    /// Attaches to a workload's process before it prepares anything, so that
    /// everything it starts is included.
    ///
    /// # Errors
    /// When the kernel refuses.
    fn attach(&self, machine: &Machine, target: &ProbeTarget) -> Result<Box<dyn AttachedProbe>>;
}

/// A probe attached to one invocation. Dropping it detaches.
pub trait AttachedProbe {
    /// Called when everything is prepared, just before the run.
    ///
    /// # Errors
    /// When reading fails.
    fn start(&mut self) -> Result<()>;

    /// Called right after the run, while the workload's processes still exist.
    /// Something not seen is left out, never reported as zero.
    ///
    /// # Errors
    /// When reading fails.
    fn stop(&mut self, report: &RunReport) -> Result<Vec<Sample>>;
}

/// What a probe observes.
#[derive(Debug, Clone)]
pub struct ProbeTarget {
    /// The workload's first process.
    pub pid: i32,
    /// Its process group.
    pub group: i32,
    /// Its cgroups in the unified hierarchy, where there are any: the first has all that is in
    /// none of the others, each of which is that of a server; the last server is loaded.
    pub cgroups: Vec<Cgroup>,
    /// The background load's processes, which are neither workload nor foreign.
    pub background: Vec<i32>,
    /// The CPUs online.
    pub cpus: CpuList,
}
