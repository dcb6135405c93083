//! The workload's own process: takes on its levels, prepares, runs, reports.
//!
//! It has one thread until the workload starts its tasks, so workloads may fork.

use crate::child::{answer, die_with_parent, receive};
use contract::{LaunchSpec, Load, Measurement, Problem, TrialCatalogue};
use model::{Caveat, Parameters, RunReport, Sample};
use serde::{Deserialize, Serialize};
use sys::Machine;

/// The role's name on the command line.
pub const LOAD_ROLE: &str = "__load";

/// The first frame to the load process, a line of JSON. A second line, `null`, lets it run.
#[derive(Debug, Serialize, Deserialize)]
pub struct LoadOrder {
    /// Process that must be alive for it to go on.
    pub parent: i32,
    /// Id of the workload.
    pub workload: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// Its levels.
    pub launch: LaunchSpec,
    /// Text of PATH for programs.
    pub search_path: String,
}

/// Frames from the load process, a line of JSON each: the answer to its order, and to `null`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadAnswer {
    /// Everything is prepared and blocked.
    Ready {
        /// Processes that only drive what is measured.
        generators: Vec<i32>,
    },
    /// The run is over.
    Done {
        /// What was measured.
        samples: Vec<Sample>,
        /// The timed window.
        report: RunReport,
        /// Why the run was not what it claims to be.
        unfit: Option<String>,
        /// A level that the run itself changed.
        changed_level: Option<String>,
        /// What the workload doubts about it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        caveats: Vec<Caveat>,
    },
    /// Preparing or running failed.
    Failed {
        /// The error.
        reason: String,
    },
}

/// Serves the role until its input ends. Returns the process's exit code.
pub fn serve_load(catalogue: &TrialCatalogue, machine: &Machine) -> i32 {
    match serve(catalogue, machine) {
        Ok(()) => 0,
        Err(_) => 1,
    }
}

fn serve(catalogue: &TrialCatalogue, machine: &Machine) -> std::io::Result<()> {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let Some(order) = receive::<LoadOrder>(&mut input)? else { return Ok(()) };
    die_with_parent(order.parent)?;
    sys::reset_signal_dispositions();
    give_up_exemption(machine);
    let machine = machine.clone().with_search_path(order.search_path.clone());
    let mut load = match prepare(catalogue, &machine, &order) {
        Ok(load) => load,
        Err(reason) => {
            answer(&mut output, &LoadAnswer::Failed { reason })?;
            return Ok(());
        }
    };
    answer(&mut output, &LoadAnswer::Ready { generators: load.generators() })?;
    if receive::<()>(&mut input)?.is_none() {
        return Ok(());
    }
    let (outcome, report) = timed(load.as_mut());
    let frame = match outcome {
        Ok(measurement) => {
            let report = RunReport { operations: measurement.operations, ..report };
            let unfit = load.verify(&report).err();
            let changed_level = load.changed_level();
            let caveats = load.caveats();
            LoadAnswer::Done { samples: measurement.samples, report, unfit, changed_level, caveats }
        }
        Err(error) => LoadAnswer::Failed { reason: error.one_line() },
    };
    answer(&mut output, &frame)?;
    // The executor reads tasks and probes until it closes our input.
    receive::<()>(&mut input)?;
    Ok(())
}

/// A guest's agent is exempt from being killed for want of memory; its workload is not.
pub(crate) fn give_up_exemption(machine: &Machine) {
    const OOM_SCORE: &str = "/proc/self/oom_score_adj";
    if machine.read(OOM_SCORE).is_ok_and(|text| text.trim() == "-1000") {
        // One that stays exempt is what it was.
        let _ = machine.write(OOM_SCORE, "0");
    }
}

fn prepare(
    catalogue: &TrialCatalogue,
    machine: &Machine,
    order: &LoadOrder,
) -> Result<Box<dyn Load>, String> {
    let configured =
        catalogue.configure(&order.workload, &order.parameters).map_err(|problems| {
            format!("cannot prepare {}: {}", order.workload, Problem::joined(&problems))
        })?;
    // The levels of a service are those of its servers.
    if configured.service().is_none() {
        order
            .launch
            .apply()
            .map_err(|(attribute, error)| format!("cannot set {attribute}: {error}"))?;
    }
    configured.prepare(machine, &order.launch).map_err(|error| error.one_line())
}

fn timed(load: &mut dyn Load) -> (contract::Result<Measurement>, RunReport) {
    let before = sys::resource_usage();
    let start_ns = sys::monotonic_ns();
    let outcome = load.run();
    let wall_ns = sys::monotonic_ns() - start_ns;
    (
        outcome,
        RunReport {
            wall_ns,
            operations: None,
            usage: sys::usage_between(&before, &sys::resource_usage()),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Configured, Description, Parameter, Workload};

    /// One whose parameters never fit together.
    struct Contradiction;

    impl Workload for Contradiction {
        fn describe(&self) -> &'static Description {
            &Description { id: "contradiction", summary: "none", doc: "" }
        }

        fn parameters(&self) -> &'static [Parameter] {
            &[]
        }

        fn brief(&self) -> &'static [(&'static str, &'static str)] {
            &[]
        }

        fn configure(&self, _: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
            Err(["less than nothing was asked for", "more than all was asked for"]
                .map(Problem::from)
                .into())
        }
    }

    #[test]
    fn parameters_that_contradict_each_other_reach_no_workload() {
        let catalogue = TrialCatalogue { workloads: &[&Contradiction], factors: &[], probes: &[] };
        let directory = tempfile::tempdir().unwrap();
        let machine = Machine::fake(directory.path(), directory.path().join("run")).unwrap();
        let order = |workload: &str| LoadOrder {
            parent: 0,
            workload: workload.to_owned(),
            parameters: Parameters::default(),
            launch: LaunchSpec::default(),
            search_path: String::new(),
        };
        let refusal = |id| prepare(&catalogue, &machine, &order(id)).err().unwrap();
        assert_eq!(
            refusal("contradiction"),
            "cannot prepare contradiction: less than nothing was asked for; more than all was asked for"
        );
        assert_eq!(
            refusal("other"),
            "cannot prepare other: there is no workload `other` in this binary"
        );
    }
}
