//! The host: trials on the machine in front of the user.

use crate::programs::Programs;
use contract::{
    Catalogue, Description, Error, Event, Factor, Interrupt, Knob, Missing, Requirement, Result,
    Session, Venue,
};
use executor::{Executor, Settings};
use model::{Fingerprint, Level, Plan, Record, Trial};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use sys::{Machine, SchedExt};

/// What the host venue is told about its surroundings.
#[derive(Clone)]
pub struct HostSettings {
    /// The machine.
    pub machine: Machine,
    /// Everything that can be named.
    pub catalogue: Catalogue,
    /// This binary.
    pub executable: PathBuf,
    /// How the guardian is told which machine.
    pub machine_arguments: Vec<String>,
}

/// Trials on this machine.
pub struct Host {
    settings: HostSettings,
}

pub(crate) static DESCRIPTION: Description = Description {
    id: "host",
    summary: "this machine: knobs are journalled, set, read back and put back",
    doc: "Trials run on the machine in front of you. Every change is written to a journal \
          before it is made and undone after each trial; a guardian undoes it when this \
          program is killed. All blocks usually share one boot, so findings speak of this \
          boot (`SINGLE_BOOT`).",
};

impl Host {
    /// The venue of a machine.
    pub fn new(settings: HostSettings) -> Self {
        Self { settings }
    }

    fn requirements(&self, plan: &Plan) -> Vec<Requirement> {
        let catalogue = &self.settings.catalogue;
        let mut requirements = Vec::new();
        requirements.push(no_sched_ext());
        for (id, level) in plan.subjects.iter().flat_map(|subject| &subject.levels) {
            if let Some(factor) = catalogue.factor(id) {
                requirements.extend(factor_needs(factor, level));
            }
        }
        for workload in &plan.workloads {
            if let Some(entry) = catalogue.workload(&workload.uses) {
                requirements.extend(entry.requires(&workload.parameters));
            }
        }
        for probe in plan.probes.iter().filter_map(|id| catalogue.probe(id)) {
            requirements.extend(probe.requires());
        }
        requirements
    }
}

impl Venue for Host {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn recover(&self) -> Result<Vec<String>> {
        if !self.has_journal() {
            return Ok(Vec::new());
        }
        let report = self.restore()?;
        let mut lines = report.restored.clone();
        lines.extend(report.ended.iter().map(|pid| format!("process {pid} ended")));
        report.into_result()?;
        Ok(lines)
    }

    fn missing(&self, plan: &Plan) -> Vec<Missing> {
        let mut missing: BTreeMap<String, Missing> = BTreeMap::new();
        for requirement in self.requirements(plan) {
            if let Err(lack) = requirement.met(&self.settings.machine) {
                missing.entry(lack.what.clone()).or_insert(lack);
            }
        }
        missing.into_values().collect()
    }

    fn identity(&self, plan: &Plan) -> Result<Fingerprint> {
        let release = self.settings.machine.kernel_release()?;
        let mut identity = Programs::of(&self.settings, plan).digests()?;
        identity.0.insert("kernel.release".to_owned(), release);
        Ok(identity)
    }

    fn open(
        &self,
        plan: &Plan,
        workspace: &Path,
        interrupt: &Interrupt,
    ) -> Result<Box<dyn Session>> {
        let settings = Settings {
            machine: self.settings.machine.clone(),
            catalogue: self.settings.catalogue,
            executable: self.settings.executable.clone(),
            machine_arguments: self.settings.machine_arguments.clone(),
            logs: workspace.join("logs"),
            scratch: workspace.join("scratch"),
            purpose: format!("campaign {} in {}", plan.name, workspace.display()),
        };
        let programs = Programs::of(&self.settings, plan);
        Ok(Box::new(HostSession { executor: Executor::open(settings, interrupt)?, programs }))
    }
}

/// Everything a level needs of a machine: what the factor names, and that nobody
/// else manages it.
pub fn factor_needs(factor: &dyn Factor, level: &Level) -> Vec<Requirement> {
    let id = factor.describe().id;
    let mut needs = factor.requires(level);
    match factor.knob() {
        Knob::Simulated => {
            needs.push(another_venue(id, "it means nothing on a real machine", "sim"))
        }
        Knob::Boot(_) => needs.push(another_venue(id, "this machine is running already", "vm")),
        Knob::System(_) | Knob::Launch(_) => {}
    }
    needs.extend(factor.owners().iter().map(|owner| unowned(id, owner)));
    needs
}

fn another_venue(factor: &str, why: &'static str, venue: &'static str) -> Requirement {
    Requirement::check(format!("the venue {venue} for the factor {factor}"), move |_| {
        Err((why.to_owned(), format!("use --venue {venue}")))
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

struct HostSession {
    executor: Executor,
    programs: Programs,
}

impl Session for HostSession {
    fn fingerprint(&mut self) -> Result<Fingerprint> {
        let mut fingerprint = self.executor.fingerprint()?;
        fingerprint.0.extend(self.programs.digests()?.0);
        Ok(fingerprint)
    }

    fn run(&mut self, trial: &Trial, on_event: &mut dyn FnMut(Event)) -> Result<Record> {
        self.executor.run(trial, on_event)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.executor.close()
    }
}

impl Host {
    /// Puts back what an interrupted run left; the report says what was done.
    ///
    /// # Errors
    /// When another campaign runs here, or something could not be put back.
    pub fn restore(&self) -> Result<executor::RestoreReport> {
        let lock = executor::Lock::acquire(&self.settings.machine, "schedlab restore")?;
        let mut journal = executor::Journal::open(&self.settings.machine)?;
        let report = executor::restore(&self.settings.machine, &mut journal, false, &[])?;
        executor::acknowledge(&mut journal, &report, &[])?;
        drop(lock);
        if report.failed.is_empty() { Ok(report) } else { Err(incomplete(report)) }
    }

    /// Whether an earlier run left a journal that is not empty.
    pub fn has_journal(&self) -> bool {
        // One that cannot be read is a reason to look closer, not to pass over it.
        executor::Journal::read(&self.settings.machine).map_or(true, |entries| !entries.is_empty())
    }

    /// The campaign that runs here now, which puts its changes back itself.
    pub fn running(&self) -> Option<String> {
        let holder = executor::Lock::holder(&self.settings.machine)?;
        Some(format!("process {}: {}", holder.pid, holder.purpose))
    }

    /// What is still to be put back, in words.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn pending(&self) -> Result<Vec<String>> {
        executor::pending(&self.settings.machine)
    }
}

fn incomplete(report: executor::RestoreReport) -> Error {
    match report.into_result() {
        Err(error) => error,
        Ok(()) => Error::environment("cannot restore", "for an unknown reason"),
    }
}
