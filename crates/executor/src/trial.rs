//! One trial: check, set, read back, prepare, run, stop, restore, read back.

use crate::background::Hogs;
use crate::child::{Marking, RoleChild, Waited, padding};
use crate::executor::Executor;
use crate::groups::join_groups;
use crate::health::Health;
use crate::journal::JournalEntry;
use crate::knobs::{Knobs, Refusal};
use crate::load_process::{LOAD_ROLE, LoadAnswer, LoadOrder};
use crate::long_lived_service::{end_long_lived, stand};
use crate::restore::restore;
use crate::running::Running;
use crate::supervisor::TrialSupervisor;
use crate::trial_resources::TrialResources;
use contract::{
    Error, ErrorKind, Event, LaunchSpec, Lost, NOT_PUT_BACK, Phase, ProbeTarget, Result,
};
use model::{
    BackgroundSession, Caveat, CpuList, Invocation, Level, LevelReading, Outcome, Record,
    RunReport, StorageKind, StorageTarget, Trial,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::{Machine, SchedExt};

/// Rule broken by a level that is not in force when the run begins.
const LEVEL_NOT_SET: &str = "LEVEL_NOT_SET";
/// Rule broken by a level that changed while the workload ran.
const LEVEL_CHANGED: &str = "LEVEL_CHANGED";
/// Rule broken by another scheduler that took charge, or left.
const SCHEDULER_CHANGED: &str = "SCHEDULER_CHANGED";
/// Rule broken by declared load that did not last as long as the workload.
const BACKGROUND_ENDED: &str = "BACKGROUND_ENDED";
/// When levels are first read while the workload runs.
const FIRST_CHECK: Duration = Duration::from_millis(100);
/// How often they are read from then on.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long one wait for the workload lasts before signals are looked at.
const LONGEST_WAIT: Duration = Duration::from_millis(250);
/// How long a workload may take to stop by itself after its run.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// Less free space than this behind a failure: it is ours, not the workload's.
const FULL_BYTES: u64 = 64 << 10;

/// What a trial has seen so far.
#[derive(Default)]
struct Progress {
    invocations: Vec<Invocation>,
    levels: BTreeMap<String, LevelReading>,
    caveats: Vec<Caveat>,
    /// What held levels turned out to be.
    facts: BTreeMap<String, String>,
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

/// Runs a trial and puts the machine back, whatever happened in between.
pub(crate) fn run(
    executor: &mut Executor,
    trial: &Trial,
    on_event: &mut dyn FnMut(Event),
) -> Result<Record> {
    let started_unix_ns = sys::unix_ns();
    let started_ns = sys::monotonic_ns();
    let mut progress = Progress::default();
    let mut resources = TrialResources::default();
    let ended = attempt(executor, trial, &mut progress, &mut resources, on_event);
    tracing::debug!(subject = trial.subject.id, ?ended, "an attempt is over");
    executor.settings.machine = executor.whole_machine.clone();
    on_event(Event::TrialPhase(Phase::Restoring));
    let taken_back = resources.end(&mut executor.guarded.journal);
    // A service whose trial failed may have been damaged by it.
    if !matches!(ended, Ok(())) {
        end_long_lived(executor);
    }
    let kept = executor.guarded.kept(executor.standing.as_ref());
    let machine = executor.settings.machine.clone();
    let report = restore(&machine, &mut executor.guarded.journal, true, &kept)?;
    let taken_back = taken_back.and(resources.give_back(&mut executor.guarded.journal));
    // The record comes first; the next trial, or closing the session, tells what is left.
    executor.is_incomplete = !report.is_complete();
    executor.not_taken_back = taken_back.err();
    let outcome = match (ended, &executor.not_taken_back) {
        (Ok(()), _) => Outcome::Completed,
        (Err(Stop::Outcome(outcome)), _) => outcome,
        (Err(Stop::Error(_)), Some(error)) => return Err(error.clone()),
        (Err(Stop::Error(error)), None) => return Err(error),
    };
    if let Some(error) = executor.left() {
        progress.facts.insert(NOT_PUT_BACK.to_owned(), error.one_line());
    }
    Ok(Record {
        started_unix_ns,
        duration_ns: sys::monotonic_ns() - started_ns,
        boot_id: machine.boot_id()?,
        invocations: progress.invocations,
        levels: progress.levels,
        caveats: progress.caveats,
        fingerprint_difference: progress.facts,
        ..Record::of(trial, outcome)
    })
}

fn attempt(
    executor: &mut Executor,
    trial: &Trial,
    progress: &mut Progress,
    resources: &mut TrialResources,
    on_event: &mut dyn FnMut(Event),
) -> Result<(), Stop> {
    on_event(Event::TrialPhase(Phase::Setting));
    executor.scheduler = SchedExt::read(&executor.settings.machine);
    if let Some(ops) = &executor.scheduler.ops {
        let detail = format!("somebody else loaded the sched_ext scheduler {ops}");
        return Err(Stop::invalid(SCHEDULER_CHANGED, detail));
    }
    let knobs = Knobs::of(&executor.settings.catalogue, &trial.subject)?;
    // Before any level: it is started and warmed up alike for all subjects.
    stand(executor, trial, on_event)?.map_err(Stop::failed)?;
    make_target(executor, trial, &knobs, resources)?;
    let machine = executor.settings.machine.clone();
    match knobs.apply(&machine, &mut executor.guarded.journal) {
        Ok(()) => {}
        Err(Refusal::NotInForce(detail)) => return Err(Stop::invalid(LEVEL_NOT_SET, detail)),
        Err(Refusal::Lost(error)) => return Err(Stop::Error(error)),
    }
    // Setting one knob may have moved another: all are read once more.
    check_levels(trial, &knobs.read_back(&machine, &[])?, LEVEL_NOT_SET)?;
    acquire(executor, trial, &knobs, resources)?;
    progress.facts = resources.facts();
    on_event(Event::TrialPhase(Phase::Settling));
    pause(executor, Duration::from_nanos(trial.settle_ns))?;
    resources.hogs = start_background(executor, trial)?;
    for invocation in 0..trial.workload.invocations {
        invoke(executor, trial, &knobs, resources, invocation, progress, on_event)?;
    }
    Ok(())
}

/// Brings into force what has to be held, a scheduler last of all knobs of the machine.
fn acquire(
    executor: &mut Executor,
    trial: &Trial,
    knobs: &Knobs,
    resources: &mut TrialResources,
) -> Result<(), Stop> {
    held(executor, trial, |machine, supervisor| {
        knobs.acquire(machine, supervisor, &mut resources.holdings)
    })?;
    executor.scheduler = SchedExt::read(&executor.settings.machine);
    Ok(())
}

/// Makes the files or the device that the trial works on, which knobs of queues lie in.
fn make_target(
    executor: &mut Executor,
    trial: &Trial,
    knobs: &Knobs,
    resources: &mut TrialResources,
) -> Result<(), Stop> {
    held(executor, trial, |machine, supervisor| {
        knobs.make(machine, supervisor, &mut resources.made)
    })?;
    let machine = &executor.settings.machine;
    let files = resources.target().or_else(|| machine.target().cloned());
    let device = files.and_then(|files| files.device);
    resources.is_rotating = device.is_some_and(|device| sys::is_rotating(machine, &device));
    let Some(target) = resources.target() else { return Ok(()) };
    if target.kind == StorageKind::Directory {
        let path = PathBuf::from(&target.path);
        executor.guarded.journal.append(&JournalEntry::Directory { path: path.clone() })?;
        make_scratch(&path)?;
    }
    executor.settings.machine = executor.whole_machine.clone().with_target(target);
    Ok(())
}

/// Lets something be held for the trial.
fn held(
    executor: &mut Executor,
    trial: &Trial,
    hold: impl FnOnce(&Machine, &mut TrialSupervisor<'_>) -> Result<(), Refusal>,
) -> Result<(), Stop> {
    let settings = executor.settings.clone();
    let log = settings.logs.join(format!("{}-held.log", stem(trial)));
    let mut supervisor = TrialSupervisor::new(
        &settings.executable,
        settings.machine.search_path(),
        log,
        &mut executor.guarded,
        &executor.interrupt,
    );
    match hold(&settings.machine, &mut supervisor) {
        Ok(()) => Ok(()),
        Err(Refusal::NotInForce(detail)) => Err(Stop::invalid(LEVEL_NOT_SET, detail)),
        Err(Refusal::Lost(error)) => Err(Stop::Error(error)),
    }
}

/// The beginning of the names of a trial's files.
fn stem(trial: &Trial) -> String {
    format!("{:03}-{}-{}", trial.block + 1, trial.subject.id, trial.workload.label)
}

fn start_background(executor: &mut Executor, trial: &Trial) -> Result<Option<Hogs>, Stop> {
    let Some(background) = &trial.workload.background else { return Ok(None) };
    // As inherited, before any level: the same load for every subject.
    let cpus = sys::affinity(0)
        .map_err(|error| Error::environment("cannot read the CPUs that may be used", error))?;
    let log = executor.settings.logs.join("background.log");
    let marking = Marking {
        executable: &executor.settings.executable.clone(),
        mark: &executor.guarded.mark.clone(),
        log: &log,
        padding: 0,
    };
    Ok(Some(Hogs::start(background, &cpus, &marking, &mut executor.guarded.journal)?))
}

/// Waits, and gives up on a signal.
fn pause(executor: &Executor, length: Duration) -> Result<(), Stop> {
    let deadline = Instant::now() + length;
    while let Some(left) = deadline.checked_duration_since(Instant::now()) {
        executor.interrupt.check()?;
        std::thread::sleep(left.min(LONGEST_WAIT));
    }
    Ok(executor.interrupt.check()?)
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

fn invoke(
    executor: &mut Executor,
    trial: &Trial,
    knobs: &Knobs,
    resources: &mut TrialResources,
    number: u32,
    progress: &mut Progress,
    on_event: &mut dyn FnMut(Event),
) -> Result<(), Stop> {
    executor.interrupt.check()?;
    on_event(Event::TrialPhase(Phase::Preparing { invocation: number }));
    let deadline = Instant::now() + Duration::from_nanos(trial.workload.time_limit_ns);
    let mut running = start(executor, trial, knobs, resources, number)?;
    let ended = observe(
        executor,
        trial,
        knobs,
        resources,
        number,
        &mut running,
        deadline,
        progress,
        on_event,
    );
    // A workload that fails without what was held for it says nothing of the subject.
    let ended = match (ended, resources.check()) {
        (Err(Stop::Outcome(Outcome::Failed { .. })), Err(lost)) => Err(Stop::from(lost)),
        (ended, _) => ended,
    };
    running.child.finish(if ended.is_ok() { STOP_PATIENCE } else { Duration::ZERO });
    tracing::debug!(pid = running.child.pid(), ?ended, "the load process was ended");
    if let (Some(standing), Some(own)) = (&executor.standing, running.cgroups.first()) {
        standing.leave(&executor.settings.machine, (own, &running.server_groups))?;
    }
    running.end_leftovers(executor, resources)?;
    if let Err(Stop::Outcome(Outcome::Failed { reason })) = &ended {
        refuse_full(&executor.settings.logs, reason)?;
        let failure = Some(reason.clone());
        progress.invocations.push(Invocation { samples: Vec::new(), run: None, failure });
    }
    executor.guarded.journal.append(&JournalEntry::GroupEnded { group: running.child.pid() })?;
    ended
}

/// Starts the load process and attaches the probes, before it prepares anything.
fn start(
    executor: &mut Executor,
    trial: &Trial,
    knobs: &Knobs,
    resources: &TrialResources,
    number: u32,
) -> Result<Running, Stop> {
    let settings = executor.settings.clone();
    let stem = format!("{}-{number}", stem(trial));
    let mut launch = LaunchSpec {
        seed: trial.seed.wrapping_add(u64::from(number)),
        scratch: settings.scratch.join(&stem),
        log: settings.logs.join(format!("{stem}.log")),
        is_rotating: resources.is_rotating,
        ..LaunchSpec::default()
    };
    launch.target = resources.target().or_else(|| {
        let path = launch.scratch.display().to_string();
        settings.machine.target().map(|files| StorageTarget { path, ..files.clone() })
    });
    knobs.contribute(&settings.machine, &mut launch)?;
    make_scratch(&launch.scratch)?;
    let marking = Marking {
        executable: &settings.executable,
        mark: &executor.guarded.mark.clone(),
        log: &launch.log,
        padding: padding(launch.seed),
    };
    let mut child = RoleChild::spawn(LOAD_ROLE, BackgroundSession::Same, &marking)?;
    executor.guarded.journal.append(&JournalEntry::Group { group: child.pid() })?;
    // Why it cannot be configured tells its own process.
    let workload = &trial.workload;
    let configured = settings.catalogue.configure(&workload.uses, &workload.parameters).ok();
    let weights =
        configured.as_ref().map_or_else(Vec::new, |configured| configured.facts().io_weights);
    let service = configured.as_deref().and_then(|configured| configured.service());
    let servers = service.map_or_else(Vec::new, |service| service.facts().servers);
    let cgroups = join_groups(executor, &mut launch, (&weights, &servers), child.pid())?;
    if let (Some(standing), Some(own)) = (&executor.standing, cgroups.first()) {
        standing.enter(&settings.machine, (own, &launch.server_groups))?;
        launch.standing.clone_from(standing.facts());
    }
    let target = ProbeTarget {
        pid: child.pid(),
        group: child.pid(),
        cgroups,
        background: resources.groups().into_iter().collect(),
        cpus: settings.machine.online_cpus().map_err(Error::from)?,
    };
    let mut probes = Vec::new();
    for id in &trial.probes {
        let probe = settings.catalogue.probe(id).ok_or_else(|| {
            Error::usage(format!("cannot attach the probe {id}"), "there is none of that name", "")
        })?;
        probes.push(probe.attach(&settings.machine, &target)?);
    }
    let server_groups = launch.server_groups.clone();
    let is_main_thread_apart = launch.policy == Some(sys::Policy::Deadline) || service.is_some();
    child.send(&LoadOrder {
        parent: std::process::id().cast_signed(),
        workload: trial.workload.uses.clone(),
        parameters: trial.workload.parameters.clone(),
        launch,
        search_path: settings.machine.search_path().to_owned(),
    })?;
    let generators = Vec::new();
    let cgroups = target.cgroups;
    Ok(Running { child, probes, cgroups, server_groups, is_main_thread_apart, generators })
}

/// A disk that we filled, or that filled up beside us, is no failure of the subject's.
fn refuse_full(logs: &Path, reason: &str) -> Result<()> {
    let Ok(space) = rustix::fs::statvfs(logs) else { return Ok(()) };
    if space.f_bavail.saturating_mul(space.f_frsize) >= FULL_BYTES {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Environment,
        format!("cannot count a failure while the disk of {} is full", logs.display()),
        reason,
        "make space; the same command goes on from here",
    ))
}

pub(crate) fn make_scratch(path: &PathBuf) -> Result<()> {
    std::fs::create_dir_all(path)
        .map_err(|error| Error::environment(format!("cannot make {}", path.display()), error))
}

#[expect(
    clippy::too_many_arguments,
    reason = "the parts of one invocation, passed rather than shared"
)]
fn observe(
    executor: &Executor,
    trial: &Trial,
    knobs: &Knobs,
    resources: &mut TrialResources,
    number: u32,
    running: &mut Running,
    deadline: Instant,
    progress: &mut Progress,
    on_event: &mut dyn FnMut(Event),
) -> Result<(), Stop> {
    let machine = &executor.settings.machine;
    match wait(executor, running, deadline, trial, |_, _| Ok(()))? {
        LoadAnswer::Ready { generators } => running.generators = generators,
        LoadAnswer::Failed { reason } => return Err(Stop::failed(reason)),
        LoadAnswer::Done { .. } => {
            return Err(Stop::failed("the workload ran before it was told".to_owned()));
        }
    }
    let before = levels(executor, knobs, resources, running)?;
    note_levels(progress, &before);
    check_levels(trial, &before, LEVEL_NOT_SET)?;
    check_scheduler(machine, &executor.scheduler, resources)?;
    let health = Health::read(machine, &resources.groups(), &running.cgroups);
    for probe in &mut running.probes {
        probe.start()?;
    }
    on_event(Event::TrialPhase(Phase::Running { invocation: number }));
    running.child.send(&())?;
    let answer = wait(executor, running, deadline, trial, |executor, running| {
        let during = levels(executor, knobs, resources, running)?;
        for (factor, level) in &during {
            if let Some(reading) = progress.levels.get_mut(factor)
                && !reading.during.contains(level)
            {
                reading.during.push(level.clone());
            }
        }
        check_levels(trial, &during, LEVEL_CHANGED)?;
        check_scheduler(machine, &executor.scheduler, resources)
    })?;
    let (samples, report, unfit) = match answer {
        LoadAnswer::Done { changed_level: Some(change), .. } => {
            return Err(Stop::invalid(LEVEL_CHANGED, change));
        }
        LoadAnswer::Done { samples, report, unfit, caveats, .. } => {
            merge_caveats(progress, caveats);
            (samples, report, unfit)
        }
        LoadAnswer::Failed { reason } => return Err(Stop::failed(reason)),
        LoadAnswer::Ready { .. } => {
            return Err(Stop::failed("the workload answered out of turn".to_owned()));
        }
    };
    let mut samples = samples;
    for probe in &mut running.probes {
        samples.extend(probe.stop(&report)?);
    }
    let cpus: CpuList = machine.online_cpus().map_err(Error::from)?;
    let now = Health::read(machine, &resources.groups(), &running.cgroups);
    merge_caveats(progress, health.caveats(&now, &report, &cpus));
    let after = levels(executor, knobs, resources, running)?;
    // Not before the run: a console may still write while it goes on.
    tracing::debug!(?before, ?after, "levels were read back");
    check_end(executor, trial, resources, &after, progress)?;
    finish(progress, samples, report, unfit)
}

/// Every level in force, those that are held first.
fn levels(
    executor: &Executor,
    knobs: &Knobs,
    resources: &mut TrialResources,
    running: &Running,
) -> Result<BTreeMap<String, Level>, Stop> {
    resources.check()?;
    let threads = running.threads(executor, resources);
    let mut levels = knobs.read_back(&executor.settings.machine, &threads)?;
    levels.extend(resources.levels());
    Ok(levels)
}

/// What must still be as it was when the workload has ended.
fn check_end(
    executor: &Executor,
    trial: &Trial,
    resources: &mut TrialResources,
    after: &BTreeMap<String, Level>,
    progress: &mut Progress,
) -> Result<(), Stop> {
    for (factor, level) in after {
        if let Some(reading) = progress.levels.get_mut(factor) {
            reading.after = level.clone();
        }
    }
    check_levels(trial, after, LEVEL_CHANGED)?;
    let machine = &executor.settings.machine;
    check_scheduler(machine, &executor.scheduler, resources)?;
    match resources.ended_load(machine) {
        Some(ended) => Err(Stop::invalid(BACKGROUND_ENDED, ended)),
        None => Ok(()),
    }
}

fn finish(
    progress: &mut Progress,
    samples: Vec<model::Sample>,
    report: RunReport,
    unfit: Option<String>,
) -> Result<(), Stop> {
    if let Some(reason) = unfit {
        return Err(Stop::failed(reason));
    }
    progress.invocations.push(Invocation { samples, run: Some(report), failure: None });
    Ok(())
}

fn note_levels(progress: &mut Progress, before: &BTreeMap<String, Level>) {
    for (factor, level) in before {
        progress.levels.entry(factor.clone()).or_insert_with(|| LevelReading {
            before: level.clone(),
            during: Vec::new(),
            after: level.clone(),
        });
    }
}

/// One caveat of a code for a trial, with what was seen in each invocation.
fn merge_caveats(progress: &mut Progress, caveats: Vec<Caveat>) {
    for caveat in caveats {
        match progress.caveats.iter_mut().find(|known| known.code == caveat.code) {
            Some(known) => {
                known.detail.push_str("; then ");
                known.detail.push_str(&caveat.detail);
            }
            None => progress.caveats.push(caveat),
        }
    }
}

/// Waits for the load's next frame, checking levels, signals and the time limit.
fn wait(
    executor: &Executor,
    running: &mut Running,
    deadline: Instant,
    trial: &Trial,
    mut check: impl FnMut(&Executor, &Running) -> Result<(), Stop>,
) -> Result<LoadAnswer, Stop> {
    let mut next_check = Instant::now() + FIRST_CHECK;
    loop {
        let until_check = next_check.saturating_duration_since(Instant::now());
        match running.child.wait_frame(until_check.min(LONGEST_WAIT))? {
            Waited::Frame(answer) => return Ok(answer),
            Waited::Ended(how) => {
                return Err(Stop::failed(format!("the workload's process ended with {how}")));
            }
            Waited::Nothing => {}
        }
        executor.interrupt.check()?;
        let now = Instant::now();
        if now >= deadline {
            let limit = model::format_duration(trial.workload.time_limit_ns);
            return Err(Stop::failed(format!("it ran longer than its time limit of {limit}")));
        }
        if now >= next_check {
            check(executor, running)?;
            next_check = now + CHECK_INTERVAL;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial_resources::HeldLevel;
    use contract::Held;

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
    fn a_scheduler_that_leaves_within_a_check_is_told_by_who_holds_it() {
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
        let holding = HeldLevel { factor: "scheduler", level: Level::canonical("lab:bfs"), held };
        let mut resources = TrialResources { holdings: vec![holding], ..TrialResources::default() };
        assert_eq!(rule(&began, &mut resources).as_deref(), Some("EJECTED"));
        assert_eq!(
            rule(&began, &mut TrialResources::default()).as_deref(),
            Some(SCHEDULER_CHANGED)
        );
        assert_eq!(rule(&none, &mut TrialResources::default()), None);
    }
}
