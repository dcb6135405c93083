//! One trial: check, set, read back, prepare, run, stop, restore, read back.

mod invocation;
mod progress;
mod stop;
mod trial_run;

use crate::background::Hogs;
use crate::context::{ExecutorContext, make_scratch};
use crate::journal_entry::JournalEntry;
use crate::knobs::Knobs;
use crate::long_lived_service::LongLivedSlot;
use crate::standstill::Standstill;
use crate::trial_resources::TrialResources;
use contract::{Error, Event, NOT_PUT_BACK, Phase, Result};
use model::{Outcome, Record, StorageKind, Trial};
use progress::Progress;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stop::{LEVEL_NOT_SET, SCHEDULER_CHANGED, Stop, check_levels};
use sys::SchedExt;
use trial_run::{LONGEST_WAIT, TrialRun, stem};

/// Runs a trial and puts the machine back, whatever happened in between.
///
/// # Errors
/// When the machine or the user ends it; a workload that fails is a record.
pub(crate) fn run(
    context: &mut ExecutorContext,
    long_lived: &mut LongLivedSlot,
    trial: &Trial,
    on_event: &mut dyn FnMut(Event),
) -> Result<Record> {
    let started_unix_ns = sys::unix_ns();
    let started_ns = sys::monotonic_ns();
    let mut run = TrialRun {
        context,
        long_lived,
        trial,
        on_event,
        knobs: Knobs::default(),
        resources: TrialResources::default(),
        scheduler: SchedExt::default(),
        standstill: Standstill::default(),
        progress: Progress::default(),
    };
    let ended = run.attempt();
    tracing::debug!(subject = trial.subject.id, ?ended, "an attempt is over");
    run.put_back(ended.is_ok())?;
    let TrialRun { context, mut progress, .. } = run;
    let outcome = match (ended, context.not_taken_back()) {
        (Ok(()), _) => Outcome::Completed,
        (Err(Stop::Outcome(outcome)), _) => outcome,
        (Err(Stop::Error(_)), Some(error)) => return Err(error.clone()),
        (Err(Stop::Error(error)), None) => return Err(error),
    };
    if let Some(error) = context.left() {
        progress.facts.insert(NOT_PUT_BACK.to_owned(), error.one_line());
    }
    let mut record = Record::of(trial, outcome);
    record.started_unix_ns = started_unix_ns;
    record.duration_ns = sys::monotonic_ns() - started_ns;
    record.boot_id = context.machine().boot_id()?;
    progress.note_in(&mut record);
    Ok(record)
}

impl TrialRun<'_> {
    fn attempt(&mut self) -> Result<(), Stop> {
        if self.trial.rest_ns > 0 {
            self.tell(Phase::Resting);
            self.pause(Duration::from_nanos(self.trial.rest_ns))?;
        }
        self.tell(Phase::Setting);
        self.scheduler = SchedExt::read(self.context.machine());
        if let Some(ops) = &self.scheduler.ops {
            let detail = format!("somebody else loaded the sched_ext scheduler {ops}");
            return Err(Stop::invalid(SCHEDULER_CHANGED, detail));
        }
        self.knobs = Knobs::of(self.context.catalogue(), &self.trial.subject)?;
        // Before any level: it is started and warmed up alike for all subjects.
        self.long_lived.stand(self.context, self.trial, self.on_event)?.map_err(Stop::failed)?;
        self.make_target()?;
        self.context.check_undo(&self.context.machine().clone(), self.knobs.system())?;
        let (machine, journal) = self.context.machine_and_journal();
        self.knobs.apply(machine, journal)?;
        // Setting one knob may have moved another: all are read once more.
        let levels = self.knobs.read_back(self.context.machine(), &[])?;
        check_levels(self.trial, &levels, LEVEL_NOT_SET)?;
        self.acquire()?;
        self.progress.facts = self.resources.facts();
        self.tell(Phase::Settling);
        self.pause(Duration::from_nanos(self.trial.settle_ns))?;
        self.start_background()?;
        for invocation in 0..self.trial.workload.invocations {
            self.invoke(invocation)?;
        }
        Ok(())
    }

    /// Ends what the trial holds, restores the machine, and gives back what its knobs lay in.
    fn put_back(&mut self, is_completed: bool) -> Result<()> {
        self.context.leave_target();
        self.tell(Phase::Restoring);
        let taken_back = self.resources.end(self.context.journal());
        // A service whose trial failed may have been damaged by it.
        if !is_completed {
            self.long_lived.end();
        }
        let report = self.context.restore(self.long_lived.entries())?;
        let taken_back = taken_back.and(self.resources.give_back(self.context.journal()));
        // The record comes first; the next trial, or closing the session, tells what is left.
        self.context.note_left(&report, taken_back);
        Ok(())
    }

    /// Brings into force what has to be held, a scheduler last of all knobs of the machine.
    fn acquire(&mut self) -> Result<(), Stop> {
        let log = self.held_log();
        let (machine, mut supervisor) = self.context.supervised(log);
        let resources = &mut self.resources;
        self.knobs.acquire(machine, &mut supervisor, &mut |level| resources.add_held(level))?;
        self.scheduler = SchedExt::read(self.context.machine());
        Ok(())
    }

    /// Makes the files or the device that the trial works on, which knobs of queues lie in.
    fn make_target(&mut self) -> Result<(), Stop> {
        let log = self.held_log();
        let (machine, mut supervisor) = self.context.supervised(log);
        let resources = &mut self.resources;
        self.knobs.make(machine, &mut supervisor, &mut |level| resources.add_made(level))?;
        let machine = self.context.machine();
        let files = self.resources.target().or_else(|| machine.target().cloned());
        let device = files.and_then(|files| files.device);
        let is_rotating = device.is_some_and(|device| sys::is_rotating(machine, &device));
        self.resources.note_rotating(is_rotating);
        let Some(target) = self.resources.target() else { return Ok(()) };
        if target.kind == StorageKind::Directory {
            let path = PathBuf::from(&target.path);
            self.context.journal().append(&JournalEntry::Directory { path: path.clone() })?;
            make_scratch(self.context.machine(), &path)?;
        }
        self.context.enter_target(target);
        Ok(())
    }

    /// Where processes that hold something for the trial write.
    fn held_log(&self) -> PathBuf {
        self.context.log(&format!("{}-held.log", stem(self.trial)))
    }

    fn start_background(&mut self) -> Result<(), Stop> {
        let Some(background) = &self.trial.workload.background else { return Ok(()) };
        // As inherited, before any level: the same load for every subject.
        let cpus = sys::affinity(0)
            .map_err(|error| Error::environment("cannot read the CPUs that may be used", error))?;
        self.resources.set_hogs(Hogs::start(self.context, background, &cpus)?);
        Ok(())
    }

    /// Waits, and gives up on a signal.
    fn pause(&self, length: Duration) -> Result<(), Stop> {
        let deadline = Instant::now() + length;
        while let Some(left) = deadline.checked_duration_since(Instant::now()) {
            self.context.check_interrupt()?;
            std::thread::sleep(left.min(LONGEST_WAIT));
        }
        Ok(self.context.check_interrupt()?)
    }
}
