//! The one catalogue, assembled by the binary and handed down.

use crate::{Configured, Factor, Knob, LaunchSpec, Probe, Problem, Workload};
use model::{Parameters, Plan, WorkloadPlan};
use sys::Machine;

/// Everything that can be named in an experiment.
#[derive(Clone, Copy)]
pub struct Catalogue {
    /// What can run.
    pub workloads: &'static [&'static dyn Workload],
    /// What can be set.
    pub factors: &'static [&'static dyn Factor],
    /// What can be observed.
    pub probes: &'static [&'static dyn Probe],
}

impl Catalogue {
    /// A workload by id.
    pub fn workload(&self, id: &str) -> Option<&'static dyn Workload> {
        self.workloads.iter().copied().find(|workload| workload.describe().id == id)
    }

    /// A workload by id with these parameters.
    ///
    /// # Errors
    /// That there is none of that name, or all that cannot be meant.
    pub fn configure(
        &self,
        id: &str,
        parameters: &Parameters,
    ) -> Result<Box<dyn Configured>, Vec<Problem>> {
        let workload = self.workload(id).ok_or_else(|| {
            vec![Problem::from(format!("there is no workload `{id}` in this binary"))]
        })?;
        workload.configure(parameters)
    }

    /// Every workload of a plan with each of the parameters that subjects have. What cannot be
    /// configured here, as where a file that it names is gone, is left out: who is to run it tells.
    pub fn configured<'p>(
        &self,
        plan: &'p Plan,
    ) -> impl Iterator<Item = (&'p WorkloadPlan, &'p Parameters, Box<dyn Configured>)> {
        let each = plan
            .workloads
            .iter()
            .flat_map(|workload| workload.all_parameters().map(move |one| (workload, one)));
        each.filter_map(|(workload, parameters)| {
            Some((workload, parameters, self.configure(&workload.uses, parameters).ok()?))
        })
    }

    /// A factor by id.
    pub fn factor(&self, id: &str) -> Option<&'static dyn Factor> {
        self.factors.iter().copied().find(|factor| factor.describe().id == id)
    }

    /// A probe by id.
    pub fn probe(&self, id: &str) -> Option<&'static dyn Probe> {
        self.probes.iter().copied().find(|probe| probe.describe().id == id)
    }

    /// Controllers of the groups that levels and workloads of a plan are limited with: `cpu`,
    /// `io`. Levels that this machine cannot express are passed over.
    pub fn controllers(&self, machine: &Machine, plan: &Plan) -> Vec<&'static str> {
        let mut launch = LaunchSpec::default();
        for (id, level) in plan.subjects.iter().flat_map(|subject| &subject.levels) {
            if let Some(Knob::Launch(knob)) = self.factor(id).map(|factor| factor.knob()) {
                let _ = knob.contribute(machine, level, &mut launch);
            }
        }
        let has_groups =
            self.configured(plan).any(|(_, _, one)| !one.facts().io_weights.is_empty());
        let needed =
            [("cpu", launch.needs_cpu_cgroup()), ("io", launch.needs_io_cgroup() || has_groups)];
        needed.into_iter().filter(|(_, is_needed)| *is_needed).map(|(name, _)| name).collect()
    }
}

/// Declares the modules of a room and lists their entries:
/// `catalog!(dyn Factor: base_slice, migration_cost);` makes each file a module
/// and `ENTRIES` the list of their `Entry`s.
#[macro_export]
macro_rules! catalog {
    (dyn $trait:path: $($module:ident),* $(,)?) => {
        $(mod $module;)*

        /// Every entry of this room.
        pub static ENTRIES: &[&dyn $trait] = &[$(&$module::Entry),*];
    };
}
