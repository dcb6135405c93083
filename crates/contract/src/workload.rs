//! What is run.

use crate::{
    Description, LaunchSpec, Parameter, Problem, RateSearch, Result, Service, WorkloadFacts,
};
use model::{Caveat, Metric, Parameters, RunReport, Sample};
use sys::Machine;

/// A native workload, or an adapter for a program. Its load lives in a process
/// of its own that the executor starts, limits and reaps.
pub trait Workload: Sync {
    /// Name and explanation.
    fn describe(&self) -> &'static Description;

    /// Declared parameters, made from the keys that [`Self::configure`] reads them by
    /// ([`crate::keys!`]).
    fn parameters(&self) -> &'static [Parameter];

    /// Reads the parameters, once, of which `plan` has checked each by itself. Those of a plan that
    /// was stored, and of an order, come through [`crate::TrialCatalogue::configure`].
    ///
    /// # Errors
    /// All that cannot be meant.
    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>>;

    /// Values by name, in place of the defaults, with which an invocation is as short as it can be:
    /// tests run it so. The first says how much it does; of a load of our own it is a count, a
    /// duration or a size, and tests also run it with more. Required ones that depend on a user are
    /// not among them.
    fn brief(&self) -> &'static [(&'static str, &'static str)];

    /// How it searches the highest rate that it sustains; none of one that sends no requests at
    /// rates of ours.
    fn rate_search(&self) -> Option<&'static RateSearch> {
        None
    }

    /// What it reports with its defaults, for the page of the catalogue. One that cannot be
    /// configured without what a user names leaves out what that adds.
    fn usual_metrics(&self) -> Vec<Metric> {
        let configured = Parameter::values(self.parameters(), &[])
            .and_then(|defaults| self.configure(&defaults));
        configured.map(|configured| configured.metrics()).unwrap_or_default()
    }
}

/// A workload with its parameters.
pub trait Configured {
    /// What it reports; the first is the default primary metric.
    fn metrics(&self) -> Vec<Metric>;

    /// What is known of it before it runs.
    fn facts(&self) -> WorkloadFacts;

    /// What it has beside its load where it starts servers; none where its own process is what is
    /// measured.
    fn service(&self) -> Option<&dyn Service> {
        None
    }

    /// Everything untimed: processes, descriptors, buffers. Called in the
    /// workload's own process, which has one thread and its levels applied unless it is a
    /// [`Service`]; every task it starts calls [`LaunchSpec::enter_task`] first. Dropping the
    /// load stops and reaps what it started.
    ///
    /// # Errors
    /// What could not be prepared.
    fn prepare(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>>;
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
