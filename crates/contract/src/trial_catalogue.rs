//! The part of the catalogue that trials are made of: all but venues, for a trial opens none.

use crate::{Configured, Factor, Knob, LaunchSpec, Parameter, Probe, Problem, Result, Workload};
use model::{Level, Parameters, Plan, WorkloadPlan};
use std::collections::BTreeMap;
use sys::Machine;

/// Everything that a trial can name: all of a catalogue but venues.
#[derive(Clone, Copy)]
pub struct TrialCatalogue {
    /// What can run.
    pub workloads: &'static [&'static dyn Workload],
    /// What can be set.
    pub factors: &'static [&'static dyn Factor],
    /// What can be observed.
    pub probes: &'static [&'static dyn Probe],
}

impl TrialCatalogue {
    /// A workload by id.
    pub fn workload(&self, id: &str) -> Option<&'static dyn Workload> {
        self.workloads.iter().copied().find(|workload| workload.describe().id == id)
    }

    /// A workload by id with these parameters, of which no more is known than that a plan or an order
    /// has them: each that is declared must be there, and of its kind.
    ///
    /// # Errors
    /// That there is none of that name, what it cannot read, or all that cannot be meant.
    pub fn configure(
        &self,
        id: &str,
        parameters: &Parameters,
    ) -> Result<Box<dyn Configured>, Vec<Problem>> {
        let workload = self.workload(id).ok_or_else(|| {
            vec![Problem::from(format!("there is no workload `{id}` in this binary"))]
        })?;
        Parameter::check(workload.parameters(), parameters)?;
        workload.configure(parameters)
    }

    /// Every workload of a plan with each of the parameters that subjects have. What cannot be
    /// configured here, as where a file that it names is gone, is left out: its trial reports it.
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

    /// The levels that change nothing, by factor: those that are in force where nobody sets one.
    /// A factor that has another one on another machine has none here.
    pub fn default_levels(&self) -> BTreeMap<String, Level> {
        let of_factor = |factor: &&'static dyn Factor| {
            let level = Level::canonical(factor.default_level()?);
            Some((factor.describe().id.to_owned(), level))
        };
        self.factors.iter().filter_map(of_factor).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Description, Load, WorkloadFacts};
    use model::{Metric, ParameterValue};

    crate::keys! {
        PARAMETERS;
        LOOPS: u64 = count("loops", 1, 100, "10", "Rounds"),
        PACE: u64 = duration("pace", 1, 1_000, "1us", "Between two of them"),
    }

    /// One that reads all that it declares.
    struct Reading;

    impl Workload for Reading {
        fn describe(&self) -> &'static Description {
            &Description { id: "reading", summary: "none", doc: "" }
        }

        fn parameters(&self) -> &'static [Parameter] {
            PARAMETERS
        }

        fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
            Ok(Box::new(Lasting(LOOPS.of(parameters) * PACE.of(parameters))))
        }

        fn brief(&self) -> &'static [(&'static str, &'static str)] {
            &[]
        }
    }

    /// One with the time that it takes.
    struct Lasting(u64);

    impl Configured for Lasting {
        fn metrics(&self) -> Vec<Metric> {
            Vec::new()
        }

        fn facts(&self) -> WorkloadFacts {
            WorkloadFacts::open_loop(self.0)
        }

        fn prepare(&self, _: &Machine, _: &LaunchSpec) -> Result<Box<dyn Load>> {
            unreachable!("nothing is run")
        }
    }

    #[test]
    fn parameters_that_a_workload_could_not_read_are_named_and_do_not_reach_it() {
        let catalogue = TrialCatalogue { workloads: &[&Reading], factors: &[], probes: &[] };
        let configure = |values: &[(&str, ParameterValue)]| {
            let values = values.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
            let configured = catalogue.configure("reading", &Parameters(values.collect()));
            configured.map(|one| one.facts().expected_ns).map_err(|why| Problem::joined(&why))
        };
        let (loops, pace) = (ParameterValue::Count(3), ParameterValue::Duration(5));
        assert_eq!(configure(&[("loops", loops.clone()), ("pace", pace)]), Ok(15));
        let lacking = configure(&[("loops", loops.clone())]).unwrap_err();
        assert!(lacking.contains("`pace` is absent"), "{lacking}");
        assert!(!lacking.contains("loops"), "{lacking}");
        let swapped = configure(&[("pace", loops)]).unwrap_err();
        assert!(swapped.contains("`loops` is absent"), "{swapped}");
        assert!(swapped.contains("`pace` is of another kind"), "{swapped}");
        let unknown = catalogue.configure("writing", &Parameters::default()).err().unwrap();
        assert!(Problem::joined(&unknown).contains("no workload `writing`"), "{unknown:?}");
    }
}
