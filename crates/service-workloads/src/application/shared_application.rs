//! One application that serves all trials of a sitting.

use super::usage::family;
use super::warming::warm_up;
use super::{Application, Started};
use contract::{Error, LaunchSpec, LongLivedService, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use sys::{Machine, Policy};
use workload_parts::program::service::{last_lines, output_in};

/// Facts of a long-lived application: `NAME=PID` of each server, the one that is loaded last; where
/// that one serves; since when it is ready; where what they said lies.
const SERVERS: &str = "servers";
const ADDRESS: &str = "address";
const READY_AT_NS: &str = "ready_at_ns";
const SCRATCH: &str = "scratch";

/// The application as its starter has it.
pub(super) struct WarmApplication {
    /// None while it is stopped.
    started: Option<Started>,
    stop_within: Duration,
    ready_at_ns: u64,
    scratch: PathBuf,
    log: PathBuf,
}

impl WarmApplication {
    /// Starts it without the levels of any trial, and warms it up.
    ///
    /// # Errors
    /// What could not be started, or did not become warm.
    pub(super) fn start(
        application: &dyn Application,
        machine: &Machine,
        launch: &LaunchSpec,
    ) -> Result<Self> {
        let conduct = application.conduct();
        let mut started = application.start(machine, launch, None)?;
        let ready_at_ns = sys::monotonic_ns();
        let mut load = application.load(started.address, launch)?;
        load.set_up()?;
        if let Some(warming_ns) = conduct.warming_ns {
            warm_up(machine, &mut started, &mut load, warming_ns)?;
        }
        let stop_within = conduct.stop_within;
        let (scratch, log) = (launch.scratch.clone(), launch.log.clone());
        Ok(Self { started: Some(started), stop_within, ready_at_ns, scratch, log })
    }
}

impl LongLivedService for WarmApplication {
    fn facts(&self) -> BTreeMap<String, String> {
        let Some(started) = &self.started else { return BTreeMap::new() };
        let servers: Vec<String> =
            started.pids().into_iter().map(|(name, pid)| format!("{name}={pid}")).collect();
        let facts = [
            (SERVERS, servers.join(" ")),
            (ADDRESS, started.address.to_string()),
            (READY_AT_NS, self.ready_at_ns.to_string()),
            (SCRATCH, self.scratch.display().to_string()),
        ];
        facts.map(|(name, value)| (name.to_owned(), value)).into()
    }

    fn check(&mut self) -> Result<()> {
        self.started.as_mut().and_then(Started::early_death).map_or(Ok(()), Err)
    }

    fn ends_within(&self) -> Duration {
        let servers = self.started.as_ref().map_or(0, |started| started.servers.len());
        self.stop_within.saturating_mul(u32::try_from(servers).unwrap_or(u32::MAX))
    }
}

impl Drop for WarmApplication {
    fn drop(&mut self) {
        if let Some(started) = self.started.take() {
            // Nobody is left to be told; one that does not end when asked to is killed.
            let _ = started.keep_output(&self.log);
            let _ = started.stop(self.stop_within);
        }
    }
}

/// The application as a trial has it.
pub(super) struct LentApplication {
    /// Each server's process, the one that is loaded last.
    pub(super) pids: Vec<(String, i32)>,
    /// Where that one serves.
    pub(super) address: SocketAddr,
    /// On the clock of [`sys::monotonic_ns`].
    pub(super) ready_at_ns: u64,
    /// Where what they said lies.
    scratch: PathBuf,
}

impl LentApplication {
    /// The long-lived application of a trial.
    ///
    /// # Errors
    /// That there is none.
    pub(super) fn of(launch: &LaunchSpec) -> Result<Self> {
        let server = |told: &str| {
            let (name, pid) = told.split_once('=')?;
            Some((name.to_owned(), pid.parse().ok()?))
        };
        let found = |facts: &BTreeMap<String, String>| {
            Some(Self {
                pids: facts.get(SERVERS)?.split(' ').map(server).collect::<Option<_>>()?,
                address: facts.get(ADDRESS)?.parse().ok()?,
                ready_at_ns: facts.get(READY_AT_NS)?.parse().ok()?,
                scratch: PathBuf::from(facts.get(SCRATCH)?),
            })
        };
        found(&launch.long_lived).ok_or_else(|| {
            Error::environment("cannot use a warm service", "none stands for this trial")
        })
    }

    /// Gives every thread of it the levels of a trial, and of those that it starts meanwhile.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn impose(&self, machine: &Machine, launch: &LaunchSpec) -> Result<()> {
        if launch.policy == Some(Policy::Deadline) {
            let why = "a thread with SCHED_DEADLINE cannot start others";
            let remedy = "leave that policy out";
            return Err(Error::unsupported("cannot give a service its levels", why, remedy));
        }
        let mut done = BTreeSet::new();
        loop {
            let processes = self.pids.iter().flat_map(|(_, pid)| family(machine, *pid));
            let threads =
                processes.flat_map(|process| machine.thread_ids(process.pid).unwrap_or_default());
            let new: Vec<i32> = threads.filter(|thread| !done.contains(thread)).collect();
            if new.is_empty() {
                return if done.is_empty() { self.check(machine) } else { Ok(()) };
            }
            for thread in new {
                done.insert(thread);
                match launch.impose(machine, thread) {
                    // One that has ended meanwhile needs none.
                    Err(_) if !machine.exists(&format!("/proc/{thread}")) => {}
                    Err((attribute, error)) => {
                        let attempted = format!("cannot set {attribute} of the service");
                        return Err(Error::environment(attempted, error));
                    }
                    Ok(()) => {}
                }
            }
        }
    }

    /// # Errors
    /// That a process is gone.
    pub(super) fn check(&self, machine: &Machine) -> Result<()> {
        let is_there = |pid: i32| machine.process_stat(pid).is_ok_and(|stat| stat.state != 'Z');
        let Some((name, _)) = self.pids.iter().find(|(_, pid)| !is_there(*pid)) else {
            return Ok(());
        };
        let said = last_lines(&output_in(&self.scratch, name));
        let said = said.map(|said| format!("; it said: {said}")).unwrap_or_default();
        let cause = format!("its process has ended{said}");
        Err(Error::environment(format!("the {name} failed"), cause))
    }
}
