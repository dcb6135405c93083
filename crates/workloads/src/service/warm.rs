//! One process that serves all trials of a sitting.

use super::running::{start, warm_up};
use super::usage::family;
use crate::http::HttpLoad;
use crate::program::service::{Service, last_words, output_in};
use contract::{Error, LaunchSpec, Result, Standing};
use model::Parameters;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;
use sys::{Machine, Policy};

/// Facts of a standing service.
const PID: &str = "pid";
const READY_AT_NS: &str = "ready_at_ns";
const SCRATCH: &str = "scratch";

/// The service as its starter has it.
pub(super) struct Warm {
    /// None while it is stopped.
    service: Option<Service>,
    stop_within: Duration,
    ready_at_ns: u64,
    scratch: PathBuf,
    log: PathBuf,
}

impl Warm {
    /// Starts it without the levels of any trial, and warms it up.
    ///
    /// # Errors
    /// What could not be started, or did not become warm.
    pub(super) fn start(
        machine: &Machine,
        parameters: &Parameters,
        launch: &LaunchSpec,
    ) -> Result<Self> {
        let load = HttpLoad::new(parameters, launch)?;
        let (mut service, _) = start(machine, parameters, launch, None, &load)?;
        let ready_at_ns = sys::monotonic_ns();
        load.set_up()?;
        if parameters.duration_ns("steady_within") > 0 {
            warm_up(&load, parameters, || service.early_death().map_or(Ok(()), Err))?;
        }
        let stop_within = Duration::from_nanos(parameters.duration_ns("stop_within"));
        let (scratch, log) = (launch.scratch.clone(), launch.log.clone());
        Ok(Self { service: Some(service), stop_within, ready_at_ns, scratch, log })
    }
}

impl Standing for Warm {
    fn facts(&self) -> BTreeMap<String, String> {
        let pid = self.service.as_ref().map_or(0, Service::pid);
        let facts = [
            (PID, pid.to_string()),
            (READY_AT_NS, self.ready_at_ns.to_string()),
            (SCRATCH, self.scratch.display().to_string()),
        ];
        facts.map(|(name, value)| (name.to_owned(), value)).into()
    }

    fn check(&mut self) -> Result<()> {
        self.service.as_mut().and_then(Service::early_death).map_or(Ok(()), Err)
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        if let Some(service) = self.service.take() {
            // Nobody is left to be told; one that does not end when asked to is killed.
            let _ = service.keep_output(&self.log);
            let _ = service.stop(self.stop_within);
        }
    }
}

/// The service as a trial has it.
pub(super) struct Lent {
    pub(super) pid: i32,
    /// On the clock of [`sys::monotonic_ns`].
    pub(super) ready_at_ns: u64,
    /// Where what it said lies.
    scratch: PathBuf,
}

impl Lent {
    /// The one that stands for a trial.
    ///
    /// # Errors
    /// That there is none.
    pub(super) fn of(launch: &LaunchSpec) -> Result<Self> {
        let found = |standing: &BTreeMap<String, String>| {
            Some(Self {
                pid: standing.get(PID)?.parse().ok()?,
                ready_at_ns: standing.get(READY_AT_NS)?.parse().ok()?,
                scratch: PathBuf::from(standing.get(SCRATCH)?),
            })
        };
        found(&launch.standing).ok_or_else(|| {
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
            let processes = family(machine, self.pid);
            let threads = processes
                .iter()
                .flat_map(|process| machine.thread_ids(process.pid).unwrap_or_default());
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
    /// That its process is gone.
    pub(super) fn check(&self, machine: &Machine) -> Result<()> {
        match machine.process_stat(self.pid) {
            Ok(stat) if stat.state != 'Z' => Ok(()),
            _ => {
                let said = last_words(&output_in(&self.scratch));
                let said = said.map(|said| format!("; it said: {said}")).unwrap_or_default();
                let cause = format!("its process has ended{said}");
                Err(Error::environment("the service failed", cause))
            }
        }
    }
}
