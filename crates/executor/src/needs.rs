//! What a plan needs of the machine that runs its trials, checked before anything is
//! changed.

use crate::undo;
use contract::{
    Configured, FIRST_KNOB, Factor, Knob, Missing, Problem, Requirement, TrialCatalogue,
};
use model::{Level, Plan, Subject};
use rustix::process::geteuid;
use std::collections::BTreeMap;
use sys::{Machine, ProcessStat, SchedExt};

/// The user.
const ROOT: u32 = 0;

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
                    Ok(configured) => workload_needs(configured.as_ref()),
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

/// Everything a workload needs of a machine: what it names, and a group for what its trials find
/// running already.
fn workload_needs(configured: &dyn Configured) -> Vec<Requirement> {
    let mut needs = configured.facts().requirements;
    if configured.service().is_some_and(|service| service.facts().stands.is_some()) {
        needs.push(Requirement::long_lived_group());
    }
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
        let mut running = processes.into_iter().filter_map(|pid| machine.process_stat(pid).ok());
        match running.find(|stat| is_manager(machine, stat, owner)) {
            None => Ok(()),
            Some(stat) => Err((
                format!("{owner} is running (process {})", stat.pid),
                format!("stop it for the campaign: systemctl stop {owner}"),
            )),
        }
    })
}

/// Whether a process has the name of this program, and is one of root's or of this process's user.
/// Anybody can give a process any name.
fn is_manager(machine: &Machine, stat: &ProcessStat, owner: &str) -> bool {
    // A process name is cut at 15 bytes (TASK_COMM_LEN).
    if stat.comm != owner[..owner.len().min(15)] {
        return false;
    }
    let user = machine.user_of_process(stat.pid);
    let counts = user.is_some_and(|user| user == ROOT || user == geteuid().as_raw());
    if !counts {
        tracing::info!(pid = stat.pid, ?user, owner, "another user's process has its name");
    }
    counts
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Why a machine of these processes lacks a knob that nobody else manages; the numbers are the
    /// real and the effective user.
    fn refusal(owner: &'static str, processes: &[(i32, &str, [u32; 2])]) -> Option<String> {
        let root = tempfile::tempdir().unwrap();
        let machine = Machine::fake(root.path(), root.path()).unwrap();
        for (pid, comm, [real, effective]) in processes {
            let directory = root.path().join(format!("proc/{pid}"));
            fs::create_dir_all(&directory).unwrap();
            let stat = format!(
                "{pid} ({comm}) S 1 77 77 0 -1 4194304 100 0 0 0 5 6 0 0 20 0 1 0 4242 1000 10 \
                 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0\n"
            );
            let users = format!("Uid:\t{real}\t{effective}\t{effective}\t{effective}");
            fs::write(directory.join("stat"), stat).unwrap();
            fs::write(directory.join("status"), format!("Name:\t{comm}\n{users}\n")).unwrap();
        }
        unowned("governor", owner).met(&machine).err().map(|missing| missing.why)
    }

    #[test]
    fn a_manager_of_a_knob_counts_where_root_or_this_user_started_it() {
        let own = geteuid().as_raw();
        let stranger = own + 1;
        let told = |pid: u32| Some(format!("tuned is running (process {pid})"));
        assert_eq!(refusal("tuned", &[(7, "tuned", [ROOT, ROOT])]), told(7));
        assert_eq!(refusal("tuned", &[(7, "tuned", [own, own])]), told(7));
        assert_eq!(refusal("tuned", &[(7, "tuned", [stranger, stranger])]), None);
        // A program of root's with the set-user-ID bit, by a link of that name.
        assert_eq!(refusal("tuned", &[(7, "tuned", [stranger, ROOT])]), None);
        assert_eq!(refusal("tuned", &[(7, "tuned-ppd", [ROOT, ROOT])]), None);
        let both = [(7, "tuned", [stranger, stranger]), (8, "tuned", [ROOT, ROOT])];
        assert_eq!(refusal("tuned", &both), told(8));
        let cut = refusal("power-profiles-daemon", &[(7, "power-profiles-", [ROOT, ROOT])]);
        assert_eq!(cut.unwrap(), "power-profiles-daemon is running (process 7)");
    }
}
