//! One invocation of a trial: start, prepare, run, read levels meanwhile, stop.

use super::stop::{LEVEL_CHANGED, LEVEL_NOT_SET, Stop, check_levels, check_scheduler};
use super::trial_run::{LONGEST_WAIT, TrialRun, stem};
use crate::child::{RoleChild, Waited};
use crate::context::make_scratch;
use crate::groups::join_groups;
use crate::health::Health;
use crate::journal_entry::JournalEntry;
use crate::left_processes::ENDING_PATIENCE;
use crate::load_process::{LOAD_ROLE, LoadAnswer, LoadOrder};
use crate::running::Running;
use crate::standstill::{LOOKED_AT, Standstill};
use contract::{AttachedProbe, Error, ErrorKind, LaunchSpec, Phase, ProbeTarget, Result};
use model::{
    BackgroundSession, Caveat, CaveatCode, CpuList, Disturbance, Few, Invocation, Level, Outcome,
    RunReport, StorageTarget,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Rule broken by declared load that did not last as long as the workload.
const BACKGROUND_ENDED: &str = "BACKGROUND_ENDED";
/// When levels are first read while the workload runs.
const FIRST_CHECK: Duration = Duration::from_millis(100);
/// How often they are read from then on.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long a workload may take to stop by itself after its run.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// Less free space than this behind a failure: it is ours, not the workload's.
const FULL_BYTES: u64 = 64 << 10;

impl TrialRun<'_> {
    /// Runs the invocation of that number, from 0, and ends all that it started.
    pub(super) fn invoke(&mut self, number: u32) -> Result<(), Stop> {
        self.context.check_interrupt()?;
        self.tell(Phase::Preparing { invocation: number });
        let deadline = Instant::now() + Duration::from_nanos(self.trial.workload.time_limit_ns);
        let mut running = self.start(number)?;
        self.standstill = Standstill::begin(&self.resources.groups());
        let ended = self.observe(&mut running, number, deadline);
        // A workload that fails without what was held for it says nothing of the subject.
        let ended = match (ended, self.resources.check()) {
            (Err(Stop::Outcome(Outcome::Failed { .. })), Err(lost)) => Err(Stop::from(lost)),
            (ended, _) => ended,
        };
        let ended = self.without_standstill(ended, &running);
        let is_over = ended.is_ok();
        running.let_end(if is_over { STOP_PATIENCE } else { Duration::ZERO });
        let (machine, groups) = (self.context.machine(), running.cgroups());
        self.long_lived.take_back(machine, groups, running.server_groups())?;
        let patience = if is_over { ENDING_PATIENCE } else { Duration::ZERO };
        let left = running.left(self.context, &self.resources, patience);
        // Where we stopped the run, its processes had no time to end by themselves.
        if is_over {
            self.progress.left.note(&left);
        }
        running.finish();
        tracing::debug!(group = running.group(), ?ended, ?left, "the load process was ended");
        running.end_leftovers(self.context, &self.resources, &left)?;
        if let Err(Stop::Outcome(Outcome::Failed { reason })) = &ended {
            refuse_full(self.context.logs(), reason)?;
            let failure = Some(reason.as_str().into());
            let failed =
                Invocation { samples: Few::default(), run: None, failure, disturbance: None };
            self.progress.invocations.push(failed);
        }
        self.context.journal().append(&JournalEntry::GroupEnded { group: running.group() })?;
        ended
    }

    /// Starts the load process and attaches the probes, before it prepares anything.
    fn start(&mut self, number: u32) -> Result<Running, Stop> {
        let mut launch = self.launch(number)?;
        let marking = self.context.marking(&launch.log, Some(launch.seed));
        let mut child = RoleChild::spawn(LOAD_ROLE, BackgroundSession::Same, &marking)?;
        self.context.journal().append(&JournalEntry::Group { group: child.pid() })?;
        // Why it cannot be configured tells its own process.
        let workload = &self.trial.workload;
        let configured =
            self.context.catalogue().configure(&workload.uses, &workload.parameters).ok();
        let weights =
            configured.as_ref().map_or_else(Vec::new, |configured| configured.facts().io_weights);
        let service = configured.as_deref().and_then(|configured| configured.service());
        let servers = service.map_or_else(Vec::new, |service| service.facts().servers);
        let has_service = service.is_some();
        let cgroups = join_groups(self.context, &mut launch, (&weights, &servers), child.pid())?;
        self.long_lived.lend(self.context.machine(), &cgroups, &mut launch)?;
        let machine = self.context.machine();
        let target = ProbeTarget {
            pid: child.pid(),
            group: child.pid(),
            cgroups,
            background: self.resources.groups().into_iter().collect(),
            cpus: machine.online_cpus().map_err(Error::from)?,
        };
        let probes = self.attach_probes(&target)?;
        self.progress.note_probes(self.context.catalogue(), &self.trial.probes);
        let groups = (target.cgroups, launch.server_groups.clone());
        let is_main_thread_apart = launch.policy == Some(sys::Policy::Deadline) || has_service;
        child.send(&LoadOrder {
            parent: std::process::id().cast_signed(),
            workload: workload.uses.clone(),
            parameters: workload.parameters.clone(),
            launch,
            search_path: machine.search_path().to_owned(),
        })?;
        Ok(Running::new(child, groups, is_main_thread_apart, probes))
    }

    /// What the load process is to take on; its directory is made.
    fn launch(&self, number: u32) -> Result<LaunchSpec> {
        let machine = self.context.machine();
        let stem = format!("{}-{number}", stem(self.trial));
        let mut launch = LaunchSpec {
            seed: self.trial.seed.wrapping_add(u64::from(number)),
            scratch: self.context.scratch(&stem),
            log: self.context.log(&format!("{stem}.log")),
            is_rotating: self.resources.is_rotating(),
            ..LaunchSpec::default()
        };
        launch.target = self.resources.target().or_else(|| {
            let path = launch.scratch.display().to_string();
            machine.target().map(|files| StorageTarget { path, ..files.clone() })
        });
        self.knobs.contribute(machine, &mut launch)?;
        make_scratch(machine, &launch.scratch)?;
        Ok(launch)
    }

    fn attach_probes(&self, target: &ProbeTarget) -> Result<Vec<Box<dyn AttachedProbe>>> {
        let attach = |id: &String| {
            let probe = self.context.catalogue().probe(id).ok_or_else(|| {
                let why = "there is none of that name";
                Error::usage(format!("cannot attach the probe {id}"), why, "")
            })?;
            probe.attach(self.context.machine(), target)
        };
        self.trial.probes.iter().map(attach).collect()
    }

    /// From the load process's preparation to its last answer.
    fn observe(
        &mut self,
        running: &mut Running,
        number: u32,
        deadline: Instant,
    ) -> Result<(), Stop> {
        match self.wait(running, deadline, |_, _| Ok(()))? {
            LoadAnswer::Ready { generators } => running.set_generators(generators),
            LoadAnswer::Failed { reason } => return Err(Stop::failed(reason)),
            LoadAnswer::Done { .. } => {
                return Err(Stop::failed("the workload ran before it was told".to_owned()));
            }
        }
        let before = self.levels(running)?;
        self.progress.note_levels(&before);
        check_levels(self.trial, &before, LEVEL_NOT_SET)?;
        self.check_scheduler()?;
        let health = self.health(running);
        running.start_probes()?;
        self.tell(Phase::Running { invocation: number });
        running.order_run()?;
        let answer = self.wait(running, deadline, Self::check_during)?;
        let (mut samples, report, unfit) = match answer {
            LoadAnswer::Done { changed_level: Some(change), .. } => {
                return Err(Stop::invalid(LEVEL_CHANGED, change));
            }
            LoadAnswer::Done { samples, report, unfit, caveats, .. } => {
                self.progress.merge_caveats(caveats);
                (samples, report, unfit)
            }
            LoadAnswer::Failed { reason } => return Err(Stop::failed(reason)),
            LoadAnswer::Ready { .. } => {
                return Err(Stop::failed("the workload answered out of turn".to_owned()));
            }
        };
        samples.extend(running.stop_probes(&report)?);
        let cpus: CpuList = self.context.machine().online_cpus().map_err(Error::from)?;
        let now = self.health(running);
        let disturbance = health.disturbance(&now, &report, &cpus);
        self.progress.merge_caveats(now.caveats(&disturbance));
        let after = self.levels(running)?;
        // Not before the run: a console may still write while it goes on.
        tracing::debug!(?before, ?after, "levels were read back");
        self.check_end(&after)?;
        self.finish(samples, (report, disturbance), unfit)
    }

    /// An invocation in which something stood still says nothing of the subject, also where it failed:
    /// its time limit may be what ended it.
    fn without_standstill(
        &mut self,
        ended: Result<(), Stop>,
        running: &Running,
    ) -> Result<(), Stop> {
        let children = self.resources.groups();
        let longest = self.context.longest_standstill();
        let (seen, suspension) = self.standstill.end(running.group(), &children, longest);
        // What failed has no disturbance; what did not is the last one.
        let last = self.progress.invocations.last_mut().filter(|_| ended.is_ok());
        if let Some(disturbance) = last.and_then(|last| last.disturbance.as_mut()) {
            seen.add_to(disturbance);
        }
        let Some(detail) = suspension else { return ended };
        let code = CaveatCode::Suspended;
        self.progress.merge_caveats(vec![Caveat::new(code, detail.clone())]);
        match ended {
            Ok(()) | Err(Stop::Outcome(Outcome::Failed { .. })) => {
                Err(Stop::invalid(code.as_str(), detail))
            }
            other => other,
        }
    }

    fn health(&self, running: &Running) -> Health {
        Health::read(self.context.machine(), &self.resources.groups(), running.cgroups())
    }

    fn check_scheduler(&mut self) -> Result<(), Stop> {
        check_scheduler(self.context.machine(), &self.scheduler, &mut self.resources)
    }

    /// Every level in force, those that are held first.
    fn levels(&mut self, running: &Running) -> Result<BTreeMap<String, Level>, Stop> {
        self.resources.check()?;
        let processes = running.processes(self.context, &self.resources);
        self.look_at(&processes);
        let threads = running.threads(self.context.machine(), &processes);
        let mut levels = self.knobs.read_back(self.context.machine(), &threads)?;
        levels.extend(self.resources.levels());
        Ok(levels)
    }

    /// Looks whether processes of the trial are stopped: those beside the workload, then its own.
    fn look_at(&mut self, processes: &BTreeSet<i32>) {
        let beside = self.resources.groups();
        let machine = self.context.machine();
        let all = beside.iter().chain(processes).take(LOOKED_AT);
        let stats = all.filter_map(|pid| machine.running_stat(*pid));
        self.standstill.look(sys::monotonic_ns(), stats);
    }

    /// What must be as it was while the workload runs.
    fn check_during(&mut self, running: &Running) -> Result<(), Stop> {
        let during = self.levels(running)?;
        for (factor, level) in &during {
            if let Some(reading) = self.progress.levels.get_mut(factor)
                && !reading.during.contains(level)
            {
                reading.during.push(level.clone());
            }
        }
        check_levels(self.trial, &during, LEVEL_CHANGED)?;
        self.check_scheduler()
    }

    /// What must still be as it was when the workload has ended.
    fn check_end(&mut self, after: &BTreeMap<String, Level>) -> Result<(), Stop> {
        for (factor, level) in after {
            if let Some(reading) = self.progress.levels.get_mut(factor) {
                reading.after = level.clone();
            }
        }
        check_levels(self.trial, after, LEVEL_CHANGED)?;
        self.check_scheduler()?;
        match self.resources.ended_load(self.context.machine()) {
            Some(ended) => Err(Stop::invalid(BACKGROUND_ENDED, ended)),
            None => Ok(()),
        }
    }

    fn finish(
        &mut self,
        samples: Vec<model::Sample>,
        (report, disturbance): (RunReport, Disturbance),
        unfit: Option<String>,
    ) -> Result<(), Stop> {
        if let Some(reason) = unfit {
            return Err(Stop::failed(reason));
        }
        self.progress.invocations.push(Invocation {
            samples: samples.into(),
            run: Some(Box::new(report)),
            failure: None,
            disturbance: Some(Box::new(disturbance)),
        });
        Ok(())
    }

    /// Waits for the load's next frame, checking levels, signals and the time limit.
    fn wait(
        &mut self,
        running: &mut Running,
        deadline: Instant,
        check: impl Fn(&mut Self, &Running) -> Result<(), Stop>,
    ) -> Result<LoadAnswer, Stop> {
        let mut next_check = Instant::now() + FIRST_CHECK;
        loop {
            let until_check = next_check.saturating_duration_since(Instant::now());
            match running.wait(until_check.min(LONGEST_WAIT))? {
                Waited::Frame(answer) => return Ok(answer),
                Waited::Ended(how) => {
                    return Err(Stop::failed(format!("the workload's process ended with {how}")));
                }
                Waited::Nothing => {}
            }
            self.context.check_interrupt()?;
            let now = Instant::now();
            if now >= deadline {
                let limit = model::format_duration(self.trial.workload.time_limit_ns);
                return Err(Stop::failed(format!("it ran longer than its time limit of {limit}")));
            }
            if now >= next_check {
                check(self, running)?;
                next_check = now + CHECK_INTERVAL;
            }
        }
    }
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
