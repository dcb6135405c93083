//! What a plan needs of the machine that runs its trials, checked before anything is
//! changed.

use crate::undo;
use contract::{FIRST_KNOB, Factor, Knob, Missing, Problem, Requirement, TrialCatalogue};
use model::{Level, Plan, Subject};
use std::collections::BTreeMap;
use sys::{Machine, SchedExt};

/// Everything the plan needs that this machine lacks, each thing once. Changes nothing. Where
/// the machine's target is known, that is where trials without one of their own have files.
pub fn missing(machine: &Machine, catalogue: &TrialCatalogue, plan: &Plan) -> Vec<Missing> {
    let mut missing: BTreeMap<String, Missing> = BTreeMap::new();
    let mut note = |machine: &Machine, requirements: Vec<Requirement>| {
        let mut is_met = true;
        for requirement in requirements {
            if let Err(lack) = requirement.met(machine) {
                is_met = false;
                missing.entry(lack.what.clone()).or_insert(lack);
            }
        }
        is_met
    };
    note(machine, vec![no_sched_ext()]);
    for subject in &plan.subjects {
        let factors: Vec<_> = subject
            .levels
            .iter()
            .filter_map(|(id, level)| Some((catalogue.factor(id)?, level)))
            .collect();
        // What makes the target finds the machine as it is without one; what would lie in a
        // target that cannot be made lacks nothing of its own.
        let makes = |factor: &dyn Factor| {
            matches!(factor.knob(), Knob::Held(_)) && factor.order() < FIRST_KNOB
        };
        let makers = factors.iter().filter(|(factor, _)| makes(*factor));
        if !makers.fold(true, |is_met, (factor, level)| {
            note(machine, factor_needs(*factor, level)) && is_met
        }) {
            continue;
        }
        let machine = with_target(machine, catalogue, subject);
        for (factor, level) in factors.iter().filter(|(factor, _)| !makes(*factor)) {
            note(&machine, factor_needs(*factor, level));
        }
        for workload in &plan.workloads {
            if catalogue.workload(&workload.uses).is_some() {
                let parameters = workload.parameters_for(subject);
                let needs = match catalogue.configure(&workload.uses, parameters) {
                    Ok(configured) => configured.facts().requirements,
                    Err(problems) => vec![unconfigured(&workload.label, &problems)],
                };
                note(&machine, needs);
            }
        }
    }
    for probe in plan.probes.iter().filter_map(|id| catalogue.probe(id)) {
        note(machine, probe.requires());
    }
    missing.into_values().collect()
}

/// The machine as far as it is known where a subject's files and devices will lie.
pub fn with_target(machine: &Machine, catalogue: &TrialCatalogue, subject: &Subject) -> Machine {
    let target = subject.levels.iter().find_map(|(id, level)| {
        catalogue.factor(id).and_then(|factor| factor.target(machine, level))
    });
    target.map_or_else(|| machine.clone(), |target| machine.clone().with_target(target))
}

/// Everything a level needs of a machine: what the factor names, that nobody else manages it, and
/// that the change can be undone, as far as that is known without writing.
pub fn factor_needs(factor: &'static dyn Factor, level: &Level) -> Vec<Requirement> {
    let id = factor.describe().id;
    let mut needs = factor.requires(level);
    if matches!(factor.knob(), Knob::Simulated) {
        needs.push(simulator_only(id));
    }
    needs.extend(factor.owners().iter().map(|owner| unowned(id, owner)));
    needs.extend(undo::requirement(factor, level));
    needs
}

/// What the plan's workload says can be meant here.
fn unconfigured(label: &str, problems: &[Problem]) -> Requirement {
    let why = Problem::joined(problems);
    Requirement::check(format!("the workload {label} as it was planned"), move |_| {
        Err((why.clone(), "correct it, and plan again".to_owned()))
    })
}

fn simulator_only(factor: &str) -> Requirement {
    Requirement::check(format!("the simulator for the factor {factor}"), |_| {
        Err(("it means nothing on a real machine".to_owned(), "use --venue sim".to_owned()))
    })
}

/// Nobody else manages the knob.
fn unowned(factor: &str, owner: &'static str) -> Requirement {
    Requirement::check(format!("{factor} not managed by {owner}"), move |machine| {
        let processes =
            machine.process_ids().map_err(|error| (error.to_string(), String::new()))?;
        let running = processes.into_iter().filter_map(|pid| machine.process_stat(pid).ok());
        // A process name is cut at 15 bytes (TASK_COMM_LEN).
        let name = &owner[..owner.len().min(15)];
        match running.into_iter().find(|stat| stat.comm == name) {
            None => Ok(()),
            Some(stat) => Err((
                format!("{owner} is running (process {})", stat.pid),
                format!("stop it for the campaign: systemctl stop {owner}"),
            )),
        }
    })
}

/// The kernel's own scheduler is what a host campaign speaks of: fair-class knobs
/// and attributes mean nothing while a sched_ext scheduler is in charge.
pub fn no_sched_ext() -> Requirement {
    Requirement::check("the kernel's own scheduler in charge", |machine| {
        match SchedExt::read(machine).ops {
            None => Ok(()),
            Some(ops) => Err((
                format!("the sched_ext scheduler {ops} is loaded"),
                "end it for the campaign (systemctl stop scx scx_loader, or the program itself)"
                    .to_owned(),
            )),
        }
    })
}
