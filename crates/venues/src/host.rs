//! The host: trials on the machine in front of the user.

use crate::HostSettings;
use crate::programs::Programs;
use crate::refusals;
use contract::document::{ExperimentProblems, Table};
use contract::{
    ConfiguredVenue, Description, Error, Event, Factor, Footprint, Interrupt, Knob, Missing,
    Neighbour, Refusal, Result, Venue, VenueContext, VenueEntry, VenueFacts, VenueSession,
};
use executor::{Executor, ExecutorSettings, LONGEST_STANDSTILL};
use model::{Fingerprint, Plan, Record, Trial};
use std::path::Path;

/// Trials on this machine.
pub struct Host {
    settings: HostSettings,
}

static DESCRIPTION: Description = Description {
    id: "host",
    summary: "this machine: knobs are journalled, set, read back and put back",
    doc: "Trials run on the machine in front of you. Every change is written to a journal \
          before it is made and undone after each trial; a guardian undoes it when this \
          program is killed. All blocks usually share one boot, so findings speak of this \
          boot (`SINGLE_BOOT`).",
};

/// The entry of the catalogue.
pub struct Entry;

impl VenueEntry for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn facts(&self) -> VenueFacts {
        VenueFacts {
            gist: "this machine",
            is_simulated: false,
            boots_guests: false,
            footprint: Footprint::Knobs,
            required: &[],
            example: None,
            prerequisites: "",
        }
    }

    fn accepts(&self, factor: &dyn Factor) -> Result<(), Refusal> {
        match factor.knob() {
            Knob::Simulated => Err(refusals::simulated(factor)),
            Knob::Boot(_) => {
                let id = factor.describe().id;
                Err(Refusal::new(
                    format!("`{id}` is decided when a machine boots, and this one runs already"),
                    "write venue = \"vm\": it boots a machine for each kernel",
                ))
            }
            Knob::System(_) | Knob::Held(_) | Knob::Launch(_) => Ok(()),
        }
    }

    fn configure(
        &self,
        _table: Option<&Table>,
        _problems: &mut ExperimentProblems,
    ) -> Box<dyn ConfiguredVenue> {
        Box::new(WithoutSettings)
    }

    fn brief(&self) -> Option<&'static str> {
        Some("")
    }

    fn venue(&self, context: &dyn VenueContext) -> Result<Box<dyn Venue>> {
        Ok(Box::new(Host::of(context)?))
    }
}

struct WithoutSettings;

impl ConfiguredVenue for WithoutSettings {
    fn refuses(&self, neighbour: Neighbour) -> Option<Refusal> {
        refusals::without_guests(neighbour)
    }

    fn write(&self, _plan: &mut Plan, _has_peer: bool) {}
}

impl Host {
    /// The machine that the command line means, with files of workloads beside its results.
    ///
    /// # Errors
    /// When it has no runtime directory of the user's own.
    pub fn of(context: &dyn VenueContext) -> Result<Self> {
        let machine = context.machine()?;
        let files = context.files_target(&machine);
        Ok(Self::new(HostSettings::of(context, machine.with_target(files))))
    }

    /// The venue of a machine.
    pub fn new(settings: HostSettings) -> Self {
        Self { settings }
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
        executor::missing(&self.settings.machine, &self.settings.catalogue, plan)
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
        _on_event: &mut dyn FnMut(Event),
    ) -> Result<Box<dyn VenueSession>> {
        let settings = ExecutorSettings {
            machine: self.settings.machine.clone(),
            catalogue: self.settings.catalogue,
            executable: self.settings.executable.clone(),
            machine_arguments: self.settings.machine_arguments.clone(),
            logs: workspace.join("logs"),
            scratch: workspace.join("scratch"),
            purpose: format!("campaign {} in {}", plan.name, workspace.display()),
            longest_standstill: LONGEST_STANDSTILL,
        };
        let programs = Programs::of(&self.settings, plan);
        let executor = Executor::open(settings, interrupt)?.able_to_undo(&plan.subjects)?;
        Ok(Box::new(HostSession { executor, programs }))
    }
}

struct HostSession {
    executor: Executor,
    programs: Programs,
}

impl VenueSession for HostSession {
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
        let purpose = "schedlab restore";
        let machine = &self.settings.machine;
        let report = executor::restore_leftovers(machine, self.permitted(), purpose)?;
        if report.failed.is_empty() { Ok(report) } else { Err(incomplete(report)) }
    }

    /// Whether an earlier run left a journal that is not empty.
    pub fn has_journal(&self) -> bool {
        // One that cannot be read is a reason to look closer, not to pass over it.
        executor::Journal::read(&self.settings.machine).map_or(true, |text| !text.is_empty())
    }

    /// The campaign that runs under this runtime directory now, which puts its changes back
    /// itself.
    pub fn running(&self) -> Option<String> {
        executor::Lock::holder(&self.settings.machine).map(in_words)
    }

    /// A campaign that runs under another runtime directory and refuses a run here; it says
    /// nothing of what is to be put back under this one.
    pub fn running_beside(&self) -> Option<String> {
        executor::Lock::holder_beside(&self.settings.machine).map(in_words)
    }

    /// What is still to be put back, in words.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn pending(&self) -> Result<Vec<String>> {
        executor::pending(&self.settings.machine, &self.permitted())
    }

    /// Why it may not be known of every process whether a trial left it; asked for after
    /// [`Self::pending`].
    pub fn unseen_environments(&self) -> Option<String> {
        self.settings.machine.unseen_environments()
    }

    fn permitted(&self) -> executor::PermittedChanges {
        executor::PermittedChanges::of(&self.settings.catalogue)
    }
}

fn in_words(holder: executor::LockHolder) -> String {
    format!("process {}: {}", holder.pid, holder.purpose)
}

fn incomplete(report: executor::RestoreReport) -> Error {
    match report.into_result() {
        Err(error) => error,
        Ok(()) => Error::environment("cannot restore", "for an unknown reason"),
    }
}
