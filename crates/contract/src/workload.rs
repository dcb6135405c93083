//! What is run.

use crate::{Description, Error, LaunchSpec, Parameter, Recipe, Requirement, Result, Standing};
use model::{Caveat, Metric, Parameters, RunReport, Sample};
use std::net::SocketAddr;
use std::path::PathBuf;
use sys::Machine;

/// A native workload, or an adapter for a program. Its load lives in a process
/// of its own that the executor starts, limits and reaps.
pub trait Workload: Sync {
    /// Name and explanation.
    fn describe(&self) -> &'static Description;

    /// Declared parameters.
    fn parameters(&self) -> &'static [Parameter];

    /// What it reports with these parameters; the first is the default primary metric.
    fn metrics(&self, parameters: &Parameters) -> Vec<Metric>;

    /// Expected length of one invocation in nanoseconds, preparation included.
    fn expected_ns(&self, parameters: &Parameters) -> u64;

    /// How much longer than ten times that an invocation may take by what was declared, in
    /// nanoseconds: servers that may be slow to start, to become warm, to end.
    fn patience_ns(&self, parameters: &Parameters) -> u64 {
        let _ = parameters;
        0
    }

    /// Whether the load waits for each answer before it sends again: tails are
    /// then conditional on its own pauses.
    fn is_closed_loop(&self, parameters: &Parameters) -> bool;

    /// What it needs of the machine with these parameters.
    fn requires(&self, parameters: &Parameters) -> Vec<Requirement> {
        let _ = parameters;
        Vec::new()
    }

    /// The user's files that decide what runs: with other contents it is another
    /// workload. What cannot be found is left out; [`Self::requires`] names it.
    fn programs(&self, machine: &Machine, parameters: &Parameters) -> Vec<PathBuf> {
        let _ = (machine, parameters);
        Vec::new()
    }

    /// What has to be built from sources before it can run.
    fn recipes(&self, parameters: &Parameters) -> Vec<Recipe> {
        let _ = parameters;
        Vec::new()
    }

    /// Files of the machine it writes while it runs, which its end undoes.
    fn writes(&self, parameters: &Parameters) -> Vec<&'static str> {
        let _ = parameters;
        Vec::new()
    }

    /// Weights (1 to 1000) of I/O groups that its processes will join, one group each: made
    /// before it starts, given to it as [`LaunchSpec::io_groups`], removed after it.
    fn io_groups(&self, parameters: &Parameters) -> Vec<u64> {
        let _ = parameters;
        Vec::new()
    }

    /// Names of its servers. Each has control groups of its own, told as
    /// [`LaunchSpec::server_groups`], and those carry the limits of a trial, each server's all of
    /// them: whoever loads them is in the workload's group and has none.
    fn servers(&self, parameters: &Parameters) -> Vec<&'static str> {
        let _ = parameters;
        Vec::new()
    }

    /// Whether its far side is a second guest beside the subject's ([`crate::peers_address`]),
    /// which a venue of virtual machines boots for it.
    fn needs_peer(&self, parameters: &Parameters) -> bool {
        let _ = parameters;
        false
    }

    /// The port of the guest to which its load comes from the host of the guest
    /// ([`crate::OutsideOrder`]); none where all of it is in the guest.
    fn port_for_outside(&self, parameters: &Parameters) -> Option<u16> {
        let _ = parameters;
        None
    }

    /// What sending that load needs of the host.
    fn requires_outside(&self, parameters: &Parameters) -> Vec<Requirement> {
        let _ = parameters;
        Vec::new()
    }

    /// Sends that load to this address, where the guest's port is reached, and returns what its
    /// part in the guest is to know.
    ///
    /// # Errors
    /// What failed.
    fn send_from_outside(
        &self,
        parameters: &Parameters,
        to: SocketAddr,
        launch: &LaunchSpec,
    ) -> Result<String> {
        let _ = (parameters, to, launch);
        let why = "all of its load is beside what is loaded";
        Err(Error::usage("cannot send a load to a guest", why, ""))
    }

    /// Whether its own process only drives what it measures: the levels of a trial are then those
    /// of the processes that it starts, which take them on themselves ([`LaunchSpec::apply`]), and
    /// its first thread has none.
    fn drives_others(&self) -> bool {
        false
    }

    /// What its trials find running already, as a text that is the same for all that may share
    /// it; none where each trial starts all it needs.
    fn stands(&self, parameters: &Parameters) -> Option<String> {
        let _ = parameters;
        None
    }

    /// Starts what [`Self::stands`] names, in a process of its own with one thread and without
    /// the levels of any trial, and returns when it can be used.
    ///
    /// # Errors
    /// What could not be started.
    fn stand(
        &self,
        machine: &Machine,
        parameters: &Parameters,
        launch: &LaunchSpec,
    ) -> Result<Box<dyn Standing>> {
        let _ = (machine, parameters, launch);
        let why = "each of its trials starts all it needs";
        Err(Error::usage("cannot start what outlives trials", why, ""))
    }

    /// Combinations of parameters that cannot be meant, each in one sentence.
    fn conflicts(&self, parameters: &Parameters) -> Vec<String> {
        let _ = parameters;
        Vec::new()
    }

    /// Everything untimed: processes, descriptors, buffers. Called in the
    /// workload's own process, which has one thread and its levels applied unless
    /// [`Self::drives_others`]; every task it starts calls [`LaunchSpec::enter_task`] first. Dropping the
    /// load stops and reaps what it started.
    ///
    /// # Errors
    /// What could not be prepared.
    fn prepare(
        &self,
        machine: &Machine,
        parameters: &Parameters,
        launch: &LaunchSpec,
    ) -> Result<Box<dyn Load>>;
}

/// A prepared workload.
pub trait Load {
    /// The only timed thing.
    ///
    /// # Errors
    /// What failed; a failed invocation counts against the subject.
    fn run(&mut self) -> Result<Measurement>;

    /// Processes of it that only drive what it measures: neither they nor what descends from them
    /// have the levels of the trial.
    fn generators(&self) -> Vec<i32> {
        Vec::new()
    }

    /// A level that was another one when the run ended, in words; tasks that are
    /// still there are read by the executor itself.
    fn changed_level(&self) -> Option<String> {
        None
    }

    /// Doubts about what was measured that the workload itself can see; asked after a run.
    fn caveats(&self) -> Vec<Caveat> {
        Vec::new()
    }

    /// Whether the run was what it claims to be (its regime, its counts).
    ///
    /// # Errors
    /// What was outside, in one sentence with its figures.
    fn verify(&mut self, report: &RunReport) -> Result<(), String> {
        let _ = report;
        Ok(())
    }
}

/// What a run measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measurement {
    /// Raw data by source.
    pub samples: Vec<Sample>,
    /// Operations done (messages, requests, cycles), where they are counted.
    pub operations: Option<u64>,
}
