//! One trial: check, set, read back, prepare, run, stop, restore, read back.

use crate::background::Hogs;
use crate::change::Refusal;
use crate::context::{ExecutorContext, make_scratch};
use crate::journal_entry::JournalEntry;
use crate::knobs::Knobs;
use crate::left_processes::LeftProcesses;
use crate::long_lived_service::LongLivedSlot;
use crate::standstill::Standstill;
use crate::trial_resources::TrialResources;
use contract::{Cost, Error, Event, Lost, NOT_PUT_BACK, Phase, Result, TrialCatalogue};
use model::{
    Caveat, Invocation, Level, LevelReading, Outcome, Record, StorageKind, Trial, TrialFact,
};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use sys::{Machine, SchedExt};

mod invocation;

/// Rule broken by a level that is not in force when the run begins.
const LEVEL_NOT_SET: &str = "LEVEL_NOT_SET";
/// Rule broken by a level that changed while the workload ran.
const LEVEL_CHANGED: &str = "LEVEL_CHANGED";
/// Rule broken by another scheduler that took charge, or left.
const SCHEDULER_CHANGED: &str = "SCHEDULER_CHANGED";
/// How long one wait lasts before signals are looked at.
const LONGEST_WAIT: Duration = Duration::from_millis(250);

/// What a trial has seen so far.
#[derive(Default)]
struct Progress {
    invocations: Vec<Invocation>,
    levels: BTreeMap<String, LevelReading>,
    caveats: Vec<Caveat>,
    /// What its invocations left running.
    left: LeftProcesses,
    /// What held levels turned out to be.
    facts: BTreeMap<String, String>,
    /// The probe that was attached and acts on every event.
    observer: Option<&'static str>,
}

impl Progress {
    /// Puts what was seen into the record. A caveat that says what decides something, whatever of the
    /// trial it comes from, brings that fact with it.
    fn note_in(self, record: &mut Record) {
        let left = self.left.caveat();
        record.invocations = self.invocations.into();
        record.levels = self.levels;
        record.fingerprint_difference = self.facts;
        if let Some(probe) = self.observer {
            record.note_fact(TrialFact::Observed, format!("the probe {probe}"));
        }
        for caveat in self.caveats.into_iter().chain(left) {
            record.note_caveat(caveat);
        }
    }
}

/// Why a trial ends before its last invocation.
#[derive(Debug)]
enum Stop {
    /// It has an outcome.
    Outcome(Outcome),
    /// The machine or the user ends it.
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotInForce(detail) => Stop::invalid(LEVEL_NOT_SET, detail),
            Refusal::Lost(error) => Stop::Error(error),
        }
    }
}

impl From<Lost> for Stop {
    fn from(lost: Lost) -> Self {
        Stop::invalid(lost.rule, lost.detail)
    }
}

impl Stop {
    fn invalid(rule: &str, detail: String) -> Self {
        Stop::Outcome(Outcome::Invalid { rule: rule.to_owned(), detail })
    }

    fn failed(reason: String) -> Self {
        Stop::Outcome(Outcome::Failed { reason })
    }
}

/// A trial that runs: what it works with, what it holds and what it has seen.
struct TrialRun<'e> {
    context: &'e mut ExecutorContext,
    long_lived: &'e mut LongLivedSlot,
    trial: &'e Trial,
    on_event: &'e mut dyn FnMut(Event),
    knobs: Knobs,
    resources: TrialResources,
    /// In charge since the trial began.
    scheduler: SchedExt,
    /// What stands still while the invocation runs.
    standstill: Standstill,
    progress: Progress,
}

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

    fn tell(&mut self, phase: Phase) {
        (self.on_event)(Event::TrialPhase(phase));
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

/// The first of these probes that acts on every event.
fn observer(catalogue: &TrialCatalogue, probes: &[String]) -> Option<&'static str> {
    let mut each = probes.iter().filter_map(|id| catalogue.probe(id));
    each.find(|probe| probe.cost() == Cost::PerEvent).map(|probe| probe.describe().id)
}

/// The beginning of the names of a trial's files.
fn stem(trial: &Trial) -> String {
    format!("{:03}-{}-{}", trial.block + 1, trial.subject.id, trial.workload.label)
}

fn check_levels(trial: &Trial, levels: &BTreeMap<String, Level>, rule: &str) -> Result<(), Stop> {
    for (factor, actual) in levels {
        let wanted = trial.subject.levels.get(factor);
        if wanted != Some(actual) {
            let wanted = wanted.map_or_else(String::new, Level::to_string);
            return Err(Stop::invalid(
                rule,
                format!("{factor} should be {wanted} and is {actual}"),
            ));
        }
    }
    Ok(())
}

/// The scheduler that the trial began with is still in charge.
fn check_scheduler(
    machine: &Machine,
    began: &SchedExt,
    resources: &mut TrialResources,
) -> Result<(), Stop> {
    let now = SchedExt::read(machine);
    if now == *began {
        return Ok(());
    }
    // The holder process knows why the scheduler left, also where it left since the last check.
    resources.check()?;
    let detail = format!("the trial began with {began}, now there is {now}");
    Err(Stop::invalid(SCHEDULER_CHANGED, detail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial_resources::HeldLevel;
    use contract::{AttachedProbe, Description, Held, Probe, ProbeTarget, Requirement};
    use model::{CaveatCode, Circumstances, Metric};

    /// A probe of this cost that nobody attaches.
    struct Costing(&'static Description, Cost);

    impl Probe for Costing {
        fn describe(&self) -> &'static Description {
            self.0
        }

        fn metrics(&self) -> Vec<Metric> {
            Vec::new()
        }

        fn cost(&self) -> Cost {
            self.1
        }

        fn requires(&self) -> Vec<Requirement> {
            Vec::new()
        }

        fn attach(&self, _: &Machine, _: &ProbeTarget) -> Result<Box<dyn AttachedProbe>> {
            Err(Error::usage("cannot attach a probe", "it is one of a test", ""))
        }
    }

    static PROBES: &[&dyn Probe] = &[
        &Costing(&Description { id: "counter", summary: "", doc: "" }, Cost::BeforeAfter),
        &Costing(&Description { id: "tracer", summary: "", doc: "" }, Cost::PerEvent),
    ];

    #[test]
    fn a_trial_with_a_probe_that_acts_on_every_event_was_observed_and_no_other() {
        let catalogue = TrialCatalogue { workloads: &[], factors: &[], probes: PROBES };
        let of = |probes: &[&str]| {
            let probes: Vec<String> = probes.iter().map(|id| (*id).to_owned()).collect();
            let observer = observer(&catalogue, &probes);
            let mut record = Record::from(Circumstances::of("a", "w"));
            Progress { observer, ..Progress::default() }.note_in(&mut record);
            record
        };
        let counted = of(&["counter"]);
        assert!(counted.caveats.is_empty());
        assert!(!counted.facts.contain(&TrialFact::Observed));
        let observed = of(&["counter", "tracer"]);
        assert_eq!(observed.caveats, [Caveat::new(CaveatCode::ObserverCost, "the probe tracer")]);
        assert!(observed.facts.contain(&TrialFact::Observed));
    }

    #[test]
    fn a_caveat_of_a_trial_decides_although_the_record_gets_another_fact_later() {
        let caveat = Caveat::new(CaveatCode::ObserverCost, "a probe acts on every event");
        let progress = Progress { caveats: vec![caveat.clone()], ..Progress::default() };
        let mut record = Record::from(Circumstances::of("a", "w"));
        progress.note_in(&mut record);
        assert_eq!(record.caveats, [caveat]);
        assert!(record.facts.contain(&TrialFact::Observed));
        // As a campaign notes that it goes on; where facts are written, no caveat is asked for one.
        record.note_fact(TrialFact::Resumed, "after a pause");
        let stored = serde_json::to_string(&record).unwrap();
        let read: Record = serde_json::from_str(&stored).unwrap();
        assert!(read.facts.contain(&TrialFact::Observed), "{stored}");
    }

    /// A scheduler that left, and knows why.
    struct Ejected;

    impl Held for Ejected {
        fn check(&mut self) -> Result<(), Lost> {
            Err(Lost { rule: "EJECTED", detail: "runnable task stall".to_owned() })
        }

        fn group(&self) -> Option<i32> {
            None
        }

        fn facts(&self) -> Vec<(String, String)> {
            Vec::new()
        }

        fn release(self: Box<Self>) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_scheduler_that_leaves_within_a_check_is_reported_by_its_holder_process() {
        let directory = tempfile::tempdir().unwrap();
        let machine = Machine::fake(directory.path(), directory.path().join("run")).unwrap();
        let rule = |began: &SchedExt, resources: &mut TrialResources| match check_scheduler(
            &machine, began, resources,
        ) {
            Err(Stop::Outcome(Outcome::Invalid { rule, .. })) => Some(rule),
            Err(_) => panic!("a changed scheduler makes a trial invalid"),
            Ok(()) => None,
        };
        let none = SchedExt::default();
        let began = SchedExt { ops: Some("bfs".to_owned()), ..none.clone() };
        let held = Box::new(Ejected);
        let mut resources = TrialResources::default();
        resources.add_held(HeldLevel::new("scheduler", Level::canonical("lab:bfs"), held));
        assert_eq!(rule(&began, &mut resources).as_deref(), Some("EJECTED"));
        assert_eq!(
            rule(&began, &mut TrialResources::default()).as_deref(),
            Some(SCHEDULER_CHANGED)
        );
        assert_eq!(rule(&none, &mut TrialResources::default()), None);
    }
}
