//! Loads a scheduler, keeps tasks busy and watches that it stays in charge.

use crate::crowd::{Crowd, Mix};
use contract::Error;
use schedulers::own::{Choice, Options, Running, SchedulerStatistics};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};
use sys::Machine;

/// What happened.
#[derive(Debug)]
pub struct SurvivalReport {
    /// From the begin of loading until the kernel said that it is in charge.
    pub enabled_after: Duration,
    /// From the request until the kernel said that none is in charge.
    pub gone_after: Duration,
    /// What it counted.
    pub statistics: SchedulerStatistics,
    /// The fewest steps of any task of each kind.
    pub fewest_steps: Vec<(&'static str, u64)>,
    /// How often CPU 1 was taken away and given back.
    pub hotplugs: u32,
}

/// What to do.
#[derive(Debug, Clone, Copy)]
pub struct SurvivalRun {
    /// How long the tasks run.
    pub duration: Duration,
    /// Which tasks.
    pub mix: Mix,
    /// Take CPU 1 away and give it back, twice a second.
    pub is_hotplugged: bool,
}

/// So often at least it is taken away and given back, however long a machine needs for it.
const LEAST_HOTPLUGS: u32 = 4;

const CPU_1: &str = "/sys/devices/system/cpu/cpu1/online";

/// Loads the scheduler, runs the tasks, and unloads it.
///
/// # Errors
/// It did not load, the kernel ended it, or did not name it.
pub fn survive(
    machine: &Machine,
    choice: &Choice,
    trial: SurvivalRun,
) -> Result<SurvivalReport, Error> {
    let attempted = format!("cannot keep lab:{choice} in charge");
    let fail = |cause: String| Error::environment(attempted.as_str(), cause);
    let begin = Instant::now();
    let mut running = Running::start(machine, choice, &Options::default())?;
    await_state(machine, "enabled").map_err(fail)?;
    let enabled_after = begin.elapsed();
    let ops = machine.read("/sys/kernel/sched_ext/root/ops")?;
    if ops.trim() != choice.algorithm().id {
        return Err(fail(format!("the kernel names `{}`", ops.trim())));
    }
    let crowd = Crowd::start(trial.mix).map_err(|error| fail(error.to_string()))?;
    let (until, mut hotplugs) = (Instant::now() + trial.duration, 0);
    while Instant::now() < until || trial.is_hotplugged && hotplugs < LEAST_HOTPLUGS {
        thread::sleep(Duration::from_millis(250));
        if let Some(exit) = running.exit() {
            return Err(fail(format!("after {:?}: {exit}", begin.elapsed())));
        }
        if trial.is_hotplugged {
            let state = if hotplugs % 2 == 0 { "0" } else { "1" };
            fs::write(machine.path(CPU_1), state).map_err(|error| fail(error.to_string()))?;
            hotplugs += 1;
        }
    }
    let mut fewest_steps: Vec<(&'static str, u64)> = Vec::new();
    for (kind, steps) in crowd.progress() {
        match fewest_steps.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, fewest)) => *fewest = steps.min(*fewest),
            None => fewest_steps.push((kind, steps)),
        }
    }
    let statistics = running.statistics()?;
    drop(crowd);
    let begin = Instant::now();
    let exit = running.stop();
    await_state(machine, "disabled").map_err(fail)?;
    match exit {
        Some(exit) if !exit.is_clean() => Err(fail(exit.to_string())),
        _ => {
            let gone_after = begin.elapsed();
            Ok(SurvivalReport { enabled_after, gone_after, statistics, fewest_steps, hotplugs })
        }
    }
}

fn await_state(machine: &Machine, wanted: &str) -> Result<(), String> {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let state =
            machine.read("/sys/kernel/sched_ext/state").map_err(|error| error.to_string())?;
        if state.trim() == wanted {
            return Ok(());
        }
        if Instant::now() > until {
            return Err(format!("the state is `{}`, not `{wanted}`", state.trim()));
        }
        thread::sleep(Duration::from_millis(5));
    }
}
